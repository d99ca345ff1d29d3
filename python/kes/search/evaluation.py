"""Quality of predictions of a target, as plain data for result files."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Evaluation:
    """Quality of predictions of a target in cases that were not used to learn.

    Attributes
    ----------
    target : str
        The variable that is predicted.
    cases : float
        Number of cases that were predicted; 0 if the table has too few, or weights that are not
        integers, so that none could be held out.
    measures : dict of str to float
        Of a discrete target: "auc" (of its last state; of three and more states the mean of each
        against the rest, weighted by their shares), "log_loss" and "log_loss_alone" (nats per
        case, and those of the shares of the states alone), "brier" and "accuracy". Of a continuous
        one: "r2" and "rmse".
    calibration : tuple of (float, float, float)
        Of a discrete target, groups of predictions: their mean probability, the share of cases in
        which it came true, and the number of predictions. Of a continuous one: the probability of
        a prediction interval, the share of cases in it, and the number of cases.
    average : Evaluation or None
        The same of averaged networks (`kes.ensemble`), in the same cases.
    """

    target: str
    cases: float
    measures: dict[str, float]
    calibration: tuple[tuple[float, float, float], ...]
    average: Evaluation | None = None

    @property
    def miscalibration(self) -> float:
        """Mean difference between predicted probabilities and shares, weighted by cases."""
        total = sum(cases for _, _, cases in self.calibration)
        return sum(abs(p - share) * cases for p, share, cases in self.calibration) / total

    def __str__(self) -> str:
        if not self.cases:
            return "not evaluated: the cases are too few, or have weights that are not integers"
        return f"{self.quality}; {self.cases:.12g} held-out cases"

    @property
    def quality(self) -> str:
        """The quality of the predictions in words."""
        own = self.measures
        if "r2" in own:
            found = f"R² {own['r2']:.3f}, root mean square error {own['rmse']:.4g}"
        else:
            auc = f"AUC {own['auc']:.3f}, " if "auc" in own else ""
            alone = f"{own['log_loss_alone']:.3f} without other variables"
            found = (
                f"{auc}log-loss {own['log_loss']:.3f} ({alone}), {_percent(own['accuracy'])} right"
            )
        off = f"probabilities off by {_percent(self.miscalibration)} on average"
        return f"{found}; {off}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
