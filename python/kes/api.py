"""From a table to local optima: the search that everything else is about."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Unpack, cast

from kes.data.dataset import Data
from kes.errors import KesError, checked_options
from kes.files import PathLike
from kes.graph import EssentialGraph
from kes.graph.boundary import Neighbour, neighbours
from kes.native import core_errors
from kes.options import DEFAULTS, SCORING_DEFAULTS, Criterion, ScoringOptions, SearchOptions
from kes.results import storage
from kes.results.optima import Optima
from kes.search.budget import Amounts, check_improve, check_prove
from kes.search.constraints import checked_knowledge, refuse_inadmissible
from kes.search.execution import Execution
from kes.search.pipeline import prepared, search
from kes.search.problem import Problem
from kes.search.record import Record
from kes.validation import arcs, integer

if TYPE_CHECKING:
    from distributed import Client

_CACHE_MB = 16  # for a single score
_BOUNDARY_MB = 64  # for one boundary


@checked_options(DEFAULTS)
def learn(
    data: Data,
    *,
    k: float = 0.8,
    runs: int | None = None,
    improve: bool | int | str = True,
    prove: bool | str = "auto",
    budget: float | str | None = None,
    patience: int | None = None,
    client: Client | None = None,
    **options: Unpack[SearchOptions],
) -> Optima:
    """Learn Bayesian-network structure by k-greedy equivalence search, many times over.

    Each run starts from the empty model (or `start`) and moves, again and again, to the best of
    a random share `k` of the neighbours that score higher, until there is none. It ends in a
    local optimum [Nielsen 2003]. Afterwards the optima are recombined and refined, to find higher
    scores than those of single runs. The result holds the distinct models that were found.

    By default it takes what one gladly waits for: about ten seconds at most, up to a minute with
    1000 variables. Amounts of work decide and not the clock, so the same call gives the same result
    everywhere. Where it is probably cheap, the best score is proven to be the highest there is.

    Run i depends on nothing but the data, the settings and `random_state`: not on the number of
    threads or machines, on the other runs, or on the order of the rows.

    Parameters
    ----------
    data
        Table of discrete and continuous variables: pandas, polars, pyarrow or numpy (columns x0,
        x1, ...), the path of a CSV or Parquet file, or a `kes.data.Dataset`. `kes.audit` shows
        what each column is taken for.
    k : float
        Greediness, from 0 (SES: a random improvement) to 1 (GES: the best one).
    runs : int or None
        Number of runs; None for a number that goes with the size of the table, 100 if it is small.
    improve : bool, int or str
        What to do after the runs, as `Optima.improve` does: False for nothing, a number of tasks,
        or a time as text such as "10s". True after a given number of runs: ten tasks for each, but
        no more than 1000. True without one: 1000 tasks or more (fewer with very many variables or
        rows), until the last third of them has found no higher score; "auto" does so after a given
        number, too. Figures about the runs stay as they are.
    prove : bool or {"auto"}
        Whether to prove that no network scores higher. If one does, it joins the result, with the
        origin "exact". "auto": if the number of runs is left to us and it is probably a matter of
        seconds. True: within an amount of work of up to an hour or so. It may still be too much,
        and the result is then what it was, with a bound if there is one: see `Optima.proof`. With
        `max_parents` or `knowledge` it is about the networks that these allow. Larger proofs need
        the extra ``certify``.
    budget : float, str or None
        Stop after this time: seconds, or a text such as "30s", "5m", "1h30m". It holds for all of
        it, reading included: the runs end early enough to be improved on. GES and the first run
        are finished even if they take twice as long, or half a minute; if longer, it is an
        error. Filling in missing values takes half of it at most, or one round of EM.
    patience : int or None
        Stop after this many runs in a row without a better score.
    client : distributed.Client or None
        Does the runs on a Dask cluster (needs the extra ``cluster``). Each thread of its workers
        does runs of its own, and all threads of a worker share one cache. What follows the runs is
        done here.
    criterion : {"bic", "aic", "bdeu", "qnml", "bge"}
        What to maximise; scores are natural logarithms. "bic" and "aic" are for every table:
        multinomial if all columns are discrete, Gaussian if all are continuous, degenerate
        Gaussian if it is mixed [Andrews 2019]. "bdeu" and "qnml" are for discrete tables, "bge"
        for continuous ones.
    ess : float
        Equivalent sample size; only bdeu uses it.
    penalty : float
        Factor of the penalty of bic and aic on continuous and mixed tables; more gives fewer
        edges.
    transform : {"ranks"} or None
        "ranks" replaces the values of each continuous column by the normal scores of their ranks,
        which helps where columns are skewed.
    knowledge : Knowledge or None
        Background knowledge; see `kes.Knowledge`. Only models with a network that satisfies it are
        considered, and a local optimum has no admissible neighbour that scores higher.
    kinds : mapping or None
        What columns are to be taken for: ``{"zip": "discrete", "size": "continuous", "id":
        "omit"}``. Others are judged by what they hold; see `kes.audit`.
    random_state : int or None
        Seed. None draws one; `Optima.seed` tells which.
    n_jobs : int or None
        Threads; None or -1 for all usable cores, and never more than four for each of them.
        Does not change the result.
    max_parents : int or None
        Largest number of parents of a variable in any DAG of a model.
    two_phase : bool
        Only additions as long as one improves, then only removals: the classical order of GES.
        A run may then end short of a local optimum (`Optimum.is_local_optimum`).
    neighbourhood : {"exact", "sampled"} or Sampled
        All neighbours, or draws of them as in section 4.1 of the paper.
    weights : str, array or None
        How often each row counts, as a column name or numbers: counts, or any non-negative
        reals such as probabilities times the number of cases.
    discretize : int, mapping, Discretizer or None
        Cut continuous columns into so many intervals with equally many cases, or only those that
        are named, such as ``{"age": 5}``; or as a `kes.Discretizer` says. `Optima.discretizer`
        keeps where.
    missing : {"error", "drop", "state", "em"}
        What to do with missing values: refuse them, leave out the rows, make "missing" a state of
        its own, or fill them in from a model that is learned along with it (stacked structural
        EM). Scores are then those of the completed table. It is valid if values are missing at
        random: whether one is missing may depend on what is there, but not on what is missing.
    completions : int
        For ``missing="em"``: how often each incomplete case is filled in.
    start : EssentialGraph, list of arcs (parent, child), or None
        Where every run starts; by default at the model without edges, or with those that the
        knowledge requires.
    cache_mb : int
        Memory for counts that runs share. Does not change the result.
    progress : None, True or callable
        True shows a bar. A callable gets a `kes.Progress` at most ten times a second: first of the
        rounds of EM, if there are any, and of the runs, then of the tasks, then of the sets of
        variables that are counted for a proof.

    Returns
    -------
    Optima
        Stopped early (by `budget` or `patience`), it holds runs 0 to p-1, the same as if p runs
        had been asked for.

    Raises
    ------
    KesError
        If the data or an option cannot be used; the message says what to do.
    Interrupted
        On Ctrl-C, with what was found as ``.optima`` (None before the first run has ended).
    ClusterLost
        If the cluster goes away, with what was found as ``.optima``, too.

    Examples
    --------
    >>> import kes
    >>> optima = kes.learn(kes.datasets.alarm(rows=1000), k=0.4, runs=20)
    >>> optima.best.score >= optima.ges.score
    True
    """
    started = time.monotonic()
    if runs is not None:
        integer("runs", runs, minimum=1)
    asked, proof = check_improve(improve), check_prove(prove)
    execution = Execution.checked(
        n_jobs=options.get("n_jobs"),
        budget=budget,
        patience=patience,
        progress=options.get("progress"),
        client=client,
    )
    problem = Problem.of(data, k, options)

    def work() -> Record:
        rest = prepared(problem, execution, started)
        amounts = Amounts.chosen(runs, asked, proof, problem.size)
        return search(problem, amounts.runs, rest, improve=amounts.improve, prove=amounts.prove)

    return Optima.found_by(problem, work)


def load(path: PathLike) -> Optima:
    """Read a result that `Optima.save` or ``kes learn --out`` wrote.

    Raises
    ------
    KesError
        If the file cannot be read, is damaged or is not a result file.
    """
    record = storage.read(path).finished()
    if not record.runs:
        raise KesError(
            f"{path} holds no finished run yet; give the same kes learn command again to go on"
        )
    return Optima(record)


@checked_options(SCORING_DEFAULTS)
def score(
    graph: EssentialGraph | Sequence[tuple[str, str]],
    data: Data,
    *,
    random_state: int | None = 0,
    max_parents: int | None = None,
    **options: Unpack[ScoringOptions],
) -> float:
    """Score a model: the same number that a search with the same options reports for it.

    Parameters
    ----------
    graph : EssentialGraph or list of arcs (parent, child)
        The model. Arcs stand for a DAG over all columns of the data; all DAGs of a class have
        the same score.
    data, criterion, ess, penalty, transform, knowledge, kinds, weights, discretize, missing, \
completions
        As in `kes.learn`. Columns that are not nodes of an essential graph do not count, but must
        be readable, too; a row that is dropped for a value missing there is dropped. Knowledge
        does not change a score, but see below.
    random_state, max_parents
        As in `kes.learn`. They matter only where ``missing="em"`` fills gaps: the model that fills
        them is found by a search with this seed, among those that `max_parents` and `knowledge`
        allow, by this criterion. Scores can be compared if all of these are the same.

    Returns
    -------
    float
        Natural logarithm; higher is better.

    Raises
    ------
    KesError
        If the data lack a node of the graph, the arcs form a cycle, or an option is wrong.

    Examples
    --------
    >>> import kes
    >>> data = kes.datasets.alarm(rows=100)
    >>> kes.score([("HRBP", "HR")], data) > kes.score([], data)
    True
    """
    more = {"random_state": random_state, "max_parents": max_parents, "cache_mb": _CACHE_MB}
    own = cast("SearchOptions", {**options, **more})
    problem = Problem.of(data, 1.0, own)
    names = problem.dataset.names
    if not isinstance(graph, EssentialGraph):
        graph = EssentialGraph.from_dag(names, arcs("graph", graph))
    # In the order of the columns, as a search has them, for the very same bits.
    nodes = [name for name in names if name in set(graph.nodes)]
    problem = problem.over([*nodes, *sorted(set(graph.nodes).difference(names))])
    with core_errors():
        return problem.score(graph)


@checked_options(SCORING_DEFAULTS)
def inclusion_boundary(
    g: EssentialGraph,
    data: Data | None = None,
    *,
    random_state: int | None = 0,
    max_parents: int | None = None,
    **options: Unpack[ScoringOptions],
) -> list[Neighbour]:
    """List all neighbours of a model, each once.

    Parameters
    ----------
    g
        Essential graph of the model.
    data
        Table with a column for each node of the graph, in any form that `kes.learn` takes.
        Further columns are not used, but must be readable, too. Without data the neighbours are
        not scored.
    random_state
        Seed, which matters only where ``missing="em"`` fills gaps: see `kes.score`.
    max_parents
        Leave out neighbours in whose DAGs the step gives a node more parents than this.
    knowledge
        Leave out neighbours that have no network which obeys it; the model must have one.
    criterion, ess, penalty, transform, kinds, weights, discretize, missing, completions
        As in `kes.learn`.

    Returns
    -------
    list of Neighbour
        Best first; tied ones, and all of them without data, deletions first, in node order. With
        continuous data, neighbours without a score are left out: in them some variables would
        determine another linearly.

    Raises
    ------
    KesError
        If the data lack a node of the graph, or a setting is out of range.

    Examples
    --------
    >>> import kes
    >>> g = kes.EssentialGraph.from_dag("abc", [("a", "b")])
    >>> for n in kes.inclusion_boundary(g):
    ...     print(n.kind, n.x, n.y, "given", sorted(n.given))
    delete a b given []
    insert a c given []
    insert a c given ['b']
    insert b c given []
    insert b c given ['a']
    """
    limit = None if max_parents is None else integer("max_parents", max_parents, minimum=0)
    if not isinstance(g, EssentialGraph):
        raise KesError(
            f"the model must be an EssentialGraph, not {type(g).__name__}; "
            "make one of the arcs of a DAG with EssentialGraph.from_dag(nodes, arcs)"
        )
    if data is None:
        scoring: ScoringOptions = {**SCORING_DEFAULTS, **options}
        Criterion.checked(scoring["criterion"], scoring["ess"], scoring["penalty"])
        known = checked_knowledge(scoring["knowledge"], g.nodes)
        if known is not None:
            refuse_inadmissible(g, known, "the model")
        return neighbours(g, limit, known)
    more = {"random_state": random_state, "max_parents": limit, "cache_mb": _BOUNDARY_MB}
    own = cast("SearchOptions", {**options, **more})
    problem = Problem.of(data, 1.0, own).over(g.nodes)
    if problem.settings.knowledge is not None:
        refuse_inadmissible(g, problem.settings.knowledge, "the model")
    problem.score(g)  # a model without a score has no gains
    return problem.neighbours(g)
