"""Every option of a search, declared once.

A function takes options as ``**options: Unpack[SearchOptions]`` and is completed by
`kes.declare.checked_options`. `kes.settings.Settings` holds those that decide what a search finds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias, TypedDict

from kes import _core
from kes.declare import Option, defaults
from kes.errors import KesError, suggest
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

    from kes.data.dataset import Weights
    from kes.data.discretizer import Discretizer
    from kes.data.infer_kinds import Kinds
    from kes.files import PathLike
    from kes.graph import EssentialGraph
    from kes.graph.knowledge import Knowledge
    from kes.progress import Progress

CRITERIA = tuple(dict.fromkeys(criterion.name for criterion in _core.CRITERIA))
TRANSFORMS = ("ranks", "none")
MISSING = ("error", "drop", "state", "em")
DATES = ("days", "year")
PRIORS = ("bdeu", "ml")
EDGE_PRIORS = ("auto", "ebic")
CRITERION = ("criterion", "ess", "penalty", "transform")
"""The options that make a `kes.settings.Criterion`."""
SCORE = (*CRITERION, "edge_prior", "gamma")
"""The options that decide a score."""

_MAX_ESS = 1e300
_MAX_PENALTY = 1e9
MAX_PRICE = 1e9

Prior: TypeAlias = Literal["bdeu", "ml"] | float
EdgePrior: TypeAlias = Literal["auto", "ebic"] | float
Gamma: TypeAlias = Literal["auto"] | float


@dataclass(frozen=True)
class Sampled:
    """The sampled neighbourhood of the paper's section 4.1.

    Parameters
    ----------
    reversals : int
        Maximum number of covered arcs to reverse before each draw of a neighbour; the number
        itself is drawn each time.
    failures : int or None
        Stop a run after this many iterations in a row without improvement. The default makes 20
        draws for each ordered pair of variables.
    """

    reversals: int = 10
    failures: int | None = None

    def __post_init__(self) -> None:
        """Check the values."""
        object.__setattr__(self, "reversals", integer("reversals", self.reversals, minimum=0))
        if self.failures is not None:
            object.__setattr__(self, "failures", integer("failures", self.failures, minimum=1))


# --- checks of single options --------------------------------------------------------------------


def check_improve(name: str, value: object) -> bool | int | str:
    """Return how much to improve: a bool, "auto", a number of tasks, or a duration as text."""
    if isinstance(value, bool) or value == "auto":
        return value
    if isinstance(value, str):
        duration(name, value)
        return value
    try:
        return integer(name, value, minimum=1)
    except KesError:
        raise KesError(
            f"{name} must be True, False, a number of tasks of at least 1, or a duration such as "
            f"'10s', not {value!r}",
            option=name,
        ) from None


def check_prove(name: str, value: object) -> bool | Literal["auto"]:
    """Return whether to prove the best score: a bool or "auto"."""
    if value == "auto":
        return "auto"
    if isinstance(value, bool):
        return value
    raise KesError(f"{name} must be True, False or 'auto', not {value!r}", option=name)


def check_prior(name: str, value: object) -> Prior:
    """Return a prior of a network's parameters: a name, or a number of cases."""
    if isinstance(value, str):
        return choice(name, value, known=PRIORS)  # type: ignore[return-value]
    return number(name, value, above=0.0)


def check_edge_prior(name: str, value: object) -> EdgePrior:
    """Return the price of an edge: a number of nats, or the name of a rule."""
    if value is None:
        return 0.0
    if isinstance(value, str):
        return choice(name, value, known=EDGE_PRIORS)  # type: ignore[return-value]
    return number(name, value, minimum=0.0, maximum=MAX_PRICE)


def check_gamma(name: str, value: object) -> Gamma:
    """Return γ of the extended BIC: a number or "auto"."""
    if value == "auto":
        return "auto"
    return number(name, value, minimum=0.0, maximum=MAX_PRICE)


def check_neighbourhood(name: str, value: object) -> Literal["exact"] | Sampled:
    """Return the neighbourhood: "exact" or a `Sampled`."""
    if value == "exact":
        return "exact"
    if value == "sampled":
        return Sampled()
    if isinstance(value, Sampled):
        return value
    raise KesError(
        f"unknown {name} {value!r}{suggest(str(value), ('exact', 'sampled'))}; "
        "use 'exact', 'sampled' or kes.Sampled(reversals=..., failures=...)",
        option=name,
    )


def uses_ranks(transform: str | None, kind: str) -> bool:
    """Return whether a search on a kind of table replaces continuous values by normal scores.

    None stands for the default: "ranks" on mixed tables, "none" on others.
    """
    return transform == "ranks" or (transform is None and kind == "mixed")


# --- declarations --------------------------------------------------------------------------------

_Ess = Annotated[
    float,
    Option(
        default=1.0,
        group="criterion",
        doc='Equivalent sample size of the criterion "bdeu" and of the prior "bdeu".',
        check=partial(number, above=0.0, maximum=_MAX_ESS),
        setting="ess",
        metavar="NUMBER",
        help="Equivalent sample size of bdeu.",
    ),
]
_Transform = Annotated[
    str | None,
    Option(
        default=None,
        group="criterion",
        doc='"ranks" replaces the values of each continuous column by the normal scores of their '
        'ranks, which helps if columns are skewed; "none" does not. By default, searches on '
        "tables with discrete and continuous columns use ranks, others do not, and networks are "
        "estimated in the units of the columns.",
        check=partial(choice, known=TRANSFORMS),
        setting="transform",
        help="Replace continuous values by the normal scores of their ranks.",
        default_text="ranks with discrete and continuous columns, else none",
    ),
]

_Prior = Annotated[
    Prior,
    Option(
        default="bdeu",
        group="criterion",
        doc='How to estimate the CPDs. "bdeu": the posterior mean under the Dirichlet prior of '
        "the criterion BDeu, with `ess` cases spread evenly over each table. A number: the same "
        'with this many cases in each cell (1 is Laplace\'s rule). "ml": maximum likelihood, '
        "that is, relative frequencies; a parent configuration that never occurs gets the "
        "uniform distribution. Maximum likelihood may assign zero probability to new cases.",
        check=check_prior,
        type='{"bdeu", "ml"} or float',
        metavar="bdeu|ml|NUMBER",
        help="Smoothing: bdeu spreads --ess cases evenly over each table, ml does not smooth "
        "(maximum likelihood), a number adds this many cases to each cell.",
    ),
]


class DataOptions(TypedDict, total=False):
    """How to read a table."""

    kinds: Annotated[
        "Kinds | None",
        Option(
            default=None,
            group="data",
            doc='Kinds of columns: ``{"zip": "discrete", "size": "continuous", "id": "omit"}``. '
            "The kinds of other columns are inferred from their values; `kes.audit` shows them.",
            type="mapping or None",
            flag="--discrete or --continuous",
        ),
    ]
    weights: Annotated[
        "Weights",
        Option(
            default=None,
            group="data",
            doc="How often each row counts, as the name of a column or as numbers: counts, or any "
            "non-negative reals, such as probabilities times the number of cases.",
            type="str, array or None",
            metavar="COLUMN",
            help="Column that says how often each row counts.",
        ),
    ]
    discretize: Annotated[
        "int | Mapping[str, int] | Discretizer | None",
        Option(
            default=None,
            group="data",
            doc="Cut continuous columns into this many intervals with about equally many cases; "
            'or only the named ones, such as ``{"age": 5}``; or as a `kes.Discretizer` defines. '
            "`Optima.discretizer` keeps the cut points.",
            type="int, mapping, Discretizer or None",
            metavar="N|COLUMN=N,...",
            help="Cut continuous columns, or the named ones, into N intervals with about equally "
            "many cases.",
        ),
    ]
    dates: Annotated[
        str | None,
        Option(
            default=None,
            group="data",
            doc='Use columns of dates as numbers: "days" since 1970-01-01 (hours are fractions), '
            'or "year". By default they are left out.',
            check=partial(choice, known=DATES),
            help="Use dates as numbers: days since 1970-01-01, or years.",
            default_text="left out",
        ),
    ]
    missing: Annotated[
        str,
        Option(
            default="error",
            group="data",
            doc="How to treat missing values: raise an error, drop the rows, make missing a state "
            "of its own, or impute them from a model that is learned along with them (stacked "
            'structural EM). With "em", scores are those of the completed table; this is valid if '
            "values are missing at random: whether a value is missing may depend on observed "
            "values, but not on missing ones.",
            check=partial(choice, known=MISSING),
            metavar="HOW|MARKERS",
            help="How to treat missing values: error (the default), drop the rows, make missing a "
            "state, or impute by em. Anything else is a list of markers of missing values besides "
            "empty fields. Both together: NA,?,drop.",
        ),
    ]
    completions: Annotated[
        int,
        Option(
            default=5,
            group="data",
            doc='For ``missing="em"``: how often each incomplete case is imputed.',
            check=partial(integer, minimum=1),
            metavar="N",
            help="For --missing em: how often each incomplete case is imputed.",
        ),
    ]


class FitOptions(DataOptions, total=False):
    """How to estimate a network; see `kes.fit`."""

    prior: _Prior
    ess: _Ess
    transform: _Transform
    prefer: Annotated[
        Iterable[tuple[str, str]],
        Option(
            default=(),
            group="model",
            doc="Arcs (a, b) to orient as a -> b where an essential graph leaves the direction "
            "open, in order of priority. Pairs that are not adjacent have no effect.",
            type="list of arcs",
        ),
    ]


class ScoringOptions(DataOptions, total=False):
    """What decides a score, and which models are admissible."""

    criterion: Annotated[
        str,
        Option(
            default="bic",
            group="criterion",
            doc='The score to maximise, a natural logarithm. "bic" and "aic" are for every table: '
            "multinomial if all columns are discrete, Gaussian if all are continuous, the location "
            'model [Olkin & Tate 1961] if the table is mixed. "degenerate-bic" and '
            '"degenerate-aic" score mixed tables by the degenerate Gaussian [Andrews 2019] '
            'instead. "bdeu" and "qnml" are for discrete tables, "bge" for continuous ones.',
            check=partial(choice, known=CRITERIA),
            setting="criterion",
            help="The score to maximise.",
        ),
    ]
    ess: _Ess
    penalty: Annotated[
        float,
        Option(
            default=1.0,
            group="criterion",
            doc="Factor of the penalty of bic and aic on continuous and mixed tables (of mixed "
            "ones: of the parameters of continuous variables); a larger one gives fewer edges.",
            check=partial(number, above=0.0, maximum=_MAX_PENALTY),
            setting="penalty",
            metavar="NUMBER",
            help="Factor of the penalty of bic and aic on tables with continuous columns.",
        ),
    ]
    transform: _Transform
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
    n_jobs: Annotated[
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
    progress: Annotated[
        "bool | Callable[[Progress], object] | None",
        Option(
            default=None,
            group="execution",
            doc="True shows a progress bar. A callable gets a `kes.Progress` at most ten times a "
            "second: of the rounds of EM, if there are any, of the runs, of the tasks, and of the "
            "sets of variables that are counted for a proof.",
            check=callback,
            type="None, True or callable",
            help="Show progress.",
            default_text="only on a terminal",
        ),
    ]


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

    prior: _Prior


class LearnOptions(RunOptions, total=False):
    """Options of `kes.learn`."""

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
            "takes at most half of it, but at least one round.",
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
    target: Annotated[
        str | None,
        Option(
            default=None,
            group="model",
            doc="A variable to predict. The search is the same; the result also tells from which "
            "variables it is predicted, and how well in cases that were not used to learn "
            "(`Optima.evaluation`). That takes up to five further short searches.",
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


# --- questions about all networks: kes.posterior and kes.credible ---


class WorkOptions(TypedDict, total=False):
    """What the answer may cost."""

    n_jobs: Annotated[
        int | None,
        Option(
            default=None,
            group="execution",
            doc="Threads; None or -1 for all usable cores. Does not change the result.",
            check=jobs,
            flag="--jobs",
            metavar="N",
            help="Number of threads. Does not change the result.",
            default_text="all usable cores",
        ),
    ]
    memory_mb: Annotated[
        int,
        Option(
            default=2048,
            group="execution",
            doc="Memory to use, approximately, in megabytes.",
            check=megabytes,
            metavar="N",
            help="Memory to use, approximately, in megabytes.",
        ),
    ]
    budget: Annotated[
        float | str | None,
        Option(
            default=None,
            group="execution",
            doc='Stop after this time: seconds, or text such as "30s", "10m".',
            check=duration,
            type="float, str or None",
            metavar="TIME",
            help="Stop after this time, such as 30s, 5m, 1h30m.",
        ),
    ]
    progress: Annotated[
        "bool | Callable[[Progress], object] | None",
        Option(
            default=None,
            group="execution",
            doc="True shows a progress bar. A callable gets a `kes.Progress` at most ten times a "
            "second.",
            check=callback,
            type="None, True or callable",
            help="Show progress.",
            default_text="only on a terminal",
        ),
    ]


class PosteriorWork(WorkOptions, total=False):
    """How posterior probabilities are computed."""

    prior: Annotated[
        str,
        Option(
            default="dags",
            group="runs",
            doc="What has the same probability before the data are seen: all DAGs, or all "
            "equivalence classes. Where the two differ, the data do not decide. With `knowledge` "
            "and `max_parents`, only the networks that these allow count.",
            check=partial(choice, known=("dags", "classes")),
            help="What has the same probability before the data are seen.",
        ),
    ]
    method: Annotated[
        str,
        Option(
            default="auto",
            group="runs",
            doc='The exact sum, or Markov chains over models. "auto" chooses the sum if there is '
            "memory for it; under the prior over classes it is available with up to five columns "
            "that vary.",
            check=partial(choice, known=("auto", "exact", "chains")),
            help="Sum over all networks, or sample models by Markov chains.",
            default_text="exact if there is memory for it",
        ),
    ]
    rounds: Annotated[
        int,
        Option(
            default=2000,
            group="runs",
            doc="Length of the chains, of which the first fifth is not used. The result depends "
            "on it and on `random_state`, not on the time.",
            check=partial(integer, minimum=100),
            metavar="N",
            help="Length of the chains.",
        ),
    ]


class CredibleWork(WorkOptions, total=False):
    """Which models are close to the best, and how many of them are wanted."""

    within: Annotated[
        float,
        Option(
            default=3.0,
            group="runs",
            doc="Largest distance from the highest score, in nats.",
            check=partial(number, minimum=0.0),
            metavar="NATS",
            help="Largest distance from the highest score.",
        ),
    ]
    most: Annotated[
        int,
        Option(
            default=10_000,
            group="runs",
            doc="Stop when there are more models than this; then the result is not complete.",
            check=partial(integer, minimum=1),
            metavar="N",
            help="Stop when there are more models than this.",
        ),
    ]


class PosteriorOptions(ScoringOptions, PosteriorWork, total=False):
    """Options of `kes.posterior`."""


class CredibleOptions(ScoringOptions, CredibleWork, total=False):
    """Options of `kes.credible`."""


POSTERIOR_MEMORY = 4096
"""The sum over all networks needs more memory than most questions."""


FIT_DEFAULTS: FitOptions = defaults(FitOptions)  # type: ignore[assignment]
DEFAULTS: LearnOptions = defaults(LearnOptions)  # type: ignore[assignment]
