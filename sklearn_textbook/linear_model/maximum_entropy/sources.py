"""Where features f(x, y) come from: columns, functions, or a matrix of them."""

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


@dataclass(frozen=True, eq=False)
class ColumnSource:
    """Columns of numbers, each for every class, and a constant for every class.

    Parameters
    ----------
    offset, scale : ndarray of shape (n_columns,)
        A solver sees ``(column - offset) / scale``.
    n_classes : int
        Number of classes.
    has_constant : bool
        Whether there are constants.
    """

    offset: np.ndarray
    scale: np.ndarray
    n_classes: int
    has_constant: bool

    def make(self, matrix):
        """Features of the rows of a matrix, as the solver sees them."""
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

    def restore(self, weights):
        """Coefficients and constants in units of the columns, summing to 0.

        Parameters
        ----------
        weights : ndarray of shape (n_features,)
            As the solver found them.

        Returns
        -------
        coef : ndarray of shape (n_classes, n_columns)
            Of the columns.
        intercept : ndarray of shape (n_classes,)
            Of the constants.
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
        """Penalties of the solver's weights that punish coefficients by alpha."""
        of_columns = np.repeat(alpha / self.scale**2, self.n_classes)
        of_constants = np.zeros(self.n_classes * self.has_constant)
        return np.concatenate((of_columns, of_constants))


def choose_scaling(matrix, weight, n_classes, *, has_constant, is_nonnegative):
    """Choose units in which a solver needs few rounds.

    Parameters
    ----------
    matrix : ndarray or csr_array of shape (n_rows, n_columns)
        The columns.
    weight : ndarray of shape (n_rows,)
        Weights of the rows.
    n_classes : int
        Number of classes.
    has_constant : bool
        Whether constants take up what is subtracted; if not, nothing is.
    is_nonnegative : bool
        Whether columns are to be spread over [0, 1], else by mean and deviation.

    Returns
    -------
    source : ColumnSource
        Columns of a sparse matrix are divided only.
    """
    n_columns = matrix.shape[1]
    offset = np.zeros(n_columns)
    if sparse.issparse(matrix):
        scale = np.asarray(abs(matrix).max(axis=0).todense()).ravel().astype(float)
    elif not has_constant:
        scale = np.abs(matrix).max(axis=0, initial=0.0)
    else:
        smallest, largest = matrix.min(axis=0), matrix.max(axis=0)
        varies = largest > smallest
        with np.errstate(over="ignore", invalid="ignore"):
            if is_nonnegative:
                offset, scale = smallest, largest - smallest
            else:
                offset = np.clip(weight @ matrix / weight.sum(), smallest, largest)
                deviations = (matrix - offset) ** 2
                scale = np.sqrt(weight @ deviations / weight.sum())
        offset = np.where(varies, offset, 0.0)
        scale = np.where(varies, scale, np.abs(largest))
    is_usable = np.isfinite(scale) & (scale > 0.0)
    scale = np.where(is_usable, scale, 1.0)
    return ColumnSource(offset, scale, n_classes, has_constant)


@dataclass(frozen=True, eq=False)
class FunctionSource:
    """Functions of a row and a class.

    Parameters
    ----------
    features : sequence of callable, or callable
        Functions f(x, y) of one row and one class, or one function F(X, y) of all rows
        and one class. A table is an ndarray, or a data frame of narwhals.
    classes : ndarray of shape (n_classes,)
        The classes.
    """

    features: tuple | Callable
    classes: np.ndarray

    def make(self, X):
        """Features of the rows of a table, as it is given."""
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
                "The 'features' parameter, a function F(X, y), must return a matrix of "
                f"{len(X)} rows, one for each row of X, and a column for each feature; "
                f"for class {label!r} it returned shape {block.shape}."
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
    """Rows of a table: arrays of an array, tuples of a data frame."""
    return list(X) if isinstance(X, np.ndarray) else X.rows()


def name_function(features, j):
    """Name of a function, f0, f1 and so on where it has none of its own."""
    if isinstance(features, (str, bytes)) or callable(features):
        return f"f{j}"
    name = getattr(features[j], "__name__", "<")
    return f"f{j}" if name.startswith("<") else name


@dataclass(frozen=True, eq=False)
class MatrixSource:
    """A matrix that has, in every row, a block of features for each class.

    Parameters
    ----------
    n_classes : int
        Number of classes.
    """

    n_classes: int

    def make(self, matrix):
        """Features of the rows of a matrix."""
        n_columns = matrix.shape[1]
        if n_columns % self.n_classes:
            raise ValueError(
                "With features='precomputed' X must have a block of columns for each "
                f"of the {self.n_classes} classes, all of one width; got {n_columns} "
                "columns."
            )
        width = n_columns // self.n_classes
        return join_blocks(
            [matrix[:, k * width : (k + 1) * width] for k in range(self.n_classes)]
        )
