"""Probabilities over models: the result of `kes.posterior`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, combinations, islice, permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from kes.analysis.averaging import average_of_models
from kes.analysis.convergence import Diagnostics
from kes.errors import KesError, option, unknown
from kes.graph import EssentialGraph
from kes.network.average import AveragedNetwork
from kes.options.values import MAX_ESS
from kes.results.summary import counted
from kes.search.problem import Problem
from kes.table import Table, tabulated
from kes.validation import number

_SHOWN = 10
_CERTAIN = 0.5  # edges that are counted in the summary


@dataclass(frozen=True)
class ModelProbability:
    """A model with its probability.

    Attributes
    ----------
    graph : EssentialGraph
        The model.
    probability : float
        Its posterior probability: of all its DAGs together. NaN if the chains do not agree on it.
    error : float
        Its standard error, from the spread of the chains; 0 if it is exact.
    """

    graph: EssentialGraph
    probability: float
    error: float = 0.0


@dataclass(frozen=True)
class Structures:
    """Probabilities that need whole models: of v-structures, Markov blankets, and models."""

    v_structures: Mapping[tuple[str, str, str], float]
    blankets: NDArray[np.float64] = field(repr=False)
    models: tuple[ModelProbability, ...] = field(repr=False)
    effective: float
    effective_error: float = 0.0


@dataclass(frozen=True, eq=False)
class StructurePosterior:
    """Probabilities of edges, directions and models, given the data.

    Attributes
    ----------
    names : tuple of str
        The variables.
    status : str
        "exact": the sum over all networks, but for `dropped` and rounding. "converged": from chains
        that agree on all edges. "not settled": from chains that do not; numbers on which they
        differ are NaN.
    dropped : float
        Upper bound on the probability of all networks that were left out of the sum.
    rounding : float
        Upper bound on what rounding changes in a probability.
    prior : str
        "dags" or "classes": what has the same probability before the data are seen.
    quantity : str
        "probability" with the criteria bdeu and bge, which are marginal likelihoods. Otherwise
        "BIC weight" and so on: exp(score), normalised, which is not a posterior probability.
    criterion : str
        The criterion, with its parameters.
    log_sum : float
        Logarithm of the sum of exp(score) over all networks, or over all classes.
    method : str
        How it was found.
    seconds : float
        Time that it took.
    """

    names: tuple[str, ...]
    status: str
    dropped: float
    rounding: float
    prior: str
    quantity: str
    criterion: str
    log_sum: float
    method: str
    seconds: float = field(compare=False)
    arcs: NDArray[np.float64] = field(repr=False)
    paths: NDArray[np.float64] = field(repr=False)
    structures: Structures | None = field(default=None, repr=False)
    edge_shares: NDArray[np.float64] | None = field(default=None, repr=False)
    diagnostics: Diagnostics | None = field(default=None, repr=False)
    sample: Callable[[], StructurePosterior] | None = field(default=None, repr=False)
    """Runs chains for what the exact sum does not give."""
    problem: Problem | None = field(default=None, repr=False, compare=False)
    """The data and the settings."""

    # --- single numbers ---

    def edge(self, x: str, y: str) -> float:
        """Return the probability of an edge between two variables, whatever its direction."""
        a, b = self._pair(x, y)
        if self.edge_shares is not None:
            return _probability(self.edge_shares[a, b])
        return _probability(self.arcs[a, b] + self.arcs[b, a])

    def arc(self, x: str, y: str) -> float:
        """Return the probability of the arc from x to y.

        It is about DAGs: in a class in which the edge is reversible, each DAG counts for its own
        direction.
        """
        return _probability(self.arcs[self._pair(x, y)])

    def ancestor(self, x: str, y: str) -> float:
        """Return the probability of a directed path from x to y."""
        return _probability(self.paths[self._pair(x, y)])

    def v_structure(self, x: str, collider: str, y: str) -> float:
        """Return the probability of ``x -> collider <- y`` with x and y not adjacent."""
        a, b = sorted(self._pair(x, y))
        self._pair(x, collider)
        self._pair(y, collider)
        key = (self.names[a], collider, self.names[b])
        return self._whole.v_structures.get(key, 0.0)

    def blanket(self, x: str, y: str) -> float:
        """Return the probability that x is in the Markov blanket of y, or y in that of x."""
        return _probability(self._whole.blankets[self._pair(x, y)])

    # --- tables ---

    def edges(self) -> Table:
        """Return the probability of an edge for every pair of variables.

        Returns
        -------
        Table
            A row for each pair `x`, `y`, the most probable first: the `probability` of an edge,
            that of the arc `forward`, from x to y, and `backward`, and their `status`. Numbers of
            chains that do not agree are missing, and the status is "not settled".
        """
        rows = []
        for x, y in combinations(self.names, 2):
            edge, *both = map(_shown, (self.edge(x, y), self.arc(x, y), self.arc(y, x)))
            rows.append((x, y, edge, *both, self._status(edge)))
        return self._table(("x", "y", "probability", "forward", "backward", "status"), rows)

    def ancestors(self) -> Table:
        """Return the probability of a directed path from `x` to `y`, for every ordered pair."""
        pairs = [(x, y, _shown(self.ancestor(x, y))) for x, y in permutations(self.names, 2)]
        rows = [(*pair, self._status(pair[2])) for pair in pairs]
        return self._table(("x", "y", "probability", "status"), rows)

    def v_structures(self) -> Table:
        """Return the probability of each v-structure ``x -> collider <- y`` that occurs."""
        if self.structures is None:
            return self._sampled.v_structures()
        found = ((*key, _shown(p)) for key, p in self.structures.v_structures.items())
        rows = [(*row, self._status(row[3])) for row in found]
        return self._table(("x", "collider", "y", "probability", "status"), rows)

    def blankets(self, node: str | None = None) -> Table:
        """Return the probability of each `member` of the Markov blanket of a `node`, or of all."""
        chosen = self.names if node is None else [self.names[self._place(node)]]
        if self.structures is None:
            return self._sampled.blankets(node)
        pairs = [(own, member) for own in chosen for member in self.names if member != own]
        found = [(own, member, _shown(self.blanket(member, own))) for own, member in pairs]
        rows = [(*row, self._status(row[2])) for row in found]
        return self._table(("node", "member", "probability", "status"), rows)

    def model_table(self) -> Table:
        """Return the most probable models.

        Returns
        -------
        Table
            A row for each of `models`: its place there, its `probability` with its standard `error`
            and `status`, the number of its `edges`, and its `distance` (SHD) from the first.
        """
        if self.structures is None:
            return self._sampled.model_table()
        rows = []
        for at, model in enumerate(self.models):
            share, graph = _shown(model.probability), model.graph
            distance = graph.shd(self.models[0].graph)
            rows.append(
                (at, share, model.error, len(graph.skeleton), distance, self._status(share))
            )
        found = self._table(("model", "probability", "error", "edges", "distance", "status"), rows)
        return Table(found.to_dict(), note="\n".join(filter(None, [self._diversity, found.note])))

    @property
    def _diversity(self) -> str:
        """Say the effective number of models."""
        number, error = self.effective_models, self._whole.effective_error
        if math.isnan(number):
            return "effective number of models: not settled"
        status = "exact" if self.diagnostics is None else f"± {error:.2g}, converged"
        return f"effective number of models: {number:.4g} ({status})"

    def convergence(self, of: str = "edges") -> Table:
        """Return the convergence of each probability.

        Parameters
        ----------
        of : {"edges", "arcs", "ancestors", "v_structures", "blankets", "models"}
            Which probabilities.

        Returns
        -------
        Table
            A row for each of them: the `probability`, its standard `error`, the `agreement` (the
            largest difference between two chains), the effective sample size `ess` and `r_hat`;
            see `Convergence`.
        """
        if self.diagnostics is None:
            raise KesError("exact probabilities need no chains: there is nothing to converge")
        if (found := self.diagnostics.of.get(of)) is None:
            raise unknown("kind of probability", of, self.diagnostics.of, option="of")
        places: list[tuple[tuple[str | int, ...], tuple[int, ...]]]
        if of == "v_structures":
            places = [(key, (at,)) for at, key in enumerate(self._whole.v_structures)]
        elif of == "models":
            places = [((at,), (at,)) for at in range(len(self.models))]
        else:
            pairs = combinations if of in ("edges", "blankets") else permutations
            places = [(pair, self._pair(*pair)) for pair in pairs(self.names, 2)]
        names = {"v_structures": ("x", "collider", "y"), "models": ("model",)}.get(of, ("x", "y"))
        rows = []
        for key, at in places:
            numbers = (found.error, found.agreement, found.ess, found.r_hat)
            share = _shown(float(found.shown[at]))
            rows.append((*key, share, *(float(values[at]) for values in numbers)))
        return self._table((*names, "probability", "error", "agreement", "ess", "r_hat"), rows)

    def _table(self, columns: Sequence[str], rows: list[tuple[Any, ...]]) -> Table:
        """Return a table sorted by probability; what is not settled comes last."""
        at = columns.index("probability")
        rows.sort(key=lambda row: (row[at] is None, -(row[at] or 0.0)))
        return tabulated(columns, rows, note=self._note)

    def _status(self, probability: float | None) -> str:
        if self.diagnostics is None:
            return self.status
        return "not settled" if probability is None else "converged"

    @property
    def models(self) -> Sequence[ModelProbability]:
        """The models, the most probable first."""
        return self._whole.models

    @property
    def effective_models(self) -> float:
        """The effective number of models: how many equally probable ones would be as diverse.

        The inverse of the probability that two networks drawn from the posterior belong to the
        same class. NaN if the chains are too short for it.
        """
        return self._whole.effective

    def probable(self, share: float, most: int | None = None) -> Sequence[ModelProbability]:
        """Return the most probable models, until they have a share of the probability.

        Raises
        ------
        KesError
            If the chains do not agree: then no model has a probability.
        """
        if "not settled" in (self.status, self.models_status):
            raise KesError(
                "the chains do not agree on the models, so their probabilities are not settled: "
                f"give them more {option('rounds')}, or use what needs no probabilities: "
                "kes.ensemble for an average, and the optima for effects",
                option="rounds",
            )
        sums = accumulate((model.probability for model in self.models), initial=0.0)
        enough = sum(before < share for before in islice(sums, len(self.models)))
        return self.models[:enough][:most]

    # --- predictions ---

    def ensemble(self, *, share: float = 0.99, ess: float | None = None) -> AveragedNetwork:
        """Average the most probable models, weighted by their probabilities.

        With the criterion "bdeu", the answers of the average are posterior probabilities of new
        cases, over models and parameters, as far as the models have the probability: each model is
        estimated with the equivalent sample size of the criterion. It answers all queries that a
        single network answers, and its `spread` is how far the models disagree.

        Parameters
        ----------
        share
            Average the most probable models until they have this share of the probability. Where
            no model stands out, these may be hundreds.
        ess
            Equivalent sample size with which models are estimated. By default that of the
            criterion, or 1.

        Returns
        -------
        AveragedNetwork
            Its `weights` are the probabilities, divided by their sum.

        Raises
        ------
        KesError
            If the chains do not agree, or the result was unpickled and has lost its data.

        See Also
        --------
        kes.ensemble : predicts new cases better, by members that vary more.

        Examples
        --------
        >>> import kes
        >>> data = kes.datasets.alarm(rows=500).select(["HR", "HRBP", "HREKG", "HISTORY"])
        >>> average = kes.posterior(data).ensemble()
        >>> set(average.probability("HR", {"HRBP": "HIGH"})) == {"LOW", "NORMAL", "HIGH"}
        True
        """
        if self.problem is None:
            raise KesError(
                "this result has lost its data when it was pickled: compute the posterior again",
                option="data",
            )
        members = self.probable(number("share", share, above=0.0, maximum=1.0))
        own = self.problem.settings.measure.ess if ess is None else ess
        return average_of_models(
            self.problem,
            [model.graph for model in members],
            [model.probability for model in members],
            1.0 if own is None else number("ess", own, above=0.0, maximum=MAX_ESS),
        )

    @property
    def models_status(self) -> str:
        """The status of `models`, which chains estimate where the sum is exact."""
        whole = self._sampled if self.structures is None else self
        is_open = any(math.isnan(model.probability) for model in whole.models)
        return "not settled" if is_open else whole.status

    # --- display ---

    def summary(self) -> str:
        """Describe the computation of the numbers in a few lines."""
        edges = self.edges()["probability"]
        settled = [p for p in edges if p is not None]
        certain = sum(p > _CERTAIN for p in settled)
        open_pairs = len(edges) - len(settled)
        found = self.diagnostics
        if found is None:
            errors = f"at most {self.dropped:.1g} of the sum; rounding {self.rounding:.1g}"
        else:
            errors = f"standard errors of edges are at most {found.of['edges'].error.max():.2g}"
        rows = [
            ("variables", str(len(self.names))),
            ("criterion", self.criterion),
            ("prior", f"uniform over {'DAGs' if self.prior == 'dags' else 'classes of DAGs'}"),
            ("status", f"{self.status}: {self.method}"),
            ("left out" if found is None else "errors", errors),
            ("edges", f"{counted(certain, 'pair')} above {_CERTAIN:g}"),
            *([("open", f"{counted(open_pairs, 'pair')} not settled")] if open_pairs else []),
            ("seconds", f"{self.seconds:.2f}"),
        ]
        title = "Probabilities" if self.quantity == "probability" else f"{self.quantity}s"
        return "\n".join([f"{title} of edges", *(f"  {name:<9}  {text}" for name, text in rows)])

    def __repr__(self) -> str:
        edges = self.edges()
        shown = {name: edges[name][:_SHOWN] for name in edges.columns}
        return f"{self.summary()}\n{Table(shown, note=edges.note)!r}"

    @property
    def _note(self) -> str:
        if self.quantity == "probability":
            return ""
        return (
            f"{self.quantity}s, not posterior probabilities: exp(score) of each network, divided "
            "by the sum; bdeu and bge give probabilities"
        )

    # --- helpers ---

    @property
    def _whole(self) -> Structures:
        return self._sampled._whole if self.structures is None else self.structures

    @cached_property
    def _sampled(self) -> StructurePosterior:
        """The same by chains, which also give what the exact sum does not."""
        if self.sample is None:
            raise KesError(
                "the exact sum gives edges, arcs and ancestors only, and this result has lost its "
                f"data: compute it again, with {option('method', 'chains')}",
                option="method",
            )
        return self.sample()

    def __getstate__(self) -> dict[str, Any]:
        """Pickle without the data."""
        return {**self.__dict__, "sample": None, "problem": None}

    def _pair(self, x: str, y: str) -> tuple[int, int]:
        a, b = self._place(x), self._place(y)
        if a == b:
            raise KesError(f"two different variables are needed, not {x!r} twice", column=x)
        return a, b

    def _place(self, name: str) -> int:
        if name not in self._places:
            raise unknown("variable", name, self.names)
        return self._places[name]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: place for place, name in enumerate(self.names)}


def _shown(probability: float) -> float | None:
    """Return a number for a table, in which what is not settled is missing."""
    return None if math.isnan(probability) else probability


def _probability(value: float) -> float:
    """Return a sum that rounding may have moved outside [0, 1]."""
    return float(min(max(value, 0.0), 1.0))
