"""How sure the edges of the best model can be at most, without a further search.

`evidence` compares the best model with an edge and the best without it. The models at
hand bound it from above: those that lack the edge, and the best model with the edge taken away
(`deletion_loss`), are no better than the best of all without it. The same holds of the
direction of an arc, and of the models that allow for the opposite one.
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
    """Bounds on what is said for an edge, in nats.

    Attributes
    ----------
    evidence : float
        The best model is better than one without the edge by no more than this.
    direction : float or None
        The same of models that allow for the opposite direction; None if the best model does
        itself, or if none of the optima does.
    """

    evidence: float
    direction: float | None


def at_most(optima: Optima, problem: Problem) -> dict[frozenset[str], AtMost]:
    """Return for each edge of the best model how sure it can be at most."""
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
