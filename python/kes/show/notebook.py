"""What notebooks show of a result: pictures where Graphviz is at hand, plain tables otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape

from kes.graph.pdag import graph_picture
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.results.summary import counted, html


@dataclass(frozen=True, repr=False)
class Inline:
    """A report inside another page.

    The frame has an origin of its own, from which neither the notebook nor anything else can be
    reached; it may run the report's script and save files that the reader asks for.

    Attributes
    ----------
    page : str
        The report, a whole HTML page.
    height : int
        Height of the frame in pixels.
    """

    page: str
    height: int

    def __repr__(self) -> str:
        return "a report, which notebooks show; elsewhere, write it: optima.report('report.html')"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="Report" '
            'sandbox="allow-scripts allow-downloads" allow="fullscreen" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #94a3b8"></iframe>'
        )


def optima_html(optima: Optima) -> str:
    """Return the summary of a result, and the picture of its best model."""
    picture = graph_picture(optima.best.mpdag)
    if picture is None:
        return html(optima)
    return f"{html(optima)}<p>The best network:</p>{picture}"


def optimum_html(optimum: Optimum) -> str:
    """Return where a model comes from and what it scores, and its picture."""
    facts = [f"Optimum with score {optimum.score:.4f} ({optimum.origin})"]
    if optimum.hits:
        facts.append(f"found by {counted(optimum.hits, 'run')}, first by run {optimum.first_run}")
    if optimum.proven:
        facts.append("proven to be the highest there is")
    elif not optimum.is_local_optimum:
        facts.append("a neighbour scores higher")
    return f"<p>{escape('; '.join(facts))}</p>{optimum.mpdag._repr_html_()}"
