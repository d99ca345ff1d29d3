"""Declarations of options, and functions that take declared options.

An option is an annotation of a TypedDict: ``k: Annotated[float, Option(0.8, ...)]``. Everything
else about it follows from there: the signature, the documentation and the checks of every function
that takes it, the flag of the command line, the call that reproduces a result.
"""

import re
import warnings
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cache, partial, wraps
from inspect import Parameter, Signature, cleandoc, signature
from textwrap import fill
from types import NoneType, UnionType
from typing import Any, ParamSpec, TypeVar, Union, get_args, get_origin

from kes.errors import UnknownOption

P = ParamSpec("P")
R = TypeVar("R")
Check = Callable[[str, object], Any]

GROUPS = ("runs", "criterion", "model", "search", "data", "execution")
"""Groups of options, in the order of signatures."""

_SECTION = re.compile(r"(?:^|\n)Parameters\n-+\n(.*?)(?=\n\n[^\n]+\n-+\n|\Z)", re.DOTALL)
_WIDTH = 96
_OLD_NAMES = {"time_limit": "budget"}


@dataclass(frozen=True, kw_only=True)
class Option:
    """Declaration of an option.

    Attributes
    ----------
    default : object
        Its default. If that is None, None is a valid value.
    doc : str
        Its documentation.
    group : str
        One of `GROUPS`.
    check : callable or None
        Takes a name and a value and returns the checked value; None if only the data can tell
        whether a value is valid. The command line derives its types from it.
    setting : str or None
        The field of `kes.Settings`, if it decides what is found.
    type : str or None
        Its type in the documentation; None to derive it.
    flag, metavar, help : str or None
        The option of the command line; `flag` is None if only the name differs by hyphens.
    default_text : str or None
        What the command line shows as its default, where that is not the value.
    name, annotation : str
        Filled in by `declared`.
    """

    default: object
    doc: str
    group: str
    check: Check | None = None
    setting: str | None = None
    type: str | None = None
    flag: str | None = None
    metavar: str | None = None
    help: str | None = None
    default_text: str | None = None
    name: str = ""
    annotation: str = ""

    def checked(self, value: object) -> Any:  # noqa: ANN401 - as the option is annotated
        """Return a value that a user passed, checked."""
        if self.check is None or (value is None and self.default is None):
            return value
        return self.check(self.name, value)

    @property
    def choices(self) -> tuple[str, ...]:
        """The values that can be chosen, if they are names."""
        known: tuple[str, ...] = ()
        return self.check.keywords.get("known", known) if isinstance(self.check, partial) else known

    def entry(self) -> str:
        """Return its entry in a section `Parameters`."""
        shown = self.type or self.annotation.replace(" | ", " or ")
        if self.choices and self.type is None:
            names = ", ".join(f'"{choice}"' for choice in self.choices)
            shown = f"{{{names}}}" + (" or None" if self.default is None else "")
        text = fill(
            self.doc,
            _WIDTH,
            initial_indent="    ",
            subsequent_indent="    ",
            break_on_hyphens=False,
        )
        return f"{self.name} : {shown}\n{text}"


@cache
def declared(options: type) -> Mapping[str, Option]:
    """Return the options that a TypedDict declares, in the order of signatures."""
    found = []
    for name, annotation in options.__annotations__.items():
        shown, option = get_args(annotation)
        found.append(replace(option, name=name, annotation=_written(shown)))
    found.sort(key=lambda option: GROUPS.index(option.group))
    return {option.name: option for option in found}


def _written(annotation: Any) -> str:  # noqa: ANN401 - any type
    """Return a type as it is written in a signature."""
    if get_origin(annotation) in (Union, UnionType):
        return " | ".join(_written(part) for part in get_args(annotation))
    if annotation is NoneType:
        return "None"
    if type(annotation) is type:
        return annotation.__name__
    text = getattr(annotation, "__forward_arg__", str(annotation))
    return re.sub(r"\b[a-z.]+\.(?=[A-Z])", "", text)  # without modules


def defaults(options: type) -> dict[str, Any]:
    """Return the default of each option that a TypedDict declares."""
    return {name: option.default for name, option in declared(options).items()}


def chosen_from(options: type, given: Mapping[str, Any]) -> Any:  # noqa: ANN401 - such a TypedDict
    """Return those of the given options that a TypedDict declares."""
    return {name: given[name] for name in declared(options)}


def checked_options(
    more: type | Mapping[str, object] | None = None,
    *,
    without: Collection[str] = (),
    check: bool = True,
    fill: bool = True,
    renamed: Mapping[str, str] | None = None,
    **changed: object,
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Complete a function that takes options: its signature, documentation and checks.

    The function takes them as ``**options``. Its signature and documentation show each of them,
    and it gets all of them, checked, with defaults for those that are not given. An unknown option
    is an error that suggests a known one.

    Parameters
    ----------
    more : TypedDict, mapping or None
        The declared options; or names and defaults of options without a declaration, which are
        neither checked nor filled in.
    without : collection of str
        Declared options that the function does not take.
    check : bool
        False if values are to be passed on unchecked.
    fill : bool
        False if the function is to get only those options that are given.
    renamed : mapping or None
        Old names of options, which still work, and the new ones.
    **changed
        Defaults that differ from the declared ones.

    Examples
    --------
    >>> @checked_options({"random_state": 0})
    ... def draw(number=1, **options): ...
    >>> draw(seed=3)
    Traceback (most recent call last):
    kes.errors.UnknownOption: draw() has no option 'seed'; did you mean random_state?
    >>> print(signature(draw))
    (number=1, *, random_state=0)
    """
    options = dict(declared(more)) if isinstance(more, type) else {}
    options = {name: option for name, option in options.items() if name not in without}
    for name, default in changed.items():
        options[name] = replace(options[name], default=default)
    values = {name: option.default for name, option in options.items()} if fill else {}
    plain = more if isinstance(more, Mapping) else {}

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        shown = _completed(signature(function), options, plain)
        known = set(shown.parameters) - {"self"}

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            given: dict[str, Any] = kwargs
            if not given.keys() <= known:
                given = _known(function.__name__, given, known, renamed or {})
            if check:
                given = {n: options[n].checked(v) if n in options else v for n, v in given.items()}
            return function(*args, **{**values, **given})

        call.__signature__ = shown  # type: ignore[attr-defined]
        call.__doc__ = documented(function.__doc__, options.values())
        return call

    return decorate


def documented(doc: str | None, options: Iterable[Option]) -> str | None:
    """Return a docstring with an entry for each option that it does not describe itself."""
    if doc is None:
        return None
    text = cleandoc(doc)
    section = _SECTION.search(text)
    if section is None:
        return text
    heads = re.findall(r"^\S.*?(?= : |$)", section[1], re.MULTILINE)
    described = {name.strip() for head in heads for name in head.split(",")}
    entries = [_entry(option) for option in options if option.name not in described]
    return "\n".join([text[: section.end()].rstrip(), *entries]) + text[section.end() :]


@cache
def _entry(option: Option) -> str:
    return option.entry()


def _completed(
    own: Signature, options: Mapping[str, Option], plain: Mapping[str, object]
) -> Signature:
    """Return a signature with options in the place of ``**options``."""
    shown = [p for p in own.parameters.values() if p.kind is not Parameter.VAR_KEYWORD]
    keyword = Parameter.KEYWORD_ONLY
    shown += [
        Parameter(option.name, keyword, default=option.default, annotation=option.annotation)
        for option in options.values()
    ]
    shown += [Parameter(name, keyword, default=default) for name, default in plain.items()]
    return own.replace(parameters=shown)


def _known(
    function: str, given: Mapping[str, Any], known: Iterable[str], renamed: Mapping[str, str]
) -> dict[str, Any]:
    """Return options under the names that a function knows."""
    found = {}
    for name, value in given.items():
        if name in renamed:
            new = renamed[name]
            warn_renamed(name, new, stacklevel=5)
            found[new] = value
        elif name not in known:
            raise _unknown(function, name, known)
        else:
            found[name] = value
    return found


def warn_renamed(old: str, new: str, *, stacklevel: int = 3) -> None:
    """Warn of an old name of an option, which works for one more version."""
    message = f"the option {old!r} is now called {new!r}"
    warnings.warn(message, DeprecationWarning, stacklevel=stacklevel)


def _unknown(function: str, name: str, known: Iterable[str]) -> UnknownOption:
    from difflib import get_close_matches  # takes milliseconds to import

    flags = {"seed": "random_state", "jobs": "n_jobs", **_OLD_NAMES}
    close = [flags.get(name, ""), *get_close_matches(name, sorted(known), n=1)]
    meant = next((other for other in close if other in known), None)
    advice = f"did you mean {meant}?" if meant else f"it has {', '.join(sorted(known))}"
    return UnknownOption(f"{function}() has no option {name!r}; {advice}", option=name)
