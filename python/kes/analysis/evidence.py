"""Evidence for a part of a network, in nats: the best model with it against the best without it.

The evidence for an edge is the score of the best model with the edge minus that of the best model
without it, where everything else may adapt. (The loss from deleting the edge from *one* model,
which `Optima.explain` gives, is larger: there nothing adapts.) Judging parts of a network by the
models of several optima is due to [Peña 2004].

Each side of the question is searched for its best model (`constrained_search`). On small tables the
best model is proven; elsewhere it is the best found, and the evidence is an estimate. Some sides
are unions: a network without the v-structure a -> c <- b lacks one of its arcs, has it reversed, or
connects a and b.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kes.analysis.constrained_search import Candidate, Contest, Side
from kes.errors import Interrupted, unknown
from kes.progress import Progress, Show, reporting
from kes.results.summary import counted, of_completed
from kes.table import Table, tabulated

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

TASKS = 30
"""Improvement tasks for each side."""

WEAK = 3.0
"""Nats below which an edge, or its direction, is called weak: odds of less than 20 to 1 against
another model, short of "strong" evidence by the usual scale [Kass & Raftery 1995]."""

_COLUMNS = {
    "edges": ("x", "y"),
    "v_structures": ("x", "collider", "y"),
    "ancestors": ("ancestor", "descendant"),
}
"""The kinds of parts, and the nodes that a row is about."""


@dataclass(frozen=True)
class Question:
    """Whether a network has some part: a union of sides has it, and another one lacks it."""

    nodes: tuple[int, ...]
    yes: tuple[Side, ...]
    no: tuple[Side, ...]

    @property
    def sides(self) -> tuple[Side, ...]:
        """All sides."""
        return self.yes + self.no


class EvidenceInterrupted(Interrupted):
    """Ctrl-C during `Optima.evidence`.

    Attributes
    ----------
    evidence : Table
        What was found until then.
    """

    def __init__(self, evidence: Table) -> None:
        super().__init__()
        self.evidence = evidence

    def __str__(self) -> str:
        return "interrupted; what was found is in the attribute 'evidence'"


def evidence(
    optima: Optima,
    problem: Problem,
    of: str,
    *,
    tasks: int,
    seconds: float | None = None,
    threads: int,
    models: int | None = None,
    progress: bool | Show | None = None,
) -> Table:
    """Return the evidence for all parts of one kind that some optimum has; see `Optima.evidence`.

    `models` limits the questions to what so many of the best optima have. After `seconds`, or
    Ctrl-C (EvidenceInterrupted), the other questions rest on the models found until then.
    """
    if of not in _COLUMNS:
        raise unknown("kind of evidence", of, _COLUMNS, option="of")
    deadline = None if seconds is None else time.monotonic() + seconds
    known = [(optimum.edges, optimum.score) for optimum in optima]
    contest = Contest(problem, known, tasks=tasks, threads=threads)
    asked = _questions(of, contest.candidates[:models])
    # Those about ancestors cannot be searched; the best models with and without each edge serve.
    searched = _questions("edges", contest.candidates[:models]) if of == "ancestors" else asked
    board = Scoreboard(contest, [*asked, *searched])
    is_interrupted = False
    try:
        board.settle(searched, deadline, progress)
    except KeyboardInterrupt:
        is_interrupted = True
    note = [_note(of, board, tasks, len(searched)), *of_completed(optima)]
    found = _table(of, optima.names, asked, board, "\n".join(note))
    if is_interrupted:
        raise EvidenceInterrupted(found)
    return found


def _questions(of: str, models: Sequence[Candidate]) -> list[Question]:
    """Return the questions about all parts that some model has."""
    if of == "edges":
        pairs = {(min(arc), max(arc)) for model in models for arc in model.arcs}
        return [Question(pair, _arcs(*pair), (Side("apart", pair),)) for pair in sorted(pairs)]
    if of == "v_structures":
        return [_collider(*nodes) for nodes in sorted(set().union(*(m.colliders for m in models)))]
    return [
        Question(pair, (Side("ancestor", pair),), (Side("no ancestor", pair),))
        for pair in sorted(set().union(*(m.descents[0] for m in models)))
    ]


def _arcs(a: int, b: int) -> tuple[Side, Side]:
    return Side("arc", (a, b)), Side("arc", (b, a))


def _collider(a: int, c: int, b: int) -> Question:
    without = (Side("apart", (a, c)), Side("apart", (b, c)))
    turned = (Side("arc", (c, a)), Side("arc", (c, b)))
    return Question((a, c, b), (Side("collider", (a, c, b)),), without + turned + _arcs(a, b))


class Scoreboard:
    """The best known score of every side of some questions.

    Attributes
    ----------
    first, best : float
        The highest known score, at first and now.
    settled : int
        Questions whose sides were searched.
    """

    def __init__(self, contest: Contest, questions: Iterable[Question]) -> None:
        self._contest = contest
        every = (side for question in questions for side in question.sides)
        self._scores: dict[Side, float | None] = dict.fromkeys(every)
        self._certain: set[Side] = set()
        self._searched: set[Side] = set()
        self.first = self.best = contest.candidates[0].score
        self.settled = 0
        for model in contest.candidates:
            self._take(model)

    def settle(
        self, questions: Sequence[Question], deadline: float | None, progress: bool | Show | None
    ) -> None:
        """Find the best models of their sides until the deadline."""
        order = sorted(questions, key=self._priority)
        sides = {side: None for question in order for side in question.sides}
        proving = self._contest.can_prove(len(sides))
        started = time.monotonic()
        with reporting(progress) as report:
            for question in order:
                spent = time.monotonic() - started
                if deadline is not None and started + spent >= deadline:
                    return
                report(self._progress(len(order), spent))
                for side in question.sides:
                    if side not in self._searched:
                        self._look_at(side, proving=proving)
                        self._searched.add(side)
                self.settled += 1

    def _progress(self, wanted: int, spent: float) -> Progress:
        left = spent / self.settled * (wanted - self.settled) if self.settled else None
        return Progress(self.settled, wanted, None, 0, spent, left, "questions")

    def score(self, sides: Iterable[Side]) -> float | None:
        """Return the best score of some sides together; None if it is not known."""
        known = [score for side in sides if (score := self._scores[side]) is not None]
        return max(known, default=None)

    def how(self, sides: Sequence[Side]) -> str:
        """Return how the best scores of the sides were found."""
        if self._certain.issuperset(sides):
            return "exact"
        return "estimate" if self._searched.issuperset(sides) else "not searched"

    def _look_at(self, side: Side, *, proving: bool) -> None:
        if not self._contest.is_possible(side):
            self._scores[side] = -math.inf
            self._certain.add(side)
        elif proving and (found := self._contest.prove(side)) is not None:
            self._take(found)
            self._certain.add(side)
        elif self._scores[side] != self.best:  # nothing on the side of the best can be better
            self._take(self._contest.search(side))

    def _take(self, model: Candidate) -> None:
        """Record a model on every side of which it is the best so far."""
        self.best = max(self.best, model.score)
        for side, score in self._scores.items():
            if (score is None or model.score > score) and side.holds(model):
                self._scores[side] = model.score

    def _priority(self, question: Question) -> tuple[float, tuple[int, ...]]:
        """Put parts with most evidence first: their other side is least known."""
        worth = difference(self.score(question.yes), self.score(question.no))
        return -(math.inf if worth is None else worth), question.nodes


def difference(one: float | None, other: float | None) -> float | None:
    """Return the difference of two scores; None if one of them is not known."""
    return None if one is None or other is None else one - other


# --- the table -----------------------------------------------------------------------------------


def _table(
    of: str, names: Sequence[str], questions: Iterable[Question], board: Scoreboard, note: str
) -> Table:
    """Return a row for each question, those with most evidence first."""
    rows = [_row(of, names, question, board) for question in questions]
    # Stable: of equal evidence, the order of the nodes.
    rows.sort(key=lambda row: math.inf if row["evidence"] is None else -row["evidence"])
    direction = ("direction",) if of == "edges" else ()
    columns = (*_COLUMNS[of], "evidence", *direction, "how", "best_with", "best_without")
    return tabulated(columns, [[row[name] for name in columns] for row in rows], note)


def _row(of: str, names: Sequence[str], question: Question, board: Scoreboard) -> dict[str, Any]:
    yes, no = board.score(question.yes), board.score(question.no)
    how = board.how(question.sides)
    row: dict[str, Any] = {
        **dict(zip(_COLUMNS[of], (names[node] for node in question.nodes), strict=True)),
        "evidence": difference(yes, no),
        "how": "estimate" if of == "ancestors" and how == "not searched" else how,
        "best_with": yes,
        "best_without": no,
    }
    if of == "edges":
        ways = [board.score([side]) for side in question.yes]
        possible = None not in ways and -math.inf not in ways
        row["direction"] = difference(*ways) if possible else None
    return row


def _note(of: str, board: Scoreboard, tasks: int, wanted: int) -> str:
    """Explain the numbers and how they were found."""
    lines = [
        "evidence: nats by which the best model with it beats the best without it "
        "(negative: without is better)."
    ]
    if of == "edges":
        lines.append("direction: nats by which the best model with x -> y beats that with y -> x.")
    lines.append(
        "exact: both are the best of all; estimate: the best that were found, by "
        f"{counted(tasks, 'task')} for each side."
    )
    if of == "ancestors":
        lines.append(
            "Ancestors rest on the optima and the best models found with and without each edge; "
            "no search was made for them."
        )
    if board.settled < wanted:
        lines.append(
            f"It ended after {board.settled} of {counted(wanted, 'question')}; the others were not "
            "searched and rest on the models at hand, which makes edges look surer than they are."
        )
    if board.best > board.first:
        lines.append(
            f"On the way a model was found that is {board.best - board.first:.4g} nats better than "
            "the best of the optima: improve them."
        )
    return "\n".join(lines)
