"""Count all local optima near the best score, and how many of them runs find (`make bench-optima`).

For each data set, all models within 20 nats of the highest score are listed (`kes.credible`), or
within 10, 3 or 1 where there are too many. Then 10 000 runs with each k show which of the local
optima among them 100, 1 000 and 10 000 runs find, and how well `Optima.coverage` estimates what
they have not seen. Single results are kept in target/bench, so that a command given again goes on.
"""

import argparse
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from document import ROOT, fill, table
from samples import SHARED, coil, linear, network

import kes
from kes.analysis.credible import Credible
from kes.data.random_stream import Stream

PAGE = ROOT / "docs/local-optima.md"
FIGURE = ROOT / "docs/figures/local-optima.svg"
RESULTS = ROOT / "target/bench/local-optima.jsonl"
DISTANCES = (1.0, 3.0, 10.0, 20.0)
MOST, BUDGET = 200_000, "5m"
FOUND = {0.0: "found at k = 0", 0.4: "found at k = 0.4", 0.8: "found at k = 0.8"}
KS = tuple(FOUND)
RUNS = (100, 1_000, 10_000)
PUBLISHED = {
    "cancer": (500, 5_000),
    "earthquake": (500, 5_000),
    "survey": (500, 5_000),
    "asia": (500, 5_000),
    "sachs": (500, 1_000, 5_000),
    "child": (500, 5_000),
    "insurance": (500, 1_000),
    "water": (500, 1_000),
}
GAUSSIAN = {"asia": (500,), "sachs": (500,), "child": (500,)}


def data_sets() -> dict[str, Callable[[], kes.Dataset]]:
    """Return how to make each data set, by its name."""
    found: dict[str, Callable[[], kes.Dataset]] = {
        "example 1": kes.datasets.example1,
        "example 2": kes.datasets.example2,
        "trap, 3 groups": lambda: kes.datasets.trap(3, seed=Stream(0)),
    }
    for name, sizes in PUBLISHED.items():
        for rows in sizes:
            found[f"{name}, {rows:,}"] = lambda n=name, r=rows: network(n).sample(r, seed=Stream(1))
    for name, sizes in GAUSSIAN.items():
        for rows in sizes:
            found[f"{name} (Gaussian), {rows:,}"] = lambda n=name, r=rows: linear(
                network(n).parents, 1
            ).sample(r, seed=Stream(1))
    if (SHARED / "coil").exists():
        found["CoIL, 5,822"] = coil
    return found


@dataclass(frozen=True)
class Found:
    """Shares found by some runs: of the optima within each distance, and by `coverage`."""

    k: float
    runs: int
    within: dict[str, int]  # number of local optima found, by distance
    models: int
    unseen: float  # estimated share of further runs that end in a new model, and its interval
    low: float
    high: float
    truth: float | None  # the share among the runs that followed, if there are some
    chao1: float


@dataclass(frozen=True)
class Landscape:
    """The models close to the best on one data set, and what runs find of them."""

    data: str
    variables: int
    cases: int
    within: float | None  # the largest distance that was listed completely; None if there is none
    counts: dict[str, tuple[int, int, bool]]  # models, local optima, and whether these are all
    found: list[Found]


def credible(data: kes.Dataset) -> Iterator[Credible]:
    """Yield what can be listed, from the largest distance, until it is complete."""
    for distance in reversed(DISTANCES):
        try:
            found = kes.credible(data, within=distance, most=MOST, budget=BUDGET, memory_mb=4096)
        except kes.KesError as error:
            print(f"  within {distance:g}: {error}", flush=True)
            continue
        yield found
        if found.complete:
            return


def survey(name: str, data: kes.Dataset, runs: Sequence[int]) -> Landscape:
    """Count the local optima of a data set, and let runs search for them."""
    counts: dict[str, tuple[int, int, bool]] = {}
    complete, local = None, []
    for listed in credible(data):
        best = listed[0].score if listed.complete else None
        for distance in DISTANCES:
            if distance > listed.within or (best is None and distance < listed.within):
                continue
            near = [m for m in listed if best is None or m.score >= best - distance]
            number = sum(model.is_local_optimum for model in near)
            counts[f"{distance:g}"] = (len(near), number, listed.complete)
        if listed.complete:
            complete, local = listed.within, listed.local_optima
    top = local[0].score if local else 0.0
    near = {
        f"{distance:g}": [m.graph for m in local if m.score >= top - distance]
        for distance in DISTANCES
        if complete is not None and distance <= complete
    }
    found = [one for k in KS for one in searched(data, k, near, runs)]
    return Landscape(name, len(data.names), round(data.cases), complete, counts, found)


def searched(
    data: kes.Dataset, k: float, near: dict[str, list[kes.EssentialGraph]], runs: Sequence[int]
) -> Iterator[Found]:
    """Yield what the first runs find, for each number of them."""
    every = kes.learn(data, k=k, runs=max(runs), improve=False, prove=False)
    hits = {optimum.graph: optimum.hits for optimum in every.of_runs}
    for number in runs:
        some = kes.learn(data, k=k, runs=number, improve=False, prove=False)
        seen = {optimum.graph: optimum.hits for optimum in some.of_runs}
        later = max(runs) - number
        again = sum(hits[graph] - own for graph, own in seen.items())
        coverage = some.coverage()
        mass = coverage.unseen_mass
        yield Found(
            k,
            number,
            {distance: sum(graph in seen for graph in own) for distance, own in near.items()},
            coverage.models,
            mass.value,
            mass.low,
            mass.high,
            1 - again / later if later else None,
            coverage.chao1.value,
        )


# --- results ---


def stored() -> dict[str, Landscape]:
    """Return the results so far."""
    lines = RESULTS.read_text(encoding="utf-8").splitlines() if RESULTS.exists() else []
    found = {}
    for line in lines:
        values: dict[str, Any] = json.loads(line)
        values["found"] = [Found(**one) for one in values["found"]]
        found[values["data"]] = Landscape(**values)
    return found


def store(landscape: Landscape) -> None:
    RESULTS.parent.mkdir(parents=True, exist_ok=True)
    with RESULTS.open("a", encoding="utf-8") as file:
        print(json.dumps(asdict(landscape)), file=file)


def counted(counts: dict[str, tuple[int, int, bool]], distance: float) -> str:
    """Return local optima of models, such as 4 of 394; a lower bound as > 70."""
    own = counts.get(f"{distance:g}")
    if own is None or own[0] == 0:
        return "?"
    models, local, is_complete = own
    return f"{local:,} of {models:,}" if is_complete else f"≥ {local:,} of > {models:,}"


def share(landscape: Landscape, k: float, runs: int) -> str:
    """Return how many of the local optima runs found, within the largest distance listed."""
    if landscape.within is None:
        return ""
    distance = f"{landscape.within:g}"
    total = landscape.counts[distance][1]
    [own] = [one for one in landscape.found if (one.k, one.runs) == (k, runs)]
    return f"{own.within[distance]} of {total}"


def count_table(landscapes: Sequence[Landscape]) -> str:
    header = ["data set, cases", "variables", *(f"within {d:g} nats" for d in DISTANCES)]
    rows = [
        [one.data, str(one.variables), *(counted(one.counts, d) for d in DISTANCES)]
        for one in landscapes
    ]
    return table(header, rows)


def run_table(landscapes: Sequence[Landscape], k: float) -> str:
    header = ["data set, cases", "within", *(f"{runs:,} runs" for runs in RUNS)]
    rows = [
        [one.data, f"{one.within:g}", *(share(one, k, runs) for runs in RUNS)]
        for one in landscapes
        if one.within is not None
    ]
    return table(header, rows)


def coverage_table(landscapes: Sequence[Landscape]) -> str:
    header = [
        "k, runs",
        "estimated share of new models",
        "true share",
        "truth in the 95 % interval",
        "estimated number (Chao1)",
        "found by 10,000 runs",
    ]
    rows = []
    for k in KS:
        for runs in RUNS[:-1]:
            pairs = [
                (one, last)
                for each in landscapes
                for one in each.found
                for last in each.found
                if (one.k, one.runs, last.k, last.runs) == (k, runs, k, RUNS[-1])
                and one.truth is not None
            ]
            held = sum(one.low <= one.truth <= one.high for one, _ in pairs)
            mean = [
                sum(values) / len(pairs)
                for values in zip(
                    *((one.unseen, one.truth, one.chao1, last.models) for one, last in pairs),
                    strict=True,
                )
            ]
            rows.append(
                [
                    f"{k:g}, {runs:,}",
                    f"{mean[0]:.3f}",
                    f"{mean[1]:.3f}",
                    f"{held} of {len(pairs)}",
                    f"{mean[2]:.0f}",
                    f"{mean[3]:.0f}",
                ]
            )
    return table(header, rows)


def draw(landscapes: Sequence[Landscape]) -> None:
    """Draw the share of all local optima near the best that runs find, by their number."""
    import matplotlib as mpl
    import matplotlib.pyplot as plt

    mpl.rcParams["svg.hashsalt"] = "kes"
    chosen = [one for one in landscapes if one.within and one.counts[f"{one.within:g}"][1] > 1]
    figure, axes = plt.subplots(1, len(KS), figsize=(9, 3.2), sharey=True, layout="constrained")
    for ax, k in zip(axes, KS, strict=True):
        for one in chosen:
            distance = f"{one.within:g}"
            own = {f.runs: f.within[distance] for f in one.found if f.k == k}
            total = one.counts[distance][1]
            ax.plot(list(own), [100 * n / total for n in own.values()], "o-", ms=3, lw=1)
        ax.set(title=f"k = {k:g}", xscale="log", xlabel="runs", ylim=(-3, 103))
    axes[0].set_ylabel("local optima found, %")
    figure.savefig(FIGURE, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", help="names of data sets, such as 'asia, 500'")
    parser.add_argument("--fill", action="store_true", help="write tables and figure into docs")
    arguments = parser.parse_args()
    done, sets = stored(), data_sets()
    for name in arguments.only or sets:
        if name not in done:
            print(name, flush=True)
            done[name] = survey(name, sets[name](), RUNS)
            store(done[name])
    landscapes = [done[name] for name in sets if name in done]
    tables = {"local optima": count_table(landscapes), "coverage": coverage_table(landscapes)}
    tables |= {FOUND[k]: run_table(landscapes, k) for k in KS}
    for name, text in tables.items():
        print(f"\n{name}\n{text}")
        if arguments.fill:
            fill(PAGE, name, text)
    if arguments.fill:
        draw(landscapes)


if __name__ == "__main__":
    main()
