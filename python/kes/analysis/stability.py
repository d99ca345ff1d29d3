"""Resampling support: which edges would be found again in other samples.

The search is repeated on tables drawn from the data, and the best optimum of each is kept. An edge
that depends on a few cases disappears from many of them.

There are two schemes, with biases in opposite directions:

``"subsample"`` draws half of the cases without replacement. Each such table is a valid but smaller
sample of the population, so that weak edges are missed more often than with all cases: the support
is conservative.

``"bootstrap"`` draws as many cases as there are, with replacement. Some are drawn twice, and a
coincidence among these looks as if it was observed twice. To first order, the statistic
2N I(X;Y|Z) by which a criterion evaluates an edge has, under independence, mean d (its degrees of
freedom) over samples, but mean 2d over bootstrap samples of samples, while the penalty stays the
same. Graphs from bootstrap samples are therefore too dense, and false edges look stable [Friedman
1999; Steck & Jaakkola 2003].
"""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Unpack

import numpy as np

from kes.analysis.support import (
    ConsensusGraph,
    Ensemble,
    blanket_table,
    consensus,
    edge_table,
    v_structure_table,
)
from kes.budget import Budget
from kes.data.dataset import AnyTable, Data
from kes.data.random_stream import Purpose, Stream
from kes.data.resampling import Cases
from kes.declare import checked_options
from kes.errors import Interrupted, KesError, either
from kes.options import StabilityOptions
from kes.progress import RunCounter, reporting
from kes.results.optima import Optima
from kes.results.optimum import Optimum
from kes.search.driver import Execution
from kes.search.pipeline import search
from kes.search.problem import Problem
from kes.settings import Settings
from kes.table import Table


@dataclass(frozen=True)
class Stability:
    """The best optima of resampled tables.

    Attributes
    ----------
    names : tuple of str
        The variables.
    best : tuple of Optimum
        The best optimum of each resampled table. Their scores are not comparable with each other.
    scheme : {"subsample", "bootstrap"}
        Resampling scheme.
    cases : int
        Number of cases in each table.
    runs : int
        Number of runs on each table.
    settings : Settings
        The settings of the search; the seeds of all resamples are drawn from its seed.
    """

    names: tuple[str, ...]
    best: tuple[Optimum, ...]
    scheme: str
    cases: int
    runs: int
    settings: Settings

    @property
    def resamples(self) -> int:
        """Number of resampled tables."""
        return len(self.best)

    @cached_property
    def ensemble(self) -> Ensemble:
        """The graphs of the best optima, with equal weights."""
        graphs = [optimum.mpdag for optimum in self.best]
        return Ensemble("resampling", graphs, np.ones(len(graphs)))

    def edges(self) -> Table:
        """Resampling support of each edge and compelled direction; see `Optima.edges`."""
        return edge_table(self.names, [self.ensemble])

    def v_structures(self) -> Table:
        """Resampling support of each v-structure; see `Optima.v_structures`."""
        return v_structure_table(self.names, [self.ensemble])

    def markov_blankets(self, node: str | None = None) -> Table:
        """Resampling support of the members of Markov blankets; see `Optima.markov_blankets`."""
        return blanket_table(self.names, [self.ensemble], node)

    def consensus(self, threshold: float = 0.5) -> ConsensusGraph:
        """Return the edges whose resampling support reaches a threshold."""
        return consensus(self.names, self.ensemble, threshold)

    def __repr__(self) -> str:
        edges = np.mean([len(graph.skeleton) for graph in self.ensemble.graphs])
        return (
            f"Stability({self.resamples} resamples by {self.scheme}, {self.cases} cases and "
            f"{self.runs} runs each, {edges:.1f} edges on average)"
        )


class StabilityInterrupted(Interrupted):
    """Ctrl-C during `kes.stability`.

    Attributes
    ----------
    stability : Stability or None
        Result of the finished resamples; None if there are none.
    """

    def __init__(self, stability: Stability | None = None) -> None:
        super().__init__()
        self.stability = stability

    def __str__(self) -> str:
        if self.stability is None:
            return "interrupted before the first resample was finished"
        return "interrupted; the attribute 'stability' has the finished resamples"


@checked_options(StabilityOptions, runs=10)
def stability(data: Data, **options: Unpack[StabilityOptions]) -> Stability:
    """Repeat the search on resampled data, to see which edges depend on a few cases.

    `random_state` is also the seed of the draws. `weights` are numbers of cases: of a row of weight
    3, one or two cases may be drawn; subsamples need integers. `progress` counts the runs on all
    tables together.

    Parameters
    ----------
    data
        As in `kes.learn`. States and intervals are those of the whole table in every resample;
        missing values are imputed anew in each.
    runs : int
        Number of runs on each table; the best model counts. With few runs and little improving,
        the support also reflects how much the search itself varies.

    Returns
    -------
    Stability
        Has `edges`, `v_structures`, `markov_blankets` and `consensus`. To show its support beside
        the others, pass it on: ``optima.edges(stability=...)``.

    Raises
    ------
    KesError
        If the data or an option cannot be used.
    StabilityInterrupted
        On Ctrl-C, with the finished resamples as ``.stability``.

    Notes
    -----
    Resample i depends only on the data, in the order of their rows, the settings, `random_state`
    and i.

    Examples
    --------
    >>> import kes
    >>> data = kes.datasets.alarm(rows=1000)
    >>> stability = kes.stability(data, resamples=20, runs=5)
    >>> len(stability.consensus(0.9).supports) < len(stability.edges())
    True
    """
    wanted, scheme = options["resamples"], options["scheme"]
    allowed, execution = Budget.of(options), Execution.of(options)
    each = allowed.runs or 1
    problem = Problem.of(data, options)
    settings, cases = problem.settings, Cases(problem.table)
    size = cases.number if scheme == "bootstrap" else _size(cases, options["fraction"])
    best: list[Optimum] = []

    def result() -> Stability:
        return Stability(cases.table.names, tuple(best), scheme, size, each, settings)

    counter = RunCounter(each, wanted * each)
    try:
        with reporting(execution.progress) as report:
            for i in range(wanted):
                stream = Stream(settings.seed, Purpose.STABILITY, i)
                own = replace(settings, seed=stream.seed())
                drawn = (
                    cases.bootstrap(stream)
                    if scheme == "bootstrap"
                    else cases.subsample(size, stream)
                )
                table = Problem(drawn, own, problem.cache_mb, problem.reading)
                watched = replace(execution, progress=counter.after(i, report))
                best.append(Optima(search(table, allowed, watched)).best)
            report(counter.at(wanted), final=True)
    except KeyboardInterrupt:
        raise StabilityInterrupted(result() if best else None) from None
    return result()


def _size(cases: Cases[AnyTable], share: float) -> int:
    """Return the number of cases in a subsample."""
    size = int(share * cases.number + 1e-9)
    if not 2 <= size < cases.number:
        given = either(f"fraction={share:g}", f"--fraction {share:g}")
        raise KesError(
            f"{given} of {cases.number} cases gives subsamples of {size}; they must have at least "
            "2 cases and fewer than the data",
            option="fraction",
        )
    return size
