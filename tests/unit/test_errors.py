"""Errors of users, and messages that say what is wrong, where, and what to do."""

import dataclasses
import inspect
import math
import pickle
import re
import sys

import numpy as np
import pandas as pd
import pytest
from tests.unit.refused import refused

import kes
from kes import _core
from kes.declare import checked_options, declared
from kes.errors import Interrupted, listed, not_installed, suggest, unknown
from kes.estimator import CALL_ONLY, EstimatorOptions
from kes.options import (
    FitOptions,
    HeldOutOptions,
    LearnOptions,
    RunOptions,
    ScoringOptions,
    SearchOptions,
)

GOOD = {"a": [0, 1, 0, 1, 1, 0], "b": ["x", "y", "x", "y", "x", "x"]}


@pytest.fixture
def data():
    return pd.DataFrame(GOOD)


@pytest.fixture(scope="module")
def optima():
    return kes.learn(pd.DataFrame(GOOD), runs=3)


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "word"),
    [
        ({"k": 1.5}, "from 0 to 1: 0 is SES, 1 is GES, not 1.5"),
        ({"k": -0.1}, "from 0 to 1"),
        ({"k": math.nan}, "not nan"),
        ({"k": "0.5"}, "not '0.5'"),
        ({"k": True}, "must be a number"),
        ({"k": 10**400}, "not one of 401 digits"),
        ({"k": -(10**5000)}, "digits"),
        ({"runs": 0}, "an integer of at least 1, not 0"),
        ({"runs": -3}, "at least 1, not -3"),
        ({"runs": 2.0}, "not 2.0"),
        ({"runs": 10**5000}, "at most"),
        ({"ess": 0}, "greater than 0 and at most 1e+300, not 0"),
        ({"ess": -1.0, "criterion": "bdeu"}, "not -1.0"),
        ({"ess": math.inf, "criterion": "bdeu"}, "not inf"),
        ({"ess": 1e301, "criterion": "bdeu"}, "not 1e+301"),
        ({"ess": 10**400}, "at most 1e+300"),
        ({"criterion": "bci"}, "did you mean 'bic'?"),
        ({"criterion": "BDE"}, "did you mean 'bdeu'?"),
        ({"criterion": "k2"}, "known: 'aic', 'auto', 'bdeu', 'bge', 'bic', 'degenerate-aic'"),
        ({"criterion": 3}, "unknown criterion 3"),
        ({"penalty": 0}, "greater than 0"),
        ({"penalty": 2.0}, "bic and aic"),
        ({"transform": "rank"}, "did you mean 'ranks'?"),
        ({"kinds": {"z": "discrete"}}, "'z'"),
        ({"kinds": "discrete"}, "kinds"),
        ({"random_state": -1}, "at least 0, not -1"),
        ({"random_state": 2**64}, "less than 2**64"),
        ({"random_state": "x"}, "integer"),
        ({"random_state": 10**5000}, "less than 2**64"),
        ({"n_jobs": 0}, "at least 1, not 0"),
        ({"n_jobs": 10**30}, "at most"),
        ({"max_parents": -1}, "at least 0, not -1"),
        ({"max_parents": 10**30}, "at most"),
        ({"two_phase": 1}, "True or False, not 1"),
        ({"two_phase": True, "neighbourhood": "sampled"}, "exact"),
        ({"neighbourhood": "sample"}, "did you mean 'sampled'?"),
        ({"neighbourhood": 3}, "kes.Sampled("),
        ({"cache_mb": 0}, "at least 1, not 0"),
        ({"cache_mb": 10**20}, "at most 1073741824"),
        ({"budget": "soon"}, "'soon' is not a valid duration"),
        ({"budget": "5x"}, "'5x' is not a valid duration"),
        ({"budget": 0}, "greater than 0 (seconds), not 0"),
        ({"budget": -1}, "not -1"),
        ({"improve": 0}, "at least 1"),
        ({"improve": "soon"}, "'soon' is not a valid duration"),
        ({"prove": "maybe"}, "'auto'"),
        ({"patience": 0}, "at least 1, not 0"),
        ({"patience": 10**30}, "at most"),
        ({"progress": "yes"}, "function"),
        ({"client": "tcp://host:8786"}, "distributed.Client"),
        ({"start": "ab"}, "list of arcs"),
        ({"start": [("a", "b", "c")]}, "list of arcs"),
        ({"start": [("a", "c")]}, "'c'"),
        ({"start": [("a", "b"), ("b", "a")]}, "cycle"),
        ({"start": kes.EssentialGraph(["a", "c", "d"])}, "'c', 'd'"),
        ({"start": [("a", "b")], "max_parents": 0}, "'b'"),
        ({"missing": "dorp"}, "did you mean 'drop'?"),
        ({"completions": 0}, "at least 1"),
        ({"knowledge": "a before b"}, "kes.Knowledge"),
    ],
)
def test_options_of_learn(data, options, word):
    """The error names the option, which is the first of the call, and says what is wrong."""
    with pytest.raises(kes.KesError) as caught:
        kes.learn(data, **options)
    assert caught.value.option == next(iter(options))
    assert word in str(caught.value)


@pytest.mark.parametrize("value", [-1, 10**30])
@pytest.mark.parametrize("name", ["reversals", "failures"])
def test_options_of_sampled(name, value):
    with pytest.raises(kes.KesError) as caught:
        kes.Sampled(**{name: value})
    assert caught.value.option == name


def test_options_are_looked_at_before_the_data():
    with refused(option="runs"):
        kes.learn("no such file.csv", runs=0)


# --- messages ------------------------------------------------------------------------------------


def test_errors_are_value_errors():
    assert issubclass(kes.KesError, ValueError)


def test_interrupted_is_a_keyboard_interrupt_that_carries_the_optima():
    assert issubclass(Interrupted, KeyboardInterrupt)
    assert Interrupted("optima").optima == "optima"
    assert "before the first run" in str(Interrupted(None))
    assert pickle.loads(pickle.dumps(Interrupted("optima"))).optima == "optima"


def test_a_missing_package_comes_with_the_command():
    assert str(not_installed("pyarrow")).endswith(": pip install pyarrow")


def test_suggestions_ignore_case():
    assert suggest("BIC", ["aic", "bic"]) == " (did you mean 'bic'?)"
    assert str(unknown("criterion", "zzz", ["b", "a"])) == (
        "unknown criterion 'zzz'; known: 'a', 'b'"
    )


def test_long_lists_are_cut():
    assert listed(range(12)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more"
    assert listed(range(10)) == "0, 1, 2, 3, 4, 5, 6, 7, 8, 9"


# --- weights, through learn ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "word"),
    [
        ([1, 2, 3, -1, 5, 6], "-1"),
        ([1, 2, 3, math.nan, 5, 6], "nan"),
        ([1, 2, 3, math.inf, 5, 6], "inf"),
        ([1, 2, 3], "3"),
        ("nope", "nope"),
        (np.full(6, 1 / 6), "multiply"),
        ([0.5, 0.5, 0, 0, 0, np.finfo(float).eps], "multiply"),  # as 1 may come out of a sum
        (np.full(6, 1e307), "6e.307"),
        (np.full(6, 1e308), "inf"),
    ],
)
def test_weights(data, weights, word):
    with refused(word, option="weights"):
        kes.learn(data, weights=weights)


# --- results -------------------------------------------------------------------------------------


def test_extend_with_other_data(data, optima, tmp_path):
    optima.save(tmp_path / "a.json")
    loaded = kes.load(tmp_path / "a.json")
    for other, word, column in [
        (data.iloc[1:], "rows", None),
        (data.assign(b=["x"] * 5 + ["z"]), "'z'", "b"),
        (data[["a"]], "lack", "b"),
    ]:
        with refused(word, option="data", column=column):
            loaded.extend(1, other)
    with refused("rows", option="data"):
        loaded.trace(0, data.iloc[1:])
    with refused("rows", option="data"):
        optima.extend(1, data.iloc[1:])


@pytest.mark.parametrize(
    ("change", "column", "word"),
    [
        (lambda data: data[1:], None, "rows"),
        (lambda data: data[["b", "a"]], None, "order"),
        (
            lambda data: data.rename(columns={"a": "c"}),
            "c",
            "'c', .*'a'",
        ),
        (lambda data: data.assign(a=data["a"] / 3), "a", "discrete"),
        (
            lambda data: data.replace("y", "z"),
            "b",
            "'z'.*'y'",
        ),
    ],
)
def test_it_is_said_in_which_respect_data_are_others(data, optima, change, column, word):
    """Of data that are read anew; where they are read as those of a result, less can differ."""
    with refused(word, option="data", column=column):
        kes.certify(change(data), optima=optima)


def test_extend_without_data(optima, tmp_path):
    optima.save(tmp_path / "a.json")
    loaded = kes.load(tmp_path / "a.json")
    for use in (lambda: loaded.extend(1), lambda: loaded.trace(0)):
        with refused(option="data"):
            use()


@pytest.mark.parametrize("runs", [0, -1, 1.5, None])
def test_extend_by_nothing(optima, runs):
    with refused(option="runs"):
        optima.extend(runs)


def test_what_the_core_says_of_a_trace_is_told(optima, monkeypatch):
    class Core:
        def trace(self, run, **_):
            raise _core.CoreError("no such thing")

    monkeypatch.setitem(vars(optima.problem), "core", Core())
    with refused("no such thing"):
        optima.trace(0)


def test_what_the_core_says_of_data_is_told(data):
    dataset = kes.data.encode(data)
    huge = kes.Dataset(dataset.names, [range(70_000), dataset.states[1]], dataset.codes)
    for use in (lambda: kes.score([], huge), lambda: kes.learn(huge)):
        with refused("70000 states", column="a"):
            use()


def test_trace_of_no_run(optima):
    with refused("0 to 2", option="run"):
        optima.trace(3)
    with refused(option="run"):
        optima.trace(-1)


# --- score ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("graph", "options", "message"),
    [
        ([("a", "z")], {}, "unknown node 'z'"),
        ([("a", "b"), ("b", "a")], {}, "directed cycle"),
        (kes.EssentialGraph(["a", "q"]), {}, "the data have no column for 'q'"),
        ([], {"criterion": "bick"}, "did you mean 'bic'"),
        ([], {"ess": 0}, "ess must be a number greater than 0"),
        (7, {}, "graph must be an EssentialGraph or a list of arcs (parent, child), not int"),
    ],
)
def test_score(data, graph, options, message):
    with pytest.raises(kes.KesError) as caught:
        kes.score(graph, data, **options)
    assert message in str(caught.value)


def test_missing_package(monkeypatch, data):
    monkeypatch.setitem(sys.modules, "distributed", None)
    with refused("pip install distributed"):
        kes.learn(data, client=object())


# --- options -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "given", "meant"),
    [
        (kes.learn, "seed", "random_state"),
        (kes.learn, "jobs", "n_jobs"),
        (kes.learn, "time_limit", "budget"),
        (kes.learn, "max_parent", "max_parents"),
        (kes.learn, "neighborhood", "neighbourhood"),
        (kes.sweep, "k", "ks"),
        (kes.sweep, "seed", "random_state"),
        (kes.stability, "jobs", "n_jobs"),
        (kes.cross_validate, "fold", "folds"),
        (kes.certify, "time_limit", "budget"),
        (kes.score, "criteria", "criterion"),
        (kes.fit, "priors", "prior"),
        (kes.Optima.improve, "task", "tasks"),
        (kes.Optima.extend, "jobs", "n_jobs"),
        (kes.KES, "seed", "random_state"),
    ],
)
def test_an_option_that_there_is_not_gives_a_hint(function, given, meant):
    """Before anything else: the data are not even looked at."""
    with refused(f"did you mean {meant}", option=given):
        function(**{given: 1})
    with pytest.raises(TypeError):
        function(**{given: 1})


def test_without_a_hint_the_options_are_listed():
    with refused("n_jobs", option="zzz"):
        kes.Optima.improve(None, zzz=1)


@pytest.mark.parametrize(
    ("function", "options", "changed"),
    [
        (kes.learn, LearnOptions, {}),
        (kes.sweep, SearchOptions, {}),
        (kes.stability, RunOptions, {"runs": 10}),
        (kes.cross_validate, HeldOutOptions, {"runs": 100}),
        (kes.score, ScoringOptions, {}),
        (kes.inclusion_boundary, ScoringOptions, {}),
        (kes.certify, ScoringOptions, {}),
        (kes.explain, ScoringOptions, {"criterion": None}),
        (kes.fit, FitOptions, {}),
        (kes.Optimum.fit, FitOptions, {}),
        (kes.KES, EstimatorOptions, {"runs": 100}),
    ],
)
def test_signatures_and_help_show_every_option(function, options, changed):
    """Declared once, they are seen wherever they are taken: as help() and notebooks show them."""
    known = {name: one for name, one in declared(options).items() if name not in UNUSED(function)}
    shown = inspect.signature(function).parameters
    assert all(p.kind is not p.VAR_KEYWORD for p in shown.values())
    expected = {name: option.default for name, option in known.items()} | changed
    assert {name: shown[name].default for name in known} == expected
    if function is not kes.Optimum.fit:  # which refers to kes.fit
        for name in known:
            assert re.search(rf"^{name} : .+\n    .+", function.__doc__, re.MULTILINE), name


def UNUSED(function):
    return CALL_ONLY if function is kes.KES else ()


def test_every_option_is_documented_and_settings_are_those_declared():
    known = declared(LearnOptions) | declared(FitOptions)
    assert all(option.doc.endswith(".") for option in known.values())
    assert {option.setting for option in known.values()} - {None} == {
        field.name for field in dataclasses.fields(kes.Settings)
    }
    for field in dataclasses.fields(kes.Settings):
        # By default the table decides on the price of an edge.
        if field.default is not dataclasses.MISSING and field.name != "edge_prior":
            [option] = [o for o in known.values() if o.setting == field.name]
            assert option.default == field.default


def test_settings_are_options_again(data):
    settings = kes.learn(data, runs=1, criterion="bdeu", ess=2.0, max_parents=1).settings
    assert type(settings).of(settings.options()) == settings


def test_deprecated_names_still_work():
    @checked_options(RunOptions, renamed={"greed": "k"})
    def search(**options):
        return options

    with pytest.warns(DeprecationWarning, match="'k'"):
        assert search(greed=0.5)["k"] == 0.5
    assert search()["k"] == 0.8
