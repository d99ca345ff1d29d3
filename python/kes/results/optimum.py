"""A model that a search found."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from kes.graph import EssentialGraph
from kes.graph.knowledge import Knowledge
from kes.graph.mpdag import Mpdag
from kes.graph.pdag import Pdag
from kes.results.questions import OptimumQuestions
from kes.search.record import Edges


@dataclass(frozen=True)
class Optimum(OptimumQuestions):
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
        task 210", "perturbed from task 12". A model that improving found is called by the number
        of its task; `Optima.ancestry` goes back to the runs. "exact" if no search but a proof
        found it.
    is_local_optimum : bool
        Whether no admissible neighbour scores higher, checked from scratch. A search in two
        phases or with a sampled neighbourhood may stop elsewhere.
    names : tuple of str
        The variables.
    edges : pair of tuples
        Directed and undirected edges, as pairs of variable numbers: the model in short.
    knowledge : Knowledge or None
        What the search was told.
    proven : bool
        Whether it is proven that no network scores higher: see `Optima.proof`.
    """

    score: float
    hits: int
    first_run: int | None
    origin: str
    is_local_optimum: bool
    names: tuple[str, ...] = field(repr=False)
    edges: tuple[Edges, Edges] = field(repr=False)
    knowledge: Knowledge | None = field(default=None, repr=False)
    proven: bool = field(default=False, repr=False)

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
