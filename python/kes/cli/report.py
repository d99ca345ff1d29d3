"""``kes report``: from a result file to one HTML file that opens anywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Unpack

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.model import DataRequest, beside, open_result
from kes.cli.table_options import TableOptions


@click.command("report", cls=options.Command, short_help="Write an HTML report on a result.")
@options.result
@click.option("--title", metavar="TEXT", help="Heading of the page.")
@click.option(
    "--evidence/--no-evidence",
    default=None,
    show_default="for the best network, as far as a few seconds go",
    help="Find out how sure all edges of all optima are, however long that takes; or leave it out.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    show_default="the name of RESULT with .html",
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
    """Write all about RESULT, a file that kes learn wrote, into one HTML file.

    For instance: kes report a.kes.json.gz

    The file opens in any browser and needs no network. With the data, which are looked for by the
    name that the result remembers, it shows probabilities as well.
    """
    target = out or beside(result, ".html")
    if target.suffix.lower() not in (".html", ".htm"):
        raise click.UsageError(
            f"--out {target}: a report is an HTML page; call it {target.with_suffix('.html')}. A "
            f"picture of the network: kes plot {result} --out {target.with_suffix('.pdf')}"
        )
    optima = open_result(result, DataRequest(data, table))
    optima.report(target, title=title, evidence=evidence, file=result)
    say(f"{target}: {target.stat().st_size / 1e6:.1f} MB, opens in any browser")
