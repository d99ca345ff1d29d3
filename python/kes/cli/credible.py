"""``kes credible``: all models whose score is close to the highest one."""

from pathlib import Path
from typing import Any

import click

from kes.analysis.credible import credible as close_models
from kes.analysis.credible import credible_of
from kes.cli import options
from kes.cli.console import check_csv, is_progress_shown, say, show, show_or_write
from kes.cli.inputs import DataRequest, open_result, read_knowledge, read_table, table_of
from kes.options import SCORE, CredibleWork


@options.command(
    "credible",
    "List all models close to the best score.",
    "kes credible data.csv",
    "kes credible data.csv --within 10",
    "kes credible a.kes.json.gz",
)
@click.argument("data")
@options.table
@options.add("within", "most", of=CredibleWork)
@options.add(*SCORE, "max_parents", of_result="DATA")
@options.knowledge
@options.add("n_jobs", "memory_mb", "budget", "progress", of=CredibleWork)
@options.csv("CSV file for the models")
def credible(
    *,
    data: str,
    progress: bool | None,
    out: Path | None,
    **given: Any,  # noqa: ANN401 - of click
) -> None:
    """List all models whose score for DATA is close to the highest one, proven complete.

    DATA can be a result whose table is found. Then its settings are used, and the table tells how
    many of the local optima its runs found.
    """
    check_csv(out)
    work = {name: given.pop(name) for name in ("within", "most", "n_jobs", "memory_mb", "budget")}
    work["progress"] = is_progress_shown(progress)
    scoring = {name: given[name] for name in (*SCORE, "max_parents")}
    scoring["knowledge"] = read_knowledge(given)
    chosen: dict[str, Any] = {name: value for name, value in scoring.items() if value is not None}
    if table_of(Path(data)) is not None:
        if chosen:
            flags = ", ".join(f"--{name.replace('_', '-')}" for name in chosen)
            raise click.UsageError(f"{flags}: a result has its own settings; give the table.")
        request = DataRequest(None, None, "models are scored on the data")
        optima = open_result(Path(data), request)
        found = credible_of(optima.ready(None, None, None), optima=optima, **work)
    else:
        dataset, how = read_table(data, given)
        for note in dataset.notes:
            say(f"Note: {note}", err=True)
        found = close_models(dataset, completions=how.completions, **work, **chosen)
    say(found.title)
    show(found.counts())
    show_or_write(found.table(), out)
