"""Check that a record read from a file is consistent.

A result file may be damaged or forged. Everything that can be checked without the data is checked
when it is read; scores are checked as soon as the data are available
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
"""Origins of offspring, with the number of parents."""


def check_record(record: Record) -> None:
    """Raise a ValueError for a record that no search can have made."""
    if double := repeated(record.names):
        raise ValueError(f"the name {double[0]!r} occurs twice")
    for name, states in zip(record.names, record.states, strict=True):
        if len({*states}) < len(states):
            raise ValueError(f"{name!r} has duplicate states")
    _check_runs(record)
    _check_models(record)
    _check_offspring(record)
    _check_proof(record)


def check_graph(n: int, graph: CoreGraph) -> None:
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
    if [*found] != [*range(len(record.models))]:
        raise ValueError("the models are not those of the runs, ordered by first run")


def _check_models(record: Record) -> None:
    n = len(record.names)
    if repeated(model.graph for model in record.pool):
        raise ValueError("duplicate models")
    if any(model.graph == record.ges.graph and model != record.ges for model in record.pool):
        raise ValueError("the model of GES occurs with different scores")
    for model in record.pool:
        check_graph(n, model.graph)


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
