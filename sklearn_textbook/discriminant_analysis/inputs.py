"""Input of discriminant analysis: parameters, rows, labels, weights, priors."""

from __future__ import annotations

import numpy as np
from scipy.sparse import issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_consistent_length, column_or_1d

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.labels import check_target, encode_labels
from sklearn_textbook._contract.numeric_table import read_numeric_table
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
    is_checked,
    is_real,
    show_value,
)
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.discriminant_analysis.class_table import ClassTable, find_units
from sklearn_textbook.linear_model.design import MISSING
from sklearn_textbook.linear_model.design.block_rows import (
    BlockRows,
    is_in_files,
    lay_out,
    open_block_rows,
)
from sklearn_textbook.linear_model.design.reading import (
    read_training_rows,
)

SOLVERS = ("svd", "lsqr", "eigen")
DIVISORS = ("n", "n-g")
FLOATS = [np.float64, np.float32]


class DiscriminantInput(BaseEstimator):
    """Checks the parameters of discriminant analysis, and reads its table."""

    def _check_parameters(self) -> None:
        check_choice("solver", self.solver, SOLVERS)
        check_choice("missing", self.missing, MISSING)
        check_choice("covariance_divisor", self.covariance_divisor, DIVISORS)
        check_truth("store_covariance", self.store_covariance)
        check_real("tol", self.tol, 0.0)
        check_integer("n_components", self.n_components, 1, accepts_none=True)
        shrinkage, estimator = self.shrinkage, self.covariance_estimator
        is_allowed = shrinkage is None or (
            shrinkage == "auto"
            if isinstance(shrinkage, str)
            else is_real(shrinkage) and 0.0 <= shrinkage <= 1.0
        )
        if is_checked() and not is_allowed:
            raise ValueError(
                "The 'shrinkage' parameter must be a float in the range [0.0, 1.0], "
                f"'auto' or None; got {shrinkage!r}."
            )
        if is_checked() and estimator is not None and not hasattr(estimator, "fit"):
            raise ValueError(
                "The 'covariance_estimator' parameter must be an object with fit or "
                f"None; got {estimator!r}."
            )
        if self.solver == "svd" and shrinkage is not None:
            raise NotImplementedError(
                "shrinkage not supported with 'svd' solver; use 'lsqr' or 'eigen'."
            )
        if self.solver == "svd" and estimator is not None:
            raise ValueError(
                "covariance estimator is not supported with svd solver. Try another "
                "solver"
            )
        if estimator is not None and self.covariance_divisor != "n":
            raise ValueError(
                f"covariance_divisor={self.covariance_divisor!r} is not supported with "
                "a covariance_estimator, which chooses its divisor itself. Use "
                "covariance_divisor='n'."
            )
        if estimator is not None and shrinkage not in (None, 0):
            raise ValueError(
                "covariance_estimator and shrinkage parameters are not None. Only one "
                "of the two can be set."
            )

    def _read_table(self, X, y, sample_weight):
        """Read rows, labels and weights; rows of weight 0 are dropped."""
        if y is not None:
            is_column = getattr(y, "ndim", 1) == 2
            labels = check_target(y, is_numeric=False)
            y = labels if is_column or labels.shape[1] > 1 else labels[:, 0]
        X, y, weight = self._read_columns(X, y, sample_weight)
        (classes,), codes = encode_labels(y.reshape(-1, 1))
        return self._make_table(lay_out(X), codes[:, 0], classes, weight)

    def _open_source(self, source, y, sample_weight) -> BlockRows:
        """Read rows, labels and weights of a table in blocks."""

        def read(frame, *, is_first):
            return read_numeric_table(
                *(self, frame), dtype=FLOATS, ensure_all_finite=False, reset=is_first
            )

        return open_block_rows(
            *(self, source, y, sample_weight, read),
            reference_level="first",
            is_classifier=True,
        )

    def _make_table(self, X, codes, classes, weight):
        """Make the table of the classes; return it, the units and the dtype."""
        self.classes_ = classes
        if X.shape[0] == len(classes):
            raise ValueError(
                "The number of samples must be more than the number of classes; got "
                f"{X.shape[0]} samples of {len(classes)} classes."
            )
        units = find_units(X)
        dtype, divisors = X.dtype, None
        if (units != 1.0).any():
            if is_in_files(X):
                divisors = units
            else:
                X = X / units
        return ClassTable(X, codes, len(classes), weight, divisors), units, dtype

    def _read_columns(self, X, y, sample_weight):
        """Read numbers, labels and weights of the rows that count."""
        if self.categorical_features is not None or self.missing != "error":
            if y is None:
                raise ValueError(
                    f"{type(self).__name__} requires y to be passed, but the target y "
                    "is None."
                )
            check_consistent_length(X, y)
            matrix, weight, is_present = read_training_rows(
                *(self, X, sample_weight, "first"), accepts_sparse=False, min_rows=2
            )
            matrix = matrix.toarray() if issparse(matrix) else matrix
            y = column_or_1d(y, warn=True)
            return matrix, y if is_present is None else y[is_present], weight
        vars(self).pop("design_", None)
        X, y = read_numeric_table(
            self,
            X,
            y,
            dtype=FLOATS,
            ensure_all_finite=False,
            ensure_min_samples=2,
        )
        weight = check_weights(sample_weight, len(X))
        is_present = None
        if weight is not None and not weight.all():
            is_present = weight > 0
            X, y, weight = X[is_present], y[is_present], weight[is_present]
        self._check_finite(X, is_present)
        return X, y, weight

    def _choose_priors(self):
        """Priors as given, or the class proportions."""
        if self.priors is None:
            return self.class_count_ / self.class_count_.sum()
        n_classes = len(self.classes_)
        try:
            priors = np.asarray(self.priors, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            raise ValueError(
                "The 'priors' parameter must be None or an array of one number for each"
                f" of the {n_classes} classes; got {show_value(self.priors)}."
            ) from None
        if not np.isfinite(priors).all():
            what = "NaN" if np.isnan(priors).any() else "infinity"
            raise ValueError(f"Input priors contains {what}: {priors.tolist()}.")
        if priors.shape != (n_classes,):
            raise ValueError(
                f"priors must have shape ({n_classes},), one number per class; got "
                f"{priors.shape}."
            )
        if (priors < 0).any() or not priors.any():
            raise ValueError(
                f"priors must be non-negative, and not all zero; got {priors.tolist()}."
            )
        if abs(priors.sum() - 1.0) > 1e-5:
            warn_caller("The priors do not sum to 1. Renormalizing", UserWarning)
            priors = priors / priors.sum()
        return priors
