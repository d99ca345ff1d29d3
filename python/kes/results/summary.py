"""A result in a few lines: what was found, and how it compares with GES."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING

import numpy as np

from kes.settings import Sampled

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.results.optimum import Optimum


@dataclass(frozen=True)
class Standing:
    """Number of runs that ended on a higher, the same or a lower score level than a score."""

    above: int
    level: int
    below: int

    @classmethod
    def of(cls, optima: Optima, score: float) -> Standing:
        """Compare all runs with a score."""
        level = optima._record.level
        levels = np.array([level(optimum.score) for optimum in optima])[optima.run_optima]
        mark = level(score)
        return cls(
            above=int(np.sum(levels > mark)),
            level=int(np.sum(levels == mark)),
            below=int(np.sum(levels < mark)),
        )


def text(optima: Optima, *, more: Sequence[tuple[str, str]] = ()) -> str:
    """Return the summary as plain text, with `more` rows of a label and a value each."""
    rows = [*_rows(optima), *more]
    width = max(len(label) for label, _ in rows)
    return "\n".join([_title(optima), *(f"  {label:<{width}}  {value}" for label, value in rows)])


def html(optima: Optima) -> str:
    """Return the summary as a small table for notebooks."""
    rows = "".join(
        f"<tr><th style='text-align:left'>{escape(label)}</th>"
        f"<td style='text-align:left'>{escape(value)}</td></tr>"
        for label, value in _rows(optima)
    )
    return f"<table><caption>{escape(_title(optima))}</caption><tbody>{rows}</tbody></table>"


def _title(optima: Optima) -> str:
    return f"{counted(len(optima), 'optimum', 'optima')} from {counted(len(optima.runs), 'run')}"


def _rows(optima: Optima) -> list[tuple[str, str]]:
    best, ges = optima.best, optima.ges
    standing = Standing.of(optima, ges.score)
    return [
        ("data", f"{counted(len(optima.names), 'variable')}, {optima.cases:.12g} cases"),
        ("search", _settings(optima)),
        ("best score", f"{best.score:.4f}, {_hits(best, len(optima.runs))}"),
        (
            "GES score",
            f"{ges.score:.4f}: {standing.above} of {counted(len(optima.runs), 'run')} better, "
            f"{standing.level} equal, {standing.below} worse",
        ),
        ("optima", f"{len(optima)} distinct on {counted(optima.levels, 'score level')}"),
        ("best network", _edges(best)),
        *_improved(optima),
    ]


def _improved(optima: Optima) -> list[tuple[str, str]]:
    improved, level = optima.improved, optima._record.level
    if improved is None:
        return []
    tasks = counted(improved.tasks, "task")
    if level(improved.best.score) <= level(optima.best.score):
        return [("improved", f"no higher score in {tasks}")]
    return [
        (
            "improved",
            f"{improved.best.score:.4f}, {improved.gain:.4f} above the best run, in {tasks}",
        ),
        ("provenance", improved.best.provenance),
        ("its network", _edges(improved.best)),
    ]


def _settings(optima: Optima) -> str:
    settings = optima.settings
    parts = [f"k={settings.k:g}", settings.criterion]
    if settings.ess is not None:
        parts.append(f"ess={settings.ess:g}")
    parts.append(f"seed {settings.seed}")
    if settings.max_parents is not None:
        parts.append(f"at most {counted(settings.max_parents, 'parent')}")
    if settings.two_phase:
        parts.append("two phases")
    if isinstance(settings.neighbourhood, Sampled):
        parts.append("sampled neighbourhood")
    if settings.start is not None:
        parts.append("from a given start")
    return ", ".join(parts)


def _hits(best: Optimum, runs: int) -> str:
    return f"found by {best.hits} of {counted(runs, 'run')}, first by run {best.first_run}"


def _edges(optimum: Optimum) -> str:
    directed, undirected = (len(edges) for edges in optimum._edges)
    return (
        f"{counted(directed + undirected, 'edge')} ({directed} directed, {undirected} undirected)"
    )


def counted(number: int, one: str, many: str | None = None) -> str:
    """Return a number with its noun, such as "1 run" or "2 runs"."""
    return f"{number} {one if number == 1 else many or one + 's'}"
