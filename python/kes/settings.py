"""The settings of a search: all options that, with the data, decide what it finds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from kes import _core
from kes.declare import declared
from kes.errors import KesError, option
from kes.options import CRITERION, Basis, LearnOptions, Sampled, ScoringOptions, uses_ranks

if TYPE_CHECKING:
    from kes.graph import EssentialGraph
    from kes.graph.core_graph import CoreGraph, CoreKnowledge
    from kes.graph.knowledge import Knowledge

Additions: TypeAlias = tuple[float, list[tuple[int, int, float]], list[int]]
"""Additions to a criterion, for the core: the weight of every pair, extra weights of some, and
exogenous variables, whose own families do not count."""


@dataclass(frozen=True)
class Criterion:
    """The score to maximise: a name, which stands for one function on each kind of table.

    Attributes
    ----------
    name : str
        A name of `_core.CRITERIA`.
    ess : float or None
        Equivalent sample size; None if the criterion does not use it.
    penalty : float
        Factor of the penalty of BIC and AIC on continuous and mixed tables.
    transform : str or None
        Transform of continuous values; None for the default of a kind of table.
    basis : int, "auto" or None
        Degree of the polynomials of continuous variables; None for straight lines.
    """

    name: str
    ess: float | None = None
    penalty: float = 1.0
    transform: str | None = None
    basis: Basis | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Criterion:
        """Return the criterion that options choose, checked."""
        known = declared(ScoringOptions)
        values = {
            name: known[name].checked(options.get(name, known[name].default)) for name in CRITERION
        }
        name = values.pop("criterion")
        if not _uses_ess(name):
            values["ess"] = None
        return cls(name, **values)

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of tables that it is for: "discrete", "continuous", "mixed"."""
        return tuple(kind for own in _core.CRITERIA if own.name == self.name for kind in own.kinds)

    def on(self, kind: str) -> _core.Criterion:
        """Return the function that the name stands for on a kind of table."""
        return next(own for own in _core.CRITERIA if own.name == self.name and kind in own.kinds)

    def title(self, kind: str) -> str:
        """Return its full name on a kind of table."""
        return self.on(kind).title

    def uses_ranks(self, kind: str) -> bool:
        """Return whether continuous values of a kind of table are replaced by normal scores."""
        return self.basis is not None or uses_ranks(self.transform, kind)

    @property
    def degree(self) -> int:
        """Degree of the polynomials of a continuous variable, once it is chosen."""
        assert self.basis != "auto", "a problem chooses the degree"
        return self.basis or 1

    def of_cheapest_edges(self, kind: str) -> Criterion:
        """Return the criterion of the edges with the fewest parameters on a kind of table.

        On mixed tables, these are edges between discrete variables, which have no curves.
        """
        return replace(self, basis=None) if kind == "mixed" else self

    def price(self, cases: float) -> float | None:
        """Return the penalty of one parameter with this many cases; None if it is not constant."""
        if "discrete" not in self.kinds:
            return None
        price = _core.penalty(self.name, cases)
        return None if price is None else self.penalty * price

    def has_penalty(self, kind: str) -> bool:
        """Return whether `penalty` and `basis` have an effect on a kind of table."""
        return "penalty" in self.on(kind).parameters


class CoreOptions(TypedDict):
    """The options of a search as the Rust core takes them."""

    k: float
    seed: int
    max_parents: int | None
    two_phase: bool
    start: CoreGraph | None
    sampled: tuple[int, int | None] | None
    knowledge: CoreKnowledge | None


@dataclass(frozen=True, kw_only=True)
class Settings:
    """All options that, with the data, decide what run i finds.

    Two results can be combined if and only if their settings are equal. `ess` is None for criteria
    that do not use it, `knowledge` if it is empty, `edge_prior` is a price in nats, and `basis` a
    degree or None, so that equal searches have equal settings.
    """

    k: float
    criterion: str
    ess: float | None
    penalty: float = 1.0
    transform: str | None = None
    basis: Basis | None = None
    edge_prior: float = 0.0
    seed: int
    max_parents: int | None = None
    two_phase: bool = False
    neighbourhood: Literal["exact"] | Sampled = "exact"
    start: EssentialGraph | None = None
    knowledge: Knowledge | None = None

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> Settings:
        """Return the settings that options of `kes.learn` make, checked.

        `start`, `knowledge` and `edge_prior` are left out: they depend on the table.
        """
        values = {
            declaration.setting: declaration.checked(options.get(name, declaration.default))
            for name, declaration in declared(LearnOptions).items()
            if declaration.setting and name not in ("start", "knowledge", "edge_prior")
        }
        if values["two_phase"] and values["neighbourhood"] != "exact":
            raise KesError(
                f"{option('two_phase')} needs the exact neighbourhood: leave it out, or use "
                f"{option('neighbourhood', 'exact')}",
                option="two_phase",
            )
        if values["transform"] == "none" and values["basis"] not in (None, "auto"):
            raise KesError(
                f"{option('basis')} uses the normal scores of ranks: leave "
                f"{option('transform', 'none')} out",
                option="basis",
            )
        if not _uses_ess(values["criterion"]):
            values["ess"] = None
        return cls(**values)

    @property
    def measure(self) -> Criterion:
        """The criterion with its parameters."""
        return Criterion(self.criterion, self.ess, self.penalty, self.transform, self.basis)

    def on(self, kind: str) -> Settings:
        """Return the settings for a kind of table, without those that have no effect on it."""
        if kind == "discrete":
            return replace(self, transform=None, basis=None)
        # Polynomials are those of ranks anyway.
        unused = (kind == "continuous" and self.transform == "none") or self.basis is not None
        return replace(self, transform=None) if unused else self

    def options(self) -> dict[str, Any]:
        """Return the settings as options of `kes.learn`, without those that are not used."""
        return {
            name: value
            for name, declaration in declared(LearnOptions).items()
            if declaration.setting and (value := getattr(self, declaration.setting)) is not None
        }

    def for_core(self, names: Sequence[str]) -> CoreOptions:
        """Return options for the Rust core, which numbers variables as in `names`."""
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

    @property
    def is_constrained(self) -> bool:
        """Whether the knowledge rules out some networks."""
        return self.knowledge is not None and self.knowledge.constrains

    def known(self, names: Sequence[str]) -> CoreKnowledge | None:
        """Return the constraints for the core, with variables numbered as in `names`."""
        return self.knowledge.to_core(names) if self.is_constrained and self.knowledge else None

    @property
    def exogenous(self) -> tuple[str, ...]:
        """The variables that are not modelled."""
        return self.knowledge.exogenous if self.knowledge else ()

    def additions(self, names: Sequence[str]) -> Additions | None:
        """Return the prior over edges and the exogenous variables for the core, if there are any.

        Variables are numbered as in `names`.
        """
        price, likely = self.prior
        if not likely and not price and not self.exogenous:
            return None
        at = {name: i for i, name in enumerate(names)}
        # The odds of a pair replace the common price.
        pairs = [(at[a], at[b], odds + price) for a, b, odds in likely]
        return -price, pairs, sorted(at[name] for name in self.exogenous)

    @property
    def prior(self) -> tuple[float, tuple[tuple[str, str, float], ...]]:
        """The prior over edges: the price of every edge, and the log odds of some."""
        return self.edge_prior, self.knowledge.likely if self.knowledge else ()

    def log_odds(self, a: str, b: str) -> float:
        """Return the log prior odds of an edge between two variables."""
        price, likely = self.prior
        return next((odds for *pair, odds in likely if {*pair} == {a, b}), -price)

    def differences(self, other: Settings) -> list[str]:
        """Return one line for each setting that differs: its name and both values."""
        return [
            f"{option(field.name)}: {_shown(mine)} there, {_shown(theirs)} here"
            for field in fields(self)
            if (mine := getattr(self, field.name)) != (theirs := getattr(other, field.name))
        ]


def _uses_ess(criterion: str) -> bool:
    """Return whether a criterion has an equivalent sample size."""
    return any(own.name == criterion and "ess" in own.parameters for own in _core.CRITERIA)


def _shown(value: object) -> str:
    """Return a setting in one short line; of graphs only the number of edges."""
    if value is None:
        return "none"
    edges = getattr(value, "directed", None)
    if edges is not None:
        return f"a graph with {len(edges) + len(value.undirected)} edges"  # type: ignore[attr-defined]
    return str(value)
