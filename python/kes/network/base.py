"""The base class of fitted networks: structure, data and files."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import isfinite
from numbers import Real
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from kes.data import Continuous, Dataset, Discrete, State
from kes.data.random_stream import Stream
from kes.data.schema import gaps_of
from kes.drawing.svg import picture
from kes.errors import KesError, listed, suggest
from kes.formats import write_network
from kes.formats.escaping import same
from kes.network import conversion
from kes.network.cpds import Local
from kes.network.evidence import Evidence, draw, uniforms
from kes.network.likelihood import Likelihood
from kes.network.new_rows import Rows, Unseen, read_rows
from kes.network.over_time import OverTime
from kes.network.query import Answer, Query
from kes.network.ranges import Range, state_code, states_within
from kes.network.regressors import Values
from kes.network.structure import Structure
from kes.table import Table

if TYPE_CHECKING:
    import networkx as nx

    from kes.data.dataset import Data, Weights

DRAWS = 1000
"""Default number of draws per row where there is no exact answer."""


@dataclass(frozen=True, init=False, eq=False, repr=False)
class Network(OverTime, Likelihood, Structure):
    """A DAG with a CPD for every node; immutable.

    For its attributes see `Structure`.
    """

    _TITLE: ClassVar[str]

    @abstractmethod
    def _arguments(self) -> tuple[object, ...]:
        """Return the arguments of the constructor."""

    # --- interventions ---------------------------------------------------------------------------

    def do(self, values: Mapping[str, Any]) -> Self:
        """Return the network after an intervention, which sets nodes to values.

        Their parents no longer influence them [Pearl 2009]. Queries of the new network give effects
        if the arcs of this one are causal.

        Parameters
        ----------
        values
            Nodes, and the state or value that each is set to.

        Examples
        --------
        >>> from kes.datasets import alarm_network
        >>> after = alarm_network().do({"HYPOVOLEMIA": "TRUE"})
        >>> round(after.probability({"CVP": "LOW"}), 4)
        0.0662
        """
        if not isinstance(values, Mapping):
            raise KesError(
                f"give the values that nodes are set to, such as {{'x': 1}}, not {values!r}",
                option="values",
            )
        cpds: dict[str, Any] = {node: self.local(node) for node in self.nodes}
        for node, value in values.items():
            cpds[node] = self._fixed(self._checked(node), value)
        parents = {n: () if n in values else self.parents[n] for n in self.nodes}
        return self._with(parents, cpds)

    @abstractmethod
    def _fixed(self, node: str, value: Any) -> Local:  # noqa: ANN401 - a state or a number
        """Return the CPD of a node that is set to a value."""

    @abstractmethod
    def _with(self, parents: Mapping[str, Iterable[str]], cpds: Mapping[str, Any]) -> Self:
        """Return the network with other parents and CPDs."""

    @property
    def _kept(self) -> dict[str, Any]:
        return {
            "discretizer": self.discretizer,
            "transform": self.transform,
            "notations": dict(self.notations),  # a mapping proxy cannot be pickled
        }

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
        return self.transformed(
            read_rows(
                data,
                states,
                weights=weights,
                unseen=unseen,
                discretizer=self.discretizer,
                notations=self.notations,
            )
        )

    def _prepare_for(self, target: str, data: Data, unseen: Unseen, *, every: bool = False) -> Rows:
        """Read the columns that are relevant for a target, or every other column."""

        def choose(columns: Sequence[str]) -> list[str]:
            there = set(columns)
            observed = [node for node in self.nodes if node in there]
            if not observed:
                raise KesError(
                    f"the data have none of the network's columns, so {target!r} cannot be "
                    f"predicted: expected some of {listed(self.nodes)}, not {listed(columns)}",
                    column=target,
                )
            if unseen == "error" and not every:
                return self.relevant(target, observed)
            # Nodes beyond a missing value in the Markov blanket matter, too.
            return [node for node in observed if node != target]

        return self.transformed(
            read_rows(
                data,
                self.states,
                choose,
                unseen=unseen,
                discretizer=self.discretizer,
                notations=self.notations,
            )
        )

    def transformed(self, rows: Rows) -> Rows:
        """Return rows whose continuous values are transformed."""
        if self.transform is None:
            return rows
        columns = {
            node: column if self.states[node] else self.transform.transform(node, column)
            for node, column in rows.columns.items()
        }
        return replace(rows, columns=columns)

    def _log_probabilities(self, rows: Rows) -> NDArray[np.float64]:
        result = self._log_joint(rows)
        for node in self.exogenous:  # they have no parents
            if node not in rows.columns:
                continue  # summed out
            known = np.flatnonzero(~gaps_of(rows.columns[node]))
            model = self.local(node)
            values = rows.columns[node][known]
            result[known] -= model.log_probability(model.inputs([], [], len(known)), values)
        return result

    def _log_joint(self, rows: Rows) -> NDArray[np.float64]:
        """Return ln P of all values of each row."""
        result = np.empty(rows.number)
        for hidden, where in rows.patterns():
            evidence = self._evidence_of(rows.take(where), hidden)
            result[where] = Query(evidence, draws=DRAWS).log_probabilities()
        return result

    @abstractmethod
    def log_evidence(self, evidence: Mapping[str, Any] | None = None) -> float:
        """Return the natural logarithm of the probability of evidence.

        Parameters
        ----------
        evidence
            Observed nodes and their states, values or ranges; the other nodes are summed out.

        Returns
        -------
        float
            Minus infinity if the evidence is impossible. Observed values of continuous nodes
            contribute densities.
        """

    @abstractmethod
    def _answers(self, rows: Rows, target: str, draws: int = DRAWS, seed: int = 0) -> Answer:
        """Return the posterior of a node in each row; NaN where a row is impossible."""

    def _evidence_of(self, rows: Rows, hidden: Iterable[str] = ()) -> Evidence:
        """Return the observed columns of rows; constants count as observed."""
        unseen = set(hidden)
        observed = {node: c for node, c in rows.columns.items() if node not in unseen}
        constants = {n: np.full(rows.number, v) for n, v in self.constants.items()}
        return Evidence(self, {**constants, **observed}, rows.number)

    def sample(self, n: int, seed: int | Stream = 0) -> Dataset:
        """Draw independent cases.

        ``PCG64(SeedSequence(seed, spawn_key=(0x53414D50,)))`` yields 64-bit integers, whose upper
        53 bits are read as numbers in [0, 1). They fill a matrix with a row per case and a column
        per node, row by row, so a longer sample begins with the shorter ones. A discrete node takes
        the first state whose cumulative probability exceeds its number, a continuous one the
        quantile at its number. ``numpy.random.default_rng(seed)`` yields other numbers, so gaps and
        noise that are drawn from it do not depend on the cases.

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
        return self._as_drawn(draw(self, uniforms(n, seed, len(self.nodes))))

    def sample_given(self, table: Dataset, seed: int | Stream = 0) -> Dataset:
        """Draw a case for each row of a table, whose columns are nodes without parents.

        The nodes of the columns take the values of the row. So cases of a network with exogenous
        nodes, which does not say how these are related, can be drawn as in an experiment.

        Parameters
        ----------
        table
            States and units are those of the network.
        seed
            As of `sample`: the numbers are the same ones.

        Returns
        -------
        Dataset
            As of `sample`, with as many cases as the table has rows.
        """
        given: dict[str, Values] = {}
        for name, column in zip(table.names, table.columns, strict=True):
            if isinstance(column, Discrete):
                given[name] = column.codes.astype(np.int32)
            elif self.transform is None:
                given[name] = column.values
            else:
                given[name] = self.transform.transform(name, column.values)
        return self._as_drawn(draw(self, uniforms(table.rows, seed, len(self.nodes)), given))

    def _as_drawn(self, columns: Mapping[str, Values]) -> Dataset:
        """Return drawn columns as a table, with transformed values mapped back."""
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
        return partial(type(self), **self._kept), self._arguments()

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
        if drawn := picture(self.nodes, self.arcs, self.arcs, exogenous=self.exogenous):
            table = f"{drawn}<details><summary>States and parents</summary>{table}</details>"
        return f"<p>{self._TITLE}: {self._summary()}</p>{table}"

    # --- names and codes -------------------------------------------------------------------------

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
