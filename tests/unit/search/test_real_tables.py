"""Tables that come with scikit-learn and statsmodels, as raw files: a network or a useful error."""

from __future__ import annotations

import math

import pytest

import kes
from kes.cli import run

sklearn = pytest.importorskip("sklearn.datasets", reason="has the tables")

TABLES = ["iris", "wine", "diabetes", "breast_cancer", "linnerud"]


@pytest.fixture(params=TABLES)
def path(request, tmp_path):
    """A file of one of the tables, as people save it."""
    loaded = getattr(sklearn, f"load_{request.param}")(as_frame=True)
    path = tmp_path / f"{request.param}.csv"
    loaded.frame.to_csv(path, index=False)
    return path


def test_a_raw_file_gives_a_network(path):
    optima = kes.learn(path, runs=3, improve=False)
    assert all(math.isfinite(optimum.score) for optimum in optima)
    joined = {node for edge in optima.best.graph.skeleton for node in edge}
    # The summary lists isolated variables, with a reason where there is one.
    for name in set(optima.names) - joined:
        assert repr(name) in str(optima)


def test_known_relations_are_found():
    """Petal length and width of irises, and body measures of diabetics, go together."""
    iris = sklearn.load_iris(as_frame=True).frame
    optima = kes.learn(iris, runs=5)
    assert optima.kind == "mixed"
    edges = optima.best.graph.skeleton
    assert frozenset({"petal length (cm)", "petal width (cm)"}) in edges
    target = {node for edge in edges if "target" in edge for node in edge} - {"target"}
    assert target & {"petal length (cm)", "petal width (cm)"}


def test_small_numbers_that_are_states_name_the_option(tmp_path, capsys):
    """Twenty men, whose pulses have twelve values: states by the rules, which cannot be right."""
    path = tmp_path / "linnerud.csv"
    sklearn.load_linnerud(as_frame=True).frame.to_csv(path, index=False)
    assert run(["learn", str(path), "--runs", "3"]) == 0
    told = capsys.readouterr().err
    assert "many states for the cases with a value" in told
    columns = "Chins,Situps,Jumps,Weight,Waist,Pulse"
    assert "--continuous Chins,Pulse" in told
    assert run(["learn", str(path), "--runs", "3", "--continuous", columns]) == 0
    assert "Gaussian BIC" in capsys.readouterr().out


def test_every_offending_column_is_named(tmp_path, capsys):
    datasets = pytest.importorskip("statsmodels.datasets", reason="has the table")
    path = tmp_path / "fertility.csv"
    datasets.fertility.load_pandas().data.to_csv(path, index=False)
    assert run(["learn", str(path)]) == 2
    told = capsys.readouterr().err
    assert "without a single value: '2012', '2013'" in told
    assert "--drop 2012,2013" in told
    assert "of 219 rows)" in told
    assert run(["learn", str(path), "--drop", "2012,2013", "--missing", "drop", "--runs", "3"]) == 0
    told = capsys.readouterr().err
    assert "left out: 'Country Name', 'Country Code' (every value differs" in told
    assert "constant, so isolated in every model: 'Indicator Name', 'Indicator Code'" in told
