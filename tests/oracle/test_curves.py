"""Curves against their formula, written out with numpy, and all DAGs of up to five variables."""

import itertools
import math
from statistics import NormalDist

import numpy as np
import pandas as pd
import pytest
from numpy.polynomial.legendre import legvander
from tests.oracle import brute

import kes

NAMES = ("a", "b", "u", "v", "w")
CLIP = 2.0


def table(seed, rows=150, *, mixed=True):
    """A parabola, a sine and, if mixed, states that depend on a curve; values with ties."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=rows).round(1)
    v = u**2 + 0.5 * rng.normal(size=rows)
    w = np.exp(np.sin(2 * v) + 0.4 * rng.normal(size=rows))
    if not mixed:
        return pd.DataFrame({"u": u, "v": v, "w": w, "x": np.abs(w - 1) + rng.normal(size=rows)})
    a = np.where(rng.random(rows) < 0.8, (np.abs(u) > 1).astype(int), rng.integers(0, 2, rows))
    b = np.where(rng.random(rows) < 0.6, a, rng.integers(0, 3, rows))
    frame = pd.DataFrame({"a": a, "b": b, "u": u, "v": v, "w": w})
    return frame.astype({"a": "category", "b": "category"})


def bases(column, degree, weights=None):
    """Legendre polynomials of the clipped normal quantile of (mean rank - 1/2) / N."""
    weights = np.ones(len(column)) if weights is None else np.asarray(weights, float)
    below = np.array([weights[column < value].sum() for value in column])
    equal = np.array([weights[column == value].sum() for value in column])
    scores = [NormalDist().inv_cdf(p) for p in (below + equal / 2) / weights.sum()]
    return legvander(np.clip(scores, -CLIP, CLIP) / CLIP, degree)[:, 1:]


class Formula:
    """F(S) of the location model, which includes tables of numbers as a special case."""

    def __init__(self, frame, degree, *, criterion="bic", penalty=1.0, weights=None):
        self.names, self.frame = tuple(frame), frame
        self.weights = np.ones(len(frame)) if weights is None else np.asarray(weights, float)
        self.cases = self.weights.sum()
        self.price = 0.5 * math.log(self.cases) if criterion == "bic" else 1.0
        self.factor = penalty
        self.curves = {
            name: bases(frame[name].to_numpy(float), degree, weights)
            for name in frame
            if frame[name].dtype != "category"
        }
        sets = (s for size in range(len(self.names) + 1) for s in self.combinations(size))
        self.of = {brute.bits(s): self.term([self.names[i] for i in s]) for s in sets}

    def combinations(self, size):
        return itertools.combinations(range(len(self.names)), size)

    def term(self, members):
        discrete = [name for name in members if name not in self.curves]
        cells = math.prod(len(self.frame[name].cat.categories) for name in discrete)
        groups = [np.arange(len(self.frame))]
        if discrete:
            groups = [*self.frame.groupby(discrete, observed=True).indices.values()]
        counts = [self.weights[rows].sum() for rows in groups]
        value = sum(n * math.log(n) for n in counts) - self.price * cells
        numbers = [self.curves[name] for name in members if name in self.curves]
        if not numbers:
            return value
        columns = np.concatenate(numbers, axis=1)
        p = columns.shape[1]
        within = np.zeros((p, p))
        for rows, count in zip(groups, counts, strict=True):
            own = self.weights[rows]
            apart = columns[rows] - own @ columns[rows] / count
            within += (apart.T * own) @ apart / self.cases
        volume = np.linalg.slogdet(within)[1] + p * math.log(2 * math.pi * math.e)
        parameters = cells * p + p * (p + 1) / 2
        return value - self.cases / 2 * volume - self.factor * self.price * parameters

    def score(self, dag):
        """The score of a DAG, less that of the empty one."""
        return sum(
            self.of[parents | 1 << y] - self.of[parents] - self.of[1 << y] + self.of[0]
            for y, parents in enumerate(dag)
        )


def arcs(names, dag):
    return [(names[x], names[y]) for x, y in brute.arcs_of(dag)]


CASES = [
    pytest.param(False, {"basis": 3}, id="continuous"),
    pytest.param(False, {"basis": 1, "criterion": "aic"}, id="degree-1"),
    pytest.param(False, {"basis": 6, "penalty": 1.5}, id="degree-6"),
    pytest.param(True, {"basis": 2}, id="mixed"),
]


@pytest.mark.parametrize(("mixed", "options"), CASES)
def test_scores_boundary_and_proof_are_those_of_the_formula(mixed, options):
    frame = table(1, mixed=mixed)
    degree = options["basis"]
    how = {name: value for name, value in options.items() if name != "basis"}
    formula, n = Formula(frame, degree, **how), len(frame.columns)
    names, models = formula.names, brute.models(n)
    free = options | {"edge_prior": None}
    empty = kes.score([], frame, **free)
    scores = [formula.score(dags[0]) for dags in models.classes]
    for number in range(0, len(scores), max(1, len(scores) // 12)):
        dag = models.classes[number][-1]
        assert kes.score(arcs(names, dag), frame, **free) - empty == pytest.approx(scores[number])
        graph = kes.EssentialGraph.from_dag(names, arcs(names, dag))
        steps = kes.inclusion_boundary(graph, frame, **free)
        around = {t for targets in models.boundary[number].values() for t in targets}
        reached = {}
        for step in steps:
            own = [(names.index(a), names.index(b)) for a, b in step.graph.to_dag()]
            reached[models.number[brute.dag_from_arcs(n, own)]] = step.delta
        assert set(reached) == around
        for there, delta in reached.items():
            assert delta == pytest.approx(scores[there] - scores[number], abs=1e-6)
    certificate = kes.certify(frame, **free)
    assert certificate.proven
    assert certificate.basis == degree
    assert certificate.score - empty == pytest.approx(max(scores))
    optima = kes.learn(frame, prove=True, **free)
    assert optima.proven
    assert optima.best.score == certificate.score


@pytest.mark.parametrize("mixed", [False, True])
def test_a_price_of_edges_tiers_and_evidence(mixed):
    """The prior, the tiers and the evidence by brute force over all admissible DAGs."""
    frame = table(2, rows=120, mixed=mixed)
    formula = Formula(frame, 2)
    names, n = formula.names, len(frame.columns)
    first, last = names[-1], names[0]
    tiers = [[name for name in names if name != first], [first]]
    known = kes.Knowledge(tiers=tiers, likely={(last, first): 4.0})

    def prior(dag):
        pairs = [frozenset(arc) for arc in arcs(names, dag)]
        return sum(4.0 if pair == {first, last} else -1.5 for pair in pairs)

    admissible = [
        (formula.score(dag) + prior(dag), {frozenset(arc) for arc in arcs(names, dag)})
        for dag in brute.all_dags(n)
        if not any(a == first for a, _ in arcs(names, dag))
    ]
    how = {"basis": 2, "edge_prior": 1.5, "knowledge": known}
    optima = kes.learn(frame, **how)
    empty = kes.score([], frame, **how)
    assert optima.best.score - empty == pytest.approx(max(score for score, _ in admissible))
    assert kes.certify(frame, **how).score == optima.best.score
    for row in optima.evidence():
        pair = frozenset((row["x"], row["y"]))
        best_with = max(score for score, pairs in admissible if pair in pairs)
        best_without = max(score for score, pairs in admissible if pair not in pairs)
        assert row["how"] == "exact"
        assert row["evidence"] == pytest.approx(best_with - best_without, abs=1e-6)


@pytest.mark.parametrize("mixed", [False, True])
def test_weights_are_numbers_of_cases(mixed):
    frame = table(3, rows=90, mixed=mixed)
    weights = np.random.default_rng(3).integers(1, 4, len(frame))
    formula = Formula(frame, 3, weights=weights)
    names = formula.names
    how = {"basis": 3, "edge_prior": None}
    repeated = frame.loc[frame.index.repeat(weights)]
    for dag in brute.all_dags(len(names))[:: 29281 // 20 if mixed else 40]:
        own = arcs(names, dag)
        score = kes.score(own, frame, weights=weights, **how)
        assert score == kes.score(own, repeated, **how)
        gain = score - kes.score([], frame, weights=weights, **how)
        assert gain == pytest.approx(formula.score(dag))
