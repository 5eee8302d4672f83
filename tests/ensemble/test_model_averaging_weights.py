"""Weights of Bayesian model averaging from arrays."""

import numpy as np
import pytest

from sklearn_textbook.ensemble.model_averaging import (
    compute_evidence_weights,
    compute_pseudo_bma_plus_weights,
)


def test_weights_of_evidence_by_hand():
    # 2 * 0.5 : 1 * 0.25 = 4 : 1
    weights = compute_evidence_weights(np.log([0.5, 0.25]), prior=[2, 1])
    np.testing.assert_allclose(weights, [0.8, 0.2])


def test_weights_do_not_underflow():
    weights = compute_evidence_weights([-1e6, -1e6 + np.log(3), -2e6])
    np.testing.assert_allclose(weights, [0.25, 0.75, 0])
    np.testing.assert_array_equal(compute_evidence_weights([-np.inf, -5.0]), [0, 1])


@pytest.mark.parametrize(
    ("prior", "message"),
    [
        ([1, -1], "'prior' parameter must be numbers of at least 0"),
        ([0, 0], "not all 0"),
        ([1, 2, 3], "one number for each of the 2 estimators; got 3"),
        ([1, np.nan], "one finite number for each of the 2"),
        ("alike", "one finite number for each of the 2"),
        ([[1], [2]], "one finite number for each of the 2"),
    ],
)
def test_prior_of_arrays_is_checked(prior, message):
    with pytest.raises(ValueError, match=message):
        compute_evidence_weights([0.0, 0.0], prior)


def test_excluded_members_are_an_error():
    with pytest.raises(ValueError, match="All members are excluded"):
        compute_evidence_weights([-np.inf, 0.0], prior=[1, 0])


def test_bootstrap_by_formula():
    rng = np.random.default_rng(0)
    log_densities = rng.normal(size=(30, 3))
    prior = np.array([0.5, 0.3, 0.2])
    shares = rng.dirichlet(np.ones(30), size=40_000)
    each = prior * np.exp(30 * shares @ log_densities)
    expected = (each / each.sum(axis=1, keepdims=True)).mean(axis=0)
    weights = compute_pseudo_bma_plus_weights(
        log_densities, prior=prior, n_bootstrap=40_000, random_state=1
    )
    np.testing.assert_allclose(weights, expected, atol=0.01)
    again = compute_pseudo_bma_plus_weights(
        log_densities, prior=prior, n_bootstrap=40_000, random_state=1
    )
    np.testing.assert_array_equal(weights, again)


def test_bootstrap_of_differences_that_rows_share_changes_nothing():
    common = np.random.default_rng(0).normal(size=(50, 1))
    log_densities = common + np.array([0.0, 0.02, -0.01])
    np.testing.assert_allclose(
        compute_pseudo_bma_plus_weights(log_densities, random_state=0),
        compute_evidence_weights(log_densities.sum(axis=0)),
    )


def test_bootstrap_is_less_sure_than_the_sum():
    rng = np.random.default_rng(0)
    log_densities = np.column_stack([np.zeros(200), rng.normal(-0.03, 0.5, 200)])
    sums = compute_evidence_weights(log_densities.sum(axis=0))
    weights = compute_pseudo_bma_plus_weights(log_densities, random_state=0)
    assert sums[0] > 0.95
    assert 0.5 < weights[0] < sums[0] - 0.05


def test_weights_of_bootstrap_are_repetitions():
    rng = np.random.default_rng(0)
    log_densities, counts = rng.normal(size=(40, 2)), rng.integers(0, 4, size=40)
    weighted, repeated = (
        compute_pseudo_bma_plus_weights(
            table, sample_weight=weight, n_bootstrap=20_000, random_state=0
        )
        for table, weight in (
            (log_densities, counts),
            (np.repeat(log_densities, counts, axis=0), None),
        )
    )
    # Equal in distribution, not draw for draw.
    np.testing.assert_allclose(weighted, repeated, atol=0.01)


def test_bootstrap_with_tiny_weights():
    weights = compute_pseudo_bma_plus_weights(
        [[0.0, 1.0], [0.0, -1.0]], sample_weight=[1e-9, 1e-9], random_state=0
    )
    np.testing.assert_allclose(weights, [0.5, 0.5])


def test_bootstrap_excludes_members():
    table = [[0.0, -np.inf, -1.0], [0.0, 0.0, -1.0]]
    weights = compute_pseudo_bma_plus_weights(table, random_state=0)
    np.testing.assert_allclose(weights, compute_evidence_weights([0, -np.inf, -2]))
    weights = compute_pseudo_bma_plus_weights(table, sample_weight=[0, 1])
    np.testing.assert_allclose(weights, compute_evidence_weights([0, 0, -1]))


def test_bootstrap_is_checked():
    for wrong in (np.nan, np.inf):
        with pytest.raises(ValueError, match="log_densities contains NaN or inf"):
            compute_pseudo_bma_plus_weights([[0.0, wrong]])
    with pytest.raises(ValueError, match="n_bootstrap"):
        compute_pseudo_bma_plus_weights([[0.0, 0.0]], n_bootstrap=0)
