"""Scores and gains of the engine against the textbook formulas, on all models."""

import numpy as np
import pytest

import kes

from . import brute, engine
from .scores import DirectScore
from .tables import sample

CRITERIA = (("bic", 1.0), ("aic", 1.0), ("bdeu", 1.0), ("bdeu", 25.0), ("qnml", 1.0))
WEIGHTS = ("none", "integer", "real")


def table(n, kind):
    """Mixed cardinalities, one state that never occurs, dependences, and weights of one kind."""
    rng = np.random.default_rng([n, WEIGHTS.index(kind)])
    cardinalities = [2, 3, 2, 4, 3][:n]
    dag = tuple((1 << y) - 1 & 0b01011 for y in range(n))
    codes = sample(dag, cardinalities, 60, rng)
    cardinalities[-1] += 1
    weights = {
        "none": None,
        "integer": rng.integers(0, 9, 60).astype(float),
        "real": rng.exponential(50.0, 60),
    }[kind]
    return codes, cardinalities, weights


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("criterion", "ess"), CRITERIA)
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_score_of_every_dag(n, criterion, ess, kind):
    codes, cardinalities, weights = table(n, kind)
    direct = DirectScore(codes, cardinalities, weights, criterion, ess)
    problem = engine.problem(codes, cardinalities, weights, criterion, ess)
    assert problem.total_weight == pytest.approx(direct.total, rel=1e-14)
    for dag in brute.all_dags(n):
        assert problem.score(brute.arcs_of(dag)) == pytest.approx(direct.of(dag), rel=1e-12)


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize(("criterion", "ess"), CRITERIA)
@pytest.mark.parametrize("n", [2, 3, 4])
def test_gain_of_every_neighbour_is_the_difference_of_full_scores(n, criterion, ess, kind):
    check_gains(n, criterion, ess, kind)


@pytest.mark.parametrize(
    ("criterion", "kind"),
    [("bic", "none"), ("aic", "integer"), ("bdeu", "real"), ("qnml", "integer")],
)
def test_gain_of_every_neighbour_with_five_nodes(criterion, kind):
    check_gains(5, criterion, 1.0, kind)


def check_gains(n, criterion, ess, kind):
    codes, cardinalities, weights = table(n, kind)
    direct = DirectScore(codes, cardinalities, weights, criterion, ess)
    problem = engine.problem(codes, cardinalities, weights, criterion, ess)
    models = brute.models(n)
    score = [direct.of(dags[0]) for dags in models.classes]
    rounding = 1e-12 * abs(score[models.empty])  # far below the smallest gain that could matter
    for m, reached in enumerate(models.boundary):
        for triple, (neighbour,) in reached.items():
            delta = problem.delta(engine.core_triple(triple))
            assert abs(delta - (score[neighbour] - score[m])) < rounding


@pytest.mark.parametrize(("criterion", "ess"), CRITERIA)
def test_score_as_users_see_it(criterion, ess):
    """`kes.score` of graphs and of arcs; a state that does not occur is declared by weight 0."""
    codes, cardinalities, weights = table(3, "real")
    declared = np.column_stack([codes, [r - 1 for r in cardinalities]]).T
    weights = np.append(weights, 0.0)
    direct = DirectScore(codes, cardinalities, weights[:-1], criterion, ess)
    for dag in brute.all_dags(3):
        arcs = [(f"x{a}", f"x{b}") for a, b in brute.arcs_of(dag)]
        graph = kes.EssentialGraph.from_dag(["x0", "x1", "x2"], arcs)
        for model in (arcs, graph):
            ours = kes.score(model, declared, criterion=criterion, ess=ess, weights=weights)
            assert ours == pytest.approx(direct.of(dag), rel=1e-12)


@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu", "qnml"])
def test_equivalent_dags_score_alike(criterion):
    """The formulas are score equivalent, so any DAG may represent its class."""
    codes, cardinalities, weights = table(4, "real")
    direct = DirectScore(codes, cardinalities, weights, criterion, 2.0)
    for dags in brute.models(4).classes:
        scores = [direct.of(dag) for dag in dags]
        assert max(scores) - min(scores) < 1e-10 * abs(scores[0])


@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu", "qnml"])
def test_a_deletion_undoes_an_insertion_exactly(criterion):
    codes, cardinalities, weights = table(5, "real")
    problem = engine.problem(codes, cardinalities, weights, criterion)
    for x, y, given in brute.statements(5):
        gain = problem.delta((True, x, y, list(brute.members(given))))
        assert problem.delta((False, x, y, list(brute.members(given)))) == -gain


def test_weights_count_rows():
    """A row of weight 3 is the row written three times; one of weight 0 declares states only."""
    codes, cardinalities, weights = table(4, "integer")
    written_out = np.repeat(codes, weights.astype(int), axis=1)
    for criterion, ess in CRITERIA:
        weighted = engine.problem(codes, cardinalities, weights, criterion, ess)
        plain = engine.problem(written_out, cardinalities, None, criterion, ess)
        for dag in brute.all_dags(4)[::7]:
            arcs = brute.arcs_of(dag)
            assert weighted.score(arcs) == plain.score(arcs)  # the same counts: the same bits
