"""Certainty of differences between two groups: evidence in both, and shuffled labels."""

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner
from tests.unit.refused import refused

import kes
from kes.analysis.group_differences import _pooled, p_values
from kes.cli import kes as command
from kes.search.problem import Problem

OPTIONS = {"runs": 5, "improve": False}


def group(seed, rows, strength):
    """Draw a -> b in both groups, c -> d with a strength of its own, and e alone."""
    rng = np.random.default_rng(seed)
    a, c, e = rng.integers(2, size=(3, rows))
    b = np.where(rng.random(rows) < 0.8, a, 1 - a)
    d = np.where(rng.random(rows) < 0.5 + strength, c, 1 - c)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": e})


@pytest.fixture(scope="module")
def tables():
    return group(0, 400, 0.0), group(1, 300, 0.3)


@pytest.fixture(scope="module")
def results(tables):
    return [kes.learn(table, **OPTIONS) for table in tables]


def test_evidence_is_that_of_both_results(results):
    """For an edge that no optimum of a result has, as the best model without it and with it."""
    here, there = results
    table = here.compare(there).table()
    assert list(table["x"]) == ["c"]
    assert list(table["y"]) == ["d"]
    [row] = list(table)
    exact = {r["x"] + r["y"]: r["evidence"] for r in there.evidence()}
    assert row["evidence_there"] == pytest.approx(exact["cd"])
    alone = kes.score([("a", "b")], here.problem.dataset)
    joined = kes.score([("a", "b"), ("c", "d")], here.problem.dataset)
    assert row["evidence_here"] == pytest.approx(joined - alone)  # nothing else depends
    assert row["evidence_here"] < 0 < 3 < row["evidence_there"]


def test_a_true_difference_is_rare_among_shuffled_groups(results):
    [row] = list(results[0].compare(results[1], permutations=19).table())
    assert row["p_value"] == 1 / 20


def test_p_values_of_groups_that_are_alike_are_uniform():
    """Of a pair that is chosen beforehand: a tenth of them is 1 of 10, more than 6 of 20 is not."""
    found = []
    for seed in range(20):
        halves = [Problem.of(group(2 * seed + i, 80, 0.12), {}) for i in (10, 11)]
        found += p_values(*halves, [("c", "d")], 9, threads=1)
    assert all(value in np.arange(1, 11) / 10 for value in found)
    assert sum(value <= 0.1 for value in found) <= 6
    assert 0.3 < np.mean(found) < 0.8  # 0.55 on average


def test_neither_rows_nor_threads_change_a_p_value(tables, results):
    here, there = results
    shuffled = kes.learn(tables[1].sample(frac=1, random_state=0), **OPTIONS)
    once = here.compare(there, permutations=5, n_jobs=1).table()
    again = here.compare(shuffled, permutations=5, n_jobs=2).table()
    assert list(once) == list(again)


def test_data_can_be_given_after_loading(tables, results, tmp_path):
    loaded = []
    for number, optima in enumerate(results):
        optima.save(tmp_path / f"{number}.kes.json")
        loaded.append(kes.load(tmp_path / f"{number}.kes.json"))
    assert loaded[0].compare(loaded[1]).sureness == {}
    given = loaded[0].compare(loaded[1], data=tables[0], other_data=tables[1])
    assert given.sureness == results[0].compare(results[1]).sureness
    with refused(option="permutations"):
        loaded[0].compare(loaded[1], permutations=3)
    with refused(option="other_data"):
        loaded[0].compare([("a", "b")], other_data=tables[1])


def test_the_same_data_have_no_groups(tables, results):
    other = kes.learn(tables[0], k=0.2, **OPTIONS)
    assert results[0].compare(other).sureness == {}


def test_what_permutations_cannot_do_is_refused(tables, results):
    weighted = kes.learn(tables[1], weights=np.full(300, 2.0), **OPTIONS)
    sparse = kes.learn(tables[1], max_parents=1, **OPTIONS)
    for other in (weighted, sparse):
        with refused(option="permutations"):
            results[0].compare(other, permutations=3)


def test_states_that_only_one_group_has_are_those_of_both():
    one = kes.data.encode(pd.DataFrame({"a": ["x", "y", "x"], "b": [0.5, 1.5, 2.5]}))
    other = kes.data.encode(pd.DataFrame({"b": [3.5, 4.5], "a": ["z", "x"]}))
    both = _pooled(one, other)
    assert both.states == (("x", "y", "z"), ())
    values = [both.states[0][code] for code in both.columns[0].codes]
    assert values == ["x", "y", "x", "z", "x"]
    assert both.columns[1].values.tolist() == [0.5, 1.5, 2.5, 3.5, 4.5]


def test_the_command(tables, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, table in zip("ab", tables, strict=True):
        table.to_csv(f"{name}.csv", index=False)
        kes.learn(f"{name}.csv", **OPTIONS).save(f"{name}.kes.json")
    found = CliRunner().invoke(command, ["compare", "a.kes.json", "b.kes.json"])
    assert "evidence_there" in found.output
    for name in "ab":
        (tmp_path / f"{name}.csv").rename(f"moved-{name}.csv")
    moved = ["--data-here", "moved-a.csv", "--data-there", "moved-b.csv", "--permutations", "4"]
    found = CliRunner().invoke(command, ["compare", "a.kes.json", "b.kes.json", *moved])
    assert found.exit_code == 0, found.output
    assert "p_value" in found.output
    assert " 0.2" in found.output  # 1 of 5
