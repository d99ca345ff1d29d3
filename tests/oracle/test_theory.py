"""The paper's theorems where their premises hold exactly: on distributions instead of samples.

A table with one row per state of the world, weighted by its probability times N, has no sampling
error. At the N used here BIC is checked to be locally consistent for every conceivable step, so
that the theorems say what each run must return.
"""

import numpy as np
import pytest

import kes

from . import brute, engine
from .distributions import faithful_distribution, noisy_cycle, random_dag

LARGE = 1e10
KS = (0.0, 0.4, 0.8, 1.0)


def faithful_cases():
    """Random DAGs with 5 to 8 nodes, sparse and dense, with two or three states per node."""
    for n in (5, 6, 7, 8):
        for density in (0.3, 0.5):
            for seed in range(3):
                yield pytest.param(n, density, seed, id=f"{n} nodes-{density}-{seed}")


@pytest.mark.parametrize(("n", "density", "seed"), list(faithful_cases()))
def test_faithful_distributions_give_back_their_model(n, density, seed):
    """Theorem 3: whatever k, every run returns the class of the generating DAG."""
    rng = np.random.default_rng([n, int(10 * density), seed])
    dag = random_dag(n, density, rng)
    cardinalities = [2] * n if n > 6 else [int(r) for r in rng.integers(2, 4, n)]
    distribution = faithful_distribution(dag, cardinalities, LARGE, rng)
    codes, weights = distribution.table(LARGE)
    names = [f"x{i}" for i in range(n)]
    arcs = [(names[a], names[b]) for a, b in brute.arcs_of(dag)]
    truth = kes.EssentialGraph.from_dag(names, arcs)
    for k in KS:
        optima = kes.learn(codes.T, k=k, runs=20, weights=weights, random_state=seed, n_jobs=1)
        assert [optimum.graph for optimum in optima] == [truth]
        assert optima.best.hits == 20


# --- Example 1: two inclusion-optimal models ----------------------------------------------------

X, Y, Z, U = range(4)
CASES = 1e6


def inclusion_optimal(distribution):
    """Essential graphs of the inclusion-optimal models, with their numbers of parameters."""
    models = brute.models(4)
    fitting = {m for m, dags in enumerate(models.classes) if distribution.is_in_model(dags[0])}
    by_independences = {
        m for m, known in enumerate(models.independences) if known <= distribution.independences
    }
    assert fitting == by_independences  # as the composition property has it
    return {
        brute.parameter_count(models.classes[m][0], distribution.cardinalities): models.essential[m]
        for m in models.inclusion_optimal(distribution.independences)
    }


def ends(distribution, k, runs):
    """Essential graphs in which runs end, in run order."""
    codes, weights = distribution.table(CASES)
    problem = engine.problem(codes, distribution.cardinalities, weights)
    return [engine.trace(problem, run, k=k)[1] for run in range(runs)]


@pytest.fixture(
    scope="module", params=((0.12, 0.30, 0.0), (0.12, 0.30, 0.05)), ids=("printed", "uneven")
)
def cycle(request):
    return noisy_cycle(*request.param)


def test_cycle_has_the_two_models_of_the_paper(cycle):
    assert cycle.independences == {(X, Z, 1 << Y | 1 << U), (Y, U, 1 << X | 1 << Z)}
    square = {(X, Y), (Y, Z), (Z, U), (X, U)}
    assert inclusion_optimal(cycle) == {
        19: ([], sorted(square | {(Y, U)})),
        23: ([], sorted(square | {(X, Z)})),
    }


def test_bic_is_locally_consistent_on_the_cycle(cycle):
    """The premise of Theorems 4 and 5, at this number of cases."""
    for statement in brute.statements(4):
        gain = cycle.bic_gain(*statement, CASES)
        assert (gain > 0) == (statement not in cycle.independences)


@pytest.mark.parametrize("k", KS)
def test_every_run_is_inclusion_optimal(cycle, k):
    """Theorem 4."""
    optimal = inclusion_optimal(cycle).values()
    assert all(end in optimal for end in ends(cycle, k, 100))


def test_stochastic_search_finds_every_inclusion_optimal_model(cycle):
    """Theorem 5."""
    found = ends(cycle, 0.0, 200)
    assert all(graph in found for graph in inclusion_optimal(cycle).values())


def test_greedy_search_is_not_trapped_by_the_printed_margins():
    """An erratum: I(X;U|Y) > I(X;U), so GES makes the collider Y -> X <- U and escapes."""
    printed = noisy_cycle(0.12, 0.30, 0.0)
    assert printed.information(X, U, 1 << Y) > printed.information(X, U, 0)
    codes, weights = printed.table(CASES)
    problem = engine.problem(codes, printed.cardinalities, weights)
    colliders = {(True, X, U, (Y,)), (True, X, Y, (U,))}  # by symmetry either comes first
    for run in range(20):
        steps, end = engine.trace(problem, run, k=1.0)
        assert engine.key(steps[1][0]) in colliders
        assert end == inclusion_optimal(printed)[19]


def test_greedy_search_is_trapped_by_a_slightly_uneven_variable():
    """As the paper reports, GES returns the model that fits as well with more parameters."""
    uneven = noisy_cycle(0.12, 0.30, 0.05)
    trap = inclusion_optimal(uneven)[23]
    assert all(end == trap for end in ends(uneven, 1.0, 20))


@pytest.mark.parametrize(("variant", "c"), [("printed", 0.0), ("deceptive", 0.05)])
def test_packaged_example_is_this_distribution(variant, c):
    table = kes.datasets.example1(cases=CASES, variant=variant)
    joint = np.zeros([len(states) for states in table.states])
    np.add.at(joint, tuple(table.codes), table.weights)
    assert tuple(table.names) == ("X", "Y", "Z", "U")
    np.testing.assert_allclose(joint / CASES, noisy_cycle(0.12, 0.30, c).joint, rtol=1e-9)


def test_printed_margins_are_those_of_the_paper():
    joint = noisy_cycle(0.12, 0.30, 0.0).joint
    copies = [[0.22, 0.03], [0.03, 0.22]]
    np.testing.assert_allclose(joint.sum(axis=(2, 3)), [copies[i] for i in (0, 1, 0, 1)])
    np.testing.assert_allclose(joint.sum(axis=(1, 2)), [copies[i] for i in (0, 0, 1, 1)])
    for others in ((0, 3), (0, 1)):
        np.testing.assert_allclose(joint.sum(axis=others), [[0.35, 0.15], [0.15, 0.35]])


def test_public_search_finds_both_models_of_example_1():
    optima = kes.learn(kes.datasets.example1(), k=0.0, runs=200, random_state=0, n_jobs=2)
    assert len(optima) == 2
    square = {frozenset(pair) for pair in ("XY", "YZ", "ZU", "XU")}
    assert optima[0].graph.skeleton == square | {frozenset("YU")}  # fewer parameters: better
    assert optima[1].graph.skeleton == square | {frozenset("XZ")}
    assert optima[0].score > optima[1].score
    assert optima.ges.graph == optima[0].graph


def test_independence_is_measured_well_apart_from_dependence(cycle):
    """No statement is near the border between rounding and dependence."""
    values = [cycle.information(*s) for s in brute.statements(4)]
    assert not any(1e-14 < abs(value) < 1e-4 for value in values)
