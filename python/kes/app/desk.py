"""The state of the server: the folder, its jobs, the draft, the results and their notes."""

from __future__ import annotations

import asyncio
import shlex
from contextlib import suppress
from pathlib import Path
from typing import Any

from kes.app import actions
from kes.app.drafts import SearchDraft
from kes.app.jobs import Job, Jobs
from kes.app.reader import Reader
from kes.app.workspace import Workspace, clean, plain, stem
from kes.errors import KesError
from kes.files import write_file

_LEARN = "Learn"
_MAINTENANCE = 30.0  # seconds
_LONGEST_NOTE = 10_000
_SUFFIXES = {"knowledge": ".toml", "interventions": ".json"}
_MOST_DRAFT = 2_000_000  # characters


class Stale(KesError):
    """A draft that another tab has changed meanwhile."""


class Desk:
    """The state of the page, in one place."""

    def __init__(self, workspace: Workspace) -> None:
        self.workspace = workspace
        self.jobs = Jobs(workspace)
        self.tables = Reader(workspace)
        self.results = Reader(workspace)
        self._reporting = asyncio.Lock()

    async def maintain(self) -> None:
        """Release unused memory, in an endless loop."""
        while True:
            await asyncio.sleep(_MAINTENANCE)
            for reader in (self.tables, self.results):
                await reader.rest()

    async def close(self) -> None:
        """End all processes; a running job keeps its work."""
        for part in (self.jobs, self.tables, self.results):
            await part.close()

    # --- the draft --------------------------------------------------------------------------------

    def draft(self) -> dict[str, Any]:
        """Return the draft with its version."""
        return kept_draft(self.workspace)

    def keep_draft(self, version: object, draft: object) -> dict[str, Any]:
        """Keep a draft, unless it is based on an older version than the last; return what it does.

        A draft is kept even if it is not complete or contradicts itself: it is the user's.
        """
        kept = self.draft()
        if version != kept["version"]:
            raise Stale("another tab has changed this meanwhile")
        if not isinstance(draft, dict) or len(str(draft)) > _MOST_DRAFT:
            raise KesError("a draft must be an object of moderate size")
        found = {"version": kept["version"] + 1, **self.described(draft)}
        self.workspace.write("draft.json", {"version": found["version"], "draft": draft})
        return found

    def described(self, draft: dict[str, Any]) -> dict[str, Any]:
        """Return the code of a draft, or what is wrong with it."""
        try:
            chosen = SearchDraft.of(draft)
        except KesError as error:
            return {"code": None, "problem": {"message": str(error), "option": error.option}}
        out = self._new_result(chosen.stem)
        names = self._names(chosen, out)
        new = {part for part, name in names.items() if not (self.workspace.folder / name).exists()}
        return {"code": chosen.code(out, names, new), "problem": None}

    # --- searches ---------------------------------------------------------------------------------

    def learn(self, draft: dict[str, Any], before: object = None) -> Job:
        """Queue the search that a draft describes."""
        chosen = self._checked(draft)
        out = self._new_result(chosen.stem)
        names = self._keep_files(chosen, out)
        more = {"draft": draft, "before": None if before is None else plain(before)}
        return self.jobs.add(_LEARN, chosen.words(out, names), out, **more)

    async def more(self, result: str, how: object) -> Job:
        """Queue what goes on from a result: more runs, more improving, a proof, or evidence."""
        self.workspace.file(result)
        if how == "evidence":
            target = self._report_file(result).relative_to(self.workspace.folder)
            words = [
                "kes",
                "report",
                result,
                "--evidence",
                *actions.IN_FOLDER,
                "--out",
                str(target),
            ]
            return self.jobs.add("Evidence for all edges", words, result)
        found = await self.results.ask("summary", file=result)
        draft = await self.draft_of(result)
        changed = {
            "runs": {"runs": 2 * max(found["runs"], 1)},
            "improve": {"improve": 2 * max(found["tasks"], 500)},
            "prove": {"prove": True},
        }
        if how not in changed:
            raise KesError(f"there is no way to go on called {how!r}")
        if how != "runs" and "runs" not in draft.get("options", {}):
            changed["improve"]["runs"] = changed["prove"]["runs"] = found["runs"]
        draft = {**draft, "options": {**draft.get("options", {}), **changed[str(how)]}}
        chosen = self._checked(draft)
        words = chosen.words(result, self._keep_files(chosen, result))
        titles = {"runs": "More runs", "improve": "Improve further", "prove": "Prove"}
        return self.jobs.add(titles[str(how)], words, result, draft=draft)

    def _checked(self, draft: dict[str, Any]) -> SearchDraft:
        """Check a draft, and that its table is a file of the folder."""
        chosen = SearchDraft.of(draft)
        if chosen.file is not None:
            self.workspace.file(chosen.file)
        return chosen

    def commands(self, result: str) -> list[str] | None:
        """Return the commands of the page that gave a result; None if they are not known."""
        own = [job for job in self.jobs.all.values() if job.out == result and job.is_search]
        begins = [i for i, job in enumerate(own) if job.title == _LEARN]
        own = own[begins[-1] :] if begins else []  # what came before it left no file
        if not own or any(job.state != "done" for job in own):
            return None
        return [shlex.join(job.words) for job in own]

    async def draft_of(self, result: str) -> dict[str, Any]:
        """Return the draft that gave a result: of its last job, or as its file describes it."""
        self.workspace.file(result)
        own = [job for job in self.jobs.all.values() if job.out == result and job.has_worked]
        kept = [job.draft for job in own if job.draft]
        found: dict[str, Any] = kept[-1] if kept else await self.results.ask("draft", file=result)
        return found

    def _new_result(self, stem: str) -> str:
        """Return a name for a new result that neither a file nor a job has."""
        taken = {job.out for job in self.jobs.all.values() if job.state in ("queued", "running")}
        name, number = self.workspace.unused(f"{clean(stem)}.kes.json.gz"), 2
        while name in taken:
            name = self.workspace.unused(f"{clean(stem)}-{number}.kes.json.gz")
            number += 1
        return name

    def _keep_files(self, draft: SearchDraft, out: str) -> dict[str, str]:
        """Write the files that the search of a draft reads; return their names."""
        names = self._names(draft, out)
        for part, name in names.items():
            write_file(self.workspace.folder / name, draft.files[part])
        return names

    def _names(self, draft: SearchDraft, out: str) -> dict[str, str]:
        """Return names for the files of a draft: new ones, or of files with the same content."""
        names = {}
        for part, content in draft.files.items():
            name = f"{stem(out)}.{part}{_SUFFIXES[part]}"
            with suppress(KesError, OSError):
                if self.workspace.file(name).read_bytes() == content:
                    names[part] = name
                    continue
            names[part] = self.workspace.unused(name)
        return names

    # --- results ----------------------------------------------------------------------------------

    async def history(self) -> list[dict[str, Any]]:
        """Return the results of the folder, newest first, with their notes."""
        notes, known = self.workspace.read("notes.json", {}), self.workspace.read("known.json", {})
        found, kept = [], {}
        for item in self.workspace.listing()["results"]:
            name, key = item["name"], f"{item['time']}:{item['bytes']}"
            about = known.get(name)
            if not isinstance(about, dict) or about.get("key") != key:
                try:
                    about = {"key": key, "summary": await self.results.ask("summary", file=name)}
                except KesError as error:
                    about = {"key": key, "problem": str(error)}
            kept[name] = about
            found.append({**item, **about, "note": notes.get(name, "")})
        if kept != known:
            self.workspace.write("known.json", kept)
        return found

    def note(self, result: str, text: object) -> None:
        """Keep a note on a result."""
        self.workspace.file(result)
        notes = self.workspace.read("notes.json", {})
        self.workspace.write("notes.json", {**notes, result: str(text)[:_LONGEST_NOTE]})

    async def report(self, result: str) -> Path:
        """Return the report on a result, made if there is none yet."""
        path = self._report_file(result)
        async with self._reporting:
            if not path.exists():
                target = str(path.relative_to(self.workspace.folder))
                words = ["kes", "report", result, *actions.IN_FOLDER, "--out", target]
                await actions.run(self.workspace, actions.Action(words))
        return path

    def _report_file(self, result: str) -> Path:
        version = self.workspace.file(result).stat().st_mtime_ns
        return self.workspace.state / "reports" / f"{stem(result)}-{version}.html"


def kept_draft(workspace: Workspace) -> dict[str, Any]:
    """Return the draft of a folder with its version; an empty one if its file is damaged."""
    kept: dict[str, Any] = workspace.read("draft.json", {})
    is_ours = isinstance(kept.get("draft"), dict) and isinstance(kept.get("version"), int)
    return kept if is_ours else {"version": 0, "draft": {}}
