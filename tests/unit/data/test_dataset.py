"""A table made of codes that somebody has: taken over, checked, and left alone."""

from __future__ import annotations

import doctest
import pickle
import sys
from dataclasses import FrozenInstanceError

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.data import Continuous, Discrete, encode

NAMES = ("a", "b")
STATES = (("no", "yes"), (1, 2, 3))
CODES = np.array([[0, 1, 1, 0], [2, 0, 1, 0]], dtype=np.int32)


def test_examples_in_docstrings():
    assert doctest.testmod(sys.modules["kes.data.dataset"]).failed == 0


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("dtype", [np.int8, np.uint16, np.int32, np.int64, np.uint64, ">i4"])
def test_any_integers_will_do(dtype, order):
    given = CODES.astype(dtype, order=order)
    dataset = kes.Dataset(NAMES, STATES, given)
    assert np.array_equal(dataset.codes, CODES)
    assert dataset.codes.dtype == np.int32
    assert dataset.codes.flags.c_contiguous
    as_coded_by_kes = encode(dataset.to_pandas())
    for arcs in ([], [("a", "b")]):
        assert kes.score(arcs, dataset) == kes.score(arcs, as_coded_by_kes)


def test_lists_will_do():
    dataset = kes.Dataset(list(NAMES), list(map(list, STATES)), CODES.tolist(), [1, 2, 3, 4])
    assert (dataset.names, dataset.states) == (NAMES, STATES)
    assert np.array_equal(dataset.codes, CODES)
    assert dataset.weights.tolist() == [1.0, 2.0, 3.0, 4.0]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
def test_the_arrays_of_the_caller_stay_his(dtype):
    codes, weights = CODES.astype(dtype), np.array([1.0, 2.0, 3.0, 4.0])
    dataset = kes.Dataset(NAMES, STATES, codes, weights)
    codes[0, 0], weights[0] = 1, 9  # an error if they were frozen
    assert dataset.codes[0, 0] == 0
    assert dataset.weights[0] == 1


def test_nobody_can_write_to_a_dataset():
    dataset = kes.Dataset(NAMES, STATES, CODES, np.ones(4))
    for table in (dataset, pickle.loads(pickle.dumps(dataset)), dataset.take(np.array([0, 1]))):
        with pytest.raises(ValueError, match="read-only"):
            table.columns[0].codes[...] = 0
    with pytest.raises(ValueError, match="read-only"):
        dataset.weights[...] = 0
    with pytest.raises(FrozenInstanceError):
        dataset.columns = ()
    assert np.array_equal(dataset.codes, CODES)


def test_what_nobody_can_write_to_is_not_copied():
    dataset = kes.Dataset(NAMES, STATES, CODES)
    assert dataset.reweighted(np.ones(4)).columns[0].codes is dataset.columns[0].codes


def test_a_dataset_pickles():
    dataset = kes.Dataset(NAMES, STATES, CODES, [1, 2, 3, 4], ["a note"])
    copy = pickle.loads(pickle.dumps(dataset))
    assert (copy.names, copy.states) == (dataset.names, dataset.states)
    assert np.array_equal(copy.codes, dataset.codes)
    assert np.array_equal(copy.weights, dataset.weights)
    assert copy.notes == ("a note",)


@pytest.mark.parametrize(("states", "bytes_of_a_cell"), [(2, 1), (256, 1), (257, 2), (65_535, 2)])
def test_a_cell_takes_no_more_bytes_than_its_states_need(states, bytes_of_a_cell):
    column = Discrete(tuple(range(states)), np.array([0, states - 1]))
    assert column.codes.itemsize == bytes_of_a_cell
    assert column.codes.tolist() == [0, states - 1]


@pytest.fixture
def mixed():
    columns = [Discrete(("no", "yes"), [0, 1, 1]), Continuous([0.5, -1.25, 3.0])]
    return kes.Dataset.of(["smoker", "dose"], columns, [1, 2, 1])


def test_a_table_may_hold_both_kinds(mixed):
    assert mixed.kinds == ("discrete", "continuous")
    assert mixed.kind == "mixed"
    assert mixed.states == (("no", "yes"), ())
    assert mixed.cardinalities == [2, 0]
    assert mixed.rows == 3
    assert repr(mixed) == "<Dataset: 2 variables (1 continuous), 3 rows, weighted>"
    assert (mixed.select(["dose"]).kind, mixed.select(["smoker"]).kind) == (
        "continuous",
        "discrete",
    )
    frame = mixed.to_pandas()
    assert frame["smoker"].tolist() == ["no", "yes", "yes"]
    assert frame["dose"].tolist() == [0.5, -1.25, 3.0]


def test_a_mixed_table_pickles_and_can_be_cut(mixed):
    copy = pickle.loads(pickle.dumps(mixed))
    part = copy.take(np.array([2, 0]), np.array([5.0, 6.0]))
    assert part.columns[0].codes.tolist() == [1, 0]
    assert part.columns[1].values.tolist() == [3.0, 0.5]
    assert part.weights.tolist() == [5.0, 6.0]
    with pytest.raises(ValueError, match="read-only"):
        copy.columns[1].values[0] = 1


def test_continuous_columns_have_no_codes(mixed):
    with refused("continuous", column="dose"):
        _ = mixed.codes


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_values_are_finite(bad):
    with refused("1 missing or infinite", row=1):
        Continuous([0.0, bad, 1.0])


def test_columns_have_one_length():
    with refused("1, 2 rows", option="columns"):
        kes.Dataset.of(NAMES, [Continuous([1.0]), Continuous([1.0, 2.0])])


@pytest.mark.parametrize(
    ("code", "dtype"), [(-1, np.int64), (3, np.int64), (2**32, np.int64), (2**63, np.uint64)]
)
def test_a_code_without_a_state_is_named(code, dtype):
    codes = CODES.astype(dtype)
    codes[1, 2] = code
    with refused(f"code {code} .* 0 to 2", column="b", row=2):
        kes.Dataset(NAMES, STATES, codes)


@pytest.mark.parametrize(
    ("codes", "message"),
    [
        (CODES.astype(float), "float64"),
        (CODES.astype(str), "integers"),
        (CODES.T, r"\(4, 2\)"),
        (CODES[0], r"\(4,\)"),
        (CODES[:1], r"2 names, 2 lists of states .* \(1, 4\)"),
    ],
)
def test_codes_of_another_kind(codes, message):
    with refused(message, option="codes"):
        kes.Dataset(NAMES, STATES, codes)


@pytest.mark.parametrize(
    ("weights", "word", "row"),
    [
        ([1, 2], "4 rows, found 2", None),
        ([1, 2, -3, 4], "-3", 2),
        ([1, 2, np.nan, 4], "nan", 2),
    ],
)
def test_weights_that_are_none(weights, word, row):
    with refused(word, option="weights", row=row):
        kes.Dataset(NAMES, STATES, CODES, weights)
