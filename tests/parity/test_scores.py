"""Scores of whole networks against pgmpy and pyAgrum, where these are installed.

pgmpy and kes speak natural logarithms; pyAgrum speaks binary ones.
"""

from math import log

import numpy as np
import pandas as pd
import pytest
from oracle.brute import arcs_of, parameter_count
from oracle.distributions import random_dag
from oracle.tables import sample

import kes

CARDINALITIES = [2, 3, 2, 4, 3, 2]
NAMES = ["smoke", "age", "sex", "region", "dose", "ill"]


@pytest.fixture(scope="module")
def data():
    """400 cases; every state occurs, so that all three libraries count the same states."""
    rng = np.random.default_rng(12)
    codes = sample(random_dag(6, 0.5, rng), CARDINALITIES, 400, rng)
    assert [len(np.unique(column)) for column in codes] == CARDINALITIES
    return pd.DataFrame({n: [f"s{c}" for c in cs] for n, cs in zip(NAMES, codes, strict=True)})


@pytest.fixture(scope="module")
def networks():
    """Random DAGs and their named arcs, from no arc at all to dense ones."""
    rng = np.random.default_rng(13)
    dags = [random_dag(6, density, rng) for density in (0.0, 0.2, 0.4, 0.4, 0.6, 0.9)]
    return [(dag, [(NAMES[a], NAMES[b]) for a, b in arcs_of(dag)]) for dag in dags]


def parents(arcs, node):
    return [a for a, b in arcs if b == node]


@pytest.mark.parametrize(
    ("criterion", "ess"), [("bic", 1.0), ("aic", 1.0), ("bdeu", 1.0), ("bdeu", 12.5)]
)
def test_pgmpy(data, networks, criterion, ess):
    scores = pytest.importorskip(
        "pgmpy.structure_score", reason="pgmpy >= 1.1 is not installed: nothing to compare with"
    )
    theirs = {
        "bic": lambda: scores.BIC(data),
        "aic": lambda: scores.AIC(data),
        "bdeu": lambda: scores.BDeu(data, equivalent_sample_size=ess),
    }[criterion]()
    for _, arcs in networks:
        expected = sum(theirs.local_score(node, tuple(parents(arcs, node))) for node in NAMES)
        ours = kes.score(arcs, data, criterion=criterion, ess=ess)
        assert ours == pytest.approx(float(expected), rel=1e-10)


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_pyagrum(data, networks, criterion):
    """Its BDeu is left out: with its approximate log-gamma it agrees to four digits only."""
    gum = pytest.importorskip("pyagrum", reason="pyAgrum is not installed: nothing to compare with")
    learner = gum.BNLearner(data)
    {"bic": learner.useScoreBIC, "aic": learner.useScoreAIC}[criterion]()
    learner.useNoPrior()
    for dag, arcs in networks:
        expected = sum(learner.score(node, parents(arcs, node)) for node in NAMES)
        ours = kes.score(arcs, data, criterion=criterion) / log(2)
        if criterion == "aic":
            # It subtracts one *bit* per parameter from the binary log-likelihood, AIC one nat.
            ours += parameter_count(dag, CARDINALITIES) * (1 / log(2) - 1)
        assert ours == pytest.approx(expected, rel=1e-10)
