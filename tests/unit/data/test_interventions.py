"""Columns that name experiments, as indicators."""

import numpy as np
import pandas as pd
import pytest
from tests.unit.forms import as_form

import kes
from kes.data import encode
from kes.data.encoder import read_data
from kes.data.interventions import check_interventions, known_targets, read_interventions
from kes.data.schema import ReadOptions, Schema

CONDITION = ["a", "none", "b", "a", "b", "none"]
TABLE = pd.DataFrame({"condition": CONDITION, "x": list("001101"), "y": list("010110")})


def read(table, interventions, **more):
    return read_data(table, ReadOptions(interventions=check_interventions(interventions)), **more)


def test_each_value_becomes_an_indicator_in_the_place_of_the_column():
    dataset = read(TABLE, {"condition": {"a": "x", "none": None}})
    assert dataset.names == ("condition[a]", "condition[b]", "x", "y")
    assert dataset.states[0] == ("no", "yes")
    assert dataset.columns[0].codes.tolist() == [value == "a" for value in CONDITION]
    assert dataset.columns[1].codes.tolist() == [value == "b" for value in CONDITION]
    assert dataset.notations["condition[b]"].state == "b"


@pytest.mark.parametrize("form", ["pandas", "polars", "pyarrow", "csv", "dataset"])
def test_every_form_of_table_is_read_alike(form, tmp_path):
    table = encode(TABLE) if form == "dataset" else as_form(TABLE, form, tmp_path)
    dataset = read(table, {"condition": {"none": None}})
    assert dataset.names == ("condition[a]", "condition[b]", "x", "y")
    assert dataset.codes.tolist() == read(TABLE, {"condition": {"none": None}}).codes.tolist()


def test_new_rows_need_not_have_all_values():
    interventions = {"condition": {"none": None}}
    whole = read(TABLE, interventions)
    schema = Schema(whole.names, whole.states)
    some = read(TABLE[:2], interventions, schema=schema)
    assert some.names == whole.names
    assert some.columns[1].codes.tolist() == [0, 0]


def test_numbers_are_values_as_well():
    table = TABLE.assign(condition=[1, 0, 2, 1, 2, 0])
    dataset = read(table, {"condition": {0: None, 1: ["x", "y"]}})
    assert dataset.names[:2] == ("condition[1]", "condition[2]")


def test_a_missing_value_is_missing_in_all_indicators():
    table = TABLE.assign(condition=[None, *CONDITION[1:]])
    with pytest.raises(kes.KesError) as caught:
        read(table, {"condition": {"none": None}})
    assert caught.value.option == "missing"
    assert caught.value.column == "condition[a]"


def test_known_targets_are_those_that_are_listed():
    own = check_interventions({"c": {"a": "x", "b": ["y", "x"], "none": None, "off": []}})
    assert known_targets(own) == {"c[a]": ("x",), "c[b]": ("x", "y")}


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_files(tmp_path, suffix):
    path = tmp_path / f"known.{suffix}"
    content = {
        "toml": '[condition]\na = "x"\nb = ["x", "y"]\nnone = []\n',
        "json": '{"condition": {"a": "x", "b": ["x", "y"], "none": null}}',
    }
    path.write_text(content[suffix])
    expected = {"condition": {"a": ("x",), "b": ("x", "y"), "none": None}}
    assert read_interventions(path) == expected


@pytest.mark.parametrize("content", ["[condition", "condition = 3", "x = {a = 3}"])
def test_bad_files_are_named(tmp_path, content):
    path = tmp_path / "known.toml"
    path.write_text(content)
    with pytest.raises(kes.KesError) as caught:
        read_interventions(path)
    assert caught.value.option == "interventions"
    assert caught.value.file == str(path)


@pytest.mark.parametrize(
    ("interventions", "column"),
    [
        (3, None),
        ({"condition": 3}, "condition"),
        ({"condition": {"a": 3}}, "condition"),
        ({3: {"a": "x"}}, None),
        ({"conditon": {"a": "x"}}, "conditon"),
        ({"condition": {"z": "x"}}, "condition"),
        ({"condition": {"a": "z"}}, "z"),
    ],
)
def test_what_cannot_be_used_is_named(interventions, column):
    with pytest.raises(kes.KesError) as caught:
        kes.learn(TABLE, interventions=interventions, runs=1)
    assert (caught.value.option, caught.value.column) == ("interventions", column)


def test_networks_read_raw_columns_of_experiments(tmp_path):
    rng = np.random.default_rng(0)
    condition = rng.choice(["a", "b", "none"], 300)
    x = rng.normal(size=300) + 2 * (condition == "a")
    table = pd.DataFrame({"condition": condition, "x": x, "y": x + rng.normal(size=300)})
    optima = kes.learn(table, interventions={"condition": {"a": "x", "none": None}}, runs=5)
    network = optima.best.fit(table)
    network.save(tmp_path / "network.json")
    for own in (network, kes.read_network(tmp_path / "network.json")):
        raw, coded = own.log_likelihood(table), own.log_likelihood(optima.problem.dataset)
        assert raw == pytest.approx(coded)


def test_a_measured_column_is_no_indicator(tmp_path):
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"dose": ["lo", "hi"] * 20, "dose[mg]": rng.normal(size=40)})
    table["r"] = rng.normal(size=40) + table["dose[mg]"]
    interventions = {"dose": {"lo": None}}
    dataset = read(table, interventions)
    assert dataset.names == ("dose[hi]", "dose[mg]", "r")
    assert set(dataset.notations) == {"dose[hi]"}
    again = read(table, interventions, schema=Schema(dataset.names, dataset.states))
    assert (again.names, again.notations) == (dataset.names, dataset.notations)
    optima = kes.learn(table, interventions=interventions, runs=2)
    assert optima.settings.knowledge.exogenous == ("dose[hi]",)
    optima.save(tmp_path / "r.kes.json.gz")
    assert len(kes.load(tmp_path / "r.kes.json.gz").extend(1, data=table).runs) == 3


def test_earlier_values_of_indicators_stay_what_they_are():
    interventions = {"c": {"n": None}}
    table = pd.DataFrame({"c": list("nab") * 10, "x": np.random.default_rng(0).normal(size=30)})
    dataset = read(kes.lagged(table), interventions)
    assert dataset.notations["c[a][t-1]"].state == "a"
    for more in ({}, {"schema": Schema(dataset.names, dataset.states)}):
        assert read(dataset, interventions, **more).notations == dataset.notations


def test_targets_may_be_an_array():
    found = check_interventions({"x1": {"1": np.array(["x0", "x0"]), "2": ""}})
    assert found == {"x1": {"1": ("x0",), "2": None}}


def test_an_optimum_explains_itself_after_experiments():
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"c": ["n", "a"] * 40, "x": rng.normal(size=80)})
    table["y"] = table["x"] + rng.normal(size=80)
    optima = kes.learn(table, interventions={"c": {"a": "x", "n": None}}, runs=2)
    assert str(optima.best.explain(table)) == str(optima.explain(0))
