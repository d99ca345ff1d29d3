"""Compare the averaged network with our best single one on new cases (`make bench-average`).

The data sets and splits are those of `heldout.py`: each table is learned from once by a search with
default criterion, improved, and once as an average with default options. The log-likelihood of a
new case is compared within splits, in nats; also with the single network fitted with the equivalent
sample size of the members, which shows what averaging alone adds. Results are kept in a file, so a
command that is repeated does only what is missing. `--fill` writes the table of docs/quality.md.
"""

import argparse
import json
import statistics
import time
from pathlib import Path

from document import QUALITY, fill, number, record, seconds, table
from heldout import DATA, TIE
from timing import show

import kes
from kes.analysis.averaging import ESS

HEADER = [
    "data",
    "splits",
    "average above single: mean (smallest to largest)",
    "higher/same/lower",
    "above single, ess 5",
    "CPU seconds: single",
    "average",
]


def measured(name: str, split: int) -> dict[str, object]:
    """Learn both from a table; return ln P of a new case and processor seconds."""
    sample = DATA[name](split)
    assert sample.new is not None
    spent = [time.process_time()]
    single = kes.learn(sample.data, runs=100, improve=1000, random_state=0)
    network = single.best.fit(sample.data)
    spent.append(time.process_time())
    average = kes.ensemble(sample.data)
    spent.append(time.process_time())
    rows = sample.new.rows
    return {
        "data": name,
        "split": split,
        "single": network.log_likelihood(sample.new) / rows,
        "single_5": single.best.fit(sample.data, ess=ESS).log_likelihood(sample.new) / rows,
        "average": average.log_likelihood(sample.new) / rows,
        "single_seconds": spent[1] - spent[0],
        "average_seconds": spent[2] - spent[1],
    }


def lines(found: list[dict[str, float]]) -> list[list[str]]:
    """Return a line for each data set, and one for all."""
    result, every, alone = [], [], []
    for name in dict.fromkeys(one["data"] for one in found):
        own = [one for one in found if one["data"] == name]
        gaps = [one["average"] - one["single"] for one in own]
        every.append(gaps)
        alone.append(statistics.mean(one["average"] - one["single_5"] for one in own))
        costs = [
            seconds(statistics.median(one[f"{way}_seconds"] for one in own))
            for way in ("single", "average")
        ]
        ends = f"{number(min(gaps), 3)} to {number(max(gaps), 3)}"
        mean = f"{number(statistics.mean(gaps), 3)} ({ends})"
        counts = record(gaps, TIE)
        result.append([str(name), str(len(own)), mean, counts, number(alone[-1], 3), *costs])
    if every:
        single = [gap for gaps in every for gap in gaps]
        mean = number(statistics.mean(map(statistics.mean, every)), 3)
        rest = number(statistics.mean(alone), 3)
        result.append(["all", str(len(single)), mean, record(single, TIE), rest, "", ""])
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--splits", type=int, default=10)
    parser.add_argument("--data", nargs="+", choices=DATA, default=list(DATA)[:-1])
    parser.add_argument("--results", type=Path, default=Path("target/bench/average.jsonl"))
    parser.add_argument("--fill", action="store_true", help="write the table of the documentation")
    options = parser.parse_args()
    path = options.results
    path.parent.mkdir(parents=True, exist_ok=True)
    stored = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
    found = [json.loads(line) for line in stored]
    done = {(one["data"], one["split"]) for one in found}
    for split in range(options.splits):
        for name in options.data:
            if (name, split) not in done:
                found.append(measured(name, split))
                with path.open("a", encoding="utf-8") as file:
                    print(json.dumps(found[-1]), file=file)
    order = {name: place for place, name in enumerate(DATA)}
    found.sort(key=lambda one: (order[one["data"]], one["split"]))
    show(HEADER, lines(found))
    if options.fill:
        fill(QUALITY, "average", table(HEADER, lines(found)))


if __name__ == "__main__":
    main()
