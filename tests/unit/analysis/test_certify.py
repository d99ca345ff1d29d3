"""`kes.certify`: what it promises, tells and refuses, with few variables and with many."""

import itertools
import math
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pandas as pd
import pytest
from tests.clock import within
from tests.unit.refused import refused

import kes
from kes.analysis.certificate import CertifyCost
from kes.analysis.certify import Incumbents, _subsets, certify, estimate
from kes.cli import run
from kes.exact.prover import Bounded, Bounding
from kes.search.problem import OtherData


@pytest.fixture(scope="module")
def alarm():
    """Few cases of all 37 variables: too many for dynamic programming, quick to bound."""
    return kes.datasets.alarm(rows=150)


@pytest.fixture(scope="module")
def table():
    data = kes.datasets.alarm(rows=300)
    return pd.DataFrame({name: data.codes[i] for i, name in enumerate(data.names[:10])})


@pytest.fixture(scope="module")
def optima(table):
    return kes.learn(table, k=0.2, runs=40)


def families(data, **options):
    core = kes.learn(data, runs=1, **options).problem.core
    return core, core.families(
        lambda _: True, max_parents=options.get("max_parents"), n_jobs=2, memory_mb=500
    )


# --- dynamic programming -------------------------------------------------------------------------


def test_everything_given_is_compared(table, optima):
    certificate = kes.certify(table, optima=optima)
    origins = [optimum.origin for optimum in optima]
    assert [name.removesuffix(", GES") for name in certificate.compared["network"]] == origins
    assert sum(name.endswith("GES") for name in certificate.compared["network"]) == 1
    scores = [optimum.score for optimum in optima]
    assert certificate.compared["score"] == pytest.approx(scores, abs=1e-9)
    assert certificate.compared["gap"] == pytest.approx(
        [certificate.score - score for score in scores], abs=1e-9
    )
    assert certificate.gap == 0


def test_a_graph_or_an_optimum_is_compared_too(table, optima):
    for given in (optima.best, optima.best.graph):
        certificate = kes.certify(table, optima=given)
        assert certificate.compared["network"] == ("given",)
        assert certificate.compared["score"] == (pytest.approx(optima.best.score),)


def test_the_summary_says_what_was_proven(table):
    text = repr(kes.certify(table, criterion="bdeu", ess=2.0, max_parents=3))
    assert text.startswith("Global optimum, proven\n  score")
    assert "bdeu (ess 2), all networks with at most 3 parents" in text
    assert "dynamic programming over all subsets" in text
    assert "sets counted" in text


def test_threads_do_not_matter(table):
    assert kes.certify(table, n_jobs=1) == kes.certify(table, n_jobs=3)


def test_weights_are_counts(table):
    counted = table.groupby(list(table.columns)).size().reset_index(name="n")
    weighted = kes.certify(counted, weights="n")
    assert weighted.score == pytest.approx(kes.certify(table).score, abs=1e-9)


def test_independent_groups_are_solved_one_by_one():
    """Pairs that are exactly independent of each other: the scores of their optima add up."""
    pairs = [[[30, 5], [10, 55]], [[40, 10], [10, 40]], [[25, 25], [5, 45]], [[1, 9], [60, 30]]]
    joint = np.einsum("ab,cd,ef,gh->abcdefgh", *(np.array(pair) / 100 for pair in pairs))
    table = pd.DataFrame(
        np.array(np.unravel_index(range(256), joint.shape)).T, columns=[*"abcdefgh"]
    )
    weights = 500 * joint.ravel()
    _, all_families = families(table, weights=weights)
    assert sorted(map(sorted, all_families.components)) == [[0, 1], [2, 3], [4, 5], [6, 7]]
    parts = [kes.certify(table[[*pair]], weights=weights) for pair in ("ab", "cd", "ef", "gh")]
    whole = kes.certify(table, weights=weights)
    assert whole.score == pytest.approx(sum(part.score for part in parts), abs=1e-6)


def test_progress_tells_the_estimate_first(table):
    seen = []
    kes.certify(table, progress=seen.append)
    assert isinstance(seen[0], kes.CertifyProgress)
    assert "10 variables that vary" in seen[0].stage


def test_the_estimate_bounds_what_is_done(table):
    for criterion in ("bic", "aic", "bdeu", "qnml"):
        expected = estimate(table, criterion=criterion)
        done = kes.certify(table, criterion=criterion)
        # The bounds of the criterion also need all variables together, and without each.
        assert done.counted <= expected.sets
        assert expected.bytes == 8 * 2**10
    assert estimate(table, max_parents=1).sets == 1 + 10 + 45


# --- beyond dynamic programming ------------------------------------------------------------------


def test_bound_and_dynamic_programming_agree(table, optima):
    """On data small enough for both, the programme over clusters ends at the same optimum."""
    pytest.importorskip("highspy")
    problem, all_families = families(table)
    best = kes.certify(table).score
    for known in (best, optima.ges.score):
        bounds = []
        found = Bounding(
            all_families,
            incumbent=known,
            tolerance=problem.tolerance,
            solve=lambda _: None,
            deadline=time.monotonic() + 60,
            report=bounds.append,
        ).upper_bound()
        assert found.exact
        assert min(bounds) >= best - 1e-6
        reached = known if found.arcs is None else problem.score(found.arcs)
        assert reached == pytest.approx(best, abs=1e-6)
        assert bounds == sorted(bounds, reverse=True)


def test_what_the_programme_leaves_is_solved_by_dynamic_programming(table):
    pytest.importorskip("highspy")
    problem, all_families = families(table)
    best = kes.certify(table).score

    def solve(fewer):
        solved = fewer.optimum(lambda _: True, n_jobs=1, memory_mb=10)
        return None if solved is None else Bounded(solved[1], True, solved[0], "")

    found = Bounding(
        all_families,
        incumbent=best - 1.0,
        tolerance=problem.tolerance,
        solve=solve,
        deadline=time.monotonic() + 60,
    ).upper_bound()
    assert found.exact
    assert "dynamic programming" in found.method
    assert problem.score(found.arcs) == pytest.approx(best, abs=1e-9)


def test_more_variables_than_memory_allows(alarm):
    pytest.importorskip("highspy")
    optima = kes.learn(alarm, k=0.4, runs=50, improve=300, max_parents=3)
    certificate = kes.certify(alarm, max_parents=3, optima=optima, memory_mb=256)
    assert certificate.upper_bound >= optima.best.score - 1e-9
    assert certificate.score >= optima.best.score - 1e-9
    assert certificate.proven
    again = kes.certify(alarm, max_parents=3, memory_mb=256)
    assert again.score == pytest.approx(certificate.score, abs=1e-6)


def test_a_budget_leaves_an_honest_gap(alarm):
    pytest.importorskip("highspy")
    optima = kes.learn(alarm, k=0.4, runs=20, max_parents=2)
    _, all_families = families(alarm, max_parents=2)
    found = Bounding(
        all_families,
        incumbent=optima.best.score,
        tolerance=optima.problem.core.tolerance,
        solve=lambda _: None,
        deadline=time.monotonic(),
    ).upper_bound()
    assert not found.exact
    assert found.upper_bound > optima.best.score
    assert "stopped by the budget" in found.method


# --- too little time or memory -------------------------------------------------------------------


def wide(variables, rows):
    """Many variables, each depending on the one before."""
    rng = np.random.default_rng(0)
    columns = [rng.integers(0, 3, rows)]
    for _ in range(variables - 1):
        columns.append(np.where(rng.random(rows) < 0.6, columns[-1], rng.integers(0, 3, rows)))
    return np.array(columns).T


@pytest.mark.parametrize(
    ("rows", "shortage"),
    [(150, {"memory_mb": 1}), (150, {"memory_mb": 16}), (1000, {"budget": 0.1})],
)
def test_without_all_families_there_is_a_bound(rows, shortage):
    """Whatever runs out, no network that is known scores more than the bound."""
    data = kes.datasets.alarm(rows=rows)  # with 1 000, finding all families takes over 2 s
    best = kes.learn(data, k=0.4, runs=50, criterion="aic").improve(tasks=300).best
    certificate = kes.certify(data, criterion="aic", optima=best, **shortage)
    assert not certificate.proven
    assert certificate.score == pytest.approx(best.score)
    assert best.score < certificate.upper_bound <= 0
    [option] = shortage
    assert f"{option} was too small to find all families" in certificate.method
    assert certificate.compared["gap"] == (pytest.approx(certificate.gap),)


def test_more_memory_lowers_the_bound(alarm):
    bounds = [
        kes.certify(alarm, criterion="aic", optima=kes.EssentialGraph(alarm.names), memory_mb=mb)
        for mb in (1, 4, 16)
    ]
    assert [c.upper_bound for c in bounds] == sorted((c.upper_bound for c in bounds), reverse=True)
    assert bounds[0].upper_bound > bounds[-1].upper_bound


def test_bounds_of_single_variables_can_be_stopped():
    """They need all variables at once, before the first set is counted; similar rows are worst."""
    rare = (np.random.default_rng(0).random((10_000, 300)) < 0.01).astype(int)
    with within(2):  # a minute where rows are sorted and that cannot stop
        certificate = kes.certify(rare, budget=0.5)
    assert certificate.score <= certificate.upper_bound <= 0


def test_the_search_for_a_network_keeps_to_the_budget():
    """With one parent at most all families are soon known; runs on 400 variables take longer."""
    pytest.importorskip("highspy")
    with within(5):
        certificate = kes.certify(wide(400, 1000), criterion="aic", max_parents=1, budget=3)
    assert certificate.score <= certificate.upper_bound


class Spied:
    """The core's problem, recording the number of threads of each search."""

    def __init__(self, problem, *, idle=False):
        self._problem, self._idle, self.seen = problem, idle, []

    def __getattr__(self, name):
        return getattr(self._problem, name)

    def search(self, *arguments, n_jobs, **options):
        self.seen.append(n_jobs)
        return None if self._idle else self._problem.search(*arguments, n_jobs=n_jobs, **options)

    def improve(self, *arguments, n_jobs, **options):
        self.seen.append(n_jobs)
        return None if self._idle else self._problem.improve(*arguments, n_jobs=n_jobs, **options)


def test_the_search_for_a_network_uses_the_threads_allowed(table):
    problem = kes.learn(table, runs=1).problem
    problem.__dict__["core"] = spied = Spied(problem.core)
    Incumbents(problem, None).search(3, time.monotonic() + 60)
    assert spied.seen == [3, 3, 3]  # GES, runs, tasks


def test_a_search_that_finds_nothing_in_time_leaves_the_network_without_arcs(table):
    problem = kes.learn(table, runs=1).problem
    problem.__dict__["core"] = Spied(problem.core, idle=True)
    incumbents = Incumbents(problem, None)
    incumbents.search(1, time.monotonic())
    none = kes.EssentialGraph(table.columns)
    assert incumbents.best == (pytest.approx(kes.score(none, table)), none)


@pytest.mark.parametrize("criterion", ["bic", "bdeu"])
def test_more_variables_than_a_float_has_powers_of_two(criterion):
    data = wide(1100, 30)
    assert "1100 variables that vary: too many" in str(estimate(data, criterion=criterion))
    with within(8):
        certificate = kes.certify(data, criterion=criterion, memory_mb=64, budget=2)
    assert certificate.score <= certificate.upper_bound <= 0


# --- what it refuses -----------------------------------------------------------------------------


def test_the_old_name_of_the_budget_is_told(table):
    with refused("did you mean budget", option="time_limit"):
        kes.certify(table, time_limit="10m")
    with refused(option="limit"):
        kes.certify(table, limit=1)


@pytest.mark.parametrize(
    ("option", "options"),
    [
        ("criterion", {"criterion": "aic"}),
        ("max_parents", {"max_parents": 2}),
        ("optima", {"optima": kes.EssentialGraph("ab")}),
        ("optima", {"optima": [("a", "b")]}),
    ],
)
def test_optima_of_another_search_are_refused(table, optima, option, options):
    with pytest.raises(kes.KesError) as wrong:
        kes.certify(table, **{"optima": optima, **options})
    assert wrong.value.option == option


def test_optima_of_other_data_are_refused(table, optima):
    with pytest.raises(OtherData):
        kes.certify(table.iloc[1:], optima=optima)


def test_the_extra_is_named(alarm, monkeypatch):
    monkeypatch.setitem(sys.modules, "highspy", None)
    empty = kes.EssentialGraph(alarm.names)
    with refused("pip install highspy"):
        kes.certify(alarm, max_parents=1, memory_mb=64, optima=empty, edge_prior=0)


# --- the command line ----------------------------------------------------------------------------


def test_command(table, optima, tmp_path, capsys):
    table.to_csv(tmp_path / "data.csv", index=False)
    result = kes.learn(tmp_path / "data.csv", k=0.2, runs=10, max_parents=2)
    result.save(tmp_path / "a.kes.json.gz")
    arguments = ["certify", str(tmp_path / "data.csv"), "--result", str(tmp_path / "a.kes.json.gz")]
    assert run(arguments) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("Global optimum, proven")
    assert "at most 2 parents" in shown.out
    assert "GES" in shown.out
    assert shown.err.startswith("10 variables that vary: at most")
    assert run([*arguments, "--progress"]) == 0
    assert capsys.readouterr().err.count("variables that vary") == 1
    assert run([*arguments, "--criterion", "aic"]) == 2
    assert "pass --criterion bic" in capsys.readouterr().err
    assert run([*arguments, "--time-limit", "5m"]) == 2
    assert "No such option '--time-limit'. Did you mean '--budget'?" in capsys.readouterr().err


@pytest.mark.parametrize("budget", ["60s", "0.01s"])
def test_what_the_command_saves_is_taken_by_others(table, tmp_path, capsys, budget):
    """Proven or, after a hundredth of a second, only bounded."""
    data, saved = tmp_path / "data.csv", tmp_path / "best.kes.json.gz"
    table.to_csv(data, index=False)
    certify = ["certify", str(data), "--max-parents", "2", "--budget", budget, "--out", str(saved)]
    assert run(certify) == 0
    best = kes.load(saved).best
    for arguments in (
        ["report", str(saved), "--data", str(data), "--out", str(tmp_path / "page.html")],
        ["convert", str(saved), str(tmp_path / "best.bif"), "--data", str(data)],
        ["convert", str(saved), str(tmp_path / "best.dot")],
        ["fit", str(saved), "--data", str(data), "--out", str(tmp_path / "fitted.bif")],
    ):
        assert run(arguments) == 0, capsys.readouterr().err
    for name in ("best.bif", "fitted.bif"):
        assert kes.read_network(tmp_path / name).graph == best.graph
    assert kes.read_graph(tmp_path / "best.dot") == best.graph
    assert (tmp_path / "page.html").stat().st_size > 0


@pytest.mark.skipif(os.name == "nt", reason="signals differ on Windows")
def test_ctrl_c_ends_it_within_a_second():
    process = subprocess.Popen(
        [sys.executable, "-m", "kes", "certify", "--example", "alarm", "--progress"],
        stderr=subprocess.PIPE,
        text=True,
    )
    for line in process.stderr:
        if line.startswith("counting"):
            break
    time.sleep(0.5)
    with within(1):
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130


def test_coil_has_a_known_optimum():
    """Found by an independent plain implementation: 38 s and 1.2 GB there."""
    path = os.path.join(
        os.path.dirname(__file__), "../../../../shared/data/coil/ticdata2000.csv.gz"
    )
    if not os.path.exists(path):
        pytest.skip("the CoIL data are not here")
    certificate = certify(kes.datasets.coil(path))
    assert certificate.score == pytest.approx(-25240.219, abs=1e-3)
    assert certificate.score / np.log(10) == pytest.approx(-10961.69, abs=1e-2)


def test_dense_continuous_tables_are_not_promised_too_soon():
    """Every set of parents survives there, so that comparing them grows with 4 to the n."""
    rng = np.random.default_rng(14)
    strength = np.tril(rng.normal(size=(13, 13)), -1)
    table = rng.normal(size=(500, 13)) @ np.linalg.inv(np.eye(13) - strength).T
    expected = estimate(table)
    started = time.process_time()
    certificate = kes.certify(table, n_jobs=1)
    spent = time.process_time() - started
    assert certificate.gap == 0
    assert spent < 20 * expected.seconds
    assert expected.seconds > 30 * estimate(table[:, :10]).seconds


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.4, "; less than a second of processor time"),
        (562.0, "; at most about 560 s of processor time, usually much less"),
        (3.6e10, "; more than a year of processor time in the worst case, usually much less"),
    ],
)
def test_the_estimate_tells_the_time_in_words(seconds, words):
    """A duration of centuries, to two digits, would be no information."""
    assert str(CertifyCost(variables=4, sets=16, bytes=128, seconds=seconds)).endswith(words)


def test_no_budget_is_advised_that_nobody_has():
    """In the worst case, 20 variables take hours, and 40, with 4^20 times the work, ages."""
    table = np.random.default_rng(2).normal(size=(200, 40))
    assert estimate(table[:, :20]).seconds < 24 * 3600
    with refused(r"about 1,000,000; .*, or raise budget or memory_mb$"):
        kes.certify(table[:, :20], budget=1)
    assert "more than a year" in str(estimate(table))
    with refused(r"with max_parents=3, or leave columns out$"):
        kes.certify(table, budget=1)


def test_the_estimate_counts_sets_and_ends_where_floats_do():
    """A table of 20 000 variables has more sets than any number, which nobody should wait for."""
    for n, most in itertools.product(range(8), range(9)):
        members = (itertools.combinations(range(n), size) for size in range(most + 1))
        assert _subsets(n, most) == sum(len(list(own)) for own in members)
    began = time.process_time()
    assert _subsets(20_000, 20_000) == math.inf
    assert time.process_time() - began < 2
