"""Averaged networks against direct sums over all cases, and what must not matter."""

import itertools
import math

import numpy as np
import pandas as pd
import pytest

import kes
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import BayesianBootstrap, gammas
from kes.network import AveragedNetwork, BayesianNetwork, GaussianNetwork, Linear, MixedNetwork

NAMES = ("a", "b", "c", "d", "e")


def random_network(rng: np.random.Generator) -> BayesianNetwork:
    """A network of five variables with two or three states, in a random order."""
    order = rng.permutation(5)
    sizes = [2, 3, 2, 3, 2]
    parents, cpts = {}, {}
    for i, v in enumerate(order):
        own = [int(p) for p in order[:i] if rng.random() < 0.5]
        parents[NAMES[v]] = [NAMES[p] for p in own]
        cpts[NAMES[v]] = rng.dirichlet(np.ones(sizes[v]), [sizes[p] for p in own])
    states = {name: range(size) for name, size in zip(NAMES, sizes, strict=True)}
    return BayesianNetwork(NAMES, states, parents, cpts)


def joint(network: BayesianNetwork) -> dict[tuple[int, ...], float]:
    """The probability of every case, by the product of its CPTs."""
    place = {name: i for i, name in enumerate(NAMES)}
    sizes = [len(network.states[name]) for name in NAMES]
    table = {}
    for case in itertools.product(*map(range, sizes)):
        factors = [
            network.cpts[n][(*(case[place[p]] for p in network.parents[n]), case[place[n]])]
            for n in NAMES
        ]
        table[case] = math.prod(factors)
    return table


@pytest.fixture(scope="module")
def three():
    rng = np.random.default_rng(5)
    members = [random_network(rng) for _ in range(3)]
    tables = [joint(member) for member in members]
    mean = {case: sum(table[case] for table in tables) / 3 for case in tables[0]}
    return AveragedNetwork(members), mean, tables


def total(table, **fixed):
    at = {NAMES.index(name): code for name, code in fixed.items()}
    return sum(p for case, p in table.items() if all(case[i] == code for i, code in at.items()))


def test_queries_are_ratios_of_sums_over_all_cases(three):
    average, mean, _ = three
    evidence = {"b": 2, "e": 0}
    for query in ({"a": 1}, {"c": 0, "d": 2}):
        expected = total(mean, **query, **evidence) / total(mean, **evidence)
        assert average.probability(query, evidence) == pytest.approx(expected, rel=1e-12)
    assert average.log_evidence(evidence) == pytest.approx(math.log(total(mean, **evidence)))
    marginals = average.marginals(evidence)
    for state in range(3):
        expected = total(mean, d=state, **evidence) / total(mean, **evidence)
        assert marginals["d"][state] == pytest.approx(expected)
        assert average.probability("d", evidence)[state] == pytest.approx(expected)


def test_the_spread_is_that_of_the_members_answers(three):
    average, _, tables = three
    evidence = {"b": 2, "e": 0}
    shares = np.array([total(table, **evidence) for table in tables])
    answers = np.array([total(t, a=1, **evidence) for t in tables]) / shares
    shares /= shares.sum()
    expected = np.sqrt(shares @ (answers - shares @ answers) ** 2)
    assert average.spread({"a": 1}, evidence) == pytest.approx(expected)
    assert average.spread("a", evidence)[1] == pytest.approx(expected)


def test_rows_with_and_without_gaps(three):
    average, mean, _ = three
    rows = pd.DataFrame(list(mean), columns=list(NAMES))
    logs = average.log_likelihood(rows, per_row=True)
    assert np.exp(logs) == pytest.approx(np.array(list(mean.values())))
    assert average.log_likelihood(rows) == pytest.approx(logs.sum())
    assert average.log_likelihood(rows, weights=np.arange(72.0)) == pytest.approx(
        np.arange(72) @ logs
    )
    gappy = pd.DataFrame({"a": [1, 0], "b": [None, 1], "c": [0, None], "e": [1, 1]})
    found = average.predict(gappy, "d", probabilities=True, unseen="missing")
    for row, known in zip(found, ({"a": 1, "c": 0, "e": 1}, {"a": 0, "b": 1, "e": 1}), strict=True):
        expected = [total(mean, d=s, **known) / total(mean, **known) for s in range(3)]
        assert row == pytest.approx(expected)
    assert average.predict_proba(gappy, "d", unseen="missing") == pytest.approx(found)


def test_an_intervention_cuts_the_parents_and_leaves_the_shares(three):
    average, _, _ = three
    expected = []
    for member in average.members:
        cut = {**member.parents, "c": ()}
        table = joint(BayesianNetwork(NAMES, member.states, cut, {**member.cpts, "c": [0.0, 1.0]}))
        expected.append(total(table, e=1))
    assert average.do({"c": 1}).probability({"e": 1}) == pytest.approx(np.mean(expected))
    other = [
        joint(BayesianNetwork(NAMES, m.states, {**m.parents, "c": ()}, {**m.cpts, "c": [1.0, 0.0]}))
        for m in average.members
    ]
    effects = average.effects("c", "e")["effect"]
    assert effects == pytest.approx(
        [high - total(low, e=1) for high, low in zip(expected, other, strict=True)]
    )


def test_cases_are_drawn_from_the_mixture(three):
    average, mean, _ = three
    sample = average.sample(40_000, seed=3)
    assert (average.sample(100, seed=3).codes == sample.codes[:, :100]).all()
    for name, codes in zip(sample.names, sample.codes, strict=True):
        shares = np.bincount(codes) / 40_000
        expected = [total(mean, **{name: s}) for s in range(len(shares))]
        assert shares == pytest.approx(expected, abs=4 * 0.5 / 200)


def test_a_normal_mixture_by_its_density():
    """Moments and quantiles of two normal networks, from their densities on a grid."""
    members = [
        GaussianNetwork(
            ["x", "y"],
            {"y": ["x"]},
            {"x": Linear(m, deviation=1.0), "y": Linear(0.0, [slope], deviation=0.5)},
        )
        for m, slope in ((0.0, 1.0), (2.0, -1.0))
    ]
    average = AveragedNetwork(members)

    def density(x, y):
        def normal(z, deviation):
            return np.exp(-((z / deviation) ** 2) / 2) / deviation / math.sqrt(2 * math.pi)

        parts = [normal(x - m, 1.0) * normal(y - s * x, 0.5) for m, s in ((0.0, 1.0), (2.0, -1.0))]
        return (parts[0] + parts[1]) / 2

    assert average.log_likelihood(pd.DataFrame({"x": [0.3], "y": [-0.7]})) == pytest.approx(
        math.log(density(0.3, -0.7))
    )
    x = np.linspace(-12, 12, 48_001)
    given = density(x, 0.4)
    given /= given.sum()
    mean = given @ x
    found = average.conditional("x", {"y": 0.4})
    assert found.mean[0] == pytest.approx(mean, abs=1e-6)
    assert found.deviation[0] == pytest.approx(math.sqrt(given @ (x - mean) ** 2), abs=1e-6)
    # A member alone: x is normal, and y = s x + noise; its share is its density of y.
    centres, shares = [], []
    for m, s in ((0.0, 1.0), (2.0, -1.0)):
        variance = s * s + 0.25
        centres.append(m + s * (0.4 - s * m) / variance)
        shares.append(math.exp(-((0.4 - s * m) ** 2) / variance / 2) / math.sqrt(variance))
    between = np.cov(centres, aweights=shares, ddof=0)
    assert average.spread("x", {"y": 0.4}) == pytest.approx(math.sqrt(between))
    rows = pd.DataFrame({"y": [0.4]})
    means, deviations = average.predict(rows, "x", deviations=True)
    assert (means[0], deviations[0]) == pytest.approx((mean, found.deviation[0]))
    answer = average.answers(rows, "x")
    for share in (0.025, 0.5, 0.9):
        assert answer.quantiles(share)[0] == pytest.approx(
            x[np.searchsorted(np.cumsum(given), share)], abs=1e-3
        )
    above = average.probability({"x": kes.Range(above=1.0)}, {"y": 0.4})
    assert float(above) == pytest.approx(given[x > 1.0].sum(), abs=1e-3)


def test_a_mixed_mixture_by_its_density():
    """P(s | x) of two networks with a normal child of a discrete node."""
    members = [
        MixedNetwork(
            ["s", "x"],
            {"s": ["n", "y"]},
            {"x": ["s"]},
            {"s": [1 - p, p], "x": Linear(0.0, [shift], deviation=1.0)},
        )
        for p, shift in ((0.2, 1.0), (0.6, 3.0))
    ]
    average = AveragedNetwork(members)
    normal = [math.exp(-((1.5 - at) ** 2) / 2) for at in (0.0, 1.0, 0.0, 3.0)]
    yes = 0.2 * normal[1] + 0.6 * normal[3]
    no = 0.8 * normal[0] + 0.4 * normal[2]
    assert float(average.probability({"s": "y"}, {"x": 1.5})) == pytest.approx(yes / (yes + no))
    found = average.predict(pd.DataFrame({"x": [1.5]}), "s", probabilities=True)
    assert found[0, 1] == pytest.approx(yes / (yes + no))


# --- learning ---


def test_gamma_draws_have_the_right_moments():
    for shape in (0.2, 1.0, 7.5):
        drawn = gammas(np.full(40_000, shape), Stream(1))
        assert drawn.mean() == pytest.approx(shape, rel=0.03)
        assert drawn.var() == pytest.approx(shape, rel=0.06)


def test_weights_are_dirichlet_and_keyed_by_rows():
    """Of one case among n, a weight has mean 1 and variance (n - 1) / (n + 1)."""
    table = kes.data.encode(pd.DataFrame({"a": np.arange(40) % 20, "b": np.arange(40) // 20}))
    drawn = np.array([BayesianBootstrap(table).draw(Stream(7, i)).weights for i in range(400)])
    assert drawn.sum(axis=1) == pytest.approx(40, abs=1e-4)
    assert drawn.mean() == pytest.approx(1.0, abs=1e-6)
    assert drawn.var(axis=0).mean() == pytest.approx(39 / 41, rel=0.05)
    mixed = table.take(np.random.default_rng(0).permutation(40)).select(["b", "a"])
    again = BayesianBootstrap(mixed).draw(Stream(7, 0))
    assert (again.weights == drawn[0]).all()


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(8)
    a = rng.integers(0, 2, 240)
    b = np.where(rng.random(240) < 0.8, a, 1 - a)
    c = (rng.random(240) < 0.3 + 0.4 * (a == b)).astype(int)
    x = a + rng.normal(size=240)
    return pd.DataFrame({"a": a, "b": b, "c": c, "x": x, "y": x - b + rng.normal(size=240)})


TABLES = {"discrete": ["a", "b", "c"], "continuous": ["x", "y"], "mixed": ["a", "b", "c", "x", "y"]}


@pytest.mark.parametrize("kind", TABLES)
def test_rows_columns_weights_and_threads_do_not_matter(frame, kind):
    table = frame[TABLES[kind]]
    average = kes.ensemble(table, members=6, n_jobs=1)
    logs = average.log_likelihood(table, per_row=True)
    order = np.random.default_rng(1).permutation(len(table))
    for other in (
        kes.ensemble(table.iloc[order, ::-1].reset_index(drop=True), members=6, n_jobs=4),
        kes.ensemble(table.drop_duplicates(), members=6, weights=_counts(table)),
    ):
        assert other.log_likelihood(table, per_row=True) == pytest.approx(logs, abs=1e-9)
        assert [set(m.arcs) for m in other.members] == [set(m.arcs) for m in average.members]
    assert kes.ensemble(table, members=6) == average
    assert kes.ensemble(table, members=9).members[:6] == average.members
    assert kes.ensemble(table, members=6, random_state=1) != average


def _counts(table: pd.DataFrame) -> np.ndarray:
    return table.groupby(list(table), sort=False).size().to_numpy()


@pytest.mark.parametrize("number", range(3))
def test_a_member_is_the_best_network_of_its_weighted_table(frame, number):
    """Of all DAGs over three variables, by the formula of its criterion."""
    table = kes.data.encode(frame[TABLES["discrete"]])
    average = kes.ensemble(table, members=3)
    seed = Stream(0, Purpose.MEMBERS, number).seed()
    rows = BayesianBootstrap(table).draw(Stream(seed))
    criterion = ("bic", "bdeu", "aic")[number]
    names = list(rows.names)
    pairs = list(itertools.combinations(names, 2))
    scores = {}
    for ways in itertools.product((None, 0, 1), repeat=3):
        arcs = [
            pair[:: 1 - 2 * way] for pair, way in zip(pairs, ways, strict=True) if way is not None
        ]
        try:
            graph = kes.EssentialGraph.from_dag(names, arcs)
        except kes.KesError:  # a cycle
            continue
        scores[graph] = kes.score(graph, rows, criterion=criterion)
    assert average.members[number].graph == max(scores, key=scores.__getitem__)
