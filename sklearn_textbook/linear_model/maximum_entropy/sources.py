"""Sources of features f(x, y): columns, functions, or a precomputed matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import narwhals as nw
import numpy as np
from scipy import sparse

from sklearn_textbook.linear_model.maximum_entropy.joint_features import (
    join_blocks,
    share_columns,
)
from sklearn_textbook.linear_model.solve.row_sums import find_largest

#: Maximum factor of a weight.
LARGEST_PENALTY = 1e300


@dataclass(frozen=True, eq=False)
class ColumnSource:
    """Columns of numbers, each for every class, and a constant for every class."""

    #: A solver works with ``(column - offset) / scale``. Shape (n_columns,).
    offset: np.ndarray
    scale: np.ndarray
    #: Number of classes.
    n_classes: int
    #: Whether there are constants.
    has_constant: bool

    def make(self, matrix):
        """Features of the rows of a matrix, in the units of the solver."""
        if sparse.issparse(matrix):
            scaled = matrix.multiply(1.0 / self.scale[np.newaxis]).tocsr()
            if self.offset.any():
                scaled = scaled.toarray() - self.offset / self.scale
        else:
            scaled = (matrix - self.offset) / self.scale
        if self.has_constant:
            ones = np.ones((scaled.shape[0], 1))
            stack = sparse.hstack if sparse.issparse(scaled) else np.hstack
            scaled = stack((scaled, ones))
        return share_columns(scaled, self.n_classes)

    def find_rounding(self, matrix):
        """Possible errors of the columns in the units of the solver."""
        of_columns = find_largest(matrix) / self.scale
        return np.finfo(float).eps * np.append(of_columns, [1.0] * self.has_constant)

    def restore(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients and constants in units of the columns, summing to 0.

        Returns (coef, intercept).
        """
        weights = weights.reshape(-1, self.n_classes)
        # A number that is the same for all classes cancels.
        weights = weights - weights.mean(axis=1, keepdims=True)
        n_columns = len(self.scale)
        coef = weights[:n_columns] / self.scale[:, np.newaxis]
        intercept = np.zeros(self.n_classes)
        if self.has_constant:
            intercept = weights[n_columns] - self.offset @ coef
        return coef.T, intercept

    def spread_penalty(self, alpha):
        """Penalties of the solver's weights that penalise coefficients by alpha."""
        with np.errstate(over="ignore"):
            of_columns = np.minimum(alpha / self.scale / self.scale, LARGEST_PENALTY)
        of_columns = np.repeat(of_columns, self.n_classes)
        of_constants = np.zeros(self.n_classes * self.has_constant)
        return np.concatenate((of_columns, of_constants))


def spread_columns(
    matrix: np.ndarray | sparse.csr_array, n_classes: int, *, has_constant: bool
) -> ColumnSource:
    """Scale columns to [0, 1], for iterative scaling."""
    largest = find_largest(matrix)
    offset, scale = np.zeros(matrix.shape[1]), largest
    if has_constant and not sparse.issparse(matrix):
        smallest = matrix.min(axis=0)
        with np.errstate(over="ignore"):
            width = matrix.max(axis=0) - smallest
        offset = np.where(width > 0, smallest, 0.0)
        scale = np.where(width > 0, width, largest)
    return ColumnSource(offset, _make_usable(scale), n_classes, has_constant)


def standardize_columns(
    matrix: np.ndarray | sparse.csr_array,
    weight: np.ndarray,
    n_classes: int,
    alpha: float,
    *,
    has_constant: bool,
) -> ColumnSource:
    r"""Choose units in which second derivatives of the loss are about the same.

    If all weights are 0, the one of a weight is
    :math:`N \sigma^2 (K - 1) / K^2 + \alpha` for K classes.
    """
    largest, total = find_largest(matrix), weight.sum()
    offset = np.zeros(matrix.shape[1])
    unit = _make_usable(largest)
    if sparse.issparse(matrix):
        squares = matrix.multiply(1.0 / unit[np.newaxis]).tocsr() ** 2
    else:
        scaled = matrix / unit
        if has_constant:
            offset = np.where(np.ptp(scaled, axis=0) > 0, weight @ scaled / total, 0.0)
            scaled -= offset
        squares = scaled**2
    deviations = unit * np.sqrt(np.asarray(weight @ squares).ravel() / total)
    n_others = max(1, n_classes - 1)
    least = np.sqrt(alpha / total / n_others) * n_classes
    scale = _make_usable(np.hypot(deviations, least))
    return ColumnSource(offset * unit, scale, n_classes, has_constant)


def _make_usable(scale):
    """Replace numbers that cannot be divisors by 1."""
    return np.where(np.isfinite(scale) & (scale > 0.0), scale, 1.0)


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """Functions of a row and a class."""

    #: Functions f(x, y) of one row and one class, or one function F(X, y) of all rows
    #: and one class. A table is an ndarray, or a data frame of narwhals.
    features: tuple | Callable
    #: The classes. Shape (n_classes,).
    classes: np.ndarray

    def make(self, X):
        """Features of the rows of a table."""
        classes = self.classes.tolist()
        if callable(self.features):
            return join_blocks([self._call_for_table(X, label) for label in classes])
        rows = list_rows(X)
        shape = (len(rows), len(self.features))
        blocks = []
        for label in classes:
            values = [
                [float(function(row, label)) for function in self.features]
                for row in rows
            ]
            block = np.array(values, dtype=np.float64).reshape(shape)
            blocks.append(_check_finite(block, label))
        return join_blocks(blocks)

    def _call_for_table(self, X, label):
        block = self.features(nw.to_native(X, pass_through=True), label)
        if sparse.issparse(block):
            block = sparse.csr_array(block, dtype=np.float64)
        else:
            block = np.asarray(block, dtype=np.float64)
        if block.ndim != 2 or block.shape[0] != len(X):
            raise ValueError(
                "The 'features' parameter, a function F(X, y), must return a matrix "
                f"with one row per row of X, {len(X)} in all, and one column per "
                f"feature; got shape {block.shape} for class {label!r}."
            )
        return _check_finite(block, label)


def _check_finite(block, label):
    values = block.data if sparse.issparse(block) else block
    if not np.isfinite(values).all():
        raise ValueError(
            f"A function among 'features' returned NaN or infinity for class {label!r}."
        )
    return block


def list_rows(X):
    """Rows of a table: arrays for an array, tuples for a data frame."""
    return list(X) if isinstance(X, np.ndarray) else X.rows()


def name_function(features, j):
    """Name of a function, or f0, f1 and so on if it has none."""
    if isinstance(features, (str, bytes)) or callable(features):
        return f"f{j}"
    name = getattr(features[j], "__name__", "<")
    return f"f{j}" if name.startswith("<") else name


@dataclass(frozen=True, eq=False)
class MatrixSource:
    """A matrix with a block of features for each class in every row."""

    #: Number of classes.
    n_classes: int

    def make(self, matrix):
        """Features of the rows of a matrix."""
        n_columns = matrix.shape[1]
        if n_columns % self.n_classes:
            raise ValueError(
                "With features='precomputed', X must have a block of columns of equal "
                f"width for each of the {self.n_classes} classes; got {n_columns} "
                "columns."
            )
        width = n_columns // self.n_classes
        return join_blocks(
            [matrix[:, k * width : (k + 1) * width] for k in range(self.n_classes)]
        )
