"""The order of states that nobody declared: intervals from left to right, other text as text."""

from __future__ import annotations

import doctest
import sys
from itertools import pairwise

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kes
from kes.data import encode
from kes.data.intervals import text_order


def sort(values: list[str]) -> list[str]:
    return [values[i] for i in text_order(values)]


def test_examples_in_docstrings():
    assert doctest.testmod(sys.modules["kes.data.intervals"]).failed == 0


@pytest.mark.parametrize(
    "labels",
    [
        ["<= -1.5", "(-1.5, 2]", "(2, 13.5]", "> 13.5"],
        ["< 9", "[9, 10)", "[10, 1e2)", ">= 1e2"],
        ["[0,5)", "[5,10)", "[10,20]"],
        ["(-inf, 2]", "(2, 10]", "(10, inf]"],
        ["< 2", "<= 2", "[2, 2]", "(2, 3)", "(2, 3]", "> 2", ">= 3", "> 3"],
        ["<=9", ">9"],
    ],
    ids=["kes", "closed below", "R", "polars", "ends", "tight"],
)
def test_intervals_stand_from_left_to_right(labels):
    assert sort(labels[::-1]) == labels
    assert sort(sorted(labels)) == labels


@pytest.mark.parametrize(
    "values",
    [
        ["(10, 20]", "(2, 10]", "unknown"],
        ["> 9", "> 10", ">"],
        ["(b, c]", "(a, b]"],
        ["10-19", "20-29", "5-9"],
        ["(1, 2, 3]", "(10, 2]"],
    ],
)
def test_one_other_value_makes_it_text(values):
    assert sort(values) == sorted(values)


@given(st.sets(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=8))
def test_what_discretize_writes_stands_as_its_numbers_do(cuts):
    ends = sorted(cuts)
    labels = [f"<= {ends[0]!r}", *(f"({a!r}, {b!r}]" for a, b in pairwise(ends))]
    labels.append(f"> {ends[-1]!r}")
    assert sort(sorted(labels)) == labels


class TestTables:
    """A cut column keeps its order on every way into kes."""

    TABLE = pd.DataFrame({"x": np.linspace(-2.0, 30.0, 41), "y": [0, 1] * 20 + [0]})

    @pytest.fixture
    def cut(self):
        return kes.discretize(self.TABLE, bins=4)

    def test_csv(self, cut, tmp_path):
        cut.to_csv(tmp_path / "cut.csv", index=False)
        states = encode(tmp_path / "cut.csv").states[0]
        assert list(states) == list(cut["x"].cat.categories) != sorted(states)

    def test_csv_of_pandas_cut(self, tmp_path):
        bins = pd.cut(self.TABLE["x"], 5)
        self.TABLE.assign(x=bins).to_csv(tmp_path / "cut.csv", index=False)
        assert list(encode(tmp_path / "cut.csv").states[0]) == [str(i) for i in bins.cat.categories]

    def test_text_in_any_library(self, cut, frame):
        text = {"x": cut["x"].astype(str).tolist(), "y": self.TABLE["y"].tolist()}
        assert list(encode(frame(text)).states[0]) == list(cut["x"].cat.categories)

    def test_compressed_text(self, cut):
        text = cut["x"].astype(str).tolist()
        for table in (
            pl.DataFrame({"x": pl.Series(text, dtype=pl.Categorical)}),
            pa.table({"x": pa.array(text).dictionary_encode()}),
        ):
            assert list(encode(table).states[0]) == list(cut["x"].cat.categories)

    def test_missing_comes_last(self, cut):
        text = cut["x"].astype(object)
        text[3] = None
        states = encode(pd.DataFrame({"x": text}), missing="state").states[0]
        assert list(states) == [*cut["x"].cat.categories, "<missing>"]
