"""The criteria that were tried to choose one, on the page."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kes.search.choice import CriterionChoice, Trial

_HEADS = ("criterion", "edge price", "parameter prior", "nats per case", "difference")


def criteria_text(choice: CriterionChoice | None) -> str:
    """Return a table of what was tried as HTML, best first; "" if nothing was chosen."""
    if choice is None:
        return ""
    head = "".join(f'<th scope="col">{text}</th>' for text in _HEADS)
    rows = "".join(map(_row, choice.candidates))
    return (
        f"<details><summary>Criterion, edge price and parameter prior were chosen: "
        f"{escape(str(choice.candidates[0]))}</summary>"
        f"<p>By the log-likelihood of {choice.cases:.12g} held-out cases in {choice.folds} folds. "
        "A difference is that from the best; ± is its standard error.</p>"
        f'<div class="scroll" tabindex="0"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _row(one: Trial) -> str:
    apart = f"{one.difference:.4f} ± {one.standard_error:.4f}" if one.standard_error else "–"
    texts = (_named(one.criterion, one.ess), _named(str(one.prior), one.prior_ess))
    criterion, prior = (f'<td class="text">{escape(text)}</td>' for text in texts)
    return (
        f"<tr>{criterion}<td>{one.edge_prior:.3g}</td>{prior}<td>{one.per_case:.4f}</td>"
        f"<td>{apart}</td></tr>"
    )


def _named(name: str, ess: float | None) -> str:
    return name if ess is None else f"{name} (ess {ess:g})"
