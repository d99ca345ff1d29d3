"""Searches on shuffled copies of a table."""

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis import noise as module
from kes.analysis.noise import Noise, quick_noise
from kes.cli import run
from kes.show.report import report_text

from ..refused import refused


def table(rows=80, seed=0):
    """Six columns of noise, and a seventh that nearly equals the sixth."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.integers(0, 2, (rows, 6)), columns=[*"abcdef"])
    return frame.assign(g=frame["f"] ^ (rng.random(rows) < 0.05))


@pytest.fixture(scope="module")
def optima():
    return kes.learn(table(), runs=5, edge_prior=0)


@pytest.fixture(scope="module")
def found(optima):
    return optima.noise(shuffles=6)


def test_a_relation_stands_out_from_noise(optima, found):
    assert found.edges == len(optima.best.graph.skeleton) == len(found.evidence)
    assert len(found.shuffled_edges) == 6
    assert found.evidence[0] > 10 > found.highest
    assert 0 < found.expected() < found.edges


def test_the_search_is_the_same_and_so_is_its_outcome(optima, found):
    assert optima.noise(shuffles=6, n_jobs=1) == found
    assert optima.noise(shuffles=3).shuffled == found.shuffled[:3]


def test_a_copy_is_searched_like_the_table():
    """Noise is noise: a table of independent columns gives about as many edges as its copies."""
    data = table(60, seed=3)[[*"abcde"]]
    own = [
        len(kes.learn(table(60, seed)[[*"abcde"]], runs=3, edge_prior=0).best.graph.skeleton)
        for seed in range(20)
    ]
    copies = kes.learn(data, runs=3, edge_prior=0).noise(shuffles=20).shuffled_edges
    assert abs(np.mean(own) - np.mean(copies)) < 4 * np.sqrt((np.var(own) + np.var(copies)) / 20)


def test_counts_at_each_level():
    noise = Noise((30.0, 6.0, 0.5), ((4.0, 0.2), (), (2.0,)))
    assert noise.shuffled_edges == (2, 0, 1)
    assert noise.highest == 4.0
    rows = [tuple(row.values()) for row in noise.levels([0, 1, 3, 10, 50])]
    assert rows == [
        (0, 3, 1.0, 1 / 3),
        (1, 2, 2 / 3, 1 / 3),
        (3, 2, 1 / 3, 1 / 6),
        (10, 1, 0.0, 0.0),
        (50, 0, 0.0, None),
    ]
    assert str(noise) == "3 shuffled copies of the table give 0 to 2 connections; the data give 3."
    assert Noise((), ((),)).highest is None
    assert "give 1 connection each" in str(Noise((), ((1.0,), (2.0,))))


def test_required_edges_are_no_findings():
    known = kes.Knowledge(required=[("a", "b")])
    optima = kes.learn(table(), runs=3, knowledge=known, edge_prior=8)
    assert len(optima.best.graph.skeleton) == 2
    found = optima.noise(shuffles=3)
    assert found.edges == 1
    assert found.shuffled_edges == (0, 0, 0)


def test_incomplete_tables_are_imputed_anew():
    data = table().astype(object).mask(np.random.default_rng(1).random((80, 7)) < 0.05)
    optima = kes.learn(data, runs=3, missing="em", edge_prior=5)
    found = optima.noise(shuffles=2)
    assert (found.edges, found.shuffled_edges) == (1, (0, 0))


def test_wrong_numbers_name_the_option(optima):
    with refused(option="shuffles"):
        optima.noise(shuffles=0)
    with refused(option="runs"):
        optima.noise(runs=0)


def test_an_interrupt_keeps_the_finished_copies(optima, monkeypatch):
    calls = []

    def search(*args):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return (1.0,)

    monkeypatch.setattr(module, "_search", search)
    with pytest.raises(kes.NoiseInterrupted) as caught:
        optima.noise()
    assert caught.value.noise.shuffled_edges == (1, 1)


# --- the report and the shell --------------------------------------------------------------------


def test_a_quick_look_is_short_and_reported(optima, tmp_path):
    quick = quick_noise(optima, optima.problem, threads=1)
    assert quick == quick_noise(optima, optima.problem, threads=2)
    optima.report(tmp_path / "a.html")
    assert str(quick) in (tmp_path / "a.html").read_text()


def test_there_is_no_quick_look_at_a_table_that_takes_long(optima, monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(module, "_MOST_CELLS", optima.cases * len(optima.names) - 1)  # of many rows
        assert quick_noise(optima, optima.problem, threads=1) is None
        assert "copies of the table were not searched here" in report_text(optima, {})
    monkeypatch.setattr(module, "SHARE", 1e-9)
    assert quick_noise(optima, optima.problem, threads=1) is None


def test_the_command_prints_it(optima, found, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table().to_csv("data.csv", index=False)
    kes.learn("data.csv", runs=5, edge_prior=0, out="a.json")
    assert run(["noise", "a.json", "--shuffles", "6", "--no-progress"]) == 0
    printed = capsys.readouterr().out
    assert str(found) in printed
    assert "by chance" in printed
    assert run(["noise", "a.json", "--shuffles", "2", "--runs", "1", "--out", "b.csv"]) == 0
    assert (tmp_path / "b.csv").read_text().startswith("evidence,edges,by chance,false")


def test_copies_keep_what_contexts_do():
    """Two variables differ between batches, and have nothing else in common."""
    rng = np.random.default_rng(0)
    batch = rng.integers(0, 2, 300)
    shifted = rng.normal(size=(2, 300)) + 3 * batch
    data = pd.DataFrame({"batch": np.where(batch, "b", "a"), "x": shifted[0], "y": shifted[1]})
    within = kes.learn(data, contexts=["batch"], runs=3, improve=False)
    assert frozenset(("batch", "x")) in within.best.graph.skeleton
    assert within.noise(shuffles=4, runs=2).shuffled_edges == (0, 0, 0, 0)
    assert within.noise(shuffles=4, runs=2).edges == 0


def test_copies_keep_nothing_that_a_context_does_through_others():
    """An experiment on x shows in y, which it must not point to.

    A copy in which y still depended on the experiment could only explain it by x, with an edge of
    much evidence in every copy.
    """
    rng = np.random.default_rng(0)
    drug = rng.integers(0, 2, 400)
    x = rng.normal(size=400) + 3 * drug
    data = pd.DataFrame(
        {"drug": np.where(drug, "yes", "no"), "x": x, "y": x + rng.normal(size=400)}
    )
    for known in (
        kes.Knowledge(targets={"drug": ["x"]}),
        kes.Knowledge(exogenous=["drug"], forbidden=[("drug", "y")]),
        kes.Knowledge(exogenous=["drug"], apart=[("y", "drug")]),
    ):
        optima = kes.learn(data, knowledge=known, runs=3, improve=False)
        assert {("drug", "x"), ("x", "y")} == optima.best.mpdag.directed
        found = optima.noise(shuffles=10, runs=2)
        assert (found.edges, sum(found.shuffled_edges) <= 1) == (1, True)


def test_earlier_values_are_no_strata():
    """Hardly two rows agree on them, and nothing would move."""
    rng = np.random.default_rng(0)
    series = pd.DataFrame({"s": rng.integers(0, 3, 200).astype(str)})
    series["u"] = series["s"].shift(1, fill_value="0")
    lagged = kes.learn(kes.lagged(series), runs=3, improve=False)
    assert lagged.best.graph.skeleton
    assert max(lagged.noise(shuffles=4, runs=2).shuffled_edges) <= 1
