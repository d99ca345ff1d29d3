"""Evidence for a part of a network, in nats: the best model with it against the best without it.

The evidence for an edge is the score of the best model with the edge minus that of the best model
without it, where everything else may adapt. (The loss from deleting the edge from *one* model,
which `Optima.explain` gives, is larger: there nothing adapts.) Judging parts of a network by the
models of several optima is due to [Peña 2004].

Each side of the question is searched for its best model (`constrained_search`). On small tables the
best model is proven; elsewhere it is the best found, and the evidence is an estimate. What is not
searched is bounded by the models that are known. Some sides are unions: a network without the
v-structure a -> c <- b lacks one of its arcs, has it reversed, or connects a and b.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

from kes.analysis.certainty import CLEAR, SURE, Status, verdict
from kes.analysis.constrained_search import Candidate, Contest, Side
from kes.analysis.edge_probabilities import chosen, meaning, probable
from kes.analysis.evidence_work import Work
from kes.analysis.probabilities import StructurePosterior
from kes.analysis.sampling_error import SamplingError
from kes.analysis.second_opinions import NOT_ASKED, SecondOpinions
from kes.errors import Interrupted, unknown
from kes.progress import Progress, Show, reporting
from kes.results.summary import counted, of_completed
from kes.table import Table, tabulated

if TYPE_CHECKING:
    from kes.results.optima import Optima
    from kes.search.problem import Problem

T = TypeVar("T")

_COLUMNS = {
    "edges": ("x", "y"),
    "v_structures": ("x", "collider", "y"),
    "ancestors": ("ancestor", "descendant"),
}
"""The kinds of parts, and the nodes that a row is about."""

NEAR = 3.0
"""Nats that an edge may cost if the best model gets it, for its pair to have a row although no
optimum connects it."""


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
    work: Work,
    seconds: float | None = None,
    threads: int,
    progress: bool | Show | None = None,
    posterior: StructurePosterior | bool | None = None,
) -> Table:
    """Return the evidence for all parts of one kind that some optimum has; see `Optima.evidence`.

    With edges, also probabilities: those of a `posterior`, or, if it is None, exact ones where they
    are quickly computed. After `seconds`, or Ctrl-C (EvidenceInterrupted), the other questions rest
    on the models found until then.
    """
    if of not in _COLUMNS:
        raise unknown("kind of evidence", of, _COLUMNS, option="of")
    deadline = None if seconds is None else time.monotonic() + seconds
    known = [(optimum.edges, optimum.score) for optimum in optima]
    contest = Contest(problem, known, tasks=work.tasks, threads=threads)
    is_searched = of == "edges" and work.models != 0
    near = contest.near(NEAR) if is_searched else {}
    steps = _Steps()
    shares = partial(chosen, optima, problem, posterior, threads, seconds)
    post = steps.take(shares) if of == "edges" else None
    if post is not None:
        near = dict.fromkeys(probable(post), -math.inf) | near
    asked = _questions(of, contest.candidates, near)
    # Those about ancestors cannot be searched; the best models with and without each edge serve.
    kind = "edges" if of == "ancestors" else of
    searched = _questions(kind, contest.candidates[: work.models], near if is_searched else {})
    board = Scoreboard(contest, [*asked, *searched])
    steps.take(lambda: board.settle(searched, deadline, progress))
    board.bound(near)
    others = partial(SecondOpinions, problem, threads, deadline)
    second = steps.take(others) if is_searched else None
    rows = [
        _row(of, optima.names, question, board) | _told(question, board, optima.names, post, second)
        for question in asked
    ]
    note = [_note(of, rows, board, work, len(searched)), *of_completed(optima)]
    if post is not None:
        note.insert(0, meaning(post))
    if of == "edges":
        steps.take(lambda: board.add_errors(rows, asked, deadline))
        rows += [_EXCLUDED | {"x": x, "y": y} for x, y in optima.excluded]
        note += [f"Excluded: {why}." for why in optima.excluded.values()]
    found = _table(of, rows, "\n".join(note))
    if steps.is_interrupted:
        raise EvidenceInterrupted(found)
    return found


class _Steps:
    """Takes one step after the other; after Ctrl-C, none."""

    def __init__(self) -> None:
        self.is_interrupted = False

    def take(self, step: Callable[[], T]) -> T | None:
        """Return the result of a step; None if it was interrupted, or another one before it."""
        if self.is_interrupted:
            return None
        try:
            return step()
        except KeyboardInterrupt:
            self.is_interrupted = True
            return None


def _told(
    question: Question,
    board: Scoreboard,
    names: Sequence[str],
    post: StructurePosterior | None,
    second: SecondOpinions | None,
) -> dict[str, Any]:
    """Return the facts about an edge besides its evidence."""
    if question.yes[0].kind != "arc":
        return {}
    a, b = question.nodes
    found: dict[str, Any] = {"disputed": NOT_ASKED if second is None else ""}
    nats = difference(*(board.score([side]) for side in question.yes))
    if second is not None and nats is not None and CLEAR <= abs(nats) < math.inf:
        found["disputed"] = second.against((a, b) if nats > 0 else (b, a))
    if post is not None:
        share = post.edge(names[a], names[b])
        found["probability"] = None if math.isnan(share) else share
    return found


def _questions(
    of: str, models: Sequence[Candidate], near: Iterable[tuple[int, int]] = ()
) -> list[Question]:
    """Return the questions about all parts that some model has, and about further pairs."""
    if of == "edges":
        pairs = {(min(arc), max(arc)) for model in models for arc in model.arcs}
        return [edge_question(*pair) for pair in sorted(pairs.union(near))]
    if of == "v_structures":
        return [_collider(*nodes) for nodes in sorted(set().union(*(m.colliders for m in models)))]
    return [
        Question(pair, (Side("ancestor", pair),), (Side("no ancestor", pair),))
        for pair in sorted(set().union(*(m.descents[0] for m in models)))
    ]


def edge_question(a: int, b: int) -> Question:
    """Return the question whether two nodes, a < b, are joined."""
    return Question((a, b), _arcs(a, b), (Side("apart", (a, b)),))


def _arcs(a: int, b: int) -> tuple[Side, Side]:
    return Side("arc", (a, b)), Side("arc", (b, a))


def _collider(a: int, c: int, b: int) -> Question:
    without = (Side("apart", (a, c)), Side("apart", (b, c)))
    turned = (Side("arc", (c, a)), Side("arc", (c, b)))
    return Question((a, c, b), (Side("collider", (a, c, b)),), without + turned + _arcs(a, b))


class Scoreboard:
    """The best known model of every side of some questions.

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
        self._models: dict[Side, Candidate] = {}
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
                if deadline is not None and time.monotonic() >= deadline:
                    return
                report(Progress.at_a_pace(self.settled, len(order), started, "questions"))
                for side in question.sides:
                    if side not in self._searched:
                        self._look_at(side, proving=proving)
                        self._searched.add(side)
                self.settled += 1

    def bound(self, near: Mapping[tuple[int, int], float]) -> None:
        """Bound what was not searched by the best model without the edge in question, or with it.

        `near` has what such an edge gains.
        """
        for pair, gain in near.items():
            side, other = _arcs(*pair)
            if gain > -math.inf and self._scores[side] is None and self._scores[other] is None:
                self._scores[side] = self.first + gain
        for side, score in self._contest.without_edges().items():
            known = self._scores.get(side, math.inf)
            if side not in self._searched and (known is None or known < score):
                self._scores[side] = score
                self._models.pop(side, None)

    def score(self, sides: Iterable[Side]) -> float | None:
        """Return the best score of some sides together; None if it is not known."""
        known = [score for side in sides if (score := self._scores[side]) is not None]
        return max(known, default=None)

    def model(self, sides: Iterable[Side]) -> Candidate | None:
        """Return the best model of some sides together; None if it is not known."""
        known = [self._models[side] for side in sides if side in self._models]
        best = max(known, key=lambda model: model.score, default=None)
        return best if best is not None and best.score == self.score(sides) else None

    def how(self, question: Question) -> Status:
        """Return the status of the evidence for a part."""
        if self._certain.issuperset(question.sides):
            return "exact"
        if self._searched.issuperset(question.sides):
            return "estimate"
        worth = difference(self.score(question.yes), self.score(question.no))
        if worth is None:
            return "not searched"
        return "upper bound" if worth >= 0 else "lower bound"

    def direction_error(self, row: Mapping[str, Any], question: Question) -> float | None:
        """Return the standard error of the direction of an edge, if it may be clear."""
        models = [self.model([side]) for side in question.yes]
        if (row["evidence"] or 0.0) < SURE or abs(row["direction"] or 0.0) < CLEAR:
            return None
        if None in models or row["how"] not in ("exact", "estimate"):
            return None
        return self._errors.between(*(model.dag for model in models if model is not None))

    def add_errors(
        self, rows: Iterable[dict[str, Any]], asked: Iterable[Question], deadline: float | None
    ) -> None:
        """Add the standard errors of directions to rows, until the deadline."""
        for row, question in zip(rows, asked, strict=True):
            if deadline is not None and time.monotonic() >= deadline:
                return
            row["direction_error"] = self.direction_error(row, question)

    @cached_property
    def _errors(self) -> SamplingError:
        return SamplingError(self._contest.problem)

    def _look_at(self, side: Side, *, proving: bool) -> None:
        if not self._contest.is_possible(side):
            self._scores[side] = -math.inf
            self._certain.add(side)
        elif proving and (found := self._contest.prove(side)) is not None:
            self._take(found)
            self._certain.add(side)
        elif self._scores[side] != self.best:  # no model on the side of the best one scores higher
            self._take(self._contest.search(side))

    def _take(self, model: Candidate) -> None:
        """Record a model on every side where it is the best so far."""
        self.best = max(self.best, model.score)
        for side, score in self._scores.items():
            if (score is None or model.score > score) and side.holds(model):
                self._scores[side] = model.score
                self._models[side] = model

    def _priority(self, question: Question) -> tuple[float, tuple[int, ...]]:
        """Put parts with most evidence first: their other side is least known."""
        worth = difference(self.score(question.yes), self.score(question.no))
        return -(math.inf if worth is None else worth), question.nodes


def difference(one: float | None, other: float | None) -> float | None:
    """Return the difference of two scores; None if one of them is not known."""
    return None if one is None or other is None else one - other


# --- the table -----------------------------------------------------------------------------------


def _table(of: str, rows: Sequence[dict[str, Any]], note: str) -> Table:
    """Return a row for each question, those with most evidence first."""
    # Stable: of equal evidence, the order of the nodes.
    ordered = sorted(rows, key=lambda row: _last(row["evidence"]))
    of_edges = ("certainty", "direction", "disputed") if of == "edges" else ()
    shares = ["probability"] if any("probability" in row for row in rows) else []
    columns = [*_COLUMNS[of], *shares, "evidence", *of_edges, "how", "best_with", "best_without"]
    columns += ["instead", "direction_error"] if of == "edges" else []
    return tabulated(columns, [[row.get(name) for name in columns] for row in ordered], note)


_EXCLUDED: dict[str, Any] = {
    "evidence": None,
    "certainty": "excluded",
    "direction": None,
    "direction_error": None,
    "disputed": "",
    "how": "excluded",
    "best_with": None,
    "best_without": None,
    "instead": "",
}
"""The row of a pair that no model connects."""


def _last(nats: float | None) -> float:
    return math.inf if nats is None else -nats


def _row(of: str, names: Sequence[str], question: Question, board: Scoreboard) -> dict[str, Any]:
    yes, no = board.score(question.yes), board.score(question.no)
    how, nats = board.how(question), difference(yes, no)
    row: dict[str, Any] = {
        **dict(zip(_COLUMNS[of], (names[node] for node in question.nodes), strict=True)),
        "evidence": nats,
        # Ancestors rest on the models that were found for edges.
        "how": "estimate" if of == "ancestors" and how != "exact" else how,
        "best_with": yes,
        "best_without": no,
    }
    if of == "edges":
        ways = [board.score([side]) for side in question.yes]
        possible = None not in ways and -math.inf not in ways
        row["direction"] = difference(*ways) if possible else None
        row["direction_error"] = None
        row["certainty"] = verdict(nats, how)
        row["instead"] = _instead(names, question, board)
    return row


def _instead(names: Sequence[str], question: Question, board: Scoreboard) -> str:
    """Return edges that the best model without the edge has, and that with it lacks.

    Those of x or y take the place of the edge; the others are where the two models differ besides.
    """
    with_it, without = board.model(question.yes), board.model(question.no)
    if with_it is None or without is None or with_it.score < without.score:
        return ""
    new = {_pair(arc) for arc in without.arcs} - {_pair(arc) for arc in with_it.arcs}
    own = [pair for pair in new if not set(pair).isdisjoint(question.nodes)]
    return ", ".join(f"{names[a]} - {names[b]}" for a, b in sorted(own))


def _pair(arc: tuple[int, int]) -> tuple[int, int]:
    return min(arc), max(arc)


def _note(
    of: str, rows: Sequence[Mapping[str, Any]], board: Scoreboard, work: Work, wanted: int
) -> str:
    """Explain the numbers and how they were found."""
    lines = [
        "evidence: nats by which the best model with it beats the best without it "
        "(negative: without is better)."
    ]
    if of == "edges":
        lines.append(
            "direction: nats by which the best model with x -> y beats that with y -> x; "
            "direction_error: its standard error, where it may be clear."
        )
        lines.append("disputed: other criteria whose best network lacks that direction.")
    found = {row["how"] for row in rows}
    meanings = {
        "exact": "exact: both are the best of all",
        "estimate": "estimate: both are the best that were found, by "
        f"{counted(work.tasks, 'task')} for each side",
        "upper bound": "upper bound: no search was made for a better model without it",
        "lower bound": "lower bound: no search was made for a better model with it",
    }
    lines.append("; ".join(text for how, text in meanings.items() if how in found) + ".")
    if of == "ancestors":
        lines.append(
            "Ancestors rest on the optima and the best models found with and without each edge; "
            "no search was made for them."
        )
    if board.settled < wanted:
        lines.append(
            f"It ended after {board.settled} of {counted(wanted, 'question')}; the others were not "
            "searched and rest on the known models, which makes edges look surer than they are."
        )
    if board.best > board.first:
        lines.append(
            f"On the way a model was found that is {board.best - board.first:.4g} nats better than "
            "the best of the optima: more improvement tasks would probably find it."
        )
    return "\n".join(line for line in lines if line != ".")
