"""Actions on a result: each is a command, run at once in the folder, and shown.

An action that makes a file writes it into the folder under a name of its own.
"""

from __future__ import annotations

import asyncio
import shlex
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, TypeAlias

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
        return {"shell": shlex.join(self.words), "python": "\n".join(self.python)}


_Maker: TypeAlias = Callable[[Workspace, str, str, Mapping[str, Any]], Action]


def action(
    workspace: Workspace, result: str, name: str, about: Mapping[str, Any], data: str = "data"
) -> Action:
    """Return the action of a name on a result; `data` is how Python names its table."""
    workspace.file(result)
    if name not in _ACTIONS:
        raise KesError(f"there is no action {name!r}")
    return _ACTIONS[name](workspace, result, data, about)


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


def in_python(result: str, data: str, *lines: str) -> list[str]:
    """Return lines that work with a result and its table; `data` is how Python names the table."""
    return ["import kes", f"data = {data}", f"optima = kes.load({result!r})", *lines]


_NETWORK = "network = optima.best.fit(data)"


def _fit(suffix: str) -> _Maker:
    def made(workspace: Workspace, result: str, data: str, _: Mapping[str, Any]) -> Action:
        file = workspace.unused(f"{stem(result)}.{suffix}")
        lines = in_python(result, data, _NETWORK, f"network.save({file!r})")
        return Action(["kes", "fit", result, *IN_FOLDER, "--out", file], file, lines)

    return made


def _edges(workspace: Workspace, result: str, data: str, _: Mapping[str, Any]) -> Action:
    file = workspace.unused(f"{stem(result)}-edges.csv")
    lines = in_python(result, data, "optima.evidence(data=data)")
    return Action(["kes", "edges", result, *IN_FOLDER, "--out", file], file, lines)


def _svg(workspace: Workspace, result: str, data: str, _: Mapping[str, Any]) -> Action:
    file = workspace.unused(f"{stem(result)}.svg")
    picture = "optima.plot(evidence=optima.evidence(data=data))"
    lines = in_python(result, data, f"{picture}.figure.savefig({file!r})")
    return Action(["kes", "plot", result, *IN_FOLDER, "--out", file], file, lines)


def _report(workspace: Workspace, result: str, data: str, _: Mapping[str, Any]) -> Action:
    file = workspace.unused(f"{stem(result)}.html")
    lines = in_python(result, data, f"optima.report({file!r}, data=data)")
    return Action(["kes", "report", result, *IN_FOLDER, "--out", file], file, lines)


def _query(workspace: Workspace, result: str, data: str, about: Mapping[str, Any]) -> Action:
    """Ask in the words of `kes query`; ``parts`` are those of a question that Python can ask."""
    question = str(about.get("question", "")).strip()
    if not question or question.startswith("-"):
        raise KesError("write a question such as P(cancer | smoker=yes)", option="question")
    lines = [_NETWORK]
    if isinstance(parts := about.get("parts"), Mapping):
        known = parts.get("known") or {}
        call = "probability" if parts.get("discrete") else "conditional"
        lines.append(f"network.{call}({parts.get('target')!r}, {known!r})")
    words = ["kes", "query", result, question, *IN_FOLDER]
    return Action(words, None, in_python(result, data, *lines))


def _predict(workspace: Workspace, result: str, data: str, about: Mapping[str, Any]) -> Action:
    table, target = workspace.file(about.get("table")).name, str(about.get("target", ""))
    file = workspace.unused(f"{stem(table)}-predicted.csv")
    words = ["kes", "predict", result, table, f"--target={target}", *IN_FOLDER, "--out", file]
    ask = f'network.predict({table!r}, {target!r}, unseen="missing")'
    return Action(words, file, in_python(result, data, _NETWORK, ask))


_ACTIONS = {
    "bif": _fit("bif"),
    "json": _fit("json"),
    "edges": _edges,
    "svg": _svg,
    "report": _report,
    "query": _query,
    "predict": _predict,
}
