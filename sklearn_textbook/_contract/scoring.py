"""Scores of predictions, also for a table that is read in blocks."""

from __future__ import annotations

from typing import Any

import narwhals as nw
import numpy as np
import sklearn.base
from numpy.typing import ArrayLike

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.labels import check_target
from sklearn_textbook._contract.types import MatrixLike


def read_vector(source: BlockSource, role: str, values: Any, *, is_numeric: bool):
    """Read a column of a source if its name is given; return other values as they are.

    ``role`` is the argument that has the name.
    """
    if not isinstance(values, str):
        return values
    source._require_columns(role, (values,))
    parts = [
        check_target(
            nw.from_native(block)[values].to_native(), is_numeric=is_numeric, name=role
        )
        for block in source.read_blocks((values,))
    ]
    if not parts:
        raise ValueError(f"{source._describe()} has no rows.")
    return np.concatenate(parts)[:, 0]


def read_columns(X, y, sample_weight, *, is_numeric: bool, suffix: str = "") -> tuple:
    """Read the target and the weights of a table in blocks by the names of columns.

    Those of a table in memory are returned as they are.
    """
    if not isinstance(X, BlockSource):
        return y, sample_weight
    return (
        read_vector(X, f"y{suffix}", y, is_numeric=is_numeric),
        read_vector(X, f"sample_weight{suffix}", sample_weight, is_numeric=True),
    )


class ClassifierMixin(sklearn.base.ClassifierMixin):
    """The mixin of scikit-learn, whose score also takes a table in blocks."""

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the accuracy of the predicted classes.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or BlockSource
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            Their classes; of a table in blocks, the name of the column.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows; of a table in blocks, the name of the column.

        Returns
        -------
        score : float
            Mean accuracy of ``self.predict(X)``.
        """
        y, sample_weight = read_columns(X, y, sample_weight, is_numeric=False)
        return super().score(X, y, sample_weight)


class RegressorMixin(sklearn.base.RegressorMixin):
    """The mixin of scikit-learn, whose score also takes a table in blocks."""

    def score(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> float:
        """Compute the coefficient of determination of the predictions.

        Parameters
        ----------
        X : array-like, data frame, sparse matrix or BlockSource
            The rows.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs), or str
            Their targets; of a table in blocks, the name of the column.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows; of a table in blocks, the name of the column.

        Returns
        -------
        score : float
            :math:`R^2` of ``self.predict(X)``.
        """
        y, sample_weight = read_columns(X, y, sample_weight, is_numeric=True)
        return super().score(X, y, sample_weight)
