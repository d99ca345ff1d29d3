"""Data of the benchmarks: samples of published networks, and real tables."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np

import kes
from kes.network import GaussianNetwork, Linear

SHARED = Path(__file__).parents[1] / "../shared/data"
"""Stored samples and the data of CoIL, which may not be distributed."""

MODELS = Path(find_spec("pgmpy").origin).parent / "utils/example_models"
"""The published networks, which pgmpy includes."""


@dataclass(frozen=True)
class Sample:
    """A table, the class of its generating network, and new cases, if any."""

    data: kes.Dataset
    truth: kes.EssentialGraph | None = None
    new: kes.Dataset | None = None


Draw = Callable[[int], Sample]
"""Draw a sample, given its number."""


def file_of(name: str, folder: Path = MODELS) -> Path:
    """Return the file of a published network, in a folder of BIF files or else in pgmpy."""
    endings = ("bif", "bif.gz")
    paths = (place / f"{name}.{ending}" for place in (folder, MODELS) for ending in endings)
    if (found := next((path for path in paths if path.exists()), None)) is not None:
        return found
    raise SystemExit(f"neither {folder} nor pgmpy has {name}.bif or {name}.bif.gz")


def network(name: str, folder: Path = MODELS) -> kes.BayesianNetwork:
    """Return a published network, from a folder of BIF files or else from pgmpy."""
    return kes.read_network(file_of(name, folder))


def linear(parents: Mapping[str, Sequence[str]], seed: int) -> GaussianNetwork:
    """Return a linear Gaussian network with a structure and random coefficients."""
    rng = np.random.default_rng(seed)
    models = {}
    for node, above in parents.items():
        slopes = rng.choice([-1, 1], len(above)) * rng.uniform(0.3, 1, len(above))
        models[node] = Linear(0.0, slopes, deviation=1.0)
    return GaussianNetwork(list(parents), parents, models)


def coil() -> kes.Dataset:
    return kes.datasets.coil(SHARED / "coil/ticdata2000.csv.gz")


def prepared(data: kes.Dataset, seed: int | None) -> kes.Dataset:
    """Return what the searches get: columns shuffled, without constants and states not in use.

    Some peers refuse constant columns, and most know only states that occur. Without a seed the
    columns stay in their order.
    """
    order = np.arange(len(data.names))
    if seed is not None:
        order = np.random.default_rng(1000 + seed).permutation(order)
    names, columns = [], []
    for v in order:
        values, codes = np.unique(data.codes[v], return_inverse=True)
        if len(values) > 1:
            names.append(data.names[v])
            columns.append(codes)
    codes = np.ascontiguousarray(columns, dtype=np.int32)
    states = tuple(tuple(range(column.max() + 1)) for column in columns)
    return kes.Dataset(names=tuple(names), states=states, codes=codes)
