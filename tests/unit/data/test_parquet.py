"""Parquet files: the same table, with the states that were declared, whoever wrote it.

What a frame declares is what its file must declare: the coding of the frame in memory is the
expectation for that of the file.
"""

from __future__ import annotations

import sys
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.unit.refused import refused

import kes
from kes.data import encode, parquet
from kes.errors import KesError

VALUES = ["mid", "low", None, "high", "low"]
LEVELS = ["low", "mid", "high", "never"]


def assert_same(file, frame):
    read, expected = encode(file, missing="state"), encode(frame, missing="state")
    assert read.names == expected.names
    assert read.states == expected.states
    assert np.array_equal(read.codes, expected.codes)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "table.parquet"


@pytest.mark.parametrize("ordered", [True, False])
def test_categories_of_pandas(path, ordered):
    table = pd.DataFrame({"x": pd.Categorical(VALUES, LEVELS, ordered=ordered), "y": range(5)})
    table.to_parquet(path)
    assert encode(path, missing="state").states[0] == (*LEVELS, "<missing>")
    assert_same(path, table)
    assert_same(pa.Table.from_pandas(table), table)


def test_enum_of_polars(path):
    table = pl.DataFrame({"x": pl.Series(VALUES, dtype=pl.Enum(LEVELS))})
    table.write_parquet(path)
    assert encode(path, missing="state").states[0] == (*LEVELS, "<missing>")
    assert_same(path, table)


@pytest.mark.parametrize("ordered", [True, False])
def test_dictionaries_of_arrow(path, ordered):
    indices = pa.array([1, 0, None, 2, 0], pa.int8())
    array = pa.DictionaryArray.from_arrays(indices, pa.array(LEVELS), ordered=ordered)
    pq.write_table(pa.table({"x": array}), path)
    states = LEVELS if ordered else sorted(LEVELS[:3])
    assert encode(path, missing="state").states[0] == (*states, "<missing>")
    assert_same(path, pa.table({"x": array}))


def test_polars_categorical_is_text(path):
    table = pl.DataFrame({"x": pl.Series(VALUES, dtype=pl.Categorical)})
    table.write_parquet(path)
    assert_same(path, table)
    assert encode(path, missing="drop").states == (("high", "low", "mid"),)


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_intervals_keep_their_order(path, library):
    numbers = {"x": np.linspace(-20.0, 120.0, 50), "y": np.arange(50) % 3}
    if library == "pandas":
        cut = kes.discretize(pd.DataFrame(numbers))
        cut.to_parquet(path)
    elif library == "polars":
        cut = kes.discretize(pl.DataFrame(numbers))
        cut.write_parquet(path)
    else:
        cut = kes.discretize(pa.table(numbers))
        pq.write_table(cut, path)
    states = encode(path).states[0]
    assert [state[0] for state in states] == ["<", "(", ">"]
    assert list(states) != sorted(states)
    assert_same(path, cut)


def test_other_types(path):
    table = pl.DataFrame(
        {
            "text": ["b", "a", None, "é", "b"],
            "number": [10, 9, None, -1, 9],
            "truth": [True, None, False, True, True],
            "whole": [1.0, 2.0, None, 2.0, 1.0],
        }
    )
    table.write_parquet(path)
    assert_same(path, table)


def test_parts_of_a_file_may_code_text_differently(path):
    values = ["c"] * 50 + ["a"] * 50 + ["b", "c"] * 25
    pq.write_table(pa.table({"x": values}), path, row_group_size=50)
    assert pq.ParquetFile(path).num_row_groups == 3
    dataset = encode(path)
    assert [dataset.states[0][code] for code in dataset.codes[0]] == values
    assert dataset.states == (("a", "b", "c"),)


def test_folders_named_like_values_are_no_columns(tmp_path):
    folder = tmp_path / "year=2020"
    folder.mkdir()
    pd.DataFrame({"x": [1, 2]}).to_parquet(folder / "t.parquet")
    assert encode(folder / "t.parquet").names == ("x",)


def test_weights(path):
    pd.DataFrame({"x": ["a", "b"], "n": [2.0, 3.5]}).to_parquet(path)
    assert encode(path, weights="n").weights.tolist() == [2.0, 3.5]


def test_decimals_are_continuous_as_in_a_frame(path):
    pd.DataFrame({"x": [0.5, 1.5]}).to_parquet(path)
    assert encode(path).columns[0].values.tolist() == [0.5, 1.5]


def test_a_damaged_file(path):
    path.write_text("no parquet", encoding="utf-8")
    with refused("Parquet", file=path):
        encode(path)
    pd.DataFrame({"x": ["a", "b"]}).to_parquet(path)
    path.write_bytes(path.read_bytes()[:-20])
    with refused("Parquet", file=path):
        encode(path)


@pytest.mark.parametrize("says", [2, 5])
@pytest.mark.parametrize("more", [{"y": [1, 2, 1]}, {}])
@pytest.mark.parametrize("kind", [str, Decimal])  # in pieces, and at once
def test_a_file_that_lies_about_its_rows(path, says, kind, more):
    """Whatever number in the notes at its end is changed, it is refused or read as it is."""
    pd.DataFrame({"x": [kind(x) for x in ("1.5", "2.5", "1.5")], **more}).to_parquet(path)
    content = path.read_bytes()
    start = len(content) - 8 - int.from_bytes(content[-8:-4], "little")
    messages = []
    for place in range(start, len(content) - 8):
        if content[place] != 2 * 3:  # how the format writes 3
            continue
        path.write_bytes(content[:place] + bytes([2 * says]) + content[place + 1 :])
        try:
            assert encode(path).rows == 3
        except KesError as error:
            messages.append(str(error))
    assert any(f"column 'x' has 3 of {says} rows" in message for message in messages)


@pytest.mark.parametrize(
    "notes",
    [
        "7",
        "[]",
        "{nonsense",
        '{"columns": 3}',
        '{"columns": [5, null, {}]}',
        '{"columns": [{"field_name": 7, "pandas_type": "categorical"}]}',
        '{"columns": [{"field_name": [], "pandas_type": "categorical"}]}',
        "[" * 100_000,
        '{"columns": ' + "[" * 100_000 + "]" * 100_000 + "}",
    ],
    ids=lambda notes: notes[:40],
)
def test_odd_metadata_of_pandas_are_ignored(path, notes):
    table = pa.table({"x": ["a", "b", "a"]}).replace_schema_metadata({"pandas": notes})
    pq.write_table(table, path)
    assert encode(path).states == encode(table).states == (("a", "b"),)


def test_names_that_are_integers_in_pandas(path):
    table = pd.DataFrame({7: pd.Categorical(["b", "a", "b"], ["b", "a"])})
    table.columns = table.columns.astype(str)
    pq.write_table(pa.Table.from_pandas(table), path)
    assert_same(path, table)


def test_without_pyarrow(path, monkeypatch):
    path.write_bytes(b"")
    monkeypatch.setitem(sys.modules, "pyarrow", None)  # makes the import fail
    with refused("pip install pyarrow"):
        encode(path)


def test_columns_of_few_rows_are_read_many_at_a_time(path, monkeypatch):
    """Opening a file takes time in proportion to its columns: one by one, that is a square."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame(rng.integers(0, 3, (20, 200)), columns=[f"v{i}" for i in range(200)])
    table["text"] = rng.choice(["a", "b"], 20)
    table.to_parquet(path)
    opened = []

    class Counted(pq.ParquetFile):
        def __init__(self, *args, **options):
            opened.append(args)
            super().__init__(*args, **options)

    monkeypatch.setattr(parquet, "ParquetFile", Counted)
    assert_same(path, table)
    assert len(opened) <= 3
    opened.clear()
    monkeypatch.setattr(parquet, "_BLOCK", 20 * 50)
    assert_same(path, table)
    assert 5 <= len(opened) <= 7
