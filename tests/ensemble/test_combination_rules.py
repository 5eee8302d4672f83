"""Rules on arrays: hand-worked tables, definitions, invariances, errors."""

import numpy as np
import pytest
from scipy.optimize import minimize

from sklearn_textbook.ensemble.combination import (
    choose_by_votes,
    combine_probabilities,
    compute_inverse_error_weights,
    compute_non_negative_weights,
    compute_optimal_weights,
    count_votes,
)
from sklearn_textbook.ensemble.combination.rules import BLOCK, FEW_MEMBERS

WEIGHTINGS = [
    compute_inverse_error_weights,
    compute_optimal_weights,
    compute_non_negative_weights,
]
RULES = ("mean", "product", "min", "max", "median")


def test_votes_counted_by_hand():
    votes = [[0, 0, 1], [2, 1, 0], [1, 1, 1]]
    assert count_votes(votes).tolist() == [[2, 1, 0], [1, 1, 1], [0, 3, 0]]
    weighted = count_votes(votes, 4, weights=[0.5, 1, 2])
    assert weighted.tolist() == [[1.5, 2, 0, 0], [2, 1, 0.5, 0], [0, 3.5, 0, 0]]


@pytest.mark.parametrize(
    ("counts", "plurality", "majority", "unanimity"),
    [
        ([3, 2, 0], 0, 0, -1),
        ([2, 2, 1], 0, -1, -1),  # the first of equals; no majority
        ([1, 2, 2], 1, -1, -1),
        ([2, 0, 2], 0, -1, -1),  # half is no majority
        ([0, 5, 0], 1, 1, 1),
        ([0.1, 0.2, 0.3], 2, -1, -1),  # 0.3 is half of 0.6, but for rounding
    ],
)
def test_choice_by_hand(counts, plurality, majority, unanimity):
    assert choose_by_votes([counts]) == plurality
    assert choose_by_votes([counts], "majority") == majority
    assert choose_by_votes([counts], "unanimity") == unanimity


def test_ties_by_confidence_and_by_chance():
    counts = [[2, 2, 1]] * 200
    sure = np.tile([0.3, 0.31, 0.39], (200, 1))
    assert set(choose_by_votes(counts, tie_breaking="confidence", confidence=sure)) == {
        1
    }
    drawn = choose_by_votes(counts, tie_breaking="random", random_state=0)
    assert set(drawn) == {0, 1}
    assert 70 < np.count_nonzero(drawn) < 130
    again = choose_by_votes(counts, tie_breaking="random", random_state=0)
    assert (drawn == again).all()


def test_probabilities_combined_by_hand():
    members = np.array([[[0.7, 0.2, 0.1]], [[0.4, 0.5, 0.1]], [[0.1, 0.3, 0.6]]])
    expected = {
        "mean": [0.4, 1 / 3, 0.8 / 3],
        "product": np.array([28, 30, 6]) / 64,
        "min": np.array([1, 2, 1]) / 4,
        "max": np.array([7, 5, 6]) / 18,
        "median": np.array([4, 3, 1]) / 8,
    }
    for rule, values in expected.items():
        np.testing.assert_allclose(combine_probabilities(members, rule)[0], values)
    weighted = combine_probabilities(members, "mean", [2, 1, 1])
    np.testing.assert_allclose(weighted, [[0.475, 0.3, 0.225]])
    weighted = combine_probabilities(members, "product", [2, 0, 1])
    products = np.array([0.049, 0.012, 0.006])
    np.testing.assert_allclose(weighted[0], products / products.sum())


@pytest.mark.parametrize("rule", ["product", "min", "median"])
def test_members_sure_of_different_classes(rule):
    """Where a rule gives 0 for every class, the mean decides."""
    members = np.eye(3)[:, np.newaxis]
    np.testing.assert_allclose(combine_probabilities(members, rule), [[1 / 3] * 3])


def test_product_of_many_members_does_not_underflow():
    members = np.tile([0.2, 0.3, 0.5], (5000, 2, 1))
    combined = combine_probabilities(members, "product")
    np.testing.assert_allclose(combined, [[0, 0, 1]] * 2, atol=1e-300)


@pytest.mark.parametrize("rule", RULES)
def test_invariances(rule):
    rng = np.random.default_rng(0)
    members = rng.dirichlet(np.ones(4), (5, 30))
    combined = combine_probabilities(members, rule)
    np.testing.assert_allclose(combined.sum(axis=1), 1)
    mixed = combine_probabilities(members[rng.permutation(5)], rule)
    np.testing.assert_allclose(mixed, combined)
    classes = rng.permutation(4)
    renamed = combine_probabilities(members[:, :, classes], rule)
    np.testing.assert_allclose(renamed, combined[:, classes])
    alike = combine_probabilities(np.stack([members[0]] * 3), "median")
    np.testing.assert_allclose(alike, members[0])


@pytest.mark.parametrize("n_members", [1, 2, 3, 6, FEW_MEMBERS, FEW_MEMBERS + 1, 20])
def test_blocks_of_rows(n_members):
    """Members in arrays of their own, of any type and order, which are not changed."""
    rng = np.random.default_rng(n_members)
    given = rng.integers(0, 5, (n_members, BLOCK // 2 + 3, 3)) / 4 + 1e-3
    members = [*given]
    members[0] = np.asfortranarray(given[0])
    members[-1] = given[-1].astype(np.float32)
    expected = {
        "mean": given.mean(axis=0),
        "product": given.prod(axis=0),
        "min": given.min(axis=0),
        "max": given.max(axis=0),
        "median": np.median(given, axis=0),
    }
    for rule, values in expected.items():
        values /= values.sum(axis=1, keepdims=True)
        combined = combine_probabilities(members, rule)
        np.testing.assert_allclose(combined, values, rtol=1e-6)
    for one, before in zip(members, given, strict=True):
        np.testing.assert_allclose(one, before, rtol=1e-6)


@pytest.mark.parametrize("rule", ["mean", "product"])
def test_weights_are_copies_of_members(rule):
    rng = np.random.default_rng(1)
    members = rng.dirichlet(np.ones(3), (3, 20))
    copied = combine_probabilities(members[[0, 1, 1, 2, 2, 2]], rule)
    weighted = combine_probabilities(members, rule, [1, 2, 3])
    np.testing.assert_allclose(weighted, copied)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: count_votes([[0, -1]]), "at least 0"),
        (lambda: count_votes([[0.5]]), "class numbers"),
        (lambda: count_votes([[3]], 3), "below n_classes=3, got the class number 3"),
        (
            lambda: count_votes([[0, 1]], weights=[1]),
            r"shape \(2,\), one entry per member",
        ),
        (lambda: count_votes([[0, 1]], weights=[1, -2]), "got -2.0 for member 1"),
        (lambda: count_votes([[0, 1]], weights=[0, 0]), "all zero"),
        (lambda: choose_by_votes([[1, 0]], "most"), "'plurality'"),
        (lambda: choose_by_votes([[1, 1]], tie_breaking="confidence"), "confidence"),
        (lambda: combine_probabilities([[0.5, 0.5]]), "n_members"),
        (lambda: combine_probabilities([]), "got 0 members"),
        (lambda: combine_probabilities(0.5), "n_members"),
        (
            lambda: combine_probabilities([[[0.5, 0.5]], [[1.0]]]),
            r"got 2 members of shapes \[\(1, 1\), \(1, 2\)\]",
        ),
        (lambda: combine_probabilities([[[0.5, -0.5]]]), "non-negative"),
        (lambda: combine_probabilities([[[np.nan, 1]]]), "NaN"),
        (
            lambda: combine_probabilities([[[1.0]]], "min", [1]),
            "only with rule in .*, got rule='min'",
        ),
        (
            lambda: compute_optimal_weights([1, 2], [[1, 2]]),
            "one value per row of predictions",
        ),
        (lambda: compute_optimal_weights([np.nan], [[1, 2]]), "y has a missing"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


# ---------------------------------------------------------------- weights of averages
@pytest.fixture
def predictions():
    rng = np.random.default_rng(2)
    y = rng.normal(size=200)
    noise = rng.normal(size=(200, 1)) * [0.5, 0.5, 0.1, 0]
    own = rng.normal(size=(200, 4)) * [0.2, 0.4, 0.6, 1.5]
    return y, y[:, np.newaxis] + noise + own, rng.integers(0, 4, 200)


def test_inverse_errors(predictions):
    y, values, _ = predictions
    inverse = 1 / ((values - y[:, np.newaxis]) ** 2).mean(axis=0)
    weights = compute_inverse_error_weights(y, values)
    np.testing.assert_allclose(weights, inverse / inverse.sum())
    values[:, [1, 3]] = y[:, np.newaxis]
    assert compute_inverse_error_weights(y, values).tolist() == [0, 0.5, 0, 0.5]


def test_optimal_weights_are_those_of_the_inverse_covariance(predictions):
    y, values, _ = predictions
    errors = values - y[:, np.newaxis]
    inverse = np.linalg.inv(errors.T @ errors / len(y))
    expected = inverse.sum(axis=1) / inverse.sum()
    np.testing.assert_allclose(compute_optimal_weights(y, values), expected)
    assert np.isclose(expected.sum(), 1)


def test_optimal_weights_of_equal_members(predictions):
    """Two equal members share the weight that one of them has alone."""
    y, values, _ = predictions
    alone = compute_optimal_weights(y, values)
    doubled = compute_optimal_weights(y, values[:, [0, 1, 1, 2, 3]])
    np.testing.assert_allclose(doubled.sum(), 1)
    np.testing.assert_allclose(doubled[[0, 3, 4]], alone[[0, 2, 3]])
    np.testing.assert_allclose(doubled[[1, 2]], alone[1] / 2)


@pytest.mark.parametrize("sum_to_one", [False, True])
def test_non_negative_weights_are_the_minimum(predictions, sum_to_one):
    y, values, counts = predictions

    def loss(w):
        return (counts * (y - values @ w) ** 2).sum()

    conditions = {"type": "eq", "fun": lambda w: w.sum() - 1} if sum_to_one else ()
    start, bounds = np.full(4, 0.25), [(0, None)] * 4
    options = {"ftol": 1e-14, "maxiter": 1000}
    best = minimize(
        loss,
        start,
        bounds=bounds,
        constraints=conditions,
        method="SLSQP",
        options=options,
    )
    weights = compute_non_negative_weights(y, values, counts, sum_to_one=sum_to_one)
    assert (weights >= 0).all()
    assert loss(weights) <= best.fun * (1 + 1e-9)
    if sum_to_one:
        assert np.isclose(weights.sum(), 1)


@pytest.mark.parametrize("compute", WEIGHTINGS)
def test_sample_weights_are_repetitions(predictions, compute):
    y, values, counts = predictions
    repeated = compute(np.repeat(y, counts), np.repeat(values, counts, axis=0))
    np.testing.assert_allclose(compute(y, values, counts), repeated, atol=1e-12)


@pytest.mark.parametrize("compute", WEIGHTINGS)
@pytest.mark.parametrize("exponent", [-1000, -700, 700, 1000])
def test_weights_do_not_depend_on_the_unit(predictions, compute, exponent):
    y, values, counts = predictions
    unit = 2.0**exponent
    found = compute(y * unit, values * unit, counts)
    np.testing.assert_allclose(found, compute(y, values, counts), rtol=1e-9)


@pytest.mark.parametrize("n_members", [2, 5])
def test_optimal_weights_of_members_that_are_all_alike(predictions, n_members):
    """Their differences are rounding, or zero."""
    y, values, counts = predictions
    for one in (values[:, 0], np.full(len(y), 0.1), y):
        alike = np.repeat(one[:, np.newaxis], n_members, axis=1)
        for weight in (None, counts):
            weights = compute_optimal_weights(y, alike, weight)
            np.testing.assert_allclose(weights, 1 / n_members, atol=1e-12)


@pytest.mark.parametrize("weights", [None, [2.0, 0.5, 1.0, 3.0]])
@pytest.mark.parametrize("exponent", [0, -90, -200, 90, 200])
def test_products_of_any_size(exponent, weights):
    """Rows whose products are no floating-point numbers, next to ordinary ones."""
    random = np.random.default_rng(0)
    members = random.dirichlet(np.ones(3), size=(4, 50))
    scaled = members.copy()
    scaled[:, ::2] *= 10.0**exponent
    combined = combine_probabilities(scaled, "product", weights)
    logarithms = np.tensordot(
        np.ones(4) if weights is None else weights, np.log(members), axes=1
    )
    expected = np.exp(logarithms - logarithms.max(axis=1, keepdims=True))
    expected /= expected.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(combined, expected, rtol=1e-9, atol=1e-12)


def test_product_of_members_that_are_nearly_sure_of_different_classes():
    sure, other = [[1.0, 1e-200]], [[1e-200, 1.0]]
    combined = combine_probabilities([sure, sure, other, other], "product")
    np.testing.assert_allclose(combined, [[0.5, 0.5]])
