"""Checks of values that users pass: integers, numbers, durations, seeds, arcs.

Each returns the value in the type that the rest of the package uses, or raises a `KesError` whose
`option` is the name it was given.
"""

import math
import numbers
import re
import secrets
from collections.abc import Callable, Iterable
from typing import Any

from kes.errors import KesError, option, unknown

MAX_MB = 2**30
"""Upper limit for memory options: the core counts bytes in a machine word."""

_MAX_INTEGER = 2**63 - 1
_SHOWN_DIGITS = 30
_SECONDS = {"s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}


def integer(name: str, value: object, *, minimum: int, maximum: int = _MAX_INTEGER) -> int:
    """Return `value` as an int between `minimum` and `maximum`."""
    if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < minimum:
        bound = f"at least {minimum}"
    elif int(value) > maximum:
        bound = f"at most {maximum}"
    else:
        return int(value)
    raise KesError(
        f"{option(name)} must be an integer of {bound}, not {_shown(value)}", option=name
    )


def number(
    name: str,
    value: object,
    *,
    minimum: float = -math.inf,
    above: float | None = None,
    maximum: float = math.inf,
    hint: str = "",
) -> float:
    """Return `value` as a finite float from `minimum`, or above `above`, to `maximum`."""
    real = isinstance(value, numbers.Real) and not isinstance(value, bool)
    try:
        result = float(value) if real else math.nan  # type: ignore[arg-type]
    except OverflowError:
        result = math.inf
    inside = minimum <= result <= maximum and (above is None or result > above)
    if math.isfinite(result) and inside:
        return result
    if above is None and maximum < math.inf:
        bounds = f" from {minimum:g} to {maximum:g}"
    else:
        bounds = f" of at least {minimum:g}" if minimum > -math.inf else ""
        bounds += f" greater than {above:g}" if above is not None else ""
        bounds += f" and at most {maximum:g}" if maximum < math.inf else ""
    raise KesError(
        f"{option(name)} must be a number{bounds}{hint}, not {_shown(value)}", option=name
    )


def boolean(name: str, value: object) -> bool:
    """Return `value` if it is True or False."""
    if isinstance(value, bool):
        return value
    raise KesError(f"{option(name)} must be True or False, not {value!r}", option=name)


def choice(name: str, value: object, *, known: Iterable[str]) -> str:
    """Return `value` in lower case if it is one of the known names."""
    if isinstance(value, str) and value.lower() in known:
        return value.lower()
    raise unknown(name, value, known, option=name)


def jobs(name: str, value: object) -> int | None:
    """Return `value` as a number of threads; None and -1 stand for all usable cores."""
    if value is None or value == -1:
        return None
    return integer(name, value, minimum=1)


def callback(name: str, value: object) -> bool | Callable[[Any], object] | None:
    """Return `value` if it can show progress: None, a bool or a callable."""
    if value is None or isinstance(value, bool) or callable(value):
        return value
    raise KesError(
        f"{option(name)} must be None, True or a function of a kes.Progress, not {value!r}",
        option=name,
    )


def megabytes(name: str, value: object) -> int:
    """Return `value` as a bound on memory."""
    return integer(name, value, minimum=1, maximum=MAX_MB)


def duration(name: str, value: object) -> float:
    """Return seconds from a number or from text such as "30s", "5m" or "1h30m"."""
    if isinstance(value, str):
        parts = re.findall(r"(\d+(?:\.\d*)?|\.\d+)\s*(s|m|h|d|$)", value.strip())
        if not parts or "".join(a + b for a, b in parts) != re.sub(r"\s", "", value):
            raise KesError(
                f"{option(name)}: {value!r} is not a valid duration; "
                "give seconds, or text such as '30s', '5m' or '1h30m'",
                option=name,
            )
        value = sum(float(amount) * _SECONDS[unit] for amount, unit in parts)
    return number(name, value, above=0.0, hint=" (seconds)")


def seed(name: str, value: object) -> int:
    """Return `value` as a seed, or a random one for None."""
    if value is None:
        return secrets.randbits(32)
    if isinstance(value, int) and value >= 2**64:
        raise KesError(f"{option(name)} must be less than 2**64, not {_shown(value)}", option=name)
    return integer(name, value, minimum=0, maximum=2**64 - 1)


def arcs(name: str, value: object) -> list[tuple[str, str]]:
    """Return `value` as a list of pairs of names."""
    if isinstance(value, Iterable) and not isinstance(value, str):
        pairs: list[Any] = list(value)
        if all(isinstance(arc, tuple | list) and len(arc) == 2 for arc in pairs):
            return [(a, b) for a, b in pairs]
    raise KesError(
        f"{name} must be an EssentialGraph or a list of arcs (parent, child), "
        f"not {type(value).__name__}",
        option=name,
    )


def _shown(value: object) -> str:
    """Return an invalid value for a message; of huge integers only the number of digits."""
    if isinstance(value, int) and abs(value) >= 10**_SHOWN_DIGITS:
        return f"one of {int(value.bit_length() * math.log10(2)) + 1} digits"
    return repr(value)
