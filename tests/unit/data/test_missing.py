"""Missing values: refused, dropped with their rows, or made a state."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.unit.refused import refused

import kes
from kes.cli.options import FLAGS
from kes.data import Schema, encode, encode_incomplete
from kes.data.column import is_missing_state
from kes.data.discretizer import Discretizer
from kes.errors import naming_flags

TABLE = {"a": ["u", None, "v", "u"], "b": [1, 2, None, None], "c": [True, True, False, None]}


def one(values, **options) -> tuple[tuple, list]:
    """States and codes of the column x of a pandas frame."""
    dataset = encode(pd.DataFrame({"x": values}), **options)
    return dataset.states[0], dataset.codes[0].tolist()


def test_error_names_columns_and_choices(frame):
    with refused("'a' .1 of 4 rows., 'b' .2., 'c' .1.", option="missing", column="a"):
        encode(frame(TABLE))
    for choice in ("em", "drop", "state"):
        with refused(f'missing="{choice}"', option="missing", column="a"):
            encode(frame(TABLE))


def test_state(frame):
    dataset = encode(frame(TABLE), missing="state")
    assert dataset.states == (
        ("u", "v", "<missing>"),
        (1, 2, "<missing>"),
        (False, True, "<missing>"),
    )
    assert dataset.codes.tolist() == [[0, 2, 1, 0], [0, 1, 2, 2], [1, 1, 0, 2]]
    assert dataset.notes == ("missing is a state of columns 'a' (1), 'b' (2), 'c' (1)",)


def test_only_incomplete_columns_get_the_state():
    dataset = encode(pd.DataFrame({"a": [1, None, 1], "b": [1, 2, 1]}), missing="state")
    assert dataset.states == ((1, "<missing>"), (1, 2))


def test_the_state_clashes_with_no_value():
    states, codes = one(["<missing>", None, "a"], missing="state")
    assert states == ("<missing>", "a", "<<missing>>")
    assert codes == [0, 2, 1]
    assert is_missing_state("<<missing>>")
    assert not is_missing_state("<<missing>")
    assert not is_missing_state(1)


def test_drop_is_as_if_the_rows_had_not_been_there():
    table = pd.DataFrame(
        {
            "a": ["u", None, "v", "w", "u"],
            "b": [1.0, 5.0, np.nan, 3.0, 3.0],
            "c": pd.Categorical(["x", "y", "z", "x", "y"]),
        }
    )
    dataset, expected = encode(table, missing="drop"), encode(table.dropna())
    assert dataset.states == expected.states == (("u", "w"), (1, 3), ("x", "y", "z"))
    assert np.array_equal(dataset.codes, expected.codes)
    assert dataset.notes == ("dropped 2 of 5 rows with missing values: columns 'a' (1), 'b' (1)",)


def test_columns_stay_whatever_is_dropped():
    """Names that occur twice each are states, though only one row of each is left."""
    table = pd.DataFrame(
        {"a": [f"name {i % 20}" for i in range(40)], "b": [0, 1] * 10 + [None] * 20}
    )
    dataset = encode(table, missing="drop")
    assert dataset.names == ("a", "b")
    assert len(dataset.states[0]) == dataset.rows == 20
    assert not any("left out" in note for note in dataset.notes)


def test_drop_warns_when_it_leaves_less_than_half():
    table = pd.DataFrame({"a": [1, 2, 1, 2, None, None, None, None], "b": [1, 2] * 4})
    assert len(encode(table, missing="drop").notes) == 1
    [_, note, _] = encode(table.iloc[1:], missing="drop").notes
    assert note == (
        "less than half of the rows are left, and they may be unlike the others: fill the gaps "
        'from the model with missing="em", or make missing a state with missing="state"'
    )


@pytest.mark.parametrize("missing", ["drop", "state", "em"])
def test_columns_of_which_more_than_half_is_missing_are_named(missing):
    values = {"half": ["x", "y", None, None], "more": [None, "x", None, None], "b": [1, 2, 1, 2]}
    table = pd.DataFrame({name: own * 3 for name, own in values.items()})
    note = (
        "more than half of the values are missing: column 'more' (9 of 12 rows); unless needed, "
        'leave it out with kinds={"more": "omit"}'
    )
    assert note in encode_incomplete(table, missing=missing).notes
    assert not encode_incomplete(table[["half", "b"]], missing=missing).notes[1:]
    with refused(r"missing in one column, so unless needed, leave it out", option="missing"):
        encode(table)
    advice = {row["column"]: row["what to do"] for row in kes.audit(table)}
    assert "mostly missing: unless needed, leave it out" in advice["more"]
    assert "mostly" not in advice["half"]


def test_a_state_is_suggested_only_where_there_can_be_one():
    """Of a continuous column there is none, unless it is cut."""
    table = pd.DataFrame({"a": [0.5, 1.5, np.nan, np.nan, np.nan], "b": ["u", "v", "u", "v", None]})
    remedies = 'missing="em", or [^"]* missing="drop"$'
    with refused(remedies, option="missing", column="a"):
        encode(table)
    assert encode(table, missing="drop").notes[1].endswith('from the model with missing="em"')
    for cut in (Discretizer(2), Discretizer({"a": 2}), Discretizer.at({"a": (1.0,)})):
        with refused('missing="state"', option="missing", column="a"):
            encode(table, discretizer=cut)
    more = table.assign(c=[0.5, 1.5, 2.5, 3.5, 4.5])
    for cut in (Discretizer({"c": 2}), Discretizer.at({"c": (2.0,)})):
        with refused(remedies, option="missing", column="a"):
            encode(more, discretizer=cut)
    with refused('missing="state"', option="missing", column="b"):
        encode(table[["b"]])


def test_drop_drops_weights_too():
    dataset = encode(pd.DataFrame({"a": [1, None, 2]}), weights=[5, 6, 7], missing="drop")
    assert dataset.weights.tolist() == [5, 7]


def test_drop_must_leave_something():
    with refused("no row", option="missing"):
        encode(pd.DataFrame({"a": [1, None], "b": [None, 1]}), missing="drop")
    with refused("1 row", option="data"):
        encode(pd.DataFrame({"a": [1, None], "b": [2, 1]}), missing="drop")


@pytest.mark.parametrize("nothing", [None, np.nan, pd.NA, pd.NaT, np.float64("nan")], ids=repr)
def test_all_that_means_missing(nothing):
    values = pd.Series(["a", nothing, "b"], dtype=object)
    assert one(values, missing="state")[1] == [0, 2, 1]
    array = np.array([["a"], [nothing], ["b"]], dtype=object)
    assert encode(array, missing="state").codes.tolist() == [[0, 2, 1]]


@pytest.mark.parametrize("dtype", ["Int64", "Float64", "boolean", "int8[pyarrow]"])
def test_nullable_types_of_pandas(dtype):
    assert one(pd.array([1, None, 0], dtype=dtype), missing="state")[1] == [1, 2, 0]


def test_nan_and_null_of_polars_are_both_missing():
    table = pl.DataFrame({"x": [1.0, float("nan"), None, 2.0]})
    assert encode(table, missing="state").codes.tolist() == [[0, 2, 2, 1]]


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"x": [None, None]}),
        pl.DataFrame({"x": [None, None]}),
        pa.table({"x": pa.nulls(2)}),
    ],
    ids=["pandas", "polars", "pyarrow"],
)
def test_a_column_without_any_value(table):
    for missing in ("error", "drop"):
        with refused("single value", column="x"):
            encode(table, missing=missing)
    assert encode(table, missing="state").states == (("<missing>",),)


def test_further_values_can_mean_missing():
    table = pd.DataFrame({"a": ["x", "?", "y"], "b": [1, -9, 2], "c": [True, False, True]})
    dataset = encode(table, missing="state", na_values=["?", -9])
    assert dataset.states == (("x", "y", "<missing>"), (1, 2, "<missing>"), (False, True))
    assert encode(table[["a"]], missing="drop", na_values="?").rows == 2


def test_text_that_looks_missing_is_noted():
    dataset = encode(pd.DataFrame({"a": ["x", "?"], "b": [1, 2]}))
    assert dataset.notes == (
        "a state looks like a missing value: 'a' ('?'); if that means missing: na_values=['?']",
    )
    with naming_flags(FLAGS | {"na_values": "--missing"}):
        (note,) = encode(pd.DataFrame({"a": ["x", "?"], "b": [1, 2]})).notes
    assert note.endswith('if that means missing: --missing "?"')


def test_a_mark_that_occurs_nowhere_is_told():
    table = pd.DataFrame(
        {"a": [*"xy", None, *"zz"], "b": [1, -9, 2, 3, 4], "c": [0.5, 7.5, 1.5, 3, 4]}
    )
    for marks in ("fill", "8"):
        hint = f"'{marks}' occurs nowhere in the table"
        assert hint in encode(table, missing="drop", na_values=marks).notes[0]
        with refused(hint, option="missing", column="a"):
            encode(table, na_values=["x", marks])
    for marks in ("x", -9, "7.5"):
        notes = encode(table, missing="drop", na_values=[marks]).notes
        assert not any("nowhere" in note for note in notes), marks


def test_unknown_choice():
    with refused("did you mean 'drop'", option="missing"):
        encode(np.eye(2), missing="dorp")


class TestDroppedRows:
    """Values that occur only in dropped rows: what "as if they had not been there" means."""

    TABLE = pd.DataFrame(
        {
            "a": ["u", "only here", "v", "u", "v", "u"],
            "b": ["y", None, "x", "x", "y", "y"],
            "c": [10, 5, 9, 10, 9, 9],
        }
    )

    @pytest.fixture(params=["pandas", "csv"])
    def table(self, request, tmp_path):
        if request.param == "pandas":
            return self.TABLE
        self.TABLE.to_csv(tmp_path / "table.csv", index=False)
        return tmp_path / "table.csv"

    def test_a_result_knows_its_own_data_again(self, table, tmp_path):
        optima = kes.learn(table, runs=3, missing="drop")
        optima.save(tmp_path / "a.json")
        loaded = kes.load(tmp_path / "a.json")
        more = loaded.extend(2, data=table, missing="drop")
        assert more == kes.learn(table, runs=5, missing="drop")
        assert repr(loaded.trace(0, table, missing="drop")) == repr(optima.trace(0))
        assert repr(loaded.explain(0, table, missing="drop")) == repr(optima.explain(0))

    def test_what_is_kept_must_be_among_the_states(self, table):
        states = [["u"], ["x", "y"], [9, 10]]
        with refused("'v'.* 'u'$", column="a", row=2):
            encode(table, schema=Schema(["a", "b", "c"], states), missing="drop")

    def test_they_do_not_decide_how_the_others_are_read(self, tmp_path):
        path = tmp_path / "table.csv"
        path.write_text("a,b\n10,x\n9,y\nfew,\n1.5,\n", encoding="utf-8")
        dataset = encode(path, missing="drop")
        assert dataset.states == (("9", "10"), ("x", "y"))
