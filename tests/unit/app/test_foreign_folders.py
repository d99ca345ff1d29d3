"""Folders, results and drafts from elsewhere, and jobs that go wrong.

The numbers are those of the threat model in SECURITY.md.
"""

import asyncio
import json
import math
import signal
import socket
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from unittest.mock import AsyncMock

import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.app import actions, answers, results, seal, serve
from kes.app.desk import Desk
from kes.app.drafts import SearchDraft
from kes.app.jobs import Job, Jobs, _fate
from kes.app.reader import Reader
from kes.app.security import Gate
from kes.app.workspace import Workspace, clean, stem
from kes.errors import KesError


def finished(awaitable):
    """Return its result, awaited in another thread: tests of pages leave a loop running here."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, awaitable).result()


@pytest.fixture(autouse=True)
def config(tmp_path_factory, monkeypatch):
    """Keep the key apart from that of the user."""
    folder = tmp_path_factory.mktemp("config")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(folder))
    return folder


@pytest.fixture
def workspace(tmp_path):
    return Workspace(tmp_path)


def learned(path, table):
    """Learn a tiny result from a table that is written first."""
    table.write_text("a,b,c\n" + "".join(f"{i % 2},{i % 3},{i % 5 % 2}\n" for i in range(60)))
    options = {"kinds": dict.fromkeys("abc", "discrete"), "runs": 1, "improve": False}
    return kes.learn(table, out=path, **options)


# --- jobs ---


def planted(workspace, **changed):
    words = ["kes", "learn", "d.csv", "--cluster", "evil:8786", "--out", "x.kes.json.gz"]
    job = {**asdict(Job("1", "Learn", words, "x.kes.json.gz")), **changed}
    (workspace.state / "jobs" / "1.json").write_text(json.dumps(job))


@pytest.mark.parametrize("given", [None, 5, "0" * 64, "\u00e9"])
def test_26_jobs_that_came_with_the_folder_are_not_started(workspace, given):
    planted(workspace, seal=given)
    assert not Jobs(workspace).all


def test_26_a_changed_job_is_not_started(workspace):
    job = Jobs(workspace).add("Learn", ["kes", "learn", "--out", "x.kes.json"], "x.kes.json")
    assert Jobs(workspace).all == {job.id: job}
    path = workspace.state / "jobs" / f"{job.id}.json"
    path.write_text(path.read_text().replace("--out", "--cluster"))
    assert not Jobs(workspace).all


def test_26_the_key_is_for_the_user_only(workspace):
    Jobs(workspace).add("Learn", ["kes", "learn"], "x.kes.json")
    assert stat.S_IMODE(seal.key_file().stat().st_mode) == 0o600
    assert not seal.key_file().is_relative_to(workspace.folder)


@pytest.mark.parametrize("words", [["kes"], ["kes", "\0"]])
def test_a_job_that_cannot_run_fails_and_the_queue_goes_on(workspace, words):
    async def both():
        jobs = Jobs(workspace)
        found = [jobs.add("bad", words, "a"), jobs.add("good", ["kes", "--version"], "b")]
        running = asyncio.create_task(jobs.run())
        while found[1].state in ("queued", "running") and not running.done():
            await asyncio.sleep(0.05)
        running.cancel()
        return [job.state for job in found]

    assert finished(asyncio.wait_for(both(), 60)) == ["failed", "done"]


def test_a_job_does_not_write_through_a_link(workspace, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "file"
    (workspace.folder / "x.kes.json").symlink_to(outside)

    async def run():
        jobs = Jobs(workspace)
        job = jobs.add("Learn", ["kes", "learn", "--out", "x.kes.json"], "x.kes.json")
        running = asyncio.create_task(jobs.run())
        while job.state in ("queued", "running") and not running.done():
            await asyncio.sleep(0.05)
        running.cancel()
        return job

    assert "is a link" in finished(asyncio.wait_for(run(), 60)).message
    assert not outside.exists()


@pytest.mark.parametrize("code", [255, -250, 137])
def test_every_code_of_a_process_is_a_message(code):
    state, message = _fate(code, "", Job("1", "", ["kes", "learn"], ""))
    assert state == "failed"
    assert ("SIGKILL" if code == 137 else str(code)) in message


def test_an_ended_job_waits_for_no_second_one_of_its_file(workspace):
    jobs = Jobs(workspace)
    first = jobs.add("Learn", ["kes", "learn"], "x.kes.json")
    jobs.stop(first)
    jobs.add("Learn", ["kes", "learn"], "x.kes.json")
    with refused("queued", file="x.kes.json"):
        jobs.again(first)


def test_a_job_is_stopped_while_its_process_is_being_created(workspace, monkeypatch):
    create, sent = asyncio.create_subprocess_exec, []

    async def run():
        jobs = Jobs(workspace)
        job = jobs.add("Learn", ["kes", "--version"], "x")

        async def slowly(*words, **options):
            jobs.stop(job)
            return await create(*words, **options)

        monkeypatch.setattr(asyncio, "create_subprocess_exec", slowly)
        monkeypatch.setattr("kes.app.jobs._signal", lambda _, number: sent.append(number))
        await jobs._do(job)

    finished(run())
    assert sent == [signal.SIGINT]


@pytest.mark.parametrize(("state", "kept"), [("done", {"k": 0.3}), ("failed", {"k": 0.5})])
def test_the_draft_of_a_result_is_not_that_of_a_failed_job(workspace, state, kept):
    (workspace.folder / "r.kes.json").touch()
    desk = Desk(workspace)
    desk.results.ask = AsyncMock(return_value={"k": 0.5})
    job = desk.jobs.add("Learn", ["kes", "learn"], "r.kes.json", draft={"k": 0.3})
    job.state = state
    assert finished(desk.draft_of("r.kes.json")) == kept


# --- the token ---


def test_27_the_browser_is_not_given_the_token_as_an_argument(workspace, monkeypatch):
    """Other users of the machine see the arguments of all processes."""
    opened, said = [], []
    path = workspace.state / "open.html"

    class Server:
        def __init__(self, config):
            pass

        def run(self, sockets):
            sockets[0].close()
            opened.append((stat.S_IMODE(path.stat().st_mode), path.read_text()))

    class Now:
        def __init__(self, _, function, arguments):
            self.start = lambda: function(*arguments)

    monkeypatch.setattr(serve.uvicorn, "Server", Server)
    monkeypatch.setattr(serve, "Timer", Now)
    monkeypatch.setattr(serve.webbrowser, "open", opened.append)
    options = {"file": None, "port": 0, "max_upload": 1, "browse": True}
    serve.serve(workspace.folder, **options, say=said.append)
    address = next(line for line in said if "token=" in line).removeprefix("Open ")
    assert opened[0] == path.as_uri()
    assert opened[1][0] == 0o600
    assert address in opened[1][1]
    assert not path.exists()


def test_27_a_browser_that_comes_from_the_file_keeps_its_cookie():
    """After a redirection that a file causes, browsers do not send a strict cookie."""
    headers = [(b"host", b"127.0.0.1:7"), (b"sec-fetch-site", b"cross-site")]
    about = {"method": "GET", "path": "/", "query_string": b"token=secret", "headers": headers}
    answer = Gate(None, "secret", 7)._answer({"type": "http", **about})
    assert answer.status_code == 200
    assert b"url=/" in answer.body
    assert "samesite=strict" in answer.headers["set-cookie"].lower()


# --- files ---


@pytest.mark.parametrize("name", ["jobs", "reports", "draft.json", "notes.json"])
def test_28_links_in_the_state_are_refused(tmp_path, name):
    (tmp_path / "study" / ".kes-app").mkdir(parents=True)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "study" / ".kes-app" / name).symlink_to(tmp_path / "elsewhere")
    with refused(name, option="folder"):
        Workspace(tmp_path / "study")


@pytest.mark.parametrize("name", ["bif", "edges", "svg", "report"])
def test_29_actions_never_replace_a_file(workspace, name):
    (workspace.folder / "a.v1.kes.json.gz").touch()
    first = actions.action(workspace, "a.v1.kes.json.gz", name, {}).file
    assert first.startswith("a.v1")
    (workspace.folder / first).symlink_to("/nowhere")
    second = actions.action(workspace, "a.v1.kes.json.gz", name, {})
    assert second.file != first
    assert second.file in second.words


def test_29_knowledge_never_replaces_other_knowledge(workspace):
    desk = Desk(workspace)
    (workspace.folder / "d.csv").touch()
    mine = workspace.folder / "d.knowledge.toml"
    mine.write_text("roots = ['mine']")
    job = desk.learn({"file": "d.csv", "knowledge": {"roots": ["a"]}})
    assert mine.read_text() == "roots = ['mine']"
    assert "d.knowledge-2.toml" in job.words or "d-2.knowledge.toml" in job.words


def test_only_the_suffix_is_taken_off_a_name():
    names = {"a.v1.kes.json.gz": "a.v1", "a.kes.json": "a", "a.b.csv.gz": "a.b", "a": "a"}
    assert {name: stem(name) for name in names} == names


def test_names_are_limited_in_bytes():
    assert len(clean("\U0001f600" * 300 + ".csv").encode()) <= 255


@pytest.mark.parametrize(
    ("name", "about"),
    [
        ("query", {"question": "P(b | a=1)"}),
        ("predict", {"table": "rows.csv", "target": "b"}),
        ("bif", {}),
    ],
)
def test_30_a_result_names_no_table_outside_the_folder(workspace, tmp_path_factory, name, about):
    outside = tmp_path_factory.mktemp("outside") / "t.csv"
    learned(workspace.folder / "r.kes.json.gz", outside)
    (workspace.folder / "rows.csv").write_bytes(outside.read_bytes())
    near = workspace.folder / "t.csv"

    def act():
        return finished(
            actions.run(workspace, actions.action(workspace, "r.kes.json.gz", name, about))
        )

    with refused("not found in"):
        act()
    near.symlink_to(outside)
    with refused("not found in"):
        act()
    near.unlink()
    near.write_bytes(outside.read_bytes())
    assert act()


@pytest.mark.parametrize("source", ["elsewhere/..", "elsewhere/parts", "elsewhere/t.csv"])
def test_30_effects_read_no_table_outside_the_folder(tmp_path, monkeypatch, source):
    """Neither by "..", as a folder of Parquet files is a table, too, nor by links."""
    inside, outside = tmp_path / "folder", tmp_path / "outside"
    inside.mkdir()
    outside.mkdir()
    monkeypatch.chdir(inside)
    learned("r.kes.json", outside / "t.csv")
    table = pd.read_csv(outside / "t.csv")
    table.to_parquet(tmp_path / "part.parquet")
    table.to_parquet(outside / "part.parquet")
    (inside / "parts").symlink_to(outside)
    (inside / "t.csv").symlink_to(outside / "t.csv")
    result = json.loads(Path("r.kes.json").read_text())
    result["reading"]["source"] = source
    Path("r.kes.json").write_text(json.dumps(result))
    with refused("in the folder"):
        results.effects("r.kes.json", "a", "b")
    Path("expert.dot").write_text("digraph { a -> b; c; }")  # the result does not have its score
    assert results.compare("r.kes.json", "expert.dot")["nats"] is None
    result["reading"]["source"] = "elsewhere/own.csv"
    Path("r.kes.json").write_text(json.dumps(result))
    Path("own.csv").write_bytes((outside / "t.csv").read_bytes())
    assert results.effects("r.kes.json", "a", "b")["note"]
    assert results.compare("r.kes.json", "expert.dot")["nats"] is not None


def test_30_every_command_on_a_result_looks_in_the_folder_only(workspace):
    """Reports, edges and pictures need no table, and would take one from elsewhere silently."""
    for file in ("r.kes.json.gz", "rows.csv"):
        (workspace.folder / file).write_text("")
    about = {"question": "P(a)", "table": "rows.csv", "target": "a"}
    for name in actions._ACTIONS:
        words = actions.action(workspace, "r.kes.json.gz", name, about).words
        assert words[words.index("--data") + 1] == "."


def test_30_going_on_from_a_result_reads_the_folder_only(workspace, tmp_path_factory):
    outside = tmp_path_factory.mktemp("outside") / "t.csv"
    learned(workspace.folder / "r.kes.json.gz", outside)

    async def go_on():
        desk = Desk(workspace)
        try:
            with refused(file="t.csv"):
                await desk.more("r.kes.json.gz", "runs")
            (workspace.folder / "t.csv").write_bytes(outside.read_bytes())
            return await desk.more("r.kes.json.gz", "runs")
        finally:
            await desk.close()

    words = finished(go_on()).words
    assert "t.csv" in words
    assert str(outside) not in words


# --- drafts and answers ---


@pytest.mark.parametrize(
    "part",
    [
        {"knowledge": {"foo": 1}},
        {"knowledge": {"required": 5}},
        {"knowledge": {"required": [5]}},
        {"knowledge": {"tiers": [[{}]]}},
        {"knowledge": [1]},
        {"na_values": 5},
        {"na_values": [5]},
        {"kinds": {"a": 5}},
        {"options": {"k": {}}},
        {"options": {"runs": []}},
        {"file": []},
        {"completions": "x"},
    ],
)
def test_31_malformed_drafts_are_refused_in_words(workspace, part):
    draft = {"file": "d.csv", **part}
    with pytest.raises(KesError):
        SearchDraft.of(draft)
    desk = Desk(workspace)
    assert desk.keep_draft(0, draft)["problem"]["message"]
    assert desk.described(desk.draft()["draft"])["problem"]["message"]


@pytest.mark.parametrize("content", ["[]", "5", '{"version": "x", "draft": {}}', "[" * 99_999])
def test_31_malformed_state_is_forgotten(workspace, content):
    for name in ("draft.json", "notes.json", "known.json"):
        (workspace.state / name).write_text(content)
    (workspace.folder / "r.kes.json").touch()
    desk = Desk(workspace)
    desk.results.ask = AsyncMock(return_value={})
    assert desk.draft() == {"version": 0, "draft": {}}
    assert [one["note"] for one in finished(desk.history())] == [""]


def test_31_numbers_that_json_does_not_have_are_not_kept(workspace):
    draft = {"file": "d.csv", "options": {"k": math.inf}}
    with pytest.raises(KesError):
        Desk(workspace).keep_draft(0, draft)
    assert Desk(workspace).draft()["version"] == 0


def test_answers_are_json(monkeypatch):
    monkeypatch.setitem(answers.QUESTIONS, "odd", lambda: {"a": [math.nan, (1.5, math.inf)]})
    assert answers.answered('{"ask": "odd"}') == {"found": {"a": [None, [1.5, None]]}}


def test_a_reader_that_takes_too_long_is_a_message(workspace, monkeypatch):
    monkeypatch.setattr("kes.app.reader._PATIENCE", 0.01)
    with refused("too long"):
        finished(Reader(workspace).ask("summary", file="x"))


def test_jobs_are_changed_by_known_words_only(server):
    draft = {"example": 60, "options": {"runs": 1}}
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    status, _, _ = server.send("POST", f"/api/jobs/{job['id']}", {"do": "nothing"})
    assert status == 400
    assert server.ask("GET", f"jobs/{job['id']}?from=%C2%B2")["lines"]


# --- ports ---


def test_ports_that_cannot_be_had_are_named():
    with refused("70000", option="port"):
        serve._bound(70000)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with refused("in use", option="port"):
            serve._bound(port)


@pytest.mark.parametrize(("system", "times"), [("posix", 1), ("nt", 0)])
def test_addresses_are_reused_on_posix_only(monkeypatch, system, times):
    """On Windows the option lets another server take the port."""
    given = []
    fake = type("S", (socket.socket,), {"setsockopt": lambda _, *words: given.append(words)})
    monkeypatch.setattr(serve.socket, "socket", fake)
    monkeypatch.setattr(serve, "os", SimpleNamespace(name=system))
    serve._bound(0).close()
    assert len(given) == times


def test_a_port_that_is_forbidden_is_not_in_use(monkeypatch):
    def bind(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(serve.socket, "socket", type("S", (socket.socket,), {"bind": bind}))
    with refused("Permission denied", option="port"):
        serve._bound(80)
