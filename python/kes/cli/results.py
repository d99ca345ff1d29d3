"""``kes edges``, ``effects`` and ``report``: commands that take a result."""

from pathlib import Path
from typing import Any

import click

from kes.analysis.evidence import EvidenceInterrupted
from kes.analysis.posterior import estimate_of
from kes.cli import options
from kes.cli.console import check_csv, is_progress_shown, say, show, show_or_write
from kes.cli.edge_output import show_edges
from kes.cli.inputs import DataRequest, beside, open_result
from kes.cli.signals import exit_code
from kes.options import EffectWork
from kes.results.optima import Optima
from kes.table import Table

_EFFECTS = 12
"""Number of answers to show without --all."""


@options.command("edges", "Show the evidence for each edge of a result.")
@options.result
@options.count(
    "--tasks",
    "Number of improvement tasks for the best model with an edge and the best without it.",
    minimum=0,
    show_default="up to 30, for a few seconds",
)
@options.add("budget", help="Stop after this time, between two edges, such as 30s, 5m, 1h30m.")
@options.add("n_jobs")
@options.csv()
@options.add("progress")
@click.pass_context
def edges(
    ctx: click.Context,
    /,
    *,
    result: Path,
    data: str | None,
    tasks: int,
    budget: float | None,
    n_jobs: int | None,
    out: Path | None,
    progress: bool | None,
    **table: Any,  # noqa: ANN401 - of click
) -> None:
    """Show the evidence for each edge of RESULT, a file that kes learn wrote.

    For example: kes edges a.kes.json.gz

    Evidence is the difference, in nats, between the best model with an edge and the best without
    it. The share of runs that ended in a model with the edge describes the search, not the data.
    """
    check_csv(out)
    optima = open_result(result, DataRequest(data, table))
    if optima.problem is None:
        show_or_write(optima.edges(), out)
        say("Without the data only supports are shown, no evidence.", err=True)
        return
    shown = is_progress_shown(progress)
    try:
        found = optima.evidence(tasks=tasks, budget=budget, n_jobs=n_jobs, progress=shown)
    except EvidenceInterrupted as stop:
        say("Interrupted: what was not searched is bounded by the optima.", err=True)
        _show_or_write(optima, stop.evidence, out)
        ctx.exit(exit_code())
    _show_or_write(optima, found, out)


def _show_or_write(optima: Optima, evidence: Table, out: Path | None) -> None:
    """Print the edges for people, or write all their columns for programs."""
    if out is None:
        show_edges(optima, evidence)
        return
    supports = {(row["x"], row["y"]): row for row in optima.edges(evidence=evidence)}
    rows = [row | supports[row["x"], row["y"]] for row in evidence]
    names = rows[0] if rows else evidence.columns
    show_or_write(Table({name: [row[name] for row in rows] for name in names}), out)


@options.command("effects", "Estimate the effect of a variable on another.")
@options.result
@click.argument("x")
@click.argument("y")
@click.option(
    "--states",
    metavar="A,B",
    show_default="the first and the last",
    help="The two states of X to compare.",
)
@click.option(
    "--outcome",
    metavar="STATE",
    show_default="the last",
    help="The state of Y whose probability changes.",
)
@options.add("within", "resamples", of=EffectWork)
@click.option(
    "--posterior",
    "weighted",
    is_flag=True,
    help="Use the most probable models instead of optima, and average by their probabilities.",
)
@click.option("--all", "every", is_flag=True, help="Show all answers, not only the first ones.")
@options.csv()
def effects(
    *,
    result: Path,
    x: str,
    y: str,
    data: str | None,
    states: str | None,
    outcome: str | None,
    within: float,
    resamples: int,
    weighted: bool,
    every: bool,
    out: Path | None,
    **table: Any,  # noqa: ANN401 - of click
) -> None:
    """Estimate the effect of setting X on Y in the optima of RESULT.

    For example: kes effects a.kes.json.gz smoker cancer

    There is an answer for each optimum that is about as good as the best, or for each probable
    model, and for each set of parents that X can have in it. The assumptions are listed below the
    answers.
    """
    check_csv(out)
    optima = open_result(result, DataRequest(data, table, "effects are estimated from the data"))
    pair = None
    if states is not None:
        first, separator, second = states.partition(",")
        if not separator:
            raise click.UsageError(f"--states {states}: write two states, as in --states no,yes.")
        pair = (first, second)
    problem = optima.ready(None, None, None)
    post = None
    if weighted:
        post = optima.posterior(method=estimate_of(problem).method_of_models)
    found = optima.effects(
        *(x, y), states=pair, outcome=outcome, within=within, resamples=resamples, posterior=post
    )
    summary = found.summary()
    show(Table({name: summary[name] for name in summary.columns}))
    if post is not None:
        say(f"average by {post.quantity}: {found.mean:.4g} ({post.models_status})")
    say()
    shown = len(found) if every or out is not None else _EFFECTS
    part = Table({name: found[name][:shown] for name in found.columns}, note=found.note)
    show_or_write(part, out)
    if len(found) > shown:
        best = "best optima" if post is None else "most probable models"
        say(f"Showing {shown} of {len(found)} answers, those of the {best}; --all shows all.")


@options.command("report", "Write an HTML report on a result.")
@options.result
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--evidence/--no-evidence",
    default=None,
    show_default="for the best network, for a few seconds",
    help="Compute the evidence for all edges of all optima, however long it takes; or none.",
)
@options.file("--out", "File to write.", show_default="RESULT with the suffix .html")
def report(
    *,
    result: Path,
    data: str | None,
    title: str | None,
    evidence: bool | None,
    out: Path | None,
    **table: Any,  # noqa: ANN401 - of click
) -> None:
    """Write a report on RESULT, a file that kes learn wrote, as one HTML file.

    For example: kes report a.kes.json.gz

    The file opens in any browser, offline. If the data are found by the name that the result
    remembers, it shows probabilities as well.
    """
    target = out or beside(result, ".html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(
            f"--out {target}: a report is an HTML file: {target.with_suffix('.html')}. A "
            f"picture of the network: kes plot {result} --out {target.with_suffix('.pdf')}"
        )
    optima = open_result(result, DataRequest(data, table))
    optima.report(target, title=title, evidence=evidence, file=result)
    say(f"{target}: {target.stat().st_size / 1e6:.1f} MB, opens in any browser")
