"""Theorems 4 and 5 beyond the paper's example: all inclusion-optimal models by enumeration.

Two kinds of distributions over four variables satisfy the composition property without being
faithful to a DAG: those of an undirected cycle, and those of a DAG with hidden nodes.
For each, all 185 models are asked whether they include the distribution.
"""

from functools import cache

import numpy as np
import pytest

import kes
from kes.paper.theorems import LARGER, SMALLER, information

from . import brute, engine
from .distributions import Distribution, noisy_cycle, random_dag, random_distribution

MODELS = brute.models(4)
CASES = 1e10
KS = (0.0, 0.4, 0.8, 1.0)


def composes(holds):
    """Whether x ⊥ y | C and x ⊥ u | C always give x ⊥ {y, u} | C, as far as single nodes tell.

    By the block independence lemma the latter is x ⊥ y | Cu together with x ⊥ u | C.
    """

    def independent(a, b, given):
        return (min(a, b), max(a, b), given) in holds

    return all(
        independent(x, y, given | 1 << u)
        for x in range(4)
        for y in range(4)
        for u in range(4)
        for given in range(16)
        if len({x, y, u}) == 3 and not given & (1 << x | 1 << y | 1 << u)
        if independent(x, y, given) and independent(x, u, given)
    )


def is_seen_by_bic(distribution):
    """Whether BIC tells dependence from independence in every case, as in the limit."""
    return all(
        (distribution.bic_gain(*s, CASES) > 0) == (s not in distribution.independences)
        for s in brute.statements(4)
    )


def random_cycle(rng):
    """A distribution on the undirected cycle 0-1-2-3-0 with random potentials."""
    r = [int(states) for states in rng.integers(2, 4, 4)]
    joint = np.ones(r)
    for a, b in ((0, 1), (1, 2), (2, 3), (0, 3)):
        potential = np.exp(rng.normal(size=(r[a], r[b])))
        joint = joint * potential.reshape([r[i] if i in (a, b) else 1 for i in range(4)])
    return Distribution(joint / joint.sum())


def random_margin(rng):
    """A distribution of four of six variables of a random network."""
    whole = random_distribution(random_dag(6, 0.45, rng), [2] * 6, rng)
    return Distribution(whole.joint.sum(axis=(4, 5)))


# Those with several optimal models say most.
KINDS = {
    "cycle": (random_cycle, 6, True),
    "hidden": (random_margin, 8, True),
    "hidden, one optimum": (random_margin, 4, False),
}


@cache
def distributions(kind):
    """Draw the distributions of a kind."""
    draw, wanted, several = KINDS[kind]
    rng = np.random.default_rng(len(kind))
    found = []
    while len(found) < wanted:
        distribution = draw(rng)
        holds = distribution.independences
        many = len(MODELS.inclusion_optimal(holds)) > 1
        if many == several and composes(holds) and is_seen_by_bic(distribution):
            found.append(distribution)
    return found


@pytest.mark.parametrize(
    ("kind", "place"), [(kind, i) for kind, (_, wanted, _) in KINDS.items() for i in range(wanted)]
)
def test_runs_end_in_inclusion_optimal_models_and_ses_in_every_one(kind, place):
    distribution = distributions(kind)[place]
    optimal = MODELS.inclusion_optimal(distribution.independences)
    fitting = {m for m, dags in enumerate(MODELS.classes) if distribution.is_in_model(dags[0])}
    assert optimal <= fitting
    graphs = [MODELS.essential[model] for model in sorted(optimal)]
    codes, weights = distribution.table(CASES)
    problem = engine.problem(codes, distribution.cardinalities, weights)
    for k in KS:  # Theorem 4
        ends = [engine.trace(problem, run, k=k)[1] for run in range(150)]
        assert all(end in graphs for end in ends)
        assert k > 0 or all(graph in ends for graph in graphs)  # Theorem 5


def test_models_of_the_example_are_those_that_the_enumeration_finds():
    """The product's experiments rely on the two arc lists of the paper."""
    optimal = MODELS.inclusion_optimal(noisy_cycle(0.12, 0.30, 0.0).independences)
    places = {letter: place for place, letter in enumerate("XYZU")}
    listed = [
        MODELS.number[brute.dag_from_arcs(4, [(places[a], places[b]) for a, b in arcs])]
        for arcs in (SMALLER, LARGER)
    ]
    assert sorted(listed) == sorted(optimal)


@pytest.mark.parametrize("groups", [2, 3])
def test_every_combination_of_example_2_is_found(groups):
    """2^n inclusion-optimal models: in each copy one of two, independently of the others."""
    data = kes.datasets.example2(groups, variant="deceptive")
    optima = kes.learn(data, k=0, runs=100 * 2**groups, n_jobs=1)
    combinations = {
        tuple(frozenset({f"Y{g}", f"U{g}"}) in optimum.graph.skeleton for g in range(1, groups + 1))
        for optimum in optima
    }
    assert len(optima) == len(combinations) == 2**groups
    sizes = {len(optimum.graph.skeleton) for optimum in optima}
    assert sizes == {5 * groups}  # each copy has five edges in either case, and none between copies


@pytest.mark.parametrize("given", ["", "Y", "YZ"])
def test_information_of_the_erratum_is_that_of_the_oracle(given):
    distribution = noisy_cycle(0.12, 0.30, 0.05)
    places = {letter: place for place, letter in enumerate("XYZU")}
    expected = distribution.information(0, 3, brute.bits(places[letter] for letter in given))
    assert information(distribution.joint, "X", "U", given) == pytest.approx(expected, abs=1e-12)
