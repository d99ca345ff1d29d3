"""What is in a result file: a record as JSON, and back.

The settings, names and states, how the data were read and a fingerprint of them, the models found
and, for each run, the model it ended in, and what improving made of these models; never the data
themselves.

Version 1 did not know how the data were read and how much improving was asked for, and gave GES
a place of its own among the parents of models even if a run had ended there.
"""

from __future__ import annotations

import json
import math
from dataclasses import asdict, fields, replace
from typing import Any

from kes.budget import Improve
from kes.data.column import State
from kes.data.discretizer import Discretizer
from kes.data.infer_kinds import check_kinds
from kes.data.schema import ReadOptions
from kes.declare import declared
from kes.graph import EssentialGraph
from kes.graph.core_graph import CoreGraph, Edges
from kes.graph.knowledge import Knowledge
from kes.options import LearnOptions, Sampled, check_prove
from kes.results.validate_record import check_graph, check_record
from kes.search.record import (
    Batch,
    Completion,
    Improving,
    Model,
    Offspring,
    Proof,
    Record,
)
from kes.settings import Settings
from kes.validation import integer, number

FORMAT = "kes optima"
VERSION = 2
_EDGES = ("directed", "undirected")
_ALWAYS = (
    *("k", "criterion", "ess", "penalty", "transform", "seed"),
    *("max_parents", "two_phase", "neighbourhood", "start"),
)
"""Settings that every file holds. Others are written only if they differ from their default."""


def encoded(record: Record) -> bytes:
    """Return a record as JSON, a line for each entry and each model."""
    entries: dict[str, Any] = {
        "format": FORMAT,
        "version": VERSION,
        "kes": record.version,
        "settings": _settings_to_json(record.settings, record.names),
        "names": record.names,
        "states": record.states,
        "reading": asdict(record.reading),
        "fingerprint": record.fingerprint,
        "cases": record.cases,
        "tolerance": record.tolerance,
        "notes": record.notes,
        "improving": _improving_to_json(record.improving),
        "ges": _model_to_json(record.ges),
        "runs": record.runs,
    }
    if record.ahead:
        entries["ahead"] = record.ahead
    if record.prove:
        entries["prove"] = record.prove
    if record.proof is not None:
        entries["proof"] = asdict(record.proof)
    if record.completion is not None:
        entries["completion"] = asdict(record.completion)
    lines = [f"{_json(key)}: {_json(value)}" for key, value in entries.items()]
    lines.append(_list("models", [_model_to_json(model) for model in record.models]))
    lines.append(_list("offspring", [_offspring_to_json(child) for child in record.offspring]))
    return ("{\n" + ",\n".join(lines) + "\n}\n").encode()


def decoded(document: dict[str, Any]) -> Record:
    """Return the record of a document; raises one of several errors if it does not make sense."""
    if document["version"] == 1:
        document = _upgraded(document)
    names = tuple(_text(name) for name in document["names"])
    models = tuple(_model_from_json(model, len(names)) for model in document["models"])
    runs = tuple(_below(len(models), model) for model in document["runs"])
    ahead = tuple(
        (integer("ahead", run, minimum=0), _below(len(models), model))
        for run, model in document.get("ahead", ())
    )
    states = tuple(tuple(_state(state) for state in column) for column in document["states"])
    if len(states) != len(names):
        raise ValueError("names and states differ in number")
    record = Record(
        settings=_settings_from_json(document["settings"], names),
        names=names,
        states=states,
        fingerprint=_text(document["fingerprint"]),
        cases=number("cases", document["cases"], above=0.0),
        tolerance=number("tolerance", document["tolerance"], above=0.0),
        ges=_model_from_json(document["ges"], len(names)),
        models=models,
        runs=runs,
        ahead=ahead,
        improving=_improving_from_json(document["improving"]),
        prove=check_prove("prove", document.get("prove", False)),
        proof=_proof_from_json(document.get("proof")),
        notes=tuple(_text(note) for note in document["notes"]),
        reading=_reading_from_json(document["reading"]),
        completion=_completion_from_json(document.get("completion"), len(names)),
        version=_text(document["kes"]),
    )
    first = len(record.pool)
    offspring = tuple(
        Offspring(
            model=_model_from_json(entry, len(names)),
            how=_text(entry["how"]),
            parents=tuple(_below(first + n, parent) for parent in entry["parents"]),
            task=_task_from_json(entry["task"], record.improving.tasks),
        )
        for n, entry in enumerate(document["offspring"])
    )
    record = replace(record, offspring=offspring)
    check_record(record)
    return record


def _upgraded(document: dict[str, Any]) -> dict[str, Any]:
    """Return a document of version 1 as one of this version."""
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


# --- parts ---------------------------------------------------------------------------------------


def _improving_to_json(improving: Improving) -> dict[str, Any]:
    """Return batches of tasks by who did them: `kes.learn`, before an extension, or calls."""
    entry = {
        "asked": improving.asked.option,
        "complete": improving.complete,
        "own": improving.own,
        "earlier": improving.earlier,
        "calls": improving.calls,
    }
    return entry | ({"outdated": improving.outdated} if improving.outdated else {})


def _improving_from_json(entry: dict[str, Any]) -> Improving:
    own = integer("own", entry["own"], minimum=0)
    outdated = integer("outdated", entry.get("outdated", 0), minimum=0)
    earlier = integer("earlier", entry["earlier"], minimum=outdated)
    calls = [integer("calls", call, minimum=1) for call in entry["calls"]]
    return Improving(Improve.parse(entry["asked"]), _flag(entry["complete"])).followed_by(
        Batch(own, "learn"),
        Batch(outdated, "outdated"),
        Batch(earlier - outdated, "earlier"),
        *(Batch(tasks, "improve") for tasks in calls),
    )


def _reading_from_json(entry: dict[str, Any]) -> ReadOptions:
    weights, kinds = entry["weights"], entry.get("kinds", {})
    dialect: dict[str, Any] = {key: entry.get(key) for key in ("sep", "decimal", "encoding")}
    source, example = entry.get("source"), entry.get("example")
    reading = ReadOptions(
        source=None if source is None else _text(source),
        example=None if example is None else integer("example", example, minimum=1),
        missing=_text(entry["missing"]),
        weights=weights if isinstance(weights, bool) else _text(weights),
        na_values=tuple(_text(value) for value in entry["na_values"]),
        kinds=check_kinds(kinds, list(kinds)),
        columns=tuple(_text(name) for name in entry.get("columns", ())),
        completions=integer("completions", entry.get("completions", 5), minimum=1),
        cuts=dict(Discretizer.at(entry.get("cuts", {})).cuts),
        **dialect,
    )
    reading.dialect  # noqa: B018 - checks it
    return reading


def _proof_from_json(entry: dict[str, Any] | None) -> Proof | None:
    if entry is None:
        return None
    bound = entry["upper_bound"]
    return Proof(
        proven=_flag(entry["proven"]),
        upper_bound=None if bound is None else number("upper_bound", bound, minimum=-math.inf),
        method=_text(entry["method"]),
        counted=integer("counted", entry["counted"], minimum=0),
        families=integer("families", entry["families"], minimum=0),
    )


def _task_from_json(task: object, tasks: int) -> int | None:
    return None if task is None else _below(tasks, task)


def _completion_from_json(entry: dict[str, Any] | None, n: int) -> Completion | None:
    if entry is None:
        return None
    cells = tuple(integer("cells", cell, minimum=0) for cell in entry["cells"])
    if len(cells) != n:
        raise ValueError("names and cells differ in number")
    rounds = integer("rounds", entry["rounds"], minimum=1)
    return Completion(cells, rounds, settled=_flag(entry["settled"]))


def _offspring_to_json(child: Offspring) -> dict[str, Any]:
    origin = {"task": child.task, "how": child.how, "parents": child.parents}
    return origin | _model_to_json(child.model)


def _list(key: str, entries: list[dict[str, Any]]) -> str:
    lines = ",\n".join(map(_json, entries))
    return f"{_json(key)}: [\n{lines}\n]"


def _json(value: object) -> str:
    # Floats are written as their shortest repr, which reads back as the same float.
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _settings_to_json(settings: Settings, names: tuple[str, ...]) -> dict[str, Any]:
    values = {field: getattr(settings, field.name) for field in fields(settings)}
    return {
        field.name: _setting_to_json(value, names)
        for field, value in values.items()
        if field.name in _ALWAYS or value != field.default
    }


def _setting_to_json(value: object, names: tuple[str, ...]) -> object:
    match value:
        case Sampled():
            return asdict(value)
        case EssentialGraph():
            return value.to_core(names)
        case Knowledge():
            return value.as_plain()
    return value


def _settings_from_json(entry: dict[str, Any], names: tuple[str, ...]) -> Settings:
    where, start = entry["neighbourhood"], entry["start"]
    if start is not None:
        graph = CoreGraph(*(_edges_from_json(part, len(names)) for part in start))
        check_graph(len(names), graph)
        start = EssentialGraph.from_core(names, graph)
    integer("seed", entry["seed"], minimum=0, maximum=2**64 - 1)  # None would draw one
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
    return replace(settings, start=start, knowledge=known or None)


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
        is_local_optimum=_flag(entry["local optimum"]),
    )


def _edges_from_json(pairs: list[list[int]], n: int) -> Edges:
    return tuple((_below(n, a), _below(n, b)) for a, b in pairs)


def _below(end: int, value: object) -> int:
    """Check that a value is one of 0 .. end-1."""
    if type(value) is not int or not 0 <= value < end:  # True is no number here
        raise ValueError(f"{value!r} where a number below {end} is expected")
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise TypeError(f"{value!r} where true or false is expected")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{value!r} where a text is expected")
    return value


def _state(value: object) -> State:
    if not isinstance(value, str | int | bool):
        raise TypeError(f"{value!r} where a state is expected")
    return value
