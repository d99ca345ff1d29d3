"""Whole runs, step by step: every figure of a trace against brute force."""

import numpy as np
import pytest

from kes import _core

from . import brute, engine
from .distributions import random_dag
from .scores import DirectScore
from .tables import sample

CASES = [
    (criterion, k, seed)
    for criterion in ("bic", "aic", "bdeu")
    for k in (0.0, 0.5, 0.8, 1.0)
    for seed in (0, 1)
]


class Replay:
    """A run done again by brute force, led by what the engine says it did."""

    def __init__(self, codes, cardinalities, criterion, max_parents=None):
        self.problem = engine.problem(codes, cardinalities, None, criterion)
        self.direct = DirectScore(codes, cardinalities, None, criterion)
        self.models = brute.models(len(codes))
        self.max_parents = max_parents
        self.rounding = 1e-9

    def improving(self, model, kinds=(False, True)):
        """Gain of each admissible neighbour that scores higher."""
        limit = len(self.models.classes[0][0]) if self.max_parents is None else self.max_parents
        gains = {
            triple: self.direct.delta(*triple[:3], brute.bits(triple[3]))
            for triple in self.models.boundary[model]
            if triple[0] in kinds and (not triple[0] or len(triple[3]) < limit)
        }
        return {triple: gain for triple, gain in gains.items() if gain > self.rounding}

    def check(self, steps, end, start=None, kinds=(False, True)):
        model = self.models.empty if start is None else start
        for move, delta, size, rank in steps:
            triple = engine.key(move)
            gains = self.improving(model, kinds)
            assert triple in gains
            assert delta == pytest.approx(gains[triple], abs=self.rounding)
            assert size == len(gains)
            better = sum(gain > gains[triple] + self.rounding for gain in gains.values())
            as_good = sum(gain >= gains[triple] - self.rounding for gain in gains.values())
            assert better <= rank < as_good
            (model,) = self.models.boundary[model][triple]
        assert end == self.models.essential[model]
        return model


def table(seed, n=5, rows=400):
    rng = np.random.default_rng([3, seed])
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    dag = random_dag(n, 0.5, rng)
    return sample(dag, cardinalities, rows, rng, noise=0.4), cardinalities


@pytest.mark.parametrize(("criterion", "k", "seed"), CASES)
def test_every_step_of_a_run(criterion, k, seed):
    codes, cardinalities = table(seed)
    replay = Replay(codes, cardinalities, criterion)
    for run in range(25):
        steps, end = engine.trace(replay.problem, run, k=k, seed=seed)
        model = replay.check(steps, end)
        assert not replay.improving(model)  # it stopped where nothing improves
        assert replay.problem.is_local_optimum(end, None)


@pytest.mark.parametrize("limit", [0, 1, 2])
def test_every_step_within_a_limit_on_parents(limit):
    codes, cardinalities = table(2)
    replay = Replay(codes, cardinalities, "aic", max_parents=limit)
    for run in range(25):
        steps, end = engine.trace(replay.problem, run, k=0.5, max_parents=limit)
        model = replay.check(steps, end)
        assert brute.max_in_degree(replay.models.classes[model][0]) <= limit
        assert not replay.improving(model)


@pytest.mark.parametrize("k", [0.0, 0.6, 1.0])
def test_two_phases_insert_then_delete(k):
    """Insertions while one improves, then deletions while one improves [Meek 1997]."""
    codes, cardinalities = table(3)
    replay = Replay(codes, cardinalities, "bic")
    for run in range(25):
        steps, end = engine.trace(replay.problem, run, k=k, two_phase=True)
        forward = [step for step in steps if step[0][0]]
        backward = steps[len(forward) :]
        assert not any(step[0][0] for step in backward)
        middle = replay.models.empty
        for step in forward:
            (middle,) = replay.models.boundary[middle][engine.key(step[0])]
        replay.check(forward, replay.models.essential[middle], kinds=(True,))
        assert not replay.improving(middle, kinds=(True,))
        last = replay.check(backward, end, start=middle, kinds=(False,))
        assert not replay.improving(last, kinds=(False,))


def test_run_from_a_given_model():
    codes, cardinalities = table(4)
    replay = Replay(codes, cardinalities, "bic")
    rng = np.random.default_rng(4)
    for start in rng.choice(len(replay.models), 40, replace=False):
        graph = replay.models.essential[start]
        steps, end = engine.trace(replay.problem, 0, k=0.5, start=graph)
        assert not replay.improving(replay.check(steps, end, start=int(start)))


def test_deltas_add_up_to_the_difference_of_scores():
    codes, cardinalities = table(5, n=5, rows=2000)
    problem = engine.problem(codes, cardinalities, criterion="bdeu", ess=10.0)
    direct = DirectScore(codes, cardinalities, criterion="bdeu", ess=10.0)
    models = brute.models(5)
    number = {str(graph): m for m, graph in enumerate(models.essential)}
    for run in range(20):
        steps, end = engine.trace(problem, run, k=0.3)
        gained = sum(step[1] for step in steps)
        last = models.classes[number[str(end)]][0]
        assert gained == pytest.approx(direct.of(last) - direct.of((0,) * 5), rel=1e-10)


@pytest.mark.parametrize("limit", [None, 3])
@pytest.mark.parametrize(
    ("n", "density", "criterion"),
    [(8, 0.5, "aic"), (15, 0.3, "aic"), (30, 0.1, "bdeu"), (70, 0.02, "bic")],
)
def test_steps_over_many_variables_from_scratch(n, density, criterion, limit):
    """The search keeps B up to date from move to move: here it is made anew at every step.

    From the boundary of the engine, which brute force has confirmed where it can; from the empty
    model and from random ones, so that deletions and large components occur.
    """
    rng = np.random.default_rng(n)
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    codes = sample(random_dag(n, density, rng), cardinalities, 300, rng, noise=0.5)
    problem = engine.problem(codes, cardinalities, criterion=criterion)
    starts = [(0,) * n, random_dag(n, min(1.0, 3 / n), rng), tree(n, rng)]
    kinds = set()
    for run, dag in enumerate(starts):
        graph = engine.essential_graph(n, brute.arcs_of(dag))
        steps, end = engine.trace(problem, run, k=0.4, start=graph, max_parents=limit)
        for number, (move, delta, size, rank) in enumerate(steps):
            if number % max(1, n // 10) == 0:  # a mistake in B stays: not every step need be seen
                levels = improving_levels(problem, n, graph, limit)
                level = levels[engine.key(move)]
                assert level == round(delta / problem.tolerance)
                assert size == len(levels)
                assert sum(other > level for other in levels.values()) <= rank
                assert rank < sum(other >= level for other in levels.values())
            graph = engine.apply(n, graph, engine.key(move))
            kinds.add(move[0])
        assert graph == end
        assert not improving_levels(problem, n, graph, limit)
    assert kinds == {False, True}


def improving_levels(problem, n, graph, limit):
    """Gain, in units of the tolerance, of every neighbour that scores higher."""
    gains = {
        engine.key(triple): problem.delta(triple) for triple in _core.boundary(n, graph, limit)
    }
    return {
        triple: round(gain / problem.tolerance)
        for triple, gain in gains.items()
        if gain > problem.tolerance
    }


def tree(n, rng):
    """Draw a random tree with arcs away from its root: one undirected component."""
    order = [int(i) for i in rng.permutation(n)]
    arcs = [(order[rng.integers(i)], order[i]) for i in range(1, n)]
    return brute.dag_from_arcs(n, arcs)
