"""Tables in any form become the same codes, and what is wrong with them is said clearly.

Expected codes are written out by hand, or follow from decoding: whatever the coding, state and
code together must give back the value that went in.
"""

from __future__ import annotations

import datetime
import doctest
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.refused import refused

import kes
from kes import _core
from kes.data import Dataset, encode
from kes.errors import KesError


def decoded(dataset: Dataset) -> dict[str, list]:
    return {
        name: [states[code] for code in codes]
        for name, states, codes in zip(dataset.names, dataset.states, dataset.codes, strict=True)
    }


def one(values, **options) -> tuple[tuple, list]:
    """States and codes of the column x of a pandas frame."""
    dataset = encode(pd.DataFrame({"x": values}), **options)
    return dataset.states[0], dataset.codes[0].tolist()


@pytest.mark.parametrize(
    "module",
    ["kes.data.audit", "kes.data.parse_text", "kes.data.encoder", "kes.data.schema", "kes.errors"],
)
def test_examples_in_docstrings(module):
    assert doctest.testmod(sys.modules[module]).failed == 0


class TestForms:
    """The same table in any form gives the same coding."""

    COLUMNS = {  # noqa: RUF012
        "text": ["b", "a", "é", "b", "B"],
        "number": [10, 9, -1, 9, 10],
        "truth": [True, False, True, True, False],
    }

    def test_frames(self, frame):
        dataset = encode(frame(self.COLUMNS))
        assert dataset.names == ("text", "number", "truth")
        assert dataset.states == (("B", "a", "b", "é"), (-1, 9, 10), (False, True))
        assert dataset.codes.tolist() == [[2, 1, 3, 2, 0], [2, 1, 0, 1, 2], [1, 0, 1, 1, 0]]
        assert dataset.weights is None
        assert dataset.notes == ()

    def test_states_are_python_scalars(self, frame):
        states = encode(frame(self.COLUMNS)).states
        assert [[type(state) for state in column] for column in states] == [
            [str] * 4,
            [int] * 3,
            [bool] * 2,
        ]

    def test_codes_are_what_the_core_takes(self, frame):
        codes = encode(frame(self.COLUMNS)).codes
        assert codes.dtype == np.int32
        assert codes.flags.c_contiguous
        assert not codes.flags.writeable

    @pytest.mark.parametrize("order", ["C", "F"])
    @pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.int64, np.float32, object, str])
    def test_arrays(self, dtype, order):
        array = np.array([[3, 1], [2, 1], [3, 0]]).astype(dtype, order=order)
        dataset = encode(array)
        expected = (("2", "3"), ("0", "1")) if dtype is str else ((2, 3), (0, 1))
        assert dataset.names == ("x0", "x1")
        assert dataset.states == expected
        assert dataset.codes.tolist() == [[1, 0, 1], [1, 1, 0]]

    def test_boolean_array(self):
        assert encode(np.array([[True], [False]])).states == ((False, True),)

    def test_a_dataset_is_returned_as_it_is(self):
        dataset = encode(pd.DataFrame(self.COLUMNS))
        assert encode(dataset) is dataset

    def test_names_become_text(self):
        assert encode(pd.DataFrame({0: [1, 2], "a": [1, 2]})).names == ("0", "a")

    def test_repr_tells_the_size(self):
        dataset = encode(np.array([[1, 2], [3, 4], [1, 2]]), weights=[1, 1, 2])
        assert repr(dataset) == "<Dataset: 2 variables, 3 rows, weighted>"
        assert dataset.cardinalities == [2, 2]


class TestStates:
    @given(st.lists(st.integers(-(2**63), 2**63 - 1) | st.integers(-5, 5), min_size=2, max_size=12))
    def test_integers_of_any_range(self, values):
        states, codes = one(np.array(values, dtype=np.int64))
        assert list(states) == sorted(set(values))
        assert [states[code] for code in codes] == values

    @pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "Int8", "UInt64"])
    def test_ends_of_integer_types(self, dtype):
        info = np.iinfo(dtype.lower())
        values = np.array([info.max, info.min, info.max], dtype=dtype.lower())
        states, codes = one(pd.Series(values).astype(dtype))
        assert states == (info.min, info.max)
        assert codes == [1, 0, 1]

    def test_integers_that_only_show_late(self):
        values = [0, 2] * 5000 + [1]  # the first rows do not have all values of the range
        assert one(values) == ((0, 1, 2), values)

    def test_integers_beyond_64_bits(self):
        table = pl.DataFrame({"x": pl.Series([2**100, 1, 2**100], dtype=pl.Int128)})
        assert encode(table).states == ((1, 2**100),)

    @given(st.lists(st.text(max_size=3), min_size=2, max_size=9))
    def test_text_is_sorted_by_code_point(self, values):
        for make in (pd.DataFrame, pl.DataFrame, pa.table):
            dataset = encode(make({"x": values}))
            assert dataset.states == (tuple(sorted(set(values))),)
            assert decoded(dataset)["x"] == values

    def test_text_of_digits_stays_text(self, frame):
        dataset = encode(frame({"x": ["10", "9", "01"]}))
        assert dataset.states == (("01", "10", "9"),)

    def test_whole_floats_are_integers(self, frame):
        dataset = encode(frame({"x": [2.0, -1.0, 2.0]}))
        assert dataset.states == ((-1, 2),)
        assert type(dataset.states[0][0]) is int

    def test_twelve_whole_numbers_are_states_but_not_more(self):
        for numbers in (np.arange(13), np.arange(13.0)):
            assert len(one(numbers[:12] * 2)[0]) == 12
            assert encode(pd.DataFrame({"x": numbers * 2})).kinds == ("continuous",)

    @pytest.mark.parametrize("values", [[0.5, 1.0], [1e300, 1.0], [-1e-300, 3.0]])
    def test_other_floats_are_continuous(self, frame, values):
        [column] = encode(frame({"x": values})).columns
        assert column.values.tolist() == values

    def test_infinite_values_are_refused(self, frame):
        columns = {"x": [1.0, np.inf], "y": [1.0, 2.0], "z": [-np.inf, 0.5]}
        with pytest.raises(KesError) as error:
            encode(frame(columns))
        assert "each of the columns 'x', 'z' has 1 infinite" in str(error.value)

    def test_decimals_are_treated_as_floats(self):
        table = pa.table({"x": pa.array([1, 2, None, 1], pa.decimal128(5, 2))})
        assert encode(table, missing="drop").states == ((1, 2),)

    def test_sparse_columns(self):
        assert one(pd.arrays.SparseArray([0, 1, 0])) == ((0, 1), [0, 1, 0])

    @pytest.mark.parametrize(
        "values",
        [
            pd.array(["b", "a", "b"], dtype="string"),
            pd.array(["b", "a", "b"], dtype="string[python]"),
            pd.array(["b", "a", "b"], dtype=pd.ArrowDtype(pa.string())),
            pd.array(["b", "a", "b"], dtype=pd.ArrowDtype(pa.dictionary(pa.int8(), pa.string()))),
            pd.Series(["b", "a", "b"], dtype=object),
        ],
        ids=lambda values: f"{values.dtype}",
    )
    def test_text_types_of_pandas(self, values):
        assert one(values) == (("a", "b"), [1, 0, 1])


class TestCategories:
    def test_pandas_categories_are_the_states(self):
        for ordered in (False, True):
            values = pd.Categorical(["a", "b", "a"], categories=["c", "b", "a"], ordered=ordered)
            assert one(values) == (("c", "b", "a"), [2, 1, 2])

    def test_polars_enum_declares(self):
        enum = pl.Series(["a", "b"], dtype=pl.Enum(["c", "b", "a"]))
        dataset = encode(pl.DataFrame({"x": enum}))
        assert dataset.states == (("c", "b", "a"),)
        assert dataset.codes.tolist() == [[2, 1]]

    def test_polars_categorical_is_text(self):
        other = pl.Series(["z", "y", "c"], dtype=pl.Categorical)
        values = pl.Series(["c", None, "a", "c"], dtype=pl.Categorical)
        dataset = encode(pl.DataFrame({"x": values}), missing="state")
        assert dataset.states == (("a", "c", "<missing>"),)
        assert dataset.codes.tolist() == [[1, 2, 0, 1]]
        assert len(other) == 3  # kept alive: its texts share the numbers of the others

    @pytest.mark.parametrize(("ordered", "states"), [(True, ("c", "b", "a")), (False, ("a", "b"))])
    def test_only_ordered_arrow_dictionaries_declare(self, ordered, states):
        indices = pa.array([2, 1, 2], pa.uint8())
        array = pa.DictionaryArray.from_arrays(indices, pa.array(["c", "b", "a"]), ordered=ordered)
        dataset = encode(pa.table({"x": array}))
        assert dataset.states == (states,)
        assert decoded(dataset)["x"] == ["a", "b", "a"]

    def test_arrow_chunks_with_different_dictionaries(self):
        chunks = [pa.array(["b", "a"]).dictionary_encode(), pa.array(["c"]).dictionary_encode()]
        dataset = encode(pa.table({"x": pa.chunked_array(chunks)}))
        assert decoded(dataset)["x"] == ["b", "a", "c"]

    def test_arrow_dictionary_of_integers(self):
        dataset = encode(pa.table({"x": pa.array([10, 9, 10]).dictionary_encode()}))
        assert dataset.states == ((9, 10),)

    def test_categories_that_are_no_states_become_text(self):
        states, _ = one(pd.cut(pd.Series([1.0, 2.0, 3.0]), [0, 1.5, 4]))
        assert states == ("(0.0, 1.5]", "(1.5, 4.0]")
        assert one(pd.Categorical([0.5, 1.0]))[0] == ("0.5", "1.0")
        assert one(pd.Categorical([2.0, 1.0]))[0] == (1, 2)
        assert one(pd.Categorical([1, "a"], categories=["a", 1]))[0] == ("a", "1")

    def test_categories_that_look_the_same_are_refused(self):
        with refused("categories", column="x"):
            one(pd.Categorical([1, "1"], categories=[1, "1", "b"]))

    def test_constant_column_has_one_state_and_is_noted(self):
        table = pd.DataFrame({"a": pd.Categorical(["u", "u"], categories=["u", "v"]), "b": [1, 2]})
        dataset = encode(table.assign(c=7))
        assert dataset.states == (("u",), (1, 2), (7,))
        assert dataset.codes.tolist() == [[0, 0], [0, 1], [0, 0]]
        assert dataset.notes == ("constant, so isolated in every model: 'a', 'c'",)


class TestErrors:
    def test_no_columns(self):
        with refused("columns", option="data"):
            encode(pd.DataFrame(index=range(3)))

    @pytest.mark.parametrize(("rows", "found"), [(0, "no rows"), (1, "only 1 row")])
    def test_too_few_rows(self, rows, found):
        with refused(found, option="data"):
            encode(np.zeros((rows, 2), dtype=int))

    @pytest.mark.parametrize(
        "table",
        [
            pd.DataFrame([[1, 2, 3]] * 2, columns=["a", "b", "a"]),
            pd.DataFrame([[1, 2, 3]] * 2, columns=["1", "b", 1]),
            pa.table([[1, 2]] * 3, names=["a", "b", "a"]),
        ],
        ids=["pandas", "as text", "pyarrow"],
    )
    def test_duplicate_names(self, table):
        with refused("same name", column=str(table.columns[2]) if hasattr(table, "iloc") else "a"):
            encode(table)

    def test_nameless_column(self):
        with refused("no name", column="column 2"):
            encode(pd.DataFrame([[1, 2]] * 2, columns=["a", ""]))

    def test_mixed_types(self):
        values = pd.Series(["a"] * 500 + [1], dtype=object)
        with refused(r"(int \(1\)|str \('a'\)) and ", column="x"):
            one(values)
        with refused("mixes", column="x"):
            one(pd.Series([True, 1], dtype=object))
        with refused("mixes", column="x0"):
            encode(np.array([[1], ["a"]], dtype=object))

    def test_objects_of_one_kind_are_fine(self):
        assert one(pd.Series([2, 1, None], dtype=object), missing="drop")[0] == (1, 2)
        assert one(pd.Series([2, 1.0], dtype=object))[0] == (1, 2)
        assert one(pd.Series([True, np.False_], dtype=object))[0] == (False, True)

    @pytest.mark.parametrize(
        "values",
        [
            pd.period_range("2020", periods=2),
            [1 + 2j, 1],
            [b"a", b"b"],
            [[1], [2]],
            [{"a": 1}, {"a": 2}],
        ],
        ids=["period", "complex", "bytes", "list", "dict"],
    )
    def test_values_that_are_no_states(self, values):
        with refused("type", column="x"):
            one(values)

    @pytest.mark.parametrize(
        "values",
        [[[1], [2]], [{"a": 1}] * 2, [b"a", b"b"]],
        ids=["list", "struct", "binary"],
    )
    def test_values_of_other_libraries_that_are_no_states(self, values):
        for table in (pl.DataFrame({"x": values}), pa.table({"x": values})):
            with refused("type", column="x"):
                encode(table)

    @pytest.mark.parametrize("data", [3, None, [1, 2], pd.Series([1, 2]), {"a": [1]}], ids=repr)
    def test_no_table(self, data):
        with refused(type(data).__name__, option="data"):
            encode(data)

    def test_arrays_of_other_shapes(self):
        with refused("dimensions", option="data"):
            encode(np.array([1, 2]))
        with refused("masked", option="data"):
            encode(np.ma.masked_array([[1], [2]], mask=[[True], [False]]))

    def test_dates_are_left_out(self):
        for dates in (
            pd.to_datetime(["2020-01-01", None, "2020-01-02"]),
            pd.to_timedelta([1, 2, 3]),
            [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2), None],
            ["2020-01-01", "2020-01-02", "2020-01-01"],
        ):
            table = pd.DataFrame({"when": dates, "a": ["x", "y", "x"]})
            makes = (lambda t: t, pl.from_pandas, pa.Table.from_pandas)
            for make in makes:
                dataset = encode(make(table))
                assert dataset.names == ("a",)
                assert dataset.notes == (
                    'left out: \'when\' (dates; to use them: dates="days" or dates="year")',
                )
                with refused(option="kinds"):
                    encode(make(table[["when"]]))


def test_more_states_than_can_be_coded():
    rows = np.arange(_core.MAX_STATES + 1)
    table = pd.DataFrame({"x0": rows, "x1": rows % 2})
    kinds = {"x0": "discrete"}
    with refused(f"{len(rows)} states", column="x0"):
        encode(table, kinds=kinds)
    assert kes.score([("x0", "x1")], table[:-1], kinds=kinds) < 0, "one less the core takes, too"


def test_more_columns_of_both_kinds_than_sets_of_bits_hold():
    table = {f"x{i}": [0.5 * i, 1.5, 2.25 + i] for i in range(_core.MAX_VARIABLES)}
    mixed = pd.DataFrame({**table, "letter": ["a", "b", "a"]})
    assert len(encode(mixed).names) == _core.MAX_VARIABLES + 1, "all of them are read"
    letter = mixed[["letter"]]
    parts = [mixed.iloc[:, :100].assign(letter=letter), mixed.iloc[:, 100:]]
    # Without edges, every column adds its own score; both parts have the letter.
    alone = sum(kes.score([], part) for part in parts) - kes.score([], letter)
    assert kes.score([], mixed) == pytest.approx(alone, rel=1e-12)


@pytest.mark.parametrize(("name", "state"), [("\udcff", "x"), ("a", "\udcff")])
def test_text_that_no_file_can_hold(name, state):
    with refused(r"'\\udcff' .* encoding", column=name):
        encode(pd.DataFrame([[state], ["y"]], columns=pd.Index([name], dtype=object), dtype=object))


def test_a_dataset_becomes_a_frame_that_is_coded_as_it_was():
    frame = pd.DataFrame({"a": ["no", "yes", "no"], "b": [3, 1, 2], "c": [True, False, True]})
    dataset = encode(frame)
    again = dataset.to_pandas()
    assert [list(map(str, again[name])) for name in again] == [
        list(map(str, frame[name])) for name in frame
    ]
    assert encode(again).states == dataset.states
    assert np.array_equal(encode(again).codes, dataset.codes)


def test_few_cases_of_many_variables_are_told():
    """Of 8 cases of 20 independent variables, a search makes dozens of edges."""
    rng = np.random.default_rng(0)
    table = rng.normal(size=(41, 20))
    note = "only 8 cases of 20 variables: with so few, edges come up by chance; see kes.stability"
    assert encode(table[:8]).notes == (note,)
    assert "only 40 cases" in encode(table[:40]).notes[0]
    assert encode(table).notes == ()
    assert encode(table[:8], weights=[10] * 8).notes == ()
    assert "only 8 cases of 5 variables" in encode(table[:8, :5]).notes[0]
    assert encode(table[:8, :4]).notes == (), "among few pairs, none is joined by chance"
