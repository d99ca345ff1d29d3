"""A network in the making: what all readers check, whatever the syntax of their files."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import prod
from typing import NoReturn, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data.column import State
from kes.errors import KesError, listed, repeated
from kes.files import how_to_lift, most_unfolded
from kes.formats.escaping import read_literals
from kes.formats.network_parts import Parts

Fail: TypeAlias = Callable[[str, int], NoReturn]
"""Complains about a place in the file, given as the reader counts places."""

ROUNDED = 0.01
"""Distributions that miss a sum of 1 by no more are taken for rounded, and scaled."""
_NUMBER = 8  # bytes
_WORDS = 50
_AXES = 32
"""Axes of an array at most, as numpy before version 2 has it."""
_EXACT = 1e-9
"""Distributions that miss a sum of 1 by no more stay as they are, to the last bit."""


class Draft:
    """Variables and tables as a reader finds them; `parts` makes a network's parts of them.

    Parameters
    ----------
    fail
        How to complain about a place in the file.
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
            What the rest of the file calls the variable and its states.
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
        """Find the variables that a run of words names, where names may consist of many words.

        Some programs write names with spaces and without quotes. The longest name fits first, of
        those with up to 50 words.
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
        """Return the variable to which a table belongs, if it is one variable given others."""
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
        """Refuse a table that the file does not write out, if it is too large."""
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
        """Give a variable its parents and its table.

        Parameters
        ----------
        word, parents
            Variables declared before.
        table
            Probabilities, the variable's own states changing fastest and its first parent's
            slowest, in any shape.
        at, row_places
            Where the table stands, and each of its distributions as far as known.
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
        """Refuse what is no distribution, and undo the rounding of what nearly is one."""
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
        """Return what was found, in true names, if nothing is missing."""
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
