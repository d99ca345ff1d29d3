"""Positions of nodes and edges by Graphviz.

Graphviz takes long for many edges, and Python handles no interrupt while it works. So large graphs
are drawn in a separate process, ``python -m kes.drawing.graphviz``, which ends on Ctrl-C.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from itertools import pairwise

from kes.errors import not_installed

NODE_HEIGHT = 22.0
"""In points."""

_NODE_INCHES = round(NODE_HEIGHT / 72, 4)
_MAX_AT_ONCE = 150
"""Number of edges that are drawn in about a tenth of a second."""


@dataclass(frozen=True)
class Drawing:
    """A graph to be drawn; its nodes are numbers, as some characters are special in names.

    `rankdir` is "TB" for edges that point downwards, "LR" for edges to the right. `widths` are
    those of the nodes in inches, `edges` are pairs of nodes with their weights. The `extra` edges
    do not influence the positions of the nodes. `slices` are groups of nodes that come first, each
    in a layer of its own.
    """

    rankdir: str
    widths: list[float]
    edges: list[tuple[int, int, int]]
    extra: list[tuple[int, int]]
    slices: list[list[int]] = field(default_factory=list)

    def positions(self) -> tuple[list[str], list[str]]:
        """Return the positions of the nodes, and of the edges and the extra ones.

        Each is a text "x,y x,y ..." in points, with y upwards; "" if Graphviz gives none.
        """
        # A frozen application has no Python to start.
        if len(self.edges) > _MAX_AT_ONCE and sys.executable and not hasattr(sys, "frozen"):
            found = self._in_a_process()
            if found is not None:
                return found
        return self._drawn()

    def _between_slices(self) -> list[tuple[int, int]]:
        """Return edges that put each slice before the next, and all of them before the rest."""
        if not self.slices:
            return []
        early = {node for part in self.slices for node in part}
        rest = [node for node in range(len(self.widths)) if node not in early]
        found = [(a[0], b[0]) for a, b in pairwise(self.slices)]
        found += [(self.slices[-1][0], node) for node in rest]
        drawn = {(a, b) for a, b, _ in self.edges}
        return [pair for pair in found if pair not in drawn]

    def _in_a_process(self) -> tuple[list[str], list[str]] | None:
        """Return the positions; None if the process fails."""
        command = [sys.executable, "-P", "-m", "kes.drawing.graphviz"]
        content = json.dumps(asdict(self))
        # Kills the process on Ctrl-C.
        done = subprocess.run(command, input=content, capture_output=True, text=True, check=False)
        if done.returncode:
            return None
        nodes, edges = json.loads(done.stdout)
        return nodes, edges

    def _drawn(self) -> tuple[list[str], list[str]]:
        try:
            import pygraphviz
        except ImportError:
            raise not_installed("pygraphviz") from None
        drawing = pygraphviz.AGraph(directed=True, strict=False)
        drawing.graph_attr.update(rankdir=self.rankdir, nodesep=0.22, ranksep=0.36, splines="true")
        drawing.node_attr.update(shape="box", label="", fixedsize="true", height=_NODE_INCHES)
        drawing.edge_attr.update(dir="none")  # from border to border; we draw the arrowheads
        for node, width in enumerate(self.widths):
            drawing.add_node(str(node), width=width)
        for a, b, weight in self.edges:
            drawing.add_edge(str(a), str(b), weight=weight)
        for a, b in self._between_slices():
            drawing.add_edge(str(a), str(b), key="slices", weight=0, style="invis")
        for part in self.slices:
            drawing.add_subgraph([str(node) for node in part], rank="same")
        drawing.layout("dot")
        if self.extra:
            drawing.add_edges_from((str(a), str(b)) for a, b in self.extra)
            drawing.layout("nop2")  # keeps existing positions
        pairs = [*(edge[:2] for edge in self.edges), *self.extra]
        parts = (
            [drawing.get_node(str(node)) for node in range(len(self.widths))],
            [drawing.get_edge(str(a), str(b)) for a, b in pairs],
        )
        nodes, edges = ([part.attr["pos"] or "" for part in own] for own in parts)
        return nodes, edges


if __name__ == "__main__":
    json.dump(Drawing(**json.load(sys.stdin))._drawn(), sys.stdout)
