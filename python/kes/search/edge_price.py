"""The price of an edge: how much it must raise the criterion to pay.

A price c per edge is a prior over models in which the odds of each edge are exp(-c) to 1. The
extended BIC charges c = 2 γ ln n with n variables, because the more pairs there are, the more of
them look dependent by chance [Chen & Chen 2008; Foygel & Drton 2010].
"""

import math

from kes.errors import KesError, option
from kes.options import EdgePrior, Gamma


def edge_price(prior: EdgePrior | None, gamma: Gamma, variables: int, cases: float) -> float:
    """Return the price of every edge in nats, with this many variables that vary and cases."""
    if prior == "ebic":
        chosen = ebic_gamma(variables, cases) if gamma == "auto" else gamma
        return 2 * chosen * math.log(max(variables, 1))
    if gamma != "auto":
        raise KesError(
            f"{option('gamma')} belongs to {option('edge_prior', 'ebic')}: give both, or neither",
            option="gamma",
        )
    return prior or 0.0


def ebic_gamma(variables: int, cases: float) -> float:
    """Return the least γ with which the extended BIC is consistent [Chen & Chen 2008].

    With n = N^κ variables and N cases it is 1 - 1/(2κ), or 0 up to n = √N.
    """
    return max(0.0, 1 - math.log(cases) / (2 * math.log(variables))) if variables > 1 else 0.0
