"""Networks and graphs between files and their classes.

Readers fill a `Draft`, which checks what any format can get wrong, or a `GraphDraft`. The result of
reading a network is its `Parts`, not yet a network: `kes.network.files` makes one. Writers take any
object with the same parts. So no format depends on what networks can do.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes._core import MAX_VARIABLES
from kes.data.column import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.errors import KesError, listed, repeated
from kes.files import how_to_lift, most_unfolded
from kes.formats.escaping import read_literals
from kes.graph import EssentialGraph

Fail: TypeAlias = Callable[[str, int], NoReturn]
"""Raises an error about a place in the file, counted as the reader counts places."""

ROUNDED = 0.01
"""Largest distance from 1 of the sum of a distribution that is taken for rounding."""
_NUMBER = 8  # bytes
_WORDS = 50
_AXES = 32
"""Largest number of axes of an array in numpy before version 2."""
_EXACT = 1e-9
"""Distributions this close to a sum of 1 are not scaled, to keep their last bit."""


@dataclass(frozen=True)
class Parts:
    """The content of a network file, unchecked.

    Attributes
    ----------
    nodes, states, parents
        As in `kes.MixedNetwork`.
    cpts
        The CPTs of nodes that have one.
    models
        The kind and the parameters of the CPDs of other nodes.
    cuts
        Cut points of discretized columns.
    ranks
        Values and normal scores of transformed columns.
    """

    nodes: Iterable[str]
    states: Mapping[str, Iterable[State]]
    parents: Mapping[str, Iterable[str]]
    cpts: Mapping[str, Any]
    models: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    cuts: Mapping[str, Sequence[float]] | None = None
    ranks: Mapping[str, Any] | None = None


class Describable(Protocol):
    """A CPD that can be written."""

    def describe(self) -> tuple[str, Any]:
        """Return the kind of the CPD and its parameters, as plain data."""


class Writable(Protocol):
    """A network of any kind that can be written; see `kes.MixedNetwork`."""

    @property
    def nodes(self) -> tuple[str, ...]:
        """Names of the nodes, in order."""

    @property
    def states(self) -> Mapping[str, tuple[State, ...]]:
        """States of each node, in order; empty for continuous ones."""

    @property
    def parents(self) -> Mapping[str, tuple[str, ...]]:
        """Parents of each node, in the order of its CPD."""

    @property
    def arcs(self) -> Sequence[tuple[str, str]]:
        """The arcs (parent, child), sorted."""

    @property
    def discretizer(self) -> Discretizer | None:
        """Discretizes columns, if any."""

    @property
    def transform(self) -> Ranks | None:
        """Transforms columns, if any."""

    def local(self, node: str) -> Describable:
        """Return the CPD of a node."""


class WritableTables(Writable, Protocol):
    """A discrete network that can be written."""

    @property
    def cpts(self) -> Mapping[str, NDArray[np.float64]]:
        """CPTs: one axis per parent, then the node's own states."""


# --- reading --------------------------------------------------------------------------------------


class Draft:
    """Collects the variables and CPTs that a reader finds, and checks them.

    Parameters
    ----------
    fail
        Raises an error about a place in the file.
    """

    def __init__(self, fail: Fail) -> None:
        self._fail = fail
        self._codes: dict[str, dict[str, int]] = {}
        self._words = 1  # of the longest name
        self._names: dict[str, str] = {}
        self._states: dict[str, tuple[State, ...]] = {}
        self._parents: dict[str, tuple[str, ...]] = {}
        self._cpts: dict[str, NDArray[np.float64]] = {}
        self._places: dict[str, int] = {}

    def declare(
        self,
        word: str,
        states: Sequence[str],
        at: int,
        *,
        name: str | None = None,
        typed: str | None = None,
    ) -> None:
        """Add a variable.

        Parameters
        ----------
        word, states
            The names of the variable and its states in the file.
        at
            Where it is declared.
        name, typed
            Values of the properties `kes_name` and `kes_states`, if the file has them.
        """
        if word in self._codes:
            self._fail(f"the variable {word!r} is declared twice", at)
        if not states:
            self._fail(f"the variable {word!r} has no states", at)
        self._words = max(self._words, min(word.count(" ") + 1, _WORDS))
        self._codes[word] = {state: code for code, state in enumerate(states)}
        if len(self._codes[word]) < len(states):
            twice = repeated(states)[0]
            self._fail(f"the variable {word!r} has the state {twice!r} twice", at)
        self._places[word] = at
        self._names[word] = self._true_name(word, name, at)
        self._states[word] = self._true_states(word, typed, at)

    def _true_name(self, word: str, literal: str | None, at: int) -> str:
        if literal is None:
            return word
        match read_literals(literal):
            case (str() as name,):
                return name
        self._fail(f"kes_name of {word!r} is not a text in single quotes: {literal}", at)

    def _true_states(self, word: str, literals: str | None, at: int) -> tuple[State, ...]:
        shown = tuple(self._codes[word])
        if literals is None:
            return shown
        states = read_literals(literals)
        if states is None or len(states) != len(shown):
            self._fail(
                f"kes_states of {word!r} does not list its {len(shown)} states: {literals}; "
                "correct the property or remove it",
                at,
            )
        return states

    def cardinality(self, word: str) -> int:
        """Return the number of states of a variable."""
        return len(self._codes[word])

    def code(self, word: str, state: str, at: int) -> int:
        """Return the number of a state."""
        code = self._codes[word].get(state)
        if code is None:
            known = listed(self._codes[word], show=str)
            self._fail(f"{word!r} has no state {state!r}; its states are {known}", at)
        return code

    def variables(self, words: Sequence[str], at: int) -> list[str]:
        """Split words into names of variables, which may consist of several words.

        Some programs write names with spaces and without quotes. The longest matching name of up
        to 50 words is taken.
        """
        found, start = [], 0
        while start < len(words):
            for end in range(min(len(words), start + self._words), start, -1):
                name = " ".join(words[start:end])
                if name in self._codes:
                    break
            else:
                self._fail(f"there is no variable {words[start]!r}", at)
            found.append(name)
            start = end
        return found

    def only(self, head: Sequence[str], parents: Sequence[str], at: int) -> str:
        """Return the variable that a table describes, given its parents."""
        if len(head) != 1:
            self._fail(
                f"a joint table of {listed(head, show=str) or 'nothing'}: kes reads directed "
                "networks, in which every table belongs to one variable given its parents",
                at,
            )
        if len({*head, *parents}) <= len(parents):
            self._fail(f"{head[0]!r} and its parents are not distinct variables", at)
        return head[0]

    def check_size(self, word: str, parents: Sequence[str], at: int) -> None:
        """Refuse a large table that the file does not write out in full."""
        numbers, most = self._size(word, parents), most_unfolded() // _NUMBER
        if numbers > most:
            self._fail(
                f"the table of {word!r} given its {len(parents)} parents would have {numbers:.3g} "
                f"numbers, more than {most}; {how_to_lift()}",
                at,
            )

    def _size(self, word: str, parents: Sequence[str]) -> int:
        return prod(self.cardinality(member) for member in (*parents, word))

    def define(
        self,
        word: str,
        parents: Sequence[str],
        table: NDArray[np.float64],
        at: int,
        row_places: Mapping[int, int] | None = None,
    ) -> None:
        """Set the parents and the CPT of a variable.

        Parameters
        ----------
        word, parents
            Variables declared before.
        table
            Probabilities, the variable's own states changing fastest and its first parent's
            slowest, in any shape.
        at, row_places
            Place of the table, and of each of its distributions if known.
        """
        if word in self._cpts:
            self._fail(f"the probabilities of {word!r} are given twice", at)
        shape = [self.cardinality(member) for member in (*parents, word)]
        if len(shape) > _AXES:
            self._fail(f"{word!r} has {len(parents)} parents; kes reads up to {_AXES - 1}", at)
        if table.size != prod(shape):
            sizes = " x ".join(map(str, shape))
            self._fail(
                f"the table of {word!r} must have {sizes} = {prod(shape)} numbers, "
                f"not {table.size}",
                at,
            )
        rows = table.reshape(-1, shape[-1])
        self._scale(word, rows, at, row_places or {})
        self._parents[word] = tuple(parents)
        self._cpts[word] = rows.reshape(shape)

    def _scale(
        self, word: str, rows: NDArray[np.float64], at: int, row_places: Mapping[int, int]
    ) -> None:
        """Refuse rows that are not distributions, and scale those that are rounded."""
        sums = rows.sum(axis=1)
        wrong = ~(np.all(rows >= 0, axis=1) & (np.abs(sums - 1) <= ROUNDED))  # True for NaN
        if wrong.any():
            row = int(np.argmax(wrong))
            self._fail(
                f"the probabilities of {word!r} must be at least 0 and sum to 1, but here are "
                f"{', '.join(f'{p:g}' for p in rows[row][:10])}, with sum {sums[row]:g}",
                row_places.get(row, at),
            )
        off = np.abs(sums - 1) > _EXACT
        rows[off] /= sums[off, np.newaxis]

    def parts(self) -> Parts:
        """Return the network under its true names, or raise an error if something is missing."""
        if not self._places:
            raise KesError("the file declares no variables")
        for word, at in self._places.items():
            if word not in self._cpts:
                self._fail(f"the file gives no probabilities for the variable {word!r}", at)
        true = self._names
        return Parts(
            nodes=tuple(true.values()),
            states={true[word]: states for word, states in self._states.items()},
            parents={true[w]: tuple(true[p] for p in ps) for w, ps in self._parents.items()},
            cpts={true[word]: cpt for word, cpt in self._cpts.items()},
        )


@dataclass
class GraphDraft:
    """Collects the nodes and edges that a reader finds."""

    names: dict[str, str] = field(default_factory=dict)
    """The true name of each node, by its name in the file."""
    directed: set[tuple[str, str]] = field(default_factory=set)
    undirected: set[frozenset[str]] = field(default_factory=set)

    def add_node(self, node: str) -> bool:
        """Add a node, unless it exists; return False if there are too many."""
        self.names.setdefault(node, node)
        return len(self.names) <= MAX_VARIABLES

    def rename(self, node: str, true: str) -> None:
        """Give a node its true name."""
        self.names[node] = true

    def add(self, a: str, b: str, *, directed: bool) -> bool:
        """Add an edge; return False if the nodes are already joined in another way.

        The same arc or undirected edge may be repeated.
        """
        pair = frozenset((a, b))
        if directed:
            self.directed.add((a, b))
            return (b, a) not in self.directed and pair not in self.undirected
        self.undirected.add(pair)
        return (a, b) not in self.directed and (b, a) not in self.directed

    def graph(self) -> EssentialGraph:
        """Return the graph.

        Arcs alone form a DAG; with undirected edges, the graph must be an essential graph.
        """
        true = self.names
        nodes = list(true.values())
        arcs = sorted((true[a], true[b]) for a, b in self.directed)
        if not self.undirected:
            return EssentialGraph.from_dag(nodes, arcs)
        return EssentialGraph(nodes, arcs, [[true[a] for a in pair] for pair in self.undirected])
