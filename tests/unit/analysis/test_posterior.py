"""`kes.posterior` and `kes.credible`: what they accept, refuse and show. Numbers: tests/oracle."""

import io
import json
import math
import pickle
import re
from collections import Counter
from functools import partial

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes.analysis.chains import _MATRICES, BETAS, CHAINS, ChainBatch, ChainRecord
from kes.analysis.posterior import PosteriorCost, PosteriorInterrupted, _WorkProgress, estimate
from kes.files import load
from kes.graph.core_graph import CoreGraph


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=300)


@pytest.fixture(scope="module")
def eight(data):
    return data.select(data.names[:8])


@pytest.fixture(scope="module")
def post(eight):
    return kes.posterior(eight)


def test_a_table_has_a_row_for_every_pair(post):
    edges = post.edges()
    assert len(edges) == 28
    assert list(edges.columns) == ["x", "y", "probability", "forward", "backward", "status"]
    assert list(edges["probability"]) == sorted(edges["probability"], reverse=True)
    assert set(edges["status"]) == {post.status} == {"exact"}
    for x, y, both, forward, backward in zip(*list(edges.to_dict().values())[:5], strict=True):
        assert both == post.edge(x, y) == post.edge(y, x)
        assert both == pytest.approx(forward + backward, abs=1e-12)
        assert (forward, backward) == (post.arc(x, y), post.arc(y, x))


def test_an_arc_is_a_path(post):
    for x, y in [(x, y) for x in post.names for y in post.names if x != y]:
        assert post.ancestor(x, y) >= post.arc(x, y) - 1e-12
    assert post.dropped < 1e-9
    assert post.rounding < 1e-9


def test_a_search_with_the_same_criterion_gives_the_same_probabilities(eight, post):
    optima = kes.learn(eight, criterion="bdeu", runs=2, improve=False)
    again = optima.posterior()
    np.testing.assert_array_equal(again.arcs, post.arcs)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(again)).paths, post.paths)


def test_threads_and_row_order_change_nothing(eight):
    frame = pd.DataFrame(
        {n: np.array(c.codes) for n, c in zip(eight.names, eight.columns, strict=True)}
    )
    one = kes.posterior(frame, n_jobs=1)
    other = kes.posterior(frame.iloc[::-1], n_jobs=2)
    np.testing.assert_array_equal(one.arcs, other.arcs)


def test_bic_weights_go_by_their_own_name(eight):
    weights = kes.posterior(eight, criterion="bic")
    assert weights.quantity == "BIC weight"
    assert repr(weights).startswith("BIC weights of edges")
    assert "not posterior probabilities" in weights.edges().note


def test_knowledge_rules_out_arcs(eight):
    known = kes.Knowledge(forbidden=[("HYPOVOLEMIA", "LVEDVOLUME")], apart=[("CVP", "PCWP")])
    post = kes.posterior(eight, knowledge=known)
    assert post.arc("HYPOVOLEMIA", "LVEDVOLUME") == 0.0
    assert post.edge("CVP", "PCWP") == 0.0
    required = kes.Knowledge(required=[("HISTORY", "STROKEVOLUME")])
    assert kes.posterior(eight, knowledge=required).arc("HISTORY", "STROKEVOLUME") == pytest.approx(
        1
    )


@pytest.mark.parametrize(
    ("options", "field"),
    [
        ({"prior": "x"}, "prior"),
        ({"prior": "classes", "method": "exact"}, "prior"),
        ({"method": "guess"}, "method"),
        ({"rounds": 1}, "rounds"),
        ({"memory_mb": 0}, "memory_mb"),
        ({"budget": "soon"}, "budget"),
        ({"criterion": "bge"}, "criterion"),
        ({"seed": 1}, "seed"),
    ],
)
def test_options_that_cannot_be_used(eight, options, field):
    with pytest.raises(kes.KesError) as error:
        kes.posterior(eight, **options)
    assert error.value.option == field


def test_too_many_columns_are_refused_with_the_memory_they_need(data):
    with pytest.raises(kes.KesError) as error:
        kes.posterior(data.select(data.names[:25]), method="exact", memory_mb=100)
    assert error.value.option == "memory_mb"
    assert "5," in str(error.value)  # gigabytes
    assert estimate(data.select(data.names[:25])).bytes > 5e9


def test_a_budget_ends_the_work(data):
    with pytest.raises(kes.KesError) as error:
        kes.posterior(data.select(data.names[:20]), budget=0.2)
    assert error.value.option == "budget"


def test_pairs_that_are_none(post):
    for pair in [("CVP", "CVP"), ("CVP", "x")]:
        with pytest.raises(kes.KesError):
            post.edge(*pair)


def test_chains_give_what_the_exact_sum_does_not(post):
    """V-structures, Markov blankets and models come with a status of their own."""
    assert {*post.blankets("CVP")["status"]} <= {"converged", "not settled"}
    assert post.blanket("LVEDVOLUME", "PCWP") > 0.99
    assert {*post.v_structures()["status"]} <= {"converged", "not settled"}
    assert sum(model.probability for model in post.models) <= 1 + 1e-9
    assert post.models[0].error > 0
    assert post.effective_models > 1
    assert post.status == "exact"


def test_models_have_a_table_with_their_status(eight):
    exact = kes.posterior(eight.select(eight.names[:4]))
    table = exact.model_table()
    assert list(table["model"]) == [*range(len(exact.models))]
    assert list(table["probability"]) == [model.probability for model in exact.models]
    assert {*table["status"]} == {"exact"}
    assert table["distance"][0] == 0
    assert table["distance"][5] == exact.models[5].graph.shd(exact.models[0].graph)
    assert table.note == f"effective number of models: {exact.effective_models:.4g} (exact)"
    sampled = kes.posterior(eight, method="chains", rounds=300).model_table()
    assert {*sampled["status"]} <= {"converged", "not settled"}
    assert re.fullmatch(
        r"effective number of models: ([\d.]+ \(± [\d.]+, converged\)|not settled)", sampled.note
    )


def test_a_pickled_sum_has_no_data_for_chains(eight):
    alone = pickle.loads(pickle.dumps(kes.posterior(eight)))
    with pytest.raises(kes.KesError) as error:
        alone.v_structures()
    assert error.value.option == "method"


def test_progress_is_reported(data):
    heard = []
    kes.posterior(data.select(data.names[:17]), progress=heard.append)
    assert all(progress.done <= progress.wanted for progress in heard)
    assert heard
    assert heard[0].unit == "sets"


def test_credible_models_of_a_search(eight):
    optima = kes.learn(eight, runs=20, prove=False)
    models = optima.credible(within=2.0)
    assert models.complete
    assert models[0].score == pytest.approx(optima.best.score)
    assert models[0].graph == optima.best.graph
    assert models[0].is_local_optimum
    assert [m.score for m in models[:2]] == [m.score for m in models][:2]
    assert re.match(f"All {len(models)} models? within 2 nats", repr(models))
    more = kes.credible(eight, within=50.0, most=20)
    assert not more.complete
    assert len(more) == 20
    assert more.counts().note == "not complete: counted from the best of these models"
    assert more.title.startswith("More than 20 models within 50 nats")
    assert "proven" not in more.title
    assert all(model.hits is None for model in more)


@pytest.mark.parametrize(
    ("options", "field"),
    [({"within": -1}, "within"), ({"most": 0}, "most"), ({"optima": "x"}, "optima")],
)
def test_options_of_credible_that_cannot_be_used(eight, options, field):
    with pytest.raises(kes.KesError) as error:
        kes.credible(eight, **options)
    assert error.value.option == field


def test_a_result_with_another_criterion_is_refused(eight):
    optima = kes.learn(eight, criterion="aic", runs=2)
    with pytest.raises(kes.KesError) as error:
        kes.credible(eight, optima=optima)
    assert error.value.option == "optima"


@pytest.fixture
def chain_file(tmp_path):
    """A file with two batches of chains over three variables."""
    path, none = CoreGraph(((0, 2), (1, 2))), CoreGraph()
    shares = {name: np.full((CHAINS, 3, 3), 0.25) for name in _MATRICES}
    found = ({(0, 2, 1): 0.5},) * CHAINS, (Counter({path: 3, none: 1}),) * CHAINS, 7
    walkers = ((path,) * len(BETAS),) * CHAINS
    record = ChainRecord("key", 2.5, 20, (path, none), walkers, (ChainBatch(shares, *found),) * 2)
    file = tmp_path / "chains.npz"
    file.write_bytes(record.to_bytes())
    return file


def _rewritten(file, change):
    """Return the content of a file of chains after a change of its parts."""
    with np.load(file) as arrays:
        parts = dict(arrays)
    rest = json.loads(parts["rest"].tobytes())
    change(parts, rest)
    parts["rest"] = np.frombuffer(json.dumps(rest).encode(), dtype=np.uint8)
    content = io.BytesIO()
    np.savez_compressed(content, **parts)
    return content.getvalue()


def _other_method(content):
    """Return a ZIP file whose members claim a compression that does not exist."""
    at = content.index(b"PK\x01\x02") + 10
    local = content.index(b"PK\x03\x04") + 8
    damaged = bytearray(content)
    damaged[at : at + 2] = damaged[local : local + 2] = b"\x63\x00"
    return bytes(damaged)


def test_damaged_chains_are_refused(chain_file, tmp_path):
    whole = chain_file.read_bytes()
    data = whole.index(b"PK\x03\x04") + 60

    def fewer(parts, _):
        parts["arcs"] = parts["arcs"][:0]

    def smaller(parts, _):
        parts["edges"] = parts["edges"][:, :, :2, :2]

    def no_walkers(_, rest):
        rest[4] = []

    def unknown_node(_, rest):
        rest[3] = [[[[0, 99]], []]]

    def no_duration(_, rest):
        rest[1] = "long"

    changes = (fewer, smaller, no_walkers, unknown_node, no_duration)
    damaged = [_rewritten(chain_file, change) for change in changes]
    damaged += [b"", b"PK", whole[:100], _other_method(whole)]
    damaged.append(whole[:data] + bytes(40) + whole[data + 40 :])
    for number, content in enumerate(damaged):
        file = tmp_path / f"{number}.npz"
        file.write_bytes(content)
        with refused(file=file):
            load(file, partial(ChainRecord.parse, 3))
    whole = load(chain_file, partial(ChainRecord.parse, 3))
    assert whole.to_bytes() == chain_file.read_bytes()


def test_an_interrupted_sum_says_that_nothing_was_found(eight, monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("kes.analysis.posterior._summed", interrupted)
    with pytest.raises(PosteriorInterrupted) as stop:
        kes.posterior(eight, method="exact")
    assert stop.value.posterior is None


def test_the_estimate_of_a_wide_table_is_finite_and_never_less_than_of_a_narrower_one():
    """2**7129 is no float; the evidence of wide tables asks for the estimate all the same."""
    widths = (10, 100, 7129, 20_000)
    costs = [PosteriorCost(variables, 1e-6).seconds for variables in widths]
    assert all(map(math.isfinite, costs))
    assert costs == sorted(costs)
    assert "too many" in str(PosteriorCost(20_000, 1e-6))


def test_the_time_left_follows_the_passes_of_the_sum():
    """Counting a set of a large table takes longer than all that follows."""
    cost = PosteriorCost(10, 1e-5)
    shares = [cost.share(done) for done in range(0, 4 * 1024 + 1, 256)]
    assert (shares[0], shares[-1]) == (0.0, 1.0)
    assert shares == sorted(shares)
    assert cost.share(1024) > 0.75
    assert PosteriorCost(10, 0.0).share(1024) == 0.0


def test_the_time_left_of_resumed_chains_is_by_what_is_done_now(monkeypatch):
    """With 500 of 1 000 rounds from a file, and 100 more in 2 s, there are 8 s left."""
    now, seen = 100.0, []
    monkeypatch.setattr("kes.analysis.posterior.time.monotonic", lambda: now)
    keep_going = _WorkProgress(105.0, seen.append).counting(1000, "rounds")
    steps = [(100.0, 500), (101.0, 500), (102.0, 550), (103.0, 600), (104.0, 600), (106.0, 600)]
    goes_on = []
    for now, done in steps:  # noqa: B007 - the clock reads it
        goes_on.append(keep_going(done))
    assert [progress.left for progress in seen[:2]] == [None, None]
    assert [progress.left for progress in seen[2:]] == pytest.approx([9.0, 8.0, 7.0, 5.0])
    assert goes_on == [True] * 5 + [False]


def test_an_imputation_is_interrupted_like_the_sum(eight):
    """With a gap in a cell, imputing comes first, with progress and within the budget."""
    codes = [column.codes for column in eight.discrete_columns]
    frame = pd.DataFrame(dict(zip(eight.names, codes, strict=True)), dtype=object)
    frame.iloc[0, 0] = None
    seen = []

    def show(progress):
        seen.append(progress.unit)
        raise KeyboardInterrupt

    with pytest.raises(PosteriorInterrupted):
        kes.posterior(frame, missing="em", progress=show)
    assert seen == ["rounds"]
