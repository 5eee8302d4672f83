"""Input of a logistic regression: parameters, class labels, weights."""

from __future__ import annotations

import math

import numpy as np
from scipy.sparse import hstack, issparse
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
    check_deprecated,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
    check_verbose,
    is_checked,
    is_real,
    name_some,
    show_value,
    suggest,
)
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.weights import balance_classes
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.logistic.likelihood import LogisticLikelihood
from sklearn_textbook.linear_model.logistic.solvers import (
    LIBLINEAR,
    SOLVERS,
    STOCK_SOLVERS,
)

PARAMETRIZATIONS = ("auto", "reference", "symmetric")
SEPARATION = ("check", "exact", "ignore")


class LogisticInput(BaseLinearModel):
    """Checks the parameters of a logistic regression, and prepares its likelihood."""

    def _check_parameters(self):
        self._check_table_parameters()
        check_deprecated(
            "penalty",
            self.penalty,
            ("l1", "l2", "elasticnet"),
            "1.8 and is removed in 1.10. Use l1_ratio=0 and a finite C for 'l2', "
            "l1_ratio=1 for 'l1', an l1_ratio in between for 'elasticnet', and "
            "C=np.inf for None.",
            accepts_none=True,
        )
        if is_checked() and not (self.C is None or (is_real(self.C) and self.C > 0)):
            raise ValueError(
                "The 'C' parameter must be a float in the range (0.0, inf] or None; "
                f"got {self.C!r}."
            )
        if self.l1_ratio is not None:
            check_real("l1_ratio", self.l1_ratio, 0.0, 1.0)
        elif is_checked() and self.penalty == "elasticnet":
            raise ValueError("penalty='elasticnet' requires an l1_ratio; got None.")
        check_truth("fit_intercept", self.fit_intercept)
        check_truth("dual", self.dual)
        check_real("intercept_scaling", self.intercept_scaling, 0.0)
        check_random_seed("random_state", self.random_state)
        check_verbose(self.verbose)
        check_deprecated(
            "multi_class",
            self.multi_class,
            ("auto", "ovr", "multinomial"),
            "1.5 and removed in 1.8. Leave it out: more than two classes have one "
            "multinomial model.",
        )
        check_choice("solver", self.solver, ("auto", *SOLVERS, *STOCK_SOLVERS))
        self._check_solver()
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
        self._warn_of_penalty()

    def _check_solver(self):
        """Refuse solvers that cannot minimise the loss with its penalty."""
        if not is_checked():
            return
        if self.solver == "bfgs" and self._has_absolute_values():
            raise ValueError(
                "solver='bfgs' does not support L1 penalties; got l1_ratio="
                f"{self.l1_ratio!r}. Use 'newton', 'lbfgs', 'gradient' or 'auto'."
            )
        if self.solver == LIBLINEAR and not self._has_penalty():
            raise ValueError(
                "solver='liblinear' always has a penalty, also of the intercept; got "
                f"penalty={self.penalty!r} and C={self.C!r}. Use solver='auto'."
            )
        if self._penalises_intercept() and not self.intercept_scaling > 0:
            raise ValueError(
                "The 'intercept_scaling' parameter must be above 0; got "
                f"{self.intercept_scaling!r}."
            )

    def _warn_of_penalty(self):
        """Warn of parameters of the penalty that have no effect."""
        if self.l1_ratio is None:
            warn_caller(
                "'l1_ratio=None' was deprecated in scikit-learn 1.8. Use l1_ratio=0.",
                FutureWarning,
            )
        if self.penalty is None and self.C not in (None, 1.0):
            warn_caller(
                f"Setting penalty=None will ignore the C parameter, {self.C!r}.",
                UserWarning,
            )
        is_l1 = self.l1_ratio == 1.0
        is_mixed = self.l1_ratio is not None and 0.0 < self.l1_ratio < 1.0
        ignores = {"l1": is_mixed, "l2": is_mixed or is_l1, None: is_mixed or is_l1}
        if ignores.get(self.penalty, False):
            warn_caller(
                f"Inconsistent values: penalty={self.penalty} with "
                f"l1_ratio={self.l1_ratio}, which is ignored.",
                UserWarning,
            )

    def _check_multi_class(self):
        """Refuse models of several classes that are others than the multinomial."""
        n_classes = len(self.classes_)
        if n_classes > 2 and (self.multi_class == "ovr" or self.solver == LIBLINEAR):
            what = "multi_class='ovr'"
            if self.solver == LIBLINEAR:
                what = "The 'liblinear' solver"
            raise ValueError(
                f"{what} does not support multiclass classification: y has "
                f"{n_classes} classes. Leave it out for the multinomial model, or use "
                "OneVsRestClassifier(LogisticRegression(...)) for one model per class."
            )
        if n_classes == 2 and self.multi_class == "multinomial" and self._has_penalty():
            raise ValueError(
                "multi_class='multinomial' of two classes penalises two vectors of "
                "coefficients; here there is one. Leave it out."
            )

    def _find_penalty(self):
        """(C, l1_ratio) of the penalty; infinity and 0 without one.

        A penalty that is asked for without its strength has scikit-learn's.
        """
        l1_ratio = 0.0 if self.l1_ratio is None else float(self.l1_ratio)
        if self.penalty is None:
            return math.inf, 0.0
        if self.penalty != "deprecated":
            l1_ratio = {"l1": 1.0, "l2": 0.0}.get(self.penalty, l1_ratio)
        elif self.C is None and l1_ratio == 0.0 and self.solver != LIBLINEAR:
            return math.inf, 0.0
        C = 1.0 if self.C is None else float(self.C)
        return C, l1_ratio

    def _has_penalty(self):
        return not math.isinf(self._find_penalty()[0])

    def _has_absolute_values(self):
        return self._has_penalty() and self._find_penalty()[1] > 0.0

    def _penalises_intercept(self):
        return bool(self.solver == LIBLINEAR and self.fit_intercept)

    def _is_symmetric(self):
        if len(self.classes_) == 2:
            return False
        is_auto = self.parametrization == "auto"
        return self._has_penalty() if is_auto else self.parametrization == "symmetric"

    def _make_likelihood(self, matrix, codes, weight):
        """Likelihood and penalty of the training rows."""
        n_made = matrix.shape[1] + bool(self.fit_intercept)
        if not n_made:
            raise ValueError("There is nothing to fit: no columns and no intercept.")
        C, l1_ratio = self._find_penalty()
        if self._penalises_intercept():
            # As liblinear does: the intercept is the slope of a constant column.
            constant = np.full((matrix.shape[0], 1), float(self.intercept_scaling))
            stack = hstack if issparse(matrix) else np.hstack
            matrix = stack([matrix, constant])
            matrix = matrix.tocsr() if issparse(matrix) else matrix
        return LogisticLikelihood(
            matrix,
            codes,
            len(self.classes_),
            weight,
            fit_intercept=self.fit_intercept and not self._penalises_intercept(),
            is_symmetric=self._has_penalty() and self._is_symmetric(),
            strength=(1.0 - l1_ratio) / C,
            l1_strength=l1_ratio / C,
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
    if class_weight == "balanced":
        factors = balance_classes(codes, weight)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes[codes])
    return factors[codes] * (1.0 if weight is None else weight)
