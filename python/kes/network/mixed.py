"""Mixed networks: discrete and continuous nodes together.

A continuous node is linear in its parents. A discrete node has a CPT if all its parents are
discrete, and is logistic otherwise. Networks with curves (`basis`) are of this kind, too, even if
all nodes are continuous. `kes.network.query` lists the queries with exact answers;
others are answered by likelihood weighting, with a standard error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self, overload

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.data.notation import Notation
from kes.errors import KesError, listed
from kes.network import validate
from kes.network.base import DRAWS
from kes.network.continuous import FEW_DRAWS, ContinuousNetwork
from kes.network.cpds import (
    Linear,
    Logistic,
    Tabular,
    as_array,
    coefficient_table,
    cpt_table,
)
from kes.network.evidence import Evidence
from kes.network.new_rows import Unseen
from kes.network.query import Moments, Probability
from kes.network.ranges import Range
from kes.table import Table
from kes.validation import integer

if TYPE_CHECKING:
    from kes.data.dataset import Data


@dataclass(frozen=True, init=False, eq=False, repr=False)
class MixedNetwork(ContinuousNetwork):
    """A network of discrete and continuous nodes; immutable.

    Parameters
    ----------
    nodes
        Names of the nodes, in the order in which tables show them.
    states
        For each discrete node its states, in order; continuous ones have none or are omitted.
    parents
        For each node its parents, in the order of its CPD. Omitted nodes have none.
    models
        For each node its CPD: a `kes.network.Linear` for a continuous node; for a discrete one a
        CPT (an axis per parent, then the node's own states) or, if a parent is continuous, a
        `kes.network.Logistic`.
    discretizer, transform, notations
        How columns were discretized, transformed and written; see `Network`.

    Raises
    ------
    KesError
        If something is missing, unknown or repeated, a CPD does not fit its node and parents, or
        the arcs have a directed cycle.

    See Also
    --------
    kes.fit : estimate a network from data.

    Examples
    --------
    >>> from kes.network import Linear, MixedNetwork
    >>> network = MixedNetwork(
    ...     nodes=["smoker", "dose"],
    ...     states={"smoker": ["no", "yes"]},
    ...     parents={"dose": ["smoker"]},
    ...     models={"smoker": [0.75, 0.25], "dose": Linear(1.0, [2.0], deviation=1.0)},
    ... )
    >>> print(network.probability({"smoker": "yes"}, {"dose": 2.0}))
    0.2500
    """

    _TITLE: ClassVar[str] = "Mixed network"

    models: Mapping[str, Tabular | Linear | Logistic]

    def __init__(
        self,
        nodes: Iterable[str],
        states: Mapping[str, Iterable[State]],
        parents: Mapping[str, Iterable[str]],
        models: Mapping[str, Any],
        *,
        discretizer: Discretizer | None = None,
        transform: Ranks | None = None,
        notations: Mapping[str, Notation] | None = None,
    ) -> None:
        names = validate.nodes(nodes)
        own_states = validate.states(states, names, continuous=True)
        own_parents = validate.parents(parents, names)
        cpds = validate.models(models, own_states, own_parents)
        self._set(nodes=names, states=own_states, parents=own_parents, models=cpds)
        self._set(discretizer=discretizer, transform=transform, notations=dict(notations or {}))

    def local(self, node: str) -> Tabular | Linear | Logistic:
        """Return the CPD of a node."""
        return self.models[self._checked(node)]

    def cpt(self, node: str) -> Table:
        """Return the CPT of a node; see `BayesianNetwork.cpt`."""
        model = self.local(node)
        if not isinstance(model, Tabular):
            raise KesError(
                f"the node {node!r} has coefficients, not a table: see coefficients()", column=node
            )
        return cpt_table(model.cpt, node, self.parents[node], self.states)

    def coefficients(self, node: str) -> Table:
        """Return the coefficients of a linear or logistic node as a table.

        There is a row for the intercept and for each regressor: a continuous parent, or a state
        of a discrete one, compared with its first state. Those of a logistic node are changes of
        the log-odds of each `state` against the first one.
        """
        model = self.local(node)
        if isinstance(model, Tabular):
            raise KesError(
                f"the node {node!r} has a table, not coefficients: see cpt()", column=node
            )
        return coefficient_table(model, self.states[node], self.parents[node], self.states)

    # --- inference -------------------------------------------------------------------------------

    @overload
    def probability(
        self,
        query: str,
        evidence: Mapping[str, Any] | None = ...,
        *,
        draws: int = ...,
        seed: int = ...,
    ) -> dict[State, Probability]: ...
    @overload
    def probability(
        self,
        query: Mapping[str, State | Range],
        evidence: Mapping[str, Any] | None = ...,
        *,
        draws: int = ...,
        seed: int = ...,
    ) -> Probability: ...
    def probability(
        self,
        query: str | Mapping[str, State | Range],
        evidence: Mapping[str, Any] | None = None,
        *,
        draws: int = 10_000,
        seed: int = 0,
    ) -> Probability | dict[State, Probability]:
        """Return the probability of states or ranges of some nodes, given values of others.

        Parameters
        ----------
        query
            Nodes and their states or ranges, for their joint probability; or the name of one
            discrete node, for its distribution. A continuous node needs a `kes.Range`.
        evidence
            Observed nodes and their states, values or ranges.
        draws, seed
            Number of draws where there is no exact answer, and the seed.

        Returns
        -------
        Probability or dict
            A probability and its standard error, 0 if it is exact; for the name of a node, one
            for each of its states.

        Raises
        ------
        KesError
            If a node or state is unknown, a node is continuous, or the evidence is impossible.
        """
        count = integer("draws", draws, minimum=1)
        if not isinstance(query, str):
            return self._probability(query, evidence, count, seed)
        if not self.states[self._checked(query)]:
            raise KesError(
                f"the node {query!r} is continuous; ask for its moments: conditional(), or for the "
                f"probability of a range: probability({{{query!r}: kes.Range(above=...)}})",
                column=query,
            )
        values, errors = self._posterior(query, evidence, count, seed)
        pairs = zip(self.states[query], map(Probability, values, errors), strict=True)
        return dict(pairs)

    def _given(self, evidence: Mapping[str, Any] | None) -> Evidence:
        """Validate evidence; the range of a discrete node becomes an observed child of it."""
        known = dict(evidence or {})
        ranges = {n: r for n, r in known.items() if isinstance(r, Range) and self.states.get(n)}
        if not ranges:
            return super()._given(known)
        parts: dict[str, tuple[str, NDArray[np.float64]]] = {}
        for node, wanted in ranges.items():
            inside = np.isin(np.arange(len(self.states[node])), self._codes(node, wanted))
            name = min({f"{node}{'?' * i}" for i in range(1, 99)} - {*self.nodes, *parts}, key=len)
            parts[name] = node, np.stack([~inside, inside], axis=1).astype(np.float64)
            del known[node]
        extended = MixedNetwork(
            [*self.nodes, *parts],
            {**self.states, **dict.fromkeys(parts, (0, 1))},
            {**self.parents, **{name: [node] for name, (node, _) in parts.items()}},
            {**self.models, **{name: cpt for name, (_, cpt) in parts.items()}},
            discretizer=self.discretizer,
            transform=self.transform,
            notations=self.notations,
        )
        return extended._given({**known, **dict.fromkeys(parts, 1)})

    def conditional(
        self,
        query: str | Sequence[str],
        evidence: Mapping[str, Any] | None = None,
        *,
        draws: int = 10_000,
        seed: int = 0,
    ) -> Moments:
        """Return means and covariances of some continuous nodes, given values of others.

        Parameters
        ----------
        query
            A node, or several.
        evidence
            Observed nodes and their states, values or ranges. With a `transform` they are raw
            values, but the moments are those of transformed ones.
        draws, seed
            As in `probability`; `Moments.error` contains the standard errors of the means.

        Raises
        ------
        KesError
            If a node is unknown or discrete, or the evidence is impossible.
        """
        asked = [query] if isinstance(query, str) else list(query)
        discrete = [node for node in asked if self.states[self._checked(node)]]
        if discrete:
            raise KesError(
                f"discrete nodes have no moments: {listed(discrete)}; see probability()",
                column=discrete[0],
            )
        return self._moments(asked, evidence, integer("draws", draws, minimum=1), seed)

    def predict(
        self,
        data: Data,
        target: str,
        *,
        probabilities: bool = False,
        deviations: bool = False,
        unseen: Unseen = "error",
        draws: int = DRAWS,
        seed: int = 0,
    ) -> Any:  # noqa: ANN401 - as the target is
        """Predict a node from the other columns of each row.

        The answer is exact if all hidden nodes that matter are discrete, or if all are continuous
        and no logistic node depends on them. If only the target is hidden, but logistic nodes
        depend on it, the answer is accurate to three digits.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are summed out; a column of the target is ignored.
        target
            The node to predict.
        probabilities
            For a discrete target: return the distribution instead of the most probable state.
        deviations
            For a continuous target: also return the standard deviations around the means.
        unseen : {"error", "missing"}
            Treat missing values, and values that are none of the node's states, as an error or as
            missing, and sum them out.
        draws, seed
            Number of draws for each row where there is no exact answer, and the seed.

        Returns
        -------
        ndarray, or a tuple of two
            As `BayesianNetwork.predict` for a discrete target, and `GaussianNetwork.predict` for
            a continuous one.
        """
        states = self.states[self._checked(target)]
        if deviations if states else probabilities:
            raise KesError(
                f"the node {target!r} is {self.kinds[target]}: ask for "
                + ("probabilities" if states else "deviations"),
                option="deviations" if states else "probabilities",
                column=target,
            )
        answer = self._answer(data, target, unseen, integer("draws", draws, minimum=1), seed)
        few = int((answer.sample_size < FEW_DRAWS).sum())
        if few:
            warnings.warn(
                f"in {few} of {len(answer.sample_size)} rows the evidence is so improbable that "
                f"{draws} draws have an effective sample size below {FEW_DRAWS}; increase draws, "
                "or provide more columns",
                stacklevel=2,
            )
        if states:
            chosen = as_array(states)[answer.values.argmax(axis=1)]
            return answer.values if probabilities else chosen
        return self._means(answer, target, deviations)

    def _arguments(self) -> tuple[object, ...]:
        return self.nodes, dict(self.states), dict(self.parents), dict(self.models)

    def _with(self, parents: Mapping[str, Iterable[str]], cpds: Mapping[str, Any]) -> Self:
        return type(self)(self.nodes, self.states, parents, cpds, **self._kept)
