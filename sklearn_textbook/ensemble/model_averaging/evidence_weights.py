"""Weights of Bayesian model averaging, from log evidence or held-out log densities."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array, check_random_state

from sklearn_textbook._contract.parameters import check_integer, check_random_seed
from sklearn_textbook._contract.weights import check_weights

#: Random numbers that are drawn at a time.
MOST_DRAWN = 2**22
EPSILON = np.finfo(np.float64).eps


def compute_evidence_weights(
    log_evidence: ArrayLike, prior: ArrayLike | None = None
) -> np.ndarray:
    r"""Compute posterior probabilities of models from their log evidence.

    .. math:: w_i = \frac{\pi_i \, e^{L_i}}{\sum_k \pi_k \, e^{L_k}}

    They are computed from logarithms, so no exponential underflows.

    Parameters
    ----------
    log_evidence : array-like of shape (n_members,)
        Logarithms :math:`L_i` of the evidence, up to a common constant; for a Bayesian
        information criterion, -BIC / 2. Minus infinity excludes a model.
    prior : array-like of shape (n_members,), default=None
        Prior probabilities :math:`\pi_i`, up to a common factor. None: all equal.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Weights that sum to 1.

    Raises
    ------
    ValueError
        If the prior is not one non-negative number per model, or if all models are
        excluded.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.model_averaging import compute_evidence_weights
    >>> compute_evidence_weights(np.log([1, 3]) - 5000)
    array([0.25, 0.75])
    >>> compute_evidence_weights(np.log([1, 3]), prior=[3, 1])
    array([0.5, 0.5])
    """
    log_evidence = np.asarray(log_evidence, dtype=np.float64)
    return normalise_log_weights(
        log_evidence + compute_log_prior(prior, len(log_evidence))
    )


def compute_pseudo_bma_plus_weights(
    log_densities: ArrayLike,
    *,
    prior: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    n_bootstrap: int = 1000,
    random_state: int | np.random.RandomState | None = None,
) -> np.ndarray:
    r"""Compute pseudo-BMA+ weights by the Bayesian bootstrap.

    With the held-out log densities :math:`\ell_{ni} = \log p_i(y_n \mid x_n)`, each of
    B replications draws proportions of the rows and computes weights from them; the
    result is the mean over the replications:

    .. math::

        \alpha^{(b)} \sim \mathrm{Dirichlet}(s_1, \dots, s_N), \quad
        z_i^{(b)} = \Bigl(\sum_n s_n\Bigr) \sum_n \alpha_n^{(b)} \ell_{ni}, \quad
        w_i = \frac{1}{B} \sum_b
            \frac{\pi_i e^{z_i^{(b)}}}{\sum_k \pi_k e^{z_k^{(b)}}}.

    Parameters
    ----------
    log_densities : array-like of shape (n_samples, n_members)
        Logarithms of the probability, or density, that each member assigns to the true
        value of each row, to which it was not fitted. Minus infinity excludes a member.
    prior : array-like of shape (n_members,), default=None
        Prior probabilities of the members, up to a common factor. None: all equal.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights :math:`s_n` of the rows; a weight of 2 counts as two equal rows. None: 1
        for each, the usual Bayesian bootstrap.
    n_bootstrap : int, default=1000
        Number B of replications.
    random_state : int, RandomState instance or None, default=None
        Seed for drawing the proportions.

    Returns
    -------
    weights : ndarray of float64, shape (n_members,)
        Weights that sum to 1.

    Raises
    ------
    ValueError
        If an argument is invalid.

    Notes
    -----
    Source: Y. Yao, A. Vehtari, D. Simpson and A. Gelman, "Using stacking to average
    Bayesian predictive distributions", Bayesian Analysis 13(3), 2018, section 3.4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.model_averaging import (
    ...     compute_pseudo_bma_plus_weights)
    >>> log_densities = np.log([[0.5, 0.9], [0.5, 0.3], [0.5, 0.9], [0.5, 0.2]])
    >>> compute_pseudo_bma_plus_weights(log_densities, random_state=0).round(2)
    array([0.55, 0.45])
    """
    log_densities = check_array(
        log_densities,
        dtype=np.float64,
        ensure_all_finite=False,
        input_name="log_densities",
    )
    if not (log_densities < np.inf).all():
        raise ValueError("log_densities contains NaN or infinity.")
    check_integer("n_bootstrap", n_bootstrap, 1)
    check_random_seed("random_state", random_state)
    seed = check_random_state(random_state).randint(np.iinfo(np.int32).max)
    # RandomState's Dirichlet distribution fails for very small weights.
    generator = np.random.default_rng(seed)
    log_prior = compute_log_prior(prior, log_densities.shape[1])
    weight = check_weights(sample_weight, len(log_densities))
    if weight is None:
        weight = np.ones(len(log_densities))
    is_present = weight > 0
    weight, log_densities = weight[is_present], log_densities[is_present]
    total = weight.sum()
    is_excluded = np.isneginf(log_densities).any(axis=0)
    log_prior = np.where(is_excluded, -np.inf, log_prior)
    log_densities = np.where(is_excluded, 0.0, log_densities)
    # Differences are what counts; those of rows may be far smaller than the values.
    log_densities -= log_densities.max(axis=1, keepdims=True)
    sums = np.zeros(log_densities.shape[1])
    n_left, step = int(n_bootstrap), max(1, MOST_DRAWN // len(weight))
    while n_left:
        fractions = generator.dirichlet(weight, size=min(step, n_left))
        n_left -= len(fractions)
        logs = log_prior + total * (fractions @ log_densities)
        sums += normalise_log_weights(logs).sum(axis=0)
    return sums / sums.sum()


def compute_log_prior(prior: ArrayLike, n_members: int) -> np.ndarray:
    """Read prior probabilities, and compute their logarithms."""
    if prior is None:
        return np.full(n_members, -np.log(n_members))
    values = read_numbers("prior", prior, n_members)
    if (values < 0).any() or not values.any():
        raise ValueError(
            "The 'prior' parameter must be numbers of at least 0 that are not all 0; "
            f"got {prior!r}."
        )
    with np.errstate(divide="ignore"):
        return np.log(values / values.max()) - np.log((values / values.max()).sum())


def read_numbers(
    name: str, values: ArrayLike, n_members: int, what: str = "estimators"
) -> np.ndarray:
    """Read one finite number for each member."""
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all() or numbers.ndim != 1:
        raise ValueError(
            f"The {name!r} parameter must be None or an array of one finite number for "
            f"each of the {n_members} {what}; got {values!r}."
        )
    if len(numbers) != n_members:
        raise ValueError(
            f"The {name!r} parameter must have one number for each of the {n_members} "
            f"{what}; got {len(numbers)}: {values!r}."
        )
    return numbers


def normalise_log_weights(log_weights):
    """Compute weights that sum to 1, along the last axis, from their logarithms."""
    largest = log_weights.max(axis=-1, keepdims=True)
    if not (largest > -np.inf).all():
        raise ValueError(
            "All members are excluded: those with a prior above 0 assign probability 0 "
            "to the data."
        )
    weights = np.exp(log_weights - largest)
    return weights / weights.sum(axis=-1, keepdims=True)


def compute_class_log_densities(
    codes: np.ndarray, probabilities: list[np.ndarray], floor: float
) -> np.ndarray:
    """Compute logarithms of the probabilities of the true classes."""
    rows = np.arange(len(codes))
    given = np.stack([of_member[rows, codes] for of_member in probabilities], axis=1)
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(given.astype(np.float64), floor))


def compute_normal_log_densities(
    y: np.ndarray, predictions: np.ndarray, sample_weight: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Compute logarithms of normal densities around predictions."""
    scale = max(np.abs(y).max(), np.abs(predictions).max(), np.finfo(np.float64).tiny)
    errors = predictions / scale - (y / scale)[:, np.newaxis]
    variances = np.average(errors**2, axis=0, weights=sample_weight)
    variances = np.maximum(variances, EPSILON**2)
    log_densities = -0.5 * (
        np.log(2 * np.pi * variances) + 2 * np.log(scale) + errors**2 / variances
    )
    return log_densities, np.sqrt(variances) * scale
