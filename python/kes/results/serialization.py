"""Convert records to the JSON of result files, and back.

A file contains the settings, names and states, how the data were read and their fingerprint, the
models, the model in which each run ended, and the models found by improvement; never the data. As a
file may be damaged or forged, everything that can be checked without the data is checked when it is
read; scores are checked as soon as the data are available (`kes.search.problem.Problem.check`).

Version 1 recorded neither the reading options nor the requested amount of improvement, and GES
always had a place of its own among the parents of models, even if a run had ended there. Up to
version 2, the criteria "bic" and "aic" of mixed tables were those of the degenerate Gaussian, and
no table was transformed by default.
"""

import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import asdict, fields, replace
from itertools import pairwise
from typing import Any, TypeVar

from kes import _core
from kes.budget import Improve
from kes.data.column import State, check_distinct_states, kind_of
from kes.data.discretizer import Discretizer
from kes.data.infer_kinds import check_kinds
from kes.data.interventions import check_interventions
from kes.data.schema import ReadOptions, check_dates
from kes.data.series import Series
from kes.declare import declared
from kes.errors import repeated
from kes.graph import EssentialGraph
from kes.graph.core_graph import CoreGraph, Edges
from kes.graph.knowledge import Knowledge
from kes.options import MAX_PRICE, LearnOptions, Sampled, check_prove
from kes.results.record_parts import (
    choice_from_json,
    completion_from_json,
    completion_to_json,
    evaluation_from_json,
    typed,
)
from kes.search.record import Batch, Improving, Model, Offspring, Proof, Record
from kes.settings import Settings
from kes.validation import integer, number

T = TypeVar("T")

FORMAT = "kes optima"
VERSION = 3
_EDGES = ("directed", "undirected")
_ALWAYS = (
    *("k", "criterion", "ess", "penalty", "transform", "seed"),
    *("max_parents", "two_phase", "neighbourhood", "start"),
)
"""Settings in every file. Others are written only if they differ from their defaults."""


def encoded(record: Record) -> bytes:
    """Return a record as JSON, with a line for each entry and each model."""
    entries: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kes": record.version,
        "settings": _settings_to_json(record.settings, record.names),
        "names": record.names,
        "states": record.states,
        "reading": _reading_to_json(record.reading),
        "fingerprint": record.fingerprint,
        "cases": record.cases,
        "tolerance": record.tolerance,
        "notes": record.notes,
        "improving": {
            "asked": record.improving.asked.option,
            "complete": record.improving.complete,
            "own": record.improving.own,
            "earlier": record.improving.earlier,
            "calls": record.improving.calls,
        },
        "ges": _model_to_json(record.ges),
        "runs": record.runs,
    }
    if record.improving.outdated:
        entries["improving"]["outdated"] = record.improving.outdated
    optional = {
        "ahead": record.ahead,
        "unfinished": record.unfinished,
        "prove": record.prove,
        "proof": record.proof and asdict(record.proof),
        "completion": record.completion and completion_to_json(record.completion),
        "excluded": record.excluded,
        "evaluation": record.evaluation and asdict(record.evaluation),
        "choice": record.choice and asdict(record.choice),
    }
    entries |= {key: value for key, value in optional.items() if value}
    lists = {
        "models": [_model_to_json(model) for model in record.models],
        "offspring": [
            {"task": child.task, "how": child.how, "parents": child.parents}
            | _model_to_json(child.model)
            for child in record.offspring
        ],
    }
    lines = [f"{_json(key)}: {_json(value)}" for key, value in entries.items()]
    for key, models in lists.items():
        lines.append(f"{_json(key)}: [\n" + ",\n".join(map(_json, models)) + "\n]")
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def decoded(document: dict[str, Any]) -> Record:
    """Return the record of a document; raise an error of some type if it is inconsistent."""
    if document["version"] == 1:
        document = _from_version_1(document)
    if document["version"] < VERSION:
        document = _from_version_2(document)
    names = _texts(document["names"])
    models = tuple(_model_from_json(model, len(names)) for model in document["models"])
    states = tuple(tuple(_state(state) for state in column) for column in document["states"])
    if len(states) != len(names):
        raise ValueError("names and states differ in number")
    record = Record(
        settings=_settings_from_json(document["settings"], names),
        names=names,
        states=states,
        fingerprint=typed(str, document["fingerprint"]),
        cases=number("cases", document["cases"], above=0.0),
        tolerance=number("tolerance", document["tolerance"], above=0.0),
        ges=_model_from_json(document["ges"], len(names)),
        models=models,
        runs=tuple(_below(len(models), model) for model in document["runs"]),
        ahead=tuple(
            (integer("ahead", run, minimum=0), _below(len(models), model))
            for run, model in document.get("ahead", ())
        ),
        improving=_improving_from_json(document["improving"]),
        prove=check_prove("prove", document.get("prove", False)),
        proof=_proof_from_json(document.get("proof")),
        notes=_texts(document["notes"]),
        reading=_reading_from_json(document["reading"]),
        completion=completion_from_json(document.get("completion"), names, states),
        evaluation=evaluation_from_json(document.get("evaluation"), names),
        choice=choice_from_json(document.get("choice")),
        unfinished=typed(bool, document.get("unfinished", False)),
        excluded=tuple(
            (_below(len(names), x), _below(len(names), y), typed(str, why))
            for x, y, why in document.get("excluded", ())
        ),
        version=typed(str, document["kes"]),
    )
    first = len(record.pool)
    offspring = tuple(
        Offspring(
            model=_model_from_json(entry, len(names)),
            how=typed(str, entry["how"]),
            parents=tuple(_below(first + n, parent) for parent in entry["parents"]),
            task=None if entry["task"] is None else _below(record.improving.tasks, entry["task"]),
        )
        for n, entry in enumerate(document["offspring"])
    )
    record = replace(record, offspring=offspring)
    _check_record(record)
    return record


def _from_version_1(document: dict[str, Any]) -> dict[str, Any]:
    """Convert a document of version 1 to version 2."""
    models, ges = document["models"], document["ges"]
    known = [all(model[kind] == ges[kind] for kind in _EDGES) for model in models]

    def place(old: int) -> int:
        if True not in known or old < len(models):
            return old
        return known.index(True) if old == len(models) else old - 1

    offspring = document.get("offspring", [])
    improvement = document.get("improvement", {"tasks": 0})
    return document | {
        "improving": {
            "asked": "improvement" in document,
            "complete": True,
            "own": improvement["tasks"],
            "earlier": 0,
            "calls": [],
        },
        "reading": asdict(ReadOptions()),
        "offspring": [child | {"parents": [*map(place, child["parents"])]} for child in offspring],
    }


def _from_version_2(document: dict[str, Any]) -> dict[str, Any]:
    """Convert a document of version 2 to this version."""
    if kind_of(document["states"]) != "mixed":
        return document
    settings = document["settings"]
    transform = settings.get("transform") or "none"
    criterion = f"degenerate-{settings['criterion']}"
    return document | {
        "settings": settings | {"criterion": criterion, "transform": transform},
    }


# --- parts ---------------------------------------------------------------------------------------


def _improving_from_json(entry: dict[str, Any]) -> Improving:
    own = integer("own", entry["own"], minimum=0)
    outdated = integer("outdated", entry.get("outdated", 0), minimum=0)
    earlier = integer("earlier", entry["earlier"], minimum=outdated)
    calls = [integer("calls", call, minimum=1) for call in entry["calls"]]
    return Improving(Improve.parse(entry["asked"]), typed(bool, entry["complete"])).followed_by(
        Batch(own, "learn"),
        Batch(outdated, "outdated"),
        Batch(earlier - outdated, "earlier"),
        *(Batch(tasks, "improve") for tasks in calls),
    )


def _reading_to_json(reading: ReadOptions) -> dict[str, Any]:
    """Return the options without one that older files lack, unless it was given."""
    entry = asdict(reading)
    return entry if reading.dates is not None else {k: v for k, v in entry.items() if k != "dates"}


def _reading_from_json(entry: dict[str, Any]) -> ReadOptions:
    weights, kinds = entry["weights"], entry.get("kinds", {})
    dialect: dict[str, Any] = {key: entry.get(key) for key in ("sep", "decimal", "encoding")}
    source, example, dates = (entry.get(key) for key in ("source", "example", "dates"))
    reading = ReadOptions(
        source=None if source is None else typed(str, source),
        example=None if example is None else integer("example", example, minimum=1),
        missing=typed(str, entry["missing"]),
        weights=weights if isinstance(weights, bool) else typed(str, weights),
        na_values=_texts(entry["na_values"]),
        kinds=check_kinds(kinds, list(kinds)),
        columns=_texts(entry.get("columns", ())),
        dates=check_dates(dates),
        completions=integer("completions", entry.get("completions", 5), minimum=1),
        cuts=dict(Discretizer.at(entry.get("cuts", {})).cuts),
        interventions=check_interventions(entry.get("interventions")),
        series=None if (series := entry.get("series")) is None else Series.of(**series),
        **dialect,
    )
    reading.dialect  # noqa: B018 - checks it
    return reading


def _proof_from_json(entry: dict[str, Any] | None) -> Proof | None:
    if entry is None:
        return None
    bound = entry["upper_bound"]
    return Proof(
        proven=typed(bool, entry["proven"]),
        upper_bound=None if bound is None else number("upper_bound", bound, minimum=-math.inf),
        method=typed(str, entry["method"]),
        counted=integer("counted", entry["counted"], minimum=0),
        families=integer("families", entry["families"], minimum=0),
    )


def _json(value: object) -> str:
    # Floats are written as the shortest text that reads back as the same float.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _settings_to_json(settings: Settings, names: tuple[str, ...]) -> dict[str, Any]:
    values = {field: getattr(settings, field.name) for field in fields(settings)}
    return {
        field.name: _setting_to_json(value, names)
        for field, value in values.items()
        if field.name in _ALWAYS or value != field.default
    }


def _setting_to_json(value: object, names: tuple[str, ...]) -> object:
    if isinstance(value, EssentialGraph):
        return value.to_core(names)
    if isinstance(value, Knowledge):
        return value.as_plain()
    return asdict(value) if isinstance(value, Sampled) else value


def _settings_from_json(entry: dict[str, Any], names: tuple[str, ...]) -> Settings:
    where, start = entry["neighbourhood"], entry["start"]
    if start is not None:
        graph = CoreGraph(*(_edges_from_json(part, len(names)) for part in start))
        _check_graph(len(names), graph)
        start = EssentialGraph.from_core(names, graph)
    integer("seed", entry["seed"], minimum=0, maximum=2**64 - 1)  # None would draw a seed
    if "basis" in entry:
        integer("basis", entry["basis"], minimum=1)  # "auto" would choose it
    values = {"penalty": 1.0, "transform": None} | entry
    values["ess"] = 1.0 if entry["ess"] is None else entry["ess"]
    values["neighbourhood"] = Sampled(**where) if isinstance(where, dict) else where
    settings = Settings.of(
        {
            name: values[option.setting]
            for name, option in declared(LearnOptions).items()
            if option.setting in _ALWAYS or option.setting in values
        }
    )
    known = Knowledge(**entry.get("knowledge", {})).checked(names)
    price = number("edge_prior", entry.get("edge_prior", 0.0), minimum=0.0, maximum=MAX_PRICE)
    return replace(settings, start=start, knowledge=known or None, edge_prior=price)


def _model_to_json(model: Model) -> dict[str, Any]:
    return {
        "score": model.score,
        "local optimum": model.is_local_optimum,
        "directed": model.graph.directed,
        "undirected": model.graph.undirected,
    }


def _model_from_json(entry: dict[str, Any], n: int) -> Model:
    return Model(
        graph=CoreGraph(*(_edges_from_json(entry[kind], n) for kind in _EDGES)),
        score=number("score", entry["score"], minimum=-math.inf),
        is_local_optimum=typed(bool, entry["local optimum"]),
    )


def _edges_from_json(pairs: list[list[int]], n: int) -> Edges:
    return tuple((_below(n, a), _below(n, b)) for a, b in pairs)


def _below(end: int, value: object) -> int:
    """Check that a value is an integer from 0 to end - 1."""
    if type(value) is not int or not 0 <= value < end:  # excludes True
        raise ValueError(f"{value!r} instead of an integer below {end}")
    return value


def _texts(values: Iterable[object]) -> tuple[str, ...]:
    return tuple(typed(str, value) for value in values)


def _state(value: object) -> State:
    if not isinstance(value, str | int | bool):
        raise TypeError(f"{value!r} instead of a state")
    return value


# --- checks --------------------------------------------------------------------------------------


_ORIGINS = {"recombined": 2, "refined": 1, "perturbed": 1, "ordered": 1, "exact": 0}
"""Origins of offspring, with the number of parents."""


def _check_record(record: Record) -> None:
    """Raise a ValueError for a record that no search can have made."""
    if double := repeated(record.names):
        raise ValueError(f"the name {double[0]!r} occurs twice")
    for name, states in zip(record.names, record.states, strict=True):
        check_distinct_states(name, states)
    _check_runs(record)
    _check_models(record)
    _check_offspring(record)
    _check_proof(record)


def _check_graph(n: int, graph: CoreGraph) -> None:
    """Raise a ValueError unless this is an essential graph with sorted edges."""
    directed, undirected = graph
    if not all([_ascending(directed), _ascending(undirected), *(a < b for a, b in undirected)]):
        raise ValueError("the edges of a model are unsorted or duplicate")
    try:
        _core.check_essential(n, graph)
    except _core.CoreError as error:
        raise ValueError("a model is not an essential graph") from error


def _check_runs(record: Record) -> None:
    """Check that models are numbered by first run, those of runs ahead last."""
    ahead = [run for run, _ in record.ahead]
    if not _ascending(ahead) or any(run < len(record.runs) for run in ahead):
        raise ValueError("runs are unsorted or duplicate")
    found = dict.fromkeys([*record.runs, *(model for _, model in record.ahead)])
    if record.unfinished and found:
        raise ValueError("there are runs, although GES has not ended")
    if [*found] != [*range(len(record.models))]:
        raise ValueError("the models are not those of the runs, ordered by first run")


def _check_models(record: Record) -> None:
    n = len(record.names)
    if repeated(model.graph for model in record.pool):
        raise ValueError("duplicate models")
    if any(model.graph == record.ges.graph and model != record.ges for model in record.pool):
        raise ValueError("the model of GES is given inconsistently")
    for model in record.pool:
        _check_graph(n, model.graph)


def _check_offspring(record: Record) -> None:
    tasks = [child.task for child in record.offspring if child.task is not None]
    if sorted(tasks) != tasks:
        raise ValueError("the models found by improvement are not ordered by task")
    for child in record.offspring:
        wrong = (child.how == "exact") != (child.task is None)
        if wrong or _ORIGINS.get(child.how) != len(child.parents):
            raise ValueError(f"a model cannot be {child.how!r} from {len(child.parents)} parents")


def _check_proof(record: Record) -> None:
    """Check that the best score does not exceed the bound, and equals it if proven optimal."""
    proof = record.proof
    if proof is None or (proof.upper_bound is None and not proof.proven):
        return
    best = max(record.level(model.score) for model in record.pool)
    bound = None if proof.upper_bound is None else record.level(proof.upper_bound)
    # Rounding may raise a score by one level, not more.
    if bound is None or best > bound + 1 or (proof.proven and bound > best + 1):
        raise ValueError("the bound of the proof contradicts the best score")


def _ascending(items: Sequence[Any]) -> bool:
    return all(a < b for a, b in pairwise(items))
