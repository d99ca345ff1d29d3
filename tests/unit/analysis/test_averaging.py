"""Learning averaged networks: options, knowledge, gaps, budgets, files and errors."""

import pickle
import time

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis import averaging
from kes.network import AveragedNetwork
from kes.network.gibbs import OutOfTime
from kes.search.problem import Problem


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(2)
    a = rng.integers(0, 2, 300)
    b = np.where(rng.random(300) < 0.85, a, 1 - a)
    x = 2.0 * a + rng.normal(size=300)
    labels = np.array(["no", "yes"])
    return pd.DataFrame({"a": labels[a], "b": labels[b], "x": x, "y": x + rng.normal(size=300)})


@pytest.fixture(scope="module")
def average(frame):
    return kes.ensemble(frame, members=4)


def test_new_cases_are_more_probable_than_under_one_network():
    """The point of it all, on a small sample of ALARM and many new cases."""
    truth = kes.datasets.alarm_network()
    data, new = truth.sample(500, seed=11), truth.sample(3000, seed=12)
    single = kes.learn(data, runs=20).best.fit(data)
    assert kes.ensemble(data).log_likelihood(new) > single.log_likelihood(new) + 3000 * 0.1


def test_members_take_turns_with_the_criteria(frame, monkeypatch):
    used = []
    own = averaging.best_of

    def best_of(table, settings, **more):
        used.append((settings.criterion, settings.ess, settings.penalty))
        return own(table, settings, **more)

    monkeypatch.setattr(averaging, "best_of", best_of)
    kes.ensemble(frame[["a", "b"]], members=4)
    assert used == [("bic", None, 1.0), ("bdeu", 1.0, 1.0), ("aic", None, 1.0), ("bic", None, 1.0)]
    used.clear()
    kes.ensemble(frame[["x", "y"]], members=3, penalty=2.0)
    assert used == [("bic", None, 2.0), ("bge", None, 1.0), ("aic", None, 2.0)]
    used.clear()
    kes.ensemble(frame, members=2, criterion="aic")
    assert [criterion for criterion, *_ in used] == ["aic", "aic"]
    used.clear()
    wide = pd.DataFrame(np.random.default_rng(0).normal(size=(20, 6)))
    kes.ensemble(wide, members=3)  # too few cases for AIC
    assert [criterion for criterion, *_ in used] == ["bic", "bge", "bic"]


def test_members_are_fitted_to_the_whole_table(frame, average):
    for member in average.members:
        again = kes.fit(member.arcs, frame, ess=5.0)
        assert again.log_likelihood(frame) == pytest.approx(member.log_likelihood(frame))
    laplace = kes.ensemble(frame[["a", "b"]], members=2, prior=1.0)
    expected = kes.fit(laplace.members[0].arcs, frame[["a", "b"]], prior=1.0)
    assert laplace.members[0] == expected


def test_knowledge_holds_in_every_member(frame):
    known = kes.Knowledge(tiers=[["y"], ["x"], ["a", "b"]], apart=[("y", "b")])
    for member in kes.ensemble(frame, members=6, knowledge=known).members:
        rank = {"y": 0, "x": 1, "a": 2, "b": 2}
        assert all(rank[a] <= rank[b] for a, b in member.arcs)
        assert frozenset("yb") not in member.graph.skeleton


def test_open_directions_vary_between_members(frame):
    members = kes.ensemble(frame[["a", "b"]], members=20).members
    assert {member.arcs for member in members} == {(("a", "b"),), (("b", "a"),)}


def test_cuts_are_kept_and_raw_rows_are_taken(frame):
    average = kes.ensemble(frame, members=2, discretize=3)
    assert average.cuts.keys() == {"x", "y"}
    assert np.isfinite(average.log_likelihood(frame))
    assert average.probability({"a": "yes"}, {"x": 2.5}) > 0.5


def test_transformed_values_are_mapped_back(frame):
    average = kes.ensemble(frame[["x", "y"]], members=3, transform="ranks")
    found = average.predict(frame, "y")
    assert np.corrcoef(found, frame["y"])[0, 1] > 0.6
    assert abs(found.mean() - frame["y"].mean()) < 0.3
    assert set(average.sample(50).columns[0].values.round(9)) != set()


def test_gaps_are_imputed_once_and_summed_out_in_new_rows(frame):
    gappy = frame.copy()
    gappy.loc[::7, "x"] = np.nan
    gappy.loc[::5, "b"] = None
    optima = kes.learn(gappy, missing="em", runs=3, improve=False)
    average = kes.ensemble(gappy, members=3, missing="em")
    assert optima.ensemble(members=3) == average
    found = average.predict(gappy, "a", probabilities=True, unseen="missing")
    assert found.sum(axis=1) == pytest.approx(1.0)
    with pytest.raises(kes.KesError) as error:
        average.predict(gappy, "a")
    assert error.value.column in {"x", "b"}


def test_the_average_of_a_result_has_its_settings(frame, tmp_path):
    known = kes.Knowledge(forbidden=[("a", "x"), ("x", "a")])
    optima = kes.learn(frame, runs=3, improve=False, knowledge=known, random_state=4)
    average = optima.ensemble(members=3)
    assert average == kes.ensemble(frame, members=3, knowledge=known, random_state=4)
    optima.save(tmp_path / "r.kes.json")
    loaded = kes.load(tmp_path / "r.kes.json")
    assert loaded.ensemble(frame, members=3) == average
    with pytest.raises(kes.KesError) as error:
        loaded.ensemble()
    assert error.value.option == "data"


def test_a_budget_keeps_whole_members_and_at_least_one(frame, monkeypatch):
    average = kes.ensemble(frame, members=50, budget=1e-9)
    assert average.members == kes.ensemble(frame, members=1).members


def test_a_budget_that_is_too_short_for_a_member_is_no_endless_work(frame, monkeypatch):
    """A search of a very wide table takes minutes; here the clock jumps when it begins."""
    now = time.monotonic()
    own = averaging.best_of

    def best_of(*given, **more):
        nonlocal now
        now += 10.0
        return own(*given, **more)

    monkeypatch.setattr(averaging, "best_of", best_of)
    monkeypatch.setattr(averaging.time, "monotonic", lambda: now)
    with pytest.raises(kes.KesError) as error:
        kes.ensemble(frame, members=2, budget=5)
    assert error.value.option == "budget"


def test_an_interrupt_hands_over_the_finished_members(frame, monkeypatch):
    own, calls = averaging.best_of, []

    def best_of(*given, **more):
        calls.append(1)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return own(*given, **more)

    monkeypatch.setattr(averaging, "best_of", best_of)
    with pytest.raises(kes.EnsembleInterrupted) as stop:
        kes.ensemble(frame)
    assert len(stop.value.ensemble.members) == 2


def test_progress_counts_members(frame):
    seen = []
    kes.ensemble(frame, members=2, progress=seen.append)
    assert {(one.unit, one.wanted) for one in seen} == {("members", 2)}


def test_files_hold_every_kind(frame, average, tmp_path):
    for own in (average, kes.ensemble(frame[["a", "b"]], members=2, random_state=3)):
        own.save(tmp_path / "all.json.gz")
        assert kes.read_network(tmp_path / "all.json.gz") == own
        assert pickle.loads(pickle.dumps(own)) == own
        assert hash(own) == hash(pickle.loads(pickle.dumps(own)))
    cut = kes.ensemble(frame, members=2, discretize=2)
    cut.save(tmp_path / "cut.json")
    assert kes.read_network(tmp_path / "cut.json") == cut


def test_members_go_to_files_of_their_own(frame, average, tmp_path):
    discrete = kes.ensemble(frame[["a", "b"]], members=3)
    files = discrete.save_members(tmp_path / "m.bif")
    assert [file.name for file in files] == ["m-01.bif", "m-02.bif", "m-03.bif"]
    again = AveragedNetwork(kes.read_network(file) for file in files)
    assert again.log_likelihood(frame) == pytest.approx(discrete.log_likelihood(frame))
    for wrong in (tmp_path / "m.bif", tmp_path / "m.dot"):
        with pytest.raises(kes.KesError) as error:
            discrete.save(wrong)
        assert error.value.file == str(wrong)
    with pytest.raises(kes.KesError):
        average.save_members(tmp_path / "x.bif")  # continuous nodes
    discrete.save(tmp_path / "all.json")
    with pytest.raises(kes.KesError):
        kes.read_graph(tmp_path / "all.json")
    kes.convert(tmp_path / "all.json", tmp_path / "c.bif")
    assert (tmp_path / "c-03.bif").exists()


@pytest.mark.parametrize(
    "text",
    [
        '{"format": "kes-average", "version": 1, "nodes": []}',
        '{"format": "kes-average", "version": 1, "nodes": [], "members": []}',
        '{"format": "kes-average", "version": 1, "nodes": [{"name": "a"}], "members": [[]]}',
        '{"format": "kes-average", "version": 1, "nodes": [{"name": "a"}], "members": [[3]]}',
        '{"format": "kes-average", "version": 9, "nodes": [], "members": []}',
    ],
)
def test_damaged_files_are_refused(text, tmp_path):
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(kes.KesError) as error:
        kes.read_network(tmp_path / "a.json")
    assert error.value.file == str(tmp_path / "a.json")


def test_other_members_are_refused(frame, average):
    other = kes.fit([], frame[["a", "b"]])
    for members in ([], [average.members[0], other]):
        with pytest.raises(kes.KesError) as error:
            AveragedNetwork(members)
        assert error.value.option == "members"
    more = kes.fit([], pd.DataFrame({"a": ["x", "y"], "b": ["no", "yes"]}))
    with pytest.raises(kes.KesError) as error:
        AveragedNetwork([other, more])
    assert error.value.column == "a"


def test_wrong_questions_are_named(frame, average):
    discrete = kes.ensemble(frame[["a", "b"]], members=2)
    normal = kes.ensemble(frame[["x", "y"]], members=2)
    for call, field in (
        (lambda: average.predict(frame, "zzz"), "column"),
        (lambda: average.predict(frame, "x", probabilities=True), "option"),
        (lambda: average.predict(frame, "a", deviations=True), "option"),
        (lambda: average.effects("a", "a"), "column"),
        (lambda: average.probability("a", {"b": "perhaps"}), "column"),
        (lambda: normal.probability("x"), "column"),
        (lambda: kes.ensemble(frame, members=0), "option"),
        (lambda: kes.ensemble(frame, criterion="bdeu"), "option"),
    ):
        with pytest.raises(kes.KesError) as error:
            call()
        assert getattr(error.value, field)
    for call in (lambda: discrete.conditional("a"), normal.marginals):
        with pytest.raises(kes.KesError):
            call()


def test_edges_are_shares_of_members(frame, average):
    table = average.edges()
    for x, y, edge, forward, backward in zip(*(table[c] for c in table.columns), strict=True):
        pairs = [set(member.arcs) for member in average.members]
        assert edge == forward + backward
        assert forward == sum((x, y) in arcs for arcs in pairs) / 4
    assert "4 members, 4 nodes" in repr(average)
    assert "4 members" in average._repr_html_()


def test_effects_of_numbers(frame):
    average = kes.ensemble(frame[["x", "y"]], members=3, knowledge=kes.Knowledge(roots=["x"]))
    slope = np.polyfit(frame["x"], frame["y"], 1)[0]
    assert average.effects("x", "y")["effect"] == pytest.approx([slope] * 3)
    assert average.effects("y", "x")["effect"] == pytest.approx([0.0] * 3)
    assert average.effects("x", "y", values=(0.0, 2.0))["effect"] == pytest.approx([2 * slope] * 3)


def test_earlier_values_that_a_row_lacks_are_summed_out():
    rng = np.random.default_rng(3)
    x = rng.normal(size=200).cumsum() / 5
    table = pd.DataFrame({"x": x, "y": x + rng.normal(size=200)})
    average = kes.ensemble(kes.lagged(table, lags=1), members=2)
    predicted = average.predict(table[["x"]], "y")
    assert np.corrcoef(predicted, x)[0, 1] > 0.9


def test_contexts_are_exogenous_in_every_member(frame):
    optima = kes.learn(frame, contexts=["a"], runs=3, transform="none")
    average = optima.ensemble(members=2)
    assert {member.exogenous for member in average.members} == {("a",)}
    single = optima.best.fit(frame)
    apart = average.log_likelihood(frame) - single.log_likelihood(frame)
    assert abs(apart) < 30  # the context alone would add 300 ln 2


@pytest.fixture
def gappy(frame):
    """The table with gaps in a column of two states."""
    table = frame[["a", "b"]].astype(object)
    table.loc[::9, "b"] = None
    return table


def test_a_budget_bounds_imputation(gappy, monkeypatch):
    """The first round may take a second, as the first member may; there is no time for more."""
    asked, now = [], 0.0
    own = Problem.completed

    def completed(self, threads, keep_going=lambda _: True):
        nonlocal now
        now = 0.5
        asked.extend((keep_going(0), keep_going(1)))
        return own(self, threads, keep_going)

    monkeypatch.setattr(Problem, "completed", completed)
    monkeypatch.setattr(averaging.time, "monotonic", lambda: now)
    average = kes.ensemble(gappy, members=3, missing="em", budget=1e-9)
    assert asked == [True, False]
    assert len(average.members) == 1


@pytest.mark.parametrize("call", [kes.ensemble, kes.choose])
def test_a_budget_that_is_too_short_to_impute_is_refused(gappy, call, monkeypatch):
    def completed(self, threads, keep_going):
        raise OutOfTime

    monkeypatch.setattr(Problem, "completed", completed)
    with pytest.raises(kes.KesError) as error:
        call(gappy, missing="em", budget=3)
    assert error.value.option == "budget"


def test_effects_on_transformed_numbers_are_in_their_own_unit():
    rng = np.random.default_rng(5)
    a = rng.normal(size=400)
    table = pd.DataFrame({"a": a, "b": 100 * a + rng.normal(size=400)})
    known = kes.Knowledge(roots=["a"])
    average = kes.ensemble(table, members=2, transform="ranks", knowledge=known)
    found = average.effects("a", "b", values=(0.0, 1.0))
    assert found["effect"] == pytest.approx([100.0] * 2, rel=0.1)
    assert "normal score, mapped back" in found.note


def test_arguments_of_wrong_types_are_named(average):
    for call, field in (
        (lambda: average.effects("a", "b", values=3), "values"),
        (lambda: average.effects("a", "b", values=("no",)), "values"),
        (lambda: AveragedNetwork(5), "members"),
        (lambda: AveragedNetwork([5]), "members"),
        (lambda: average.do(["a"]), "values"),
    ):
        with pytest.raises(kes.KesError) as error:
            call()
        assert error.value.option == field
