"""The base class of fitted networks: structure, data and files."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from math import isfinite
from numbers import Real
from os import PathLike
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, Literal, overload

import numpy as np
from numpy.typing import NDArray

from kes.data import Continuous, Dataset, Discrete, State
from kes.data.discretizer import Discretizer
from kes.data.intervals import named_cuts
from kes.data.normal_scores import Ranks
from kes.data.notation import Notation
from kes.drawing.svg import picture
from kes.errors import KesError, listed, suggest, unknown
from kes.formats import write_network
from kes.formats.escaping import same
from kes.graph import EssentialGraph
from kes.network import conversion
from kes.network.cpds import Linear, Local
from kes.network.evidence import Evidence, draw
from kes.network.new_rows import Rows, Unseen, read_rows
from kes.network.query import Query
from kes.network.ranges import Range, state_code, states_within
from kes.table import Table

if TYPE_CHECKING:
    import networkx as nx

    from kes.data.dataset import Data, Weights

DRAWS = 1000
"""Default number of draws per row where there is no exact answer."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network(ABC):
    """A DAG with a CPD for every node; immutable.

    Attributes
    ----------
    nodes : tuple of str
        Names of the nodes, in order.
    states : mapping of str to tuple
        For each node its states, in order; empty for continuous nodes.
    parents : mapping of str to tuple of str
        For each node its parents, in the order of its CPD.
    discretizer, transform
        How raw columns are discretized or transformed (`kes.Discretizer`,
        `kes.data.normal_scores.Ranks`), or None. They apply to all data passed to the network.
    notations : mapping of str to Notation
        How the columns of some nodes were written: new dates are read in the same way, and numbers
        in another unit are refused.
    """

    _TITLE: ClassVar[str]

    nodes: tuple[str, ...]
    states: Mapping[str, tuple[State, ...]]
    parents: Mapping[str, tuple[str, ...]]
    discretizer: Discretizer | None
    transform: Ranks | None
    notations: Mapping[str, Notation]

    def _set(self, **parts: object) -> None:
        for name, value in parts.items():
            known = MappingProxyType(value) if isinstance(value, dict) else value
            object.__setattr__(self, name, known)

    @abstractmethod
    def local(self, node: str) -> Local:
        """Return the CPD of a node."""

    @abstractmethod
    def _arguments(self) -> tuple[object, ...]:
        """Return the arguments of the constructor."""

    # --- structure -------------------------------------------------------------------------------

    @property
    def arcs(self) -> tuple[tuple[str, str], ...]:
        """The arcs (parent, child), sorted."""
        return tuple(sorted((p, node) for node, parents in self.parents.items() for p in parents))

    @property
    def kinds(self) -> dict[str, Literal["discrete", "continuous"]]:
        """Whether each node is discrete or continuous."""
        return {n: "discrete" if self.states[n] else "continuous" for n in self.nodes}

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return sum(self.local(node).n_parameters for node in self.nodes)

    @cached_property
    def constants(self) -> dict[str, float]:
        """The value of each continuous node that has only one."""
        models = ((node, self.local(node)) for node in self.nodes)
        return {n: m.intercept for n, m in models if isinstance(m, Linear) and m.deviation == 0}

    @cached_property
    def graph(self) -> EssentialGraph:
        """Essential graph of the equivalence class of the network's DAG."""
        return EssentialGraph.from_dag(self.nodes, self.arcs)

    @cached_property
    def cuts(self) -> dict[str, tuple[float, ...]]:
        """Cut points of discretized nodes: those of the discretizer, or of labels like "(1.5, 3]".

        Labels let networks from formats that cannot store cuts take numbers, too.
        """
        return named_cuts(self.states) | dict(self.discretizer.cuts if self.discretizer else {})

    def markov_blanket(self, node: str) -> frozenset[str]:
        """Return the Markov blanket of a node: its parents, children and the children's parents.

        Given these, all other nodes are irrelevant for it.
        """
        self._checked(node)
        families = [{child, *parents} for child, parents in self.parents.items()]
        return frozenset().union(*(f for f in families if node in f)) - {node}

    def relevant(self, target: str, observed: Iterable[str]) -> list[str]:
        """Return the observed nodes that predict a target: its Markov blanket if complete."""
        others = set(observed) - {target}
        blanket = self.markov_blanket(target)
        relevant = blanket if blanket <= others else others
        return [node for node in self.nodes if node in relevant]

    # --- data ------------------------------------------------------------------------------------

    def prepare(
        self,
        data: Data,
        *,
        nodes: Iterable[str] | None = None,
        weights: Weights = None,
        unseen: Unseen = "error",
    ) -> Rows:
        """Read raw rows: discretize, transform and encode them.

        Parameters
        ----------
        data
            A table with a column for each of the nodes; others are ignored. Columns that contain
            intervals already are not discretized again.
        nodes
            The nodes to read; by default all.
        weights, unseen
            As in `log_likelihood`.
        """
        states = {node: self.states[node] for node in (self.nodes if nodes is None else nodes)}
        return self._transformed(
            read_rows(
                data,
                states,
                weights=weights,
                unseen=unseen,
                discretizer=self.discretizer,
                notations=self.notations,
            )
        )

    def _prepare_for(self, target: str, data: Data, unseen: Unseen) -> Rows:
        """Read the columns that are relevant for a target."""

        def choose(columns: Sequence[str]) -> list[str]:
            observed = [node for node in self.nodes if node in set(columns)]
            if not observed:
                raise KesError(
                    f"the data have none of the network's columns, so {target!r} cannot be "
                    f"predicted: expected some of {listed(self.nodes)}, not {listed(columns)}",
                    column=target,
                )
            if unseen == "error":
                return self.relevant(target, observed)
            # Nodes beyond a missing value in the Markov blanket matter, too.
            return [node for node in observed if node != target]

        return self._transformed(
            read_rows(
                data,
                self.states,
                choose,
                unseen=unseen,
                discretizer=self.discretizer,
                notations=self.notations,
            )
        )

    def _transformed(self, rows: Rows) -> Rows:
        if self.transform is None:
            return rows
        columns = {
            node: column if self.states[node] else self.transform.transform(node, column)
            for node, column in rows.columns.items()
        }
        return Rows(columns, rows.number, rows.weights)

    @overload
    def log_likelihood(
        self,
        data: Data,
        *,
        weights: Weights = ...,
        per_row: Literal[False] = ...,
        unseen: Unseen = ...,
    ) -> float: ...
    @overload
    def log_likelihood(
        self, data: Data, *, weights: Weights = ..., per_row: Literal[True], unseen: Unseen = ...
    ) -> NDArray[np.float64]: ...
    def log_likelihood(
        self,
        data: Data,
        *,
        weights: Weights = None,
        per_row: bool = False,
        unseen: Unseen = "error",
    ) -> float | NDArray[np.float64]:
        """Return the natural logarithm of the probability of data.

        For continuous nodes it is a log-density, of transformed values if the network has a
        `transform`: comparable only between networks with the same transform.

        Parameters
        ----------
        data
            A table with a column for every node (others are ignored), or a `Dataset`.
        weights
            Number of cases that each row stands for; see `kes.learn`.
        per_row
            Return one number per row instead of their sum; weights are ignored.
        unseen : {"error", "missing"}
            Treat missing values, and values that are none of the node's states, as an error or as
            missing. Missing values are summed out: exactly, unless continuous ones meet discrete
            ones or logistic nodes, where 1 000 draws are averaged. Rows with missing values in
            the same columns are computed together, so many different patterns take time.

        Returns
        -------
        float or ndarray
            Minus infinity where the network assigns zero probability to a row.

        Raises
        ------
        KesError
            If a column is missing or contains a state that the network does not have.
        """
        rows = self.prepare(data, weights=weights, unseen=unseen)
        result = self._log_probabilities(rows)
        if per_row:
            return result
        if rows.weights is None:
            return float(result.sum())
        counts = rows.weights > 0  # rows of weight 0 may be impossible
        return float(rows.weights[counts] @ result[counts])

    def _log_probabilities(self, rows: Rows) -> NDArray[np.float64]:
        """Return ln P of each row."""
        result = np.empty(rows.number)
        for hidden, where in rows.patterns():
            evidence = self._evidence_of(rows.take(where), hidden)
            query = Query(evidence, draws=DRAWS)
            result[where] = evidence.log_probabilities(query.hidden.settled())
            for component in query.hidden.components:
                result[where] += query.log_evidence(component)
        return result

    def _evidence_of(self, rows: Rows, hidden: Iterable[str] = ()) -> Evidence:
        """Return the observed columns of rows; constants count as observed."""
        observed = {node: c for node, c in rows.columns.items() if node not in set(hidden)}
        constants = {n: np.full(rows.number, v) for n, v in self.constants.items()}
        return Evidence(self, {**constants, **observed}, rows.number)

    def sample(self, n: int, seed: int = 0) -> Dataset:
        """Draw independent cases.

        ``PCG64(seed)`` yields 64-bit integers, whose upper 53 bits are read as numbers in [0, 1).
        They fill a matrix with a row per case and a column per node, row by row, so a longer
        sample begins with the shorter ones. A discrete node takes the first state whose cumulative
        probability exceeds its number, a continuous one the quantile at its number.

        Parameters
        ----------
        n
            Number of cases.
        seed
            The same seed gives the same cases on every platform and with every version of numpy;
            continuous values up to rounding.

        Returns
        -------
        Dataset
            A column for every node with all its states declared, drawn or not. Transformed values
            are mapped back.
        """
        columns = draw(self, n, seed)
        if self.transform is not None:
            columns = {
                node: column if self.states[node] else self.transform.inverse(node, column)
                for node, column in columns.items()
            }
        return Dataset.of(
            self.nodes,
            [
                Discrete(self.states[node], column) if self.states[node] else Continuous(column)
                for node, column in columns.items()
            ],
        )

    # --- other programs --------------------------------------------------------------------------

    def to_networkx(self) -> nx.DiGraph[str]:
        """Convert into a `networkx.DiGraph` whose nodes have their parameters as attributes.

        All have ``kind``, ``states``, ``parents``; then tables ``cpt``, linear nodes
        ``intercept``, ``coefficients``, ``deviation`` and ``errors``, logistic nodes
        ``coefficients`` and ``errors``.
        """
        return conversion.to_networkx(self)

    def to_pgmpy(self) -> Any:  # noqa: ANN401 - pgmpy has no types
        """Raise an error: pgmpy has no networks with both discrete and continuous nodes."""
        raise conversion.unsupported("pgmpy", self)

    def to_pyagrum(self) -> Any:  # noqa: ANN401 - pyAgrum has no types
        """Raise an error: a ``pyagrum.BayesNet`` has discrete nodes only."""
        raise conversion.unsupported("pyagrum.BayesNet", self)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the network to a file; the suffix determines the format.

        Parameters
        ----------
        path
            ``.json`` stores every network. ``.bif``, ``.xmlbif`` (or ``.bifxml``, ``.xml``) and
            ``.net`` store discrete ones; cuts of a discretizer are kept as the labels of
            intervals. `kes.read_network` reads all of these. ``.dot`` and ``.graphml`` store the
            graph. A further suffix ``.gz`` compresses the file.
        """
        write_network(self, path)

    # --- Python ----------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Network):
            return NotImplemented
        return (
            type(self) is type(other)
            and self.parents == other.parents
            and (self.discretizer, self.transform) == (other.discretizer, other.transform)
            and self.notations == other.notations
            and all(
                same(states, other.states[node]) and self.local(node) == other.local(node)
                for node, states in self.states.items()
            )
        )

    def __hash__(self) -> int:
        return hash((frozenset(self.nodes), frozenset(self.arcs)))

    def __reduce__(self) -> tuple[object, ...]:
        kept = {
            "discretizer": self.discretizer,
            "transform": self.transform,
            "notations": dict(self.notations),  # a mapping proxy cannot be pickled
        }
        return partial(type(self), **kept), self._arguments()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._summary()})"

    def _summary(self) -> str:
        counts = {"node": len(self.nodes), "arc": len(self.arcs), "parameter": self.n_parameters}
        return ", ".join(f"{n} {what}{'s' * (n != 1)}" for what, n in counts.items())

    def _repr_html_(self) -> str:
        nodes = Table(
            {
                "node": self.nodes,
                "states": [self.states[node] or "continuous" for node in self.nodes],
                "parents": [self.parents[node] for node in self.nodes],
            }
        )
        table = nodes._repr_html_()
        if drawn := picture(self.nodes, self.arcs, self.arcs):
            table = f"{drawn}<details><summary>States and parents</summary>{table}</details>"
        return f"<p>{self._TITLE}: {self._summary()}</p>{table}"

    # --- names and codes -------------------------------------------------------------------------

    def _checked(self, node: str) -> str:
        if node not in self.states:
            raise unknown("node", node, self.nodes, column=str(node))
        return node

    def _code(self, node: str, state: State) -> int:
        """Return the code of a state, or of the interval that a number is in."""
        known = self.states[self._checked(node)]
        code = state_code(known, state)
        if code is not None:
            return code
        if node in self.cuts and isinstance(state, Real) and isfinite(state):
            return int(np.searchsorted(self.cuts[node], float(state)))
        meant = suggest(str(state), map(str, known))
        raise KesError(
            f"the node {node!r} has no state {state!r}{meant}, only {listed(known)}", column=node
        )

    def _codes(self, node: str, given: State | Range) -> NDArray[np.intp]:
        """Return the codes of the states of a discrete node that a state or a range names."""
        if not isinstance(given, Range):
            return np.array([self._code(node, given)])
        known = self.states[self._checked(node)]
        return np.flatnonzero(states_within(node, known, self.cuts.get(node), given))
