"""Effects against interventions by definition: the truncated factorisation, DAG by DAG, and sums
over paths of linear models."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis.adjustment import coefficients

from . import brute, distributions
from .brute import members

NAMES = "abcde"


# --- discrete ------------------------------------------------------------------------------------


def intervened(joint, dag, x, y):
    """P(y | do(x)): the product of P(v | parents of v) over all v but x, summed over the others.

    Returns the table with a row for each state of x.
    """
    n, product = joint.ndim, np.ones(joint.shape)
    for v, parents in enumerate(dag):
        if v != x:
            family = joint.sum(axis=others(n, parents | 1 << v), keepdims=True)
            product = product * family / family.sum(axis=v, keepdims=True)
    table = product.sum(axis=others(n, 1 << x | 1 << y))
    return table if x < y else table.T


def others(n, nodes):
    return tuple(v for v in range(n) if not nodes >> v & 1)


def learned(distribution, total=1e9):
    """The optima of a distribution written out as a table, and the class of the best of them."""
    codes, weights = distribution.table(total)
    names, n = tuple(NAMES[: distribution.n]), distribution.n
    states = [range(r) for r in distribution.cardinalities]
    optima = kes.learn(kes.Dataset(names, states, codes, weights), runs=5)
    arcs = [(names.index(a), names.index(b)) for a, b in optima.best.graph.to_dag()]
    every = brute.models(n)
    return optima, every.classes[every.number[brute.dag_from_arcs(n, arcs)]]


@pytest.mark.parametrize("seed", range(8))
def test_every_network_of_the_class_has_its_row(seed):
    """The truth is in the class of the best optimum, so all its DAGs factorise the distribution;
    each has the effect of the row with its parents of x, and every row is one of theirs."""
    rng = np.random.default_rng(seed)
    n = 4 if seed % 2 else 5
    dag = distributions.random_dag(n, 0.6, rng)
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    distribution = distributions.random_distribution(dag, cardinalities, rng)
    optima, dags = learned(distribution)
    assert distribution.is_in_model(dags[0])
    for x, y in permutations(range(n), 2):
        table = optima.effects(NAMES[x], NAMES[y], within=0)
        rows = {frozenset(row["parents"]): row for row in table if row["optimum"] == 0}
        assert {brute.bits(map(NAMES.index, parents)) for parents in rows} == {d[x] for d in dags}
        for member in dags:
            row = rows[frozenset(NAMES[v] for v in members(member[x]))]
            expected = intervened(distribution.joint, member, x, y)
            reached = bool(brute.ancestral_set(member, 1 << y) >> x & 1)
            assert row["reaches"] == reached
            for i, j in np.ndindex(*expected.shape):
                assert row[f"P({j}|do({i}))"] == pytest.approx(expected[i, j], abs=1e-6)
            change = expected[-1, -1] - expected[0, -1]
            assert row["effect"] == pytest.approx(change, abs=1e-6)
            assert reached or row["effect"] == 0


# --- continuous ----------------------------------------------------------------------------------


def linear(dag, rng, rows=5000):
    """A table whose *sample* covariance is that of a random linear model, and its total effects.

    Then regression has no sampling error: an effect by adjustment must be the sum over paths.
    """
    n = len(dag)
    direct = np.zeros((n, n))  # direct[y, x]: coefficient of x in the equation of y
    for x, y in brute.arcs_of(dag):
        direct[y, x] = rng.choice([-1, 1]) * rng.uniform(0.5, 1.2)
    total = np.linalg.inv(np.eye(n) - direct)
    noise = rng.normal(size=(rows, n))
    noise -= noise.mean(axis=0)
    white = np.linalg.solve(np.linalg.cholesky(noise.T @ noise / rows), noise.T)
    values = (total @ white).T
    return pd.DataFrame(values, columns=list(NAMES[:n])), total


@pytest.mark.parametrize("seed", range(6))
def test_slopes_are_sums_over_paths(seed):
    rng = np.random.default_rng(seed)
    dag = distributions.random_dag(5, 0.5, rng)
    frame, total = linear(dag, rng)
    optima = kes.learn(frame, runs=5)
    assert optima.best.graph == kes.EssentialGraph.from_dag(
        NAMES, [(NAMES[x], NAMES[y]) for x, y in brute.arcs_of(dag)]
    )
    for x, y in permutations(range(5), 2):
        parents = frozenset(NAMES[v] for v in members(dag[x]))
        rows = optima.effects(NAMES[x], NAMES[y], within=0)
        [row] = [row for row in rows if frozenset(row["parents"]) == parents]
        assert row["effect"] == pytest.approx(total[y, x], abs=1e-9)


def test_coefficients_are_those_of_the_normal_equations():
    rng = np.random.default_rng(0)
    cause, others_ = rng.normal(size=(50, 2)), rng.normal(size=(50, 3))
    others_[:, 1] += cause[:, 0]
    target, weights = rng.normal(size=50), rng.uniform(0, 3, size=50)
    design = np.hstack([cause, others_, np.ones((50, 1))])
    expected = np.linalg.solve(
        design.T @ (weights[:, None] * design), design.T @ (weights * target)
    )
    assert coefficients(target, cause, others_, weights) == pytest.approx(expected[:2])
    # Others that say the same twice do no harm; a cause that they determine has no effect to find.
    twice = np.hstack([others_, others_[:, :1]])
    assert coefficients(target, cause, twice, weights) == pytest.approx(expected[:2])
    assert np.isnan(coefficients(target, cause, np.hstack([others_, cause]), weights)).all()


def test_dowhy_finds_the_same():
    """The graphs are in the form that DoWhy reads, one for each set of parents, and say what ours
    do: its own choice of what to adjust for gives the same effect."""
    dowhy = pytest.importorskip("dowhy", reason="dowhy is not installed: it is large")
    dag = brute.dag_from_arcs(5, [(0, 1), (1, 2), (3, 2), (2, 4), (0, 4)])
    frame, _ = linear(dag, np.random.default_rng(1))
    optima = kes.learn(frame, runs=5)
    for x, y in (("b", "e"), ("a", "e"), ("b", "c"), ("d", "e")):
        table = optima.effects(x, y, within=0)
        every = optima.best.to_dowhy(x, y)
        assert len(every) == len(table)
        for row, arguments in zip(table, every, strict=True):
            assert set(arguments["graph"].predecessors(x)) == set(row["parents"])
            if not row["reaches"]:
                continue
            model = dowhy.CausalModel(data=frame, **arguments)
            found = model.estimate_effect(
                model.identify_effect(proceed_when_unidentifiable=True),
                method_name="backdoor.linear_regression",
                effect_modifiers=[],  # no products with other variables: the model has none
            )
            assert found.value == pytest.approx(row["effect"], abs=1e-9)
