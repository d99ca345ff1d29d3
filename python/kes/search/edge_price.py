"""The price of an edge: the least gain of the criterion with which it pays.

A price c per edge is a prior over models in which the odds of each edge are exp(-c) to 1. It
corrects for the number of pairs: of n(n - 1)/2 pairs of independent variables, some look dependent
by chance, and BIC, whose penalty of ½ ln N per parameter depends only on the number of cases,
connects them. The extended BIC charges c = 2 γ ln n [Chen & Chen 2008; Foygel & Drton 2010].

The default price keeps noise out: with it, independent variables get `FALSE_EDGES` edges per
variable on average. The gain of an edge between two independent normal variables is -N/2 ln(1 - r²)
with their correlation r. With ν = N - 2, √(-ν ln(1 - r²)), scaled by (8ν + 1)/(8ν + 3), is nearly
the absolute value of a standard normal variable, whatever N is [Wallace 1959]; for two binary
variables this holds with many cases, and variables with more states pay for more parameters. Tables
with few variables for their cases need no price: their results are those of BIC.

With curves of degree d (`basis`), an edge between continuous variables has d² parameters, and
twice its gain, scaled by (N - 1 - (2d + 1)/2)/N [Bartlett 1938], is nearly χ² with d² degrees of
freedom. It pays d² penalties, so chance seldom reaches it.
"""

import math
from statistics import NormalDist

from kes.data.dataset import AnyTable, dataset_of
from kes.declare import declared
from kes.errors import KesError, option
from kes.options import EdgePrior, Gamma, LearnOptions
from kes.settings import Criterion, Settings

FALSE_EDGES = 0.005
"""Edges per variable that pure noise gives with the default price; searches find a few more."""

_FEW = 0.4
"""No price up to this share of √N variables."""

_NORMAL = NormalDist()
_DIGITS = 6  # digits of the default price, so that it is the same on all machines


def edge_price(
    prior: EdgePrior | None, gamma: Gamma, variables: int, cases: float, criterion: Criterion
) -> float:
    """Return the price of every edge in nats, with this many variables that vary and cases."""
    if prior == "ebic":
        chosen = ebic_gamma(variables, cases) if gamma == "auto" else gamma
        return 2 * chosen * math.log(max(variables, 1))
    if gamma != "auto":
        raise KesError(
            f"{option('gamma')} belongs to {option('edge_prior', 'ebic')}: give both, or neither",
            option="gamma",
        )
    if prior == "auto":
        return default_price(variables, cases, criterion)
    return prior or 0.0


def ebic_gamma(variables: int, cases: float) -> float:
    """Return the least γ with which the extended BIC is consistent [Chen & Chen 2008].

    With n = N^κ variables and N cases it is 1 - 1/(2κ), or 0 up to n = √N.
    """
    return max(0.0, 1 - math.log(cases) / (2 * math.log(variables))) if variables > 1 else 0.0


def default_price(variables: int, cases: float, criterion: Criterion) -> float:
    """Return the price that keeps noise out; 0 if the table has few variables for its cases.

    AIC has no price by default: it aims at prediction, and admits false edges whatever the size.
    """
    if criterion.name.endswith("aic") or chance_edges(variables, cases, criterion) < 1:
        return 0.0
    if variables <= _FEW * math.sqrt(cases):
        return 0.0
    if criterion.degree > 1:
        largest = _curve_gain(2 * FALSE_EDGES / (variables - 1), cases, criterion.degree)
        penalty = criterion.degree**2 * _penalty(cases, criterion)
        return round(max(0.0, largest - penalty), _DIGITS)
    largest = _NORMAL.inv_cdf(1 - FALSE_EDGES / (variables - 1)) / _scale(cases)
    return round(max(0.0, largest**2 / 2 - _penalty(cases, criterion)), _DIGITS)


def chance_edges(variables: int, cases: float, criterion: Criterion) -> float:
    """Return the number of independent pairs that look dependent by chance, without a price."""
    if cases <= 1:
        return 0.0
    if criterion.degree > 1:
        gain = criterion.degree**2 * _penalty(cases, criterion)
        return variables * (variables - 1) / 2 * _curve_chance(gain, cases, criterion.degree)
    normal = _scale(cases) * math.sqrt(2 * _penalty(cases, criterion))
    return variables * (variables - 1) / 2 * math.erfc(normal / math.sqrt(2))


def _curve_gain(chance: float, cases: float, degree: int) -> float:
    """Return the gain of an edge of independent curves of a chance [Wilson & Hilferty 1931]."""
    spread = 2 / (9 * degree**2)
    cube_root = 1 - spread + _NORMAL.inv_cdf(1 - chance) * math.sqrt(spread)
    return float(degree**2 * max(cube_root, 0.0) ** 3 / 2 / _curve_scale(cases, degree))


def _curve_chance(gain: float, cases: float, degree: int) -> float:
    """Return the chance that an edge of independent curves gains as much: the inverse."""
    spread = 2 / (9 * degree**2)
    cube_root = (2 * gain * _curve_scale(cases, degree) / degree**2) ** (1 / 3)
    return math.erfc((cube_root - 1 + spread) / math.sqrt(2 * spread)) / 2


def _curve_scale(cases: float, degree: int) -> float:
    """Return the factor that makes twice the gain of curves nearly χ²."""
    return max(cases - 1 - (2 * degree + 1) / 2, 1.0) / cases


def _penalty(cases: float, criterion: Criterion) -> float:
    """Return the penalty of one parameter: of BIC, also for criteria that have none of their own.

    Marginal likelihoods approach BIC with many cases.
    """
    return criterion.penalty * math.log(cases) / 2


def _scale(cases: float) -> float:
    """Return the factor that makes √(2 gain) nearly the size of a standard normal variable."""
    freedom = max(cases - 2, 1.0)
    return math.sqrt(freedom / cases) * (8 * freedom + 1) / (8 * freedom + 3)


def price_for(table: AnyTable, settings: Settings, options: LearnOptions) -> float:
    """Return the price of every edge that the options choose for a table."""
    known = declared(LearnOptions)
    prior = known["edge_prior"].checked(options["edge_prior"])
    gamma = known["gamma"].checked(options["gamma"])
    dataset = dataset_of(table)
    measure = settings.measure.of_cheapest_edges(dataset.kind)
    return edge_price(prior, gamma, dataset.varying, dataset.cases, measure)
