"""The class `Knowledge`: written in Python, read from a file, passed to the core."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from os import PathLike
from typing import Any

from kes.errors import KesError, suggest
from kes.graph.core_graph import CoreKnowledge
from kes.graph.knowledge.checks import arcs, names_of, pairs, refuse_contradiction, tiers_of
from kes.graph.knowledge.files import read, write


@dataclass(frozen=True, kw_only=True, repr=False)
class Knowledge:
    """Background knowledge about a network: tiers, required and forbidden arcs; immutable.

    Equality ignores the order of names within a tier and of arcs.

    Parameters
    ----------
    tiers : list of lists of str
        Groups of variables, earliest first: no arc leads from a later to an earlier one. Variables
        without a tier are not constrained.
    required : list of pairs (a, b)
        Arcs a -> b that the network must have.
    forbidden : list of pairs (a, b)
        Arcs a -> b that it must not have; b -> a remains allowed.
    apart : list of pairs (a, b)
        Variables that must not be adjacent.
    roots, leaves : list of str
        Variables without parents, and variables without children.

    Raises
    ------
    KesError
        If a value is malformed, a variable is in two tiers, or no network satisfies all of it: the
        message names the arcs that contradict each other.

    Examples
    --------
    >>> import kes
    >>> known = kes.Knowledge(tiers=[["age", "sex"], ["smoker"]], required=[("age", "smoker")])
    >>> known
    Knowledge(tiers=[['age', 'sex'], ['smoker']], required=[('age', 'smoker')])
    >>> kes.Knowledge(required=[("age", "smoker")], roots=["smoker"])
    Traceback (most recent call last):
    kes.errors.KesError: no network satisfies the knowledge: age -> smoker is required, but smoker \
is a root
    """

    tiers: tuple[tuple[str, ...], ...] = ()
    required: tuple[tuple[str, str], ...] = ()
    forbidden: tuple[tuple[str, str], ...] = ()
    apart: tuple[tuple[str, str], ...] = ()
    roots: tuple[str, ...] = ()
    leaves: tuple[str, ...] = ()

    def __init__(
        self,
        *,
        tiers: Iterable[Iterable[str]] = (),
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        apart: Iterable[tuple[str, str]] = (),
        roots: Iterable[str] = (),
        leaves: Iterable[str] = (),
    ) -> None:
        values = {
            "tiers": tiers_of(tiers),
            "required": arcs("required", required),
            "forbidden": arcs("forbidden", forbidden),
            "apart": pairs("apart", apart),
            "roots": names_of("roots", roots),
            "leaves": names_of("leaves", leaves),
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        refuse_contradiction(self)

    def adding(
        self,
        *,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        apart: Iterable[tuple[str, str]] = (),
    ) -> Knowledge:
        """Return this knowledge with more constraints.

        Raises
        ------
        KesError
            If no network satisfies all of them.
        """
        return replace(
            self,
            required=(*self.required, *required),
            forbidden=(*self.forbidden, *forbidden),
            apart=(*self.apart, *apart),
        )

    @property
    def variables(self) -> tuple[str, ...]:
        """All variables that are mentioned, sorted."""
        return tuple(sorted({name for _, name in self._mentions()}))

    def checked(self, names: Sequence[str]) -> Knowledge:
        """Return this knowledge after checking that it mentions only variables in `names`.

        Raises
        ------
        KesError
            Names the first unknown variable, with a suggestion.
        """
        known = set(names)
        for part, name in self._mentions():
            if name not in known:
                raise KesError(
                    f"unknown column {name!r} in the knowledge ({part}){suggest(name, names)}; "
                    "correct or remove it",
                    option=part,
                    column=name,
                )
        return self

    def among(self, names: Iterable[str]) -> Knowledge:
        """Return the part of the knowledge that is about some variables only."""
        chosen = set(names)
        return Knowledge(
            tiers=[chosen.intersection(tier) for tier in self.tiers],
            required=[arc for arc in self.required if chosen.issuperset(arc)],
            forbidden=[arc for arc in self.forbidden if chosen.issuperset(arc)],
            apart=[pair for pair in self.apart if chosen.issuperset(pair)],
            roots=chosen.intersection(self.roots),
            leaves=chosen.intersection(self.leaves),
        )

    def _mentions(self) -> Iterator[tuple[str, str]]:
        """Yield every name that is mentioned, with the parameter that mentions it."""
        for field in fields(self):
            for item in getattr(self, field.name):
                for name in (item,) if isinstance(item, str) else item:
                    yield field.name, name

    def to_core(self, names: Sequence[str]) -> CoreKnowledge:
        """Return the knowledge for the core: tiers of the variables, required and forbidden arcs.

        Variables are numbered as in `names`, which must contain all that are mentioned.
        """
        at = {name: i for i, name in enumerate(names)}
        level = {name: i for i, tier in enumerate(self.tiers) for name in tier}
        required = [(at[a], at[b]) for a, b in self.required]
        forbidden = {(at[a], at[b]) for a, b in self.forbidden}
        for a, b in self.apart:
            forbidden |= {(at[a], at[b]), (at[b], at[a])}
        for root in self.roots:
            forbidden |= {(other, at[root]) for other in range(len(names)) if other != at[root]}
        for leaf in self.leaves:
            forbidden |= {(at[leaf], other) for other in range(len(names)) if other != at[leaf]}
        tiers = [level.get(name) for name in names] if level else None
        return tiers, sorted(required), sorted(forbidden)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Knowledge:
        """Read knowledge from a file: TOML, JSON, or the text format of Tetrad.

        TOML and JSON have the parameters of this class as keys::

            tiers = [["age", "sex"], ["smoker"], ["cancer"]]
            forbidden = [["sex", "cancer"]]

        Any other file must be one of Tetrad, which begins with ``/knowledge``.

        Raises
        ------
        KesError
            If the file cannot be read, or its content is not valid knowledge.
        """
        return read(path, cls)

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that `read` reads; the suffix is ``.toml`` or ``.json``."""
        write(self.as_plain(), path)

    def as_plain(self) -> dict[str, list[Any]]:
        """Return the non-empty parts as lists and strings."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {
            name: [item if isinstance(item, str) else list(item) for item in value]
            for name, value in parts.items()
            if value
        }

    @property
    def counts(self) -> str:
        """A short description such as "3 tiers, 1 required arc"."""
        words = {
            "tiers": "tier",
            "required": "required arc",
            "forbidden": "forbidden arc",
            "apart": "pair apart",
            "roots": "root",
            "leaves": "leaf",
        }
        many = {"apart": "pairs apart", "leaves": "leaves"}
        parts = [(name, len(value)) for name, value in self.as_plain().items()]
        return ", ".join(
            f"{number} {words[name] if number == 1 else many.get(name, words[name] + 's')}"
            for name, number in parts
        )

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in self.as_plain()}
        parts |= {"tiers": [list(tier) for tier in self.tiers]} if self.tiers else {}
        return f"Knowledge({', '.join(f'{name}={list(value)}' for name, value in parts.items())})"
