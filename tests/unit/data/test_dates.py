"""Dates as numbers: the standard library counts days and years independently."""

from datetime import UTC, date, datetime

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.data import encode

DAYS = [date(1999, 12, 31), date(2024, 2, 29), date(2024, 3, 31), date(1968, 5, 4)] * 5
SINCE = [(day - date(1970, 1, 1)).days for day in DAYS]
FILLER = [0, 1] * 10


def values(column, **options):
    """Encode a column of dates; return the value of each row."""
    dataset = encode(pd.DataFrame({"day": column, "b": FILLER}), **options)
    own = dataset.columns[0]
    return own.values.tolist() if own.kind == "continuous" else [own.states[c] for c in own.codes]


WRITTEN = {
    "ISO": [day.isoformat() for day in DAYS],
    "German": [f"{day:%d.%m.%Y}" for day in DAYS],
    "American": [f"{day:%m/%d/%Y}" for day in DAYS],
    "British": [f"{day:%d/%m/%Y}" for day in DAYS],
    "with hours": [f"{day} 00:00:00" for day in DAYS],
    "objects": DAYS,
    "datetime64": np.array(DAYS, dtype="datetime64[ns]"),
    "with a zone": [datetime(d.year, d.month, d.day, tzinfo=UTC) for d in DAYS],
}


@pytest.mark.parametrize("how", WRITTEN)
def test_days_and_years(how):
    kinds = {"day": "continuous"}
    assert values(WRITTEN[how], dates="days", kinds=kinds) == SINCE
    assert values(WRITTEN[how], dates="year") == [day.year for day in DAYS]


def test_two_digits_of_a_year():
    texts = ["31.12.68", "31.12.69"] * 10
    assert values(texts, dates="year") == [2068, 1969] * 10


def test_hours_are_fractions_of_a_day():
    texts = ["1970-01-02 06:00", "1970-01-03 12:00:00"] * 10
    assert values(texts, dates="days") == [1.25, 2.5] * 10


def test_without_the_option_they_are_left_out_and_it_is_named():
    table = pd.DataFrame({"day": WRITTEN["ISO"], "b": FILLER})
    assert encode(table).names == ("b",)
    assert 'dates="days" or dates="year"' in encode(table).notes[0]
    assert 'dates="days" or dates="year"' in kes.audit(table)["what to do"][0]
    with refused("decades", option="dates"):
        encode(table, dates="decades")


def test_days_in_a_row_are_no_identifier():
    days = pd.date_range("2024-01-01", periods=60)
    dataset = encode(pd.DataFrame({"day": days, "b": [0, 1] * 30}), dates="days")
    assert dataset.kinds == ("continuous", "discrete")
    assert "'day': dates as days since 1970-01-01, taken as continuous" in dataset.notes


def test_days_and_months_that_may_be_swapped():
    table = pd.DataFrame({"day": ["1/2/2024", "3/4/2024"] * 10, "b": FILLER})
    with refused("swapped", column="day"):
        encode(table, dates="days")
    assert values(table["day"], dates="year") == [2024] * 20


def test_what_looks_like_a_date():
    with refused("'2024-02-30'", column="day"):
        encode(pd.DataFrame({"day": ["2024-02-30", "2024-03-01"] * 10, "b": FILLER}), dates="days")


def test_missing_dates_are_missing():
    texts = [*WRITTEN["ISO"][:19], None]
    dataset = encode(pd.DataFrame({"day": texts, "b": FILLER}), dates="year", missing="drop")
    assert dataset.rows == 19


def test_a_result_keeps_the_option(tmp_path):
    rng = np.random.default_rng(0)
    start = np.datetime64("2020-01-01")
    table = pd.DataFrame({"day": start + rng.integers(0, 900, 80), "y": rng.normal(size=80)})
    table.to_csv(tmp_path / "a.csv", index=False)
    optima = kes.learn(tmp_path / "a.csv", dates="days", runs=2, improve=False)
    assert optima.names == ("day", "y")
    optima.save(tmp_path / "a.kes.json")
    again = kes.load(tmp_path / "a.kes.json")
    assert again.record.reading.dates == "days"
    assert len(again.extend(1, data=tmp_path / "a.csv").runs) == 3
    assert again.best.fit(tmp_path / "a.csv").nodes == ("day", "y")
