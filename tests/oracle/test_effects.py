"""Effects against interventions by definition: the truncated factorisation, DAG by DAG, and sums
over paths of linear models."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from pandas.api.types import is_numeric_dtype

import kes
from kes.analysis import adjustment
from kes.analysis.adjustment import Contrast, coefficients
from kes.data.encoder import encode
from kes.graph.core_graph import CoreGraph
from kes.graph.dags import count_dags

from . import brute, distributions, engine
from .brute import members
from .knowledge import mixture
from .scores import DirectScore
from .tables import sample

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


def through_all_paths(dag, covariance):
    """Total effects [y, x] if each node is a linear function of its parents in a DAG."""
    n = len(dag)
    direct = np.zeros((n, n))
    for y, parents in enumerate(dag):
        above = members(parents)
        within = covariance[np.ix_(above, above)]
        direct[y, above] = np.linalg.solve(within, covariance[above, y])
    return np.linalg.inv(np.eye(n) - direct)


@pytest.mark.parametrize("seed", range(8))
def test_slopes_are_sums_over_paths_in_every_network_of_the_class(seed):
    """The covariance is that of the true network, so all networks of its class have it; each says
    another thing of an effect, by the coefficients that it needs for that covariance."""
    rng = np.random.default_rng(seed)
    n = 4 if seed % 2 else 5
    dag = distributions.random_dag(n, 0.5, rng)
    frame, total = linear(dag, rng)
    names, covariance = NAMES[:n], np.cov(frame.to_numpy().T, bias=True)
    assert through_all_paths(dag, covariance) == pytest.approx(total)
    optima = kes.learn(frame, runs=5)
    arcs = [(names[x], names[y]) for x, y in brute.arcs_of(dag)]
    assert optima.best.graph == kes.EssentialGraph.from_dag(names, arcs)
    every = brute.models(n)
    dags = every.classes[every.number[dag]]
    expected = {member: through_all_paths(member, covariance) for member in dags}
    for x, y in permutations(range(n), 2):
        table = optima.effects(names[x], names[y], within=0)
        rows = {brute.bits(map(names.index, row["parents"])): row for row in table}
        assert rows.keys() == {member[x] for member in dags}
        for member in dags:
            assert rows[member[x]]["effect"] == pytest.approx(expected[member][y, x], abs=1e-9)


def test_resampling_is_as_wide_as_the_standard_error_of_a_slope():
    """By the bootstrap: 95 % of the resamples are within about two standard errors, which for a
    regression with normal noise have a closed form."""
    rng = np.random.default_rng(4)
    z = rng.normal(size=800)
    x = z + rng.normal(size=800)
    frame = pd.DataFrame({"z": z, "x": x, "y": 0.7 * x - z + rng.normal(size=800)})
    known = kes.Knowledge(tiers=[["z"], ["x"], ["y"]])
    optima = kes.learn(frame, runs=2, knowledge=known)
    [row] = optima.effects("x", "y", within=0, resamples=400)
    assert row["parents"] == ("z",)
    design = np.column_stack([np.ones(800), x, z])
    slopes, squares, *_ = np.linalg.lstsq(design, frame["y"], rcond=None)
    error = np.sqrt(squares[0] / 797 * np.linalg.inv(design.T @ design)[1, 1])
    assert row["effect"] == pytest.approx(slopes[1])
    # The quantiles of 400 draws are uncertain by about a tenth of the width.
    assert row["high"] - row["low"] == pytest.approx(2 * 1.96 * error, rel=0.25)
    assert row["low"] < row["effect"] < row["high"]


# --- mixed ---------------------------------------------------------------------------------------


def mixed(rng, rows=300):
    """g -> x -> y <- h, with g of three states and h of two, and their table."""
    group = rng.integers(0, 3, rows)
    other = rng.integers(0, 2, rows)
    x = np.array([0.0, 1.0, 3.0])[group] + rng.normal(size=rows)
    y = 0.5 * x - 2.0 * other + rng.normal(size=rows)
    texts = np.array(["g0", "g1", "g2"])[group], np.array(["no", "yes"])[other]
    return pd.DataFrame({"a": texts[0], "b": x, "c": y, "d": texts[1]})


@pytest.mark.parametrize("seed", range(4))
def test_mixed_slopes_are_those_of_least_squares_in_every_network_of_the_class(seed):
    """For every DAG of the class and a continuous y: regress y on x and its parents in that DAG,
    states as indicators; 0 where no directed path leads from x to y."""
    frame = mixed(np.random.default_rng(seed))
    optima = kes.learn(frame, runs=5)
    arcs = [tuple(map(NAMES.index, arc)) for arc in optima.best.graph.to_dag()]
    assert arcs
    every = brute.models(4)
    for x, y in permutations(range(4), 2):
        cause, target = frame[NAMES[x]], frame[NAMES[y]]
        if not is_numeric_dtype(target):
            continue
        expected = {}
        for member in every.classes[every.number[brute.dag_from_arcs(4, arcs)]]:
            columns = [NAMES[x], *(NAMES[v] for v in members(member[x]))]
            design = pd.get_dummies(frame[columns], drop_first=True).assign(one=1.0)
            found = np.linalg.lstsq(design.astype(float), target.astype(float), rcond=None)[0]
            own = NAMES[x] if is_numeric_dtype(cause) else f"{NAMES[x]}_{cause.max()}"
            reached = brute.ancestral_set(member, 1 << y) >> x & 1
            expected[member[x]] = found[design.columns.get_loc(own)] if reached else 0.0
        rows = optima.effects(NAMES[x], NAMES[y], within=0)
        assert len(rows) == len(expected)
        for row in rows:
            parents = brute.bits(map(NAMES.index, row["parents"]))
            assert row["effect"] == pytest.approx(expected[parents], abs=1e-9)


def standardised(frame, x, y, parents):
    """P(y | do(x)) by logistic regression: the penalised likelihood as documented, maximised by a
    general optimiser; then the mean over the cases. A row for each state of x, or two."""
    minimize = pytest.importorskip("scipy.optimize", reason="scipy is not installed").minimize
    design = pd.get_dummies(frame[[x, *parents]], drop_first=True).astype(float)
    scale = (design - design.mean()) / design.std(ddof=0)
    states = sorted(frame[y].unique())
    own = frame[y].map(states.index).to_numpy()

    def logs(given, flat):
        odds = np.column_stack([np.zeros(len(given)), given @ flat.reshape(len(states) - 1, -1).T])
        return odds - np.logaddexp.reduce(odds, axis=1)[:, None]

    full = np.column_stack([np.ones(len(scale)), scale])
    middle = np.eye(full.shape[1])[:1]  # an imaginary case: all regressors at their means

    def loss(flat):
        slopes = np.vstack([np.zeros(full.shape[1]), flat.reshape(len(states) - 1, -1)])[:, 1:]
        penalty = 0.5 * ((slopes - slopes.mean(axis=0)) ** 2).sum()
        real = logs(full, flat)[np.arange(len(own)), own].sum()
        return penalty - real - logs(middle, flat).sum() / len(states)

    start = np.zeros((len(states) - 1) * full.shape[1])
    best = minimize(loss, start, method="BFGS", options={"gtol": 1e-7}).x
    rows = []
    for value in sorted(frame[x].unique()) if frame[x].dtype == object else (0.0, 1.0):
        is_text = not is_numeric_dtype(frame[x])
        changed = frame.assign(**{x: value if is_text else frame[x] + value})
        dummies = pd.get_dummies(changed[[x, *parents]]).astype(float)
        dummies = dummies.reindex(columns=design.columns, fill_value=0.0)
        dummies = (dummies - design.mean()) / design.std(ddof=0)
        rows.append(np.exp(logs(np.column_stack([np.ones(len(frame)), dummies]), best)).mean(0))
    return np.array(rows)


def test_effects_on_probabilities_are_differences_of_probabilities():
    """With a continuous variable among x and its parents, by standardisation."""
    rng = np.random.default_rng(5)
    frame = mixed(rng)
    odds = 1.5 * frame["b"] - 1.0 * (frame["d"] == "yes")
    frame["e"] = np.where(rng.random(300) < 1 / (1 + np.exp(-odds)), "ill", "well")
    data = encode(frame)
    for x, parents in (("b", ["d"]), ("b", []), ("d", ["b"]), ("a", ["b", "d"]), ("c", ["b"])):
        for y in ("e", "a"):
            if y == x or y in parents:
                continue
            codes = None if is_numeric_dtype(frame[x]) else (0, 1)
            found = adjustment.standardised(data, Contrast(x, y, codes, 0), parents)
            expected = standardised(frame.astype({"a": object, "d": object}), x, y, parents)
            assert found == pytest.approx(expected, abs=1e-5)
            assert found.sum(axis=1) == pytest.approx(1)


def test_a_probability_does_not_change_by_more_than_one():
    """Raising x by one unit is far beyond its range here: a line would leave [-1, 1]."""
    rng = np.random.default_rng(0)
    x = rng.normal(0, 0.05, 2000)
    sex = np.where(rng.random(2000) < 1 / (1 + np.exp(60 * x)), "male", "female")
    optima = kes.learn(
        pd.DataFrame({"x": x, "sex": sex, "z": x + rng.normal(0, 0.1, 2000)}), runs=3
    )
    table = optima.effects("x", "sex", resamples=20)
    assert any(row["effect"] for row in table)
    for row in table:
        assert all(-1 <= row[name] <= 1 for name in ("effect", "low", "high"))
    line = np.cov(x, sex == "male")
    assert line[0, 1] / line[0, 0] < -1


def test_known_coefficients_are_found_in_mixed_tables():
    """Of many cases: from g0 to g2, x rises by 3, and y by half of that."""
    optima = kes.learn(mixed(np.random.default_rng(9), rows=20_000), runs=5)
    known = {("a", "b"): 3.0, ("a", "c"): 1.5, ("b", "c"): 0.5, ("d", "c"): -2.0, ("c", "d"): 0.0}
    for (x, y), effect in known.items():
        table = optima.effects(x, y, within=0, resamples=100)
        near = [row for row in table if row["low"] - 0.02 <= effect <= row["high"] + 0.02]
        assert near, (x, y)


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


# --- weighted by a posterior ---------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(10))
def test_the_number_of_dags_of_a_class(seed):
    """All classes with four nodes, without knowledge and with some."""
    models = brute.models(4)
    known = mixture(4, np.random.default_rng(seed)) if seed else None
    for dags, essential in zip(models.classes, models.essential, strict=True):
        admissible = [dag for dag in dags if known is None or known.admits(dag)]
        if admissible:
            graph = CoreGraph.of(engine.graph(essential))
            right = count_dags(4, graph) if known is None else count_dags(4, graph, known.core)
            assert right == len(admissible)


@pytest.mark.parametrize("seed", range(3))
def test_the_mean_over_models_is_the_sum_over_dags(seed):
    """P(DAG) times the effect in that DAG, over all DAGs, by exp(BIC) and adjustment."""
    rng = np.random.default_rng(seed)
    codes = sample(brute.all_dags(4)[100 * seed + 200], [2] * 4, 120, rng)
    data = kes.Dataset(tuple("abcd"), [(0, 1)] * 4, np.array(codes))
    optima = kes.learn(data, runs=5)
    post = optima.posterior()
    found = optima.effects("a", "b", posterior=post)
    score = DirectScore(codes, [2] * 4, criterion="bic").of
    by_parents, weights = {}, {}
    for row in found:
        by_parents[row["parents"], row["reaches"]] = row["effect"]
    logs = {dag: score(dag) for dag in brute.all_dags(4)}
    top = max(logs.values())
    for dag, log in logs.items():
        parents = tuple("abcd"[i] for i in members(dag[0]))
        reaches = bool(brute.ancestral_set(dag, 1 << 1) & 1)
        key = parents, reaches
        weights[key] = weights.get(key, 0.0) + np.exp(log - top)
    total = sum(weights.values())
    shared = sum(weights[key] for key in by_parents) / total
    assert shared > 0.98
    right = sum(by_parents[key] * weights[key] for key in by_parents) / total
    assert found.covered >= 0.99
    assert found.mean == pytest.approx(right, abs=0.02)
    for key in by_parents:
        own = sum(r["weight"] for r in found if (r["parents"], r["reaches"]) == key)
        assert own == pytest.approx(weights[key] / total, abs=0.011)
