"""Edges of a result with their certainty, as ``kes learn`` and ``kes edges`` print them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

from kes.analysis.certainty import (
    ABSENT,
    CLEAR,
    ERRORS,
    LIKELY,
    VERDICTS,
    drawn,
    edge_list,
    quantity,
    replaceable,
)
from kes.cli.console import say, show, width
from kes.data.notes import BY_CHANCE
from kes.results.optima import Optima
from kes.results.summary import counted, of_completed
from kes.table import Table

_MOST = 50
"""Edges of the network that `kes learn` shows; of more, the strongest and the weakest."""

_MOST_REPLACEABLE = 3
"""Edges whose replacement is explained."""


def show_network(optima: Optima, evidence: Table, out: Path | None) -> None:
    """Print the edges of the best model, those with most evidence first."""
    skeleton = optima.best.graph.skeleton
    if not skeleton:
        alone = "under this criterion, all variables are independent"
        if optima.kind != "discrete":
            alone = (
                "no edge raises the score: the variables have no linear relations "
                "(--discretize 3 finds others)"
            )
        say(f"\nThe best network has no edges: {alone}.")
        return
    own = _part(evidence, skeleton)
    chance = (
        f" (with so few cases, {BY_CHANCE})" if any(BY_CHANCE in n for n in optima.notes) else ""
    )
    say(f"\nThe best network, {counted(len(own), 'edge')}, the strongest first{chance}:")
    shown = edge_list(optima, own).without("instead")
    lines = shown.to_text(rows=_MOST, width=width() - 2).splitlines()
    say("\n".join(f"  {line}" for line in lines[: min(len(own), _MOST + 1) + 1]))
    better = [line for line in evidence.note.splitlines() if line.startswith("On the way")]
    for line in (*_explained(optima, own, shown.columns), *better, *of_completed(optima)):
        say(line)
    say("An arrow alone is no proof of a cause. Give known directions with --tiers.")
    file = "FILE (after --out FILE)" if out is None else quote(str(out))
    near = sum(
        nats is not None and nats > -LIKELY
        for nats, x, y in zip(evidence["evidence"], evidence["x"], evidence["y"], strict=True)
        if frozenset((x, y)) not in skeleton
    )
    if near:
        other = counted(near, "further pair is", "further pairs are")
        say(f"{other} nearly as well connected as not: kes edges {file}")
    elif len(own) > _MOST:
        say(f"All edges: kes edges {file}")


def show_edges(optima: Optima, evidence: Table) -> None:
    """Print all pairs that some optimum connects."""
    table = edge_list(optima, evidence)
    lines = [*_explained(optima, evidence, table.columns)]
    if any(f" {ABSENT} " in edge for edge in table["edge"]):
        lines.append(f"{ABSENT}: the best network does not connect them.")
    lines += [line for line in evidence.note.splitlines() if line.startswith(_REMARKS)]
    show(Table(table.to_dict(), note="\n".join(lines)))


_REMARKS = ("It ended", "On the way", "Computed from", "Excluded")
"""Starts of the lines below a table of evidence that depend on the result."""


def _part(evidence: Table, pairs: frozenset[frozenset[str]]) -> Table:
    """Return the rows about some pairs."""
    rows = [row for row in evidence if frozenset((row["x"], row["y"])) in pairs]
    return Table(
        {name: [row[name] for row in rows] for name in evidence.columns}, note=evidence.note
    )


def _explained(optima: Optima, evidence: Table, columns: Sequence[str]) -> Iterator[str]:
    """Yield what the columns mean, and which edges look weak only because others replace them."""
    yield (
        "evidence: nats by which the best network with the edge beats the best without it; "
        f"{_status(evidence)}"
    )
    own = quantity(evidence)
    for line in evidence.note.splitlines():
        if own and line.startswith("probability:"):  # by the name of its column
            yield line if own == "probability" else line.replace(f"probability: {own}", own + ":")
    words = ", ".join(f"{word} ({range_})" for word, range_ in VERDICTS.items())
    yield f"certainty: {words}, given these data and this criterion"
    if optima.best.mpdag.directed - optima.best.mpdag.known_directions:
        yield (
            "direction: clear if the edge is sure, the opposite direction costs at least "
            f"{CLEAR:g} nats (in brackets) and {ERRORS:g} standard errors (±), and the best "
            "networks by other criteria have it too; open: equally good networks differ"
        )
    yield "runs %: share of the runs that ended with the edge; it says nothing about the data"
    if "instead" in columns:
        yield "instead: edges that take its place in the best network without it"
    if optima.problem is None:
        return
    weak = replaceable(optima.best.graph, optima.problem, evidence)
    for pair, one in [*weak.items()][:_MOST_REPLACEABLE]:
        a, mark, b = drawn(optima.best.mpdag, *sorted(pair, key=optima.names.index))
        yield one.explained(f"{a} {mark} {b}")
    if len(weak) > _MOST_REPLACEABLE:
        yield f"The same holds for {counted(len(weak) - _MOST_REPLACEABLE, 'other edge')}."


def _status(evidence: Table) -> str:
    """Return the status of evidence in one phrase."""
    found = {*evidence["how"]}
    meanings = {
        "exact": "exact, as both are proven optimal",
        "estimate": "an estimate from the best networks found",
        "upper bound": "upper bound, as no better network without the edge was searched for",
        "lower bound": "lower bound, as no better network with the edge was searched for",
    }
    return " or ".join(text for how, text in meanings.items() if how in found)
