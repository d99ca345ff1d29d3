"""CSV files as other programs write them: titles, row names, spaces, encodings, quotes."""

from __future__ import annotations

import numpy as np
import pytest
from tests.unit.refused import refused

from kes.data import encode
from kes.data.csv_layout import find_layout


class TestFilesAsTheyAre:
    """Additions of other programs: names of rows, titles, hints, other encodings."""

    ROWS = "".join(f'"r{i}",{i % 3},{"xy"[i % 2]}\n' for i in range(30))
    PLAIN = "a,b\n" + "".join(f"{i % 3},{'xy'[i % 2]}\n" for i in range(30))

    @pytest.fixture
    def plain(self, write):
        return encode(write(self.PLAIN, "plain.csv"))

    def assert_same(self, found, plain):
        assert found.names == plain.names
        assert found.states == plain.states
        assert np.array_equal(found.codes, plain.codes)

    @pytest.mark.parametrize("header", ['"","a","b"', '"a","b"'], ids=["write.csv", "write.table"])
    def test_row_names_of_r_are_left_out(self, write, plain, header):
        found = encode(write(f"{header}\n{self.ROWS}"))
        self.assert_same(found, plain)
        assert found.notes == (
            'left out: \'column 1\' (row names; to use it: kinds={"column 1": "discrete"})',
        )

    def test_r_separates_by_spaces_by_default(self, write, plain):
        found = encode(write('"a" "b"\n' + self.ROWS.replace(",", " "), "t.txt"))
        self.assert_same(found, plain)

    def test_row_names_below_thousands_of_names(self, write):
        """The first row begins far beyond the bytes that usually show the layout."""
        genes, rows = 12_000, 4
        lines = [f"patient{i}," + ",".join(["0.5", "-1.25"] * (genes // 2)) for i in range(rows)]
        content = "\n".join([",".join(f"ENSG{i:011}" for i in range(genes)), *lines])
        found = find_layout(content.encode())
        assert (found.delimiter, found.unnamed, found.titles) == (",", 0, ())
        dataset = encode(write(content), columns=["ENSG00000000000", "ENSG00000011999"])
        assert dataset.names == ("ENSG00000000000", "ENSG00000011999")

    def test_row_names_with_gaps(self, write, plain):
        rows = "".join(f"{7 * i * i},{i % 3},{'xy'[i % 2]}\n" for i in range(30))
        self.assert_same(encode(write(f",a,b\n{rows}")), plain)

    def test_an_unnamed_column_whose_values_recur_is_a_question(self, write):
        rows = "".join(f"{i % 9},{i % 3},{'xy'[i % 2]}\n" for i in range(30))
        with refused("no name", column="column 1"):
            encode(write(f",a,b\n{rows}"))

    def test_columns_aligned_by_spaces(self, write, plain):
        rows = "".join(f"  {i % 3:<9}{'xy'[i % 2]}   {i % 2}\n" for i in range(30))
        found = encode(write(f"a   b  c\n{rows}", "t.txt"))
        assert found.names == ("a", "b", "c")
        assert found.states[:2] == plain.states

    @pytest.mark.parametrize(
        ("title", "said"),
        [
            ("Sales by region\n", "'Sales by region'"),
            ("Sales by region\n\nsecond line\n", "'Sales by region', 'second line'"),
            ("Sales, by region, 2024\n", "'Sales, by region, 2024'"),
            ("# made by hand\n# twice\n", "'# made by hand', '# twice'"),
            ("sep=,\n", ""),
        ],
    )
    def test_a_title_is_skipped(self, write, plain, title, said):
        found = encode(write(title + self.PLAIN))
        self.assert_same(found, plain)
        assert [said in note for note in found.notes] == [True] * bool(said)

    def test_a_title_that_is_padded(self, write):
        rows = "".join(f"{i % 3};{'xy'[i % 2]};{i % 2}\n" for i in range(30))
        found = encode(write(f"Report;;\n;;\na;b;c\n{rows}"))
        assert found.names == ("a", "b", "c")
        assert "'Report'" in found.notes[0]

    def test_lines_are_counted_from_the_title(self, write):
        with refused("found 3", row=5):
            encode(write("A title\na,b\n1,2\n1,2\n1,2,3\n" + "1,2\n" * 60))

    @pytest.mark.parametrize(
        ("content", "row"),
        [
            ("a,b\n1,2\n1,2,3\n1,2,3\n", 2),
            ("a\nb\nc,d\n", 3),
            ("a,b\nx,y\nx,y,z\nx,y,z\nu,v,w\n", 2),
        ],
    )
    def test_a_ragged_table_has_no_title(self, write, content, row):
        path = write(content)
        with refused(file=path, row=row):
            encode(path)

    def test_rows_that_end_in_separators(self, write, plain):
        rows = self.PLAIN.split("\n", 1)[1].replace("\n", ",\n")
        self.assert_same(encode(write("a,b\n" + rows)), plain)
        self.assert_same(encode(write("a,b,\n" + rows)), plain)

    @pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
    def test_utf_16_without_a_mark(self, write, plain, encoding):
        found = encode(write(self.PLAIN.replace(",", "\t").encode(encoding), "t.txt"))
        self.assert_same(found, plain)
        assert found.notes == (f"not UTF-8, so read as {encoding} (see encoding)",)

    def test_single_quotes_with_invalid_bytes(self, write):
        path = write(b"'a','b'\n'x','y'\n'\xff','z'\n")
        assert encode(path).states[0] == ("x", "ÿ")
        with refused("utf-8", option="encoding", row=3, file=path):
            encode(path, encoding="utf-8")

    def test_a_single_quote_that_is_never_closed(self, write):
        with refused("never closed", row=3):
            encode(write("'a','b'\n'x','y'\n'x','z\n'u','v'\n"))

    def test_the_quote_is_found_in_a_file(self, write):
        with refused("never closed", row=2, file=(path := write('a,b\n1,"x\n2,"y"\n3,z\n'))):
            encode(path)
