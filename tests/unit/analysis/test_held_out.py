"""Held-out cases as judges: figures by hand, and no case judging a model that has seen it."""

import math

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.cli import run
from kes.data import encode
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=500)


@pytest.fixture(scope="module")
def judges():
    return kes.datasets.alarm(rows=300, seed=8)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.5, runs=20)


# --- held-out data -------------------------------------------------------------------------------


def test_log_likelihoods_are_those_of_the_networks(optima, data, judges):
    table = optima.validate(judges, top=4)
    assert table["optimum"] == (0, 1, 2, 3)
    rows = []
    for row, optimum in zip(table, optima[:4], strict=True):
        network = optimum.fit(data, prior="bdeu")
        rows.append(network.log_likelihood(judges, per_row=True))
        assert row["log_likelihood"] == pytest.approx(network.log_likelihood(judges))
        assert row["per_case"] == pytest.approx(row["log_likelihood"] / 300)
        assert (row["score"], row["hits"]) == (optimum.score, optimum.hits)
        apart = rows[-1] - rows[0]
        assert row["difference"] == pytest.approx(apart.mean())
        assert row["standard_error"] == pytest.approx(apart.std(ddof=1) / math.sqrt(300))


def test_weights_are_cases(optima, judges):
    """Every row twice is the same as weights of two."""
    weighted = optima.validate(judges, top=3, weights=np.full(300, 2.0))
    codes = np.repeat(judges.codes, 2, axis=1)
    twice = kes.Dataset(judges.names, judges.states, np.ascontiguousarray(codes))
    for one, other in zip(weighted, optima.validate(twice, top=3), strict=True):
        assert one == pytest.approx(other)


def test_maximum_likelihood_may_call_cases_impossible(optima, data, judges):
    table = optima.validate(judges, top=2, prior="ml")
    rows = optima.best.fit(data, prior="ml").log_likelihood(judges, per_row=True)
    impossible = int(np.isneginf(rows).sum())
    assert impossible > 0
    assert table["impossible"][0] == impossible
    assert table["log_likelihood"][0] == -math.inf
    assert table["difference"][0] is None
    # A row of weight 0 judges nothing, even if it is impossible.
    possible = optima.validate(judges, top=1, prior="ml", weights=1.0 * ~np.isneginf(rows))
    assert possible["impossible"] == (0,)
    assert possible["log_likelihood"][0] == pytest.approx(rows[~np.isneginf(rows)].sum())


def test_training_cases_flatter(optima, data, judges):
    """On the data it was fitted to, a model looks better than on others, by theory."""
    assert optima.validate(data, top=1)["per_case"] > optima.validate(judges, top=1)["per_case"]


def test_after_loading_the_data_are_needed(optima, data, judges, tmp_path):
    optima.save(tmp_path / "a.kes.json")
    loaded = kes.load(tmp_path / "a.kes.json")
    with refused(option="data"):
        loaded.validate(judges)
    assert loaded.validate(judges, data, top=3) == optima.validate(judges, top=3)


def test_data_that_do_not_fit_are_named(optima, judges):
    with refused("lack", column="HISTORY"):
        optima.validate(np.array([[0, 1]]))
    with refused(option="top"):
        optima.validate(judges, top=0)
    with refused(option="prior"):
        optima.validate(judges, prior="laplace")


def test_missing_values_of_the_judges_are_not_those_of_the_search(data, judges, tmp_path):
    """Dropping columns of the test cases does not change the imputation of the search."""
    rng = np.random.default_rng(0)
    names = list(data.names[:5])
    known, new = (table.to_pandas()[names].astype(str) for table in (data, judges))
    known, new = (frame.mask(rng.random(frame.shape) < 0.05) for frame in (known, new))
    optima = kes.learn(known, missing="em", runs=3, improve=False)
    optima.save(tmp_path / "a.kes.json")
    expected = optima.validate(new.dropna())
    assert kes.load(tmp_path / "a.kes.json").validate(new, known, missing="drop") == expected


def test_a_file_of_judges_is_read_as_that_of_the_search_was(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.csv").write_text("a|b\n" + "u|x\nv|y\n?|x\n" * 9, encoding="utf-8")
    words = ["--sep", "|", "--missing", "drop", "--missing", "?", "--out", "a.kes.json"]
    assert run(["learn", "a.csv", "--runs", "2", *words]) == 0
    optima = kes.load("a.kes.json")
    table = encode("a.csv", sep="|", missing="drop", na_values="?")
    assert optima.validate("a.csv", "a.csv") == optima.validate(table, "a.csv")


def test_smallest():
    """One optimum, no edges: each variable has P = (10 + 1/2) / 21, thus ln P(case) is known."""
    optima = kes.learn(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 5), runs=1)
    table = optima.validate(np.array([[0, 1]]))
    assert table["log_likelihood"] == (pytest.approx(2 * math.log(0.5)),)
    assert table["standard_error"] == (None,)


# --- cross-validation ----------------------------------------------------------------------------


def test_each_case_is_judged_by_models_that_have_not_seen_it(data):
    """Fold by fold with public functions only, but for the split itself."""
    table = kes.cross_validate(data, folds=3, top=2, runs=5, random_state=4)
    totals = dict.fromkeys(("optimum 0", "optimum 1", "GES", "no edges"), 0.0)
    # The price of an edge is that of the whole table.
    price = kes.learn(data, runs=1, improve=False).settings.edge_prior
    for train, test in Cases(data).folds(3, Stream(4, Purpose.FOLDS)):
        optima = kes.learn(train, runs=5, random_state=4, edge_prior=price)
        graphs = (optima[0].graph, optima[1].graph, optima.ges.graph)
        for name, graph in zip(totals, (*graphs, kes.EssentialGraph(data.names)), strict=True):
            network = kes.fit(graph, train, prior="bdeu")
            totals[name] += network.log_likelihood(test)
    assert table["model"] == tuple(totals)
    assert table["log_likelihood"] == pytest.approx(tuple(totals.values()))
    assert table["per_case"] == pytest.approx([total / 500 for total in totals.values()])


def test_edges_predict(data):
    """ALARM's variables depend on each other: a model without edges must predict far worse."""
    table = kes.cross_validate(data, folds=2, top=1, runs=3)
    *_, none = table
    assert none["model"] == "no edges"
    assert none["difference"] < -10 * none["standard_error"]


def test_aggregated_data_are_split_by_cases():
    """Two rows of 50 cases each: both occur in every fold, or nothing could be predicted."""
    weighted = encode(np.array([[0, 0], [1, 1]]), weights=[50, 50])
    table = kes.cross_validate(weighted, folds=5, top=1, runs=1)
    assert table["per_case"][0] == pytest.approx(math.log(0.5), abs=0.1)


def test_ranks_that_a_fold_lacks_are_left_out():
    table = kes.cross_validate(np.array([[0, 0], [1, 1]] * 20), folds=2, top=5, runs=3)
    assert table["model"] == ("optimum 0", "GES", "no edges")


def test_same_seed_same_result(data):
    def table(**options):
        return kes.cross_validate(data, folds=2, top=1, runs=3, **options)

    assert table(n_jobs=1) == table(n_jobs=2)
    assert table() != table(random_state=1)


def test_progress_counts_the_runs_of_all_folds(data):
    seen = []
    kes.cross_validate(data, folds=3, top=1, runs=4, progress=seen.append)
    assert (seen[-1].done, seen[-1].wanted) == (12, 12)


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"folds": 1}, "at least 2"),
        ({"folds": 400}, "400"),
        ({"top": 0}, ""),
        ({"prior": -1.0}, ""),
        ({"weights": [0.5] * 500}, "integers"),
    ],
)
def test_errors(data, options, word):
    with refused(word, option=next(iter(options))):
        kes.cross_validate(data, runs=1, **options)
