"""The options of a search as data, so that the page can offer whatever is declared."""

from __future__ import annotations

import re
from functools import partial
from typing import Any

from kes.app.drafts import form_options
from kes.declare import GROUPS, Option
from kes.options import check_improve, check_prove
from kes.options.values import check_names
from kes.validation import boolean, duration, integer, jobs, megabytes, number, seed

_TITLES = {
    "runs": "How much to search",
    "criterion": "The score",
    "model": "Which networks are allowed",
    "search": "How to search",
    "data": "The table",
    "execution": "Seed and machine",
}
_ELSEWHERE = ("target", "discretize", "contexts")
"""Options that the pages of the table and of knowledge have."""

_LABELS = {
    "k": "Greediness (k)",
    "runs": "Number of runs",
    "improve": "Improve after the runs",
    "prove": "Prove the best",
    "budget": "Time limit",
    "patience": "Patience (runs)",
    "ess": "Equivalent sample size",
    "transform": "Transform numbers",
    "basis": "Curves",
    "edge_prior": "Price of an edge",
    "gamma": "Gamma of the price ebic",
    "max_parents": "Maximum number of parents",
    "two_phase": "Insert first, then delete",
    "neighbourhood": "Neighbours",
    "random_state": "Seed",
    "n_jobs": "Threads",
    "cache_mb": "Memory for counts (MB)",
    "keep_imputed": "Keep imputed values",
}
"""Labels of options on the page; other options keep their Python names."""

_IN_WORDS = {
    "Number of runs, including those already in the --out file.": "Number of runs in all.",
    "With --missing em: ": "If missing cells are filled in: ",
    "--edge-prior ebic": "the price ebic",
    "without --runs, ": "unless the runs are given, ",
}
"""Passages about flags that the page does not have."""
_FLAG = re.compile(r" ?--([a-z-]+)")


def option_form() -> list[dict[str, Any]]:
    """Return the groups of options, each with its title and its options."""
    offered = [one for name, one in form_options().items() if name not in _ELSEWHERE]
    groups = [
        {
            "title": _TITLES.get(group, group.capitalize()),
            "options": [_field(option) for option in offered if option.group == group],
        }
        for group in GROUPS
    ]
    return [group for group in groups if group["options"]]


def _field(option: Option) -> dict[str, Any]:
    default = option.default_text or option.default
    return {
        "name": option.name,
        "label": _label(option.name),
        "help": _without_flags(option.help or ""),
        "doc": option.doc,
        "default": None if default is None else _without_flags(str(default)),
        **_input(option),
    }


def _label(name: str) -> str:
    return _LABELS.get(name, name.replace("_", " ").capitalize())


def _without_flags(text: str) -> str:
    """Return a text that names options as the page does, where the shell has flags."""
    for flag, words in _IN_WORDS.items():
        text = text.replace(flag, words)
    flags = {
        option.flag or "--" + name.replace("_", "-"): name
        for name, option in form_options().items()
    }
    return _FLAG.sub(lambda found: f" “{_label(flags.get(found[0].strip(), found[1]))}”", text)


def _input(option: Option) -> dict[str, Any]:
    """Return the kind of input that follows from the check of an option."""
    check = option.check
    bounds = check.keywords if isinstance(check, partial) else {}
    function = check.func if isinstance(check, partial) else check
    if option.choices:
        return {"input": "choice", "choices": list(option.choices)}
    if function is boolean and not option.default:
        return {"input": "switch"}
    if function in (boolean, check_improve, check_prove):
        return {"input": "choice", "choices": [True, False], "names": ["yes", "no"]}
    if function in (integer, jobs, megabytes, seed):
        least = bounds.get("minimum", 0 if function is seed else 1)
        return {"input": "number", "least": least, "step": 1}
    if function is number:
        return {
            "input": "number",
            "least": bounds.get("minimum", bounds.get("above")),
            "most": bounds.get("maximum"),
            "step": "any",
        }
    hint = "such as 30s, 5m, 1h30m" if function is duration else option.metavar or ""
    return {"input": "names" if function is check_names else "text", "hint": hint}
