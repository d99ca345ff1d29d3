"""The engine's inclusion boundary against the definition, on all models with up to five nodes."""

from math import inf

import numpy as np
import pytest

import kes
from kes import _core

from . import brute, engine
from .scores import DirectScore

NODES = (1, 2, 3, 4, 5)


@pytest.mark.parametrize("n", NODES)
def test_boundary_of_every_model(n):
    """The same triples as the definition, each once, deletions first and pairs in order."""
    models = brute.models(n)
    for essential, reached in zip(models.essential, models.boundary, strict=True):
        found = engine.boundary(n, essential)
        assert sorted(found) == sorted(reached)
        assert [triple[:3] for triple in found] == sorted(triple[:3] for triple in reached)


@pytest.mark.parametrize("n", NODES)
def test_every_triple_leads_to_its_model(n):
    """With the test above: the boundary as a set of models, none twice."""
    models = brute.models(n)
    for essential, reached in zip(models.essential, models.boundary, strict=True):
        for triple, (neighbour,) in reached.items():
            assert engine.apply(n, essential, triple) == models.essential[neighbour]


@pytest.mark.parametrize("n", NODES[:4])
def test_boundary_as_users_see_it(n):
    """`kes.inclusion_boundary`: the named triples, and the essential graph of each neighbour."""
    models = brute.models(n)
    names = "wxyz"[:n]
    graphs = [named_graph(names, essential) for essential in models.essential]
    for graph, reached in zip(graphs, models.boundary, strict=True):
        expected = {
            (
                "insert" if insertion else "delete",
                names[x],
                names[y],
                named(names, given),
            ): neighbour
            for (insertion, x, y, given), (neighbour,) in reached.items()
        }
        found = kes.inclusion_boundary(graph)
        assert len(found) == len(expected)
        for one in found:
            assert one.graph == graphs[expected[one.kind, one.x, one.y, one.given]]
            assert one.delta is None


def named(names, nodes):
    return frozenset(names[i] for i in nodes)


def named_graph(names, essential):
    directed, undirected = essential
    return kes.EssentialGraph(
        names,
        [(names[a], names[b]) for a, b in directed],
        [named(names, edge) for edge in undirected],
    )


@pytest.mark.parametrize("n", [2, 3, 4])
def test_triples_outside_the_boundary_are_refused(n):
    models = brute.models(n)
    triples = [
        (insertion, x, y, brute.members(given))
        for x, y, given in brute.statements(n)
        for insertion in (False, True)
    ]
    for essential, reached in zip(models.essential, models.boundary, strict=True):
        for triple in triples:
            if triple not in reached:
                with pytest.raises(_core.CoreError):
                    engine.apply(n, essential, triple)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("limit", [0, 1, 2, 3, 4])
def test_limit_on_parents_gives_the_boundary_within_the_limit(n, limit):
    """Of a model within the limit exactly those neighbours remain that are within it, too."""
    models = brute.models(n)
    degree = [brute.max_in_degree(dags[0]) for dags in models.classes]
    for m, (essential, reached) in enumerate(zip(models.essential, models.boundary, strict=True)):
        if degree[m] <= limit:
            within = [t for t, (neighbour,) in reached.items() if degree[neighbour] <= limit]
            assert sorted(engine.boundary(n, essential, limit)) == sorted(within)


@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("limit", [None, 1, 2])
@pytest.mark.parametrize("criterion", ["bic", "aic", "bdeu"])
def test_local_optima_are_the_models_no_neighbour_improves(n, limit, criterion):
    rng = np.random.default_rng(n)
    codes = rng.integers(0, 2, (n, 30))
    codes[1] |= codes[0]
    codes[-1] &= codes[0] ^ codes[1]
    problem = engine.problem(codes, [2] * n, criterion=criterion)
    direct = DirectScore(codes, [2] * n, criterion=criterion)
    models = brute.models(n)
    score = [direct.of(dags[0]) for dags in models.classes]
    degree = [brute.max_in_degree(dags[0]) for dags in models.classes]
    found = set()
    for m, reached in enumerate(models.boundary):
        if degree[m] > (inf if limit is None else limit):
            continue
        admissible = [
            neighbour
            for (insertion, _, _, given), (neighbour,) in reached.items()
            if limit is None or not insertion or len(given) < limit
        ]
        optimal = all(score[neighbour] <= score[m] + 1e-9 for neighbour in admissible)
        assert problem.is_local_optimum(models.essential[m], limit) == optimal
        found.add(optimal)
    assert found == {False, True}  # both answers occurred
