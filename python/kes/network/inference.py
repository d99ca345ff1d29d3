"""Exact inference in discrete networks, by the core's variable elimination."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from math import inf, prod
from typing import TYPE_CHECKING, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes import _core
from kes.errors import KesError, listed
from kes.network.new_rows import Rows

if TYPE_CHECKING:
    from kes.network.discrete import BayesianNetwork


Codes: TypeAlias = NDArray[np.intp]
"""Codes of the states that a node may have: one if it is observed, several if it is in a range."""


class Engine:
    """Answers queries about a discrete network; nodes go by name, states by code."""

    def __init__(self, network: BayesianNetwork) -> None:
        self._network = network
        self._index = {node: i for i, node in enumerate(network.nodes)}
        self._sizes = [len(network.states[node]) for node in network.nodes]
        self._factors = [
            ([self._index[n] for n in (*network.parents[node], node)], network.cpts[node].ravel())
            for node in network.nodes
        ]
        self._core = _core.Inference(self._sizes, self._factors)

    def posterior(self, node: str, evidence: Mapping[str, Codes]) -> NDArray[np.float64]:
        """Return the distribution of a node; raise an error if the evidence is impossible."""
        others = {other: codes for other, codes in evidence.items() if other != node}
        core, observed, known = self._observed(others)
        with table_limit(self._network.nodes):
            result = core.posteriors(self._index[node], observed, known, strict=True)
        answer: NDArray[np.float64] = result[0]
        if np.isnan(answer[0]):
            raise self._impossible(others)
        if node in evidence:
            answer = np.where(np.isin(np.arange(len(answer)), evidence[node]), answer, 0.0)
            if not answer.any():
                raise self._impossible(evidence)
            answer /= answer.sum()
        return answer

    def marginals(self, evidence: Mapping[str, Codes]) -> dict[str, NDArray[np.float64]]:
        """Return the distributions of all nodes given evidence."""
        core, observed, known = self._observed(evidence)
        with table_limit(self._network.nodes):
            found = core.marginals(observed, known)
        if found is None:
            raise self._impossible(evidence)
        marginals = {n: np.array(p) for n, p in zip(self._index, found, strict=False)}
        for node, codes in evidence.items():
            if len(codes) == 1:
                marginals[node] = np.eye(len(self._network.states[node]))[codes[0]]
        return marginals

    def posteriors(self, rows: Rows, target: str) -> NDArray[np.float64]:
        """Return the distribution of a node in each row, given the other columns.

        Rows that agree in all columns that bear on the target are computed once. Rows of
        probability zero are NaN.
        """
        with table_limit(self._network.nodes):
            return self._core.posteriors(self._index[target], *self._columns(rows))

    def log_probability(self, evidence: Mapping[str, Codes]) -> float:
        """Return the logarithm of the probability of evidence."""
        core, observed, known = self._observed(evidence)
        with table_limit(self._network.nodes):
            return float(core.log_evidence(observed, known)[0])

    def log_evidence(self, rows: Rows) -> NDArray[np.float64]:
        """Return the logarithm of the probability of each row; missing values are summed out."""
        with table_limit(self._network.nodes):
            return self._core.log_evidence(*self._columns(rows))

    def _observed(
        self, evidence: Mapping[str, Codes]
    ) -> tuple[_core.Inference, list[int], NDArray[np.int32]]:
        """Return evidence as variables and codes of the core.

        A node with several possible states gets an observed child that says whether it has one.
        """
        variables = [self._index[node] for node, codes in evidence.items() if len(codes) == 1]
        observed = [codes[0] for codes in evidence.values() if len(codes) == 1]
        sizes, factors = list(self._sizes), list(self._factors)
        for node, codes in evidence.items():
            if len(codes) != 1:
                inside = np.isin(np.arange(len(self._network.states[node])), codes)
                table = np.stack([~inside, inside], axis=1).astype(np.float64)
                factors.append(([self._index[node], len(sizes)], table.ravel()))
                variables.append(len(sizes))
                observed.append(1)
                sizes.append(2)
        core = self._core if len(sizes) == len(self._sizes) else _core.Inference(sizes, factors)
        return core, variables, np.array(observed, dtype=np.int32).reshape(-1, 1)

    def _columns(self, rows: Rows) -> tuple[list[int], NDArray[np.int32]]:
        codes = np.empty((len(rows.columns), rows.number), dtype=np.int32)
        for own, column in zip(codes, rows.columns.values(), strict=True):
            own[:] = column
        return [self._index[node] for node in rows.columns], codes

    def _impossible(self, evidence: Mapping[str, Codes]) -> KesError:
        """Error for evidence of probability zero, naming the first piece that makes it so."""
        pieces = list(evidence.items())
        first = bisect_left(
            range(len(pieces) - 1), True, key=lambda i: self._is_impossible(pieces[: i + 1])
        )
        (node, codes), before = pieces[first], pieces[:first]
        given = ", ".join(self._described(*piece) for piece in before)
        return KesError(
            f"impossible evidence: {self._described(node, codes)} has probability zero"
            + (f" given {given}" if given else "")
            + "; drop it, or fit the network with a prior",
            column=node,
        )

    def _described(self, node: str, codes: Codes) -> str:
        states = [self._network.states[node][code] for code in codes]
        if len(states) == 1:
            return f"{node} = {states[0]!r}"
        return f"{node} in ({listed(states)})" if states else f"{node} in an empty range"

    def _is_impossible(self, pieces: Sequence[tuple[str, Codes]]) -> bool:
        return self.log_probability(dict(pieces)) == -inf


@contextmanager
def table_limit(names: Sequence[str], states: Mapping[str, int] | None = None) -> Iterator[None]:
    """Name the variables of a table that would be too large."""
    try:
        yield
    except _core.TooLargeError as error:
        variables, hidden = error.args
        members = [names[v] for v in variables]
        size = f" ({prod(states[m] for m in members)} cells)" if states else ""
        raise KesError(
            f"summing over {hidden} unobserved variables needs a table over {len(members)} of "
            f"them{size}, which is too large: {listed(members)}; observe more variables",
            column=members[0],
        ) from None


def refuse_impossible(impossible: NDArray[np.bool_]) -> None:
    """Refuse rows to which the network assigns probability zero."""
    rows = np.flatnonzero(impossible)
    if rows.size:
        raise KesError(
            f"the network assigns zero probability to {rows.size} of {len(impossible)} rows (first "
            f"in row {rows[0]}, counting from 0); fit it with a prior",
            row=int(rows[0]),
        )
