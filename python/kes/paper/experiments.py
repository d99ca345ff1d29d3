"""The experiments with runs: Table 1, Figure 1, sample sizes, and the sampled neighbourhood.

Table 1 shows how often runs end above and below GES; with BIC as printed, and with BDeu.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from kes.paper.document import COLOURS, DASHES, Shown, panels, table
from kes.paper.runner import CASES, DATABASES, Cell, Cost, Outcome, Sample

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

KS = (0.0, 0.4, 0.8, 1.0)
LN10 = math.log(10)
"""The paper's scores are logarithms to the base 10."""


@dataclass(frozen=True)
class Printed:
    """A row of the paper's Table 1; counts as (runs, distinct models)."""

    best: int
    above: tuple[int, int] | None = None
    below: tuple[int, int] | None = None


# Where no run is above or below, the paper prints a plain 0.
PRINTED = {
    "alarm": (
        Printed(-95207, (0, 0), (1000, 1000)),
        Printed(-94288, (0, 0), (918, 477)),
        Printed(-94288, (0, 0), (565, 69)),
        Printed(-94288),
    ),
    "trap": (
        Printed(-227932, (1000, 840), (0, 0)),
        Printed(-227955, (857, 343), (88, 3)),
        Printed(-227977, (275, 39), (276, 3)),
        Printed(-227999),
    ),
    "all": (
        Printed(-130154, (0, 0), (1000, 1000)),
        Printed(-126856, (222, 222), (774, 774)),
        Printed(-126873, (656, 606), (324, 316)),
        Printed(-127010),
    ),
    "aml": (
        Printed(-74503, (0, 0), (1000, 1000)),
        Printed(-73956, (32, 32), (968, 968)),
        Printed(-73952, (227, 131), (719, 524)),
        Printed(-73998),
    ),
    "coil": (
        Printed(-10964, (11, 11), (989, 983)),
        Printed(-10964, (114, 43), (879, 674)),
        Printed(-10967, (221, 19), (740, 126)),
        Printed(-10969),
    ),
}


def table1_cells(criterion: str, runs: int) -> list[Cell]:
    """Return the cells of five databases and four values of k under one criterion."""
    return [Cell(Sample(database), k, runs, criterion) for database in DATABASES for k in KS]


def table1(outcomes: Mapping[Cell, Outcome]) -> Shown:
    """Write the table; for BIC, beside the printed values."""
    total = sum((outcome.cost for outcome in outcomes.values()), Cost())
    cost = (
        f"Best in log10 units; in parentheses distinct models. "
        f"The {total.runs} runs took {total.wall:.0f} s ({total.cpu:.0f} s of processor time)."
    )
    header = ["Data", "k", "Best", ">GES", "<GES"]
    if any(cell.criterion == "bic" for cell in outcomes):
        header = ["Data", "k", "Best", "paper", ">GES", "paper", "<GES", "paper"]
    text = table(header, [_table1_row(*entry) for entry in outcomes.items()])
    values = {
        f"{cell.sample.database} k={cell.k:g}": outcome.values()
        | {"best log10": outcome.best / LN10, "ges log10": outcome.ges / LN10}
        for cell, outcome in outcomes.items()
    }
    return f"{text}\n\n{cost}", values, {}


def _table1_row(cell: Cell, outcome: Outcome) -> list[Any]:
    best = f"{outcome.best / LN10:.1f}"
    above = _counted((outcome.above, outcome.models_above))
    below = _counted((outcome.below, outcome.models_below))
    if cell.k == 1.0:
        above = below = "—"
    ours = [DATABASES[cell.sample.database] if cell.k == 0 else "", f"{cell.k:g}"]
    if cell.criterion != "bic":
        return [*ours, best, above, below]
    printed = PRINTED[cell.sample.database][KS.index(cell.k)]
    return [
        *(*ours, best, printed.best),
        *(above, _counted(printed.above), below, _counted(printed.below)),
    ]


def _counted(found: tuple[int, int] | None) -> str:
    """Return a number of runs, with the number of distinct models in parentheses."""
    if found is None:
        return "—"
    return f"{found[0]} ({found[1]})" if found[0] else "0"


FIGURE1_KS = (0.0, 0.005, 0.02, 0.1, 0.4, 0.8, 1.0)
CLOSE_UP = (0.4, 0.8, 1.0)


def figure1_cells(runs: int) -> list[Cell]:
    """Return the cells of the database ALL for seven values of k."""
    return [Cell(Sample("all"), k, runs) for k in FIGURE1_KS]


def figure1(outcomes: Mapping[Cell, Outcome]) -> Shown:
    """Draw the sorted scores, with a close-up of the greedy ones; list their quantiles."""
    scores = {cell.k: np.sort(outcome.scores / LN10) for cell, outcome in outcomes.items()}
    quantiles = {k: np.percentile(own, (0, 25, 50, 75, 100)) for k, own in scores.items()}
    rows = [
        [f"{cell.k:g}", *(f"{q:.0f}" for q in quantiles[cell.k]), outcome.above]
        for cell, outcome in outcomes.items()
    ]
    header = ["k", "worst run", "quarter", "median", "three quarters", "best run", "above GES"]
    text = table(header, rows) + "\n\nBIC of the runs in log10 units."
    values = {f"k={k:g}": quantile.tolist() for k, quantile in quantiles.items()}
    return text, values, {"figure1": partial(_draw_figure1, scores)}


def _draw_figure1(scores: dict[float, np.ndarray]) -> Figure:
    figure, (left, right) = panels(2)
    for k in FIGURE1_KS:
        _line(left, k, scores[k])
        if k in CLOSE_UP:
            _line(right, k, scores[k])
    left.set_title("all values of k")
    right.set_title("close-up")
    # The worst few runs with k=0.4 would squeeze everything else.
    low = np.percentile(scores[0.4], 2)
    high = max(float(scores[k][-1]) for k in CLOSE_UP)
    right.set_ylim(low, high + 0.05 * (high - low))
    for axes in (left, right):
        axes.set_xlabel("run, in ascending order of score")
        axes.set_ylabel("BIC (log$_{10}$ units)")
        axes.set_xlim(1, len(scores[1.0]))
    figure.legend(
        *left.get_legend_handles_labels(), loc="outside lower center", ncols=len(FIGURE1_KS)
    )
    return figure


def _line(axes: Axes, k: float, scores: np.ndarray) -> None:
    index = FIGURE1_KS.index(k)
    name = {0.0: "k = 0 (SES)", 1.0: "k = 1 (GES)"}.get(k, f"k = {k:g}")
    places = np.arange(1, len(scores) + 1)
    axes.plot(places, scores, color=COLOURS[index], linestyle=DASHES[index], label=name)


SIZES_KS = (0.4, 0.8)
SIZES = {"bic": (200, 500, 1000, CASES), "bdeu": (100, 200, 500, 1000, CASES)}
NAMES = {"bic": "BIC", "bdeu": "BDeu, ess 1"}
DRAWS = 5

Shares = dict[tuple[str, int, float], list[float]]
"""Per cent of the runs above GES, one entry per draw, by criterion, size and k."""


def sample_size_cells(runs: int) -> list[Cell]:
    """Return the cells of several draws of Alarm for each size: draws differ much."""
    return [
        Cell(Sample("alarm", rows, draw), k, runs, criterion)
        for criterion, sizes in SIZES.items()
        for rows in sizes
        for draw in range(DRAWS)
        for k in SIZES_KS
    ]


def sample_size(outcomes: Mapping[Cell, Outcome]) -> Shown:
    """Show how often KES beats GES on Alarm with few cases."""
    shares: Shares = defaultdict(list)
    for cell, outcome in outcomes.items():
        share = 100 * outcome.above / len(outcome.scores)
        shares[cell.criterion, cell.sample.rows, cell.k].append(share)
    rows = [
        [NAMES[criterion], size, *(_shown(shares[criterion, size, k]) for k in SIZES_KS)]
        for criterion, sizes in SIZES.items()
        for size in sizes
    ]
    text = table(["Criterion", "Cases", *(f"k = {k:g}" for k in SIZES_KS)], rows)
    text += (
        f"\n\nPer cent of the runs that end above GES: mean over {DRAWS} draws of Alarm "
        "(smallest - largest)."
    )
    values = {
        f"{criterion} {size} k={k:g}": share for (criterion, size, k), share in shares.items()
    }
    return text, values, {"sample-size": partial(_draw_sizes, dict(shares))}


def _shown(shares: list[float]) -> str:
    return f"{np.mean(shares):.1f} ({min(shares):.1f} - {max(shares):.1f})"


def _draw_sizes(shares: Shares) -> Figure:
    figure, axes = panels(2)
    for panel, (criterion, sizes) in zip(axes, SIZES.items(), strict=True):
        for k, colour, marker, dash in zip(SIZES_KS, COLOURS, "os", ("-", "--"), strict=False):
            points = [shares[criterion, size, k] for size in sizes]
            label, means = f"k = {k:g}, mean of the draws", [np.mean(point) for point in points]
            panel.plot(sizes, means, color=colour, linestyle=dash, label=label)
            dots: dict[str, Any] = {"color": colour, "markersize": 3, "alpha": 0.55, "mew": 0}
            for size, point in zip(sizes, points, strict=True):
                panel.plot([size] * len(point), point, marker, **dots)
        panel.set_xscale("log")
        panel.set_xticks(sizes, [f"{size:,}".replace(",", "\u2009") for size in sizes])
        panel.minorticks_off()
        panel.set_ylim(0)
        panel.set_title(NAMES[criterion])
        panel.set_xlabel("cases drawn from Alarm")
        panel.set_ylabel("runs above GES (%)")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
    return figure


COMPARED = ("alarm", "coil")
WAYS = ("exact", "sampled")
_FEWER = 10  # sampled runs with k=1 take a thousand times as long: do a tenth of them

Key = tuple[str, float, str]


def neighbourhood_cells(runs: int) -> list[Cell]:
    """Return the cells of the exact boundary, and of the sampled one of section 4.1."""
    fewer = max(1, runs // _FEWER)
    return [
        Cell(Sample(name), k, fewer if (way, k) == ("sampled", 1.0) else runs, neighbourhood=way)
        for name in COMPARED
        for way in WAYS
        for k in KS
    ]


def neighbourhoods(outcomes: Mapping[Cell, Outcome]) -> Shown:
    """Compare both neighbourhoods: final scores, ends short of a local optimum, and cost."""
    found = {
        (cell.sample.database, cell.k, cell.neighbourhood): outcome
        for cell, outcome in outcomes.items()
    }
    databases = [name for name in COMPARED if (name, KS[0], "exact") in found]
    rows = [_row(found, name, k, way) for name in databases for k in KS for way in WAYS]
    header = ["Data", "k", "boundary", "runs", "best", "median", "above exact GES", "models"]
    text = table([*header, "stopped short", "ms per run", "ratio"], rows, left=3)
    text += (
        "\n\nScores in log10 units. 'Stopped short': runs that end where the exact boundary "
        "still has an improvement. Cost: processor time per run, counting included; ratio to "
        "the exact boundary."
    )
    values = {
        f"{name} k={k:g} {way}": outcome.values() for (name, k, way), outcome in found.items()
    }
    draw = partial(_draw_neighbourhoods, found, databases)
    return text, values, {"neighbourhoods": draw}


def _row(found: dict[Key, Outcome], name: str, k: float, way: str) -> list[object]:
    outcome, exact = found[name, k, way], found[name, k, "exact"]
    cost, base = (each.cost.cpu / max(1, each.cost.runs) for each in (outcome, exact))
    runs = len(outcome.scores)
    return [
        DATABASES[name] if (k, way) == (KS[0], WAYS[0]) else "",
        f"{k:g}" if way == WAYS[0] else "",
        way,
        runs,
        f"{outcome.best / LN10:.1f}",
        f"{np.median(outcome.scores) / LN10:.1f}",
        f"{100 * np.mean(outcome.scores > exact.ges + 1e-6):.1f} %",
        outcome.models,
        f"{outcome.short}",
        f"{1000 * cost:.2f}",
        f"{cost / base:.0f}" if way != "exact" else "",
    ]


def _draw_neighbourhoods(found: dict[Key, Outcome], databases: list[str]) -> Figure:
    figure, axes = panels(len(databases), height=2.7)
    for panel, name in zip(axes, databases, strict=True):
        for k, colour in zip(KS, COLOURS, strict=False):
            for way, dash in zip(WAYS, ("-", (0, (4, 1.5))), strict=True):
                scores = np.sort(found[name, k, way].scores / LN10)
                share = np.arange(1, len(scores) + 1) / len(scores) * 100
                panel.plot(share, scores, color=colour, linestyle=dash, label=f"k = {k:g}, {way}")
        panel.set_title(DATABASES[name])
        panel.set_xlabel("runs, in ascending order of score (%)")
        panel.set_ylabel("BIC (log$_{10}$ units)")
        panel.set_xlim(0, 100)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=len(KS))
    return figure
