"""`Optima`: one list of models, best first; what the runs say is not touched by improving."""

import importlib
import math
import pickle
from dataclasses import replace
from html import escape

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.budget import Improve
from kes.graph.core_graph import CoreGraph
from kes.results.optima import Optima
from kes.search.record import Batch, Improving, Offspring


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=600)


@pytest.fixture(scope="module")
def optima(data):
    """Optima found once and often, above GES, below it, and GES itself."""
    return kes.learn(data, k=0.8, runs=60)


@pytest.fixture
def loaded(optima, tmp_path):
    optima.save(tmp_path / "a.kes.json")
    return kes.load(tmp_path / "a.kes.json")


def test_sequence(optima):
    assert optima.best is optima[0]
    assert optima[-1] is list(optima)[-1]
    assert optima[1:3] == tuple(optima)[1:3]
    assert len(optima) == len(list(optima))
    with pytest.raises(IndexError):
        optima[len(optima)]


def test_the_list_holds_runs_ges_and_what_improving_made(optima):
    """One list, each model once: all ends of runs, GES, the 20 best of improving, ancestors."""
    assert len({optimum.graph for optimum in optima}) == len(optima)
    assert {o.graph for o in optima.of_runs} == {optima[i].graph for i in optima.run_optima}
    assert sum(optimum.hits for optimum in optima) == 60
    made = [optimum for optimum in optima if " from " in optimum.origin]
    others = [o for o in optima if not o.hits and o not in made]
    assert len(made) >= 20
    assert len(optima) == len(optima.of_runs) + len(others) + len(made)
    assert [other.origin for other in others] in ([], ["GES"])
    for optimum in optima.of_runs:
        assert optimum.origin == f"run {optimum.first_run}"
    for optimum in made:
        assert (optimum.hits, optimum.first_run) == (0, None)


def test_order_is_by_score_then_by_first_run_then_by_task(optima):
    keys = [-optimum.score for optimum in optima]
    assert keys == sorted(keys)
    assert optima.of_runs == tuple(sorted(optima.of_runs, key=lambda o: (-o.score, o.first_run)))
    assert optima.best_run is optima.of_runs[0]
    assert optima.best.score >= max(optima.best_run.score, optima.ges.score)


def test_on_one_level_runs_come_first_then_ges_then_tasks(optima):
    """Models a rounding error apart: the level is one, and rounding has no say in the order."""
    record = optima.record
    a, b, c = (replace(model, score=-1.0) for model in record.models[:3])
    up = math.nextafter(-1.0, 0)
    tied = replace(
        record.unimproved(Improve()),
        models=(a, replace(b, score=up)),
        runs=(0, 1, 1),
        ges=replace(c, score=math.nextafter(up, 0)),
        offspring=tuple(
            Offspring(replace(a, graph=CoreGraph(((0, task),)), score=up), "refined", (0,), task)
            for task in (1, 2)
        ),
        improving=Improving(batches=(Batch(3, "learn"),)),
    )
    found = Optima(tied)
    assert [optimum.first_run for optimum in found] == [0, 1, None, None, None]
    assert [optimum.origin for optimum in found[2:]] == ["GES", *["refined from run 0"] * 2]
    assert [found.ancestry(i)["task"][-1] for i in (3, 4)] == [1, 2]
    assert found[0].score < found[1].score
    assert found.levels == 1
    assert optima.levels <= len(optima.of_runs)


def test_runs_belong_to_optima(optima):
    assert list(optima.runs) == list(range(60))
    assert len(optima.run_scores) == len(optima.run_optima) == 60
    for run, index in enumerate(optima.run_optima):
        assert optima[index].score == optima.run_scores[run]
    for optimum in optima:
        runs = np.flatnonzero(optima.run_optima == optima.index(optimum))
        assert optimum.hits == len(runs)
        assert optimum.first_run == (runs[0] if runs.size else None)


def test_figures_about_runs_do_not_depend_on_improving(data, optima):
    alone = kes.learn(data, k=0.8, runs=60, improve=False)
    assert optima.best.score > alone.best.score, "else the test shows nothing"
    assert optima.of_runs == alone.of_runs
    assert optima.levels == alone.levels
    assert np.array_equal(optima.run_scores, alone.run_scores)
    assert optima.ges_standing() == alone.ges_standing()
    assert repr(optima.coverage()) == repr(alone.coverage())
    ours, theirs = (
        {(r["x"], r["y"]): r["search_support"] for r in o.edges() if r["search_support"]}
        for o in (optima, alone)
    )
    assert ours == theirs


def test_arrays_cannot_be_spoiled(optima):
    with pytest.raises(ValueError, match="read-only"):
        optima.run_scores[0] = 0


def test_optimum(optima, data):
    best = optima.best
    assert best.graph.nodes == data.names
    assert best.graph is best.graph, "made once"
    assert best == pickle.loads(pickle.dumps(best))
    assert "score=" in repr(best)
    assert "edges" not in repr(best)
    with pytest.raises(AttributeError):
        best.score = 0.0


def test_ges_knows_its_hits(data, optima):
    greedy = kes.learn(data, k=1, runs=4)
    assert greedy.ges.hits >= 1
    assert greedy.ges.first_run == 0
    graphs = [optimum.graph for optimum in optima]
    assert optima.ges == optima[graphs.index(optima.ges.graph)]
    aimless = kes.learn(data, k=0, runs=10)
    assert aimless.ges.graph not in [optimum.graph for optimum in aimless.of_runs]
    assert aimless.ges in list(aimless)
    assert (aimless.ges.hits, aimless.ges.first_run, aimless.ges.origin) == (0, None, "GES")
    assert aimless.ges.graph == optima.ges.graph


def test_origin(optima, data):
    assert optima.names == data.names
    assert optima.states["CVP"] == data.states[data.names.index("CVP")]
    assert optima.cases == 600
    assert (optima.settings.k, optima.seed) == (0.8, 0)
    assert optima.seconds > 0


def test_equality(data, optima):
    assert optima == kes.learn(data, k=0.8, runs=60)
    assert optima != kes.learn(data, k=0.8, runs=59)
    assert optima != kes.learn(data, k=0.6, runs=60)
    assert optima != kes.learn(data, k=0.8, runs=60, improve=False)
    # An amount that is asked for is the same as if it is chosen.
    assert optima == kes.learn(data, k=0.8, runs=60, improve=600)
    assert optima != "optima"
    # ess is of no concern to bic
    assert optima == kes.learn(data, k=0.8, runs=60, ess=7)


def test_pickle_holds_no_data(optima, data):
    content = pickle.dumps(optima)
    again = pickle.loads(content)
    assert again == optima
    assert len(content) < data.codes.nbytes / 2
    with refused(option="data"):
        again.extend(1)


# --- extend and trace ----------------------------------------------------------------------------


def test_extend_after_loading(data, optima, loaded):
    assert loaded == optima
    assert loaded.seconds is None
    assert loaded.extend(10, data) == kes.learn(data, k=0.8, runs=70)
    assert loaded.extend(10, data=data).extend(5) == optima.extend(15)


def test_extend_takes_the_same_data_in_another_form(tmp_path):
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.integers(0, 3, (100, 4)), columns=list("wxyz"))
    frame["y"] = frame["x"] % 2
    optima = kes.learn(frame, runs=5)
    optima.save(tmp_path / "a.json")
    frame[["z", "y", "x", "w"]].sample(frac=1, random_state=0).to_csv(
        tmp_path / "a.csv", index=False
    )
    assert kes.load(tmp_path / "a.json").extend(5, tmp_path / "a.csv") == optima.extend(5)


def test_extend_keeps_what_it_extends(data):
    optima = kes.learn(data, k=0.8, runs=5)
    longer = optima.extend(5, n_jobs=1, budget="1h", patience=1000)
    assert longer == kes.learn(data, k=0.8, runs=10)
    assert (len(optima.runs), len(longer.runs)) == (5, 10)
    assert longer.ges.graph == optima.ges.graph


@pytest.mark.parametrize("run", [0, 59])
def test_trace_leads_step_by_step_to_the_optimum(data, optima, run):
    """Walk through the boundaries by hand: each step is a member, ranked as the table says."""
    graph = kes.EssentialGraph(data.names)
    table = optima.trace(run)
    for step in table:
        better = [n for n in kes.inclusion_boundary(graph, data) if n.delta > 1e-9]
        assert step["better"] == len(better)
        chosen = better[step["rank"] - 1]
        assert step["delta"] == pytest.approx(chosen.delta)
        [taken] = [
            n
            for n in better
            if (n.kind, n.x, n.y, n.given) == (step["kind"], step["x"], step["y"], step["given"])
        ]
        graph = taken.graph
    assert graph == optima[optima.run_optima[run]].graph
    assert list(table["step"]) == list(range(1, len(table) + 1))


def test_trace_of_a_greedy_run_takes_the_best(data):
    assert set(kes.learn(data, k=1, runs=1).trace(0)["rank"]) == {1}


def test_trace_after_loading(data, optima, loaded):
    assert loaded.trace(3, data) == optima.trace(3)


def test_trace_notices_that_the_run_has_changed(data, optima):
    """As it would if another version of the core drew other random numbers."""
    record = optima.record
    swapped = replace(record, runs=(record.runs[1], record.runs[0], *record.runs[2:]))
    assert record.runs[0] != record.runs[1]
    with refused("another version"):
        Optima(swapped).trace(0, data)


def test_nothing_is_read_or_counted_twice(data, monkeypatch, tmp_path):
    """All questions reuse the table that learn has encoded: none is encoded again."""
    optima = kes.learn(data, k=0.8, runs=5)
    counted = optima.problem.core.cached_terms

    def again(*args, **options):
        raise AssertionError("the problem is there already")

    for name in ("read_data", "core_problem"):
        monkeypatch.setattr(importlib.import_module("kes.search.problem"), name, again)
    assert optima.explain().better == 0
    assert len(optima.trace(0)) > 0
    assert optima.extend(1).problem is optima.problem
    assert optima.improve(tasks=5).extend(1).problem is optima.problem
    assert optima.compare(kes.datasets.alarm_network()).score_difference < 0
    # Evidence is searched for apart, and so are shuffled copies of the table.
    monkeypatch.setattr("kes.show.report.page.quick_noise", lambda *_, **__: None)
    optima.report(tmp_path / "a.html", evidence=False)
    assert optima.problem.core.cached_terms > counted, "it was this one that was used"


# --- display -------------------------------------------------------------------------------------


def test_a_fit_is_that_of_the_graph_with_every_option(data, optima):
    graph = optima.best.graph
    a, b = next((b, a) for a, b in graph.to_dag() if frozenset((a, b)) in graph.undirected)
    options = {
        "prior": "bdeu",
        "ess": 3.0,
        "prefer": [(a, b)],  # against the canonical DAG, so that the option shows
        "weights": np.arange(1.0, data.rows + 1),
    }
    network = optima.best.fit(data, **options)
    assert network == kes.fit(graph, data, **options)
    assert (a, b) in network.arcs
    assert network.graph == graph
    assert network != optima.best.fit(data)


def test_a_fit_says_which_data_it_needs():
    """Not that the kinds of the search, which the user never gave, name an unknown column."""
    rng = np.random.default_rng(4)
    table = pd.DataFrame(rng.normal(size=(60, 3)), columns=["age", "mass", "size"])
    best = kes.learn(table, runs=2).best
    with refused("^the data lack columns: 'age'; known: 'mass', 'size'$", column="age"):
        best.fit(table.drop(columns="age"))
    with refused(r"pass the data it was learned from, as in fit\(data\)", option="data"):
        best.fit()


def test_summary_says_what_matters(optima):
    text = repr(optima)
    run, ges, best = optima.best_run, optima.ges, optima.best
    assert len({run.hits, ges.hits, len(optima), len(optima.of_runs), 60}) == 5, "no two the same"
    above = sum(score > ges.score + 1e-6 for score in optima.run_scores)
    below = sum(score < ges.score - 1e-6 for score in optima.run_scores)
    for part in (
        f"{len(optima)} optima from 60 runs, GES and 600 tasks\n",
        "37 variables, 600 cases",
        "k=0.8, bic, seed 0",
        f"best score    {best.score:.4f}, {best.origin}\n",
        f"{len(best.graph.skeleton)} edges ({len(best.graph.directed)} directed",
        f"best run      {run.score:.4f}, {best.score - run.score:.4f} below the best, found by "
        f"{run.hits} of 60 runs, first by run {run.first_run}\n",
        f"{ges.score:.4f}: {above} of 60 runs better, {60 - above - below} equal, {below} worse",
        f"{len(optima.of_runs)} optima on {optima.levels} score level",
        "a higher score in 600 tasks",
    ):
        assert part in text


def test_summary_where_the_best_is_a_run(data):
    alone = kes.learn(data, k=0.8, runs=60, improve=False)
    text, best = repr(alone), alone.best
    assert f"{len(alone)} optima from 60 runs and GES\n" in text
    assert f"{best.score:.4f}, found by {best.hits} of 60 runs, first by run" in text
    assert "best run" not in text
    assert "improving     none" in text


def test_summary_names_settings_that_are_not_the_usual(data):
    text = repr(
        kes.learn(
            data,
            k=1,
            runs=1,
            criterion="bdeu",
            ess=5,
            max_parents=1,
            start=[("HR", "CVP")],
            improve=False,
        )
    )
    assert "1 optimum from 1 run and GES\n" in text
    assert "1 optimum on 1 score level\n" in text
    assert "k=1, bdeu, ess=5, seed 0, at most 1 parent, from a given start" in text
    assert "two phases" in repr(kes.learn(data, runs=1, two_phase=True))
    assert "sampled" in repr(kes.learn(data, runs=1, neighbourhood="sampled"))


def test_html_is_the_same_summary_and_escaped(optima):
    html = optima._repr_html_()
    assert html.startswith("<table>")
    assert html.count("<table>") == html.count("</table>")
    for line in repr(optima).splitlines()[1:]:
        assert escape(line.split("  ")[-1].strip()) in html


def test_scores_that_look_equal_are_not_called_better(monkeypatch):
    """A difference below the digits that are shown may be real; nobody can see it."""
    optima = kes.learn(kes.datasets.alarm(rows=200), k=0.4, runs=20, improve=False)
    ges, record = optima.ges.score, optima.record
    for gap, expected in ((2e-5, 0), (2e-4, 20)):
        assert record.level(ges + gap) > record.level(ges), "another level"
        models = tuple(replace(model, score=ges + gap) for model in record.models)
        moved = Optima(replace(record, models=models))
        standing = moved.ges_standing()
        assert (standing.better, standing.equal) == (expected, 20 - expected)
        assert f"{expected} of 20 runs better" in repr(moved)
