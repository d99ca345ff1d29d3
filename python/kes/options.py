"""Options of searches: their declarations, and the settings that are made of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Literal, TypedDict

from kes import _core
from kes.errors import KesError, option, suggest, unknown
from kes.validation import boolean, integer, number, seed

if TYPE_CHECKING:
    from kes.data.dataset import Weights
    from kes.data.discretizer import Discretizer
    from kes.data.infer_kinds import Kinds
    from kes.graph import EssentialGraph
    from kes.graph.core_graph import CoreGraph, CoreKnowledge
    from kes.graph.knowledge import Knowledge
    from kes.progress import Progress

CRITERIA = tuple(dict.fromkeys(name for name, *_ in _core.CRITERIA))
TRANSFORMS = ("ranks",)
_MOST_ESS = 1e300
_MOST_PENALTY = 1e9


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
        object.__setattr__(self, "reversals", integer("reversals", self.reversals, minimum=0))
        if self.failures is not None:
            object.__setattr__(self, "failures", integer("failures", self.failures, minimum=1))


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
        strength = number("ess", ess, above=0.0, maximum=_MOST_ESS)
        name = criterion.lower() if isinstance(criterion, str) else criterion
        if name not in CRITERIA:
            raise unknown("criterion", criterion, CRITERIA)
        if transform is not None and transform not in TRANSFORMS:
            raise unknown("transform", transform, TRANSFORMS)
        return cls(
            str(name),
            strength if name == "bdeu" else None,
            number("penalty", penalty, above=0.0, maximum=_MOST_PENALTY),
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
        if boolean("two_phase", two_phase) and where != "exact":
            raise KesError(
                f"{option('two_phase')} needs the exact neighbourhood: leave it out, or use "
                f"{option('neighbourhood', 'exact')}"
            )
        return cls(
            k=number("k", k, minimum=0.0, maximum=1.0, hint=": 0 is SES, 1 is GES"),
            criterion=measure.name,
            ess=measure.ess,
            penalty=measure.penalty,
            transform=measure.transform,
            seed=seed(random_state),
            max_parents=None
            if max_parents is None
            else integer("max_parents", max_parents, minimum=0),
            two_phase=boolean("two_phase", two_phase),
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


def _shown(value: object) -> str:
    """Return a setting in one short line; graphs are told by their number of edges only."""
    if value is None:
        return "none"
    edges = getattr(value, "directed", None)
    if edges is not None:
        return f"a graph with {len(edges) + len(value.undirected)} edges"  # type: ignore[attr-defined]
    return str(value)


# --- options as keyword arguments ---

DEFAULT_CACHE_MB = 512
DEFAULT_K = 0.8


class DataOptions(TypedDict, total=False):
    """How a table is read; `kes.learn` explains it."""

    kinds: Kinds | None
    weights: Weights
    discretize: int | Mapping[str, int] | Discretizer | None
    missing: str
    completions: int


class ScoringOptions(DataOptions, total=False):
    """What decides a score, and which models have one: as `kes.score` and `kes.certify` take it."""

    criterion: str
    ess: float
    penalty: float
    transform: str | None
    knowledge: Knowledge | None


class SearchOptions(ScoringOptions, total=False):
    """What `kes.learn`, `sweep`, `stability` and `cross_validate` take."""

    random_state: int | None
    n_jobs: int | None
    max_parents: int | None
    two_phase: bool
    neighbourhood: str | Sampled
    start: EssentialGraph | Sequence[tuple[str, str]] | None
    cache_mb: int
    progress: bool | Callable[[Progress], object] | None


SCORING_DEFAULTS: ScoringOptions = {
    "criterion": "bic",
    "ess": 1.0,
    "penalty": 1.0,
    "transform": None,
    "knowledge": None,
    "kinds": None,
    "weights": None,
    "discretize": None,
    "missing": "error",
    "completions": 5,
}
"""What each of them is if it is not given."""

DEFAULTS: SearchOptions = {
    **SCORING_DEFAULTS,
    "random_state": 0,
    "n_jobs": None,
    "max_parents": None,
    "two_phase": False,
    "neighbourhood": "exact",
    "start": None,
    "cache_mb": DEFAULT_CACHE_MB,
    "progress": None,
}
"""What each of them is if it is not given."""
