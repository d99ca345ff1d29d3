"""Shuffled tables keep every column, and nothing of the relations between them."""

import numpy as np
import pandas as pd
import pytest

import kes
from kes.data import encode, encode_incomplete
from kes.data.shuffling import MOST_CASES, shuffled

from ..refused import refused


def frame(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 3, rows)
    return pd.DataFrame(
        {"a": a, "copy": a, "x": a + rng.normal(size=rows), "site": rng.integers(0, 2, rows)}
    )


def columns(table):
    return {
        name: np.asarray(column.values if hasattr(column, "values") else column.codes)
        for name, column in zip(table.names, table.columns, strict=True)
    }


def test_columns_keep_their_values_and_lose_their_relations():
    table = encode(frame())
    before, after = columns(table), columns(shuffled(table, 0, 0))
    for name, values in before.items():
        assert sorted(values) == sorted(after[name])
    assert np.array_equal(before["a"], before["copy"])
    # 400 pairs of independent values of three states agree in about a third of the cases.
    assert 0.2 < np.mean(after["a"] == after["copy"]) < 0.5
    assert abs(np.corrcoef(after["a"], after["x"])[0, 1]) < 0.2


def test_copies_differ_and_can_be_made_again():
    table = encode(frame())
    first, second, again = (columns(shuffled(table, 0, n))["x"] for n in (0, 1, 0))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, second)
    assert not np.array_equal(first, columns(shuffled(table, 1, 0))["x"])


def test_neither_rows_nor_columns_need_an_order():
    data = frame()
    data.loc[::7, "x"] = np.nan
    other = data.sample(frac=1, random_state=3)[["x", "site", "copy", "a"]]
    one, two = (shuffled(encode_incomplete(table, missing="em"), 0, 0) for table in (data, other))
    rows = [
        pd.DataFrame(columns(table.dataset) | dict(zip("0123", table.gaps[order], strict=True)))
        for table, order in ((one, [0, 1, 2, 3]), (two, [3, 2, 0, 1]))
    ]
    kept = [f[["a", "copy", "site"]].assign(x=f["x"].mask(f["2"])) for f in rows]
    first, second = (f.sort_values([*f]).reset_index(drop=True) for f in kept)
    pd.testing.assert_frame_equal(first, second)


def test_gaps_stay_where_they_are():
    data = frame()
    data.loc[data["a"] == 0, "x"] = np.nan
    data.loc[5:9, "copy"] = np.nan
    table = encode_incomplete(data, missing="em")
    new = shuffled(table, 0, 0)
    patterns = [sorted(map(tuple, t.gaps.T.tolist())) for t in (table, new)]
    assert patterns[0] == patterns[1]
    seen = [np.sort(columns(t.dataset)["x"][~t.gaps[2]]) for t in (table, new)]
    assert np.array_equal(*seen)


def test_values_stay_within_their_stratum():
    """`x` moves within `site`, which it decides; `a` anywhere, so that no relation is left."""
    data = frame().assign(site=lambda f: (f["x"] > 1).astype(int))
    table = encode(data)
    before, after = columns(table), columns(shuffled(table, 0, 0, within={"site": ["x", "copy"]}))
    for name in ("x", "copy"):
        assert sorted(zip(before["site"], before[name], strict=True)) == sorted(
            zip(after["site"], after[name], strict=True)
        )
    assert not np.array_equal(np.sort(before["x"]), after["x"])
    assert abs(np.corrcoef(before["site"], before["a"])[0, 1]) > 0.5
    assert abs(np.corrcoef(after["site"], after["a"])[0, 1]) < 0.2


def test_weights_count_cases():
    """Two rows with weights 300 and 100 are 400 cases, whose values are dealt one by one."""
    table = encode(pd.DataFrame({"a": [0, 1], "b": [0, 1], "w": [300, 100]}), weights="w")
    new = shuffled(table, 0, 0)
    assert new.rows == 400
    assert new.weights.sum() == 400
    values = columns(new)
    assert [values[name].sum() for name in "ab"] == [100, 100]
    # Of 100 ones each, 25 are expected to meet by chance, and 100 met before.
    assert 10 < np.sum(values["a"] & values["b"]) < 40
    halves = table.reweighted([150.25, 50.25])
    assert shuffled(halves, 0, 0).weights.sum() == pytest.approx(200.5)


def test_too_many_cases_are_refused():
    table = encode(pd.DataFrame({"a": [0, 1], "b": [0, 1]})).reweighted([MOST_CASES, 1.0])
    with refused(option="weights"):
        shuffled(table, 0, 0)


def test_notes_and_states_stay():
    table = kes.Dataset(["a", "b"], [range(4), range(2)], [[0, 1, 2], [0, 1, 1]])
    assert shuffled(table, 0, 0).states == table.states
