"""Validate background knowledge and the start of a search against the columns of the data."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from kes.data.interventions import Interventions, known_targets
from kes.data.notation import Notation
from kes.errors import KesError, about, listed, option, suggest
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import why_inadmissible
from kes.settings import Settings
from kes.validation import arcs


def constrained(
    settings: Settings, names: Sequence[str], *, start: object = None, knowledge: object = None
) -> Settings:
    """Return settings with a start and with knowledge about the columns `names`.

    Both must name these columns only, keep the bound on parents, and not contradict each other.
    """
    graph = _start(start, names)
    known = checked_knowledge(knowledge, names)
    limit = settings.max_parents
    if graph is not None and limit is not None:
        _check_parents(graph.to_dag(), limit, "start", "gives {} {} parents")
    if known is not None and limit is not None:
        _check_parents(known.required, limit, "knowledge", "requires {1} parents of {0}")
    if graph is not None and known is not None:
        refuse_inadmissible(graph, known, "start")
    return replace(settings, start=graph, knowledge=known)


def checked_knowledge(knowledge: object, names: Sequence[str]) -> Knowledge | None:
    """Validate knowledge about some of `names`; return None if it is empty."""
    if knowledge is None:
        return None
    if not isinstance(knowledge, Knowledge):
        raise KesError(
            f"{option('knowledge')} must be a kes.Knowledge, not {type(knowledge).__name__}; make "
            "one of lists, kes.Knowledge(tiers=...), or read a file, kes.Knowledge.read(path)",
            option="knowledge",
        )
    return knowledge.checked(names) or None


def with_exogenous(
    knowledge: object,
    contexts: Sequence[str] | None,
    names: Sequence[str],
    *,
    notations: Mapping[str, Notation] | None = None,
    interventions: Interventions | None = None,
) -> object:
    """Add exogenous variables to knowledge: contexts, indicators and earlier values."""
    own = [name for name, notation in (notations or {}).items() if notation.exogenous]
    block = dict.fromkeys([*(contexts or ()), *own])
    targets = known_targets(interventions or {})
    if not block or not isinstance(knowledge, Knowledge | None):
        return knowledge
    for what, mentioned in {
        "contexts": contexts or (),
        "interventions": [name for own in targets.values() for name in own],
    }.items():
        check_columns(what, mentioned, names)
    known = (knowledge or Knowledge()).adding(exogenous=block, targets=targets)
    if len(known.exogenous) == len(names):
        raise KesError(
            "all columns are contexts; at least one must be left to model", option="contexts"
        )
    return known


def check_columns(what: str, mentioned: Iterable[str], names: Sequence[str]) -> None:
    """Refuse names in an option that are not columns of the data."""
    for name in mentioned:
        if name not in names:
            raise KesError(
                f"{option(what)}: the data have no column {name!r}{suggest(name, names)}",
                option=what,
                column=name,
            )


def refuse_inadmissible(graph: EssentialGraph, known: Knowledge, what: str) -> None:
    """Raise an error if no network of a model satisfies the knowledge."""
    reason = why_inadmissible(graph, known)
    if reason is not None:
        raise KesError(f"{what} contradicts the knowledge: {reason}", option="knowledge")


TRAPS = "can trap runs in wrong optima"
"""Words of the note on constraints that lose the guarantee, which reports begin with."""

_WRONG = {
    "max_parents": "6 990 of 7 951 at a limit of 3",
    "forbidden arcs": "2 489 of 6 984",
    "pairs apart": "3 348 of 3 755",
    "known targets": "334 of 530",
}
"""True networks of five variables that have wrong local optima under a limit of three parents, one
forbidden arc, one pair apart, or one context with one known target, counted by
tests/oracle/test_guarantees.py."""


def lost_guarantee(settings: Settings) -> list[str]:
    """Return a note if some constraint lets runs end in wrong optima however many cases there are.

    With tiers, required arcs and exogenous variables none does: docs/theory.md, section 10.
    """
    known = settings.knowledge
    lost = {
        "max_parents": bool(settings.max_parents),  # with none, there is a single model
        "forbidden arcs": known is not None and bool(known.forbidden),
        "pairs apart": known is not None and bool(known.apart),
        "known targets": known is not None and bool(known.targets),
    }
    reasons = [reason for reason, holds in lost.items() if holds]
    if not reasons:
        return []
    counts = " and ".join(f"{_WRONG[one]} ({one})" for one in reasons)
    return [
        f"{' and '.join(reasons)} {TRAPS}, however many cases there are "
        f"(with five variables, for {counts} of the true networks): do many runs with a small k, "
        "or prove the best score"
    ]


def _start(start: object, names: Sequence[str]) -> EssentialGraph | None:
    """Return the model to start from, over exactly the variables of the data."""
    if start is None:
        return None
    if not isinstance(start, EssentialGraph):
        with about(option="start"):
            return EssentialGraph.from_dag(names, arcs("start", start))
    known = set(names)
    strangers = [node for node in start.nodes if node not in known]
    if strangers:
        raise KesError(
            f"start has nodes that are not columns of the data: {listed(strangers)}; "
            "start from a graph over columns of the data",
            option="start",
            column=strangers[0],
        )
    return EssentialGraph(names, start.directed, start.undirected)


def _check_parents(pairs: Iterable[tuple[str, str]], limit: int, what: str, verb: str) -> None:
    """Refuse arcs that give a node more parents than allowed: no step could repair that."""
    for node, parents in Counter(child for _, child in pairs).items():
        if parents > limit:
            raise KesError(
                f"{option(what)} {verb.format(repr(node), parents)}, but {option('max_parents')} "
                f"is {limit}; raise it, or use fewer arcs",
                option=what,
                column=node,
            )
