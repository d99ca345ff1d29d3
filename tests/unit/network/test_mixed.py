"""Mixed networks against integrals done on a grid, and against formulas written out here."""

from itertools import product

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.network import Linear, Logistic, MixedNetwork
from kes.network.query import Probability


def clinic() -> MixedNetwork:
    """sex -> dose <- age; sex -> level; (dose, level) -> ill; (ill, dose) -> cost."""
    return MixedNetwork(
        nodes=["cost", "ill", "age", "dose", "sex", "level"],
        states={"sex": ["f", "m"], "level": [0, 1, 2], "ill": [False, True]},
        parents={
            "dose": ["age", "sex"],
            "level": ["sex"],
            "ill": ["dose", "level"],
            "cost": ["ill", "dose"],
        },
        models={
            "sex": [0.6, 0.4],
            "age": Linear(50.0, deviation=10.0),
            "dose": Linear(1.0, [0.05, 1.0], deviation=0.8),
            "level": [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]],
            "ill": Logistic([[-4.0, 1.0, 0.5, -0.5]]),
            "cost": Linear(3.0, [2.0, 0.5], deviation=1.0),
        },
    )


def normal(x, mean, deviation):
    return -0.5 * ((x - mean) / deviation) ** 2 - np.log(deviation * np.sqrt(2 * np.pi))


def log_density(network, row):
    """The chain rule, written out for `clinic`."""
    tables = {"sex": [0.6, 0.4], "level": [[0.2, 0.3, 0.5], [0.5, 0.25, 0.25]]}
    male = float(row["sex"] == "m")
    odds = -4 + row["dose"] + {0: 0.0, 1: 0.5, 2: -0.5}[row["level"]]
    ill = 1 / (1 + np.exp(-odds))
    return (
        np.log(tables["sex"][int(male)])
        + np.log(tables["level"][int(male)][row["level"]])
        + normal(row["age"], 50, 10)
        + normal(row["dose"], 1 + 0.05 * row["age"] + male, 0.8)
        + np.log(ill if row["ill"] else 1 - ill)
        + normal(row["cost"], 3 + 2 * row["ill"] + 0.5 * row["dose"], 1.0)
    )


def total(network, **known):
    """Sum and integrate the density over all that is not known.

    With steps of at most half a deviation, the trapezoidal rule is exact to rounding for normal
    densities, and nearly so times a logistic function.
    """
    discrete = [n for n in network.nodes if network.states[n] and n not in known]
    grids = {"age": np.linspace(-30, 130, 61), "dose": np.linspace(-6, 14, 81)}
    grids["cost"] = np.linspace(-10, 25, 81)
    open_nodes = [n for n in grids if n not in known]
    axes = np.meshgrid(*(grids[n] for n in open_nodes), indexing="ij", sparse=True)
    result = 0.0
    for states in product(*(network.states[n] for n in discrete)):
        row = dict(known) | dict(zip(discrete, states, strict=True))
        row |= dict(zip(open_nodes, axes, strict=True))
        values = np.exp(log_density(network, row))
        values = np.broadcast_to(values, [len(grids[n]) for n in open_nodes])
        for node in reversed(open_nodes):
            values = np.trapezoid(values, x=grids[node], axis=-1)
        result += float(values)
    return result


ROW = {"cost": 6.0, "ill": True, "age": 60.0, "dose": 4.5, "sex": "m", "level": 1}


# --- cases ---------------------------------------------------------------------------------------


def test_log_likelihood_is_the_chain_rule():
    network = clinic()
    data = network.sample(30, seed=1).to_pandas()
    expected = [log_density(network, row) for row in data.to_dict("records")]
    shuffled = data[sorted(data)]
    np.testing.assert_allclose(network.log_likelihood(shuffled, per_row=True), expected)
    assert network.log_likelihood(data) == pytest.approx(sum(expected))


@pytest.mark.parametrize(
    ("hidden", "tolerance"),
    [
        (["sex"], 1e-9),  # discrete: exact
        (["sex", "level", "ill"], 1e-9),
        (["cost"], 1e-9),  # barren
        (["age"], 1e-6),  # linear families: exact, the grid is not
        (["age", "cost"], 1e-6),
        (["dose"], 1e-3),  # a logistic child: evenly spread quantiles
        (["dose", "age"], 0.05),  # draws
        (["dose", "sex"], 0.1),
        (["dose", "sex", "level", "age", "cost"], 0.1),
    ],
)
def test_gaps_are_summed_out(hidden, tolerance):
    network = clinic()
    known = {node: value for node, value in ROW.items() if node not in hidden}
    row = pd.DataFrame([ROW | dict.fromkeys(hidden)])
    found = network.log_likelihood(row, unseen="missing")
    assert found == pytest.approx(np.log(total(network, **known)), abs=tolerance)


def test_samples_have_the_kinds_of_their_nodes():
    network, n = clinic(), 20_000
    sample = network.sample(n, seed=3)
    assert sample.names == network.nodes
    assert sample.kinds == tuple(network.kinds.values())
    data = sample.to_pandas()
    assert data.equals(network.sample(n, seed=3).to_pandas())
    assert data[:100].equals(network.sample(100, seed=3).to_pandas())
    # Each within five standard errors of what the grid says.
    ill = total(network, ill=True)
    assert abs((data["ill"] == True).mean() - ill) < 5 * (ill / n) ** 0.5  # noqa: E712
    mean = 1 + 0.05 * 50 + 0.4
    deviation = (0.8**2 + (0.05 * 10) ** 2 + 0.4 * 0.6) ** 0.5
    assert abs(data["dose"].mean() - mean) < 5 * deviation / n**0.5
    assert data["dose"].std() == pytest.approx(deviation, rel=5 / (2 * n) ** 0.5)


def test_cases_can_be_drawn_given_nodes_without_parents():
    """Ages are those of hardly any sample, and the dose still follows its CPD."""
    network, n = clinic(), 5000
    rows = pd.DataFrame({"age": np.linspace(80.0, 90.0, n), "sex": ["f", "m"] * (n // 2)})
    given = kes.data.encode(rows, kinds={"age": "continuous"})
    drawn = network.sample_given(given, seed=3).to_pandas()
    assert drawn["age"].tolist() == rows["age"].tolist()
    assert drawn["sex"].tolist() == rows["sex"].tolist()
    rest = drawn["dose"] - (1 + 0.05 * rows["age"] + (rows["sex"] == "m"))
    assert abs(rest.mean()) < 5 * 0.8 / n**0.5
    assert rest.std() == pytest.approx(0.8, rel=5 / (2 * n) ** 0.5)
    assert abs(np.corrcoef(rest, rows["age"])[0, 1]) < 5 / n**0.5


# --- questions -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("evidence", "exact"),
    [
        ({"dose": 4.0, "sex": "m"}, True),
        ({"dose": 4.0, "cost": 8.0, "age": 45.0}, True),
        ({"dose": 4.0, "cost": 8.0}, True),  # age and sex bear on each other: a mixture
        ({"sex": "f"}, False),
        ({"cost": 8.0, "level": 2}, False),
        ({}, False),
    ],
)
def test_probabilities(evidence, exact):
    """Exact, or off by less than five of the standard errors that come with them."""
    network = clinic()
    below = total(network, **evidence) if evidence else 1.0
    found = network.probability("ill", evidence, draws=20_000)
    assert list(found) == [False, True]
    expected = total(network, ill=True, **evidence) / below
    assert abs(found[True].value - expected) < (1e-6 if exact else 5 * found[True].error)
    assert found[True].error == 0 if exact else 0 < found[True].error < 0.02
    assert float(found[False]) == pytest.approx(1 - found[True].value)
    assert found == network.probability("ill", evidence, draws=20_000)
    other = network.probability("ill", evidence, draws=20_000, seed=1)
    assert (other == found) == exact


def test_draws_that_agree_leave_an_error():
    """A state with probability below e^-30 is in none of 1000 draws, nor is a cost of 1000."""
    known = {"level": 2, "sex": "f"}
    sure = clinic()
    models = {node: sure.local(node) for node in sure.nodes}
    models["ill"] = Logistic([[-40.0, 1.0, 0.5, -0.5]])
    parents = {node: sure.parents[node] for node in sure.nodes}
    network = MixedNetwork(sure.nodes, sure.states, parents, models)
    found = network.probability("ill", known, draws=1000)
    assert [float(p) for p in found.values()] == pytest.approx([1.0, 0.0])
    assert [p.error for p in found.values()] == pytest.approx([1e-3, 1e-3])  # weights are equal
    assert [str(p) for p in found.values()] == ["1.0000 ± 0.0010", "0.0000 ± 0.0010"]
    costs = network.probability({"cost": kes.Range(above=1000)}, known, draws=1000)
    assert (costs.value, costs.error) == (0.0, pytest.approx(1e-3))


def test_no_standard_error_is_shown_as_zero():
    assert str(Probability(0.3, 0.00005)) == "0.3000 ± 0.0001"
    assert str(Probability(1.0, 3e-17)) == "1.0000 ± 3e-17"
    assert str(Probability(1.0)) == "1.0000"


def test_joint_probabilities():
    network = clinic()
    found = network.probability({"ill": True, "sex": "m"}, {"cost": 8.0}, draws=20_000)
    expected = total(network, ill=True, sex="m", cost=8.0) / total(network, cost=8.0)
    assert abs(found.value - expected) < 5 * found.error < 0.1
    exact = network.probability({"level": 2, "sex": "m"})
    assert exact.value == pytest.approx(0.4 * 0.25)
    assert exact.error == 0
    assert network.probability({"sex": "m"}, {"sex": "f"}).value == 0
    assert network.probability({}).value == 1
    assert str(network.probability({"sex": "m"})) == "0.4000"


def moment(network, node, power, **known):
    """E(node^power | known), by the grid."""
    values = np.linspace(-6, 14, 161) if node != "age" else np.linspace(-30, 130, 81)
    density = np.array([total(network, **{node: value}, **known) for value in values])
    return (values**power * density).sum() / density.sum()


@pytest.mark.parametrize(
    ("node", "evidence"),
    [
        ("dose", {k: v for k, v in ROW.items() if k != "dose"}),
        ("dose", {"sex": "f", "age": 40.0}),
        ("dose", {"ill": True, "level": 0, "age": 60.0}),
        ("age", {"cost": 9.0, "ill": True, "sex": "f", "level": 1}),
    ],
)
def test_moments(node, evidence):
    network = clinic()
    found = network.conditional(node, evidence, draws=20_000)
    mean = moment(network, node, 1, **evidence)
    deviation = (moment(network, node, 2, **evidence) - mean**2) ** 0.5
    assert abs(found.mean[0] - mean) < max(5 * found.error[0], 1e-5)
    assert found.deviation[0] == pytest.approx(deviation, rel=0.03)


def test_moments_of_several_nodes():
    """Without evidence: sex and age are independent causes of dose."""
    found = clinic().conditional(["age", "dose"], draws=40_000)
    assert found.nodes == ("age", "dose")
    np.testing.assert_allclose(found.mean, [50, 3.9], atol=5 * found.error.max())
    expected = [[100, 5], [5, 0.25 + 0.64 + 0.24]]
    np.testing.assert_allclose(found.covariance, expected, rtol=0.06)


@pytest.mark.parametrize("hidden", [[], ["age"], ["age", "level"]])
def test_predictions_of_a_state(hidden):
    network = clinic()
    data = network.sample(8, seed=2).to_pandas()
    chances = network.predict(data.drop(columns=hidden), "ill", probabilities=True)
    for row, (_, ill) in zip(data.to_dict("records"), chances, strict=True):
        known = {node: row[node] for node in row if node not in ("ill", *hidden)}
        assert ill == pytest.approx(total(network, ill=True, **known) / total(network, **known))
    chosen = network.predict(data.drop(columns=hidden), "ill")
    assert chosen.tolist() == (chances[:, 1] > 0.5).tolist()


def test_predictions_of_a_value():
    network = clinic()
    data = network.sample(3, seed=2).to_pandas()
    means, deviations = network.predict(data, "dose", deviations=True)
    for row, mean, deviation in zip(data.to_dict("records"), means, deviations, strict=True):
        known = {node: row[node] for node in row if node != "dose"}
        first = moment(network, "dose", 1, **known)
        assert mean == pytest.approx(first, abs=1e-3)
        spread = moment(network, "dose", 2, **known) - first**2
        assert deviation == pytest.approx(spread**0.5, rel=1e-2)


def test_rows_are_predicted_one_by_one():
    """The imputation of a row does not depend on the other rows or on their gaps."""
    network = clinic()
    data = network.sample(12, seed=5).to_pandas().drop(columns=["dose"])
    data.loc[::3, "age"] = np.nan
    together = network.predict(data, "ill", probabilities=True, unseen="missing")
    for i in range(12):
        alone = network.predict(data[i : i + 1], "ill", probabilities=True, unseen="missing")
        np.testing.assert_allclose(together[i], alone[0], rtol=1e-12)


def test_answers_about_both_kinds_are_exact_however_improbable_the_evidence():
    """Joint normal densities of all children, for each state of their common cause.

    x is g plus noise of variance 9, and c is x plus noise of variance 0.09: given g, the c of one x
    have covariance 9 and variance 9.09. Draws of x would hardly ever be near what is known of c.
    """
    rng = np.random.default_rng(0)
    g = rng.choice([0, 1], 500)
    table, arcs = {"g": np.where(g, "v", "u")}, []
    for k in range(3):
        x = g + 3 * rng.normal(size=500)
        table[f"x{k}"] = x
        arcs += [("g", f"x{k}"), *((f"x{k}", f"c{k}{i}") for i in range(2))]
        table |= {f"c{k}{i}": x + 0.3 * rng.normal(size=500) for i in range(2)}
    network = kes.fit(arcs, pd.DataFrame(table))
    known = {name: 40.0 + i for i, name in enumerate(n for n in table if n.startswith("c"))}
    log = []
    for state in ("u", "v"):
        total = np.log(network.probability({"g": state}).value)
        for k in range(3):
            root = network.conditional(f"x{k}", {"g": state})
            parts = [network.conditional(f"c{k}{i}", {f"x{k}": 0.0}) for i in range(2)]
            slopes = [
                network.conditional(f"c{k}{i}", {f"x{k}": 1.0}).mean[0] - parts[i].mean[0]
                for i in range(2)
            ]
            mean = [parts[i].mean[0] + slopes[i] * root.mean[0] for i in range(2)]
            covariance = np.outer(slopes, slopes) * root.deviation[0] ** 2 + np.diag(
                [part.deviation[0] ** 2 for part in parts]
            )
            apart = np.array([known[f"c{k}{i}"] for i in range(2)]) - mean
            total += -0.5 * apart @ np.linalg.solve(covariance, apart)
            total -= 0.5 * np.linalg.slogdet(covariance)[1]
        log.append(total)
    found = network.probability("g", known)
    assert found["u"].error == 0
    expected = 1 / (1 + np.exp(log[1] - log[0]))
    assert found["u"].value == pytest.approx(expected, rel=1e-9)


def test_draws_that_are_worth_too_little_are_no_answer():
    network = clinic()
    for ask in (
        lambda: network.probability("sex", {"cost": 60.0}),
        lambda: network.conditional("age", {"cost": 60.0}),
    ):
        with refused("effective sample size", option="draws"):
            ask()


def test_draws_that_are_worth_little_are_warned_of():
    network = clinic()
    row = pd.DataFrame({"cost": [60.0]})
    with pytest.warns(UserWarning, match=r"in 1 of 1 rows.* effective sample size below 30"):
        network.predict(row, "sex")


@pytest.mark.parametrize(
    ("ask", "fields"),
    [
        (lambda n: n.probability("age"), {"column": "age"}),
        (lambda n: n.conditional("sex"), {"column": "sex"}),
        (lambda n: n.probability("sex", {"level": 7}), {"column": "level"}),
        (lambda n: n.probability("sex", draws=0), {"option": "draws"}),
        (lambda n: n.cpt("ill"), {"column": "ill"}),
        (lambda n: n.coefficients("sex"), {"column": "sex"}),
        (lambda n: n.predict(n.sample(2), "sex", deviations=True), {"word": "probabilities"}),
        (lambda n: n.predict(n.sample(2), "age", probabilities=True), {"word": "deviations"}),
        (lambda n: n.to_pgmpy(), {"word": "pgmpy"}),
        (lambda n: n.to_pyagrum(), {"word": "pyagrum"}),
    ],
)
def test_wrong_questions_are_named(ask, fields):
    with refused(**fields):
        ask(clinic())


def test_unseen_values_are_named_or_unknown():
    network = clinic()
    row = pd.DataFrame([ROW]).assign(sex="x")
    with refused("'x'", column="sex", row=0):
        network.log_likelihood(row)
    known = {node: value for node, value in ROW.items() if node != "sex"}
    found = network.log_likelihood(row, unseen="missing")
    assert found == pytest.approx(np.log(total(network, **known)))
