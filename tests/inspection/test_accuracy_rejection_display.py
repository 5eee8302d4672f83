"""The curve of accuracy by coverage."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import RidgeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier

from sklearn_textbook.ensemble import VotingClassifier
from sklearn_textbook.inspection import AccuracyRejectionDisplay
from sklearn_textbook.tree import CARTClassifier

MEMBERS = [
    ("bayes", GaussianNB()),
    ("near", KNeighborsClassifier()),
    ("tree", CARTClassifier(max_depth=2)),
]


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def draw(*args, **kwargs):
    return AccuracyRejectionDisplay.from_predictions(*args, **kwargs)


def test_curve_by_hand():
    display = draw(
        list("abab"), list("abbb"), [1, 2, 1, 4], confidence=[0.5, 0.9, 0.9, 0.1]
    )
    np.testing.assert_allclose(display.thresholds, [0.9, 0.5, 0.1])
    np.testing.assert_allclose(display.coverage, [3 / 8, 4 / 8, 1])
    np.testing.assert_allclose(display.accuracy, [2 / 3, 3 / 4, 7 / 8])
    np.testing.assert_allclose(
        display.line_.get_xydata(), np.stack([display.coverage, display.accuracy], 1)
    )


def test_weights_are_repetitions_and_zero_leaves_out():
    rng = np.random.default_rng(0)
    y, predicted, sure = rng.integers(0, 2, 50), rng.integers(0, 2, 50), rng.random(50)
    counts = rng.integers(0, 3, 50)
    one = draw(y, predicted, counts, confidence=sure)
    other = draw(
        *(np.repeat(v, counts) for v in (y, predicted)),
        confidence=np.repeat(sure, counts),
    )
    for name in ("coverage", "accuracy"):
        np.testing.assert_allclose(
            np.unique(getattr(one, name)), np.unique(getattr(other, name))
        )


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_thresholds_are_those_of_voting(voting):
    X, y = load_iris(return_X_y=True)
    model = VotingClassifier(MEMBERS, voting=voting).fit(X, y)
    display = AccuracyRejectionDisplay.from_estimator(model, X, y)
    assert display.ax_.get_legend().get_texts()[0].get_text() == "VotingClassifier"
    for threshold in display.thresholds.tolist():
        # Voting does not tell apart what differs by rounding alone.
        place = np.flatnonzero(display.thresholds >= threshold * (1 - 1e-12))[-1]
        model.set_params(reject_threshold=threshold)
        kept = ~model.rejected(X)
        np.testing.assert_allclose(display.coverage[place], kept.mean())
        right = (model.predict(X) == y)[kept].mean()
        np.testing.assert_allclose(display.accuracy[place], right)


def test_drawn_into_one_figure():
    X, y = load_iris(return_X_y=True)
    first = AccuracyRejectionDisplay.from_estimator(GaussianNB().fit(X, y), X, y)
    second = AccuracyRejectionDisplay.from_estimator(
        KNeighborsClassifier().fit(X, y), X, y, name="near", ax=first.ax_, color="r"
    )
    assert second.figure_ is first.figure_
    labels = [text.get_text() for text in first.ax_.get_legend().get_texts()]
    assert labels == ["GaussianNB", "near"]
    assert second.plot(name="again").ax_ is not first.ax_


def test_errors():
    X, y = load_iris(return_X_y=True)
    with pytest.raises(NotFittedError):
        AccuracyRejectionDisplay.from_estimator(GaussianNB(), X, y)
    with pytest.raises(ValueError, match="RidgeClassifier has neither"):
        AccuracyRejectionDisplay.from_estimator(RidgeClassifier().fit(X, y), X, y)
    with pytest.raises(ValueError, match="must not be NaN; it is in row 1"):
        draw([0, 1], [0, 1], confidence=[1, np.nan])
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        draw([0, 1], [0], confidence=[1, 1])


def test_a_single_point_and_long_names_can_be_seen():
    name = "A voting classifier with a description that is much too long, $p$"
    display = draw(["a"] * 3, ["a"] * 3, confidence=[0.5] * 3, name=name)
    assert display.coverage.tolist() == [1.0]
    assert display.line_.get_marker() == "o"
    (text,) = display.ax_.get_legend().get_texts()
    assert text.get_text() == "A voting classifier with a description…"
    assert not text.get_parse_math()
    many = draw(["a", "b"], ["a", "a"], confidence=[0.5, 0.7])
    assert many.line_.get_marker() == "None"
