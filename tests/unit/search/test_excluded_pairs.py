"""Pairs that no model connects: said wherever a result is shown, with the reason."""

import json

import numpy as np
import pandas as pd
import pytest

import kes

RUNS = {"runs": 5, "improve": 20, "prove": True}


def table(rows=300):
    """A station determines its altitude; the rest depends on both."""
    rng = np.random.default_rng(5)
    station = rng.integers(0, 4, rows)
    altitude = np.array([12.5, 430.25, 77.0, 1200.75])[station]
    warm = np.where(altitude / 600 + rng.normal(size=rows) < 1, "yes", "no")
    rain = altitude / 300 + rng.normal(size=rows)
    columns = {"station": [f"s{i}" for i in station], "altitude": altitude}
    return pd.DataFrame({**columns, "warm": warm, "rain": rain})


@pytest.fixture(scope="module")
def optima():
    return kes.learn(table(), **RUNS)


def test_what_determines_another_is_excluded_and_nothing_else(optima):
    assert optima.excluded == {("station", "altitude"): "'station' determines 'altitude'"}
    assert optima.proof.proven
    assert not [o for o in optima if frozenset(("station", "altitude")) in o.graph.skeleton]


def test_learn_says_so_in_notes_and_in_the_proof(optima):
    [note] = [note for note in optima.notes if "determines" in note]
    assert "'station' determines 'altitude'" in note
    [proof] = [line for line in str(optima).splitlines() if "proven" in line]
    assert "'station' and 'altitude'" in proof


def test_edges_and_evidence_have_a_row(optima):
    [row] = [row for row in optima.edges() if row["excluded"]]
    assert (row["x"], row["y"], row["search_support"]) == ("station", "altitude", 0.0)
    found = optima.evidence()
    [row] = [row for row in found if row["how"] == "excluded"]
    assert (row["x"], row["y"], row["evidence"]) == ("station", "altitude", None)
    assert "'station' determines 'altitude'" in found.note
    assert [row["x"] for row in optima.edges(evidence=found) if row["how"] == "excluded"]


def test_the_report_says_so(optima, tmp_path):
    optima.report(tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text(encoding="utf-8")
    assert "&#x27;station&#x27; determines &#x27;altitude&#x27;" in page
    assert "no network without an edge between" in page


def test_files_keep_it(optima, tmp_path):
    optima.save(tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json").excluded == optima.excluded
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    content["excluded"] = [[0, 9, "determined"]]
    (tmp_path / "a.json").write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(kes.KesError) as error:
        kes.load(tmp_path / "a.json")
    assert error.value.file is not None


def test_the_command_line_has_a_row(tmp_path, printed):
    table().to_csv(tmp_path / "t.csv", index=False)
    _, said, _ = printed("learn", tmp_path / "t.csv", "--runs", 5, "--out", tmp_path / "r.json")
    assert "'station' determines 'altitude'" in " ".join(said.split())
    _, shown, _ = printed("edges", tmp_path / "r.json")
    [line] = [line for line in shown.splitlines() if "excluded" in line and ".." in line]
    assert "station .. altitude" in line
    assert "Excluded: 'station' determines 'altitude'." in shown


def test_near_singular_sets_exclude_no_pair():
    """Nearly a copy, but for noise of a thousandth: the pair is connected, not excluded."""
    rng = np.random.default_rng(6)
    u = rng.normal(size=400)
    sum_of = u + rng.normal(size=400)
    frame = pd.DataFrame({"u": u, "v": u + 1e-3 * rng.normal(size=400), "sum": sum_of})
    frame["s"] = np.where(sum_of > 0, "a", "b")
    optima = kes.learn(frame, transform="none", **RUNS)
    assert optima.excluded == {}
    assert "excluded" not in optima.edges().columns
    assert frozenset("uv") in optima.best.graph.skeleton


def test_too_many_parameters_for_the_cases_are_said():
    rng = np.random.default_rng(7)
    names = [f"n{i}" for i in rng.permutation(np.arange(60) % 40)]
    frame = pd.DataFrame({"name": names, "u": rng.normal(size=60), "v": rng.normal(size=60)})
    optima = kes.learn(frame, kinds={"name": "discrete"}, runs=3, improve=False)
    assert {*optima.excluded} == {("name", "u"), ("name", "v")}
    assert all("too many parameters" in why for why in optima.excluded.values())


def test_the_degenerate_gaussian_says_what_one_row_excludes():
    rng = np.random.default_rng(3)
    latent = rng.normal(size=1500)
    codes = [np.digitize(latent + rng.normal(size=1500), [-1, 0, 1]) for _ in "xy"]
    frame = pd.DataFrame({"x": codes[0], "y": codes[1], "u": rng.normal(size=1500)})
    frame = frame.astype({"x": str, "y": str})
    frame.loc[7, ["x", "y"]] = "none"
    optima = kes.learn(frame, criterion="degenerate-bic", runs=3, improve=False)
    assert [*optima.excluded] == [("x", "y")]
    assert "states of 'x' and 'y' determine each other" in optima.excluded["x", "y"]
    assert kes.learn(frame, runs=3, improve=False).excluded == {}


def test_a_certificate_says_so():
    found = kes.certify(table())
    assert found.proven
    assert found.excluded == {("station", "altitude"): "'station' determines 'altitude'"}
    lines = {line[:13].strip(): line[13:].strip() for line in repr(found).splitlines()}
    assert lines["over"].endswith("without an edge between 'station' and 'altitude'")
    assert lines["excluded"] == "'station' determines 'altitude'"
    assert "there is" not in lines["score"]  # the pair might score higher together


def test_a_certificate_without_excluded_pairs_is_about_all_networks():
    found = kes.certify(table().drop(columns="altitude"))
    assert found.excluded == {}
    assert "excluded" not in repr(found)
    assert "the highest there is" in repr(found)


def test_certify_prints_it(tmp_path, printed):
    table().to_csv(tmp_path / "t.csv", index=False)
    _, shown, _ = printed("certify", tmp_path / "t.csv")
    assert "'station' determines 'altitude'" in shown
    assert "without an edge between 'station' and 'altitude'" in " ".join(shown.split())
