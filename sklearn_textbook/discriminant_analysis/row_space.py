"""The covariance within the classes of a wide table, without a matrix of all columns.

With few rows, the covariance is the sum of the products of rows, of which there are
few, and, with shrinkage, of a diagonal matrix. Divided by the roots of the diagonal,
it is the identity except in the space that the rows span.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import linalg

from sklearn_textbook.discriminant_analysis.covariance import (
    choose_shrinkage,
    standardise_rows,
)

EPSILON = np.finfo(np.float64).eps
#: Tables with more columns than this, and than rows, are solved in the space of their
#: rows; others have all matrices of columns as attributes.
MAX_COLUMNS = 2000


@dataclass(frozen=True)
class RowCovariance:
    """The covariance RᵀR + diag(d) within the classes.

    Parameters
    ----------
    means : ndarray of shape (n_classes, n_columns)
        Means of the classes.
    rows : ndarray of shape (n_rows, n_columns)
        R, multiples of the rows minus the means of their classes.
    added : ndarray of shape (n_columns,)
        d, from shrinkage: either all positive or all zero.
    """

    means: np.ndarray
    rows: np.ndarray
    added: np.ndarray

    @property
    def is_shrunk(self):
        """Whether shrinkage makes the matrix clearly regular."""
        if not self.added.any():
            return False
        rows = self.rows / np.sqrt(self.added)
        largest = linalg.norm(rows @ rows.T, 2)
        return largest * rows.shape[1] * EPSILON < 1.0

    def measure_deviations(self):
        """Compute the standard deviations of the columns."""
        return np.sqrt(np.einsum("ij,ij->j", self.rows, self.rows) + self.added)


def is_wide(table, estimator) -> bool:
    """Whether a table is solved in the space of its rows."""
    least = max(MAX_COLUMNS, table.n_rows + table.n_classes)
    return estimator is None and table.n_columns > least


def estimate_rows(table, shrinkage) -> RowCovariance:
    """Estimate the same covariance as `covariance.estimate_within`."""
    if shrinkage != "auto":
        means, rows = table.centre_rows()
        fraction = float(shrinkage or 0.0)
        variance = float(np.einsum("ij,ij->", rows, rows)) / table.n_columns
        rows *= np.sqrt(1.0 - fraction)
        return RowCovariance(means, rows, np.full(table.n_columns, fraction * variance))
    means, blocks, added = [], [], np.zeros(table.n_columns)
    class_fraction = table.class_weight / table.class_weight.sum()
    for number, of_whole in enumerate(class_fraction):
        of_class = table.select_class(number)
        centre, rows, deviation = standardise_rows(of_class)
        products = rows @ rows.T
        fraction = choose_shrinkage(of_class, rows, products)
        variance = float(np.trace(products)) / table.n_columns
        added += of_whole * fraction * variance * deviation**2
        rows *= np.sqrt(of_whole * (1.0 - fraction)) * deviation
        means.append(centre)
        blocks.append(rows)
    return RowCovariance(np.vstack(means), np.vstack(blocks), added)
