"""Input of maximum entropy models: parameters, tables, labels."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np
from sklearn.utils import check_array, check_consistent_length, column_or_1d
from sklearn.utils.validation import validate_data

from sklearn_textbook._contract.finite import check_sparse_format
from sklearn_textbook._contract.labels import check_target
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
    is_checked,
)
from sklearn_textbook._contract.table_shape import refuse_other_tables
from sklearn_textbook._contract.threads import check_n_jobs
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.maximum_entropy.fitting import SOLVERS, Settings

FEATURES = ("columns", "precomputed")


class MaxEntInput(BaseLinearModel):
    """Checks the parameters of a maximum entropy model, and reads its table."""

    @property
    def _has_columns(self):
        return isinstance(self.features, str) and self.features == "columns"

    def _check_parameters(self):
        self._check_table_parameters()
        check_choice("solver", self.solver, SOLVERS)
        check_real("alpha", self.alpha, 0.0)
        check_truth("fit_intercept", self.fit_intercept)
        check_integer("max_iter", self.max_iter, 1)
        check_real("tol", self.tol, 0.0)
        check_n_jobs(self.n_jobs)
        features = self.features
        if is_checked() and not self._has_columns and self.missing != "error":
            raise ValueError(
                f"missing={self.missing!r} requires features='columns'; got features="
                f"{features!r}."
            )
        if isinstance(features, str):
            check_choice("features", features, FEATURES)
            return
        is_list = isinstance(features, Sequence) and len(features) > 0
        is_allowed = callable(features) or (is_list and all(map(callable, features)))
        if is_checked() and not is_allowed:
            raise ValueError(
                "The 'features' parameter must be 'columns', 'precomputed', a function "
                f"F(X, y), or a sequence of functions f(x, y); got {features!r}."
            )

    def _read_training(self, X, sample_weight):
        """Table and weights without rows of weight 0, and a mask of these rows."""
        if self._has_columns:
            if not hasattr(X, "shape") and not hasattr(X, "__len__"):
                X = np.asarray(X)  # objects that only support conversion to an array
                if X.ndim == 0:
                    check_array(X)  # raises a helpful error
            return self._read_training_table(X, sample_weight)
        self._forget("design_")
        table = read_pairs(self, X, reset=True)
        weight = check_weights(sample_weight, table.shape[0], is_rescaled=True)
        if weight is None or weight.all():
            return table, weight, None
        is_present = weight > 0
        return table[np.flatnonzero(is_present)], weight[is_present], is_present

    @property
    def _settings(self):
        return Settings(
            self.solver,
            self.max_iter,
            self.tol,
            self.n_jobs,
            self.alpha,
            self.fit_intercept,
        )


def read_labels(estimator, X, y):
    """Read one label for each row; shape (n_rows, 1)."""
    if y is None:
        raise ValueError(
            f"{type(estimator).__name__} requires y to be passed, but the target y is "
            "None."
        )
    labels = check_target(y, is_numeric=False)
    if labels.shape[1] > 1:
        raise ValueError(
            f"y should be a 1d array, got an array of shape {labels.shape} instead."
        )
    if getattr(y, "ndim", 1) == 2:
        column_or_1d(labels, warn=True)
    refuse_other_tables(X)
    check_consistent_length(X, labels)
    return labels


def read_pairs(estimator, X, *, reset):
    """Read a table whose features are not made of columns."""
    if isinstance(estimator.features, str):
        check_sparse_format(X)
        return validate_data(
            estimator, X, reset=reset, accept_sparse="csr", dtype=np.float64
        )
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    if isinstance(frame, nw.DataFrame):
        check_columns(estimator, X, reset=reset)
        return frame
    if isinstance(X, (list, tuple)):
        X = np.array(X, dtype=object)  # numbers and strings keep their types
    return validate_data(estimator, X, reset=reset, dtype=None)
