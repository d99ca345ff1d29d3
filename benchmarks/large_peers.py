"""Compare score and CPU seconds with peers on large networks (`make bench-large-peers`).

One sample of 10 000 cases of each network, seed 1001, without constant columns and unused states,
which some peers reject. For kes: GES on one thread, and improving after given numbers of seconds;
for each peer, the one graph that it returns. All are scored by kes's BIC, as nats above that of the
true graph. A peer that exceeds the time limit on a network is not tried on the following ones,
unless its results go to another file. `--fill` writes table and plot of docs/quality.md.
"""

import argparse
import functools
import sys
import time
from pathlib import Path

from document import QUALITY, fill, number, seconds, table
from environments import installed
from large import FIRST_SEED, ROWS, Curve
from results import Cell, Results, measure
from samples import MODELS, Sample, network, prepared
from timing import show

import kes
from kes.data.random_stream import Stream
from kes.paper.document import COLOURS, style

NETWORKS = {"andes": (3, 10), "pigs": (3,), "link": (10, 30), "munin": (30,)}
"""Networks, and the seconds of improving to report."""
OURS = "kes, GES and improving"
TRUTH = "true graph"
PEERS = (
    "PyBNesian hill climbing",
    "pyAgrum greedy hill climbing",
    "Tetrad FGES",
    "Tetrad 7.6.3 BOSS, 1 start",
    "xges XGES-0, our discrete BIC",
    "xges XGES, our discrete BIC",
)
FIGURE = QUALITY.parent / "figures/large.svg"


@functools.cache
def sample(name: str, folder: Path) -> Sample:
    """Return the sample, as all searches get it, and the class of the true graph."""
    bayes = network(name, folder)
    data = prepared(bayes.sample(ROWS, seed=Stream(FIRST_SEED)), seed=None)
    arcs = [(a, b) for a, b in bayes.arcs if a in data.names and b in data.names]
    return Sample(data, kes.EssentialGraph.from_dag(data.names, arcs))


def improve(results: Results, name: str, data: kes.Dataset) -> None:
    """Do GES and improve on it; add the score after each mark to the results."""
    marks = NETWORKS[name]
    start = time.process_time()
    ges = kes.learn(data, k=1, runs=1, n_jobs=1, improve=False, random_state=0)
    took = time.process_time() - start
    scores = [ges.best.score, *Curve(marks).of(ges)]
    for place, (mark, score) in enumerate(zip((0, *marks), scores, strict=True)):
        results.add(Cell(name, place, OURS, kes.__version__, 0.0, took + mark, score))


# --- table and plot ---


def rows(results: Results) -> list[list[str]]:
    """Return a row for GES, two for improving on it, and one for each peer."""
    ours = {name: results.of(name, OURS) for name in NETWORKS}
    places = {"kes GES": 0, "kes, improved": 1, "kes, improved longer": -1}
    lines = [
        [
            line,
            *(entry(results, name, cells[place]) if cells else "–" for name, cells in ours.items()),
        ]
        for line, place in places.items()
    ]
    for search in PEERS:
        lines.append([search])
        for name in NETWORKS:
            if found := results.of(name, search):
                lines[-1].append(entry(results, name, found[0]))
            else:
                limit = results.gave_up(search, name)
                lines[-1].append(f"over {limit:.0f} s" if limit else "–")
    return lines


def entry(results: Results, name: str, cell: Cell) -> str:
    above = (cell.score or 0.0) - true_score(results, name)
    return f"{'+' if above > 0 else ''}{number(above, 0)} ({seconds(cell.cpu)} s)"


def true_score(results: Results, name: str) -> float:
    return results.of(name, TRUTH)[0].score or 0.0


def draw(results: Results) -> None:
    """Draw how far the scores are below the best of each network, against seconds."""
    import matplotlib as mpl
    from matplotlib.figure import Figure

    known = {search for name in NETWORKS for search in PEERS if results.of(name, search)}
    with style(), mpl.rc_context({"svg.fonttype": "none", "svg.hashsalt": "kes"}):
        figure = Figure(figsize=(7.2, 5.6), layout="constrained")
        for axes, name in zip(figure.subplots(2, 2).flat, NETWORKS, strict=True):
            axes.set_visible(bool(results.of(name, OURS)))
            if not axes.get_visible():
                continue
            best = max(c.score for c in results.cells if c.data == name and c.score is not None)
            for place, search in enumerate((OURS, *PEERS)):
                if search != OURS and search not in known:
                    continue
                found = results.of(name, search)
                axes.plot(
                    [cell.cpu for cell in found],
                    [best - (cell.score or 0.0) + 1 for cell in found],
                    linestyle="-" if search == OURS else "none",
                    marker="os^vDPX"[place],
                    markersize=5,
                    color=COLOURS[place],
                    label=search,
                )
            below = best - true_score(results, name) + 1
            axes.axhline(below, color="0.6", linewidth=0.8, zorder=0, label="true graph")
            axes.set(xscale="log", yscale="log", title=name, xlabel="seconds of the processor")
            axes.xaxis.set_major_formatter("{x:g}")
            axes.yaxis.set_major_formatter("{x:g}")
            axes.invert_yaxis()
        figure.supylabel("nats below the best score found, plus 1", fontsize=8)
        handles, labels = figure.axes[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--limit", type=float, default=600, help="CPU seconds for one search")
    parser.add_argument("--networks", type=Path, default=MODELS, help="folder of BIF files")
    parser.add_argument("--data", nargs="+", choices=NETWORKS, default=list(NETWORKS))
    parser.add_argument("--only", nargs="*", choices=(OURS, *PEERS), default=[OURS, *PEERS])
    parser.add_argument("--results", type=Path, default=Path("target/bench/large.jsonl"))
    parser.add_argument("--fill", action="store_true", help="write table and plot")
    options = parser.parse_args()
    results = Results(options.results)
    searches = installed([search for search in options.only if search != OURS])
    for name in options.data:
        if options.only and not results.of(name, TRUTH):
            known = sample(name, options.networks)
            score = kes.score(known.truth, known.data)
            results.add(Cell(name, 0, TRUTH, "", 0.0, 0.0, score))
        if OURS in options.only and not results.of(name, OURS):
            improve(results, name, sample(name, options.networks).data)

        def drawn(_: int, name: str = name) -> Sample:
            return sample(name, options.networks)

        for cell in measure(results, name, drawn, 1, searches, options.limit, shuffle=False):
            print(name, cell.search, f"{cell.cpu:.1f} s", file=sys.stderr, flush=True)
    header = ["search", *NETWORKS]
    show(header, rows(results))
    if options.fill:
        fill(QUALITY, "large", table(header, rows(results)))
        draw(results)


if __name__ == "__main__":
    main()
