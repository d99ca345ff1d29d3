"""What is probably meant by a command or an option that there is not."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

import click

_MEANT = {
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
    ("QUESTIONS",): "query question evidence given target ask q",
}
"""Options and arguments, in the order in which a command is searched for them, and words that other
programs, Python and earlier versions have for them."""


_COMMANDS = {
    "query": "predict infer inference ask probability posterior classify",
    "learn": "search run discover ges",
    "fit": "estimate parameters",
    "edges": "arcs evidence strength",
    "report": "html show view summary",
    "sample": "simulate draw generate",
    "score": "likelihood loglik bic evaluate",
    "stability": "bootstrap resample confidence",
    "compare": "diff shd distance",
    "convert": "export save",
    "certify": "prove proof exact optimal",
    "audit": "check describe inspect",
}
"""Commands, and words that others have for them."""


def no_such_command(given: str, known: Sequence[str], ctx: click.Context) -> click.UsageError:
    """Error for a command that there is not, with the one that is probably meant."""
    meant = (command for command, words in _COMMANDS.items() if given.lower() in words.split())
    return _no_such("command", given, _advice(next(meant, _closest(given, known))), ctx)


def no_such_option(given: str, command: click.Command, ctx: click.Context) -> click.UsageError:
    """Error for an option that a command does not have, with what is probably meant."""
    params = command.get_params(ctx)
    own = [flag for param in params for flag in (*param.opts, *param.secondary_opts)]
    flags = [flag for flag in own if flag.startswith("--")]
    arguments = [param for param in params if isinstance(param, click.Argument)]
    named = {str(argument.name).upper(): argument for argument in arguments}
    for meant in _synonyms(given):
        if meant in flags:
            return _no_such("option", given, _advice(meant), ctx)
        if meant in named:
            order = " ".join(argument.make_metavar(ctx) for argument in arguments)
            name = named[meant].make_metavar(ctx).strip("[]")
            advice = f" {name} is given without an option: {ctx.command_path} {order}"
            return _no_such("option", given, advice, ctx)
    return _no_such("option", given, _advice(_closest(given, flags)), ctx)


def _synonyms(given: str) -> list[str]:
    word = given.strip("-").lower().replace("_", "-")
    meant = [names for names, words in _MEANT.items() if word in words.split()]
    same = [names for names in _MEANT if f"--{word}" in names]  # the word of other commands
    own = (f"--{word}", word.upper())
    return [*own, *(name for names in (*same, *meant) for name in names)]


def _closest(given: str, known: Sequence[str]) -> str | None:
    by_word = {name.strip("-"): name for name in known}  # hyphens would make all look alike
    close = get_close_matches(given.strip("-").lower(), by_word, n=1)
    return by_word[close[0]] if close else None


def _advice(meant: str | None) -> str:
    return f" Did you mean '{meant}'?" if meant else ""


def _no_such(what: str, given: str, advice: str, ctx: click.Context) -> click.UsageError:
    return click.UsageError(f"No such {what} '{given}'.{advice}", ctx)
