"""Exogenous variables as part of knowledge: what is said of them, and what contradicts it."""

import numpy as np
import pandas as pd
import pytest

import kes


def test_targets_make_a_variable_exogenous():
    known = kes.Knowledge(exogenous=["batch"], targets={"drug": ["y"]})
    assert known.exogenous == ("batch", "drug")
    assert known.targets == (("drug", ("y",)),)
    assert known == kes.Knowledge(exogenous=["drug", "batch"], targets=[("drug", ["y"])])
    assert known.counts == "2 exogenous variables, 1 exogenous variable with known targets"
    assert known.variables == ("batch", "drug", "y")
    assert known.constrains


def test_part_of_it_is_about_some_variables():
    known = kes.Knowledge(exogenous=["batch"], targets={"drug": ["y", "z"]})
    assert known.among(["drug", "y", "w"]) == kes.Knowledge(targets={"drug": ["y"]})
    assert known.among(["y", "z"]) == kes.Knowledge()


@pytest.mark.parametrize("suffix", ["toml", "json"])
def test_files_keep_it(tmp_path, suffix):
    known = kes.Knowledge(exogenous=["batch"], targets={"drug": ["y", "z"], "none": []})
    path = tmp_path / f"known.{suffix}"
    known.save(path)
    assert kes.Knowledge.read(path) == known


def test_toml_may_have_a_table_of_targets(tmp_path):
    path = tmp_path / "known.toml"
    path.write_text('[targets]\ndrug = ["y"]\nknife = "z"\n')
    assert kes.Knowledge.read(path) == kes.Knowledge(targets={"drug": ["y"], "knife": ["z"]})


@pytest.mark.parametrize(
    ("parts", "option", "column"),
    [
        ({"exogenous": ["a"], "tiers": [["a"], ["b"]]}, "tiers", "a"),
        ({"exogenous": ["a"], "roots": ["a"]}, "roots", "a"),
        ({"exogenous": ["a", "b"], "required": [("a", "b")]}, "required", "a"),
        ({"exogenous": ["a", "b"], "forbidden": [("b", "a")]}, "forbidden", "b"),
        ({"exogenous": ["a", "b"], "apart": [("b", "a")]}, "apart", "a"),
        ({"exogenous": ["a", "b"], "likely": {("a", "b"): 1.0}}, "likely", "a"),
        ({"exogenous": ["a", "b"], "targets": {"a": ["b"]}}, "targets", "a"),
        ({"exogenous": ["a"], "required": [("b", "a")]}, "required", None),
        ({"targets": {"a": ["b"]}, "required": [("a", "c")]}, "required", None),
        ({"targets": [("a", ["b"]), ("a", ["c"])]}, "targets", "a"),
        ({"targets": {"a": 3}}, "targets", None),
        ({"targets": "ab"}, "targets", None),
        ({"exogenous": "ab"}, "exogenous", None),
    ],
)
def test_what_contradicts_it_is_refused(parts, option, column):
    with pytest.raises(kes.KesError) as caught:
        kes.Knowledge(**parts)
    assert (caught.value.option, caught.value.column) == (option, column)


def test_unknown_variables_are_named():
    with pytest.raises(kes.KesError) as caught:
        kes.Knowledge(targets={"a": ["bee"]}).checked(["a", "be"])
    assert (caught.value.option, caught.value.column) == ("targets", "bee")


def test_a_block_of_dozens_costs_no_more_than_its_arcs():
    """60 copies of one column: with arcs among them, or their families scored, nothing would end.

    The score is that of the modelled variables alone: all of the block determines each other.
    """
    rng = np.random.default_rng(0)
    cause = rng.integers(0, 2, 500)
    table = {f"x{i:02}": cause for i in range(60)}
    table["y"] = np.where(rng.random(500) < 0.9, cause, 1 - cause)
    table["z"] = np.where(rng.random(500) < 0.9, table["y"], 1 - table["y"])
    block = [name for name in table if name.startswith("x")]
    known = kes.Knowledge(exogenous=block)
    optima = kes.learn(pd.DataFrame(table), knowledge=known, runs=20, improve=50, edge_prior=0)
    best = optima.best
    assert len(best.graph.skeleton) == 2
    assert {child for _, child in best.mpdag.directed} == {"y", "z"}
    alone = kes.score([("x00", "y"), ("y", "z")], pd.DataFrame(table)[["x00", "y", "z"]])
    alone -= kes.score([], pd.DataFrame(table)[["x00"]])
    assert best.score == pytest.approx(alone)
