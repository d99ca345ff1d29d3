"""How many cases each row stands for: read, checked, and never those of somebody else."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest

from kes.data import encode
from kes.errors import KesError

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
    with pytest.raises(KesError, match="pass the weights as an array"):
        encode(dataset, weights="n")


@pytest.mark.parametrize("bad", [-1, np.nan, np.inf])
def test_bad_numbers(bad):
    with pytest.raises(KesError, match=rf"row 1 \(counting from 0\) has {bad:g}"):
        encode(TABLE[["a"]], weights=[1, bad, 1])
    with pytest.raises(KesError, match=rf"weights \(column 'n'\): row 2 .* has {bad:g}"):
        encode(TABLE.assign(n=[1.0, 1.0, bad]), weights="n")


def test_a_distribution_needs_a_number_of_cases():
    with pytest.raises(KesError, match=r"sum to 1, .* multiply a distribution by the number"):
        encode(TABLE[["a"]], weights=[0.25, 0.5, 0.25])
    with pytest.raises(KesError, match="all are zero"):
        encode(TABLE[["a"]], weights=[0, 0, 0])


def test_wrong_length():
    with pytest.raises(KesError, match="one for each of the 3 rows, found 2"):
        encode(TABLE, weights=[1, 2])
    with pytest.raises(KesError, match=r"found an array of shape \(3, 1\)"):
        encode(TABLE, weights=[[1], [2], [3]])


def test_no_numbers():
    with pytest.raises(KesError, match="weights must be numbers or the name of a column"):
        encode(TABLE, weights=["p", "q", "r"])
    with pytest.raises(KesError, match=r"weights \(column 'a'\): holds values of type String"):
        encode(TABLE, weights="a")


def test_unknown_column():
    with pytest.raises(KesError, match=r"unknown column of weights 'N' .did you mean 'n'"):
        encode(TABLE, weights="N")


def test_no_column_besides():
    with pytest.raises(KesError, match="no columns besides the weights"):
        encode(TABLE[["n"]], weights="n")
