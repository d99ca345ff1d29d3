"""``kes report``: write a result as one self-contained HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import DataRequest, TableOptions, beside, open_result


@click.command("report", cls=options.Command, short_help="Write an HTML report on a result.")
@options.result
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--evidence/--no-evidence",
    default=None,
    show_default="for the best network, for a few seconds",
    help="Compute the evidence for all edges of all optima, however long it takes; or none.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_default="RESULT with the suffix .html",
    help="File to write.",
)
def command(
    *,
    result: Path,
    data: str | None,
    title: str | None,
    evidence: bool | None,
    out: Path | None,
    **table: Unpack[TableOptions],
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
