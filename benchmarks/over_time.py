"""Measure networks over time beside PCMCI+, Granger tests and plain forecasts (`make bench-time`).

*VAR*: linear series with one lag; each variable depends on itself and on one or two others a step
before, and half of them on another at the same time. *Discrete*: the same with three states and
random tables. Ten series of 100 steps. Arcs from earlier values are compared with the true ones:
precision and recall. Then a real panel, investments of eleven firms in twenty years, and US
macroeconomic series by quarters: the probability of the last rows one step ahead, given earlier
ones, in nats per row, and the error of forecasts.
"""

import argparse
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from environments import install, python_of
from timing import show

import kes

SERIES, STEPS, STATES = 10, 100, 3
TABLES = {"VAR": {5: 10, 10: 10, 25: 4}, "discrete": {5: 4, 10: 4, 25: 2}}
"""Tables of each design, by the number of variables."""
LIMIT = 60
"""Seconds of the processor that a peer may take for one table, by default."""

Arc = tuple[str, str]


@dataclass(frozen=True)
class Sample:
    """A table of series, and the true arcs from earlier values, such as ("a[t-1]", "b")."""

    frame: pd.DataFrame
    arcs: frozenset[Arc]

    @property
    def names(self) -> list[str]:
        return [name for name in self.frame.columns if name not in ("series", "time")]


def draw(kind: str, n: int, seed: int) -> Sample:
    """Draw a network over time and series from it."""
    rng = np.random.default_rng([n, seed, kind == "discrete"])
    order = rng.permutation(n)
    before = {v: {v, *rng.choice(n, rng.integers(1, 3), replace=False).tolist()} for v in range(n)}
    now = {
        int(v): [int(rng.choice(order[:i]))] if i and rng.random() < 0.5 else []
        for i, v in enumerate(order)
    }
    make = _discrete if kind == "discrete" else _linear
    values = make(rng, order, before, now)
    names = [f"v{i:02}" for i in range(n)]
    frame = pd.DataFrame(values.reshape(-1, n), columns=names)
    if kind == "discrete":
        frame = frame.astype(int).astype(str)
    frame.insert(0, "time", np.tile(np.arange(STEPS), SERIES))
    frame.insert(0, "series", np.repeat([f"s{i}" for i in range(SERIES)], STEPS))
    arcs = frozenset((f"{names[a]}[t-1]", names[b]) for b in range(n) for a in before[b])
    return Sample(frame, arcs)


def _linear(rng, order, before, now):
    n = len(order)
    past = np.zeros((n, n))
    same = np.zeros((n, n))
    for v in range(n):
        for a in before[v]:
            past[v, a] = 0.5 if a == v else rng.uniform(0.25, 0.5) * rng.choice([-1, 1])
        for a in now[v]:
            same[v, a] = rng.uniform(0.4, 0.8) * rng.choice([-1, 1])
    whole = np.linalg.solve(np.eye(n) - same, past)
    past *= min(1.0, 0.9 / np.abs(np.linalg.eigvals(whole)).max())  # so that series stay bounded
    values = np.zeros((SERIES, STEPS + 50, n))
    for t in range(1, STEPS + 50):
        noise = rng.normal(size=(SERIES, n))
        values[:, t] = (values[:, t - 1] @ past.T + noise) @ np.linalg.inv(np.eye(n) - same).T
    return values[:, 50:]


def _discrete(rng, order, before, now):
    n = len(order)
    parents = {v: [*((a, 1) for a in sorted(before[v])), *((a, 0) for a in now[v])] for v in now}
    tables = {v: rng.dirichlet([0.5] * STATES, STATES ** len(parents[v])) for v in now}
    values = np.zeros((SERIES, STEPS + 50, n), dtype=int)
    for t in range(1, STEPS + 50):
        for v in order:
            cell = np.zeros(SERIES, dtype=int)
            for a, lag in parents[v]:
                cell = cell * STATES + values[:, t - lag, a]
            p = tables[v][cell]
            values[:, t, v] = (rng.random(SERIES)[:, None] > p.cumsum(axis=1)[:, :-1]).sum(axis=1)
    return values[:, 50:]


# --- searches ------------------------------------------------------------------------------------


Search = Callable[[Sample, int], set[Arc] | None]
"""Search a table, with a limit for peers: None if it takes longer."""


def by_kes(**options: object) -> Search:
    def search(sample: Sample, _: int) -> set[Arc]:
        table = kes.lagged(sample.frame, 1, by="series", time="time")
        best = kes.learn(table, prove=False, n_jobs=1, **options).best.mpdag
        return {(a, b) for a, b in best.directed if a.endswith("[t-1]")}

    return search


def by_peer(which: str) -> Search:
    """Run a peer in its own environment."""

    def search(sample: Sample, limit: int) -> set[Arc] | None:
        names = sample.names
        data = sample.frame[names].astype(float).to_numpy().reshape(SERIES, STEPS, len(names))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.npy"
            np.save(path, data)
            worker = Path(__file__).with_name("over_time_worker.py")
            command = [python_of("tigramite"), worker, which, path, str(limit)]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode in (-signal.SIGXCPU, -signal.SIGKILL):
            return None
        if done.returncode != 0:
            raise SystemExit(f"{which} failed:\n{done.stderr}")
        found = json.loads(done.stdout.splitlines()[-1])
        return {(f"{names[a]}[t-1]", names[b]) for a, b in found}

    return search


SEARCHES = {
    "VAR": {
        "kes": by_kes(),
        "kes, no edge price": by_kes(edge_prior=0),
        "PCMCI+, partial correlations": by_peer("pcmci"),
        "Granger tests of a VAR": by_peer("granger"),
    },
    "discrete": {
        "kes": by_kes(),
        "kes, BDeu": by_kes(criterion="bdeu"),
        "PCMCI+, G² tests": by_peer("pcmci-discrete"),
    },
}


def judge(search: Search, samples: list[Sample], limit: int) -> list[str]:
    """Return precision, recall and CPU seconds."""
    right = found = true = 0
    spent = _clock()
    for sample in samples:
        arcs = search(sample, limit)
        if arcs is None:
            return ["–", "–", f"over {limit}"]
        right, found, true = (
            right + len(arcs & sample.arcs),
            found + len(arcs),
            true + len(sample.arcs),
        )
    spent = (_clock() - spent) / len(samples)
    return [f"{right / max(found, 1):.2f}", f"{right / true:.2f}", f"{spent:.1f}"]


def _clock() -> float:
    import resource

    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + used.ru_utime + used.ru_stime


# --- real series ---------------------------------------------------------------------------------


def panels() -> dict[str, tuple[pd.DataFrame, str | None, str]]:
    """Return the tables of statsmodels: by which column they are series, and the time."""
    code = (
        "import sys, statsmodels.api as sm\n"
        "for name in ('grunfeld', 'macrodata'):\n"
        "    table = getattr(sm.datasets, name).load_pandas().data\n"
        "    table.to_csv(f'{sys.argv[1]}/{name}.csv', index=False)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python_of("tigramite"), "-c", code, folder], check=True)
        firms = pd.read_csv(Path(folder) / "grunfeld.csv")
        macro = pd.read_csv(Path(folder) / "macrodata.csv")
    firms[["invest", "value", "capital"]] = np.log(firms[["invest", "value", "capital"]])
    growth = ["realgdp", "realcons", "realinv", "realgovt", "realdpi", "cpi", "m1"]
    quarters = pd.DataFrame({"quarter": 4 * macro["year"] + macro["quarter"]})
    quarters[growth] = 100 * np.log(macro[growth]).diff()
    quarters[["unemp", "tbilrate"]] = macro[["unemp", "tbilrate"]]
    return {
        "investments of firms": (firms, "firm", "year"),
        "US economy, quarters": (quarters.dropna().astype({"quarter": int}), None, "quarter"),
    }


def real_rows(table: pd.DataFrame, by: str | None, time_: str) -> list[list[str]]:
    """Learn from the first 70 % of the times, and judge the rest one step ahead."""
    names = [name for name in table.columns if name not in (by, time_)]
    last = table[time_].quantile(0.7)
    scale = table.loc[table[time_] <= last, names].std()
    table = table.assign(**{name: table[name] / scale[name] for name in names})
    train = kes.lagged(table[table[time_] <= last], 1, by=by, time=time_)
    test = kes.lagged(table[table[time_] >= last], 1, by=by, time=time_)  # with one row before
    optima = kes.learn(train, prove=False)
    graphs = {
        "kes": optima.best.mpdag,
        "each from its own past": [(f"{name}[t-1]", name) for name in names],
        "all from all earlier values (VAR)": [(f"{a}[t-1]", b) for a in names for b in names],
        "no edges": [],
    }
    rows = []
    for name, graph in graphs.items():
        network = kes.fit(graph, train)
        logs = network.log_likelihood(test, per_row=True)
        wrong = forecast_error(network, table, by, time_, last, names)
        arcs = len(graph) if isinstance(graph, list) else len(graph.skeleton)
        rows.append([name, str(arcs), f"{logs.mean():.2f}", f"{wrong:.3f}"])
    return rows


def forecast_error(network, table, by, time_, last, names) -> float:
    """Return the root mean square error one step ahead, in standard deviations."""
    errors = []
    times = sorted(table[time_].unique())
    for now in [t for t in times if t >= last][:-1]:
        following = times[times.index(now) + 1]
        found = network.forecast(table[table[time_] <= now], 1, by=by, time=time_, draws=200)
        truth = table[table[time_] == following]
        for row in found:
            own = truth if by is None else truth[truth[by] == row[by]]
            errors += (own[row["variable"]] - row["forecast"]).tolist()
    return float(np.sqrt(np.mean(np.square(errors))))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--sizes", default="5,10,25")
    parser.add_argument("--kinds", default="VAR,discrete,real")
    parser.add_argument("--replicates", type=int, help="tables of each design, instead of TABLES")
    parser.add_argument("--no-peers", action="store_true")
    parser.add_argument("--searches", nargs="+", help="those with these names")
    parser.add_argument("--limit", type=int, default=LIMIT, help="processor seconds of a peer")
    given = parser.parse_args()
    if not python_of("tigramite").exists():
        install({"tigramite"})  # for its tables, too
    rows = []
    kinds = given.kinds.split(",")
    for kind, searches in SEARCHES.items():
        if kind not in kinds:
            continue
        for n in map(int, given.sizes.split(",")):
            samples = [
                draw(kind, n, seed) for seed in range(given.replicates or TABLES[kind].get(n, 4))
            ]
            for name, search in searches.items():
                if given.no_peers and not name.startswith("kes"):
                    continue
                if given.searches and name not in given.searches:
                    continue
                found = judge(search, samples, given.limit)
                rows.append([f"{kind}, {n} variables", name, *found])
                print(*rows[-1], sep=" | ", file=sys.stderr, flush=True)
    show(["design", "search", "precision", "recall", "CPU s"], rows)
    for name, (table, by, time_) in panels().items() if "real" in kinds else ():
        print(f"\n{name}")
        head = ["network", "arcs", "nats per row", "error"]
        show(head, real_rows(table, by, time_))


if __name__ == "__main__":
    main()
