"""Layouts, pictures by matplotlib, and what notebooks show."""

import os
import re
import signal
import sys
import threading
import time
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pytest
from tests.clock import slowness

import kes
from kes import EssentialGraph
from kes.analysis.certainty import ERRORS
from kes.analysis.compare import Landscape, placed
from kes.analysis.support import consensus_layout
from kes.cli import run
from kes.drawing import graphviz, svg
from kes.drawing.layout import arrowhead, box_width, cut, label, layout, shared_layout
from kes.graph.pdag import graph_layout

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.patches import PathPatch, Polygon
from tests.unit.refused import refused


@pytest.fixture(scope="module")
def optima():
    return kes.learn(kes.datasets.alarm(rows=1000), k=0.5, runs=60, random_state=3)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


# --- layouts -------------------------------------------------------------------------------------


def dense(nodes, edges):
    """Return a random graph, and as many further edges as a tenth of these."""
    rng = np.random.default_rng(0)
    names = [f"v{i}" for i in range(nodes)]
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    chosen = [pairs[at] for at in rng.permutation(len(pairs))[: edges + edges // 10]]
    return names, chosen[:edges], chosen[edges:]


@pytest.mark.parametrize("executable", [sys.executable, "", "/bin/false"])
def test_a_large_graph_is_drawn_by_another_process_in_the_same_way(executable, monkeypatch):
    """Also where no other process can do it."""
    names, edges, extra = dense(40, graphviz._MAX_AT_ONCE + 1)
    with monkeypatch.context() as patch:
        patch.setattr(graphviz, "_MAX_AT_ONCE", len(edges))
        expected = layout(names, edges, extra=extra)
    monkeypatch.setattr(sys, "executable", executable)
    found = layout(names, edges, extra=extra)
    assert found.boxes == expected.boxes
    assert found.curves.keys() == expected.curves.keys() == {*edges, *extra}
    assert all(np.array_equal(found.curves[arc], expected.curves[arc]) for arc in found.curves)


@pytest.mark.skipif(os.name != "posix", reason="signals as of Unix")
def test_drawing_a_dense_graph_ends_on_an_interrupt():
    """Graphviz takes seconds for 600 edges among 60 nodes, and much longer for all 1770."""
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(1.0, interrupt)
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        layout(*dense(60, 1600)[:2])
    assert time.monotonic() - sent[0] < slowness()


def bezier(points, t):
    """Evaluate a piecewise cubic Bézier curve by Bernstein polynomials, at all t of each piece."""
    pieces = [points[i : i + 4] for i in range(0, len(points) - 1, 3)]
    basis = np.array([(1 - t) ** 3, 3 * t * (1 - t) ** 2, 3 * t**2 * (1 - t), t**3])
    return np.concatenate([basis.T @ piece for piece in pieces])


def hidden(place):
    """Return the nodes behind which an edge between others passes."""
    found = set()
    for (a, b), points in place.curves.items():
        on_curve = bezier(points, np.linspace(0, 1, 40))
        for name, box in place.boxes.items():
            away = np.abs(on_curve - [box.x, box.y]) - [box.width / 2, box.height / 2]
            if name not in (a, b) and (away < -1).all(axis=1).any():
                found.add((a, b, name))
    return found


def test_edges_touch_their_nodes_and_pass_behind_no_other():
    place = graph_layout(kes.datasets.alarm_network().graph)
    assert len(place.boxes) == 37
    assert len(place.curves) == 46
    assert not hidden(place)
    for (a, b), points in place.curves.items():
        for name, end in ((a, points[0]), (b, points[-1])):
            box = place.boxes[name]
            gap = np.abs(end - [box.x, box.y]) - [box.width / 2, box.height / 2]
            assert gap.max() == pytest.approx(0, abs=1.5)  # on the border


def test_nodes_are_apart_and_inside_the_picture():
    place = graph_layout(kes.datasets.alarm_network().graph)
    boxes = list(place.boxes.values())
    for i, one in enumerate(boxes):
        assert one.width / 2 <= one.x <= place.width - one.width / 2
        assert one.height / 2 <= one.y <= place.height - one.height / 2
        for other in boxes[:i]:
            across = abs(one.x - other.x) >= (one.width + other.width) / 2
            assert across or abs(one.y - other.y) >= (one.height + other.height) / 2


def test_layers_follow_the_arcs():
    place = layout("abc", [("a", "b"), ("b", "c"), ("a", "c")])
    assert place.boxes["a"].y < place.boxes["b"].y < place.boxes["c"].y


def test_wide_layers_are_turned_to_the_side():
    leaves = [f"leaf {i}" for i in range(40)]
    place = layout(["root", *leaves], [("root", leaf) for leaf in leaves])
    assert place.height > place.width / 2
    assert all(place.boxes[leaf].x > place.boxes["root"].x for leaf in leaves)
    assert not hidden(place)


def test_shared_layout_leads_rare_edges_around_the_nodes(optima):
    supports = {frozenset((row["x"], row["y"])): row["search_support"] for row in optima.edges()}
    place = shared_layout(optima.names, optima.names, supports, threshold=0.2)
    assert {frozenset(arc) for arc in place.curves} == set(supports)
    assert not hidden(place)
    frequent = {pair: support for pair, support in supports.items() if support >= 0.2}
    without = shared_layout(optima.names, optima.names, frequent, threshold=0.2)
    apart = {
        name: (place.boxes[name].x - box.x, place.boxes[name].y - box.y)
        for name, box in without.boxes.items()
    }
    assert np.ptp(list(apart.values()), axis=0) == pytest.approx([0, 0], abs=0.1)  # all alike


def test_curves_are_turned_for_the_opposite_direction():
    place = layout(["a", "b"], [("a", "b")])
    assert (place.curve("b", "a") == place.curve("a", "b")[::-1]).all()


@pytest.mark.parametrize("names", [[], ["a"], ["a", "b"]])
def test_graphs_without_edges(names):
    place = graph_layout(EssentialGraph(names))
    assert list(place.boxes) == names
    assert place.width > 0


def test_names_that_mean_something_to_graphviz():
    names = ["node", "a\\nb", "<b>", '"', "a:b", "", "graph{", "ünï 漢字", "%0"]
    place = layout(names, list(pairwise(names)))
    assert list(place.boxes) == names
    assert not hidden(place)


def test_labels_are_one_line_and_not_too_long():
    assert label("a\n b") == "a b"
    assert len(label("x" * 100)) == 26
    assert label("x" * 100).endswith("…")
    assert label("  ") == "(blank)"
    assert box_width("漢字漢字") > box_width("abcd") > box_width("llll")


def test_a_cut_curve_is_the_same_curve_and_ends_where_it_should():
    points = np.array([[0, 0], [10, 30], [40, 30], [60, 0], [70, -15], [90, -15], [100, 0]], float)
    rest = cut(points, 12)
    assert np.hypot(*(rest[-1] - points[-1])) == pytest.approx(12, abs=1e-3)
    fine = bezier(points, np.linspace(0, 1, 2000))
    for point in bezier(rest, np.linspace(0, 1, 50)):
        assert np.hypot(*(fine - point).T).min() < 0.1


def test_a_cut_takes_whole_pieces_where_they_are_short():
    points = np.array([[0, 0], [30, 0], [60, 0], [90, 0], [91, 0], [92, 0], [93, 0]], float)
    rest = cut(points, 13)
    assert len(rest) == 4
    assert rest[-1] == pytest.approx([80, 0], abs=0.01)


def test_a_curve_shorter_than_the_arrowhead_keeps_its_direction():
    points = np.array([[0, 0], [1, 0], [2, 0], [3, 0]], float)
    rest, (tip, left, right) = arrowhead(points, 10, 6)
    assert tip == pytest.approx([3, 0])
    assert rest[-1][0] < 0.1
    assert sorted([left[1], right[1]]) == pytest.approx([-3, 3])


# --- the map -------------------------------------------------------------------------------------


def test_points_of_a_plane_are_placed_exactly():
    # Classical scaling recovers any points from their distances, up to turning and mirroring.
    points = np.random.default_rng(0).normal(size=(12, 2))
    between = np.hypot(*(points[:, None] - points[None]).transpose(2, 0, 1))
    found = placed(between)
    again = np.hypot(*(found[:, None] - found[None]).transpose(2, 0, 1))
    assert again == pytest.approx(between, abs=1e-9)
    assert (found[0] >= 0).all()


def test_few_optima_are_placed_too():
    assert placed(np.zeros((1, 1), np.int64)).tolist() == [[0, 0]]
    two = placed(np.array([[0, 5], [5, 0]]))
    assert np.hypot(*(two[0] - two[1])) == pytest.approx(5)


def test_ges_is_on_the_map_whether_it_was_hit_or_not(optima):
    found = Landscape.of(optima)
    assert found.optima[found.ges].graph == optima.ges.graph
    part = Landscape.of(optima, max_optima=2)
    assert len(part.optima) == 3
    assert part.optima[part.ges].graph == optima.ges.graph
    assert part.distances[0, 1] == optima[0].graph.shd(optima[1].graph)


# --- pictures ------------------------------------------------------------------------------------


def test_scores_are_drawn_sorted_with_ges(optima):
    ax = optima.plot_scores()
    line = ax.lines[0].get_ydata()
    assert line.tolist() == sorted(optima.run_scores, reverse=True)
    assert set(ax.lines[1].get_ydata()) == {optima.ges.score}
    better = int((optima.run_scores > optima.ges.score + 1e-6).sum())
    assert f"{better} of 60 runs better" in ax.get_legend().get_texts()[1].get_text()


def test_all_draw_where_they_are_told(optima):
    _, (first, second) = plt.subplots(1, 2)
    assert optima.plot_scores(ax=first) is first
    assert optima.plot(ax=second, evidence=optima.evidence(tasks=0)) is second
    assert optima.plot_landscape(ax=first) is first
    assert optima.best.graph.plot(ax=second) is second
    assert optima.plot_coverage(ax=(first, second)) == (first, second)
    with refused(option="ax"):
        optima.plot_coverage(ax=first)


def test_coverage_ends_at_what_was_found(optima):
    left, right = optima.plot_coverage()
    assert left.lines[0].get_ydata()[-1] == pytest.approx(len(optima.of_runs))
    assert left.lines[1].get_ydata()[-1] == pytest.approx(optima.levels)
    assert right.lines[0].get_ydata()[-1] == optima.best_run.score
    assert right.lines[1].get_ydata()[-1] == pytest.approx(optima.best_run.score)


def test_landscape_shows_hits_as_area_and_scores_as_colour(optima):
    [dots] = optima.plot_landscape().collections
    found = Landscape.of(optima).optima
    hits = {optimum.score: optimum.hits for optimum in found}
    drawn = dict(zip(dots.get_array(), dots.get_sizes(), strict=True))
    assert set(drawn) == set(hits)
    for score, size in drawn.items():  # of all runs: one scale for all pictures
        assert size == pytest.approx(max(1400 * hits[score] / len(optima.runs), 14))


def lines_of(ax):
    return [p for p in ax.patches if isinstance(p, PathPatch) and not p.get_fill()]


def test_compelled_edges_have_arrowheads_and_reversible_ones_are_dashed(optima):
    graph = optima.best.graph
    ax = graph.plot()
    heads = [patch for patch in ax.patches if isinstance(patch, Polygon)]
    assert len(heads) == len(graph.directed)
    lines = lines_of(ax)
    assert len(lines) == len(graph.directed) + len(graph.undirected)
    dashed = [line for line in lines if line.get_linestyle() != "solid"]
    assert len(dashed) == len(graph.undirected) > 0


def test_width_shows_support(optima):
    edges = optima.edges()
    graph = optima.best.graph
    by_table = [line.get_linewidth() for line in lines_of(graph.plot(edges))]
    pairs = {frozenset((row["x"], row["y"])): row["search_support"] for row in edges}
    by_pairs = [line.get_linewidth() for line in lines_of(graph.plot(pairs))]
    assert by_table == by_pairs
    order = [*sorted(graph.directed), *sorted(tuple(sorted(pair)) for pair in graph.undirected)]
    supports = [pairs[frozenset(edge)] for edge in order]
    assert (
        np.argsort(by_table, kind="stable").tolist() == np.argsort(supports, kind="stable").tolist()
    )
    with refused("stability=", option="support", column="resampling_support"):
        graph.plot(edges, kind="resampling")
    with refused("did you mean 'search'", option="kind"):
        graph.plot(edges, kind="serch")


def test_the_picture_of_a_result_is_that_of_the_command(optima, tmp_path, monkeypatch):
    """The best network, with widths by evidence if the data are there."""
    evidence = optima.evidence()
    nats = {frozenset((row["x"], row["y"])): row["evidence"] for row in evidence}
    graph = optima.best.graph
    order = [*sorted(graph.directed), *sorted(tuple(sorted(pair)) for pair in graph.undirected)]
    expected = [0.6 + 2.2 * min(1, nats[frozenset(edge)] / 30) ** 0.5 for edge in order]
    ax = optima.plot()
    assert [line.get_linewidth() for line in lines_of(ax)] == pytest.approx(expected)
    assert ax.get_legend().get_texts()[0].get_text() == "compelled, width: evidence"
    drawn = []
    monkeypatch.setattr("kes.cli.plot._rendered", lambda ax, _: drawn.append(ax) or b"a picture")
    frame = optima.problem.dataset.to_pandas()
    frame.to_csv(tmp_path / "a.csv", index=False)
    path = tmp_path / "a.kes.json"
    learned = ["learn", str(tmp_path / "a.csv"), "--runs", "5", "--k", "0.3", "--out", str(path)]
    assert run(learned) == 0
    assert run(["plot", str(path), "--out", str(tmp_path / "a.svg")]) == 0
    loaded = kes.learn(tmp_path / "a.csv", runs=5, k=0.3)
    for ours, theirs in zip(lines_of(loaded.plot()), lines_of(drawn[0]), strict=True):
        assert ours.get_linewidth() == pytest.approx(theirs.get_linewidth())


def test_a_consensus_by_evidence_has_what_is_likely_and_clear(optima):
    evidence = optima.evidence()
    found = optima.consensus(evidence=evidence)
    likely = {frozenset((r["x"], r["y"])): r for r in evidence if r["evidence"] >= 3}
    assert found.supports == {pair: row["evidence"] for pair, row in likely.items()}
    clear = {
        (row["x"], row["y"]) if row["direction"] > 0 else (row["y"], row["x"])
        for row in likely.values()
        if row["evidence"] >= 10 and abs(row["direction"]) >= 10
        if abs(row["direction"]) >= ERRORS * row["direction_error"] and not row["disputed"]
    }
    assert found.directed == clear
    assert repr(found).endswith("with evidence of at least 3 nats)")
    assert len(lines_of(found.plot())) == len(likely)
    assert len(optima.consensus(50, evidence=evidence).supports) < len(likely)
    with refused(option="evidence"):
        optima.consensus(evidence=optima.edges())


def test_consensus_may_have_cycles(optima):
    graph = optima.consensus(0.3)
    assert len(lines_of(graph.plot())) == len(graph.supports)
    assert len(consensus_layout(graph).curves) == len(graph.supports)


def test_dollar_signs_are_no_mathematics():
    EssentialGraph(["$x$", "a_b"]).plot().figure.canvas.draw()


# --- notebooks -----------------------------------------------------------------------------------

NASTY = "<script>alert(1)</script>"


def test_notebooks_show_pictures_with_harmless_names(optima):
    graph = EssentialGraph.from_dag([NASTY, "b", "c"], [(NASTY, "b"), ("c", "b")])
    shown = graph._repr_html_()
    assert "<script" not in shown
    assert "&lt;script&gt;" in shown
    assert shown.count("<polygon") == 2
    assert "2 compelled" in shown
    network = kes.fit([("x0", "x1")], np.array([[0, 0], [1, 1]]))
    assert "<svg" in network._repr_html_()
    assert "<svg" in optima._repr_html_()
    assert "best score" in optima._repr_html_()


def test_notebooks_show_tables_without_graphviz(optima, monkeypatch):
    monkeypatch.setattr(svg, "find_spec", lambda name: None)
    graph = EssentialGraph.from_dag(["a", "b", "c", "d"], [("a", "b"), ("c", "b"), ("c", "d")])
    shown = graph._repr_html_()
    assert "<svg" not in shown
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", shown)
    assert cells == ["a", "-&gt;", "b", "c", "-&gt;", "b", "c", "-", "d"]
    assert "<table" in optima._repr_html_()


@pytest.mark.parametrize(
    ("package", "draw"),
    [
        # Layouts are kept, so this graph must be one that no other test draws.
        ("pygraphviz", lambda _: kes.EssentialGraph(["undrawn", "before"]).plot()),
        ("matplotlib", lambda optima: optima.plot()),
    ],
)
def test_missing_packages_are_named(optima, monkeypatch, package, draw):
    loaded = [name for name in sys.modules if name.split(".")[0] == package]
    for name in {package, *loaded}:
        monkeypatch.setitem(sys.modules, name, None)
    with refused(f"pip install {package}"):
        draw(optima)
