"""The settings that, with the data, decide how every run ends."""

from __future__ import annotations

import math
import numbers
import re
import secrets
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from kes import _core
from kes.errors import KesError, option, suggest, unknown

if TYPE_CHECKING:
    from kes.graph import EssentialGraph
    from kes.graph.knowledge import Knowledge

CRITERIA = tuple(dict.fromkeys(name for name, *_ in _core.CRITERIA))
TRANSFORMS = ("ranks",)
MOST_MB = 2**30
"""Megabytes that anybody can mean; the core counts bytes in a machine word."""

_MOST = 2**63 - 1  # what fits a machine word, and is no limit to anybody
_MOST_ESS = 1e300
_MOST_PENALTY = 1e9
_SHOWN_DIGITS = 30
CoreGraph: TypeAlias = tuple[list[tuple[int, int]], list[tuple[int, int]]]
CoreKnowledge: TypeAlias = tuple[
    list[int | None] | None, list[tuple[int, int]], list[tuple[int, int]]
]


class CoreOptions(TypedDict):
    """The options of a search as the Rust core takes them."""

    k: float
    seed: int
    max_parents: int | None
    two_phase: bool
    start: CoreGraph | None
    sampled: tuple[int, int | None] | None
    knowledge: CoreKnowledge | None


@dataclass(frozen=True)
class Sampled:
    """The sampled neighbourhood of the paper's section 4.1.

    Parameters
    ----------
    reversals : int
        Largest number of covered arcs reversed before each draw of a neighbour; the number is
        drawn anew each time.
    failures : int or None
        Iterations in a row without an improvement after which a run stops; by default as many as
        make 20 draws for each ordered pair of variables.
    """

    reversals: int = 10
    failures: int | None = None

    def __post_init__(self) -> None:
        """Refuse values that no search could use."""
        object.__setattr__(self, "reversals", whole("reversals", self.reversals, least=0))
        if self.failures is not None:
            object.__setattr__(self, "failures", whole("failures", self.failures, least=1))


@dataclass(frozen=True)
class Criterion:
    """What is maximised: a name, which stands for one function on each kind of table.

    Attributes
    ----------
    name : str
        "bic", "aic", "bdeu", "qnml" or "bge".
    ess : float or None
        Equivalent sample size; None where it is not used.
    penalty : float
        Factor of the penalty of BIC and AIC on continuous and mixed tables.
    transform : str or None
        "ranks" to replace continuous values by their normal scores first.
    """

    name: str
    ess: float | None = None
    penalty: float = 1.0
    transform: str | None = None

    @classmethod
    def checked(
        cls, criterion: object, ess: object, penalty: object = 1.0, transform: object = None
    ) -> Criterion:
        """Make it of what a user wrote, or say what is wrong with it."""
        strength = number("ess", ess, least=0.0, most=_MOST_ESS, strictly=True)
        name = criterion.lower() if isinstance(criterion, str) else criterion
        if name not in CRITERIA:
            raise unknown("criterion", criterion, CRITERIA)
        if transform is not None and transform not in TRANSFORMS:
            raise unknown("transform", transform, TRANSFORMS)
        return cls(
            str(name),
            strength if name == "bdeu" else None,
            number("penalty", penalty, least=0.0, strictly=True, most=_MOST_PENALTY),
            None if transform is None else str(transform),
        )

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tables that it is for: "discrete", "continuous", "mixed"."""
        return tuple(
            kind for name, _, _, kinds, _ in _core.CRITERIA if name == self.name for kind in kinds
        )

    def title(self, kind: str) -> str:
        """Return what it is called in full on a kind of table."""
        if kind == "mixed":
            return f"degenerate Gaussian {self.name.upper()}"
        return next(
            title
            for name, title, _, kinds, _ in _core.CRITERIA
            if name == self.name and kind in kinds
        )

    def price(self, cases: float) -> float | None:
        """Return what a parameter costs with so many cases; None if it is not always the same."""
        if "discrete" not in self.kinds:
            return None
        price = _core.penalty(self.name, cases)
        return None if price is None else self.penalty * price

    def has_penalty(self, kind: str) -> bool:
        """Tell whether its penalty can be multiplied on a kind of table."""
        return any(
            "penalty" in parameters
            for name, _, parameters, kinds, _ in _core.CRITERIA
            if name == self.name and kind in kinds
        )


@dataclass(frozen=True, kw_only=True)
class Settings:
    """What decides the end of run i, besides the data and i.

    Two results can be joined if and only if their settings are equal. `ess` is None for criteria
    that do not use it, and `knowledge` if it says nothing, so that they cannot make equal searches
    look different.
    """

    k: float
    criterion: str
    ess: float | None
    seed: int
    penalty: float = 1.0
    transform: str | None = None
    max_parents: int | None = None
    two_phase: bool = False
    neighbourhood: Literal["exact"] | Sampled = "exact"
    start: EssentialGraph | None = None
    knowledge: Knowledge | None = None

    @classmethod
    def checked(
        cls,
        *,
        k: object,
        criterion: object,
        ess: object,
        random_state: object,
        max_parents: object,
        two_phase: object,
        neighbourhood: object,
        penalty: object = 1.0,
        transform: object = None,
    ) -> Settings:
        """Make settings of what a user wrote, or say what is wrong with it."""
        measure = Criterion.checked(criterion, ess, penalty, transform)
        where = _neighbourhood(neighbourhood)
        if not isinstance(two_phase, bool):
            raise KesError(f"{option('two_phase')} must be True or False, not {two_phase!r}")
        if two_phase and where != "exact":
            raise KesError(
                f"{option('two_phase')} needs the exact neighbourhood: leave it out, or use "
                f"{option('neighbourhood', 'exact')}"
            )
        return cls(
            k=number("k", k, least=0.0, most=1.0, hint=": 0 is SES, 1 is GES"),
            criterion=measure.name,
            ess=measure.ess,
            penalty=measure.penalty,
            transform=measure.transform,
            seed=check_seed(random_state),
            max_parents=None if max_parents is None else whole("max_parents", max_parents, least=0),
            two_phase=two_phase,
            neighbourhood=where,
        )

    @property
    def measure(self) -> Criterion:
        """The criterion with all that belongs to it."""
        return Criterion(self.criterion, self.ess, self.penalty, self.transform)

    def for_core(self, names: Sequence[str]) -> CoreOptions:
        """Options for the Rust core, which knows variables by their position in `names`."""
        sampled = self.neighbourhood
        return CoreOptions(
            k=self.k,
            seed=self.seed,
            max_parents=self.max_parents,
            two_phase=self.two_phase,
            start=None if self.start is None else self.start.to_core(names),
            sampled=(sampled.reversals, sampled.failures) if isinstance(sampled, Sampled) else None,
            knowledge=self.known(names),
        )

    def known(self, names: Sequence[str]) -> CoreKnowledge | None:
        """Return the knowledge for the core, of variables numbered as in `names`."""
        return None if self.knowledge is None else self.knowledge.to_core(names)

    def differences(self, other: Settings) -> list[str]:
        """One line for each setting in which `other` differs: its name and both values."""
        return [
            f"{option(field.name)}: {_shown(mine)} there, {_shown(theirs)} here"
            for field in fields(self)
            if (mine := getattr(self, field.name)) != (theirs := getattr(other, field.name))
        ]


def whole(name: str, value: object, *, least: int, most: int = _MOST) -> int:
    """Return `value` as an int within bounds, or say that it is not one."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < least:
        raise KesError(
            f"{option(name)} must be a whole number of at least {least}, not {_given(value)}"
        )
    if int(value) > most:
        raise KesError(
            f"{option(name)} must be a whole number of at most {most}, not {_given(value)}"
        )
    return int(value)


def megabytes(name: str, value: object) -> int:
    """Return `value` as a bound on memory, or say that it is none."""
    return whole(name, value, least=1, most=MOST_MB)


def number(
    name: str,
    value: object,
    *,
    least: float,
    most: float = math.inf,
    strictly: bool = False,
    hint: str = "",
) -> float:
    """Return `value` as a finite float within bounds, or say that it is not one."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        result = float(value) if real else math.nan  # type: ignore[arg-type]
    except OverflowError:
        result = math.inf
    fits = math.isfinite(result) and least <= result <= most and not (strictly and result == least)
    if not fits:
        if most < math.inf and not strictly:
            bounds = f"from {least:g} to {most:g}"
        else:
            bounds = f"greater than {least:g}" if strictly else f"of at least {least:g}"
            bounds += f" and at most {most:g}" if most < math.inf else ""
        raise KesError(f"{option(name)} must be a number {bounds}{hint}, not {_given(value)}")
    return result


def seconds(name: str, value: object) -> float:
    """Seconds from a number or from a text such as "30s", "5m" or "1h30m"."""
    if isinstance(value, str):
        parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)\s*(s|m|h|d|$)", value.strip())
        if not parts or "".join(a + b for a, b in parts) != re.sub(r"\s", "", value):
            raise KesError(
                f"{option(name)} {value!r} is no length of time: "
                "give seconds, or a text such as '30s', '5m' or '1h30m'"
            )
        unit = {"s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
        value = sum(float(amount) * unit[letter] for amount, letter in parts)
    return number(name, value, least=0.0, strictly=True, hint=" (seconds)")


def arcs_of(name: str, value: object) -> list[tuple[str, str]]:
    """Return `value` as a list of pairs of names, or say that it is none."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        arcs: list[Any] = list(value)
        if all(isinstance(arc, tuple | list) and len(arc) == 2 for arc in arcs):
            return [(a, b) for a, b in arcs]
    raise KesError(
        f"{name} must be an EssentialGraph or a list of arcs (parent, child), "
        f"not {type(value).__name__}"
    )


def check_seed(random_state: object) -> int:
    """Return the seed that `random_state` gives, or a drawn one for None."""
    if random_state is None:
        return secrets.randbits(32)
    if isinstance(random_state, int) and random_state >= 2**64:
        raise KesError(
            f"{option('random_state')} must be less than 2**64, not {_given(random_state)}"
        )
    return whole("random_state", random_state, least=0, most=2**64 - 1)


def _neighbourhood(value: object) -> Literal["exact"] | Sampled:
    if value == "exact":
        return "exact"
    if value == "sampled":
        return Sampled()
    if isinstance(value, Sampled):
        return value
    raise KesError(
        f"unknown neighbourhood {value!r}{suggest(str(value), ('exact', 'sampled'))}; "
        "use 'exact', 'sampled' or kes.Sampled(reversals=..., failures=...)"
    )


def _given(value: object) -> str:
    """Return a wrong value for a message; of huge numbers only how long they are."""
    if isinstance(value, int) and abs(value) >= 10**_SHOWN_DIGITS:
        return f"one of {int(value.bit_length() * math.log10(2)) + 1} digits"
    return repr(value)


def _shown(value: object) -> str:
    """Return a setting in one short line; graphs are told by their number of edges only."""
    if value is None:
        return "none"
    edges = getattr(value, "directed", None)
    if edges is not None:
        return f"a graph with {len(edges) + len(value.undirected)} edges"  # type: ignore[attr-defined]
    return str(value)
