"""Improving: higher scores than any run, with an ancestry that is true, and nothing else."""

import itertools
import json
import os
import pickle
import re
import signal
import time

import numpy as np
import pandas as pd
import pytest
from tests.clock import slowness, within
from tests.unit.refused import refused

import kes
import kes.data


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


@pytest.fixture(scope="module")
def runs(data):
    """Runs alone."""
    return kes.learn(data, k=0.4, runs=40, improve=False)


@pytest.fixture(scope="module")
def optima(data):
    """The same runs, and what 600 tasks made of them."""
    return kes.learn(data, k=0.4, runs=40, improve=600)


def made(optima):
    """Return the models that improving made, best first."""
    return [optimum for optimum in optima if " from " in optimum.origin]


# --- what is found -------------------------------------------------------------------------------


def test_higher_than_runs_and_ges_and_best_first(runs, optima):
    assert optima.best.score > max(optima.best_run.score, optima.ges.score)
    assert optima.gain == optima.best.score - runs.best_run.score
    assert 20 <= len(made(optima)) < 60, "the best of hundreds, and their ancestors"


def test_every_model_is_a_local_optimum_scored_by_its_graph(data, optima):
    """Checked by the boundary that Python enumerates, and by the score of the graph."""
    for model in made(optima):
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
    assert kes.learn(data, k=0, runs=5, improve=100).best.score == pytest.approx(best)


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
    best = kes.learn(data, runs=8, improve=150, **options).best
    settings = {name: options[name] for name in ("criterion", "ess") if name in options}
    limit = options.get("max_parents")
    assert kes.inclusion_boundary(best.graph, data, max_parents=limit, **settings)[0].delta < 1e-6
    assert best.score == kes.score(best.graph, data, **settings)
    parents = [child for _, child in best.graph.to_dag()]
    assert max(map(parents.count, parents)) <= options.get("max_parents", 37)


def test_what_is_found_is_an_optimum_like_any_other(data, optima):
    best = optima.best
    assert best.hits == 0
    assert best.first_run is None
    assert best.fit(data).nodes == best.graph.nodes
    assert optima.best_run.compare(best).score_difference == pytest.approx(optima.gain)
    assert best.explain(data).better == optima.explain(0).better == 0


@pytest.mark.parametrize("columns", [1, 2])
def test_where_there_is_nothing_to_improve(columns):
    table = pd.DataFrame({f"x{i}": [i, 1, 2, 3] * 5 for i in range(columns)})
    optima = kes.learn(table, runs=3, improve=40)
    assert optima.best is optima.best_run
    assert optima.best.origin == "run 0"
    assert optima.best.hits == 3
    assert optima.gain == 0
    assert "no higher score in 40 tasks" in repr(optima)


# --- large models --------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def large():
    """Of 150 variables each is the sum, modulo 3, of up to two before it, and some noise."""
    rng = np.random.default_rng(0)
    values = np.zeros((500, 150), dtype=int)
    for y in range(150):
        parents = rng.choice(np.arange(max(0, y - 20), y), size=min(y, 2), replace=False)
        noise = rng.integers(0, 3, 500) * (rng.random(500) < 0.2)
        values[:, y] = (values[:, parents].sum(axis=1) + noise) % 3
    return kes.data.encode(pd.DataFrame(values, columns=[f"x{y}" for y in range(150)]).astype(str))


def test_a_new_order_leads_out_of_where_greedy_search_ends(large):
    """The sum of two shows nothing until both are there, so edges one by one do not lead there."""
    ges = kes.learn(large, k=1, runs=1, improve=False)
    optima = ges.improve(tasks=1, n_jobs=1)
    assert optima.best.origin == "ordered from run 0"
    assert optima.best.score > ges.best.score + 1000
    assert optima.best.score == kes.score(optima.best.graph, large)
    assert kes.inclusion_boundary(optima.best.graph, large)[0].delta < 1e-6
    assert optima == ges.improve(tasks=1, n_jobs=2)


def test_models_of_many_variables_are_local_optima_too(large):
    """By their whole boundaries, as Python sees them."""
    optima = kes.learn(large, k=0.8, runs=2, improve=40)
    assert len(made(optima)) > 3
    for optimum in made(optima):
        assert optimum.is_local_optimum
    for optimum in made(optima)[:3]:
        assert kes.inclusion_boundary(optimum.graph, large)[0].delta < 1e-6


def test_large_models_too_are_improved_for_as_long_as_asked_and_no_longer(large):
    ges = kes.learn(large, k=1, runs=1, improve=False)
    with within(4):
        timed = ges.improve(budget="3s")
    if timed.tasks:
        assert timed == ges.improve(tasks=timed.tasks)


# --- origins -------------------------------------------------------------------------------------


def test_ancestry_leads_back_to_runs_that_ended_there(optima):
    """All ancestors are in the list, under the same numbers, and score as it says."""
    for index in map(optima.index, made(optima)):
        ancestry = optima.ancestry(index)
        names = {}
        for row in ancestry:
            optimum = optima[row["optimum"]]
            assert (row["score"], row["origin"]) == (optimum.score, optimum.origin)
            names[row["origin"] if row["task"] is None else f"task {row['task']}"] = row["score"]
            kind, *parents = re.findall(r"^\w+|(?:run|task) \d+|GES", row["origin"])
            if kind in ("run", "GES"):
                assert row["task"] is None
                continue
            above = [names[parent] for parent in parents]  # they came before
            assert len(above) == {"recombined": 2, "refined": 1, "perturbed": 1}[kind]
            if kind != "perturbed":  # these two never lower the score
                assert row["score"] >= max(above) - 1e-6
        assert ancestry["optimum"][-1] == index
    [itself] = optima.ancestry(optima.index(optima.best_run))
    assert itself["origin"] == optima.best_run.origin


def test_history_is_every_rise_of_the_best_score(optima):
    history = optima.history()
    assert history.columns == ("optimum", "task", "score", "origin")
    assert history["origin"][0] == "GES"
    assert history["score"][0] == optima.ges.score > optima.best_run.score
    assert (history["optimum"][-1], history["score"][-1]) == (0, optima.best.score)
    assert list(history["score"]) == sorted(set(history["score"]))
    assert list(history["task"][1:]) == sorted(history["task"][1:])


def test_without_a_task_worth_it_the_best_run_remains(data):
    """One recombination of one pair: GES, which takes part and is the best, with a run."""
    optima = kes.learn(data, k=0, runs=2, improve=1)
    assert optima.ges.score > optima.best_run.score
    assert optima.best.score >= optima.ges.score
    assert optima.history()["origin"][0] == "GES"


# --- how much ------------------------------------------------------------------------------------


def test_learn_improves_by_as_much_as_is_asked_for(data, runs, optima):
    assert runs.tasks == 0
    assert made(runs) == []
    assert optima.tasks == 600
    chosen = kes.learn(data, k=0.4, runs=40)
    assert chosen.tasks == 400, "ten for each run"
    assert kes.learn(data, k=0.4, runs=120).tasks == 1000, "but no more"
    for n_jobs in (1, 2, 5):
        assert kes.learn(data, k=0.4, runs=40, n_jobs=n_jobs) == chosen
    timed = kes.learn(data, k=0.4, runs=40, improve="0.3s")
    assert timed.tasks > 0
    assert timed == kes.learn(data, k=0.4, runs=40, improve=timed.tasks)


def test_the_budget_is_for_runs_and_improving_together():
    """Runs of many cases take long enough that keeping their ends takes no time beside them."""
    budget = slowness()  # a second where nothing else runs
    with within(budget + 2):
        both = kes.learn(kes.datasets.alarm(rows=20_000), runs=10**6, budget=budget)
    assert both.tasks > 0, "runs leave some of it"
    assert both.seconds > budget / 2, "but use most of it"


@pytest.mark.parametrize("improve", [0, -1, 2.5, "soon", None, "10 tasks"])
def test_amounts_that_cannot_be_meant(data, improve):
    with pytest.raises(kes.KesError) as wrong:
        kes.learn(data, improve=improve)
    assert wrong.value.option == "improve"


def test_more_runs_are_improved_as_if_all_had_been_asked_for(data, optima, tmp_path):
    for amount in (True, False, 150):
        whole = kes.learn(data, k=0.4, runs=40, improve=amount)
        parts = kes.learn(data, k=0.4, runs=15, improve=amount).extend(25)
        assert parts == whole
        whole.save(tmp_path / "whole")
        parts.save(tmp_path / "parts")
        assert (tmp_path / "whole").read_bytes() == (tmp_path / "parts").read_bytes()


# --- improve() -----------------------------------------------------------------------------------


def test_improve_adds_models_and_leaves_the_result_alone(data, optima, tmp_path):
    optima.save(tmp_path / "before.json")
    more = optima.improve(tasks=300)
    optima.save(tmp_path / "after.json")
    assert (tmp_path / "before.json").read_bytes() == (tmp_path / "after.json").read_bytes()
    assert more.tasks == 900
    assert {o.graph for o in more} > {o.graph for o in optima}
    assert more.of_runs == optima.of_runs
    assert more.best.score >= optima.best.score
    new = [o for o in more if o.graph not in {own.graph for own in optima}]
    tasks = [more.ancestry(more.index(o))["task"][-1] for o in new]
    assert min(tasks) >= 600
    assert max(tasks) < 900, "numbered on"


def test_on_runs_alone_it_does_what_learn_does(data, runs, optima):
    improved = runs.improve(tasks=600)
    assert [(o.graph, o.origin) for o in improved] == [(o.graph, o.origin) for o in optima]
    for n_jobs in (1, 2, 5):
        assert runs.improve(tasks=600, n_jobs=n_jobs) == improved
    other = kes.learn(data, k=0.4, runs=40, improve=False, random_state=1)
    assert other.improve(tasks=600) != improved, "the seed is that of the result"
    assert runs.improve().tasks == 400, "ten tasks for each run"


def test_a_second_call_is_no_repetition_of_the_first(runs):
    """The same tasks on the same best models would find nothing that is not there."""
    once = runs.improve(tasks=200)
    twice = once.improve(tasks=200)
    assert len(twice) > len(once)
    assert twice == runs.improve(tasks=200).improve(tasks=200)


def test_more_tasks_go_on_from_fewer(runs):
    """The rises until task 100 are the same, whether or not more tasks follow."""
    fewer, more = runs.improve(tasks=100).history(), runs.improve(tasks=600).history()
    assert [row["origin"] for row in fewer] == [
        row["origin"] for row in more if (row["task"] or 0) < 100
    ]


def test_a_budget_is_kept_and_repeatable_by_its_tasks(runs):
    with within(1.4):
        improved = runs.improve("0.4s")
    assert improved.seconds >= 0.4
    assert improved == runs.improve(tasks=improved.tasks)
    both = runs.improve(60, tasks=50)
    assert both.tasks == 50


def test_extend_keeps_what_improve_made_and_repeats_the_rest(data):
    """More runs are improved as by learn; what improve() made stays, with its ancestors."""
    first = kes.learn(data, k=0.4, runs=15, improve=60)
    more = first.improve(tasks=200)
    extended = more.extend(25)
    plain = kes.learn(data, k=0.4, runs=40, improve=60)
    called = [o for o in more if o not in list(first) and " from " in o.origin]
    assert called
    assert {o.graph for o in extended} >= {o.graph for o in plain} | {o.graph for o in called}
    assert extended.of_runs == plain.of_runs
    assert extended.tasks == 60 + 260
    for index in map(extended.index, made(extended)):
        origins = extended.ancestry(index)["origin"]
        assert origins[0].startswith(("run", "GES")), "ancestry still leads to runs"
    again = extended.extend(10)
    assert {o.graph for o in again} >= {o.graph for o in called}
    assert again.of_runs == kes.learn(data, k=0.4, runs=50, improve=False).of_runs


@pytest.mark.parametrize("unit", ["runs", "tasks"])
def test_an_extension_that_is_interrupted_takes_no_model_away(data, optima, unit):
    """Models found by fewer runs are kept until all runs have been improved, and then dropped."""

    def interrupt(progress):
        if progress.unit == unit and (progress.done > 40 or unit == "tasks"):
            raise KeyboardInterrupt

    with pytest.raises(kes.Interrupted) as stop:
        optima.extend(2000 if unit == "runs" else 20, n_jobs=1, progress=interrupt)
    found = stop.value.optima
    assert len(found.runs) > 40
    if found.best.score == optima.best.score or unit == "runs":
        assert {o.graph for o in found} >= {o.graph for o in optima}
    assert found.best.score >= optima.best.score
    for index in map(found.index, made(found)):
        assert found.ancestry(index)["origin"][0].startswith(("run", "GES"))
    more = found.extend(5)
    assert more == kes.learn(data, k=0.4, runs=len(found.runs) + 5, improve=600)


@pytest.mark.parametrize(
    ("option", "value"),
    [("tasks", 0), ("budget", "soon"), ("random_state", 1), ("n_jobs", 0), ("progress", 3)],
)
def test_options_that_cannot_be_used(optima, option, value):
    with refused(option=option):
        optima.improve(**{option: value})


# --- progress and interrupts ---------------------------------------------------------------------


def test_progress(runs):
    seen = []
    start = time.monotonic()
    improved = runs.improve(tasks=3000, progress=seen.append)
    assert len(seen) <= 10 * (time.monotonic() - start) + 2
    assert seen[-1].done == seen[-1].wanted == improved.tasks == 3000
    assert seen[-1].best == improved.best.score
    assert str(seen[-1]).startswith("3000 of 3000 tasks, best -")
    assert [p.done for p in seen] == sorted(p.done for p in seen)


def test_progress_bar(runs, capsys):
    runs.improve(tasks=50, progress=True)
    assert "50/50 tasks" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="signals as Unix has them")
def test_an_interrupt_keeps_what_was_found(runs):
    def press(progress):
        if progress.done > 200:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(kes.Interrupted, match="in the attribute 'optima'") as caught:
        runs.improve(tasks=10**9, progress=press)
    found = caught.value.optima
    assert found.tasks > 200
    assert found == runs.improve(tasks=found.tasks)


# --- files ---------------------------------------------------------------------------------------


def test_file_round_trip(data, runs, optima, tmp_path):
    path = tmp_path / "a.kes.json.gz"
    for result in (optima, optima.improve(tasks=50), optima.improve(tasks=50).extend(5)):
        result.save(path)
        loaded = kes.load(path)
        assert loaded == result
        assert list(loaded) == list(result)
        assert loaded.history() == result.history()
        assert loaded.ancestry(3) == result.ancestry(3)
        assert repr(loaded) == repr(result)
        loaded.save(tmp_path / "again.kes.json.gz")
        assert (tmp_path / "again.kes.json.gz").read_bytes() == path.read_bytes()
        assert pickle.loads(pickle.dumps(result)) == result
    optima.save(path)
    loaded = kes.load(path)
    assert loaded.improve(tasks=60, data=data) == optima.improve(tasks=60)
    assert loaded.extend(5, data) == optima.extend(5)
    with refused("data=", option="data"):
        loaded.improve(tasks=60)


def test_damaged_offspring_is_refused(optima, tmp_path):
    optima.save(tmp_path / "a.json")
    content = json.loads((tmp_path / "a.json").read_text(encoding="utf-8"))
    place = len(optima) - len(made(optima))
    for damage in (
        {"parents": [place]},  # made of itself
        {"parents": [-1]},
        {"task": 600},
        {"directed": [[0, 99]]},
    ):
        offspring = [content["offspring"][0] | damage, *content["offspring"][1:]]
        (tmp_path / "bad.json").write_text(json.dumps(content | {"offspring": offspring}))
        with refused("damaged", file=tmp_path / "bad.json"):
            kes.load(tmp_path / "bad.json")
