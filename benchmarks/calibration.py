"""Measure how often probabilities, evidence and words are right (`make bench-calibration`).

Samples of known networks (`calibration_samples`): of the pairs with some probability, evidence or
word, how many are adjacent in the network, and how many directions are those of its essential
graph? How well does each number rank the pairs? The words of `kes.analysis.certainty` are set by
these rates. Single results are kept in target/bench, so that a command given again goes on.
"""

import argparse
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations, pairwise, product
from pathlib import Path

import numpy as np
from calibration_samples import (
    FALSE,
    FIRST_SEED,
    HELD_OUT,
    NETWORKS,
    REVERSED,
    RIGHT,
    SIZES,
    Judged,
    Pair,
    judge_all,
    source,
    stored,
)
from document import ROOT, fill, number, table
from environments import install, python_of
from evidence import area
from posterior import sumu

import kes
from kes.analysis.certainty import CLEAR, SURE, EdgeCertainty
from kes.data.random_stream import Stream

PAGE = ROOT / "docs/howto/evidence.md"
FIGURE = ROOT / "docs/figures/calibration.svg"
RESULTS = ROOT / "target/bench/calibration.jsonl"
HELD_OUT_RESULTS = ROOT / "target/bench/calibration-held-out.jsonl"

EVIDENCE_BINS = (-math.inf, -10.0, -5.0, -3.0, 0.0, 3.0, 5.0, SURE, 3 * SURE, math.inf)
SHARE_BINS = (0.0, 0.01, 0.05, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99, 1.0 + 1e-9)
WAYS = (RIGHT, REVERSED, FALSE)
FEW = 3.0
SUMMABLE = ("asia", "sachs", "child")
"""Discrete networks whose probabilities are exact."""
ITERATIONS = 20_000
"""Iterations of sumu."""
LEAST = 15
"""Pairs that a point of the figure has at least."""

Value = Callable[[Pair], float | None]
NUMBERS: dict[str, Value] = {
    "probability": lambda pair: pair.probability,
    "evidence": lambda pair: -math.inf if pair.evidence is None else pair.evidence,
    "search support": lambda pair: pair.search,
    "resampling support": lambda pair: pair.resampling,
}


def certainty(pair: Pair) -> EdgeCertainty:
    """Return the statement of kes on a pair."""
    return EdgeCertainty(pair.evidence, pair.direction, "estimate", disputed=pair.disputed)


def percent(part: int, whole: int) -> str:
    """Return a share with its standard error, in percent."""
    if not whole:
        return ""
    share = part / whole
    return f"{100 * share:.0f} ± {100 * math.sqrt(share * (1 - share) / whole):.0f}"


def binned(
    pairs: Iterable[Pair], value: Value, bins: Sequence[float]
) -> dict[tuple[float, float], list[Pair]]:
    """Group pairs by the interval that contains their value."""
    known = [(own, pair) for pair in pairs if (own := value(pair)) is not None]
    return {
        (low, high): [pair for own, pair in known if low <= own < high]
        for low, high in pairwise(bins)
    }


def interval(low: float, high: float) -> str:
    """Return an interval in words."""
    if math.isinf(low):
        return f"below {number(high, 0)}"
    return f"{low:g} and more" if math.isinf(high) or high > 1 == low else f"{low:g} to {high:g}"


# --- edges ---


def edge_table(pairs: Sequence[Pair]) -> str:
    """Return the share of true adjacencies by evidence, with the word for it."""
    rows = []
    for (low, high), own in reversed(binned(pairs, lambda p: p.evidence, EVIDENCE_BINS).items()):
        words = Counter(certainty(pair).verdict for pair in own)
        word = words.most_common(1)[0][0] if words else ""
        ends = interval(low, high).replace("-", "−")
        true = sum(pair.is_adjacent for pair in own)
        rows.append([ends, word, str(len(own)), percent(true, len(own))])
    return table(["evidence in nats", "word", "pairs", "true, %"], rows)


def share_table(pairs: Sequence[Pair]) -> str:
    """Return the share of true adjacencies by probability, and by BIC weight."""
    rows = []
    found = [
        binned(pairs, value, SHARE_BINS) for value in (lambda p: p.probability, lambda p: p.weight)
    ]
    for ends in reversed(found[0]):
        cells = []
        for own in (group[ends] for group in found):
            cells += [str(len(own)), percent(sum(pair.is_adjacent for pair in own), len(own))]
        rows.append([f"{ends[0]:g} to {min(ends[1], 1):g}", *cells])
    return table(["between", "probability: pairs", "true, %", "BIC weight: pairs", "true, %"], rows)


# --- directions ---


def directed(pairs: Iterable[Pair]) -> list[tuple[Pair, float]]:
    """Return the pairs that the best network directs, with the nats for that direction."""
    return [
        (pair, pair.direction * pair.drawn)
        for pair in pairs
        if pair.drawn and pair.direction is not None and pair.evidence is not None
    ]


def direction_table(pairs: Sequence[Pair]) -> str:
    """Return what directions of the best networks, and probable ones, are in truth."""
    sure = [(pair, nats) for pair, nats in directed(pairs) if certainty(pair).verdict == "sure"]
    groups = {
        "clear: sure, 10 nats and more, undisputed": [
            (pair, pair.drawn) for pair, nats in sure if nats >= CLEAR and not pair.disputed
        ],
        "sure, 10 nats and more, disputed": [
            (pair, pair.drawn) for pair, nats in sure if nats >= CLEAR and pair.disputed
        ],
        "sure, 3 to 10 nats": [(pair, pair.drawn) for pair, nats in sure if FEW <= nats < CLEAR],
        "sure, below 3 nats": [(pair, pair.drawn) for pair, nats in sure if nats < FEW],
    }
    arcs = [
        (pair, way, share)
        for pair in pairs
        for way, share in ((1, pair.forward), (-1, pair.backward))
        if share is not None
    ]
    for low, high in ((0.99, 1.0), (0.9, 0.99), (0.5, 0.9)):
        groups[f"probability of the arc {low:g} to {high:g}"] = [
            (pair, way) for pair, way, share in arcs if low <= share < high + (high == 1)
        ]
    rows = []
    for name, own in groups.items():
        counts = Counter(pair.standing(way) for pair, way in own)
        left_open = sum(pair.is_adjacent and pair.truth == 0 for pair, _ in own)
        shares = [percent(counts[way], len(own)) for way in WAYS]
        rows.append([name, str(len(own)), *shares, percent(left_open, len(own))])
    header = ["direction", "edges", *(f"{way}, %" for way in WAYS), "left open by the class, %"]
    return table(header, rows)


def held_out_table(samples: Sequence[Judged]) -> str:
    """Return what clear and all directions are in truth, on samples that chose no rule."""
    rows = []
    groups = {
        "networks and sizes as above": lambda name: name in NETWORKS,
        "other networks": lambda name: name not in NETWORKS,
        "all": lambda name: True,
    }
    for label, belongs in groups.items():
        own = [sample for sample in samples if belongs(sample.network)]
        pairs = [pair for sample in own for pair in sample.pairs]
        clear = [pair for pair in pairs if pair.clear]
        counts = Counter(pair.standing(pair.clear) for pair in clear)
        in_class = sum(pair.truth == pair.clear for pair in clear)
        drawn = [pair for pair, _ in directed(pairs)]
        right = sum(pair.standing(pair.drawn) == RIGHT for pair in drawn)
        rows.append(
            [
                label,
                str(len(own)),
                str(len(clear)),
                *(percent(counts[way], len(clear)) for way in WAYS),
                percent(in_class, len(clear)),
                str(len(drawn)),
                percent(right, len(drawn)),
            ]
        )
    header = ["held-out samples", "samples", "clear directions", *(f"{way}, %" for way in WAYS)]
    return table([*header, "directed so in the class, %", "all directions", "right, %"], rows)


# --- ranking ---


def ranking_table(samples: Sequence[Judged], names: Sequence[str]) -> str:
    """Return the mean area under the ROC curve over samples, of all pairs that are settled."""
    rows = []
    for name in names:
        own = [sample for sample in samples if sample.network == name]
        areas: dict[str, list[float]] = {number: [] for number in NUMBERS}
        for sample in own:
            pairs = [pair for pair in sample.pairs if pair.probability is not None]
            truth = [pair.is_adjacent for pair in pairs]
            for label, value in NUMBERS.items():
                areas[label].append(area([value(pair) for pair in pairs], truth))
        means = [f"{np.mean(values):.3f}" for values in areas.values()]
        rows.append([name, str(len(own)), *means])
    return table(["network", "samples", *NUMBERS], rows)


# --- samplers ---


def sampler_table(names: Sequence[str], sizes: Sequence[int], samples: int) -> str:
    """Return the mean area under the ROC curve of our probabilities and of those of sumu."""
    rows = []
    for name in names:
        areas: list[tuple[float, float, float, float]] = []
        for seed, size in product(range(FIRST_SEED, FIRST_SEED + samples), sizes):
            truth = source(name, seed)
            data = truth.sample(size, seed=Stream(seed))
            pairs = [*combinations(range(len(data.names)), 2)]
            is_true = [frozenset(data.names[i] for i in p) in truth.graph.skeleton for p in pairs]
            before = time.process_time()
            post = kes.posterior(data)
            spent = time.process_time() - before
            seconds, _, found = sumu(data, ITERATIONS) or (math.nan, 0, np.zeros((0, 0)))
            ours = [post.edge(data.names[a], data.names[b]) for a, b in pairs]
            theirs = [found[pair] for pair in pairs]
            areas.append((area(ours, is_true), area(theirs, is_true), spent, seconds))
            print(name, size, seed, areas[-1], flush=True)
        ours, theirs, spent, seconds = np.mean(areas, axis=0)
        numbers = [f"{ours:.3f}", f"{theirs:.3f}", f"{spent:.2g}", f"{seconds:.2g}"]
        rows.append([name, str(len(areas)), *numbers])
    header = ["network", "samples", "probability", "sumu", "CPU s", "CPU s of sumu"]
    return table(header, rows)


# --- figure ---


def draw(pairs: Sequence[Pair]) -> None:
    """Draw reliability curves: of edges, of directions, and of evidence."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "kes"
    figure, axes = plt.subplots(1, 3, figsize=(9.5, 3.2), layout="constrained")
    edges, ways, nats = axes
    for value, label in (
        (lambda p: p.probability, "probability"),
        (lambda p: p.weight, "BIC weight"),
    ):
        groups = binned(pairs, value, np.linspace(0, 1 + 1e-9, 11)).values()
        curve(
            edges,
            [([value(p) for p in own], [p.is_adjacent for p in own]) for own in groups],
            label,
        )
    arcs = [
        (share, pair.arc == way)
        for pair in pairs
        for way, share in ((1, pair.forward), (-1, pair.backward))
        if share is not None
    ]
    groups = [
        [(s, t) for s, t in arcs if low <= s < high]
        for low, high in pairwise(np.linspace(0, 1 + 1e-9, 11))
    ]
    curve(ways, [([s for s, _ in own], [t for _, t in own]) for own in groups], "probability")
    for ax, title in ((edges, "edges"), (ways, "directions")):
        ax.plot([0, 1], [0, 1], color="grey", lw=0.8)
        ax.set(title=title, xlabel="stated", ylabel="true share", xlim=(0, 1), ylim=(0, 1))
    groups = binned(
        pairs, lambda p: p.evidence, (-20, -10, -5, -3, 0, 3, 5, 10, 20, 30, 50)
    ).values()
    curve(
        nats,
        [([p.evidence for p in own], [p.is_adjacent for p in own]) for own in groups],
        "evidence",
    )
    nats.set(title="edges by evidence", xlabel="nats", ylim=(0, 1))
    edges.legend(frameon=False)
    figure.savefig(FIGURE, metadata={"Date": None})


def curve(ax, groups: Iterable[tuple[Sequence[float], Sequence[bool]]], label: str) -> None:
    """Draw the share of what is true against the mean of what was stated."""
    points = [(np.mean(x), np.mean(true)) for x, true in groups if len(x) >= LEAST]
    ax.plot(*zip(*points, strict=True), "o-", ms=4, lw=1, label=label)


def held_out(arguments: argparse.Namespace) -> None:
    """Judge the words on samples that were not used to choose the rules for them."""
    names = list(HELD_OUT) if arguments.networks == list(NETWORKS) else arguments.networks
    path = HELD_OUT_RESULTS if arguments.results == RESULTS else arguments.results
    if not arguments.report:
        for judged in judge_all(path, names, arguments.rows, arguments.samples, held_out=True):
            print(*judged.key, flush=True)
    samples = stored(path)
    tables = {
        "held-out directions": held_out_table(samples),
        "evidence and words": edge_table([pair for sample in samples for pair in sample.pairs]),
    }
    for name, text in tables.items():
        print(f"\n{name}\n{text}")
        if arguments.fill:
            fill(PAGE, name, text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=4, help="samples of each size")
    parser.add_argument("--networks", nargs="+", default=list(NETWORKS))
    parser.add_argument("--rows", nargs="+", type=int, default=list(SIZES))
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of single results")
    parser.add_argument(
        "--held-out", action="store_true", help="the words, on samples that chose no rule"
    )
    parser.add_argument("--samplers", action="store_true", help="only the ranking by sumu")
    parser.add_argument("--report", action="store_true", help="only what the file already has")
    parser.add_argument("--fill", action="store_true", help="write tables and figure into docs")
    arguments = parser.parse_args()
    if arguments.held_out:
        held_out(arguments)
        return
    if arguments.samplers:
        if not python_of("sumu").exists():
            install({"sumu"})
        text = sampler_table(SUMMABLE, arguments.rows, arguments.samples)
        print(text)
        if arguments.fill:
            fill(PAGE, "samplers", text)
        return
    if not arguments.report:
        for judged in judge_all(
            arguments.results, arguments.networks, arguments.rows, arguments.samples
        ):
            print(*judged.key, flush=True)
    samples = stored(arguments.results)
    pairs = [pair for sample in samples for pair in sample.pairs]
    tables = {
        "probabilities": share_table(pairs),
        "directions": direction_table(pairs),
        "ranking": ranking_table(samples, arguments.networks),
    }
    print(f"{len(samples)} samples")
    for name, text in tables.items():
        print(f"\n{name}\n{text}")
        if arguments.fill:
            fill(PAGE, name, text)
    if arguments.fill:
        draw(pairs)


if __name__ == "__main__":
    main()
