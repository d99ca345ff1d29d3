"""``kes score``: score a model on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import click

from kes.api import score
from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import Model, TableOptions, graph_of, open_model, read_table, with_kinds
from kes.data import Dataset
from kes.data.dataset import AnyTable
from kes.data.schema import ReadOptions
from kes.declare import declared
from kes.graph.pdag import Pdag
from kes.network.new_rows import Unseen
from kes.options import CRITERION, DEFAULTS, ScoringOptions
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
@options.add(*CRITERION, of_result="MODEL")
def command(
    *,
    data: str,
    model: Path,
    optimum: int,
    **given: Any,  # noqa: ANN401 - a criterion, and options of a table
) -> None:
    """Score the graph of MODEL, a result, network or graph, on the table DATA.

    Scores of different models on one table can be compared, by the same criterion; those of one
    model on different tables cannot. For networks, the probability of the cases is shown as well.

    With --missing em, values are imputed as in a search with these options and seed 0, or with the
    settings of a result; scores can be compared only if these are the same.
    """
    chosen = {name: given.pop(name) for name in CRITERION}
    found = open_model(model)
    scoring: dict[str, Any] = {}
    if isinstance(found, Optima):
        own = found.settings.options()
        names = declared(ScoringOptions)
        scoring = {name: value for name, value in own.items() if name in names}
    scoring |= {name: value for name, value in chosen.items() if value is not None}
    cases, completions = _read(data, cast("TableOptions", given), found)
    value = score(graph_of(found, optimum).essential, cases, completions=completions, **scoring)
    lines = [f"{value:.4f}  {scoring.get('criterion', DEFAULTS['criterion'])} of {model} on {data}"]
    if not isinstance(found, Optima | Pdag):
        unseen: Unseen = "error" if isinstance(cases, Dataset) else "missing"
        log = found.log_likelihood(cases, unseen=unseen)
        lines.append(f"{log:.4f}  natural logarithm of the probability of the cases")
    say("\n".join(lines))


def _read(data: str, options: TableOptions, model: Model) -> tuple[AnyTable, int]:
    """Read the table as that of the model was read, unless the options say how."""
    before = None
    if not isinstance(model, Pdag):
        how = model.record.reading if isinstance(model, Optima) else ReadOptions(cuts=model.cuts)
        before = with_kinds(how, model.states)
    cases, how = read_table(data, options, before=before)
    return cases, how.completions
