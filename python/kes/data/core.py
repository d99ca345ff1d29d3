"""Calls into the Rust core, with its complaints turned into ours."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from kes import _core
from kes.errors import KesError, listed

if TYPE_CHECKING:
    from kes.data.dataset import Dataset


@contextmanager
def core_errors() -> Iterator[None]:
    """Turn what the core has to say to the user into a `KesError`."""
    try:
        yield
    except _core.CoreError as error:
        raise KesError(str(error)) from error


def core_problem(
    dataset: Dataset,
    criterion: str,
    ess: float | None,
    cache_mb: int,
    *,
    nodes: Sequence[str] | None = None,
) -> _core.Problem:
    """Hand a table over to the core: all columns, or those of some nodes, in their order.

    Raises
    ------
    KesError
        If the data lack a node, or are too large for the core.
    """
    if nodes is not None:
        _check_nodes(dataset, nodes)
        dataset = dataset.select(nodes)
    strength = 1.0 if ess is None else ess
    with core_errors():
        return _core.Problem(
            dataset.codes, dataset.cardinalities, dataset.weights, criterion, strength, cache_mb
        )


def _check_nodes(dataset: Dataset, nodes: Sequence[str]) -> None:
    lacking = [node for node in nodes if node not in set(dataset.names)]
    if lacking:
        raise KesError(
            f"the data have no column for {listed(lacking)}; every node of the graph needs one"
        )
