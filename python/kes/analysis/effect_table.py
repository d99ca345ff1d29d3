"""The table of possible effects, and its summary by source of uncertainty."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError
from kes.results.summary import counted
from kes.table import Table, tabulated

QUANTILES = (0.025, 0.975)
"""Of resamples and of the weight of models: what is reported as low and high."""


class Effects(Table):
    """Possible effects of one variable on another, one per row.

    Attributes
    ----------
    x, y : str
        The cause and the outcome.
    change : str
        Meaning of the column ``effect`` in words.
    resamples : int
        Number of resamples behind the columns ``low`` and ``high``; 0 if there are none.
    covered : float or None
        With a posterior, the probability of all models in the table; None without.
    """

    def __init__(
        self,
        columns: Mapping[str, Sequence[Any]],
        *,
        note: str,
        x: str,
        y: str,
        change: str,
        resamples: int,
        covered: float | None = None,
    ) -> None:
        super().__init__(columns, note=note)
        self.x, self.y, self.change, self.resamples = x, y, change, resamples
        self.covered = covered

    @property
    def mean(self) -> float:
        """The average of the effects by the probabilities of models; needs a posterior."""
        effects, weights = self._weighted()
        if not weights.sum():
            raise KesError(f"no effect of {self.x} on {self.y} can be estimated", column=self.x)
        return float(np.average(effects, weights=weights))

    def _weighted(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the effects that could be estimated, in ascending order, and their weights."""
        if self.covered is None:
            raise KesError(
                "effects are weighted by a posterior only: pass posterior=optima.posterior()",
                option="posterior",
            )
        pairs = zip(self["effect"], self["weight"], strict=True)
        known = sorted((effect, weight) for effect, weight in pairs if effect is not None)
        effects, weights = np.array(known, dtype=np.float64).reshape(-1, 2).T
        return effects, weights

    def summary(self) -> Table:
        """Return the ranges of the effect by source of uncertainty.

        Returns
        -------
        Table
            A `range` of effects from `low` to `high`, its `width`, and what it is a range `over`:

            - "within the best class": the parent sets of x in the best optimum;
            - "across optima": all rows; with a posterior "across models", the range of 95 % of the
              probability;
            - "by resampling": bootstrap tables, for the row with the widest range;
            - "all together": from the lowest to the highest of these.
        """
        first = self["optimum"][0]
        best = [row["effect"] for row in self if row["optimum"] == first]
        optima = counted(len(set(self["optimum"])), "optimum", "optima")
        across = ("across optima", *_span(self["effect"]), optima)
        if self.covered is not None:
            models = counted(len(set(self["optimum"])), "model")
            across = ("across models", *_central(*self._weighted()), f"95 % of {models}")
        rows = [
            ("within the best class", *_span(best), counted(len(best), "parent set")),
            across,
        ]
        if self.resamples:
            spans = [_span(ends) for ends in zip(self["low"], self["high"], strict=True)]
            widest = max(spans, key=lambda span: span[2] or 0.0)
            rows.append(("by resampling", *widest, counted(self.resamples, "resample")))
            every = _span([*self["effect"], *self["low"], *self["high"]])
            rows.append(("all together", *every, counted(len(self), "row")))
        return tabulated(("range", "low", "high", "width", "over"), rows, self.note)


def _span(effects: Iterable[float | None]) -> tuple[float | None, float | None, float | None]:
    """Return the lowest and the highest of the effects that could be estimated, and the width."""
    known = [effect for effect in effects if effect is not None]
    return (min(known), max(known), max(known) - min(known)) if known else (None, None, None)


def _central(
    effects: NDArray[np.float64], weights: NDArray[np.float64]
) -> tuple[float | None, float | None, float | None]:
    """Return the range of the central 95 % of the weight of sorted effects, and its width."""
    if not weights.sum():
        return None, None, None
    reached = np.cumsum(weights) / weights.sum()
    places = np.searchsorted(reached, QUANTILES).clip(max=len(effects) - 1)
    low, high = effects[places].tolist()
    return low, high, high - low
