"""Putting coded columns back into a table, as the categories of its own library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kes.errors import KesError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa

DataT = TypeVar("DataT")


class Ordered(NamedTuple):
    """A column of ordered categories: their labels, and each row's index into them or -1."""

    labels: Sequence[str]
    codes: NDArray[np.int32]


def replace_columns(data: DataT, columns: Mapping[int, Ordered]) -> DataT:
    """Return a table of the same kind in which some columns, given by position, are new."""
    native: Any = data
    result: DataT = _way(native)(native, columns)
    return result


def _way(native: Any) -> Callable[[Any, Mapping[int, Ordered]], Any]:  # noqa: ANN401
    import narwhals as nw

    if isinstance(native, np.ndarray):
        return _in_array
    implementation = nw.from_native(native).implementation
    if implementation.is_pandas_like():
        return _in_pandas
    if implementation.is_polars():
        return _in_polars
    if implementation.is_pyarrow():
        return _in_arrow
    raise KesError(f"cannot put categories into a table of type {type(native).__name__}")


def _in_array(array: NDArray[Any], columns: Mapping[int, Ordered]) -> NDArray[Any]:
    gaps = any((column.codes < 0).any() for column in columns.values())
    kind = np.float64 if gaps else np.int64 if array.dtype.kind == "b" else array.dtype
    result = array.astype(kind)  # a copy
    for index, (_, codes) in columns.items():
        result[:, index] = np.where(codes < 0, np.nan, codes) if gaps else codes
    whole = np.isfinite(result).all() and np.array_equal(result, np.rint(result))
    return result.astype(np.int64) if whole else result


def _in_pandas(frame: pd.DataFrame, columns: Mapping[int, Ordered]) -> pd.DataFrame:
    import pandas as pd

    result = frame.copy(deep=False)
    for index, (labels, codes) in columns.items():
        categories = pd.Categorical.from_codes(codes, categories=pd.Index(labels), ordered=True)
        result.isetitem(index, categories)
    return result


def _in_polars(frame: pl.DataFrame, columns: Mapping[int, Ordered]) -> pl.DataFrame:
    import polars as pl

    names = frame.collect_schema().names()  # the frame may be lazy
    return frame.with_columns(
        pl.Series(names[index], [*labels, None], dtype=pl.Enum(labels)).gather(codes)
        for index, (labels, codes) in columns.items()
    )


def _in_arrow(table: pa.Table, columns: Mapping[int, Ordered]) -> pa.Table:
    import pyarrow as pa

    for index, (labels, codes) in columns.items():
        indices = pa.array(codes, mask=codes < 0)
        array = pa.DictionaryArray.from_arrays(indices, pa.array(labels), ordered=True)
        table = table.set_column(index, table.column_names[index], array)
    return table
