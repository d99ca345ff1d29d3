"""Tables of results, with a row for each data set and a column for each search."""

import statistics
from collections.abc import Callable, Iterable, Sequence

from document import number, record, seconds, spread, table
from results import Results

Entry = Callable[[Results, str, str], str]
"""Return the entry for a search on a data set."""
NOTHING = "–"


def by_data(results: Results, data: Iterable[str], searches: Sequence[str], entry: Entry) -> str:
    """Return a table of the data sets and searches with results."""
    lines = {name: [entry(results, name, search) for search in searches] for name in data}
    lines = {name: line for name, line in lines.items() if set(line) != {NOTHING}}
    columns = zip(searches, *lines.values(), strict=True)
    ended = [column for column in columns if set(column[1:]) != {NOTHING}]
    header, *entries = zip(["data", *lines], *ended, strict=True)
    return table(header, entries)


def gap(ours: str, value: str, *, digits: int, tie: float) -> Entry:
    """Return a function for the difference between ours and another search, and its sign counts."""

    def entry(results: Results, data: str, search: str) -> str:
        found = results.gaps(data, ours, search, value)
        if not found:
            return NOTHING
        if all(abs(difference) < tie for difference in found):
            return "same"
        return f"{spread(found, digits)}, {record(found, tie)}"

    return entry


def distance(results: Results, data: str, search: str) -> str:
    """Return the mean distance from the truth."""
    found = [cell.shd for cell in results.of(data, search) if cell.shd is not None]
    return number(statistics.mean(found)) if found else NOTHING


def cpu(results: Results, data: str, search: str) -> str:
    """Return the median seconds."""
    found = [cell.cpu for cell in results.of(data, search)]
    return seconds(statistics.median(found)) if found else NOTHING
