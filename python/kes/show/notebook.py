"""What notebooks show of a result: pictures where Graphviz is at hand, plain tables otherwise."""

from __future__ import annotations

from kes.graph.pictures import graph_picture
from kes.results.optima import Optima
from kes.results.summary import html


def optima_html(optima: Optima) -> str:
    """Return the summary of a result, and the picture of its best model."""
    picture = graph_picture(optima.best.mpdag)
    if picture is None:
        return html(optima)
    return f"{html(optima)}<p>The best network:</p>{picture}"
