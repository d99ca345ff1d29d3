"""The routes of the server: the page and its modules, files, and what the page asks for."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import asdict
from importlib.resources import files
from typing import Any, TypeAlias
from urllib.parse import quote

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import FileResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from kes._core import __version__
from kes.app import actions
from kes.app.desk import Desk, Stale
from kes.app.drafts import stated
from kes.app.jobs import Job
from kes.app.option_form import option_form
from kes.app.security import EMBEDDED
from kes.app.workspace import TooLarge, Workspace, clean, not_finite, sort_of
from kes.errors import KesError
from kes.graph.knowledge import Knowledge

Handler: TypeAlias = Callable[[Request], Awaitable[Response]]
JsonHandler: TypeAlias = Callable[[Desk, Request, dict[str, Any]], Awaitable[object]]

_MOST_BODY = 4_000_000
_POSITION = re.compile(r"[0-9]{1,15}")
_TYPES = {"js": "text/javascript", "css": "text/css", "html": "text/html", "svg": "image/svg+xml"}


def application(workspace: Workspace, most_upload: int) -> Starlette:
    """Return the server of a folder; `kes.app.security.Gate` must stand before it."""
    desk = Desk(workspace)

    @asynccontextmanager
    async def life(_: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(work) for work in (desk.jobs.run(), desk.maintain())]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            await desk.close()

    async def upload(request: Request) -> Response:
        """Store a file from the page, block by block."""
        name = clean(request.path_params["name"])
        if sort_of(name) is None:
            raise KesError(
                f"{name} is no table (CSV, Parquet, Excel), result, graph or knowledge file",
                file=name,
            )
        stored = await workspace.receive(name, request.stream(), most_upload)
        return JSONResponse({"name": stored, "sort": sort_of(stored)})

    def answer(handler: JsonHandler) -> Handler:
        async def call(request: Request) -> Response:
            return JSONResponse(await handler(desk, request, await _body(request)))

        return call

    async def report(request: Request) -> Response:
        path = await desk.report(request.path_params["name"])
        headers = {"Content-Security-Policy": EMBEDDED}
        return FileResponse(path, media_type="text/html", headers=headers)

    async def download(request: Request) -> Response:
        path = workspace.file(request.path_params["name"])
        return FileResponse(path, filename=path.name, media_type="application/octet-stream")

    routes = [Route("/api/files/{name:path}", upload, methods=["PUT"])]
    routes += [
        Route(f"/api/{path}", answer(handler), methods=[method])
        for (method, path), handler in _ANSWERS.items()
    ]
    routes += [
        Route("/view/{name}", report),
        Route("/files/{name}", download),
        Route("/", _asset("app/page", "index.html")),
        Route("/app/page/{name}", _assets("app/page")),
        Route("/show/report/template/{name}", _assets("show/report/template")),
    ]
    handlers: Mapping[Any, Any] = {
        KesError: _refused,
        HTTPException: _http_error,
        ClientDisconnect: _gone,
        Exception: _unexpected,
    }
    return Starlette(routes=routes, lifespan=life, exception_handlers=handlers)


# --- the files of the page ------------------------------------------------------------------------


def _asset(folder: str, name: str) -> Handler:
    content = files("kes").joinpath(folder, name).read_bytes()
    kind = _TYPES[name.rpartition(".")[2]]

    async def call(_: Request) -> Response:
        return Response(content, media_type=kind)

    return call


def _assets(folder: str) -> Handler:
    known = {entry.name: entry for entry in files("kes").joinpath(folder).iterdir()}

    async def call(request: Request) -> Response:
        name = request.path_params["name"]
        kind = _TYPES.get(name.rpartition(".")[2])
        if name not in known or kind is None:
            raise HTTPException(404)
        return Response(known[name].read_bytes(), media_type=kind)

    return call


# --- bodies and errors ----------------------------------------------------------------------------


async def _body(request: Request) -> dict[str, Any]:
    """Return the body of a request, an object in JSON; empty for a GET."""
    if request.method in ("GET", "HEAD"):
        return {}
    content = b""
    async for block in request.stream():
        content += block
        if len(content) > _MOST_BODY:
            raise TooLarge("the request is too large")
    try:
        found = json.loads(content or b"{}", parse_constant=not_finite)
    except (ValueError, RecursionError):
        raise KesError("the request is not valid JSON") from None
    if not isinstance(found, dict):
        raise KesError("the request must be an object")
    return found


async def _refused(_: Request, error: KesError) -> Response:
    fields = {name: getattr(error, name) for name in ("option", "column", "row", "file")}
    status = 409 if isinstance(error, Stale) else 413 if isinstance(error, TooLarge) else 400
    return JSONResponse({"error": {"message": str(error), **fields}}, status_code=status)


async def _http_error(_: Request, error: HTTPException) -> Response:
    return PlainTextResponse(f"{error.detail}\n", status_code=error.status_code)


async def _gone(_: Request, __: ClientDisconnect) -> Response:
    return PlainTextResponse("", status_code=400)


async def _unexpected(_: Request, error: Exception) -> Response:
    """Say that something went wrong, without paths or a traceback."""
    message = f"unexpected {type(error).__name__}; the terminal of kes app has more"
    return JSONResponse({"error": {"message": message}}, status_code=500)


# --- answers --------------------------------------------------------------------------------------


async def _state(desk: Desk, _: Request, __: dict[str, Any]) -> object:
    kept = desk.draft()
    return {
        "version": __version__,
        "folder": desk.workspace.folder.name,
        "files": desk.workspace.listing(),
        **{"draft": kept, "described": desk.described(kept["draft"])},
        "jobs": _jobs(desk),
        "options": option_form(),
    }


async def _files(desk: Desk, _: Request, __: dict[str, Any]) -> object:
    return desk.workspace.listing()


async def _draft(desk: Desk, _: Request, body: dict[str, Any]) -> object:
    return desk.keep_draft(body.get("version"), body.get("draft"))


async def _cards(desk: Desk, _: Request, body: dict[str, Any]) -> object:
    _check_file(desk, body)
    return await desk.tables.ask("cards", draft=body.get("draft"), columns=body.get("columns"))


async def _check(desk: Desk, _: Request, body: dict[str, Any]) -> object:
    _check_file(desk, body)
    return await desk.tables.ask("check", draft=body.get("draft"))


async def _states(desk: Desk, _: Request, body: dict[str, Any]) -> object:
    _check_file(desk, body)
    column = str(body.get("column"))
    return await desk.tables.ask("states", draft=body.get("draft"), column=column)


def _check_file(desk: Desk, body: dict[str, Any]) -> None:
    draft = body.get("draft")
    if isinstance(draft, dict) and draft.get("file") is not None:
        desk.workspace.file(draft["file"])


async def _state_knowledge(desk: Desk, _: Request, body: dict[str, Any]) -> object:
    """Check knowledge, and save it if it has a name."""
    known = stated(body.get("knowledge") or {})
    name = body.get("name")
    if name:
        name = desk.workspace.unused(f"{str(name).removesuffix('.toml')}.toml")
        known.save(desk.workspace.folder / name)
    return {"counts": known.counts, "name": name}


async def _load_knowledge(desk: Desk, request: Request, _: dict[str, Any]) -> object:
    path = desk.workspace.file(request.path_params["name"])
    try:
        return {"knowledge": Knowledge.read(path).as_plain()}
    except KesError as error:
        raise KesError(desk.workspace.without_paths(str(error)), file=path.name) from None


def _job(desk: Desk, job: Job) -> dict[str, Any]:
    exists = (desk.workspace.folder / job.out).is_file()
    code = actions.Action(job.words).code["shell"]
    return {**asdict(job), "draft": None, "code": code, "exists": exists}


def _jobs(desk: Desk) -> list[dict[str, Any]]:
    return [_job(desk, job) for job in desk.jobs.all.values()]


async def _learn(desk: Desk, _: Request, body: dict[str, Any]) -> object:
    return _job(desk, desk.learn(body.get("draft") or {}, body.get("before")))


async def _list_jobs(desk: Desk, _: Request, __: dict[str, Any]) -> object:
    return _jobs(desk)


async def _progress(desk: Desk, request: Request, _: dict[str, Any]) -> object:
    job = desk.jobs.get(request.path_params["id"])
    start = request.query_params.get("from", "0")
    lines, position = desk.jobs.progress(job, int(start) if _POSITION.fullmatch(start) else 0)
    return {"job": _job(desk, job), "lines": lines, "position": position}


async def _change_job(desk: Desk, request: Request, body: dict[str, Any]) -> object:
    job = desk.jobs.get(request.path_params["id"])
    changes = {"stop": desk.jobs.stop, "again": desk.jobs.again}
    if (do := str(body.get("do"))) not in changes:
        raise KesError("a job can be stopped, or started again", option="do")
    changes[do](job)
    return _job(desk, job)


async def _history(desk: Desk, _: Request, __: dict[str, Any]) -> object:
    return await desk.history()


async def _result(desk: Desk, request: Request, _: dict[str, Any]) -> object:
    name = desk.workspace.file(request.path_params["name"]).name
    found = await desk.results.ask("summary", file=name)
    commands = desk.commands(name) or ([found["shell"]] if found["shell"] else [])
    return {**found, "name": name, "commands": commands}


async def _note(desk: Desk, request: Request, body: dict[str, Any]) -> object:
    desk.note(request.path_params["name"], body.get("note", ""))
    return {}


async def _landscape(desk: Desk, request: Request, _: dict[str, Any]) -> object:
    name = desk.workspace.file(request.path_params["name"]).name
    return await desk.results.ask("landscape", file=name)


async def _result_draft(desk: Desk, request: Request, _: dict[str, Any]) -> object:
    return await desk.draft_of(request.path_params["name"])


async def _more(desk: Desk, request: Request, body: dict[str, Any]) -> object:
    return _job(desk, await desk.more(request.path_params["name"], body.get("how")))


async def _view(desk: Desk, request: Request, _: dict[str, Any]) -> object:
    """Make the report; the page shows it afterwards."""
    await desk.report(request.path_params["name"])
    return {"address": f"/view/{quote(request.path_params['name'])}"}


async def _with_table(desk: Desk, request: Request) -> tuple[str, str]:
    """Return the name of a result, and how Python names its table."""
    name = desk.workspace.file(request.path_params["name"]).name
    return name, (await desk.results.ask("summary", file=name))["data"]


async def _act(desk: Desk, request: Request, body: dict[str, Any]) -> object:
    result, data = await _with_table(desk, request)
    chosen = actions.action(desk.workspace, result, request.path_params["action"], body, data)
    text = await actions.run(desk.workspace, chosen)
    return {"text": text, "file": chosen.file, "code": chosen.code}


async def _effects(desk: Desk, request: Request, body: dict[str, Any]) -> object:
    name, data = await _with_table(desk, request)
    x, y = str(body.get("x")), str(body.get("y"))
    found = await desk.results.ask("effects", file=name, x=x, y=y)
    words = ["kes", "effects", name, x, y, *actions.IN_FOLDER]
    lines = actions.in_python(name, data, f"optima.effects({x!r}, {y!r}, data=data)")
    return {**found, "code": actions.Action(words, None, lines).code}


async def _compare(desk: Desk, request: Request, body: dict[str, Any]) -> object:
    name = desk.workspace.file(request.path_params["name"]).name
    other = desk.workspace.file(body.get("other")).name
    found = await desk.results.ask("compare", file=name, other=other)
    words = ["kes", "compare", name, other]
    reader = "load" if sort_of(other) == "results" else "read_graph"
    lines = ["import kes", f"kes.load({name!r}).compare(kes.{reader}({other!r}))"]
    return {**found, "code": actions.Action(words, None, lines).code}


_ANSWERS: dict[tuple[str, str], JsonHandler] = {
    ("GET", "state"): _state,
    ("GET", "files"): _files,
    ("PUT", "draft"): _draft,
    ("POST", "cards"): _cards,
    ("POST", "check"): _check,
    ("POST", "states"): _states,
    ("POST", "knowledge"): _state_knowledge,
    ("GET", "knowledge/{name}"): _load_knowledge,
    ("POST", "learn"): _learn,
    ("GET", "jobs"): _list_jobs,
    ("GET", "jobs/{id}"): _progress,
    ("POST", "jobs/{id}"): _change_job,
    ("GET", "results"): _history,
    ("GET", "results/{name}"): _result,
    ("PUT", "results/{name}/note"): _note,
    ("GET", "results/{name}/landscape"): _landscape,
    ("GET", "results/{name}/draft"): _result_draft,
    ("POST", "results/{name}/more"): _more,
    ("POST", "results/{name}/view"): _view,
    ("POST", "results/{name}/effects"): _effects,
    ("POST", "results/{name}/compare"): _compare,
    ("POST", "results/{name}/do/{action}"): _act,
}
