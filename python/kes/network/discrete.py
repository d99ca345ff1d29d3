"""Bayesian networks: a DAG with a conditional probability table (CPT) for every node.

The table of a node has one axis for each parent, in the order of ``parents``, and the node's own
states on the last axis::

    network.cpts["C"][a, b, c]  =  P(C = c | A = a, B = b)     with parents["C"] == ("A", "B")

where a, b, c are numbers of states, in the order of ``states``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from kes.data import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.network import checks, conversion
from kes.network.base import Network
from kes.network.cpds import Tabular
from kes.network.display import as_array, cpt_table
from kes.network.inference import Engine
from kes.network.new_rows import Unseen
from kes.table import Table

if TYPE_CHECKING:
    from kes.data.dataset import Data


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BayesianNetwork(Network):
    """A discrete Bayesian network; immutable.

    Two networks are equal if they have the same nodes, in any order, with the same states, parents
    and tables.

    Parameters
    ----------
    nodes
        Names of the nodes, in the order in which tables show them.
    states
        For each node its states (text, integers or booleans), in order.
    parents
        For each node its parents, in the order of the axes of its table. Nodes left out have none.
    cpts
        For each node its table: one axis per parent, then the node's own states.
    discretizer
        How continuous columns were cut into the states; see `Network`.

    Raises
    ------
    KesError
        If something is missing, unknown or repeated, a table has the wrong shape or is no set of
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
    ) -> None:
        names = checks.nodes(nodes)
        known = checks.states(states, names)
        given = checks.parents(parents, names)
        tables = checks.cpts(cpts, known, given)
        self._set(nodes=names, states=known, parents=given, cpts=tables)
        self._set(discretizer=discretizer, transform=transform)

    def local(self, node: str) -> Tabular:
        """Return the local model of a node."""
        return Tabular(self.cpts[self._checked(node)])

    def cpt(self, node: str) -> Table:
        """Return the table of a node for reading: a row for each configuration of its parents.

        The columns are the parents and the probabilities of the node's states. Use ``cpts[node]``
        for computing.
        """
        return cpt_table(self.cpts[self._checked(node)], node, self.parents[node], self.states)

    # --- questions -------------------------------------------------------------------------------

    @overload
    def probability(
        self, query: str, evidence: Mapping[str, State] | None = ...
    ) -> dict[State, float]: ...
    @overload
    def probability(
        self, query: Mapping[str, State], evidence: Mapping[str, State] | None = ...
    ) -> float: ...
    def probability(
        self, query: str | Mapping[str, State], evidence: Mapping[str, State] | None = None
    ) -> float | dict[State, float]:
        """Return the probability of states of some nodes, given states of others.

        Exact, by pyAgrum (extra ``inference``).

        Parameters
        ----------
        query
            Nodes and their states, whose joint probability is asked for; or the name of one node,
            whose distribution is asked for.
        evidence
            Nodes and their states that are known.

        Returns
        -------
        float or dict
            A probability; or, for the name of a node, the probability of each of its states.

        Raises
        ------
        KesError
            If a node or state is unknown, the evidence is impossible, or pyAgrum is missing.

        Examples
        --------
        >>> from kes.datasets import alarm_network
        >>> round(alarm_network().probability({"HYPOVOLEMIA": "TRUE"}, {"CVP": "LOW"}), 6)
        0.115803
        """
        known = {node: self._code(node, state) for node, state in (evidence or {}).items()}
        if isinstance(query, str):
            distribution = self._engine.posterior(self._checked(query), known)
            return dict(zip(self.states[query], distribution.tolist(), strict=True))
        asked = {node: self._code(node, state) for node, state in query.items()}
        result = 1.0
        for node, code in asked.items():  # P(x, y | e) = P(x | e) P(y | x, e)
            result *= float(self._engine.posterior(node, known)[code])
            if result == 0:
                break
            known[node] = code
        return result

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

        Exact, by pyAgrum (extra ``inference``). Rows that agree in all that matters for the target
        (its Markov blanket, if that is known) are worked out once.

        Parameters
        ----------
        data
            A table with columns for some or all of the nodes, or a `Dataset`. Nodes without a
            column are unknown; a column of the target is ignored.
        target
            The node to predict.
        probabilities
            Return the distribution instead of the most probable state.
        unseen : {"error", "missing"}
            What a value is that is none of the node's states, or missing: an error that names it,
            or unknown, and then summed out.

        Returns
        -------
        ndarray
            The most probable state in each row (the first of equals), or an array of shape
            (rows, states) with the probabilities in the order of ``states[target]``.

        Raises
        ------
        KesError
            If a node or state is unknown, a row is impossible whatever the target is, or pyAgrum
            is missing.
        """
        rows = self._prepare_for(self._checked(target), data, unseen)
        result = self._engine.predict(rows, target)
        if probabilities:
            return result
        choices: NDArray[Any] = as_array(self.states[target])[result.argmax(axis=1)]
        return choices

    @cached_property
    def _engine(self) -> Engine:
        return Engine(self)

    # --- other programs --------------------------------------------------------------------------

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - pyAgrum has no types
        """Convert into a ``pyagrum.BayesNet`` (extra ``inference``); states become text."""
        return conversion.to_pyagrum(self)

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - pgmpy has no types
        """Convert into a ``pgmpy.models.DiscreteBayesianNetwork`` (extra ``pgmpy``)."""
        return conversion.to_pgmpy(self)

    def _arguments(self) -> tuple[object, ...]:
        return self.nodes, dict(self.states), dict(self.parents), dict(self.cpts)
