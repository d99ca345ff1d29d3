"""Tables that come in pieces: the same table as at once, in little memory, or refused beforehand.

A table that is in memory as a whole is the expectation for one that is read piece by piece; the
pieces are made tiny, so that every place where one can end is met.
"""

from __future__ import annotations

import datetime
import gzip
import random
import subprocess
import sys
from decimal import Decimal
from itertools import pairwise

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.csv as pa_csv
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.refused import refused

import kes
from kes import _core, files
from kes.data import csv_source, encode, parquet
from kes.errors import KesError


def outcome(call):
    """Return what a call returns, or what it complains about."""
    try:
        return call()
    except (ValueError, _core.CoreError) as error:
        return type(error).__name__, str(error)


def described(data, **options):
    """Return all that is decided about a table, and what it is coded to."""

    def table():
        dataset = encode(data, **options)
        columns = [
            column.values.tolist() if column.kind == "continuous" else column.codes.tolist()
            for column in dataset.columns
        ]
        return dataset.names, dataset.states, columns, dataset.notes

    return outcome(table), outcome(lambda: kes.audit(data).to_text())


# --- CSV -----------------------------------------------------------------------------------------


def pieces(content, size):
    return [content[start : start + size] for start in range(0, len(content), size)]


def parsed(blocks):
    header, columns = _core.parse_csv(blocks, ",")
    return header, [(column.values(), column.codes.tolist()) for column in columns]


SPECIAL = [
    b"a",
    b"1",
    b",",
    b'"',
    b"\n",
    b"\r",
    b"\r\n",
    b"\xc3\xa9",
    b"\xe9",
    b"\xef\xbb\xbf",
    b" ",
]


@given(st.lists(st.sampled_from(SPECIAL), max_size=40), st.integers(1, 5))
@settings(max_examples=500, deadline=None)
def test_csv_is_the_same_wherever_blocks_end(parts, size):
    content = b"".join(parts)
    at_once = outcome(lambda: parsed([content]))
    assert outcome(lambda: parsed(pieces(content, size))) == at_once
    assert outcome(lambda: parsed([b"", *pieces(content, size), b""])) == at_once


def test_lines_are_counted_across_blocks():
    content = b"a,b\r\n" + b'"x\r\ny",2\r\n' * 1000 + b"1\r\n"
    for size in (1, 7, 4096):
        with pytest.raises(ValueError, match=r"^line 2002: expected 2 fields"):
            _core.parse_csv(pieces(content, size), ",")


def test_what_a_source_raises_is_raised():
    def broken():
        yield b"a,b\n1,2\n"
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.parse_csv(broken(), ",")


CSV = {
    "states": "a,b\nx,1\ny,2\nx,1\ny,2\n",
    "windows": "a,b\r\nx,1\r\ny,2\r\n",
    "quotes": 'a,b\n"x, y",1\n"a ""b""",2\n"line\n\nline",1\n',
    "single quotes": "'a'|'b'\n'x|y'|1\n'it''s'|2\n'é'|2\n",
    "one column": '\n\na\nx\n\n"y\n\nz"\n\nx\n\n\n',
    "one column, returns": "a\r\rx\ry\r\rx\r",
    "decimal commas": "n;m\n" + "".join(f"{i},5;{i}.250\n" for i in range(30)),
    "unclear commas": 'n,c\n"1,234",x\n"5,678",y\n"2,222",x\n',
    "commas identified by other columns": 'n,c\n"1,234","1,5"\n"5,678","2,5"\n"2,222","0,25"\n',
    "identifiers": "id,code,v\n" + "".join(f"{i},k{i},{i % 3}\n" for i in range(25)),
    "dates": "d,v\n" + "".join(f"2024-01-{i + 1:02},{i % 2}\n" for i in range(25)),
    "strays": "n,v\n" + "".join(f"{'< 3' if i == 7 else i * 1.5},{i % 2}\n" for i in range(60)),
    "marks": "n,v\n" + "".join(f"{'NA' if i == 7 else i * 1.5},{i % 2}\n" for i in range(60)),
    "codes": "zip,v\n" + "".join(f"{i % 7:05},{i % 2}\n" for i in range(60)),
    "missing": "a,b\n,1\nx,\ny,2\nx,1\n",
    "many whole numbers": "n,v\n" + "".join(f"{7 * i},{i % 2}\n" for i in range(60)),
    "accents": "ä,b\né,1\n€,2\né,2\n",
    "ragged": "a,b\n1,2\n1\n",
    "never closed": 'a,b\n1,2\n1,"2\n',
    "numbers for names": "3.1,0\n" + "2.5,1\n1.5,0\n" * 5,
    "blank": " \n\n",
    "nameless": ",a\n0,2\n1,2\n",
}


@pytest.mark.parametrize("case", CSV)
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16", "utf-32-be"])
def test_files_are_the_same_wherever_blocks_end(case, encoding, tmp_path, monkeypatch):
    text = CSV[case]
    path = tmp_path / "table.csv"
    path.write_bytes(text.encode(encoding, "replace"))
    options = {"encoding": encoding} if encoding in ("utf-32-be", "utf-16") else {}
    at_once = described(path, missing="state", **options)
    packed = tmp_path / "packed" / "table.csv"
    packed.parent.mkdir()
    packed.write_bytes(gzip.compress(path.read_bytes()))
    for size in (1, 2, 3, 5, 16):
        monkeypatch.setattr(files, "_BLOCK", size)
        assert described(path, missing="state", **options) == at_once
    monkeypatch.setattr(files, "_BLOCK", 3)
    again = described(packed, missing="state", **options)
    assert again[0][0] == at_once[0][0], "compressed"


def test_where_text_is_not_what_it_is_said_to_be(tmp_path, monkeypatch):
    path = tmp_path / "table.csv"
    for size in (1, 4, 2**20):
        monkeypatch.setattr(files, "_BLOCK", size)
        path.write_bytes("a,b\n1,2\né,2\n".encode("cp1252"))
        with refused("utf-8", option="encoding", row=3):
            encode(path, encoding="utf-8")
        path.write_bytes(b"a,b\n1,2\n\x81,2\n")
        with refused("cp1252", option="encoding", row=3):
            encode(path, encoding="cp1252")


# --- Parquet -------------------------------------------------------------------------------------


def odd_columns(rows):
    """Return columns of all kinds, many of them with gaps."""
    rng = random.Random(rows)

    def gappy(values):
        return [None if rng.random() < 0.15 else value for value in values]

    def drawn(values):
        return [rng.choice(values) for _ in range(rows)]

    letters = pa.array(gappy(drawn(["b", "a", "c"])))
    day = datetime.date(2024, 1, 1)
    return {
        "text": pa.array(drawn(["low", "high", "mid"])),
        "text with gaps": letters,
        "large text": pa.array(gappy(drawn(["x", "y"])), pa.large_string()),
        "dictionary": letters.dictionary_encode(),
        "ordered": pa.DictionaryArray.from_arrays(
            pa.array(gappy([rng.randrange(3) for _ in range(rows)]), pa.int8()),
            pa.array(["z", "y", "x", "never"]),
            ordered=True,
        ),
        "numbers in a dictionary": pa.array(drawn([1.5, 2.5, 3.5])).dictionary_encode(),
        "whole": pa.array(gappy(drawn([3, -1, 200]))),
        "bytes": pa.array(drawn([0, 255]), pa.uint8()),
        "wide": pa.array(drawn([0, 2**63]), pa.uint64()),
        "far apart": pa.array(drawn([-(2**62), 2**62]), pa.int64()),
        "growing": pa.array([i * i * i for i in range(rows)]),
        "identifier": pa.array(range(1, rows + 1)),
        "key": pa.array([f"k{i}" for i in range(rows)]),
        "truth": pa.array(gappy(drawn([True, False]))),
        "always": pa.array([True] * rows),
        "float": pa.array(gappy([rng.gauss(0, 1) for _ in range(rows)])),
        "nan": pa.array(drawn([1.0, float("nan"), 2.0])),
        "single": pa.array([rng.gauss(0, 1) for _ in range(rows)], pa.float32()),
        "whole floats": pa.array(drawn([1.0, 2.0, 7.0])),
        "decimal": pa.array([Decimal(rng.randrange(1000)) / 8 for _ in range(rows)]),
        "nothing": pa.nulls(rows),
        "date": pa.array(gappy([day + datetime.timedelta(i) for i in range(rows)])),
        "moment": pa.array([datetime.datetime(2024, 1, 1, i % 24) for i in range(rows)]),
        "clock": pa.array([datetime.time(i % 24) for i in range(rows)]),
        "comma": pa.array([f"{rng.randrange(90)},{rng.randrange(10)}" for _ in range(rows)]),
        "unclear": pa.array(
            [f"{rng.randrange(1, 9)},{rng.randrange(100, 999)}" for _ in range(rows)]
        ),
        "numbers as text": pa.array([f"{rng.gauss(0, 1):.4f}" for _ in range(rows)]),
        "strays": pa.array(["< 3" if i == 7 else str(i + 0.5) for i in range(rows)]),
        "intervals": pa.array(drawn(["<= 1", "(1, 2]", "> 2"])),
        "raw bytes": pa.array([b"x"] * rows),
        "list": pa.array([[1]] * rows),
        "infinite": pa.array(drawn([1.5, float("inf"), 2.0])),
    }


@pytest.fixture(params=[1, 2, 3, 7])
def tiny(request, monkeypatch):
    monkeypatch.setattr(parquet, "_PIECE", request.param)
    return request.param


@pytest.mark.parametrize("rows", [1, 2, 12, 60])
def test_parquet_is_the_same_wherever_pieces_end(rows, tiny, tmp_path):
    """Column by column, so that what cannot be used hides nothing of the others."""
    for name, column in odd_columns(rows).items():
        table = pa.table({"beside": [0, 1] * (rows // 2) + [0] * (rows % 2), name: column})
        path = tmp_path / "table.parquet"
        pq.write_table(table, path, row_group_size=tiny + 1)
        for missing in ("error", "state", "drop"):
            assert described(path, missing=missing) == described(table, missing=missing), name
        options = {"na_values": ["low", "3", "1.5"], "missing": "state"}
        assert described(path, **options) == described(table, **options), name


def test_all_odd_columns_together(tiny, tmp_path):
    """Some say what the commas of others mean."""
    table = pa.table(odd_columns(60))
    good = table.drop_columns(["raw bytes", "list", "infinite", "nothing"])
    for name, own in {"a": table, "b": good}.items():
        pq.write_table(own, tmp_path / f"{name}.parquet", row_group_size=9)
        for missing in ("error", "drop"):
            found = described(tmp_path / f"{name}.parquet", missing=missing)
            assert found == described(own, missing=missing)


def test_categories_of_pandas_in_pieces(tiny, tmp_path):
    frame = pd.DataFrame(
        {
            "x": pd.Categorical(["b", None, "a", "b"] * 5, ["c", "b", "a"]),
            "y": [1, 2, 3, 4] * 5,
        }
    )
    frame.to_parquet(tmp_path / "a.parquet", row_group_size=3)
    assert described(tmp_path / "a.parquet", missing="state") == described(frame, missing="state")


@pytest.mark.parametrize("name", ["a.b", "a", "x=1", "é"])
def test_names_that_mean_something_to_others(name, tiny, tmp_path):
    table = pa.table(
        {name: ["x", "y"] * 5, "a.b.c": [0, 1] * 5, "a.x": ["u", "v", "u", "v", "u"] * 2}
    )
    pq.write_table(table, tmp_path / "a.parquet")
    assert described(tmp_path / "a.parquet") == described(table)


def test_a_dictionary_that_outgrows_its_page(tmp_path, monkeypatch):
    """The writer gives up coding in the midst of a column."""
    values = [f"{i % 3000:0200}" for i in range(20_000)]
    table = pa.table({"x": values, "y": [i % 2 for i in range(20_000)]})
    pq.write_table(table, tmp_path / "a.parquet", dictionary_pagesize_limit=10_000)
    monkeypatch.setattr(parquet, "_PIECE", 777)
    assert described(tmp_path / "a.parquet") == described(table)


# --- folders of Parquet files --------------------------------------------------------------------


def write_folder(folder, table, parts):
    folder.mkdir()
    ends = np.linspace(0, len(table), parts + 1).astype(int)
    for number, (start, end) in enumerate(pairwise(ends)):
        pq.write_table(table.slice(start, end - start), folder / f"part-{number}.parquet")
    (folder / "_SUCCESS").touch()
    (folder / "_metadata.parquet").touch()
    return folder


@pytest.mark.parametrize("name", ["folder", "folder.parquet"])
def test_a_folder_is_one_table(name, tmp_path):
    table = pa.table(odd_columns(60)).drop_columns(["raw bytes", "list", "infinite", "nothing"])
    folder = write_folder(tmp_path / name, table, 4)
    assert described(folder, missing="state") == described(table, missing="state")
    assert described(folder, missing="drop") == described(table, missing="drop")
    some = ["text", "ordered", "bytes"]
    there = kes.learn(folder, runs=5, missing="drop", kinds={"dictionary": "omit"})
    assert there == kes.learn(table, runs=5, missing="drop", kinds={"dictionary": "omit"})
    assert encode(folder, columns=some, missing="state").names == tuple(some)


def test_a_part_without_a_value(tmp_path):
    """pandas writes a column without a single value as one of no type."""
    table = pa.table({"x": ["a", "b", "a", "b"], "n": [1, 2, 1, 2], "f": [0.5, 1.5, 2.5, 0.5]})
    empty = pa.table({name: pa.nulls(2) for name in table.column_names})
    folder = tmp_path / "folder"
    folder.mkdir()
    pq.write_table(table, folder / "1.parquet")
    pq.write_table(empty, folder / "2.parquet")
    whole = pa.concat_tables([table, empty], promote_options="default")
    for missing in ("error", "state", "drop"):
        assert described(folder, missing=missing) == described(whole, missing=missing)


def test_folders_that_are_no_table(tmp_path):
    table = pa.table({"x": ["a", "b"], "y": [1, 2]})
    with refused("parquet", file=tmp_path):
        encode(tmp_path)
    pq.write_table(table, tmp_path / "1.parquet")
    pq.write_table(table.drop_columns(["y"]), tmp_path / "2.parquet")
    with refused(r"2\.parquet' .* lacks 'y'", column="y"):
        encode(tmp_path)
    pq.write_table(table.append_column("z", table["x"]), tmp_path / "2.parquet")
    with refused(column="z"):
        encode(tmp_path)
    pq.write_table(pa.table({"x": ["a"], "y": ["1"]}), tmp_path / "2.parquet")
    with refused(r"string in .*2\.parquet'.* int", column="y"):
        encode(tmp_path)
    (tmp_path / "2.parquet").unlink()
    (tmp_path / "z=1").mkdir()
    pq.write_table(table, tmp_path / "z=1" / "3.parquet")
    with refused("'z=1'", file=tmp_path):
        encode(tmp_path)


# --- memory --------------------------------------------------------------------------------------


MEASURE = """
import sys
from pathlib import Path

import kes
from kes.data import encode

def peak():
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(one for one in lines if one.startswith("VmHWM")).split()[1])

encode(sys.argv[1])
kes.learn(sys.argv[1], k=1, runs=1, improve=False, prove=False)
before = peak()
kes.learn(sys.argv[2], k=1, runs=1, improve=False, prove=False, n_jobs=1)
print(peak() - before)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="peaks are read as Linux writes them")
@pytest.mark.parametrize("kind", ["text", "numbers", "csv"])
def test_a_long_table_takes_little_more_than_its_codes(kind, tmp_path):
    """A cell of text takes four bytes as arrow has it, of numbers eight: they must not be kept."""
    rows, columns = 1_000_000, 30
    rng = np.random.default_rng(1)
    codes = [rng.integers(0, 4, 1000) for _ in range(columns)]
    table = pa.table({f"v{i}": np.resize(own, rows) for i, own in enumerate(codes)})
    if kind == "text":
        texts = pa.array(["low", "medium", "high", "highest"])
        table = pa.table({name: texts.take(table[name]) for name in table.column_names})
    suffix = "csv" if kind == "csv" else "parquet"
    short, long = tmp_path / f"short.{suffix}", tmp_path / f"long.{suffix}"
    if kind == "csv":
        table.slice(0, 1000).to_pandas().to_csv(short, index=False)
        pa_csv.write_csv(table, long)
    else:
        pq.write_table(table.slice(0, 1000), short)
        pq.write_table(table, long)
    command = [sys.executable, "-c", MEASURE, str(short), str(long)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert int(done.stdout) < 2.5 * rows * columns + 30e6


def test_what_cannot_fit_is_refused_beforehand(tmp_path, monkeypatch):
    table = pa.table({f"v{i}": ["a", "b"] * 1000 for i in range(20)})
    pq.write_table(table, tmp_path / "a.parquet")
    table.to_pandas().to_csv(tmp_path / "a.csv", index=False)
    write_folder(tmp_path / "folder", table, 2)
    monkeypatch.setattr(files, "_SMALL", 0)
    monkeypatch.setattr(files, "_PROCESS", 0)
    assert encode(tmp_path / "a.parquet").rows == 2000, "there is enough"
    monkeypatch.setattr(files, "available", lambda: 80_000)
    for name in ("a.parquet", "a.csv", "folder"):
        with pytest.raises(KesError) as caught:
            kes.learn(tmp_path / name, runs=1)
        message = str(caught.value)
        for part in (name, "rows of 20 columns", "0.0 GB", "columns", "KES_MAX_MB"):
            assert part in message
        monkeypatch.setenv("KES_MAX_MB", "1")
        assert encode(tmp_path / name).rows == 2000, "the user knows better"
        monkeypatch.delenv("KES_MAX_MB")


def test_columns_that_are_not_read_take_no_memory(tmp_path, monkeypatch):
    table = pa.table({f"v{i}": ["a", "b"] * 1000 for i in range(20)})
    pq.write_table(table, tmp_path / "a.parquet")
    monkeypatch.setattr(files, "_SMALL", 0)
    monkeypatch.setattr(files, "_PROCESS", 0)
    monkeypatch.setattr(files, "available", lambda: 80_000)
    some = [f"v{i}" for i in range(16)]
    assert len(encode(tmp_path / "a.parquet", columns=iter(some)).names) == 16
    others = {f"v{i}": "omit" for i in range(16, 20)}
    assert encode(tmp_path / "a.parquet", kinds=others).names == tuple(some)
    with refused("17 columns", file=tmp_path / "a.parquet"):
        encode(tmp_path / "a.parquet", columns=[*some, "v17"])


def test_estimates_are_near_what_there_is(tmp_path, monkeypatch):
    """As many rows as the file has, within a tenth, and a byte for each cell of few values."""
    told = []
    monkeypatch.setattr(csv_source, "check_memory", lambda *figures: told.append(figures))
    rng = np.random.default_rng(0)
    states = pd.DataFrame(rng.integers(0, 3, (50_000, 10))).add_prefix("v")
    states.to_csv(tmp_path / "a.csv", index=False)
    encode(tmp_path / "a.csv")
    states.assign(number=rng.normal(size=50_000)).to_csv(tmp_path / "b.csv", index=False)
    encode(tmp_path / "b.csv")
    [(_, rows, columns, coded), (_, more_rows, _, more)] = told
    assert columns == 10
    assert 45_000 < rows < 55_000
    assert 45_000 < more_rows < 55_000
    assert coded == 10 * rows
    assert more > 3 * coded, "numbers of many values are text at first"


def test_the_memory_of_a_container_counts(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "_MEMORY", tmp_path / "meminfo")
    monkeypatch.setattr(files, "_GROUP", tmp_path)
    assert files.available() > 0, "what the machine has"
    (tmp_path / "meminfo").write_text("MemTotal: 9 kB\nMemAvailable:   8000 kB\n")
    assert files.available() == 8_192_000
    (tmp_path / "memory.max").write_text("5000000\n")
    (tmp_path / "memory.current").write_text("4000000\n")
    (tmp_path / "memory.stat").write_text("anon 1\nactive_file 500\ninactive_file 1500\n")
    assert files.available() == 1_002_000
    (tmp_path / "memory.max").write_text("max\n")
    assert files.available() == 8_192_000
