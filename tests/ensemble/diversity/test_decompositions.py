"""Decompositions of the squared error."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.ensemble.diversity import (
    bias_variance_covariance_decomposition,
    error_ambiguity_decomposition,
)


@pytest.mark.parametrize("offset", [0.0, 1e6])
@pytest.mark.parametrize("is_weighted", [False, True])
def test_error_is_mean_error_less_ambiguity(offset, is_weighted):
    rng = np.random.default_rng(0)
    y = rng.normal(size=50) + offset
    predictions = y[:, np.newaxis] + rng.normal(size=(50, 7))
    weights = rng.random(7) if is_weighted else None
    sample_weight = rng.random(50) if is_weighted else None
    parts = error_ambiguity_decomposition(y, predictions, weights, sample_weight)
    assert_allclose(parts.error, parts.mean_error - parts.ambiguity, rtol=1e-13)
    assert_allclose(
        parts.row_errors, parts.row_mean_errors - parts.row_ambiguities, atol=1e-13
    )
    shares = np.full(7, 1 / 7) if weights is None else weights / weights.sum()
    errors = (y - predictions @ shares) ** 2
    assert_allclose(parts.error, np.average(errors, weights=sample_weight), rtol=1e-8)
    assert_allclose(parts.mean_error, parts.member_errors @ shares)
    assert_allclose(parts.ambiguity, parts.member_ambiguities @ shares)


def test_members_that_agree_have_no_ambiguity():
    parts = error_ambiguity_decomposition([1.0, 3.0], [[2.0, 2.0], [2.0, 2.0]])
    assert parts.ambiguity == 0.0
    assert parts.error == parts.mean_error == 1.0


def test_error_is_bias_variance_and_covariance():
    rng = np.random.default_rng(1)
    y = rng.normal(size=30)
    common = rng.normal(size=(20, 30, 1))
    fits = y[:, np.newaxis] + 0.3 + common + rng.normal(size=(20, 30, 5))
    weight = rng.random(30)
    parts = bias_variance_covariance_decomposition(y, fits, weight)
    total = parts.squared_bias + parts.variance / 5 + (1 - 1 / 5) * parts.covariance
    assert_allclose(total, parts.error)
    errors = (fits.mean(axis=2) - y) ** 2
    assert_allclose(parts.error, np.average(errors.mean(axis=0), weights=weight))
    deviations = fits - fits.mean(axis=0)
    of_pair = (deviations[:, :, 0] * deviations[:, :, 1]).mean(axis=0)
    two = bias_variance_covariance_decomposition(y, fits[:, :, :2], weight)
    assert_allclose(two.covariance, np.average(of_pair, weights=weight))


def test_one_member_has_no_covariance():
    parts = bias_variance_covariance_decomposition([0.0], [[[1.0]], [[3.0]]])
    assert (parts.error, parts.squared_bias) == (5.0, 4.0)
    assert (parts.variance, parts.covariance) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"weights": [1.0]}, r"weights must have shape \(2,\), one entry per member"),
        ({"weights": [1.0, -1.0]}, "weights must not be negative"),
        ({"weights": [0.0, 0.0]}, "weights"),
        (
            {"y_true": [1.0]},
            "y_true must have one entry per row of predictions, 2 in all, got 1",
        ),
        ({"y_true": [1.0, np.nan]}, "y_true has a missing value in row 1"),
        ({"predictions": [[1.0, np.inf], [1.0, 2.0]]}, "predictions has an infinite"),
        (
            {"predictions": [[1e200, 0.0], [1.0, 2.0]]},
            "by more than 1e.145.*; got 1e.200",
        ),
        ({"predictions": [["a", "b"], ["c", "d"]]}, "predictions must be numbers"),
        ({"predictions": [1.0, 2.0]}, "n_members"),
        (
            {"sample_weight": [1.0]},
            "sample_weight must have one entry per row of predictions, 2 in all, got 1",
        ),
    ],
)
def test_wrong_input_is_refused(given, message):
    right = {"y_true": [1.0, 2.0], "predictions": [[1.0, 2.0], [3.0, 4.0]]}
    with pytest.raises(ValueError, match=message):
        error_ambiguity_decomposition(**(right | given))


@pytest.mark.parametrize(
    ("predictions", "message"),
    [
        ([[1.0, 2.0]], r"\(n_fits, n_samples, n_members\); got \("),
        (
            [[[1.0], [2.0]]],
            "y_true must have one entry per row of predictions, 2 in all, got 1",
        ),
        ([[[np.nan]]], "predictions contains NaN"),
    ],
)
def test_wrong_fits_are_refused(predictions, message):
    with pytest.raises(ValueError, match=message):
        bias_variance_covariance_decomposition([1.0], predictions)
