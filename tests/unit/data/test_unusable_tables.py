"""Tables that nothing can be learned from, or not all: a clear error, and never a score of NaN."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes

HOW = {"runs": 3, "improve": 3}
ROWS = 100


def numbers(seed: int = 0, columns: str = "abc") -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: rng.normal(size=ROWS) for name in columns})


@pytest.mark.parametrize(
    ("change", "word", "column"),
    [
        ({"d": lambda t: 3 * t.a - 1}, "'a' and 'd'", "a"),
        ({"d": lambda t: np.where(t.index < 3, np.inf, t.a)}, "3 infinite", "d"),
        ({"d": lambda t: -np.inf}, "100 infinite", "d"),
        ({"d": lambda _: np.nan}, "single value", "d"),
        ({"d": lambda _: None, "e": lambda _: np.nan}, "'d', 'e'", "d"),
        ({"d": lambda _: [1, "x"] * (ROWS // 2)}, "types", "d"),
        ({"d": lambda _: [1.5, "x"] * (ROWS // 2)}, "types", "d"),
        ({"d": lambda _: [[1], [2]] * (ROWS // 2)}, "type list", "d"),
        ({"d": lambda _: [1j] * ROWS}, "complex", "d"),
    ],
)
@pytest.mark.parametrize("ask", [kes.learn, kes.certify, lambda data: kes.score([], data)])
def test_what_cannot_be_used_is_named(change, word, column, ask):
    with refused(word, column=column):
        ask(numbers().assign(**change))


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_parts_and_their_sum(criterion):
    """Noted, and the search goes on: any two of the three may be joined."""
    table = numbers().assign(total=lambda t: t.a + t.b)
    optima = kes.learn(table, criterion=criterion, **HOW)
    assert any("collinear columns" in note for note in optima.notes)
    assert "collinear columns" in str(optima)
    assert_finite(optima)


@pytest.mark.parametrize("rows", [3, 4, 8])
@pytest.mark.parametrize("criterion", ["bic", "aic", "bge"])
def test_fewer_rows_than_columns(rows, criterion):
    rng = np.random.default_rng(rows)
    assert_finite(kes.learn(rng.normal(size=(rows, 12)), criterion=criterion, **HOW))


@pytest.mark.parametrize("rows", [0, 1])
@pytest.mark.parametrize("make", [numbers, lambda: numbers().round(0).astype(int)])
def test_no_rows_and_one(rows, make):
    with refused("1 row|no rows", option="data"):
        kes.learn(make().iloc[:rows])


def test_constants_of_all_kinds():
    table = numbers().assign(one=1.5, two="x", three=7, four=True)
    optima = kes.learn(table, **HOW)
    assert not [e for e in optima.best.graph.skeleton if e & {"one", "two", "three", "four"}]
    assert_finite(optima)
    assert_finite(kes.learn(table[["one", "two"]], **HOW))


def test_more_states_than_can_be_counted():
    table = pd.DataFrame({"key": np.arange(140_000) % 65_536, "b": [0, 1] * 70_000})
    assert kes.learn(table, **HOW).kinds["key"] == "continuous"
    text = table.assign(key=[f"k{i}" for i in table.key])
    with refused("65536 states", column="key"):
        kes.learn(text)
    [row] = [row for row in kes.audit(text) if row["column"] == "key"]
    assert "leave it out" in row["what to do"]


@pytest.mark.parametrize("scale", [1e-300, 1e-12, 1e12, 1e150])
def test_numbers_of_any_size(scale):
    assert_finite(kes.learn(numbers() * scale, **HOW))
    assert_finite(kes.learn(numbers() * scale, criterion="bge", **HOW))


def test_a_number_far_out():
    table = numbers()
    table.loc[0, "a"] = 1e200
    assert_finite(kes.learn(table, **HOW))
    assert_finite(kes.learn(table, transform="ranks", **HOW))


def assert_finite(optima: kes.Optima) -> None:
    """Every score of a result, and of the boundary of its best model."""
    scores = [optimum.score for optimum in optima] + list(optima.run_scores)
    assert all(map(math.isfinite, scores))


def test_of_twins_one_is_to_be_left_out():
    """A number and its logarithm have the same ranks; the error names the option."""
    rng = np.random.default_rng(1)
    table = pd.DataFrame({"size": rng.gamma(2.0, size=80), "kind": list("ab") * 40})
    table["log"] = np.log(table["size"])
    with pytest.raises(kes.KesError) as error:
        kes.learn(table)
    assert error.value.column == "size"
    assert str(error.value).endswith('kinds={"log": "omit"}')
    kes.learn(table, kinds={"log": "omit"}, runs=1)
