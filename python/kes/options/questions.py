"""Options of questions about a result: `kes.stability`, `kes.certify`, noise and effects."""

from functools import partial
from typing import Annotated, TypedDict

from kes.declare import Option
from kes.options.all_networks import LimitOptions
from kes.options.search import RunOptions, ScoringOptions
from kes.validation import choice, integer, number

SCHEMES = ("subsample", "bootstrap")
SHUFFLES = 20
"""Number of shuffled copies of a table."""

CERTIFY_BUDGET = "10m"


class ResampleWork(TypedDict, total=False):
    """The tables to draw."""

    resamples: Annotated[
        int,
        Option(
            default=100,
            group="runs",
            doc="Number of tables to draw.",
            check=partial(integer, minimum=1),
            metavar="N",
            help="Number of tables to draw.",
        ),
    ]
    scheme: Annotated[
        str,
        Option(
            default=SCHEMES[0],
            group="runs",
            doc="Draw a share of the cases without replacement, or as many as there are with "
            "replacement. The bootstrap makes graphs too dense: see the notes of this module.",
            check=partial(choice, known=SCHEMES),
            help="Draw a share of the cases without replacement, or all of them with replacement, "
            "which makes graphs too dense.",
        ),
    ]
    fraction: Annotated[
        float,
        Option(
            default=0.5,
            group="runs",
            doc='The share, for ``"subsample"``.',
            check=partial(number, minimum=0.0, maximum=1.0),
            metavar="SHARE",
            help="Share of the cases for --scheme subsample.",
        ),
    ]


class StabilityOptions(ResampleWork, RunOptions, total=False):
    """Options of `kes.stability`."""


class EffectWork(TypedDict, total=False):
    """The optima and tables from which effects are estimated."""

    within: Annotated[
        float,
        Option(
            default=10.0,
            group="runs",
            doc="Use the optima whose score is at most this many nats below the best.",
            check=partial(number, minimum=0.0),
            metavar="NATS",
            help="Use optima whose scores are at most this far below the best.",
        ),
    ]
    resamples: Annotated[
        int,
        Option(
            default=0,
            group="runs",
            doc="If not 0, estimate the same effects on this many bootstrap tables. With "
            '``missing="em"``, the missing values of each are imputed anew.',
            check=partial(integer, minimum=0),
            metavar="N",
            help="Repeat the estimates on N tables drawn with replacement.",
        ),
    ]


class CertifyOptions(ScoringOptions, LimitOptions, total=False):
    """Options of `kes.certify`."""
