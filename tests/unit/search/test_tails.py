"""Ranks by default where heavy tails would relate independent columns."""

import math

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import kes
from kes.data.encoder import read_data
from kes.data.schema import ReadOptions
from kes.search.tails import HEAVY, mean_excess_kurtosis

SHORT = {"k": 1.0, "runs": 1, "improve": False, "prove": False}


def noise(tail: str, rows: int, columns: int, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    values = (
        rng.lognormal(size=(rows, columns)) if tail == "heavy" else rng.normal(size=(rows, columns))
    )
    return pd.DataFrame(values, columns=[f"v{i}" for i in range(columns)])


def test_the_kurtosis_is_that_of_scipy_with_gaps_and_weights() -> None:
    table = noise("heavy", 50, 4)
    expected = stats.kurtosis(table.to_numpy(), axis=0).mean()
    assert mean_excess_kurtosis(read_data(table, ReadOptions())) == pytest.approx(expected)
    twice = read_data(table, ReadOptions(), weights=np.full(50, 2.0))
    assert mean_excess_kurtosis(twice) == pytest.approx(expected)
    holes = table.mask(np.random.default_rng(1).random(table.shape) < 0.2)
    read = read_data(holes, ReadOptions(missing="em"))
    known = stats.kurtosis(holes.to_numpy(), axis=0, nan_policy="omit").mean()
    assert mean_excess_kurtosis(read) == pytest.approx(known)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("unit", [1e306, 1e-300])
def test_the_kurtosis_does_not_depend_on_the_unit(unit) -> None:
    table = noise("heavy", 50, 4)
    table /= table.to_numpy().max()
    expected = stats.kurtosis(table.to_numpy(), axis=0).mean()
    scaled = read_data(table * unit * 100, ReadOptions())
    assert mean_excess_kurtosis(scaled) == pytest.approx(expected)


def test_heavy_tails_of_wide_noise_give_hardly_an_edge() -> None:
    """The price allows about 0.005 per variable; the values give many times that."""
    tables = [noise("heavy", 72, 100, seed) for seed in range(5)]
    edges = [len(kes.learn(table, **SHORT).best.graph.skeleton) for table in tables]
    raw = [len(kes.learn(table, transform="none", **SHORT).best.graph.skeleton) for table in tables]
    assert sum(edges) / 500 < 0.02 < 0.1 < sum(raw) / 500


def test_the_choice_is_stated_and_can_be_changed() -> None:
    table = noise("heavy", 72, 30)
    optima = kes.learn(table, **SHORT)
    assert optima.settings.transform == "ranks"
    assert any("transform" in note and "tails" in note for note in optima.notes)
    assert "tails" in str(optima)
    asked = kes.learn(table, transform="ranks", **SHORT)
    assert [one.score for one in asked] == [one.score for one in optima]
    plain = kes.learn(table, transform="none", **SHORT)
    assert plain.settings.transform is None
    assert not any("tails" in note for note in plain.notes)


@pytest.mark.parametrize(
    ("tail", "rows", "columns"), [("heavy", 2000, 8), ("normal", 72, 100), ("normal", 2000, 8)]
)
def test_ordinary_tables_and_ordinary_tails_keep_their_values(
    tail: str, rows: int, columns: int
) -> None:
    table = noise(tail, rows, columns)
    default, plain = kes.learn(table, **SHORT), kes.learn(table, transform="none", **SHORT)
    assert default.settings == plain.settings
    assert default.best.score == plain.best.score


def test_a_result_is_resumed_by_the_same_choice(tmp_path) -> None:
    table = noise("heavy", 72, 30)
    path = tmp_path / "result.kes.json"
    kes.learn(table, out=path, **SHORT)
    again = kes.learn(table, out=path, **(SHORT | {"runs": 2}))
    assert again.settings.transform == "ranks"
    assert mean_excess_kurtosis(read_data(table, ReadOptions())) > HEAVY * math.sqrt(72)
