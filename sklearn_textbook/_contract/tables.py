"""Tables as callers pass them: shape, finite values. Imports no scikit-learn."""

from __future__ import annotations

from importlib import import_module
from itertools import chain

import numpy as np
import scipy  # submodules are loaded on first use
from numpy.typing import ArrayLike

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.dask_frames import is_dask_frame


def count_rows(X) -> int:
    """Count the rows of a table that has not been read."""
    if hasattr(X, "shape"):
        return X.shape[0]
    if isinstance(X, BlockSource):
        refuse_lazy_tables(X)
    return len(X) if hasattr(X, "__len__") else len(np.asarray(X))


def refuse_other_tables(X: object) -> None:
    """Raise TypeError for what must become a table first, such as a dictionary."""
    if isinstance(X, dict) and not hasattr(X, "shape"):  # as scipy's matrix by keys
        found, remedy = "a dict", "pandas.DataFrame([X]) if it is one row"
        if X and not np.isscalar(next(iter(X.values()))):
            remedy = "pandas.DataFrame(X) if its values are columns"
    elif isinstance(X, (list, tuple)) and X and isinstance(X[0], dict):
        found = f"a {type(X).__name__} of dicts"
        remedy = "pandas.DataFrame(X), in which each of them is a row"
    else:
        if not hasattr(X, "__len__"):  # unlike arrays and frames in memory
            refuse_lazy_tables(X)
        return
    raise TypeError(f"X must be a table, got {found}. Pass {remedy}.")


#: What classes of lazy tables have that `io.scan` reads block by block: LazyFrame of
#: polars, and Dataset of pyarrow. `is_dask_frame` tells those of Dask.
_BLOCK_METHODS = ("collect_batches", "get_fragments")


def open_lazy_table(X):
    """Return `io.scan` of a lazy table that it reads, and anything else as it is."""
    if is_dask_frame(X) or any(hasattr(type(X), name) for name in _BLOCK_METHODS):
        # By its name, as ``io`` imports the estimators.
        return import_module("sklearn_textbook.io").scan(X)
    return X


def refuse_lazy_tables(X: object) -> None:
    """Raise TypeError for lazy frames, and for tables of other libraries."""
    if isinstance(X, np.ndarray):
        return
    import narwhals.stable.v2 as nw  # not needed to print a tree

    if isinstance(X, BlockSource):
        raise TypeError(
            f"{X._describe()} is read in blocks, which this estimator does not do; "
            "read it with io.read_table, or write predictions with io.predict_to."
        )
    if isinstance(nw.from_native(X, pass_through=True), nw.LazyFrame):
        method = "compute" if is_dask_frame(X) else "collect"
        raise TypeError(
            f"X is a lazy data frame ({type(X)}); call its {method} method first."
        )
    if hasattr(type(X), "get_fragments"):
        raise TypeError(f"X is a dataset ({type(X)}); call its to_table method first.")
    if hasattr(X, "__arrow_c_array__") or hasattr(X, "__arrow_c_stream__"):
        raise TypeError(f"X is of {type(X)}; pass pyarrow.table(X) instead.")


def require_two_dimensions(X: object) -> None:
    """Raise unless X is a table: ValueError, worded as scikit-learn's, or TypeError."""
    refuse_other_tables(X)
    n_dimensions = _count_dimensions(X)
    if n_dimensions == 2:
        return
    if n_dimensions > 2:
        raise ValueError(
            f"Found array with dim {n_dimensions}, while dim <= 2 is required."
        )
    found = "scalar" if n_dimensions == 0 else "1D"
    raise ValueError(
        f"Expected 2D array, got {found} array instead:\narray={X!s:.200}.\n"
        "Reshape your data either using array.reshape(-1, 1) if your data has a single "
        "feature or array.reshape(1, -1) if it contains a single sample."
    )


def _count_dimensions(X):
    """Count the dimensions; 2 of what is neither an array, a list nor a number."""
    shape = getattr(X, "shape", None)
    if isinstance(shape, tuple):
        return len(shape)
    if X is None or np.isscalar(X):
        return 0
    if isinstance(X, (list, tuple)) and X:
        return 1 + min(_count_dimensions(X[0]), 1)
    return 2


#: Formats of scipy whose index arrays it can check itself.
COMPRESSED = ("csr", "csc", "bsr")
#: Squares of numbers up to this one, and sums of very many of them, do not overflow.
LARGEST_VALUE = 1e145


def check_sparse_format(X: object, name: str = "X") -> None:
    """Require valid index arrays, which compiled loops rely on, of a sparse matrix."""
    if not scipy.sparse.issparse(X):
        return
    try:
        if X.format in COMPRESSED:
            X.check_format(full_check=True)
        elif X.format == "dia":
            _check_diagonals(X)
        else:
            for indices, size in zip(_list_places(X), X.shape, strict=True):
                if indices.size and not 0 <= indices.min() <= indices.max() < size:
                    raise ValueError(f"an index is not between 0 and {size - 1}")
    except (ValueError, TypeError, OverflowError) as error:
        raise ValueError(
            f"{name} is a malformed sparse matrix of format {X.format!r}: {error}."
        ) from None


def _check_diagonals(X) -> None:
    """Require the offset of every stored diagonal of format "dia", once each."""
    if X.data.ndim != 2 or X.offsets.shape != (len(X.data),):
        raise ValueError(
            f"data of shape {X.data.shape} requires one offset per row, but the "
            f"offsets have shape {X.offsets.shape}"
        )
    if len(np.unique(X.offsets)) != len(X.offsets):
        raise ValueError("an offset occurs more than once")


def _list_places(X):
    """List row and column numbers of the entries of formats "coo", "dok" and "lil"."""
    if X.format == "dok":
        return np.array([*X.keys()], dtype=np.int64).reshape(X.nnz, X.ndim).T
    if X.format == "coo":
        if {len(indices) for indices in X.coords} != {len(X.data)}:
            raise ValueError("the numbers of coordinates and entries differ")
        return X.coords
    lengths = [len(columns) for columns in X.rows]
    if lengths != [len(values) for values in X.data] or len(lengths) != X.shape[0]:
        raise ValueError("the numbers of coordinates and entries differ")
    columns = np.fromiter(chain.from_iterable(X.rows), np.int64, sum(lengths))
    return np.repeat(np.arange(len(lengths)), lengths), columns


def check_finite_rows(
    X,
    estimator_name: str,
    feature_names: ArrayLike | None = None,
    is_present: np.ndarray | None = None,
    *,
    remedy: str | None = None,
    allows_nan: bool = False,
) -> None:
    """Require a matrix without missing and infinite values."""
    from sklearn import get_config  # slow to import, and not needed to print a tree

    if get_config()["assume_finite"]:
        return
    values = X.data if scipy.sparse.issparse(X) else X
    with np.errstate(over="ignore", invalid="ignore"):
        # A sum needs no memory. It is not finite if a value is not, or if it overflows.
        if np.isfinite(values.sum()) or np.isfinite(values).all():
            return
        if allows_nan and not np.isinf(values).any():
            return
    is_wrong = np.isinf if allows_nan else lambda values: ~np.isfinite(values)
    (row, column), value = _find_first(X, is_wrong, is_present)
    name = column if feature_names is None else repr(str(feature_names[column]))
    place = f"row {row}, column {name}"
    if np.isnan(value):
        if remedy is None:
            remedy = (
                "impute them first, for example with make_pipeline(SimpleImputer(), "
                f"{estimator_name}()), or drop these rows or columns"
            )
        raise ValueError(
            f"Input X contains NaN, first in {place}. {estimator_name} does not accept "
            f"missing values: {remedy}."
        )
    raise ValueError(
        f"Input X contains infinity, first in {place}. {estimator_name} requires "
        "finite numbers: replace infinite values, or drop these rows."
    )


def check_sizes(
    X,
    estimator_name: str,
    feature_names: ArrayLike | None = None,
    is_present: np.ndarray | None = None,
    *,
    what: str = "Column",
) -> None:
    """Require numbers whose squares can be added up."""
    values = X.data if scipy.sparse.issparse(X) else X
    if values.flags.c_contiguous and values.dtype == np.float64:
        flat = values.reshape(-1)
        with np.errstate(over="ignore", invalid="ignore"):
            # One fast pass, which is enough unless some are very large.
            if flat @ flat <= LARGEST_VALUE**2:
                return
    if max(values.max(initial=0.0), -values.min(initial=0.0)) <= LARGEST_VALUE:
        return
    (row, *rest), value = _find_first(
        X, lambda values: np.abs(values) > LARGEST_VALUE, is_present
    )
    if what == "Column":
        name = rest[0] if feature_names is None else repr(str(feature_names[rest[0]]))
        what = f"Column {name}"
    raise ValueError(
        f"{what} has the value {value:.3g} in row {row}, whose square overflows; "
        f"{estimator_name} accepts values of at most {LARGEST_VALUE:g}. Divide it "
        "by a power of ten."
    )


def _find_first(X, find_wrong, is_present):
    """Find the row and column of the first invalid value, and this value."""
    if scipy.sparse.issparse(X):
        entries = X.tocoo()
        first = int(np.argmax(find_wrong(entries.data)))
        place = [int(entries.row[first]), int(entries.col[first])]
        value = entries.data[first]
    else:
        place = np.argwhere(find_wrong(X))[0].tolist()
        value = X[tuple(place)]
    if is_present is not None:
        place[0] = int(np.flatnonzero(is_present)[place[0]])
    return place, value


def as_sparse_output(matrix):
    """Convert a sparse result to the interface that scikit-learn is set to."""
    from sklearn import get_config  # slow to import, and not needed to print a tree

    is_array = get_config().get("sparse_interface") == "sparray"
    kind = f"{matrix.format}_{'array' if is_array else 'matrix'}"
    return getattr(scipy.sparse, kind)(matrix)
