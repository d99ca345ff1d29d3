"""Results of searches on samples, stored in a file with one result per line.

A command that is repeated with the same file does only what the file lacks.
"""

import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from environments import replies
from samples import Draw, Sample, prepared

import kes
from kes.analysis.averaging import ESS
from kes.network import AveragedNetwork


@dataclass(frozen=True)
class Cell:
    """The result of a search on a sample; without score and `per_case` if it took too long."""

    data: str
    sample: int
    search: str
    version: str
    seconds: float
    cpu: float
    score: float | None = None
    shd: int | None = None
    per_case: float | None = None
    """Mean log-likelihood of a new case."""

    @property
    def ended(self) -> bool:
        """Whether the search ended in time."""
        return self.score is not None or self.per_case is not None


class Results:
    """The results of a benchmark, in a file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        self.cells = [Cell(**json.loads(line)) for line in lines]

    def add(self, cell: Cell) -> None:
        self.cells.append(cell)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            print(json.dumps(asdict(cell)), file=file)

    def of(self, data: str, search: str) -> list[Cell]:
        """Return the results of a search on a data set, by sample, without unfinished ones."""
        found = [c for c in self.cells if (c.data, c.search) == (data, search)]
        return sorted((c for c in found if c.ended), key=lambda c: c.sample)

    def gave_up(self, search: str, data: str | None = None) -> float:
        """Return the seconds after which a search was stopped, on a data set or any; or 0."""
        found = [c for c in self.cells if c.search == search and data in {None, c.data}]
        return max((c.cpu for c in found if not c.ended), default=0.0)

    def gaps(self, data: str, ours: str, search: str, value: str = "score") -> list[float]:
        """Return the differences between our value and that of a search, within samples."""
        mine, other = (
            {cell.sample: getattr(cell, value) for cell in self.of(data, name)}
            for name in (ours, search)
        )
        both = [number for number in mine if None not in (mine[number], other.get(number))]
        return [mine[number] - other[number] for number in both]


def measure(
    results: Results,
    data: str,
    draw: Draw,
    samples: int,
    searches: Sequence[str],
    limit: float,
    enough: Callable[[Sequence[Cell]], bool] = lambda found: False,
    *,
    shuffle: bool = True,
) -> Iterator[Cell]:
    """Do what is not yet in the results, add it to them, and yield it.

    A search that took longer than the limit on any table is not repeated; one for which there is
    `enough` is not run on further samples.
    """
    quick = [search for search in searches if results.gave_up(search) < limit]
    done = {search: results.of(data, search) for search in quick}
    waiting = {s: found for s, found in done.items() if len(found) < samples and not enough(found)}
    if not waiting:
        return
    drawn = [draw(number) for number in range(samples)]
    tables = [prepared(each.data, number if shuffle else None) for number, each in enumerate(drawn)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder) / f"{number}.npz" for number in range(samples)]
        for path, table in zip(paths, tables, strict=True):
            np.savez(path, codes=table.codes.astype(np.int64), states=table.cardinalities)
        for search, found in waiting.items():
            first = len(found)
            answers = replies(search, paths[first:], limit)
            for number, reply in enumerate(answers, start=first):
                cell = judged(data, number, search, reply, tables[number], drawn[number])
                results.add(cell)
                found.append(cell)
                yield cell
                if enough(found):
                    answers.close()
                    break


def judged(
    data: str, number: int, search: str, reply: dict[str, Any], table: kes.Dataset, sample: Sample
) -> Cell:
    """Score a graph, compare it with the truth, and evaluate it on new cases.

    An average has no score and no distance: what counts are new cases.
    """
    spent = {key: reply[key] for key in ("version", "seconds", "cpu")}
    if "members" in reply:
        return Cell(data, number, search, **spent, per_case=averaged(reply, table, sample))
    if "directed" not in reply:
        return Cell(data, number, search, **spent)
    graph = graph_of(reply, table.names)
    whole = kes.EssentialGraph(sample.data.names, graph.directed, graph.undirected)
    per_case = None
    if sample.new is not None:
        fitted = kes.fit(whole, sample.data)
        per_case = fitted.log_likelihood(sample.new) / sample.new.rows
    return Cell(
        data=data,
        sample=number,
        search=search,
        **spent,
        score=kes.score(graph, table),
        shd=None if sample.truth is None else whole.shd(sample.truth),
        per_case=per_case,
    )


def averaged(reply: dict[str, Any], table: kes.Dataset, sample: Sample) -> float:
    """Fit the members of an average as `kes.ensemble` does, and return ln P of a new case."""
    assert sample.new is not None
    members = []
    for arcs in reply["members"]:
        named = [(table.names[a], table.names[b]) for a, b in arcs]
        graph = kes.EssentialGraph.from_dag(sample.data.names, named)
        members.append(kes.fit(graph, sample.data, ess=ESS))
    return AveragedNetwork(members).log_likelihood(sample.new) / sample.new.rows


def graph_of(reply: dict[str, Any], names: Sequence[str]) -> kes.EssentialGraph:
    """Return the equivalence class of a DAG or of a graph with undirected edges."""
    directed = [(names[a], names[b]) for a, b in reply["directed"]]
    undirected = [(names[a], names[b]) for a, b in reply["undirected"]]
    if undirected:
        return kes.EssentialGraph(names, directed, undirected)
    return kes.EssentialGraph.from_dag(names, directed)
