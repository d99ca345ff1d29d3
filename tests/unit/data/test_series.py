"""Earlier rows beside each row: sorting, gaps, and what is dropped."""

import datetime

import numpy as np
import pandas as pd
import pytest
from tests.unit.forms import as_form
from tests.unit.refused import refused

import kes
from kes.data.clock import Clock
from kes.data.encoder import read_data
from kes.data.random_stream import Stream
from kes.data.schema import ReadOptions
from kes.data.series_folds import series_folds

WEEKS = [(p, week) for p in "ab" for week in range(6) if (p, week) != ("b", 3)]
TABLE = pd.DataFrame(WEEKS, columns=["patient", "week"])
TABLE["bp"] = [10.5 * ord(p) + week for p, week in WEEKS]  # tells patient and week
TABLE["sex"] = ["f" if p == "a" else "m" for p, _ in WEEKS]


def values(table, lags=2, **more):
    """Rows of the lagged table, as (current, one step earlier, ...)."""
    dataset = read_data(kes.lagged(table, lags, **more), ReadOptions())
    names = ["bp", *(f"bp[t-{lag}]" for lag in range(1, lags + 1))]
    columns = [dataset.columns[dataset.names.index(name)].values for name in names]
    return sorted(zip(*(column.tolist() for column in columns), strict=True))


def expected(lags=2):
    """By definition: a row and all rows that it needs are there."""
    known = set(WEEKS)
    rows = []
    for p, week in WEEKS:
        back = [(p, week - lag) for lag in range(lags + 1)]
        if known.issuperset(back):
            rows.append(tuple(10.5 * ord(q) + w for q, w in back))
    return sorted(rows)


@pytest.mark.parametrize("lags", [1, 2, 3])
def test_rows_are_joined_by_series_and_time_whatever_their_order(lags):
    shuffled = TABLE.sample(frac=1, random_state=1)
    assert values(shuffled, lags, by="patient", time="week") == expected(lags)


def test_without_time_the_order_of_the_rows_counts():
    rows = values(TABLE, 1, by="patient")  # the gap is not seen
    assert len(rows) == len(TABLE) - 2
    assert len(values(TABLE.drop(columns=["patient", "week", "sex"]), 1)) == len(TABLE) - 1


def test_what_is_dropped_is_said():
    table = kes.lagged(TABLE, 2, by="patient", time="week")
    assert table.rows == len(expected(2))
    assert "2 series by 'patient'" in table.notes[0]
    assert table.notes[0].endswith(": 4")  # two weeks of two patients
    assert table.notes[1].endswith(": 2")  # weeks 4 and 5 of b lack week 3
    assert repr(table) == f"<Lagged: variables: 2, lags: 2, {len(expected(2))} of 11 rows>"


def test_what_never_changes_has_no_earlier_values():
    dataset = read_data(kes.lagged(TABLE, 1, by="patient", time="week"), ReadOptions())
    assert dataset.names == ("bp", "sex", "bp[t-1]")
    noisy = TABLE.assign(bp=np.random.default_rng(0).normal(size=len(TABLE)))
    optima = kes.learn(kes.lagged(noisy, 1, by="patient", time="week"), runs=1)
    assert optima.settings.exogenous == ("bp[t-1]", "sex")


@pytest.mark.parametrize("form", ["polars", "pyarrow", "csv", "parquet", "dataset"])
def test_every_form_of_table(form, tmp_path):
    if form == "dataset":
        table = kes.data.encode(TABLE, kinds={"week": "discrete"})
    else:
        table = as_form(TABLE, form, tmp_path)
    assert values(table, 2, by="patient", time="week") == expected(2)


def test_arrays_have_numbered_columns():
    array = np.array([[ord(p), week, 10.5 * ord(p) + week] for p, week in WEEKS])
    dataset = read_data(kes.lagged(array, 1, by="x0", time="x1"), ReadOptions())
    assert dataset.names == ("x2", "x2[t-1]")
    assert dataset.rows == len(expected(1))


@pytest.mark.parametrize(
    "dates",
    [
        [datetime.date(2020, month, 1) for month in (1, 2, 3, 5, 6)],
        [
            datetime.date(2020, month, day)
            for month, day in [(1, 31), (2, 29), (3, 31), (5, 31), (6, 30)]
        ],
        ["2020-01-01", "2020-02-01", "2020-03-01", "2020-05-01", "2020-06-01"],
    ],
    ids=["first of the month", "last of the month", "text"],
)
def test_dates_may_have_steps_of_months(dates):
    table = pd.DataFrame({"month": dates, "x": [1.5, 2.5, 3.5, 5.5, 6.5]})
    dataset = read_data(kes.lagged(table, 1, time="month"), ReadOptions())
    assert dataset.columns[0].values.tolist() == [2.5, 3.5, 6.5]
    assert dataset.columns[1].values.tolist() == [1.5, 2.5, 5.5]


def test_current_and_earlier_values_have_the_same_states_and_cuts():
    """ "late" occurs in last rows only, and cut points are those of the column as a whole."""
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"s": ["a", "b"] * 20 + ["late"], "x": rng.normal(size=41)})
    dataset = read_data(kes.lagged(table, 1), ReadOptions(), discretizer=kes.Discretizer(3))
    states = dict(zip(dataset.names, dataset.states, strict=True))
    assert states["s"] == states["s[t-1]"] == ("a", "b", "late")
    assert states["x"] == states["x[t-1]"]
    assert len(states["x"]) == 3


def test_missing_values_are_dropped_after_rows_are_joined():
    table = TABLE.assign(bp=TABLE["bp"].where(TABLE["week"] != 1))
    lagged = kes.lagged(table, 1, by="patient", time="week")
    dataset = read_data(lagged, ReadOptions(missing="drop"))
    weeks = {(p, w) for p, w in WEEKS if (p, w - 1) in WEEKS and w not in (1, 2)}
    assert dataset.rows == len(weeks)
    assert dataset.notes[-1].endswith(": 4")  # weeks 1 and 2 of both
    with pytest.raises(kes.KesError) as caught:
        kes.learn(lagged, runs=1)
    assert caught.value.option == "missing"


def test_weights_are_those_of_the_current_row():
    table = TABLE.assign(w=np.arange(len(TABLE)) + 1.0)
    lagged = kes.lagged(table, 1, by="patient", time="week")
    dataset = read_data(lagged, ReadOptions(weights="w", kinds={"w": "omit"}), weights="w")
    kept = [i for i, (p, w) in enumerate(WEEKS) if (p, w - 1) in WEEKS]
    assert sorted(dataset.weights.tolist()) == [i + 1.0 for i in kept]


@pytest.mark.parametrize(
    ("more", "option", "column"),
    [
        ({"lags": 0}, "lags", None),
        ({"lags": "2"}, "lags", None),
        ({"lags": 9, "by": "patient"}, "lags", None),
        ({"by": "patent"}, "by", "patent"),
        ({"by": 3}, "by", None),
        ({"by": "patient", "time": "wek"}, "time", "wek"),
        ({"by": "patient", "time": 3}, "time", None),
        ({"by": "week", "time": "week"}, "time", "week"),
        ({"time": "week"}, "by", "week"),
        ({"by": "patient", "time": "sex"}, "time", "sex"),
    ],
)
def test_what_cannot_be_used_is_named(more, option, column):
    with pytest.raises(kes.KesError) as caught:
        kes.lagged(TABLE, **more)
    assert (caught.value.option, caught.value.column) == (option, column)


def test_rows_without_a_place_are_named():
    for name in ("patient", "week"):
        table = TABLE.astype({"week": float}).copy()
        table.loc[4, name] = None
        with pytest.raises(kes.KesError) as caught:
            kes.lagged(table, by="patient", time="week")
        assert (caught.value.column, caught.value.row) == (name, 4)
    twice = pd.concat([TABLE, TABLE[3:4]])
    with pytest.raises(kes.KesError) as caught:
        kes.lagged(twice, by="patient", time="week")
    assert (caught.value.column, caught.value.row) == ("week", 11)
    uneven = TABLE.assign(week=TABLE["week"] + 0.4 * (TABLE["week"] == 2))
    with pytest.raises(kes.KesError) as caught:
        kes.lagged(uneven, by="patient", time="week")
    assert caught.value.column == "week"


def test_a_file_of_a_result_reads_the_raw_table_again(tmp_path):
    rng = np.random.default_rng(1)
    path = tmp_path / "series.csv"
    TABLE.assign(bp=rng.normal(size=len(TABLE)).round(3)).to_csv(path, index=False)
    out = tmp_path / "a.kes.json.gz"
    optima = kes.learn(kes.lagged(path, 1, by="patient", time="week"), runs=3, out=out)
    again = kes.load(out)
    assert again.record.reading.series == optima.record.reading.series
    assert again.best.fit(path).nodes == optima.names
    assert again.extend(2, data=path) == kes.learn(
        kes.lagged(path, 1, by="patient", time="week"), runs=5
    )


# --- names and times that are easily mistaken ---------------------------------------------------


def test_a_column_with_the_name_of_earlier_values_is_refused():
    table = pd.DataFrame({"a": [1.5, 2.5, 4.0], "a[t-1]": [0.5, 1.0, 3.0]})
    with refused("'a'", column="a[t-1]"):
        kes.lagged(table)


def test_a_name_beyond_the_lags_is_that_of_a_variable():
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(30, 2)), columns=["a", "a[t-7]"])
    options = ReadOptions(columns=("a", "a[t-7]", "a[t-1]", "a[t-7][t-1]"))
    assert read_data(kes.lagged(table), options).names == options.columns


@pytest.mark.parametrize(
    "times",
    [
        np.arange(3000) / 3,
        np.arange(30) * 1e-10,
        1.7e9 + np.arange(500) * 0.001,
        -5 + 0.1 * np.delete(np.arange(200), [7, 50]),
    ],
)
def test_steps_are_regular_up_to_rounding(times):
    table = pd.DataFrame({"time": times, "a": np.arange(len(times)) * 1.5})
    places = kes.lagged(table, time="time").places
    step = (times[-1] - times[0]) / places.moments.max()
    assert places.clock.step == pytest.approx(step)
    assert np.allclose(times, times[0] + places.moments * step, rtol=1e-9, atol=step / 100)
    assert places.moments.max() >= len(times) - 1


@pytest.mark.parametrize("times", [[0, 1, 2, 3.5], [0, 1, 2, 3, 4.02], [0, 1e-12, 2e-12, 1e9]])
def test_steps_that_are_not_regular_are_refused(times):
    table = pd.DataFrame({"time": times, "a": np.arange(len(times)) * 1.5})
    with refused("steps", option="time", column="time"):
        kes.lagged(table, time="time")


def test_names_may_come_from_a_generator():
    lagged = kes.lagged(TABLE, by=(name for name in ["patient"]), time="week")
    assert lagged.series.by == ("patient",)


def test_months_are_named_as_months():
    assert Clock(12.0, 1.0, "months").label(2) == "1971-03"
    assert Clock(12.0, 7.0, "days").label(1) == "1970-01-20"


def test_no_fold_of_series_is_empty():
    of = [*range(95), *np.repeat(np.arange(95, 100), 20)]
    table = pd.DataFrame({"s": of, "a": np.random.default_rng(0).normal(size=len(of))})
    lagged = kes.lagged(table, by="s")
    dataset = read_data(lagged, ReadOptions())
    folds = series_folds(lagged, dataset, "series", 5, Stream(1))
    assert [test.rows for _, test in folds] == [19] * 5
