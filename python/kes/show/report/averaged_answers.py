"""The answers of an average of networks about the target, beside those of the best network.

A table has answers about the target. The members are on the page too, which asks them about any
variable, given what the reader sets.
"""

from __future__ import annotations

from collections.abc import Iterator
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from kes.analysis.averaging import AVERAGE_WORK, ESS, average_of, recipe_of
from kes.formats.escaping import labels
from kes.network.average_queries import level
from kes.results.summary import blanket_of
from kes.show.report.families import FittedNetworks, families

if TYPE_CHECKING:
    from kes.network.average import AveragedNetwork
    from kes.options import AverageWork
    from kes.results.optima import Optima
    from kes.search.problem import Problem

MEMBERS = 10
_MOST_VARIABLES = 100
"""With more, an average takes longer than the rest of the report."""
_MOST_ROWS = 24


def report_average(optima: Optima, problem: Problem) -> AveragedNetwork | None:
    """Learn the average of a report; None without a target, or with too many variables."""
    if optima.target is None or len(optima.names) > _MOST_VARIABLES:
        return None
    work: AverageWork = {**AVERAGE_WORK, "members": MEMBERS}
    return average_of(problem, recipe_of(problem, None, work), work)


def members_of(average: AveragedNetwork, problem: Problem) -> dict[str, Any] | None:
    """Return the CPDs of the members as `families` does, for answers on the page.

    Like all networks of the page, they are in the units of the columns. Members beyond its limits
    are left out. With curves, the page has no exact answers, and gets no members.
    """
    if problem.settings.basis is not None:
        return None
    parents = {number: member.parents for number, member in enumerate(average.members)}
    return families(parents, FittedNetworks(problem.dataset, ess=ESS))


def averaged_answers(optima: Optima, problem: Problem, average: AveragedNetwork) -> str:
    """Return a table of answers about the target, as HTML."""
    target = optima.target
    assert target is not None
    network: Any = optima.best.fit(problem.dataset)
    states = network.states[target]
    what = f"P({target} = {labels(states)[-1]})" if states else f"mean of {target}"
    if not states and network.transform is not None:
        what = f"centre of {target} (its mean normal score, mapped back)"
    end = states[-1] if states else None
    rows = []
    for label, evidence in _questions(optima, network, target):
        mean, spread = _averaged(average, target, evidence)
        rows.append(
            f'<tr><td class="text">{escape(label)}</td>'
            f"<td>{level(network, target, end, evidence):.4g}</td>"
            f"<td>{mean:.4g} ± {spread:.2g}</td></tr>"
        )
    heads = ("given", "best network", f"average of {len(average.members)} networks")
    head = "".join(f'<th scope="col">{text}</th>' for text in heads)
    return (
        f"<details><summary>What other networks would say: {escape(what)}</summary>"
        "<p>An average of networks, each learned from random weights of the cases. ± is the "
        "standard deviation between them: how far the answer depends on the structure.</p>"
        f'<div class="scroll"><table><thead><tr>{head}</tr></thead>'
        f"<tbody>{''.join(rows)}</tbody></table></div></details>"
    )


def _questions(
    optima: Optima,
    network: Any,  # noqa: ANN401 - any network
    target: str,
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield evidence about single variables of the Markov blanket, with its text."""
    yield "nothing", {}
    left = _MOST_ROWS
    for name in blanket_of(optima.best, target):
        if states := network.states[name]:
            pairs = list(zip(labels(states), states, strict=True))
        else:
            pairs = [(f"{value:.4g}", value) for value in _levels(network, name)]
        if (left := left - len(pairs)) < 0:
            return
        for text, value in pairs:
            yield f"{name} = {text}", {name: value}


def _levels(network: Any, name: str) -> list[float]:  # noqa: ANN401 - any network
    """Return the mean of a continuous variable, and one standard deviation to both sides."""
    found = network.conditional(name)
    around = found.mean[0] + np.array([-1.0, 0.0, 1.0]) * found.deviation[0]
    if network.transform is not None:
        around = network.transform.inverse(name, around)
    levels: list[float] = np.unique(around).tolist()
    return levels


def _averaged(
    average: AveragedNetwork, target: str, evidence: dict[str, Any]
) -> tuple[float, float]:
    """Return the averaged answer, and the spread between the members, weighted by shares."""
    if states := average.states[target]:
        query = {target: states[-1]}
        return float(average.probability(query, evidence)), average.spread(query, evidence)
    shares, members = average.counting(evidence)
    each = np.array([level(member, target, None, evidence) for member in members])
    spread = float(np.sqrt(shares @ (each - shares @ each) ** 2))
    return level(average, target, None, evidence), spread
