"""Upper bounds on the evidence for the edges of the best model, without a further search.

`evidence` compares the best model with an edge and the best without it. Known models bound it from
above: those without the edge, and the best model with the edge deleted (`deletion_loss`), score no
higher than the best of all models without it. The same holds for the direction of an arc and models
that allow the opposite one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from kes.analysis.evidence.deletion_loss import edge_worth

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem


@dataclass(frozen=True)
class AtMost:
    """Upper bounds on the evidence for an edge, in nats.

    Attributes
    ----------
    evidence : float
        On the evidence for the edge.
    direction : float or None
        On the evidence for its direction; None if the best model allows the opposite direction, or
        if no optimum does.
    """

    evidence: float
    direction: float | None


def at_most(optima: Optima, problem: Problem) -> dict[frozenset[str], AtMost]:
    """Return upper bounds for each edge of the best model."""
    best = optima.best
    evidence = edge_worth(best.graph, problem)
    direction: dict[frozenset[str], float] = {}
    arcs = {frozenset(arc): arc for arc in best.mpdag.directed}
    lacking, opposing = set(evidence), set(arcs)
    for other in optima[1:]:  # the best first, so the first that differs is the best that does
        loss, skeleton = best.score - other.score, other.graph.skeleton
        without = lacking - skeleton
        evidence |= {pair: min(evidence[pair], loss) for pair in without}
        turned = {p for p in opposing & skeleton if arcs[p] not in other.mpdag.directed}
        direction |= dict.fromkeys(turned, loss)
        lacking -= without
        opposing -= turned
    return {pair: AtMost(evidence[pair], direction.get(pair)) for pair in evidence}
