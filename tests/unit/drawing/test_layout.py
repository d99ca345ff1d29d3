"""Earlier values stand in columns of their own, left of the current ones."""

import pytest

import kes
from kes.drawing.layout import layout, time_slices

NODES = ["a", "b", "c", "a[t-1]", "b[t-1]", "c[t-1]", "a[t-2]", "b[t-2]", "c[t-2]"]
ARCS = [("a[t-1]", "a"), ("a[t-2]", "b"), ("b[t-1]", "b"), ("a", "b"), ("b", "c")]


def test_slices_are_found_by_name():
    assert time_slices(NODES) == [NODES[6:], NODES[3:6]]
    assert time_slices(["a", "a[t-1]x", "b[t-1]", "a[t-0]"]) == []  # none is of a node


def test_earlier_values_come_first_each_time_in_one_column():
    pytest.importorskip("pygraphviz")
    boxes = layout(NODES, ARCS).boxes
    columns = [{round(boxes[node].x) for node in part} for part in time_slices(NODES)]
    assert [len(column) for column in columns] == [1, 1]
    now = min(boxes[node].x for node in "abc")
    assert columns[0].pop() < columns[1].pop() < now


def test_exogenous_nodes_look_different():
    pytest.importorskip("pygraphviz")
    graph = kes.EssentialGraph.from_dag(["x", "y", "z"], [("x", "y"), ("y", "z")])
    known = kes.Mpdag(graph, kes.Knowledge(exogenous=["x"]))
    assert known._repr_html_().count("#e4e7eb") == 1
    assert "exogenous" in known._repr_html_()
    assert "#e4e7eb" not in graph._repr_html_()
