"""The exogenous variables in a report: what they touch, and which directions they decide."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kes.errors import listed

if TYPE_CHECKING:
    from kes.results.optima import Optima


def exogenous_text(optima: Optima) -> str:
    """Return a paragraph as HTML; "" if all variables are modelled."""
    graph = optima.best.mpdag
    if not graph.exogenous:
        return ""
    touched = [f"{x} → {y}" for x, y in sorted(graph.directed) if x in graph.exogenous]
    decided = [f"{a} → {b}" for a, b in sorted(graph.by_exogenous)]
    parts = [
        f"Not modelled, but possible causes (dashed boxes): {listed(graph.exogenous, show=str)}.",
        f"They touch: {listed(touched, show=str)}." if touched else "They touch no variable.",
    ]
    if decided:
        parts.append(f"They decide the direction of {listed(decided, show=str)}.")
    return f"<p>{escape(' '.join(parts))}</p>"
