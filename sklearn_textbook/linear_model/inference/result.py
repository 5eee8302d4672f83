"""What a fitted linear model says of its coefficients, for tests and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.utils.validation import check_is_fitted

#: Eigenvalues of a covariance of contrasts below this fraction of the largest count as
#: zero: the contrasts depend on each other.
DEPENDENT = 1e-10


@dataclass(frozen=True, eq=False)
class LinearResult:
    """Estimates of a fitted model, and how well it fits.

    A model of several classes has several vectors of coefficients, one after the other.

    Parameters
    ----------
    names : tuple of str
        Names of the coefficients of a vector, that of the intercept first.
    headings : tuple of str
        Names of the vectors; one empty name if there is one vector.
    estimates : ndarray of shape (n_coefficients,)
        The coefficients of all vectors.
    covariance : ndarray of shape (n_coefficients, n_coefficients)
        Their covariance.
    is_determined : ndarray of bool, shape (n_coefficients,)
        Whether the rows determine a coefficient.
    degrees_of_freedom : float or None
        Those of Student's t distribution of the tests; None: the normal distribution.
    terms : tuple of (str, slice, frozenset)
        The terms, their places in the names, and what each is a product of.
    is_least_squares : bool
        Whether the deviance is a sum of squared residuals.
    deviance, log_likelihood : float
        Of the fit.
    dispersion : float
        Variance of the residuals, or dispersion of the family.
    knows_dispersion : bool
        Whether it is not estimated.
    n_parameters, residual_degrees_of_freedom, n_observations : float
        Numbers of free parameters, of degrees of freedom that are left, of rows.
    null_deviance : float
        Of the model without columns.
    model_covariance : ndarray or None, default=None
        The covariance by the variances of the model, if ``covariance`` is a robust one,
        which sums of squares and likelihoods do not belong to.
    common_null_deviance : float or None, default=None
        For a model with an estimated shape, as the negative binomial family has theta:
        a null deviance that does not depend on it, equal for the same rows. Such models
        are compared by their likelihoods, since each deviance has its own shape.
    n_constants : int or None, default=None
        Number of parameters of the model without columns; None: one for each vector
        with an intercept.
    is_likelihood_penalised : bool, default=False
        Whether likelihoods of models of other columns have other penalties.
    """

    names: tuple
    headings: tuple
    estimates: np.ndarray
    covariance: np.ndarray
    is_determined: np.ndarray
    degrees_of_freedom: float | None
    terms: tuple
    is_least_squares: bool
    deviance: float
    log_likelihood: float
    dispersion: float
    knows_dispersion: bool
    n_parameters: float
    residual_degrees_of_freedom: float
    n_observations: float
    null_deviance: float
    model_covariance: np.ndarray | None = None
    common_null_deviance: float | None = None
    n_constants: int | None = None
    is_likelihood_penalised: bool = False

    @property
    def is_robust(self) -> bool:
        """Whether the covariance allows for other variances than those of the model."""
        return self.model_covariance is not None

    @property
    def full_names(self) -> list[str]:
        """Names of all coefficients, with those of their vectors."""
        if len(self.headings) == 1:
            return list(self.names)
        return [f"{part}: {name}" for part in self.headings for name in self.names]

    def count_vectors(self) -> int:
        """Count the vectors of coefficients that do not depend on the others."""
        n_free = self.n_observations - self.residual_degrees_of_freedom
        return max(1, round(n_free / len(self.names))) if self.names else 1

    def find_containing(self, parts: frozenset) -> list[slice]:
        """Find the places of the terms that are products of these parts with others."""
        return [place for _, place, others in self.terms if parts < others]

    def find_places(self, columns: slice) -> np.ndarray:
        """Find the coefficients of some columns in all vectors."""
        starts = np.arange(len(self.headings)) * len(self.names)
        within = np.arange(len(self.names))[columns]
        return (starts[:, np.newaxis] + within).ravel()

    def measure(self, contrasts: np.ndarray, covariance: np.ndarray | None):
        """Estimate linear combinations; returns them and their standard errors."""
        covariance = self.covariance if covariance is None else covariance
        squares = np.einsum("ij,jk,ik->i", contrasts, covariance, contrasts)
        errors = np.sqrt(np.maximum(squares, 0.0))
        is_lost = (contrasts[:, ~self.is_determined] != 0.0).any(axis=1)
        return contrasts @ self.estimates, np.where(is_lost, np.nan, errors)

    def test(self, contrasts: np.ndarray, covariance: np.ndarray | None) -> WaldTest:
        """Test that linear combinations are zero."""
        covariance = self.covariance if covariance is None else covariance
        if (contrasts[:, ~self.is_determined] != 0.0).any():
            return WaldTest(np.nan, 0, self.degrees_of_freedom)
        values = contrasts @ self.estimates
        scatter = contrasts @ covariance @ contrasts.T
        # In units of their standard errors.
        scale = np.sqrt(np.maximum(scatter.diagonal(), 0.0))
        scale[scale == 0.0] = 1.0
        sizes, vectors = np.linalg.eigh(scatter / scale / scale[:, np.newaxis])
        is_kept = sizes > DEPENDENT * max(sizes.max(initial=0.0), 0.0)
        turned = vectors[:, is_kept].T @ (values / scale)
        n_tested = int(np.count_nonzero(is_kept))
        statistic = float((turned**2 / sizes[is_kept]).sum())
        if self.degrees_of_freedom is not None and n_tested:
            statistic /= n_tested
        return WaldTest(statistic, n_tested, self.degrees_of_freedom)


@dataclass(frozen=True)
class WaldTest:
    """Wald test (沃尔德检验) that linear combinations of coefficients are zero.

    Parameters
    ----------
    statistic : float
        The squared estimates in units of their covariance: chi², or divided by their
        number, F.
    degrees_of_freedom : int
        Number of combinations that do not depend on each other.
    residual_degrees_of_freedom : float or None
        Second degrees of freedom of F; None: the statistic is chi².

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, wald_test
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> test = wald_test(LinearRegression().fit(X, y), ["x0", "x1"])
    >>> test.name, test.degrees_of_freedom, round(test.p_value, 4)
    ('F', 2, 0.0352)
    """

    statistic: float
    degrees_of_freedom: int
    residual_degrees_of_freedom: float | None = None

    @property
    def name(self) -> str:
        """``chi2`` or ``F``."""
        return "chi2" if self.residual_degrees_of_freedom is None else "F"

    @property
    def p_value(self) -> float:
        """Probability of a statistic at least as large if they are zero."""
        n_tested, free = self.degrees_of_freedom, self.residual_degrees_of_freedom
        if not n_tested or np.isnan(self.statistic):
            return np.nan
        if free is None:
            return float(stats.chi2.sf(self.statistic, n_tested))
        return float(stats.f.sf(self.statistic, n_tested, free)) if free > 0 else np.nan


def get_result(model) -> LinearResult:
    """Return the result of a fitted model; refuse other estimators by name."""
    make = getattr(model, "_make_result", None)
    if make is None:
        raise TypeError(
            f"{type(model).__name__} has no coefficients with standard errors here: "
            "pass a fitted LinearRegression, GeneralizedLinearRegressor, "
            "LogisticRegression, MaxEntClassifier or OrdinalRegression."
        )
    check_is_fitted(model)
    return make()


def find_tested(model):
    """Return the model whose coefficients are tested.

    Of a maximum entropy model, it is the logistic regression that it is.
    """
    if not hasattr(model, "_as_logistic"):
        return model
    get_result(model)  # raises its errors
    return model._as_logistic()


def require_no_penalty(model, strength: float, name: str) -> None:
    """Raise ValueError for a penalised model."""
    if strength:
        raise ValueError(
            f"{type(model).__name__} was fitted with a penalty ({name}): its "
            "coefficients are shrunk towards 0, and tests and intervals would not "
            "hold. Fit it without."
        )


def require_likelihood(result: LinearResult) -> None:
    """Raise ValueError for a model whose likelihood has Firth's penalty."""
    if result.is_likelihood_penalised:
        raise ValueError(
            "A model with firth=True has the penalty of all of its columns, so that "
            "likelihoods of models of other columns cannot be compared: use wald_test, "
            "test='wald' of anova, or profile_intervals."
        )


def check_covariance(covariance: ArrayLike | None, result) -> np.ndarray | None:
    """Read a covariance of the coefficients in place of that of the model."""
    if covariance is None:
        return None
    covariance = np.asarray(covariance, dtype=np.float64)
    wanted = result.covariance.shape
    if covariance.shape != wanted or not np.isfinite(covariance).all():
        raise ValueError(
            f"covariance must be a finite matrix of shape {wanted}, for the "
            f"coefficients {', '.join(result.full_names[:3])}, ...; got shape "
            f"{covariance.shape}. robust_covariance returns one."
        )
    return covariance


def read_contrasts(contrasts: Any, result: LinearResult) -> tuple[list, np.ndarray]:
    """Read contrasts as names and rows of weights of all coefficients."""
    places = {name: place for place, name in enumerate(result.full_names)}

    def find(name):
        if name not in places:
            raise ValueError(
                f"{name!r} is not the name of a coefficient; there are "
                f"{', '.join(map(repr, places))}."
            )
        return places[name]

    if isinstance(contrasts, dict):
        names = list(contrasts)
        rows = np.zeros((len(names), len(places)))
        for row, weights in zip(rows, contrasts.values(), strict=True):
            if not isinstance(weights, dict):
                raise TypeError(
                    "contrasts must map names to dicts of weights by the name of the "
                    f"coefficient; got {weights!r}."
                )
            for name, weight in weights.items():
                row[find(name)] = weight
    elif all(isinstance(name, str) for name in contrasts):
        names = list(contrasts)
        rows = np.zeros((len(names), len(places)))
        rows[np.arange(len(names)), [find(name) for name in names]] = 1.0
    else:
        rows = np.atleast_2d(np.asarray(contrasts, dtype=np.float64))
        names = [f"contrast {number}" for number in range(len(rows))]
    if rows.ndim != 2 or rows.shape[1] != len(places) or not np.isfinite(rows).all():
        raise ValueError(
            f"contrasts must have one finite weight for each of {len(places)} "
            f"coefficients; got shape {rows.shape}."
        )
    if not len(rows):
        raise ValueError("contrasts must not be empty.")
    return names, rows
