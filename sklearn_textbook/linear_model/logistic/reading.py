"""Input of a logistic regression: parameters, class labels, weights."""

from __future__ import annotations

import math

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.labels import (
    check_target,
    encode_labels,
    list_declared_classes,
)
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
    is_checked,
    is_real,
    name_some,
    show_value,
    suggest,
)
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.logistic.solvers import SOLVERS

PARAMETRIZATIONS = ("reference", "symmetric")
SEPARATION = ("check", "exact", "ignore")


class LogisticInput(BaseLinearModel):
    """Checks the parameters of a logistic regression, and prepares its likelihood."""

    def _check_parameters(self):
        self._check_table_parameters()
        if is_checked() and not (is_real(self.C) and self.C > 0):
            raise ValueError(
                "The 'C' parameter must be a float in the range (0.0, inf]; got "
                f"{self.C!r}."
            )
        check_real("l1_ratio", self.l1_ratio, 0.0, 1.0)
        check_truth("fit_intercept", self.fit_intercept)
        check_choice("solver", self.solver, ("auto", *SOLVERS))
        if is_checked() and self.solver == "bfgs" and self._has_absolute_values():
            raise ValueError(
                "solver='bfgs' does not support L1 penalties; got l1_ratio="
                f"{self.l1_ratio!r}. Use 'newton', 'lbfgs', 'gradient' or 'auto'."
            )
        check_choice("parametrization", self.parametrization, PARAMETRIZATIONS)
        check_choice("separation", self.separation, SEPARATION)
        check_integer("max_iter", self.max_iter, 0)
        check_real("tol", self.tol, 0.0)
        check_truth("warm_start", self.warm_start)
        is_allowed = (
            self.class_weight is None
            or isinstance(self.class_weight, dict)
            or (isinstance(self.class_weight, str) and self.class_weight == "balanced")
        )
        if is_checked() and not is_allowed:
            raise ValueError(
                "The 'class_weight' parameter must be a dict, 'balanced' or None; got "
                f"{self.class_weight!r}.{suggest(self.class_weight, ('balanced',))}"
            )

    def _has_penalty(self):
        return not math.isinf(self.C)

    def _has_absolute_values(self):
        return self._has_penalty() and self.l1_ratio > 0.0

    def _is_symmetric(self):
        return self.parametrization == "symmetric" and len(self.classes_) > 2

    def _make_likelihood(self, matrix, codes, weight):
        """Likelihood and penalty of the training rows."""
        n_made = matrix.shape[1] + bool(self.fit_intercept)
        if not n_made:
            raise ValueError("There is nothing to fit: no columns and no intercept.")
        return LogisticLikelihood(
            matrix,
            codes,
            len(self.classes_),
            weight,
            fit_intercept=self.fit_intercept,
            is_symmetric=self._has_penalty() and self._is_symmetric(),
            strength=(1.0 - self.l1_ratio) / self.C if self._has_penalty() else 0.0,
            l1_strength=self.l1_ratio / self.C if self._has_penalty() else 0.0,
            n_threads=count_threads(self.n_jobs, matrix.shape[0] * n_made),
        )


def read_classes(name, X, y, is_present):
    """Read the class labels of the rows that count.

    Parameters
    ----------
    name : str
        Name of the estimator.
    X : array-like
        The table, which must have as many rows.
    y : array-like of shape (n_rows,)
        Class labels.
    is_present : ndarray of bool, shape (n_rows,), or None
        These rows; None: all.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The sorted classes that have rows.
    codes : ndarray of int32, shape (n_present,)
        Their numbers.

    Raises
    ------
    ValueError
        If labels are missing or not classes, or if only one class has rows.

    Warns
    -----
    UserWarning
        If a categorical y declares classes that have no rows.
    """
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    labels = check_target(y, is_numeric=False)
    if getattr(y, "ndim", 1) == 2 or labels.shape[1] > 1:
        labels = column_or_1d(labels, warn=True)
    labels = labels.reshape(-1, 1)
    check_consistent_length(X, labels)
    if is_present is not None:
        labels = labels[is_present]
    (classes,), codes = encode_labels(labels)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least 2 classes in the data, but the data "
            f"contains only one class: {classes.tolist()[0]!r}."
        )
    present = set(classes.tolist())
    empty = [label for label in list_declared_classes(y) if label not in present]
    if empty:
        warn_caller(
            f"y declares classes without rows: {name_some(empty)}. They have no "
            "coefficients and no probability, and are not in classes_.",
            UserWarning,
        )
    return classes, codes[:, 0]


def weigh_classes(class_weight, classes, codes, weight):
    """Multiply weights by those of the classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes.
    classes : ndarray of shape (n_classes,)
        The classes.
    codes : ndarray of int, shape (n_rows,)
        Class numbers.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.

    Returns
    -------
    weight : ndarray of shape (n_rows,) or None
        The products.

    Raises
    ------
    ValueError
        If a class has a weight that is not a finite number above 0.
    """
    if class_weight is None:
        return weight
    for label, given in class_weight.items() if isinstance(class_weight, dict) else ():
        if not (is_real(given) and 0 < given < np.inf):
            raise ValueError(
                "The 'class_weight' parameter must be finite weights above 0; got "
                f"{show_value(given)} for class {label!r}. To leave out a class, leave "
                "out its rows."
            )
    if weight is not None and class_weight == "balanced":
        # Before 1.7, scikit-learn's function takes no weights.
        totals = np.bincount(codes, weight)
        factors = totals.sum() / (len(classes) * totals)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    return factors[codes] * (1.0 if weight is None else weight)
