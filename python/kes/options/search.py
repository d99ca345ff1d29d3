"""Options of scores and of searches."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal

from kes.declare import Option, defaults
from kes.options.table import Curves, DataOptions, Ess, ParameterPrior, Transform
from kes.options.values import (
    CRITERIA,
    MAX_PENALTY,
    EdgePrior,
    Gamma,
    Sampled,
    check_edge_prior,
    check_gamma,
    check_improve,
    check_names,
    check_neighbourhood,
    check_prove,
)
from kes.validation import (
    boolean,
    callback,
    choice,
    duration,
    integer,
    jobs,
    megabytes,
    number,
    seed,
)

if TYPE_CHECKING:
    from distributed import Client

    from kes.files import PathLike
    from kes.graph import EssentialGraph
    from kes.graph.knowledge import Knowledge
    from kes.progress import Progress

Jobs = Annotated[
    int | None,
    Option(
        default=None,
        group="execution",
        doc="Number of threads; None or -1 for all usable cores, at most four for each core. "
        "Does not change the result.",
        check=jobs,
        flag="--jobs",
        metavar="N",
        help="Number of threads. Does not change the result.",
        default_text="all usable cores",
    ),
]
Display = Annotated[
    "bool | Callable[[Progress], object] | None",
    Option(
        default=None,
        group="execution",
        doc="True shows a progress bar. A callable gets a `kes.Progress`, which names the unit of "
        "work, at most ten times a second.",
        check=callback,
        type="None, True or callable",
        help="Show progress.",
        default_text="only on a terminal",
    ),
]


def _criterion(known: Sequence[str], more: str = "") -> Option:
    return Option(
        default="bic",
        group="criterion",
        doc='The score to maximise, a natural logarithm. "bic" and "aic" are for every table: '
        "multinomial if all columns are discrete, Gaussian if all are continuous, the location "
        'model [Olkin & Tate 1961] if the table is mixed. "degenerate-bic" and "degenerate-aic" '
        'score mixed tables by the degenerate Gaussian [Andrews 2019] instead. "bdeu" and "qnml" '
        f'are for discrete tables, "bge" for continuous ones.{more}',
        check=partial(choice, known=known),
        setting="criterion",
        help="The score to maximise.",
    )


class ScoringOptions(DataOptions, total=False):
    """Options that decide a score, and which models are admissible."""

    criterion: Annotated[str, _criterion(CRITERIA)]
    ess: Ess
    penalty: Annotated[
        float,
        Option(
            default=1.0,
            group="criterion",
            doc="Factor of the penalty of bic and aic on continuous and mixed tables (of mixed "
            "ones: of the parameters of continuous variables); a larger one gives fewer edges.",
            check=partial(number, above=0.0, maximum=MAX_PENALTY),
            setting="penalty",
            metavar="NUMBER",
            help="Factor of the penalty of bic and aic on tables with continuous columns.",
        ),
    ]
    transform: Transform
    basis: Curves
    edge_prior: Annotated[
        EdgePrior | None,
        Option(
            default="auto",
            group="criterion",
            doc="Price of every edge: nats by which an edge must raise the criterion to pay, so "
            "that its prior odds are exp(-edge_prior) to 1. A larger price gives fewer edges; None "
            'or 0 is no price. "auto" is the price that keeps noise out, which depends on the '
            "numbers of variables and cases only; it is 0 for tables with up to 0.4 √N variables, "
            'and for AIC. "ebic" is the price of the extended BIC, 2 γ ln n with n variables [Chen '
            "& Chen 2008]. Pairs in ``Knowledge(likely=...)`` have their own odds instead.",
            check=check_edge_prior,
            setting="edge_prior",
            type='float, "auto", "ebic" or None',
            metavar="NATS|auto|ebic",
            help="Price of every edge in nats: a number, auto, which keeps noise out, or ebic, the "
            "price of the extended BIC.",
        ),
    ]
    gamma: Annotated[
        Gamma,
        Option(
            default="auto",
            group="criterion",
            doc='γ of ``edge_prior="ebic"``, usually from 0 to 1. "auto" is the least that is '
            "consistent with n variables and N cases, 1 - ln N / (2 ln n), or 0 if n is below √N.",
            check=check_gamma,
            type='float or {"auto"}',
            metavar="NUMBER|auto",
            help="γ of --edge-prior ebic; auto is the least that is consistent.",
        ),
    ]
    knowledge: Annotated[
        "Knowledge | None",
        Option(
            default=None,
            group="model",
            doc="Background knowledge, see `kes.Knowledge`: only networks that satisfy it are "
            "considered. A local optimum has no admissible neighbour that scores higher.",
            setting="knowledge",
        ),
    ]
    contexts: Annotated[
        Sequence[str] | None,
        Option(
            default=None,
            group="model",
            doc="Exogenous variables: columns that say where or when a row was measured, such as a "
            "batch, a site or an experiment with unknown targets. They may be parents, but are not "
            "modelled: no arc leads to them, and scores are those of the other variables given "
            "them. Experiments with known targets go to `interventions`.",
            check=check_names,
            type="list of str or None",
            metavar="A,B,...",
            help="Columns that say where a row is from (a batch, a site, an experiment): they may "
            "be parents, but are not modelled.",
        ),
    ]
    max_parents: Annotated[
        int | None,
        Option(
            default=None,
            group="model",
            doc="Maximum number of parents of a variable in any DAG of a model. It can trap runs "
            "in wrong optima even if the truth obeys it: with an exact criterion and a limit of 3, "
            "6 990 of 7 951 true classes with five variables have wrong local optima. Prefer a "
            "small k with many runs, or a proof.",
            check=partial(integer, minimum=0),
            setting="max_parents",
            metavar="N",
            help="Maximum number of parents of a variable.",
            default_text="no limit",
        ),
    ]
    random_state: Annotated[
        int | None,
        Option(
            default=0,
            group="execution",
            doc="Seed of all random choices. None draws one, which `Optima.seed` holds.",
            check=seed,
            setting="seed",
            flag="--seed",
            metavar="N",
            help="Seed of all random choices: the same seed gives the same result.",
        ),
    ]


class SearchOptions(ScoringOptions, total=False):
    """Options of all searches: `kes.learn`, `sweep`, `stability` and `cross_validate`."""

    two_phase: Annotated[
        bool,
        Option(
            default=False,
            group="search",
            doc="Only insert edges while that improves the score, then only delete them: the "
            "classical order of GES. A run may then end short of a local optimum "
            "(`Optimum.is_local_optimum`).",
            check=boolean,
            setting="two_phase",
            help="Insert edges first, then delete edges, as classical GES does.",
        ),
    ]
    neighbourhood: Annotated[
        str | Sampled,
        Option(
            default="exact",
            group="search",
            doc="All neighbours, or random draws of them as in section 4.1 of the paper.",
            check=check_neighbourhood,
            setting="neighbourhood",
            type='{"exact", "sampled"} or Sampled',
            help="All neighbours, or random draws of them.",
        ),
    ]
    start: Annotated[
        "EssentialGraph | Sequence[tuple[str, str]] | None",
        Option(
            default=None,
            group="search",
            doc="The model that every run starts from. The default has no edges, or those that "
            "the knowledge requires.",
            setting="start",
            type="EssentialGraph, list of arcs (parent, child), or None",
        ),
    ]
    n_jobs: Jobs
    cache_mb: Annotated[
        int,
        Option(
            default=512,
            group="execution",
            doc="Memory for counts that runs share, in megabytes. Does not change the result.",
            check=megabytes,
            metavar="N",
            help="Memory for counts that runs share, in megabytes.",
        ),
    ]
    progress: Display


class RunOptions(SearchOptions, total=False):
    """Options of searches with one k: `kes.learn`, `stability` and `cross_validate`."""

    k: Annotated[
        float,
        Option(
            default=0.8,
            group="runs",
            doc="Greediness, from 0 (SES: a random improvement) to 1 (GES: the best one).",
            check=partial(number, minimum=0.0, maximum=1.0, hint=": 0 is SES, 1 is GES"),
            setting="k",
            metavar="SHARE",
            help="Greediness, from 0 (SES: a random improvement) to 1 (GES: the best one).",
        ),
    ]
    runs: Annotated[
        int | None,
        Option(
            default=None,
            group="runs",
            doc="Number of runs. The default depends on the size of the table; 100 if it is small.",
            check=partial(integer, minimum=1),
            metavar="N",
            help="Number of runs, including those already in the --out file.",
            default_text="by the size of the table, at most 100",
        ),
    ]
    improve: Annotated[
        bool | int | str,
        Option(
            default=True,
            group="runs",
            doc="What to do after the runs, as `Optima.improve` does: False for nothing, a number "
            'of tasks, or a duration as text, such as "10s". True after a given number of runs: '
            "ten tasks for each run, but at most 1000. True without `runs`: at least 1000 tasks "
            "(fewer with very many variables or rows), until the last third of them has found no "
            'higher score; "auto" does the same after a given number of runs. Statistics of the '
            "runs do not change.",
            check=check_improve,
            type="bool, int or str",
            help="After the runs, look for higher scores by recombining and refining the optima. "
            "Statistics of the runs do not change.",
        ),
    ]


class HeldOutOptions(RunOptions, total=False):
    """Options of `kes.cross_validate`, which estimates networks as well."""

    prior: ParameterPrior


class LearnOptions(RunOptions, total=False):
    """Options of `kes.learn`."""

    criterion: Annotated[
        str,
        _criterion(
            (*CRITERIA, "auto"),
            ' "auto" chooses one, with its `ess` and a price of edges, by cross-validation: see '
            "`kes.choose`. `Optima.choice` has what was tried.",
        ),
    ]
    prove: Annotated[
        bool | Literal["auto"],
        Option(
            default="auto",
            group="runs",
            doc="Prove that no network scores higher. If one does, it joins the result with the "
            'origin "exact". "auto": only if `runs` is not given and the proof is expected to take '
            "seconds. True: with up to about an hour of work. If that does not suffice, the result "
            "keeps a bound, if there is one: see `Optima.proof`. With `max_parents` or "
            "`knowledge`, the proof is about the networks that these allow. Larger proofs need the "
            "extra ``certify``.",
            check=check_prove,
            type='bool or {"auto"}',
            help="Prove that no network scores higher, or find one that does.",
            default_text="without --runs, if it is expected to take seconds",
        ),
    ]
    budget: Annotated[
        float | str | None,
        Option(
            default=None,
            group="runs",
            doc='Stop after this time: seconds, or text such as "30s", "5m", "1h30m". It includes '
            "reading the data and improving: the runs end early enough. If it ends before the "
            "first run has, the result holds what GES had reached by then. Imputing missing values "
            "takes at most half of it, and its first round at most all.",
            check=duration,
            type="float, str or None",
            metavar="TIME",
            help="Stop after this time, improving included, such as 30s, 5m, 1h30m.",
        ),
    ]
    patience: Annotated[
        int | None,
        Option(
            default=None,
            group="runs",
            doc="Stop after this many runs in a row without a better score.",
            check=partial(integer, minimum=1),
            metavar="N",
            help="Stop after N runs in a row without a better score.",
        ),
    ]
    keep_imputed: Annotated[
        bool,
        Option(
            default=True,
            group="execution",
            doc='With ``missing="em"``: keep the imputed values in the result and its file, up to '
            "two million, so that nothing is imputed again later. They are draws from a model, not "
            "observed values.",
            check=boolean,
            help="With --missing em: keep the imputed values in the result, so that later commands "
            "need not impute again.",
        ),
    ]
    target: Annotated[
        str | None,
        Option(
            default=None,
            group="model",
            doc="A variable to predict. The search is the same; the result also tells from which "
            "variables it is predicted, and how well in cases that were not used to learn "
            "(`Optima.evaluation`), by a network and by an average of ten. That takes up to five "
            "further short searches of both.",
            type="str or None",
            metavar="COLUMN",
            help="A variable to predict: show from which others, and how well in held-out cases. "
            "Does not change the networks.",
            default_text="none",
        ),
    ]
    client: Annotated[
        "Client | None",
        Option(
            default=None,
            group="execution",
            doc="A Dask cluster for the runs (needs the extra ``cluster``). Each thread of a "
            "worker does runs of its own, and all threads of a worker share one cache. What "
            "follows the runs is done locally.",
            type="distributed.Client or None",
            flag="--cluster",
            metavar="ADDRESS",
            help="Do the runs on the Dask cluster at this address, such as tcp://host:8786.",
        ),
    ]
    out: Annotated[
        "PathLike | None",
        Option(
            default=None,
            group="execution",
            doc="File for the result; gzipped if its name ends in .gz. If it exists, it must hold "
            "a result of the same data and settings, which is resumed or extended: only what is "
            "missing is done. After Ctrl-C it holds what was found.",
            type="str, path or None",
            metavar="FILE",
            help="File for the result; gzipped if it ends in .gz. If it exists, its runs are kept "
            "and only what is missing is done.",
        ),
    ]
    checkpoint: Annotated[
        float | str,
        Option(
            default=60.0,
            group="execution",
            doc="Interval between writes of the `out` file during the runs: seconds, or text such "
            'as "5m". After a crash, the same call resumes from there.',
            check=duration,
            type="float or str",
            metavar="TIME",
            help="Write the --out file at this interval. A killed command, given again, resumes "
            "from there.",
            default_text="60s",
        ),
    ]


DEFAULTS: LearnOptions = defaults(LearnOptions)  # type: ignore[assignment]
