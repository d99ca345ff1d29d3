"""The scikit-learn face: the contract of scikit-learn, and the same answers as `kes.learn`."""

import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes

sklearn = pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from sklearn.base import clone  # noqa: E402
from sklearn.model_selection import GridSearchCV, cross_val_score  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import FunctionTransformer, KBinsDiscretizer  # noqa: E402
from sklearn.utils.estimator_checks import parametrize_with_checks  # noqa: E402

BINS = KBinsDiscretizer(encode="ordinal")


@pytest.fixture(scope="module")
def chain():
    """Rows of a - b - c, each with two states, and d with three, apart from them."""
    rng = np.random.default_rng(1)
    a = rng.integers(2, size=600)
    b = np.where(rng.random(600) < 0.9, a, 1 - a)
    c = np.where(rng.random(600) < 0.8, b, 1 - b)
    return np.column_stack([a, b, c, rng.integers(3, size=600)])


@pytest.fixture(scope="module")
def frame(chain):
    words = pd.DataFrame(chain, columns=["age", "dose", "pain", "ward"]).astype(str)
    words["dose"] = pd.Categorical.from_codes(chain[:, 1], ["none", "some", "much"], ordered=True)
    return words


# --- the contract of scikit-learn ---

# These two are about Pipeline itself, which fits its steps in place; scikit-learn expects them to
# fail for every pipeline (PER_ESTIMATOR_XFAIL_CHECKS).
PIPELINE = {
    "check_estimators_overwrite_params": "a Pipeline fits its steps in place",
    "check_dont_overwrite_parameters": "a Pipeline fits its steps in place",
}


def expected_failures(estimator):
    return {} if isinstance(estimator, kes.KES) else PIPELINE


@parametrize_with_checks(
    [kes.KES(runs=2, n_jobs=1), make_pipeline(BINS, kes.KES(runs=2, n_jobs=1))],
    expected_failed_checks=expected_failures,
    xfail_strict=True,
)
def test_scikit_learn_estimator_checks(estimator, check):
    with warnings.catch_warnings():
        # The checks bin constant columns and tiny samples on purpose.
        warnings.filterwarnings("ignore", module="sklearn.preprocessing._discretization")
        check(estimator)


def test_a_density_estimator_of_categories():
    tags = sklearn.utils.get_tags(kes.KES())
    assert tags.estimator_type == "density_estimator"
    assert tags.input_tags.categorical
    assert tags.input_tags.string
    assert not tags.input_tags.allow_nan
    assert sklearn.utils.get_tags(kes.KES(missing="state")).input_tags.allow_nan


# --- the same as kes.learn and kes.fit ---


def test_the_search_is_that_of_learn_with_all_its_settings(chain):
    settings = {
        "k": 0.3,
        "runs": 7,
        "criterion": "bdeu",
        "ess": 2.0,
        "random_state": 5,
        "max_parents": 1,
        "two_phase": True,
        "start": [("x0", "x3")],
        "patience": 4,
        "cache_mb": 1,
        "n_jobs": 1,
    }
    model = kes.KES(**settings).fit(chain)
    assert model.optima_ == kes.learn(chain, **settings)
    assert model.graph_ == model.optima_.best.graph
    assert model.network_ == kes.fit(model.graph_, chain, prior="bdeu", ess=2.0)


def test_the_sampled_neighbourhood_is_passed_on(chain):
    model = kes.KES(runs=3, neighbourhood=kes.Sampled(reversals=4)).fit(chain)
    assert model.optima_.settings.neighbourhood == kes.Sampled(reversals=4)


def test_every_option_of_learn_is_there_but_those_of_a_call():
    import inspect

    of_learn = set(inspect.signature(kes.learn).parameters)
    of_the_call = {"data", "weights", "progress", "client", "out", "checkpoint"}
    assert set(kes.KES().get_params()) == of_learn - of_the_call | {"prior"}


def test_transform_is_a_parameter_and_no_method():
    """scikit-learn takes whatever has an attribute of that name for a transformer."""
    model = kes.KES(transform="ranks")
    assert model.get_params()["transform"] == "ranks"
    assert clone(model).set_params(transform=None).get_params()["transform"] is None
    assert not hasattr(model, "transform")


def test_the_old_name_of_transform_still_works():
    with pytest.warns(DeprecationWarning, match="'transform'"):
        model = kes.KES(transformation="ranks")
    with pytest.warns(DeprecationWarning, match="'transform'"):
        assert kes.KES().set_params(transformation="ranks").get_params() == model.get_params()


def test_the_prior_decides_the_tables(chain):
    model = kes.KES(runs=2, prior="ml").fit(chain)
    assert model.network_ == kes.fit(model.graph_, chain, prior="ml")


def test_a_score_is_the_mean_log_likelihood(chain):
    train, test = chain[:400], chain[400:]
    model = kes.KES(runs=5).fit(train)
    assert model.score(test) == pytest.approx(model.network_.log_likelihood(test) / 200)
    assert model.score_samples(test).shape == (200,)
    assert model.score(test) == pytest.approx(model.score_samples(test).mean())


def test_the_score_of_independent_columns_is_minus_their_entropy():
    # A full factorial design leaves nothing to learn, and maximum likelihood then gives each
    # cell 1 / 6.
    X = np.array([[a, b] for a in range(2) for b in range(3)] * 5)
    assert kes.KES(runs=1, prior="ml").fit(X).score(X) == pytest.approx(-np.log(6))


def test_weights_are_repetitions(chain):
    rows, counts = np.unique(chain, axis=0, return_counts=True)
    weighted = kes.KES(runs=5).fit(rows, sample_weight=counts)
    repeated = kes.KES(runs=5).fit(chain)
    assert weighted.optima_ == repeated.optima_
    assert weighted.network_ == repeated.network_
    assert weighted.score(rows, sample_weight=counts) == pytest.approx(repeated.score(chain))


def test_random_states_of_numpy(chain):
    first, second = (
        kes.KES(runs=2, random_state=np.random.RandomState(3)).fit(chain).optima_.seed
        for _ in range(2)
    )
    assert first == second == np.random.RandomState(3).randint(2**31)
    drawn = {kes.KES(runs=1, random_state=None).fit(chain).optima_.seed for _ in range(3)}
    assert len(drawn) > 1


# --- tables ---


def test_names_and_declared_states_survive(frame):
    model = kes.KES(runs=3).fit(frame)
    assert model.n_features_in_ == 4
    assert model.feature_names_in_.tolist() == ["age", "dose", "pain", "ward"]
    assert model.network_.nodes == ("age", "dose", "pain", "ward")
    assert model.network_.states["dose"] == ("none", "some", "much")  # the last never occurs
    assert np.isfinite(model.score(frame))


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_every_data_frame_gives_one_result(library, frame):
    plain = frame.astype(str)
    module = pytest.importorskip(library, reason=f"{library} is not installed")
    other = module.from_pandas(plain) if library == "polars" else module.Table.from_pandas(plain)
    ours, theirs = kes.KES(runs=3).fit(plain), kes.KES(runs=3).fit(other)
    assert ours.optima_ == theirs.optima_
    assert ours.score(plain) == theirs.score(other)


def test_columns_in_another_order_are_refused(frame):
    model = kes.KES(runs=1).fit(frame)
    with pytest.raises(ValueError, match="must be in the same order"):
        model.score(frame[["dose", "age", "pain", "ward"]])


def test_an_array_goes_by_position_where_a_frame_was_learned(frame):
    model = kes.KES(runs=2).fit(frame)
    with pytest.warns(UserWarning, match="does not have valid feature names"):
        assert model.score(frame.to_numpy()) == model.score(frame)


def test_text_in_lists():
    rows = [["a", "x"], ["b", "y"], ["a", "x"], ["b", "y"]] * 10
    model = kes.KES(runs=1).fit(rows)
    assert model.network_.states == {"x0": ("a", "b"), "x1": ("x", "y")}
    assert len(model.graph_.skeleton) == 1


def test_missing_values_can_be_a_state(chain):
    X = chain.astype(float)
    X[::7, 0] = np.nan
    model = kes.KES(runs=2, missing="state").fit(X)
    assert model.network_.states["x0"] == (0, 1, "<missing>")
    assert np.isfinite(model.score(X[:10]))
    with pytest.raises(ValueError, match="NaN"):
        kes.KES(runs=2).fit(X)
    with refused("drop", option="missing"):
        kes.KES(runs=2, missing="drop").fit(X)


def test_unseen_states_are_named(chain):
    model = kes.KES(runs=1).fit(chain)
    stranger = chain[:3].copy()
    stranger[2, 3] = 9
    with refused("9", column="x3", row=2):
        model.score(stranger)


def test_continuous_columns_get_a_gaussian_network():
    """Independent standard normal columns: a case has -ln(2 pi) - 1 nats on average."""
    X = np.random.default_rng(0).normal(size=(4000, 2))
    model = kes.KES(runs=2).fit(X)
    assert isinstance(model.network_, kes.GaussianNetwork)
    assert model.score(X) == pytest.approx(-np.log(2 * np.pi) - 1, abs=0.05)
    assert np.isfinite(make_pipeline(BINS, kes.KES(runs=2)).fit(X).score(X))


@pytest.fixture(scope="module")
def numbers():
    table = pd.DataFrame(np.random.default_rng(0).normal(size=(200, 3)), columns=list("abc"))
    return table.assign(b=table["a"] + table["b"])


@pytest.mark.parametrize(
    ("given", "same"),
    [
        ({"discretize": 3}, {"discretize": 3}),
        ({"transform": "ranks"}, {"transform": "ranks"}),
        ({"kinds": {"c": "omit"}}, {"kinds": {"c": "omit"}}),
    ],
)
def test_result_and_network_know_how_the_table_was_read(given, same, numbers, tmp_path):
    """They take the raw table again: cuts and scores are those that learn finds and keeps."""
    model = kes.KES(runs=3, **given).fit(numbers)
    assert model.optima_ == kes.learn(numbers, runs=3, **same)
    assert model.optima_.best.fit(numbers) == model.network_
    assert model.network_.log_likelihood(numbers) == pytest.approx(200 * model.score(numbers))
    model.optima_.save(tmp_path / "a.kes.json")
    assert len(kes.load(tmp_path / "a.kes.json").extend(1, data=numbers).runs) == 4


@pytest.mark.parametrize("missing", ["state", "em"])
def test_missing_values_of_columns_that_are_cut(missing, numbers):
    holes = numbers.mask(np.random.default_rng(1).random(numbers.shape) < 0.1)
    model = kes.KES(runs=3, missing=missing, discretize=3).fit(holes)
    assert {len(states) for states in model.network_.states.values()} == {3 + (missing == "state")}
    assert -4 * np.log(4) < model.score(holes) < 0


def test_cuts_of_columns_that_are_left_out_do_not_matter(numbers):
    cuts = kes.Discretizer(3).fit(numbers)
    model = kes.KES(runs=3, discretize=cuts, kinds={"c": "omit"}).fit(numbers)
    two = kes.KES(runs=3, discretize=3).fit(numbers[["a", "b"]])
    assert model.score(numbers) == pytest.approx(two.score(numbers[["a", "b"]]))


@pytest.mark.parametrize("option", [{"k": 2}, {"runs": 0}, {"criterion": "bci"}, {"prior": -1.0}])
def test_options_are_checked_when_fitting(option, chain):
    model = kes.KES(**option)  # scikit-learn forbids complaints here
    with refused(option=next(iter(option))):
        model.fit(chain)


# --- model selection ---


def test_a_grid_search_over_k_compares_held_out_likelihoods(chain):
    grid = GridSearchCV(kes.KES(runs=3, n_jobs=1), {"k": [0.0, 0.5, 1.0], "max_parents": [0, 2]})
    grid.fit(chain)
    results = grid.cv_results_
    assert np.isfinite(results["mean_test_score"]).all()
    # a - b - c are strongly dependent, so models that may have edges predict better.
    edges = np.array([options["max_parents"] == 2 for options in results["params"]])
    assert results["mean_test_score"][edges].min() > results["mean_test_score"][~edges].max()
    assert grid.best_params_["max_parents"] == 2
    # Without edges, k does not matter.
    assert len(set(results["mean_test_score"][~edges])) == 1


def test_cross_validation_of_a_pipeline_learns_the_cuts_anew_in_each_fold():
    X = np.random.default_rng(2).normal(size=(200, 3))
    X[:, 1] += X[:, 0]
    scores = cross_val_score(make_pipeline(BINS, kes.KES(runs=2)), X, cv=3)
    assert np.isfinite(scores).all()


def test_a_clone_has_the_options_and_nothing_else(chain):
    model = kes.KES(k=0.25, start=kes.learn(chain, runs=1).best.graph).fit(chain)
    copy = clone(model)
    assert copy.k == 0.25
    assert copy.start == model.start
    assert not hasattr(copy, "optima_")


# --- only when it is used ---


def run(code):
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60
    )
    return done.stdout + done.stderr


def test_scikit_learn_is_imported_only_when_used():
    assert "False" in run(
        "import sys, kes; from kes import *; dir(kes); print('sklearn' in sys.modules)"
    )
    assert "KES" in dir(kes)


def test_without_scikit_learn_the_message_says_what_to_install():
    message = "this needs scikit-learn, which is not installed: pip install scikit-learn"
    hide = "import sys; sys.modules['sklearn'] = sys.modules['sklearn.base'] = None; "
    for use in ("import kes; kes.KES", "from kes import KES"):
        assert message in run(hide + use)


def test_other_names_are_unknown_as_ever():
    with pytest.raises(AttributeError, match="module 'kes' has no attribute 'KEZ'"):
        _ = kes.KEZ


# --- targets -------------------------------------------------------------------------------------


def target_frame(rows=400):
    rng = np.random.default_rng(0)
    a, b = rng.integers(0, 3, rows), rng.integers(0, 2, rows)
    y = np.where(rng.random(rows) < np.where(a == 2, 0.9, 0.15), "yes", "no")
    return pd.DataFrame({"a": a, "b": b}), pd.Series(y, name="other")


@pytest.mark.parametrize("scoring", ["roc_auc", "accuracy", "neg_log_loss", None])
@pytest.mark.parametrize("as_array", [False, True])
def test_scorers_of_classifiers(scoring, as_array):
    x, y = target_frame()
    given = (x.to_numpy(), y.to_numpy()) if as_array else (x, y)
    model = kes.KES(target="y", runs=2)
    scores = cross_val_score(model, *given, scoring=scoring, error_score="raise")
    assert np.isfinite(scores).all()
    assert scores.mean() > (-0.6 if scoring == "neg_log_loss" else 0.7)


def test_probabilities_are_those_of_the_network():
    x, y = target_frame()
    model = kes.KES(target="y", runs=2).fit(x, y)
    assert list(model.classes_) == ["no", "yes"]
    found = model.predict_proba(x)
    assert found == pytest.approx(model.network_.predict(x, "y", probabilities=True))
    assert list(model.predict(x)) == list(model.classes_[found.argmax(axis=1)])
    together = kes.KES(target="y", runs=2).fit(x.assign(y=y))
    assert together.predict_proba(x.assign(y="no")) == pytest.approx(found)
    shuffled = x.sample(frac=1, random_state=0)
    again = kes.KES(target="y", runs=2).fit(shuffled, y.loc[shuffled.index])
    assert again.predict_proba(x) == pytest.approx(found)
    assert again.network_ == model.network_


def test_classes_are_sorted():
    x, y = target_frame()
    y = pd.Series(pd.Categorical(y, categories=["yes", "no"]))
    model = kes.KES(target="y", runs=2).fit(x, y)
    assert model.network_.states["y"] == ("yes", "no")
    assert list(model.classes_) == ["no", "yes"]
    expected = model.network_.predict(x, "y", probabilities=True)
    assert model.predict_proba(x) == pytest.approx(expected[:, ::-1])


def test_a_regressor():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3))
    y = x @ [1.0, -2.0, 0.0] + rng.normal(size=300)
    model = kes.KES(target="y", runs=2).fit(x[:200], y[:200])
    assert not hasattr(model, "predict_proba")
    assert model.score(x[200:], y[200:]) > 0.7
    scores = cross_val_score(kes.KES(target="y", runs=2), x, y, scoring="r2", error_score="raise")
    assert scores.min() > 0.6


def test_pipelines():
    x, y = target_frame()
    pipe = make_pipeline(FunctionTransformer(), kes.KES(target="y", runs=2))
    assert cross_val_score(pipe, x, y, scoring="roc_auc", error_score="raise").min() > 0.7


def test_without_a_target_there_is_nothing_to_predict():
    x, y = target_frame()
    model = kes.KES(runs=2).fit(x, y)
    assert not hasattr(model, "predict")
    assert not hasattr(model, "classes_")
    assert model.score(x, y) < 0  # a log-likelihood
    with pytest.raises(kes.KesError) as caught:
        kes.KES(target="z", runs=2).fit(x)
    assert caught.value.option == "target"
