"""Data frames: pandas, polars, pyarrow and others supported by narwhals."""

from __future__ import annotations

from dataclasses import replace

import narwhals.stable.v2 as nw
import numpy as np

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.numeric_table import unique_names
from sklearn_textbook._contract.tables import refuse_lazy_tables
from sklearn_textbook.tree.encode._rank import number_objects
from sklearn_textbook.tree.encode.arrays import column_from_array, require_size
from sklearn_textbook.tree.encode.columns import (
    BOOLEAN,
    CATEGORY,
    NULL,
    NUMBER,
    STRING,
    Column,
    complex_error,
    factorize_array,
    unsupported_error,
)
from sklearn_textbook.tree.encode.objects import unify_levels

#: Columns that are all of one of them are a matrix.
FLOAT_DTYPES = (np.dtype(np.float64), np.dtype(np.float32))


def is_frame(X):
    """Return whether X is a data frame supported by narwhals."""
    return nw.dependencies.is_into_dataframe(X)


def require_frame_or_array(X) -> None:
    """Raise for containers that look like tables but cannot be read as such."""
    if nw.dependencies.is_into_series(X):
        raise ValueError(
            f"Expected a 2-dimensional container but got {type(X)} instead. Pass a "
            "data frame with a single row or a single column instead."
        )
    if not isinstance(X, (list, tuple)):
        refuse_lazy_tables(X)


def find_names(columns):
    """Return the names of the columns, None if they are not strings."""
    are_strings = [isinstance(name, str) for name in columns]
    if all(are_strings):
        return tuple(str(name) for name in columns)
    if any(are_strings):
        types = sorted({type(name).__qualname__ for name in columns})
        raise TypeError(
            "Feature names are only supported if all input features have string names, "
            f"but your input has {types} as feature name / column name types."
        )
    return None


class FrameTable:
    """A data frame.

    Parameters
    ----------
    X : data frame
        A frame in memory.
    """

    source = None

    def __init__(self, X) -> None:
        with unique_names():
            self.frame = nw.from_native(X, eager_only=True)
            self.columns = self.frame.columns
        require_size(self.frame.shape)
        self.n_rows, self.n_columns = self.frame.shape
        self.names = find_names(self.columns)

    @cached_property
    def pandas_dtypes(self):
        """The dtypes of the columns of a frame of pandas; empty for any other."""
        is_pandas = self.frame.implementation.is_pandas()
        return list(self.frame.to_native().dtypes) if is_pandas else []

    @cached_property
    def pandas_columns(self):
        """The columns of a frame of pandas."""
        return [column for _, column in self.frame.to_native().items()]

    def read_matrix(self):
        """Return all columns as numbers if they share one float dtype, else None."""
        # Dtypes of categories are not hashed, which takes all their levels.
        if self.pandas_dtypes:
            first, *others = self.pandas_dtypes
            if first in FLOAT_DTYPES and all(other == first for other in others):
                return self.frame.to_native().to_numpy()
        dtypes = set(self.frame.schema.dtypes())
        if len(dtypes) > 1 or not dtypes <= {nw.Float64(), nw.Float32()}:
            return None
        matrix = self.frame.to_numpy()
        # A frame with both null and NaN may be converted to objects.
        return matrix if matrix.dtype in (np.float64, np.float32) else None

    def read_column(self, position, name, as_levels: bool = False):
        """Return one column."""
        # Most columns of pandas are arrays; narwhals' steps would take longer than the
        # prediction of a row.
        dtype = self.pandas_dtypes[position] if self.pandas_dtypes else None
        if isinstance(dtype, np.dtype) and dtype.kind in "biuf":
            array = self.pandas_columns[position].to_numpy()
            return column_from_array(array, name, as_levels)
        series = self.frame.get_column(self.columns[position])
        return column_from_series(series, name, as_levels)

    def read_series(self, position):
        """Return one column as it is in the frame."""
        return self.frame.get_column(self.columns[position]).to_native()


def column_from_series(series, name: str, as_levels: bool = False) -> Column:
    """Read a column from a narwhals series."""
    dtype = series.dtype
    if dtype.is_nested():
        raise unsupported_error(name, f"the nested dtype {dtype}")
    if dtype in (nw.Categorical, nw.Enum):
        return column_from_categories(series, name)
    if dtype == nw.String:
        codes, levels = factorize_strings(series)
        return Column(name, STRING, codes=codes, levels=levels)
    if dtype == nw.Boolean or dtype.is_numeric():
        return column_from_numbers(series, name, as_levels)
    if dtype.is_temporal():
        column = column_from_array(series.to_numpy(), name, as_levels)
        return replace(column, time_zone=getattr(dtype, "time_zone", None))
    if dtype in (nw.Object, nw.Binary):
        return column_from_array(series.to_numpy(), name, as_levels)
    return column_from_unknown(series, name, as_levels)


def column_from_numbers(series, name, as_levels):
    """Read a column from a series of numbers or booleans, possibly with nulls."""
    source = BOOLEAN if series.dtype == nw.Boolean else NUMBER
    if as_levels and (source == BOOLEAN or series.dtype.is_integer()):
        # Large integers would not stay distinct as float64.
        is_missing = series.is_null().to_numpy()
        values = series.fill_null(0 if source == NUMBER else False).to_numpy()
        codes, levels = factorize_array(values, name, is_missing)
        return Column(name, source, codes=codes, levels=levels)
    numbers = series.cast(nw.Float64).to_numpy()
    if as_levels:
        codes, levels = factorize_array(numbers, name)
        return Column(name, source, codes=codes, levels=levels)
    return Column(name, source, numbers=numbers)


def has_objects(dtype):
    """Return whether pandas keeps strings of a dtype as Python objects."""
    return isinstance(dtype, np.dtype) or getattr(dtype, "storage", "") == "python"


def factorize_strings(series):
    """Codes and distinct values of a series of strings, missing as -1."""
    native = series.to_native()
    if series.implementation.is_pandas_like():
        numbers = None
        if series.implementation.is_pandas() and has_objects(native.dtype):
            numbers, first_rows = number_objects(native.to_numpy()) or (None, None)
        if numbers is None:
            codes, levels = native.factorize()
            codes = np.asarray(codes)
        else:
            codes, levels = native.iloc[first_rows].factorize()
            codes = codes[numbers]
        return codes, [str(level) for level in levels]
    if series.implementation.is_pyarrow():
        codes, levels, _ = read_dictionary(native.dictionary_encode())
        return codes, levels
    return factorize_polars(series)


def factorize_polars(series):
    """Codes and distinct values of polars' strings or categories, missing as -1."""
    native = series.cast(nw.Categorical).to_native()
    # polars numbers the categories of all frames together, not only those present.
    present = native.drop_nulls().unique()
    numbers = present.to_physical().to_numpy()
    size = int(numbers.max(initial=0)) + 1
    codes = np.full(size + 1, -1, dtype=np.int64)
    codes[numbers] = np.arange(len(numbers))
    return codes[native.to_physical().fill_null(size).to_numpy()], present.to_list()


def read_dictionary(native):
    """Codes, categories and whether these are ordered, of pyarrow's dictionary type."""
    positions, codes = {}, []
    for chunk in native.chunks:  # each has a dictionary of its own
        mapping = [
            positions.setdefault(category, len(positions))
            if category is not None and category == category
            else -1
            for category in chunk.dictionary.to_pylist()
        ]
        indices = chunk.indices.cast("int64").fill_null(-1).to_numpy()
        codes.append(np.array([*mapping, -1])[indices])
    return np.concatenate(codes), list(positions), native.type.ordered


def read_categories(series):
    """Codes, categories and whether these are ordered, of a categorical series."""
    native = series.to_native()
    if hasattr(native, "cat") and series.implementation.is_pandas_like():
        categories = native.array
        if hasattr(categories, "codes"):
            levels = native.dtype.categories.tolist()
            return categories.codes, levels, categories.ordered
    if series.implementation.is_polars() and series.dtype == nw.Enum:
        codes = native.to_physical().cast(int).fill_null(-1).to_numpy()
        return codes, native.dtype.categories.to_list(), True
    if series.implementation.is_polars():
        codes, levels = factorize_polars(series)
        order = np.argsort(np.array(levels, dtype=object))
        ranks = np.append(np.argsort(order), -1)
        return ranks[codes], [levels[i] for i in order], False
    if series.implementation.is_pandas_like():
        native = native.array.__arrow_array__()
    return read_dictionary(native)


def column_from_categories(series, name):
    """Read a column from a categorical series; all declared categories are levels."""
    codes, categories, is_ordered = read_categories(series)
    codes, levels = unify_levels(codes, categories, name)
    return Column(
        name, CATEGORY, codes=codes, levels=levels, is_ordered=bool(is_ordered)
    )


def column_from_unknown(series, name, as_levels):
    """Read a column of a dtype unknown to narwhals."""
    native = series.to_native()
    if len(series) == series.null_count():
        return Column(name, NULL, numbers=np.full(len(series), np.nan))
    if hasattr(native, "sparse"):
        return column_from_array(native.sparse.to_dense().to_numpy(), name, as_levels)
    dtype = getattr(native, "dtype", getattr(native, "type", None))
    if getattr(dtype, "kind", "") == "c" and isinstance(dtype, np.dtype):
        raise complex_error(name)
    if "binary" in str(dtype):
        return column_from_array(
            np.array(series.to_list(), dtype=object), name, as_levels
        )
    raise unsupported_error(name, f"dtype {dtype}")
