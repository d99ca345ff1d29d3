"""Cutting columns: against brute force, against pandas, and by what the labels promise."""

from __future__ import annotations

import doctest
import math
import pickle
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.data.test_mutual_information import mutual_information
from tests.unit.refused import refused

import kes
from kes.data import encode
from kes.data.discretizer import Discretizer, discretize
from kes.data.intervals import cuts_of, interval_labels


def test_examples_in_docstrings():
    for module in ("kes.data.intervals", "kes.data.discretizer"):
        assert doctest.testmod(sys.modules[module]).failed == 0


class TestStrategies:
    VALUES = np.random.default_rng(1).normal(size=300)

    @pytest.mark.parametrize("bins", [2, 3, 7])
    def test_quantiles_as_pandas_finds_them(self, bins):
        codes = discretize(self.VALUES[:, None], bins)[:, 0]
        assert codes.tolist() == pd.qcut(self.VALUES, bins, labels=False).tolist()

    @pytest.mark.parametrize("bins", [2, 3, 5])
    def test_widths_as_pandas_finds_them(self, bins):
        codes = discretize(self.VALUES[:, None], bins, "uniform")[:, 0]
        assert codes.tolist() == pd.cut(self.VALUES, bins, labels=False).tolist()

    def test_target(self):
        labels = (np.abs(self.VALUES) > 1).astype(int)
        table = pd.DataFrame({"x": self.VALUES, "y": labels})
        for target in ("y", labels, labels.tolist()):
            cut = discretize(table, 3, "mutual_information", target=target)
            # A function of three intervals is known exactly from them.
            assert mutual_information(cut["x"].tolist(), labels.tolist()) == pytest.approx(
                mutual_information(labels.tolist(), labels.tolist())
            )
            assert cut["y"].equals(table["y"])

    def test_fewest_cases_in_a_bin(self):
        table = pd.DataFrame({"x": self.VALUES, "y": np.arange(300) % 2})
        cut = discretize(table, 3, "mutual_information", target="y", min_count=60)
        assert cut["x"].value_counts().min() >= 60

    def test_many_equal_values_have_a_bin_of_their_own(self):
        table = pd.DataFrame({"x": [0.0] * 60 + [0.5 + i for i in range(40)]})
        counts = discretize(table, 3)["x"].value_counts(sort=False)
        assert counts.to_dict() == {"<= 0": 60, "(0, 7]": 7, "> 7": 33}

    def test_no_bin_is_empty(self):
        table = pd.DataFrame({"x": [0.0, 0.1, 0.2, 99.5]})
        assert discretize(table, 5, "uniform")["x"].cat.categories.tolist() == ["<= 20", "> 20"]

    def test_fewer_values_than_bins(self):
        table = pd.DataFrame({"x": [0.5, 1.5] * 5})
        assert discretize(table, 4)["x"].cat.categories.tolist() == ["<= 0.5", "> 0.5"]

    def test_constant_column(self):
        table = pd.DataFrame({"x": [0.5] * 4})
        assert discretize(table)["x"].cat.categories.tolist() == ["all"]


class TestLabels:
    @given(
        st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=30),
        st.integers(2, 5),
        st.sampled_from(["quantile", "uniform"]),
    )
    def test_each_value_is_where_its_label_says(self, values, bins, strategy):
        table = pd.DataFrame({"x": values})
        cut = discretize(table, bins, strategy, columns=["x"])["x"]
        categories = cut.cat.categories.tolist()
        assert cut.cat.ordered
        assert len(categories) <= bins
        for value, label in zip(values, cut, strict=True):
            assert contains(label, value)
            assert sum(contains(other, value) for other in categories) == 1

    def test_ends_have_few_digits(self):
        values = [0.123456, 0.234567, 0.345678, 0.456789]
        cut = discretize(pd.DataFrame({"x": values}), 2)["x"]
        assert cut.cat.categories.tolist() == ["<= 0.3", "> 0.3"]

    def test_integers_when_asked_for(self):
        table = pd.DataFrame({"age": range(20, 60)})
        assert discretize(table)["age"].equals(table["age"])
        cut = discretize(table, 2, columns=["age"])["age"]
        assert cut.cat.categories.tolist() == ["<= 39", "> 39"]


def contains(label: str, value: float) -> bool:
    """Read a label as mathematics."""
    if label == "all":
        return True
    if label.startswith("<="):
        return value <= float(label[2:])
    if label.startswith(">"):
        return value > float(label[1:])
    low, high = label.strip("(]").split(", ")
    return float(low) < value <= float(high)


class TestNames:
    @given(st.sets(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=6))
    def test_the_names_of_intervals_tell_the_cuts(self, numbers):
        cuts = tuple(sorted({number + 0.0 for number in numbers}))
        assert cuts_of(interval_labels(cuts)) == cuts

    @pytest.mark.parametrize(
        "names",
        [
            [],
            ["all"],
            ["<= 1"],
            ["<= 1", "> 2"],  # with a hole
            ["<= 1", "(1, 2]", "> 1"],
            ["<= 2", "(2, 1]", "> 1"],  # which hold no number
            ["<= 1", "(1, 1]", "> 1"],
            ["<= inf", "> inf"],
            ["<= -inf", "(-inf, 0]", "> 0"],
            ["> 1", "<= 1"],  # in another order
            ["<= 1.0", "> 1.0"],  # written otherwise, as nobody here would
            ["[0, 1)", "[1, 2)"],
            ["<= 1", "> 1", "unknown"],
            [1, 2],
        ],
    )
    def test_other_names_do_not(self, names):
        assert cuts_of(names) is None


class TestKinds:
    COLUMNS = {  # noqa: RUF012
        "x": [0.5, 1.5, 2.5, 3.5],
        "whole": [1.0, 2.0, 1.0, 2.0],
        "text": ["a", "b", "a", "b"],
        "n": [1, 2, 3, 4],
    }
    LABELS = ("<= 2", "> 2")

    def test_pandas(self):
        table = pd.DataFrame(self.COLUMNS, index=[7, 8, 9, 9])
        cut = discretize(table, 2)
        assert cut.index.equals(table.index)
        assert cut["x"].tolist() == ["<= 2", "<= 2", "> 2", "> 2"]
        assert cut.drop(columns="x").equals(table.drop(columns="x"))
        assert table["x"].dtype == float  # the user's table is as before

    @pytest.mark.parametrize("lazy", [False, True])
    def test_polars(self, lazy):
        table = pl.DataFrame(self.COLUMNS)
        cut = discretize(table.lazy(), 2).collect() if lazy else discretize(table, 2)
        assert cut["x"].dtype == pl.Enum(self.LABELS)
        assert cut["x"].to_list() == ["<= 2", "<= 2", "> 2", "> 2"]
        assert cut.drop("x").equals(table.drop("x"))

    def test_pyarrow(self):
        table = pa.table(self.COLUMNS)
        cut = discretize(table, 2)
        assert cut["x"].to_pylist() == ["<= 2", "<= 2", "> 2", "> 2"]
        assert cut.schema.field("x").type.ordered
        assert cut.drop_columns("x").equals(table.drop_columns("x"))

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_the_result_can_be_coded_and_keeps_the_labels(self, make):
        states = encode(discretize(make(self.COLUMNS), 2)).states
        assert states == (self.LABELS, (1, 2), ("a", "b"), (1, 2, 3, 4))

    def test_numpy(self):
        array = np.array([[0.5, 1.0], [1.5, 2.0], [2.5, 1.0]])
        cut = discretize(array, 3)
        assert cut.tolist() == [[0, 1], [1, 2], [2, 1]]
        assert cut.dtype == np.int64
        assert array[0, 0] == 0.5
        other = np.array([[0.5, 0.25], [1.5, 0.75]])
        assert discretize(other, 2, columns=["x0"]).tolist() == [[0, 0.25], [1, 0.75]]

    def test_columns_that_cannot_be_coded_are_left_alone(self):
        table = pd.DataFrame({"x": [0.5, 1.5], "date": pd.to_datetime(["2020", "2021"])})
        assert discretize(table)["date"].equals(table["date"])

    def test_numbers_as_objects(self):
        table = pd.DataFrame({"x": pd.Series([0.5, 1.5], dtype=object)})
        assert discretize(table, 2)["x"].tolist() == ["<= 1", "> 1"]


class TestErrors:
    TABLE = pd.DataFrame({"x": [0.5, 1.5, math.nan], "s": ["a", "b", "c"]})

    def test_infinite_values(self):
        with refused("1 infinite", column="x"):
            discretize(self.TABLE.assign(x=[0.5, 1.5, math.inf]))

    @pytest.mark.parametrize(
        ("options", "word", "about"),
        [
            ({"bins": 1}, "not 1", {"option": "bins"}),
            ({"bins": 2.5}, "integer", {"option": "bins"}),
            ({"min_count": 0}, ">= 1", {"option": "min_count"}),
            ({"strategy": "quantiles"}, "did you mean 'quantile'", {"option": "strategy"}),
            ({"strategy": "mutual_information"}, "information", {"option": "target"}),
            ({"target": "s"}, "quantile", {"option": "target"}),
            ({"columns": ["y"]}, "unknown", {"column": "y"}),
            ({"columns": ["s"]}, "not numbers: 'a'", {"column": "s"}),
        ],
    )
    def test_options(self, options, word, about):
        with refused(word, **about):
            discretize(self.TABLE, **options)

    @pytest.mark.parametrize(
        ("target", "word", "about"),
        [
            ([1, 2], "2 labels for 3 rows", {"option": "target"}),
            ([0.1, 0.2, 0.3], "discrete", {"option": "target", "column": None}),
            ("x", "discrete", {"option": "target", "column": "x"}),
            ("t", "unknown", {"column": "t"}),
        ],
    )
    def test_target(self, target, word, about):
        with refused(word, **about):
            discretize(self.TABLE, strategy="mutual_information", target=target)

    def test_data(self):
        with refused(r"pandas\.read_csv", file=Path("table.csv")):
            discretize("table.csv")
        with refused("<U1", option="data"):
            discretize(np.array([["a"]]))


class TestDiscretizer:
    """Intervals of one table are applied to others."""

    OLD = pd.DataFrame({"x": [1.5, 2.5, 3.5, 4.5, 5.5, 6.5], "s": list("aabbcc")})
    NEW = pd.DataFrame({"x": [-99.0, 2.6, 4.4, math.nan, 99.0], "s": list("abcde")})

    def test_new_rows_are_cut_where_the_old_ones_were(self):
        discretizer = Discretizer(bins=3).fit(self.OLD)
        [low, high] = discretizer.cuts["x"]
        assert 2.5 <= low < 3.5 <= 4.5 <= high < 5.5  # two of the six cases in each
        cut = discretizer.transform(self.NEW)
        assert cut["x"].cat.categories.tolist() == list(discretizer.intervals("x"))
        assert cut["x"].cat.codes.tolist() == [0, int(low < 2.6), 1, -1, 2]  # pandas: -1 is missing
        assert cut["s"].equals(self.NEW["s"])

    @pytest.mark.parametrize("method", ["quantile", "uniform"])
    def test_missing_values_are_passed_over_and_stay_missing(self, method):
        gaps = pd.concat([self.OLD, pd.DataFrame({"x": [math.nan] * 9, "s": list("a" * 9)})])
        with_gaps = Discretizer(method=method).fit(gaps)
        assert with_gaps == Discretizer(method=method).fit(self.OLD)
        assert with_gaps.transform(gaps)["x"].isna().sum() == 9

    @pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
    def test_missing_values_in_every_library(self, make):
        table = make({"x": [0.5, None, 1.5], "y": [1, 2, 3]})
        coded = encode(discretize(table, 2), missing="state")
        assert coded.states[0] == ("<= 1", "> 1", "<missing>")
        assert coded.codes[0].tolist() == [0, 2, 1]

    def test_missing_values_in_an_array(self):
        cut = discretize(np.array([[0.5, 1], [math.nan, 2], [1.5, 3]]), 2)
        assert np.isnan(cut[1, 0])
        assert cut[[0, 2], 0].tolist() == [0, 1]

    def test_missing_labels_say_nothing_about_the_cuts(self):
        values = [0.5, 1.5, 2.5, 3.5, 4.5]
        for labels in (["a", "a", "b", "b", None], ["a", "a", "b", "b"]):
            table = pd.DataFrame({"x": values[: len(labels)], "y": labels})
            discretizer = Discretizer(2, method="information", target="y", min_count=1).fit(table)
            assert list(discretizer.cuts) == ["x"]  # the target is left as it is
            assert 1.5 <= discretizer.cuts["x"][0] < 2.5

    def test_bins_for_some_columns_only(self):
        table = pd.DataFrame({"age": [20, 30, 40, 50], "x": [0.1, 0.2, 0.3, 0.4]})
        discretizer = Discretizer({"age": 2}).fit(table)
        assert list(discretizer.cuts) == ["age"]
        assert 30 <= discretizer.cuts["age"][0] < 40
        assert discretizer.transform(table)["x"].equals(table["x"])

    def test_whole_numbers_with_many_values_are_continuous(self):
        table = pd.DataFrame({"few": [1, 2] * 40, "many": [3 * i for i in range(80)]})
        assert list(Discretizer().fit(table).cuts) == ["many"]

    def test_what_is_cut_already_is_left_alone(self):
        discretizer = Discretizer().fit(self.OLD)
        once = discretizer.transform(self.OLD)
        assert discretizer.transform(once)["x"].tolist() == once["x"].tolist()
        as_text = once.assign(x=once["x"].astype(str))
        assert discretizer.transform(as_text)["x"].tolist() == once["x"].tolist()

    @pytest.mark.parametrize("missing", ["drop", "state"])
    def test_what_is_cut_already_may_have_gaps(self, missing):
        discretizer = Discretizer().fit(self.OLD)
        cut = discretizer.transform(self.OLD).astype({"x": object})
        found = []
        for table in (self.OLD.copy(), cut):
            table.loc[1, "x"] = None
            found.append(encode(table, discretizer=discretizer, missing=missing))
        assert found[0].states == found[1].states
        assert np.array_equal(found[0].codes, found[1].codes)

    @pytest.mark.parametrize("known", [False, True])
    def test_a_table_that_was_read_before_is_cut_as_it_would_have_been_then(self, known):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({"x": rng.normal(size=60), "y": [*"abc"] * 20})
        first, second = (Discretizer(3).fit(table) if known else Discretizer(3) for _ in range(2))
        at_once, later = encode(table, discretizer=first), encode(encode(table), discretizer=second)
        assert later.states == at_once.states
        assert np.array_equal(later.codes, at_once.codes)
        assert [len(states) for states in later.states] == [3, 3]

    def test_intervals_are_states_in_the_order_of_their_numbers(self):
        values = [-1.5, 9.5, 10.5, 100.5]
        cut = discretize(pd.DataFrame({"x": values}), 4)["x"].astype(str)
        states = encode(pd.DataFrame({"x": cut, "y": list("aabb")}), kinds={"x": "discrete"}).states
        assert list(states[0]) == cut.tolist()

    def test_equality_and_pickle(self):
        fitted = Discretizer(bins=3).fit(self.OLD)
        assert pickle.loads(pickle.dumps(fitted)) == fitted
        assert Discretizer.at(fitted.cuts) == fitted  # the cuts are all there is to it
        assert fitted != Discretizer(bins=2).fit(self.OLD)
        assert Discretizer(bins=3) == Discretizer(bins=3) != Discretizer(bins=4)
        assert fitted != Discretizer(bins=3)
        assert fitted != "fitted"

    def test_repr_says_where(self):
        fitted = Discretizer.at({"x": [0.25, 3], "y": []})
        assert repr(fitted).endswith("fitted: 'x' at 0.25, 3, 'y' at no place")
        assert repr(Discretizer(2, method="uniform")) == "Discretizer(bins=2, method='uniform')"

    def test_before_fitting(self):
        discretizer = Discretizer()
        assert not discretizer.is_fitted
        with refused("fit"):
            discretizer.transform(self.OLD)

    @pytest.mark.parametrize("cuts", [[1, 1], [2, 1], [math.nan], [math.inf]])
    def test_cuts_must_increase(self, cuts):
        with refused(option="cuts", column="x"):
            Discretizer.at({"x": cuts})

    @pytest.mark.parametrize("bins", [{"x": 1}, True, "3", None])
    def test_bins_must_be_numbers(self, bins):
        with refused(option="bins"):
            Discretizer(bins)

    def test_method(self):
        with refused(option="method"):
            Discretizer(method="mutual_information")


def test_stated_cuts_of_a_column_that_does_not_exist_are_refused():
    """As numbers of intervals are: a mistyped name must not leave the column as it is."""
    table = pd.DataFrame({"age": [17.5, 40.0, 70.0] * 20, "dose": np.arange(60) / 7})
    cuts = {"age": [18.0, 65.0]}
    assert kes.learn(table, runs=1, discretize=cuts).states["age"][0] == "<= 18"
    for wrong in ({"agee": [18.0]}, {**cuts, "agee": [1.0]}, {"agee": 3}):
        for data in (table, encode(table)):
            with pytest.raises(kes.KesError, match="did you mean 'age'") as error:
                kes.learn(data, runs=1, discretize=wrong)
            assert error.value.column == "agee"
    fitted = kes.Discretizer({"age": 2, "dose": 2}).fit(table)
    assert kes.learn(table[["age"]], runs=1, discretize=fitted).names == ("age",)
