"""Exogenous variables in the optima: which variables they touch, and which directions they decide.

A context that points to one end of an edge can direct it: if it is not adjacent to the other end,
the edge leads away from it or towards it, and the data tell which. So experiments and earlier
values decide directions that the modelled variables alone leave open [Mooij 2020].
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Any

from kes.errors import KesError
from kes.table import Table

if TYPE_CHECKING:
    from kes.results.optima import Optima


def contexts(optima: Optima) -> Table:
    """Return the table of `Optima.contexts`."""
    known = optima.settings.knowledge
    if known is None or not known.exogenous:
        raise KesError(
            "the result has no exogenous variables; name contexts or interventions for kes.learn, "
            "or learn from kes.lagged(...)",
            option="contexts",
        )
    best, targets = optima.best.mpdag, dict(known.targets)
    touched = {arc for arc in best.directed if arc[0] in known.exogenous}
    shares = _shares(optima, frozenset(known.exogenous))
    rows = sorted(touched | {arc for arc, share in shares.items() if share >= 0.5})
    columns: dict[str, list[Any]] = {
        "context": [x for x, _ in rows],
        "touches": [y for _, y in rows],
        "in_best": [arc in touched for arc in rows],
        "runs": [shares.get(arc, 0.0) for arc in rows],
        "targets": ["known" if x in targets else "any" for x, _ in rows],
    }
    return Table(columns, note=_note(optima))


def _shares(optima: Optima, block: frozenset[str]) -> dict[tuple[str, str], float]:
    """Return the share of the runs whose optimum has each arc out of the block."""
    found: dict[tuple[str, str], float] = defaultdict(float)
    for optimum in optima.of_runs:
        for arc in optimum.mpdag.directed:
            if arc[0] in block:
                found[arc] += optimum.hits / len(optima.runs)
    return found


def _note(optima: Optima) -> str:
    best, known = optima.best.mpdag, optima.settings.knowledge
    assert known is not None, "there are exogenous variables"
    silent = sorted(set(known.exogenous) - {x for x, _ in best.directed})
    arcs = sorted(best.by_exogenous)
    parts = [
        "runs: share of the runs whose optimum has the arc. Directions that they decide in the "
        f"best network: {', '.join(f'{a} -> {b}' for a, b in arcs) or 'none'}."
    ]
    if silent:
        parts.append(f"No arc leaves {', '.join(silent)}.")
    return " ".join(parts)
