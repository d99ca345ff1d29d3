"""The location model against its formula, written out, and all DAGs of four variables."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest
from tests.oracle import brute

import kes

NAMES = ("a", "b", "u", "v")


def mixed(seed, rows=120):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    u = rng.normal(size=rows) + a * rng.normal()
    b = np.where(rng.random(rows) < 0.6, (u > 0).astype(int), rng.integers(0, 3, rows))
    v = rng.normal(size=rows) + rng.normal() * u + 0.5 * (b == 2)
    return pd.DataFrame({"a": a, "b": b, "u": u, "v": v}).astype({"a": "category", "b": "category"})


def term(frame, members, price):
    """F(S), as the formula says, cell by cell."""
    discrete = [name for name in members if name in "ab"]
    continuous = [name for name in members if name in "uv"]
    cases, p = len(frame), len(continuous)
    groups = [group for _, group in frame.groupby(discrete, observed=True)] if discrete else [frame]
    cells = math.prod(len(frame[name].cat.categories) for name in discrete)
    likelihood = sum(len(group) * math.log(len(group)) for group in groups)
    within = np.zeros((p, p))
    for group in groups:
        centred = group[continuous].to_numpy(float)
        centred = centred - centred.mean(axis=0)
        within += centred.T @ centred / cases
    volume = np.linalg.slogdet(within)[1] + p * math.log(2 * math.pi * math.e) if p else 0.0
    parameters = cells * p + p * (p + 1) / 2
    return likelihood - price * cells - cases / 2 * volume - price * parameters


def scores(frame, price):
    """The score of every DAG, up to a constant."""
    of = {
        brute.bits(s): term(frame, [NAMES[i] for i in s], price)
        for size in range(5)
        for s in itertools.combinations(range(4), size)
    }
    return {
        dag: sum(of[parents | 1 << y] - of[parents] for y, parents in enumerate(dag))
        for dag in brute.all_dags(4)
    }


@pytest.mark.parametrize("criterion", ["location-bic", "location-aic"])
@pytest.mark.parametrize("seed", range(4))
def test_scores_and_the_best_network_are_those_of_the_formula(seed, criterion):
    frame = mixed(seed)
    price = 0.5 * math.log(len(frame)) if criterion == "location-bic" else 1.0
    expected = scores(frame, price)
    empty = kes.score([], frame, criterion=criterion)
    for dag, score in itertools.islice(expected.items(), 0, None, 9):
        arcs = [(NAMES[x], NAMES[y]) for x, y in brute.arcs_of(dag)]
        found = kes.score(arcs, frame, criterion=criterion) - empty
        assert found == pytest.approx(score - expected[(0, 0, 0, 0)], abs=1e-6)
    optima = kes.learn(frame, criterion=criterion, runs=30, prove=True)
    assert optima.proof.proven
    best = max(expected.values()) - expected[(0, 0, 0, 0)]
    assert optima.best.score - empty == pytest.approx(best, abs=1e-6)


def test_rare_states_that_share_a_row_are_no_evidence():
    """Two independent columns with two rare rows each, one of them shared, of 3000."""
    rows = np.arange(3000)
    frame = pd.DataFrame(
        {
            "a": np.where(np.isin(rows, [10, 500]), "rare", "common"),
            "b": np.where(np.isin(rows, [10, 900]), "rare", "common"),
            "u": np.random.default_rng(0).normal(size=3000),
        }
    )

    def gain(criterion):
        return kes.score([("a", "b")], frame, criterion=criterion) - kes.score(
            [], frame, criterion=criterion
        )

    assert gain("location-bic") < 8
    assert gain("bic") > 100  # the degenerate Gaussian takes it for a strong relation


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_tables_of_one_kind_are_refused(kind):
    frame = mixed(0)[["a", "b"] if kind == "discrete" else ["u", "v"]]
    with pytest.raises(kes.KesError) as error:
        kes.learn(frame, criterion="location-bic")
    assert error.value.option == "criterion"
