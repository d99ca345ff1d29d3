"""Rows that depend on each other are noticed; independent ones are not, however they look."""

import numpy as np
import pandas as pd
import pytest

import kes
from kes.data import dependence


def noted(table, word):
    """Return the note with a word, which learn and audit share; "" if there is none."""
    notes = [note for note in kes.data.encode(table).notes if word in note]
    assert [line for line in kes.audit(table).note.splitlines() if word in line] == notes
    return notes[0] if notes else ""


def independent(rng, rows):
    """Draw normal, skewed and rounded numbers, and states of all frequencies, that depend."""
    hidden = rng.normal(size=rows)
    table = pd.DataFrame({f"normal{i}": hidden + rng.normal(size=rows) for i in range(5)})
    table["skewed"] = np.exp(2 * rng.normal(size=rows))
    table["rounded"] = np.round(hidden, 1)
    for states in (2, 3, 9):
        table[f"even{states}"] = rng.integers(states, size=rows).astype(str)
        rare = rng.random(rows) < 0.04
        table[f"rare{states}"] = np.where(rare, rng.integers(1, states, size=rows), 0).astype(str)
    table["dependent"] = np.where(hidden > 1, "high", "low")
    return table


def test_independent_rows_are_hardly_ever_noted():
    """Eighty tables of 13 columns: five standard deviations are one in a million."""
    rng = np.random.default_rng(0)
    noted_tables = [
        rows
        for rows in [40, 100, 500, 3000] * 20
        if "rows are" in " ".join(kes.data.encode(independent(rng, rows)).notes)
    ]
    assert noted_tables == []


def test_series_are_noted():
    rng = np.random.default_rng(1)
    walk = np.zeros((400, 2))
    for t in range(1, 400):
        walk[t] = 0.6 * walk[t - 1] + rng.normal(size=2)
    state = np.cumsum(rng.random(400) < 0.2) % 3
    table = independent(rng, 400).assign(a=walk[:, 0], b=walk[:, 1], c=state.astype(str))
    note = noted(table, "consecutive")
    assert all(f"'{name}'" in note for name in "abc")
    assert "normal" not in note
    shuffled = table.sample(frac=1, random_state=0)
    assert noted(shuffled, "consecutive") == ""


def test_the_autocorrelation_is_that_of_numpy():
    rng = np.random.default_rng(2)
    values = np.convolve(rng.normal(size=1001), [1, 1], "valid")  # 0.5
    note = noted(pd.DataFrame({"a": values, "b": rng.normal(size=1000)}), "consecutive")
    ranks = np.argsort(np.argsort(values))
    assert f"'a' ({np.corrcoef(ranks[:-1], ranks[1:])[0, 1]:.2f})" in note


def test_a_series_whose_time_is_in_several_columns_is_noted():
    """Each row has its own month, day and hour, which would explain any column."""
    rng = np.random.default_rng(4)
    hours = np.arange(24 * 28 * 6)
    table = pd.DataFrame(
        {"month": hours // (24 * 28), "day": hours // 24 % 28, "hour": hours % 24},
    )
    wind = rng.normal(size=len(hours))
    for i in range(1, len(hours)):
        wind[i] += 0.9 * wind[i - 1]
    assert "'wind'" in noted(table.assign(wind=wind), "consecutive rows are alike")
    calm = table.assign(wind=rng.normal(size=len(hours)))
    assert not noted(calm, "consecutive rows are alike")


@pytest.mark.parametrize("by", [["group"], ["x"], ["group", "x"], ["group", "step", "x"]])
def test_a_sorted_file_is_not_taken_for_a_series(by):
    """All columns depend on those by which it is sorted, so neighbours are alike in all."""
    rng = np.random.default_rng(3)
    group, step = rng.integers(3, size=600), rng.integers(4, size=600)
    x = group + step + rng.normal(size=600)
    y, z = x + rng.normal(size=600), np.where(group + rng.normal(size=600) > 1, "a", "b")
    columns = {"group": group.astype(str), "step": step.astype(str), "x": x, "y": y, "z": z}
    table = pd.DataFrame(columns).sort_values(by)
    assert noted(table, "consecutive") == ""


def test_a_file_sorted_by_hand_is_not_taken_for_a_series():
    """Sorted by weight within the groups, but for two rows: as `birthwt` of R is."""
    rng = np.random.default_rng(5)
    weight = np.sort(rng.integers(700, 5000, 189))
    weight[[60, 61, 130, 131]] = weight[[61, 60, 131, 130]]
    low = weight < 2500
    frame = pd.DataFrame({"low": low, "weight": weight, "x": weight + rng.normal(0, 900, 189)})
    assert noted(pd.concat([frame[~low], frame[low]], ignore_index=True), "consecutive") == ""
    walk = pd.DataFrame({"x": rng.normal(0.5, 1, 189).cumsum(), "y": rng.normal(size=189)})
    assert noted(walk, "consecutive")


def test_bursts_between_equal_values_are_noted():
    """Nearly all rows of rain are dry: few steps lead down, but as many lead up."""
    rng = np.random.default_rng(0)
    rain = np.zeros((500, 10))
    rain[rng.choice(500, 12, replace=False), :6] = 1 + rng.random((12, 6))
    table = pd.DataFrame({"rain": rain.ravel(), "x": rng.normal(size=5000)})
    assert table["rain"].nunique() > 50
    assert "'rain'" in noted(table, "consecutive")


def test_repeated_measurements_are_noted():
    """Five rows of each of a hundred persons, one after the other."""
    rng = np.random.default_rng(4)
    person = np.repeat(np.arange(100), 5)
    values = rng.normal(size=(100, 3))[person] + rng.normal(size=(500, 3))
    table = pd.DataFrame(values, columns=list("abc"))
    assert noted(table, "consecutive")
    named = table.assign(patient_id=np.where(person < 99, person, 7) % 40)
    assert any("'patient_id'" in n and "independent" in n for n in kes.data.encode(named).notes)


def test_copies_are_noted():
    rng = np.random.default_rng(5)
    table = independent(rng, 300)
    twice = pd.concat([table, table.head(60)]).sample(frac=1, random_state=0)
    assert "60 of 360 rows" in noted(twice, "copies")
    assert noted(table, "copies") == ""
    few = pd.concat([table, table.head(2)])
    assert noted(few, "copies") == ""


def test_equal_rows_of_few_states_are_no_copies():
    rng = np.random.default_rng(6)
    coarse = pd.DataFrame(rng.integers(2, size=(1000, 4)).astype(str)).add_prefix("v")
    assert noted(coarse, "copies") == ""
    rounded = coarse.assign(x=np.round(rng.normal(size=1000), 1), y=rng.normal(size=1000).round())
    assert noted(rounded, "copies") == ""


@pytest.mark.parametrize("others", [{}, {"rare": ["a"] * 297 + ["b"] * 3}])
def test_equal_values_of_one_column_are_no_copies(others):
    # no other column can tell rows apart: 300 draws of 256 numbers are bound to agree
    numbers = np.random.default_rng(7).integers(256, size=300) / 8
    assert len(np.unique(numbers)) < 200
    assert noted(pd.DataFrame({"x": numbers, **others}), "copies") == ""


def test_weights_say_how_many_cases_a_row_is():
    rows = pd.DataFrame({"a": np.repeat([0.5, 1.5], 100), "b": np.arange(200) % 7 / 3})
    assert any("rows are" in note for note in kes.data.encode(rows).notes)
    weighted = kes.data.encode(rows, weights=np.full(200, 2.0))
    assert not any("rows are" in note for note in weighted.notes)


def test_a_long_table_costs_little(monkeypatch):
    """Only its beginning is looked at."""
    monkeypatch.setattr(dependence, "_ROWS", 100)
    rng = np.random.default_rng(7)
    late = np.concatenate([rng.normal(size=100), np.sort(rng.normal(size=900))])
    assert noted(pd.DataFrame({"a": late, "b": rng.normal(size=1000)}), "consecutive") == ""
