"""Search under background knowledge against the definitions, on all models with few nodes."""

import numpy as np
import pytest

from kes import _core

from . import brute, engine
from .distributions import faithful_distribution, random_dag
from .knowledge import Known, mixture, tiered
from .scores import DirectScore
from .tables import noisy_copies, sample


def mixtures(n, number):
    rng = np.random.default_rng(n)
    return [mixture(n, rng) for _ in range(number)]


@pytest.mark.parametrize(("n", "number", "one_in"), [(3, 60, 1), (4, 30, 1), (5, 10, 61)])
def test_admissible_models_and_their_neighbours(n, number, one_in):
    """Admissible models, the arcs common to all admissible DAGs, and the boundary of each model."""
    models = brute.models(n)
    for known in mixtures(n, number):
        admissible = known.admissible()
        for m in range(0, len(models), one_in):
            essential = models.essential[m]
            reason = _core.inadmissible(n, essential, known.core)
            assert (reason is None) == bool(admissible[m])
            if not admissible[m]:
                with pytest.raises(_core.CoreError):
                    _core.boundary(n, essential, None, known.core)
                continue
            directed, undirected = brute._essential_graph(tuple(admissible[m]))
            assert engine.graph(_core.mpdag(n, essential, known.core)) == (directed, undirected)
            extension = _core.extension(n, essential, known.core)
            assert brute.dag_from_arcs(n, extension) in admissible[m]
            expected = [t for t, (target,) in models.boundary[m].items() if admissible[target]]
            found = [engine.key(t) for t in _core.boundary(n, essential, None, known.core)]
            assert sorted(found) == sorted(expected)


def test_reasons_name_an_arc_that_does_not_fit():
    chain = ([], [(0, 1), (1, 2)])
    collider = ([(0, 1), (2, 1)], [])
    assert _core.inadmissible(3, chain, (None, [(0, 2)], [])) == ("missing", (0, 2))
    assert _core.inadmissible(3, collider, (None, [(1, 0)], [])) == ("forbidden", (0, 1))
    # 0 -> 1 <- 2 would be a collider: with 0 -> 1 the other arc must be 1 -> 2.
    assert _core.inadmissible(3, chain, (None, [(0, 1)], [(1, 2)])) == ("forbidden", (1, 2))
    assert _core.inadmissible(3, chain, ([1, 0, 1], [], [])) is None
    assert _core.inadmissible(3, collider, ([1, 0, 1], [], []))[0] == "forbidden"


def test_contradictions_name_their_arcs():
    cycle = (None, [(0, 1), (1, 2), (2, 0)], [])
    assert _core.contradiction(3, cycle) == ("cycle", [(0, 1), (1, 2), (2, 0)])
    assert _core.contradiction(3, (None, [(0, 1)], [(0, 1)])) == ("forbidden", [(0, 1)])
    assert _core.contradiction(3, ([1, 0, None], [(0, 1)], [])) == ("tiers", [(0, 1)])
    assert _core.contradiction(3, ([1, 0, None], [(0, 2), (2, 1)], [])) is None
    for known in (cycle, (None, [(0, 3)], []), ([0, 1], [], []), (None, [], [(1, 1)])):
        with pytest.raises(_core.CoreError):
            _core.boundary(3, engine.EMPTY, None, known)


# --- searches -----------------------------------------------------------------------------------


def small_table(n, rng):
    """Codes with some structure, and their cardinalities."""
    if rng.random() < 0.3:
        return noisy_copies(n, 200, rng), [2] * n
    dags = brute.all_dags(n)
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    return sample(dags[rng.integers(len(dags))], cardinalities, 200, rng), cardinalities


def small_problem(n, rng):
    """A problem, and the scores of all models by brute force."""
    codes, cardinalities = small_table(n, rng)
    direct = DirectScore(codes, cardinalities)
    scores = [direct.of(dags[0]) for dags in brute.models(n).classes]
    return engine.problem(codes, cardinalities), scores


@pytest.mark.parametrize("n", [3, 4])
def test_local_optima_are_the_models_no_admissible_neighbour_improves(n):
    rng = np.random.default_rng(n)
    models = brute.models(n)
    answers = set()
    for known in mixtures(n, 12):
        problem, score = small_problem(n, rng)
        admissible = known.admissible()
        for m, essential in enumerate(models.essential):
            targets = [t for (t,) in models.boundary[m].values() if admissible[t]]
            optimal = bool(admissible[m]) and all(score[t] <= score[m] + 1e-9 for t in targets)
            assert problem.is_local_optimum(essential, None, known.core) == optimal
            if admissible[m]:
                gains = [delta for _, delta in problem.boundary(essential, None, known.core)]
                expected = sorted((score[t] - score[m] for t in targets), reverse=True)
                assert gains == pytest.approx(expected, abs=1e-8)
            answers.add((bool(admissible[m]), optimal))
    assert answers == {(False, False), (True, False), (True, True)}


@pytest.mark.parametrize("two_phase", [False, True])
@pytest.mark.parametrize("k", [0.0, 0.6, 1.0])
def test_every_step_is_drawn_from_the_admissible_improving_neighbours(k, two_phase):
    """From the model of the required arcs, step by step, with |B| counted by brute force."""
    n = 4
    rng = np.random.default_rng(5)
    models = brute.models(n)
    number = {str(essential): m for m, essential in enumerate(models.essential)}
    for known in mixtures(n, 15):
        problem, score = small_problem(n, rng)
        admissible = known.admissible()
        options = {"k": k, "two_phase": two_phase, "knowledge": known.core}
        for run in range(5):
            steps, end = engine.trace(problem, run, **options)
            here = models.number[brute.dag_from_arcs(n, known.required)]
            phase = two_phase
            for triple, _, better, rank in steps:
                phase = phase and triple[0]
                kinds = {phase} if two_phase else {False, True}
                targets = [
                    target
                    for (insert, *_), (target,) in models.boundary[here].items()
                    if admissible[target] and insert in kinds
                ]
                gains = sorted((score[t] - score[here] for t in targets), reverse=True)
                gains = [gain for gain in gains if gain > 1e-9]
                (there,) = models.boundary[here][engine.key(triple)]
                assert admissible[there]
                assert better == len(gains)
                assert score[there] - score[here] == pytest.approx(gains[rank], abs=1e-8)
                here = there
            assert number[str(end)] == here


@pytest.mark.parametrize("n", [3, 4, 5])
def test_improving_stays_admissible_and_below_the_best_admissible_model(n):
    rng = np.random.default_rng(n + 10)
    models = brute.models(n)
    number = {str(essential): m for m, essential in enumerate(models.essential)}
    for known in mixtures(n, 8):
        problem, score = small_problem(n, rng)
        admissible = known.admissible()
        best = max(s for s, dags in zip(score, admissible, strict=True) if dags)
        ends = [engine.trace(problem, run, k=0.0, knowledge=known.core)[1] for run in range(4)]
        found = []

        def collect(new, _, found=found):
            found.extend(new)
            return True

        problem.improve(
            [graph for i, graph in enumerate(ends) if graph not in ends[:i]],
            collect,
            tasks=60,
            seed=1,
            max_parents=None,
            n_jobs=1,
            knowledge=known.core,
        )
        for graph, reached, *_ in found:
            assert admissible[number[str(engine.graph(graph))]]
            assert reached <= best + 1e-8
            assert problem.is_local_optimum(graph, None, known.core)


@pytest.mark.parametrize("criterion", ["bic", "bdeu"])
@pytest.mark.parametrize(("n", "number"), [(3, 20), (4, 10), (5, 3)])
def test_the_certified_network_is_the_best_admissible_one(n, number, criterion):
    """Forced and restricted parent sets, against the scores of all admissible DAGs."""
    rng = np.random.default_rng(n + 20)
    limits = {"n_jobs": 1, "memory_mb": 100}
    for known in mixtures(n, number):
        admissible = [dag for dags in known.admissible() for dag in dags]
        most = max(sum(y == child for _, y in known.required) for child in range(n))
        for max_parents in (None, most, most + 1):
            codes, cardinalities = small_table(n, rng)
            direct = DirectScore(codes, cardinalities, criterion=criterion)
            problem = engine.problem(codes, cardinalities, criterion=criterion)
            families = problem.families(
                lambda _: True, max_parents=max_parents, knowledge=known.core, **limits
            )
            arcs, score = families.optimum(lambda _: True, **limits)
            best = brute.dag_from_arcs(n, arcs)
            limit = n if max_parents is None else max_parents
            scores = [direct.of(dag) for dag in admissible if brute.max_in_degree(dag) <= limit]
            assert known.admits(best)
            assert brute.max_in_degree(best) <= limit
            assert score == pytest.approx(max(scores), abs=1e-8)
            assert score == pytest.approx(direct.of(best), abs=1e-8)


def test_sampled_runs_stay_admissible():
    n = 4
    rng = np.random.default_rng(3)
    models = brute.models(n)
    number = {str(essential): m for m, essential in enumerate(models.essential)}
    for known in mixtures(n, 15):
        problem, _ = small_problem(n, rng)
        admissible = known.admissible()
        _, end = engine.trace(problem, 0, k=0.5, sampled=(4, None), knowledge=known.core)
        assert admissible[number[str(end)]]


def test_what_contradicts_the_options_is_refused():
    problem = engine.problem(np.array([[0, 1], [1, 0], [0, 1]]), [2, 2, 2])
    required = Known(3, required=[(0, 2), (1, 2)]).core
    with pytest.raises(_core.CoreError, match="variable 2 has 2 required parents") as caught:
        engine.trace(problem, 0, max_parents=1, knowledge=required)
    assert caught.value.variables == [2, 0, 1]
    assert caught.value.template == "{0} has 2 required parents ({1}, {2}); at most 1 are allowed"
    with pytest.raises(_core.CoreError, match="variable 0 → variable 2 is required"):
        engine.trace(problem, 0, start=engine.EMPTY, knowledge=required)
    with pytest.raises(_core.CoreError, match="variable 0 → variable 2 is required"):
        problem.improve(
            [engine.EMPTY],
            lambda *_: True,
            tasks=1,
            seed=0,
            max_parents=None,
            n_jobs=1,
            knowledge=required,
        )


def test_required_families_must_have_a_score():
    """The sum of two columns, given both, has no variance left: no density, no score."""
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    problem = _core.Problem.gaussian([a, b, a + b], [0, 1, 2], None, "bic", 1.0, 16, 1)
    with pytest.raises(_core.CoreError, match="variable 2 with its required parents") as caught:
        engine.trace(problem, 0, knowledge=Known(3, required=[(0, 2), (1, 2)]).core)
    assert caught.value.variables == [2, 0, 1]
    _, end = engine.trace(problem, 0, knowledge=Known(3, required=[(0, 2)]).core)
    assert (0, 2) in end[0] or (0, 2) in end[1]


# --- large samples ------------------------------------------------------------------------------

LARGE = 1e10


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [5, 6, 7])
def test_true_tiers_and_arcs_leave_the_truth_as_the_only_optimum(n, seed):
    """Whatever k: with a faithful truth that obeys them, no other model is locally optimal."""
    rng = np.random.default_rng([n, seed])
    dag = random_dag(n, 0.5, rng)
    codes, weights = faithful_distribution(dag, [2] * n, LARGE, rng).table(LARGE)
    problem = engine.problem(codes, [2] * n, weights)
    truth = engine.essential_graph(n, brute.arcs_of(dag))
    some = [arc for arc in brute.arcs_of(dag) if rng.random() < 0.3]
    for known in (
        Known(n, tiers=tiered(dag, 1)),
        Known(n, tiers=tiered(dag, 2)),
        Known(n, required=some),
        Known(n, tiers=tiered(dag, 2), required=some),
    ):
        for k in (0.0, 0.5, 1.0):
            for run in range(5):
                assert engine.trace(problem, run, k=k, knowledge=known.core)[1] == truth
