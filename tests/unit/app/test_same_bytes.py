"""The page, the command it shows and the Python lines it shows write the same bytes."""

import contextlib
import gzip
import json
import shlex
import subprocess
import sys
import time

import pandas as pd
import pytest

import kes

DRAFTS = {
    "gaps": {
        "file": "clinic.csv",
        "missing": "em",
        "kinds": {"id": "omit"},
        "options": {"runs": 5, "improve": 7, "target": "smoker"},
    },
    "knowledge": {
        "file": "clinic.csv",
        "missing": "drop",
        "knowledge": {
            "tiers": [["age"], ["smoker", "pressure, mmHg"]],
            "forbidden": [["smoker", "pressure, mmHg"]],
        },
        "options": {"runs": 4, "k": 0.4, "random_state": 3, "improve": False},
    },
    "cut": {
        "file": "clinic.csv",
        "missing": "state",
        "kinds": {"pressure, mmHg": "discrete"},
        "options": {"discretize": 3, "runs": 4, "criterion": "bdeu", "prove": True},
    },
    "experiments": {
        "file": "clinic.csv",
        "missing": "drop",
        "interventions": {"smoker": {"yes": ["pressure, mmHg"], "no": []}},
        "knowledge": {"exogenous": ["age"]},
        "options": {"runs": 3, "improve": False},
    },
    "series": {
        "file": "clinic.csv",
        "missing": "drop",
        "series": {"lags": 1, "by": ["smoker"], "time": "id"},
        "options": {"runs": 3, "improve": False, "discretize": {"age": 3}},
    },
    "example": {"example": 200, "options": {"runs": 6, "max_parents": 2, "two_phase": True}},
}


@pytest.fixture
def elsewhere(tmp_path, clinic_csv):
    """Another folder with the same table."""
    (tmp_path / "clinic.csv").write_bytes(clinic_csv)
    return tmp_path


SHORT = ("gaps", "knowledge", "experiments", "series")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=() if name in SHORT else pytest.mark.slow) for name in DRAFTS],
)
def test_page_command_and_python_give_the_same_bytes(server, elsewhere, name):
    draft = DRAFTS[name]
    version = server.ask("GET", "state")["draft"]["version"]
    shown = server.ask("PUT", "draft", {"version": version, "draft": draft})
    assert shown["problem"] is None
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert job["state"] == "done", job["message"]
    found = (server.folder / job["out"]).read_bytes()
    assert shown["code"]["shell"].endswith(job["code"])  # before it, the files that it reads
    in_shell(elsewhere, shown["code"]["shell"])
    assert (elsewhere / job["out"]).read_bytes() == found
    (elsewhere / job["out"]).unlink()
    run(elsewhere, "-c", shown["code"]["python"])
    assert compared(elsewhere / job["out"]) == compared(server.folder / job["out"])


def compared(path):
    """Return the entries of a file, without the notes, which name options as Python does."""
    entries = json.loads(gzip.decompress(path.read_bytes()))
    del entries["notes"], entries["reading"]["example"]
    return entries


def in_shell(folder, text):
    """Run lines as a user pastes them into a shell."""
    kes_command = f'kes() {{ {shlex.quote(sys.executable)} -m kes "$@"; }}'
    script = f"set -e\n{kes_command}\n{text}"
    subprocess.run(["sh", "-c", script], cwd=folder, check=True, capture_output=True)


def run(folder, *words):
    subprocess.run([sys.executable, *words], cwd=folder, check=True, capture_output=True)


def test_what_goes_on_from_a_result_is_shown_as_commands(server, elsewhere):
    draft = {"file": "clinic.csv", "missing": "drop", "options": {"runs": 3, "improve": False}}
    first = server.finished(server.ask("POST", "learn", {"draft": draft}))
    out = first["out"]
    for how in ("runs", "prove"):
        job = server.finished(server.ask("POST", f"results/{out}/more", {"how": how}))
        assert job["state"] == "done", job["message"]
    result = server.ask("GET", f"results/{out}")
    assert (result["runs"], result["proven"]) == (6, True)
    assert len(result["commands"]) == 3
    for command in result["commands"]:
        run(elsewhere, "-m", *shlex.split(command))
    assert (elsewhere / out).read_bytes() == (server.folder / out).read_bytes()


def test_a_search_that_was_stopped_and_goes_on_gives_the_bytes_of_its_command(server, elsewhere):
    draft = {"example": 300, "options": {"runs": 300, "improve": 300}}
    job = server.ask("POST", "learn", {"draft": draft})
    while not (server.folder / job["out"]).exists():
        time.sleep(0.02)
    server.ask("POST", f"jobs/{job['id']}", {"do": "stop"})
    assert server.finished(job)["state"] == "stopped"
    kept = (server.folder / job["out"]).read_bytes()
    server.ask("POST", f"jobs/{job['id']}", {"do": "again"})
    assert server.finished(job)["state"] == "done"
    assert (server.folder / job["out"]).read_bytes() != kept
    [command] = server.ask("GET", f"results/{job['out']}")["commands"]
    in_shell(elsewhere, command)
    assert (elsewhere / job["out"]).read_bytes() == (server.folder / job["out"]).read_bytes()


def test_a_search_that_failed_does_not_hide_the_command_of_the_next(server):
    draft = {"file": "clinic.csv", "options": {"runs": 3, "improve": False}}
    failed = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert failed["state"] == "failed"  # its table has gaps
    job = server.ask("POST", "learn", {"draft": draft | {"missing": "drop"}})
    assert job["out"] == failed["out"]
    server.finished(job)
    assert server.ask("GET", f"results/{job['out']}")["commands"] == [job["code"]]


def test_the_python_lines_of_actions_do_what_the_page_did(server, elsewhere):
    """The networks, and the numbers that the command prints."""
    draft = {"file": "clinic.csv", "missing": "drop", "options": {"runs": 3, "improve": False}}
    draft["kinds"] = {"age": "omit", "pressure, mmHg": "discrete"}
    draft["options"]["discretize"] = 2
    out = server.finished(server.ask("POST", "learn", {"draft": draft}))["out"]
    (elsewhere / out).write_bytes((server.folder / out).read_bytes())
    for form in ("bif", "json"):
        found = server.ask("POST", f"results/{out}/do/{form}", {})
        run(elsewhere, "-c", found["code"]["python"])
        own, page = (kes.read_network(at / found["file"]) for at in (elsewhere, server.folder))
        assert own == page
    parts = {"target": "smoker", "known": {}, "discrete": True}
    about = {"question": "P(smoker)", "parts": parts}
    asked = server.ask("POST", f"results/{out}/do/query", about)
    for state, share in last_value(elsewhere, asked["code"]["python"]).items():
        assert f"{state}  {share:.6f}" in " ".join(asked["text"].split("\n")).replace("   ", "  ")
    about = {"table": "clinic.csv", "target": "smoker"}
    predicted = server.ask("POST", f"results/{out}/do/predict", about)
    rows = pd.read_csv(server.folder / predicted["file"])
    assert [*last_value(elsewhere, predicted["code"]["python"])] == [*rows["smoker"]]
    edges = server.ask("POST", f"results/{out}/do/edges", {})
    table = last_value(elsewhere, edges["code"]["python"])
    written = pd.read_csv(server.folder / edges["file"])
    assert [*table["evidence"]] == pytest.approx([*written["evidence"]])
    about = {"x": "smoker", "y": "pressure, mmHg"}
    effects = server.ask("POST", f"results/{out}/effects", about)
    found = last_value(elsewhere, effects["code"]["python"]).summary()
    assert [list(row.values()) for row in found] == effects["summary"]["rows"]
    compared = server.ask("POST", f"results/{out}/compare", {"other": out})
    assert str(last_value(elsewhere, compared["code"]["python"])) == compared["text"]


def last_value(folder, lines):
    """Run lines in a folder; return the value of the last one."""
    *before, last = lines.split("\n")
    values = {}
    with contextlib.chdir(folder):
        exec("\n".join(before), values)
        return eval(last, values)


def test_a_result_of_the_shell_becomes_a_draft(server):
    knowledge = kes.Knowledge(tiers=[["age"], ["smoker"]])
    options = {"k": 0.3, "knowledge": knowledge, "missing": "drop", "target": "smoker"}
    path = server.folder / "shell.kes.json.gz"
    table = server.folder / "clinic.csv"
    expected = kes.learn(table, runs=3, improve=False, out=path, **options)
    draft = server.ask("GET", "results/shell.kes.json.gz/draft")
    draft["file"] = "clinic.csv"
    assert draft["options"] == {"k": 0.3, "target": "smoker"}
    draft["options"] |= {"runs": 3, "improve": False}
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert kes.load(server.folder / job["out"]).settings == expected.settings


@pytest.mark.parametrize("discretize", [3, {"age": [40.5, 61]}])
def test_a_result_with_cuts_becomes_a_draft_and_a_command(server, elsewhere, discretize):
    """The file holds the cut points: the page and the shell take these, not new ones."""
    path = server.folder / "cut.kes.json.gz"
    how = {"missing": "drop", "kinds": {"id": "omit"}, "discretize": discretize}
    table = server.folder / "clinic.csv"
    expected = kes.learn(table, runs=3, improve=False, **how)
    expected.save(path)
    draft = server.ask("GET", f"results/{path.name}/draft")
    cuts = {name: list(own) for name, own in expected.discretizer.cuts.items()}
    assert draft["options"].pop("discretize") == cuts
    assert draft["options"] == {}
    draft |= {"file": "clinic.csv", "options": {"discretize": cuts, "runs": 3, "improve": False}}
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert kes.load(server.folder / job["out"]) == expected
    run(elsewhere, "-m", *shlex.split(server.ask("GET", f"results/{path.name}")["shell"]))
    assert kes.load(elsewhere / path.name) == expected


@pytest.mark.parametrize("name", ["experiments", "series"])
def test_a_result_with_experiments_or_series_becomes_its_draft(server, name):
    """Of the result alone, as if the shell had learned it: what follows from it is not repeated."""
    draft = {**DRAFTS[name], "options": {"runs": 2, "improve": False}}
    out = server.finished(server.ask("POST", "learn", {"draft": draft}))["out"]
    copy = server.folder / f"copy-{name}.kes.json.gz"
    copy.write_bytes((server.folder / out).read_bytes())
    found = server.ask("GET", f"results/{copy.name}/draft")
    assert found["knowledge"] == draft.get("knowledge", {})
    again = {**found, "options": draft["options"]}
    job = server.finished(server.ask("POST", "learn", {"draft": again}))
    assert kes.load(server.folder / job["out"]).settings == kes.load(copy).settings
