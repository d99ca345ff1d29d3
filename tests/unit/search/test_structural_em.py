"""Missing values that are filled in: the stack, the search on it, files, and what is said of it."""

from __future__ import annotations

import json
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.cli import run
from kes.data import Incomplete, encode, encode_incomplete
from kes.data.random_stream import Stream
from kes.data.resampling import Stack
from kes.errors import KesError
from kes.network.fitting import Estimates
from kes.network.gibbs import SWEEPS, OutOfTime
from kes.results.record_parts import completion_from_json, completion_to_json
from kes.search import structural_em
from kes.search.problem import Problem


def with_gaps(frame: pd.DataFrame, share: float, seed: int = 0) -> pd.DataFrame:
    """Take out values completely at random."""
    return frame.mask(np.random.default_rng(seed).random(frame.shape) < share)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Eight variables of ALARM in 800 cases, a tenth of the values missing."""
    names = ["HYPOVOLEMIA", "LVFAILURE", "HISTORY", "LVEDVOLUME", "CVP", "PCWP", "STROKEVOLUME"]
    frame = kes.datasets.alarm(rows=800).to_pandas()[names].astype(str)
    return with_gaps(frame, 0.1)


@pytest.fixture(scope="module")
def optima(table) -> kes.Optima:
    return kes.learn(table, missing="em", runs=20)


class TestStack:
    def stack(self, frame: pd.DataFrame, completions: int = 5, **options) -> Stack:
        table = encode_incomplete(frame, missing="em", **options)
        assert isinstance(table, Incomplete)
        stack = Stack(table, completions)
        stack.scatter(Stream(0))
        return stack

    def test_complete_cases_once_and_others_m_times_at_an_mth(self):
        frame = pd.DataFrame({"a": ["u", "v", None, "u"], "b": ["x", "y", "x", None]})
        filled = self.stack(frame).dataset()
        assert sorted(filled.weights) == pytest.approx([0.2] * 10 + [1, 1])
        whole = filled.to_pandas()[filled.weights == 1]
        assert whole.to_numpy().tolist() == [["u", "x"], ["v", "y"]]
        copies = filled.to_pandas()[filled.weights < 1]
        assert sorted(copies["a"]) >= ["u"] * 5  # what is there stays
        assert ((copies["a"] == "u") | (copies["b"] == "x")).all()

    @pytest.mark.parametrize("weight", [3.0, 2.5, 0.25])
    def test_a_row_of_weight_w_has_as_many_copies_as_it_has_cases(self, weight):
        """With fewer, the chance of a single draw would count like many cases."""
        frame = pd.DataFrame({"a": ["u", "v", "u"], "b": ["x", "y", None], "w": [4, 4, weight]})
        filled = self.stack(frame, 5, weights="w").dataset()
        copies = filled.weights[filled.weights < 4]
        assert len(copies) == 5 * np.ceil(weight)
        assert copies.sum() == pytest.approx(weight)

    def test_rows_of_weight_zero_have_none(self):
        frame = pd.DataFrame({"a": ["u", "v", "u"], "b": ["x", "y", None], "w": [4, 4, 0]})
        assert self.stack(frame, weights="w").dataset().rows == 2

    def test_neither_the_order_of_rows_nor_their_counting_matters(self, table):
        shuffled = table.sample(frac=1, random_state=3)
        counted = table.fillna("?").value_counts().rename("n").reset_index().replace("?", None)
        tables = [
            self.stack(table),
            self.stack(shuffled),
            self.stack(counted.sample(frac=1, random_state=1), weights="n"),
        ]
        first = tables[0].dataset()
        for other in (stack.dataset() for stack in tables[1:]):
            assert np.array_equal(other.codes, first.codes)
            assert np.array_equal(other.weights, first.weights)

    def test_the_first_filling_has_the_frequencies_of_what_is_there(self):
        rng = np.random.default_rng(0)
        frame = pd.DataFrame({"a": rng.choice(["u", "v"], 3000, p=[0.2, 0.8]), "b": ["x"] * 3000})
        frame.loc[1000:, "a"] = None
        stack = self.stack(frame, 1)
        observed = (frame["a"][:1000] == "u").mean()
        drawn = (stack.copies[0] == 0).mean()
        assert abs(drawn - observed) < 4 * np.sqrt(0.2 * 0.8 / 2000)

    def test_too_many_copies(self):
        frame = pd.DataFrame({"a": ["u", None, "v"], "b": ["x", "y", "x"], "w": [1e12] * 3})
        with refused(option="completions"):
            self.stack(frame, weights="w")

    def test_a_part_in_which_a_variable_is_never_there(self):
        table = encode_incomplete(
            pd.DataFrame({"a": ["u", None, "v"], "b": ["x", "y", "x"]}), missing="em"
        )
        part = table.take(np.array([1]), None)
        stack = Stack(part, 3)
        stack.scatter(Stream(0))
        assert set(stack.copies[0]) <= {0, 1}

    def test_resamples_in_which_a_number_is_never_there(self):
        """Of three cases that hold a number, half of the cases often have none."""
        rng = np.random.default_rng(0)
        frame = pd.DataFrame(rng.normal(size=(20, 2)), columns=["a", "b"])
        frame.loc[3:, "a"] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            kes.stability(frame, missing="em", resamples=20, runs=1, improve=False)


class TestSearch:
    def test_the_same_seed_gives_the_same_bytes_for_any_order_of_rows(
        self, table, optima, tmp_path
    ):
        again = kes.learn(table.sample(frac=1, random_state=5), missing="em", runs=20, n_jobs=1)
        paths = [tmp_path / "a.kes.json", tmp_path / "b.kes.json"]
        optima.save(paths[0])
        again.save(paths[1])
        assert paths[0].read_bytes() == paths[1].read_bytes()

    def test_another_seed_fills_in_other_values(self, table, optima):
        other = kes.learn(table, missing="em", runs=20, random_state=1)
        assert other.record.fingerprint != optima.record.fingerprint

    def test_without_gaps_it_is_as_if_nothing_had_been_said(self, table):
        whole = table.dropna()
        plain, em = (kes.learn(whole, runs=10, missing=how) for how in ("error", "em"))
        assert plain == em
        assert plain.notes == em.notes
        assert em.record.completion is None

    def test_the_result_says_what_was_done(self, table, optima):
        completion = optima.record.completion
        assert completion.cells == tuple(table.isna().sum())
        assert 1 <= completion.rounds <= 20
        assert optima.cases == pytest.approx(len(table))
        assert any("filled in from the model" in note for note in optima.notes)
        text = repr(optima)
        assert f"{table.isna().sum().sum()} imputed, 5 times each, by " in text
        assert "of the completed table" in text

    def test_a_budget_ends_filling_too_and_the_table_can_be_made_again(
        self, table, optima, tmp_path, monkeypatch
    ):
        """The clock is over after one round; whoever has the data gets the same values again."""
        monkeypatch.setattr("kes.budget._LEAST_SECONDS", 100.0)  # for a round on a busy machine
        assert optima.record.completion.rounds > 1
        hasty = kes.learn(table, missing="em", runs=3, budget=1e-6)
        done = hasty.record.completion
        assert (done.rounds, done.settled) == (1, False)
        assert "by 1 round of EM, stopped before convergence by a budget" in repr(hasty)
        assert hasty.record.fingerprint != optima.record.fingerprint
        hasty.save(tmp_path / "a.kes.json")
        again = kes.load(tmp_path / "a.kes.json").extend(2, table)
        assert again.record.completion == done
        assert again == hasty.extend(2)
        assert kes.certify(table, missing="em", optima=hasty).score >= hasty.best.score

    @pytest.mark.parametrize("last_call", [40, 90, 150, 250])
    def test_a_budget_ends_filling_anywhere_and_the_same_sweeps_can_be_done_again(
        self, table, last_call
    ):
        """As the clock is looked at for each node and each column with gaps, not once a round."""
        problem = Problem.of(table, {"missing": "em"})
        how = problem.settings, problem.reading.completions, problem.cache_mb
        calls = 0

        def keep_going(_: int) -> bool:
            nonlocal calls
            calls += 1
            return calls < last_call

        filled, done = structural_em.complete(problem.table, *how, keep_going=keep_going)
        assert calls == last_call, "the first no ends it"
        assert not done.settled
        if last_call == 40:  # of 14 in a sweep
            assert done.rounds == 1
            assert 0 < done.sweeps < SWEEPS
        bare = replace(done, imputed=())
        again, same = structural_em.complete(problem.table, *how, again=bare)
        assert (same, same.imputed) == (done, done.imputed)
        assert np.array_equal(again.codes, filled.codes)
        read = completion_from_json(
            json.loads(json.dumps(completion_to_json(done))), filled.names, filled.states
        )
        assert read == done

    def test_a_budget_that_ends_before_a_single_sweep_is_too_short(self, table, monkeypatch):
        """The first filling ignores all dependences: a network from it would lack edges."""

        def slow(*_):
            raise OutOfTime

        monkeypatch.setattr("kes.network.gibbs.sweep", slow)
        with refused("impute", option="budget"):
            kes.learn(table, missing="em", budget="1s")

    def test_there_are_no_more_rounds_than_there_may_be(self, table, optima, monkeypatch):
        monkeypatch.setattr(structural_em, "MAX_ROUNDS", optima.record.completion.rounds - 1)
        done = kes.learn(table, missing="em", runs=1).record.completion
        assert (done.rounds, done.settled) == (optima.record.completion.rounds - 1, False)

    def test_filling_takes_the_threads_and_tells_its_progress(self, table, monkeypatch):
        used, seen = [], []
        own = structural_em.best_of

        def best(*given, threads, **more):
            used.append(threads)
            return own(*given, threads=threads, **more)

        monkeypatch.setattr(structural_em, "best_of", best)
        kes.learn(table, missing="em", runs=1, improve=False, n_jobs=3, progress=seen.append)
        assert set(used) == {3}
        assert {progress.unit for progress in seen} == {"rounds", "steps", "runs"}
        assert seen[0].done == 0, "the first model is there before the first round"

    def test_an_interrupt_while_filling(self, table, monkeypatch):
        def interrupted(*_, **__):
            raise KeyboardInterrupt

        monkeypatch.setattr("kes.search.structural_em.impute", interrupted)
        with pytest.raises(kes.Interrupted) as stop:
            kes.learn(table, missing="em")
        assert stop.value.optima is None

    def test_k_does_not_matter_for_what_is_filled_in(self, table, optima):
        """So that searches, sweeps, scores and proofs are about one table."""
        greedy = kes.learn(table, missing="em", runs=1, k=1.0, two_phase=True)
        assert greedy.record.fingerprint == optima.record.fingerprint
        score = kes.score(optima.best.graph, table, missing="em")
        assert score == optima.best.score
        certificate = kes.certify(table, missing="em", optima=optima)
        assert certificate.proven

    def test_max_parents_hold_inside_too(self, table):
        limited = kes.learn(table, missing="em", runs=3, max_parents=0)
        assert all(not any(optimum.edges) for optimum in limited)

    def test_a_loaded_result_repeats_the_filling(self, table, optima, tmp_path):
        optima.save(tmp_path / "a.kes.json.gz")
        loaded = kes.load(tmp_path / "a.kes.json.gz")
        assert loaded == optima
        assert loaded.record.reading == optima.record.reading
        more = loaded.extend(5, data=table.sample(frac=1, random_state=2))
        assert more == optima.extend(5)
        with refused(option="data"):
            loaded.extend(5, data=with_gaps(table, 0.01, seed=9))

    def test_completions(self, table):
        once = kes.learn(table, missing="em", runs=3, completions=1)
        filled = once.problem.dataset
        whole = filled.rows - int(table.isna().any(axis=1).sum())
        assert whole == len(table.dropna().drop_duplicates()), "one copy of each case with gaps"
        assert once.record.reading.completions == 1
        with pytest.raises(KesError) as wrong:
            kes.learn(table, missing="em", completions=0)
        assert wrong.value.option == "completions"

    @pytest.mark.parametrize(
        "options",
        [
            {"random_state": 7},
            {"max_parents": 1},
            {"knowledge": kes.Knowledge(forbidden=[("CVP", "LVEDVOLUME"), ("LVEDVOLUME", "CVP")])},
        ],
        ids=["seed", "parents", "knowledge"],
    )
    def test_scores_are_those_of_a_search_with_the_same_options(
        self, table, options, tmp_path, capsys
    ):
        """All of them have a say in the completed table."""
        found = kes.learn(table, missing="em", runs=5, **options)
        best = found.best
        assert kes.score(best.graph, table, missing="em", **options) == best.score
        assert kes.score(best.graph, table, missing="em") != best.score
        boundary = kes.inclusion_boundary(best.graph, table, missing="em", **options)
        assert boundary[0].delta <= found.record.tolerance
        found.save(tmp_path / "a.kes.json")
        table.to_csv(tmp_path / "a.csv", index=False)
        assert run(["score", str(tmp_path / "a.csv"), str(tmp_path / "a.kes.json")]) == 0
        assert capsys.readouterr().out.startswith(f"{best.score:.4f} ")

    def test_resamples_fill_in_anew(self, table):
        """A resample of an incomplete table is incomplete, and what fills it is its own."""
        stability = kes.stability(table, missing="em", resamples=3, runs=2, improve=5)
        assert stability.resamples == 3
        assert stability.cases == len(table) // 2


def test_dropping_rows_by_what_is_observed_makes_an_edge_and_filling_in_does_not():
    """Missing at random: z is missing where x and y are both 1, so the rest depend on each other.

    Among complete rows, x = 1 excludes y = 1: dropping the others conditions on a common effect.
    """
    rng = np.random.default_rng(0)
    x, y = rng.integers(0, 2, 2000), rng.integers(0, 2, 2000)
    z = np.where(rng.random(2000) < 0.9, x, 1 - x).astype(float)
    z[(x == 1) & (y == 1)] = np.nan
    frame = pd.DataFrame({"x": x, "y": y, "z": pd.array(z).astype("Int64")})

    def edges(how: str) -> set:
        graph = kes.learn(frame, missing=how, runs=10).best.graph
        return set(graph.skeleton)

    pair = frozenset(("x", "y"))
    assert pair in edges("drop")
    assert edges("em") == {frozenset(("x", "z"))}


def test_estimates_are_made_again_only_where_gaps_are_filled_anew():
    """And logistic ones from where they ended, which leads to the same place."""
    rng = np.random.default_rng(4)
    x, other = rng.normal(size=(2, 400))
    labels = np.array(["a", "b", "c"])
    frame = pd.DataFrame(
        {
            "x": x,
            "y": labels[np.digitize(x + rng.normal(size=400), [-0.5, 0.7])],
            "z": labels[np.digitize(other + x + rng.normal(size=400), [0.0, 1.0])],
            "other": other,
        }
    )
    changed = encode(frame.assign(other=0.9 * other + 0.1 * rng.normal(size=400)))
    parents = {"x": [], "y": ["x"], "z": ["x", "other"], "other": []}
    estimates = Estimates(parents, filled=frozenset({"other"}))
    first, second, exact = estimates(encode(frame)), estimates(changed), Estimates(parents)(changed)
    assert second.local("x") is first.local("x")
    assert second.local("y") is first.local("y")
    for node in ("z", "other"):
        assert second.local(node) is not first.local(node)
    found, wanted = second.local("z").coefficients, exact.local("z").coefficients
    assert found == pytest.approx(wanted, abs=1e-3)
    assert found != pytest.approx(first.local("z").coefficients, abs=1e-2)


def test_large_tables_get_fewer_rounds():
    assert [structural_em.max_rounds(10**power) for power in (1, 6, 7, 9)] == [20, 20, 3, 2]


def test_incomplete_tables_are_data(table, optima):
    coded = encode_incomplete(table, missing="em")
    assert kes.learn(coded, runs=20) == optima
    assert repr(coded).startswith(f"<Incomplete: {table.isna().sum().sum()} gaps in <Dataset: 7")


def test_gaps_that_are_to_be_filled_are_not_treated_otherwise(table):
    coded = encode_incomplete(table, missing="em")
    for missing in ("drop", "state"):
        with refused("too late", option="missing"):
            kes.learn(coded, missing=missing)
    with refused("original table", option="missing"):
        kes.data.encode(coded)


def test_where_there_is_no_model_to_fill_from():
    frame = pd.DataFrame({"a": ["u", None, "v"], "b": ["x", "y", "x"]})
    with refused(option="missing"):
        kes.data.encode(frame, missing="em")


def test_constant_columns_beside_continuous_ones():
    """They have no say in the criterion, but need a place in the network that fills the gaps."""
    rng = np.random.default_rng(6)
    x = rng.normal(size=200)
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=200), "unit": "mm"})
    frame.loc[:20, "y"] = np.nan
    optima = kes.learn(frame, missing="em", runs=2)
    assert "Gaussian BIC" in str(optima)
    assert optima.best.graph.skeleton == {frozenset({"x", "y"})}
    assert optima.best.fit(frame, missing="em").states["unit"] == ("mm",)


def test_a_network_is_fitted_to_gaps_by_em():
    """The saturated model of two variables, y missing by x: P(y | x) is that of complete rows."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 3000)
    y = (rng.random(3000) < np.where(x == 1, 0.8, 0.3)).astype(float)
    y[rng.random(3000) < np.where(x == 1, 0.7, 0.1)] = np.nan
    frame = pd.DataFrame({"x": x, "y": pd.array(y).astype("Int64")})
    found = kes.fit([("x", "y")], frame, missing="em", completions=20)
    complete = kes.fit([("x", "y")], frame, missing="drop")
    assert np.allclose(found.cpts["y"], complete.cpts["y"], atol=0.02)
    assert np.allclose(found.cpts["x"], np.bincount(x) / 3000, atol=0.001)  # nothing is lost of x


@pytest.mark.parametrize("completions", [0, "x"])
def test_a_network_is_fitted_to_one_completion_at_least(completions):
    frame = pd.DataFrame({"x": ["u", "v", None], "y": ["u", "v", "v"]})
    with pytest.raises(KesError) as wrong:
        kes.fit([("x", "y")], frame, missing="em", completions=completions)
    assert wrong.value.option == "completions"


@pytest.fixture(scope="module")
def frame() -> pd.DataFrame:
    """A chain of three continuous columns, the last one skewed, and a group."""
    rng = np.random.default_rng(0)
    a = rng.normal(size=600)
    group = rng.choice(["u", "v", "w"], 600)
    b = a + (group == "u") + rng.normal(size=600)
    c = np.exp(b / 2 + rng.normal(size=600) / 2)
    return with_gaps(pd.DataFrame({"a": a, "b": b, "c": c, "group": group}), 0.1)


class TestContinuous:
    @pytest.mark.parametrize(
        "options",
        [{}, {"transform": "ranks"}, {"discretize": 3}, {"kinds": {"group": "omit"}}],
        ids=["mixed", "ranks", "cut", "continuous"],
    )
    def test_same_bytes_for_any_order_of_rows(self, frame, options, tmp_path):
        kinds = dict(options.get("kinds", {}))
        options = {**options, "kinds": kinds, "missing": "em", "runs": 5}
        tables = [frame, frame.sample(frac=1, random_state=4)]
        for path, table in zip(("a", "b"), tables, strict=True):
            kes.learn(table, **options).save(tmp_path / path)
        assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
        loaded = kes.load(tmp_path / "a")
        assert loaded.extend(1, data=tables[1]).best.score >= loaded.best.score

    def test_what_is_there_stays(self, frame):
        for transform in (None, "ranks"):
            optima = kes.learn(frame, missing="em", runs=2, transform=transform)
            filled = optima.problem.dataset.to_pandas()
            for name in ("a", "b", "c"):
                assert set(frame[name].dropna()) <= set(filled[name]), transform

    def test_chains_are_found_in_spite_of_gaps(self, frame):
        best = kes.learn(frame, missing="em").best.graph
        assert {frozenset("ab"), frozenset("bc")} <= set(best.skeleton)
        assert frozenset("ac") not in best.skeleton

    def test_folds_are_cut_and_filled_by_the_cases_to_learn_from(self, frame):
        """Rows with gaps are judged by what is there; every case once."""
        table = kes.cross_validate(
            frame, missing="em", discretize=3, folds=2, top=1, runs=2, improve=False
        )
        assert table["model"] == ("optimum 0", "GES", "no edges")
        assert all(np.isfinite(table["log_likelihood"]))
        assert table["log_likelihood"][0] > table["log_likelihood"][2]


def test_cuts_are_kept_so_that_raw_rows_can_come_later(frame, tmp_path):
    whole = frame.dropna()
    optima = kes.learn(whole, discretize=3, runs=3)
    assert optima.discretizer == kes.Discretizer(3).fit(whole)
    assert optima.discretizer.intervals("a") == optima.states["a"]
    optima.save(tmp_path / "a.kes.json")
    loaded = kes.load(tmp_path / "a.kes.json")
    assert loaded.discretizer == optima.discretizer
    assert len(loaded.extend(1, data=whole).runs) == 4  # raw rows, cut as they were
    network = optima.best.fit(whole, discretize=optima.discretizer)
    cut = optima.discretizer.transform(whole)
    assert network.log_likelihood(whole) == network.log_likelihood(cut)


def test_the_command_line(frame, tmp_path, monkeypatch):
    from click.testing import CliRunner

    from kes.cli import kes as command

    frame.to_csv(tmp_path / "t.csv", index=False)
    out = tmp_path / "a.kes.json"
    words = ["learn", str(tmp_path / "t.csv"), "--missing", "em", "--completions", "3"]
    done = CliRunner().invoke(
        command, [*words, "--discretize", "3", "--runs", "3", "--out", str(out)]
    )
    assert done.exit_code == 0, done.output
    assert "imputed, 3 times each, by " in done.output
    same = kes.learn(tmp_path / "t.csv", missing="em", completions=3, discretize=3, runs=3)
    assert kes.load(out) == same
    monkeypatch.setattr("kes.budget._LEAST_SECONDS", 100.0)  # for a round on a busy machine
    short, budget = tmp_path / "b.kes.json", ["--runs", "3", "--budget", "0.001s"]
    for amount in (budget, ["--runs", "4"], ["--runs", "5", "--budget", "9s"]):
        done = CliRunner().invoke(command, [*words, *amount, "--out", str(short)])
        assert done.exit_code == 0, done.output
        assert "by 1 round of EM, stopped before convergence" in done.output
    wrong = CliRunner().invoke(command, [*words, "--discretize", "a=b"])
    assert "such as age=5,dose=3" in wrong.output
