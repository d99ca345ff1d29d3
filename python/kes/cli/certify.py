"""``kes certify``: find or bound the highest score of all networks."""

import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from kes import api
from kes.analysis.certify import certify as certify_table
from kes.analysis.certify import estimate, joined
from kes.cli import options
from kes.cli.console import is_progress_shown, say
from kes.cli.inputs import example_of, read_knowledge, read_table, table_of, with_kinds
from kes.data.source import is_table
from kes.options import CERTIFY_BUDGET, SCORE, CertifyOptions
from kes.results.optima import Optima
from kes.results.storage import check_writable


@options.command(
    "certify",
    "Find or bound the highest score of all networks.",
    "kes certify data.csv",
    "kes certify data.csv --result a.kes.json.gz",
    "kes certify data.csv --max-parents 3 --budget 10m",
    "kes certify data.csv --out best.kes.json.gz",
)
@click.argument("data", required=False)
@options.table
@options.file("--result", "A result of kes learn on the same data, to compare with.")
@options.add(*SCORE, "max_parents", of_result="--result")
@options.knowledge
@options.add("n_jobs")
@options.add("memory_mb", of=CertifyOptions)
@options.file(
    "--out", "Result file for the best network, together with those of --result, or of a search."
)
@options.add(
    "budget",
    default=CERTIFY_BUDGET,
    help="Stop after this time, with the bound reached by then, such as 30s, 5m, 1h30m.",
)
@options.add("progress")
def certify(
    *,
    data: str | None,
    result: Path | None,
    n_jobs: int | None,
    memory_mb: int,
    out: Path | None,
    budget: float,
    progress: bool | None,
    **given: Any,  # noqa: ANN401 - of click
) -> None:
    """Find the highest score of all networks for DATA, or an upper bound on it.

    Up to about 25 variables the global optimum is found. With more variables the score is bounded,
    which needs HiGHS: pip install highspy. The expected time and memory are shown first. A result
    can be given instead of DATA if the table that it was learned from is found.
    """
    if data is not None and result is None:
        path = Path(data)
        if (known := table_of(path)) is not None:
            data, result = known, path
        elif not is_table(path) and path.is_file() and (rows := example_of(path)) is not None:
            data, result = None, path
            given |= {"example": "alarm", "rows": rows}
    if out is not None:
        check_writable(out)
    optima = None if result is None else api.load(result)
    scoring = {name: given[name] for name in (*SCORE, "max_parents")}
    scoring["knowledge"] = read_knowledge(given)
    chosen: dict[str, Any] = {name: value for name, value in scoring.items() if value is not None}
    before = None
    if optima is not None:
        own = optima.settings.options()
        chosen = {name: own[name] for name in scoring if name in own} | chosen
        before = with_kinds(optima.record.reading, optima.states)
    dataset, how = read_table(data, given, before=before)
    chosen["completions"] = how.completions
    for note in dataset.notes:
        say(f"Note: {note}", err=True)
    shown = is_progress_shown(progress)
    if not shown:  # otherwise progress begins with it
        say(f"{estimate(dataset, **chosen)}.", err=True)
    started = time.monotonic()
    if out is not None:
        if optima is None:
            searching: dict[str, Any] = {"budget": budget / 2, "n_jobs": n_jobs, "progress": shown}
            found = api.learn(dataset, prove=False, **searching, **chosen)
            optima = Optima(replace(found.record, reading=how))
        optima.save(out)  # before the long part
    certificate = certify_table(
        dataset,
        **chosen,
        optima=optima,
        n_jobs=n_jobs,
        memory_mb=memory_mb,
        budget=max(budget - (time.monotonic() - started), budget / 10),
        progress=shown,
    )
    say(repr(certificate))
    if optima is not None and out is not None:
        joined(optima, certificate).save(out)
        say(f"Saved to {out}")
