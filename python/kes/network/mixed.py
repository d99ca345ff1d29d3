"""Mixed networks: discrete and continuous nodes together.

A continuous node is linear in its parents. A discrete node has a table if all its parents are
discrete, and is logistic otherwise. `kes.network.query` says which questions have exact answers;
the others are answered by weighted draws, with a standard error.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, overload

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.errors import KesError, listed, option
from kes.network import checks, conversion
from kes.network.base import DRAWS, Network
from kes.network.cpds import Linear, Logistic, Tabular
from kes.network.display import as_array, coefficient_table, cpt_table
from kes.network.moments import Moments, Probability
from kes.network.new_rows import Unseen
from kes.network.query import Inquiry
from kes.table import Table
from kes.validation import integer

if TYPE_CHECKING:
    from kes.data.dataset import Data

_FEW_DRAWS = 30


@dataclass(frozen=True, init=False, eq=False, repr=False)
class MixedNetwork(Network):
    """A network of discrete and continuous nodes; immutable.

    Parameters
    ----------
    nodes
        Names of the nodes, in the order in which tables show them.
    states
        For each discrete node its states, in order; none, or left out, for continuous ones.
    parents
        For each node its parents, in the order of its model. Nodes left out have none.
    models
        For each node its local model: a `kes.network.Linear` one for a continuous node; for a
        discrete one a table (an axis per parent, then the node's own states), or, if a parent is
        continuous, a `kes.network.Logistic` one.
    discretizer, transform
        How columns were cut or transformed before; see `Network`.

    Raises
    ------
    KesError
        If something is missing, unknown or repeated, a model does not fit its node and parents, or
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
    0.2500 ± 0.0000
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
    ) -> None:
        names = checks.nodes(nodes)
        known = checks.states(states, names, continuous=True)
        given = checks.parents(parents, names)
        fitting = checks.models(models, known, given)
        self._set(nodes=names, states=known, parents=given, models=fitting)
        self._set(discretizer=discretizer, transform=transform)

    def local(self, node: str) -> Tabular | Linear | Logistic:
        """Return the local model of a node."""
        return self.models[self._checked(node)]

    def cpt(self, node: str) -> Table:
        """Return the table of a node for reading; see `BayesianNetwork.cpt`."""
        model = self.local(node)
        if not isinstance(model, Tabular):
            raise KesError(f"the node {node!r} has coefficients, not a table: see coefficients()")
        return cpt_table(model.cpt, node, self.parents[node], self.states)

    def coefficients(self, node: str) -> Table:
        """Return the model of a linear or logistic node for reading.

        There is a row for the intercept and for each regressor: a continuous parent, or a state
        of a discrete one, compared with its first state. Those of a logistic node say how the
        log-odds of each `state`, against the first one, change.
        """
        model = self.local(node)
        if isinstance(model, Tabular):
            raise KesError(f"the node {node!r} has a table, not coefficients: see cpt()")
        return coefficient_table(model, self.states[node], self.parents[node], self.states)

    # --- questions -------------------------------------------------------------------------------

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
        query: Mapping[str, State],
        evidence: Mapping[str, Any] | None = ...,
        *,
        draws: int = ...,
        seed: int = ...,
    ) -> Probability: ...
    def probability(
        self,
        query: str | Mapping[str, State],
        evidence: Mapping[str, Any] | None = None,
        *,
        draws: int = 10_000,
        seed: int = 0,
    ) -> Probability | dict[State, Probability]:
        """Return the probability of states of some discrete nodes, given values of others.

        Parameters
        ----------
        query
            Nodes and their states, whose joint probability is asked for; or the name of one node,
            whose distribution is asked for.
        evidence
            Nodes and their states or values that are known.
        draws, seed
            How many draws to make where there is no exact answer, and the seed.

        Returns
        -------
        Probability or dict
            A probability and its standard error, 0 if it is exact; for the name of a node, that
            of each of its states.

        Raises
        ------
        KesError
            If a node or state is unknown, a node is continuous, or the evidence is impossible.
        """
        count = integer("draws", draws, minimum=1)
        known = dict(evidence or {})
        if isinstance(query, str):
            values, errors = self._posterior(query, known, count, seed)
            pairs = zip(self.states[query], map(Probability, values, errors), strict=True)
            return dict(pairs)
        result, relative = 1.0, 0.0
        for node, state in query.items():  # P(x, y | e) = P(x | e) P(y | x, e)
            values, errors = self._posterior(node, known, count, seed)
            code = self._code(node, state)
            if values[code] == 0:
                return Probability(0.0, errors[code])
            result *= values[code]
            relative += (errors[code] / values[code]) ** 2
            known[node] = state
        return Probability(result, result * relative**0.5)

    def _posterior(
        self, node: str, evidence: Mapping[str, Any], draws: int, seed: int
    ) -> tuple[list[float], list[float]]:
        """Return the probabilities of a node's states, and their standard errors."""
        if not self.states[self._checked(node)]:
            raise KesError(f"the node {node!r} is continuous; ask for its moments: conditional()")
        row = self._evidence(evidence)
        if node in row.columns:
            certain = [
                float(code == row.columns[node][0]) for code in range(len(self.states[node]))
            ]
            return certain, [0.0] * len(certain)
        answer = Inquiry(self._known_of(row), [node], draws=draws, seed=seed).answer(node)
        if np.isnan(answer.values[0, 0]):
            raise KesError("impossible evidence: it has probability zero; drop some of it")
        _refuse_few(float(answer.worth[0]), draws)
        return answer.values[0].tolist(), answer.errors[0].tolist()

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
            Nodes and their states or values that are known. With a `transform` they are raw
            values, but the moments are those of transformed ones.
        draws, seed
            As in `probability`; `Moments.error` tells the standard errors of the means.

        Raises
        ------
        KesError
            If a node is unknown or discrete, or the evidence is impossible.
        """
        asked = [query] if isinstance(query, str) else list(query)
        discrete = [node for node in asked if self.states[self._checked(node)]]
        if discrete:
            raise KesError(f"discrete nodes have no moments: {listed(discrete)}; see probability()")
        known = self._known_of(self._evidence(evidence))
        count = integer("draws", draws, minimum=1)
        inquiry = Inquiry(known, asked, draws=count, seed=seed)
        found = inquiry.moments(asked)
        if np.isnan(found.mean).any():
            raise KesError("impossible evidence: it has probability zero; drop some of it")
        _refuse_few(inquiry.worth, count)
        return found

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

        The answer is exact if all unknown nodes that matter are discrete, or if all are continuous
        and no logistic node depends on them. If only the target is unknown, but logistic nodes
        depend on it, it is good to three digits.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are unknown; a column of the target is ignored.
        target
            The node to predict.
        probabilities
            For a discrete target: return the distribution instead of the most probable state.
        deviations
            For a continuous target: return the standard deviations around the means, too.
        unseen : {"error", "missing"}
            Whether a missing value, or one that is none of the node's states, is an error or
            unknown.
        draws, seed
            How many draws to make for each row where there is no exact answer, and the seed.

        Returns
        -------
        ndarray, or two
            As `BayesianNetwork.predict` for a discrete target, and `GaussianNetwork.predict` for
            a continuous one.
        """
        states = self.states[self._checked(target)]
        if deviations if states else probabilities:
            raise KesError(
                f"the node {target!r} is {self.kinds[target]}: ask for "
                + ("probabilities" if states else "deviations")
            )
        answer = self._answer(data, target, unseen, integer("draws", draws, minimum=1), seed)
        few = int((answer.worth < _FEW_DRAWS).sum())
        if few:
            warnings.warn(
                f"in {few} of {len(answer.worth)} rows, what is known is so improbable that the "
                f"{draws} draws are worth fewer than {_FEW_DRAWS}; raise draws, or give more "
                "columns",
                stacklevel=2,
            )
        if states:
            chosen = as_array(states)[answer.values.argmax(axis=1)]
            return answer.values if probabilities else chosen
        means: NDArray[np.float64] = answer.values[:, 0]
        if self.transform is not None:
            means = self.transform.inverse(target, means)
        return (means, answer.deviations) if deviations else means

    # --- other programs --------------------------------------------------------------------------

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - as in BayesianNetwork
        """Complain: pgmpy has no such networks."""
        raise conversion.unsupported("pgmpy", self)

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - as in BayesianNetwork
        """Complain: a ``pyagrum.BayesNet`` holds discrete nodes only."""
        raise conversion.unsupported("pyagrum.BayesNet", self)

    def _arguments(self) -> tuple[object, ...]:
        return self.nodes, dict(self.states), dict(self.parents), dict(self.models)


def _refuse_few(worth: float, draws: int) -> None:
    """Refuse to answer by draws of which hardly any agrees with what is known."""
    if worth < _FEW_DRAWS:
        raise KesError(
            f"what is known is so improbable that {draws} draws are worth {worth:.1f} only, too "
            f"few for an answer; give more {option('draws')}, or drop some of the evidence"
        )
