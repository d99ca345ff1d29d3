"""The commands about a result and its data: they print what the methods return."""

import re

import pytest
from click.testing import CliRunner

import kes


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
    assert lines[0].split()[:5] == ["x", "y", "evidence", "direction", "how"]
    assert [tuple(line.split()[:2]) for line in lines[1 : len(evidence) + 1]] == list(
        zip(evidence["x"], evidence["y"], strict=True)
    ), "all rows, the surest first"
    assert "2 tasks for each side" in out


def test_without_data_only_supports_are_told(result, printed):
    code, out, err = printed("edges", result)
    assert code == 0
    assert "search_support" in out
    assert "evidence" not in out
    assert "does not tell which file it was learned from; --data FILE names them" in err


def test_effects_are_told_with_what_they_assume(result, printed):
    words = ("effects", result, "TPR", "BP", "--example", "alarm", "--rows", 300)
    code, out, _ = printed(*words, "--states", "HIGH,LOW", "--outcome", "LOW", "--resamples", 3)
    assert code == 0
    assert re.search(r"by resampling .* 3 resamples", out)
    assert "P(BP = LOW) when TPR is set to LOW instead of HIGH" in " ".join(out.split())
    assert out.count("no common cause") == 1, "said once"


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


def test_both_commands_are_offered():
    from kes.cli import kes as command

    offered = CliRunner().invoke(command, ["--help"]).output
    assert re.search(r"^  edges +Tell how sure", offered, re.MULTILINE)
    assert re.search(r"^  effects +Tell what setting", offered, re.MULTILINE)
