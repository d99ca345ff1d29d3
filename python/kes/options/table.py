"""Options of reading a table and of fitting a network to it."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, TypedDict

from kes.declare import Option, defaults
from kes.options.values import (
    DATES,
    MAX_ESS,
    MISSING,
    TRANSFORMS,
    Basis,
    Prior,
    check_basis,
    check_prior,
)
from kes.validation import choice, integer, number

if TYPE_CHECKING:
    from kes.data.dataset import Weights
    from kes.data.discretizer import Discretizer
    from kes.data.infer_kinds import Kinds
    from kes.data.interventions import Interventions

Ess = Annotated[
    float,
    Option(
        default=1.0,
        group="criterion",
        doc='Equivalent sample size of the criterion "bdeu" and of the prior "bdeu".',
        check=partial(number, above=0.0, maximum=MAX_ESS),
        setting="ess",
        metavar="NUMBER",
        help="Equivalent sample size of bdeu.",
    ),
]
Transform = Annotated[
    str | None,
    Option(
        default=None,
        group="criterion",
        doc='"ranks" replaces the values of each continuous column by the normal scores of their '
        'ranks, which helps if columns are skewed; "none" does not. By default, searches on '
        "tables with discrete and continuous columns use ranks, and networks are estimated in the "
        "units of the columns. So do searches on continuous tables with many variables for their "
        "cases if columns have heavy tails, which a note says; there, networks use ranks as well.",
        check=partial(choice, known=TRANSFORMS),
        setting="transform",
        help="Replace continuous values by the normal scores of their ranks.",
        default_text="ranks with discrete and continuous columns or heavy tails, else none",
    ),
]
Curves = Annotated[
    Basis | None,
    Option(
        default=None,
        group="criterion",
        doc="Let relations of continuous columns be curves: each is represented by the Legendre "
        "polynomials of its normal scores up to this degree, 1 to 6, with bic and aic. 3 or 4 "
        'finds most curves. "auto" chooses between straight lines and curves on held-out cases '
        "(searches only). None is straight lines. The score is then a pseudo-likelihood: it "
        "compares networks, but no odds are read off it.",
        check=check_basis,
        setting="basis",
        type='int, "auto" or None',
        metavar="DEGREE|auto",
        help="Let relations of continuous columns be curves: polynomials of this degree, or auto, "
        "which chooses on held-out cases.",
        default_text="straight lines",
    ),
]

ParameterPrior = Annotated[
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
    """Options of reading a table."""

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
        "int | Mapping[str, int] | Mapping[str, Sequence[float]] | Discretizer | None",
        Option(
            default=None,
            group="data",
            doc="Cut continuous columns into this many intervals with about equally many cases; "
            'or only the named ones, such as ``{"age": 5}``; or at given points, such as '
            '``{"age": [18, 65]}``; or as a `kes.Discretizer` defines. '
            "`Optima.discretizer` keeps the cut points.",
            type="int, mapping, Discretizer or None",
            metavar="N|COLUMN=N,...",
            help="Cut continuous columns, or the named ones, into N intervals with about equally "
            "many cases; or at given points: age@18/65,dose@2.5.",
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
    interventions: Annotated[
        "Interventions | None",
        Option(
            default=None,
            group="data",
            doc="Columns that say which experiment a row is from, and what each experiment acts "
            'on: ``{"condition": {"a": "X1", "b": ["X2", "X3"], "none": None}}``. Each value '
            "becomes an exogenous variable of its own, such as ``condition[a]``, that may point "
            "to its targets only; None is no intervention, and a value that is not listed may act "
            "on any variable.",
            type="mapping or None",
            metavar="FILE",
            help="TOML or JSON file with columns that say which experiment a row is from, and the "
            'targets of each value: condition = {a = "X1", b = ["X2", "X3"], none = []}.',
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
    """Options of estimating a network; see `kes.fit`."""

    prior: ParameterPrior
    ess: Ess
    transform: Transform
    basis: Curves
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


FIT_DEFAULTS: FitOptions = defaults(FitOptions)  # type: ignore[assignment]
