"""The kappa-error diagram."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from sklearn_textbook.ensemble import BaggingClassifier
from sklearn_textbook.ensemble.diversity import kappa_error_points, predict_members
from sklearn_textbook.inspection import KappaErrorDisplay

X, Y = load_iris(return_X_y=True)
MODEL = BaggingClassifier(n_estimators=6, random_state=0).fit(X[::2], Y[::2])


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("is_weighted", [False, True])
def test_points_are_those_of_the_members(is_weighted):
    rows, y = X[1::2], Y[1::2]
    weight = np.random.default_rng(0).random(len(y)) if is_weighted else None
    display = KappaErrorDisplay.from_estimator(MODEL, rows, y, sample_weight=weight)
    predictions = predict_members(MODEL, rows)
    points = kappa_error_points(y, predictions, sample_weight=weight)
    drawn = display.points_.get_offsets()
    assert_allclose(drawn, np.column_stack((points["kappa"], points["error"])))
    assert_allclose(display.centre_.get_offsets(), [drawn.mean(axis=0)])
    given = KappaErrorDisplay.from_predictions(y, predictions, sample_weight=weight)
    assert_allclose(given.points_.get_offsets(), drawn)


def test_axes_and_legend_are_named():
    display = KappaErrorDisplay.from_estimator(MODEL, X, Y)
    assert display.ax_.get_xlabel() == r"$\kappa$ of two members"
    assert display.ax_.get_ylabel() == "mean error of two members"
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["BaggingClassifier", "mean"]
    assert display.figure_ is display.ax_.figure
    again = KappaErrorDisplay([0.1, 0.2], [0.3, 0.4]).plot(centre=False)
    assert again.ax_.get_legend() is None
    assert again.centre_ is None
    assert again.hull_ is None


def test_several_ensembles_share_axes():
    display = KappaErrorDisplay.from_estimator(MODEL, X, Y, name="one")
    scatter_kw = {"color": "green", "s": 3}
    other = KappaErrorDisplay.from_estimator(
        MODEL, X, Y, ax=display.ax_, name="two", scatter_kw=scatter_kw
    )
    assert other.ax_ is display.ax_
    assert_allclose(other.points_.get_facecolor()[0, :3], to_rgb("green"))
    texts = [text.get_text() for text in other.ax_.get_legend().get_texts()]
    assert {"one", "two"} <= set(texts)


def test_hull_goes_around_all_points():
    kappa, error = [0, 1, 1, 0, 0.5, 0.4], [0, 0, 1, 1, 0.5, 0.6]
    display = KappaErrorDisplay(kappa, error).plot(hull=True)
    corners = {tuple(corner) for corner in display.hull_.get_xydata().tolist()}
    assert corners == {(0, 0), (1, 0), (1, 1), (0, 1)}
    # Three pairs of the same members have no hull.
    assert KappaErrorDisplay([1.0] * 3, [0.2] * 3).plot(hull=True).hull_ is None
    assert KappaErrorDisplay([1.0], [0.2]).plot(hull=True).hull_ is None


@pytest.mark.parametrize(
    ("kappa", "error", "message"),
    [
        ([0.1], [0.1, 0.2], r"shapes \(1,\) and \(2,\)"),
        ([[0.1]], [[0.1]], r"shapes \(1, 1\)"),
        ([], [], "at least one"),
        ([np.nan], [0.1], "kappa must have at least one entry, all finite"),
        ([0.1], [np.inf], "error must have at least one entry, all finite"),
    ],
)
def test_wrong_points_are_refused(kappa, error, message):
    with pytest.raises(ValueError, match=message):
        KappaErrorDisplay(kappa, error)


def test_wrong_use_is_refused():
    with pytest.raises(ValueError, match="'hull' parameter must be True or False"):
        KappaErrorDisplay([0.1], [0.1]).plot(hull="yes")
    with pytest.raises(NotFittedError):
        KappaErrorDisplay.from_estimator(BaggingClassifier(), X, Y)


def test_long_names_are_short_in_the_legend():
    display = KappaErrorDisplay([0.1, 0.2], [0.1, 0.3], name="a long name " * 9).plot()
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts == ["a long name a long name a long name a…", "mean"]
