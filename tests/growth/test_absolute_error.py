"""The absolute error: medians of growing sets of values."""

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sklearn_textbook.tree import CARTRegressor

#: One more level of marks from 64, 64² and 64³ ranks on.
SIZES = (50, 64, 65, 4096, 4097, 64**3 + 1)


def measure_losses(y, weight):
    """Absolute error of the first i values about their median, for all i, slowly."""
    losses = []
    for n in range(1, len(y) + 1):
        order = np.argsort(y[:n])
        cumulated = weight[:n][order].cumsum()
        median = y[:n][order][np.searchsorted(cumulated, cumulated[-1] / 2)]
        losses.append((weight[:n] * np.abs(y[:n] - median)).sum())
    return np.array(losses)


@pytest.mark.parametrize("n_rows", SIZES)
def test_first_split_is_the_best(n_rows):
    rng = np.random.default_rng(n_rows)
    x = np.arange(n_rows, dtype=float)
    y = rng.permutation(n_rows) + np.where(x < 0.3 * n_rows, 0.0, 0.2 * n_rows)
    tree = CARTRegressor(criterion="absolute_error", max_depth=1).fit(x[:, None], y)
    n_left = int(np.ceil(tree.tree_.threshold[0]))
    left, right = y[:n_left], y[n_left:]
    assert tree.tree_.value[1:, 0, 0].tolist() == [np.median(left), np.median(right)]

    def measure(n):
        parts = y[:n], y[n:]
        return sum(np.abs(part - np.median(part)).sum() for part in parts)

    # The loss has its minimum near 0.3, but others close to it are nearly as good.
    near = n_left + rng.integers(-n_rows // 20, n_rows // 20, 30)
    for n in np.clip([*near, n_left - 1, n_left + 1], 1, n_rows - 1):
        assert measure(n_left) <= measure(n) + 1e-9 * n_rows


@pytest.mark.parametrize("spread", [0.0, 1.0, 8.0], ids="weights^{}".format)
def test_weights_of_different_orders_of_magnitude(spread):
    rng = np.random.default_rng(5)
    n_rows = 300
    y, weight = rng.normal(size=n_rows), np.exp(spread * rng.normal(size=n_rows))
    losses = measure_losses(y, weight)
    losses[:-1] += measure_losses(y[::-1], weight[::-1])[-2::-1]
    tree = CARTRegressor(criterion="absolute_error", max_depth=1)
    tree.fit(np.arange(float(n_rows))[:, None], y, weight)
    n_left = int(np.ceil(tree.tree_.threshold[0]))
    assert_allclose(losses[n_left - 1], losses[:-1].min(), rtol=1e-9)
