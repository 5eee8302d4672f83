"""The figure of importances with intervals."""

import matplotlib.pyplot as plt
import numpy as np
import pytest
import scipy.stats
import sklearn.ensemble
from sklearn.datasets import load_diabetes
from sklearn.exceptions import NotFittedError
from sklearn.inspection import permutation_importance

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
    RandomSubspaceRegressor,
)
from sklearn_textbook.inspection import ImportancesDisplay
from sklearn_textbook.tree import CARTRegressor


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def table():
    return load_diabetes(return_X_y=True, as_frame=True)


def find_ends(display):
    segments = np.array(display.intervals_.get_segments())
    return segments[:, 0, 0], segments[:, 1, 0]


def find_names(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


@pytest.mark.parametrize(
    "kind", [RandomForestRegressor, sklearn.ensemble.RandomForestRegressor]
)
def test_spread_of_the_trees_of_a_forest(table, kind):
    X, y = table
    forest = kind(30, random_state=0).fit(X, y)
    display = ImportancesDisplay.from_estimator(forest, confidence=0.8)
    order = np.argsort(-forest.feature_importances_)
    assert display.order_.tolist() == order.tolist()
    assert find_names(display) == X.columns[order].tolist()
    widths = [bar.get_width() for bar in display.bars_]
    assert widths == pytest.approx(forest.feature_importances_[order])
    of_trees = np.array([tree.feature_importances_ for tree in forest.estimators_])
    expected = np.quantile(of_trees[:, order], [0.1, 0.9], axis=0)
    np.testing.assert_allclose(find_ends(display), expected)
    # The largest is at the top.
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]


@pytest.mark.parametrize("own", [True, False])
def test_confidence_intervals_of_permutation_importances(table, own):
    X, y = table
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    if own:
        result = forest.permutation_importances(X, y, random_state=0)
    else:
        result = permutation_importance(forest, X, y, n_repeats=4, random_state=0)
    display = ImportancesDisplay.from_importances(
        result, interval="mean", confidence=0.95, n_shown=None, measure="rise"
    )
    order = np.argsort(-result.importances_mean)
    assert find_names(display) == [f"x{column}" for column in order]
    values = result.importances[order]
    expected = scipy.stats.t.interval(
        0.95,
        values.shape[1] - 1,
        loc=values.mean(axis=1),
        scale=scipy.stats.sem(values, axis=1),
    )
    found = find_ends(display)
    if not own:  # trees that do not use a column count as 0 in both
        np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found[1] - found[0], expected[1] - expected[0])
    assert display.ax_.get_xlabel() == "rise"


@pytest.mark.parametrize(
    "model",
    [
        CARTRegressor(max_depth=3),
        GradientBoostingRegressor(n_estimators=3),
        AdaBoostClassifier(n_estimators=3),
    ],
)
def test_models_that_are_no_mean_of_members_have_no_intervals(table, model):
    X, y = table
    model.fit(X, y > 150 if isinstance(model, AdaBoostClassifier) else y)
    display = ImportancesDisplay.from_estimator(model)
    assert display.intervals_ is None
    assert len(display.bars_) == 10


def test_columns_left_out_are_counted():
    importances = np.linspace(0, 1, 1234)
    display = ImportancesDisplay(importances).plot()
    assert len(display.bars_) == 20
    assert display.text_.get_text() == "+1,214 more columns"
    assert find_names(display)[0] == "x1233"
    assert display.plot(n_shown=3).text_.get_text() == "+1,231 more columns"
    assert display.plot(n_shown=2000).text_ is None
    small = ImportancesDisplay([1.0]).plot().figure_.get_size_inches()
    large = ImportancesDisplay(np.ones(20)).plot().figure_.get_size_inches()
    assert large[1] > 3 * small[1]


def test_parameters_of_the_drawing():
    _, ax = plt.subplots()
    values = np.array([[1.0, 3.0], [-1.0, 1.0]])
    display = ImportancesDisplay.from_importances(
        values,
        feature_names=["$a", "b$"],
        ax=ax,
        bar_kw={"color": "red"},
        interval_kw={"linewidth": 3.0},
    )
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert display.bars_[0].get_facecolor()[:3] == (1.0, 0.0, 0.0)
    assert display.intervals_.get_linewidth()[0] == 3.0
    assert find_names(display) == ["$a", "b$"]
    assert not ax.get_yticklabels()[0].get_parse_math()
    assert display.plot(interval=None).intervals_ is None


def test_long_names_leave_room_for_the_bars():
    names = [
        f"Average monthly value of {name} declared by the applicant last year"
        for name in ("income", "debt", "assets")
    ]
    display = ImportancesDisplay([3.0, 2.0, 1.0], feature_names=names).plot()
    display.figure_.draw_without_rendering()
    assert display.ax_.bbox.width > 0.4 * display.figure_.bbox.width
    assert find_names(display)[0] == "Average monthly value of income…"
    ends = [*names[:2], f"{names[1]} after tax"]
    display = ImportancesDisplay([3.0, 2.0, 1.0], feature_names=ends).plot()
    assert len(set(find_names(display))) == 3


def test_intervals_have_the_colour_of_the_style():
    with plt.style.context("dark_background"):
        display = ImportancesDisplay.from_importances([[1.0, 2.0]])
    assert display.intervals_.get_color()[0][:3].tolist() == [1.0, 1.0, 1.0]


def test_wrong_parameters_are_named(table):
    X, y = table
    with pytest.raises(NotFittedError):
        ImportancesDisplay.from_estimator(RandomForestRegressor())
    subspaces = RandomSubspaceRegressor(CARTRegressor(), 3).fit(X, y)
    with pytest.raises(
        ValueError, match="must have feature_importances_; got RandomSubspaceRegressor"
    ):
        ImportancesDisplay.from_estimator(subspaces)
    with pytest.raises(
        ValueError, match=r"importances must be a non-empty 1D array.*\(0,\)"
    ):
        ImportancesDisplay([])
    with pytest.raises(ValueError, match=r"values must have 2 rows.*\(1, 2\)"):
        ImportancesDisplay([1.0, 2.0], [[1.0, 2.0]])
    with pytest.raises(
        ValueError, match="feature_names must have 2 names, one per imp"
    ):
        ImportancesDisplay([1.0, 2.0], feature_names=["a"])
    with pytest.raises(ValueError, match=r"shape \(n_features, n_values\).*\(2,\)"):
        ImportancesDisplay.from_importances([1.0, 2.0])
    display = ImportancesDisplay([1.0], [[1.0]])
    for parameters, message in (
        ({"interval": "std"}, "'interval' parameter must be one of 'spread', 'mean'"),
        ({"confidence": 90}, "confidence must be a float in the range"),
        ({"n_shown": 0}, "'n_shown' parameter must be"),
        ({"interval": "mean"}, "requires at least 2 values per column, got 1"),
    ):
        with pytest.raises(ValueError, match=message):
            display.plot(**parameters)
