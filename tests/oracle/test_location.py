"""The location model on ranks against its formula, written out, and all DAGs of five variables."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from tests.oracle import brute

import kes

NAMES = ("a", "b", "c", "u", "v")
DISCRETE = "abc"
EVERY = 97
"""Of the 29 281 DAGs of five variables, every one of this number is scored by kes."""


def mixed(seed, rows=150):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 2, rows)
    u = rng.exponential(size=rows) + a * rng.normal()
    b = np.where(rng.random(rows) < 0.6, (u > 1).astype(int), rng.integers(0, 3, rows))
    c = np.where(rng.random(rows) < 0.7, a ^ (b > 0), rng.integers(0, 2, rows))
    v = np.exp(rng.normal(size=rows) + rng.normal() * u + 0.8 * (b == 2))
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "u": u, "v": v})
    return frame.astype(dict.fromkeys(DISCRETE, "category"))


def normal_scores(column):
    """The normal quantile of (mean rank - 1/2) / N."""
    shares = (column.rank(method="average") - 0.5) / len(column)
    return shares.map(NormalDist().inv_cdf)


def term(frame, members, price, factor=1.0):
    """F(S), as the formula says, cell by cell."""
    discrete = [name for name in members if name in DISCRETE]
    continuous = [name for name in members if name not in DISCRETE]
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
    return likelihood - price * cells - cases / 2 * volume - factor * price * parameters


def scores(frame, price, factor=1.0):
    """The score of every DAG, less that of the empty one."""
    sets = itertools.chain(*(itertools.combinations(range(5), size) for size in range(6)))
    of = {brute.bits(s): term(frame, [NAMES[i] for i in s], price, factor) for s in sets}
    empty = sum(of[1 << y] - of[0] for y in range(5))
    return {
        dag: sum(of[parents | 1 << y] - of[parents] for y, parents in enumerate(dag)) - empty
        for dag in brute.all_dags(5)
    }


def prepared(frame, transform):
    if transform == "none":
        return frame
    return frame.assign(u=normal_scores(frame["u"]), v=normal_scores(frame["v"]))


@pytest.mark.parametrize(
    ("criterion", "transform", "penalty"),
    [("bic", None, 1.0), ("aic", "ranks", 1.0), ("bic", "none", 2.5)],
)
@pytest.mark.parametrize("seed", range(2))
def test_scores_and_the_best_network_are_those_of_the_formula(seed, criterion, transform, penalty):
    frame = mixed(seed)
    price = 0.5 * math.log(len(frame)) if criterion == "bic" else 1.0
    expected = scores(prepared(frame, transform), price, penalty)
    options = {"criterion": criterion, "transform": transform, "penalty": penalty}
    empty = kes.score([], frame, **options)
    for dag, score in itertools.islice(expected.items(), 0, None, EVERY):
        arcs = [(NAMES[x], NAMES[y]) for x, y in brute.arcs_of(dag)]
        found = kes.score(arcs, frame, **options) - empty
        assert found == pytest.approx(score, abs=1e-6)
    optima = kes.learn(frame, runs=30, prove=True, **options)
    assert optima.proof.proven
    assert optima.best.score - empty == pytest.approx(max(expected.values()), abs=1e-6)
    assert all(optimum.is_local_optimum for optimum in optima.of_runs)


def test_evidence_is_the_difference_between_the_best_networks():
    frame = mixed(1)
    expected = scores(prepared(frame, None), 0.5 * math.log(len(frame)))
    optima = kes.learn(frame, runs=30)
    for row in optima.evidence():
        x, y = NAMES.index(row["x"]), NAMES.index(row["y"])
        joined = {dag: dag[y] >> x & 1 or dag[x] >> y & 1 for dag in expected}
        best = [max(s for dag, s in expected.items() if joined[dag] == side) for side in (1, 0)]
        assert row["evidence"] == pytest.approx(best[0] - best[1], abs=1e-6)


def test_gains_of_neighbours_are_differences_of_scores():
    frame = mixed(2)
    graph = kes.learn(frame, runs=5).best.graph
    score = kes.score(graph, frame)
    for neighbour in kes.inclusion_boundary(graph, frame):
        assert kes.score(neighbour.graph, frame) - score == pytest.approx(neighbour.delta, abs=1e-8)


# --- one row does not decide ----------------------------------------------------------------------


def rare_rows():
    """Two independent columns with two rare rows each, one of them shared, of 3000."""
    rows = np.arange(3000)
    return pd.DataFrame(
        {
            "a": np.where(np.isin(rows, [10, 500]), "rare", "common"),
            "b": np.where(np.isin(rows, [10, 900]), "rare", "common"),
            "u": np.random.default_rng(0).normal(size=3000),
        }
    )


def gain(frame, arc, **options):
    return kes.score([arc], frame, **options) - kes.score([], frame, **options)


def test_rare_states_that_share_a_row_are_no_evidence():
    frame = rare_rows()
    assert gain(frame, ("a", "b")) < 8
    assert gain(frame, ("a", "b"), criterion="degenerate-bic", transform="none") > 400
    # The same as two discrete columns.
    alone = gain(frame[["a", "b"]], ("a", "b"))
    assert gain(frame, ("a", "b")) == pytest.approx(alone, abs=1e-8)


def one_gap():
    """Two correlated answers, which one row lacks: their states "none" are one and the same."""
    rng = np.random.default_rng(3)
    latent = rng.normal(size=1500)
    answer = lambda: np.digitize(latent + rng.normal(size=1500), [-1, 0, 1])  # noqa: E731
    frame = pd.DataFrame({"x": answer(), "y": answer(), "u": rng.normal(size=1500)})
    frame = frame.astype({"x": str, "y": str})
    frame.loc[7, ["x", "y"]] = "none"
    return frame


def test_one_row_does_not_keep_related_columns_apart():
    frame = one_gap()
    options = {"criterion": "degenerate-bic", "transform": "none"}
    best = kes.learn(frame, runs=5, **options).best.graph
    assert frozenset("xy") not in best.skeleton  # the degenerate Gaussian calls them collinear
    optima = kes.learn(frame)
    assert frozenset("xy") in optima.best.graph.skeleton
    assert optima.proof.proven
    assert gain(frame, ("x", "y")) > 50


# --- small tables ---------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["bic", "aic"])
@pytest.mark.parametrize("rows", [6, 10, 25])
def test_cells_of_single_cases_are_no_evidence(rows, criterion):
    """Independent columns, in which many cells have one case, whose mean is perfect."""
    edges = 0
    for seed in range(20):
        rng = np.random.default_rng([rows, seed])
        states = [f"s{i}" for i in rng.integers(0, 5, rows)]
        frame = pd.DataFrame({"d": states, "u": rng.normal(size=rows), "v": rng.normal(size=rows)})
        if frame["d"].nunique() > 1:
            graph = kes.learn(frame, criterion=criterion, kinds={"d": "discrete"}).best.graph
            edges += len(graph.skeleton)
    # Three pairs in each table; AIC joins independent pairs in about 16 % of tables at any size.
    assert edges <= (6 if criterion == "bic" else 20)


# --- tables of one kind ---------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["discrete", "continuous"])
def test_the_degenerate_gaussian_is_for_mixed_tables(kind):
    frame = mixed(0)[["a", "b"] if kind == "discrete" else ["u", "v"]]
    with pytest.raises(kes.KesError) as error:
        kes.learn(frame, criterion="degenerate-bic")
    assert error.value.option == "criterion"
