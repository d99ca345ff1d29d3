"""Probabilities beside the evidence for edges: which to show, and what they are."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from kes.analysis.posterior import estimate_of, posterior_of
from kes.analysis.probabilities import StructurePosterior
from kes.errors import KesError

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

_PROBABLE = 0.05
"""Least probability of an edge for its pair to matter."""

_BYTES, _SECONDS = 2**26, 1.5
"""Up to which estimated cost exact probabilities are computed unasked."""


def chosen(
    optima: Optima,
    problem: Problem,
    asked: StructurePosterior | bool | None,
    threads: int,
    seconds: float | None = None,
) -> StructurePosterior | None:
    """Return the probabilities to show: those given, new ones, or exact ones if that is quick.

    Which it is by default depends on the size of the problem and on the `seconds` allowed, not on
    the clock.
    """
    if isinstance(asked, StructurePosterior):
        if asked.names != tuple(optima.names):
            raise KesError("the posterior is about other variables", option="posterior")
        return asked
    if asked is False:
        return None
    if asked is None:
        if problem.settings.basis is not None:  # a pseudo-likelihood has no probabilities
            return None
        cost = estimate_of(problem)
        most = _SECONDS if seconds is None else min(seconds, _SECONDS)
        if cost.bytes > _BYTES or cost.seconds > most:
            return None
        return posterior_of(problem, method="exact", n_jobs=threads)
    known = [(optimum.edges, optimum.score) for optimum in optima]
    return posterior_of(problem, optima=known, n_jobs=threads, budget=seconds)


def probable(post: StructurePosterior) -> Iterator[tuple[int, int]]:
    """Yield the pairs, a < b, whose edge has a probability that matters."""
    for (a, x), (b, y) in combinations(enumerate(post.names), 2):
        if post.edge(x, y) >= _PROBABLE:
            yield a, b


def meaning(post: StructurePosterior) -> str:
    """Return the meaning of the probabilities, as a line below a table."""
    prior = "DAGs" if post.prior == "dags" else "classes"
    return (
        f"probability: {post.quantity} of the edge, {post.status} ({post.method}), by "
        f"{post.criterion} and a prior that is uniform over {prior}."
    )
