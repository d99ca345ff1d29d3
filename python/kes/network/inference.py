"""Exact inference in a network, by pyAgrum's lazy propagation."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError
from kes.network.conversion import import_pyagrum, to_pyagrum
from kes.network.new_rows import Rows

if TYPE_CHECKING:
    from kes.network.discrete import BayesianNetwork


class Engine:
    """What pyAgrum says about a network; nodes go by name, states by number.

    Parameters
    ----------
    network
        The network to ask about.
    """

    def __init__(self, network: BayesianNetwork) -> None:
        self._gum = import_pyagrum()
        self._network = network
        self._model = to_pyagrum(network)
        self._id = {node: i for i, node in enumerate(network.nodes)}  # the order of addition

    def posterior(self, node: str, evidence: Mapping[str, int]) -> NDArray[np.float64]:
        """Return the distribution of a node given evidence.

        Raises
        ------
        KesError
            If the evidence has probability zero.
        """
        others = {other: code for other, code in evidence.items() if other != node}
        query = self._query(node, others)
        # Irrelevant evidence does not disturb pyAgrum even if it is impossible, so ask for it.
        if others and query.evidenceProbability() == 0:
            self._refuse_impossible(others)
        try:
            answer = self._answer(query, node)
        except self._gum.IncompatibleEvidence:
            raise KesError(
                f"impossible evidence: what is known contradicts itself, whatever {node} is; drop "
                "some of it, or fit the network with a prior"
            ) from None
        if node not in evidence:
            return answer
        if answer[evidence[node]] == 0:
            self._refuse_impossible({**others, node: evidence[node]})
        certain = np.zeros_like(answer)
        certain[evidence[node]] = 1
        return certain

    def predict(self, rows: Rows, target: str) -> NDArray[np.float64]:
        """Return the distribution of a node in each row, given the other columns.

        Rows that agree in all that bears on the target are worked out once.
        """
        network = self._network
        result = np.empty((rows.number, len(network.states[target])))
        for hidden, where in rows.patterns():
            known = network.bearing(target, [node for node in rows.columns if node not in hidden])
            if not known:
                result[where] = self.posterior(target, {})
                continue
            codes = np.stack([rows.columns[node][where] for node in known])
            cases, case_of_row = np.unique(codes, axis=1, return_inverse=True)
            result[where] = self._posteriors(target, known, cases)[case_of_row.reshape(-1)]
        impossible = np.flatnonzero(np.isnan(result[:, 0]))
        if impossible.size:
            raise KesError(
                f"the network holds {impossible.size} of {rows.number} rows for impossible, the "
                f"first one being row {impossible[0]} (counted from 0); fit it with a prior"
            )
        return result

    def _posteriors(
        self, node: str, known: list[str], cases: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Return the distribution of a node in each of many cases; NaN in impossible ones.

        Parameters
        ----------
        node
            The node asked about.
        known
            The nodes whose states are known.
        cases
            Their states, shape (known nodes, cases).
        """
        result = np.empty((cases.shape[1], len(self._network.states[node])))
        query = self._query(node, dict.fromkeys(known, 0))
        for answer, case in zip(result, cases.T.tolist(), strict=True):
            # To change evidence keeps the junction tree, which takes most of the time.
            for other, code in zip(known, case, strict=True):
                query.chgEvidence(self._id[other], code)
            try:
                answer[:] = self._answer(query, node)
            except self._gum.IncompatibleEvidence:
                answer[:] = np.nan
        return result

    def _query(self, node: str, evidence: Mapping[str, int]) -> Any:  # noqa: ANN401 - from pyAgrum
        query = self._gum.LazyPropagation(self._model)
        query.addTarget(self._id[node])
        for other, code in evidence.items():
            query.addEvidence(self._id[other], code)
        return query

    def _answer(self, query: Any, node: str) -> NDArray[np.float64]:  # noqa: ANN401 - from pyAgrum
        answer: NDArray[np.float64] = query.posterior(self._id[node]).toarray()
        return answer

    def _refuse_impossible(self, evidence: Mapping[str, int]) -> None:
        """Complain about evidence whose probability is zero, naming where it becomes so.

        The probability of much evidence may also round to zero. Then that of the decisive piece,
        given those before, does not; and contradictions beyond are found by pyAgrum itself as far
        as they bear on the query.
        """
        pieces = list(evidence.items())
        first = bisect_left(
            range(len(pieces)), True, key=lambda i: self._probability(pieces[: i + 1]) == 0
        )
        (node, code), before = pieces[first], dict(pieces[:first])
        if self._answer(self._query(node, before), node)[code] > 0:
            return
        states = self._network.states
        given = ", ".join(f"{name} = {states[name][c]!r}" for name, c in before.items())
        raise KesError(
            f"impossible evidence: {node} = {states[node][code]!r} has probability zero"
            + (f" given {given}" if given else "")
            + "; drop it, or fit the network with a prior"
        )

    def _probability(self, pieces: list[tuple[str, int]]) -> float:
        return float(self._query(pieces[0][0], dict(pieces)).evidenceProbability())
