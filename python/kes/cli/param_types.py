"""Values of options: numbers, times, and how to smooth."""

from __future__ import annotations

import re
from typing import Any

import click

from kes.options import Prior
from kes.validation import duration

_PRIORS = ("bdeu", "ml")


class Number(click.FloatRange):
    """A number, with a decimal point."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Read the number; a comma in it gets an explanation."""
        if isinstance(value, str) and re.fullmatch(r"\s*[+-]?\d*,\d+\s*", value):
            point = value.strip().replace(",", ".")
            self.fail(f"{value!r} has a decimal comma; write {point}, with a point.", param, ctx)
        number: float = super().convert(value, param, ctx)
        return number


class Whole(click.IntRange):
    """A whole number."""

    name = "whole number"


class PriorName(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.4
    """How to smooth: a name or a number."""

    name = "prior"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Prior:
        """Read a name, or a number of cases."""
        if value in _PRIORS:
            chosen: Prior = value
            return chosen
        return Number(min=0, min_open=True).convert(value, param, ctx)


class Time(click.ParamType):  # type: ignore[type-arg]  # it has none before click 8.4
    """A length of time, in seconds."""

    name = "time"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click has it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """Read 90, 30s, 5m or 1h30m."""
        return duration(str(param.name) if param else "time", value)
