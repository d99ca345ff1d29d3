"""Actions on a result: each is a command, run at once in the folder, and shown.

An action that makes a file writes it into the folder under a name of its own.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from kes.app.workspace import Workspace, stem
from kes.errors import KesError

_PATIENCE = 600.0
_MOST = 200_000  # characters of output

IN_FOLDER = ("--data", ".")
"""Lets a command look for the table of a result in the folder only."""


@dataclass(frozen=True)
class Action:
    """A command, the file that it writes, and the same in Python."""

    words: list[str]
    file: str | None = None
    python: list[str] = field(default_factory=list)

    @property
    def code(self) -> dict[str, str]:
        """The action as a command and as Python lines."""
        return {"shell": shlex.join(self.words), "python": "\n".join(["import kes", *self.python])}


def action(workspace: Workspace, result: str, name: str, about: Mapping[str, Any]) -> Action:
    """Return the action of a name on a result."""
    workspace.file(result)
    if name not in _ACTIONS:
        raise KesError(f"there is no action {name!r}")
    return _ACTIONS[name](workspace, result, about)


async def run(workspace: Workspace, chosen: Action) -> str:
    """Run an action; return what it prints. Its refusal is raised."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "kes", *chosen.words[1:]),
        cwd=workspace.folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        out, _ = await asyncio.wait_for(process.communicate(), _PATIENCE)
    except (TimeoutError, asyncio.CancelledError):
        with suppress(ProcessLookupError):
            process.kill()
        raise KesError("this takes too long for the page; run the command in a shell") from None
    said = workspace.without_paths(out.decode("utf-8", "replace")[:_MOST]).strip()
    if process.returncode:
        raise KesError(*said.removeprefix("Error: ").split("\n"))
    return said


def _fit(workspace: Workspace, result: str, about: Mapping[str, Any]) -> Action:
    suffix = "json" if about.get("form") == "json" else "bif"
    file = workspace.unused(f"{stem(result)}.{suffix}")
    lines = [f"optima = kes.load({result!r})", "# with the table of the result as `data`:"]
    lines.append(f"optima.best.fit(data).save({file!r})")
    return Action(["kes", "fit", result, *IN_FOLDER, "--out", file], file, lines)


def _edges(workspace: Workspace, result: str, about: Mapping[str, Any]) -> Action:
    file = workspace.unused(f"{stem(result)}-edges.csv")
    lines = [f"optima = kes.load({result!r})", "optima.evidence(data).to_pandas()"]
    return Action(["kes", "edges", result, *IN_FOLDER, "--out", file], file, lines)


def _svg(workspace: Workspace, result: str, about: Mapping[str, Any]) -> Action:
    file = workspace.unused(f"{stem(result)}.svg")
    lines = [f"optima = kes.load({result!r})", f"optima.plot().figure.savefig({file!r})"]
    return Action(["kes", "plot", result, *IN_FOLDER, "--out", file], file, lines)


def _report(workspace: Workspace, result: str, about: Mapping[str, Any]) -> Action:
    file = workspace.unused(f"{stem(result)}.html")
    lines = [f"optima = kes.load({result!r})", f"optima.report({file!r}, data=data)"]
    return Action(["kes", "report", result, *IN_FOLDER, "--out", file], file, lines)


def _query(workspace: Workspace, result: str, about: Mapping[str, Any]) -> Action:
    question = str(about.get("question", "")).strip()
    if not question or question.startswith("-"):
        raise KesError("write a question such as P(cancer | smoker=yes)", option="question")
    lines = [f"optima = kes.load({result!r})", "network = optima.best.fit(data)"]
    return Action(["kes", "query", result, question, *IN_FOLDER], None, lines)


def _predict(workspace: Workspace, result: str, about: Mapping[str, Any]) -> Action:
    table, target = workspace.file(about.get("table")).name, str(about.get("target", ""))
    file = workspace.unused(f"{stem(table)}-predicted.csv")
    words = ["kes", "predict", result, table, f"--target={target}", *IN_FOLDER, "--out", file]
    lines = [f"optima = kes.load({result!r})"]
    lines += ["network = optima.best.fit(data)", f"network.predict({table!r}, {target!r})"]
    return Action(words, file, lines)


_ACTIONS = {
    "bif": _fit,
    "edges": _edges,
    "svg": _svg,
    "report": _report,
    "query": _query,
    "predict": _predict,
}
