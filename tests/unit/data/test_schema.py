"""New data under an existing coding."""

from __future__ import annotations

import datetime

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

from kes.data import Schema, encode, encode_like


def test_order_of_columns_and_further_columns_do_not_matter(frame):
    new = frame({"date": [datetime.date(2020, 1, 1)] * 2, "b": [2, 1], "a": ["v", "v"]})
    dataset = encode(new, schema=Schema(["a", "b"], [["u", "v"], [0, 1, 2]]))
    assert dataset.names == ("a", "b")
    assert dataset.states == (("u", "v"), (0, 1, 2))
    assert dataset.codes.tolist() == [[1, 1], [2, 1]]


def test_the_same_data_get_the_same_codes():
    table = pd.DataFrame({"a": ["u", None, "v"], "b": pd.Categorical([1, 2, 1], [3, 2, 1])})
    first = encode(table, missing="state")
    again = encode(table, schema=Schema(first.names, first.states), missing="state")
    assert np.array_equal(first.codes, again.codes)
    assert again.states == first.states


def test_numbers_match_text():
    text = pd.DataFrame({"a": ["1", "0"]})
    assert encode(text, schema=Schema(["a"], [[0, 1]])).codes.tolist() == [[1, 0]]
    number = pd.DataFrame({"a": [1, 0]})
    assert encode(number, schema=Schema(["a"], [["0", "1"]])).codes.tolist() == [[1, 0]]


def test_one_row_will_do():
    assert encode(np.array([[1]]), schema=Schema(["x0"], [[0, 1]])).codes.tolist() == [[1]]


def test_a_dataset_is_recoded():
    dataset = encode(pd.DataFrame({"a": ["u", "w"], "b": [1, 2]}), weights=[2, 3])
    recoded = encode(dataset, schema=Schema(["b", "a"], [[1, 2], ["u", "v", "w"]]))
    assert recoded.codes.tolist() == [[0, 1], [0, 2]]
    assert recoded.weights.tolist() == [2, 3]


def test_a_distribution_may_weigh_new_data():
    dataset = encode(np.array([[0], [1]]), schema=Schema(["x0"], [[0, 1]]), weights=[0.5, 0.5])
    assert dataset.weights.tolist() == [0.5, 0.5]


def test_lacking_columns():
    with refused("'A', 'c' .did you mean 'a'", column="A"):
        encode(
            pd.DataFrame({"a": [1, 2], "b": [1, 2]}), schema=Schema(["A", "b", "c"], [[1, 2]] * 3)
        )


def test_unknown_states():
    with refused("'w', 'x' .* 'u', 'v'$", column="a", row=1):
        encode(pd.DataFrame({"a": ["u", "w", "x"]}), schema=Schema(["a"], [["u", "v"]]))


def test_declared_values_that_do_not_occur_need_no_state():
    table = pd.DataFrame({"a": pd.Categorical(["u"], categories=["u", "w"])})
    assert encode(table, schema=Schema(["a"], [["u", "v"]])).codes.tolist() == [[0]]


def test_missing_values():
    table = pd.DataFrame({"a": ["u", None]})
    with refused("1 of 2 rows", option="missing", column="a"):
        encode(table, schema=Schema(["a"], [["u", "v"]]))
    with refused("no state", option="missing", column="a", row=1):
        encode(table, schema=Schema(["a"], [["u", "v"]]), missing="state")
    dropped = encode(table, schema=Schema(["a"], [["u", "v"]]), missing="drop")
    assert (dropped.codes.tolist(), dropped.states) == ([[0]], (("u", "v"),))


def test_no_rows():
    with refused("no rows", option="data"):
        encode(pd.DataFrame({"a": []}), schema=Schema(["a"], [[1]]))


def test_the_former_name_still_works():
    with pytest.warns(DeprecationWarning, match="schema="):
        dataset = encode_like(np.array([[1]]), ["x0"], [[0, 1]])
    assert dataset.codes.tolist() == [[1]]
