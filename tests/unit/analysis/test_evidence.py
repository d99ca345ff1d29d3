"""Evidence as users meet it: what it rests on is said, and nothing but the data decides it."""

import math
import time
from types import SimpleNamespace

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.analysis import evidence_work
from kes.analysis.certainty import (
    CLEAR,
    LIKELY,
    VERDICTS,
    EdgeCertainty,
    edge_list,
    quantity,
    verdict,
)
from kes.analysis.deletion_loss import edge_worth
from kes.analysis.edge_probabilities import chosen
from kes.analysis.evidence import NEAR, EvidenceInterrupted, _instead
from kes.analysis.evidence_work import TASKS, Work, default_work
from kes.analysis.second_opinions import NOT_ASKED, SecondOpinions
from kes.graph import EssentialGraph
from kes.show.report.edge_certainty import Certainty, Further


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=300)


@pytest.fixture(scope="module")
def optima(data):
    return kes.learn(data, k=0.5, runs=20)


@pytest.fixture(scope="module")
def table(optima):
    return optima.evidence(tasks=5)


def by_pair(table):
    return {frozenset((row["x"], row["y"])): row for row in table}


def insertions(optima):
    """The gain of the best single edge between two variables, in the best model."""
    found = {}
    for step in kes.inclusion_boundary(optima.best.graph, optima.problem.dataset):
        if step.kind == "insert":
            found.setdefault(frozenset((step.x, step.y)), step.delta)
    return found


def test_all_pairs_that_matter_have_a_row(optima, table):
    """Those that some optimum connects, and those whose edge would cost the best little."""
    joined = {pair for optimum in optima for pair in optimum.graph.skeleton}
    near = {pair for pair, gain in insertions(optima).items() if gain >= -NEAR}
    assert by_pair(table).keys() == joined | near
    assert near - joined


def test_the_sign_says_whether_the_best_model_has_the_edge(optima, table):
    best = max(*table["best_with"], *table["best_without"])
    for row in table:
        assert row["how"] == "estimate"
        assert row["evidence"] == row["best_with"] - row["best_without"]
        assert max(row["best_with"], row["best_without"]) == best
    if best == optima.best.score:  # no search of a side found a better model
        for pair, row in by_pair(table).items():
            assert (row["evidence"] >= 0) == (pair in optima.best.graph.skeleton)


def test_no_optimum_at_hand_is_better_than_the_best_of_its_side(optima, table):
    found = by_pair(table)
    for optimum in optima:
        graph = optimum.graph
        for pair, row in found.items():
            side = "best_with" if pair in graph.skeleton else "best_without"
            assert row[side] >= optimum.score


def test_an_edge_that_cannot_be_directed_has_no_direction(optima, table):
    found = by_pair(table)
    if max(table["best_with"]) == optima.best.score:
        for pair in optima.best.graph.undirected:
            assert found[pair]["direction"] == 0
        for a, b in optima.best.graph.directed:
            row = found[frozenset((a, b))]
            assert row["direction"] * (1 if row["x"] == a else -1) > 0


def test_more_tasks_find_models_as_good(optima, table):
    more = by_pair(optima.evidence(tasks=20))
    for pair, row in by_pair(optima.evidence(tasks=0)).items():
        assert more[pair]["best_with"] >= row["best_with"]
        assert more[pair]["best_without"] >= row["best_without"]


def test_only_data_settings_and_tasks_decide(optima, table, data, tmp_path):
    assert optima.evidence(tasks=5, n_jobs=1) == table
    optima.save(tmp_path / "a.kes.json")
    loaded = kes.load(tmp_path / "a.kes.json")
    with refused(option="data"):
        loaded.evidence()
    assert loaded.evidence(tasks=5, data=data.to_pandas()) == table


def test_the_order_of_columns_does_not_matter_where_it_is_exact():
    rng = np.random.default_rng(4)
    hidden = rng.integers(0, 2, 200)
    columns = {name: hidden ^ (rng.random(200) < 0.2) for name in "abcd"}
    tables = []
    for names in ("abcd", "dbca"):
        frame = np.array([columns[name] for name in names], dtype=np.int32)
        optima = kes.learn(kes.Dataset(tuple(names), [(0, 1)] * 4, frame), runs=10)
        tables.append(by_pair(optima.evidence()))
    one, other = tables
    assert one.keys() == other.keys()
    for pair, row in one.items():
        turned = 1 if row["x"] == other[pair]["x"] else -1
        assert row["how"] == "exact"
        assert row["evidence"] == pytest.approx(other[pair]["evidence"], abs=1e-9)
        assert row["direction"] == pytest.approx(turned * other[pair]["direction"], abs=1e-9)


def test_a_budget_stops_between_edges_and_says_so(optima):
    found = optima.evidence(budget=1e-9)
    assert "It ended after 0 of" in found.note
    best, losses = optima.best.graph.skeleton, edge_worth(optima.best.graph, optima.problem)
    inserted = insertions(optima)
    for pair, row in by_pair(found).items():
        lacking = [one.score for one in optima if (pair in one.graph.skeleton) != (pair in best)]
        if pair in best:
            known = optima.best.score - max([optima.best.score - losses[pair], *lacking])
            assert row["how"] == "upper bound"
            assert row["certainty"] == ("doubtful" if known < LIKELY else None)
        else:
            known = max(lacking) - optima.best.score if lacking else inserted[pair]
            assert (row["how"], row["certainty"]) == ("lower bound", None)
        assert row["evidence"] == pytest.approx(known, abs=1e-9)
    assert "upper bound: no search" in found.note


def test_what_it_rests_on_is_said(optima, table):
    assert "5 tasks for each side" in table.note
    assert "negative: without is better" in repr(table).replace("\n", " ")
    assert "negative: without is better" in table._repr_html_()
    ancestors = optima.evidence("ancestors", tasks=0)
    assert "no search was made for them" in ancestors.note
    assert ancestors.columns[:3] == ("ancestor", "descendant", "evidence")


def test_wrong_options(optima):
    with refused("did you mean 'edges'", option="of"):
        optima.evidence("edge")
    with refused(option="tasks"):
        optima.evidence(tasks=-1)
    with refused("did you mean tasks", option="task"):
        optima.evidence(task=3)


def test_no_edges_no_rows():
    """With 2 000 cases, an edge between independent variables costs ½ ln 2000 > 3 nats."""
    optima = kes.learn(np.array([[0, 0], [0, 1], [1, 0], [1, 1]] * 500), runs=1)
    for of in ("edges", "v_structures", "ancestors"):
        table = optima.evidence(of)
        assert len(table) == 0
        assert "evidence" in table.columns


def test_the_default_work_follows_from_the_size_and_not_from_the_clock(optima, table, monkeypatch):
    """All pairs if that is affordable, else those of the best model, else none."""
    problem = optima.problem
    joined = {pair for optimum in optima for pair in optimum.graph.skeleton}
    every = len(joined)
    own = len(optima.best.graph.skeleton)
    assert own < every
    step = len(optima.names) ** 2
    assert default_work(optima, problem) == Work(TASKS, None)
    monkeypatch.setattr(evidence_work, "_WORK", 2 * every * step)
    assert default_work(optima, problem) == Work(2, None)
    monkeypatch.setattr(evidence_work, "_MOST_WORK", own * step)
    assert default_work(optima, problem).models == 1
    part = by_pair(optima.evidence())
    for pair, row in part.items():
        is_searched = pair in optima.best.graph.skeleton or pair not in joined
        assert is_searched or row["how"] in ("estimate", "lower bound")
        assert not is_searched or row["how"] == "estimate"
    monkeypatch.setattr(evidence_work, "_MOST_WORK", 0)
    assert {*optima.evidence()["how"]} == {"upper bound", "lower bound"}


def test_an_edge_that_a_twin_can_replace_names_its_replacement():
    """Either of two nearly equal columns explains the third; without the one edge, the other."""
    rng = np.random.default_rng(0)
    first = rng.integers(0, 2, 600)
    second = np.where(rng.random(600) < 0.01, 1 - first, first)
    effect = np.where(rng.random(600) < 0.2, 1 - first, first)
    codes = np.array([first, second, effect])
    data = kes.Dataset(("first", "second", "effect"), [(0, 1)] * 3, codes)
    optima = kes.learn(data, runs=5)
    [pair] = [edge for edge in optima.best.graph.skeleton if "effect" in edge]
    [other] = {"first", "second"} - pair
    assert by_pair(optima.evidence())[pair]["instead"] == f"{other} - effect"


def test_only_edges_of_its_own_variables_replace_an_edge():
    """Two good networks also differ elsewhere, which says nothing about this edge."""
    with_it = SimpleNamespace(score=-10.0, arcs=[(0, 1), (1, 2)])
    for arcs, named in (([(3, 2), (1, 2), (3, 4)], ""), ([(0, 2), (1, 2), (3, 4)], "a - c")):
        without = SimpleNamespace(score=-11.0, arcs=arcs)
        board = SimpleNamespace(model={"yes": with_it, "no": without}.get)
        question = SimpleNamespace(yes="yes", no="no", nodes=(0, 1))
        assert _instead("abcde", question, board) == named


@pytest.mark.parametrize("nats", [-9.0, -3.1, -2.9, 0.0, 2.9, 3.1, 9.9, 10.1, 500.0])
def test_the_range_that_is_told_of_a_word_is_that_of_its_use(nats):
    told = VERDICTS[verdict(nats, "exact")]
    low, high = {
        "at least 10 nats": (10, math.inf),
        "3 to 10 nats": (3, 10),
        "-3 to 3 nats": (-3, 3),
        "below -3 nats": (-math.inf, -3),
    }[told]
    assert low <= nats < high


# --- probabilities and second opinions -----------------------------------------------------------


@pytest.fixture(scope="module")
def few(data):
    return kes.learn(data.select(data.names[:8]), runs=10)


def test_one_probability_everywhere(few):
    """Exact where that is quick: in Python, in what the shell prints, and in the report's data."""
    evidence, post = few.evidence(), few.posterior()
    listed = edge_list(few, evidence)
    joined = by_pair(few.edges(evidence=evidence))
    for at, row in enumerate(evidence):
        share = post.edge(row["x"], row["y"])
        assert row["probability"] == share
        assert listed["BIC weight"][at] == round(share, 3)
        assert joined[frozenset((row["x"], row["y"]))]["probability"] == share
    assert evidence.note.startswith("probability: BIC weight of the edge, exact")
    certainty = Certainty(few, few.problem, Further(evidence=evidence))
    assert {one.probability for one in certainty.certainties.values()} == {*evidence["probability"]}


def test_every_probable_pair_has_a_row(few):
    found, post = by_pair(few.evidence()), few.posterior()
    for row in post.edges():
        if row["probability"] >= 0.05:
            assert frozenset((row["x"], row["y"])) in found


def test_large_tables_show_evidence_unless_probabilities_are_given(optima, table):
    assert "probability" not in table.columns
    assert quantity(table) is None
    post = optima.posterior(rounds=100)
    given = optima.evidence(tasks=0, posterior=post)
    for row in given:
        share = post.edge(row["x"], row["y"])
        assert row["probability"] == (None if math.isnan(share) else share)
    with refused(option="posterior"):
        optima.evidence(posterior=kes.posterior(optima.problem.dataset.select(["HR", "CVP"])))


def test_without_probabilities(few):
    assert "probability" not in few.evidence(posterior=False).columns


def test_a_direction_that_another_criterion_lacks_is_not_clear(optima, table):
    """By AIC and BDeu, the arcs of models at least as good as that of GES."""
    dataset = optima.problem.dataset
    second = SecondOpinions(optima.problem, 1)
    assert set(second.models) == {"aic", "bdeu"}
    for name, graph in second.models.items():
        ges = kes.learn(dataset, criterion=name, runs=1, improve=False, edge_prior=0).ges
        best = EssentialGraph.from_core(dataset.names, graph)
        score = kes.score(best, dataset, criterion=name, edge_prior=0)
        assert score >= ges.score - 1e-9
    place = {name: i for i, name in enumerate(dataset.names)}
    asked = 0
    for row in table:
        if row["direction"] is None or abs(row["direction"]) < CLEAR:
            assert row["disputed"] == ""
            continue
        asked += 1
        arc = place[row["x"]], place[row["y"]]
        arc = arc if row["direction"] > 0 else arc[::-1]
        against = [name for name, graph in second.models.items() if arc not in graph.directed]
        assert row["disputed"] == ", ".join(against)
        if against:
            assert EdgeCertainty.of(row).clear_direction == 0
    assert asked > 2


def test_what_was_not_searched_is_not_compared(optima, monkeypatch):
    monkeypatch.setattr(evidence_work, "_MOST_WORK", 0)
    assert {*optima.evidence()["disputed"]} == {NOT_ASKED}


@pytest.mark.parametrize("step", ["chosen", "SecondOpinions", "SamplingError"])
def test_an_interrupt_of_any_step_keeps_the_table(optima, monkeypatch, step):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(f"kes.analysis.evidence.{step}", interrupted)
    with pytest.raises(EvidenceInterrupted) as stop:
        optima.evidence(tasks=0)
    found = stop.value.evidence
    assert by_pair(found).keys() >= set(optima.best.graph.skeleton)
    assert (NOT_ASKED in found["disputed"]) == (step != "SamplingError")


def test_second_opinions_are_not_asked_after_the_deadline(optima):
    late = SecondOpinions(optima.problem, 1, deadline=time.monotonic())
    assert late.models == {}
    assert late.against((0, 1)) == NOT_ASKED


def test_probabilities_are_bounded_by_the_budget(data, monkeypatch):
    few = kes.learn(data.select(data.names[:6]), criterion="bdeu", runs=2, improve=False)
    problem = few.problem
    assert chosen(few, problem, None, 1) is not None
    assert chosen(few, problem, None, 1, seconds=1e-9) is None
    given = {}
    monkeypatch.setattr(
        "kes.analysis.edge_probabilities.posterior_of", lambda _, **how: given.update(how)
    )
    chosen(few, problem, True, 1, seconds=7.0)
    assert given["budget"] == 7.0
