"""Explanations of steps and local optima: the worth of an edge, and why a search stops.

A neighbour is a triple: x and y are connected or separated given a set of variables. The gain of
inserting the edge, its *worth*, is the gain of the dependence of x and y given that set; deleting
the edge loses the same amount. All numbers are natural logarithms.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Unpack

import numpy as np

from kes.data.column import Discrete
from kes.data.dataset import Data, Dataset
from kes.declare import checked_options
from kes.errors import KesError, printable
from kes.graph.boundary import Neighbour
from kes.options import ScoringOptions
from kes.results.optimum import Optimum
from kes.results.summary import counted
from kes.search.problem import Problem
from kes.settings import Criterion
from kes.table import Table, tabulated

_SHOWN = 5
_HUGE = math.log(1e9)


# --- one step ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Explanation:
    """Explanation of a step to a neighbour; its text is ``str(explanation)``.

    Attributes
    ----------
    neighbour : Neighbour
        The step; its `delta` is the gain, None if no data were given.
    criterion : str or None
        The criterion of the gain; None if it is not known.
    ess : float or None
        Equivalent sample size, for bdeu.
    penalty : float
        Factor of the penalty, for bic and aic on tables with continuous columns.
    prior : float
        Log prior odds of the edge, by `edge_prior` or ``Knowledge(likely=...)``: a part of the
        gain.
    cases : float or None
        Number of cases; None without data.
    fit : float or None
        Gain in log-likelihood by the dependence of x and y (bic and aic with data).
    parameters : int or None
        Number of parameters of the dependence (with data).
    """

    neighbour: Neighbour
    criterion: str | None = None
    ess: float | None = None
    penalty: float = 1.0
    prior: float = 0.0
    cases: float | None = None
    fit: float | None = None
    parameters: int | None = None

    @property
    def worth(self) -> float | None:
        """Gain of inserting the edge between x and y."""
        delta = self.neighbour.delta
        if delta is None:
            return None
        return delta if self.neighbour.kind == "insert" else -delta

    def __str__(self) -> str:
        worth, delta = self.worth, self.neighbour.delta
        if worth is None or delta is None:
            return f"{_step(self.neighbour)}. The gain depends on the data: pass data=..."
        name = "the score" if self.criterion is None else _written(self.criterion)
        effect = "gains" if delta >= 0 else "loses"
        text = f"{_step(self.neighbour)}: {name} {effect} {abs(delta):.4g} (natural logarithm)."
        verdict = "lowers the score" if worth <= 0 else f"is worth {worth:.4g}"
        own = [text, f"The edge {verdict} in this model."]
        return " ".join([*own, *self._parts(), *self._prior(), *self._odds(worth)])

    def _parts(self) -> list[str]:
        """Return the fit and the penalty."""
        if self.fit is None or self.parameters is None or self.cases is None:
            return []
        name = self.criterion or "bic"
        times = "" if self.penalty == 1 else f"{self.penalty:g} × "
        price = Criterion(name, penalty=self.penalty).price(self.cases) or 0.0
        plain = f"{price / self.penalty:.4g} each"
        each = f"½ ln N each, N = {self.cases:.12g}" if name == "bic" else plain
        more = "parameter costs" if self.parameters == 1 else "parameters cost"
        return [
            f"It raises the log-likelihood by {self.fit:.4g}; its {self.parameters} additional "
            f"{more} {self.parameters * price:.4g} ({times}{each})."
        ]

    def _prior(self) -> list[str]:
        """Return the contribution of the prior over edges."""
        if not self.prior:
            return []
        how = "costs" if self.prior < 0 else "adds"
        return [f"The prior over edges {how} {abs(self.prior):.4g}."]

    def _odds(self, worth: float) -> list[str]:
        """Interpret the worth, as far as the criterion allows."""
        winner, odds = "with" if worth > 0 else "without", _power(abs(worth))
        prior = f" (under the prior with ess={self.ess:g})" if self.ess is not None else ""
        start = "Under the prior over edges" if self.prior else "With equal prior probabilities"
        bayes = (
            f"{start}, the model {winner} the edge is {odds} times as probable as the other given "
            f"the data{prior}."
        )
        meanings = {
            "bdeu": bayes,
            "bge": bayes,
            "bic": "With many cases, BIC approximates the log posterior odds: very roughly "
            f"{odds} to 1 for the model {winner} the edge.",
            "aic": "AIC estimates the gain in log-likelihood on as many new cases; it is not a "
            "log odds.",
        }
        return [meanings[self.criterion]] if self.criterion in meanings else []


@checked_options(ScoringOptions, criterion=None)
def explain(
    neighbour: Neighbour, data: Data | None = None, **options: Unpack[ScoringOptions]
) -> Explanation:
    """Explain a step to a neighbour and its gain in words.

    Parameters
    ----------
    neighbour : Neighbour
        One of `kes.inclusion_boundary`.
    data
        The data, to compute the gain and its parts. Without them the explanation uses the `delta`
        of the neighbour, if it has one.
    criterion : {"bic", "aic", "bdeu", "qnml", "bge"} or None
        The criterion; by default bic if there are data. Without data it should be the one that
        `delta` was computed by; if it is None, the gain is not interpreted.

    Returns
    -------
    Explanation
        Print it, or use its attributes.

    Examples
    --------
    >>> import kes
    >>> import numpy as np
    >>> data = np.array([[0, 0], [1, 1]] * 50)
    >>> [step] = kes.inclusion_boundary(kes.EssentialGraph(["x0", "x1"]))
    >>> print(kes.explain(step, data, criterion="aic"))
    Connecting x0 and x1: AIC gains 68.31 (natural logarithm). The edge is worth 68.31 in this \
model. It raises the log-likelihood by 69.31; its 1 additional parameter costs 1 (1 each). AIC \
estimates the gain in log-likelihood on as many new cases; it is not a log odds.
    """
    if not isinstance(neighbour, Neighbour):
        raise KesError(
            "neighbour must be an item of kes.inclusion_boundary, not "
            f"{type(neighbour).__name__}; for an optimum use optimum.explain(data)",
            option="neighbour",
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
    # An edge of a constant column has no parameters, and no prior either.
    prior = problem.settings.log_odds(neighbour.x, neighbour.y) if parameters else 0.0
    return Explanation(
        neighbour=replace(neighbour, delta=worth if neighbour.kind == "insert" else -worth),
        criterion=criterion.name,
        ess=criterion.ess,
        penalty=criterion.penalty,
        prior=prior,
        cases=core.total_weight,
        fit=None if price is None else worth - prior + parameters * price,
        parameters=parameters,
    )


def _parameters(neighbour: Neighbour, table: Dataset) -> int:
    """Return the degrees of freedom of the dependence of x and y given the others.

    In a table with continuous columns, these are the coefficients between the columns that x and
    y are embedded in, whatever the conditioning set [Andrews 2019].
    """
    if table.kind != "discrete":
        return _columns(table, neighbour.x) * _columns(table, neighbour.y)
    states = {name: len(own) for name, own in zip(table.names, table.states, strict=True)}
    own = (states[neighbour.x] - 1) * (states[neighbour.y] - 1)
    return own * math.prod(states[node] for node in neighbour.given)


def _columns(table: Dataset, name: str) -> int:
    """Return the number of embedded columns of a variable: its occurring states less one."""
    column = table.columns[table.names.index(name)]
    if not isinstance(column, Discrete):
        return 1
    return int(np.count_nonzero(np.bincount(column.codes, weights=table.weights))) - 1


# --- local optima --------------------------------------------------------------------------------


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
        Number of them that score higher; 0 at a local optimum.
    """

    score: float
    criterion: str
    neighbours: tuple[Neighbour, ...]
    better: int

    def table(self) -> Table:
        """Return the neighbours, best first: `kind`, `x`, `y`, `given` and the gain `delta`."""
        names = ("kind", "x", "y", "given", "delta")
        return tabulated(names, [[getattr(s, name) for name in names] for s in self.neighbours])

    def edges(self) -> Table:
        """Return the worth of each edge, least first.

        The worth is the loss of score by the best way to separate x and y, given `given`.
        """
        least: dict[tuple[str, str], Neighbour] = {}
        for step in self.neighbours:  # best first
            if step.kind == "delete":
                least.setdefault((step.x, step.y), step)
        rows = [(x, y, step.given, -(step.delta or 0.0)) for (x, y), step in least.items()]
        return tabulated(("x", "y", "given", "worth"), rows)

    def __str__(self) -> str:
        if not self.neighbours:
            return "The model has no neighbours, so a search stops here."
        every = counted(len(self.neighbours), "neighbour")
        head = f"A search stops here because none of {every} scores higher. Best neighbours:"
        if self.better:
            verb = "scores" if self.better == 1 else "score"
            head = (
                f"This is not a local optimum: {self.better} of {every} {verb} higher. A search in "
                "two phases or with a sampled neighbourhood may still stop here."
            )
        shown = [
            f"  {_step(step)}: {step.delta:+.4g}"
            for step in self.neighbours[:_SHOWN]
            if step.delta is not None
        ]
        weakest = [
            printable(f"  {row['x']} - {row['y']}: {row['worth']:.4g}") for row in self.edges()
        ][:_SHOWN]
        if weakest:
            weakest.insert(0, "Edges with the least worth:")
        unit = f"({_written(self.criterion)}, natural logarithms)"
        return "\n".join([head, *shown, *weakest, unit])


def explain_stop(optimum: Optimum, problem: Problem) -> Stop:
    """Return the neighbours of an optimum; see `Optimum.explain`."""
    name, graph, tolerance = problem.settings.criterion, optimum.graph, problem.core.tolerance
    here = problem.score(graph)
    if abs(here - optimum.score) > 2 * tolerance:
        raise KesError(
            f"on these data the optimum scores {here:.6f} by {name}, not {optimum.score:.6f}; pass "
            "the data, weights, criterion and ess that it was learned with",
            option="data",
        )
    neighbours = problem.neighbours(graph)
    better = sum((step.delta or 0.0) > tolerance for step in neighbours)
    return Stop(optimum.score, name, tuple(neighbours), better)


# --- text ----------------------------------------------------------------------------------------


def _step(step: Neighbour) -> str:
    """Return a step in words: 'Connecting a and b given c, d'."""
    doing = "Connecting" if step.kind == "insert" else "Separating"
    given = f" given {', '.join(sorted(step.given))}" if step.given else ""
    return printable(f"{doing} {step.x} and {step.y}{given}")


def _power(exponent: float) -> str:
    """Return e to a power, with its approximate value unless it is huge."""
    if exponent >= _HUGE:
        return f"e^{exponent:.4g}"
    about = float(f"{math.exp(exponent):.2g}")
    return f"e^{exponent:.4g} (about {about:,g})"


def _written(criterion: str) -> str:
    return {"bdeu": "BDeu", "qnml": "qNML", "bge": "BGe"}.get(criterion, criterion.upper())
