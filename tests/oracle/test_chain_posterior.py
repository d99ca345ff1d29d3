"""Chains over models against exact probabilities, and what they say of themselves."""

import math
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

import kes
from kes.analysis import sampled_posterior
from kes.analysis.chains import _MATRICES, ChainBatch, Chains
from kes.analysis.posterior import PosteriorInterrupted
from kes.graph.core_graph import CoreGraph

ROUNDS = 1500


@pytest.fixture(scope="module")
def data():
    data = kes.datasets.alarm(rows=300)
    return data.select(data.names[:8])


@pytest.fixture(scope="module")
def chains(data):
    return kes.posterior(data, method="chains", rounds=ROUNDS)


def edges(post):
    return np.array([[post.edge(x, y) if x != y else 0.0 for y in post.names] for x in post.names])


def close_where_settled(found, right):
    """Numbers on which the chains agree are right, and those are most."""
    settled = ~np.isnan(found)
    assert settled.mean() > 0.8
    np.testing.assert_allclose(found[settled], right[settled], atol=0.1)


def test_chains_agree_with_the_sum(data, chains):
    exact = kes.posterior(data)
    assert chains.status == "converged"
    np.testing.assert_allclose(edges(chains), edges(exact), atol=0.05)
    close_where_settled(chains.arcs, exact.arcs)
    close_where_settled(chains.paths, exact.paths)
    found = chains.convergence()
    assert max(found["agreement"]) <= 0.05
    probable = zip(found["probability"], found["ess"], strict=True)
    assert min(ess for share, ess in probable if 0.05 < share < 0.95) > 100


@pytest.mark.parametrize("prior", ["dags", "classes"])
def test_chains_agree_with_all_networks(data, prior):
    few = data.select(data.names[1:6])
    exact = kes.posterior(few, prior=prior)
    found = kes.posterior(few, prior=prior, method="chains", rounds=ROUNDS)
    np.testing.assert_allclose(edges(found), edges(exact), atol=0.05)
    best = exact.models[0]
    shares = {model.graph: model.probability for model in found.models}
    assert shares[best.graph] == pytest.approx(best.probability, abs=0.1)
    error = found.structures.effective_error
    assert 0 < error < 0.3 * exact.effective_models
    assert found.effective_models == pytest.approx(exact.effective_models, abs=4 * error)
    close_where_settled(found.structures.blankets, exact.structures.blankets)
    keys = list(exact.structures.v_structures)
    shares = np.array([found.v_structure(*key) for key in keys])
    close_where_settled(shares, np.array([exact.v_structure(*key) for key in keys]))


@pytest.mark.parametrize("of", ["edges", "arcs", "ancestors", "v_structures", "blankets", "models"])
def test_every_number_has_an_error_an_agreement_and_a_sample_size(chains, of):
    found = chains.convergence(of)
    shares = [share for share in found["probability"] if share is not None]
    assert len(shares) > 0.8 * len(found) > 0
    assert all(0 <= share <= 1 + 1e-9 for share in shares)
    assert all(0 <= error < 0.1 for error in found["error"])
    assert all(r_hat >= 0.9 for r_hat in found["r_hat"])
    assert all(ess > 1 for ess in found["ess"])
    assert all(
        error <= agreement + 0.02
        for error, agreement in zip(found["error"], found["agreement"], strict=True)
    )


def test_errors_are_about_right(data):
    """Nearly all edges are within three standard errors of the exact value."""
    found, exact = kes.posterior(data, method="chains", random_state=7), kes.posterior(data)
    away = np.abs(edges(found) - edges(exact))
    error = found.diagnostics.of["edges"].error
    assert (away > 3 * error + 1e-3).sum() / 2 <= 1  # each pair is there twice
    assert away.max() < 0.02


class Interrupting(Chains):
    """Chains that Ctrl-C stops after eight batches."""

    def _batch(self):
        if self.record is not None and len(self.record.batches) == 8:
            raise KeyboardInterrupt
        return super()._batch()


def test_stopped_and_resumed_chains_give_the_same_numbers(data, tmp_path, monkeypatch):
    file = tmp_path / "chains.npz"
    whole = kes.posterior(data, method="chains", rounds=400)
    with monkeypatch.context() as patched:
        patched.setattr(sampled_posterior, "Chains", Interrupting)
        with pytest.raises(PosteriorInterrupted) as stopped:
            kes.posterior(data, method="chains", rounds=400, resume=file)
    part = stopped.value.posterior
    assert part.diagnostics.rounds == 7 * 20  # one batch is burnt in
    again = kes.posterior(data, method="chains", rounds=400, resume=file, n_jobs=1)
    np.testing.assert_array_equal(again.arcs, whole.arcs)
    np.testing.assert_array_equal(again.edge_shares, whole.edge_shares)
    assert again.v_structures() == whole.v_structures()
    assert again.models == whole.models


def test_files_of_other_chains_are_refused(data, tmp_path):
    file = tmp_path / "chains.npz"
    kes.posterior(data, method="chains", rounds=100, resume=file)
    for changed in ({"random_state": 3}, {"criterion": "bic"}, {"prior": "classes"}):
        with pytest.raises(kes.KesError) as error:
            kes.posterior(data, method="chains", rounds=100, resume=file, **changed)
        assert error.value.option == "resume"
    file.write_bytes(file.read_bytes()[:-200])
    with pytest.raises(kes.KesError) as error:
        kes.posterior(data, method="chains", rounds=100, resume=file)
    assert error.value.file == str(file)


def test_threads_change_nothing_and_seeds_do(data, chains):
    again = kes.posterior(data, method="chains", rounds=ROUNDS, n_jobs=1)
    np.testing.assert_array_equal(again.arcs, chains.arcs)
    np.testing.assert_array_equal(again.edge_shares, chains.edge_shares)
    other = kes.posterior(data, method="chains", rounds=ROUNDS, random_state=1)
    assert not np.array_equal(other.edge_shares, chains.edge_shares)


def test_what_is_not_settled_has_no_number(chains):
    shares = chains.edge_shares.copy()
    shares[0, 1] = shares[1, 0] = math.nan
    some = replace(chains, edge_shares=shares)
    x, y = chains.names[:2]
    assert math.isnan(some.edge(x, y))
    last = {name: column[-1] for name, column in some.edges().to_dict().items()}
    assert (last["x"], last["y"], last["probability"]) == (x, y, None)
    assert last["status"] == "not settled"


def test_a_model_on_which_chains_differ_has_no_probability(chains):
    """Two of four chains end every round in one model, the others in another one."""
    statistics = object.__new__(sampled_posterior._Statistics)
    one, other = CoreGraph(((0, 1),)), CoreGraph()
    classes = tuple(Counter({own: 20}) for own in (one, one, other, other))
    shares = {name: np.zeros((4, 2, 2)) for name in _MATRICES}
    statistics._batches = [ChainBatch(shares, ({},) * 4, classes, 0)] * 5
    graphs, found = statistics._models()
    assert {*graphs} == {one, other}
    assert np.isnan(found.shown).all()
    number, error = sampled_posterior._effective(statistics._counts(), found)
    assert math.isnan(number)
    assert math.isnan(error)


def test_models_that_are_not_settled_weight_nothing(data, chains):
    x, y = data.names[:2]
    optima = kes.learn(data, criterion="bdeu", runs=2, improve=False)
    assert optima.effects(x, y, posterior=chains).covered > 0.5
    first, *rest = chains.models
    unknown = replace(first, probability=math.nan)
    some_open = replace(chains, structures=replace(chains.structures, models=(unknown, *rest)))
    with pytest.raises(kes.KesError) as error:
        some_open.ensemble()
    assert error.value.option == "rounds"
    assert some_open.model_table()["status"][-1] == "not settled"
    open_chains = replace(chains, status="not settled")
    with pytest.raises(kes.KesError) as error:
        optima.effects(x, y, posterior=open_chains)
    assert error.value.option == "rounds"
    with pytest.raises(kes.KesError) as error:
        open_chains.ensemble()
    assert error.value.option == "rounds"


def test_exact_probabilities_have_no_diagnostics(data):
    with pytest.raises(kes.KesError):
        kes.posterior(data.select(data.names[:3])).convergence()
