"""``kes score``: what a criterion says of a model, on any table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Unpack

import click

from kes.api import score
from kes.cli import options
from kes.cli.console import say
from kes.cli.model import Model, graph_of, open_model
from kes.cli.table_options import TableOptions, as_known, read_table
from kes.data import Dataset
from kes.data.incomplete import AnyTable
from kes.data.read_options import ReadOptions
from kes.graph.pdag import Pdag
from kes.network.new_rows import Unseen
from kes.results.optima import Optima

_EXAMPLES = """
\b
Examples:
  kes score data.csv expert.dot
  kes score data.csv a.kes.json.gz --optimum 3
  kes score new.csv best.bif --criterion bdeu
"""


@click.command(
    "score", cls=options.Command, short_help="Score a model on a table.", epilog=_EXAMPLES
)
@click.argument("data")
@click.argument("model", type=click.Path(path_type=Path))
@options.optimum
@options.table
@options.criterion(of_result="MODEL")
def command(
    *,
    data: str,
    model: Path,
    optimum: int,
    criterion: str | None,
    ess: float | None,
    penalty: float | None,
    transform: str | None,
    **table: Unpack[TableOptions],
) -> None:
    """Score the graph of MODEL, a result, network or graph, on the table DATA.

    Scores of different models on one table can be compared, by the same criterion; those of one
    model on different tables cannot. For networks, the probability of the cases is told as well.

    With --missing em, gaps are filled as for a search with these options and seed 0, or with all
    settings of a result; scores can be compared only if these are the same.
    """
    given = {"criterion": criterion, "ess": ess, "penalty": penalty, "transform": transform}
    found = open_model(model)
    chosen = {name: value for name, value in given.items() if value is not None}
    scoring: dict[str, Any] = {}
    if isinstance(found, Optima):
        settings = found.settings
        chosen = {name: getattr(settings, name) for name in given} | chosen
        scoring = {"random_state": settings.seed, "max_parents": settings.max_parents}
        scoring["knowledge"] = settings.knowledge
    cases, completions = _read(data, table, found)
    scoring |= {name: value for name, value in chosen.items() if value is not None}
    value = score(graph_of(found, optimum).essential, cases, completions=completions, **scoring)
    lines = [f"{value:.4f}  {chosen.get('criterion') or 'bic'} of {model} on {data}"]
    if not isinstance(found, Optima | Pdag):
        unseen: Unseen = "error" if isinstance(cases, Dataset) else "missing"
        log = found.log_likelihood(cases, unseen=unseen)
        lines.append(f"{log:.4f}  natural logarithm of the probability of the cases")
    say("\n".join(lines))


def _read(data: str, options: TableOptions, model: Model) -> tuple[AnyTable, int]:
    """Read the table as that of the result was read, unless the options say how."""
    like = None
    if not isinstance(model, Pdag):
        how = model.record.reading if isinstance(model, Optima) else ReadOptions(cuts=model.cuts)
        like = as_known(how, model.states)
    cases, how = read_table(data, options, like=like)
    return cases, how.completions
