"""Display of results in notebooks: pictures if Graphviz is installed, plain tables otherwise."""

from dataclasses import dataclass
from html import escape

from kes.graph.pdag import graph_picture
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.results.summary import counted, html


@dataclass(frozen=True, repr=False)
class Inline:
    """A report, displayed by notebooks in a frame.

    The frame has its own origin and cannot access the notebook. It may run the script of the
    report, and save files on request.
    """

    page: str  # a complete HTML page
    height: int  # in pixels

    def __repr__(self) -> str:
        return "a report for notebooks; elsewhere, write it to a file: optima.report('report.html')"

    def _repr_html_(self) -> str:
        return (
            f'<iframe srcdoc="{escape(self.page)}" title="Report" '
            'sandbox="allow-scripts allow-downloads" allow="fullscreen" '
            f'style="width: 100%; height: {self.height}px; border: 1px solid #94a3b8"></iframe>'
        )


def optima_html(optima: Optima) -> str:
    """Return the summary of a result, and a picture of its best model."""
    picture = graph_picture(optima.best.mpdag)
    return html(optima) + ("" if picture is None else f"<p>The best network:</p>{picture}")


def optimum_html(optimum: Optimum) -> str:
    """Return the score, the origin and a picture of a model."""
    facts = [f"Optimum with score {optimum.score:.4f} ({optimum.origin})"]
    if optimum.hits:
        facts.append(f"found by {counted(optimum.hits, 'run')}, first by run {optimum.first_run}")
    if optimum.proven:
        facts.append("proven to be the highest score")
    elif not optimum.is_local_optimum:
        facts.append("a neighbour scores higher")
    return f"<p>{escape('; '.join(facts))}</p>{optimum.mpdag._repr_html_()}"
