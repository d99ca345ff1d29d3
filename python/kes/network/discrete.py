"""Discrete Bayesian networks: a conditional probability table (CPT) for every node.

The table of a node has one axis for each parent, in the order of ``parents``, and the node's own
states on the last axis::

    network.cpts["C"][a, b, c]  =  P(C = c | A = a, B = b)     with parents["C"] == ("A", "B")

where a, b, c are indices into ``states``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.data.notation import Notation
from kes.network import conversion, validate
from kes.network.base import DRAWS, Network
from kes.network.cpds import Tabular, as_array, cpt_table
from kes.network.inference import Engine, refuse_impossible
from kes.network.new_rows import Rows, Unseen
from kes.network.query import Answer, exact_answer
from kes.network.ranges import Range
from kes.table import Table

if TYPE_CHECKING:
    from kes.data.dataset import Data


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BayesianNetwork(Network):
    """A discrete Bayesian network; immutable.

    Two networks are equal if they have the same nodes, in any order, with the same states, parents
    and CPTs.

    Parameters
    ----------
    nodes
        Names of the nodes, in the order in which tables show them.
    states
        For each node its states (text, integers or booleans), in order.
    parents
        For each node its parents, in the order of the axes of its CPT. Omitted nodes have none.
    cpts
        For each node its CPT: one axis per parent, then the node's own states.
    discretizer, notations
        How continuous columns were discretized and written; see `Network`.

    Raises
    ------
    KesError
        If something is missing, unknown or repeated, a CPT has the wrong shape or does not contain
        distributions, or the arcs have a directed cycle.

    See Also
    --------
    kes.fit : estimate a network from data.
    kes.read_network : read a network from a file.

    Examples
    --------
    >>> from kes.network import BayesianNetwork
    >>> network = BayesianNetwork(
    ...     nodes=["smoke", "lung"],
    ...     states={"smoke": ["no", "yes"], "lung": [False, True]},
    ...     parents={"lung": ["smoke"]},
    ...     cpts={"smoke": [0.7, 0.3], "lung": [[0.99, 0.01], [0.9, 0.1]]},
    ... )
    >>> network
    BayesianNetwork(2 nodes, 1 arc, 3 parameters)
    >>> network.arcs
    (('smoke', 'lung'),)
    """

    _TITLE: ClassVar[str] = "Bayesian network"

    cpts: Mapping[str, NDArray[np.float64]]

    def __init__(
        self,
        nodes: Iterable[str],
        states: Mapping[str, Iterable[State]],
        parents: Mapping[str, Iterable[str]],
        cpts: Mapping[str, Any],
        *,
        discretizer: Discretizer | None = None,
        transform: Ranks | None = None,
        notations: Mapping[str, Notation] | None = None,
    ) -> None:
        names = validate.nodes(nodes)
        own_states = validate.states(states, names)
        own_parents = validate.parents(parents, names)
        tables = validate.cpts(cpts, own_states, own_parents)
        self._set(nodes=names, states=own_states, parents=own_parents, cpts=tables)
        self._set(discretizer=discretizer, transform=transform, notations=dict(notations or {}))

    def local(self, node: str) -> Tabular:
        """Return the CPD of a node."""
        return Tabular(self.cpts[self._checked(node)])

    def cpt(self, node: str) -> Table:
        """Return the CPT of a node as a table with a row for each configuration of its parents.

        The columns are the parents and the probabilities of the node's states. For computing, use
        ``cpts[node]``.
        """
        return cpt_table(self.cpts[self._checked(node)], node, self.parents[node], self.states)

    # --- inference -------------------------------------------------------------------------------

    @overload
    def probability(
        self, query: str, evidence: Mapping[str, State | Range] | None = ...
    ) -> dict[State, float]: ...
    @overload
    def probability(
        self,
        query: Mapping[str, State | Range],
        evidence: Mapping[str, State | Range] | None = ...,
    ) -> float: ...
    def probability(
        self,
        query: str | Mapping[str, State | Range],
        evidence: Mapping[str, State | Range] | None = None,
    ) -> float | dict[State, float]:
        """Return the probability of states or ranges of some nodes, given those of others.

        The answer is exact, by variable elimination.

        Parameters
        ----------
        query
            Nodes and their states, for their joint probability; or the name of one node, for its
            distribution. A `kes.Range` stands for all states that are numbers in it.
        evidence
            Observed nodes and their states or ranges.

        Returns
        -------
        float or dict
            A probability; or, for the name of a node, the probability of each of its states.

        Raises
        ------
        KesError
            If a node or state is unknown, the evidence is impossible, or the tables would not fit
            into memory.

        Examples
        --------
        >>> from kes.datasets import alarm_network
        >>> round(alarm_network().probability({"HYPOVOLEMIA": "TRUE"}, {"CVP": "LOW"}), 6)
        0.115803
        """
        known = {node: self._codes(node, given) for node, given in (evidence or {}).items()}
        if isinstance(query, str):
            distribution = self._engine.posterior(self._checked(query), known)
            return dict(zip(self.states[query], distribution.tolist(), strict=True))
        asked = {node: self._codes(node, given) for node, given in query.items()}
        result = 1.0
        for node, codes in asked.items():  # P(x, y | e) = P(x | e) P(y | x, e)
            result *= float(self._engine.posterior(node, known)[codes].sum())
            if result == 0:
                break
            known[node] = np.intersect1d(codes, known.get(node, codes))
        return result

    def marginals(
        self, evidence: Mapping[str, State | Range] | None = None
    ) -> dict[str, dict[State, float]]:
        """Return the distributions of all nodes, given states of some of them.

        The answer is exact, and much faster than a call of `probability` for every node.

        Parameters
        ----------
        evidence
            Observed nodes and their states or ranges.

        Raises
        ------
        KesError
            As for `probability`.

        Examples
        --------
        >>> from kes.datasets import alarm_network
        >>> round(alarm_network().marginals({"CVP": "LOW"})["HYPOVOLEMIA"]["TRUE"], 6)
        0.115803
        """
        known = {node: self._codes(node, given) for node, given in (evidence or {}).items()}
        found = self._engine.marginals(known)
        return {
            node: dict(zip(self.states[node], found[node].tolist(), strict=True))
            for node in self.nodes
        }

    @overload
    def predict(
        self, data: Data, target: str, *, probabilities: Literal[False] = ..., unseen: Unseen = ...
    ) -> NDArray[Any]: ...
    @overload
    def predict(
        self, data: Data, target: str, *, probabilities: Literal[True], unseen: Unseen = ...
    ) -> NDArray[np.float64]: ...
    def predict(
        self, data: Data, target: str, *, probabilities: bool = False, unseen: Unseen = "error"
    ) -> NDArray[Any]:
        """Predict a node from the other columns of each row.

        The answer is exact, by variable elimination. Rows that agree in all columns that matter for
        the target are computed once.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are summed out; a column of the target is ignored.
        target
            The node to predict.
        probabilities
            Return the distribution instead of the most probable state.
        unseen : {"error", "missing"}
            Treat missing values, and values that are none of the node's states, as an error or as
            missing, and sum them out.

        Returns
        -------
        ndarray
            The most probable state in each row (the first of ties), or an array of shape
            (rows, states) with the probabilities in the order of ``states[target]``.

        Raises
        ------
        KesError
            If a node or state is unknown, the network assigns zero probability to a row, or the
            tables would not fit into memory.
        """
        rows = self._prepare_for(self._checked(target), data, unseen)
        result = self._engine.posteriors(rows, target)
        refuse_impossible(np.isnan(result[:, 0]))
        if probabilities:
            return result
        choices: NDArray[Any] = as_array(self.states[target])[result.argmax(axis=1)]
        return choices

    def log_evidence(self, evidence: Mapping[str, State | Range] | None = None) -> float:
        """Return the natural logarithm of the probability of evidence; see `Network`."""
        known = {node: self._codes(node, given) for node, given in (evidence or {}).items()}
        return self._engine.log_probability(known)

    def _answers(self, rows: Rows, target: str, draws: int = DRAWS, seed: int = 0) -> Answer:
        """Return the posterior of a node in each row."""
        return exact_answer(self._engine.posteriors(rows, target))

    def _log_joint(self, rows: Rows) -> NDArray[np.float64]:
        """Return ln P of all values of each row."""
        if any((column < 0).any() for column in rows.columns.values()):
            return self._engine.log_evidence(rows)
        return super()._log_joint(rows)

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self)

    # --- other programs --------------------------------------------------------------------------

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - pyAgrum has no types
        """Convert into a ``pyagrum.BayesNet`` (needs pyagrum); states become text."""
        return conversion.to_pyagrum(self)

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - pgmpy has no types
        """Convert into a ``pgmpy.models.DiscreteBayesianNetwork`` (extra ``pgmpy``)."""
        return conversion.to_pgmpy(self)

    def _arguments(self) -> tuple[object, ...]:
        return self.nodes, dict(self.states), dict(self.parents), dict(self.cpts)

    def _fixed(self, node: str, value: Any) -> Tabular:  # noqa: ANN401 - a state or a number
        return Tabular(np.eye(len(self.states[node]))[self._code(node, value)])

    def _with(self, parents: Mapping[str, Iterable[str]], cpds: Mapping[str, Any]) -> Self:
        tables = {node: own.cpt for node, own in cpds.items()}
        return type(self)(self.nodes, self.states, parents, tables, **self._kept)
