"""Gaps are filled as theory says: Gibbs sweeps have the right limit, and the stack that of EM."""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pytest

import kes
from kes.data import Continuous, Discrete, Incomplete
from kes.data.random_stream import Stream
from kes.data.resampling import Stack
from kes.network.cpds import Linear, Logistic
from kes.network.gibbs import impute, sweep

from .chi_square import surprise


def network(seed: int) -> kes.BayesianNetwork:
    """Four nodes in a diamond with an arc across, no probability near 0."""
    rng = np.random.default_rng(seed)
    states = {"a": [0, 1], "b": [0, 1, 2], "c": [0, 1], "d": [0, 1, 2]}
    parents = {"a": [], "b": ["a"], "c": ["b", "a"], "d": ["c", "b"]}
    cpts = {}
    for node, given in parents.items():
        shape = [len(states[parent]) for parent in given]
        cpts[node] = rng.dirichlet(np.full(len(states[node]), 2.0), size=shape)
    return kes.BayesianNetwork(list(states), states, parents, cpts)


def exact(model: kes.BayesianNetwork, row: list[int], gaps: list[bool]) -> dict[tuple, float]:
    """P(what is missing | what is there), by enumeration of all rows."""
    chances = {}
    for values in product(*(range(len(model.states[node])) for node in model.nodes)):
        if all(gap or value == own for value, own, gap in zip(values, row, gaps, strict=True)):
            value_of = dict(zip(model.nodes, values, strict=True))
            chance = 1.0
            for node in model.nodes:
                given = tuple(value_of[parent] for parent in model.parents[node])
                chance *= model.cpts[node][(*given, value_of[node])]
            chances[values] = chance
    total = sum(chances.values())
    return {values: chance / total for values, chance in chances.items()}


@pytest.mark.parametrize("gaps", [p for p in product([False, True], repeat=4) if any(p)])
def test_sweeps_draw_from_the_distribution_of_what_is_missing(gaps):
    """Of 4000 chains of 15 sweeps each, against the sum over all values."""
    model, row, copies = network(sum(2**i for i, gap in enumerate(gaps) if gap)), [1, 2, 0, 1], 4000
    whole = kes.Dataset(model.nodes, list(model.states.values()), [[0, value] for value in row])
    table = Incomplete(whole, np.array([[False, gap] for gap in gaps]))
    stack, stream = Stack(table, copies), Stream(7)
    stack.scatter(stream)
    for _ in range(15):
        sweep(model, stack, stream)
    drawn = list(zip(*(column.tolist() for column in stack.copies), strict=True))
    assert len(drawn) == copies
    expected = exact(model, row, list(gaps))
    assert set(drawn) <= set(expected), "what is there must stay"
    counts = [drawn.count(values) for values in expected]
    assert surprise(counts, [copies * chance for chance in expected.values()]) < 4


# --- the limit of EM -----------------------------------------------------------------------------


def expectation_maximisation(counts: dict[tuple, float], rounds: int = 500) -> np.ndarray:
    """Expected counts of two binary variables by EM in closed form, None being missing.

    The model x -> y is saturated. Its parameters are those that `kes.fit` expects after the data
    with ess=1: half a case in each cell of x, a quarter in each of y given x.
    """
    cells = np.full((2, 2), 0.25)
    for _ in range(rounds):
        x = (cells.sum(axis=1) + 0.5) / (cells.sum() + 1)
        y = (cells + 0.25) / (cells.sum(axis=1, keepdims=True) + 0.5)
        joint = x[:, None] * y
        cells = np.zeros((2, 2))
        for (a, b), cases in counts.items():
            rows = slice(None) if a is None else slice(a, a + 1)
            columns = slice(None) if b is None else slice(b, b + 1)
            cells[rows, columns] += cases * joint[rows, columns] / joint[rows, columns].sum()
    return cells


COUNTS = {
    (0, 0): 30, (0, 1): 10, (1, 0): 5, (1, 1): 25,
    (0, None): 20, (1, None): 8, (None, 0): 6, (None, 1): 12, (None, None): 9,
}  # fmt: skip


def incomplete(counts: dict[tuple, float]) -> Incomplete:
    rows = list(counts)
    gaps = np.array([[value is None for value in row] for row in rows]).T
    codes = [[0 if value is None else value for value in column] for column in zip(*rows)]  # noqa: B905
    dataset = kes.Dataset(["x", "y"], [[0, 1], [0, 1]], codes, list(counts.values()))
    return Incomplete(dataset, gaps)


def test_the_stack_converges_to_direct_em():
    """With 400 completions of each case, the filled table is the expected one up to chance."""
    expected = expectation_maximisation(COUNTS)
    stack = Stack(incomplete(COUNTS), 400)
    stack.scatter(Stream(1))
    for number in range(6):  # EM itself is slow: a third of what matters is missing
        impute(stack, partial(kes.fit, [("x", "y")]), Stream(2, number))
    filled = stack.dataset()
    found = np.zeros((2, 2))
    np.add.at(found, tuple(filled.codes), filled.weights)
    assert found.sum() == pytest.approx(sum(COUNTS.values()))
    # A draw of a cell has variance at most 1/4 for each of 55 cases with gaps; its influence on
    # the parameters, and so on later draws, at most doubles it.
    assert np.abs(found - expected).max() < 5 * np.sqrt(2 * 55 / 4 / 400)
    # The imputation differs from that by independence, or by the complete rows alone.
    complete = np.array([[30, 10], [5, 25]]) * found.sum() / 70
    assert np.abs(complete - expected).max() > 3


def test_parameters_that_em_finds_are_those_of_the_marginal_likelihood():
    """The oracle itself: at its limit no parameter can be changed to a higher likelihood."""
    cells = expectation_maximisation(COUNTS)
    joint = cells / cells.sum()

    def log_posterior(p: np.ndarray) -> float:
        total = 0.25 * np.log(p).sum()  # both priors together: a quarter of a case in each cell
        for (a, b), cases in COUNTS.items():
            rows = slice(None) if a is None else slice(a, a + 1)
            columns = slice(None) if b is None else slice(b, b + 1)
            total += cases * np.log(p[rows, columns].sum())
        return total

    smoothed = (cells + 0.25) / (cells.sum() + 1)
    rng = np.random.default_rng(0)
    for _ in range(200):
        step = rng.normal(scale=0.02, size=(2, 2))
        other = smoothed * np.exp(step)
        assert log_posterior(other / other.sum()) <= log_posterior(smoothed) + 1e-9
    assert np.allclose(joint, smoothed, atol=0.01)


# --- continuous and mixed rows -------------------------------------------------------------------


def drawn(model, row: list[float], gaps: list[str], sweeps: int) -> dict[str, np.ndarray]:
    """Draws in 4000 copies of a row, node by node."""
    columns = [
        Discrete(model.states[node], [0, int(value)])
        if model.states[node]
        else Continuous([0.0, value])
        for node, value in zip(model.nodes, row, strict=True)
    ]
    whole = kes.Dataset.of(model.nodes, columns)
    table = Incomplete(whole, np.array([[False, node in gaps] for node in model.nodes]))
    stack, stream = Stack(table, 4000), Stream(11)
    stack.scatter(stream)
    for _ in range(sweeps):
        sweep(model, stack, stream)
    return dict(zip(model.nodes, stack.copies, strict=True))


def assert_moments(found: np.ndarray, mean: float, variance: float) -> None:
    """Mean and variance of 4000 independent draws, within four standard errors."""
    assert abs(found.mean() - mean) < 4 * np.sqrt(variance / len(found))
    assert abs(found.var() / variance - 1) < 4 * np.sqrt(3 / len(found))


@pytest.mark.parametrize("gaps", [["b"], ["a"], ["c"], ["a", "c"], ["b", "c"], ["a", "b", "c"]])
def test_normal_values_are_drawn_from_the_conditional_distribution(gaps):
    """Against the closed form: a part of a normal vector given the rest."""
    parents = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c"]}
    models = {
        "a": Linear(1.0, deviation=2.0),
        "b": Linear(0.5, [0.8], deviation=1.0),
        "c": Linear(-1.0, [0.4, -0.7], deviation=1.5),
        "d": Linear(2.0, [1.2], deviation=0.8),
    }
    model = kes.GaussianNetwork(list(parents), parents, models)
    # x = B x + e, so x = (I - B)^-1 e.
    weights = np.zeros((4, 4))
    weights[1, 0], weights[2, :2], weights[3, 2] = 0.8, [0.4, -0.7], 1.2
    spread = np.linalg.inv(np.eye(4) - weights)
    covariance = spread @ np.diag([4.0, 1.0, 2.25, 0.64]) @ spread.T
    mean = spread @ np.array([1.0, 0.5, -1.0, 2.0])
    row = np.array([3.0, -2.0, 1.5, 0.5])
    gone = np.array([node in gaps for node in model.nodes])
    slope = covariance[np.ix_(gone, ~gone)] @ np.linalg.inv(covariance[np.ix_(~gone, ~gone)])
    centre = mean[gone] + slope @ (row - mean)[~gone]
    left = covariance[np.ix_(gone, gone)] - slope @ covariance[np.ix_(~gone, gone)]
    copies = drawn(model, row.tolist(), gaps, sweeps=60)
    for i, node in enumerate(gaps):
        assert_moments(copies[node], centre[i], left[i, i])
    if len(gaps) > 1:
        found = np.corrcoef([copies[node] for node in gaps])[0, 1]
        assert abs(found - left[0, 1] / np.sqrt(left[0, 0] * left[1, 1])) < 4 / np.sqrt(4000)
    assert np.all(copies["d"] == 0.5), "what is there must stay"


@pytest.fixture(scope="module")
def mixed() -> kes.MixedNetwork:
    """A discrete and a continuous parent of a logistic node, and a linear child of both kinds."""
    return kes.MixedNetwork(
        ["s", "x", "t", "y"],
        {"s": ["u", "v", "w"], "x": [], "t": ["no", "yes"], "y": []},
        {"s": [], "x": ["s"], "t": ["x", "s"], "y": ["t", "x"]},
        {
            "s": [0.2, 0.5, 0.3],
            "x": Linear(0.0, [1.0, -1.0], deviation=1.2),
            "t": Logistic([[0.3, 1.5, -0.5, 0.8]]),
            "y": Linear(0.5, [2.0, 0.6], deviation=1.0),
        },
    )


def density(s: int, x, t: int, y: float):
    """The joint density of the mixed network up to a factor, from its definition."""
    yes = 1 / (1 + np.exp(-(0.3 + 1.5 * x - 0.5 * (s == 1) + 0.8 * (s == 2))))
    own = np.exp(-0.5 * ((x - 1.0 * (s == 1) + 1.0 * (s == 2)) / 1.2) ** 2)
    child = np.exp(-0.5 * (y - 0.5 - 2.0 * t - 0.6 * x) ** 2)
    return (0.2, 0.5, 0.3)[s] * own * (yes if t else 1 - yes) * child


def test_a_number_with_a_logistic_child(mixed):
    """Proposals that the child may refuse: against numerical integration over x."""
    x = np.linspace(-12, 12, 20001)
    weight = density(1, x, 0, 2.0)
    weight /= weight.sum()
    mean = float(weight @ x)
    copies = drawn(mixed, [1, 0.0, 0, 2.0], ["x"], sweeps=40)
    assert_moments(copies["x"], mean, float(weight @ (x - mean) ** 2))


def test_a_state_with_children_of_all_kinds(mixed):
    chances = np.array([density(s, 0.7, 1, 2.0) for s in range(3)])
    copies = drawn(mixed, [0, 0.7, 1, 2.0], ["s"], sweeps=2)
    counts = np.bincount(copies["s"], minlength=3)
    assert surprise(counts.tolist(), (4000 * chances / chances.sum()).tolist()) < 4


def test_numbers_and_states_together(mixed):
    """All but y is missing: P(s, t | y) by integration over x, and the moments of x."""
    x = np.linspace(-12, 12, 8001)
    joint = np.array([[density(s, x, t, 2.5) for t in range(2)] for s in range(3)])
    joint /= joint.sum()
    copies = drawn(mixed, [0, 0.0, 0, 2.5], ["s", "x", "t"], sweeps=80)
    counts = np.bincount(2 * copies["s"] + copies["t"], minlength=6)
    assert surprise(counts.tolist(), (4000 * joint.sum(axis=2).ravel()).tolist()) < 4
    weight = joint.sum(axis=(0, 1))
    mean = float(weight @ x)
    assert_moments(copies["x"], mean, float(weight @ (x - mean) ** 2))
