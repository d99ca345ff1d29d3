"""Distributions that trap a greedy search: Examples 1, 2 and the Trap data [Nielsen 2003].

X has four states; Y, Z and U are binary. They form the undirected cycle X - Y - Z - U - X, that is,
X and Z are independent given {Y, U}, and Y and U given {X, Z}. With the marginals of the four
edges this determines the joint distribution, which iterative proportional fitting finds
[Lauritzen 1996]: starting from the uniform distribution it only ever multiplies by functions of
the edges, so the independences hold at every step, and the marginals hold in the limit.

Two models are inclusion optimal for it, one with 19 parameters and one with 23. The marginals are
given by three numbers (a, b, c):

    P(X) = (1/4 + c, 1/4 - c, 1/4 - c, 1/4 + c)
    P(Y != X mod 2) = P(U != X div 2) = a,   whatever X is
    P(Z != Y) = P(Z != U) = b,   Y, Z and U being 0 or 1 equally often

Example 1 of the paper prints the marginals of (0.12, 0.30, 0). Erratum: exact GES is *not* trapped
by them. Its second move makes the collider Y -> X <- U, because I(X;U|Y) > I(X;U), and it ends
in the model with 19 parameters. A slightly uneven P(X) gives the behaviour that the paper reports.
"""

from collections.abc import Iterable
from functools import cache, reduce
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from kes.data import Dataset
from kes.data.random_stream import Purpose, Stream
from kes.datasets._networks import refuse_large, weighted
from kes.errors import KesError, about, unknown
from kes.validation import integer

Variant: TypeAlias = Literal["deceptive", "printed"]

_PARAMETERS: dict[str, tuple[float, float, float]] = {
    "deceptive": (0.12, 0.30, 0.05),
    "printed": (0.12, 0.30, 0.00),
}
_LETTERS = "XYZU"
_STATES = (("0", "1", "2", "3"), ("0", "1"), ("0", "1"), ("0", "1"))
_TOLERANCE = 1e-14
_MOST_SWEEPS = 10_000


def trap(
    groups: int = 10,
    rows: int = 20_000,
    seed: int | Stream = 0,
    *,
    variant: Variant = "deceptive",
    parameters: tuple[float, float, float] | None = None,
) -> Dataset:
    """Draw cases from independent copies of the four-cycle X - Y - Z - U - X.

    Parameters
    ----------
    groups
        Number of copies; the paper's Trap data has 10, i.e. 40 variables.
    rows
        Number of cases. A longer sample begins with the shorter ones of the same seed.
    seed
        Same seed, same cases.
    variant
        "deceptive" traps GES, as the paper reports; "printed" has the marginals that the paper
        prints in Example 1, which do not trap it.
    parameters
        (a, b, c), instead of those of the variant: P(Y != X mod 2) = P(U != X div 2) = a,
        P(Z != Y) = P(Z != U) = b, P(X) = (1/4 + c, 1/4 - c, 1/4 - c, 1/4 + c). "deceptive" is
        (0.12, 0.30, 0.05), "printed" (0.12, 0.30, 0); (0.11, 0.31, 0.02) comes closest to the
        scores in the paper's Table 1.

    Returns
    -------
    Dataset
        Columns X1, Y1, Z1, U1, X2, ...

    Examples
    --------
    >>> from kes.datasets import trap
    >>> trap(groups=2, rows=100).names
    ('X1', 'Y1', 'Z1', 'U1', 'X2', 'Y2', 'Z2', 'U2')
    """
    groups, rows = integer("groups", groups, minimum=1), integer("rows", rows, minimum=1)
    joint = _joint(variant, parameters)
    # The last cumulative sum is 1 up to rounding; left out, no draw can fall beyond the cells.
    thresholds = np.cumsum(joint)[:-1]
    numbers = Stream.of(seed, Purpose.TRAP).uniforms(rows, groups)
    cells = np.searchsorted(thresholds, numbers.T, side="right")
    codes = np.stack(np.unravel_index(cells, joint.shape), axis=1)
    codes = codes.reshape(-1, rows).astype(np.int32)
    return Dataset(_names(groups), _STATES * groups, codes, weights=None)


def example1(
    cases: float = 1_000_000,
    *,
    variant: Variant = "printed",
    parameters: tuple[float, float, float] | None = None,
) -> Dataset:
    """Write out the distribution of the paper's Example 1 over X, Y, Z and U.

    Parameters
    ----------
    cases
        Sum of the weights: the number of cases that the table stands for.
    variant, parameters
        As in `trap`.

    Returns
    -------
    Dataset
        32 rows, weighted by probability x cases, U changing fastest.

    Examples
    --------
    >>> from kes.datasets import example1
    >>> example1(cases=100).weights.reshape(4, 2, 2, 2).sum(axis=(2, 3)).round(9).tolist()
    [[22.0, 3.0], [3.0, 22.0], [22.0, 3.0], [3.0, 22.0]]
    """
    return weighted(tuple(_LETTERS), _STATES, _joint(variant, parameters), cases)


def example2(
    groups: int = 2,
    cases: float = 1_000_000,
    *,
    variant: Variant = "printed",
    parameters: tuple[float, float, float] | None = None,
) -> Dataset:
    """Write out the distribution of the paper's Example 2: independent copies of Example 1.

    It has 2^groups inclusion-optimal models.

    Parameters
    ----------
    groups
        Number of copies, 1 to 4: the table has 32^groups rows. Use `trap` for more.
    cases
        Sum of the weights: the number of cases that the table stands for.
    variant, parameters
        As in `trap`.

    Returns
    -------
    Dataset
        Columns X1, Y1, Z1, U1, X2, ...
    """
    groups = integer("groups", groups, minimum=1)
    one = _joint(variant, parameters)
    name = f"Example 2 with {groups} groups"
    with about(option="groups"):
        refuse_large(one.size**groups, name, "kes.datasets.trap(groups, rows)")
    joint = reduce(np.multiply.outer, [one] * groups)
    return weighted(_names(groups), _STATES * groups, joint, cases)


def _names(groups: int) -> tuple[str, ...]:
    return tuple(f"{letter}{group}" for group in range(1, groups + 1) for letter in _LETTERS)


def _joint(variant: str, parameters: Iterable[float] | None) -> NDArray[np.float64]:
    """Validate user input; return the joint distribution with axes X, Y, Z, U."""
    if parameters is None:
        if variant not in _PARAMETERS:
            raise unknown("variant", variant, _PARAMETERS, option="variant")
        parameters = _PARAMETERS[variant]
    try:
        a, b, c = map(float, parameters)
    except (TypeError, ValueError):
        raise KesError(
            f"parameters must be three numbers (a, b, c), not {parameters!r}", option="parameters"
        ) from None
    if not (0 < a < 1 and 0 < b < 1 and -0.25 < c < 0.25):
        raise KesError(
            f"parameters (a, b, c) = ({a}, {b}, {c}) are out of range: a and b are probabilities "
            "strictly between 0 and 1, and c lies strictly between -1/4 and 1/4",
            option="parameters",
        )
    return _fit(a, b, c)


@cache
def _fit(a: float, b: float, c: float) -> NDArray[np.float64]:
    """Find the distribution on the cycle with the edge marginals of (a, b, c)."""
    x, y = np.arange(4)[:, np.newaxis], np.arange(2)
    p_x = np.array([0.25 + c, 0.25 - c, 0.25 - c, 0.25 + c])[:, np.newaxis]
    p_yz = np.array([[1 - b, b], [b, 1 - b]]) / 2
    edges = [  # the marginal of each edge, shaped to broadcast over the axes X, Y, Z, U
        (p_x * np.where(x % 2 == y, 1 - a, a)).reshape(4, 2, 1, 1),
        (p_x * np.where(x // 2 == y, 1 - a, a)).reshape(4, 1, 1, 2),
        p_yz.reshape(1, 2, 2, 1),
        p_yz.reshape(1, 1, 2, 2),
    ]
    joint = np.full((4, 2, 2, 2), 1 / 32)
    for _ in range(_MOST_SWEEPS):
        for edge in edges:
            joint *= edge / _marginal_like(joint, edge)
        if all(np.abs(_marginal_like(joint, edge) - edge).max() < _TOLERANCE for edge in edges):
            joint.flags.writeable = False  # shared through the cache
            return joint
    raise KesError(
        f"no distribution on the cycle X - Y - Z - U - X has the edge marginals of (a, b, c) = "
        f"({a}, {b}, {c}): they contradict each other around the cycle. Move a and b towards 1/2",
        option="parameters",
    )


def _marginal_like(joint: NDArray[np.float64], edge: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum over the axes on which the edge has length 1, and keep these."""
    summed = tuple(axis for axis, size in enumerate(edge.shape) if size == 1)
    marginal: NDArray[np.float64] = joint.sum(axis=summed, keepdims=True)
    return marginal
