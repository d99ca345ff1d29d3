"""The commands about a result and its data: they print what the methods return."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import kes
from kes.analysis.posterior import PosteriorInterrupted


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    path = tmp_path_factory.mktemp("result") / "a.kes.json.gz"
    kes.learn(kes.datasets.alarm(rows=300), k=0.5, runs=10).save(path)
    return path


def test_edges_are_told_with_their_evidence(result, printed):
    code, out, _ = printed("edges", result, "--example", "alarm", "--rows", 300, "--tasks", 2)
    optima, data = kes.load(result), kes.datasets.alarm(rows=300)
    evidence = optima.evidence(tasks=2, data=data)
    assert code == 0
    lines = out.splitlines()
    assert lines[0].split()[:4] == ["edge", "evidence", "certainty", "direction"]
    rows = [line.split() for line in lines[1 : len(evidence) + 1]]
    assert [{row[0], row[2]} for row in rows] == [
        {x, y} for x, y in zip(evidence["x"], evidence["y"], strict=True)
    ], "all rows, the surest first"
    text = " ".join(out.split())
    assert "likely (3 to 10 nats), doubtful (-3 to 3 nats), unlikely (below -3 nats)" in text
    for column in ("runs %", "instead"):
        assert re.search(rf"^{column}: ", out, re.MULTILINE), "each column is explained"
    graph = optima.best.graph
    for a, mark, b, *_ in rows:
        expected = "->" if (a, b) in graph.directed else "-"
        assert mark == (expected if {a, b} in graph.skeleton else "..")
    assert "an estimate from the best networks found" in out
    assert "..: the best network does not connect them" in out


def test_without_data_only_supports_are_told(result, printed):
    code, out, err = printed("edges", result)
    assert code == 0
    assert "search_support" in out
    assert "evidence" not in out
    assert "--data FILE" in err


def test_effects_are_told_with_what_they_assume(result, printed):
    words = ("effects", result, "TPR", "BP", "--example", "alarm", "--rows", 300)
    code, out, _ = printed(*words, "--states", "HIGH,LOW", "--outcome", "LOW", "--resamples", 3)
    assert code == 0
    assert re.search(r"by resampling .* 3 resamples", out)
    assert "P(BP = LOW) when TPR is set to LOW instead of HIGH" in " ".join(out.split())
    assert out.count("no common cause") == 1, "said once"


def test_slopes_of_mixed_tables_are_told(tmp_path, printed):
    """All from the shell: learn from a file with numbers and texts, then ask."""
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 300)
    dose = rng.normal(size=300) + group
    level = 2 * dose + rng.normal(size=300)
    table, path = tmp_path / "data.csv", tmp_path / "a.kes.json"
    columns = {"group": np.array(["old", "young"])[group], "dose": dose, "level": level}
    pd.DataFrame(columns).to_csv(table, index=False)
    known = ("--tiers", "group;dose;level")
    assert printed("learn", table, "--runs", 5, "--out", path, *known)[0] == 0
    code, out, _ = printed("effects", path, "dose", "level", "--data", table, "--resamples", 20)
    words = " ".join(out.split())
    assert code == 0
    assert "change of the mean of level for each unit by which dose is raised" in words
    assert "the effect is linear and the same for all cases" in words
    [row] = kes.load(path).effects("dose", "level", data=table, within=0)
    design = np.column_stack([dose, group, np.ones(300)])
    assert row["parents"] == ("group",)
    assert row["effect"] == pytest.approx(np.linalg.lstsq(design, level, rcond=None)[0][0])
    assert f"{row['effect']:.3f}" in out
    code, out, err = printed("effects", path, "dose", "level", "--data", table, "--states", "1,2")
    assert (code, out) == (2, "")
    assert "'dose'" in err
    assert "--states" in err
    code, out, _ = printed("edges", path, "--data", table)
    assert code == 0
    assert "exact" in out


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["TPR", "BP"], "give the table by --data FILE"),
        (["TPR", "BP", "--example", "alarm", "--rows", "300", "--states", "HIGH"], "two states"),
        (["TPR", "BPX", "--example", "alarm", "--rows", "300"], "did you mean 'BP'?"),
        (["TPR", "BP", "--example", "alarm", "--rows", "299"], "not the data"),
        (["TPR", "BP", "--example", "alarm", "--rows", "300", "--within", "-1"], "--within"),
    ],
)
def test_wrong_questions_are_refused(result, printed, words, complaint):
    code, out, err = printed("effects", result, *words)
    assert (code, out) == (2, "")
    assert complaint in err


def test_effects_can_be_weighted_by_probabilities(tmp_path, printed):
    """The average over the two DAGs of a - b is half of the effect: in one of them, a is first."""
    rng = np.random.default_rng(0)
    a = rng.integers(0, 2, 400)
    b = np.where(rng.random(400) < 0.1, 1 - a, a)
    table, path = tmp_path / "ab.csv", tmp_path / "a.kes.json"
    pd.DataFrame({"a": a, "b": b}).to_csv(table, index=False)
    kes.learn(table, runs=2).save(path)
    code, out, err = printed("effects", path, "a", "b", "--data", table, "--posterior")
    assert code == 0, err
    [mean] = re.findall(r"^average by BIC weight: ([\d.]+) \(exact\)$", out, re.MULTILINE)
    optima = kes.load(path)
    found = optima.effects("a", "b", posterior=optima.posterior(table), data=table)
    assert float(mean) == pytest.approx(found.mean, abs=1e-3)
    assert float(mean) == pytest.approx(max(found["effect"]) / 2, rel=0.01)
    assert "they have 100.0% of the BIC weight (exact)" in out


def test_both_commands_are_offered():
    from kes.cli import kes as command

    offered = CliRunner().invoke(command, ["--help"]).output
    assert re.search(r"^  edges +Show the evidence", offered, re.MULTILINE)
    assert re.search(r"^  effects +Estimate the effect", offered, re.MULTILINE)


def untimed(text):
    return re.sub(r"seconds .*", "seconds", text)


def test_certify_reads_the_table_as_its_result_did(tmp_path, printed):
    """Gaps, columns left out and cuts are remembered; what is said anew holds instead."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=200)
    data = pd.DataFrame({"a": a, "b": a + rng.normal(size=200), "c": rng.integers(0, 3, 200)})
    data.loc[::20, "b"] = np.nan
    table, path = tmp_path / "data.csv", tmp_path / "a.kes.json"
    data.to_csv(table, index=False)
    how = ("--missing", "drop", "--drop", "c", "--discretize", 3)
    assert printed("learn", table, "--runs", 5, "--out", path, *how)[0] == 0
    code, out, err = printed("certify", table, "--result", path)
    assert code == 0, err
    again = printed("certify", table, "--result", path, *how)[1]
    assert untimed(again) == untimed(out)
    assert printed("certify", table, "--result", path, "--drop", "c")[0] != 0, "gaps are in the way"
    assert untimed(printed("certify", path)[1]) == untimed(out), "it knows its table"
    table.unlink()
    assert "is a result of kes learn, not a table" in printed("certify", path)[2]


def test_certify_draws_the_example_of_a_result_again(tmp_path, printed):
    """`kes learn --example` suggests just this command."""
    path = tmp_path / "a.kes.json"
    assert printed("learn", "--example", "alarm", "--rows", 100, "--runs", 1, "--out", path)[0] == 0
    code, out, err = printed("certify", path, "--budget", "1s")
    assert code == 0, err
    assert "GES" in out, "the optima of the result are compared with the bound"


def test_what_certify_may_need_is_told_in_plain_numbers(tmp_path, printed):
    table = np.random.default_rng(0).integers(0, 2, (100, 8))
    pd.DataFrame(table, columns=list("abcdefgh")).to_csv(tmp_path / "a.csv", index=False)
    _, _, err = printed("certify", tmp_path / "a.csv", "--criterion", "bdeu")
    assert "260 sets" in err, "2^8, to two digits"
    assert "e+" not in err


@pytest.mark.parametrize(
    ("of", "name"),
    [
        ("ancestors", "ancestors"),
        ("v-structures", "v_structures"),
        ("blankets", "blankets"),
        ("models", "model_table"),
    ],
)
def test_posterior_shows_what_is_asked_for(printed, tmp_path, of, name):
    data = kes.datasets.alarm(rows=200).select(["HR", "HRBP", "HREKG", "HISTORY"])
    table, out = tmp_path / "few.csv", tmp_path / "a.csv"
    data.to_pandas().to_csv(table, index=False)
    assert printed("posterior", table, "--of", of, "--out", out)[0] == 0
    expected = getattr(kes.posterior(data), name)()
    found = pd.read_csv(out)
    assert list(found.columns) == list(expected.columns)
    np.testing.assert_allclose(found["probability"], expected["probability"], atol=1e-6)
    assert list(found["status"]) == list(expected["status"])


@pytest.mark.parametrize("is_found", [True, False])
def test_an_interrupted_posterior_says_what_is_kept(printed, tmp_path, monkeypatch, is_found):
    data = tmp_path / "data.csv"
    kes.datasets.alarm(rows=50).select(["HR", "HRBP", "HREKG"]).to_pandas().to_csv(
        data, index=False
    )
    found = kes.posterior(data, method="chains", rounds=100) if is_found else None

    def interrupted(*_, resume, **__):
        Path(resume).touch()
        raise PosteriorInterrupted(found)

    monkeypatch.setattr("kes.cli.posterior.probabilities", interrupted)
    chains = tmp_path / "chains.npz"
    code, out, err = printed("posterior", data, "--resume", chains)
    assert code == 130
    assert str(chains) in err.replace("\n", "")
    assert ("probability" in out) == is_found
    assert ("nothing was found" in err) != is_found
