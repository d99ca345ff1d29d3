"""The criteria tried by `criterion="auto"`, as plain data that result files keep."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from kes.options import Prior
from kes.table import Table, tabulated


@dataclass(frozen=True)
class Trial:
    """A way to learn and to fit a network, and how probable it makes held-out cases.

    `difference` is that from the best candidate in nats per case, with its standard error.
    """

    criterion: str
    ess: float | None  # of the criterion
    edge_prior: float
    prior: Prior
    prior_ess: float | None  # of the prior of parameters
    per_case: float
    difference: float = 0.0
    standard_error: float | None = None

    def __str__(self) -> str:
        ess = "" if self.ess is None else f" (ess {self.ess:g})"
        price = f"edges at {self.edge_prior:.3g} nats" if self.edge_prior else "no price of edges"
        own = "" if self.prior_ess is None else f" (ess {self.prior_ess:g})"
        return f"{self.criterion}{ess}, {price}, parameter prior {self.prior}{own}"


@dataclass(frozen=True, repr=False)
class CriterionChoice:
    """A criterion, a price of edges and a parameter prior, chosen by cross-validation.

    Attributes
    ----------
    candidates : tuple
        What was tried, best first.
    folds : int
        Number of parts of the cross-validation.
    cases : float
        Number of cases that were predicted.
    """

    candidates: tuple[Trial, ...]
    folds: int
    cases: float

    @property
    def options(self) -> dict[str, Any]:
        """The chosen options of `kes.learn`."""
        best = self.candidates[0]
        found: dict[str, Any] = {"criterion": best.criterion, "edge_prior": best.edge_prior}
        return found if best.ess is None else {**found, "ess": best.ess}

    @property
    def estimation(self) -> dict[str, Any]:
        """The chosen options of `kes.fit`."""
        best = self.candidates[0]
        found: dict[str, Any] = {"prior": best.prior}
        return found if best.prior_ess is None else {**found, "ess": best.prior_ess}

    def table(self) -> Table:
        """Return a row for each candidate, best first."""
        names = (
            *("criterion", "ess", "edge_prior", "prior", "prior_ess"),
            *("per_case", "difference", "standard_error"),
        )
        rows = [[getattr(one, name) for name in names] for one in self.candidates]
        note = (
            "per_case: log-likelihood of a held-out case in nats; difference: from the first row."
        )
        return tabulated(names, rows, note)

    def __str__(self) -> str:
        best = self.candidates[0]
        others = {one.criterion: one for one in reversed(self.candidates)}
        del others[best.criterion]
        ranked = sorted(others.values(), key=lambda one: -one.per_case)
        beside = ", ".join(f"{one.criterion} {one.difference:.3g}" for one in ranked)
        return (
            f"{best}: highest likelihood of {self.cases:.12g} held-out cases in {self.folds} folds "
            f"({best.per_case:.4f} nats per case{f'; {beside}' if beside else ''})"
        )

    def __repr__(self) -> str:
        return f"{self}\n{self.table()!r}"
