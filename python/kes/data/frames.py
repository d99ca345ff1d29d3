"""Columns of data frames, read through narwhals, or natively where that is faster.

Categorical types declare states only if their order is meaningful: pandas categories, polars Enum,
ordered arrow dictionaries. A polars Categorical and other arrow dictionaries are compressed text,
unless the metadata says that they come from pandas.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from kes.data import factor as factors
from kes.data import raw_columns
from kes.data.factor import Factor
from kes.data.raw_columns import Dates, Numbers, Raw
from kes.data.source import Source, check_distinct
from kes.errors import KesError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa
    from narwhals.typing import IntoFrame


_LONG = (nw.Int128, nw.UInt128)  # numpy has no such integers


def open_frame(data: IntoFrame) -> Frame:
    """Open a data frame of any library that narwhals supports."""
    try:
        frame = nw.from_native(data)
    except nw.exceptions.DuplicateError:
        check_distinct([str(name) for name in getattr(data, "column_names", data.columns)])
        raise
    except TypeError:
        raise KesError(
            f"cannot read data of type {type(data).__name__}; pass a pandas or polars DataFrame, a "
            "pyarrow Table, a two-dimensional numpy array, or the path of a CSV or Parquet file",
            option="data",
        ) from None
    return Frame(frame.collect() if isinstance(frame, nw.LazyFrame) else frame)


class Frame(Source):
    """A data frame."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.names = [str(name) for name in frame.columns]
        self.rows = len(frame)
        self._columns = list(frame.iter_columns())
        self._dtypes = list(frame.schema.values())
        self._declared = (
            categories_of_pandas(frame.to_native().schema)
            if frame.implementation.is_pyarrow()
            else frozenset()
        )

    def column(self, index: int, absent: frozenset[str]) -> Raw:
        """Read a column by its type."""
        column = self._columns[index]
        return _read(column, self._dtypes[index], column.name in self._declared).without(absent)


def categories_of_pandas(schema: pa.Schema) -> frozenset[str]:
    """Find the columns of an arrow table or Parquet file that pandas wrote as categories.

    The metadata may be anything, as any program can write them; what is malformed is ignored.
    """
    try:
        notes = schema.pandas_metadata
    except (ValueError, RecursionError):  # not JSON, or nested too deeply
        return frozenset()
    columns = notes.get("columns") if isinstance(notes, dict) else None
    return frozenset(
        str(column.get("field_name"))
        for column in (columns if isinstance(columns, list) else ())
        if isinstance(column, dict) and column.get("pandas_type") == "categorical"
    )


def _read(column: nw.Series[Any], dtype: nw.dtypes.DType, declared: bool) -> Raw:
    if dtype.is_integer() and dtype not in _LONG:
        values, missing = _filled(column, 0)
        return Numbers(values, None if missing is None or not missing.any() else ~missing)
    if dtype == nw.Boolean:
        return factors.from_booleans(*_filled(column, False))
    if dtype.is_float() or dtype.is_decimal():
        array = column.to_numpy()
        floats = array if array.dtype.kind == "f" else column.cast(nw.Float64).to_numpy()
        return Numbers.of_floats(floats.astype(np.float64, copy=False))
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return _text(column) if dtype == nw.String else _categories(column, declared)
    if dtype.is_temporal():
        array = column.to_numpy()
        objects = array.dtype.kind not in "mM"
        return Dates(np.array(column.to_list(), dtype=object) if objects else array)
    return _untyped(column, dtype)


def _untyped(column: nw.Series[Any], dtype: nw.dtypes.DType) -> Raw:
    """Read Python objects, and types that narwhals does not know, as numpy arrays."""
    if dtype in _LONG:
        return raw_columns.from_objects(column.to_list())
    if dtype not in (nw.Object, nw.Unknown):
        raise raw_columns.unsupported(f"type {dtype}")
    if column.null_count() == len(column):
        return factors.nothing(len(column))
    return raw_columns.from_array(column.to_numpy())


def _filled(column: nw.Series[Any], value: int) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
    """Return the values, `value` where they are missing, and which are missing."""
    array = column.to_numpy()
    if array.dtype.kind in "biu":  # these types have no missing values
        return array, None
    return column.fill_null(value).to_numpy(), column.is_null().to_numpy()


def _text(column: nw.Series[Any]) -> Raw:
    if column.implementation.is_polars():
        return _polars_text(column.to_native())
    if column.implementation.is_pandas_like():
        return _pandas_text(column.to_native())
    return _arrow_dictionary(column.to_arrow().dictionary_encode())


def _categories(column: nw.Series[Any], declared: bool) -> Raw:
    native = column.to_native()
    if column.implementation.is_polars():
        return _polars_enum(native) if column.dtype == nw.Enum else _polars_text(native)
    if column.implementation.is_pandas_like() and hasattr(native, "cat"):
        return factors.from_categories(native.cat.categories.tolist(), native.array.codes)
    return _arrow_dictionary(column.to_arrow(), declared)


def _pandas_text(series: pd.Series[Any]) -> Raw:
    codes, distinct = series.factorize()
    values = [value for value in distinct.tolist() if isinstance(value, str)]
    if len(values) == len(distinct):
        return factors.from_text(values, codes)
    return raw_columns.from_objects(series.tolist())  # narwhals looks at the first rows only


def _polars_enum(series: pl.Series) -> Factor:
    import polars as pl

    assert isinstance(series.dtype, pl.Enum)
    codes = series.to_physical().cast(pl.Int32).fill_null(-1).to_numpy()
    return factors.from_categories(series.dtype.categories.to_list(), codes)


def _polars_text(series: pl.Series) -> Factor:
    """Code text or Categorical by the physical codes of polars."""
    import polars as pl

    physical = series.cast(pl.Categorical).to_physical()
    missing = None
    if physical.null_count():
        missing, physical = physical.is_null().to_numpy(), physical.fill_null(0)
    factor = factors.from_integers(physical.to_numpy(), missing)
    some_row = np.zeros(len(factor.values) + 1, dtype=np.int64)  # the last is for -1
    some_row[factor.codes] = np.arange(len(series))
    texts = series[some_row[:-1]].cast(pl.String).to_list()
    return factors.from_text(texts, factor.codes)


def _arrow_dictionary(array: pa.DictionaryArray, declared: bool = False) -> Raw:
    import pyarrow as pa

    codes = array.indices.cast(pa.int32()).fill_null(-1).to_numpy(zero_copy_only=False)
    values = array.dictionary.to_pylist()
    if array.type.ordered or declared:
        return factors.from_categories(values, codes)
    return raw_columns.from_dictionary(values, codes)


# --- replacing columns ---------------------------------------------------------------------------


def replace_columns(data: Any, columns: Mapping[int, Factor]) -> Any:  # noqa: ANN401
    """Return a table of the same type with ordered categories, of text, at some positions."""
    if isinstance(data, np.ndarray):
        return _in_array(data, columns)
    implementation = nw.from_native(data).implementation
    if implementation.is_pandas_like():
        return _in_pandas(data, columns)
    if implementation.is_polars():
        return _in_polars(data, columns)
    if implementation.is_pyarrow():
        return _in_arrow(data, columns)
    raise KesError(f"tables of type {type(data).__name__} are not supported", option="data")


def _in_array(array: NDArray[Any], columns: Mapping[int, Factor]) -> NDArray[Any]:
    gaps = any((column.codes < 0).any() for column in columns.values())
    kind = np.float64 if gaps else np.int64 if array.dtype.kind == "b" else array.dtype
    result = array.astype(kind)  # a copy
    for index, column in columns.items():
        codes = column.codes
        result[:, index] = np.where(codes < 0, np.nan, codes) if gaps else codes
    whole = np.isfinite(result).all() and np.array_equal(result, np.rint(result))
    return result.astype(np.int64) if whole else result


def _in_pandas(frame: pd.DataFrame, columns: Mapping[int, Factor]) -> pd.DataFrame:
    import pandas as pd

    result = frame.copy(deep=False)
    for index, column in columns.items():
        kind = pd.CategoricalDtype(pd.Index(column.values), ordered=True)
        result.isetitem(index, pd.Categorical.from_codes(column.codes, dtype=kind))
    return result


def _in_polars(frame: pl.DataFrame, columns: Mapping[int, Factor]) -> pl.DataFrame:
    import polars as pl

    names = frame.collect_schema().names()  # the frame may be lazy
    return frame.with_columns(
        pl.Series(names[i], [*one.values, None], pl.Enum(map(str, one.values))).gather(one.codes)
        for i, one in columns.items()
    )


def _in_arrow(table: pa.Table, columns: Mapping[int, Factor]) -> pa.Table:
    import pyarrow as pa

    for index, column in columns.items():
        indices = pa.array(column.codes.astype(np.int32), mask=column.codes < 0)
        array = pa.DictionaryArray.from_arrays(indices, pa.array(column.values), ordered=True)
        table = table.set_column(index, table.column_names[index], array)
    return table
