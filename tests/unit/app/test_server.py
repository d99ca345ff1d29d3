"""Requests of the page to the server; attacks are in test_attacks."""

import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kes
from kes.app.drafts import form_options
from kes.app.option_form import option_form
from kes.app.results import compare
from kes.app.workspace import Workspace, clean, sort_of
from kes.declare import declared
from kes.options import LearnOptions


@pytest.fixture(scope="module")
def result(server):
    draft = {"file": "clinic.csv", "missing": "drop", "options": {"runs": 4}}
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert job["state"] == "done", job["message"]
    return job["out"]


# --- the form of options ---


def test_every_option_of_the_shell_is_on_the_page():
    """An option that is declared tomorrow appears by itself."""
    offered = {one["name"] for group in option_form() for one in group["options"]}
    in_forms = {"target", "discretize", "contexts"}
    elsewhere = {"kinds", "weights", "dates", "missing", "completions", *in_forms}
    files = {"out", "checkpoint", "client", "progress", "interventions"}
    shell = {name for name, own in declared(LearnOptions).items() if own.help is not None}
    assert offered | in_forms == set(form_options())
    assert offered == shell - elsewhere - files
    inputs = {one["input"] for group in option_form() for one in group["options"]}
    assert inputs <= {"choice", "number", "switch", "text", "names"}


def test_the_form_speaks_no_shell_and_every_default_can_be_changed():
    for group in option_form():
        for one in group["options"]:
            assert "--" not in f"{one['label']} {one['help']} {one['default']}"
            assert one["input"] != "switch" or one["default"] == "False"


# --- jobs ---


def test_jobs_wait_for_each_other_and_report_progress(server):
    draft = {"example": 200, "options": {"runs": 20, "improve": False}}
    jobs = [server.ask("POST", "learn", {"draft": draft}) for _ in range(3)]
    assert len({job["out"] for job in jobs}) == 3
    ended = [server.finished(job) for job in jobs]
    assert [job["state"] for job in ended] == ["done"] * 3
    assert all(a["ended"] <= b["started"] for a, b in pairwise(ended))
    found = server.ask("GET", f"jobs/{jobs[0]['id']}")
    assert found["lines"][-1]["done"] == 20
    assert server.ask("GET", f"jobs/{jobs[0]['id']}?from={found['position']}")["lines"] == []
    files = [(server.folder / job["out"]).read_bytes() for job in jobs]
    assert len(set(files)) == 1


def test_a_job_that_waits_can_be_cancelled(server):
    endless = {"example": 300, "options": {"runs": 100_000}}
    first, second = (server.ask("POST", "learn", {"draft": endless}) for _ in range(2))
    server.ask("POST", f"jobs/{second['id']}", {"do": "stop"})
    assert server.finished(second)["state"] == "stopped"
    server.reached(first, ("running",))
    asked = time.monotonic()
    server.ask("POST", f"jobs/{first['id']}", {"do": "stop"})
    assert server.finished(first)["state"] == "stopped"
    assert time.monotonic() - asked < 20
    assert not (server.folder / second["out"]).exists()


def test_a_search_that_cannot_start_says_why(server):
    draft = {"file": "clinic.csv", "missing": "drop", "options": {"target": "nobody"}}
    job = server.finished(server.ask("POST", "learn", {"draft": draft}))
    assert job["state"] == "failed"
    assert "nobody" in job["message"]


# --- knowledge ---


def test_contradictions_name_the_arcs(server):
    known = {"required": [["a", "b"], ["b", "a"]]}
    status, _, content = server.send("POST", "/api/knowledge", {"knowledge": known})
    assert status == 400
    assert b"a -> b -> a" in content


def test_knowledge_is_saved_and_loaded_as_the_shell_does(server):
    known = {"tiers": [["age"], ["smoker"]], "apart": [["age", "smoker"]]}
    name = server.ask("POST", "knowledge", {"knowledge": known, "name": "mine"})["name"]
    assert kes.Knowledge.read(server.folder / name) == kes.Knowledge(**known)
    assert server.ask("GET", f"knowledge/{name}")["knowledge"] == known


# --- results ---


def test_the_history_has_notes(server, result):
    server.send("PUT", f"/api/results/{result}/note", {"note": "the first <b>one</b>"})
    found = {one["name"]: one for one in server.ask("GET", "results")}
    best = kes.load(server.folder / result).best
    assert found[result]["note"] == "the first <b>one</b>"
    assert found[result]["summary"]["score"] == best.score
    times = [one["time"] for one in server.ask("GET", "results")]
    assert times == sorted(times, reverse=True)


def test_downloads_are_the_files_of_the_commands(server, result):
    for name, suffix in {"bif": ".bif", "edges": ".csv", "report": ".html", "svg": ".svg"}.items():
        found = server.ask("POST", f"results/{result}/do/{name}", {})
        assert found["file"].endswith(suffix)
        assert found["code"]["shell"].startswith("kes ")
        status, headers, content = server.send("GET", f"/files/{found['file']}")
        assert status == 200
        assert "attachment" in headers["content-disposition"]
        assert content == (server.folder / found["file"]).read_bytes()


def test_questions_effects_predictions_and_comparisons(server, result):
    asked = server.ask("POST", f"results/{result}/do/query", {"question": "P(smoker)"})
    assert "yes" in asked["text"]
    effects = server.ask("POST", f"results/{result}/effects", {"x": "age", "y": "pressure, mmHg"})
    assert effects["summary"]["rows"]
    about = {"table": "clinic.csv", "target": "smoker"}
    predicted = server.ask("POST", f"results/{result}/do/predict", about)
    lines = (server.folder / predicted["file"]).read_text().splitlines()
    assert len(lines) == 151
    assert "was learned from these rows" in predicted["text"]
    status, stored = server.upload(
        "expert.dot", b'digraph { "age" -> "smoker"; "pressure, mmHg"; }'
    )
    assert status == 200
    found = server.ask("POST", f"results/{result}/compare", {"other": stored["name"]})
    assert "SHD" in found["text"]
    same = server.ask("POST", f"results/{result}/compare", {"other": result})
    assert (same["nats"], same["table"]) == (0.0, None)


def test_an_experts_graph_is_priced_in_nats(server, result):
    """The independence of all variables costs what all edges of the best network gain."""
    graph = b'digraph { "age"; "smoker"; "pressure, mmHg"; }'
    name = server.upload("nothing.dot", graph)[1]["name"]
    found = server.ask("POST", f"results/{result}/compare", {"other": name})
    optima = kes.learn(server.folder / "clinic.csv", missing="drop", runs=1, improve=False)
    empty = optima.problem.score(kes.read_graph(server.folder / name).essential)
    best = kes.load(server.folder / result).best.score
    assert found["nats"] == pytest.approx(empty - best)


def test_a_graph_without_a_score_is_compared_by_its_edges(tmp_path, monkeypatch):
    """A column that two others determine has no score with both of them."""
    monkeypatch.chdir(tmp_path)
    a, b = np.random.default_rng(0).normal(size=(2, 100))
    pd.DataFrame({"a": a, "b": b, "c": a + b}).to_csv("t.csv", index=False)
    kes.learn("t.csv", runs=1, improve=False, out="r.kes.json")
    Path("expert.dot").write_text("digraph { a -> c; b -> c; }")
    found = compare("r.kes.json", "expert.dot")
    assert found["nats"] is None
    assert found["table"]["rows"]


def test_the_cost_of_knowledge_is_known_where_cells_were_filled_in(server):
    """Each search completes the table by itself, so scores are compared on the first of the two."""
    draft = {"file": "clinic.csv", "missing": "em", "options": {"runs": 3, "improve": False}}
    first = server.finished(server.ask("POST", "learn", {"draft": draft}))["out"]
    known = {"apart": [["smoker", "pressure, mmHg"]]}
    about = {"draft": {**draft, "knowledge": known}, "before": first}
    second = server.finished(server.ask("POST", "learn", about))["out"]
    found = server.ask("POST", f"results/{first}/compare", {"other": second})
    assert first in found["on"]
    assert found["nats"] < -1  # the two depend on each other
    same = server.ask("POST", f"results/{first}/compare", {"other": first})
    assert same["nats"] == 0


def test_the_report_runs_apart_from_the_page(server, result):
    address = server.ask("POST", f"results/{result}/view", {})["address"]
    status, headers, content = server.send("GET", address)
    policy = headers["content-security-policy"]
    assert status == 200
    assert policy.startswith("sandbox allow-scripts")
    assert "allow-same-origin" not in policy
    assert b"Content-Security-Policy" in content  # its own policy forbids sending anything


def test_the_landscape_is_that_of_the_report(server, result):
    found = server.ask("GET", f"results/{result}/landscape")
    optima = kes.load(server.folder / result)
    assert [one["score"] for one in found["optima"]] == [one.score for one in optima]
    assert len(found["points"]) == len(optima)


# --- names ---


@pytest.mark.parametrize(
    ("given", "cleaned"),
    [
        ("a b.csv", "a b.csv"),
        ("C:\\data\\a.csv", "a.csv"),
        ("../../a.csv", "a.csv"),
        ("...a.csv", "a.csv"),
        ("CON.csv", "_CON.csv"),
        ("a\u202egpj.csv", "a_gpj.csv"),
        ("", "table.csv"),
        ("ä.csv", "ä.csv"),
        ("a" * 300 + ".csv", "a" * 120 + ".csv"),
    ],
)
def test_names_are_cleaned(given, cleaned):
    assert clean(given) == cleaned


def test_names_of_new_files_are_unused(tmp_path):
    (tmp_path / "a.kes.json.gz").touch()
    (tmp_path / "a-2.kes.json.gz").symlink_to(tmp_path / "nowhere")
    assert Workspace(tmp_path).unused("a.kes.json.gz") == "a-3.kes.json.gz"


def test_files_are_sorted_by_their_names():
    names = {
        "a.csv": "tables",
        "a.parquet": "tables",
        "a.kes.json.gz": "results",
        "a.bif": "graphs",
        "a.dot": "graphs",
        "a.toml": "knowledge",
        "a.html": None,
    }
    assert {name: sort_of(name) for name in names} == names


def test_the_server_is_small_when_idle(server):
    """The server never holds a table."""
    server.ask("POST", "cards", {"draft": {"file": "clinic.csv"}})
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    assert int(resident.split()[1]) < 150_000
