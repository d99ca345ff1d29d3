"""New rows are read as the columns of the training table were written."""

import json
import pickle

import numpy as np
import pandas as pd
import pytest

import kes
from kes.data.notation import Notation
from kes.network import fit

ARCS = [("start", "price"), ("kind", "price")]
DAY = np.timedelta64(1, "D")


def written(rows=200, *, slashes=True, unit="€", first="2021-01-01", seed=1):
    """A table as text: dates from a first one on, prices in a unit, and a plain column."""
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 700, rows)
    dates = np.datetime64(first) + days * DAY
    kind = rng.choice(["a", "b"], rows)
    price = 0.25 * days + 40.5 * (kind == "a") + rng.normal(size=rows)
    texts = pd.Series(dates).dt.strftime("%m/%d/%Y" if slashes else "%Y-%m-%d")
    prices = [f"{value:.2f} {unit}".strip() for value in price]
    return pd.DataFrame({"start": texts, "price": prices, "kind": kind}), dates, price


def numbers(frame, dates, price):
    """The same table in numbers, by numpy's calendar and not by kes."""
    days = (dates - np.datetime64("1970-01-01")) / DAY
    return frame.assign(start=days, price=np.round(price, 2))


@pytest.fixture(scope="module")
def network():
    return fit(ARCS, written()[0], dates="days")


def test_a_network_knows_how_its_columns_were_written(network):
    assert network.notations == {"start": Notation("days", True), "price": Notation(unit="€")}
    assert fit([], numbers(*written())).notations == {}


def test_new_rows_are_read_in_the_same_way(network):
    """Later dates, so that days since the first one of each table would differ."""
    new = written(30, first="2024-06-01", seed=2)
    expected = network.log_likelihood(numbers(*new))
    assert network.log_likelihood(new[0]) == pytest.approx(expected)
    plain = fit(ARCS, numbers(*written()))
    assert plain.log_likelihood(numbers(*new)) == pytest.approx(expected)


def test_a_single_row_of_unclear_dates_is_read_with_the_month_first(network):
    row = pd.DataFrame({"start": ["3/4/2022"], "price": ["99.5 €"], "kind": ["b"]})
    day = (np.datetime64("2022-03-04") - np.datetime64("1970-01-01")) / DAY
    expected = network.log_likelihood(row.assign(start=day, price=99.5))
    assert network.log_likelihood(row) == pytest.approx(expected)
    swapped = row.assign(start=["31/3/2022"])
    with pytest.raises(kes.KesError) as error:
        network.log_likelihood(swapped)
    assert error.value.column == "start"


def test_dates_may_be_written_otherwise_in_new_rows(network):
    iso = written(30, slashes=False, seed=3)
    expected = network.predict(numbers(*iso).drop(columns="price"), "price")
    assert network.predict(iso[0].drop(columns="price"), "price") == pytest.approx(expected)
    typed = iso[0].assign(start=iso[1])
    assert network.log_likelihood(typed) == pytest.approx(network.log_likelihood(iso[0]))


def test_numbers_in_another_unit_are_refused_and_those_without_one_are_not(network):
    with pytest.raises(kes.KesError) as error:
        network.log_likelihood(written(30, unit="$")[0])
    assert error.value.column == "price"
    assert "'€'" in str(error.value)
    assert np.isfinite(network.log_likelihood(written(30, unit="")[0]))


def test_years_that_are_states():
    frame, dates, price = written()
    network = fit(ARCS, frame, dates="year")
    years = dates.astype("datetime64[Y]").astype(int) + 1970
    assert network.states["start"] == tuple(np.unique(years).tolist())
    expected = network.log_likelihood(frame.assign(start=years, price=np.round(price, 2)))
    assert network.log_likelihood(frame) == pytest.approx(expected)


def test_columns_that_are_cut_keep_it():
    network = fit(ARCS, written()[0], dates="days", discretize=3)
    assert {*network.notations} == {"start", "price"}
    new = written(30, seed=4)
    assert network.log_likelihood(new[0]) == pytest.approx(network.log_likelihood(numbers(*new)))


def test_declared_columns_keep_their_unit():
    network = fit([], written()[0], dates="days", kinds={"price": "continuous"})
    assert network.notations["price"] == Notation(unit="€")


def test_files_and_pickles_keep_it(network, tmp_path):
    network.save(tmp_path / "n.json")
    for copy in (kes.read_network(tmp_path / "n.json"), pickle.loads(pickle.dumps(network))):
        assert copy == network
        assert copy.notations == network.notations
    document = json.loads((tmp_path / "n.json").read_text(encoding="utf-8"))
    del document["notations"]  # as in older files
    (tmp_path / "old.json").write_text(json.dumps(document), encoding="utf-8")
    old = kes.read_network(tmp_path / "old.json")
    assert old.notations == {}
    assert old != network


@pytest.mark.parametrize(
    "notations",
    [
        *([], 7, {"start": 3}, {"price": None}, {"price": {"size": 3}}, {"price": {"unit": 3}}),
        *({"start": {"dates": "weeks"}}, {"start": {"month_first": 1}}),
    ],
)
def test_malformed_files_are_refused(network, tmp_path, notations):
    network.save(tmp_path / "n.json")
    document = json.loads((tmp_path / "n.json").read_text(encoding="utf-8"))
    document["notations"] = notations
    (tmp_path / "bad.json").write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(kes.KesError) as error:
        kes.read_network(tmp_path / "bad.json")
    assert error.value.file is not None


def test_commands_read_new_tables_in_the_same_way(network, tmp_path, printed):
    table, new = tmp_path / "t.csv", tmp_path / "new.csv"
    written()[0].to_csv(table, index=False)
    rows = written(30, first="2024-06-01", seed=2)
    rows[0].drop(columns="price").to_csv(new, index=False)
    result, out = tmp_path / "r.json", tmp_path / "p.csv"
    assert printed("learn", table, "--dates", "days", "--runs", 5, "--out", result)[0] == 0
    assert printed("predict", result, new, "--target", "price", "--out", out)[0] == 0
    fitted = kes.load(result).best.fit(written()[0])
    expected = fitted.predict(numbers(*rows).drop(columns="price"), "price")
    assert pd.read_csv(out)["price"].to_numpy() == pytest.approx(expected, rel=1e-5)


def test_questions_take_dates_and_units(network, tmp_path, printed):
    network.save(tmp_path / "n.json")
    day = (np.datetime64("2022-03-04") - np.datetime64("1970-01-01")) / DAY
    _, expected, _ = printed("query", tmp_path / "n.json", f"price | start={day}, kind=a")
    _, shown, _ = printed("query", tmp_path / "n.json", "price | start=2022-03-04, kind=a")
    assert shown.splitlines()[1:] == expected.splitlines()[1:]
    _, plain, _ = printed("query", tmp_path / "n.json", "P(price>99 | kind=a)")
    _, shown, _ = printed("query", tmp_path / "n.json", "P(price>'99 €' | kind=a)")
    assert shown.splitlines()[1:] == plain.splitlines()[1:]
    status, _, said = printed("query", tmp_path / "n.json", "P(price>'99 $' | kind=a)")
    assert status == 2
    assert "'€'" in said
