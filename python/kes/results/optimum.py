"""A model that a search found."""

from dataclasses import replace
from functools import cached_property

from kes.data.column import Kind
from kes.data.dataset import Data, Dataset, Incomplete
from kes.data.schema import ReadOptions
from kes.graph import EssentialGraph
from kes.graph.core_graph import CoreGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import Mpdag
from kes.graph.pdag import Pdag
from kes.options import FitOptions
from kes.results.methods import OptimumMethods
from kes.results.provenance import Lineage
from kes.search.problem import OtherData, Problem
from kes.search.record import Record


class Optimum(OptimumMethods):
    """A model that a search found. Made by `kes.learn` and `kes.load`."""

    def __init__(self, lineage: Lineage, place: int) -> None:
        self._lineage, self._place = lineage, place

    @property
    def _record(self) -> Record:
        return self._lineage.record

    @property
    def score(self) -> float:
        """The criterion, in natural logarithms; higher is better."""
        return self._record.pool[self._place].score

    @property
    def hits(self) -> int:
        """Number of runs that ended here; 0 for a model that only GES or improvement found."""
        return self._lineage.hits[self._place]

    @property
    def first_run(self) -> int | None:
        """The first run that ended here; None if no run did."""
        return self._record.first_runs.get(self._place)

    @property
    def origin(self) -> str:
        """The origin of the model.

        "run 8", "GES", "recombined from run 3 and run 41", "refined from task 210", "perturbed from
        task 12", "ordered from GES"; "exact" if only a proof found it. Models that improvement
        found are named by their task; `Optima.ancestry` goes back to the runs.
        """
        return self._lineage.origin(self._place)

    @property
    def is_local_optimum(self) -> bool:
        """Whether no admissible neighbour scores higher, checked from scratch.

        A search in two phases or with a sampled neighbourhood may stop elsewhere.
        """
        return self._record.pool[self._place].is_local_optimum

    @property
    def proven(self) -> bool:
        """Whether it is proven that no network scores higher: see `Optima.proof`."""
        return self._lineage.is_proven(self._place)

    @property
    def names(self) -> tuple[str, ...]:
        """The variables."""
        return self._record.names

    @property
    def edges(self) -> CoreGraph:
        """The directed and undirected edges, as pairs of variable numbers."""
        return self._record.pool[self._place].graph

    @property
    def knowledge(self) -> Knowledge | None:
        """The background knowledge of the search."""
        return self._record.settings.knowledge

    @property
    def kinds(self) -> tuple[Kind, ...]:
        """Kind of each variable: "discrete" or "continuous"."""
        return tuple("discrete" if states else "continuous" for states in self._record.states)

    @property
    def transform(self) -> str | None:
        """The option `transform`."""
        return self._record.settings.transform

    @property
    def basis(self) -> int | None:
        """The degree of the polynomials of continuous variables; None for straight lines."""
        return self._record.settings.measure.degree if self._record.settings.basis else None

    @property
    def edge_prior(self) -> float:
        """The price of every edge in the score, in nats."""
        return self._record.settings.edge_prior

    @property
    def reading(self) -> ReadOptions:
        """The options used to read the data."""
        return self._record.reading

    def __eq__(self, other: object) -> bool:
        return self._key == other._key if isinstance(other, Optimum) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._key)

    @property
    def _key(self) -> tuple[object, ...]:
        return (*self._shown.values(), self.names, self.edges, self.knowledge, self.proven)

    @property
    def _shown(self) -> dict[str, object]:
        shown = ("score", "hits", "first_run", "origin", "is_local_optimum")
        return {name: getattr(self, name) for name in shown}

    def __repr__(self) -> str:
        shown = {**self._shown, "score": round(self.score, 4)}
        return f"Optimum({', '.join(f'{name}={value!r}' for name, value in shown.items())})"

    @cached_property
    def graph(self) -> EssentialGraph:
        """The model as an essential graph."""
        return EssentialGraph.from_core(self.names, self.edges)

    @cached_property
    def mpdag(self) -> Pdag:
        """The model with all directions that follow from the knowledge, as an MPDAG.

        It represents the networks of the class that satisfy the knowledge; without knowledge, it
        is the same as `graph`.
        """
        return self.graph if self.knowledge is None else Mpdag(self.graph, self.knowledge)

    def is_scored_like(self, other: "Optimum") -> bool:
        """Return whether the scores of both can be compared: same cases, same criterion."""
        return self._record.is_scored_like(other._record)

    def completed(self, data: Data) -> Data:
        """Return the completed table of the search, if these are its data.

        Imputed values that were not kept are drawn again as in the search.
        """
        if self._record.completion is None or isinstance(data, Dataset | Incomplete):
            return data
        try:
            return Problem.again(self._record, data).dataset
        except OtherData:
            return data

    def as_read(self, data: Data) -> tuple[FitOptions, ReadOptions]:
        """Return options to read, discretize and transform data like those of the search."""
        reading = self.reading
        same: FitOptions = {
            "missing": reading.missing,
            "completions": reading.completions,
            "discretize": reading.discretizer,
            "transform": self.transform,
            "basis": self.basis,
        }
        if isinstance(data, Dataset | Incomplete):  # read already
            return same, ReadOptions()
        kinds = dict(zip(self.names, self.kinds, strict=False))
        same["kinds"] = {name: kind for name, kind in kinds.items() if name not in reading.cuts}
        if isinstance(reading.weights, str):
            same["weights"] = reading.weights
        return same, replace(reading, columns=self.names, weights=False, cuts={})
