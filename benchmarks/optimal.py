"""Count how often searches reach a proven optimum (`make bench-optimal`).

On tables small enough for a certificate, `kes.certify` returns the highest score of all networks.
100 runs at k = 0.4, and 1000 improvement tasks on them, are done for twenty seeds each. `--fill`
writes the table of docs/quality.md.
"""

import argparse
from collections.abc import Callable, Iterator

from document import QUALITY, fill, number, table
from heldout import binned
from samples import SHARED, coil, network
from timing import show

import kes
from kes.data.random_stream import Stream

SEEDS = 20
TIE = 1e-6
HEADER = ["data", "variables", "optimum", "GES", "best of 100 runs", "improved"]


def drawn(name: str, rows: int) -> Callable[[], kes.Dataset]:
    return lambda: network(name).sample(rows, seed=Stream(1))


DATA: dict[str, Callable[[], kes.Dataset]] = {
    "asia, 5 000": drawn("asia", 5_000),
    "sachs, 5 000": drawn("sachs", 5_000),
    "wine, 178": binned("wine"),
    "child, 500": drawn("child", 500),
    **({"CoIL, 5 822": coil} if SHARED.exists() else {}),
    "insurance, 500": drawn("insurance", 500),
    "breast cancer, 569": binned("breast_cancer"),
    "ALARM, 500": drawn("alarm", 500),
}


def rows() -> Iterator[list[str]]:
    """Yield the distance of searches from the optimum for each table."""
    for name, read in DATA.items():
        data = read()
        proof = kes.certify(data)
        if not proof.proven:
            yield [name, str(len(data.names)), "not proven", "", "", ""]
            continue
        found = [kes.learn(data, k=0.4, runs=100, random_state=seed) for seed in range(SEEDS)]
        ges = found[0].ges.score
        of_runs = [proof.score - optima.best_run.score for optima in found]
        of_all = [proof.score - optima.best.score for optima in found]
        yield [
            name,
            str(len(data.names)),
            number(proof.score, 2),
            number(proof.score - ges, 2),
            reached(of_runs),
            reached(of_all),
        ]


def reached(gaps: list[float]) -> str:
    """Return how often the gap was zero, and the largest gap."""
    times = sum(gap < TIE for gap in gaps)
    worst = "" if times == len(gaps) else f", at worst {number(max(gaps), 2)} below"
    return f"{times} of {len(gaps)}{worst}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fill", action="store_true", help="write the table of the documentation")
    options = parser.parse_args()
    lines = list(rows())
    show(HEADER, lines)
    if options.fill:
        fill(QUALITY, "optima", table(HEADER, lines))


if __name__ == "__main__":
    main()
