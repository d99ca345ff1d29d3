"""Time exact inference beside pyAgrum: the same questions to both, in turns, in one run.

Questions are posteriors of random nodes given random others, whose states are sampled from the
network; marginals of all nodes; and the prediction of a node in 10 000 sampled rows, in which all
other columns, or all but some, are given. pyAgrum is used as its documentation shows: a new
inference object per question, and one whose evidence is changed for rows. Its predictions are timed
on distinct rows, found by pandas, as ours are computed; neither includes reading the table. Prints
medians and ratios; a ratio above 1 means that kes is faster.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pyagrum

import kes
from kes.data.random_stream import Stream
from kes.network import BayesianNetwork

QUESTIONS = 20
ROWS = 10_000


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return seconds and result."""
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


class Peer:
    """The same network in pyAgrum."""

    def __init__(self, network: BayesianNetwork) -> None:
        self.model = network.to_pyagrum()
        self.place = {node: i for i, node in enumerate(network.nodes)}
        self.codes = {n: {s: c for c, s in enumerate(network.states[n])} for n in network.nodes}

    def start(self, evidence: dict[str, Any], engine: str = "LazyPropagation") -> Any:
        inference = getattr(pyagrum, engine)(self.model)
        for node, state in evidence.items():
            inference.addEvidence(self.place[node], self.codes[node][state])
        return inference

    def posterior(self, node: str, evidence: dict[str, Any], engine: str) -> np.ndarray:
        inference = self.start(evidence, engine)
        inference.addTarget(self.place[node])
        return inference.posterior(self.place[node]).toarray()

    def marginals(self, evidence: dict[str, Any]) -> list[np.ndarray]:
        inference = self.start(evidence)
        inference.makeInference()
        return [inference.posterior(i).toarray() for i in self.place.values()]

    def predict(self, rows: list[dict[str, Any]], target: str) -> list[np.ndarray]:
        inference = self.start(rows[0])
        inference.addTarget(self.place[target])
        found = []
        for row in rows:
            for node, state in row.items():
                inference.chgEvidence(self.place[node], self.codes[node][state])
            found.append(inference.posterior(self.place[target]).toarray())
        return found


def line(what: str, ours: list[float], theirs: list[float]) -> None:
    ratio = median(theirs) / median(ours)
    print(
        f"  {what:<42} {median(ours) * 1e3:10.3f} {median(theirs) * 1e3:10.3f} {ratio:8.1f}"
        f"   (slowest {max(ours) * 1e3:.1f}, {max(theirs) * 1e3:.1f})",
        flush=True,
    )


def ask(network: BayesianNetwork, peer: Peer, rng: np.random.Generator, skip: list[str]) -> None:
    """Time posteriors and marginals."""
    cases = network.sample(QUESTIONS, seed=Stream(1)).to_pandas().to_dict("records")
    for observed in (0, 1, 5, 10):
        ours, lazy, elimination = [], [], []
        for case in cases:
            node, *others = rng.choice(list(network.nodes), observed + 1, replace=False).tolist()
            given = {other: case[other] for other in others}
            seconds, found = timed(lambda: network.probability(node, given))  # noqa: B023
            ours.append(seconds)
            for engine, times in (("LazyPropagation", lazy), ("VariableElimination", elimination)):
                seconds, theirs = timed(lambda: peer.posterior(node, given, engine))  # noqa: B023
                times.append(seconds)
                np.testing.assert_allclose([*found.values()], theirs, atol=1e-7)
        line(f"posterior, {observed} observed, LazyPropagation", ours, lazy)
        line(f"posterior, {observed} observed, VariableElimination", ours, elimination)
    if "marginals" in skip:
        try:
            seconds, _ = timed(network.marginals)
            print(f"  all marginals: {seconds * 1e3:.1f} ms; pyAgrum runs out of memory")
        except kes.KesError as error:
            print(f"  all marginals: refused by kes ({error}); pyAgrum runs out of memory")
        return
    for observed in (0, 5):
        ours, theirs = [], []
        for case in cases[:5]:
            others = rng.choice(list(network.nodes), observed, replace=False).tolist()
            given = {other: case[other] for other in others}
            seconds, found = timed(lambda: network.marginals(given))  # noqa: B023
            ours.append(seconds)
            seconds, expected = timed(lambda: peer.marginals(given))  # noqa: B023
            theirs.append(seconds)
            for mine, other in zip(found.values(), expected, strict=True):
                np.testing.assert_allclose([*mine.values()], other, atol=1e-7)
        line(f"all marginals, {observed} observed", ours, theirs)


def predict(network: BayesianNetwork, peer: Peer, rng: np.random.Generator) -> None:
    """Time predictions of rows."""
    table = network.sample(ROWS, seed=Stream(2)).to_pandas()
    inner = [n for n in network.nodes if len(network.markov_blanket(n)) > 2]
    for hidden in (0, 3, 10):
        target, *absent = rng.choice(inner, hidden + 1, replace=False).tolist()
        data = table.drop(columns=absent)
        whole, found = timed(lambda: network.predict(data, target, probabilities=True))  # noqa: B023
        rows = network._prepare_for(target, data, "error")
        ours = [timed(lambda: network._engine.predict(rows, target))[0] for _ in range(5)]  # noqa: B023
        known = network.relevant(target, data.columns)
        search, distinct = timed(data[known].drop_duplicates)
        part = distinct.head(500)
        cases = part.to_dict("records")
        theirs, expected = timed(lambda: peer.predict(cases, target))  # noqa: B023
        theirs = search + theirs * len(distinct) / len(part)
        np.testing.assert_allclose(found[table.index.get_indexer(part.index)], expected, atol=1e-7)
        what = f"{ROWS} rows, {hidden} columns hidden ({len(distinct)} distinct)"
        line(what, ours, [theirs])
        print(f"    (with reading the table: {whole * 1e3:.1f} ms)")


def main() -> None:
    """Print a table for each network."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--networks", type=Path, default=Path("../shared/data/bif"))
    parser.add_argument("--only", nargs="*", default=["alarm", "andes", "link"])
    arguments = parser.parse_args()
    for name in arguments.only:
        network = kes.read_network(arguments.networks / f"{name}.bif.gz")
        rng = np.random.default_rng(0)
        print(f"{name}: {len(network.nodes)} nodes")
        print(f"  {'milliseconds':<42} {'kes':>10} {'pyAgrum':>10} {'ratio':>8}")
        peer = Peer(network)
        network.probability(network.nodes[0])  # hands the tables to the core
        ask(network, peer, rng, ["marginals"] if name == "link" else [])
        predict(network, peer, rng)


if __name__ == "__main__":
    main()
