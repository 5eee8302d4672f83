"""Averaging over logistic regressions on subsets of the columns."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.exceptions import ConvergenceWarning

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook.ensemble.model_averaging.linear_subsets import list_groups
from sklearn_textbook.ensemble.model_averaging.subsets import (
    MOST_CELLS,
    AveragedSubsets,
    SubsetRules,
    explore_subsets,
)
from sklearn_textbook.linear_model import LogisticRegression

#: Maximum number of subsets that are all fitted.
FEW_SUBSETS = 32
#: Maximum number of models that are fitted.
MOST_FITS = 2000
#: How much wider the window of the approximation is, as in R's ``bic.glm``.
WIDER = 2.0
#: Inverse strength of the penalty where the likelihood is approximated.
APPROXIMATION_C = 10.0
#: Curvatures below that fraction of the largest are rounding.
FLAT = 1e-10


@dataclass(frozen=True, eq=False)
class AveragedLogistic(AveragedSubsets):
    """Logistic regressions within the window, and averages over them.

    Parameters are those of AveragedSubsets, and:

    Parameters
    ----------
    coefs : ndarray of shape (n_models, n_scores, n_columns)
        Their coefficients.
    intercepts : ndarray of shape (n_models, n_scores)
        Their intercepts.
    variances, intercept_variances : ndarray
        Squares of the standard errors, in the same shapes.
    """

    coefs: np.ndarray
    intercepts: np.ndarray
    variances: np.ndarray
    intercept_variances: np.ndarray

    def average(self, values, variances):
        """Compute posterior means and standard deviations."""
        mean = np.tensordot(self.weights, values, axes=1)
        squares = variances + (values - mean) ** 2
        return mean, np.sqrt(np.tensordot(self.weights, squares, axes=1))

    def predict_probabilities(self, matrix):
        """Average the probabilities of the classes."""
        n_models, n_scores, n_columns = self.coefs.shape
        total = 0.0
        step = max(1, MOST_CELLS // (max(1, matrix.shape[0]) * (n_scores + 1)))
        for start in range(0, n_models, step):
            some = slice(start, start + step)
            vectors = self.coefs[some].reshape(-1, n_columns)
            scores = np.asarray(matrix @ vectors.T) + self.intercepts[some].ravel()
            scores = scores.reshape(len(scores), -1, n_scores)
            if n_scores == 1:
                given = np.concatenate([expit(-scores), expit(scores)], axis=2)
            else:
                zeros = np.zeros((*scores.shape[:2], 1))
                given = softmax(np.concatenate([scores, zeros], axis=2), axis=2)
            total = total + np.tensordot(given, self.weights[some], axes=(1, 0))
        return total / total.sum(axis=1, keepdims=True)


def average_logistic(
    averaging, X, codes: np.ndarray, sample_weight: ArrayLike
) -> AveragedLogistic:
    """Average over the logistic regressions on subsets of the columns."""
    matrix, weight, is_present = averaging._read_training_table(X, sample_weight)
    codes = codes if is_present is None else codes[is_present]
    present, codes = np.unique(codes, return_inverse=True)
    averaging.classes_ = averaging.classes_[present]
    if len(present) < 2:
        (label,) = averaging.classes_.tolist()
        raise ValueError(
            f"{type(averaging).__name__} needs samples of at least 2 classes in the "
            f"data, but the data contains only one class: {label!r}."
        )
    rules = SubsetRules.read(averaging)
    groups = list_groups(averaging.design_)
    fits = _Fits(matrix, codes, weight, groups, averaging.n_jobs)
    is_in, n_parameters, residual = fits.approximate(rules)
    n_subsets, n = len(is_in), fits.total_weight
    log_prior = rules.compute_log_prior(is_in)
    if n_subsets > FEW_SUBSETS:
        evidence = -0.5 * (residual + n_parameters * np.log(n))
        candidates = rules.select(log_prior + evidence, WIDER)
        if len(candidates) > MOST_FITS:
            warn_caller(
                f"{len(candidates)} models may be within the window; only the "
                f"{MOST_FITS} that are most probable by an approximation are averaged. "
                "Reduce occam_window or max_subset_size to consider fewer models.",
                UserWarning,
            )
        is_in = is_in[candidates[:MOST_FITS]]
    fitted = [fits.fit(row) for row in is_in]
    bic = np.array([one.bic_ for one in fitted])
    kept = rules.select(rules.compute_log_prior(is_in) - 0.5 * bic)
    is_in, bic, fitted = is_in[kept], bic[kept], [fitted[number] for number in kept]
    _warn_of_fits(fitted)
    return AveragedLogistic(
        is_in=is_in,
        weights=rules.weigh(is_in, bic),
        n_parameters=np.array([one.rank_ for one in fitted]) * fits.n_scores,
        log_likelihood=np.array([one.log_likelihood_ for one in fitted]),
        bic=bic,
        n_subsets=n_subsets,
        **fits.collect(is_in, fitted),
    )


def _warn_of_fits(fitted) -> None:
    """Warn of models without a maximum of the likelihood, and of unfinished ones."""
    n_separated = sum(
        one.separation_ in ("quasi_complete", "complete") for one in fitted
    )
    if n_separated:
        warn_caller(
            f"Classes can be separated in {n_separated} of the {len(fitted)} models "
            "within the window: their likelihood has no maximum, and their "
            "coefficients are meaningless.",
            ConvergenceWarning,
        )
    n_unfinished = sum(not one.converged_ for one in fitted)
    if n_unfinished > n_separated:
        warn_caller(
            f"{n_unfinished} of the {len(fitted)} models within the window did not "
            "converge.",
            ConvergenceWarning,
        )


def _find_units(sizes):
    """Take 1 for sizes of 0."""
    return np.where(sizes > 0, sizes, 1.0)


class _Fits:
    """Fitting subsets of the columns to the same rows."""

    def __init__(self, matrix, codes, weight, groups, n_jobs) -> None:
        self.matrix, self.codes, self.groups = matrix, codes, groups
        self.weight, self.n_jobs = weight, n_jobs
        self.n_classes = int(codes.max()) + 1
        self.n_scores = self.n_classes - 1
        self.total_weight = len(codes) if weight is None else float(weight.sum())

    def _find_columns(self, row):
        places = [group for group, has in zip(self.groups, row, strict=True) if has]
        return np.sort(np.concatenate([[], *places])).astype(np.intp)

    def fit(self, row):
        """Fit the logistic regression on the terms of a subset."""
        columns = self._find_columns(row)
        # A column of zeros adds nothing, where there is no other.
        table = np.zeros((len(self.codes), 1))
        table = self.matrix[:, columns] if len(columns) else table
        return self._fit_table(table)

    def _fit_table(self, table, C=np.inf, separation: str = "check"):
        model = LogisticRegression(
            C=C,
            parametrization="reference",
            separation=separation,
            categorical_features=None,
            n_jobs=self.n_jobs,
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # one warning for all models follows
            return model.fit(table, self.codes, self.weight)

    def collect(self, is_in, fitted):
        """Collect coefficients, intercepts and their variances; 0 where not in."""
        shape = len(fitted), self.n_scores, self.matrix.shape[1]
        coefs, variances = np.zeros(shape), np.zeros(shape)
        for number, (row, one) in enumerate(zip(is_in, fitted, strict=True)):
            columns = self._find_columns(row)
            if len(columns):
                coefs[number][:, columns] = one.coef_
                variances[number][:, columns] = one.standard_errors_**2
        intercepts = np.array([one.intercept_ for one in fitted])
        errors = np.array([one.intercept_standard_error_ for one in fitted])
        return {
            "coefs": coefs,
            "intercepts": intercepts,
            "variances": variances,
            "intercept_variances": errors**2,
        }

    def approximate(self, rules) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Approximate the deviance of all subsets, up to a constant.

        Near coefficients of all columns, which a weak penalty keeps finite, the log
        likelihood is taken to be quadratic: its maximum for a subset of the columns is
        a problem of least squares then.
        """
        curvature, along = self._find_quadratic()
        units = np.sqrt(np.maximum(curvature.diagonal(), 0.0))
        units[units == 0] = 1.0
        values, vectors = np.linalg.eigh(curvature / np.outer(units, units))
        keeps = values > FLAT * max(values.max(initial=0.0), 1.0)
        roots, vectors = np.sqrt(values[keeps]), vectors[:, keeps]
        columns = roots[:, np.newaxis] * vectors.T
        target = (vectors.T @ (along / units)) / roots
        n_columns = self.matrix.shape[1]
        groups = [
            np.concatenate([group + n_columns * k for k in range(self.n_scores)])
            for group in self.groups
        ]
        is_in, rank, residual = explore_subsets(
            columns, target, groups, rules, np.sqrt(FLAT)
        )
        return is_in, rank + self.n_scores, residual

    def _find_quadratic(self):
        """Hessian and linear part in the slopes, for the best intercepts."""
        X = self.matrix.toarray() if sparse.issparse(self.matrix) else self.matrix
        each = np.ones(len(X)) if self.weight is None else self.weight
        with np.errstate(over="ignore", invalid="ignore"):
            scaled = X - each @ X / self.total_weight
            scaled /= _find_units(np.abs(scaled).max(axis=0, initial=0.0))
            spread = each @ scaled**2 / self.total_weight
        scaled /= _find_units(np.sqrt(spread))
        model = self._fit_table(scaled, APPROXIMATION_C, "ignore")
        given = model.predict_proba(scaled)
        # The classes that have scores.
        places = [1] if self.n_classes == 2 else range(self.n_scores)
        Z = np.column_stack([np.ones(len(X)), scaled])
        theta = np.column_stack([model.intercept_, model.coef_]).ravel()
        size = Z.shape[1]
        H = np.empty((self.n_scores * size, self.n_scores * size))
        g = np.empty(self.n_scores * size)
        for i, a in enumerate(places):
            rows = slice(i * size, (i + 1) * size)
            g[rows] = Z.T @ (each * ((self.codes == a) - given[:, a]))
            for j, b in enumerate(places):
                factor = each * given[:, a] * ((a == b) - given[:, b])
                H[rows, j * size : (j + 1) * size] = Z.T @ (Z * factor[:, np.newaxis])
        along = H @ theta + g
        is_first = np.tile(np.arange(size) == 0, self.n_scores)
        across = np.linalg.lstsq(
            H[np.ix_(is_first, is_first)],
            np.column_stack([H[np.ix_(is_first, ~is_first)], along[is_first]]),
            rcond=None,
        )[0]
        moved = H[np.ix_(~is_first, is_first)] @ across
        return (
            H[np.ix_(~is_first, ~is_first)] - moved[:, :-1],
            along[~is_first] - moved[:, -1],
        )
