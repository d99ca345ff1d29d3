"""Tables hold what they were given and show it legibly."""

from __future__ import annotations

import doctest
import pickle
import sys
from html.parser import HTMLParser

import numpy as np
import pytest
from tests.unit.refused import refused

import kes.table
from kes.table import Table

COLUMNS = {"edge": ["a -> b", "b - c"], "support": [1.0, 0.125], "runs": [8, 1]}


def test_examples_in_docstrings():
    assert doctest.testmod(sys.modules["kes.table"]).failed == 0


class TestContents:
    def test_columns_and_rows(self):
        table = Table(COLUMNS)
        assert table.columns == ("edge", "support", "runs")
        assert len(table) == 2
        assert table["runs"] == (8, 1)
        assert list(table) == [
            {"edge": "a -> b", "support": 1.0, "runs": 8},
            {"edge": "b - c", "support": 0.125, "runs": 1},
        ]
        assert table.to_dict() == COLUMNS

    def test_is_independent_of_what_it_was_made_from(self):
        columns = {"x": [1, 2]}
        table = Table(columns)
        columns["x"][0] = 9
        table.to_dict()["x"][0] = 9
        assert table["x"] == (1, 2)
        with pytest.raises(TypeError):
            table["x"] = (1,)

    def test_numpy_values_become_pythons(self):
        assert [type(cell) for cell in Table({"x": np.array([1, 2])})["x"]] == [int, int]
        assert Table({"x": range(3)})["x"] == (0, 1, 2)

    def test_without_rows_or_columns(self):
        assert list(Table({"x": []})) == []
        assert (len(Table({})), list(Table({}))) == (0, [])

    def test_columns_must_have_one_length(self):
        with refused("'x': 1, 'y': 2", option="columns"):
            Table({"x": [1], "y": [1, 2]})

    def test_unknown_column(self):
        with refused("'support'", column="suport"):
            Table(COLUMNS)["suport"]

    def test_equality(self):
        assert Table(COLUMNS) == Table(dict(COLUMNS))
        assert Table(COLUMNS) != Table(COLUMNS | {"runs": [8, 2]})
        assert Table({"x": [1], "y": [1]}) != Table({"y": [1], "x": [1]})
        assert Table({"x": [1]}) != Table({"x": [1, 1]})
        assert Table({"x": [1]}) != {"x": [1]}
        assert Table({"x": [float("nan")]}) == Table({"x": [float("nan")]})
        assert Table({"x": [float("nan")]}) != Table({"x": [1.0]})

    def test_pickling(self):
        table = Table(COLUMNS | {"given": [frozenset("ab"), frozenset()]})
        assert pickle.loads(pickle.dumps(table)) == table


class TestConversion:
    def test_pandas(self):
        pandas = pytest.importorskip("pandas")
        pandas.testing.assert_frame_equal(Table(COLUMNS).to_pandas(), pandas.DataFrame(COLUMNS))

    def test_polars(self):
        polars = pytest.importorskip("polars")
        assert Table(COLUMNS).to_polars().equals(polars.DataFrame(COLUMNS))

    def test_sets_become_lists_in_polars(self):
        pytest.importorskip("polars")
        table = Table({"given": [frozenset({"b", "a"}), frozenset()]})
        assert table.to_polars()["given"].to_list() == [["a", "b"], []]

    @pytest.mark.parametrize("package", ["pandas", "polars"])
    def test_without_the_library(self, monkeypatch, package):
        monkeypatch.setitem(sys.modules, package, None)  # makes the import fail
        with refused(f"pip install {package}"):
            getattr(Table(COLUMNS), f"to_{package}")()


class TestText:
    def test_numbers_are_right_aligned_and_floats_alike(self):
        assert repr(Table(COLUMNS)).splitlines() == [
            "edge    support  runs",
            "a -> b    1.000     8",
            "b - c     0.125     1",
            "[2 rows]",
        ]

    def test_scores_keep_the_digits_that_tell_them_apart(self):
        text = repr(Table({"score": [-213038.0951, -211586.3542]}))
        assert "-213038.095" in text
        assert "-211586.354" in text

    def test_small_numbers_are_not_shown_as_nothing(self):
        assert repr(Table({"p": [1.0, 1.25e-7, 0.0]})).splitlines()[1:4] == [
            "       1",
            "1.25e-07",
            "       0",
        ]

    def test_cells_that_are_no_numbers(self):
        table = Table({"x": [None, True], "given": [frozenset({"b", "a"}), ("d", "c")]})
        assert repr(table).splitlines()[1:3] == ["      a, b", "True  d, c"]

    def test_the_middle_of_a_long_table_is_left_out(self):
        lines = repr(Table({"run": range(1000)})).splitlines()
        assert len(lines) == 23
        assert lines[10:13] == ["  9", "...", "990"]
        assert lines[-1] == "[1000 rows]"
        assert "..." not in repr(Table({"run": range(20)}))

    def test_a_wide_table_says_what_it_leaves_out(self):
        lines = repr(Table({f"column {i}": ["x" * 30] for i in range(5)})).splitlines()
        assert max(map(len, lines)) <= 100
        assert lines[-1] == "[1 row; columns not shown: column 3, column 4]"

    def test_long_or_broken_cells_take_one_line(self):
        lines = repr(Table({"x": ["a\nb", "y" * 200]})).splitlines()
        assert lines[1:3] == ["a b", "y" * 37 + "..."]

    def test_empty(self):
        assert repr(Table({})) == "[0 rows]"
        assert repr(Table({"x": []})) == "x\n[0 rows]"


class Reader(HTMLParser):
    """Collects the texts of cells and checks that all elements are closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.cells: list[str] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] in ("td", "th", "caption"):
            self.cells.append(data)


class TestHtml:
    def test_holds_all_cells(self):
        cells = Reader(Table(COLUMNS)._repr_html_()).cells
        assert cells == [
            *("2 rows", "edge", "support", "runs"),
            *("a -> b", "1.000", "8"),
            *("b - c", "0.125", "1"),
        ]

    def test_text_is_no_markup(self):
        cells = Reader(Table({"<x>": ["<b>&\n"]})._repr_html_()).cells
        assert cells == ["1 row", "<x>", "<b>&\\n"]

    def test_long_tables_are_cut(self):
        cells = Reader(Table({"x": range(100_000)})._repr_html_()).cells
        assert len(cells) == 2 + kes.table._HTML_ROWS + 1

    def test_empty(self):
        assert Reader(Table({})._repr_html_()).cells == ["0 rows"]
