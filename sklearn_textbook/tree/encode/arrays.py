"""Tables that are arrays: numpy arrays of any dtype and layout, lists, scipy sparse."""

from __future__ import annotations

import numpy as np
import scipy  # whose submodules are loaded on first use

from sklearn_textbook._contract.tables import (
    check_sparse_format,
    refuse_other_tables,
    require_two_dimensions,
)
from sklearn_textbook.tree.encode.columns import (
    BOOLEAN,
    DATE,
    DURATION,
    NUMBER,
    Column,
    complex_error,
    factorize_array,
    seconds_from_temporal,
    unsupported_error,
)
from sklearn_textbook.tree.encode.objects import column_from_objects


def column_from_array(values: np.ndarray, name: str, as_levels: bool = False) -> Column:
    """Read a column from a one-dimensional numpy array of any dtype."""
    kind = values.dtype.kind
    if kind in "OUST":
        return column_from_objects(values.astype(object), name, as_levels)
    if kind == "c":
        raise complex_error(name)
    if kind in "Mm":
        source = DATE if kind == "M" else DURATION
        values = seconds_from_temporal(values)
    elif kind in "fiub":
        source = BOOLEAN if kind == "b" else NUMBER
    else:
        raise unsupported_error(name, f"dtype {values.dtype}")
    if as_levels:
        codes, levels = factorize_array(values, name)
        return Column(name, source, codes=codes, levels=levels)
    return Column(name, source, numbers=values.astype(np.float64, copy=False))


def is_plain(X):
    """Whether X is a two-dimensional float array that the kernels read as it is."""
    return (
        type(X) in (np.ndarray, np.memmap)
        and X.ndim == 2
        and X.dtype in (np.float64, np.float32)
        and X.dtype.isnative
        and X.flags.aligned
    )


def require_size(shape) -> None:
    """Raise ValueError, worded as scikit-learn's, if there is no row or column."""
    for size, what in zip(shape, ("sample(s)", "feature(s)"), strict=True):
        if size == 0:
            raise ValueError(
                f"Found array with 0 {what} (shape={tuple(shape)}) while a minimum of "
                "1 is required."
            )


def array_from_sequence(X):
    """Convert nested sequences to a numpy array, keeping numbers as numbers."""
    try:
        array = np.asarray(X)
    except (UnicodeError, TypeError):  # no common type
        return np.asarray(X, dtype=object)
    except ValueError as error:
        if "inhomogeneous" not in str(error):
            raise
        raise ValueError(
            "The rows of X have different lengths; each row must have one entry per "
            "column."
        ) from error
    # Rows of mixed values would become an array of strings, or of one kind of date.
    return np.asarray(X, dtype=object) if array.dtype.kind in "USMm" else array


class ArrayTable:
    """A two-dimensional numpy array, or what becomes one.

    Parameters
    ----------
    X : array-like of shape (n_rows, n_columns)
        An array of any dtype, or nested sequences.
    """

    names = None

    def __init__(self, X) -> None:
        if isinstance(X, np.matrix):
            raise TypeError(
                "np.matrix is not supported. Please convert to a numpy array with "
                "np.asarray."
            )
        if isinstance(X, np.ma.MaskedArray):
            if X.dtype.kind in "fiub":
                X = X.astype(np.float64).filled(np.nan)
            else:
                X = np.where(np.ma.getmaskarray(X), None, X.data.astype(object))
        refuse_other_tables(X)
        array = X if isinstance(X, np.ndarray) else array_from_sequence(X)
        if array.dtype.kind == "V":
            raise TypeError(
                f"X is a structured array (dtype {array.dtype}), which has fields but "
                "no columns. Pass pandas.DataFrame(X) or "
                "numpy.lib.recfunctions.structured_to_unstructured(X)."
            )
        if array.dtype.kind == "c":
            raise ValueError(f"Complex data not supported\n{array!s:.200}\n")
        require_two_dimensions(array)
        require_size(array.shape)
        self.array = array
        self.n_rows, self.n_columns = array.shape

    @property
    def source(self):
        """Source of all columns, None if it must be found column by column."""
        return {"f": NUMBER, "i": NUMBER, "u": NUMBER, "b": BOOLEAN}.get(
            self.array.dtype.kind
        )

    def read_matrix(self):
        """Return all columns as numbers, None if they may be something else."""
        if self.source is None:
            return None
        if is_plain(self.array):
            return self.array
        return self.array.astype(np.float64)

    def read_column(self, position, name, as_levels: bool = False):
        """Return one column."""
        return column_from_array(self.array[:, position], name, as_levels)


class SparseTable:
    """A scipy sparse array or matrix; zeros that are not stored are zeros.

    Parameters
    ----------
    X : sparse array or matrix of shape (n_rows, n_columns)
        Of any format.
    """

    names = None

    def __init__(self, X) -> None:
        require_two_dimensions(X)
        check_sparse_format(X)
        require_size(X.shape)
        if X.dtype.kind == "c":
            raise ValueError("Complex data not supported: X is sparse and complex.")
        if X.dtype.kind not in "fiub":
            raise TypeError(f"Sparse X must contain numbers, got dtype {X.dtype}.")
        self.source = BOOLEAN if X.dtype.kind == "b" else NUMBER
        columns = scipy.sparse.csc_array(X)
        if not columns.has_canonical_format:
            columns = columns.copy()
            columns.sum_duplicates()
        if not (columns.dtype in (np.float64, np.float32) and columns.dtype.isnative):
            columns = columns.astype(np.float64)
        self.columns = columns
        self.n_rows, self.n_columns = X.shape

    def read_matrix(self):
        """Return the table as sparse columns."""
        return self.columns

    def read_column(self, position, name, as_levels: bool = False):
        """Return one column, dense."""
        values = self.columns[:, [position]].toarray()[:, 0]
        if self.source == BOOLEAN:
            values = values.astype(bool)
        return column_from_array(values, name, as_levels)
