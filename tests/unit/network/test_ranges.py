"""Ranges in questions and evidence, against sums over states and integrals on a grid."""

import itertools
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from tests.unit.network.small_networks import joint, random_network, sprinkler

import kes
from kes import Range
from kes.errors import KesError
from kes.network import BayesianNetwork, GaussianNetwork, Linear, Logistic, MixedNetwork, fit

# --- ranges and states ---------------------------------------------------------------------------


def test_a_range_includes_its_bounds_if_it_says_so():
    assert [Range(above=1, at_most=3).includes(x) for x in (1, 2, 3, 4)] == [0, 1, 1, 0]
    assert [Range(at_least=1, below=3).includes(x) for x in (0, 1, 2, 3)] == [0, 1, 1, 0]
    assert Range(at_least=2, at_most=2).includes(2)
    assert repr(Range(above=1.5, below=1e6)) == "Range(above=1.5, below=1000000)"
    assert str(Range(at_least=18)) == ">= 18"


@pytest.mark.parametrize(
    ("bounds", "option"),
    [
        ({}, "above"),
        ({"above": 1, "at_least": 2}, "at_least"),
        ({"below": 1, "at_most": 2}, "at_most"),
        ({"above": 2, "below": 2}, "above"),
        ({"above": 3, "at_most": 1}, "above"),
        ({"above": "3"}, "above"),
        ({"at_most": float("nan")}, "at_most"),
    ],
)
def test_ranges_that_are_none(bounds, option):
    with pytest.raises(KesError) as caught:
        Range(**bounds)
    assert caught.value.option == option


@pytest.mark.parametrize("states", [(0, 1), ("0", "1"), ("0.0", "1.0")])
@pytest.mark.parametrize("given", [1, 1.0, "1", "1.0"])
def test_a_number_names_a_state_however_it_is_written(states, given):
    network = BayesianNetwork(["q"], {"q": states}, {}, {"q": [0.25, 0.75]})
    assert network.probability({"q": given}) == 0.75


def test_the_same_value_comes_before_the_same_number():
    network = BayesianNetwork(["q"], {"q": ["1", "1.0", 1]}, {}, {"q": [0.2, 0.3, 0.5]})
    assert [network.probability({"q": given}) for given in ("1", "1.0", 1)] == [0.2, 0.3, 0.5]


def test_a_boolean_is_not_a_number():
    network = BayesianNetwork(["q"], {"q": [False, True]}, {}, {"q": [0.25, 0.75]})
    assert network.probability({"q": True}) == network.probability({"q": "True"}) == 0.75
    with pytest.raises(KesError) as caught:
        network.probability({"q": 1})
    assert caught.value.column == "q"


# --- discrete networks ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(8))
def test_ranges_of_discrete_networks_are_sums_over_states(seed):
    """All questions with two ranges, by summing over every configuration."""
    network = random_network(seed)
    rows = list(joint(network))
    for a, b in itertools.permutations(network.nodes, 2):
        low, high = Range(at_least=1), Range(below=2)
        both = sum(p for row, p in rows if row[a] >= 1 and row[b] < 2)
        given = sum(p for row, p in rows if row[b] < 2)
        assert network.probability({a: low}, {b: high}) == pytest.approx(both / given)
        assert network.probability({a: low, b: high}) == pytest.approx(both)
        if both == 0:
            continue
        c = next(node for node in network.nodes if node not in (a, b))
        of_c = network.probability(c, {a: low, b: high})
        marginals = network.marginals({a: low, b: high})
        for state in network.states[c]:
            there = sum(p for r, p in rows if r[a] >= 1 and r[b] < 2 and r[c] == state)
            assert of_c[state] == pytest.approx(there / both)
            assert marginals[c][state] == pytest.approx(there / both)
        assert marginals[a].get(0, 0) == 0


def test_impossible_and_meaningless_ranges():
    network = sprinkler()
    with pytest.raises(KesError) as caught:  # it never rains heavily in the dry season
        network.probability("wet", {"season": "dry", "rain": Range(above=1)})
    assert caught.value.column == "rain"
    with pytest.raises(KesError) as caught:
        network.probability("wet", {"rain": Range(above=7)})
    assert caught.value.column == "rain"
    with pytest.raises(KesError) as caught:
        network.probability({"season": Range(above=7)})
    assert caught.value.column == "season"
    assert network.probability({"rain": Range(above=7)}) == 0


def test_ranges_of_intervals_end_at_cuts():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=500).round(2), "y": rng.integers(2, size=500)})
    network = fit([("y", "x")], frame, discretize=kes.Discretizer.at({"x": [-0.5, 0.75]}))
    states = network.probability("x", {"y": 1})
    above = network.probability({"x": Range(above=-0.5)}, {"y": 1})
    assert above == pytest.approx(sum(states.values()) - states["<= -0.5"])
    between = network.probability({"x": Range(above=-0.5, at_most=0.75)}, {"y": 1})
    assert between == pytest.approx(states["(-0.5, 0.75]"])
    for wrong in (Range(above=0), Range(at_least=-0.5), Range(below=0.75), Range(at_most=9)):
        with pytest.raises(KesError) as caught:
            network.probability({"x": wrong})
        assert caught.value.column == "x"


# --- Gaussian networks ---------------------------------------------------------------------------


def body() -> GaussianNetwork:
    return GaussianNetwork(
        ["age", "height", "weight", "dose"],
        {"height": ["age"], "weight": ["height", "age"], "dose": ["weight"]},
        {
            "age": Linear(40.0, deviation=12.0),
            "height": Linear(180.0, [-0.1], deviation=8.0),
            "weight": Linear(-60.0, [0.75, 0.1], deviation=7.0),
            "dose": Linear(1.0, [0.05], deviation=1.5),
        },
    )


def simulated(network, n=400_000):
    return network.sample(n, seed=7).to_pandas()


def test_one_range_is_the_normal_distribution_function():
    network = body()
    of_dose = NormalDist(network.joint.mean[3], network.joint.deviation[3])
    found = network.probability({"dose": Range(above=5, at_most=6)})
    assert found.error == 0
    assert found.value == pytest.approx(of_dose.cdf(6) - of_dose.cdf(5), abs=1e-12)
    given = network.conditional("weight", {"age": 30.0})
    expected = 1 - NormalDist(given.mean[0], given.deviation[0]).cdf(90)
    assert network.probability({"weight": Range(above=90)}, {"age": 30}).value == pytest.approx(
        expected, abs=1e-12
    )
    far = network.probability({"age": Range(above=40 + 12 * 9)})
    assert far.value == pytest.approx(1.1285884e-19, rel=1e-6)  # Q(9)


def test_a_range_given_a_range_is_a_double_integral():
    """Both densities on a fine grid, summed."""
    network = body()
    joint_moments = network.joint.of(["age", "weight"])
    age = np.linspace(-40, 30, 4001)
    weight = np.linspace(80, 150, 4001)
    x = np.stack(np.meshgrid(age, weight, indexing="ij"), axis=-1) - joint_moments.mean
    density = np.exp(
        -0.5 * np.einsum("...i,ij,...j", x, np.linalg.inv(joint_moments.covariance), x)
    )
    density /= 2 * np.pi * np.sqrt(np.linalg.det(joint_moments.covariance))
    both = np.trapezoid(np.trapezoid(density, weight, axis=1), age)
    expected = both / NormalDist(40, 12).cdf(30)
    found = network.probability({"weight": Range(above=80)}, {"age": Range(below=30)})
    assert found.error == 0
    assert found.value == pytest.approx(expected, abs=2e-6)


def test_moments_given_a_range_are_those_of_a_truncated_normal():
    network = body()
    found = network.conditional(["age", "dose"], {"age": Range(below=30)})
    z = np.linspace(-10, -10 / 12, 200_001)
    density = np.exp(-0.5 * z**2)
    mean = np.trapezoid(z * density, z) / np.trapezoid(density, z)
    square = np.trapezoid(z**2 * density, z) / np.trapezoid(density, z)
    assert found.mean[0] == pytest.approx(40 + 12 * mean, abs=1e-6)
    assert found.deviation[0] == pytest.approx(12 * np.sqrt(square - mean**2), abs=1e-6)
    given = network.conditional("dose", {"age": found.mean[0]})  # linear in age
    assert found.mean[1] == pytest.approx(given.mean[0], abs=1e-9)
    assert not found.error.any()


def test_many_ranges_agree_with_simulation():
    network = body()
    cases = simulated(network)
    evidence = {"age": Range(below=35), "height": Range(above=180), "dose": Range(at_least=5)}
    inside = (cases["age"] < 35) & (cases["height"] > 180) & (cases["dose"] >= 5)
    share = (cases["weight"][inside] > 80).mean()
    found = network.probability({"weight": Range(above=80)}, evidence)
    assert 0 < found.error < 0.02
    spread = np.hypot(found.error, np.sqrt(share * (1 - share) / inside.sum()))
    assert abs(found.value - share) < 5 * spread
    moments = network.conditional("weight", evidence)
    near = cases["weight"][inside]
    spread = np.hypot(moments.error[0], near.std() / np.sqrt(len(near)))
    assert abs(moments.mean[0] - near.mean()) < 5 * spread
    assert moments.deviation[0] == pytest.approx(near.std(), rel=0.02)
    assert network.probability({"weight": Range(above=80)}, evidence, seed=1) != found


def test_ranges_of_ranks_are_shares_of_the_data():
    """Ties lie entirely on one side, however often they occur."""
    rng = np.random.default_rng(1)
    frame = pd.DataFrame({"age": rng.integers(18, 90, 800), "x": rng.lognormal(size=800)})
    network = fit([], frame, transform="ranks", kinds={"age": "continuous"})
    for wanted, share in (
        (Range(below=30), (frame["age"] < 30).mean()),
        (Range(at_most=30), (frame["age"] <= 30).mean()),
        (Range(at_least=50, below=60), frame["age"].between(50, 59).mean()),
    ):
        assert network.probability({"age": wanted}).value == pytest.approx(
            share, abs=0.005
        )  # a tie has 0.014
    assert network.probability({"age": Range(above=1000)}).value == 0
    assert network.probability({"age": Range(above=-5)}).value == 1


# --- mixed networks ------------------------------------------------------------------------------


def shop(*, logistic: bool) -> MixedNetwork:
    """sex -> income <- age, level; with a buyer who depends on income, or not."""
    models = {
        "sex": [0.4, 0.6],
        "level": [[0.5, 0.3, 0.2], [0.2, 0.3, 0.5]],
        "age": Linear(40.0, [5.0], deviation=10.0),
        "income": Linear(1.0, [0.05, 0.5, 1.5], deviation=1.0),
        "buys": Logistic([[-4.0, 1.0]]) if logistic else [[0.9, 0.1], [0.3, 0.7]],
    }
    return MixedNetwork(
        ["sex", "level", "age", "income", "buys"],
        {"sex": ["f", "m"], "level": [1, 2, 3], "buys": ["no", "yes"]},
        {
            "level": ["sex"],
            "age": ["sex"],
            "income": ["age", "level"],
            "buys": ["income" if logistic else "sex"],
        },
        models,
    )


@pytest.mark.parametrize("logistic", [False, True])
@pytest.mark.parametrize(
    ("query", "evidence"),
    [
        ({"income": Range(above=4)}, {"age": Range(below=30)}),
        ({"income": Range(above=4)}, {"level": Range(at_least=2)}),
        ({"level": Range(at_most=2)}, {"income": Range(below=2)}),
        ({"buys": "yes"}, {"income": Range(above=4), "level": Range(below=3)}),
        ({"buys": "yes", "income": Range(above=4)}, {"sex": "m"}),
        ({"income": Range(above=3, below=5), "age": Range(above=35)}, {"buys": "yes"}),
    ],
)
def test_ranges_of_mixed_networks_agree_with_simulation(logistic, query, evidence):
    network = shop(logistic=logistic)
    cases = simulated(network)

    def holds(known):
        result = np.ones(len(cases), dtype=bool)
        for node, value in known.items():
            column = cases[node]
            if isinstance(value, Range):
                result &= column.astype(float).map(value.includes).to_numpy()
            else:
                result &= (column.astype(str) == value).to_numpy()
        return result

    given = holds(evidence)
    share = holds(query)[given].mean()
    found = network.probability(query, evidence, draws=40_000)
    spread = np.hypot(found.error, np.sqrt(share * (1 - share) / given.sum()))
    assert abs(found.value - share) < 5 * spread
    assert found.error < 0.02
    if not logistic:
        assert found.error == 0


def test_moments_of_mixed_networks_given_a_range():
    network = shop(logistic=False)
    cases = simulated(network)
    for evidence, inside in (
        ({"age": Range(below=30)}, cases["age"] < 30),
        ({"level": Range(at_least=2)}, cases["level"].astype(int) >= 2),
    ):
        found = network.conditional("income", evidence)
        near = cases["income"][inside]
        assert abs(found.mean[0] - near.mean()) < 5 * near.std() / np.sqrt(len(near))
        assert found.deviation[0] == pytest.approx(near.std(), rel=0.02)


def test_a_continuous_node_needs_a_range():
    network = shop(logistic=True)
    for wrong in ({"income": 4.0}, "income"):
        with pytest.raises(KesError) as caught:
            network.probability(wrong)
        assert caught.value.column == "income"
    with pytest.raises(KesError) as caught:
        network.probability({"age": Range(above=3)}, {"age": Range(below=5)})
    assert caught.value.column == "age"
