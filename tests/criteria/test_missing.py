"""Missing values in the formulas: the weights of Zhou (周志华), section 4.4.2."""

import math

import numpy as np
import pyarrow as pa
import pytest

from sklearn_textbook.criteria import (
    best_threshold,
    conditional_entropy,
    entropy,
    gain_ratio,
    gini_index,
    information_gain,
    information_gain_score,
    intrinsic_value,
)
from tests.criteria.test_criteria import make_table
from tests.loops import loop_over


def test_missing_values_by_hand():
    x, y = ["a", "b", None, None], [0, 1, 0, 1]
    assert information_gain(x, y) == 0.5  # half known, gain 1 among these
    assert gain_ratio(x, y) == 0.5
    assert conditional_entropy(x, y) == 0.0
    assert gini_index(x, y) == gini_index(x, y, "a") == 0.0
    assert information_gain(x, y, [3, 3, 1, 1]) == 0.75
    assert best_threshold([1.0, 3.0, np.nan, np.nan], y) == (2.0, 0.5)
    masked = np.ma.array([1, 3, 9, 9], mask=[0, 0, 1, 1])
    assert best_threshold(masked, y) == (2.0, 0.5)
    assert best_threshold([1, 3, None, None], y) == (2.0, 0.5)


def test_column_without_known_value():
    x, y = [None, np.nan], [0, 1]
    assert information_gain(x, y) == gain_ratio(x, y) == 0.0
    for function in (conditional_entropy, gini_index):
        with pytest.raises(ValueError, match="x has no known value"):
            function(x, y)
    with pytest.raises(ValueError, match="x has no known value"):
        intrinsic_value(x)


@loop_over("seed", range(10))
def test_missing_values_by_the_book(seed):
    """Formulas 4.9 to 4.12 of 4.4.2, written out with weights."""
    x, _, y, weights = make_table(seed)
    known = np.array([value is not None for value in x])
    weight_known = weights[known].sum()
    rho = weight_known / weights.sum()

    def weigh(rows):
        """Weights of the classes among some rows, and entropy and Gini index."""
        parts = [weights[rows & (y == label)].sum() for label in "abc"]
        shares = [part / sum(parts) for part in parts if part]
        entropy = -sum(share * math.log2(share) for share in shares)
        return sum(parts), entropy, 1 - sum(share**2 for share in shares)

    _, entropy_known, _ = weigh(known)
    branches = [weigh(known & (x == level)) for level in "pqr"]
    r = [weight / weight_known for weight, _, _ in branches]
    left = sum(share * branch[1] for share, branch in zip(r, branches, strict=True))
    index = sum(share * branch[2] for share, branch in zip(r, branches, strict=True))
    value = -sum(share * math.log2(share) for share in r)
    gain = rho * (entropy_known - left)
    assert conditional_entropy(x, y, weights) == pytest.approx(left, abs=1e-12)
    assert information_gain(x, y, weights) == pytest.approx(gain, abs=1e-12)
    assert intrinsic_value(x, weights) == pytest.approx(value, abs=1e-12)
    assert gain_ratio(x, y, weights) == pytest.approx(gain / value, abs=1e-12)
    assert gini_index(x, y, None, weights) == pytest.approx(index, abs=1e-12)


@pytest.mark.parametrize("value", [1.5, "a", 3])
def test_pyarrow_dictionaries_with_nulls(value):
    """Whose nulls pyarrow itself hands out as the last value of the dictionary."""
    plain = pa.array([value, None, type(value)(2 * value), value])
    encoded = plain.dictionary_encode()
    y = [0, 1, 1, 0]
    for column in (pa.chunked_array([encoded]), pa.chunked_array([plain, plain])):
        labels = y * (len(column) // 4)
        column = column.dictionary_encode()
        expected = information_gain(column.to_pylist(), labels)
        assert information_gain(column, labels) == expected
        scores = information_gain_score(
            pa.table({"c": column}), labels, categorical_features="all"
        )
        assert scores == [expected]
        if value != "a":
            threshold = best_threshold(column.to_pylist(), labels)
            assert best_threshold(column, labels) == threshold
    with pytest.raises(
        ValueError, match="y must not have missing values; got one at position 1"
    ):
        entropy(pa.chunked_array([encoded]))
