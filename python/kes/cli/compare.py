"""``kes compare``: show the edges in which two models differ."""

from __future__ import annotations

from pathlib import Path

import click

from kes.analysis.compare import Comparison, compare_graphs
from kes.cli import options
from kes.cli.console import say, show
from kes.cli.inputs import DataRequest, Model, graph_of, open_model
from kes.results.optima import Optima

_EXAMPLES = """
\b
Examples:
  kes compare a.kes.json.gz b.kes.json.gz
  kes compare a.kes.json.gz expert.dot
  kes compare truth.bif learned.bif
"""


@click.command(
    "compare",
    cls=options.Command,
    short_help="Show the edges in which two models differ.",
    epilog=_EXAMPLES,
)
@click.argument("here", type=click.Path(path_type=Path))
@click.argument("there", type=click.Path(path_type=Path))
def command(*, here: Path, there: Path) -> None:
    """Show the edges in which the model THERE differs from the model HERE.

    Each is a network, a graph, or a result, whose best model is taken. Equivalence classes are
    compared: directions that the data cannot determine do not count.
    """
    first, second = (_opened(path) for path in (here, there))
    found = _compare(first, second)
    say(found)
    if found.shd:
        show(found.table())


def _opened(path: Path) -> Model:
    return open_model(path, DataRequest(quiet=True))


def _compare(first: Model, second: Model) -> Comparison:
    if isinstance(first, Optima):
        return first.compare(
            second if isinstance(second, Optima) else graph_of(second, 0).essential
        )
    return compare_graphs(graph_of(first, 0).essential, graph_of(second, 0).essential)
