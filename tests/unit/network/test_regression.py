"""Estimated linear and logistic nodes against textbook formulas and other libraries."""

import time

import numpy as np
import pytest
from scipy import stats
from scipy.special import ndtri
from tests.unit.refused import refused

from kes.data.normal_scores import quantiles
from kes.network import large_logistic, regression
from kes.network.cpds import Linear, Logistic
from kes.network.regression import fit_linear, fit_logistic

N = 200


@pytest.fixture(scope="module")
def table():
    """Three regressors in very different units, and a target."""
    rng = np.random.default_rng(3)
    x = rng.normal(size=(N, 3)) * [1.0, 1e6, 1e-3] + [0.0, 3e6, 5.0]
    x[:, 2] += 1e-9 * x[:, 1]
    y = 2.0 + x @ [1.5, -3e-6, 800.0] + rng.normal(size=N)
    return x, y


def linear(x, y, *, ess=1.0, weights=None):
    names = [f"x{i}" for i in range(x.shape[1])]
    weights = np.ones(len(y)) if weights is None else weights
    return fit_linear("y", y, x, names, weights=weights, ess=ess)


def logistic(x, y, states, *, ess=1.0, weights=None, **how):
    weights = np.ones(len(y)) if weights is None else weights
    return fit_logistic("y", np.asarray(y), states, x, weights=weights, ess=ess, **how)


# --- linear --------------------------------------------------------------------------------------


def test_normal_quantiles():
    p = np.concatenate(
        [np.random.default_rng(0).random(1000), 10.0 ** -np.arange(1, 300, 7), [1 - 2.0**-53]]
    )
    np.testing.assert_allclose(quantiles(p), ndtri(p), rtol=1e-14, atol=1e-16)


@pytest.mark.parametrize("ess", [None, 1.0, 50.0])
def test_least_squares_and_its_standard_errors(table, ess):
    """The textbook: b = (X'X)^-1 X'y with errors sqrt(s^2 diag (X'X)^-1), s^2 = RSS / (N - 4).

    No prior acts, whatever its strength, as there is one answer; maximum likelihood has RSS / N.
    """
    x, y = table
    scale = [1.0, 1e6, 1e-3]  # the formula itself needs tame numbers
    design = np.column_stack([np.ones(N), (x - [0, 3e6, 5.0]) / scale])
    inverse = np.linalg.inv(design.T @ design)
    b = inverse @ design.T @ y
    rss = np.sum((y - design @ b) ** 2)
    model = linear(x, y, ess=ess)
    np.testing.assert_allclose(model.coefficients, b[1:] / scale, rtol=1e-9)
    errors = np.sqrt(rss / (N - 4) * np.diag(inverse))
    np.testing.assert_allclose(model.errors[1:], errors[1:] / scale, rtol=1e-9)
    assert model.deviation == pytest.approx(np.sqrt(rss / (N if ess is None else N - 4)))
    back = np.array([1.0, 0.0, -3e6 / 1e6, -5.0 / 1e-3])  # the intercept where x is 0
    assert model.intercept == pytest.approx(back @ b, rel=1e-7)
    assert model.errors[0] == pytest.approx(
        np.sqrt(rss / (N - 4) * back @ inverse @ back), rel=1e-7
    )


def test_one_regressor_is_scipys_linregress(table):
    x, y = table
    found, model = stats.linregress(x[:, 0], y), linear(x[:, :1], y)
    assert model.coefficients[0] == pytest.approx(found.slope)
    assert model.errors.tolist() == pytest.approx([found.intercept_stderr, found.stderr])


def test_weights_are_repeated_rows(table):
    x, y = table
    weights = np.random.default_rng(0).integers(1, 4, N).astype(float)
    repeated = np.repeat(np.arange(N), weights.astype(int))
    one, other = linear(x, y, weights=weights), linear(x[repeated], y[repeated])
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-10)
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-7)
    assert one.deviation == pytest.approx(other.deviation)


def test_copies_share_an_effect():
    """Of all least-squares answers, that with the smallest coefficients of scaled columns."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(50, 1))
    y = 3 * x[:, 0] + rng.normal(size=50)
    alone, both = linear(x, y), linear(np.column_stack([x, 10 * x, np.full(50, 7.0)]), y)
    slope = alone.coefficients[0]
    np.testing.assert_allclose(both.coefficients, [slope / 2, slope / 20, 0.0], atol=1e-12)
    assert both.deviation == pytest.approx(alone.deviation)
    assert both.intercept == pytest.approx(alone.intercept)


@pytest.mark.parametrize("rows", [2, 3, 5])
def test_too_few_cases_are_joined_by_imaginary_ones(rows):
    """The same as least squares on moments in which N cases of the data and ess independent ones
    are mixed: correlations shrink by N / (N + ess)."""
    rng = np.random.default_rng(rows)
    x, ess = rng.normal(size=(rows, 4)), 2.0
    y = x @ [1.0, 2, 3, 4] + rng.normal(size=rows)
    model = linear(x, y, ess=ess)
    every = np.cov(np.column_stack([x, y]).T, bias=True)
    mixed = (rows * every + ess * np.diag(np.diag(every))) / (rows + ess)
    b = np.linalg.solve(mixed[:4, :4], mixed[:4, 4])
    np.testing.assert_allclose(model.coefficients, b, rtol=1e-9)
    rss = (rows + ess) * (mixed[4, 4] - mixed[4, :4] @ b)
    assert model.deviation == pytest.approx(np.sqrt(rss / ess))
    assert np.isfinite(model.errors).all()


def test_what_is_determined_keeps_a_little_chance():
    x = np.arange(20.0)[:, np.newaxis]
    model = linear(x, 2 * x[:, 0] + 1)
    assert model.coefficients[0] == pytest.approx(2)
    assert model.deviation == pytest.approx(np.sqrt(1e-9 * np.var(2 * x)))


@pytest.mark.parametrize("ess", [None, 1.0])
def test_constants_are_constants(ess):
    model = linear(np.arange(9.0)[:, np.newaxis], np.full(9, 0.1), ess=ess)
    assert model == Linear(0.1, [0.0], deviation=0.0, errors=[0.0, 0.0])


@pytest.mark.parametrize(
    ("x", "y", "word"),
    [
        (np.ones((9, 1)), np.arange(9.0), "'x0'"),
        (np.outer(np.arange(9.0) ** 2, [1, 2]), np.arange(9.0), "'x1'"),
        (np.eye(4), np.arange(4.0), "4 cases"),
        (np.arange(9.0)[:, np.newaxis], np.arange(9.0), "'x0'"),
    ],
)
def test_maximum_likelihood_without_an_answer_is_an_error(x, y, word):
    with refused(word, option="prior", column="y"):
        linear(x, y, ess=None)
    assert np.isfinite(linear(x, y).errors).all()


# --- logistic ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def states():
    """A state that depends on two regressors in different units."""
    rng = np.random.default_rng(5)
    x = rng.normal(size=(400, 2)) * [1.0, 50.0] + [0.0, 200.0]
    odds = np.column_stack([np.zeros(400), x @ [1.0, 0.02] - 4, x @ [-1.0, 0.01] - 2])
    chances = np.exp(odds) / np.exp(odds).sum(axis=1, keepdims=True)
    return x, (rng.random((400, 1)) > np.cumsum(chances, axis=1)).sum(axis=1)


def test_maximum_likelihood_is_scikit_learns(states):
    model_of = pytest.importorskip("sklearn.linear_model").LogisticRegression
    x, y = states
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    other = model_of(C=1e10, tol=1e-10, max_iter=10_000).fit(scaled, y)
    model = logistic(scaled, y, 3, ess=None)
    slopes = other.coef_ - other.coef_[0]
    intercepts = other.intercept_ - other.intercept_[0]
    expected = np.column_stack([intercepts, slopes])[1:]
    np.testing.assert_allclose(model.coefficients, expected, rtol=1e-4, atol=1e-5)


def test_the_penalty_is_scikit_learns(states):
    """C = 1 / ess on scaled columns; the imaginary cases are rows at the means."""
    model_of = pytest.importorskip("sklearn.linear_model").LogisticRegression
    x, y = states
    scaled, ess = (x - x.mean(axis=0)) / x.std(axis=0), 6.0
    rows, own = np.vstack([scaled, np.zeros((3, 2))]), np.append(y, [0, 1, 2])
    weights = np.append(np.ones(len(y)), np.full(3, ess / 3))
    other = model_of(C=1 / ess, tol=1e-10, max_iter=10_000).fit(rows, own, weights)
    model = logistic(x, y, 3, ess=ess)
    found = np.exp(model.log_distribution(x))
    np.testing.assert_allclose(found, other.predict_proba(scaled), atol=1e-6)


def test_standard_errors_are_those_of_the_information(states):
    """Numerical second derivatives of the log-likelihood, in the units of the columns."""
    x, y = states
    y = (y > 0).astype(int)
    model = logistic(x, y, 2, ess=None)
    design = np.column_stack([np.ones(len(y)), x])
    p = 1 / (1 + np.exp(-design @ model.coefficients[0]))
    np.testing.assert_allclose(design.T @ (y - p), 0, atol=1e-6)  # the maximum
    information = (design * (p * (1 - p))[:, np.newaxis]).T @ design
    expected = np.sqrt(np.diag(np.linalg.inv(information)))
    np.testing.assert_allclose(model.errors[0], expected, rtol=1e-6)


@pytest.mark.parametrize("ess", [0.5, 4.0])
def test_without_regressors_it_is_the_table_of_bdeu(ess):
    own = np.array([0, 0, 0, 2, 2])
    model = logistic(np.empty((5, 0)), own, 3, ess=ess)
    expected = (np.array([3, 0, 2]) + ess / 3) / (5 + ess)
    np.testing.assert_allclose(np.exp(model.log_distribution(np.empty((1, 0))))[0], expected)


def test_order_of_states_does_not_matter(states):
    x, y = states
    there, back = logistic(x, y, 3), logistic(x, 2 - y, 3)
    np.testing.assert_allclose(
        there.log_distribution(x), back.log_distribution(x)[:, ::-1], atol=1e-9
    )


def test_weights_of_logistic_nodes_are_repeated_rows(states):
    x, y = states
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    repeated = np.repeat(np.arange(len(y)), weights)
    one = logistic(x, y, 3, weights=weights.astype(float))
    other = logistic(x[repeated], y[repeated], 3)
    np.testing.assert_allclose(one.coefficients, other.coefficients, rtol=1e-7)
    np.testing.assert_allclose(one.errors, other.errors, rtol=1e-7)


@pytest.mark.parametrize("seed", [52, 174, 274])
def test_logistic_fits_end_where_no_step_gains(seed):
    """The next step promises a little more than the sum of the likelihood can show, for ever."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(200, 2))
    y = (x @ [3.0, 1.0] + rng.logistic(size=200) > 0).astype(int)
    weights = rng.exponential(1.0, 200) + 0.01
    model = logistic(x, y, 2, weights=weights)
    assert model.coefficients[0, 1] > model.coefficients[0, 2] > 0


@pytest.mark.parametrize("share", [3, 5, 7])
def test_every_table_converges(share):
    """At the maximum the derivative is zero: expected and observed sums of regressors agree.

    Near it, steps gain less than the rounding of the likelihood shows, which must not be taken for
    a likelihood without maximum.
    """
    rng = np.random.default_rng(share)
    for _ in range(100):
        rows = int(rng.integers(20, 400))
        x = rng.normal(size=(rows, 1))
        y = (rng.random(rows) < 1 / (1 + np.exp(-x[:, 0] - 2))).astype(np.int32)
        weights = np.full(rows, 1 / share)
        model = logistic(x, y, 2, ess=1.0, weights=weights)
        intercept, slope = model.coefficients[0]
        surplus = weights @ (y - 1 / (1 + np.exp(-intercept - slope * x[:, 0])))
        prior = 0.5 - 1 / (1 + np.exp(-intercept - slope * weights @ x[:, 0] / weights.sum()))
        assert surplus + prior == pytest.approx(0, abs=1e-6)


def test_separated_states():
    """They have no maximum of the likelihood, but one of the penalised likelihood."""
    x = np.arange(10.0)[:, np.newaxis]
    y = (x[:, 0] > 4).astype(int)
    with refused(option="prior", column="y"):
        logistic(x, y, 2, ess=None)
    model = logistic(x, y, 2)
    chances = np.exp(model.log_distribution(x))[:, 1]
    assert (np.diff(chances) > 0).all()
    assert 0 < chances[0] < 0.1
    assert np.isfinite(model.errors).all()


@pytest.mark.parametrize(
    ("x", "y", "states"),
    [
        (np.arange(6.0)[:, np.newaxis], [0, 1, 0, 1, 0, 1], 3),  # a state never occurs
        (np.ones((6, 1)), [0, 1, 0, 1, 0, 1], 2),
        (np.outer(np.arange(6.0), [1, 2]), [0, 1, 0, 1, 0, 1], 2),
    ],
)
def test_flat_likelihoods(x, y, states):
    with refused(option="prior", column="y"):
        logistic(x, y, states, ess=None)
    assert np.isfinite(logistic(x, y, states).coefficients).all()


# --- local models made by hand -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "option"),
    [
        (lambda: Linear(float("nan"), deviation=1.0), "intercept"),
        (lambda: Linear(0.0, deviation=-1.0), "deviation"),
        (lambda: Linear(0.0, [1.0], deviation=0.0), "deviation"),
        (lambda: Linear(0.0, ["x"], deviation=1.0), "coefficients"),
        (lambda: Linear(0.0, [[1.0]], deviation=1.0), "coefficients"),
        (lambda: Linear(0.0, [1.0], deviation=1.0, errors=[1.0]), "errors"),
        (lambda: Linear(0.0, [np.inf], deviation=1.0), "coefficients"),
        (lambda: Logistic([1.0]), "coefficients"),
        (lambda: Logistic([[1.0]], errors=[[-1.0]]), "errors"),
        (lambda: Logistic([[1.0]], errors=[[1.0], [1.0]]), "errors"),
    ],
)
def test_wrong_numbers_are_refused(make, option):
    with refused(option=option):
        make()


@pytest.mark.parametrize(("states", "rows"), [(3, 500), (250, 20_000)])
def test_rough_estimates_predict_nearly_as_well(states, rows):
    """With 250 states there are too many coefficients for Newton, and some rows are looked at."""
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2 * rows, 2))
    true = Logistic(rng.normal(size=(states - 1, 3)))
    odds = true.log_distribution(x)
    y = (odds + rng.gumbel(size=odds.shape)).argmax(axis=1).astype(np.int32)
    rough = logistic(x[:rows], y[:rows], states, rough=True)
    if states == 3:
        exact = logistic(x[:rows], y[:rows], states)
        np.testing.assert_allclose(rough.coefficients, exact.coefficients, atol=1e-2)
    new = [model.log_probability(x[rows:], y[rows:]).mean() for model in (true, rough)]
    none = np.log(np.bincount(y[:rows], minlength=states) + 1 / states) - np.log(rows + 1)
    assert new[0] - new[1] < (new[0] - none[y[rows:]].mean()) / 3


# --- many rows and coefficients ------------------------------------------------------------------


@pytest.mark.parametrize("states", [2, 4])
def test_merging_equal_rows_and_another_method_change_nothing(monkeypatch, states):
    """The same maximum: by Newton's method, on merged rows, and by gradients alone."""
    rng = np.random.default_rng(0)
    x = np.column_stack([rng.integers(0, 6, 5000), rng.integers(0, 2, 5000)]).astype(float)
    own = ((x[:, 0] + 2 * rng.logistic(size=5000)) // 3).clip(0, states - 1).astype(np.int32)
    weights = rng.integers(1, 3, 5000).astype(float)

    def fitted():
        return fit_logistic("y", own, states, x, weights=weights, ess=1.0)

    plain = fitted()
    monkeypatch.setattr(regression, "_LARGE", 0)
    merged = fitted()
    assert merged.coefficients == pytest.approx(plain.coefficients, abs=1e-8)
    assert merged.errors == pytest.approx(plain.errors, rel=1e-8)
    for limit in ("_HUGE", "_WIDE"):  # many rows; many coefficients
        with monkeypatch.context() as patch:
            patch.setattr(regression, limit, 0)
            other = fitted()
        assert other.errors is None
        assert other.coefficients == pytest.approx(
            plain.coefficients, abs=2e-3 * plain.errors.max()
        )


def test_a_hundred_states_take_no_longer_than_a_search():
    """142 countries of 1704 rows took 13 s by Newton's method."""
    rng = np.random.default_rng(1)
    own = np.repeat(np.arange(142, dtype=np.int32), 12)
    x = rng.normal(size=(142, 3))[own] + 0.3 * rng.normal(size=(len(own), 3))
    start = time.process_time()
    fit_logistic("country", own, 142, x, weights=np.ones(len(own)), ess=1.0)
    assert time.process_time() - start < 5


def test_only_equal_rows_are_merged():
    """Each distinct row once, with the cases of each state, counted in a dictionary."""
    rng = np.random.default_rng(1)
    x = rng.integers(0, 3, (400, 3)) * 0.1
    own = rng.integers(0, 3, 400).astype(np.int32)
    found = large_logistic.grouped(x, own, 3, np.ones(400))
    counted = {}
    for row, code in zip(map(tuple, x), own, strict=True):
        counted.setdefault(row, [0, 0, 0])[code] += 1
    assert {tuple(r): list(c) for r, c in zip(found.x, found.cases, strict=True)} == counted


def test_a_long_table_is_reduced_without_a_change(monkeypatch):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(300, 3))
    x = np.column_stack([x, x[:, 0]])  # collinear: the effect is shared
    y = x @ [1.0, 2.0, 0.0, 0.5] + rng.normal(size=300)
    names, weights = list("abcd"), rng.integers(1, 3, 300).astype(float)
    plain = fit_linear("y", y, x, names, weights=weights, ess=1.0)
    monkeypatch.setattr(regression, "_MANY_CELLS", 0)
    reduced = fit_linear("y", y, x, names, weights=weights, ess=1.0)
    assert reduced.coefficients == pytest.approx(plain.coefficients, abs=1e-10)
    assert reduced.deviation == pytest.approx(plain.deviation, rel=1e-12)
    assert reduced.errors == pytest.approx(plain.errors, rel=1e-9)
