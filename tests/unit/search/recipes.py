"""Follow the recipes of a result: its Python call and its command give it again."""

from pathlib import Path

import pandas as pd
import pytest

import kes
from kes.cli import run
from kes.show.report.recipe import command_line, python_call


def check_recipes(
    optima: kes.Optima, table: pd.DataFrame, folder: Path, patch: pytest.MonkeyPatch
) -> list[str]:
    """Learn again from both, in a folder with ``data.csv``; return the options of the command."""
    scope = {"kes": kes, "data": table}
    exec(python_call(optima), scope)
    assert scope["optima"] == optima
    patch.chdir(folder)
    table.to_csv("data.csv", index=False)
    words = command_line(optima).split()[2:-2]
    assert run(["learn", *words, "--out", "b.json"]) == 0
    assert kes.load("b.json").settings == optima.settings
    return words
