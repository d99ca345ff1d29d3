"""Standard errors of differences between models, against resampling and direct counts."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import kes
from kes.analysis import sampling_error
from kes.analysis.certainty import EdgeCertainty
from kes.analysis.sampling_error import SamplingError

NAMES = ("a", "b", "u", "v")
ONE = [("a", "u"), ("u", "v"), ("b", "v")]
OTHER = [("u", "a"), ("v", "u"), ("b", "a")]


def mixed(rows=400, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 2, rows), rng.integers(0, 3, rows)
    u = a + rng.exponential(size=rows)
    v = np.exp(0.4 * u + 0.5 * (b == 1) + rng.normal(size=rows))
    frame = pd.DataFrame({"a": a, "b": b, "u": u, "v": v})
    return frame.astype({"a": "category", "b": "category"})


def between(frame, one=ONE, other=OTHER, **options):
    problem = kes.learn(frame, runs=2, prove=False, **options).problem
    place = {name: i for i, name in enumerate(problem.dataset.names)}
    arcs = [[(place[x], place[y]) for x, y in dag] for dag in (one, other)]
    return SamplingError(problem).between(*arcs)


def test_it_is_the_spread_of_score_differences_over_samples():
    """By the bootstrap: the same difference on 150 resampled tables, without ranks."""
    frame = mixed()
    rng = np.random.default_rng(1)
    found = []
    for _ in range(150):
        some = frame.iloc[rng.integers(0, len(frame), len(frame))]
        scores = [kes.score(dag, some, transform="none") for dag in (ONE, OTHER)]
        found.append(scores[0] - scores[1])
    error = between(frame, transform="none")
    assert error == pytest.approx(np.std(found), rel=0.15)


def test_discrete_tables_by_counting():
    frame = pd.DataFrame(np.random.default_rng(2).integers(0, 3, (200, 3)), columns=list("xyz"))
    rows = [tuple(row) for row in frame.to_numpy()]

    def logs(members):
        counts = Counter(tuple(row[i] for i in members) for row in rows)
        return np.array([math.log(counts[tuple(row[i] for i in members)]) for row in rows])

    # x -> y <- z against x <- y -> z: only the terms of these sets differ.
    terms = logs((0, 1, 2)) - logs((0, 2)) - logs((0, 1)) - logs((1, 2)) + logs((1,))
    terms = terms + logs((0,)) + logs((2,))
    expected = math.sqrt(((terms - terms.mean()) ** 2).sum())
    found = between(frame, [("x", "y"), ("z", "y")], [("y", "x"), ("y", "z")])
    assert found == pytest.approx(expected, rel=1e-9)


def test_equivalent_networks_do_not_differ():
    assert between(mixed(), [("a", "u")], [("u", "a")]) == pytest.approx(0, abs=1e-9)


def test_curves_enter_as_polynomials():
    """By the bootstrap of whole tables: ranks and polynomials are taken anew each time."""
    rng = np.random.default_rng(5)
    frame = mixed(300, seed=5)
    frame["v"] = (frame["u"] - 1) ** 2 + rng.normal(size=300)
    one, other = [("u", "v"), ("a", "v")], [("v", "u"), ("b", "u")]
    found = []
    for _ in range(60):
        some = frame.iloc[rng.integers(0, 300, 300)]
        scores = [kes.score(dag, some, basis=3) for dag in (one, other)]
        found.append(scores[0] - scores[1])
    assert between(frame, one, other, basis=3) == pytest.approx(np.std(found), rel=0.35)


def test_the_order_of_rows_does_not_change_a_bit():
    frame = mixed()
    assert between(frame.sample(frac=1, random_state=1)) == between(frame)


def test_a_weight_is_a_number_of_rows():
    frame = mixed()
    weights = np.random.default_rng(3).integers(0, 4, len(frame))
    rows = np.repeat(np.arange(len(frame)), weights)
    repeated = between(frame.iloc[rows].reset_index(drop=True))
    assert between(frame, weights=weights) == pytest.approx(repeated, rel=1e-9)


def test_long_tables_are_sampled(monkeypatch):
    frame = mixed(4000)
    whole = between(frame)
    monkeypatch.setattr(sampling_error, "_ROWS", 1000)
    assert between(frame) == pytest.approx(whole, rel=0.25)


def test_variables_that_determine_each_other():
    """Nothing is said to be clear where a set of columns is singular."""
    frame = mixed()
    frame["w"] = frame["u"] + frame["v"]
    error = between(frame, [("u", "w"), ("v", "w")], [("w", "u"), ("w", "v")], transform="none")
    assert not error < 1e4


@pytest.mark.parametrize(
    ("direction", "error", "clear"),
    [(30.0, 5.0, 1), (-30.0, 5.0, 2), (30.0, 16.0, 0), (9.0, 1.0, 0), (30.0, None, 0)],
)
def test_a_clear_direction_has_nats_and_standard_errors(direction, error, clear):
    assert EdgeCertainty(50.0, direction, "exact", "", error).clear_direction == clear


def test_evidence_has_it_where_a_direction_may_be_clear():
    """Six independent causes of y: the opposite of one arrow takes five edges more."""
    rng = np.random.default_rng(4)
    frame = pd.DataFrame(rng.normal(size=(500, 6)), columns=list("abcdef"))
    frame["y"] = frame.sum(axis=1) + rng.normal(size=500)
    frame["z"] = frame["y"] + rng.normal(size=500)
    rows = list(kes.learn(frame).evidence())
    causes = [row for row in rows if row["y"] == "y" and row["direction"] >= 10]
    assert len(causes) >= 4
    for row in causes:
        assert 0 < row["direction_error"] < row["direction"] / 2
        assert EdgeCertainty.of(row).clear_direction == 1
    for row in rows:
        if row["evidence"] < 10 or abs(row["direction"]) < 10:
            assert row["direction_error"] is None
