"""Learn models from a table, read results, and score models."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Unpack, cast

from kes.analysis.choosing import FOLDS, ChooseWork, choice_for
from kes.analysis.target import check_target, evaluate
from kes.budget import SHARE_OF_CHOICE, Budget
from kes.data.dataset import Data
from kes.declare import checked_options
from kes.errors import ClusterLost, Interrupted, KesError, NotSaved
from kes.files import PathLike
from kes.graph import EssentialGraph
from kes.graph.boundary import Neighbour, neighbours
from kes.native import core_errors
from kes.options import LearnOptions, ScoringOptions
from kes.results import storage
from kes.results.optima import Optima
from kes.results.storage import OutFile
from kes.search.choice import CriterionChoice
from kes.search.constraints import checked_knowledge, refuse_inadmissible, with_exogenous
from kes.search.driver import Execution, SearchInterrupted, SearchLost
from kes.search.pipeline import prepare, search
from kes.search.problem import Problem, TableAsRead
from kes.search.record import Record
from kes.validation import arcs

_CACHE_MB = 16  # for a single score
_BOUNDARY_MB = 64  # for one boundary
_SHARE_OF_SEARCH = 0.8  # of a budget; the rest is for the evaluation of a target


@checked_options(LearnOptions)
def learn(data: Data, **options: Unpack[LearnOptions]) -> Optima:
    """Learn Bayesian-network structure by k-greedy equivalence search.

    Each run starts from the empty model (or `start`) and moves, step by step, to the best of a
    random share `k` of the neighbours that score higher, until there is none: it ends in a local
    optimum [Nielsen 2003]. Afterwards the optima are recombined and refined, to find higher scores
    than those of single runs. The result holds the distinct models that were found.

    The defaults finish in about ten seconds; with 1000 variables, in about a minute. Amounts of
    work decide when to stop, not the clock, so the same call gives the same result on every
    machine. If a proof is expected to be cheap, the best score is proven to be the highest one.

    Run i depends on nothing but the data, the settings and `random_state`: not on the number of
    threads or machines, on other runs, or on the order of the rows.

    Parameters
    ----------
    data
        Table of discrete and continuous variables: pandas, polars, pyarrow or numpy (columns x0,
        x1, ...), the path of a CSV or Parquet file, or a `kes.data.Dataset`. `kes.audit` shows
        the kind of each column.

    Returns
    -------
    Optima
        If `budget` or `patience` stop the search after p runs, the result is that of ``runs=p``.
        If the budget ends before the first run has, it holds the model of GES, or the one that GES
        had reached, and no runs; a note says so.

    Raises
    ------
    KesError
        If the data or an option cannot be used; the message says what to do. Also if another
        search is working on the file `out`.
    Interrupted
        On Ctrl-C; its ``.optima`` holds what was found, and so does the file `out`. Before the
        first run has ended, that is the model of GES, or the one that GES had reached; None if it
        had not moved.
    ClusterLost
        If the connection to the cluster is lost; its ``.optima`` holds what was found.
    NotSaved
        If the file `out` cannot be written at the end; its ``.optima`` holds the result.

    Examples
    --------
    >>> import kes
    >>> optima = kes.learn(kes.datasets.alarm(rows=1000), k=0.4, runs=20)
    >>> optima.best.score >= optima.ges.score
    True
    """
    return _learned(data, options)


@checked_options(LearnOptions)
def learn_as_read(read: TableAsRead, **options: Unpack[LearnOptions]) -> Optima:
    """Learn from a table that was read before, whose options the result keeps; see `learn`."""
    return _learned(read, options)


def _learned(data: Data | TableAsRead, options: LearnOptions) -> Optima:
    """Learn, alone with the file if there is one."""
    if options["out"] is None:
        return _learn(data, options, None)
    out = OutFile(options["out"], float(options["checkpoint"]))
    with out.alone():
        return _learn(data, options, out)


def _learn(data: Data | TableAsRead, options: LearnOptions, out: OutFile | None) -> Optima:
    """Learn, resuming from the file if there is one."""
    started = time.monotonic()
    whole, execution = Budget.of(options), Execution.of(options)
    try:
        problem, options, choice = _posed(data, options, whole, out)
    except KeyboardInterrupt:  # a large table, or the choice of a criterion or a basis
        raise Interrupted from None
    if options["target"] is not None:
        check_target(options["target"], problem.table.names)
    base = (
        None
        if out is None
        else out.read(problem.settings, any_price=options["edge_prior"] == "auto")
    )
    if base is not None:
        problem = replace(problem, earlier=base.completion)
    try:
        problem = prepare(problem, execution, whole.since(started))
    except SearchInterrupted:
        raise Interrupted from None
    if not options["keep_imputed"]:
        problem = problem.without_imputed()
    allowed = whole.for_size(problem.size).since(started)
    if options["target"] is not None and allowed.seconds is not None:
        allowed = replace(allowed, seconds=_SHARE_OF_SEARCH * allowed.seconds)
    if base is not None and out is not None:
        base = out.resume(base, problem, allowed.runs or 0)

    def work() -> Record:
        try:
            return search(
                problem,
                allowed,
                execution,
                base=base,
                watchers=[] if out is None else [out.checkpoint],
                after_runs=None if out is None else out.checkpoint.keep,
            )
        except (SearchInterrupted, SearchLost) as stop:
            if out is not None and stop.record is not None:
                _save(out, stop.record, problem)
            raise

    try:
        optima = Optima.found_by(problem, work, started=started)
    except (Interrupted, ClusterLost) as stop:
        stop.file = str(out.path) if out is not None and out.is_saved else None
        raise
    if choice not in (None, optima.record.choice):
        record = replace(optima.record, choice=choice)
        optima = Optima(record, problem=problem, seconds=optima.seconds)
    if out is not None and optima.record is not base:
        _save(out, optima.record, problem)
    if options["target"] not in (None, optima.target):
        optima = _evaluated(optima, options["target"], execution, whole.since(started), out)
    return optima


def _posed(
    data: Data | TableAsRead, options: LearnOptions, whole: Budget, out: OutFile | None
) -> tuple[Problem, LearnOptions, CriterionChoice | None]:
    """Return the problem, the options with what "auto" stands for, and the choice of a criterion.

    What the file that is resumed has chosen is not chosen again: a budget may choose otherwise.
    """
    is_auto = "auto" in (options["criterion"], options["basis"])
    earlier = None
    if is_auto and out is not None and Path(out.path).exists():
        earlier = storage.read(out.path)
    if earlier is not None and options["basis"] == "auto":
        options = {**options, "basis": earlier.settings.basis}
    if options["criterion"] != "auto":
        return Problem.of(data, options), options, None
    known = None if earlier is None else earlier.choice
    read, options, choice = _chosen(data, options, whole, known)
    return Problem.of(read, options), options, choice


def _chosen(
    data: Data | TableAsRead,
    options: LearnOptions,
    whole: Budget,
    known: CriterionChoice | None,
) -> tuple[TableAsRead, LearnOptions, CriterionChoice]:
    """Choose a criterion, unless it is known; return the table and the options with it, too."""
    problem = Problem.of(data, {**options, "criterion": "bic"})
    read = TableAsRead(problem.table, problem.reading)
    work: ChooseWork = {
        "n_jobs": options["n_jobs"],
        "memory_mb": options["cache_mb"],
        "budget": whole.seconds,
        "progress": options["progress"],
        "folds": FOLDS,
    }
    choice = known or choice_for(problem, options["edge_prior"], work, SHARE_OF_CHOICE)
    found = {**options, **choice.options}
    if options["basis"] == "auto":
        found["basis"] = problem.settings.basis
    return read, cast("LearnOptions", found), choice


def _evaluated(
    optima: Optima, target: str, execution: Execution, left: Budget, out: OutFile | None
) -> Optima:
    """Evaluate predictions of a target, and keep that with the result."""
    problem = optima.ready(None, None, None)
    seconds = None if left.seconds is None else max(left.seconds, 0.0)
    try:
        evaluation = evaluate(problem, target, execution, seconds)
    except KeyboardInterrupt:
        stop = Interrupted(optima)
        stop.file = None if out is None else str(out.path)
        raise stop from None
    record = replace(optima.record, evaluation=evaluation)
    if out is not None:
        _save(out, record, problem)
    return Optima(record, problem=problem, seconds=optima.seconds)


def _save(out: OutFile, record: Record, problem: Problem) -> None:
    """Write a record; if that fails, hand the result over with the error."""
    try:
        out.save(record)
    except KesError as error:
        optima = Optima(record.finished(), problem=problem)
        raise NotSaved(str(error), optima, str(out.path)) from error


def load(path: PathLike) -> Optima:
    """Read a result file, as written by `Optima.save` or ``kes learn --out``.

    Raises
    ------
    KesError
        If the file cannot be read, is damaged or is not a result file.
    """
    return Optima(storage.read(path).finished())


@checked_options(ScoringOptions)
def score(
    graph: EssentialGraph | Sequence[tuple[str, str]],
    data: Data,
    **options: Unpack[ScoringOptions],
) -> float:
    """Score a model: the number that a search with the same options reports for it.

    With ``missing="em"``, values are imputed from a model that a search finds with `random_state`,
    `max_parents`, `knowledge` and the criterion: scores can be compared if all of these are the
    same. Otherwise `random_state`, `max_parents` and `knowledge` do not change a score.

    Parameters
    ----------
    graph : EssentialGraph or list of arcs (parent, child)
        The model. Arcs stand for a DAG over all columns of the data; all DAGs of an equivalence
        class have the same score.
    data
        As in `kes.learn`. Columns that are not nodes of an essential graph are ignored, but must
        be readable; a row that is dropped for a missing value in one of them is dropped.

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
    problem = Problem.of(data, {**options, "k": 1.0, "cache_mb": _CACHE_MB})
    names = problem.dataset.names
    if not isinstance(graph, EssentialGraph):
        graph = EssentialGraph.from_dag(names, arcs("graph", graph))
    # In the order of the columns, as a search has them, for the very same bits.
    own = set(graph.nodes)
    nodes = [name for name in names if name in own]
    problem = problem.over([*nodes, *sorted(own.difference(names))])
    with core_errors(problem.dataset.names):
        return problem.score(graph)


@checked_options(ScoringOptions)
def inclusion_boundary(
    g: EssentialGraph, data: Data | None = None, **options: Unpack[ScoringOptions]
) -> list[Neighbour]:
    """List all neighbours of a model, each once.

    Parameters
    ----------
    g
        Essential graph of the model.
    data
        Table with a column for each node of the graph, in any form that `kes.learn` takes. Other
        columns are ignored, but must be readable. Without data the neighbours are not scored.
    max_parents : int or None
        Leave out neighbours in whose DAGs the step gives a node more parents than this.
    knowledge : Knowledge or None
        Leave out neighbours without a network that satisfies it; the model must have one.

    Returns
    -------
    list of Neighbour
        Best first; ties, and all of them without data, in node order with deletions first. With
        continuous data, neighbours whose columns are collinear have no score and are left out.

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
    if not isinstance(g, EssentialGraph):
        raise KesError(
            f"the model must be an EssentialGraph, not {type(g).__name__}; "
            "for the arcs of a DAG use EssentialGraph.from_dag(nodes, arcs)",
            option="g",
        )
    if data is None:
        block = with_exogenous(options["knowledge"], options["contexts"], g.nodes)
        known = checked_knowledge(block, g.nodes)
        if known is not None:
            refuse_inadmissible(g, known, "the model")
        return neighbours(g, options["max_parents"], known)
    problem = Problem.of(data, {**options, "k": 1.0, "cache_mb": _BOUNDARY_MB}).over(g.nodes)
    if problem.settings.knowledge is not None:
        refuse_inadmissible(g, problem.settings.knowledge, "the model")
    problem.score(g)  # a model without a score has no gains
    return problem.neighbours(g)
