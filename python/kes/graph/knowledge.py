"""Background knowledge: constraints on a network that do not come from the data.

A network is *admissible* iff it has every required and no forbidden arc; a model iff some network
of its class is. Tiers forbid all arcs from a later to an earlier tier, `apart` forbids
both arcs between two variables, `roots` all arcs into and `leaves` all arcs out of a variable.

Variables that are *exogenous* come before all others and are not modelled: others may have them as
parents, and no network says how they are related among themselves. They are a complete block of
which only the arcs into modelled variables are searched, scored and shown.

`likely` is soft: it rules nothing out, but changes scores. A criterion that is a function of sets
of variables can weigh the edge between two of them, but not its direction.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, fields, replace
from os import PathLike
from pathlib import Path
from typing import Any

from kes import _core
from kes.errors import KesError, suggest
from kes.files import load, write_file
from kes.graph.core_graph import CoreKnowledge
from kes.graph.knowledge_files import dump, parse
from kes.graph.knowledge_parts import arc_list, name_list, odds_list, target_list, tier_list
from kes.native import core_errors

_MAX_REASONS = 3
"""Contradictions that a message lists."""

_CONTRADICTION = "no network satisfies the knowledge: "
_WORDS = {
    "tiers": ("tier", "tiers"),
    "required": ("required arc", "required arcs"),
    "forbidden": ("forbidden arc", "forbidden arcs"),
    "apart": ("pair apart", "pairs apart"),
    "roots": ("root", "roots"),
    "leaves": ("leaf", "leaves"),
    "likely": ("pair with prior odds", "pairs with prior odds"),
    "exogenous": ("exogenous variable", "exogenous variables"),
    "targets": ("exogenous variable with known targets", "exogenous variables with known targets"),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Knowledge:
    """Background knowledge about a network: constraints, and prior odds of edges; immutable.

    Equality ignores the order of names within a tier and of arcs.

    Parameters
    ----------
    tiers : list of lists of str
        Groups of variables, earliest first: no arc leads from a later to an earlier one. Variables
        without a tier are not constrained.
    required : list of pairs (a, b)
        Arcs a -> b that the network must have.
    forbidden : list of pairs (a, b)
        Arcs a -> b that it must not have; b -> a remains allowed. Unlike tiers, they can trap
        runs in wrong optima, however many cases there are (docs/theory.md, section 10).
    apart : list of pairs (a, b)
        Variables that must not be adjacent; they can trap runs as well, and more often.
    roots, leaves : list of str
        Variables without parents, and variables without children.
    likely : mapping, or list of triples (a, b, odds)
        Natural logarithm of the prior odds that a and b are adjacent, in either direction:
        ``{("a", "b"): 3.0}`` favours an edge by 3 nats (odds of 20 to 1), a negative number
        disfavours it, 0 is neutral. The score of a model with the edge is higher by this number;
        it takes the place of the price that `edge_prior` sets for other pairs. For what is
        certain, or about directions, use the other parameters.
    exogenous : list of str
        Variables that the others may depend on, but that are not modelled themselves: contexts of
        experiments, earlier values of a series. No arc leads to them, whatever relates them
        among themselves is left open, and scores are those of the other variables given them.
    targets : mapping, or list of pairs (x, list of str)
        The only variables that an exogenous one may point to, where they are known:
        ``{"knockout": ["gene1", "gene2"]}``. Its keys are exogenous. Like forbidden arcs, they
        can trap runs in wrong optima.

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
    likely: tuple[tuple[str, str, float], ...] = ()
    exogenous: tuple[str, ...] = ()
    targets: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __init__(
        self,
        *,
        tiers: Iterable[Iterable[str]] = (),
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        apart: Iterable[tuple[str, str]] = (),
        roots: Iterable[str] = (),
        leaves: Iterable[str] = (),
        likely: Mapping[tuple[str, str], float] | Iterable[tuple[str, str, float]] = (),
        exogenous: Iterable[str] = (),
        targets: Mapping[str, Iterable[str]] | Iterable[tuple[str, Iterable[str]]] = (),
    ) -> None:
        touched = target_list(targets)
        block = {*name_list("exogenous", exogenous), *(name for name, _ in touched)}
        values = {
            "tiers": tier_list(tiers),
            "required": arc_list("required", required),
            "forbidden": arc_list("forbidden", forbidden),
            "apart": tuple(sorted({(min(p), max(p)) for p in arc_list("apart", apart)})),
            "roots": name_list("roots", roots),
            "leaves": name_list("leaves", leaves),
            "likely": odds_list(likely),
            "exogenous": tuple(sorted(block)),
            "targets": touched,
        }
        for name, value in values.items():
            object.__setattr__(self, name, value)
        _refuse_contradiction(self)

    def adding(
        self,
        *,
        required: Iterable[tuple[str, str]] = (),
        forbidden: Iterable[tuple[str, str]] = (),
        apart: Iterable[tuple[str, str]] = (),
        exogenous: Iterable[str] = (),
        targets: Mapping[str, Iterable[str]] | None = None,
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
            exogenous=(*self.exogenous, *exogenous),
            targets=target_list({**dict(self.targets), **(targets or {})}),
        )

    @property
    def constrains(self) -> bool:
        """Whether it rules out some networks."""
        return any(getattr(self, field.name) for field in fields(self) if field.name != "likely")

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
            likely=[item for item in self.likely if chosen.issuperset(item[:2])],
            exogenous=chosen.intersection(self.exogenous),
            targets={x: chosen.intersection(own) for x, own in self.targets if x in chosen},
        )

    def excludes(self, arcs: Iterable[tuple[str, str]]) -> frozenset[tuple[str, str]]:
        """Return those of some arcs that no admissible network has.

        They are forbidden in some way, or close a cycle with required ones.
        """
        asked = set(arcs)
        forbidden = {arc for arc, _ in _forbidden_among(self, asked)}
        later: dict[str, set[str]] = {}
        for a, b in self.required:
            later.setdefault(a, set()).add(b)
        before = {b: _reached(b, later) for b in {b for _, b in asked} & later.keys()}
        return frozenset(forbidden.union((a, b) for a, b in asked if a in before.get(b, ())))

    def _mentions(self) -> Iterator[tuple[str, str]]:
        """Yield every name that is mentioned, with the parameter that mentions it."""
        for field in fields(self):
            for item in getattr(self, field.name):
                for part in (item,) if isinstance(item, str) else item:
                    for name in part if isinstance(part, tuple) else (part,):
                        if isinstance(name, str):  # not the odds of a pair
                            yield field.name, name

    def to_core(self, names: Sequence[str]) -> CoreKnowledge:
        """Return the constraints for the core: tiers of variables, required and forbidden arcs.

        Variables are numbered as in `names`, which must contain all that are mentioned. Exogenous
        ones are roots there: that gives the same models, neighbours and gains as a complete block.
        """
        at = {name: i for i, name in enumerate(names)}
        level = {name: i for i, tier in enumerate(self.tiers) for name in tier}
        required = [(at[a], at[b]) for a, b in self.required]
        forbidden = {(at[a], at[b]) for a, b in self.forbidden}
        for a, b in self.apart:
            forbidden |= {(at[a], at[b]), (at[b], at[a])}
        first = {*self.roots, *self.exogenous}
        last = set(self.leaves) - first
        between = [name for name in names if name not in first and name not in last]
        if (first or last) and _fit_around(first | last, between, level):
            # A tier before all others and one after them say the same as an arc for every pair.
            level = {name: level.get(name, 0) + 1 for name in between}
            level |= dict.fromkeys(first, 0) | dict.fromkeys(last, len(self.tiers) + 2)
        tier_of = [level.get(name) for name in names]
        for root in first:
            forbidden |= _not_in_tiers(at[root], tier_of, into=True)
        for leaf in self.leaves:
            forbidden |= _not_in_tiers(at[leaf], tier_of, into=False)
        for x, own in self.targets:
            among = set(own)
            forbidden |= {(at[x], at[y]) for y in names if y != x and y not in among}
        return tier_of if level else None, sorted(required), sorted(forbidden)

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Knowledge:
        """Read knowledge from a file: TOML, JSON, or the text format of Tetrad.

        TOML and JSON have the parameters of this class as keys::

            tiers = [["age", "sex"], ["smoker"], ["cancer"]]
            forbidden = [["sex", "cancer"]]
            likely = [["smoker", "cancer", 3.0]]

        Any other file must be one of Tetrad, which begins with ``/knowledge``.

        Raises
        ------
        KesError
            If the file cannot be read, or its content is not valid knowledge.
        """
        suffix = Path(path).suffix.lower()
        return load(path, lambda content: cls(**parse(content, suffix)))

    def save(self, path: str | PathLike[str]) -> None:
        """Write to a file that `read` reads; the suffix is ``.toml`` or ``.json``."""
        write_file(path, dump(self.as_plain(), path))

    def as_plain(self) -> dict[str, list[Any]]:
        """Return the non-empty parts as lists and strings."""
        parts = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: [_listed(item) for item in value] for name, value in parts.items() if value}

    @property
    def counts(self) -> str:
        """A short description such as "3 tiers, 1 required arc"."""
        numbers = {name: len(value) for name, value in self.as_plain().items()}
        return ", ".join(f"{n} {_WORDS[name][n != 1]}" for name, n in numbers.items())

    def __bool__(self) -> bool:
        return any(getattr(self, field.name) for field in fields(self))

    def __repr__(self) -> str:
        parts = {name: getattr(self, name) for name in self.as_plain()}
        parts |= {"tiers": [list(tier) for tier in self.tiers]} if self.tiers else {}
        return f"Knowledge({', '.join(f'{name}={list(value)}' for name, value in parts.items())})"


def _fit_around(ends: Set[str], between: Sequence[str], level: Mapping[str, int]) -> bool:
    """Return whether roots and leaves can be tiers before and after those of all others."""
    tiered = sum(name in level for name in between)
    return ends.isdisjoint(level) and tiered in (0, len(between))


def _not_in_tiers(v: int, tier_of: Sequence[int | None], *, into: bool) -> set[tuple[int, int]]:
    """Return all arcs into or out of a variable, without those that tiers forbid."""
    own = tier_of[v]
    forbidden = set()
    for other, tier in enumerate(tier_of):
        if other != v and not (
            own is not None and tier is not None and (tier > own if into else tier < own)
        ):
            forbidden.add((other, v) if into else (v, other))
    return forbidden


def _listed(item: object) -> object:
    """Return tuples as lists."""
    return [_listed(part) for part in item] if isinstance(item, tuple) else item


def _refuse_contradiction(known: Knowledge) -> None:
    """Raise an error if no network satisfies the knowledge, naming the contradiction.

    If no required arc is forbidden and they form no cycle, the network of the required arcs alone
    is admissible.
    """
    _check_block(known)
    reasons = [
        f"{a} -> {b} is required, but {reason}"
        for (a, b), reason in _forbidden_among(known, known.required)
    ]
    if reasons:
        more = f"; and {len(reasons) - _MAX_REASONS} more" if len(reasons) > _MAX_REASONS else ""
        raise KesError(_CONTRADICTION + "; ".join(reasons[:_MAX_REASONS]) + more, option="required")
    names = sorted({name for arc in known.required for name in arc})
    at = {name: i for i, name in enumerate(names)}
    with core_errors(names):
        required = [(at[a], at[b]) for a, b in known.required]
        found = _core.contradiction(len(names), (None, required, []))
    if found is not None:
        way = [names[found[1][0][0]], *(names[b] for _, b in found[1])]
        raise KesError(
            f"{_CONTRADICTION}the required arcs form the cycle {' -> '.join(way)}",
            option="required",
        )


def _check_block(known: Knowledge) -> None:
    """Refuse statements that order or relate the exogenous variables: they are not modelled."""
    block = set(known.exogenous)
    placed = {"roots": known.roots, "tiers": [name for tier in known.tiers for name in tier]}
    for part, names in placed.items():
        for name in sorted(block.intersection(names)):
            raise KesError(
                f"{name!r} is exogenous, so it comes before all modelled variables; leave it out "
                f"of {part}",
                option=part,
                column=name,
            )
    pairs = {"required": known.required, "forbidden": known.forbidden, "apart": known.apart}
    pairs["likely"] = tuple((a, b) for a, b, _ in known.likely)
    pairs["targets"] = tuple((x, y) for x, own in known.targets for y in own)
    for part, arcs in pairs.items():
        for pair in arcs:
            if block.issuperset(pair):
                raise KesError(
                    f"{pair[0]!r} and {pair[1]!r} are both exogenous, so their relation is not "
                    f"modelled; leave the pair out of {part}",
                    option=part,
                    column=pair[0],
                )


def _reached(start: str, later: Mapping[str, Set[str]]) -> set[str]:
    """Return all that paths from a variable lead to."""
    found: set[str] = set()
    ahead = [start]
    while ahead:
        new = later.get(ahead.pop(), set()) - found
        found |= new
        ahead += new
    return found


def _forbidden_among(
    known: Knowledge, arcs: Iterable[tuple[str, str]]
) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield those of some arcs that the knowledge forbids, with the first reason."""
    forbidden, apart = set(known.forbidden), set(known.apart)
    roots, leaves = set(known.roots), set(known.leaves)
    tier = {name: i for i, names in enumerate(known.tiers) for name in names}
    targets = dict(known.targets)
    for a, b in arcs:
        reasons = {
            "it is also forbidden": (a, b) in forbidden,
            f"{a} and {b} must be apart": (min(a, b), max(a, b)) in apart,
            f"{b} is a root": b in roots,
            f"{b} is exogenous": b in known.exogenous,
            f"{b} is not one of the targets of {a}": b not in targets.get(a, (b,)),
            f"{a} is a leaf": a in leaves,
            f"{b} is in an earlier tier than {a}": tier.get(a, 0) > tier.get(b, len(tier)),
        }
        for reason in [text for text, holds in reasons.items() if holds][:1]:
            yield (a, b), reason
