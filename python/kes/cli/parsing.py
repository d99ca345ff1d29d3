"""Command-line parsing: values, lists, and suggestions for mistyped commands and options."""

import csv
import re
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from typing import Any

import click

from kes.data.discretizer import Discretizer
from kes.validation import duration

_SYNONYMS = {
    ("X",): "from cause treatment exposure",
    ("Y",): "to effect outcome",
    ("SOURCE",): "input i",
    ("--out", "TARGET"): "output outfile out-file file format save save-as to export o",
    ("--data", "DATA"): "input table file dataset data-file d i",
    ("MODEL", "RESULT", "SOURCE"): "network net bif graph dag from",
    ("--result", "RESULT", "MODEL"): "results optima",
    ("--resamples",): "samples bootstrap bootstraps replicates",
    ("--runs",): "restarts starts iterations iter repeats n-runs n",
    ("--rows",): "cases samples size count number n-rows n-samples num-samples n",
    ("--optimum",): "best rank index which",
    ("--seed",): "random-state random-seed rng s",
    ("--jobs",): "n-jobs threads cores cpus workers processes j",
    ("--budget",): "time time-limit timeout max-time seconds limit t",
    ("--criterion",): "score scoring metric measure",
    ("--ess",): "iss alpha equivalent-sample-size sample-size",
    ("--prior",): "smoothing smooth pseudo-count pseudocount laplace",
    ("--missing",): "na na-values na-strings nan null impute",
    ("--discretize",): "bins cut cuts intervals quantiles",
    ("--sep",): "delimiter delim separator",
    ("--drop",): "exclude ignore omit skip remove without",
    ("--columns",): "include select use variables vars only",
    ("--continuous",): "numeric numerical numbers float",
    ("--discrete",): "categorical category factor nominal kinds",
    ("--max-parents",): "parents indegree max-indegree max-degree",
    ("--forbid",): "blacklist forbidden",
    ("--require",): "whitelist required",
    ("--tiers",): "order layers",
    ("--no-progress",): "quiet silent q",
    ("--progress",): "verbose v",
    ("--target",): "outcome response label class y",
    ("QUESTIONS",): "query question evidence given target ask q",
}
"""Options and arguments, and the words that other programs, Python and earlier versions use for
them. A command is searched for them in this order."""

_COMMAND_SYNONYMS = {
    "query": "infer inference ask probability posterior",
    "predict": "classify regress forecast",
    "learn": "search run discover ges",
    "fit": "estimate parameters",
    "edges": "arcs evidence strength",
    "report": "html show view summary",
    "sample": "simulate draw generate",
    "score": "likelihood loglik bic evaluate",
    "stability": "bootstrap resample confidence",
    "noise": "shuffle permute permutation null chance",
    "compare": "diff shd distance",
    "convert": "export save",
    "certify": "prove proof exact optimal",
    "audit": "check describe inspect",
}


# --- types of values -----------------------------------------------------------------------------


class Number(click.FloatRange):
    """A number with a decimal point."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Parse the number; explain what is wrong with a decimal comma."""
        if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d*,\d+\s*", value):
            point = value.strip().replace(",", ".")
            self.fail(f"{value!r} has a decimal comma; write {point}.", param, ctx)
        number: float = super().convert(value, param, ctx)
        return number


class Integer(click.IntRange):
    """An integer."""

    name = "integer"


class NameOrNumber(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.4
    """A name or a number, checked as the option of the same name."""

    name = "value"

    def __init__(self, check: Callable[[str, object], Any]) -> None:
        self._check = check

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Any:  # noqa: ANN401 - as the option is annotated
        """Parse what looks like a number; names are left to the check."""
        if isinstance(value, str) and re.match(r"\s*[-+.,\d]", value):
            parsed = Number().convert(value, param, ctx)
            value = int(parsed) if float(parsed).is_integer() else parsed
        return self._check(str(param.name) if param else "value", value)


class Duration(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.4
    """A duration, in seconds."""

    name = "duration"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Parse 90, 30s, 5m or 1h30m."""
        return duration(str(param.name) if param else "duration", value)


# --- suggestions ---------------------------------------------------------------------------------


def no_such_command(given: str, known: Sequence[str], ctx: click.Context) -> click.UsageError:
    """Return the error for an unknown command, with a suggestion."""
    same = (name for name, words in _COMMAND_SYNONYMS.items() if given.lower() in words.split())
    return _no_such("command", given, _advice(next(same, _closest(given, known))), ctx)


def no_such_option(given: str, command: click.Command, ctx: click.Context) -> click.UsageError:
    """Return the error for an unknown option of a command, with a suggestion."""
    params = command.get_params(ctx)
    own = [flag for param in params for flag in (*param.opts, *param.secondary_opts)]
    flags = [flag for flag in own if flag.startswith("--")]
    arguments = [param for param in params if isinstance(param, click.Argument)]
    named = {str(argument.name).upper(): argument for argument in arguments}
    for candidate in _candidates(given):
        if candidate in flags:
            return _no_such("option", given, _advice(candidate), ctx)
        if candidate in named:
            order = " ".join(argument.make_metavar(ctx) for argument in arguments)
            name = named[candidate].make_metavar(ctx).strip("[]")
            advice = f" {name} is given without an option: {ctx.command_path} {order}"
            return _no_such("option", given, advice, ctx)
    return _no_such("option", given, _advice(_closest(given, flags)), ctx)


def _candidates(given: str) -> list[str]:
    """Return options and arguments that a word may stand for, the most probable first."""
    word = given.strip("-").lower().replace("_", "-")
    synonyms = [names for names, words in _SYNONYMS.items() if word in words.split()]
    same = [names for names in _SYNONYMS if f"--{word}" in names]  # the word of other commands
    own = (f"--{word}", word.upper())
    return [*own, *(name for names in (*same, *synonyms) for name in names)]


def _closest(given: str, known: Sequence[str]) -> str | None:
    by_word = {name.strip("-"): name for name in known}  # hyphens would make all look alike
    close = get_close_matches(given.strip("-").lower(), by_word, n=1)
    return by_word[close[0]] if close else None


def _advice(suggestion: str | None) -> str:
    return f" Did you mean '{suggestion}'?" if suggestion else ""


def _no_such(what: str, given: str, advice: str, ctx: click.Context) -> click.UsageError:
    return click.UsageError(f"No such {what} '{given}'.{advice}", ctx)


# --- lists ----------------------------------------------------------------------------------------


def split_list(given: Iterable[str]) -> list[str]:
    """Split lists at commas, except within double quotes."""
    return [word for text in given for row in csv.reader(text.splitlines()) for word in row if word]


def discretizer_of(given: str | None) -> Discretizer | None:
    """Return the discretizer of all continuous columns, or of the named ones."""
    if given is None:
        return None
    if re.fullmatch(r"[0-9]+", given):
        return Discretizer(int(given))
    pairs = [word.rpartition("=") for word in split_list([given])]
    if all(name and re.fullmatch(r"[0-9]+", bins) for name, _, bins in pairs):
        return Discretizer({name: int(bins) for name, _, bins in pairs})
    if (cuts := _cut_points(given)) is not None:
        return Discretizer.checked(cuts)
    raise click.UsageError(
        f"--discretize {given}: give a number of intervals, such as 3, one for each of several "
        "columns, such as age=5,dose=3, or their cut points, such as age@18/65,dose@2.5."
    )


def _cut_points(given: str) -> dict[str, list[float]] | None:
    """Return the cut points in age@18/65,dose@2.5; None if it is no list of these."""
    places = [word.rpartition("@") for word in split_list([given])]
    try:
        cuts = {name: [float(cut) for cut in own.split("/") if cut] for name, _, own in places}
    except ValueError:
        return None
    return cuts if all(cuts) else None
