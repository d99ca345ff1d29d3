"""Networks and graphs between files and their classes.

Readers fill a `Draft`, which checks what any format can get wrong, or a `GraphDraft`. The result of
reading a network is its `Parts`, not yet a network: `kes.network.files` makes one. Writers take any
object with the same parts. So formats do not depend on the network classes.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import Any, NoReturn, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State
from kes.data.discretizer import Discretizer
from kes.data.normal_scores import Ranks
from kes.data.notation import Notation
from kes.errors import KesError, listed, repeated
from kes.files import how_to_lift, most_unfolded
from kes.formats.escaping import NAME, STATES, read_literals, read_name
from kes.graph import EssentialGraph

Fail: TypeAlias = Callable[[str, int], NoReturn]
"""Raises an error about a place in the file, counted as the reader counts places."""

ROUNDED = 0.01
"""Largest distance from 1 of the sum of a distribution that is taken for rounding."""
_NUMBER = 8  # bytes
_WORDS = 50
_AXES = 32  # of an array, before numpy 2
_MOST_NODES = 1_000_000
_EXACT = 1e-9
"""Distributions this close to a sum of 1 are not scaled, to keep their last bit."""


@dataclass(frozen=True)
class Parts:
    """The content of a network file, unchecked; nodes, states and parents as in `MixedNetwork`."""

    nodes: Iterable[str]
    states: Mapping[str, Iterable[State]]
    parents: Mapping[str, Iterable[str]]
    cpts: Mapping[str, Any]
    models: Mapping[str, tuple[str, Mapping[str, Any]]] = field(default_factory=dict)
    """The kind and the parameters of the CPDs of nodes without a CPT."""
    cuts: Mapping[str, Sequence[float]] | None = None
    """Cut points of discretized columns."""
    ranks: Mapping[str, Any] | None = None
    """Values and normal scores of transformed columns."""
    notations: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """The notation of columns."""


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

    @property
    def notations(self) -> Mapping[str, Notation]:
        """The notation of columns other than plain numbers and states."""

    def local(self, node: str) -> Any:  # noqa: ANN401
        """Return the CPD of a node; its `describe` returns its kind and parameters."""


class WritableTables(Writable, Protocol):
    """A discrete network that can be written."""

    @property
    def cpts(self) -> Mapping[str, NDArray[np.float64]]:
        """CPTs: one axis per parent, then the node's own states."""


class Draft:
    """Collects the variables and CPTs that a reader finds, and checks them."""

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
        self, word: str, states: Sequence[str], at: int, properties: Mapping[str, str]
    ) -> None:
        """Add a variable, with the words that the file uses for it and its states.

        The properties `kes_name` and `kes_states`, if present, hold the name and states that the
        words stand for.
        """
        if word in self._codes:
            self._fail(f"the variable {word!r} is declared twice", at)
        if not states:
            self._fail(f"the variable {word!r} has no states", at)
        if twice := repeated(states):
            self._fail(f"the variable {word!r} has the state {twice[0]!r} twice", at)
        self._words = max(self._words, min(word.count(" ") + 1, _WORDS))
        self._codes[word] = {state: code for code, state in enumerate(states)}
        self._places[word] = at
        name = read_name(properties[NAME]) if NAME in properties else word
        if name is None:
            self._fail(f"{NAME} of {word!r} is not a text in single quotes: {properties[NAME]}", at)
        typed = read_literals(properties[STATES]) if STATES in properties else tuple(states)
        if typed is None or len(typed) != len(states):
            self._fail(
                f"{STATES} of {word!r} does not list its {len(states)} states: "
                f"{properties[STATES]}; correct the property or remove it",
                at,
            )
        self._names[word], self._states[word] = name, typed

    def shape(self, word: str, parents: Sequence[str] = ()) -> list[int]:
        """Return the numbers of states of the parents and of a variable."""
        return [len(self._codes[member]) for member in (*parents, word)]

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
        numbers, most = prod(self.shape(word, parents)), most_unfolded() // _NUMBER
        if numbers > most:
            self._fail(
                f"the table of {word!r} given its {len(parents)} parents would have {numbers:.3g} "
                f"numbers, more than {most}; {how_to_lift()}",
                at,
            )

    def define(
        self,
        word: str,
        parents: Sequence[str],
        table: NDArray[np.float64],
        at: int,
        row_places: Mapping[int, int] | None = None,
    ) -> None:
        """Set the parents and the CPT of a variable.

        The table may have any shape; the variable's own states change fastest, those of its first
        parent slowest. Places of its rows are given where they are known.
        """
        if word in self._cpts:
            self._fail(f"the probabilities of {word!r} are given twice", at)
        shape = self.shape(word, parents)
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
        sums = rows.sum(axis=1)
        wrong = ~(np.all(rows >= 0, axis=1) & (np.abs(sums - 1) <= ROUNDED))  # True for NaN
        if wrong.any():
            row = int(np.argmax(wrong))
            self._fail(
                f"the probabilities of {word!r} must be at least 0 and sum to 1, but here are "
                f"{', '.join(f'{p:g}' for p in rows[row][:10])}, with sum {sums[row]:g}",
                (row_places or {}).get(row, at),
            )
        off = np.abs(sums - 1) > _EXACT
        rows[off] /= sums[off, np.newaxis]
        self._parents[word] = tuple(parents)
        self._cpts[word] = rows.reshape(shape)

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


class GraphDraft:
    """Collects the nodes and edges that a reader finds, and checks them."""

    def __init__(self, fail: Fail) -> None:
        self._fail = fail
        self.names: dict[str, str] = {}
        """The true name of each node, by its name in the file."""
        self._directed: set[tuple[str, str]] = set()
        self._undirected: set[frozenset[str]] = set()

    def add_node(self, node: str, at: int) -> None:
        """Add a node, unless it is there."""
        self.names.setdefault(node, node)
        if len(self.names) > _MOST_NODES:
            self._fail(f"more than {_MOST_NODES} nodes", at)

    def rename(self, node: str, literal: str, at: int) -> None:
        """Give a node its true name, the value of the property `kes_name`."""
        name = read_name(literal)
        if name is None:
            self._fail(f"{NAME} is not a text in single quotes", at)
        self.names[node] = name

    def add(self, a: str, b: str, at: int, *, directed: bool) -> None:
        """Add an edge; only the same edge may join the two nodes already."""
        pair = frozenset((a, b))
        if directed:
            self._directed.add((a, b))
        else:
            self._undirected.add(pair)
        ways = ((a, b) in self._directed, (b, a) in self._directed, pair in self._undirected)
        if sum(ways) > 1:
            self._fail(f"{a} and {b} are joined twice", at)

    def graph(self) -> EssentialGraph:
        """Return the essential graph of a DAG if all edges are arcs, else the graph itself.

        With undirected edges among them, the graph must be an essential graph.
        """
        true = self.names
        nodes = list(true.values())
        arcs = sorted((true[a], true[b]) for a, b in self._directed)
        if not self._undirected:
            return EssentialGraph.from_dag(nodes, arcs)
        return EssentialGraph(nodes, arcs, [[true[a] for a in pair] for pair in self._undirected])
