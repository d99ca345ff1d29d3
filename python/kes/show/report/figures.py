"""The charts of the report, made by plotly; the page gives them the colours of its theme."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from kes.analysis.coverage import Coverage
from kes.analysis.landscape import Landscape
from kes.drawing.style import BLUE, ORANGE

if TYPE_CHECKING:
    from kes.results.optima import Optima

_LARGEST = 44.0
_SMALLEST = 6.0
_DASH = "6px,4px"
_MOST_MARKERS = 200
"""Runs that get a dot each: the dots of more would be one thick line."""


def figures(optima: Optima, found: Landscape, coverage: Coverage) -> dict[str, Any]:
    """Return the charts as plain data, by the id of the element they go to."""
    charts = {
        "landscape": _landscape(optima, found),
        "scores": _scores(optima, found),
        "accumulation": _accumulation(coverage),
        "best-so-far": _best_so_far(coverage, optima.ges.score),
    }
    return {name: _checked(traces, layout) for name, (traces, layout) in charts.items()}


def _checked(traces: list[dict[str, Any]], layout: dict[str, Any]) -> dict[str, Any]:
    """Have plotly check a chart; it refuses what it does not know."""
    import plotly.graph_objects as go

    go.Figure(traces, layout)
    return {"data": traces, "layout": layout}


def _landscape(optima: Optima, found: Landscape) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    hits = np.array([optimum.hits for optimum in found.optima])
    scores = np.array([optimum.score for optimum in found.optima])
    behind = np.argsort(-hits, kind="stable")  # small ones in front of large ones
    points = found.points.round(2)
    traces = [
        {
            "type": "scatter",
            "mode": "markers",
            "x": points[behind, 0].tolist(),
            "y": points[behind, 1].tolist(),
            "customdata": behind.tolist(),
            "text": [_told(optima, found, int(i)) for i in behind],
            "hovertemplate": "%{text}<extra></extra>",
            "showlegend": False,
            "marker": {
                "size": np.maximum(np.sqrt(hits / max(1, hits.max())) * _LARGEST, _SMALLEST)[behind]
                .round(1)
                .tolist(),
                "color": scores[behind].round(4).tolist(),
                "colorscale": "Viridis",
                # A few very bad optima would make all others look alike.
                "cmin": round(float(np.quantile(scores, 0.05)), 4),
                "cmax": round(float(scores.max()), 4),
                "opacity": 0.9,
                "line": {"width": 0.8},
                "colorbar": {
                    "title": {"text": "score", "side": "right"},
                    "thickness": 12,
                    "outlinewidth": 0,
                    "tickformat": ".1f",
                },
            },
        },
        _mark("GES", points[found.ges], "diamond", found.ges),
        _mark("best", points[0], "star", 0),
        _mark("selected", points[0], "circle-open", 0),
    ]
    axis = {"zeroline": False, "title": {"text": "distance in edges (SHD), projected"}}
    return traces, {
        "xaxis": axis,
        "yaxis": {"zeroline": False, "scaleanchor": "x"},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    }


def _mark(name: str, point: Any, symbol: str, index: int) -> dict[str, Any]:  # noqa: ANN401
    """Return a single point that stands out; clicks on it choose the optimum under it."""
    selected = name == "selected"
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [float(point[0])],
        "y": [float(point[1])],
        "customdata": [index],
        "hoverinfo": "skip" if selected else "name",
        "marker": {
            "symbol": symbol,
            "size": 24 if selected else 13,
            "color": ORANGE,
            "line": {"width": 3 if selected else 1.2},
        },
    }


def _told(optima: Optima, found: Landscape, index: int) -> str:
    one = found.optima[index]
    edges = sum(map(len, one.edges))
    return (
        f"<b>optima[{found.numbers[index]}]</b><br>{one.origin}<br>score {one.score:.4f}<br>"
        f"hit by {one.hits} of {len(optima.runs)} runs<br>"
        f"{edges} edges, {found.distances[0, index]} differ from the best"
    )


def _scores(optima: Optima, found: Landscape) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    order = np.argsort(-optima.run_scores, kind="stable")
    ends = optima.run_optima[order]
    shown = {number: i for i, number in enumerate(found.numbers)}
    scores = optima.run_scores[order].round(4).tolist()
    rank = list(range(1, len(scores) + 1))
    line = {
        "type": "scatter",
        "mode": "lines+markers" if len(rank) <= _MOST_MARKERS else "lines",
        "name": "runs",
        "x": rank,
        "y": scores,
        "customdata": [shown.get(int(end)) for end in ends],
        "text": [f"run {run}: optimum {end}" for run, end in zip(order, ends, strict=True)],
        "hovertemplate": "%{text}<br>score %{y:.4f}<extra></extra>",
        "line": {"color": BLUE, "width": 2.5},
        "marker": {"color": BLUE, "size": 6},
    }
    return [line, _level("GES", rank, optima.ges.score)], _axes("runs, best first", "score")


def _accumulation(coverage: Coverage) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    curve = coverage.accumulation()
    runs = list(curve["runs"])
    traces = [
        _line("models", runs, _rounded(curve["models"]), color=BLUE),
        _line("score levels", runs, _rounded(curve["levels"]), dash="2px,3px"),
    ]
    layout = _axes("runs", "found, on average")
    return traces, layout | {"yaxis": layout["yaxis"] | {"rangemode": "tozero"}}


def _best_so_far(coverage: Coverage, ges: float) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    curve = coverage.best_so_far()
    runs = list(curve["runs"])
    observed = _line("these runs, in order", runs, _rounded(curve["observed"]), color=BLUE)
    observed["line"]["shape"] = "hv"
    expected = _line("average over all orders", runs, _rounded(curve["expected"]), dash="2px,3px")
    return [observed, expected, _level("GES", runs, ges)], _axes("runs", "best score so far")


def _line(
    name: str, x: list[Any], y: list[Any], *, color: str | None = None, dash: str = "solid"
) -> dict[str, Any]:
    """Return a line; without a colour it has that of the text."""
    line: dict[str, Any] = {"width": 2, "dash": dash}
    if color:
        line["color"] = color
    return {
        "type": "scatter",
        "mode": "lines" if len(x) > 1 else "markers",
        "name": name,
        "x": x,
        "y": y,
        "line": line,
        "hovertemplate": "%{y}<extra>%{fullData.name}</extra>",
    }


def _level(name: str, x: list[Any], y: float) -> dict[str, Any]:
    ends = [x[0], x[-1]]
    return _line(name, ends, [round(y, 4)] * 2, color=ORANGE, dash=_DASH)


def _axes(x: str, y: str) -> dict[str, Any]:
    return {
        "xaxis": {"title": {"text": x}, "zeroline": False},
        "yaxis": {"title": {"text": y, "standoff": 12}, "zeroline": False, "tickformat": "~f"},
        "legend": {"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
    }


def _rounded(values: Any) -> list[float]:  # noqa: ANN401
    return [round(value, 4) for value in values]
