"""Choosing a criterion by cross-validated likelihood."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.analysis import choosing
from kes.analysis.choosing import PRIORS
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm_network().sample(120, seed=5)


@pytest.fixture(scope="module")
def choice(data):
    return kes.choose(data, folds=2)


def test_every_candidate_is_judged_by_the_folds(data, choice):
    """The likelihood of the best candidate, from its own folds and searches."""
    best = choice.candidates[0]
    logs = []
    for train, test in Cases(data).folds(2, Stream(0, Purpose.CHOICE)):
        ess = {} if best.ess is None else {"ess": best.ess}
        how = {"criterion": best.criterion, "edge_prior": best.edge_prior, **ess}
        optima = kes.learn(train, runs=10, improve=100, random_state=0, **how)
        network = optima.best.fit(train, prior=best.prior, ess=best.prior_ess or 1.0)
        logs.append(network.log_likelihood(test, per_row=True))
    assert best.per_case == pytest.approx(np.concatenate(logs).mean(), abs=0.02)
    assert choice.cases == 120


def test_the_table_has_all_that_was_tried_best_first(choice):
    table = choice.table()
    assert list(table["per_case"]) == sorted(table["per_case"], reverse=True)
    assert set(table["criterion"]) == {"bic", "bdeu", "qnml"}  # too few cases for AIC
    assert len(table["criterion"]) == len(PRIORS) * 2 * 4  # with and without a price
    assert table["difference"][0] == 0
    assert all(error > 0 for error in table["standard_error"][1:])
    assert choice.candidates[0].criterion in str(choice)
    assert "per_case" in repr(choice)


def test_learn_takes_the_choice_and_keeps_it(data, choice, tmp_path):
    out = tmp_path / "r.kes.json"
    optima = kes.learn(data, criterion="auto", runs=3, improve=False, out=out)
    own = kes.choose(data)
    assert optima.choice == own
    assert optima.settings.criterion == own.options["criterion"]
    assert optima.settings.edge_prior == own.options["edge_prior"]
    loaded = kes.load(out)
    assert loaded.choice == own
    assert str(own) in repr(loaded)
    before = out.read_bytes()
    more = kes.learn(data, criterion="auto", runs=4, improve=False, out=out)  # resumes
    assert len(more.runs) == 4
    assert more.choice == own
    assert before != out.read_bytes()
    assert kes.learn(data, runs=2, improve=False).choice is None
    network = optima.best.fit(data, **optima.choice.estimation)
    assert network.log_likelihood(data) < 0


def test_a_resumed_file_does_not_choose_again(data, tmp_path, monkeypatch):
    out = tmp_path / "r.kes.json"
    kes.learn(data, criterion="auto", runs=2, improve=False, out=out, budget="60s")
    monkeypatch.setattr("kes.analysis.choosing.choice_for", None)
    again = kes.learn(data, criterion="auto", runs=2, improve=False, out=out)
    assert again.choice is not None
    # Nor does it forget the choice if what was chosen is given.
    more = kes.learn(data, **again.choice.options, runs=3, improve=False, out=out)
    assert more.choice == again.choice == kes.load(out).choice


@pytest.mark.parametrize("columns", [["x", "y"], ["x", "y", "g"]])
def test_continuous_and_mixed_tables(columns):
    rng = np.random.default_rng(0)
    x = rng.normal(size=100)
    group = np.array(["a", "b"])[(x + rng.normal(size=100) > 0).astype(int)]
    frame = pd.DataFrame({"x": x, "y": x + rng.normal(size=100), "g": group})[columns]
    found = kes.choose(frame, folds=3)
    tried = {one.criterion for one in found.candidates}
    assert tried == ({"bic", "aic", "bge"} if columns == ["x", "y"] else {"bic", "aic"})


def test_gaps_and_weights(data):
    frame = data.to_pandas().iloc[:, :5].astype(object)
    frame.iloc[::9, 1] = None
    assert kes.choose(frame, folds=2, missing="em").cases == 120
    counted = kes.choose(data.to_pandas().iloc[:, :5], folds=2, weights=np.full(120, 2))
    assert counted.cases == 240


def test_a_budget_always_tries_bic(data):
    assert {one.criterion for one in kes.choose(data, folds=2, budget=1e-9).candidates} == {"bic"}


def test_what_cannot_be_chosen(data):
    with pytest.raises(kes.KesError) as error:
        kes.choose(data.take(np.arange(6)))
    assert error.value.option == "folds"
    with pytest.raises(kes.KesError) as error:
        kes.score([], data, criterion="auto")
    assert error.value.option == "criterion"


@pytest.fixture(scope="module")
def bent():
    """A parabola: y depends on x, without any correlation."""
    x = np.random.default_rng(0).normal(size=200)
    return pd.DataFrame({"x": x, "y": x**2 + np.random.default_rng(1).normal(size=200) / 5})


def test_curves_are_fitted_in_every_fold(bent):
    curved, straight = (
        kes.choose(bent, basis=2, folds=2),
        kes.choose(bent, transform="ranks", folds=2),
    )
    assert "bge" in curved.table()["criterion"]  # which has no curves
    assert curved.candidates[0].per_case > straight.candidates[0].per_case + 0.2


def test_the_transform_of_the_options_is_fitted(bent):
    """Densities of normal scores do not depend on the unit."""
    scaled = [kes.choose(bent * unit, transform="ranks", folds=2) for unit in (1, 1000)]
    assert scaled[0].candidates[0].per_case == pytest.approx(scaled[1].candidates[0].per_case)


@pytest.mark.parametrize("late", [0, 3])
def test_a_budget_stops_a_candidate_that_is_being_judged(data, monkeypatch, late):
    """The time is up at the beginning of a search: of the first candidate, or of the second."""
    asked, now = [], 0.0
    own = choosing.best_of

    def best_of(table, settings, *, keep_going, **more):
        nonlocal now
        now = 10.0 if len(asked) == late else 1.0
        asked.append(keep_going())
        return own(table, settings, keep_going=keep_going, **more)

    monkeypatch.setattr(choosing, "best_of", best_of)
    monkeypatch.setattr(choosing.time, "monotonic", lambda: now)
    if not late:
        with refused(option="budget"):
            kes.choose(data, folds=2, budget=6)
        assert asked == [False]
        return
    found = kes.choose(data, folds=2, budget=6)
    assert {candidate.criterion for candidate in found.candidates} == {"bic"}
    assert asked == [True, True, True, False]


def test_progress_moves_with_every_search(data):
    seen = []
    choice = kes.choose(data, folds=3, progress=seen.append)
    searches = 3 * len({(c.criterion, c.ess, c.edge_prior) for c in choice.candidates})
    assert {progress.wanted for progress in seen} == {searches}
    assert [progress.done for progress in seen] == sorted(progress.done for progress in seen)
    assert all(progress.left is not None for progress in seen if progress.done)


def test_choosing_can_be_interrupted_within_a_search(data):
    def stop(progress):
        if progress.done >= 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        kes.choose(data, folds=3, progress=stop)
