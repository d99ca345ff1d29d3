"""Values that options take: their names, types and checks."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from kes import _core
from kes.errors import KesError, option, suggest
from kes.validation import duration, integer, number

CRITERIA = tuple(dict.fromkeys(criterion.name for criterion in _core.CRITERIA))
TRANSFORMS = ("ranks", "none")
MISSING = ("error", "drop", "state", "em")
DATES = ("days", "year")
PRIORS = ("bdeu", "ml")
EDGE_PRIORS = ("auto", "ebic")
CRITERION = ("criterion", "ess", "penalty", "transform", "basis")
"""The options that make a `kes.settings.Criterion`."""
SCORE = (*CRITERION, "edge_prior", "gamma")
"""The options that decide a score."""

MAX_ESS = 1e300
MAX_PENALTY = 1e9
MAX_PRICE = 1e9

Prior: TypeAlias = Literal["bdeu", "ml"] | float
EdgePrior: TypeAlias = Literal["auto", "ebic"] | float
Gamma: TypeAlias = Literal["auto"] | float
Basis: TypeAlias = Literal["auto"] | int


@dataclass(frozen=True)
class Sampled:
    """The sampled neighbourhood of the paper's section 4.1.

    Parameters
    ----------
    reversals : int
        Maximum number of covered arcs to reverse before each draw of a neighbour; the number
        itself is drawn each time.
    failures : int or None
        Stop a run after this many iterations in a row without improvement. The default makes 20
        draws for each ordered pair of variables.
    """

    reversals: int = 10
    failures: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        object.__setattr__(self, "reversals", integer("reversals", self.reversals, minimum=0))
        if self.failures is not None:
            object.__setattr__(self, "failures", integer("failures", self.failures, minimum=1))


def check_improve(name: str, value: object) -> bool | int | str:
    """Return the amount of improving: a bool, "auto", a number of tasks, or a duration as text."""
    if isinstance(value, bool) or value == "auto":
        return value
    if isinstance(value, str):
        duration(name, value)
        return value
    try:
        return integer(name, value, minimum=1)
    except KesError:
        raise KesError(
            f"{name} must be True, False, a number of tasks of at least 1, or a duration such as "
            f"'10s', not {value!r}",
            option=name,
        ) from None


def check_prove(name: str, value: object) -> bool | Literal["auto"]:
    """Return whether to prove the best score: a bool or "auto"."""
    if value == "auto":
        return "auto"
    if isinstance(value, bool):
        return value
    raise KesError(f"{name} must be True, False or 'auto', not {value!r}", option=name)


def check_prior(name: str, value: object) -> Prior:
    """Return a prior of a network's parameters: a name, or a number of cases."""
    if isinstance(value, str):
        return _word(name, value, PRIORS, "a number of cases")  # type: ignore[return-value]
    return number(name, value, above=0.0)


def check_edge_prior(name: str, value: object) -> EdgePrior:
    """Return the price of an edge: a number of nats, or the name of a rule."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        return _word(name, value, EDGE_PRIORS, "a number of nats")  # type: ignore[return-value]
    return number(name, value, minimum=0.0, maximum=MAX_PRICE)


def check_gamma(name: str, value: object) -> Gamma:
    """Return γ of the extended BIC: a number or "auto"."""
    if isinstance(value, str):
        return _word(name, value, ("auto",), "a number")  # type: ignore[return-value]
    return number(name, value, minimum=0.0, maximum=MAX_PRICE)


def check_basis(name: str, value: object) -> Basis:
    """Return the degree of polynomials, or "auto"."""
    degrees = f"a degree from 1 to {_core.MAX_DEGREE}"
    if isinstance(value, str):
        return _word(name, value, ("auto",), degrees)  # type: ignore[return-value]
    try:
        return integer(name, value, minimum=1, maximum=_core.MAX_DEGREE)
    except KesError:
        raise _neither(name, value, ("auto",), degrees) from None


def _word(name: str, value: str, known: Sequence[str], number: str) -> str:
    """Return a word in lower case if it is one of those that may stand in place of a number."""
    if value.lower() in known:
        return value.lower()
    raise _neither(name, value, known, number)


def _neither(name: str, value: object, known: Sequence[str], number: str) -> KesError:
    """Return the error for a value that is neither a number in range nor a known word."""
    *first, last = map(repr, known)
    allowed = f"{', '.join([number, *first])} or {last}"
    meant = suggest(value, known) if isinstance(value, str) else ""
    return KesError(f"{option(name)} must be {allowed}, not {value!r}{meant}", option=name)


def check_names(name: str, value: object) -> tuple[str, ...]:
    """Return names of columns, given as a list or as one name."""
    if isinstance(value, str):
        return (value,)
    names = tuple(value) if isinstance(value, Iterable) else None  # it may be read only once
    if names is None or not all(isinstance(one, str) for one in names):
        raise KesError(f"{name} must be a list of columns, not {value!r}", option=name)
    return tuple(dict.fromkeys(names))


def check_neighbourhood(name: str, value: object) -> Literal["exact"] | Sampled:
    """Return the neighbourhood: "exact" or a `Sampled`."""
    if value == "exact":
        return "exact"
    if value == "sampled":
        return Sampled()
    if isinstance(value, Sampled):
        return value
    raise KesError(
        f"unknown {name} {value!r}{suggest(str(value), ('exact', 'sampled'))}; "
        "use 'exact', 'sampled' or kes.Sampled(reversals=..., failures=...)",
        option=name,
    )


def uses_ranks(transform: str | None, kind: str) -> bool:
    """Return whether a search on a kind of table replaces continuous values by normal scores.

    None stands for the default: "ranks" on mixed tables, "none" on others, unless a search has
    chosen "ranks" for the tails of a table (`kes.search.tails`).
    """
    return transform == "ranks" or (transform is None and kind == "mixed")
