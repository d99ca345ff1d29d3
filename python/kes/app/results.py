"""Results as the page shows them: summaries, the landscape, effects, comparisons."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from kes.analysis.compare import Landscape
from kes.api import load
from kes.app.drafts import TEXTS, example, form_options
from kes.app.workspace import file_in
from kes.data.dataset import Data
from kes.data.schema import ReadOptions
from kes.errors import KesError
from kes.formats import holds_network
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.network import read_graph, read_network
from kes.network.average import AveragedNetwork
from kes.network.files import no_single_graph
from kes.options import Sampled
from kes.results import storage
from kes.results.optima import Optima
from kes.show.report.recipe import command_line, python_call
from kes.table import Table

MOST_POINTS = 150
"""Optima on the map of a search that is still running."""


def _with_data(file: str) -> Optima:
    """Read a result together with its table."""
    optima = load(file)
    how = optima.record.reading
    data: Data | None = None
    if how.source is not None:  # a name from elsewhere may be that of a link, or ".."
        data = str(file_in(Path(), Path(how.source).name))
    if how.example is not None:
        data = example(how.example)
    return Optima(optima.record, problem=optima.ready(data, None, None))


def summary(file: str) -> dict[str, Any]:
    """Return the entry of a result in the history."""
    optima = load(file)
    record, best = optima.record, optima.best
    source = record.reading.source
    return {
        "table": "built-in example" if source is None else Path(source).name,
        "data": _in_python(record.reading),
        "variables": len(optima.names),
        "names": list(optima.names),
        "cases": optima.cases,
        "kind": optima.kind,
        "criterion": optima.settings.criterion,
        "score": best.score,
        "edges": len(best.graph.skeleton),
        "directed": sorted(best.graph.directed),
        "optima": len(optima),
        "runs": len(optima.runs),
        "tasks": record.improving.own,
        "proven": optima.proven,
        "target": optima.target,
        "states": {name: [str(state) for state in own] for name, own in optima.states.items()},
        "knowledge": optima.settings.knowledge.counts if optima.settings.knowledge else "",
        "python": python_call(optima),
        "shell": command_line(optima, file),
    }


def _in_python(how: ReadOptions) -> str:
    """Return how Python names the table of a result, in the folder."""
    if how.example is not None:
        return f"kes.datasets.alarm(rows={how.example})"
    return "table" if how.source is None else repr(Path(how.source).name)


def draft(file: str) -> dict[str, Any]:
    """Return the draft that gives a result, as far as the page can express it."""
    optima = load(file)
    how, settings, record = optima.record.reading, optima.settings, optima.record
    if (
        how.columns
        or how.weights is True
        or settings.start is not None
        or isinstance(settings.neighbourhood, Sampled)
    ):
        raise KesError(
            "this result was learned in a way that the page cannot repeat; its report has the "
            "command, or the lines of Python",
            file=file,
        )
    found: dict[str, Any] = {name: getattr(how, name) for name in TEXTS if getattr(how, name)}
    found |= {"kinds": dict(how.kinds), "na_values": list(how.na_values)}
    found |= {"completions": how.completions} if how.missing == "em" else {}
    if how.missing == "error":
        del found["missing"]
    found |= (
        {"file": Path(how.source or "").name} if how.example is None else {"example": how.example}
    )
    options = {
        name: value
        for name, value in settings.options().items()
        if name in form_options() and value != form_options()[name].default
    }
    if record.has_default_price:
        options.pop("edge_prior", None)
    if optima.target is not None:
        options["target"] = optima.target
    if how.cuts:
        options["discretize"] = {name: list(cuts) for name, cuts in how.cuts.items()}
    found["options"] = options
    if how.interventions:
        found["interventions"] = {
            column: {state: list(own or ()) for state, own in states.items()}
            for column, states in how.interventions.items()
        }
    if how.series is not None:
        found["series"] = {key: own for key, own in asdict(how.series).items() if own}
    found["knowledge"] = _stated(settings.knowledge, how)
    return found


def _stated(known: Knowledge | None, how: ReadOptions) -> dict[str, Any]:
    """Return knowledge without what follows from experiments and lags."""
    plain: dict[str, Any] = {} if known is None else known.as_plain()

    def is_made(name: str) -> bool:
        is_lag = how.series is not None and name.endswith("]") and "[t-" in name
        return is_lag or any(name.startswith(f"{column}[") for column in how.interventions)

    if "exogenous" in plain:
        plain["exogenous"] = [name for name in plain["exogenous"] if not is_made(name)]
    if "targets" in plain:
        plain["targets"] = [one for one in plain["targets"] if not is_made(one[0])]
    return {part: own for part, own in plain.items() if own}


def landscape(file: str) -> dict[str, Any]:
    """Return the map of the optima found so far, as the report draws it."""
    optima = load(file)
    found = Landscape.of(optima, MOST_POINTS)
    shown = [{"score": one.score, "hits": one.hits} for one in found.optima]
    points = found.points.round(2).tolist()
    return {"points": points, "optima": shown, "runs": len(optima.runs), "ges": found.ges}


def effects(file: str, x: str, y: str) -> dict[str, Any]:
    """Return the effects of setting a variable on another in all good optima."""
    found = _with_data(file).effects(x, y)
    return {"summary": _table(found.summary()), "note": found.note}


def compare(file: str, other: str) -> dict[str, Any]:
    """Return the differences of another model from that of a result."""
    optima = load(file)
    second: Optima | EssentialGraph
    if storage.holds_result(other):
        second = load(other)
    else:
        network = read_network(other) if holds_network(other) else None
        if isinstance(network, AveragedNetwork):
            raise no_single_graph(other)
        second = (read_graph(other) if network is None else network.graph).essential
    found = optima.compare(second)
    nats, on = found.score_difference, ""
    if nats is None and _has_same_table(optima, second):
        nats, on = _difference(file, second)
    return {
        "text": str(found),
        "table": _table(found.table()) if found.shd else None,
        "nats": nats,
        "on": on,
    }


def _has_same_table(optima: Optima, second: Optima | EssentialGraph) -> bool:
    """Return whether the scores can be compared on the table of the first result.

    Two results of one table with gaps have scores on two completed tables.
    """
    if not isinstance(second, Optima):
        return True
    first = optima.record
    are_alike = first.settings.measure == second.record.settings.measure
    return are_alike and first.completion is not None and first.reading == second.record.reading


def _difference(file: str, second: Optima | EssentialGraph) -> tuple[float | None, str]:
    """Return how much higher a model scores than the best of a result, and on which table.

    None if the table is not there or has changed, or if the model has no score on it.
    """
    graph = second.best.graph if isinstance(second, Optima) else second
    try:
        optima = _with_data(file)
        assert optima.problem is not None
        nats = optima.problem.score(graph) - optima.best.score
    except KesError:
        return None, ""
    is_completed = optima.record.completion is not None
    return nats, f"the table as it was completed for {file}" if is_completed else ""


def _table(table: Table) -> dict[str, Any]:
    rows = [list(row.values()) for row in table]
    return {"columns": list(table.columns), "rows": rows, "note": table.note}
