"""Settings with background knowledge, which must fit the columns, the start and the bounds."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from kes.errors import KesError, option
from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import why_inadmissible
from kes.options import Settings


def knowing(settings: Settings, knowledge: object, names: Sequence[str]) -> Settings:
    """Return the same settings with knowledge of some of `names`.

    Raises
    ------
    KesError
        If it is no knowledge of columns of the data, requires more parents than are allowed, or
        the start contradicts it.
    """
    known = checked_knowledge(knowledge, names)
    if known is None:
        return settings
    if settings.max_parents is not None:
        _check_parents(known, settings.max_parents)
    if settings.start is not None:
        refuse_inadmissible(settings.start, known, "start")
    return replace(settings, knowledge=known)


def checked_knowledge(knowledge: object, names: Sequence[str]) -> Knowledge | None:
    """Return knowledge of some of `names`; None if there is none, or it says nothing."""
    if knowledge is None:
        return None
    if not isinstance(knowledge, Knowledge):
        raise KesError(
            f"{option('knowledge')} must be a kes.Knowledge, not {type(knowledge).__name__}; make "
            "one of lists, kes.Knowledge(tiers=...), or read a file, kes.Knowledge.read(path)"
        )
    return knowledge.checked(names) or None


def refuse_inadmissible(graph: EssentialGraph, known: Knowledge, what: str) -> None:
    """Complain about a model of which no network is admissible, and say why."""
    reason = why_inadmissible(graph, known)
    if reason is not None:
        raise KesError(f"{what} contradicts the knowledge: {reason}")


def _check_parents(known: Knowledge, most: int) -> None:
    for node, parents in Counter(child for _, child in known.required).items():
        if parents > most:
            raise KesError(
                f"the knowledge requires {parents} parents of {node!r}, but "
                f"{option('max_parents')} is {most}; raise it, or require fewer arcs"
            )
