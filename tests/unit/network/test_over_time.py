"""Forecasts and samples of series, against the formulas of the network itself."""

import numpy as np
import pandas as pd
import pytest

import kes

DRAWS = 4000


@pytest.fixture(scope="module")
def table():
    """x(t) = 0.8 x(t-1) + noise, y(t) = 0.6 x(t-1) - 0.5 y(t-2) + noise, in 20 series."""
    rng = np.random.default_rng(0)
    rows = []
    for patient in range(20):
        x, y = [0.0, 0.0], [0.0, 0.0]
        for week in range(30):
            x.append(0.8 * x[-1] + rng.normal())
            y.append(0.6 * x[-2] - 0.5 * y[-2] + rng.normal())
            rows.append((f"p{patient:02}", week, x[-1], y[-1]))
    return pd.DataFrame(rows, columns=["patient", "week", "x", "y"])


@pytest.fixture(scope="module")
def network(table):
    optima = kes.learn(kes.lagged(table, 2, by="patient", time="week"), runs=5)
    arcs = {("x[t-1]", "x"), ("x[t-1]", "y"), ("y[t-2]", "y")}
    assert optima.best.mpdag.directed == arcs
    return optima.best.fit(table)


def test_earlier_values_are_exogenous(network):
    assert set(network.exogenous) == {"x[t-1]", "x[t-2]", "y[t-1]", "y[t-2]"}


def test_the_likelihood_is_that_of_one_step(network, table):
    """By hand: the density of current values given earlier ones, nothing else."""
    total = 0.0
    for _, own in table.groupby("patient"):
        x, y = own["x"].to_numpy(), own["y"].to_numpy()
        for node, mean in (
            ("x", _mean(network, "x", {"x[t-1]": x[1:-1]})),
            ("y", _mean(network, "y", {"x[t-1]": x[1:-1], "y[t-2]": y[:-2]})),
        ):
            deviation = network.local(node).deviation
            residual = ({"x": x, "y": y}[node][2:] - mean) / deviation
            total += (-(residual**2) / 2 - np.log(deviation * np.sqrt(2 * np.pi))).sum()
    lagged = kes.lagged(table, 2, by="patient", time="week")
    assert network.log_likelihood(lagged) == pytest.approx(total)


def _mean(network, node, values):
    own = network.local(node)
    parents = network.parents[node]
    return own.intercept + sum(
        coefficient * values[parent]
        for coefficient, parent in zip(own.coefficients, parents, strict=True)
    )


def test_forecasts_are_means_of_the_recursion(network, table):
    """Means of a linear network follow the same recursion without noise."""
    found = network.forecast(table, 3, by="patient", time="week", draws=DRAWS)
    assert len(found) == 20 * 3 * 2
    rows = {(r["patient"], r["step"], r["variable"]): r for r in found}
    for patient, own in table.groupby("patient"):
        x, y = own["x"].tolist(), own["y"].tolist()
        for step in (1, 2, 3):
            new = {
                "x": _mean(network, "x", {"x[t-1]": x[-1]}),
                "y": _mean(network, "y", {"x[t-1]": x[-1], "y[t-2]": y[-2]}),
            }
            x.append(new["x"])
            y.append(new["y"])
            for name, mean in new.items():
                row = rows[patient, step, name]
                spread = (row["high"] - row["low"]) / 3.29
                assert row["forecast"] == pytest.approx(mean, abs=5 * spread / DRAWS**0.5)
                assert row["time"] == 29 + step
    one = rows["p00", 1, "x"]
    assert (one["high"] - one["low"]) / 3.29 == pytest.approx(network.local("x").deviation, rel=0.1)


def test_a_lagged_table_says_which_rows_are_series(network, table):
    lagged = kes.lagged(table.sample(frac=1, random_state=0), 2, by="patient", time="week")
    again = network.forecast(table, 2, by="patient", time="week", draws=50)
    assert network.forecast(lagged, 2, draws=50) == again
    assert network.forecast(lagged, 2, draws=50, seed=1) != again


def test_samples_have_the_moments_of_the_process(network):
    sample = network.sample_series(200, 50, seed=3).to_pandas()
    assert list(sample.columns) == ["series", "time", "x", "y"]
    x = sample["x"].to_numpy().reshape(200, 50)
    own = network.local("x")
    a = own.coefficients[0]
    assert x.std() == pytest.approx(own.deviation / (1 - a**2) ** 0.5, rel=0.05)
    slope = np.polyfit(x[:, :-1].ravel(), x[:, 1:].ravel(), 1)[0]
    assert slope == pytest.approx(a, abs=0.03)
    assert (
        network.sample_series(2, 5, seed=3)
        .to_pandas()
        .equals(network.sample_series(2, 5, seed=3).to_pandas())
    )


def test_discrete_series():
    """A chain that stays with probability 0.9: forecasts are powers of its matrix."""
    rng = np.random.default_rng(1)
    states = [0]
    for _ in range(3000):
        states.append(states[-1] if rng.random() < 0.9 else 1 - states[-1])
    table = pd.DataFrame({"s": np.array(["off", "on"])[states]})
    network = kes.learn(kes.lagged(table), runs=3).best.fit(table)
    matrix = np.array(network.cpts["s"])
    found = network.forecast(table, 3, draws=DRAWS)
    now = np.eye(2)[states[-1]]
    for step, row in enumerate(found, start=1):
        p = now @ np.linalg.matrix_power(matrix, step)
        assert row["forecast"] == ("off", "on")[p.argmax()]
        assert row["probability"] == pytest.approx(p.max(), abs=0.04)
        assert row["time"] == 3000 + step


def test_times_go_on_as_they_were():
    months = [f"2020-{month:02}-01" for month in range(1, 13)] * 5
    rng = np.random.default_rng(2)
    table = pd.DataFrame(
        {"s": np.repeat(list("abcde"), 12), "month": months, "x": rng.normal(size=60)}
    )
    network = kes.learn(kes.lagged(table, 1, by="s", time="month"), runs=1).best.fit(table)
    found = network.forecast(table, 2, by="s", time="month", draws=10)
    assert set(found["time"]) == {"2021-01", "2021-02"}


def test_files_keep_what_a_forecast_needs(network, table, tmp_path):
    network.save(tmp_path / "network.json")
    again = kes.read_network(tmp_path / "network.json")
    assert again == network
    how = {"by": "patient", "time": "week", "draws": 10}
    assert again.forecast(table, **how) == network.forecast(table, **how)


def test_what_cannot_be_forecast_is_named(network, table):
    plain = kes.learn(table[["x", "y"]], runs=1).best.fit(table[["x", "y"]])
    for ask in (lambda: plain.forecast(table), plain.sample_series):
        with pytest.raises(kes.KesError) as caught:
            ask()
        assert caught.value.option == "lags"
    with pytest.raises(kes.KesError) as caught:
        network.forecast(table, 0, by="patient", time="week")
    assert caught.value.option == "steps"
    with pytest.raises(kes.KesError) as caught:
        network.forecast(table.groupby("patient").head(1), by="patient", time="week")
    assert caught.value.option == "data"
    with pytest.raises(kes.KesError) as caught:
        network.forecast(table.drop(columns="y"), by="patient", time="week")
    assert caught.value.column == "y"


@pytest.mark.parametrize("split", ["series", "time"])
def test_whole_series_and_later_times_can_be_held_out(table, split):
    lagged = kes.lagged(table, 2, by="patient", time="week")
    found = kes.cross_validate(lagged, folds=3, split=split, runs=2, improve=False, top=1)
    assert found["per_case"][0] > found["per_case"][-1] + 0.3  # than without edges
    with pytest.raises(kes.KesError) as caught:
        kes.cross_validate(table[["x", "y"]], split=split)
    assert caught.value.option == "split"
    with pytest.raises(kes.KesError) as caught:
        kes.cross_validate(lagged, folds=50, split=split)
    assert caught.value.option == "folds"


@pytest.mark.parametrize("how", [{"transform": "ranks"}, {"basis": 2}])
def test_a_continuous_context_is_transformed_like_the_rest(how):
    """A context far from 0 in raw units would otherwise take forecasts out of all proportion."""
    rng = np.random.default_rng(1)
    rows = []
    for series in range(40):
        c, x = rng.normal(100, 10), 0.0
        for week in range(12):
            x = 0.5 * x + c + rng.normal()
            rows.append((series, week, c, x))
    table = pd.DataFrame(rows, columns=["series", "week", "c", "x"])
    table = table[table["week"] >= 6]
    lagged = kes.lagged(table, 1, by="series", time="week")
    optima = kes.learn(lagged, contexts=["c"], runs=5, **how)
    network = optima.best.fit(lagged)
    assert "c" in network.parents["x"]
    found = network.forecast(lagged, draws=400)
    last = table.groupby("series").last()
    expected = 0.5 * last["x"].to_numpy() + last["c"].to_numpy()
    assert np.corrcoef(np.array(found["forecast"]), expected)[0, 1] > 0.9
    assert all(low < high for low, high in zip(found["low"], found["high"], strict=True))
    drawn = network.sample_series(20, 10, burn_in=20)
    assert len(np.unique(drawn.columns[-1].values)) > 100
