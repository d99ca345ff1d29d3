"""``kes plot``: draw a network, or the results of the runs."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import click

from kes.cli import options
from kes.cli.console import say
from kes.cli.inputs import DataRequest, Model, beside, graph_of, open_model
from kes.errors import KesError
from kes.files import write_file
from kes.formats import write_graph
from kes.results.optima import Optima

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_PICTURES = (".svg", ".png", ".pdf")
_GRAPHS = (".dot", ".gv", ".graphml")
_OF = ("network", "scores", "coverage", "landscape")


@options.command(
    "plot",
    "Draw a network, or the landscape.",
    "kes plot a.kes.json.gz --out best.svg",
    "kes plot best.bif --out best.pdf",
    "kes plot a.kes.json.gz --of landscape --out landscape.png",
)
@options.model
@click.option(
    "--of",
    "what",
    type=click.Choice(_OF),
    default="network",
    show_default=True,
    help="What to draw: the network, or, of a result, the scores of all runs, the number of optima "
    "found, or a map of the optima.",
)
@options.file(
    "--out",
    "File to write: .svg, .png or .pdf; .dot or .graphml for other programs.",
    show_default="the name of MODEL, with .svg",
)
def plot(*, model: Path, data: str | None, optimum: int, what: str, out: Path | None) -> None:
    """Draw MODEL, a result, a network or a graph.

    Arrows are compelled directions; dashed lines are edges whose direction the data cannot
    determine. For a result, the width of an edge shows its evidence, or without the data the share
    of the runs that have it.
    """
    if out is None:
        out = beside(model, ".svg" if what == "network" else f"-{what}.svg")
    suffix = out.suffix.lower()
    known = _PICTURES + (_GRAPHS if what == "network" else ())
    if suffix not in known:
        raise click.UsageError(f"--out {out}: the suffix must be one of {', '.join(known)}.")
    is_drawn = what == "network" and suffix not in _GRAPHS
    found = open_model(model, DataRequest(data, quiet=True) if is_drawn else None)
    if suffix in _GRAPHS:
        write_graph(graph_of(found, optimum), out)
    else:
        write_file(out, _rendered(_drawn(found, optimum, what, model), suffix[1:]))
    say(f"Saved to {out}")


def _drawn(model: Model, optimum: int, what: str, path: Path) -> Axes:
    """Draw, and return the axes."""
    if what == "network":
        strength = None
        if isinstance(model, Optima):
            strength = model.edges() if model.problem is None else model.evidence()
        return graph_of(model, optimum).plot(strength)
    if not isinstance(model, Optima):
        raise KesError(f"--of {what} is for results of kes learn; {path} holds a single model")
    if what == "coverage":
        return model.plot_coverage()[0]
    return model.plot_scores() if what == "scores" else model.plot_landscape()


def _rendered(ax: Axes, form: str) -> bytes:
    """Return the figure as the bytes of a file, reproducibly."""
    from matplotlib import rc_context

    figure = ax.get_figure(root=True)
    assert figure is not None, "it was just drawn"
    content = io.BytesIO()
    undated = {"svg": {"Date": None}, "pdf": {"CreationDate": None}, "png": {}}[form]
    with rc_context({"svg.hashsalt": "kes"}):
        figure.savefig(content, format=form, bbox_inches="tight", dpi=150, metadata=undated)
    return content.getvalue()
