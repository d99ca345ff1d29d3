"""Resampling: what is drawn, that it is learned from as it should be, and the bootstrap's bias."""

import signal
import threading

import numpy as np
import pytest
from tests.unit.refused import refused

import kes
from kes.data import encode
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import MOST_CASES, Cases


@pytest.fixture(scope="module")
def data():
    return kes.datasets.alarm(rows=400)


def counts(sample):
    """Number of cases of each distinct row, wherever it stands."""
    weights = np.ones(sample.rows) if sample.weights is None else sample.weights
    found = {}
    for row, weight in zip(sample.codes.T.tolist(), weights, strict=True):
        found[tuple(row)] = found.get(tuple(row), 0) + weight
    return found


@pytest.fixture
def three():
    """Three distinct rows of 1, 4 and 5 cases, and one that only declares a state."""
    return encode(
        np.array([[0, 0], [0, 1], [1, 1], [2, 0]]), weights=np.array([1.0, 4.0, 5.0, 0.0])
    )


# --- what is drawn -------------------------------------------------------------------------------


def test_subsamples_have_the_size_and_no_case_twice(three):
    whole = counts(three)
    cases = Cases(three)
    for i in range(50):
        sample = cases.subsample(5, Stream(1, i))
        drawn = counts(sample)
        assert sum(drawn.values()) == 5
        assert all(count <= whole[row] for row, count in drawn.items())
        assert sample.states == three.states


def test_subsamples_are_hypergeometric(three):
    """Mean m K / N and variance m (K/N)(1-K/N)(N-m)/(N-1) for the row of K = 5 of N = 10 cases."""
    cases = Cases(three)
    drawn = [counts(cases.subsample(4, Stream(0, i))).get((1, 1), 0) for i in range(4000)]
    assert np.mean(drawn) == pytest.approx(2.0, abs=5 * np.sqrt(2 / 3 / 4000))
    assert np.var(drawn) == pytest.approx(4 * 0.25 * 6 / 9, rel=0.12)


def test_bootstrap_samples_are_multinomial(three):
    """Mean N p and variance N p (1 - p) for the row of 4 of N = 10 cases; it is above 4, too."""
    cases = Cases(three)
    samples = [counts(cases.bootstrap(Stream(0, i))) for i in range(4000)]
    assert all(sum(sample.values()) == 10 for sample in samples)
    drawn = [sample.get((0, 1), 0) for sample in samples]
    assert np.mean(drawn) == pytest.approx(4.0, abs=5 * np.sqrt(2.4 / 4000))
    assert np.var(drawn) == pytest.approx(2.4, rel=0.12)
    assert max(drawn) > 4
    assert all((2, 0) not in sample for sample in samples)


def test_weights_are_cases(three):
    """A table with weights, and the same with its cases written out: the same distribution."""
    rows = np.repeat(three.codes.T, three.weights.astype(int), axis=0)
    long = encode(np.vstack([rows, [[2, 0]]]), weights=np.r_[np.ones(10), 0.0])
    for i in range(5):
        assert counts(Cases(three).subsample(5, Stream(3, i))) == counts(
            Cases(long).subsample(5, Stream(3, i))
        )


def test_folds_divide_the_cases(three):
    whole = counts(three)
    folds = Cases(three).folds(3, Stream(0, 0))
    assert [sum(counts(test).values()) for _, test in folds] == [4, 3, 3]
    for train, test in folds:
        rest, part = counts(train), counts(test)
        assert {row: rest.get(row, 0) + part.get(row, 0) for row in whole} == whole
    together = {row: sum(counts(t).get(row, 0) for _, t in folds) for row in whole}
    assert together == whole


# --- what is learned -----------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["subsample", "bootstrap"])
def test_a_resample_is_learned_as_the_data_with_weights(data, scheme):
    """The same rows, their weights being how often each was drawn."""
    stability = kes.stability(data, resamples=3, scheme=scheme, runs=4, random_state=9)
    cases = Cases(data)
    for i, best in enumerate(stability.best):
        stream = Stream(9, Purpose.STABILITY, i)
        seed = stream.seed()
        sample = cases.bootstrap(stream) if scheme == "bootstrap" else cases.subsample(200, stream)
        drawn = counts(sample)
        weights = np.zeros(data.rows)
        for number, row in enumerate(map(tuple, data.codes.T.tolist())):
            weights[number] = drawn.pop(row, 0)  # all cases of equal rows to the first of them
        # The price of an edge is that of the whole table.
        same = {"runs": 4, "random_state": seed, "edge_prior": stability.settings.edge_prior}
        learned = kes.learn(data, weights=weights, **same).best
        assert (learned.graph, learned.score) == (best.graph, best.score)


def test_same_seed_same_result_whatever_the_threads(data):
    one = kes.stability(data, resamples=4, runs=3, n_jobs=1)
    two = kes.stability(data, resamples=4, runs=3, n_jobs=2)
    other = kes.stability(data, resamples=4, runs=3, random_state=1)
    assert one == two
    assert one.best != other.best
    longer = kes.stability(data, resamples=6, runs=3)
    assert longer.best[:4] == one.best


def test_settings_reach_the_searches(data):
    assert all(
        best.graph.undirected.union(best.graph.directed) == frozenset()
        for best in kes.stability(data, resamples=3, runs=2, max_parents=0).best
    )
    stability = kes.stability(data, resamples=2, runs=2, k=0.3, criterion="bdeu", ess=4)
    assert (stability.settings.k, stability.settings.criterion) == (0.3, "bdeu")
    assert stability.settings.ess == 4
    assert (stability.cases, stability.resamples, stability.runs) == (200, 2, 2)


def test_states_stay_declared():
    """A state of one case is missing in half of the subsamples and declared in all."""
    rows = np.array([[0, 0], [1, 1]] * 20 + [[2, 0]])
    stability = kes.stability(rows, resamples=8, runs=1, k=1)
    full = encode(rows)
    for i, best in enumerate(stability.best):
        stream = Stream(0, Purpose.STABILITY, i)
        stream.seed()
        sample = Cases(full).subsample(20, stream)
        assert sample.cardinalities == [3, 2]
        assert best.score == kes.score(best.graph, sample)
    assert stability.markov_blankets("x0")["resampling_support"] == (1.0,)


def test_bootstrap_makes_graphs_dense():
    """Independent variables: every edge is false.

    BIC joins two binary variables if 2N I > ln N, where 2N I is chi-square with 1 degree of
    freedom over samples (also over subsamples, which are samples): P = 0.011 for 600 of 1200
    cases. Over bootstrap samples of samples it is nearly twice such a variable: P = 0.060 for
    1200 cases. So about five times as many false edges; three times is required here.
    """
    rng = np.random.default_rng(1)
    found = {"subsample": 0, "bootstrap": 0}
    for _ in range(5):
        data = rng.integers(0, 2, size=(1200, 10))
        for scheme in found:
            stability = kes.stability(data, resamples=20, scheme=scheme, runs=1, k=1)
            found[scheme] += sum(len(best.graph.skeleton) for best in stability.best)
    pairs = 5 * 20 * 45
    assert found["subsample"] / pairs < 0.03
    assert found["bootstrap"] > 3 * found["subsample"]


# --- how it goes ---------------------------------------------------------------------------------


def test_progress_counts_all_runs(data):
    seen = []
    kes.stability(data, resamples=5, runs=6, progress=seen.append)
    assert [state.wanted for state in seen] == [30] * len(seen)
    done = [state.done for state in seen]
    assert done == sorted(done)
    assert done[-1] == 30
    assert all(state.best is None for state in seen)


def test_interrupted_with_what_is_finished(data):
    main = threading.main_thread().ident
    reached = []

    def interrupt(progress):
        if progress.done >= 5 and not reached:  # two tables are finished, improving included
            reached.append(progress.done)
            signal.pthread_kill(main, signal.SIGINT)

    with pytest.raises(kes.StabilityInterrupted, match="'stability'") as error:
        kes.stability(data, resamples=10**6, runs=2, progress=interrupt)
    part = error.value.stability
    assert part.resamples >= 2
    assert part.best == kes.stability(data, resamples=part.resamples, runs=2).best
    assert isinstance(error.value, KeyboardInterrupt)
    assert error.value.optima is None


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"resamples": 0}, "at least 1"),
        ({"scheme": "jackknife"}, "'jackknife'"),
        ({"fraction": 0}, "subsamples of 0"),
        ({"fraction": 1}, "400"),
        ({"fraction": 2}, "from 0 to 1"),
        ({"runs": 0}, "integer"),
        ({"k": 2}, "from 0 to 1"),
        ({"weights": [0.5] * 400}, "bootstrap"),
        ({"weights": [MOST_CASES] * 400, "scheme": "bootstrap"}, "at most 1e"),
    ],
)
def test_errors_name_the_option(data, options, word):
    with refused(word, option=next(iter(options))):
        kes.stability(data, **options)


def test_bootstrap_takes_real_weights(data):
    stability = kes.stability(
        data, resamples=2, runs=1, scheme="bootstrap", weights=np.full(400, 0.5)
    )
    assert stability.cases == 200


def test_smallest():
    stability = kes.stability(np.array([[0, 1], [1, 1], [0, 1], [1, 1]]), resamples=1, runs=1)
    assert stability.resamples == 1
    assert len(stability.edges()) == len(stability.v_structures()) == 0
    assert "1 resamples by subsample, 2 cases" in repr(stability)
