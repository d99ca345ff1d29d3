"""Prove that no network scores higher than the best one found, where that is cheap.

A proof needs all families that the bounds of the criterion do not rule out. How many sets have to
be counted for them is not known in advance: the worst case is often a hundred times too many. So
the decision to start rests on the least work: all sets of up to three variables, or all there are
if there are no such bounds (continuous columns) or weak ones (BDeu, qNML). Then sets are counted up
to the budget. From the families found, the best network is made by dynamic programming up to 23
variables that depend on each other, else by the linear programme of `kes.exact.prover`, and last by
dynamic programming up to 25 variables.

Amounts of work are limited, and not time, so that the same search ends in the same proof, or in
none, anywhere. Only the budget of the whole search, if there is one, may end it as well.
"""

import math
import time
from dataclasses import replace

from kes._core import MAX_VARIABLES
from kes.budget import Budget, Prove
from kes.errors import KesError, option
from kes.exact.prover import COUNTING, QUICK_MB
from kes.graph import EssentialGraph
from kes.native import core_errors
from kes.progress import Progress, Reporter, reporting
from kes.search.driver import Execution, SearchInterrupted
from kes.search.problem import Problem
from kes.search.record import Model, Proof, Record

_TOGETHER = 25  # variables that can be solved together if there is no other way
_LEAST_SIZE = 3  # sets up to this size are hardly ever ruled out

_AUTO = Budget(
    families=5000, solving_mb=256, counting_mb=512, rounds=40, iterations=20_000, nodes=20
)
_ASKED = Budget(
    families=50_000,
    solving_mb=2048,
    counting_mb=2048,
    rounds=1000,
    iterations=10**6,
    nodes=10_000,
)
_COUNTING = {"few variables": 15.0, "many variables": 6.0, "asked": 1000.0}
"""Estimated processor seconds for counting: by default, and on request."""
_START = {"few variables": 15.0, "many variables": 1.5, "asked": 1000.0}
"""Do not start if more seconds than this are certain to be needed."""


def proof_budget(problem: Problem, prove: Prove) -> Budget | None:
    """Return the budget of a proof; None if it is not worth a start."""
    if prove is True and problem.size.is_wide:
        raise KesError(
            f"a proof is possible for up to {MAX_VARIABLES} variables; the data have "
            f"{problem.size.variables}: leave {option('prove')} out, or select columns with "
            f"{option('columns')}",
            option="prove",
        )
    if prove is False or problem.size.is_wide:
        return None
    sets, variables = _least_sets(problem)
    case = "few variables" if variables <= _TOGETHER else "many variables"
    case = "asked" if prove is True else case
    per_set = problem.size.set_seconds
    if sets > _START[case] / per_set:  # not multiplied: the number may be too large for a float
        return None
    return replace(_ASKED if prove is True else _AUTO, sets=int(_COUNTING[case] / per_set))


def _least_sets(problem: Problem) -> tuple[int, int]:
    """Return the least number of sets to count, and the number of variables that vary."""
    dataset, limit = problem.dataset, problem.settings.max_parents
    n = sum(states != 1 for states in dataset.cardinalities)
    largest = n if limit is None else min(n, limit + 1)
    if dataset.kind == "discrete" and problem.settings.measure.price(problem.core.total_weight):
        largest = min(largest, _LEAST_SIZE)
    return sum(math.comb(n, size) for size in range(largest + 1)), n


def prove_best(
    problem: Problem, record: Record, asked: Prove, execution: Execution, seconds: float | None
) -> Record:
    """Prove that no network scores higher than the best of a record, or find a better one.

    `seconds` is the time left for the whole search. After Ctrl-C the record is as it was.
    """
    bare = replace(record.unproven(), prove=asked)
    if record.proof is None:
        record = bare
    budget = proof_budget(problem, asked)
    if budget is None or (seconds is not None and seconds <= 0):
        return record
    deadline = Budget(seconds=seconds).deadline
    try:
        with reporting(execution.progress) as report:
            threads = execution.threads
            found = attempt(
                problem, bare, budget, threads=threads, deadline=deadline, report=report
            )
    except KeyboardInterrupt:
        raise SearchInterrupted(record) from None
    if time.monotonic() > deadline and not found[0].proven:
        return record  # decided by the clock, not by the amount of work
    if record.proof is not None and record.proof.is_stronger_than(found[0]):
        return replace(record, prove=record.prove or asked)
    return with_proof(bare, *found)


def with_proof(record: Record, proof: Proof, model: Model | None) -> Record:
    """Return a record with a proof, and with the model that it found if that scores highest.

    A stronger proof that is already there stays.
    """
    if record.proof is None or not record.proof.is_stronger_than(proof):
        record = replace(record, proof=proof)
    return record if model is None else record.with_exact(model)


def attempt(
    problem: Problem,
    record: Record,
    budget: Budget,
    *,
    threads: int,
    deadline: float,
    report: Reporter,
) -> tuple[Proof, Model | None]:
    """Try to prove the best score; return the proof, and the best model if it is a new one."""
    started, sets = time.monotonic(), budget.sets or 0
    best = max(model.score for model in record.pool)

    def show(stage: str, done: int, _: float | None) -> None:
        counted = min(done, sets) if stage == COUNTING else sets
        seconds = time.monotonic() - started
        report(Progress(counted, sets, best, len(record.pool), seconds, None, unit="sets"))

    prover = problem.prover(threads, budget, deadline, show)
    families = prover.families()
    too_many = families.counted > sets
    # When and by what it was stopped is not reproducible.
    work = (sets, 0) if too_many else (families.counted, sum(families.sizes))
    if families.lacking is not None or too_many:
        return Proof(False, None, "stopped, as there are too many families", *work), None
    with core_errors(problem.dataset.names):
        found = prover.by_subsets(families, QUICK_MB) or prover.by_programme(families, best)
        if not found.exact:
            found = prover.by_subsets(families) or found
    if not found.exact:
        bound = found.upper_bound if math.isfinite(found.upper_bound) else None
        return Proof(False, bound, found.method, *work), None
    if found.arcs is None:
        return Proof(True, best, found.method, *work), None
    names = problem.dataset.names
    graph = EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in found.arcs])
    model = Model.from_core(graph.to_core(names), problem.score(graph), is_local_optimum=True)
    return Proof(True, max(model.score, best), found.method, *work), model
