"""See what the price of edges does on tables with many variables (`make bench-wide`).

*Noise*: columns of independent values, discrete (two or three states), Gaussian or mixed; and real
gene columns, each shuffled by itself, if `--genes` names the table of Golub et al. (1999), or 128
values drawn from each. Every edge is false. "Sure" counts edges whose evidence may reach the level
of that word: it is an upper bound, the loss by deleting the edge.

*Truths*: networks with one or three edges per variable, from 0.01 to 10 variables per case.
Precision and recall of adjacencies, and the log-likelihood of 1 000 new cases, per case and
compared with that of the network without edges.

*Line* (`--parts line`): processor seconds of the line on noise in a report, and of all of it.

The searches of noise and truths are GES with improving by 100 tasks unless `--default` asks for the
default search.
Results are kept in target/bench/wide.jsonl, so that a command given again goes on.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from timing import show

import kes
from kes.analysis.certainty import SURE
from kes.analysis.deletion_loss import edge_worth
from kes.analysis.noise import quick_noise

GENES = Path(__file__).parents[1] / "../shared/data/golub/golub72_expression.csv.gz"
KEPT = Path(__file__).parents[1] / "target/bench/wide.jsonl"
COLUMNS = (30, 100, 300, 1000)
CASES = 100
KINDS = ("discrete", "Gaussian", "mixed")
GENE_KINDS: dict[str, dict[str, object]] = {
    "genes, default": {},
    "genes, values": {"transform": "none"},
    "genes, ranks": {"transform": "ranks"},
    "genes, 128 cases": {},
}
"""Kinds of searches in gene columns, whose tails are heavy."""
DRAWN = 128
"""Cases of the last kind."""
DRAWS = 20
SHAPES = ((20, 2000), (50, 500), (100, 100), (200, 100), (300, 30))
"""Variables and cases of tables with a true network."""
PRICES: dict[str, object] = {"none": None, "auto": "auto", "ebic": "ebic"}
NEW = 1000


def is_discrete(kind: str, column: int) -> bool:
    return kind == "discrete" or (kind == "mixed" and column % 2 == 0)


def noise(kind: str, columns: int, rng: np.random.Generator) -> pd.DataFrame:
    table = {}
    for column in range(columns):
        if is_discrete(kind, column):
            table[f"v{column}"] = rng.integers(0, 2 + column % 4 // 2, CASES).astype(str)
        else:
            table[f"v{column}"] = rng.normal(size=CASES)
    return pd.DataFrame(table)


def genes(columns: int, rng: np.random.Generator, path: Path, *, drawn: bool) -> pd.DataFrame:
    """Draw genes, and shuffle each by itself, or draw values from it."""
    whole = pd.read_csv(path, index_col=0)
    some = whole.iloc[rng.choice(len(whole), columns, replace=False)].to_numpy(dtype=float)
    some += rng.uniform(-0.5, 0.5, some.shape)  # the intensities are rounded
    if drawn:
        some = np.stack([rng.choice(one, DRAWN) for one in some])
        some += rng.uniform(-0.5, 0.5, some.shape)
    return pd.DataFrame({f"g{i}": rng.permutation(one) for i, one in enumerate(some)})


def network(
    kind: str, variables: int, density: int, rng: np.random.Generator
) -> tuple[Callable[[int], pd.DataFrame], list[tuple[str, str]]]:
    """Draw a network; return a function that draws cases from it, and its arcs.

    A child is linear in its parents; a discrete one is the sign of that.
    """
    parents: list[list[int]] = []
    for child in range(variables):
        most = min(child, int(rng.poisson(density)))
        parents.append([int(p) for p in rng.choice(child, most, replace=False)] if most else [])
    weights = [rng.uniform(0.5, 1.2, len(own)) * rng.choice([-1, 1], len(own)) for own in parents]

    def cases(number: int) -> pd.DataFrame:
        values: list[np.ndarray] = []
        for child, own in enumerate(parents):
            value = rng.normal(size=number)
            for parent, weight in zip(own, weights[child], strict=True):
                value = value + weight * values[parent]
            if is_discrete(kind, child):
                value = np.where(value > 0, 1.0, -1.0)
            elif own:
                value = value / np.sqrt(1 + np.sum(weights[child] ** 2))
            values.append(value)
        return pd.DataFrame(
            {
                f"v{i}": np.where(value > 0, "yes", "no") if is_discrete(kind, i) else value
                for i, value in enumerate(values)
            }
        )

    return cases, [(f"v{p}", f"v{child}") for child, own in enumerate(parents) for p in own]


class Bench:
    """Does what is not yet in the file."""

    def __init__(self, *, default: bool) -> None:
        self._search: dict[str, object] = {} if default else {"k": 1.0, "runs": 1, "improve": 100}
        self._name = "default" if default else "short"
        KEPT.parent.mkdir(parents=True, exist_ok=True)
        lines = KEPT.read_text(encoding="utf-8").splitlines() if KEPT.exists() else []
        self._found = {tuple(key): result for key, result in map(json.loads, lines)}

    def learn(self, table: pd.DataFrame, **options: object) -> kes.Optima:
        return kes.learn(table, prove=False, **self._search, **options)

    def kept(self, *key: object, make: Callable[[], dict[str, float]]) -> dict[str, float]:
        whole = (self._name, *key)
        if whole not in self._found:
            start = time.process_time()
            self._found[whole] = make() | {"cpu": time.process_time() - start}
            with KEPT.open("a", encoding="utf-8") as file:
                print(json.dumps([whole, self._found[whole]]), file=file)
        return self._found[whole]

    def edges(self, table: pd.DataFrame, **options: object) -> dict[str, float]:
        """Search a table of noise."""
        optima = self.learn(table, **options)
        worth = edge_worth(optima.best.graph, optima.problem)
        sure = sum(nats >= SURE for nats in worth.values())
        return {"edges": len(worth), "sure": sure, "price": optima.settings.edge_prior}

    def truth(self, kind: str, shape: tuple[int, int], density: int, seed: int, price: str) -> dict:
        """Search a table with a true network."""
        variables, rows = shape
        rng = np.random.default_rng([seed, variables, density, KINDS.index(kind)])
        cases, arcs = network(kind, variables, density, rng)
        train, new = cases(rows), cases(NEW)
        optima = self.learn(train, edge_prior=PRICES[price])
        found, true = optima.best.graph.skeleton, {frozenset(arc) for arc in arcs}
        empty = kes.EssentialGraph(list(train))
        gain = kes.fit(optima.best.graph, train).log_likelihood(new)
        gain -= kes.fit(empty, train).log_likelihood(new)
        return {
            "edges": len(found),
            "true": len(true),
            "right": len(found & true),
            "gain": gain / NEW,
        }


def noise_rows(
    bench: Bench, kinds: list[str], columns: list[int], draws: int, path: Path
) -> list[list[str]]:
    rows = []
    for kind in kinds:
        if kind in GENE_KINDS and not path.exists():
            continue
        for count in columns:
            found = []
            for seed in range(draws):
                make = partial(noise_edges, bench, kind, count, seed, path)
                found.append(bench.kept("noise", kind, count, seed, make=make))
            edges = [each["edges"] for each in found]
            rows.append(
                [
                    kind,
                    f"{count}",
                    f"{found[0]['price']:.2f}",
                    f"{statistics.mean(edges):.2f}",
                    f"{statistics.mean(edges) / count:.4f}",
                    f"{max(edges):.0f}",
                    f"{sum(each['sure'] for each in found):.0f}",
                    f"{statistics.mean(each['cpu'] for each in found):.2f}",
                ]
            )
    return rows


def noise_edges(bench: Bench, kind: str, columns: int, seed: int, path: Path) -> dict[str, float]:
    rng = np.random.default_rng([seed, columns])
    if kind in KINDS:
        return bench.edges(noise(kind, columns, rng))
    table = genes(columns, rng, path, drawn=kind == "genes, 128 cases")
    return bench.edges(table, **GENE_KINDS[kind])


def truth_rows(bench: Bench, kinds: list[str], draws: int) -> list[list[str]]:
    rows = []
    for kind in [kind for kind in KINDS if kind in kinds]:
        for density, word in ((1, "sparse"), (3, "dense")):
            for shape in SHAPES:
                cells = [truth_cell(bench, kind, shape, density, price, draws) for price in PRICES]
                rows.append([kind, word, f"{shape[0]} × {shape[1]}", *cells])
    return rows


def truth_cell(
    bench: Bench, kind: str, shape: tuple[int, int], density: int, price: str, draws: int
) -> str:
    """Return precision, recall and gain in the likelihood of new cases."""
    found = []
    for seed in range(draws):
        make = partial(bench.truth, kind, shape, density, seed, price)
        found.append(bench.kept("truth", kind, density, *shape, price, seed, make=make))
    edges, right, true = (sum(one[name] for one in found) for name in ("edges", "right", "true"))
    precision = f"{right / edges:.2f}" if edges else "–"
    gain = statistics.mean(one["gain"] for one in found)
    return f"{precision} / {right / true:.2f} / {gain:+.1f}"


def line_rows() -> list[list[str]]:
    """Time the line on noise at the top of reports, on one thread, and the whole reports."""
    mixed, _ = network("mixed", 20, 1, np.random.default_rng(0))
    tables = {f"ALARM, {rows} cases": kes.datasets.alarm(rows=rows) for rows in (500, 5000, 20000)}
    rows = []
    for name, table in {**tables, "20 mixed columns, 2000 cases": mixed(2000)}.items():
        optima = kes.learn(table)
        start = time.process_time()
        quick_noise(optima, optima.problem, threads=1)
        line = time.process_time() - start
        with tempfile.TemporaryDirectory() as folder:
            optima.report(Path(folder) / "report.html")
        whole = time.process_time() - start - line
        rows.append([name, f"{line:.2f}", f"{whole:.1f}", f"{line / whole:.0%}"])
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--columns", type=int, nargs="+", default=list(COLUMNS))
    parser.add_argument("--draws", type=int, default=DRAWS, help="tables of noise of each kind")
    parser.add_argument("--networks", type=int, default=3, help="true networks of each kind")
    parser.add_argument("--genes", type=Path, default=GENES, help="expression of Golub et al.")
    parser.add_argument("--default", action="store_true", help="the default search")
    parser.add_argument("--parts", nargs="+", default=["noise", "truths"])
    every = (*KINDS, *GENE_KINDS)
    parser.add_argument("--kinds", nargs="+", choices=every, default=every)
    options = parser.parse_args()
    bench = Bench(default=options.default)
    if "noise" in options.parts:
        print(f"Noise, {CASES} cases (genes: 72, or 128 drawn), {options.draws} tables each")
        head = ["kind", "columns", "price", "edges", "per variable", "most", "sure", "CPU seconds"]
        show(head, noise_rows(bench, options.kinds, options.columns, options.draws, options.genes))
    if "line" in options.parts:
        show(["table", "line, CPU seconds", "report, CPU seconds", "share"], line_rows())
    if "truths" in options.parts:
        print(f"\nTruths, {options.networks} networks each: precision / recall / gain on new cases")
        head = ["kind", "truth", "variables × cases", *(f"price {name}" for name in PRICES)]
        show(head, truth_rows(bench, options.kinds, options.networks))


if __name__ == "__main__":
    main()
