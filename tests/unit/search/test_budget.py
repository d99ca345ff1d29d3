"""Amounts that are left to `learn`: chosen by size and by what still improves, and proofs."""

import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from click.testing import CliRunner

import kes
from kes.budget import Budget, Improve, Size
from kes.cli import kes as command
from kes.exact import prover
from kes.results.optima import Optima
from kes.results.serialization import encoded
from kes.search import proof
from kes.search.driver import Execution
from kes.search.pipeline import search
from kes.search.problem import Problem
from kes.search.record import Proof

NO_NETWORK = "proven: no network scores higher"


@pytest.fixture(scope="module")
def trapped():
    """Twelve variables of which GES does not find the best network, by 11.7 nats."""
    data = kes.datasets.alarm(rows=500)
    return data.select(data.names[:12])


@pytest.fixture(scope="module")
def many():
    """Too many variables for dynamic programming: a linear programme is needed."""
    return kes.datasets.alarm(rows=200)


def searched(problem, runs, *, base=None, **amounts):
    return search(problem, Budget.parse(runs=runs, **amounts), Execution.parse(), base=base)


def greedy(data, **options):
    return kes.learn(data, k=1, runs=1, improve=False, **options)


# --- how much ------------------------------------------------------------------------------------


def test_a_number_of_runs_means_no_more_than_that():
    size = Size(10, 100)

    def chosen(runs, improve, prove):
        found = Budget.parse(runs=runs, improve=improve, prove=prove).for_size(size)
        return found.runs, found.improve.option, found.prove

    assert chosen(7, True, "auto") == (7, True, False)
    assert chosen(7, 50, True) == (7, 50, True)
    assert chosen(None, True, "auto") == (100, "auto", "auto")
    assert chosen(None, False, False) == (100, False, False)


def test_amounts_fall_with_the_size_but_never_to_nothing():
    numbers, lengths = (2, 10, 37, 200, 1000, 4096), (0, 1e4, 1e7, 1e9)
    discrete = [Size(n, rows) for n in numbers for rows in lengths]
    for size in (*discrete, *(Size(n, 0, columns=2 * n) for n in numbers)):
        assert 4 <= size.runs <= 100
        budget = Improve("auto").budget(100).settled_within(size)
        assert 1 <= budget.settling <= budget.tasks
        for larger in (replace(size, variables=2 * size.variables), replace(size, rows=1e10)):
            assert larger.runs <= size.runs
    assert Size(50, 10_000).runs == 100
    assert Size(1000, 10_000).runs < 10


def test_the_size_is_the_same_for_rows_and_for_counts_of_rows():
    table = np.repeat([[0, 1], [1, 0], [1, 1]], [30, 50, 20], axis=0)
    distinct, times = np.array([[0, 1], [1, 0], [1, 1]]), [30, 50, 20]
    by_rows, by_counts = kes.learn(table), kes.learn(distinct, weights=times)
    assert by_rows == by_counts
    assert Size.of([(0, 1), (0, 1)], 100.0).rows == 4
    assert Size.of([(0, 1), ()], 100.0).rows == 0  # moments are all that is looked at
    assert Size.of([(0, 1), ()], 100.0).columns == 2
    assert Size.of([(0, 1, 2), (), (7,)], 100.0).columns == 2 + 1 + 1


def test_on_continuous_tables_runs_and_orders_leave_time_for_tasks():
    """Runs take most of a minute on 1000 variables: few of them, and a part for the rest."""
    few, many = Size(50, 0, columns=50), Size(1000, 0, columns=1000)
    assert (few.runs, many.runs) == (100, 4)
    assert Improve("auto").budget(100).settled_within(few).settling == 1000
    assert 100 < Improve("auto").budget(4).settled_within(many).tasks < 1000


@pytest.mark.parametrize("of_numbers", [False, True])
def test_a_variable_more_changes_what_is_chosen_by_little(of_numbers):
    """Also where the number of variables is many enough for other rules."""
    for n in range(20, 1100):
        sizes = [Size(m, 0, columns=m) if of_numbers else Size(m, 500) for m in (n, n + 1)]
        for amount in ("runs", "tasks"):
            before, after = (getattr(size, amount) for size in sizes)
            assert abs(after - before) <= max(1, 0.1 * before)


def test_improving_ends_when_the_last_third_finds_no_higher_score(many):
    optima = kes.learn(many, k=0.4, prove=False)
    tasks, rises = optima.tasks, [task for task in optima.history()["task"] if task is not None]
    assert rises
    latest = -1
    for task in rises:  # until each of them, it was not yet time to end
        assert task < max(1000, 1.5 * (latest + 1) + 1)
        latest = task
    assert tasks == max(1000, -(-3 * (latest + 1) // 2))
    assert "none in the last third" in repr(optima)
    assert (
        optima.record.offspring == kes.learn(many, k=0.4, runs=100, improve=tasks).record.offspring
    )


def test_improving_goes_on_as_long_as_it_pays(many, monkeypatch):
    """With just enough tasks for the last rise, half as many follow."""
    rises = kes.learn(many, k=0.4, runs=100, improve=2000).history()["task"]
    enough = rises[-1] + 1
    monkeypatch.setattr("kes.budget.MAX_TASKS", enough)
    optima = kes.learn(many, k=0.4, prove=False, n_jobs=1)
    assert optima.tasks == -(-3 * enough // 2) < 2000
    assert optima.history()["task"] == rises
    assert optima == kes.learn(many, k=0.4, prove=False, n_jobs=3)


def test_one_more_search_with_all_amounts_chosen_is_that_with_these_amounts(trapped):
    longer = kes.learn(trapped).extend(30)
    problem = Problem.of(trapped, {})
    at_once = searched(problem, 130, improve="auto", prove="auto")
    assert encoded(longer.record) == encoded(at_once)


# --- proofs --------------------------------------------------------------------------------------


def test_the_best_network_joins_the_list(trapped):
    optima = greedy(trapped, prove=True)
    certificate = kes.certify(trapped)
    assert certificate.proven
    assert certificate.score > optima.ges.score + 1
    assert optima.best.score == certificate.score == optima.proof.upper_bound
    assert (optima.best.origin, optima.best.hits) == ("exact", 0)
    assert optima.best.is_local_optimum
    assert optima.proven
    assert [optimum.proven for optimum in optima] == [True, False]
    assert list(optima.history()["origin"]) == ["run 0", "exact"]
    assert NO_NETWORK in repr(optima)
    assert optima.best.fit(trapped).nodes == trapped.names


def test_a_network_that_was_found_is_proven_and_not_doubled(trapped):
    optima = kes.learn(trapped)
    assert optima.proven
    assert optima.best.origin != "exact"
    assert [optimum.score for optimum in optima].count(optima.best.score) == 1
    assert optima.best.score == greedy(trapped, prove=True).best.score


def test_where_bounds_do_not_meet_all_subsets_are_tried(trapped, monkeypatch):
    """With more memory than at first, which here is none at all."""
    expected = greedy(trapped, prove=True)
    monkeypatch.setattr(proof, "QUICK_MB", 0)
    monkeypatch.setattr(prover.importlib.util, "find_spec", lambda name: None)  # no HiGHS
    found = greedy(trapped, prove=True)
    assert found.proof.proven
    assert found.proof.upper_bound == expected.proof.upper_bound
    assert found.best == expected.best


def test_a_proof_is_about_the_networks_that_are_allowed(trapped):
    free = kes.learn(trapped)
    few = greedy(trapped, max_parents=1, prove=True)
    known = kes.Knowledge(apart=[tuple(sorted(next(iter(free.best.graph.skeleton))))])
    told = greedy(trapped, knowledge=known, prove=True)
    assert few.best.score == kes.certify(trapped, max_parents=1).score < free.best.score
    assert told.best.score == kes.certify(trapped, knowledge=known).score < free.best.score
    assert "proven: no network with at most 1 parent scores higher" in repr(few)
    assert "proven: no network that satisfies the knowledge scores higher" in repr(told)


def test_a_given_number_of_runs_proves_nothing_by_itself(trapped):
    optima = greedy(trapped)
    assert optima.proof is None
    assert not optima.proven
    assert "proof" not in repr(optima)


def test_no_proof_is_started_where_it_would_take_long():
    def allowed(data, prove="auto", **options):
        return proof.proof_budget(Problem.of(data, options), prove)

    rng = np.random.default_rng(0)
    wide = rng.integers(2, size=(1000, 200))
    continuous = rng.normal(size=(100, 30))
    assert allowed(wide[:, :30]) is not None
    assert allowed(wide) is None  # 1.3 million sets of three
    assert allowed(wide[:, :30], prove=False) is None
    assert allowed(continuous) is None  # a thousand million sets, none of which can be left out
    assert allowed(continuous[:, :12]) is not None
    assert allowed(continuous, max_parents=2) is not None
    assert allowed(rng.normal(size=(8, 1100))) is None  # more sets than a float can count
    assert kes.learn(continuous, improve=False).proof is None


@pytest.mark.parametrize("seconds", [1e-9, 5e-3])
def test_a_proof_that_is_too_much_leaves_the_result_as_it_was(many, monkeypatch, seconds):
    """However many sets are counted by the time it is told to stop."""
    monkeypatch.setitem(proof._COUNTING, "many variables", seconds)
    monkeypatch.setitem(proof._START, "many variables", 9.0)
    one, three = (kes.learn(many, n_jobs=jobs) for jobs in (1, 3))
    assert one.proof == Proof(
        False, None, "stopped, as there are too many families", int(seconds / 2.8e-6), 0
    )
    assert encoded(one.record) == encoded(three.record)
    assert one.record.offspring == kes.learn(many, prove=False).record.offspring
    assert "none: stopped, as there are too many families" in repr(one)


@pytest.fixture(scope="module")
def proven(many):
    return kes.learn(many, n_jobs=1)


def test_a_bound_that_was_reached_is_kept(many, proven, monkeypatch):
    monkeypatch.setattr(proof, "_AUTO", replace(proof._AUTO, rounds=2, nodes=1))
    one, three = (kes.learn(many, n_jobs=jobs) for jobs in (1, 3))
    assert encoded(one.record) == encoded(three.record)
    assert not one.proven
    assert one.proof.upper_bound >= proven.best.score, "the highest there is"
    assert "none, but no network scores higher than" in repr(one)


def test_a_linear_programme_proves_the_same_with_any_number_of_threads(many, proven):
    assert proven.proven
    assert encoded(proven.record) == encoded(kes.learn(many, n_jobs=3).record)


def test_a_proof_ends_with_the_budget(trapped):
    optima = greedy(trapped, prove=True, budget=1e-6)
    assert optima.proof is None


def test_files_hold_proofs(trapped, tmp_path):
    optima = greedy(trapped, prove=True)
    optima.save(tmp_path / "a.kes.json")
    again = kes.load(tmp_path / "a.kes.json")
    assert again == optima
    assert again.best.proven
    assert again.best.origin == "exact"
    more = again.improve(tasks=20, data=trapped)
    assert more.proven
    assert more.best.origin == "exact"
    assert more.extend(2).best.score == optima.best.score


def weaker(upper_bound):
    return Proof(False, upper_bound, "by hand", 0, 0)


def test_a_proof_holds_whatever_the_runs_are(trapped):
    """Neither fewer tasks, nor a budget that is too short, nor no proof asked for takes it away."""
    exact = greedy(trapped, prove=True)
    problem = exact.problem
    more = searched(problem, 4, base=exact.record)
    assert Optima(more).best.graph == exact.best.graph
    assert more.proof == exact.proof
    chosen = kes.learn(trapped)
    for hasty in (exact.extend(1, budget=1e-6), chosen.extend(1, budget=1e-6)):
        assert hasty.proven
        assert hasty.best.score == exact.best.score
    bare = searched(chosen.problem, 101, base=chosen.record)
    assert bare.proof.proven
    assert max(model.score for model in bare.pool) == exact.best.score
    at_once = greedy(trapped).extend(3).record
    again = searched(problem, 4, prove=True, base=more)
    assert replace(again.unproven(), prove=False) == at_once


def test_a_short_budget_takes_no_model_away(many, monkeypatch):
    """It is over when there is one more run, so that no task is done."""

    def cut(session):
        session.cut = True
        return True

    good = kes.learn(many, k=0.4, runs=10)
    assert good.gain > 0
    monkeypatch.setattr("kes.search.improve._Session._is_over", cut)
    hasty = good.extend(1)
    assert len(hasty.runs) == 11
    assert hasty.best.score >= good.best.score
    assert hasty.ancestry()["origin"][0].startswith(("run", "GES"))


def test_a_proof_is_replaced_only_by_a_stronger_one(trapped, monkeypatch):
    exact = greedy(trapped, prove=True)
    score = exact.best.score
    assert proof.with_proof(exact.record, weaker(score + 1), None) == exact.record
    assert weaker(-9.0).is_stronger_than(weaker(None))
    assert weaker(-9.0).is_stronger_than(weaker(-8.0))
    assert not weaker(-9.0).is_stronger_than(exact.proof)
    assert not weaker(-9.0).is_stronger_than(weaker(-9.0))
    bounded = replace(greedy(trapped).record, prove=True, proof=weaker(score + 1))
    monkeypatch.setitem(proof._COUNTING, "few variables", 1e-9)
    monkeypatch.setitem(proof._START, "few variables", 9.0)
    kept = searched(exact.problem, 2, prove="auto", base=bounded)
    assert (kept.proof, kept.prove) == (bounded.proof, True)
    monkeypatch.undo()
    assert searched(exact.problem, 3, prove="auto", base=kept).proof.proven


@pytest.mark.parametrize(
    ("most", "left", "goes_on", "work"),
    [
        (11, 1e9, [True, False], (11, 0)),
        (12, 1e9, [True, True], (12, 7)),
        (12, -1.0, [False, False], (12, 7)),  # the budget is over
    ],
)
def test_work_that_is_stopped_by_chance_is_told_without_it(trapped, most, left, goes_on, work):
    """Out of memory or enough counted: whichever a thread meets first, the proof says the same."""
    told = []

    class Core:
        total_weight = 100.0

        def families(self, going_on, **_):
            told.extend(going_on(counted) for counted in (11, 12))
            return SimpleNamespace(lacking="memory", counted=12, sizes=[3, 4])

    problem = Problem.of(trapped, {})
    record = greedy(trapped).record
    problem.__dict__["core"] = Core()
    found, model = proof.attempt(
        problem,
        record,
        replace(proof._AUTO, sets=most),
        threads=1,
        deadline=time.monotonic() + left,
        report=lambda *_, **__: None,
    )
    assert model is None
    assert told == goes_on
    assert (found.counted, found.families) == work


def test_an_interrupted_proof_leaves_improving_to_be_done(many, monkeypatch):
    """It was not improved in full only because a proof was to follow."""
    enough = kes.learn(many, k=0.4, runs=100, improve=200).history()["task"][-1] + 1
    monkeypatch.setattr("kes.budget.MAX_TASKS", enough)  # half as many are to follow

    def interrupted(*_, **__):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(proof, "attempt", interrupted)
        with pytest.raises(kes.Interrupted) as stop:
            kes.learn(many, k=0.4)
    found = stop.value.optima
    assert found.tasks == enough
    assert not found.record.improving.complete
    full = searched(found.problem, 100, improve="auto", base=found.record)
    assert full == kes.learn(many, k=0.4, prove=False).record
    assert full.improving.complete
    assert full.improving.own > enough


def test_settings_are_checked(trapped):
    with pytest.raises(kes.KesError) as wrong:
        kes.learn(trapped, prove="yes")
    assert wrong.value.option == "prove"


# --- the command ---------------------------------------------------------------------------------


def learn(*words):
    done = CliRunner().invoke(command, ["learn", *map(str, words)])
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture
def table(trapped, tmp_path):
    path = tmp_path / "data.csv"
    rows = [",".join(trapped.names), *(",".join(map(str, row)) for row in trapped.codes.T)]
    path.write_text("\n".join(rows) + "\n")
    return path


def test_the_same_command_twice_finds_nothing_to_do(table, tmp_path):
    out = tmp_path / "a.kes.json"
    assert NO_NETWORK in learn(table, "--out", out)
    before = out.read_bytes()
    assert "all of this was in" in learn(table, "--out", out)
    assert out.read_bytes() == before
    assert kes.load(out) == kes.learn(table)


def test_the_command_says_how_to_do_more(table, tmp_path):
    out = tmp_path / "a.kes.json"
    shown = learn(table, "--no-prove", "--out", out)
    assert "To search further: add --improve-tasks 2000" in shown
    assert f"kes certify {out}" in shown
    assert "To search further" not in learn(table, "--runs", 3)
    assert NO_NETWORK in learn(table, "--runs", 1, "--no-improve", "--prove")


def test_certify_saves_the_best_network(table, tmp_path):
    """With the search that it does by itself, and with a result of GES alone, which is lower."""
    learn(table, "--k", 1, "--runs", 1, "--no-improve", "--out", tmp_path / "ges.kes.json")
    best = kes.learn(table).best
    for given in ([], ["--result", str(tmp_path / "ges.kes.json")]):
        out = tmp_path / f"{len(given)}.kes.json.gz"
        done = CliRunner().invoke(command, ["certify", str(table), "--out", str(out), *given])
        assert done.exit_code == 0, done.output
        assert f"Saved to {out}" in done.output
        saved = kes.load(out)
        assert saved.proven
        assert saved.best.graph == best.graph
        assert saved.best.score == best.score
        saved.report(tmp_path / "page.html", data=table)
    assert saved.best.origin == "exact"
    assert saved.ges.origin == "run 0"
