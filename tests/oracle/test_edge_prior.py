"""Priors over edges against brute force: every DAG scored by the textbook, plus its prior."""

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import kes

from . import brute
from .gaussian import DirectGaussian
from .knowledge import Known
from .scores import DirectScore
from .tables import noisy_copies, sample

NAMES = "abcde"


class Case:
    """A table, a prior over its edges and, in some cases, tiers; admissible models with scores."""

    def __init__(self, n, seed, *, kind="discrete", criterion="bic"):
        rng = np.random.default_rng([n, seed])
        self.n, self.names = n, tuple(NAMES[:n])
        if kind == "discrete":
            self.data, direct = self._discrete(rng, criterion)
        else:
            self.data, direct = self._continuous(rng)
        self.price = float(rng.choice([0.0, rng.uniform(0, 6)]))
        pairs = [pair for pair in combinations(range(n), 2) if rng.random() < 0.4]
        self.odds = {pair: float(rng.uniform(-8, 8)) for pair in pairs}
        tiers = tuple(int(t) for t in rng.integers(0, 2, n)) if seed % 2 else None
        self.known = Known(n, tiers)
        self.models, names = brute.models(n), self.names
        # All DAGs of a class have the same adjacencies, and the same score (test_deltas).
        self.scores = {
            number: direct.of(dags[0]) + self.prior(dags[0])
            for number, dags in enumerate(self.models.classes)
            if any(map(self.known.admits, dags))
        }
        self.options = {
            "criterion": criterion,
            "edge_prior": self.price,
            "knowledge": kes.Knowledge(
                tiers=[[names[v] for v in range(n) if tiers[v] == t] for t in (0, 1)]
                if tiers
                else (),
                likely={(names[b], names[a]): odds for (a, b), odds in self.odds.items()},
            ),
        }

    def _discrete(self, rng, criterion):
        n = self.n
        states = [int(r) for r in rng.integers(2, 4, n)]
        dag = brute.all_dags(n)[rng.integers(len(brute.all_dags(n)))]
        codes = sample(dag, states, 120, rng)
        if rng.random() < 0.3:
            states, codes = [2] * n, noisy_copies(n, 120, rng)
        data = kes.Dataset(self.names, [range(r) for r in states], codes)
        return data, DirectScore(codes, states, criterion=criterion)

    def _continuous(self, rng):
        mixing = np.tril(rng.normal(size=(self.n, self.n)), -1) + np.eye(self.n)
        columns = (rng.normal(size=(80, self.n)) @ mixing.T).round(3)
        return pd.DataFrame(columns, columns=self.names), DirectGaussian(list(columns.T))

    def prior(self, dag):
        """The definition: the log odds of each adjacent pair, by default minus the price."""
        pairs = {(min(arc), max(arc)) for arc in brute.arcs_of(dag)}
        return sum(self.odds.get(pair, -self.price) for pair in pairs)

    def best(self, *, joined=None):
        """The highest score; of the models in which a pair is joined or not, if that is asked."""

        def fits(number):
            if joined is None:
                return True
            (x, y), wanted = joined
            return bool(brute.adjacencies(self.models.classes[number][0])[x] >> y & 1) == wanted

        return max(
            (score for number, score in self.scores.items() if fits(number)), default=-np.inf
        )

    def around(self, number):
        """Admissible models one arc away from any DAG of a class."""
        found = self.models.boundary[number].values()
        return {target for targets in found for target in targets if target in self.scores}

    def number(self, graph):
        """The number of the model of an essential graph."""
        arcs = [(self.names.index(a), self.names.index(b)) for a, b in graph.to_dag()]
        return self.models.number[brute.dag_from_arcs(self.n, arcs)]


CASES = [
    *((n, seed, "discrete", "bic") for n in (3, 4) for seed in range(4)),
    *((4, seed, "discrete", criterion) for seed in (0, 1) for criterion in ("aic", "bdeu", "qnml")),
    *((4, seed, "continuous", "bic") for seed in range(3)),
    *((5, seed, "discrete", "bic") for seed in range(2)),
]


@pytest.fixture(scope="module", params=CASES, ids=lambda case: "-".join(map(str, case)))
def case(request):
    n, seed, kind, criterion = request.param
    return Case(n, seed, kind=kind, criterion=criterion)


def test_scores_and_gains_include_the_prior(case):
    """The score of some models, and the gain of each step as a difference of two scores."""
    names = case.names
    for number in [*case.scores][:: len(case.scores) // 8]:
        arcs = brute.arcs_of(case.models.classes[number][0])
        graph = kes.EssentialGraph.from_dag(names, [(names[a], names[b]) for a, b in arcs])
        assert kes.score(graph, case.data, **case.options) == pytest.approx(case.scores[number])
        steps = kes.inclusion_boundary(graph, case.data, **case.options)
        assert {case.number(step.graph) for step in steps} == case.around(number)
        for step in steps:
            gain = case.scores[case.number(step.graph)] - case.scores[number]
            assert step.delta == pytest.approx(gain, abs=1e-6)


def test_the_best_of_all_networks_is_found_and_proven(case):
    best = case.best()
    certificate = kes.certify(case.data, **case.options)
    assert certificate.proven
    assert certificate.score == pytest.approx(best)
    assert certificate.edge_prior == case.price
    optima = kes.learn(case.data, prove=True, **case.options)
    assert optima.proven
    assert optima.best.score == pytest.approx(best)
    assert kes.certify(case.data, optima=optima, **case.options).score == certificate.score


def test_runs_end_in_local_optima_under_the_prior(case):
    for optimum in kes.learn(case.data, k=0.2, runs=15, improve=False, **case.options).of_runs:
        here = case.number(optimum.graph)
        assert max(case.scores[there] for there in case.around(here)) <= case.scores[here] + 1e-6
        assert optimum.score == pytest.approx(case.scores[here])
        assert optimum.is_local_optimum


def test_evidence_compares_the_best_networks_under_the_prior(case):
    for row in kes.learn(case.data, runs=10, **case.options).evidence():
        pair = case.names.index(row["x"]), case.names.index(row["y"])
        expected = case.best(joined=(pair, True)) - case.best(joined=(pair, False))
        assert row["how"] == "exact"
        assert row["evidence"] == pytest.approx(expected, abs=1e-6)
