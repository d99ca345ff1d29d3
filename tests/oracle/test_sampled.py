"""The sampled neighbourhood of the paper's section 4.1 beside the exact one, by brute force."""

import numpy as np
import pytest

from . import brute, engine
from .tables import sample

MODELS = brute.models(4)
REVERSALS = 5


@pytest.fixture(scope="module")
def problem():
    """A table on which moves of both kinds improve most models."""
    rng = np.random.default_rng(3)
    diamond = brute.dag_from_arcs(4, [(0, 1), (0, 2), (1, 3), (2, 3)])
    cardinalities = [2, 3, 2, 2]
    return engine.problem(sample(diamond, cardinalities, 150, rng, noise=0.6), cardinalities)


def improving(problem, model):
    return {
        triple
        for triple in MODELS.boundary[model]
        if problem.delta(engine.core_triple(triple)) > problem.tolerance
    }


@pytest.mark.parametrize("k", [0.0, 0.4])
def test_first_moves_are_all_improving_neighbours_and_nothing_else(problem, k):
    """From every model with four nodes; k=0 takes draws one by one, so none is out of reach."""
    seen = expected = 0
    for model, start in enumerate(MODELS.essential):
        better = improving(problem, model)
        runs = 40 * len(better) if k == 0 else 10
        options = {"k": k, "start": start, "sampled": (REVERSALS, None)}
        steps = [engine.trace(problem, run, **options)[0] for run in range(runs)]
        first = {engine.key(step[0][0]) for step in steps if step}
        assert first <= better
        assert first == better or k > 0
        seen, expected = seen + len(first), expected + len(better)
    assert 0 < seen <= expected


@pytest.mark.parametrize("k", [0.0, 0.4, 0.8, 1.0])
def test_every_step_of_a_run_is_a_move_to_an_improving_neighbour(problem, k):
    for run in range(30):
        steps, end = engine.trace(problem, run, k=k, sampled=(REVERSALS, None))
        model = MODELS.empty
        for move, delta, _, _ in steps:
            triple = engine.key(move)
            assert delta == problem.delta(engine.core_triple(triple)) > problem.tolerance
            [model] = MODELS.boundary[model][triple]
        assert end == MODELS.essential[model]


def test_the_greediest_sample_is_the_whole_boundary_of_a_small_model(problem):
    """With 20 draws per member none of a few members is missed, so that k=1 is GES."""
    for run in range(20):
        sampled = engine.trace(problem, run, k=1.0, sampled=(REVERSALS, None))
        exact = engine.trace(problem, run, k=1.0)
        assert sampled[1] == exact[1]


def test_too_little_patience_stops_short(problem):
    """A run that gives up after one failed draw seldom arrives at a local optimum."""
    ends = [engine.trace(problem, run, k=0.0, sampled=(REVERSALS, 1))[1] for run in range(50)]
    stopped_short = [end for end in ends if not problem.is_local_optimum(end, None)]
    assert len(stopped_short) > 25


def test_a_fixed_even_number_of_reversals_would_not_reach_the_whole_boundary():
    """Why the number of reversals is drawn.

    A reversal changes the parity of the number of arcs that point from a smaller to a larger
    node. So after an even number of them the DAG is one of the same parity as before, and some
    neighbours are one arc away only from DAGs of the other.
    """
    incomplete = 0
    for dags in MODELS.classes:
        whole = set(MODELS._boundary_of(dags))
        for parity in (0, 1):
            same = tuple(dag for dag in dags if ascending(dag) % 2 == parity)
            incomplete += bool(same) and set(MODELS._boundary_of(same)) != whole
    assert incomplete > 100


def ascending(dag):
    return sum(a < b for a, b in brute.arcs_of(dag))
