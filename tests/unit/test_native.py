"""The core's description of itself: criteria, limits, levels, and the valued boundary."""

import math

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes import _core
from kes.native import core_errors


@pytest.fixture(scope="module")
def alarm():
    data = kes.datasets.alarm(rows=500)
    return _core.Problem(data.codes, list(data.cardinalities), None, "bic", 1.0, 64)


def described(kind):
    return {name: rest for name, *rest in _core.CRITERIA if kind in rest[2]}


def test_criteria_are_described():
    """As promised: bic and aic for every kind, bdeu and qnml discrete only, bge continuous."""
    assert list(described("discrete")) == ["bic", "aic", "bdeu", "qnml"]
    assert set(described("continuous")) == {"bic", "aic", "bge"}
    assert set(described("mixed")) == {"bic", "aic", "degenerate-bic", "degenerate-aic"}
    assert all(title for _, title, *_ in _core.CRITERIA)
    parameters = {name: own for name, (_, own, *_) in described("discrete").items() if own}
    assert parameters == {"bdeu": ("ess",)}


def test_every_criterion_can_be_used():
    codes = np.array([[0, 1, 1], [0, 1, 0]], dtype=np.int32)
    for name in described("discrete"):
        assert _core.Problem(codes, [2, 2], None, name, 1.0, 1).score([]) < 0
    with pytest.raises(_core.CoreError, match='unknown criterion "bci"; known: bic, aic, bdeu'):
        _core.Problem(codes, [2, 2], None, "bci", 1.0, 1)


def test_price_of_a_parameter():
    assert _core.penalty("bic", 1000.0) == pytest.approx(math.log(1000) / 2)
    assert _core.penalty("aic", 1000.0) == 1
    assert _core.penalty("bdeu", 1000.0) is None
    assert _core.penalty("qnml", 1000.0) is None


def test_limits_are_those_of_the_core():
    codes = np.zeros((1, 2), dtype=np.int32)
    _core.Problem(codes, [_core.MAX_STATES], None, "bic", 1.0, 1)
    with pytest.raises(_core.CoreError, match=f"1 to {_core.MAX_STATES} are possible"):
        _core.Problem(codes, [_core.MAX_STATES + 1], None, "bic", 1.0, 1)
    assert _core.MAX_COMPONENT == 31  # sets of a component are numbers of 32 bits


def test_levels():
    """Halves go away from zero, as in the search; infinite is what a float calls so."""
    values = [0.25, 0.75, -0.25, 0.24, -1.0, 0.0]
    assert [_core.level(value, 0.5) for value in values] == [1, 2, -1, 0, -2, 0]
    assert all(isinstance(_core.level(value, 0.5), int) for value in values)
    assert _core.level(math.inf, 1e-9) == math.inf
    assert _core.level(-math.inf, 1e-9) == -math.inf
    assert _core.level(-1e300, 1e-9) == -math.inf  # 1e309 tolerances are beyond any float
    assert _core.level(1e30, 0.5) == int(2e30)
    for wrong in ((math.nan, 1.0), (1.0, 0.0), (1.0, math.nan)):
        with pytest.raises(_core.CoreError, match="no level"):
            _core.level(*wrong)


def test_level_of_a_problem(alarm):
    score = alarm.score([])
    assert alarm.level(score) == _core.level(score, alarm.tolerance)
    assert alarm.level(score) * alarm.tolerance == pytest.approx(score, abs=alarm.tolerance)


@pytest.mark.parametrize("max_parents", [None, 1, 2])
def test_valued_boundary(alarm, max_parents):
    """The same triples and the same bits as one by one; best first, ties in canonical order."""
    _, graph = alarm.trace(
        0, k=0.5, seed=1, max_parents=None, two_phase=False, start=None, sampled=None
    )
    valued = alarm.boundary(graph, max_parents)
    triples = _core.boundary(37, graph, max_parents)
    one_by_one = [(triple, alarm.delta(triple)) for triple in triples]
    assert valued == sorted(one_by_one, key=lambda pair: -alarm.level(pair[1]))
    fresh = kes.datasets.alarm(rows=500)
    cold = _core.Problem(fresh.codes, list(fresh.cardinalities), None, "bic", 1.0, 0)
    assert cold.boundary(graph, max_parents) == valued


def test_errors_of_the_core_name_the_columns():
    """The core numbers variables; users read the names of their columns, and find the first."""
    a, b = np.random.default_rng(0).normal(size=(2, 50))
    data = pd.DataFrame({"left": a, "right {x}": b, "total": a + b})
    known = kes.Knowledge(required=[("left", "total"), ("right {x}", "total")])
    with pytest.raises(kes.KesError, match=r"'total' with its required parents") as caught:
        kes.learn(data, knowledge=known, runs=1)
    assert "('left', 'right {x}') cannot be estimated" in str(caught.value)
    assert caught.value.column == "total"
    states = [range(70_000), ["no", "yes"]]
    huge = kes.Dataset(["city", "paid"], states, np.zeros((2, 5), dtype=np.int32))
    with refused("70000", column="city"):
        kes.learn(huge)


def test_names_are_filled_into_any_message():
    with pytest.raises(kes.KesError, match=r"^plain \{0\}$"), core_errors(["a"]):
        raise _core.CoreError("plain {0}")
    with pytest.raises(_core.CoreError, match="variable 1 is joined to itself") as caught:
        _core.check_essential(2, ([(1, 1)], []))
    assert (caught.value.template, caught.value.variables) == ("{0} is joined to itself", [1])
    with pytest.raises(kes.KesError, match=r"^'b' is joined to itself$"), core_errors(["a", "b"]):
        raise caught.value
    with pytest.raises(kes.KesError, match=r"^a variable is joined to itself$"), core_errors():
        raise caught.value
    problem = _core.Problem(np.zeros((1, 2), dtype=np.int32), [2], None, "bic", 1.0, 1)
    with pytest.raises(TypeError, match="unexpected keyword"):
        problem.search([0], lambda *_: True, n_jobs=1, kay=1.0)
