"""Measure what can be proven: optimum or gap, families and seconds.

`make bench-proofs NETWORKS=../shared/data/bif` draws tables from published networks with seed 1001
and calls `kes.certify` on one thread. Networks missing from the folder are taken from pgmpy, which
includes child and water. Seconds are processor seconds; the budget of each case is wall-clock time,
so a busy machine proves less. Where the budget does not suffice to find all families, more cases
are not tried. Rows appear as they are found, and the table of each network at its end.
"""

import argparse
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from samples import MODELS, file_of
from timing import show

import kes
from kes.data.random_stream import Stream

SEED = 1001
NETWORKS = ("child", "insurance", "water", "alarm", "hailfinder", "win95pts")
CASES = (500, 1000, 2000, 5000, 10_000, 20_000)
LIMITS = (2, 3, 4, None)
CRITERIA = ("bic", "bdeu")
HEADER = ["", "parents", "criterion", "sets", "families", "CPU seconds", "gap", "how"]


def proof(
    data: kes.Dataset, limit: int | None, criterion: str, budget: float
) -> tuple[kes.Certificate, float]:
    """Return a certificate and its CPU seconds."""
    start = time.process_time()
    certificate = kes.certify(data, max_parents=limit, criterion=criterion, budget=budget, n_jobs=1)
    return certificate, time.process_time() - start


def rows(file: Path, wanted: argparse.Namespace) -> Iterator[list[str]]:
    """Prove what can be proven for one network."""
    network = kes.read_network(file)
    for criterion in wanted.criteria:
        for limit in wanted.limits:
            for cases in wanted.cases:
                data = network.sample(cases, seed=Stream(SEED))
                found, seconds = proof(data, limit, criterion, wanted.budget)
                yield [
                    f"{len(network.nodes)} variables, {cases} cases",
                    "any" if limit is None else str(limit),
                    criterion,
                    f"{found.counted}",
                    f"{found.families}",
                    f"{seconds:.1f}",
                    "proven" if found.proven else f"{found.gap:.1f}",
                    found.method,
                ]
                if "too small to find all families" in found.method:
                    break  # more cases have more families


def limit_of(text: str) -> int | None:
    return None if text == "any" else int(text)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--networks", type=Path, default=MODELS, help="folder of BIF files")
    parser.add_argument("--only", nargs="+", default=NETWORKS, help="networks")
    parser.add_argument("--cases", nargs="+", type=int, default=CASES)
    parser.add_argument("--limits", nargs="+", type=limit_of, default=LIMITS, help="or 'any'")
    parser.add_argument("--criteria", nargs="+", default=CRITERIA)
    parser.add_argument("--budget", type=float, default=60.0, help="seconds for each case")
    wanted = parser.parse_args()
    for name in wanted.only:
        file = file_of(name, wanted.networks)
        print(f"\n{name}\n")
        table = []
        for row in rows(file, wanted):
            print(*row, sep="  ", file=sys.stderr, flush=True)
            table.append(row)
        show(HEADER, table)


if __name__ == "__main__":
    main()
