"""One case: a table, what is known, settings; and all that brute force says of it."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from itertools import combinations
from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.oracle import brute
from tests.oracle.brute import Dag
from tests.oracle.gaussian import Column
from tests.oracle.knowledge import Known, mixture
from tests.oracle.scores import DirectScore
from tests.oracle.sixty_digits import Gaussian
from tests.oracle.tables import noisy_copies, sample

import kes
from kes.data import Continuous, Dataset, Discrete

CRITERIA = {
    "discrete": ("bic", "aic", "bdeu", "qnml"),
    "continuous": ("bic", "aic", "bge"),
    "mixed": ("bic", "aic"),
}
DEPENDENT = 1e-9  # what docs/theory.md calls a column that others determine


@dataclass(frozen=True)
class Case:
    """A description of the case."""

    columns: list[Column]
    cardinalities: list[int]
    weights: NDArray[np.float64] | None
    known: Known | None
    scoring: dict[str, Any]
    """The criterion with its parameters."""
    options: dict[str, Any]
    """The others of `kes.learn`, but for data and knowledge."""
    runs: int
    tasks: int

    @property
    def names(self) -> list[str]:
        return [f"v{i}" for i in range(len(self.columns))]

    @property
    def kind(self) -> str:
        discrete = sum(r > 0 for r in self.cardinalities)
        return {0: "continuous", len(self.columns): "discrete"}.get(discrete, "mixed")

    @property
    def summary(self) -> str:
        weights = "no weights" if self.weights is None else f"weights {self.weights[:3]}..."
        return (
            f"{len(self.columns[0])} rows of a {self.kind} table, states {self.cardinalities}, "
            f"{weights}, {self.runs} runs, {self.tasks} tasks, {self.scoring}, {self.options}, "
            f"{self.known}"
        )

    def table(self, rows: NDArray[np.intp] | None = None) -> Dataset:
        """The table, its rows in another order if one is given."""
        rows = np.arange(len(self.columns[0])) if rows is None else rows
        columns = [
            Discrete(tuple(range(r)), column[rows]) if r else Continuous(column[rows])
            for column, r in zip(self.columns, self.cardinalities, strict=True)
        ]
        weights = None if self.weights is None else self.weights[rows]
        return Dataset.of(self.names, columns, weights)

    @property
    def knowledge(self) -> kes.Knowledge | None:
        """The knowledge, as a public object."""
        if self.known is None:
            return None
        named = [f"v{i}" for i in range(self.known.n)]
        tiers: dict[int, list[str]] = {}
        for name, tier in zip(named, self.known.tiers or (), strict=False):
            if tier is not None:
                tiers.setdefault(tier, []).append(name)
        return kes.Knowledge(
            tiers=[tiers[tier] for tier in sorted(tiers)],
            required=[(named[a], named[b]) for a, b in self.known.required],
            forbidden=[(named[a], named[b]) for a, b in self.known.forbidden],
        )

    def learn(self, data: Dataset, **others: Any) -> kes.Optima:
        amounts = {"runs": self.runs, "improve": self.tasks or False, "n_jobs": 1}
        options = self.scoring | self.options | amounts | others
        return kes.learn(data, knowledge=self.knowledge, **options)

    # --- what brute force says ---

    @cached_property
    def models(self) -> brute.Models:
        return brute.models(len(self.columns))

    @cached_property
    def score(self) -> list[float]:
        """Score of every model, by an oracle."""
        return [self._of(dags[0]) for dags in self.models.classes]

    @cached_property
    def admissible(self) -> list[bool]:
        """Whether each model has a DAG that obeys the knowledge and the largest in-degree."""
        most = self.options["max_parents"]
        limited = (
            most is None or brute.max_in_degree(dags[0]) <= most for dags in self.models.classes
        )
        if self.known is None:
            return list(limited)
        return [ok and bool(d) for ok, d in zip(limited, self.known.admissible(), strict=True)]

    @property
    def impossible(self) -> bool:
        """Whether the required arcs alone have no score, since some columns determine another."""
        required = [] if self.known is None else self.known.required
        dag = brute.dag_from_arcs(len(self.columns), required)
        return self.score[self.models.number[dag]] == -inf

    @property
    def score_range(self) -> tuple[float, float]:
        finite = [score for score in self.score if score > -inf]
        return min(finite), max(finite)

    @property
    def best(self) -> float:
        return max(s for s, ok in zip(self.score, self.admissible, strict=True) if ok)

    def neighbours(self, model: int) -> dict[brute.Triple, int]:
        """Admissible models in the inclusion boundary that have a score."""
        reached = self.models._boundary_of(self.models.classes[model])
        return {
            triple: target
            for triple, (target,) in reached.items()
            if self.admissible[target] and self.score[target] > -inf
        }

    def number(self, graph: kes.EssentialGraph) -> int:
        at = {name: i for i, name in enumerate(self.names)}
        directed = sorted((at[a], at[b]) for a, b in graph.directed)
        undirected = sorted(tuple(sorted(at[v] for v in pair)) for pair in graph.undirected)
        return _numbers(len(self.names))[repr((directed, undirected))]

    def graph(self, model: int) -> kes.EssentialGraph:
        names = self.names
        directed, undirected = self.models.essential[model]
        return kes.EssentialGraph(
            names,
            [(names[a], names[b]) for a, b in directed],
            [(names[a], names[b]) for a, b in undirected],
        )

    @cached_property
    def _oracle(self) -> DirectScore | Gaussian:
        if self.kind == "discrete":
            return DirectScore(self.columns, self.cardinalities, self.weights, **self.scoring)
        return Gaussian(self.columns, self.weights, **self.scoring)

    def _of(self, dag: Dag) -> float:
        if isinstance(self._oracle, DirectScore):
            return self._oracle.of(dag)
        families = [(parents | 1 << y) for y, parents in enumerate(dag)]
        if any(self._dependent[nodes] for nodes in families):
            return -inf
        return float(self._oracle.of(dag))

    @cached_property
    def _dependent(self) -> list[bool]:
        """Whether some columns of each set determine another; BGe does not mind."""
        sets = range(1 << len(self.columns))
        if self.scoring["criterion"] == "bge":
            return [False for _ in sets]
        return [self._rank(nodes) < len(self._places(nodes)) for nodes in sets]

    @property
    def twins(self) -> bool:
        """Whether two variables determine each other linearly."""
        if isinstance(self._oracle, DirectScore):
            return False
        pairs = combinations(range(len(self.columns)), 2)
        return any(
            0
            < len(self._places(1 << a))
            == len(self._places(1 << b))
            == self._rank(1 << a | 1 << b)
            for a, b in pairs
        )

    def _places(self, nodes: int) -> list[int]:
        assert isinstance(self._oracle, Gaussian)
        return [place for v in brute.members(nodes) for place in self._oracle.places[v]]

    def _rank(self, nodes: int) -> int:
        assert isinstance(self._oracle, Gaussian)
        covariance = np.array(self._oracle.covariance, dtype=float)
        deviations = np.sqrt(np.diag(covariance))
        correlation = covariance / np.outer(deviations, deviations)
        part = self._places(nodes)
        return int((np.linalg.eigvalsh(correlation[np.ix_(part, part)]) > DEPENDENT / 10).sum())


@cache
def _numbers(n: int) -> dict[str, int]:
    return {repr(graph): i for i, graph in enumerate(brute.models(n).essential)}


# --- drawing --------------------------------------------------------------------------------------


def draw(rng: np.random.Generator) -> Case:
    """A case; mostly of three or four variables, so that brute force keeps pace."""
    n = int(rng.choice([2, 3, 4, 5], p=[0.1, 0.35, 0.45, 0.1]))
    kind = str(rng.choice(["discrete", "continuous", "mixed"], p=[0.5, 0.25, 0.25]))
    rows = int(rng.integers(5, 200) if kind == "discrete" else rng.integers(60, 120))
    cardinalities = [int(r) for r in rng.integers(2, 5, n)]
    codes = (
        noisy_copies(n, rows, rng)
        if rng.random() < 0.2
        else sample(_random_dag(n, rng), cardinalities, rows, rng, rng.choice([0.05, 0.3, 0.7]))
    )
    columns: list[Column] = list(codes)
    if kind != "discrete":
        continuous = np.ones(n, bool) if kind == "continuous" else rng.random(n) < 0.5
        if kind == "mixed" and (continuous.all() or not continuous.any()):
            continuous = np.arange(n) == 0
        columns, cardinalities = _continuous(codes, continuous, cardinalities, rng)
    known = mixture(n, rng) if rng.random() < 0.4 else None
    required = 0
    if known is not None:
        required = max(sum(y == child for _, y in known.required) for child in range(n))
    most = [None, None, required + 1, required + 2]
    criterion = str(rng.choice(CRITERIA[kind]))
    scoring: dict[str, Any] = {"criterion": criterion}
    if criterion == "bdeu":
        scoring["ess"] = float(10.0 ** rng.uniform(-2, 3))
    elif kind != "discrete" and criterion != "bge":
        scoring["penalty"] = float(rng.choice([0.5, 1.0, 2.0]))
    options = {
        "k": float(rng.choice([0.0, 0.4, 0.8, 1.0])),
        "max_parents": most[int(rng.integers(4))],
        "random_state": int(rng.integers(2**32)),
    }
    runs, tasks = int(rng.integers(2, 25)), int(rng.integers(0, 60))
    weights = _weights(rows, rng)
    return Case(columns, cardinalities, weights, known, scoring, options, runs, tasks)


def _random_dag(n: int, rng: np.random.Generator) -> Dag:
    dags = brute.all_dags(n)
    return dags[rng.integers(len(dags))]


def _continuous(
    codes: NDArray[np.int32],
    continuous: NDArray[np.bool_],
    cardinalities: list[int],
    rng: np.random.Generator,
) -> tuple[list[Column], list[int]]:
    """Noise around the codes, in any unit and at any offset."""
    columns: list[Column] = []
    arity = []
    for column, numbers, r in zip(codes, continuous, cardinalities, strict=True):
        if numbers:
            values = column + rng.normal(scale=rng.choice([0.1, 1.0]), size=len(column))
            columns.append((values + rng.choice([0.0, 1e4])) * 10.0 ** rng.integers(-9, 10))
        else:
            columns.append(column)
        arity.append(0 if numbers else r)
    return columns, arity


def _weights(rows: int, rng: np.random.Generator) -> NDArray[np.float64] | None:
    """None, counts with zeros among them, or reals; never fewer cases than rows."""
    match int(rng.integers(4)):
        case 2:
            weights = rng.integers(0, 4, rows) + np.eye(rows)[0]
            return weights * np.ceil(rows / weights.sum())
        case 3:
            weights = rng.exponential(1.0, rows)
            return weights * rows / weights.sum()
    return None
