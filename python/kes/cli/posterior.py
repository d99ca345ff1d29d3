"""``kes posterior``: probabilities of edges, directions and models."""

from pathlib import Path
from typing import Any

import click

from kes import api
from kes.analysis.posterior import PosteriorInterrupted, estimate
from kes.analysis.posterior import posterior as probabilities
from kes.analysis.probabilities import StructurePosterior
from kes.cli import options
from kes.cli.console import check_csv, is_progress_shown, say, show_or_write
from kes.cli.inputs import read_knowledge, read_table, table_of, with_kinds
from kes.cli.signals import exit_code
from kes.options import POSTERIOR_MEMORY, SCORE, PosteriorWork

_OF = {
    "edges": StructurePosterior.edges,
    "ancestors": StructurePosterior.ancestors,
    "v-structures": StructurePosterior.v_structures,
    "blankets": StructurePosterior.blankets,
    "models": StructurePosterior.model_table,
}
"""What to show, and the tables of it."""

_OF_MODELS = ("v-structures", "blankets", "models")
"""What the sum over all networks does not give."""

_WORK = ("prior", "method", "rounds", "resume", "random_state", "n_jobs", "memory_mb", "budget")


@options.command(
    "posterior",
    "Show probabilities of edges, directions and models.",
    "kes posterior data.csv",
    "kes posterior data.csv --prior classes",
    "kes posterior a.kes.json.gz",
    "kes posterior a.kes.json.gz --of models",
    "kes posterior data.csv --criterion bge --out edges.csv",
    "kes posterior data.csv --method chains --rounds 20000 --resume chains.npz",
)
@click.argument("data", required=False)
@click.option(
    "--of",
    "what",
    type=click.Choice([*_OF]),
    default="edges",
    show_default=True,
    help="What to show the probabilities of.",
)
@options.table
@options.add("prior", "method", "rounds", "resume", of=PosteriorWork)
@options.add(*SCORE, "max_parents", of_result="DATA")
@options.knowledge
@options.add("random_state")
@options.add("n_jobs", "budget", "progress", of=PosteriorWork)
@options.add("memory_mb", of=PosteriorWork, default=POSTERIOR_MEMORY)
@options.csv("CSV file for the probabilities")
@click.pass_context
def posterior(
    ctx: click.Context,
    /,
    *,
    data: str | None,
    what: str,
    progress: bool | None,
    out: Path | None,
    **given: Any,  # noqa: ANN401 - of click
) -> None:
    """Show posterior probabilities of edges, directions and models for DATA.

    They are sums over all networks, exact up to about 24 columns; beyond, Markov chains estimate
    them. V-structures, Markov blankets and models always come from chains, unless there are so few
    columns that all networks can be listed. DATA can be a result whose table is found: then its
    criterion and knowledge are used. Otherwise the criterion is bdeu, or bge if all columns are
    continuous.
    """
    check_csv(out)
    work = {name: given.pop(name) for name in _WORK}
    scoring = {name: given[name] for name in (*SCORE, "max_parents")}
    scoring["knowledge"] = read_knowledge(given)
    chosen: dict[str, Any] = {name: value for name, value in scoring.items() if value is not None}
    before = None
    if data is not None and (table := table_of(Path(data))) is not None:
        optima = api.load(data)
        own = optima.settings.options()
        chosen = {name: own[name] for name in scoring if name in own} | chosen
        before, data = with_kinds(optima.record.reading, optima.states), table
    dataset, how = read_table(data, given, before=before)
    if "criterion" not in chosen and set(dataset.kinds) == {"continuous"}:
        chosen["criterion"] = "bge"
    chosen["completions"] = how.completions
    for note in dataset.notes:
        say(f"Note: {note}", err=True)
    if work["method"] != "chains":
        cost = estimate(dataset, **chosen)
        if what in _OF_MODELS and work["method"] == "auto":
            work["method"] = cost.method_of_models
        if work["method"] != "chains":
            say(f"{cost}.", err=True)
    is_complete = True
    try:
        found = probabilities(dataset, **chosen, **work, progress=is_progress_shown(progress))
    except PosteriorInterrupted as stop:
        _say_interrupted(stop.posterior, work["resume"])
        if stop.posterior is None:
            ctx.exit(exit_code())
        found, is_complete = stop.posterior, False
    say(found.summary())
    show_or_write(_OF[what](found), out)
    if not is_complete:
        ctx.exit(exit_code())


def _say_interrupted(found: StructurePosterior | None, chains: str | None) -> None:
    """Print the results of an interrupted computation, and the command that resumes it."""
    done = "nothing was found yet" if found is None else f"this is from {found.method}"
    say(f"Interrupted: {done}.", err=True)
    if chains is not None and Path(chains).exists():
        say(f"The chains are in {chains}; the same command goes on from there.", err=True)
    elif found is not None:
        say("With --resume FILE the same command could go on from there.", err=True)
