"""Numbers with units: read as numbers where all have the same unit, and text otherwise."""

import doctest
import sys

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import kes
from kes.data import Schema, encode
from kes.data.units import no_quantities, parse_quantities

RNG = np.random.default_rng(0)
AMOUNTS = RNG.normal(900, 300, 200).round(2)
OTHER = ["x", "y"] * 100


def german(value: float) -> str:
    return f"{value:,.2f}".translate(str.maketrans(",.", ".,"))


def test_examples_in_docstrings():
    assert doctest.testmod(sys.modules["kes.data.units"]).failed == 0


WRITTEN = {
    "€ after": lambda x: f"{german(x)} €",
    "€ before": lambda x: f"€ {german(x)}",
    "EUR": lambda x: f"{german(x)} EUR",
    "dollars": lambda x: f"${x:,.2f}",
    "percent": lambda x: f"{x:.2f}".replace(".", ",") + " %",
    "percent without a space": lambda x: f"{x:.2f}%",
    "words": lambda x: f"{x:.2f} km/h",
    "narrow spaces": lambda x: f"{x:,.2f}".replace(",", "\u202f"),
    "spaces and commas": lambda x: f"{x:,.2f}".replace(",", " ").replace(".", ","),
    "Swiss": lambda x: f"{x:,.2f}".replace(",", "'"),
}


@pytest.mark.parametrize("how", WRITTEN)
def test_numbers_are_read_as_they_were_written(how, tmp_path):
    """The numbers before they were written are the expectation; also from a file."""
    frame = pd.DataFrame({"price": [WRITTEN[how](x) for x in AMOUNTS], "b": OTHER})
    frame.to_csv(tmp_path / "t.csv", index=False)
    for data in (frame, tmp_path / "t.csv"):
        dataset = encode(data)
        assert dataset.columns[0].values.tolist() == AMOUNTS.tolist()
        assert any(note.startswith("'price': text read as numbers") for note in dataset.notes)


@pytest.mark.parametrize(
    ("write", "unit"),
    [("{:,} $", "$"), ("${:,}", "$"), ("{:,} km", None), ("{} months", "months")],
)
def test_whole_numbers(write, unit):
    """Money has no mills; in kilometres, 1,234 may have three decimals."""
    values = RNG.integers(500, 90_000, 200)
    table = kes.audit(pd.DataFrame({"x": [write.format(v) for v in values], "b": OTHER}))
    if unit is None:
        assert table["kind"][0] == "unclear"
    else:
        assert table["kind"][0] == "continuous"
        assert f"in {unit!r}" in table["verdict"][0]
        assert 'kinds={"x": "discrete"}' in table["what to do"][0]


def test_points_between_thousands_of_money():
    texts = [f"{v:,} €".replace(",", ".") for v in range(1000, 90_000, 700)]
    assert parse_quantities(texts).numbers.tolist() == list(range(1000, 90_000, 700))


@pytest.mark.parametrize(
    "texts",
    [
        ["A 12", "B 7"],
        ["12A", "7B", "9C", "8D", "1E", "2F"],
        ["2024-03-01", "2024-03-02"],
        ["1.2.3", "1.2.4"],
        ["10:30", "11:45"],
        ["3-5 years", "5-7 years"],
        ["5 ft 10 in", "6 ft 1 in"],
        ["007 kg", "008 kg"],
        ["v1.2", "v1.3"],
        ["< 5 mg", "7 mg"],
        ["3 kg", "4 lb"],
    ],
)
def test_what_is_no_number_with_a_unit(texts):
    assert parse_quantities(texts) is None


def test_few_whole_numbers_remain_states():
    dataset = encode(pd.DataFrame({"x": ["1 room", "2 rooms", "3 rooms"] * 20, "b": [0, 1] * 30}))
    assert set(dataset.states[0]) == {"1 room", "2 rooms", "3 rooms"}
    assert dataset.notes == ()


def test_a_few_other_values_are_named():
    texts = [f"{german(x)} €" for x in AMOUNTS]
    assert no_quantities([*texts, "on request", "12,00 $"]) == ["on request", "12,00 $"]
    texts[7] = "on request"
    notes = encode(pd.DataFrame({"price": texts, "b": OTHER}), kinds={}).notes
    assert any("on request" in note and "na_values" in note for note in notes)


def test_different_units_are_said():
    texts = [f"{x:.2f} {'€' if i % 2 else '$'}" for i, x in enumerate(AMOUNTS)]
    notes = encode(pd.DataFrame({"price": texts * 2, "b": OTHER * 2})).notes
    assert any("different units ('$', '€')" in note for note in notes)


def test_missing_values_beside_units():
    texts = [f"{german(x)} €" for x in AMOUNTS]
    texts[3] = "#NV"
    dataset = encode(pd.DataFrame({"price": texts, "b": OTHER}), missing="drop")
    assert (dataset.rows, dataset.kinds[0]) == (199, "continuous")


def test_new_rows_are_read_in_the_same_unit():
    texts = [f"{german(x)} €" for x in AMOUNTS]
    other = AMOUNTS * 2 + RNG.normal(0, 30, 200)
    network = kes.fit([("price", "y")], pd.DataFrame({"price": texts, "y": other}))
    row = pd.DataFrame({"price": ["1.234,50 €"], "y": [2000.5]})
    plain = pd.DataFrame({"price": [1234.5], "y": [2000.5]})
    assert network.log_likelihood(row) == network.log_likelihood(plain)
    table = encode(row, schema=Schema(["price"], [()]))
    assert table.columns[0].values.tolist() == [1234.5]


def test_a_result_is_used_again_with_its_file(tmp_path):
    texts = [f"{german(x)} €" if i % 9 else "NA" for i, x in enumerate(AMOUNTS)]
    path = tmp_path / "t.csv"
    frame = pd.DataFrame(
        {"price": texts, "y": AMOUNTS + RNG.normal(0, 9, 200), "b": [*OTHER[:-1], "NA"]}
    )
    frame.to_csv(path, index=False, sep=";")
    optima = kes.learn(path, missing="drop", runs=2, improve=False)
    optima.save(tmp_path / "a.json")
    again = kes.load(tmp_path / "a.json").extend(2, data=path)
    assert len(again.runs) == 4
    assert again.best.fit(path).nodes == ("price", "y", "b")


@given(
    st.lists(st.floats(-1e9, 1e9).map(lambda x: round(x, 2)), min_size=2),
    st.sampled_from(["€", "kg", "%", "Monate", "°C"]),
)
def test_a_unit_changes_no_number(values, unit):
    parsed = parse_quantities([f"{value:.2f} {unit}" for value in values])
    assert parsed.numbers.tolist() == [float(f"{value:.2f}") for value in values]
    assert parsed.unit == unit
