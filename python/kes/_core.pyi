"""The Rust core as Python sees it. Variables are indices 0..n-1; names live one layer above.

A graph crosses the border as its two sorted edge lists: ``directed`` arcs ``(a, b)`` meaning
a -> b, and ``undirected`` edges ``(a, b)`` with a < b.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal, NamedTuple, NotRequired, TypeAlias, TypedDict, Unpack, final

import numpy as np
from numpy.typing import NDArray

_Edges: TypeAlias = list[tuple[int, int]]
_Graph: TypeAlias = tuple[Sequence[tuple[int, int]], Sequence[tuple[int, int]]]
_Triple: TypeAlias = tuple[bool, int, int, list[int]]
"""(is it an insertion, x, y, conditioning set), with x < y."""

_Column: TypeAlias = NDArray[np.float64] | tuple[NDArray[np.float64], int] | NDArray[np.int32]
"""Numbers, normal scores with the degree of their polynomials, or codes of states (from 0)."""

_Knowledge: TypeAlias = tuple[list[int | None] | None, _Edges, _Edges]
_Additions: TypeAlias = tuple[float, list[tuple[int, int, float]], list[int]]
"""(tier of each variable, None if it has none; required arcs; forbidden arcs)."""

__all__ = [
    "CRITERIA",
    "EXACT_PASSES",
    "MAX_COMPONENT",
    "MAX_DEGREE",
    "MAX_ENUMERATED",
    "MAX_EXACT",
    "MAX_STATES",
    "MAX_VARIABLES",
    "SCORE_CLIP",
    "Chain",
    "CoreError",
    "Criterion",
    "CsvColumn",
    "Everything",
    "Exact",
    "Families",
    "Improved",
    "Inference",
    "Problem",
    "Step",
    "TooLargeError",
    "__version__",
    "apply",
    "boundary",
    "check_essential",
    "contradiction",
    "essential_graph",
    "extension",
    "inadmissible",
    "level",
    "mpdag",
    "parse_csv",
    "penalty",
    "polynomials",
    "posterior_bytes",
]

__version__: str

class Criterion(NamedTuple):
    """A criterion. A name stands for one criterion on each kind of table."""

    name: str
    title: str
    parameters: tuple[str, ...]
    """Names of its parameters ("ess", "penalty")."""
    kinds: tuple[str, ...]
    """Kinds of tables it takes ("discrete", "continuous", "mixed")."""
    model: str
    """The model that it scores: "multinomial", "gaussian" (`Problem.gaussian`) or "location"."""

CRITERIA: tuple[Criterion, ...]

MAX_COMPONENT: int
"""The largest number of variables that dynamic programming can solve together, if memory allows."""

EXACT_PASSES: int
"""Number of times that `Problem.posterior` visits each set of variables."""

MAX_DEGREE: int
"""The highest degree of polynomials of normal scores."""

MAX_ENUMERATED: int
"""The largest number of variables whose DAGs are listed."""

MAX_EXACT: int
"""The largest number of variables whose DAGs are summed over, whatever the memory."""

MAX_STATES: int
"""The largest number of states of a variable."""

MAX_VARIABLES: int
"""The largest number of variables."""

SCORE_CLIP: float
"""The bound to which normal scores are clipped before they become polynomials."""

class CoreError(Exception):
    """Input that the core cannot use. Its message numbers the variables."""

    template: str | None
    """The message with a field, ``{0}`` and so on, for the name of each of the `variables`."""

    variables: Sequence[int]
    """The variables that the error is about."""

class _SearchOptions(TypedDict):
    k: float
    seed: int
    max_parents: int | None
    two_phase: bool
    start: _Graph | None
    sampled: tuple[int, int | None] | None
    """None for the exact boundary; (reversals, failures) for the paper's section 4.1."""
    knowledge: NotRequired[_Knowledge | None]

class Step(NamedTuple):
    """A step of a run. Of a sampled run, `better` and `rank` are those within the sample."""

    triple: _Triple
    delta: float
    better: int
    """|B|."""
    rank: int
    """Rank of the move in B, from 0."""

class Improved(NamedTuple):
    """A model found by improving."""

    graph: _Graph
    score: float
    origin: str
    """Its origin: "recombined", "refined", "perturbed" or "ordered"."""
    parents: list[int]
    """Places of the models it was made of: given graphs first, then what was found, in order."""
    task: int
    """Number of the task that found it."""

class Exact(NamedTuple):
    """Probabilities from the sum over all DAGs. Matrices are lists, row by row."""

    arcs: list[float]
    """Of an arc from the variable of the row to that of the column."""
    ancestors: list[float]
    """Of a directed path from the variable of the row to that of the column."""
    log_sum: float
    """Logarithm of the sum of exp(score) over all DAGs."""
    dropped: float
    """Bound on the share of the sum that was left out."""
    rounding: float
    """Bound on the error by rounding."""
    mismatch: float
    """Relative difference between the two ways to compute the sum."""

class Everything(NamedTuple):
    """Probabilities from all DAGs, one by one. Matrices are lists, row by row."""

    arcs: list[float]
    ancestors: list[float]
    blankets: list[float]
    """Of the variable of the row in the Markov blanket of that of the column."""
    v_structures: list[tuple[tuple[int, int, int], float]]
    """(a, c, b) for a -> c <- b, with the probability."""
    classes: list[tuple[_Graph, float]]
    """The classes with their probabilities, largest first."""
    log_sum: float

class Chain(NamedTuple):
    """The results of a chain over models. Matrices are lists, row by row."""

    edges: list[list[float]]
    """Of each block of rounds, the share of the time with each edge (a, b), a < b."""
    arcs: list[list[float]]
    """Of each block, the share of the DAGs drawn with each arc."""
    ancestors: list[float]
    blankets: list[float]
    v_structures: list[tuple[tuple[int, int, int], float]]
    classes: list[tuple[_Graph, int]]
    """Models that rounds ended in, and how many."""
    state: list[_Graph]
    """Models of the walkers, to continue from."""
    jumps: int

class _ChainOptions(TypedDict):
    prior: str
    betas: list[float]
    seed: int
    duration: float
    rounds: int
    before: int
    blocks: int
    max_parents: int | None
    n_jobs: int

class TooLargeError(CoreError):
    """Tables would be too large; ``args`` are the variables of the largest, and all to sum over."""

def penalty(criterion: str, cases: float) -> float | None:
    """Return the penalty per parameter for a number of cases; None if it varies."""

def polynomials(scores: NDArray[np.float64], degree: int) -> NDArray[np.float64]:
    """Return the Legendre polynomials of normal scores up to a degree, shape (scores, degree)."""

def posterior_bytes(n: int) -> float:
    """Return the memory that `Problem.posterior` needs for n variables that vary."""

def level(value: float, tolerance: float) -> int | float:
    """Return the multiple of the tolerance that a gain or score rounds to: equal levels are ties.

    Halves are rounded away from zero. Infinite if the value is, or if that is too many.
    """

def essential_graph(n: int, arcs: _Edges) -> _Graph:
    """Essential graph of a DAG. Raises CoreError if the arcs have a directed cycle."""

def check_essential(n: int, graph: _Graph) -> None:
    """Raise CoreError (saying why) unless the graph is an essential graph."""

def extension(n: int, graph: _Graph, knowledge: _Knowledge | None = None) -> _Edges:
    """Arcs of the canonical DAG of the class, sorted.

    With knowledge, the admissible DAG that follows the canonical one as far as it may; CoreError if
    there is none.
    """

def boundary(
    n: int, graph: _Graph, max_parents: int | None, knowledge: _Knowledge | None = None
) -> list[_Triple]:
    """All admissible neighbours, each triple once, sorted by (kind, x, y, given), deletions first.

    Raises CoreError if the graph itself is not admissible.
    """

def contradiction(
    n: int, knowledge: _Knowledge
) -> tuple[Literal["cycle", "forbidden", "tiers"], _Edges] | None:
    """Return why no DAG is admissible, if so, and which required arcs cannot be."""

def inadmissible(
    n: int, graph: _Graph, knowledge: _Knowledge
) -> tuple[Literal["missing", "forbidden"], tuple[int, int]] | None:
    """Return why no DAG of the class is admissible, if so.

    A required arc joins nodes that are not adjacent ("missing"), or an arc that is forbidden, or
    whose reverse is required, follows from the graph and the rest of the knowledge ("forbidden").
    """

def mpdag(n: int, graph: _Graph, knowledge: _Knowledge) -> _Graph:
    """Arcs that all admissible DAGs of the class share, and the edges on which they differ.

    Raises CoreError if there are none.
    """

def apply(n: int, graph: _Graph, triple: _Triple) -> _Graph:
    """Return the neighbour that the triple stands for; CoreError if it is not in the boundary."""

@final
class Problem:
    """A coded table under one criterion: what all runs share (counts, set terms, their cache)."""

    def __new__(
        cls,
        columns: Sequence[NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]],  # codes
        cardinalities: list[int],
        weights: NDArray[np.float64] | None,
        criterion: str,  # a name of CRITERIA
        ess: float,
        cache_mb: int,
        additions: _Additions | None = None,
        *,
        sparse: bool | None = None,  # whether searches go over lists; by default if that is faster
    ) -> Problem:
        """Take a discrete table, with optional additions to the criterion.

        These are a weight of every pair of variables and further weights of some, which are added
        to the gain of every edge between them; and exogenous variables, whose own families count
        nothing. Knowledge must forbid all arcs into the latter.
        """

    @staticmethod
    def gaussian(
        columns: list[_Column],
        order: list[int],
        weights: NDArray[np.float64] | None,
        criterion: str,  # a name of CRITERIA of Gaussian models
        penalty: float,  # factor of the penalty, where the criterion has one
        cache_mb: int,
        n_jobs: int,
        additions: _Additions | None = None,
        *,
        sparse: bool | None = None,  # as in a discrete table
    ) -> Problem:
        """Take a continuous or mixed table.

        The order of the variables decides the last bits of scores; if it is that of their names,
        the order of the columns decides nothing.
        """

    @staticmethod
    def location(
        columns: list[_Column],
        cardinalities: list[int],  # of discrete columns; those of others are ignored
        order: list[int],
        weights: NDArray[np.float64] | None,
        criterion: str,  # a name of CRITERIA of location models
        penalty: float,  # factor of the penalty of continuous parameters
        cache_mb: int,
        n_jobs: int,
        additions: _Additions | None = None,
        *,
        sparse: bool | None = None,  # as in a discrete table
    ) -> Problem:
        """Take a mixed table under the location model; as `gaussian`."""

    @property
    def excluded(self) -> list[tuple[int, int, str]]:
        """Pairs of variables that no model joins, and why; none in discrete tables.

        "twins" determine each other; the first of a "determined" pair determines the second;
        "collinear" ones have indicators that determine each other; a pair that is "too large" has
        too many cells or columns for the cases.
        """

    @property
    def dependent(self) -> list[int] | None:
        """The smallest set met so far in which some variables determine another linearly.

        No family enters such a set: gains that lead to it are -inf, and so are scores of graphs
        that hold it. None if no such set was met.
        """

    @property
    def total_weight(self) -> float:
        """N, the number of cases (sum of the weights)."""

    @property
    def varying(self) -> list[int]:
        """The variables that are not constant."""

    @property
    def tolerance(self) -> float:
        """tau: gains and scores that round to the same multiple of it are tied."""

    @property
    def fingerprint(self) -> str:
        """32 hex digits from the coded rows and weights; independent of the order of the rows."""

    @property
    def cached_terms(self) -> int:
        """Terms in the cache that threads share; 0 if each remembers its own, as on wide tables."""

    def score(self, arcs: _Edges) -> float:
        """Score of a DAG."""

    def delta(self, triple: _Triple) -> float:
        """Gain of moving to the neighbour that the triple stands for."""

    def level(self, value: float) -> int | float:
        """Return the level of a gain or score: see the function of this name."""

    def boundary(
        self, graph: _Graph, max_parents: int | None, knowledge: _Knowledge | None = None
    ) -> list[tuple[_Triple, float]]:
        """All neighbours with their gains, best level first; tied ones as `boundary` has them."""

    def is_local_optimum(
        self, graph: _Graph, max_parents: int | None, knowledge: _Knowledge | None = None
    ) -> bool:
        """Tell whether the model is admissible, and no admissible neighbour scores higher."""

    def local_optima(
        self,
        graphs: Sequence[_Graph],
        max_parents: int | None,
        knowledge: _Knowledge | None = None,
        *,
        n_jobs: int,
    ) -> list[bool]:
        """Tell the same of many models, which have most of their neighbours in common."""

    def trace(self, run: int, **options: Unpack[_SearchOptions]) -> tuple[list[Step], _Graph]:
        """Replay one run: its steps, and the end."""

    def search(
        self,
        runs: list[int],
        on_batch: Callable[
            [
                list[int],
                list[int],
                list[tuple[_Graph, float, bool]],
                int,
                tuple[_Graph, float] | None,
            ],
            bool,
        ],
        *,
        n_jobs: int,
        **options: Unpack[_SearchOptions],
    ) -> None:
        """Do the given runs on n_jobs threads and hand over the results as they come.

        on_batch(runs, models, new_models, steps, unfinished) is called at most ten times a second,
        and once at the end, from the calling thread: runs[i] ended in model number models[i];
        models are numbered in the order they are first handed over within this call, and
        new_models holds, for the numbers not seen before, (graph, score, is local optimum). Not in
        run order. steps counts those of all runs so far. If the search was stopped, unfinished is
        at the end the model, with its score, that the earliest unfinished run had reached, unless
        it had not moved. Returning False stops the search. It is called (possibly with empty lists)
        at least every 0.1 s or so, so it can also watch a clock. Ctrl-C raises KeyboardInterrupt
        within a second, after everything finished was handed over.

        Without a start, runs begin at the model of the required arcs alone. Raises CoreError if the
        start is not admissible, or more parents are required than allowed.
        """

    def improve(
        self,
        graphs: Sequence[_Graph],
        on_batch: Callable[[list[Improved], int], bool],
        *,
        tasks: int,
        seed: int,
        max_parents: int | None,
        n_jobs: int,
        knowledge: _Knowledge | None = None,
    ) -> None:
        """Make better models of the given, distinct ones: recombine, refine, perturb, order.

        on_batch(found, done) is called after every round with the new models and the number of
        tasks done, and meanwhile every 0.1 s or so with an empty list. Returning False stops.
        Stopped after p tasks, by this or by Ctrl-C, the result is that of tasks=p: it depends on
        the graphs, tasks and seed only.
        """

    def families(
        self,
        on_progress: Callable[[int], bool],
        *,
        max_parents: int | None,
        n_jobs: int,
        memory_mb: int,
        knowledge: _Knowledge | None = None,
    ) -> Families:
        """Find all families that can be part of a best admissible network.

        on_progress(sets counted so far) is called about ten times a second; returning False stops.
        Then, or if more memory is needed than allowed, some may be `lacking`.
        """

    def posterior(
        self,
        on_progress: Callable[[int], bool],
        *,
        max_parents: int | None,
        n_jobs: int,
        memory_mb: int,
        knowledge: _Knowledge | None = None,
    ) -> Exact | None:
        """Sum over all admissible DAGs.

        on_progress(sets done so far, each EXACT_PASSES times) is called about ten times a second;
        returning False stops. None if it is stopped, or if it needs more memory than allowed.
        """

    def credible(
        self,
        on_progress: Callable[[int], bool],
        *,
        within: float,
        most: int,
        max_parents: int | None,
        n_jobs: int,
        memory_mb: int,
        knowledge: _Knowledge | None = None,
    ) -> tuple[list[tuple[_Graph, float]], bool] | None:
        """Find all admissible models within a distance of the best score, best first.

        The second value tells whether these are all; there may be more if `most` are found or
        on_progress(sets done so far) returns False. None if that is too early, or if it needs more
        memory than allowed.
        """

    def chains(
        self,
        on_progress: Callable[[int], bool],
        starts: Sequence[Sequence[_Graph]],
        listed: Sequence[_Graph],
        knowledge: _Knowledge | None = None,
        **options: Unpack[_ChainOptions],
    ) -> list[Chain]:
        """Continue chains over models from the models of their walkers, one for each of `betas`.

        They hop between the `listed` models. on_progress(rounds done by all) is called about ten
        times a second; if it returns False, the list is empty. Rounds are numbered on from the
        blocks done `before`: the same blocks in several calls give the same result.
        """

    def pilot(
        self,
        on_progress: Callable[[int], bool],
        start: _Graph,
        knowledge: _Knowledge | None = None,
        **options: Unpack[_ChainOptions],
    ) -> float | None:
        """Return a duration of rounds in which a walker jumps twice for each variable.

        None if on_progress, which is called about ten times a second, returns False.
        """

    def enumerate(
        self, prior: str, max_parents: int | None, knowledge: _Knowledge | None = None
    ) -> Everything:
        """List all admissible DAGs; at most MAX_ENUMERATED variables may be `varying`.

        The prior, uniform over "dags" or "classes", is about admissible ones.
        """

@final
class Families:
    """Of every variable, the parent sets that can be part of a best network, best first."""

    @property
    def counted(self) -> int:
        """Number of sets that were counted to find them."""

    @property
    def sizes(self) -> list[int]:
        """Number of parent sets of each variable."""

    @property
    def components(self) -> list[list[int]]:
        """Variables that have to be decided together."""

    @property
    def lacking(self) -> Literal["time", "memory"] | None:
        """The work needed to find all others, for which only bounds are known; or None."""

    def choices(self, y: int) -> list[tuple[list[int], float]]:
        """Return the parent sets of a variable with their scores."""

    def optimum(
        self, on_progress: Callable[[int], bool], *, n_jobs: int, memory_mb: int
    ) -> tuple[_Edges, float] | None:
        """Return the arcs of a best network and its score.

        on_progress(subsets done so far) as above. None if it is stopped, if families are lacking,
        or if the largest component, of m variables, needs more than allowed: 8 * 2**m bytes.
        """

    def upper_bound(self, clusters: list[tuple[list[int], int, float]]) -> float:
        """Return what no network can exceed, given (members, k, weight) of clusters."""

    def reduced(self, clusters: list[tuple[list[int], int, float]], floor: float) -> Families:
        """Return the families that a network with a score of at least `floor` can have."""

def parse_csv(
    blocks: Iterable[bytes],
    delimiter: str,
    quote: str = '"',
    skip: int = 0,
    unnamed: int | None = None,
) -> tuple[list[str], list[CsvColumn]]:
    """Header and columns of a file in UTF-8 that comes in blocks.

    `skip` records precede the header, which leaves out the name of the column at the place
    `unnamed`.

    Raises ValueError where the form is wrong, with the line, and UnicodeError(message, line) where
    a cell is not UTF-8.
    """

@final
class CsvColumn:
    """A column of a file."""

    @property
    def codes(self) -> NDArray[np.signedinteger[Any]]:
        """For each row the number of its value: int8, int16 or int32, as these need."""

    def values(self) -> list[str]:
        """Return the distinct values in order of appearance; made anew."""

    def numbers(self) -> NDArray[np.int64] | NDArray[np.float64] | None:
        """Return the number that each value stands for, 0 for an empty one; made anew.

        None unless all other values are plain numbers, and for codes such as "007".
        """

    @property
    def empty(self) -> int | None:
        """The code of the empty value; None if there is none."""

@final
class Inference:
    """Exact inference in a product of tables over discrete variables.

    Parameters
    ----------
    states
        Number of states of each variable.
    factors
        The variables of each table, and its cells, the last variable changing fastest.
    directed
        Whether table v is the distribution of variable v, its last one, as in a network.
    logarithms
        Whether the cells are logarithms, if not directed.
    """

    def __new__(
        cls,
        states: Sequence[int],
        factors: Sequence[tuple[Sequence[int], NDArray[np.float64]]],
        *,
        directed: bool = True,
        logarithms: bool = False,
    ) -> Inference: ...
    def posteriors(
        self,
        target: int,
        observed: Sequence[int],
        codes: NDArray[np.int32],
        *,
        strict: bool = False,
    ) -> NDArray[np.float64]:
        """Distribution of a variable given the states of others, shape (rows, states).

        ``codes`` has shape (observed variables, rows), with -1 for missing states. Impossible rows
        are NaN; if strict, also those whose irrelevant observations are impossible.
        """

    def log_evidence(
        self, observed: Sequence[int], codes: NDArray[np.int32]
    ) -> NDArray[np.float64]:
        """Logarithm of the probability of the observed states of each row."""

    def marginals(
        self, observed: Sequence[int], codes: NDArray[np.int32]
    ) -> list[list[float]] | None:
        """Distributions of all variables given the only row; None if it is impossible.

        Those of observed variables are empty.
        """
