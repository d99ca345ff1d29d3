"""A table in the forms in which users have it."""

from pathlib import Path
from typing import Any

import pandas as pd
import pytest


def as_form(table: pd.DataFrame, form: str, folder: Path) -> Any:
    """Return a table as a frame of another library, or as a file in a folder."""
    match form:
        case "pandas":
            return table
        case "polars":
            return pytest.importorskip("polars").from_pandas(table)
        case "pyarrow":
            return pytest.importorskip("pyarrow").Table.from_pandas(table)
        case "csv":
            table.to_csv(folder / "table.csv", index=False)
            return folder / "table.csv"
        case "parquet":
            pytest.importorskip("pyarrow")
            table.to_parquet(folder / "table.parquet")
            return folder / "table.parquet"
    raise AssertionError(form)
