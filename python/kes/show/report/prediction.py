"""Quality of predictions of the target, on the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from kes.results.summary import blanket_of, counted

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.evaluation import Evaluation

_NAMES = {
    "auc": ("AUC", "probability that a case with the state gets a higher prediction than another"),
    "log_loss": ("Log-loss", "nats per case; lower is better"),
    "log_loss_alone": ("Log-loss without the other variables", "nats per case"),
    "brier": ("Brier score", "mean squared error of the probabilities; lower is better"),
    "accuracy": ("Right", "share of cases in which the most probable state is the true one"),
    "r2": ("R²", "share of the variance that is predicted"),
    "rmse": ("Root mean square error", "in units of the variable"),
}


def prediction_card(optima: Optima) -> list[tuple[str, str, str]]:
    """Return the key figure of the target for the top of the page: label, value and note."""
    found = optima.evaluation
    if found is None:
        return []
    near = counted(len(blanket_of(optima.best, found.target)), "variable")
    note = f"{near} in its Markov blanket"
    if not found.cases:
        return [("Target", found.target, note)]
    main = next(name for name in ("auc", "r2", "accuracy") if name in found.measures)
    value = f"{_NAMES[main][0]} {found.measures[main]:.3f}"
    return [(f"Prediction of {found.target}", value, f"in held-out cases; {note}")]


def prediction_text(optima: Optima) -> str:
    """Return the quality of predictions of the target as HTML; "" without a target."""
    found = optima.evaluation
    if found is None:
        return ""
    name = f"<bdi>{escape(found.target)}</bdi>"
    if not found.cases:
        return f"<p>Predictions of {name} are {escape(str(found))}.</p>"
    rows = "".join(
        f'<tr><td class="text">{_NAMES[key][0]}</td><td>{value:.4g}</td>'
        f'<td class="text">{_NAMES[key][1]}</td></tr>'
        for key, value in found.measures.items()
    )
    return (
        f"<p>How well {name} is predicted from the other variables, in {found.cases:.12g} cases "
        "that were not used to learn, neither for the structure nor for the probabilities:</p>"
        f'<div class="scroll"><table><tbody>{rows}</tbody></table></div>{_calibration(found)}'
    )


def _calibration(found: Evaluation) -> str:
    """Return the table of predicted probabilities and observed shares."""
    is_number = "r2" in found.measures
    heads = (
        ("prediction interval", "cases in it", "cases")
        if is_number
        else ("predicted", "came true", "predictions")
    )
    rows = "".join(
        f"<tr><td>{_percent(p)}</td><td>{_percent(share)}</td><td>{cases:.12g}</td></tr>"
        for p, share, cases in found.calibration
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"
    return (
        "<details><summary>Are the probabilities right? "
        f"Off by {_percent(found.miscalibration)} on average</summary>"
        f'<div class="scroll">{table}</div></details>'
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
