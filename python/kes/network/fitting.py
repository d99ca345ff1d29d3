"""Fitting: choose a DAG of the class and estimate the CPD of every node."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from math import prod
from typing import Any, TypeAlias, Unpack

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset, Discrete
from kes.data.dataset import Data, Incomplete
from kes.data.discretizer import Discretizer
from kes.data.encoder import read_data
from kes.data.interventions import check_interventions
from kes.data.normal_scores import Ranks
from kes.data.notation import PLAIN, Notation
from kes.data.notes import left_out
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Stack
from kes.data.schema import ReadOptions
from kes.declare import checked_options
from kes.errors import KesError, about, listed, option
from kes.graph.dags import checked_arc, preferred_dag
from kes.graph.pdag import Pdag
from kes.network import validate
from kes.network.cpds import Linear, Local, Logistic, Tabular
from kes.network.discrete import BayesianNetwork
from kes.network.gaussian import GaussianNetwork
from kes.network.gibbs import Check, impute
from kes.network.large_linear import fit_large_linear
from kes.network.mixed import MixedNetwork
from kes.network.one_thread import one_thread
from kes.network.regression import DETERMINED, fit_linear, fit_logistic
from kes.network.regressors import (
    Values,
    all_effects,
    configurations,
    main_effects,
    regressor_names,
    regressors,
)
from kes.options import FitOptions, Prior

Arcs: TypeAlias = Iterable[tuple[str, str]]
Fitted: TypeAlias = BayesianNetwork | GaussianNetwork | MixedNetwork
Model: TypeAlias = NDArray[np.float64] | Linear | Logistic

MOST_CELLS = 2**27
"""Cells of the largest CPT: 1 GB."""

_MANY_REGRESSORS = 2**20
"""Cells of a table of regressors above which linear nodes are estimated without it."""

_MOST_REGRESSORS = 2**26
"""Largest number of regressors times rows with which interactions are estimated."""

_IMPUTATIONS = 5  # rounds of stochastic EM


@checked_options(FitOptions)
def fit(structure: Pdag | Arcs, data: Data, **options: Unpack[FitOptions]) -> Fitted:
    """Estimate a network from data.

    Parameters
    ----------
    structure
        An essential graph or an MPDAG, one of whose DAGs is used; or the arcs of a DAG.
    data
        A table with a column for every node, and no others; see `kes.learn`. The states of the
        network are those of the data.

    Returns
    -------
    BayesianNetwork, GaussianNetwork or MixedNetwork
        For a table of discrete columns, of continuous ones, or of both; with the nodes in the
        order of the graph, or else of the columns. With `basis`, a MixedNetwork also for a table
        of continuous columns, unless all are independent.

    Raises
    ------
    KesError
        If the nodes and the columns do not match, an arc in `prefer` contradicts a direction that
        the class or earlier arcs compel, a CPT would be too large, or the maximum likelihood
        estimate does not exist.

    Notes
    -----
    A *linear* or *logistic node* with several discrete parents has an intercept for each
    configuration of their states, as the location model has, and slopes that all configurations
    share. (The location model gives logistic nodes slopes for each configuration, too, for which
    there are seldom enough cases.)

    With `basis`, continuous parents enter as polynomials of their normal scores, so that the mean
    of a linear node, itself a normal score, and the log-odds of a logistic one are sums of curves.
    Of the DAGs of a class, one is chosen whose directions fit well: unlike a linear relation, a
    curve may tell much of y given x, and little of x given y.

    *Linear nodes* are estimated by least squares, and their variance with the divisor N - p - 1
    for p regressors, which is unbiased; no prior shrinks strong relations. The prior acts only
    where least squares has no unique solution. Collinear regressors share their effect. With fewer
    than p + 2 cases, `ess` imaginary ones are added, in which no column depends on another. The
    variance of a node that its parents determine is 1e-9 of that of its column. With "ml" the
    divisor is N, and these cases are errors.

    *Logistic nodes* maximise the likelihood together with `ess` imaginary cases, spread evenly over
    the states and with all regressors at their means, less ess/2 times the sum of squares of the
    coefficients of scaled regressors. With "ml" only the likelihood counts; where it has no
    maximum, that is an error. A number as prior replaces `ess` in both. With that many rows and
    coefficients that Newton's method would take minutes, gradients are used, and there are no
    standard errors.

    Examples
    --------
    >>> import numpy as np
    >>> from kes.network import fit
    >>> network = fit([("x0", "x1")], np.array([[0, 0], [0, 1], [1, 1], [1, 1]]))
    >>> network.cpts["x1"]
    array([[0.5, 0.5],
           [0.1, 0.9]])
    """
    return fit_as(structure, data, options, ReadOptions())


def fit_as(structure: Pdag | Arcs, data: Data, how: FitOptions, reading: ReadOptions) -> Fitted:
    """Estimate a network as `fit` does, with checked options and data read as given."""
    discretizer = Discretizer.checked(how["discretize"])
    dates = how["dates"] or reading.dates
    options = replace(reading, missing=how["missing"], kinds=how["kinds"] or {}, dates=dates)
    if how["interventions"] is not None:
        options = replace(options, interventions=check_interventions(how["interventions"]))
    table = read_data(data, options, weights=how["weights"], discretizer=discretizer, declared=True)
    dataset, gaps = (table.dataset, table.gaps) if isinstance(table, Incomplete) else (table, None)
    notations = dataset.notations
    degree = _degree(how, dataset)
    ranks = None
    if how["transform"] == "ranks" or degree > 1:
        ranks = Ranks.of(dataset, gaps)
        dataset = ranks.apply(dataset)
    if isinstance(structure, Pdag):
        nodes = structure.nodes
        _refuse_mismatch(nodes, dataset)
        arcs = fitting_dag(structure, dataset, degree, how["prefer"])
        notations = with_exogenous(notations, structure.exogenous)
    else:
        nodes = dataset.names
        with about(option="structure"):
            arcs = [checked_arc(arc, nodes) for arc in structure]
    parents = families(nodes, arcs)
    validate.parents(parents, nodes)  # before any work is done
    estimates = partial(
        Estimates,
        parents,
        degree=degree,
        discretizer=discretizer,
        transform=ranks,
        notations=notations,
    )
    if gaps is not None:
        stack = Stack(Incomplete(dataset, gaps), how["completions"])
        stack.scatter(Stream(0, Purpose.FIT, 0))
        again = estimates(filled=stack.filled)
        for number in range(_IMPUTATIONS):
            impute(stack, again, Stream(0, Purpose.FIT, number + 1))
        dataset = stack.dataset()
    return estimates()(dataset, prior=how["prior"], ess=how["ess"])


def with_exogenous(
    notations: Mapping[str, Notation], exogenous: Iterable[str]
) -> dict[str, Notation]:
    """Return notations that mark the nodes that are not modelled."""
    marked = {node: replace(notations.get(node, PLAIN), exogenous=True) for node in exogenous}
    return {**notations, **marked}


def _degree(how: FitOptions, dataset: Dataset) -> int:
    """Return the degree of the polynomials of continuous parents."""
    basis = how["basis"]
    if basis == "auto":
        raise KesError(
            f"{option('basis', 'auto')} is for searches; give the degree, such as "
            f"{option('basis', 3)}",
            option="basis",
        )
    if basis is not None and how["transform"] == "none":
        raise KesError(
            f"{option('basis')} uses the normal scores of ranks: leave "
            f"{option('transform', 'none')} out",
            option="basis",
        )
    return 1 if basis is None or "continuous" not in dataset.kinds else basis


def fitting_dag(
    structure: Pdag, table: Dataset, degree: int, prefer: Arcs = ()
) -> list[tuple[str, str]]:
    """Return the arcs of the DAG of a class to estimate.

    Linear relations fit as well in either direction; curves do not. A parabola tells much of y
    given x, and hardly anything of x given y. So, with curves, edges without a direction take the
    one that fits better, those first for which it matters most.
    """
    if degree == 1:
        return preferred_dag(structure, prefer)
    estimator = _Estimator(table, "bdeu", 1.0, degree)
    open_edges = [sorted(edge) for edge in structure.undirected]
    matters = {
        (a, b): estimator.likelihood(b, [a]) - estimator.likelihood(b, [])
        for one, other in open_edges
        for a, b in ((one, other), (other, one))
    }
    wishes = [(a, b) if matters[a, b] >= matters[b, a] else (b, a) for a, b in open_edges]
    wishes.sort(key=lambda arc: (matters[arc[::-1]] - matters[arc], arc))
    return preferred_dag(structure, prefer, wishes)


def families(nodes: Iterable[str], arcs: Arcs) -> dict[str, list[str]]:
    """Return the parents of every node."""
    parents: dict[str, list[str]] = {node: [] for node in nodes}
    for a, b in arcs:
        parents[b].append(a)
    return parents


class Estimates:
    """Estimates a network with given families repeatedly, as missing values are imputed.

    Families without missing values are estimated once, and logistic ones start from the previous
    estimate.

    Values of the `filled` variables change from table to table; `last` has earlier estimates of
    families of the same table. With a `degree` above 1, continuous columns are normal scores, and
    enter as polynomials. `check` is called often, and may raise an error to end the work.
    """

    def __init__(
        self,
        parents: Mapping[str, list[str]],
        *,
        filled: frozenset[str] = frozenset(),
        last: dict[tuple[str, ...], Model] | None = None,
        degree: int = 1,
        discretizer: Discretizer | None = None,
        transform: Ranks | None = None,
        notations: Mapping[str, Notation] | None = None,
        check: Check = lambda: None,
    ) -> None:
        self._parents, self._filled = parents, filled
        self._check = check
        self._last = {} if last is None else last
        self._degree = degree
        self._kept: dict[str, Any] = {
            "discretizer": discretizer,
            "transform": transform,
            "notations": notations,
        }

    def __call__(self, table: Dataset, prior: Prior = "bdeu", ess: float = 1.0) -> Fitted:
        """Estimate the network from a complete table."""
        estimator = _Estimator(table, prior, ess, self._degree, self._check)
        nodes = tuple(self._parents)
        with one_thread():
            models: dict[str, Any] = {node: self._model(estimator, node) for node in nodes}
        states = {node: estimator.states[node] for node in nodes}
        # By columns, not by the kind of the table, which ignores constant ones.
        match sorted(set(table.kinds)):
            case ["continuous"] if all(model.degree == 1 for model in models.values()):
                return GaussianNetwork(nodes, self._parents, models, **self._kept)
            case ["continuous", *_]:
                return MixedNetwork(nodes, states, self._parents, models, **self._kept)
            case _:
                return BayesianNetwork(nodes, states, self._parents, models, **self._kept)

    def _model(self, estimator: _Estimator, node: str) -> Model:
        family = (node, *self._parents[node])
        last = self._last.get(family)
        if last is None or not self._filled.isdisjoint(family):
            start = last if isinstance(last, Logistic) else None
            parents, rough = self._parents[node], bool(self._filled)
            last = self._last[family] = estimator.model(node, parents, rough=rough, start=start)
        return last


class _Estimator:
    """Estimates CPDs from a table; rows of weight 0 only declare states."""

    def __init__(
        self,
        table: Dataset,
        prior: Prior,
        ess: float,
        degree: int,
        check: Check = lambda: None,
    ) -> None:
        self._most, self._check = degree, check
        weights = np.ones(table.rows) if table.weights is None else table.weights
        counts = weights > 0
        self.states = dict(zip(table.names, table.states, strict=True))
        self._weights = weights[counts]
        self._spread = prior == "bdeu"  # over all cells of a table
        self._strength = None if prior == "ml" else ess if prior == "bdeu" else float(prior)
        self._columns: dict[str, Values] = {
            name: (c.codes.astype(np.int32) if isinstance(c, Discrete) else c.values)[counts]
            for name, c in zip(table.names, table.columns, strict=True)
        }

    def model(self, node: str, parents: list[str], *, rough: bool, start: Logistic | None) -> Model:
        """Estimate the CPD of a node; see `fit_logistic`."""
        self._check()
        levels = [len(self.states[parent]) for parent in parents]
        given = [self._columns[parent] for parent in parents]
        own, states, rows = self._columns[node], len(self.states[node]), len(self._weights)
        if states and 0 not in levels:
            return self._table(node, levels, [*given, own])
        degree = self._most if 0 in levels else 1
        number = self._regressors(given, levels, degree)
        is_large = any(levels) and degree == 1 and number * rows > _MANY_REGRESSORS
        if not states and self._strength is not None and is_large:
            size: dict[str, Any] = {"number": number, "weights": self._weights, "least": DETERMINED}
            if (large := fit_large_linear(own, given, levels, **size)) is not None:
                return large
        x = regressors(given, levels, rows, number=number, degree=degree)
        how: dict[str, Any] = {"weights": self._weights, "ess": self._strength, "degree": degree}
        if not states:
            names = regressor_names(parents, self.states, number, degree)
            return fit_linear(node, own, x, names, **how)
        if states == 1:
            return Logistic(np.empty((0, 1 + x.shape[1])), degree=degree)
        how |= {"rough": rough, "start": start, "check": self._check}
        return fit_logistic(node, own, states, x, **how)

    def likelihood(self, node: str, parents: list[str]) -> float:
        """Return the log-likelihood of a node under the estimate of its CPD."""
        model = self.model(node, parents, rough=False, start=None)
        cpd: Local = Tabular(model) if isinstance(model, np.ndarray) else model
        levels = [len(self.states[parent]) for parent in parents]
        given = [self._columns[parent] for parent in parents]
        inputs = cpd.inputs(given, levels, len(self._weights))
        return float(np.sum(self._weights * cpd.log_probability(inputs, self._columns[node])))

    def _regressors(self, given: list[Values], levels: list[int], degree: int) -> int:
        """Return the number of regressors: with interactions, unless they cannot be estimated.

        They may be too many; and without a prior, all must occur.
        """
        number, rows = all_effects(levels, degree), len(self._weights)
        if number * rows > _MOST_REGRESSORS:
            return main_effects(levels, degree)
        if self._strength is None:
            effects = regressors(given, levels, rows, number=number, degree=degree)
            return number if effects.any(axis=0).all() else main_effects(levels, degree)
        return number

    def _table(self, node: str, levels: list[int], codes: list[Values]) -> NDArray[np.float64]:
        """Estimate a CPT: (count + prior cases) of each cell, normalised over the states."""
        shape = [*levels, len(self.states[node])]
        if prod(shape) > MOST_CELLS:
            raise KesError(
                f"the table of {node!r} given its {len(levels)} parents would have "
                f"{' x '.join(map(str, shape))} cells, which is too large; learn with a smaller "
                f"{option('max_parents')}, or merge states",
                column=node,
                option="max_parents",
            )
        cells = configurations(codes, shape, len(self._weights))
        found = np.bincount(cells, weights=self._weights, minlength=prod(shape)).reshape(shape)
        counts = found + (self._strength or 0.0) / (prod(shape) if self._spread else 1)
        sums = counts.sum(axis=-1, keepdims=True)
        cpt = np.full(shape, 1 / shape[-1])
        np.divide(counts, sums, out=cpt, where=sums > 0)
        return cpt


def _refuse_mismatch(nodes: tuple[str, ...], dataset: Dataset) -> None:
    known, there = set(nodes), set(dataset.names)
    missing = [node for node in nodes if node not in there]
    further = [column for column in dataset.names if column not in known]
    if missing or further:
        parts = [f"the data have no column for {listed(missing)}"] * bool(missing)
        parts += [f"the graph has no node for the columns {listed(further)}"] * bool(further)
        raise KesError(
            "; ".join(parts) + left_out(missing, dataset.notes), column=(missing or further)[0]
        )
