"""CSV files: values stay as written, and a bad file is reported with its line.

Python's own csv module is the independent reader that the parser is compared with.
"""

from __future__ import annotations

import csv
import gzip
import io
import random
import time
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.refused import refused

from kes import _core
from kes.data import encode
from kes.data.csv_layout import find_layout
from kes.data.csv_source import Text, _text
from kes.errors import KesError

SHARED = Path(__file__).resolve().parents[4] / "shared" / "data"


def rows_of(content: bytes, delimiter: str = ",") -> list[list[str]]:
    """Return the rows that the core read, header first."""
    header, columns = _core.parse_csv([content], delimiter)
    cells = ([column.values()[code] for code in column.codes] for column in columns)
    return [header, *map(list, zip(*cells, strict=True))]


# rustc-hash 2 mixes words by a symmetric product. After the first text, which makes the mixed words
# ASCII, the two words of a chunk can be swapped without a change of the hash.
COMMON = "Ai0XnaSryTLHkbVQUDqfUY6NqycuIZlv"
SWAPPED = (
    ("RftUWyTwUeySejjZ", "IuyMWJsINvtKeYMd"),
    ("HJDFGYhnxfWCM0Dg", "qAaKX3EaAmrNRZih"),
    ("zwhOOnKJYSfZ0iiL", "RrgA1OjVqViTNHHP"),
    ("TynkJvZERnkLaMrA", "DBamOnkfBUdJdUCb"),
    ("znxLMyOSwqcaTHtE", "yKtYabbLtTotxSYZ"),
    ("CiODfAJZucoknepC", "dGuwBJsnRMUXJnIw"),
    ("QylgmhJVPPtdwueT", "pNzKCHjGqgbHYUEE"),
    ("bmpwxlQjAAiJLLCg", "jmpqzxyNIAiLNXkC"),
    ("dgrkBqUTtKnHYbit", "IYtehxpsYuhFskLS"),
    ("wsdtsleEWjFzlrxo", "wjWwJyVEWsuyUgKo"),
    ("FcSLDpcXHRANErUS", "mCcmhObDcrqoiMTO"),
    ("rULzNL6mXtjyfShl", "pqRkNigEZPthfv9D"),
    ("DPsHYAHRKWCEnvCI", "YhBIeTHYVorDRcCB"),
    ("vDLzoPxEnGaHAbke", "IfXqobZjQeuCAPIJ"),
    ("amtJqZkCcYnuwDkx", "TgYUEzdaVSCjCddZ"),
)


def texts_of_one_hash():
    """Return 2**15 texts that rustc-hash, which has no seed, hashes to one number."""
    return [COMMON + "".join(chunks) + "x" * 16 for chunks in product(*SWAPPED)]


def tables():
    """Rows of equally many cells that hold all that is special in CSV."""
    cells = st.text(st.sampled_from('ab1 ,;"\n\té€'), max_size=4)
    widths = st.integers(1, 4)
    return widths.flatmap(lambda n: st.lists(st.lists(cells, min_size=n, max_size=n), min_size=1))


class TestParser:
    @given(tables())
    def test_reads_what_pythons_csv_writes(self, rows):
        buffer = io.StringIO()
        csv.writer(buffer, quoting=csv.QUOTE_ALL).writerows(rows)
        assert rows_of(buffer.getvalue().encode()) == rows

    def test_reads_a_large_file_as_pythons_csv_does(self):
        random.seed(0)
        values = [["yes", "no"], ["low", "medium", "high"], [str(i) for i in range(500)]]
        lines = [",".join(random.choice(v) for v in values) for _ in range(5000)]
        content = "\n".join(["a,b,c", *lines])
        assert rows_of(content.encode()) == list(csv.reader(io.StringIO(content)))

    def test_values_come_in_order_of_appearance(self):
        header, [column] = _core.parse_csv([b"x\nb\na\nb\nb\n"], ",")
        assert (header, column.values(), column.codes.tolist()) == (["x"], ["b", "a"], [0, 1, 0, 0])

    @pytest.mark.parametrize(
        ("values", "bytes_each"), [(1, 1), (128, 1), (129, 2), (2**15, 2), (2**15 + 1, 4)]
    )
    def test_codes_take_as_few_bytes_as_the_values_need(self, values, bytes_each):
        texts = [f"v{i}" for i in range(values)]
        content = "\n".join(["x,y", *(f"{text},{text}" for text in [*texts, texts[0]])]).encode()
        for column in _core.parse_csv([content], ",")[1]:
            assert column.codes.dtype.itemsize == bytes_each
            assert column.codes.tolist() == [*range(values), 0]
            assert column.values() == texts

    @pytest.mark.parametrize(
        "content",
        [
            b"\xef\xbb\xbfa,b\n1,2\n",
            b"a,b\r\n1,2\r\n",
            b"a,b\r1,2",
            b"\n\na,b\n\n1,2\n\n\n",
            b'"a","b"\n"1","2"',
        ],
        ids=["byte order mark", "CRLF", "CR", "blank lines", "quotes"],
    )
    def test_forms_of_the_same_table(self, content):
        assert rows_of(content) == [["a", "b"], ["1", "2"]]

    def test_no_rows_and_nothing_at_all(self):
        assert rows_of(b"a,b\n") == [["a", "b"]]
        assert _core.parse_csv([b""], ",") == ([], [])

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_line_numbers_count_blank_and_quoted_lines(self, end):
        lines = ["a,b", "1,2", "", '"3', 'more",4', "", "5"]
        with pytest.raises(Exception, match=r"^line 7: expected 2 fields.*found 1$"):
            _core.parse_csv([end.join(lines).encode()], ",")

    @pytest.mark.parametrize(
        "rest",
        [
            *("", "\n", "\n3,4\n", "\n3,4,5", '""\n', '\n3,""'),
            *('\n3,"4"\n5,6\n', '\n3,4\n5,"6\n7,8\n', '\n3,"4"\n5,"6"\n7,"8"\n'),
        ],
    )
    def test_a_quote_that_is_never_closed(self, rest):
        """It ends at the next quote, if there is one, and would hide the rows until there."""
        with pytest.raises(Exception, match=r"^line 3: a quoted field is never closed; "):
            _core.parse_csv([f'a,b\n1,2\n1,"2{rest}'.encode()], ",")

    def test_the_line_is_that_of_the_quote(self):
        """A field above it in the same row has two lines."""
        with pytest.raises(Exception, match=r"^line 3: a quoted field is never closed"):
            _core.parse_csv([b'a,b\n"1\n1","2\n3,4\n'], ",")

    def test_values_of_one_hash_take_linear_time(self):
        """The hash must have a seed: without one, the time grows with the square of the texts."""
        texts = texts_of_one_hash()
        started = time.process_time()
        _, [column] = _core.parse_csv(["\n".join(["x", *texts]).encode()], ",")
        assert time.process_time() - started < 2.0
        assert column.values() == texts

    def test_a_stray_quote_is_a_character(self):
        assert rows_of(b'a,b\n1,5" pipe\n') == [["a", "b"], ["1", '5" pipe']]

    def test_delimiter_must_be_one_byte(self):
        with pytest.raises(Exception, match="one ASCII character"):
            _core.parse_csv([b"a"], "§")


def as_text(monkeypatch):
    """Have all columns of files read as text that is parsed in Python."""
    monkeypatch.setattr(
        Text, "column", lambda one, i, absent: _text(one._columns[i]).without(absent)
    )


class TestPlainNumbers:
    """Columns of plain numbers go past the text; what is read is the same as if they did not."""

    def test_python_reads_the_same_floats(self):
        rng = random.Random(3)
        texts = {
            f"{rng.choice(['', '-', '+'])}{rng.random() * 10 ** rng.randint(-9, 9)!r}"
            for _ in range(500)
        }
        texts |= {
            "1e400",
            "-1E-400",
            ".5",
            "5.",
            "007.50",
            "9007199254740993.0",
            "1.7976931348623159e308",
        }
        [column] = _core.parse_csv(["\n".join(["x", *texts]).encode()], ",")[1]
        assert column.numbers().tolist() == [*map(float, column.values())]

    @pytest.mark.parametrize(
        "cells",
        [
            ["0.50", "-1.5", "", "3", "2e1"],
            ["1.0", "2.00", "1.00", "2"],
            ["1.0", "1.00", "1.000"],
            ["1.5"],
            ["07", "12", "3"],
            ["7", "12", "", "3", "900"],
            ["+7", "7", "-0", "0"],
            ["1", "2", "NA", "3"],
            ["1.5", "-9", "-9.0", "2.25"],
            ["1,5", "2,5"],
            [" 1.5", "2.5 "],
            ["99999999999999999999", "1"],
        ],
        ids=",".join,
    )
    @pytest.mark.parametrize(
        "options",
        [
            {},
            {"na_values": ["-9", "3"], "missing": "drop"},
            {"kinds": {"x": "discrete"}, "missing": "state"},
            {"kinds": {"x": "continuous"}, "missing": "drop"},
        ],
        ids=["plain", "marks", "discrete", "continuous"],
    )
    def test_values_states_and_notes(self, write, monkeypatch, cells, options):
        rows = [cells[i * i % len(cells)] for i in range(40)]
        file = write("\n".join(["x,y", *(f"{cell},{'ab'[i % 2]}" for i, cell in enumerate(rows))]))

        def read():
            try:
                found = encode(file, **options)
            except KesError as error:
                return str(error)
            values = [getattr(one, "values", getattr(one, "codes", None)) for one in found.columns]
            return found.names, found.states, found.notes, [one.tolist() for one in values]

        numbers = read()
        as_text(monkeypatch)
        assert numbers == read()


class TestStates:
    def test_values_stay_as_written(self, write):
        dataset = encode(write("a,b\nTRUE,01\nfalse,1\nTRUE,01\n"))
        assert dataset.names == ("a", "b")
        assert dataset.states == (("TRUE", "false"), ("01", "1"))
        assert dataset.codes.tolist() == [[0, 1, 0], [0, 1, 0]]

    def test_integers_are_sorted_numerically(self, write):
        dataset = encode(write("a,b\n10,10\n-1,x\n+9,9\n009,9\n"))
        assert dataset.states == (("-1", "+9", "009", "10"), ("10", "9", "x"))

    def test_whole_decimals_are_states(self, write):
        assert encode(write("a\n10.0\n9.0\n")).states == (("9.0", "10.0"),)

    @pytest.mark.parametrize("values", [["0.5", "1"], ["1e-3", "2"], ["-.5", "+7.25"]])
    def test_other_decimals_are_continuous(self, write, values):
        [column] = encode(write("\n".join(["a", *values]))).columns
        assert column.values.tolist() == [float(value) for value in values]

    def test_marks_beside_numbers_mean_missing(self, write):
        path = write("a,b,c\n0.5,x,?\nNA,y,2.5\n1.5,x,3.25\n2.5,y,4.25\n")
        with pytest.raises(KesError) as error:
            encode(path)
        for part in (
            "'?', 'NA' read as missing; missing values: columns 'a' (1 of 4 rows), 'c'",
            'missing="em"',
        ):
            assert part in str(error.value)
        found = encode(path, missing="drop")
        said = encode(path, na_values=["NA", "?"], missing="drop")
        assert found.kinds == said.kinds == ("continuous", "discrete", "continuous")
        assert found.rows == said.rows == 2

    def test_many_integers_are_continuous(self, write):
        content = "\n".join(["a", *(str(7 * i) for i in range(13))])
        assert encode(write(content)).kinds == ("continuous",)
        assert encode(write(content[: content.rindex("\n")])).cardinalities == [12]

    @pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
    def test_a_blank_line_of_a_single_column_is_an_empty_field(self, write, end):
        path = write(end.join(["", "a", "x", "", '"y', "", 'z"', "", "x", "", ""]))
        with refused("2 of 5", option="missing", column="a"):
            encode(path)
        dataset = encode(path, missing="state")
        assert dataset.codes.tolist() == [[0, 2, 1, 2, 0]]
        assert len(dataset.states[0]) == 3, "the blank line within quotes is part of a value"

    def test_only_empty_fields_are_missing(self, write):
        path = write("a,b\nNA,1\n,2\nx,1\n")
        with refused("1 of 3", option="missing", column="a"):
            encode(path)
        dataset = encode(path, missing="state")
        assert dataset.states == (("NA", "x", "<missing>"), ("1", "2"))
        assert "looks like a missing value" in dataset.notes[1]

    def test_na_beside_a_few_whole_numbers_is_missing(self, write):
        """The answers of a survey that R wrote have no seventh state."""
        rows = "1.0,x\n2.0,y\nNA,NA\n3.0,x\n" * 5
        with refused("'NA' read as missing; missing values", option="missing"):
            encode(write("answer,group\n" + rows))
        dataset = encode(write("answer,group\n" + rows), missing="drop")
        assert dataset.states == (("1.0", "2.0", "3.0"), ("x", "y"))

    @pytest.mark.parametrize("own", ["1\n2\nNone\n", "1\n2\n-\n", "1\nNA\n", "yes\nno\nNA\n"])
    def test_what_may_be_a_state_remains_one(self, write, own):
        (note,) = encode(write("children\n" + own * 5)).notes
        assert "looks like a missing value" in note

    def test_a_first_line_of_numbers_is_told(self, write):
        said = "the first line is taken for names, but they are all numbers"
        for names, is_said in (("3.1,0", True), ("0,1", False), ("1,2", False), ("3.1,b", False)):
            notes = encode(write(f"{names}\n" + "2.5,1\n1.5,0\n" * 4)).notes
            assert any(said in note for note in notes) == is_said

    def test_further_values_can_mean_missing(self, write):
        path = write("a,b\nNA,1\n?,2\n10,1\n9,2\n")
        dataset = encode(path, missing="drop", na_values=["NA", "?"])
        assert dataset.states == (("9", "10"), ("1", "2"))  # what is left are integers
        assert dataset.codes.tolist() == [[1, 0], [0, 1]]

    def test_weights(self, write):
        path = write("a,n\nx,2\ny,0.5\nx,1e2\n")
        dataset = encode(path, weights="n")
        assert dataset.names == ("a",)
        assert dataset.weights.tolist() == [2, 0.5, 100]
        with refused("nan", option="weights", row=1):
            encode(write("a,n\nx,2\ny,\n"), weights="n")
        with refused("'many'", option="weights", column="n", row=1):
            encode(write("a,n\nx,2\ny,many\n"), weights="n")


class TestFiles:
    CONTENT = "a,b\nx,1\ny,2\n"

    @pytest.mark.parametrize("name", ["t.csv", "t.CSV", "t.txt", "t.csv.gz", "t.tsv", "t.tsv.gz"])
    @pytest.mark.parametrize("compressed", [False, True])
    def test_kinds(self, write, name, compressed):
        content = self.CONTENT.replace(",", "\t") if "tsv" in name else self.CONTENT
        path = write(gzip.compress(content.encode()) if compressed else content, name)
        dataset = encode(str(path))
        assert dataset.states == (("x", "y"), ("1", "2"))
        assert encode(path).states == dataset.states

    @pytest.mark.parametrize(
        ("header", "delimiter"),
        [
            ("a,b", ","),
            ("a;b", ";"),
            ("a\tb", "\t"),
            ("a", ","),
            ("a;b,c;d", ","),
            ('"a,b";c', ";"),
            ("\n\na;b", ";"),
        ],
    )
    def test_delimiter(self, header, delimiter):
        assert find_layout(f"{header}\n1,2;3\t4".encode()).delimiter == delimiter

    def test_semicolons(self, write):
        dataset = encode(write("a;b\nx;1,5\ny;2,5\n"))
        assert dataset.states == (("x", "y"), ())
        assert dataset.columns[1].values.tolist() == [1.5, 2.5]
        assert any("'b': text read as numbers with decimal commas" in n for n in dataset.notes)

    def test_absent(self, tmp_path):
        with refused("looked in", file=tmp_path / "none.csv"):
            encode(tmp_path / "none.csv")
        with refused(file=Path("alarm")):
            encode("alarm")

    def test_unknown_suffix(self, write):
        path = write(self.CONTENT, "table.xyz")
        with refused(r"\.csv, \.tsv", file=path):
            encode(path)

    def test_directory(self, tmp_path):
        (tmp_path / "folder.csv").mkdir()
        with refused("Is a directory", file=tmp_path / "folder.csv"):
            encode(tmp_path / "folder.csv")

    @pytest.mark.parametrize("content", ["", "\n \n"])
    def test_empty(self, write, content):
        with refused("empty", file=(path := write(content))):
            encode(path)

    def test_header_only(self, write):
        with refused("no rows", option="data"):
            encode(write("a,b\n"))

    @pytest.mark.parametrize("columns", [3, 300])
    def test_the_first_error_is_reported(self, columns):
        rows = random.Random(1)
        for count in (40, 70):
            good = [",".join(str(rows.random()) for _ in range(columns)) for _ in range(count)]
            table = [",".join(f"c{i}" for i in range(columns)), *good]
            assert rows_of("\n".join(table).encode()) == [line.split(",") for line in table]
            lines = [line.encode() for line in table]
            lines[-3] += b"\xff"  # in the last column, before the first column of a later row
            lines[-2] = b"\xff" + lines[-2]
            for last in (lines[-1], b"too,few"):
                with pytest.raises(UnicodeError, match=str(count - 1)):
                    _core.parse_csv([b"\n".join([*lines[:-1], last])], ",")
            lines[-5] = b"too,few"
            with pytest.raises(ValueError, match=f"line {count - 3}: expected {columns}"):
                _core.parse_csv([b"\n".join(lines)], ",")

    def test_ragged(self, write):
        path = write("a,b\n1,2\n1,2,3\n")
        with refused("expected 2 fields.* found 3", file=path, row=3):
            encode(path)

    def test_not_utf8(self, write):
        content = "a\né\nb\n€\n"
        dataset = encode(write(content.encode("cp1252")))
        assert dataset.states == (("b", "é", "€"),)
        assert "read as cp1252" in dataset.notes[0]
        assert (
            encode(write(b"a\n\xe9\n\x81\n")).notes[0].startswith("not UTF-8, so read as latin-1")
        )
        with refused("utf-8", option="encoding", row=2):
            encode(write(content.encode("cp1252")), encoding="utf-8")
        with refused("klingon", option="encoding"):
            encode(write(content), encoding="klingon")

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-32"])
    def test_encodings_that_say_what_they_are(self, write, encoding):
        dataset = encode(write("ä,b\né,1\n€,2\n".encode(encoding)))
        assert (dataset.names, dataset.states[0], dataset.notes) == (("ä", "b"), ("é", "€"), ())

    def test_an_encoding_that_is_given(self, write):
        dataset = encode(write("a\né\nж\n".encode("koi8-r", "replace")), encoding="koi8-r")
        assert "ж" in dataset.states[0]

    def test_a_separator_and_a_decimal_sign_that_are_given(self, write):
        path = write("a b\n1,5 x\n2,5 y\n")
        dataset = encode(path, sep=" ", decimal=",")
        assert dataset.columns[0].values.tolist() == [1.5, 2.5]
        for options, option in (
            ({"sep": "ab"}, "sep"),
            ({"decimal": ";"}, "decimal"),
            ({"sep": ",", "decimal": ","}, "decimal"),
        ):
            with refused(option=option):
                encode(path, **options)

    def test_pipes_and_single_quotes(self, write):
        dataset = encode(write("'a'|'b'\n'x|y'|1\n'it''s'|2\n"))
        assert dataset.states == (("it's", "x|y"), ("1", "2"))

    def test_row_numbers_without_a_name_are_left_out(self, write):
        rows = "".join(f"{i},{'xy'[i % 2]}\n" for i in range(20))
        dataset = encode(write(",a\n" + rows))
        assert dataset.names == ("a",)
        assert "'column 1'" in dataset.notes[0]

    def test_duplicate_and_empty_names(self, write):
        with refused("same name", column="a"):
            encode(write("a,a\n1,2\n1,2\n"))
        with refused("index=False", column="column 2"):
            encode(write("a,\n0,2\n1,2\n"))

    def test_damaged_gzip(self, write):
        content = gzip.compress(self.CONTENT.encode())[:-9]
        with refused("damaged", file=(path := write(content, "t.csv.gz"))):
            encode(path)


@pytest.mark.skipif(not SHARED.exists(), reason="needs ../shared/data")
def test_a_real_file_as_pandas_reads_it():
    pandas = pytest.importorskip("pandas")
    path = SHARED / "alarm20k_states.csv.gz"
    dataset, frame = encode(path), pandas.read_csv(path, dtype=str, keep_default_na=False)
    assert dataset.names == tuple(frame.columns)
    for name, states, codes in zip(dataset.names, dataset.states, dataset.codes, strict=True):
        assert list(states) == sorted(frame[name].unique())
        assert np.array_equal(np.array(states)[codes], frame[name].to_numpy())
