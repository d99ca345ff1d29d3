"""What several of the tests need: a table as any library would hold it."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

FRAMES = {
    "pandas": pd.DataFrame,
    "pandas objects": lambda columns: pd.DataFrame(columns, dtype=object),
    "polars": pl.DataFrame,
    "polars lazy": lambda columns: pl.DataFrame(columns).lazy(),
    "pyarrow": pa.table,
}


@pytest.fixture(params=FRAMES)
def frame(request):
    """Make a data frame of a dictionary of columns."""
    return FRAMES[request.param]
