"""Bayesian networks: a DAG with a conditional probability table (CPT) for every node.

The table of a node has one axis for each parent, in the order of ``parents``, and the node's own
states on the last axis::

    network.cpts["C"][a, b, c]  =  P(C = c | A = a, B = b)     with parents["C"] == ("A", "B")

where a, b, c are numbers of states, in the order of ``states``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, overload

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset, State, encode_like
from kes.drawing.svg import picture
from kes.errors import KesError, listed, unknown
from kes.formats import write_network
from kes.formats.names import labels, same
from kes.graph import EssentialGraph
from kes.network import checks, conversion
from kes.network.cases import draw, log_probabilities
from kes.network.inference import Engine
from kes.table import Table

if TYPE_CHECKING:
    import networkx as nx

    from kes.data.dataset import Data, Weights


@dataclass(frozen=True, init=False, eq=False, repr=False)
class BayesianNetwork:
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

    nodes: tuple[str, ...]
    states: Mapping[str, tuple[State, ...]]
    parents: Mapping[str, tuple[str, ...]]
    cpts: Mapping[str, NDArray[np.float64]]

    def __init__(
        self,
        nodes: Iterable[str],
        states: Mapping[str, Iterable[State]],
        parents: Mapping[str, Iterable[str]],
        cpts: Mapping[str, Any],
    ) -> None:
        names = checks.nodes(nodes)
        known = checks.states(states, names)
        given = checks.parents(parents, names)
        tables = checks.cpts(cpts, known, given)
        object.__setattr__(self, "nodes", names)
        for name, value in (("states", known), ("parents", given), ("cpts", tables)):
            object.__setattr__(self, name, MappingProxyType(value))

    # --- structure -------------------------------------------------------------------------------

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs (parent, child), sorted."""
        return tuple(sorted((p, node) for node, parents in self.parents.items() for p in parents))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters: (states - 1) per configuration of the parents."""
        return sum(cpt.size - cpt.size // cpt.shape[-1] for cpt in self.cpts.values())

    @cached_property
    def graph(self) -> EssentialGraph:
        """Essential graph of the class to which the network's DAG belongs."""
        return EssentialGraph.from_dag(self.nodes, self.arcs)

    def markov_blanket(self, node: str) -> frozenset[str]:
        """Return the nodes that, once known, make all others irrelevant for `node`.

        These are its parents, its children and the other parents of its children.
        """
        self._known(node)
        families = [{child, *parents} for child, parents in self.parents.items()]
        return frozenset().union(*(f for f in families if node in f)) - {node}

    def cpt(self, node: str) -> Table:
        """Return the table of a node for reading: a row for each configuration of its parents.

        The columns are the parents and the probabilities of the node's states. Use ``cpts[node]``
        for computing.
        """
        cpt, parents = self.cpts[self._known(node)], self.parents[node]
        configurations = list(product(*(self.states[parent] for parent in parents)))
        columns: dict[str, Sequence[object]] = {
            parent: [states[i] for states in configurations] for i, parent in enumerate(parents)
        }
        rows = cpt.reshape(-1, cpt.shape[-1])
        for label, column in zip(labels(self.states[node]), rows.T.tolist(), strict=True):
            columns[f"P({label})"] = column
        return Table(columns)

    # --- data ------------------------------------------------------------------------------------

    @overload
    def log_likelihood(
        self, data: Data, *, weights: Weights = ..., per_row: Literal[False] = ...
    ) -> float: ...
    @overload
    def log_likelihood(
        self, data: Data, *, weights: Weights = ..., per_row: Literal[True]
    ) -> NDArray[np.float64]: ...
    def log_likelihood(
        self, data: Data, *, weights: Weights = None, per_row: bool = False
    ) -> float | NDArray[np.float64]:
        """Return the logarithm (natural) of the probability of data.

        Parameters
        ----------
        data
            A table with a column for every node (others are ignored), or a `Dataset`.
        weights
            How many cases each row stands for; see `kes.learn`.
        per_row
            Return one number per row instead of their sum, without regard to weights.

        Returns
        -------
        float or ndarray
            Minus infinity where the network holds a row for impossible.

        Raises
        ------
        KesError
            If a column is missing, or holds a state that the network does not know.
        """
        table = encode_like(data, self.nodes, list(self.states.values()), weights=weights)
        result = log_probabilities(self, table.codes)
        if per_row:
            return result
        if table.weights is None:
            return float(result.sum())
        counts = table.weights > 0  # a row of weight 0 counts for nothing, even if impossible
        return float(table.weights[counts] @ result[counts])

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """Draw independent cases.

        ``PCG64(seed)`` yields 64-bit integers, whose upper 53 bits are read as numbers in [0, 1).
        They fill a matrix with a row per case and a column per node, row by row, so that a longer
        sample begins with the shorter ones. A node takes the first state whose cumulative
        probability exceeds its number.

        Parameters
        ----------
        n
            Number of cases.
        seed
            Same seed, same cases, on every platform and with every version of numpy.

        Returns
        -------
        Dataset
            A column for every node, all of whose states are declared, drawn or not.
        """
        return Dataset(self.nodes, tuple(self.states.values()), draw(self, n, seed))

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
            distribution = self._engine.posterior(self._known(query), known)
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
        self, data: Data, target: str, *, probabilities: Literal[False] = ...
    ) -> NDArray[Any]: ...
    @overload
    def predict(
        self, data: Data, target: str, *, probabilities: Literal[True]
    ) -> NDArray[np.float64]: ...
    def predict(self, data: Data, target: str, *, probabilities: bool = False) -> NDArray[Any]:
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
        result = self._engine.predict(data, self._known(target))
        if probabilities:
            return result
        choices: NDArray[Any] = _as_array(self.states[target])[result.argmax(axis=1)]
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

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert into a `networkx.DiGraph` whose nodes have ``states``, ``parents``, ``cpt``."""
        return conversion.to_networkx(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network into a file; the suffix says in which format.

        Parameters
        ----------
        path
            ``.bif``, ``.xmlbif`` (or ``.bifxml``, ``.xml``), ``.net`` and ``.json`` hold the whole
            network and can be read again by `kes.read_network`; ``.dot`` and ``.graphml`` hold the
            graph. With a further ``.gz`` the file is compressed.
        """
        write_network(self, path)

    # --- Python ----------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BayesianNetwork):
            return NotImplemented
        return self.parents == other.parents and all(
            same(states, other.states[node]) and np.array_equal(self.cpts[node], other.cpts[node])
            for node, states in self.states.items()
        )

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.arcs)))

    def __reduce__(self) -> tuple[object, ...]:
        parts = (self.nodes, dict(self.states), dict(self.parents), dict(self.cpts))
        return BayesianNetwork, parts

    def __repr__(self) -> str:
        return f"BayesianNetwork({self._summary()})"

    def _summary(self) -> str:
        counts = {"node": len(self.nodes), "arc": len(self.arcs), "parameter": self.n_parameters}
        return ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())

    def _repr_html_(self) -> str:
        nodes = Table(
            {
                "node": self.nodes,
                "states": [self.states[node] for node in self.nodes],
                "parents": [self.parents[node] for node in self.nodes],
            }
        )
        drawn = picture(self.nodes, self.arcs, self.arcs) or ""
        return f"<p>Bayesian network: {self._summary()}</p>{drawn}{nodes._repr_html_()}"

    # --- names and codes -------------------------------------------------------------------------

    def _known(self, node: str) -> str:
        if node not in self.states:
            raise unknown("node", node, self.nodes)
        return node

    def _code(self, node: str, state: State) -> int:
        """Return the number of a state; the text "1" also stands for the integer 1, as in data."""
        known = self.states[self._known(node)]
        same_value = [i for i, own in enumerate(known) if same([own], [state])]
        same_text = [i for i, own in enumerate(known) if str(own) == str(state)]
        if not same_text:
            raise KesError(f"the node {node!r} has no state {state!r}, only {listed(known)}")
        return (same_value or same_text)[0]


def _as_array(states: Sequence[State]) -> NDArray[Any]:
    """Return the states as an array, of their own type if they have the same."""
    kinds = {type(state) for state in states}
    return np.array(states, dtype=None if len(kinds) == 1 else object)
