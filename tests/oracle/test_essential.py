"""Essential graphs of the engine against those of all DAGs with up to five nodes."""

from itertools import combinations, product

import pytest

from kes import _core

from . import brute, engine

NODES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("n", NODES)
def test_essential_graph_of_every_dag(n):
    models = brute.models(n)
    for dag, model in models.number.items():
        assert engine.essential_graph(n, brute.arcs_of(dag)) == models.essential[model]


@pytest.mark.parametrize("n", NODES)
def test_extension_of_every_model_is_one_of_its_dags(n):
    models = brute.models(n)
    for model, essential in enumerate(models.essential):
        arcs = [(a, b) for a, b in _core.extension(n, essential)]
        assert arcs == sorted(arcs)
        assert models.number[brute.dag_from_arcs(n, arcs)] == model


@pytest.mark.parametrize("n", NODES)
def test_every_essential_graph_is_accepted(n):
    for essential in brute.models(n).essential:
        _core.check_essential(n, essential)


@pytest.mark.parametrize("n", [2, 3, 4])
def test_every_other_graph_is_refused(n):
    """All graphs in which a pair is not joined, joined by an arc, or by an undirected edge."""
    essential = {str(graph) for graph in brute.models(n).essential}
    accepted = 0
    for directed, undirected in mixed_graphs(n):
        try:
            _core.check_essential(n, (directed, undirected))
        except _core.CoreError:
            assert str((directed, undirected)) not in essential
        else:
            accepted += 1
    assert accepted == len(essential)


def mixed_graphs(n):
    pairs = list(combinations(range(n), 2))
    for kinds in product(("none", "forward", "backward", "undirected"), repeat=len(pairs)):
        joined = list(zip(pairs, kinds, strict=True))
        forward = [pair for pair, kind in joined if kind == "forward"]
        backward = [(b, a) for (a, b), kind in joined if kind == "backward"]
        yield sorted(forward + backward), [pair for pair, kind in joined if kind == "undirected"]


@pytest.mark.parametrize(
    "arcs", [[(0, 1), (1, 0)], [(0, 1), (1, 2), (2, 0)], [(0, 1), (1, 2), (2, 3), (3, 1)]]
)
def test_cycles_are_refused(arcs):
    with pytest.raises(_core.CoreError, match="cycle"):
        _core.essential_graph(4, arcs)


@pytest.mark.parametrize(
    "graph",
    [([(0, 4)], []), ([], [(0, 4)]), ([(1, 1)], []), ([(0, 1)], [(0, 1)]), ([(0, 1), (0, 1)], [])],
)
def test_malformed_graphs_are_refused(graph):
    with pytest.raises(_core.CoreError):
        _core.check_essential(4, graph)
