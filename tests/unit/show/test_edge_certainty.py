"""The rules by which the report calls edges sure, clear and proven."""

import re

import numpy as np
import pandas as pd
import pytest
from tests.unit.show.test_report import content

import kes
from kes.analysis import evidence_work
from kes.analysis.certainty import ERRORS, edge_list
from kes.analysis.coverage import Coverage
from kes.analysis.evidence_work import TASKS
from kes.cli import run
from kes.show.report import prose, report_text
from kes.show.report.edge_certainty import Certainty, Further, chosen_evidence
from kes.show.report.page import page
from kes.show.report.prose import Claim, headline

NAMES = ["HR", "BP", "CO", "TPR", "CATECHOL", "HRBP", "HREKG", "HRSAT"]


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400).select(NAMES)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, runs=10)


def plain(html):
    return re.sub(r"\s+", " ", re.sub("<[^>]*>", "", html))


@pytest.fixture(scope="module")
def twins():
    """Two columns that are nearly the same: each can stand in for the other."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 600)
    second = np.where(rng.random(600) < 0.01, 1 - first, first)
    effect = np.where(rng.random(600) < 0.2, 1 - first, first)
    return pd.DataFrame({"first": first, "second": second, "effect": effect}).astype(str)


def test_what_others_can_stand_in_for_is_not_called_sure(twins):
    """Its worth is high, as all else stays; its evidence is not, as the twin takes its place."""
    optima = kes.learn(twins, runs=5)
    evidence, _ = chosen_evidence(optima, optima.problem, None)
    found = Certainty(optima, optima.problem, Further(evidence=evidence))
    [pair] = [edge for edge in optima.best.graph.skeleton if "effect" in edge]
    assert found.worth[pair] > 50
    assert found.of(pair).evidence < 10
    assert found.count("sure") == 1
    text = plain(headline(optima, found, Claim.of(optima, None)))
    assert "Of 2 connections, 1 is sure" in text
    without = Certainty(optima, optima.problem, Further())
    said = plain(headline(optima, without, Claim.of(optima, None)))
    assert "sure" not in said
    assert (
        "2 cost at least 10 nats if removed alone; whether other connections could replace" in said
    )


def test_the_report_shows_the_numbers_of_python(optima):
    found = content(report_text(optima, {}))
    expected = {frozenset((row["x"], row["y"])): row for row in optima.evidence()}
    assert found["evidence_note"].startswith("Evidence is exact")
    for i, pair in enumerate(found["pairs"]):
        row = expected[frozenset(found["names"][node] for node in pair)]
        assert found["evidence"]["nats"][i] == pytest.approx(row["evidence"], abs=0.01)
        assert found["evidence"]["status"][i] == row["how"] == "exact"
        assert found["evidence"]["verdict"][i] == row["certainty"]


def test_evidence_can_be_left_out_given_or_asked_for_in_full(optima):
    assert content(report_text(optima, {"evidence": False}))["evidence"] is None
    full = content(report_text(optima, {"evidence": True}))
    assert None not in full["evidence"]["nats"]
    table = optima.evidence(tasks=1)
    given = content(report_text(optima, {"evidence": table}))
    assert given["evidence"]["nats"] == full["evidence"]["nats"], "both are exact"


def test_bounds_make_nothing_sure_or_clear(optima, monkeypatch):
    monkeypatch.setattr(evidence_work, "_MOST_WORK", 0)
    text = report_text(optima, {})
    found = content(text)
    assert {*found["evidence"]["status"]} <= {"upper bound", "lower bound"}
    assert {*found["evidence"]["verdict"]} <= {"doubtful", None}
    assert "more than a few seconds" in found["evidence_note"]
    assert not any(found["clear"])
    assert "evidence" not in found["supports"], "widths and the consensus use the available measure"
    assert re.search(r"The certainty of \d+ was not computed", plain(text))


def test_an_estimate_is_called_one(monkeypatch):
    optima = kes.learn(kes.datasets.alarm(rows=300), runs=5)
    table, note = chosen_evidence(optima, optima.problem, None)
    assert set(table["how"]) == {"estimate"}
    assert "an estimate" in note
    assert f"{TASKS} tasks" in note


def test_directions_are_clear_by_nats_and_standard_errors():
    optima = kes.learn(kes.datasets.alarm(rows=1000), runs=5)
    evidence, _ = chosen_evidence(optima, optima.problem, None)
    found = Certainty(optima, optima.problem, Further(evidence=evidence))
    sure = [row for row in evidence if row["evidence"] >= 10]
    rows = {
        (row["x"], row["y"]): row["direction"]
        for row in sure
        if row["direction_error"] is not None
        and abs(row["direction"]) >= ERRORS * row["direction_error"]
    }
    expected = {
        (a, b)
        for a, b in optima.best.graph.directed
        if rows.get((a, b), 0) >= 10 or -rows.get((b, a), 0) >= 10
    }
    assert found.clear == expected
    assert 0 < len(expected) < len(optima.best.graph.directed)
    text = page(optima, further=Further(evidence=evidence))
    assert f"direction clear for {len(expected)}" in text
    assert not Certainty(optima, optima.problem, Further()).clear, "nothing shows that it is"


def test_what_was_told_to_the_search_is_clear(data):
    known = kes.Knowledge(required=[("HR", "HRBP")])
    optima = kes.learn(data, runs=5, knowledge=known)
    evidence = optima.evidence(tasks=1)
    found = Certainty(optima, optima.problem, Further(evidence=evidence))
    assert ("HR", "HRBP") in found.clear
    shown = content(page(optima, further=Further(evidence=evidence)))
    [told] = [i for i, one in enumerate(shown["evidence"]["verdict"]) if one == "required"]
    assert {shown["names"][node] for node in shown["pairs"][told]} == {"HR", "HRBP"}


@pytest.mark.parametrize(
    "known",
    [
        {"tiers": [["a", "b"], ["c"]]},
        {"forbidden": [("c", "a"), ("c", "b")]},
        {"required": [("a", "c"), ("b", "c")]},
        {"roots": ["a", "b"]},
        {"leaves": ["c"]},
        {"exogenous": ["a", "b"]},
    ],
    ids=lambda known: next(iter(known)),
)
def test_a_direction_that_knowledge_gives_is_by_knowledge_everywhere(known):
    """Also where the class has it without the knowledge, which leaves no opposite to compare."""
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 2, (2, 400))
    c = np.where(rng.random(400) < 0.1, 1 - (a & b), a & b)
    optima = kes.learn(
        pd.DataFrame({"a": a, "b": b, "c": c}).astype(str), runs=3, knowledge=kes.Knowledge(**known)
    )
    arcs = {("a", "c"), ("b", "c")}
    assert optima.best.mpdag.directed == arcs
    evidence = optima.evidence()
    listed = edge_list(optima, evidence)
    shown = dict(zip(listed["edge"], listed["direction"], strict=True))
    assert {shown[f"{x} -> {y}"] for x, y in arcs} == {"by knowledge"}
    assert "2 directed, 2 of them by the knowledge" in str(optima)
    text = report_text(optima, {})
    assert "direction clear for 2, 2 of them by knowledge" in plain(text)
    page_data = content(text)
    best = page_data["optima"][page_data["best"]]
    named = [{page_data["names"][node] for node in page_data["pairs"][i]} for i in best["known"]]
    assert sorted(map(sorted, named)) == [["a", "c"], ["b", "c"]]


def test_a_proven_score_has_no_chance_of_a_better_one(optima):
    coverage = Coverage(optima)
    open_end, proven = (prose.seen(coverage, proven=proven) for proven in (False, True))
    assert "better" in open_end
    assert "better" not in proven
    assert "more runs can only find optima that score lower" in proven


def test_the_strongest_connections_are_named(optima):
    evidence = optima.evidence()
    text = plain(headline(optima, Certainty(optima, None, Further(evidence=evidence)), PROOF))
    first = text.split(".Of ")[0]
    named = [re.split(" [→–] ", part.split(" are ")[-1]) for part in first.split(", ")]
    pairs = {frozenset(pair) for pair in optima.best.graph.skeleton}
    strongest = [frozenset((r["x"], r["y"])) for r in evidence]
    expected = [pair for pair in strongest if pair in pairs][:5]
    assert [frozenset(pair) for pair in named] == expected


PROOF = Claim(proven=True, value="", note="")


def test_the_command_has_flags_for_evidence(optima, data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    data.to_pandas().to_csv("blood.csv", index=False)
    assert run(["learn", "blood.csv", "--runs", "3", "--out", "my blood.kes.json.gz"]) == 0
    for flags, has in (([], True), (["--no-evidence"], False), (["--evidence"], True)):
        assert run(["report", "my blood.kes.json.gz", "--out", "a.html", *flags]) == 0
        text = (tmp_path / "a.html").read_text()
        found = content(text)
        assert (found["evidence"] is not None) == has
    assert found["commands"]["query"] == "kes query 'my blood.kes.json.gz'"
    assert found["commands"]["fit"] == "kes fit 'my blood.kes.json.gz'"
    assert (found["stem"], found["commands"]["out"]["bif"]) == ("blood", "blood.bif")
    assert "kes.learn(&#x27;blood.csv&#x27;" in text, "the real names stand in what repeats it"
    assert "kes learn blood.csv" in text
    assert "--out &#x27;my blood.kes.json.gz&#x27;" in text


def test_without_variables_that_are_joined_it_says_so():
    rng = np.random.default_rng(0)
    optima = kes.learn(rng.integers(0, 2, (500, 3)), runs=2)
    assert not optima.best.graph.skeleton
    text = plain(headline(optima, Certainty(optima, None, Further()), PROOF))
    assert text.startswith("By this criterion, no variable carries information about another.")


def test_the_warning_that_edges_come_up_by_chance_is_in_the_headline(capsys, tmp_path):
    """Noise: 40 cases of 25 variables. It is said once, not in the fold with the other notes."""
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(40, 25))).add_prefix("v")
    frame["same"] = 1
    optima = kes.learn(frame, runs=2, edge_prior=0, improve=False, prove=False)
    assert len(optima.notes) > 1
    text = report_text(optima, {})
    top, rest = text[: text.index("</header>")], text[text.index("</header>") :]
    assert "Only 40 cases of 25 variables: with so few, edges come up by chance" in top
    assert "by chance" not in rest[: rest.index("<script")]
    assert f"{len(optima.notes) - 1} note" in rest
    assert re.search("Of [0-9]+ connections, 0 are sure", plain(top)), "all of them are chance"
    frame.to_csv(tmp_path / "noise.csv", index=False)
    quick = ["--runs", "2", "--edge-prior", "0", "--no-improve", "--no-prove"]
    assert run(["learn", str(tmp_path / "noise.csv"), *quick]) == 0
    assert (
        "the strongest first (with so few cases, edges come up by chance):"
        in capsys.readouterr().out
    )


def test_constraints_that_lose_the_guarantee_are_told_at_the_top(data):
    """Unless the best score is proven: then no trap matters."""
    known = kes.Knowledge(forbidden=[("HR", "CO")])
    optima = kes.learn(data, knowledge=known, runs=2, improve=False)
    found = Certainty(optima, None, Further())
    top = headline(optima, found, Claim.of(optima, None))
    assert 'class="warning">Forbidden arcs can trap runs in wrong optima' in top
    assert "2 489 of 6 984" in top
    proven = Claim(proven=True, value="highest score", note="")
    assert "trap runs" not in headline(optima, found, proven)
