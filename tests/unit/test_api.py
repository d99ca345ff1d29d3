"""`kes.learn`: what each option promises, and that nothing but data and settings decides a run."""

import ast
import importlib
import itertools
import subprocess
import sys
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.clock import within
from tests.unit.refused import refused

import kes
from kes.search.collector import Collector
from kes.search.driver import Execution


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


@pytest.fixture(scope="module")
def optima(data):
    """Half greedy on few rows: many different optima."""
    return kes.learn(data, k=0.5, runs=60)


@pytest.fixture(scope="module")
def three():
    """Three dependent variables: small enough to look at every model."""
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, 200), rng.integers(0, 3, 200)
    c = (a + b + (rng.random(200) < 0.2)) % 3
    return pd.DataFrame({"a": a, "b": b, "c": c})


def all_graphs(nodes):
    """Every class over the nodes, from every choice of arcs that is acyclic."""
    pairs = list(itertools.combinations(nodes, 2))
    found = set()
    for choice in itertools.product((None, 0, 1), repeat=len(pairs)):
        arcs = [
            pair[::-1] if turned else pair
            for pair, turned in zip(pairs, choice, strict=True)
            if turned is not None
        ]
        try:
            found.add(kes.EssentialGraph.from_dag(nodes, arcs))
        except kes.KesError:
            continue  # a cycle
    return found


# --- the search ----------------------------------------------------------------------------------


@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu", "qnml"])
def test_runs_end_in_the_local_optima_of_all_models(three, criterion):
    """Brute force: with k=0 every local optimum that exists can be reached, and nothing else."""
    graphs = all_graphs(("a", "b", "c"))
    assert len(graphs) == 11
    local = {
        graph
        for graph in graphs
        if kes.inclusion_boundary(graph, three, criterion=criterion)[0].delta <= 1e-9
    }
    optima = kes.learn(three, k=0, runs=200, criterion=criterion)
    assert {optimum.graph for optimum in optima} <= local
    assert optima.best.graph == max(local, key=lambda g: kes.score(g, three, criterion=criterion))
    assert all(optimum.is_local_optimum for optimum in optima)


def test_scores_are_those_of_the_graphs(data, optima):
    for optimum in optima[:5]:
        assert optimum.score == kes.score(optimum.graph, data)


def test_ges_is_the_first_greedy_run(data, optima):
    greedy = kes.learn(data, k=1, runs=3)
    assert optima.ges.graph == greedy[greedy.run_optima[0]].graph
    assert greedy.ges.graph == optima.ges.graph
    assert greedy.ges.score == greedy.run_scores[0]


def test_max_parents_holds_for_every_dag_of_every_optimum(data):
    free = kes.learn(data, k=0.5, runs=20, criterion="aic")
    bound = kes.learn(data, k=0.5, runs=20, criterion="aic", max_parents=1)

    def most_parents(optima):
        arcs = (optimum.graph.to_dag() for optimum in optima)
        return max(max(np.unique([b for _, b in dag], return_counts=True)[1]) for dag in arcs)

    assert most_parents(bound) <= 1 < most_parents(free)
    assert kes.learn(data, runs=2, max_parents=0).best.graph.skeleton == frozenset()


def test_two_phases_never_go_back_to_insertions(data):
    optima = kes.learn(data, k=0.5, runs=10, two_phase=True)
    kinds = ["".join(kind[0] for kind in optima.trace(run)["kind"]) for run in range(10)]
    assert all("di" not in kind for kind in kinds)
    one_phase = kes.learn(data, k=0.5, runs=10)
    kinds = ["".join(kind[0] for kind in one_phase.trace(run)["kind"]) for run in range(10)]
    assert any("di" in kind for kind in kinds), "else the option is not tested by these data"


def test_a_local_optimum_is_where_a_search_from_it_stays(data, optima):
    best = optima.best
    again = kes.learn(data, runs=4, start=best.graph)
    assert [(own.graph, own.hits) for own in again.of_runs] == [(best.graph, 4)]
    by_arcs = kes.learn(data, runs=4, start=best.graph.to_dag())
    assert by_arcs == again


def test_start_may_lack_variables_of_the_data(three):
    start = kes.EssentialGraph(["c", "a"], undirected=[("a", "c")])
    assert kes.learn(three, runs=5, start=start) == kes.learn(three, runs=5, start=[("a", "c")])


def test_sampled_neighbourhood(three):
    """A generous sample of a small boundary ends where the exact search does."""
    exact = kes.learn(three, k=1, runs=1)
    sampled = kes.learn(three, k=1, runs=5, neighbourhood="sampled")
    assert sampled.best.graph == exact.best.graph
    assert sampled == kes.learn(three, k=1, runs=5, neighbourhood=kes.Sampled(reversals=10))
    assert sampled.settings != exact.settings
    hasty = kes.Sampled(reversals=0, failures=1)
    ends = kes.learn(kes.datasets.alarm(rows=400), k=0, runs=5, neighbourhood=hasty)
    # It gives up after one failed draw; improving then completes the run.
    assert not any(end.is_local_optimum for end in ends.of_runs)
    assert all(end.is_local_optimum for end in ends if "from" in end.origin)


# --- data ----------------------------------------------------------------------------------------


def test_weights_count_rows(three):
    counted = three.value_counts().rename("times").reset_index()
    by_name = kes.learn(counted, k=0.3, runs=10, weights="times")
    by_array = kes.learn(counted[["a", "b", "c"]], k=0.3, runs=10, weights=counted["times"])
    assert by_name == by_array == kes.learn(three, k=0.3, runs=10)


def test_missing_values(three):
    holes = three.astype("Int64")
    holes.loc[::7, "a"] = pd.NA
    assert kes.learn(holes, runs=5, missing="drop") == kes.learn(holes.dropna(), runs=5)
    assert len(kes.learn(holes, runs=5, missing="state").states["a"]) == 3


def test_forms_of_data_do_not_matter(three, tmp_path):
    three.to_csv(tmp_path / "three.csv", index=False)
    expected = kes.learn(three, runs=10)
    for data in (tmp_path / "three.csv", three.to_numpy()):
        other = kes.learn(data, runs=10)
        assert list(other.run_scores) == list(expected.run_scores)


def test_a_constant_column_is_noted_and_stays_alone(three):
    optima = kes.learn(three.assign(same="x"), runs=3)
    assert any("same" in note for note in optima.notes)
    assert all("same" not in edge for edge in optima.best.graph.skeleton)


# --- determinism ---------------------------------------------------------------------------------


@pytest.mark.parametrize("n_jobs", [1, 2, 4, -1])
def test_threads_do_not_matter(data, optima, n_jobs):
    assert kes.learn(data, k=0.5, runs=60, n_jobs=n_jobs) == optima


def test_more_threads_than_a_system_gives_are_not_asked_for(three):
    cores = Execution.parse().threads
    assert Execution.parse(n_jobs=3 * cores).threads == 3 * cores
    assert Execution.parse(n_jobs=100_000).threads == 4 * cores
    assert kes.learn(three, runs=5, n_jobs=100_000) == kes.learn(three, runs=5)


@pytest.mark.parametrize("patience", [None, 9])
def test_runs_handed_to_the_core_in_parts_are_the_same(data, optima, patience, monkeypatch):
    whole = kes.learn(data, k=0.5, runs=60, patience=patience)
    monkeypatch.setattr(importlib.import_module("kes.search.pipeline"), "_AT_ONCE", 7)
    parts = kes.learn(data, k=0.5, runs=60, patience=patience)
    assert parts == whole
    assert patience is not None or parts == optima


def test_runs_that_are_never_reached_cost_no_memory(three):
    tracemalloc.start()
    try:
        kes.learn(three, runs=10**15, patience=5, n_jobs=1)
        assert tracemalloc.get_traced_memory()[1] < 30e6, "five million run numbers take 200 MB"
    finally:
        tracemalloc.stop()


def test_cache_does_not_matter(data, optima):
    assert kes.learn(data, k=0.5, runs=60, cache_mb=1) == optima


def test_order_of_rows_does_not_matter(three):
    shuffled = three.sample(frac=1, random_state=1)
    assert kes.learn(shuffled, k=0.5, runs=20) == kes.learn(three, k=0.5, runs=20)


def test_fewer_runs_are_the_first_of_more(data, optima):
    fewer = kes.learn(data, k=0.5, runs=25)
    assert np.array_equal(fewer.run_scores, optima.run_scores[:25])
    assert fewer.extend(35) == optima, "improved models included"
    assert len(fewer.runs) == 25, "extend returns a new result"


def test_seed(data, optima):
    other = kes.learn(data, k=0.5, runs=60, random_state=1)
    assert not np.array_equal(other.run_scores, optima.run_scores)
    drawn = kes.learn(data, k=0.5, runs=5, random_state=None)
    assert kes.learn(data, k=0.5, runs=5, random_state=drawn.seed) == drawn
    assert kes.learn(data, runs=1, random_state=None).seed != drawn.seed


# --- stopping ------------------------------------------------------------------------------------


def expected_stop(scores, patience):
    """First length at which the last `patience` runs all fail to beat what came before."""
    for length in range(patience + 1, len(scores) + 1):
        if max(scores[length - patience : length]) <= max(scores[: length - patience]) + 1e-6:
            return length
    return len(scores)


@pytest.mark.parametrize("patience", [1, 3, 10, 1000])
@pytest.mark.parametrize("n_jobs", [1, 4])
def test_patience_stops_at_the_same_run_always(data, optima, patience, n_jobs):
    stopped = kes.learn(data, k=0.5, runs=60, patience=patience, n_jobs=n_jobs)
    length = expected_stop(optima.run_scores, patience)
    assert len(stopped.runs) == length
    assert stopped == kes.learn(data, k=0.5, runs=length)


def test_patience_counts_runs_that_are_there_already(data):
    stopped = kes.learn(data, k=0.5, runs=60, patience=3)
    assert stopped.extend(50, patience=3) == stopped
    assert len(stopped.extend(50).runs) == len(stopped.runs) + 50


def test_budget_keeps_a_prefix(data):
    with within(3):
        optima = kes.learn(data, k=0.5, runs=10**6, budget="0.4s")
    assert 1 < len(optima.runs) < 10**6
    few = kes.learn(data, k=0.5, runs=20)
    assert np.array_equal(optima.run_scores[:20], few.run_scores)


@pytest.fixture(scope="module")
def dense():
    """A table on which GES takes about a second: most columns depend on four others."""
    rng = np.random.default_rng(0)
    values = rng.normal(size=(1000, 150))
    for y in range(1, 150):
        values[:, y] += values[:, rng.choice(y, min(y, 4), replace=False)].sum(axis=1) / 2
    return values


def test_a_budget_bounds_ges(dense, monkeypatch, tmp_path):
    """The model reached by GES is the result, and marked; the same call starts again."""
    monkeypatch.setattr("kes.budget._LEAST_SECONDS", 0.0)
    out, call = tmp_path / "a.kes.json", {"k": 0.4, "runs": 1, "improve": False}
    with within(1):
        found = kes.learn(dense, budget=0.2, out=out, **call)
    assert (len(found), len(found.runs), found.best.origin) == (1, 0, "unfinished GES")
    assert len(found.best.graph.skeleton) > 0
    assert found.best.score == kes.score(found.best.graph, dense)
    assert not found.best.is_local_optimum
    assert "GES was stopped" in found.notes[-1]
    assert kes.load(out) == found
    whole = kes.learn(dense, out=out, **call)
    assert found.best.score < whole.ges.score
    assert found.extend(1) == whole == kes.load(out)
    assert whole.notes == found.notes[:-1]


def test_a_budget_that_is_over_before_ges_has_moved_is_an_error(monkeypatch):
    monkeypatch.setattr("kes.budget._LEAST_SECONDS", 0.0)
    wide = np.random.default_rng(0).integers(3, size=(30_000, 1000), dtype=np.int8)
    with refused(option="budget"):  # the clock is read ten times a second, and pairs take longer
        kes.learn(wide, budget=1e-9, n_jobs=1)


def test_a_budget_that_is_over_before_a_run_has_ended_gives_ges(dense, monkeypatch):
    monkeypatch.setattr(Collector, "stopped", True)
    found = kes.learn(dense[:, :20], k=0.4, runs=2, budget=1)
    assert "GES" in found.ancestry()["origin"][0]
    assert found.ges.is_local_optimum
    assert len(found.runs) == len(found.of_runs) == len(found.run_scores) == 0
    assert "no run has ended" in repr(found)
    assert set(found.edges()["search_support"]) == {0.0}
    assert found.gain == found.best.score - found.ges.score
    for ask in (found.coverage, lambda: found.best_run, lambda: found.trace(0)):
        with refused("ended"):
            ask()


def test_a_short_budget_takes_no_runs_away(data):
    done = kes.learn(data, runs=2)
    assert len(done.extend(1000, budget=1e-9).runs) >= 2


def test_the_shortest_budget_gives_a_run(data):
    optima = kes.learn(data, runs=1000, budget=1e-9)
    assert optima == kes.learn(data, runs=len(optima.runs), improve=False)


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("90", 90), ("1.5s", 1.5), ("5m", 300), ("1h30m", 5400), ("2 h", 7200), ("1d", 86400)],
)
def test_lengths_of_time(text, seconds):
    from kes.validation import duration as read

    assert read("budget", text) == seconds


def test_interrupt_during_ges_keeps_what_it_has_reached(dense, tmp_path):
    """And shows its steps from the beginning."""
    seen, out = [], tmp_path / "a.kes.json"

    def impatient(progress):
        seen.append(progress)
        if progress.done >= 3:
            raise KeyboardInterrupt

    with pytest.raises(kes.Interrupted) as caught:
        kes.learn(dense, progress=impatient, out=out)
    found = caught.value.optima
    assert {progress.unit for progress in seen} == {"steps"}
    assert len(found.best.graph.skeleton) >= 3
    assert found.best.score > kes.score([], dense)
    assert (found.best.origin, caught.value.file) == ("unfinished GES", str(out))
    assert kes.load(out) == found


# --- the package ---------------------------------------------------------------------------------


def test_import_loads_nothing_that_is_not_needed():
    """Whatever costs time at import is left to the functions that use it."""
    heavy = "click tqdm distributed dask pandas polars pyarrow matplotlib networkx sklearn scipy"
    code = f"import sys, kes; print([m for m in '{heavy}'.split() if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "[]\n"


def test_type_checkers_see_the_public_names():
    """The imports under TYPE_CHECKING are those that the package does when a name is used."""
    tree = ast.parse(Path(kes.__file__).read_text(encoding="utf-8"))
    [block] = [node for node in tree.body if isinstance(node, ast.If)]
    seen = {(node.module, alias.name) for node in block.body for alias in node.names}
    public = {(module, name) for module, names in kes._HOMES.items() for name in names.split()}
    assert seen == public | {("kes", "data"), ("kes", "datasets")}
    with_sklearn = {"KES", "KESClassifier", "KESRegressor"}
    # A star import would also hide a variable of the name `data`.
    assert set(kes.__all__) == {name for _, name in seen} - with_sklearn - {"data"}


def test_reports_can_read_a_table_with_one_import():
    """The lines of Python that repeat a result begin with ``import kes`` and no other import."""
    code = "import kes; print(kes.data.encode.__name__)"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout == "encode\n"


def test_public_names_exist():
    assert [name for name in kes.__all__ if not hasattr(kes, name)] == []
    assert kes.learn.__module__ == "kes.api"
