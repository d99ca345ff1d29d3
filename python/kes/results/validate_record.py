"""What must hold for a record, which a file may say otherwise.

A result file may be damaged, or made by someone else. What follows from nothing but the file is
checked when it is read; scores are compared with the data as soon as these are at hand
(`kes.search.problem.Problem.check`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from kes import _core
from kes.errors import repeated
from kes.graph.core_graph import CoreGraph
from kes.search.record import Record

_ORIGINS = {"recombined": 2, "refined": 1, "perturbed": 1, "ordered": 1, "exact": 0}
"""How a model was made, and of how many others."""


def check_record(record: Record) -> None:
    """Refuse a record that no search can have made.

    Raises
    ------
    ValueError
        Says what is wrong.
    """
    if double := repeated(record.names):
        raise ValueError(f"the name {double[0]!r} is given twice")
    for name, states in zip(record.names, record.states, strict=True):
        if len({*states}) < len(states):
            raise ValueError(f"{name!r} has a state twice")
    _check_runs(record)
    _check_models(record)
    _check_offspring(record)
    _check_proof(record)


def check_graph(n: int, graph: CoreGraph) -> None:
    """Refuse what is not an essential graph with its edges in order."""
    directed, undirected = graph
    in_order = _ascending(directed) and _ascending(undirected) and all(a < b for a, b in undirected)
    if not in_order:
        raise ValueError("the edges of a model are not in order, or are given twice")
    try:
        _core.check_essential(n, graph)
    except _core.CoreError as error:
        raise ValueError("a model is not an essential graph") from error


def _check_runs(record: Record) -> None:
    """Models are numbered by the first run that ended in them, those ahead last."""
    ahead = [run for run, _ in record.ahead]
    if not _ascending(ahead) or any(run < len(record.runs) for run in ahead):
        raise ValueError("a run is given twice, or runs are not in order")
    found = dict.fromkeys([*record.runs, *(model for _, model in record.ahead)])
    if [*found] != [*range(len(record.models))]:
        raise ValueError("the models are not those that the runs ended in, by first run")


def _check_models(record: Record) -> None:
    n = len(record.names)
    if repeated(model.graph for model in record.pool):
        raise ValueError("a model is given twice")
    if any(model.graph == record.ges.graph and model != record.ges for model in record.pool):
        raise ValueError("the model of GES is given in two ways")
    for model in record.pool:
        check_graph(n, model.graph)


def _check_offspring(record: Record) -> None:
    tasks = [child.task for child in record.offspring if child.task is not None]
    if sorted(tasks) != tasks:
        raise ValueError("what improving made is not in the order of its tasks")
    for child in record.offspring:
        wrong = (child.how == "exact") != (child.task is None)
        if wrong or _ORIGINS.get(child.how) != len(child.parents):
            raise ValueError(f"no model is {child.how!r} from {len(child.parents)} others")


def _check_proof(record: Record) -> None:
    """No score is above a bound, and one that is proven to be the highest is the bound."""
    proof = record.proof
    if proof is None or (proof.upper_bound is None and not proof.proven):
        return
    best = max(record.level(model.score) for model in record.pool)
    bound = None if proof.upper_bound is None else record.level(proof.upper_bound)
    # Rounding may lift a score to the next level, but not further.
    if bound is None or best > bound + 1 or (proof.proven and bound > best + 1):
        raise ValueError("the bound of the proof is not that of the best score")


def _ascending(items: Sequence[Any]) -> bool:
    return all(a < b for a, b in pairwise(items))
