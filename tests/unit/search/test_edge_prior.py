"""The prior over edges as a user meets it: options, knowledge, files and the command line."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from tests.unit.refused import refused
from tests.unit.search.recipes import check_recipes

import kes
from kes.cli import run
from kes.search.edge_price import FALSE_EDGES, chance_edges, default_price
from kes.settings import Criterion
from kes.show.report.recipe import python_call


def noise(n=12, rows=60, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(rng.integers(0, 2, (rows, n)), columns=[f"v{i}" for i in range(n)])


@pytest.fixture(scope="module")
def table():
    frame = noise()
    frame["v1"] = frame["v0"] ^ (np.arange(len(frame)) % 7 == 0)
    return frame


# --- the price -----------------------------------------------------------------------------------


def test_a_price_lowers_scores_by_so_much_for_each_edge(table):
    arcs = [("v0", "v1"), ("v0", "v2"), ("v1", "v2")]
    free = kes.score(arcs, table, edge_prior=None)
    assert kes.score(arcs, table, edge_prior=0) == free
    assert kes.score(arcs, table, edge_prior=2.5) == pytest.approx(free - 3 * 2.5)
    assert kes.score([], table, edge_prior=2.5) == kes.score([], table, edge_prior=0)


@pytest.mark.parametrize(
    ("rows", "options", "gamma"),
    [
        (60, {}, 1 - math.log(60) / (2 * math.log(12))),  # [Chen & Chen 2008]
        (200, {}, 0.0),  # 12 variables are fewer than √200
        (60, {"gamma": 0.5}, 0.5),
    ],
)
def test_the_extended_bic_charges_twice_gamma_times_the_log_of_n(rows, options, gamma):
    table = noise(rows=rows).assign(constant=1)  # which counts for nothing
    optima = kes.learn(table, runs=1, improve=False, edge_prior="ebic", **options)
    assert optima.settings.edge_prior == pytest.approx(2 * gamma * math.log(12))


def test_a_high_price_leaves_only_what_is_strong(table):
    cheap, dear = (kes.learn(table, runs=5, edge_prior=price).best.graph for price in (0, 4))
    assert dear.skeleton == {frozenset(("v0", "v1"))}
    assert len(cheap.skeleton) > 1


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"edge_prior": -1}, "edge_prior"),
        ({"edge_prior": "bic"}, "edge_prior"),
        ({"edge_prior": math.inf}, "edge_prior"),
        ({"edge_prior": True}, "edge_prior"),
        ({"edge_prior": "ebic", "gamma": -0.1}, "gamma"),
        ({"edge_prior": "ebic", "gamma": "half"}, "gamma"),
        ({"gamma": 0.5}, "gamma"),
        ({"edge_prior": 1.0, "gamma": 0.5}, "gamma"),
    ],
)
def test_wrong_values_name_the_option(table, options, name):
    with pytest.raises(kes.KesError) as caught:
        kes.learn(table, **options)
    assert caught.value.option == name


def test_weights_in_any_order_give_the_same_price(table):
    """A sum that depended on the order would change the last bits of every score."""
    weights = np.random.default_rng(1).uniform(0.1, 2, len(table))
    order = np.random.default_rng(2).permutation(len(table))
    first = kes.learn(table, weights=weights, runs=2, improve=False, edge_prior="ebic")
    shuffled = table.iloc[order]
    again = kes.learn(shuffled, weights=weights[order], runs=2, improve=False, edge_prior="ebic")
    assert first.settings == again.settings


# --- the default ---------------------------------------------------------------------------------


def price(variables, cases, criterion="bic", **more):
    return default_price(variables, cases, Criterion(criterion, **more))


@pytest.mark.parametrize(("variables", "cases"), [(30, 20), (30, 60), (100, 128), (300, 1000)])
def test_the_default_keeps_noise_out(variables, cases):
    """A pair gains more than nothing as often as Student's t test says, by its exact distribution.

    An edge pays if -N/2 ln(1 - r²) exceeds penalty and price, and t² = (N - 2) r² / (1 - r²).
    """
    needed = math.log(cases) / 2 + price(variables, cases)
    largest = 2 * stats.t.sf(math.sqrt((cases - 2) * math.expm1(2 * needed / cases)), cases - 2)
    edges = math.comb(variables, 2) * largest
    assert edges / variables == pytest.approx(FALSE_EDGES, rel=0.03)
    alone = 2 * stats.t.sf(math.sqrt((cases - 2) * math.expm1(math.log(cases) / cases)), cases - 2)
    expected = chance_edges(variables, cases, Criterion("bic"))
    assert expected == pytest.approx(math.comb(variables, 2) * alone, rel=0.02)


@pytest.mark.parametrize(
    ("variables", "cases"),
    [
        (1, 10),
        (2, 3),
        (0, 5),
        (4, 150),
        (8, 5000),
        (10, 1000),
        (24, 5822),
        (37, 20_000),
        (400, 10**6),
    ],
)
def test_few_variables_have_no_price(variables, cases):
    """BIC alone admits less than one false edge, or there are at most 0.4 √N variables."""
    assert price(variables, cases) == 0


def test_the_default_takes_other_penalties_into_account():
    assert price(100, 128, "aic") == 0
    assert price(100, 128, "bdeu", ess=1.0) == price(100, 128)
    assert price(100, 128, penalty=1.5) == pytest.approx(price(100, 128) - math.log(128) / 4)
    assert price(100, 128, penalty=10.0) == 0


@pytest.mark.parametrize("kind", ["discrete", "continuous", "mixed"])
def test_noise_gives_next_to_nothing_by_default(kind):
    """30 columns, 60 cases, 10 draws: 1.5 edges are expected in all, and none is sure."""
    edges = []
    for seed in range(10):
        rng = np.random.default_rng(seed)
        table = noise(30, 60, seed) if kind != "continuous" else pd.DataFrame()
        for column in range(0, 30, 1 if kind == "continuous" else 2 if kind == "mixed" else 30):
            table[f"v{column}"] = rng.normal(size=60) if kind != "discrete" else table["v0"]
        optima = kes.learn(table, runs=3)
        assert optima.kind == kind
        edges.append(len(optima.best.graph.skeleton))
        assert "sure" not in optima.evidence()["certainty"]
    assert sum(edges) / 300 < 0.02
    assert optima.settings.edge_prior > 4


def test_the_summary_says_what_was_chosen_and_why():
    table = noise(40, 60)
    chosen = kes.learn(table, runs=1, improve=False)
    count = chance_edges(40, 60, Criterion("bic"))
    assert f"about {count:.0f} of 780 pairs" in repr(chosen)
    assert "edge_prior" not in python_call(chosen)
    free = kes.learn(table, runs=1, improve=False, edge_prior=0)
    assert "edge price" not in repr(free)
    assert "edge_prior=0.0" in python_call(free)
    given = kes.learn(table, runs=1, improve=False, edge_prior=2.5)
    assert "2.5 nats" in repr(given)
    assert "pairs of independent" not in repr(given)
    extended = kes.learn(table, runs=1, improve=False, edge_prior="ebic", gamma=0.5)
    assert "that of the extended BIC with gamma=0.5\n" in repr(extended)


def test_ordinary_tables_keep_their_results():
    data = kes.datasets.alarm(rows=10_000)  # 37 variables are 0.37 √N
    assert kes.learn(data, runs=2, improve=5) == kes.learn(data, runs=2, improve=5, edge_prior=0)


# --- soft knowledge ------------------------------------------------------------------------------


def test_odds_of_a_pair_take_the_place_of_the_price(table):
    known = kes.Knowledge(likely={("v3", "v2"): 4.0})
    arcs = [("v2", "v3"), ("v0", "v1")]
    free = kes.score(arcs, table, edge_prior=0)
    assert kes.score(arcs, table, knowledge=known, edge_prior=1.5) == pytest.approx(free + 4 - 1.5)


def test_soft_knowledge_rules_nothing_out(table):
    known = kes.Knowledge(likely={("v0", "v1"): -50.0, ("v4", "v5"): 50.0})
    assert known
    assert not known.constrains
    best = kes.learn(table, runs=5, knowledge=known, edge_prior=3).best
    assert best.graph.skeleton == {frozenset(("v4", "v5"))}
    assert best.mpdag == best.graph
    text = repr(kes.learn(table, runs=2, knowledge=known))
    assert "2 pairs with prior odds" in text
    assert "satisfies the knowledge" not in text


def test_an_explanation_names_the_prior(table):
    [step] = [
        step
        for step in kes.inclusion_boundary(kes.EssentialGraph(["v0", "v1"]), table)
        if step.kind == "insert"
    ]
    free, priced = (kes.explain(step, table, edge_prior=price) for price in (0, 2.0))
    assert priced.fit == pytest.approx(free.fit)
    assert priced.worth == pytest.approx(free.worth - 2)
    assert priced.prior == -2
    assert "The prior over edges costs 2." in str(priced)


# --- files, recipes and the shell ----------------------------------------------------------------


@pytest.fixture(scope="module")
def optima(table):
    known = kes.Knowledge(likely={("v2", "v3"): 1.25}, forbidden=[("v1", "v0")])
    return kes.learn(table, runs=5, improve=20, knowledge=known, edge_prior=1.5)


def test_files_keep_it_and_continue_under_it(table, optima, tmp_path):
    optima.save(tmp_path / "a.json")
    assert kes.load(tmp_path / "a.json") == optima
    more = kes.load(tmp_path / "a.json").extend(3, table)
    assert more == optima.extend(3)
    with refused(r"edge_prior: 1\.5 there, 2\.0 here", option="out", file=tmp_path / "a.json"):
        kes.learn(table, out=tmp_path / "a.json", edge_prior=2.0, knowledge=optima.best.knowledge)


def test_files_without_a_price_have_none(table, tmp_path):
    found = kes.learn(table, runs=2, improve=False, edge_prior=0)
    found.save(tmp_path / "a.json")
    document = json.loads((tmp_path / "a.json").read_text())
    assert "edge_prior" not in document["settings"]
    assert kes.load(tmp_path / "a.json").settings.edge_prior == 0
    document["settings"]["edge_prior"] = -1
    (tmp_path / "a.json").write_text(json.dumps(document))
    with refused(file=tmp_path / "a.json"):
        kes.load(tmp_path / "a.json")


def test_recipes_give_it_again(table, optima, tmp_path, monkeypatch):
    words = check_recipes(optima, table, tmp_path, monkeypatch)
    assert run(["learn", *words[:-2], "--runs", "1", "--edge-prior", "ebic", "--gamma", "1"]) == 0


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--edge-prior", "-1"], "--edge-prior"),
        (["--edge-prior", "1,5"], "decimal comma"),
        (["--edge-prior", "bic"], "(did you mean 'ebic'?)"),
        (["--edge-prior", "lots"], "--edge-prior must be a number of nats, 'auto' or 'ebic'"),
        (["--basis", "99"], "--basis must be a degree from 1 to 6 or 'auto', not 99"),
        (["--basis", "lots"], "--basis must be a degree from 1 to 6 or 'auto', not 'lots'"),
        (["--gamma", "lots"], "--gamma must be a number or 'auto', not 'lots'"),
        (["--likely", "v0,v0=3"], "likely: a pair has two different variables, not 'v0' twice"),
        (["--likely", "v0,v1"], "--likely takes two names and log odds"),
        (["--likely", "v0=2"], "--likely takes two names and log odds"),
        (["--likely", "v0,v99=2"], "unknown column 'v99'"),
        (["--gamma", "1"], "--edge-prior ebic"),
    ],
)
def test_wrong_words_are_explained(table, words, message, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    table.to_csv("data.csv", index=False)
    assert run(["learn", "data.csv", "--runs", "1", *words]) == 2
    assert message in capsys.readouterr().err


# --- other searches ------------------------------------------------------------------------------


def test_em_and_every_search_use_it(table):
    gappy = table.astype(object).mask(np.random.default_rng(3).random(table.shape) < 0.05)
    options = {"edge_prior": 4.0, "missing": "em"}
    found = kes.learn(gappy, runs=2, improve=False, **options)
    assert found.best.graph.skeleton == {frozenset(("v0", "v1"))}
    # A price that forbids all edges must reach the rounds of EM: then each value is drawn from
    # the frequencies of its own column, and the completed table does not depend on the others.
    alone = kes.learn(gappy, runs=1, improve=False, edge_prior=1e6, missing="em")
    assert alone.best.graph.skeleton == set()
    free = kes.learn(gappy, runs=1, improve=False, edge_prior=0, missing="em")
    assert alone.record.fingerprint != free.record.fingerprint
    resampled = kes.stability(table, resamples=5, runs=1, edge_prior=1e6)
    assert len(resampled.edges()) == 0
