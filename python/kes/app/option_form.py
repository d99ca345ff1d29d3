"""The options of a search as data, so that the page can offer whatever is declared."""

from __future__ import annotations

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
_ELSEWHERE = ("target", "discretize")
"""Options that the page of the table has."""


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
        "label": option.name.replace("_", " "),
        "help": option.help,
        "doc": option.doc,
        "default": None if default is None else str(default),
        **_input(option),
    }


def _input(option: Option) -> dict[str, Any]:
    """Return the kind of input that follows from the check of an option."""
    check = option.check
    bounds = check.keywords if isinstance(check, partial) else {}
    function = check.func if isinstance(check, partial) else check
    if option.choices:
        return {"input": "choice", "choices": list(option.choices)}
    if function is boolean:
        return {"input": "switch"}
    if function in (check_improve, check_prove):
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
