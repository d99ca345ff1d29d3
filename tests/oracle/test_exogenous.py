"""Exogenous blocks against their definition: a complete block of required arcs, never scored.

The definition is spelt out on all DAGs: exogenous variables come first, every pair of them is
joined, in a fixed order, and the score is the sum over the families of the other variables. The
engine has no arcs within the block at all; here they are taken out only to compare.
"""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import kes

from . import brute
from .distributions import faithful_distribution, random_dag
from .gaussian import DirectGaussian
from .knowledge import Known
from .scores import DirectScore
from .tables import noisy_copies, sample

NAMES = "abcde"


class Case:
    """A table, an exogenous block, and in some cases tiers, targets and a prior over edges."""

    def __init__(self, n, block, seed, kind="discrete"):
        rng = np.random.default_rng([n, block, seed])
        self.n, self.names, self.models = n, tuple(NAMES[:n]), brute.models(n)
        self.block = sorted(int(v) for v in rng.choice(n, block, replace=False))
        self.modelled = [v for v in range(n) if v not in self.block]
        self.data, self.direct = self._table(rng, kind)
        self.price = float(rng.uniform(0, 4)) if seed % 2 else 0.0
        pairs = [p for p in combinations(range(n), 2) if not {*p} <= {*self.block}]
        self.odds = {p: float(rng.uniform(-6, 6)) for p in pairs if seed % 2 and rng.random() < 0.4}
        later = [int(t) for t in rng.integers(0, 2 if seed % 3 else 1, n)]
        # No context touches any but its targets, where these are known.
        self.apart = [
            (x, y) for x in self.block for y in self.modelled if seed > 3 and rng.random() < 0.4
        ]
        rank = {x: place for place, x in enumerate(self.block)}
        self.known = Known(
            n,
            tuple(rank.get(v, block + later[v]) for v in range(n)),
            list(combinations(self.block, 2)),
            self.apart,
        )
        self.scores = {}  # of the classes, with complete block, that have an admissible DAG
        self.open = {}  # the same classes by their graphs without the arcs of the block
        for number, dags in enumerate(self.models.classes):
            allowed = [dag for dag in dags if self.known.admits(dag)]
            if allowed:
                self.scores[number] = self.score(allowed[0])
                for dag in allowed:
                    assert self.score(dag) == pytest.approx(self.scores[number])
                    self.open[self.models.number[self.without_block(dag)]] = number
        names = self.names
        self.options = {
            "edge_prior": self.price,
            "knowledge": kes.Knowledge(
                exogenous=[names[v] for v in self.block],
                tiers=[[names[v] for v in self.modelled if later[v] == t] for t in (0, 1)],
                forbidden=[(names[x], names[y]) for x, y in self.apart],
                likely={(names[a], names[b]): odds for (a, b), odds in self.odds.items()},
            ),
        }

    def _table(self, rng, kind):
        n = self.n
        if kind == "continuous":
            mixing = np.tril(rng.normal(size=(n, n)), -1) + np.eye(n)
            columns = (rng.normal(size=(80, n)) @ mixing.T).round(3)[:, rng.permutation(n)]
            return pd.DataFrame(columns, columns=self.names), DirectGaussian(list(columns.T))
        states = [int(r) for r in rng.integers(2, 4, n)]
        codes = sample(brute.all_dags(n)[rng.integers(len(brute.all_dags(n)))], states, 120, rng)
        if rng.random() < 0.4:
            states, codes = [2] * n, noisy_copies(n, 120, rng)
        data = kes.Dataset(self.names, [range(r) for r in states], codes)
        return data, DirectScore(codes, states)

    def without_block(self, dag):
        return tuple(0 if y in self.block else parents for y, parents in enumerate(dag))

    def score(self, dag):
        """Families of the modelled variables, and the odds of the edges outside the block."""
        arcs = brute.arcs_of(self.without_block(dag))
        prior = sum(self.odds.get((min(a), max(a)), -self.price) for a in arcs)
        if isinstance(self.direct, DirectScore):
            return prior + sum(self.direct.family(y, dag[y]) for y in self.modelled)
        terms = [
            self.direct.term(dag[y] | 1 << y) - self.direct.term(dag[y]) for y in self.modelled
        ]
        return prior + sum(terms)

    def neighbours(self, number):
        """Triples and admissible models one arc away from a DAG of the class, block complete."""
        for triple, (target,) in self.models.boundary[number].items():
            if target in self.scores:
                yield triple, target

    def graph(self, number):
        """The public graph of a class."""
        dag = next(dag for dag in self.models.classes[number] if self.known.admits(dag))
        arcs = brute.arcs_of(self.without_block(dag))
        return kes.EssentialGraph.from_dag(
            self.names, [(self.names[a], self.names[b]) for a, b in arcs]
        )

    def number(self, graph):
        """The class of a public graph."""
        arcs = [(self.names.index(a), self.names.index(b)) for a, b in graph.to_dag()]
        return self.open[self.models.number[brute.dag_from_arcs(self.n, arcs)]]

    def triple(self, step):
        x, y = sorted((self.names.index(step.x), self.names.index(step.y)))
        return step.kind == "insert", x, y, tuple(sorted(map(self.names.index, step.given)))

    def best(self, *, joined=None):
        def fits(number):
            if joined is None:
                return True
            (x, y), wanted = joined
            return bool(brute.adjacencies(self.models.classes[number][0])[x] >> y & 1) == wanted

        return max((s for number, s in self.scores.items() if fits(number)), default=-np.inf)


CASES = [
    *((n, block, seed) for n in (3, 4) for block in range(1, n) for seed in range(6)),
    *((4, 2, seed, "continuous") for seed in (0, 1, 4)),
    *((5, block, seed) for block, seed in [(1, 0), (2, 1), (3, 2), (2, 5), (3, 4)]),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request):
    return Case(*request.param)


def test_scores_neighbours_and_gains_are_those_of_a_complete_block(case):
    assert len(case.open) == len(case.scores)  # classes correspond one to one
    for number in [*case.scores][:: max(len(case.scores) // 12, 1)]:
        graph = case.graph(number)
        assert kes.score(graph, case.data, **case.options) == pytest.approx(case.scores[number])
        steps = kes.inclusion_boundary(graph, case.data, **case.options)
        found = {case.triple(step): case.number(step.graph) for step in steps}
        assert len(found) == len(steps)
        assert found == dict(case.neighbours(number))
        for step in steps:
            gain = case.scores[found[case.triple(step)]] - case.scores[number]
            assert step.delta == pytest.approx(gain, abs=1e-6)


def test_the_mpdag_directs_what_all_admissible_networks_agree_on(case):
    names = case.names
    for number in [*case.scores][:: max(len(case.scores) // 12, 1)]:
        dags = [dag for dag in case.models.classes[number] if case.known.admits(dag)]
        arcs = [{*brute.arcs_of(case.without_block(dag))} for dag in dags]
        directed = {(names[a], names[b]) for a, b in set.intersection(*arcs)}
        mpdag = kes.Mpdag(case.graph(number), case.options["knowledge"])
        assert mpdag.directed == directed


def test_the_best_network_is_found_and_proven(case):
    certificate = kes.certify(case.data, **case.options)
    assert certificate.proven
    assert certificate.score == pytest.approx(case.best(), abs=1e-6)
    optima = kes.learn(case.data, prove=True, **case.options)
    assert optima.proven
    assert optima.best.score == pytest.approx(case.best(), abs=1e-6)
    assert kes.certify(case.data, optima=optima, **case.options).score == certificate.score


def test_runs_end_in_local_optima(case):
    for optimum in kes.learn(case.data, k=0.2, runs=15, improve=False, **case.options).of_runs:
        here = case.number(optimum.graph)
        others = [case.scores[there] for _, there in case.neighbours(here)]
        assert max(others, default=-np.inf) <= case.scores[here] + 1e-6
        assert optimum.score == pytest.approx(case.scores[here], abs=1e-6)
        assert optimum.is_local_optimum


def test_evidence_compares_the_best_networks(case):
    optima = kes.learn(case.data, runs=10, **case.options)
    for row in optima.evidence():
        pair = case.names.index(row["x"]), case.names.index(row["y"])
        assert not {*pair} <= {*case.block}
        expected = case.best(joined=(pair, True)) - case.best(joined=(pair, False))
        assert row["how"] == "exact"
        assert row["evidence"] == pytest.approx(expected, abs=1e-6)


def test_probabilities_sum_over_all_admissible_networks(case):
    """Each DAG with a complete block weighs exp(score); arcs within the block are no question."""
    dags = [dag for dags in case.models.classes for dag in dags if case.known.admits(dag)]
    logs = np.array([case.score(dag) for dag in dags])
    weights = np.exp(logs - logs.max())
    weights /= weights.sum()
    found = kes.posterior(case.data, criterion="bic", **case.options)
    assert found.status == "exact"
    for x, a in enumerate(case.names):
        for y, b in enumerate(case.names):
            if x != y and not {x, y} <= {*case.block}:
                has = np.array([bool(dag[y] >> x & 1) for dag in dags])
                assert found.arc(a, b) == pytest.approx(weights[has].sum(), abs=1e-6)


LARGE = 1e10
"""Cases, enough for the criterion to agree with its limit."""


def large(dag, rng):
    n = len(dag)
    codes, weights = faithful_distribution(dag, [2] * n, LARGE, rng).table(LARGE)
    return kes.Dataset(NAMES[:n], [[0, 1]] * n, codes, weights)


@pytest.mark.parametrize("seed", range(4))
def test_with_many_cases_the_truth_is_the_only_optimum(seed):
    """Theorem: whatever k, if the block comes first in the truth."""
    rng = np.random.default_rng(seed)
    dag = random_dag(5, 0.5, rng)
    order = sorted(range(5), key=lambda v: brute.ancestral_set(dag, 1 << v).bit_count())
    for x, y in combinations(order[:2], 2):
        dag = brute.with_arc(dag, x, y)
    data, block = large(dag, rng), {*order[:2]}
    open_dag = tuple(0 if y in block else parents for y, parents in enumerate(dag))
    arcs = [(NAMES[a], NAMES[b]) for a, b in brute.arcs_of(open_dag)]
    truth = kes.EssentialGraph.from_dag(NAMES, arcs)
    known = kes.Knowledge(exogenous=[NAMES[x] for x in block])
    for k in (0.0, 0.5, 1.0):
        optima = kes.learn(data, knowledge=known, k=k, runs=8, improve=False, prove=False)
        assert {optimum.graph for optimum in optima.of_runs} == {truth}


def test_known_targets_lose_the_guarantee():
    """Truth: a -> b -> c, a touches b only. Then a -> b <- c is a trap: it lacks a -> c."""
    data = large(brute.dag_from_arcs(3, [(0, 1), (1, 2)]), np.random.default_rng(0))
    trap = kes.EssentialGraph.from_dag("abc", [("a", "b"), ("c", "b")])
    truth = kes.EssentialGraph.from_dag("abc", [("a", "b"), ("b", "c")])

    def best_gain(**known):
        steps = kes.inclusion_boundary(trap, data, knowledge=kes.Knowledge(**known))
        return max(step.delta for step in steps)

    assert best_gain(targets={"a": ["b"]}) < 0 < best_gain(exogenous=["a"])
    assert kes.score(truth, data) > kes.score(trap, data)
