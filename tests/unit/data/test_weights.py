"""Weights of rows: read, checked, and never mixed up between tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.unit.refused import refused

from kes.data import encode

TABLE = pd.DataFrame({"a": ["x", "y", "z"], "n": [2, 0, 1.5]})


def test_column(frame):
    dataset = encode(frame(TABLE.to_dict("list")), weights="n")
    assert dataset.names == ("a",)
    assert dataset.weights.tolist() == [2, 0, 1.5]


def test_rows_of_weight_zero_declare_states():
    assert encode(TABLE, weights="n").states == (("x", "y", "z"),)


@pytest.mark.parametrize("make", [list, tuple, np.array, pd.Series, pl.Series])
def test_array(make):
    dataset = encode(TABLE[["a"]], weights=make([2, 0, 1]))
    assert dataset.weights.tolist() == [2, 0, 1]
    assert dataset.weights.dtype == np.float64


def test_array_is_copied():
    weights = np.array([2.0, 0.0, 1.0])
    dataset = encode(TABLE[["a"]], weights=weights)
    weights[0] = 9
    assert dataset.weights[0] == 2


def test_column_is_copied():
    table = TABLE.copy()
    dataset = encode(table, weights="n")
    table.loc[0, "n"] = 9
    assert dataset.weights[0] == 2


def test_a_dataset_can_be_weighted_anew():
    dataset = encode(TABLE[["a"]])
    weighted = encode(dataset, weights=[1, 2, 3])
    assert weighted.weights.tolist() == [1, 2, 3]
    assert weighted.columns == dataset.columns
    with refused(option="weights"):
        encode(dataset, weights="n")


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_bad_numbers(bad):
    with refused(f"{bad:g}", option="weights", row=1):
        encode(TABLE[["a"]], weights=[1, bad, 1])
    with refused(f"'n'.* {bad:g}", option="weights", row=2):
        encode(TABLE.assign(n=[1.0, 1.0, bad]), weights="n")


def test_a_distribution_needs_a_number_of_cases():
    with refused("sum to 1,.* distribution", option="weights"):
        encode(TABLE[["a"]], weights=[0.25, 0.5, 0.25])
    with refused("zero", option="weights"):
        encode(TABLE[["a"]], weights=[0, 0, 0])


def test_wrong_length():
    with refused("3 rows, found 2", option="weights"):
        encode(TABLE, weights=[1, 2])
    with refused(r"\(3, 1\)", option="weights"):
        encode(TABLE, weights=[[1], [2], [3]])


def test_no_numbers():
    with refused("numbers", option="weights"):
        encode(TABLE, weights=["p", "q", "r"])
    with refused("'x' is not a number", option="weights", column="a", row=0):
        encode(TABLE, weights="a")


def test_unknown_column():
    with refused("did you mean 'n'", option="weights"):
        encode(TABLE, weights="N")


def test_no_column_besides():
    with refused("no columns besides", option="weights"):
        encode(TABLE[["n"]], weights="n")
