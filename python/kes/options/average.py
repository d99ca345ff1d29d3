"""Options of averaged networks: `kes.ensemble` and `Optima.ensemble`."""

from functools import partial
from typing import Annotated

from kes.declare import Option
from kes.options.all_networks import WorkOptions
from kes.options.search import ScoringOptions
from kes.options.values import CRITERIA, MAX_ESS, Prior, check_prior
from kes.validation import choice, integer, number


class AverageWork(WorkOptions, total=False):
    """Options of averages: the number of networks, and their estimation."""

    members: Annotated[
        int,
        Option(
            default=20,
            group="runs",
            doc="Number of networks to average. The first ones do not depend on how many follow.",
            check=partial(integer, minimum=1),
            metavar="N",
            help="Number of networks to average.",
        ),
    ]
    prior: Annotated[
        Prior | None,
        Option(
            default=None,
            group="criterion",
            doc='How to estimate the CPDs, as in `kes.fit`. The default is "bdeu".',
            check=check_prior,
            type='{"bdeu", "ml"}, float or None',
            metavar="bdeu|ml|NUMBER",
        ),
    ]
    ess: Annotated[
        float | None,
        Option(
            default=None,
            group="criterion",
            doc='Equivalent sample size of the criterion "bdeu" and of the prior "bdeu". The '
            "default is 1 to learn the structures and 5 to estimate CPDs.",
            check=partial(number, above=0.0, maximum=MAX_ESS),
            metavar="NUMBER",
        ),
    ]


class EnsembleOptions(ScoringOptions, AverageWork, total=False):  # type: ignore[misc]
    """Options of `kes.ensemble`; `criterion` and `ess` may be None here."""

    criterion: Annotated[  # type: ignore[misc]
        str | None,
        Option(
            default=None,
            group="criterion",
            doc="The criterion of all members. By default they take turns: BIC, BDeu and AIC on "
            "discrete tables, BIC, BGe and AIC on continuous ones, BIC and AIC on mixed ones; AIC "
            "only with five cases or more for each variable.",
            check=partial(choice, known=CRITERIA),
        ),
    ]
