"""The plot of the coefficients of a path."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_wine
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso

from sklearn_textbook.inspection import RegularizationPathDisplay
from sklearn_textbook.linear_model import ElasticNet, ElasticNetClassifier


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def diabetes():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    return ElasticNet("1se", l1_ratio=1.0, alphas=30).fit(X, y)


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return ElasticNetClassifier(0.01, alphas=10, eps=0.01, standardize=True).fit(X, y)


def test_lines_are_the_path(diabetes):
    display = RegularizationPathDisplay.from_estimator(diabetes)
    assert len(display.lines_) == 10
    for line, values in zip(display.lines_, diabetes.coef_path_, strict=True):
        np.testing.assert_array_equal(line.get_xdata(), diabetes.alphas_)
        np.testing.assert_array_equal(line.get_ydata(), values)
    low, high = display.ax_.get_xlim()
    assert low > high
    assert display.ax_.get_xscale() == "log"
    assert set(display.chosen_line_.get_xdata()) == {diabetes.alpha_}
    counts = [label.get_text() for label in display.top_ax_.get_xticklabels()]
    assert counts[0] == "0"
    assert counts[-1] == str(diabetes.path_table_["n_nonzero"][-1])


@pytest.mark.parametrize("n_labels", [0, 3, 50])
def test_largest_have_names_that_do_not_overlap(diabetes, n_labels):
    display = RegularizationPathDisplay.from_estimator(diabetes, n_labels=n_labels)
    ends = pd.Series(diabetes.coef_path_[:, -1], diabetes.coef_names_)
    largest = ends.reindex(ends.abs().sort_values(ascending=False).index)
    shown = [label.get_text() for label in display.labels_]
    assert shown == largest[:n_labels].sort_values(ascending=False).index.tolist()
    display.figure_.draw_without_rendering()
    boxes = [label.get_window_extent() for label in display.labels_]
    axes = display.ax_.bbox
    for above, below in itertools.pairwise(boxes):
        assert above.y0 >= below.y0 + 0.9 * (below.y1 - below.y0)
    assert all(axes.y0 - 3 < box.y0 < box.y1 < axes.y1 + 3 for box in boxes)


def test_names_of_equal_ends_do_not_overlap():
    ends = np.array([[0.0, 0.0, 1.0 + k / 1e6] for k in range(12)])
    display = RegularizationPathDisplay([1.0, 0.1, 0.01], ends).plot(n_labels=12)
    display.figure_.draw_without_rendering()
    places = [label.get_window_extent().y0 for label in display.labels_]
    assert (np.diff(places) < -10).all()
    assert len(places) == 12


def test_vector_of_a_class(wine):
    display = RegularizationPathDisplay.from_estimator(wine, class_label=2)
    np.testing.assert_array_equal(display.lines_[3].get_ydata(), wine.coef_path_[2, 3])
    X, _ = load_wine(return_X_y=True, as_frame=True)
    scaled = RegularizationPathDisplay.from_estimator(
        wine, class_label=2, standardize=True, X=X
    )
    wanted = wine.coef_path_[2, 3] * X.iloc[:, 3].std(ddof=0)
    np.testing.assert_allclose(scaled.lines_[3].get_ydata(), wanted)


def test_two_classes():
    X, y = load_wine(return_X_y=True)
    model = ElasticNetClassifier(0.1, alphas=5).fit(X, y == 0)
    display = RegularizationPathDisplay.from_estimator(model, class_label=True)
    np.testing.assert_array_equal(display.lines_[0].get_ydata(), model.coef_path_[0, 0])
    with pytest.raises(ValueError, match="must be None or True"):
        RegularizationPathDisplay.from_estimator(model, class_label=False)


def test_axes_and_order_of_alphas():
    _, ax = plt.subplots()
    display = RegularizationPathDisplay(
        [0.1, 1.0], [[3.0, 0.0]], feature_names=["a"], n_nonzero=[1, 0]
    ).plot(ax, line_kw={"linewidth": 4.0})
    assert display.ax_ is ax
    assert display.chosen_line_ is None
    assert display.lines_[0].get_ydata().tolist() == [0.0, 3.0]
    assert display.lines_[0].get_linewidth() == 4.0
    assert display.labels_[0].get_text() == "a"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (([1.0, 0.1], [[1.0]]), "column for each of 2 alphas"),
        (([1.0, 0.0], [[1.0, 2.0]]), "above 0"),
        (([1.0, 0.1], [[1.0, np.nan]]), "finite"),
    ],
)
def test_wrong_paths(arguments, words):
    with pytest.raises(ValueError, match=words):
        RegularizationPathDisplay(*arguments)


def test_wrong_options(diabetes, wine):
    with pytest.raises(ValueError, match="feature_names must have 1 names"):
        RegularizationPathDisplay([1.0], [[1.0]], feature_names=["a", "b"])
    with pytest.raises(ValueError, match="n_nonzero"):
        RegularizationPathDisplay([1.0], [[1.0]], n_nonzero=[1, 2])
    with pytest.raises(ValueError, match="'n_labels'"):
        RegularizationPathDisplay.from_estimator(diabetes, n_labels=-1)
    with pytest.raises(ValueError, match=r"class_label must be one of \[0, 1, 2\]"):
        RegularizationPathDisplay.from_estimator(wine)
    with pytest.raises(ValueError, match="needs X"):
        RegularizationPathDisplay.from_estimator(diabetes, standardize=True)
    with pytest.raises(NotFittedError):
        RegularizationPathDisplay.from_estimator(ElasticNet())
    X, y = load_diabetes(return_X_y=True)
    for model in (ElasticNet().fit(X, y), Lasso().fit(X, y)):
        with pytest.raises(ValueError, match=r"with a path, by alpha='min'"):
            RegularizationPathDisplay.from_estimator(model)
