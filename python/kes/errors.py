"""Errors that users can correct, and helpers for their messages."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from itertools import islice
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from kes.results.optima import Optima

T = TypeVar("T")

_FLAGS: ContextVar[Mapping[str, str] | None] = ContextVar("_FLAGS", default=None)
_SHOWN = 10
"""Number of names that a message lists before it counts the rest."""

LONGEST = 500
"""Maximum number of characters of a message."""
_LINES = 8
_LINE = 160
"""Maximum number of lines of a message, and of characters of each."""
_GUESSED = 100
_GUESSES = 5000
"""Maximum length of a text, and number of known names, for which suggestions are computed."""

_UNPRINTABLE = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ud800-\udfff]"
)
"""Characters that move the cursor, hide or reverse text, or cannot be encoded."""


class KesError(ValueError):
    r"""Invalid input; the message says what is wrong, where, and what to do.

    However hostile the input, the message is short (at most 500 characters, always including its
    end, which says what to do) and shows control characters as escapes.

    Parameters
    ----------
    message : str
        One line.
    *lines : str
        Further lines.
    option, column, row, file
        What the error is about, as far as it is known; see the attributes.

    Attributes
    ----------
    option : str or None
        The option of the Python API that has to change, such as "max_parents".
    column : str or None
        The column of the table, or the variable of the network.
    row : int or None
        The row of the table, counted from 0, or the line of a text file, counted from 1.
    file : str or None
        The file that cannot be read or written.

    Examples
    --------
    >>> print(KesError("the file 'a\x1b[2J' holds", "  nothing"))
    the file 'a\x1b[2J' holds
      nothing
    >>> KesError("k must be a number from 0 to 1, not 2", option="k").option
    'k'
    """

    def __init__(
        self,
        message: str = "",
        *lines: str,
        option: str | None = None,
        column: str | None = None,
        row: int | None = None,
        file: str | None = None,
    ) -> None:
        super().__init__(*_brief([message, *lines]))
        self.option = option
        self.column = column
        self.row = row
        self.file = file

    def __str__(self) -> str:
        return "\n".join(self.args)


@contextmanager
def about(
    *,
    option: str | None = None,
    column: str | None = None,
    row: int | None = None,
    file: str | None = None,
) -> Iterator[None]:
    """Fill in fields of errors that the block raises, where the errors leave them open.

    Only `option` replaces that of an inner call: the user knows the option of the outer one.

    Examples
    --------
    >>> try:
    ...     with about(option="start"):
    ...         raise KesError("unknown node 'c'", column="c")
    ... except KesError as error:
    ...     error.option, error.column
    ('start', 'c')
    """
    try:
        yield
    except KesError as error:
        error.option = error.option if option is None else option
        error.column = column if error.column is None else error.column
        error.row = row if error.row is None else error.row
        error.file = file if error.file is None else error.file
        raise


def printable(text: str) -> str:
    r"""Return a text with control characters and the like as escapes, safe for a terminal.

    Examples
    --------
    >>> print(printable("a\nb\x1b[31m \N{RIGHT-TO-LEFT OVERRIDE}é"))
    a\nb\x1b[31m \u202eé
    """
    return _UNPRINTABLE.sub(lambda found: repr(found[0])[1:-1], text)


def _brief(lines: Sequence[str]) -> list[str]:
    """Return lines of a message, shortened and escaped."""
    if len(lines) == 1:
        return [_cut(lines[0], LONGEST)]
    shown: list[str] = []
    left = LONGEST - 20  # for the last line
    for line in lines:
        text = _cut(line, _LINE)
        left -= len(text) + 1
        if left < 0 or len(shown) == _LINES:
            return [*shown, f"  and {len(lines) - len(shown)} more"]
        shown.append(text)
    return shown


def _cut(text: str, most: int) -> str:
    """Escape a text, and cut out its middle if it is too long."""
    long = len(text) > most
    shown = printable(text[:most] + text[-most:] if len(text) > 2 * most else text)
    if not long and len(shown) <= most:
        return shown
    end = most // 3
    return f"{shown[: most - end - 5]} ... {shown[-end:]}"


class UnknownOption(KesError, TypeError):
    """An unknown option of a function."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a search.

    Attributes
    ----------
    optima : Optima or None
        What was found; None before the first run has ended.
    file : str or None
        The file that holds what was found, with the option `out` of `kes.learn`.
    """

    def __init__(self, optima: Optima | None = None) -> None:
        super().__init__(optima)
        self.optima = optima
        self.file: str | None = None

    def __str__(self) -> str:
        if self.optima is None:
            return "interrupted before the first run ended"
        kept = "" if self.file is None else f", and in {self.file}"
        return f"interrupted; what was found is in the attribute 'optima'{kept}"


class ClusterLost(KesError):
    """The connection to a cluster was lost during a search.

    Attributes
    ----------
    optima : Optima or None
        What was found by then, to be saved or extended; None before the first run has ended.
    """

    def __init__(self, message: str, optima: Optima | None = None) -> None:
        super().__init__(message)
        self.optima = optima

    def __reduce__(self) -> tuple[object, ...]:
        return ClusterLost, (*self.args, self.optima)


class NotSaved(KesError):
    """The result of a search could not be written to its file.

    Attributes
    ----------
    optima : Optima or None
        The result, to be saved elsewhere; None before the first run has ended.
    """

    def __init__(self, message: str, optima: Optima | None = None, file: str | None = None) -> None:
        super().__init__(message, option="out", file=file)
        self.optima = optima

    def __reduce__(self) -> tuple[object, ...]:
        return NotSaved, (*self.args, self.optima, self.file)


def not_installed(package: str) -> KesError:
    """Return the error for a missing optional package, with the command that installs it.

    Examples
    --------
    >>> print(not_installed("pyarrow"))
    this needs pyarrow, which is not installed: pip install pyarrow
    """
    return KesError(f"this needs {package}, which is not installed: pip install {package}")


@contextmanager
def naming_flags(flags: Mapping[str, str]) -> Iterator[None]:
    """Let messages name options by the flags of the command line.

    Parameters
    ----------
    flags : mapping
        Flags that differ from the option's name by more than hyphens; ``{}`` in a flag is the
        place of a choice.
    """
    token = _FLAGS.set(flags)
    try:
        yield
    finally:
        _FLAGS.reset(token)


def option(name: str, value: object = None) -> str:
    """Return an option, or a choice of it, as the user has to write it.

    Examples
    --------
    >>> option("n_jobs"), option("missing", "drop")
    ('n_jobs', 'missing="drop"')
    >>> with naming_flags({"n_jobs": "--jobs"}):
    ...     option("n_jobs"), option("missing", "drop")
    ('--jobs', '--missing drop')
    >>> with naming_flags({"missing": "--missing NA,{}"}):
    ...     option("missing"), option("missing", "drop")
    ('--missing', '--missing NA,drop')
    """
    flags = _FLAGS.get()
    if flags is None:
        shown = f'"{value}"' if isinstance(value, str) else repr(value)
        return name if value is None else f"{name}={shown}"
    flag = flags.get(name) or "--" + name.replace("_", "-")
    if "{}" in flag:
        return flag.split()[0] if value is None else flag.replace("{}", str(value))
    return flag if value is None else f"{flag} {value}"


def either(python: str, command_line: str) -> str:
    """Return the text for Python users, or that for users of the command line."""
    return python if _FLAGS.get() is None else command_line


def suggest(given: str, known: Iterable[str]) -> str:
    """Return a suggestion of a similar known name, to append to a message, or nothing.

    Examples
    --------
    >>> suggest("bci", ["aic", "bdeu", "bic"])
    " (did you mean 'bic'?)"
    >>> suggest("xyz", ["aic", "bdeu", "bic"])
    ''
    """
    from difflib import get_close_matches

    by_lower_case = {name.lower(): name for name in islice(known, _GUESSES)}
    if len(given) > _GUESSED:
        return ""
    close = get_close_matches(given.lower(), by_lower_case, n=1)
    return f" (did you mean {by_lower_case[close[0]]!r}?)" if close else ""


def unknown(
    what: str,
    given: object,
    known: Iterable[str],
    *,
    option: str | None = None,
    column: str | None = None,
) -> KesError:
    """Return the error for a name that is not one of the known ones.

    Examples
    --------
    >>> print(unknown("criterion", "bci", ["bic", "aic", "bdeu"]))
    unknown criterion 'bci' (did you mean 'bic'?); known: 'aic', 'bdeu', 'bic'
    """
    names = sorted(known)
    return KesError(
        f"unknown {what} {given!r}{suggest(str(given), names)}; known: {listed(names)}",
        option=option,
        column=column,
    )


def listed(items: Iterable[object], show: Callable[[object], str] = repr) -> str:
    """Format items for a message: the first ten, and the number of further ones.

    Examples
    --------
    >>> listed(["a", "b"])
    "'a', 'b'"
    >>> listed(range(1000))
    '0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 990 more'
    """
    rest = iter(items)
    text = ", ".join(show(item) for item in islice(rest, _SHOWN))
    more = sum(1 for _ in rest)
    return f"{text} and {more} more" if more else text


def repeated(items: Iterable[T]) -> list[T]:
    """Return the items that occur more than once, in order of first occurrence.

    Examples
    --------
    >>> repeated("abcabd")
    ['a', 'b']
    """
    return [item for item, times in Counter(items).items() if times > 1]
