"""Reading the training table: the schema of its columns, numbers and codes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy import sparse

from sklearn_textbook._contract.blocks import StoredTable
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import read_feature_names
from sklearn_textbook.tree.encode.arrays import ArrayTable, SparseTable
from sklearn_textbook.tree.encode.columns import (
    CATEGORY,
    MIXED,
    NOMINAL,
    NUMBER,
    NUMERIC,
    ORDINAL,
    STRING,
)
from sklearn_textbook.tree.encode.convert import is_number, parse_levels
from sklearn_textbook.tree.encode.frames import (
    FrameTable,
    is_frame,
    require_frame_or_array,
)
from sklearn_textbook.tree.encode.schema import ColumnSchema, TableSchema
from sklearn_textbook.tree.encode.sharing import compute_once


def open_table(X) -> ArrayTable | FrameTable | SparseTable:
    """Wrap a table for reading column by column."""
    if isinstance(X, np.ndarray):
        return ArrayTable(X)
    if sparse.issparse(X):
        return SparseTable(X)
    if is_frame(X):
        return FrameTable(X)
    require_frame_or_array(X)
    return ArrayTable(X)


#: Minimum rows, and levels as a fraction of them, for a warning about identifiers.
MIN_ROWS_TO_WARN = 50
NEARLY_ALL = 0.9


@lru_cache(maxsize=16)
def numeric_schema(names, has_names, source):
    """Make the schema of a table of numbers; cached."""
    return TableSchema(
        tuple(ColumnSchema(name, NUMERIC, None, source) for name in names), has_names
    )


@lru_cache(maxsize=16)
def default_names(n_columns):
    """Make names for the columns of a table without names: x0, x1, ..."""
    return tuple(f"x{position}" for position in range(n_columns))


def find_categorical(
    categorical_features, names: tuple[str, ...] | None, n_columns: int
) -> np.ndarray | None:
    """Find the columns declared categorical; None for "from_dtype".

    "from_dtype" and names of columns: these are categorical, and None is that of each
    other one, whose dtype decides.
    """
    if isinstance(categorical_features, str) and categorical_features == "from_dtype":
        return None
    is_categorical = np.zeros(n_columns, dtype=bool)
    if categorical_features is None:
        return is_categorical
    declared = np.asarray(categorical_features)
    if declared.ndim == 1 and declared.size and declared[0] == "from_dtype":
        is_categorical = np.full(n_columns, None, dtype=object)
        known = default_names(n_columns) if names is None else names
        is_categorical[find_positions(list(declared[1:]), known)] = True
        return is_categorical
    if declared.ndim != 1:
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or a one-dimensional "
            "array-like of bool, int or str (a mask, indices or names of columns), got "
            f"{categorical_features!r}."
        )
    if declared.size == 0:
        return is_categorical
    if declared.dtype.kind == "b":
        if declared.shape[0] != n_columns:
            raise ValueError(
                "categorical_features set as a boolean mask must have shape "
                f"(n_features,) = ({n_columns},), got: {declared.shape}."
            )
        return declared
    if declared.dtype.kind in "iu":
        wrong = declared[(declared < 0) | (declared >= n_columns)]
        if wrong.size:
            raise ValueError(
                "categorical_features set as integer indices must be in "
                f"[0, n_features - 1] = [0, {n_columns - 1}], got {wrong[0]}."
            )
        is_categorical[declared] = True
        return is_categorical
    is_categorical[find_positions(list(categorical_features), names)] = True
    return is_categorical


def read_flag(is_categorical: np.ndarray | None, position: int) -> bool | None:
    """Whether a column is categorical; None if its dtype decides."""
    flag = None if is_categorical is None else is_categorical[position]
    return None if flag is None else bool(flag)


def find_positions(wanted, names):
    """Find the positions of the columns that categorical_features names."""
    if not all(isinstance(name, str) for name in wanted):
        types = ", ".join(sorted({type(name).__name__ for name in wanted}))
        raise ValueError(
            f"categorical_features must be an array-like of bool, int or str, got: "
            f"{types}."
        )
    if names is None:
        raise ValueError(
            "categorical_features should be passed as an array of integers or as a "
            "boolean mask when the model is fitted on data without feature names."
        )
    for name in wanted:
        if name not in names:
            raise ValueError(
                f"categorical_features has an item value {str(name)!r} which is not a "
                "valid feature name of the training data. Observed feature names: "
                f"{list(names)}."
            )
    return [names.index(name) for name in wanted]


def sort_levels(codes, levels):
    """Codes and levels with the levels sorted: numbers first, then strings."""
    order = sorted(
        range(len(levels)),
        key=lambda code: (not is_number(levels[code]), levels[code]),
    )
    ranks = np.empty(len(levels) + 1)
    ranks[order] = np.arange(len(levels))
    ranks[-1] = np.nan  # missing
    return ranks[codes], tuple(levels[code] for code in order)


def describe_column(column, kind, levels=None):
    """Make the schema of a column."""
    return ColumnSchema(column.name, kind, levels, column.source, column.time_zone)


def code_column(column):
    """Return codes of a column of levels, NaN where missing, and its schema."""
    kind = ORDINAL if column.is_ordered else NOMINAL
    if column.codes is None:  # no values
        return column.numbers, describe_column(column, kind, ())
    if column.source == CATEGORY:
        levels = tuple(column.levels)
        codes = column.codes
        if codes.min(initial=0) < 0:
            codes = np.where(codes < 0, np.nan, codes)
    else:
        codes, levels = sort_levels(column.codes, column.levels)
    return codes, describe_column(column, kind, levels)


def read_numbers(column):
    """Return numbers of a column not declared categorical, and its schema."""
    if column.numbers is not None:
        return column.numbers, describe_column(column, NUMERIC)
    try:
        numbers = parse_levels(column, accepts_strings=True)
    except ValueError as error:
        raise ValueError(
            f"{error} To treat its values as levels, list the column in "
            "categorical_features, or use categorical_features='from_dtype'."
        ) from None
    return numbers, describe_column(column, NUMERIC)


def warn_of_identifiers(schema, n_rows):
    """Warn about columns of text with distinct levels in nearly all rows."""
    if n_rows < MIN_ROWS_TO_WARN:
        return
    for column in schema.columns:
        if column.kind != NOMINAL or column.source not in (STRING, MIXED):
            continue
        if len(column.levels) >= NEARLY_ALL * n_rows:
            warn_caller(
                f"Column {column.name!r} has {len(column.levels)} levels in {n_rows} "
                "rows. A column that identifies the rows separates the training rows "
                "but does not generalize to others: leave it out.",
                UserWarning,
            )


def replace_columns(matrix, columns):
    """Replace some columns of a sparse matrix by dense ones."""
    pieces, start = [], 0
    for position, values in sorted(columns.items()):
        pieces += [matrix[:, start:position], sparse.csc_array(values[:, np.newaxis])]
        start = position + 1
    return sparse.csc_array(sparse.hstack([*pieces, matrix[:, start:]]))


def read_sparse_table(table, names, has_names, is_categorical):
    """Read a sparse table with columns declared categorical."""
    coded = {}
    schemas = list(numeric_schema(names, has_names, table.source).columns)
    for position in np.flatnonzero(is_categorical).tolist():
        column = table.read_column(position, names[position], as_levels=True)
        codes, schemas[position] = code_column(column)
        coded[position] = codes.astype(np.float64)
    matrix = replace_columns(table.read_matrix(), coded)
    return matrix, TableSchema(tuple(schemas), has_names)


def read_training_table(
    X, categorical_features="from_dtype", feature_names: Sequence[str] | None = None
):
    """Read a training table: a matrix of numbers and codes, and the schema.

    Kinds by dtype, with ``categorical_features="from_dtype"``:

    - integers, floats, decimals, booleans (as 0 and 1): numeric;
    - dates and times with dates: numeric, as seconds since 1970-01-01T00:00:00 UTC,
      those without a time zone taken as UTC; float64 represents current dates to a
      quarter of a microsecond;
    - durations, times of day: numeric, in seconds;
    - strings, and objects that are not all numbers: nominal (名义属性), the levels
      being the distinct values, numbers before strings, each in ascending order;
    - categorical dtypes: nominal, or ordinal (有序属性) if declared as ordered (also
      polars' Enum); the levels are all declared categories in their order, including
      those without rows; polars' Categorical declares none, so the levels are those
      present, sorted;
    - columns without any value: numeric.

    None, NaN, NaT, ``pandas.NA`` and null are missing values.

    Parameters
    ----------
    X : array-like, data frame or sparse matrix of shape (n_rows, n_columns)
        numpy arrays of any dtype and layout; nested lists; pandas, polars and pyarrow
        tables; scipy sparse arrays, whose unstored entries are zeros.
    categorical_features : "from_dtype", None, or array-like, default="from_dtype"
        A mask, indices or names of the columns to take as categorical, as in
        scikit-learn's HistGradientBoostingClassifier. Numbers are then levels, too,
        sorted. All other columns must then be numbers or numerals. None: no column is
        categorical.
    feature_names : sequence of str, default=None
        Names of the columns of a table without names.

    Returns
    -------
    matrix : ndarray or csc_array of shape (n_rows, n_columns)
        Numbers; codes of levels, counted from 0; NaN for missing values. A float64 or
        float32 array is returned unchanged if all its columns are numeric, a sparse
        table as csc_array, anything else as a float64 array. A stored table is returned
        as it is.
    schema : TableSchema
        Description of the columns, to read new tables in the same way.

    Raises
    ------
    ValueError
        If the table is not two-dimensional, is empty or complex, or has duplicate
        names, if a column that must be numeric is not, or if `categorical_features` is
        invalid.
    TypeError
        If the dtype of a column is not supported.

    Notes
    -----
    Unlike in scikit-learn, strings are not an error but nominal columns. Infinite
    numbers are detected by `encode_table`, which reads all numbers anyway.

    Examples
    --------
    >>> from sklearn_textbook.tree.encode import read_training_table
    >>> matrix, schema = read_training_table([[1, "b"], [2, "a"], [None, "b"]])
    >>> matrix
    array([[ 1.,  1.],
           [ 2.,  0.],
           [nan,  1.]])
    >>> schema.columns[1].levels
    ('a', 'b')
    """
    if isinstance(X, StoredTable):
        return X, X.schema
    declared = categorical_features
    if not (declared is None or isinstance(declared, str)):
        declared = repr(np.asarray(declared).tolist())
    options = declared, None if feature_names is None else tuple(feature_names)

    def read(X):
        return _read_training_table(X, categorical_features, feature_names)

    return compute_once(read, (X,), options)


def _read_training_table(X, categorical_features, feature_names):
    """Read a training table, as described in `read_training_table`."""
    table = open_table(X)
    names = table.names
    if names is None and feature_names is not None:
        names = tuple(read_feature_names(feature_names, table.n_columns))
    is_categorical = find_categorical(categorical_features, names, table.n_columns)
    has_names = names is not None
    names = names if has_names else default_names(table.n_columns)
    if is_categorical is None or not is_categorical.any():
        matrix = table.read_matrix()
        if matrix is not None:
            return matrix, numeric_schema(names, has_names, table.source or NUMBER)
    elif sparse.issparse(X):
        return read_sparse_table(table, names, has_names, is_categorical)
    matrix = np.empty((table.n_rows, table.n_columns), order="F")
    schemas = []
    for position, name in enumerate(names):
        declared = read_flag(is_categorical, position)
        column = table.read_column(position, name, as_levels=bool(declared))
        if declared or (declared is None and column.codes is not None):
            numbers, schema = code_column(column)
        else:
            numbers, schema = read_numbers(column)
        matrix[:, position] = numbers
        schemas.append(schema)
    return matrix, TableSchema(tuple(schemas), has_names)
