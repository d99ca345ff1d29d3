"""The score of a given model on given data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from kes import _core
from kes.data.core import core_errors, core_problem
from kes.data.encoding import encode
from kes.errors import KesError, listed
from kes.graph import EssentialGraph
from kes.settings import arcs_of, check_criterion

if TYPE_CHECKING:
    from kes.data.dataset import Data, Weights

_CACHE_MB = 16


def score(
    graph: EssentialGraph | Sequence[tuple[str, str]],
    data: Data,
    *,
    criterion: str = "bic",
    ess: float = 1.0,
    weights: Weights = None,
    missing: str = "error",
) -> float:
    """Score a model: the same number that a search would report for it.

    Parameters
    ----------
    graph : EssentialGraph or list of arcs (parent, child)
        The model. Arcs stand for a DAG over all columns of the data; all DAGs of a class have
        the same score.
    data, criterion, ess, weights, missing
        As in `kes.learn`. Columns that are not nodes of an essential graph do not count, but must
        be readable, too; a row that is dropped for a value missing there is dropped.

    Returns
    -------
    float
        Natural logarithm; higher is better.

    Raises
    ------
    KesError
        If the data lack a node of the graph, the arcs form a cycle, or an option is wrong.

    Examples
    --------
    >>> import kes
    >>> data = kes.datasets.alarm(rows=100)
    >>> kes.score([("HRBP", "HR")], data) > kes.score([], data)
    True
    """
    name, strength = check_criterion(criterion, ess)
    dataset = encode(data, weights=weights, missing=missing)
    if not isinstance(graph, EssentialGraph):
        graph = EssentialGraph.from_dag(dataset.names, arcs_of("graph", graph))
    lacking = set(graph.nodes).difference(dataset.names)
    if lacking:
        raise KesError(
            f"the data have no column for {listed(sorted(lacking))}; every node needs one"
        )
    # In the order of the columns, as a search has them, for the very same bits.
    chosen = set(graph.nodes)
    nodes = [column for column in dataset.names if column in chosen]
    problem = core_problem(dataset, name, strength, _CACHE_MB, nodes=nodes)
    with core_errors():
        return problem.score(_core.extension(len(nodes), graph.to_core(nodes)))
