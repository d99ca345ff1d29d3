"""`Optima.improve`: higher scores than any run, with an ancestry that is true, and nothing else."""

import gzip
import itertools
import json
import os
import pickle
import re
import signal
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import kes
import kes.data
from kes.cli import run

SAMPLES = Path(__file__).parents[2] / "../shared/data/samples"
shared = pytest.mark.skipif(not SAMPLES.exists(), reason="needs ../shared/data")
posix = pytest.mark.skipif(os.name != "posix", reason="signals as Unix has them")


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.4, runs=40)


@pytest.fixture(scope="module")
def improved(optima):
    return optima.improve(tasks=600)


# --- what is found -------------------------------------------------------------------------------


def test_higher_than_runs_and_ges_and_best_first(optima, improved):
    assert improved.best.score > max(optima.best.score, optima.ges.score)
    assert improved.gain == improved.best.score - optima.best.score
    scores = [model.score for model in improved]
    assert scores == sorted(scores, reverse=True)
    assert len({model.graph for model in improved}) == len(improved) == 20


def test_every_model_is_a_local_optimum_scored_by_its_graph(data, improved):
    """Checked by the boundary that Python enumerates, and by the score of the graph."""
    for model in improved[:6]:
        assert model.is_local_optimum
        assert model.score == kes.score(model.graph, data)
        assert kes.inclusion_boundary(model.graph, data)[0].delta < 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_the_global_optimum_of_four_variables(seed, four):
    """All 185 models are scored. In some of the tables a variable depends on two others together
    but on neither alone, so that no single edge improves the score of the empty model."""
    rng = np.random.default_rng(seed)
    x, y = rng.integers(0, 3, 120), rng.integers(0, 2, 120)
    z = (x + y + (rng.random(120) < 0.3)) % 3
    table = pd.DataFrame({"x": x, "y": y, "z": z, "u": (z + x * y + rng.integers(0, 2, 120)) % 2})
    data = kes.data.encode(table)
    best = max(kes.score(graph, data) for graph in four)
    assert kes.learn(data, k=0, runs=5).improve(tasks=100).best.score == pytest.approx(best)


@pytest.fixture(scope="module")
def four():
    """Every essential graph over four nodes."""
    pairs, found = list(itertools.combinations("xyzu", 2)), set()
    for turns in itertools.product((0, 1, -1), repeat=len(pairs)):
        arcs = [pair[::turn] for pair, turn in zip(pairs, turns, strict=True) if turn]
        try:
            found.add(kes.EssentialGraph.from_dag("xyzu", arcs))
        except kes.KesError:
            continue  # a cycle
    assert len(found) == 185
    return found


@pytest.mark.parametrize(
    "options",
    [
        {"criterion": "bdeu", "ess": 5.0},
        {"criterion": "aic", "max_parents": 2},
        {"two_phase": True, "k": 1.0},
        {"neighbourhood": kes.Sampled(reversals=2, failures=3)},
    ],
)
def test_it_uses_the_criterion_and_the_limit_of_the_runs(data, options):
    """Runs that stop short of local optima are improved to some by any refinement."""
    best = kes.learn(data, runs=8, **options).improve(tasks=150).best
    assert best.is_local_optimum
    settings = {name: options[name] for name in ("criterion", "ess") if name in options}
    assert best.score == kes.score(best.graph, data, **settings)
    parents = [child for _, child in best.graph.to_dag()]
    assert max(map(parents.count, parents)) <= options.get("max_parents", 37)


def test_what_is_found_is_an_optimum_like_any_other(data, optima, improved):
    assert isinstance(improved.best, kes.Optimum)
    assert improved.best.hits == 0
    assert improved.best.first_run is None
    assert improved.best.fit(data).nodes == optima.best.graph.nodes
    assert optima.best.compare(improved.best).score_difference == pytest.approx(improved.gain)
    assert improved.best.explain(data).better == 0


@pytest.mark.parametrize("columns", [1, 2])
def test_where_there_is_nothing_to_improve(columns):
    table = pd.DataFrame({f"x{i}": [i, 1, 2, 3] * 5 for i in range(columns)})
    optima = kes.learn(table, runs=3)
    improved = optima.improve(tasks=40)
    assert improved.best.graph == optima.best.graph
    assert improved.best.provenance == "run 0"
    assert improved.best.hits == 3
    assert improved.gain == 0
    assert "no higher score in 40 tasks" in repr(improved)


# --- provenance ----------------------------------------------------------------------------------


def test_ancestry_leads_back_to_runs_that_ended_there(optima, improved):
    for place, model in enumerate(improved):
        ancestry = improved.ancestry(place)
        rows = {row["name"]: row for row in ancestry}
        assert ancestry["how"][-1] == model.provenance
        assert ancestry["score"][-1] == model.score
        for row in rows.values():
            kind, *parents = re.findall(r"^\w+|(?:run|task) \d+|GES", row["how"])
            if kind in ("run", "GES"):
                known = optima.ges.score if kind == "GES" else None
                number = int(row["name"].split()[1]) if known is None else 0
                assert row["score"] == (optima.run_scores[number] if known is None else known)
                continue
            above = [rows[parent]["score"] for parent in parents]
            assert len(above) == {"recombined": 2, "refined": 1, "perturbed": 1}[kind]
            if kind != "perturbed":  # these two never lower the score
                assert row["score"] >= max(above) - 1e-6


def test_history_is_every_rise_of_the_best_score(optima, improved):
    history = improved.history
    assert history.columns == ("task", "seconds", "score", "how")
    assert history["how"][0] == "GES"
    assert history["score"][0] == optima.ges.score > optima.best.score
    assert history["score"][-1] == improved.best.score
    assert list(history["score"]) == sorted(set(history["score"]))
    assert list(history["task"][1:]) == sorted(history["task"][1:])
    assert history["seconds"][0] == 0
    assert max(history["seconds"]) <= improved.seconds


def test_without_a_task_worth_it_the_best_run_remains(data):
    """One recombination of one pair: GES, which takes part and is the best, with a run."""
    optima = kes.learn(data, k=0, runs=2)
    assert optima.ges.score > optima.best.score
    improved = optima.improve(tasks=1)
    assert improved.best.score >= optima.ges.score
    assert improved.history["how"][0] == "GES"


# --- what decides the result ---------------------------------------------------------------------


def test_the_runs_stay_as_they_are(data, optima, tmp_path):
    optima.save(tmp_path / "before.json")
    improved = optima.improve(tasks=300)
    assert improved.optima is optima
    optima.save(tmp_path / "after.json")
    assert (tmp_path / "before.json").read_bytes() == (tmp_path / "after.json").read_bytes()
    assert optima == kes.learn(data, k=0.4, runs=40)
    assert optima.improved is None


def test_the_same_for_any_number_of_threads(optima, improved):
    for n_jobs in (1, 2, 5):
        assert optima.improve(tasks=600, n_jobs=n_jobs) == improved
    assert optima.improve(tasks=600, random_state=1) != improved
    assert optima.improve() == optima.improve(tasks=400), "ten tasks for each run"
    assert optima.extend(80).improve().tasks == 1000, "but no more"
    drawn = optima.improve(tasks=100, random_state=None)
    assert drawn == optima.improve(tasks=100, random_state=drawn.seed)


def test_more_tasks_go_on_from_fewer(optima, improved):
    """The rises until task 100 are the same, whether or not more tasks follow."""
    fewer = optima.improve(tasks=100).history
    early = [row for row in improved.history if (row["task"] or 0) < 100]
    assert [row["how"] for row in fewer] == [row["how"] for row in early]


def test_a_budget_is_kept_and_repeatable_by_its_tasks(optima):
    start = time.monotonic()
    improved = optima.improve("0.4s")
    assert 0.4 <= improved.seconds < 1.4
    assert time.monotonic() - start < 3
    assert improved == optima.improve(tasks=improved.tasks)
    both = optima.improve(60, tasks=50)
    assert both.tasks == 50


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"tasks": 0}, "tasks must be a whole number of at least 1, not 0"),
        ({"budget": "soon"}, "budget 'soon' is no length of time"),
        ({"random_state": -1}, "random_state must be a whole number"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"progress": 3}, "progress must be"),
    ],
)
def test_options_that_cannot_be_used(optima, options, message):
    with pytest.raises(kes.KesError, match=re.escape(message)):
        optima.improve(**options)


# --- progress and interrupts ---------------------------------------------------------------------


def test_progress(optima):
    seen = []
    start = time.monotonic()
    improved = optima.improve(tasks=3000, progress=seen.append)
    assert len(seen) <= 10 * (time.monotonic() - start) + 2
    assert seen[-1].done == seen[-1].wanted == improved.tasks == 3000
    assert seen[-1].best == improved.best.score
    assert str(seen[-1]).startswith("3000 of 3000 tasks, best -")
    assert [p.done for p in seen] == sorted(p.done for p in seen)


def test_progress_bar(optima, capsys):
    optima.improve(tasks=50, progress=True)
    assert "50/50 tasks" in capsys.readouterr().err


@posix
def test_an_interrupt_keeps_what_was_found(optima):
    def press(progress):
        if progress.done > 200:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(kes.ImprovementInterrupted, match="in the attribute 'improved'") as caught:
        optima.improve(tasks=10**9, progress=press)
    found = caught.value.improved
    assert found.tasks > 200
    assert found == optima.improve(tasks=found.tasks)
    assert caught.value.optima is optima


# --- files ---------------------------------------------------------------------------------------


def test_file_round_trip(data, optima, improved, tmp_path):
    path = tmp_path / "a.kes.json.gz"
    improved.save(path)
    loaded = kes.load(path)
    assert loaded == optima
    assert loaded.improved == improved
    assert [m.provenance for m in loaded.improved] == [m.provenance for m in improved]
    assert loaded.improved.history["score"] == improved.history["score"]
    assert set(loaded.improved.history["seconds"]) == {None}, "no part of the result"
    assert loaded.improved.ancestry(3) == improved.ancestry(3)
    assert loaded.improved.optima.improved is None, "the runs alone"
    loaded.save(tmp_path / "again.kes.json.gz")
    assert (tmp_path / "again.kes.json.gz").read_bytes() == path.read_bytes()
    assert loaded.improve(tasks=600, data=data) == improved
    with pytest.raises(kes.KesError, match="pass those it was learned from"):
        loaded.improve(tasks=600)
    assert loaded.extend(1, data).improved is None, "it was made of fewer runs"


def test_old_files_load_and_bad_ones_are_refused(optima, improved, tmp_path):
    improved.save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    assert content["version"] == 1, "older versions read the runs and pass over the rest"
    place = len(optima) + 1
    for damage in (
        {"parents": [place]},  # made of itself
        {"parents": [-1]},
        {"task": 600},
        {"directed": [[0, 99]]},
    ):
        offspring = [content["offspring"][0] | damage, *content["offspring"][1:]]
        (tmp_path / "bad.json").write_text(json.dumps(content | {"offspring": offspring}))
        with pytest.raises(kes.KesError, match="truncated or damaged"):
            kes.load(tmp_path / "bad.json")
    del content["improvement"], content["offspring"]
    (tmp_path / "old.json").write_text(json.dumps(content))
    assert kes.load(tmp_path / "old.json") == optima
    assert kes.load(tmp_path / "old.json").improved is None


def test_pickle_and_display(improved):
    assert pickle.loads(pickle.dumps(improved)) == improved
    shown = repr(improved)
    assert (
        f"improved      {improved.best.score:.4f}, {improved.gain:.4f} above the best run" in shown
    )
    assert f"provenance    {improved.best.provenance}" in shown
    assert f"{improved.gain:.4f} above the best run" in improved._repr_html_()


# --- command line --------------------------------------------------------------------------------


@pytest.fixture
def csv(data, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    columns = zip(data.names, data.codes, data.states, strict=True)
    table = pd.DataFrame({name: [states[c] for c in codes] for name, codes, states in columns})
    table.to_csv("data.csv", index=False)
    return "data.csv"


def learn(*arguments):
    return run(["learn", *map(str, arguments)])


def test_command_line(csv, capsys):
    common = (csv, "--k", 0.4, "--runs", 20)
    assert learn(*common, "--jobs", 1, "--out", "a.json.gz") == 0
    shown = capsys.readouterr()
    kept = kes.load("a.json.gz")
    expected = kes.learn(csv, k=0.4, runs=20)
    assert kept == expected
    assert kept.improved == expected.improve(tasks=200), "ten for each run"
    assert shown.out.startswith(repr(kept))
    assert "above the best run, in 200 tasks\n" in shown.out
    assert shown.err == ""
    assert learn(*common, "--jobs", 2, "--out", "b.json.gz") == 0
    assert Path("a.json.gz").read_bytes() == Path("b.json.gz").read_bytes()
    assert learn(*common, "--no-improve", "--out", "c.json") == 0
    assert "improvement" not in Path("c.json").read_text(encoding="utf-8")
    assert learn(*common, "--improve-budget", "0.2s", "--out", "c.json") == 0
    assert kes.load("c.json").improved.tasks > 0


def test_resuming(csv, capsys):
    common = (csv, "--k", 0.4, "--out", "a.json.gz")
    assert learn(*common, "--runs", 20) == 0
    content = Path("a.json.gz").read_bytes()
    changed = os.stat("a.json.gz").st_mtime_ns
    assert learn(*common, "--runs", 20) == 0
    assert os.stat("a.json.gz").st_mtime_ns == changed, "there was nothing to do"
    assert learn(*common, "--runs", 20, "--improve-tasks", 30) == 0
    assert kes.load("a.json.gz").improved.tasks == 30
    assert learn(*common, "--runs", 30, "--no-improve") == 0
    assert b"improvement" not in gzip.decompress(Path("a.json.gz").read_bytes())
    Path("a.json.gz").write_bytes(content)
    assert learn(*common, "--runs", 30) == 0
    assert kes.load("a.json.gz").improved == kes.learn(csv, k=0.4, runs=30).improve()


# --- known best scores ---------------------------------------------------------------------------


def test_the_certified_optimum_of_twenty_variables_for_nearly_every_seed():
    """The certificate is exact: dynamic programming over all sets of variables."""
    alarm = kes.datasets.alarm(rows=1000)
    data = kes.Dataset(names=alarm.names[:20], states=alarm.states[:20], codes=alarm.codes[:20])
    best = kes.certify(data).score
    optima = [kes.learn(data, k=0.4, runs=100, random_state=seed) for seed in range(20)]
    scores = [runs.improve(random_state=seed).best.score for seed, runs in enumerate(optima)]
    assert max(scores) <= best + 1e-6
    assert sum(score > best - 1e-6 for score in scores) >= 19


@shared
@pytest.mark.parametrize(
    ("name", "tasks", "score"),
    [
        ("alarm_1000", 1000, -11884.40),
        ("alarm_20000", 1000, -211586.35),
        ("insurance_10000", 1000, -134393.72),
        ("hailfinder_10000", 1000, -498982.63),
        ("win95pts_10000", 1000, -92485.51),
    ],
)
def test_scores_at_least_the_highest_known(name, tasks, score):
    """XGES, with a discrete score added to its C++ search, ends at these."""
    table = pd.read_csv(SAMPLES / f"{name}.csv.gz", dtype=str)
    optima = kes.learn(table, k=0.4, runs=100)
    best = optima.improve(tasks=tasks).best.score
    assert best > score - 0.006
    assert best >= optima.extend(900).best.score - 1e-6, "never below 1000 runs"
