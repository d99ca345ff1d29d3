"""Quality of predictions of the target, on the page."""

from __future__ import annotations

from collections.abc import Sequence
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
    return (
        f"<p>How well {name} is predicted from the other variables, in {found.cases:.12g} cases "
        "that were not used to learn, neither for the structure nor for the probabilities:</p>"
        f"{_measures(found)}{_calibration(found)}"
    )


def _measures(found: Evaluation) -> str:
    """Return the measures of a network, and of an average of networks beside them."""
    ways = [("one network", found)]
    if found.average is not None:
        ways.append(("an average of networks", found.average))
    head = "".join(f'<th scope="col">{text}</th>' for text in ("", *(w for w, _ in ways), ""))
    rows = []
    for key in found.measures:
        values = "".join(f"<td>{own.measures[key]:.4g}</td>" for _, own in ways)
        label, meaning = _NAMES[key]
        rows.append(
            f'<tr><td class="text">{label}</td>{values}<td class="text">{meaning}</td></tr>'
        )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
    return f'<div class="scroll" tabindex="0">{table}</div>'


def _calibration(found: Evaluation) -> str:
    """Return observed frequencies by predicted probability, as curves and as tables."""
    ways = [("one network", found)]
    off = f"Off by {_percent(found.miscalibration)} on average"
    if found.average is not None:
        ways.append(("an average of networks", found.average))
        off += f", those of an average by {_percent(found.average.miscalibration)}"
    tables = "".join(_groups(way, own) for way, own in ways)
    return (
        f"<details><summary>Are the probabilities right? {off}</summary>"
        f'<div class="beside">{_curves(ways)}{tables}</div></details>'
    )


def _groups(way: str, found: Evaluation) -> str:
    """Return the table of predicted probabilities and observed frequencies."""
    heads = (
        ("prediction interval", "cases in it", "cases")
        if "r2" in found.measures
        else ("predicted", "came true", "predictions")
    )
    rows = "".join(
        f"<tr><td>{_percent(p)}</td><td>{_percent(share)}</td><td>{cases:.12g}</td></tr>"
        for p, share, cases in found.calibration
    )
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    return (
        f"<table><caption>Predictions by {way}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{rows}</tbody></table>"
    )


def _curves(ways: Sequence[tuple[str, Evaluation]]) -> str:
    """Return the reliability curves: shares that came true, over predicted probabilities."""
    size, pad = 180, 34
    marks = []
    for i, (way, found) in enumerate(ways):
        points = [(pad + p * size, pad + (1 - share) * size) for p, share, _ in found.calibration]
        dash = ' stroke-dasharray="5 4"' if i else ""
        line = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dots = "".join(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3"/>' for x, y in points)
        below = pad + size + 30 + 16 * i
        label = f'<text x="{pad}" y="{below}">{"- - " if i else "— "}{way}</text>'
        shape = f'<polyline points="{line}" fill="none" stroke="currentColor"{dash}/>'
        marks.append(f'<g fill="currentColor" opacity="{0.6 if i else 1}">{shape}{dots}{label}</g>')
    end, width, height = pad + size, size + 2 * pad, size + 2 * pad + 16 * len(ways)
    return (
        f'<svg viewBox="0 0 {width} {height}" width="{width}" height="{height}" role="img" '
        'aria-label="Reliability curve: what came true, over what was predicted" font-size="11">'
        f'<path d="M{pad} {pad}V{end}H{end}" fill="none" stroke="currentColor" opacity="0.5"/>'
        f'<path d="M{pad} {end}L{end} {pad}" stroke="currentColor" opacity="0.3"/>{"".join(marks)}'
        f'<text x="{end}" y="{end + 14}" text-anchor="end" fill="currentColor">predicted</text>'
        f'<text x="{pad}" y="{pad - 8}" fill="currentColor">came true</text></svg>'
    )


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
