"""``kes compare``, ``convert``, ``sample`` and ``score``: commands that take any model."""

from pathlib import Path
from typing import Any

import click

from kes import api
from kes.analysis.compare import compare_graphs
from kes.cli import options
from kes.cli.console import check_csv, is_progress_shown, say, show, write_csv
from kes.cli.inputs import (
    DataRequest,
    Model,
    fitted,
    graph_of,
    network_of,
    open_model,
    open_result,
    optimum_of,
    read_table,
    save,
    with_kinds,
)
from kes.data import Dataset
from kes.data.column import Discrete
from kes.data.dataset import AnyTable
from kes.data.schema import ReadOptions
from kes.declare import declared
from kes.errors import option as option_of
from kes.formats import format_of, write_graph
from kes.graph.pdag import Pdag
from kes.network import convert as convert_file
from kes.network.average import AveragedNetwork
from kes.network.new_rows import Unseen
from kes.options import DEFAULTS, SCORE, ScoringOptions
from kes.results import storage
from kes.results.optima import Optima
from kes.results.summary import counted


@options.command(
    "compare",
    "Show the edges in which two models differ.",
    "kes compare a.kes.json.gz b.kes.json.gz",
    "kes compare a.kes.json.gz expert.dot",
    "kes compare truth.bif learned.bif",
    "kes compare women.kes.json.gz men.kes.json.gz --permutations 20",
)
@click.argument("here", type=click.Path(path_type=Path))
@click.argument("there", type=click.Path(path_type=Path))
@click.option("--data-here", metavar="TABLE", help="The table that HERE was learned from.")
@click.option("--data-there", metavar="TABLE", help="The table that THERE was learned from.")
@options.count(
    "--permutations",
    "Divide all cases N times at random into two such groups, for a p-value of each difference.",
    0,
    minimum=0,
)
@options.add("n_jobs", "progress")
def compare(
    *,
    here: Path,
    there: Path,
    data_here: str | None,
    data_there: str | None,
    permutations: int,
    n_jobs: int | None,
    progress: bool | None,
) -> None:
    """Show the edges in which the model THERE differs from the model HERE.

    Each is a network, a graph, or a result, whose best model is taken. Equivalence classes are
    compared: directions that the data cannot determine do not count.

    For two results of different tables, such as two groups of cases, the evidence for each
    differing edge in both is shown. The tables are found by the names that the results remember.
    """
    first, second = (
        open_model(path, DataRequest(data, quiet=True))
        for path, data in ((here, data_here), (there, data_there))
    )
    if isinstance(first, Optima):
        other = second if isinstance(second, Optima) else graph_of(second, 0).essential
        shown = is_progress_shown(progress)
        found = first.compare(other, permutations=permutations, n_jobs=n_jobs, progress=shown)
    elif permutations:
        raise click.UsageError(f"--permutations is for two results; {here} is not a result.")
    else:
        found = compare_graphs(graph_of(first, 0).essential, graph_of(second, 0).essential)
    say(found)
    if found.shd:
        show(found.table())


@options.command("convert", "Convert a result, network or graph.")
@click.argument("source", type=click.Path(path_type=Path))
@click.argument("target", type=click.Path(path_type=Path))
@options.data("The table that a result was learned from, to estimate probabilities.")
@options.optimum
def convert(source: Path, target: Path, data: str | None, optimum: int) -> None:
    """Convert a result, a network or a graph.

    For example: kes convert alarm.bif alarm.net.gz

    Suffixes decide the formats: .bif, .xmlbif (also .bifxml, .xml), .net and .json hold networks;
    .dot (.gv), .graphml and .json hold graphs. Add .gz for compressed files. A network becomes a
    graph if the target holds graphs only. Of a result the best model is taken, with probabilities
    if the target holds them; kes fit has more options for that.
    """
    if not storage.holds_result(source):
        if data is not None or optimum:
            raise click.UsageError(
                f"--data and --optimum are for results; {source} is not a result."
            )
        say(f"{target}: {convert_file(source, target)}")
        return
    form = format_of(target)
    if form.offers("read"):
        request = DataRequest(data, purpose=f"{form.name} files hold probabilities")
        optima = open_result(source, request)
        network = fitted(optima, optimum, {}, target)
        save(network, target, optima.stem)
        say(f"{target}: {network!r}")
    else:
        graph = optimum_of(api.load(source), optimum).mpdag
        write_graph(graph, target)
        say(f"{target}: {graph!r}")


@options.command("sample", "Draw cases from a network.")
@options.model
@options.count("--rows", "Number of cases.", 1000)
@options.add("random_state")
@options.csv("CSV file to write")
def sample(
    *, model: Path, data: str | None, optimum: int, rows: int, random_state: int, out: Path | None
) -> None:
    """Draw independent cases from MODEL: a network, or a result with its data.

    For example: kes sample best.bif --rows 500 --out new.csv
    """
    check_csv(out)
    drawn = network_of(model, data, optimum)[0].sample(rows, seed=random_state)
    values: list[list[object]] = [
        [column.states[code] for code in column.codes]
        if isinstance(column, Discrete)
        else column.values.tolist()
        for column in drawn.columns
    ]
    write_csv(drawn.names, zip(*values, strict=True), out)
    if out is not None:
        say(f"{out}: {counted(rows, 'case')}")


@options.command(
    "score",
    "Score a model on a table.",
    "kes score data.csv expert.dot",
    "kes score data.csv a.kes.json.gz --optimum 3",
    "kes score new.csv best.bif --criterion bdeu",
)
@click.argument("data")
@click.argument("model", type=click.Path(path_type=Path))
@options.optimum
@options.table
@options.add(*SCORE, of_result="MODEL")
def score(*, data: str, model: Path, optimum: int, **given: Any) -> None:  # noqa: ANN401 - of click
    """Score the graph of MODEL, a result, network or graph, on the table DATA.

    Scores of different models on one table can be compared, by the same criterion; those of one
    model on different tables cannot. For networks, the probability of the cases is shown as well;
    for averages of networks, which have many graphs, only the probability.

    With --missing em, values are imputed as in a search with these options and seed 0, or with the
    settings of a result; scores can be compared only if these are the same.
    """
    found = open_model(model)
    scoring: dict[str, Any] = {}
    if isinstance(found, Optima):
        names = declared(ScoringOptions)
        scoring = {name: own for name, own in found.settings.options().items() if name in names}
    scoring |= {name: given[name] for name in SCORE if given[name] is not None}
    cases, completions = _read(data, given, found)
    lines = []
    if not isinstance(found, AveragedNetwork):
        graph, name = graph_of(found, optimum), scoring.get("criterion", DEFAULTS["criterion"])
        value = api.score(graph.essential, cases, completions=completions, **scoring)
        lines.append(f"{value:.4f}  {name} of {model} on {data}")
    elif scoring:
        flags = ", ".join(option_of(name) for name in scoring)
        raise click.UsageError(f"{flags}: an average of networks has no score.")
    if not isinstance(found, Optima | Pdag):
        unseen: Unseen = "error" if isinstance(cases, Dataset) else "missing"
        log = found.log_likelihood(cases, unseen=unseen)
        lines.append(f"{log:.4f}  natural logarithm of the probability of the cases")
    say("\n".join(lines))


def _read(data: str, given: dict[str, Any], model: Model) -> tuple[AnyTable, int]:
    """Read the table as that of the model was read, unless the options say how."""
    before = None
    if not isinstance(model, Pdag):
        how = model.record.reading if isinstance(model, Optima) else ReadOptions(cuts=model.cuts)
        before = with_kinds(how, model.states)
    cases, how = read_table(data, given, before=before)
    return cases, how.completions
