"""Steps and stops of a search in words: what an edge is worth, and why a run went no further.

A neighbour is a triple: x and y are joined, or separated, given a set of variables. What the step
gains is the worth of the dependence of x and y given that set; what its opposite would lose is the
same number. All numbers are natural logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Unpack

import numpy as np

from kes.data.column import Discrete
from kes.declare import checked_options
from kes.errors import KesError, printable
from kes.graph.boundary import Neighbour
from kes.options import ScoringOptions
from kes.results.summary import counted
from kes.search.problem import Problem
from kes.settings import Criterion
from kes.table import Table

if TYPE_CHECKING:
    from kes.data.dataset import Data, Dataset
    from kes.results.optimum import Optimum

_SHOWN = 5
_ASTRONOMICAL = math.log(1e9)


# --- one step ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """What a step to a neighbour is worth; its text is ``str(explanation)``.

    Attributes
    ----------
    neighbour : Neighbour
        The step; its `delta` is the gain, None if no data were given.
    criterion : str or None
        The criterion of the gain; None if it was not told.
    ess : float or None
        Equivalent sample size, for bdeu.
    penalty : float
        Factor of the penalty, for bic and aic on tables with continuous columns.
    cases : float or None
        Number of cases; None without data.
    fit : float or None
        How much the log-likelihood rises by the dependence of x and y (bic and aic with data).
    parameters : int or None
        How many parameters the dependence has (with data).
    """

    neighbour: Neighbour
    criterion: str | None = None
    ess: float | None = None
    penalty: float = 1.0
    cases: float | None = None
    fit: float | None = None
    parameters: int | None = None

    @property
    def worth(self) -> float | None:
        """What the edge between x and y is worth: the gain of inserting it."""
        delta = self.neighbour.delta
        if delta is None:
            return None
        return delta if self.neighbour.kind == "insert" else -delta

    def __str__(self) -> str:
        worth = self.worth
        if worth is None:
            return f"{_step(self.neighbour)}. What that is worth depends on data: pass data=..."
        return " ".join([*self._gain(worth), *self._parts(), *self._odds(worth)])

    def _gain(self, worth: float) -> list[str]:
        delta = self.neighbour.delta or 0.0
        name = "the score" if self.criterion is None else _written(self.criterion)
        effect = "gains" if delta >= 0 else "loses"
        text = f"{_step(self.neighbour)}: {name} {effect} {abs(delta):.4g} (natural logarithm)."
        verdict = "is not worth having" if worth <= 0 else f"is worth {worth:.4g}"
        return [text, f"The edge {verdict} in this place."]

    def _parts(self) -> list[str]:
        """Split the worth into fit and penalty."""
        if self.fit is None or self.parameters is None or self.cases is None:
            return []
        times = "" if self.penalty == 1 else f"{self.penalty:g} × "
        why = (
            f"{times}½ ln N each, N = {self.cases:.12g}"
            if self.criterion == "bic"
            else f"{times}1 each"
        )
        price = Criterion(self.criterion or "bic", penalty=self.penalty).price(self.cases) or 0.0
        more = "more parameter costs" if self.parameters == 1 else "more parameters cost"
        return [
            f"With it the log-likelihood is {self.fit:.4g} higher, and {self.parameters} {more} "
            f"{self.parameters * price:.4g} ({why})."
        ]

    def _odds(self, worth: float) -> list[str]:
        """Say what the worth means, as far as the criterion allows."""
        winner = "with" if worth > 0 else "without"
        if self.criterion in ("bdeu", "bge"):
            prior = f" (under the prior with ess={self.ess:g})" if self.ess is not None else ""
            return [
                f"If both models were equally probable before, the one {winner} the edge is "
                f"{_power(abs(worth))} times as probable as the other given the data{prior}."
            ]
        if self.criterion == "bic":
            return [
                f"BIC approximates a logarithm of posterior odds for many cases: very roughly "
                f"{_power(abs(worth))} to 1 for the model {winner} the edge."
            ]
        if self.criterion == "aic":
            return [
                "AIC estimates by how much the log-likelihood of as many new cases would rise; "
                "it is no logarithm of odds."
            ]
        return []


@checked_options(ScoringOptions, criterion=None)
def explain(
    neighbour: Neighbour, data: Data | None = None, **options: Unpack[ScoringOptions]
) -> Explanation:
    """Say in words what a step to a neighbour does and what it is worth.

    Parameters
    ----------
    neighbour : Neighbour
        One of `kes.inclusion_boundary`.
    data
        The data, to compute the gain and what it consists of. Without them the explanation keeps
        to the `delta` that the neighbour has, if any.
    criterion : {"bic", "aic", "bdeu", "qnml", "bge"} or None
        The criterion; by default bic if there are data. Without data it should be the one that
        `delta` was computed by; if it is not told, nothing is said about its meaning.

    Returns
    -------
    Explanation
        Print it, or take its figures.

    Examples
    --------
    >>> import kes
    >>> import numpy as np
    >>> data = np.array([[0, 0], [1, 1]] * 50)
    >>> [step] = kes.inclusion_boundary(kes.EssentialGraph(["x0", "x1"]))
    >>> print(kes.explain(step, data, criterion="aic"))
    Joining x0 and x1: AIC gains 68.31 (natural logarithm). The edge is worth 68.31 in this \
place. With it the log-likelihood is 69.31 higher, and 1 more parameter costs 1 (1 each). AIC \
estimates by how much the log-likelihood of as many new cases would rise; it is no logarithm of \
odds.
    """
    if not isinstance(neighbour, Neighbour):
        raise KesError(
            "explain takes a neighbour, as kes.inclusion_boundary lists them, not "
            f"{type(neighbour).__name__}; for an optimum use optimum.explain(data)"
        )
    if data is None:
        if options["criterion"] is None:
            return Explanation(neighbour)
        criterion = Criterion.of(options)
        return Explanation(neighbour, criterion.name, criterion.ess, criterion.penalty)
    if options["criterion"] is None:
        del options["criterion"]
    nodes = neighbour.of.nodes
    problem = Problem.of(data, {**options, "k": 1.0}).over(nodes)
    criterion, core = problem.settings.measure, problem.core
    at = {node: i for i, node in enumerate(nodes)}
    given = sorted(at[node] for node in neighbour.given)
    worth = core.delta((True, at[neighbour.x], at[neighbour.y], given))
    parameters = _parameters(neighbour, problem.dataset)
    price = criterion.price(core.total_weight)
    scored = Neighbour(
        neighbour.kind,
        neighbour.x,
        neighbour.y,
        neighbour.given,
        worth if neighbour.kind == "insert" else -worth,
        neighbour.of,
    )
    return Explanation(
        neighbour=scored,
        criterion=criterion.name,
        ess=criterion.ess,
        penalty=criterion.penalty,
        cases=core.total_weight,
        fit=None if price is None else worth + parameters * price,
        parameters=parameters,
    )


def _parameters(neighbour: Neighbour, table: Dataset) -> int:
    """Return the degrees of freedom of the dependence of x and y given the others.

    In a table with continuous columns, that is a coefficient for each pair of columns that x and
    y are embedded in, whatever is given [Andrews 2019].
    """
    if table.kind != "discrete":
        return _columns(table, neighbour.x) * _columns(table, neighbour.y)
    states = {name: len(own) for name, own in zip(table.names, table.states, strict=True)}
    own = (states[neighbour.x] - 1) * (states[neighbour.y] - 1)
    return own * math.prod(states[node] for node in neighbour.given)


def _columns(table: Dataset, name: str) -> int:
    """Return the number of numeric columns of a variable: one less than its occurring states."""
    column = table.columns[table.names.index(name)]
    if not isinstance(column, Discrete):
        return 1
    return int(np.count_nonzero(np.bincount(column.codes, weights=table.weights))) - 1


# --- where a search stops ------------------------------------------------------------------------


@dataclass(frozen=True)
class Stop:
    """Why a search stops at a model; its text is ``str(stop)``.

    Attributes
    ----------
    score : float
        Score of the model.
    criterion : str
        The criterion.
    neighbours : tuple of Neighbour
        All admissible neighbours, best first.
    better : int
        How many of them score higher; 0 at a local optimum.
    """

    score: float
    criterion: str
    neighbours: tuple[Neighbour, ...]
    better: int

    def table(self) -> Table:
        """Return the neighbours as a table, best first: kind, x, y, given and gain `delta`."""
        return _steps(self.neighbours)

    def edges(self) -> Table:
        """Return what each edge is worth, least first.

        That is what the score loses by the best way to separate x and y, which conditions on
        `given`.
        """
        least: dict[tuple[str, str], Neighbour] = {}
        for step in self.neighbours:  # best first
            if step.kind == "delete":
                least.setdefault((step.x, step.y), step)
        return Table(
            {
                "x": [x for x, _ in least],
                "y": [y for _, y in least],
                "given": [step.given for step in least.values()],
                "worth": [-(step.delta or 0.0) for step in least.values()],
            }
        )

    def __str__(self) -> str:
        if not self.neighbours:
            return "The model has no neighbours, so a search cannot go anywhere from it."
        every = counted(len(self.neighbours), "neighbour")
        if self.better:
            verb = "scores" if self.better == 1 else "score"
            head = (
                f"This is no local optimum: {self.better} of {every} {verb} higher. A search in "
                "two phases or with a sampled neighbourhood may stop all the same."
            )
        else:
            head = f"A search stops here because none of {every} scores higher. The closest:"
        shown = [
            f"  {_step(step)}: {step.delta:+.4g}"
            for step in self.neighbours[:_SHOWN]
            if step.delta is not None
        ]
        weakest = [
            printable(f"  {row['x']} - {row['y']}: {row['worth']:.4g}") for row in self.edges()
        ][:_SHOWN]
        if weakest:
            weakest.insert(0, "The edges that are worth least:")
        unit = f"({_written(self.criterion)}, natural logarithms)"
        return "\n".join([head, *shown, *weakest, unit])


def explain_stop(optimum: Optimum, problem: Problem) -> Stop:
    """List what a search could have done at an optimum; see `Optimum.explain`."""
    name, graph, tolerance = problem.settings.criterion, optimum.graph, problem.core.tolerance
    here = problem.score(graph)
    if abs(here - optimum.score) > 2 * tolerance:
        raise KesError(
            f"on these data the optimum scores {here:.6f} by {name}, not {optimum.score:.6f}; pass "
            "the data, weights, criterion and ess that it was learned with"
        )
    neighbours = problem.neighbours(graph)
    better = sum((step.delta or 0.0) > tolerance for step in neighbours)
    return Stop(optimum.score, name, tuple(neighbours), better)


# --- words ---------------------------------------------------------------------------------------


def _step(step: Neighbour) -> str:
    """Return a step as words: 'Joining a and b given c, d'."""
    doing = "Joining" if step.kind == "insert" else "Separating"
    given = f" given {', '.join(sorted(step.given))}" if step.given else ""
    return printable(f"{doing} {step.x} and {step.y}{given}")


def _steps(neighbours: Iterable[Neighbour]) -> Table:
    every = list(neighbours)
    return Table(
        {
            "kind": [step.kind for step in every],
            "x": [step.x for step in every],
            "y": [step.y for step in every],
            "given": [step.given for step in every],
            "delta": [step.delta for step in every],
        }
    )


def _power(exponent: float) -> str:
    """Return e to a power, and about how much that is unless it is astronomical."""
    if exponent >= _ASTRONOMICAL:
        return f"e^{exponent:.4g}"
    about = float(f"{math.exp(exponent):.2g}")
    return f"e^{exponent:.4g} (about {about:,g})"


def _written(criterion: str) -> str:
    return {"bdeu": "BDeu", "qnml": "qNML", "bge": "BGe"}.get(criterion, criterion.upper())
