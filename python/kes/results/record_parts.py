"""Parts of a result file: imputed values, how well a target is predicted, what was chosen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, TypeVar

from kes.data.column import State
from kes.network.gibbs import SWEEPS
from kes.options import check_prior
from kes.search.choice import CriterionChoice, Trial
from kes.search.evaluation import Evaluation
from kes.search.record import Completion
from kes.validation import integer, number

T = TypeVar("T")


def typed(kind: type[T], value: object) -> T:
    """Return a value of a type; raise an error if it has another."""
    if not isinstance(value, kind):
        raise TypeError(f"{value!r} instead of a {kind.__name__}")
    return value


def completion_to_json(completion: Completion) -> dict[str, Any]:
    """Return an imputation as JSON; without the values if they are not kept."""
    entry = asdict(completion)
    plain = {"imputed": (), "sweeps": SWEEPS}
    return {key: value for key, value in entry.items() if value != plain.get(key)}


def completion_from_json(
    entry: dict[str, Any] | None, names: Sequence[str], states: Sequence[Sequence[State]]
) -> Completion | None:
    """Return the imputation in a file."""
    if entry is None:
        return None
    cells = tuple(integer("cells", cell, minimum=0) for cell in entry["cells"])
    if len(cells) != len(names):
        raise ValueError("names and cells differ in number")
    rounds = integer("rounds", entry["rounds"], minimum=1)
    sweeps = integer("sweeps", entry.get("sweeps", SWEEPS), minimum=1, maximum=SWEEPS)
    imputed = (
        tuple(_imputed(values, own) for values, own in zip(entry["imputed"], states, strict=True))
        if "imputed" in entry
        else ()
    )
    return Completion(cells, rounds, typed(bool, entry["settled"]), sweeps, imputed)


def _imputed(values: Sequence[object], states: Sequence[State]) -> tuple[float, ...]:
    """Return imputed codes, or numbers of a continuous variable."""
    if states:
        last = len(states) - 1
        return tuple(integer("imputed", value, minimum=0, maximum=last) for value in values)
    return tuple(number("imputed", value, minimum=-math.inf) for value in values)


def evaluation_from_json(entry: dict[str, Any] | None, names: Sequence[str]) -> Evaluation | None:
    """Return the evaluation of a target in a file."""
    if entry is None:
        return None
    target = typed(str, entry["target"])
    if target not in names:
        raise ValueError("the target is none of the names")
    measures = {
        typed(str, name): number(name, value, minimum=-math.inf)
        for name, value in entry["measures"].items()
    }
    calibration = tuple(
        (
            number("predicted", p, minimum=0.0),
            number("share", s, minimum=0.0),
            number("n", n, above=0.0),
        )
        for p, s, n in entry["calibration"]
    )
    cases = number("cases", entry["cases"], minimum=0.0)
    average = evaluation_from_json(entry.get("average"), names)
    return Evaluation(target, cases, measures, calibration, average)


def choice_from_json(entry: dict[str, Any] | None) -> CriterionChoice | None:
    """Return the choice of a criterion in a file."""
    if entry is None:
        return None
    candidates = tuple(_candidate(one) for one in entry["candidates"])
    if not candidates:
        raise ValueError("nothing was tried")
    folds = integer("folds", entry["folds"], minimum=2)
    return CriterionChoice(candidates, folds, number("cases", entry["cases"], above=0.0))


def _candidate(entry: dict[str, Any]) -> Trial:
    def some(name: str, least: float = 0.0) -> float | None:
        return None if entry[name] is None else number(name, entry[name], minimum=least)

    return Trial(
        criterion=typed(str, entry["criterion"]),
        ess=some("ess"),
        edge_prior=number("edge_prior", entry["edge_prior"], minimum=0.0),
        prior=check_prior("prior", entry["prior"]),
        prior_ess=some("prior_ess"),
        per_case=number("per_case", entry["per_case"], minimum=-math.inf),
        difference=number("difference", entry["difference"], minimum=-math.inf),
        standard_error=some("standard_error"),
    )
