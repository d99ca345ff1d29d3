"""The classifier and the regressor of scikit-learn."""

import warnings

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.datasets import load_diabetes, load_wine
from sklearn.model_selection import cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

import kes


@parametrize_with_checks([kes.KESClassifier(members=2), kes.KESRegressor(members=2)])
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*effective sample size.*")
        check(estimator)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    group = rng.integers(0, 2, 200)
    table = pd.DataFrame(
        {
            "size": group + rng.normal(size=200),
            "colour": np.array(["red", "blue", "green"])[(group + rng.integers(0, 2, 200)) % 3],
        }
    )
    return table, np.array(["no", "yes"])[group]


def test_probabilities_are_those_of_the_average(frame):
    X, y = frame
    model = kes.KESClassifier(members=3).fit(X, y)
    average = kes.ensemble(X.assign(y=y), members=3)
    expected = average.predict(X, "y", probabilities=True)
    assert model.predict_proba(X) == pytest.approx(expected)
    assert list(model.classes_) == ["no", "yes"]
    assert (model.predict(X) == model.classes_[expected.argmax(axis=1)]).all()


def test_predictions_do_not_depend_on_the_order_of_rows_and_columns_or_on_threads(frame):
    X, y = frame
    expected = kes.KESClassifier(members=3, n_jobs=1).fit(X, y).predict_proba(X)
    order = np.random.default_rng(2).permutation(len(X))
    mixed = X.iloc[order, ::-1].reset_index(drop=True)
    other = kes.KESClassifier(members=3, n_jobs=4).fit(mixed, y[order])
    assert other.predict_proba(X[mixed.columns]) == pytest.approx(expected, abs=1e-9)
    number, rest = X["size"], X[["colour"]].assign(group=y)
    single = kes.KESRegressor(members=3, n_jobs=1).fit(rest, number)
    again = kes.KESRegressor(members=3, n_jobs=4).fit(rest.iloc[order, ::-1], number[order])
    assert again.predict(rest[["group", "colour"]]) == pytest.approx(single.predict(rest))


def test_incomplete_and_unknown_values_are_summed_out(frame):
    X, y = frame
    model = kes.KESClassifier(members=2).fit(X, y)
    new = pd.DataFrame({"size": [0.3, None], "colour": ["purple", "red"]})
    found = model.predict_proba(new)
    for row, known in zip(found, ({"size": 0.3}, {"colour": "red"}), strict=True):
        expected = model.network_.probability("y", known)
        assert row == pytest.approx([float(expected[state]) for state in (0, 1)])


def test_gaps_in_training_need_a_choice(frame):
    X, y = frame
    gappy = X.mask(np.random.default_rng(1).random(X.shape) < 0.1)
    with pytest.raises(kes.KesError):
        kes.KESClassifier(members=2).fit(gappy, y)
    assert kes.KESClassifier(members=2, missing="em").fit(gappy, y).score(gappy, y) > 0.6
    with pytest.raises(kes.KesError) as error:
        kes.KESClassifier(missing="drop").fit(X, y)
    assert error.value.option == "missing"


def test_a_column_may_be_called_y(frame):
    X, y = frame
    model = kes.KESClassifier(members=2).fit(X.rename(columns={"size": "y"}), y)
    assert "y_" in model.network_.nodes


def test_numbers_are_predicted_and_mapped_back():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    plain = kes.KESRegressor(members=3).fit(X, y)
    ranked = kes.KESRegressor(members=3, transform="ranks").fit(X, y)
    assert plain.score(X, y) > 0.4
    assert ranked.score(X, y) > 0.4
    means = kes.ensemble(X.assign(y=y), members=3, kinds={"y": "continuous"})
    assert plain.predict(X) == pytest.approx(means.predict(X, "y"))


@pytest.mark.parametrize("given", [3, {"bmi": 3}, kes.Discretizer(bins=3)])
def test_features_may_be_cut_and_the_target_is_not(given):
    """The same as with features that were cut before; a cut target would give probabilities."""
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    model = kes.KESRegressor(members=2, discretize=given).fit(X, y)
    before = kes.discretize(X, bins=3, columns=["bmi"] if isinstance(given, dict) else None)
    other = kes.KESRegressor(members=2).fit(before, y)
    assert model.network_.kinds["y"] == "continuous"
    assert model.predict(X) == pytest.approx(other.predict(before))
    assert model.score(X, y) > 0.3


def test_it_classifies_real_cases():
    X, y = load_wine(return_X_y=True)
    assert cross_val_score(kes.KESClassifier(members=5), X, y, cv=3).mean() > 0.93


def test_random_states_and_parameters():
    X, y = load_wine(return_X_y=True)
    state = np.random.RandomState(3)
    one = kes.KESClassifier(members=2, random_state=state).fit(X, y)
    assert one.get_params()["random_state"] is state
    other = kes.KESClassifier(members=2).set_params(members=1).fit(X, y)
    assert len(other.network_.members) == 1
    with pytest.raises(TypeError):
        kes.KESClassifier(member=3)


def test_rows_and_targets_must_agree(frame):
    X, y = frame
    with refused("50", option="y"):
        kes.KESClassifier().fit(X, y[:50])
    numbers = np.arange(200.0)
    numbers[7] = np.nan
    with refused(option="y", row=7):
        kes.KESRegressor().fit(X, numbers)
