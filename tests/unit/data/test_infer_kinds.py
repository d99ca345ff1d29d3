"""The inferred kind of a column: the rules of docs/data.md, one by one."""

from __future__ import annotations

import doctest
import sys
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.unit.refused import refused

import kes
from kes.data import Dataset, Schema, encode, encode_incomplete
from kes.data.parse_text import are_dates, parse

ROWS = 60
FILLER = ["x", "y"] * (ROWS // 2)


def kind(values, **options) -> str | None:
    """Kind of a column of a table; None if it is left out."""
    dataset = encode(pd.DataFrame({"column": values, "filler": FILLER}), **options)
    return dict(zip(dataset.names, dataset.kinds, strict=True)).get("column")


class TestRules:
    @pytest.mark.parametrize(
        ("values", "expected"),
        [
            (FILLER, "discrete"),
            ([True, False] * 30, "discrete"),
            (pd.Categorical(["a", "b"] * 30), "discrete"),
            ([1, 2, 3] * 20, "discrete"),
            ([1.0, 2.0, 3.0] * 20, "discrete"),
            ([*range(0, 24, 2)] + [0] * 48, "discrete"),
            ([*range(0, 100, 2)] + [0] * 10, "continuous"),
            ([*range(0, 102, 2)] + [0] * 9, "continuous"),
            ([0.5, 1.5] * 30, "continuous"),
            ([1e300, 1.0] * 30, "continuous"),
            ([i * i for i in range(60)], "continuous"),
            (range(60), None),
            (np.arange(60.0) + 1000, None),
            ([f"name {i}" for i in range(60)], None),
            ([f"name {i}" for i in range(59)] + ["name 0"], "discrete"),
            (pd.Categorical([f"name {i}" for i in range(60)]), "discrete"),
            (pd.date_range("2020-01-01", periods=60), None),
        ],
        ids=repr,
    )
    def test_by_what_a_column_holds(self, values, expected):
        assert kind(values) == expected

    def test_the_same_in_another_library(self):
        table = pl.DataFrame({"n": range(60), "x": np.arange(60) / 7, "t": FILLER})
        dataset = encode(table)
        assert (dataset.names, dataset.kinds) == (("x", "t"), ("continuous", "discrete"))

    @pytest.mark.parametrize(
        ("values", "rows", "is_kept"),
        [(101, 201, False), (100, 199, True), (101, 202, True), (190, 344, False)],
    )
    def test_text_with_hardly_a_row_for_each_value(self, values, rows, is_kept):
        """More than 100 values, and fewer than two rows for each: left out, unless one says so."""
        names = [f"name {i % values}" for i in range(rows)]
        table = pd.DataFrame({"name": names, "b": np.arange(rows) % 2})
        assert ("name" in encode(table).names) == is_kept
        assert "name" in encode(table, kinds={"name": "discrete"}).names
        assert "name" in encode(table.assign(name=pd.Categorical(names))).names
        assert "name" in encode(table, weights=np.ones(rows)).names
        if not is_kept:
            note = f"left out: 'name' ({values} values, with fewer than two rows for each; to use "
            assert encode(table).notes[0].startswith(note)

    @pytest.mark.parametrize("values", [101, 150, 200])
    def test_no_edge_to_text_that_hardly_recurs_raises_bic(self, values):
        """Not even one to a column that the text determines, of however many states."""
        names = np.arange(2 * values - 1) % values
        for states in (2, 3, 10, 50, values):
            pair = {"name": [f"n{i}" for i in names], "group": [f"g{i % states}" for i in names]}
            data = encode(pd.DataFrame(pair), kinds=dict.fromkeys(pair, "discrete"))
            assert kes.score([("name", "group")], data) < kes.score([], data)

    def test_nothing_is_an_identifier_in_a_small_or_weighted_table(self):
        small = pd.DataFrame({"a": range(9), "b": list("abcdefghi")})
        assert encode(small).names == ("a", "b")
        ten = pd.DataFrame({"a": range(10), "b": list("abcdefghij"), "c": [1, 2] * 5})
        assert encode(ten).names == ("c",)
        assert encode(ten, weights=np.full(10, 3.0)).names == ("a", "b", "c")

    def test_an_identifier_may_have_gaps_in_its_rows(self):
        table = pd.DataFrame({"id": [f"n{i}" for i in range(59)] + [None], "filler": FILLER})
        assert encode(table).names == ("filler",), "nor are its gaps missing values"

    def test_what_the_user_says_holds(self):
        values = np.arange(60) / 4
        assert kind(values, kinds={"column": "discrete"}) == "discrete"
        assert kind(FILLER, kinds={"column": "omit"}) is None
        assert kind([1, 2, 3] * 20, kinds={"column": "continuous"}) == "continuous"
        assert kind(range(60), kinds={"column": "discrete"}) == "discrete"
        with refused("not numbers: 'x'", column="column"):
            kind(FILLER, kinds={"column": "continuous"})
        with refused("dates", column="column"):
            kind(pd.date_range("2020", periods=60), kinds={"column": "continuous"})
        with refused("'nominal'", option="kinds"):
            kind(FILLER, kinds={"column": "nominal"})

    def test_states_of_numbers_that_are_said_to_be_discrete(self):
        dataset = encode(np.array([[0.25], [10.0], [0.1], [0.25]]), kinds={"x0": "discrete"})
        assert dataset.states == (("0.1", "0.25", "10"),)
        assert dataset.codes.tolist() == [[1, 2, 0, 1]]

    def test_a_constant_column_has_no_say(self):
        table = pd.DataFrame({"one": [3.5] * 60, "x": np.arange(60) / 7, "y": np.arange(60) % 7.5})
        dataset = encode(table)
        assert dataset.states[0] == ("3.5",)
        assert dataset.kind == "continuous"
        assert kes.learn(table, criterion="bge", runs=2, improve=False).best.score < 0

    def test_kinds_are_decided_without_the_rows_that_are_dropped(self):
        table = pd.DataFrame({"a": [0.5, 1.0, 2.0, 1.0], "b": [None, "x", "y", "x"]})
        assert encode(table[1:]).kinds == encode(table, missing="drop").kinds

    def test_a_dataset_is_not_judged(self):
        dataset = kes.Dataset(["id"], [range(60)], [range(60)])
        assert encode(dataset) is dataset
        with pytest.raises(kes.KesError) as error:
            encode(dataset, kinds={"id": "omit"})
        assert error.value.option == "kinds"


class TestNotes:
    def test_decisions_are_told(self):
        table = pd.DataFrame(
            {
                "id": range(100, 160),
                "mass": [i * 3 for i in range(59)] + [0],
                "length": np.arange(60) / 7,
                "name": [f"n{i}" for i in range(60)],
                "kind": FILLER,
            }
        )
        assert encode(table).notes == (
            "left out: 'id' (whole numbers without a gap, all different; to use it: "
            'kinds={"id": "continuous"}), \'name\' (every value differs; to use it: '
            'kinds={"name": "discrete"})',
            "'mass': 59 values, taken as continuous",
        )

    def test_decimals_with_few_values_may_be_meant_as_states(self):
        table = pd.DataFrame({"dose": [0, 0.5, 1] * 20, "mass": np.arange(60) / 7, "kind": FILLER})
        assert encode(table).notes == (
            "'dose': 3 values, taken as continuous; to use it as states: "
            'kinds={"dose": "discrete"}',
        )
        assert encode(table.iloc[:14]).notes == ()  # too few to tell

    def test_columns_of_one_reason_are_told_of_together(self):
        rng = np.random.default_rng(0)
        table = pd.DataFrame({f"n{i}": [f"{i}-{j}" for j in range(60)] for i in range(2)})
        table = table.assign(**{f"x{i}": rng.permutation(200)[:60] for i in range(4)})
        table["price"] = [f"{x:.2f}".replace(".", ",") for x in rng.normal(9, 1, 60)]
        table["cost"] = table["price"].to_numpy()[::-1]
        for name, stray in (("t", "oops"), ("u", "eek")):
            table[name] = [stray, *(f"{x / 4}" for x in range(58)), "2.5"]
        assert encode(table).notes == (
            "left out: 'n0', 'n1' (every value differs; to use them: "
            'kinds={"n0": "discrete", "n1": "discrete"})',
            "4 columns of whole numbers with more than 12 values, taken as continuous: 'x0', 'x1', "
            "'x2', 'x3'",
            "2 columns of text read as numbers with decimal commas, taken as continuous: 'price', "
            "'cost'",
            "2 columns of numbers but for a few values, taken as discrete: 't', 'u'; if that means "
            "missing: na_values=['oops', 'eek']",
            "many states for the cases with a value, so each edge costs many parameters, at least "
            "one less than the states: 't' (59 for 60), 'u' (59 for 60); merge "
            "states, or leave such columns out",
        )

    def test_too_many_states(self):
        values = [f"v{i}" for i in range(30)] * 2
        [note] = encode(pd.DataFrame({"a": values, "b": FILLER})).notes
        assert note.startswith("many states for the cases with a value, so each edge costs many")
        assert "'a' (30 for 60)" in note
        assert not encode(pd.DataFrame({"a": values, "b": FILLER}), weights=[9.0] * 60).notes

    def test_gaps_are_no_cases_of_a_column(self):
        """12 states: 60 cases are five for each, but 50 are fewer."""
        table = pd.DataFrame({"n": [*range(12)] * 5, "b": FILLER})
        assert not encode_incomplete(table, missing="em").notes
        table["n"] = table["n"].where(table.index < 50)
        notes = encode_incomplete(table, missing="em").notes
        assert any("'n' (12 for 50); take numbers as continuous" in note for note in notes)

    def test_identifiers_of_cases_that_recur_are_told(self):
        twice = pd.DataFrame({"a": [*range(0, 180, 3)] * 2, "b": FILLER * 2})
        told = (
            "'a' looks like an identifier of cases that occur 2 times each, so rows are not "
            "independent; leave it out with "
        )
        assert told + 'kinds={"a": "omit"}' in encode(twice).notes
        text = twice.assign(a=[f"n{value}" for value in twice["a"]])
        assert any(told in note for note in encode(text).notes)
        said = encode(twice, kinds={"a": "continuous"})
        weighed = encode(twice, weights=[1.0] * 120)
        uneven = encode(twice[1:])
        for dataset in (said, weighed, uneven):
            assert not any("looks like" in note for note in dataset.notes)
        for name, is_one in (("ID", True), ("pat_id", True), ("pat.Id", True), ("paid", False)):
            notes = encode(pd.DataFrame({name: [1, 2, 3] * 20, "b": FILLER})).notes
            assert any("identifier of cases by its name" in note for note in notes) == is_one

    def test_all_bad_columns_are_named_at_once(self):
        table = pd.DataFrame(
            {"a": [1, "x"] * 30, "b": FILLER, "c": [np.inf, 0.5] * 30, "d": [b"x", b"y"] * 30}
        )
        with pytest.raises(kes.KesError) as error:
            encode(table)
        lines = str(error.value).splitlines()
        assert lines[0] == "3 columns cannot be used:"
        assert [line.split()[1] for line in lines[1:]] == ["'a'", "'c'", "'d'"]
        nameless = pd.DataFrame({"": [1, 1], "a": [1, 2], " ": [1, 2]})
        with refused("columns 1, 3 ", column="column 1"):
            encode(nameless)
        same = table.assign(b=table["a"])[["a", "b"]]
        with refused("^2 columns .* 'a', 'b' ", column="a"):
            encode(same)

    def test_nothing_left(self):
        with refused("'a'", option="kinds"):
            encode(pd.DataFrame({"a": range(60)}))


class TestColumnsWithoutAName:
    """The first is called column 1, in messages as in options."""

    ROWS = pd.DataFrame({"": range(1, 61), "a": ["x", "y"] * 30, " ": [1, 2, 3] * 20})

    def test_the_name_that_is_shown_is_the_one_to_give(self):
        with refused("no name", column="column 3"):
            encode(self.ROWS)
        dataset = encode(self.ROWS, kinds={"column 3": "discrete"})
        assert dataset.names == ("a", "column 3")
        assert 'kinds={"column 1": "continuous"}' in dataset.notes[0]
        both = encode(self.ROWS, kinds={"column 1": "continuous", "column 3": "omit"})
        assert both.names == ("column 1", "a")
        assert encode(self.ROWS, columns=["a", "column 1"]).names == ("a",)
        weighted = encode(self.ROWS[["a", ""]], weights="column 2")
        assert weighted.weights.tolist() == list(range(1, 61))
        assert (
            encode(self.ROWS, schema=Schema(dataset.names, dataset.states)).names == dataset.names
        )

    def test_an_empty_name_is_never_shown(self):
        with pytest.raises(kes.KesError) as error:
            encode(self.ROWS, kinds={"b": "omit"})
        assert "known: 'a', 'column 1', 'column 3'" in str(error.value)

    def test_older_results_have_the_names_of_the_table(self):
        dataset = encode(self.ROWS, kinds={"": "omit", " ": "omit"}, columns=["", "a", " "])
        assert dataset.names == ("a",)
        assert encode(self.ROWS[["a", ""]], weights="").weights is not None
        empty = Dataset.of([""], [encode(self.ROWS[["a"]]).columns[0]], None, [])
        assert encode(empty, schema=Schema([""], [("x", "y")])).names == ("",)

    def test_a_name_that_another_column_has_is_not_given(self, tmp_path):
        table = self.ROWS[["", "a"]].assign(**{"column 1": FILLER})
        assert "'unnamed column 1'" in encode(table).notes[0]
        twice = pd.DataFrame([[1, 2, "x"], [2, 1, "y"]], columns=["", "", "a"])
        with refused("no name", column=""):
            encode(twice)
        twice.to_csv(tmp_path / "twice.csv", index=False)
        kinds = {"column 1": "omit", "column 2": "discrete"}
        assert encode(tmp_path / "twice.csv", kinds=kinds).names == ("column 2", "a")


class TestStrays:
    """A few values that are no numbers turn a column of numbers into text, with a note."""

    NUMBERS = (*(f"{x / 4}" for x in range(19)), "2.5")  # one twice: no identifier

    def test_one_is_named(self):
        table = pd.DataFrame({"t": [*self.NUMBERS * 10, "oops"], "b": [0, 1, 0] * 67})
        said = "all but 1 of 201 values are numbers ('oops')"
        assert encode(table).notes == (
            f"'t': {said}, taken as discrete; if that means missing: na_values=['oops']",
        )
        row = next(iter(kes.audit(table)))
        assert row["verdict"] == f"taken as discrete: {said}"
        assert row["what to do"] == "if that means missing: na_values=['oops']"
        assert encode(table, na_values=["oops"], missing="drop").kinds[0] == "continuous"

    def test_gaps_are_no_values(self):
        table = pd.DataFrame({"t": [*self.NUMBERS * 10, "oops", None], "b": [0, 1] * 101})
        notes = encode(table, missing="state").notes
        assert any(note.startswith("'t': all but 1 of 201 values are") for note in notes)

    def test_columns_without_equal_values_are_left_out_for_that_reason(self):
        table = pd.DataFrame({"t": [*(f"{x / 4}" for x in range(80)), "oops"], "b": [0, 1, 0] * 27})
        [note] = encode(table).notes
        assert note.startswith("left out: 't' (all but 1 of 81 values are numbers ('oops'); if ")

    @pytest.mark.parametrize(
        "values",
        [
            [*NUMBERS * 10, *["high"] * 20],  # many enough to be meant
            [*["1", "2", "3"] * 29, "4+"],  # numbers that are discrete without it, too
            [*["01067", "80331"] * 40, "unknown"],  # codes
        ],
    )
    def test_others_are_states_like_any(self, values):
        table = pd.DataFrame({"t": values, "b": np.arange(len(values)) % 2})
        assert encode(table).notes == ()

    @pytest.mark.parametrize("mark", ["n/a", "na", "#N/A", "#NA", "#NV", "--"])
    def test_what_looks_missing_is_missing(self, mark):
        table = pd.DataFrame({"t": [*self.NUMBERS * 4, mark], "b": [0, 1, 0] * 27})
        said = f"'{mark}' read as missing; missing values: column 't'"
        with refused(said, column="t", option="missing"):
            encode(table)
        dataset = encode(table, missing="drop")
        assert (dataset.kinds[0], dataset.rows) == ("continuous", 80)

    def test_a_mark_means_the_same_in_all_columns(self):
        """Beside numbers it means missing, so it does beside words; alone it is a state."""
        words = [*["x", "y"] * 40, "NA"]
        numbers = [*self.NUMBERS * 4, "NA"]
        alone = encode(pd.DataFrame({"t": words, "b": [0, 1, 0] * 27}))
        assert alone.states[0] == ("NA", "x", "y")
        both = encode(pd.DataFrame({"t": words, "n": numbers}), missing="drop")
        assert both.states[0] == ("x", "y")
        assert "'NA' read as missing: 't', 'n'" in both.notes
        said = encode(pd.DataFrame({"t": words, "n": numbers}), kinds={"n": "discrete"})
        assert "NA" in said.states[0]


class TestText:
    def test_examples_in_docstrings(self):
        assert doctest.testmod(sys.modules["kes.data.parse_text"]).failed == 0

    @given(
        st.lists(st.floats(-1e6, 1e6).map(lambda x: round(x, 3)), min_size=3, max_size=20),
        st.sampled_from([".", ","]),
        st.booleans(),
    )
    def test_numbers_are_read_as_they_were_written(self, values, sign, grouped):
        """Python's own formatting writes them: thousands apart or not, either decimal sign."""
        values = [*values, 0.5, 1234.5]  # that can be read in one way only
        swap = str.maketrans(",.", ".,") if sign == "," else {}
        texts = [format(v, ",.4f" if grouped else ".4f").translate(swap) for v in values]
        parsed = parse(texts)
        assert parsed not in (None, "unclear")
        assert parsed.numbers.tolist() == values

    @pytest.mark.parametrize(
        "texts",
        [["1,2,3"], ["1.2.3"], ["12,34.5,6"], ["1e"], ["-"], ["1 000"], ["0x1F"], ["3%"], []],
    )
    def test_what_is_no_number(self, texts):
        assert parse(texts) is None

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("2024-03-31", True),
            ("31.3.24", True),
            ("3/31/2024", True),
            ("2024-03-31 12:30", True),
            ("2024-03-31T12:30:05.123+02:00", True),
            ("12/31/2024 11:59 PM", True),
            ("2024-03", False),
            ("1.2.3", False),
            ("31-03.2024", False),
            ("127.0.0.1", False),
            ("2024", False),
        ],
    )
    def test_dates(self, text, expected):
        assert are_dates([text]) == expected

    def test_decimal_commas_are_read_and_told(self):
        values = [f"{i},{i % 10}" for i in range(60)]
        dataset = encode(pd.DataFrame({"price": values, "filler": FILLER}))
        assert dataset.columns[0].values.tolist() == [i + i % 10 / 10 for i in range(60)]
        assert (
            "'price': text read as numbers with decimal commas, taken as continuous"
            in dataset.notes
        )

    def test_text_in_a_frame_that_is_numbers(self):
        dataset = encode(pd.DataFrame({"x": [f"{i / 7:.3f}" for i in range(60)], "f": FILLER}))
        assert dataset.kinds == ("continuous", "discrete")
        assert "'x': text read as numbers, taken as continuous" in dataset.notes

    def test_numbers_that_can_be_read_in_two_ways(self):
        unclear = [f"{i % 9 + 1},{i + 100}" for i in range(60)]
        table = pd.DataFrame({"sum": unclear, "filler": FILLER})
        dataset = encode(table)
        assert dataset.names == ("filler",)
        assert "may have a decimal comma, or thousands" in dataset.notes[0]
        first = {sign: encode(table, decimal=sign).columns[0].values[0] for sign in ".,"}
        assert first == {".": 1100.0, ",": 1.1}
        table["other"] = [f"{i},5" for i in range(60)]
        assert encode(table).columns[0].values[0] == 1.1, "other columns show the decimal sign"

    def test_many_texts_are_judged_in_no_time(self):
        """Each is looked up among those that are no numbers, not compared with all of them."""
        table = pd.DataFrame({"key": [f"k{i}" for i in range(100_000)], "b": [0, 1] * 50_000})
        started = time.process_time()
        assert encode(table).names == ("b",)
        assert time.process_time() - started < 10, "minutes, if they are compared"

    def test_leading_zeros_make_codes(self):
        zips = [f"{i:05d}" for i in range(0, 6000, 100)][:30] * 2
        assert kind(zips) == "discrete"
        assert kind(zips, kinds={"column": "continuous"}) == "continuous"
