"""Cards of columns, and errors with the buttons that mend them."""

import json

import pandas as pd
import pytest
from tests.unit.refused import refused

from kes.app.answers import answered
from kes.app.tables import cards, check, states
from kes.errors import KesError


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, clinic_csv):
    (tmp_path / "clinic.csv").write_bytes(clinic_csv)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def card(found, name):
    return next(one for one in found["columns"] if one["name"] == name)


def test_cards_show_kinds_gaps_and_distributions(folder):
    found, table = cards({"file": "clinic.csv"}), pd.read_csv("clinic.csv")
    assert found["rows"] == len(table)
    assert {one["name"]: one["used"] for one in found["columns"]} == {
        "id": None,
        "age": "continuous",
        "smoker": "discrete",
        "pressure, mmHg": "continuous",
    }
    pressure = card(found, "pressure, mmHg")
    assert pressure["missing"] == table["pressure, mmHg"].isna().sum()
    assert sum(pressure["picture"]["bins"]) == table["pressure, mmHg"].notna().sum()
    counts = table["smoker"].value_counts()
    assert card(found, "smoker")["picture"]["bars"] == [
        ["no", counts["no"]],
        ["yes", counts["yes"]],
    ]


def test_a_card_follows_the_kind_that_was_chosen(folder):
    draft = {"file": "clinic.csv", "kinds": {"age": "discrete", "id": "continuous"}}
    found = cards(draft, columns=["age"])
    assert [one["used"] for one in found["columns"]] == ["discrete"]
    assert card(cards(draft), "id")["used"] == "continuous"


def test_marks_of_gaps_are_offered_as_such(folder):
    """kes reads "?" among words as a state, as it may be one; one click says that it is not."""
    text = (folder / "clinic.csv").read_text().replace(",yes,", ",?,", 5)
    (folder / "clinic.csv").write_text(text)
    draft = {"file": "clinic.csv", "na_values": ["-99"]}
    found = card(cards(draft), "smoker")
    assert "?" in [state for state, _ in found["picture"]["bars"]]
    [fix] = found["fixes"]
    found = card(cards(applied(draft, fix["change"])), "smoker")
    assert (found["missing"], found["fixes"]) == (5, [])


def test_values_of_experiments_are_those_of_the_column():
    draft = {"file": "clinic.csv"}
    assert states(draft, "smoker") == ["no", "yes"]
    with refused("150", option="interventions", column="id"):
        states(draft, "id")
    with refused("smokers", option="interventions"):
        states(draft, "smokers")


def test_the_example_has_cards():
    found = cards({"example": 100})
    assert (found["rows"], len(found["columns"])) == (100, 37)
    assert all(sum(n for _, n in one["picture"]["bars"]) == 100 for one in found["columns"])


def applied(draft, change):
    """Change a draft as the page does."""
    for name, value in change.items():
        if name == "kinds":
            kinds = draft.get("kinds", {}) | value
            draft = draft | {"kinds": {n: kind for n, kind in kinds.items() if kind}}
        elif name == "discretize":
            draft = draft | {"options": {}}
        else:
            draft = {n: own for n, own in (draft | {name: value}).items() if own is not None}
    return draft


BROKEN = {
    "gaps": {"file": "clinic.csv"},
    "text as numbers": {"file": "clinic.csv", "missing": "drop", "kinds": {"smoker": "continuous"}},
    "weights": {"file": "clinic.csv", "missing": "drop", "weights": "smoker"},
    "empty column": {"file": "empty.csv"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_errors_come_with_buttons_that_mend_them(folder, name):
    pd.read_csv("clinic.csv").dropna().assign(nothing=None).to_csv("empty.csv", index=False)
    problem = check(BROKEN[name])["problem"]
    assert problem["message"]
    assert problem["column"] or problem["option"]
    assert problem["fixes"]
    assert " --" not in problem["message"]
    for fix in problem["fixes"]:
        assert fix["label"]
        assert check(applied(BROKEN[name], fix["change"]))["problem"] is None, fix


def test_an_empty_column_is_left_out_before_gaps_are_treated(folder):
    """No treatment of gaps mends a column without a single value."""
    pd.read_csv("clinic.csv").assign(nothing=None).to_csv("t.csv", index=False)
    [fix] = check({"file": "t.csv"})["problem"]["fixes"]
    assert fix["change"] == {"kinds": {"nothing": "omit"}}
    after = check(applied({"file": "t.csv"}, fix["change"]))["problem"]
    assert "What should be done" in after["message"]


def test_gaps_can_be_a_state_of_discrete_columns_only(folder):
    labels = [fix["label"] for fix in check({"file": "clinic.csv"})["problem"]["fixes"]]
    assert not any("state" in label for label in labels)
    pd.DataFrame({"a": ["x", "y", None] * 9, "b": ["u", "v", "v"] * 9}).to_csv("t.csv")
    labels = [fix["label"] for fix in check({"file": "t.csv"})["problem"]["fixes"]]
    assert any("state" in label for label in labels)


def test_a_column_that_is_mostly_missing_can_be_left_out(folder):
    table = pd.read_csv("clinic.csv").drop(columns="id")
    table.assign(remark=["late", None, None] * 50).to_csv("t.csv", index=False)
    draft = {"file": "t.csv", "missing": "drop"}
    [fix] = card(cards(draft), "remark")["fixes"]
    assert check(applied(draft, fix["change"]))["columns"] == [*table.columns]
    assert card(cards(draft), "pressure, mmHg")["fixes"] == []  # a tenth is missing


def told(draft) -> list[str]:
    """Return notes as the page gets them, which are those of the shell before."""
    return answered(json.dumps({"ask": "check", "draft": draft}).encode())["found"]["notes"]


def test_notes_speak_no_shell_and_lose_nothing_else(folder):
    """The page has buttons for what flags do; the fact before the advice stays."""
    table = pd.read_csv("clinic.csv").assign(day=pd.date_range("2020-01-01", periods=150))
    table.assign(remark=["late", None, None] * 50).to_csv("t.csv", index=False)
    notes = told({"file": "t.csv", "missing": "em"})
    assert not [note for note in notes if " --" in note]
    [mostly] = [note for note in notes if "more than half" in note.lower()]
    assert "'remark'" in mostly
    [left] = [note for note in notes if note.startswith("Left out")]
    assert "'id'" in left
    assert "'day' (dates)" in left


def test_advice_with_flags_goes_as_a_whole_clause(folder):
    """No note ends in "; to use it as states", with nothing behind it."""
    table = pd.DataFrame({"dose": [0.5, 1.5, 2.5] * 50, "mark": ["a", "b", "?"] * 50})
    table.to_csv("t.csv", index=False)
    notes = told({"file": "t.csv"})
    assert "'dose': 3 values, taken as continuous" in notes
    assert "A state looks like a missing value: 'mark' ('?')" in notes


def test_a_sound_table_has_notes_and_no_problem():
    found = check({"file": "clinic.csv", "missing": "drop"})
    assert found["problem"] is None
    assert any("Dropped" in note for note in found["notes"])
    assert found["columns"] == ["age", "smoker", "pressure, mmHg"]


@pytest.mark.parametrize(
    ("draft", "option"),
    [
        ({}, "data"),
        ({"file": "clinic.csv", "example": 100}, "data"),
        ({"example": 5}, "rows"),
        ({"example": 100, "missing": "drop"}, "example"),
        ({"file": "clinic.csv", "options": {"k": 2}}, "k"),
        ({"file": "clinic.csv", "options": {"nothing": 2}}, "nothing"),
        ({"file": "clinic.csv", "options": {"discretize": 1}}, "discretize"),
        ({"file": "clinic.csv", "missing": 3}, "missing"),
    ],
)
def test_wrong_drafts_are_refused(draft, option):
    with pytest.raises(KesError) as refusal:
        cards(draft)
    assert refusal.value.option == option
