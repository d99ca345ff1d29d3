"""A model that a search found."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

from kes.data.column import Kind
from kes.data.dataset import Data, Dataset
from kes.data.incomplete import Incomplete
from kes.data.read_options import ReadOptions
from kes.graph import EssentialGraph
from kes.graph.core_graph import CoreGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import Mpdag
from kes.graph.pdag import Pdag
from kes.options import FitOptions
from kes.results.methods import OptimumMethods


@dataclass(frozen=True)
class Optimum(OptimumMethods):
    """A model that a search found.

    Attributes
    ----------
    score : float
        The criterion, in natural logarithms; higher is better.
    hits : int
        Number of runs that ended here; 0 for a model that only GES or improving found.
    first_run : int or None
        The first of them; None if there is none.
    origin : str
        Where it comes from: "run 8", "GES", "recombined from run 3 and run 41", "refined from
        task 210", "perturbed from task 12", "ordered from GES". A model that improving found is
        called by the number of its task; `Optima.ancestry` goes back to the runs. "exact" if no
        search but a proof found it.
    is_local_optimum : bool
        Whether no admissible neighbour scores higher, checked from scratch. A search in two
        phases or with a sampled neighbourhood may stop elsewhere.
    names : tuple of str
        The variables.
    edges : CoreGraph
        Its directed and undirected edges, as pairs of variable numbers.
    knowledge : Knowledge or None
        What the search was told.
    proven : bool
        Whether it is proven that no network scores higher: see `Optima.proof`.
    kinds : tuple of str
        Kind of each variable: "discrete" or "continuous".
    transform : str or None
        What was done to continuous values.
    reading : ReadOptions
        How the data were read.
    """

    score: float
    hits: int
    first_run: int | None
    origin: str
    is_local_optimum: bool
    names: tuple[str, ...] = field(repr=False)
    edges: CoreGraph = field(repr=False)
    knowledge: Knowledge | None = field(default=None, repr=False)
    proven: bool = field(default=False, repr=False)
    kinds: tuple[Kind, ...] = field(default=(), repr=False, compare=False)
    transform: str | None = field(default=None, repr=False, compare=False)
    reading: ReadOptions = field(default_factory=ReadOptions, repr=False, compare=False)

    @cached_property
    def graph(self) -> EssentialGraph:
        """The model as an essential graph."""
        return EssentialGraph.from_core(self.names, self.edges)

    @cached_property
    def mpdag(self) -> Pdag:
        """The model with what the knowledge orients; without knowledge, the same as `graph`.

        It stands for the networks of the class that obey the knowledge.
        """
        return self.graph if self.knowledge is None else Mpdag(self.graph, self.knowledge)

    def as_read(self, data: Data) -> tuple[FitOptions, ReadOptions]:
        """Return what makes data be read, cut and transformed as those of the search were."""
        reading = self.reading
        same: FitOptions = {
            "missing": reading.missing,
            "completions": reading.completions,
            "discretize": reading.discretizer,
            "transform": self.transform,
        }
        if isinstance(data, Dataset | Incomplete):  # read already
            return same, ReadOptions()
        kinds = dict(zip(self.names, self.kinds, strict=False))
        same["kinds"] = {name: kind for name, kind in kinds.items() if name not in reading.cuts}
        if isinstance(reading.weights, str):
            same["weights"] = reading.weights
        return same, replace(reading, columns=self.names, weights=False, cuts={})
