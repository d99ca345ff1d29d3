"""Probabilities over models against sums over all DAGs and all classes, by their definitions."""

from functools import cache
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

import kes

from . import brute, engine
from .gaussian import predictive_bge
from .knowledge import Known, mixture
from .scores import DirectScore
from .tables import sample

EXACT = 1e-9


class Sums:
    """Sums of exp(score) over all admissible DAGs, under either prior, feature by feature."""

    def __init__(self, n, score, prior, known, max_parents=None):
        admits = known.admits if known else lambda _: True
        limit = n if max_parents is None else max_parents
        self.n, self.weights = n, {}
        for number, dags in enumerate(brute.models(n).classes):
            own = [d for d in dags if admits(d) and brute.max_in_degree(d) <= limit]
            for dag in own:
                share = len(own) if prior == "classes" else 1
                self.weights[dag] = (score(dag) - np.log(share), number)
        top = max(log for log, _ in self.weights.values())
        total = sum(np.exp(log - top) for log, _ in self.weights.values())
        self.log_sum = top + np.log(total)

    def probability(self, is_feature):
        logs = [log for dag, (log, _) in self.weights.items() if is_feature(dag)]
        return float(np.sum(np.exp(np.array(logs) - self.log_sum)))

    def of_classes(self):
        found = {}
        for log, number in self.weights.values():
            found[number] = found.get(number, 0.0) + np.exp(log - self.log_sum)
        return found


def key(edges):
    """Return a graph that can be compared and hashed."""
    return tuple(map(tuple, engine.graph(edges)))


def has_arc(a, b):
    return lambda dag: bool(dag[b] >> a & 1)


def has_path(a, b):
    return lambda dag: bool(brute.ancestral_set(dag, 1 << b) >> a & 1)


def in_blanket(a, b):
    """Whether a is a parent or child of b, or both have a child in common."""
    both = 1 << a | 1 << b
    return lambda dag: bool(
        dag[b] >> a & 1 or dag[a] >> b & 1 or any(p & both == both for p in dag)
    )


@cache
def colliders(dag):
    return brute.equivalence_key(dag)[1]


def matrix(n, sums, feature):
    found = np.zeros((n, n))
    for a in range(n):
        for b in range(n):
            if a != b:
                found[a, b] = sums.probability(feature(a, b))
    return found


def summed(core, known=None, max_parents=None):
    return core.posterior(
        lambda _: True,
        max_parents=max_parents,
        n_jobs=2,
        memory_mb=100,
        knowledge=known.core if known else None,
    )


def check(core, n, score, known=None, max_parents=None):
    """Compare all numbers of the sum and of the list, under both priors, with the definitions."""
    for prior in ("dags", "classes"):
        sums = Sums(n, score, prior, known, max_parents)
        arcs, paths = matrix(n, sums, has_arc), matrix(n, sums, has_path)
        listed = core.enumerate(prior, max_parents, known.core if known else None)
        found = [listed]
        if prior == "dags":
            found.append(summed(core, known, max_parents))
            assert max(found[1].dropped, found[1].rounding, found[1].mismatch) < EXACT
        for own in found:
            np.testing.assert_allclose(np.reshape(own.arcs, (n, n)), arcs, atol=EXACT)
            np.testing.assert_allclose(np.reshape(own.ancestors, (n, n)), paths, atol=EXACT)
            assert own.log_sum == pytest.approx(sums.log_sum, abs=1e-8)
        blankets = matrix(n, sums, in_blanket)
        np.testing.assert_allclose(np.reshape(listed.blankets, (n, n)), blankets, atol=EXACT)
        check_classes(n, listed, sums)
        check_v_structures(n, listed, sums)


def check_classes(n, listed, sums):
    expected = {
        key(brute.models(n).essential[number]): share for number, share in sums.of_classes().items()
    }
    found = {key(graph): share for graph, share in listed.classes}
    assert found.keys() == expected.keys()
    assert all(abs(share - expected[graph]) < EXACT for graph, share in found.items())
    shares = [share for _, share in listed.classes]
    assert shares == sorted(shares, reverse=True)


def check_v_structures(n, listed, sums):
    found = dict(listed.v_structures)
    for a, b in combinations(range(n), 2):
        for c in set(range(n)) - {a, b}:
            is_one = lambda dag, t=(a, c, b): t in colliders(dag)  # noqa: E731
            assert found.pop((a, c, b), 0.0) == pytest.approx(sums.probability(is_one), abs=EXACT)
    assert not found


def discrete(n, seed, rows, criterion, ess=1.0):
    rng = np.random.default_rng([seed, n, rows])
    dags = brute.all_dags(n)
    cardinalities = [int(r) for r in rng.integers(2, 4, n)]
    codes = sample(dags[rng.integers(len(dags))], cardinalities, rows, rng)
    core = engine.problem(codes, cardinalities, criterion=criterion, ess=ess)
    return core, DirectScore(codes, cardinalities, criterion=criterion, ess=ess).of


@pytest.mark.parametrize("criterion", ["bdeu", "bic"])
@pytest.mark.parametrize("rows", [12, 200, 2000])
def test_probabilities_of_four_variables(criterion, rows):
    core, score = discrete(4, 1, rows, criterion)
    check(core, 4, score)
    check(core, 4, score, max_parents=1)


@pytest.mark.parametrize("seed", range(8))
def test_probabilities_of_four_variables_with_knowledge(seed):
    core, score = discrete(4, seed, 100, "bdeu", ess=3.0)
    check(core, 4, score, mixture(4, np.random.default_rng(seed)))


@pytest.mark.parametrize(("criterion", "rows"), [("bdeu", 60), ("bic", 300)])
def test_probabilities_of_five_variables(criterion, rows):
    core, score = discrete(5, 2, rows, criterion)
    check(core, 5, score)


@pytest.mark.parametrize("seed", range(2))
def test_probabilities_of_five_variables_with_knowledge(seed):
    core, score = discrete(5, 3, 150, "bdeu")
    known = mixture(5, np.random.default_rng([seed, 5]))
    check(core, 5, score, known)


def test_probabilities_of_five_variables_in_tiers():
    core, score = discrete(5, 4, 150, "bdeu")
    check(core, 5, score, Known(5, tiers=(0, 1, 0, 2, None), required=[(0, 3)]))


def test_probabilities_with_a_prior_over_edges():
    """A weight of a pair is the logarithm of the prior odds of its edge."""
    rng = np.random.default_rng(5)
    codes = sample(brute.all_dags(5)[20_000], [2, 3, 2, 2, 3], 80, rng)
    cardinalities = [2, 3, 2, 2, 3]
    columns = [np.ascontiguousarray(column) for column in codes]
    weights = (-0.7, [(0, 1, 3.0), (2, 4, -2.5)], [])
    core = kes._core.Problem(columns, cardinalities, None, "bdeu", 1.0, 16, weights)
    direct = DirectScore(codes, cardinalities, criterion="bdeu")
    more = {(0, 1): 3.0, (2, 4): -2.5}

    def score(dag):
        pairs = [tuple(sorted(arc)) for arc in brute.arcs_of(dag)]
        return direct.of(dag) + sum(-0.7 + more.get(pair, 0.0) for pair in pairs)

    check(core, 5, score)


def test_probabilities_by_bge():
    rng = np.random.default_rng(6)
    columns = [rng.normal(size=40) for _ in range(5)]
    columns[1] += columns[0]
    columns[3] += 0.4 * columns[1] - 0.5 * columns[2]
    core = engine.gaussian(columns, criterion="bge")
    terms = {nodes: predictive_bge(columns, nodes) for nodes in range(1, 1 << 5)} | {0: 0.0}

    def score(dag):
        return sum(terms[parents | 1 << y] - terms[parents] for y, parents in enumerate(dag))

    check(core, 5, score)


def test_the_numbers_as_users_see_them():
    rng = np.random.default_rng(7)
    codes = sample(brute.all_dags(5)[12_345], [2] * 5, 200, rng)
    names = [f"v{i}" for i in range(5)]
    post = kes.posterior(pd.DataFrame(dict(zip(names, codes, strict=True))))
    sums = Sums(5, DirectScore(codes, [2] * 5, criterion="bdeu").of, "dags", None)
    assert (post.status, post.prior, post.quantity) == ("exact", "dags", "probability")
    for a, b in combinations(range(5), 2):
        arc, back = sums.probability(has_arc(a, b)), sums.probability(has_arc(b, a))
        assert post.edge(names[a], names[b]) == pytest.approx(arc + back, abs=EXACT)
        assert post.arc(names[a], names[b]) == pytest.approx(arc, abs=EXACT)
        assert post.ancestor(names[b], names[a]) == pytest.approx(
            sums.probability(has_path(b, a)), abs=EXACT
        )
        assert post.blanket(names[a], names[b]) == pytest.approx(
            sums.probability(in_blanket(a, b)), abs=EXACT
        )
    shares = list(sums.of_classes().values())
    assert post.effective_models == pytest.approx(1 / sum(share**2 for share in shares))
    assert post.models[0].probability == pytest.approx(max(shares), abs=EXACT)
