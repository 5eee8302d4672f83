"""IntervalDisplay."""

import matplotlib as mpl
import numpy as np
import pytest
from sklearn.datasets import load_diabetes

from sklearn_textbook.ensemble import RandomForestRegressor
from sklearn_textbook.inspection import IntervalDisplay
from sklearn_textbook.tree import CARTRegressor

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    import matplotlib.pyplot as plt

    plt.close("all")


def test_intervals_of_a_forest_are_drawn_in_order():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(20, random_state=0, store_distribution=True)
    model.fit(X[:300], y[:300])
    display = IntervalDisplay.from_estimator(model, X[300:], y[300:], coverage=0.8)
    low, high = model.predict_interval(X[300:], 0.8).T
    assert display.coverage == ((low <= y[300:]) & (y[300:] <= high)).mean()
    order = np.argsort(low + high, kind="stable")
    drawn = np.array(display.bars_.get_segments())
    np.testing.assert_array_equal(drawn[:, 0, 1], low[order])
    np.testing.assert_array_equal(drawn[:, 1, 1], high[order])
    again = display.plot(ax=display.ax_, subsample=10)
    assert len(again.bars_.get_segments()) == 10
    assert f"{display.coverage:.1%}" in display.ax_.get_title()


def test_weights_count_in_the_coverage():
    bounds = [[0.0, 2.0], [0.0, 2.0]]
    display = IntervalDisplay.from_predictions([1.0, 3.0], bounds, [3.0, 1.0])
    assert display.coverage == 0.75


def test_infinite_intervals_are_not_drawn():
    bounds = [[0.0, 2.0], [-np.inf, np.inf]]
    display = IntervalDisplay.from_predictions([1.0, 3.0], bounds)
    assert display.coverage == 1.0
    assert len(display.bars_.get_segments()) == 1


def test_bad_input():
    with pytest.raises(TypeError, match="predict_interval; got CARTRegressor"):
        IntervalDisplay.from_estimator(CARTRegressor(), [[0.0]], [0.0])
    with pytest.raises(ValueError, match=r"shape \(n_samples, 2\)"):
        IntervalDisplay.from_predictions([1.0], [1.0])
    with pytest.raises(ValueError, match="inconsistent"):
        IntervalDisplay.from_predictions([1.0, 2.0], [[0.0, 1.0]])
    with pytest.raises(ValueError, match="subsample"):
        IntervalDisplay.from_predictions([1.0], [[0.0, 1.0]], subsample=0)
