"""The pictures of residuals."""

import itertools

import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy.special import ndtr
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from sklearn_textbook.inspection import ResidualsDisplay
from sklearn_textbook.inspection.lowess import smooth
from sklearn_textbook.linear_model import (
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
)


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


@pytest.fixture
def rows():
    random = np.random.default_rng(0)
    X = random.normal(size=(40, 2))
    X[7] = 6.0
    y = X @ [1.0, 2.0] + random.normal(size=40)
    y[7] += 8.0
    return X, y


def find_points(ax):
    return ax.collections[0].get_offsets().data.T


def find_labels(ax):
    return [text.get_text() for text in ax.texts if text.get_text().isdigit()]


def test_four_pictures(rows):
    X, y = rows
    model = LinearRegression().fit(X, y)
    influence = model.influence(X, y)
    display = ResidualsDisplay.from_estimator(model, X, y)
    assert list(display.axes_) == ["fitted", "normal", "scale", "leverage"]
    assert len(display.figure_.axes) == 4
    standardized = influence.standardized_residuals
    for kind, x, y in (
        ("fitted", influence.fitted, influence.residuals),
        ("scale", influence.fitted, np.sqrt(np.abs(standardized))),
        ("leverage", influence.leverage, standardized),
    ):
        np.testing.assert_allclose(find_points(display.axes_[kind]), [x, y])
    quantiles, drawn = find_points(display.axes_["normal"])
    np.testing.assert_allclose(drawn, standardized)
    # R's plotting positions of more than ten rows.
    np.testing.assert_allclose(
        np.sort(ndtr(quantiles)), (np.arange(1, 41) - 0.5) / 40, rtol=1e-12
    )
    assert (np.argsort(quantiles) == np.argsort(standardized)).all()
    assert find_labels(display.axes_["leverage"])[0] == "7"
    assert len(find_labels(display.axes_["fitted"])) == 3


def test_an_index_is_nearest_to_its_own_point():
    # The two largest residuals are side by side, and the largest is lower.
    random = np.random.default_rng(1)
    X = np.linspace(0.0, 1.0, 200)[:, np.newaxis]
    y = X[:, 0] + 0.1 * random.normal(size=200)
    y[[100, 104]] = [-3.0, -3.3]
    display = ResidualsDisplay.from_estimator(
        LinearRegression().fit(X, y), X, y, kind="fitted", n_labels=2
    )
    display.figure_.draw_without_rendering()
    texts = [text for text in display.axes_["fitted"].texts if text.get_text()]
    points = display.axes_["fitted"].transData.transform([text.xy for text in texts])
    for number, text in enumerate(texts):
        box = text.get_window_extent()
        gaps = points - np.clip(points, box.min, box.max)
        assert np.hypot(*gaps.T).argmin() == number


def test_only_contours_in_sight_are_named():
    X = np.arange(20.0)[:, np.newaxis]
    y = X[:, 0] + np.where(np.arange(20) % 2, 1.0, -1.0)

    def find_title():
        influence = LinearRegression().fit(X, y).influence(X, y)
        display = ResidualsDisplay(influence).plot("leverage", show_smooth=False)
        return display.axes_["leverage"].get_title()

    assert find_title() == "Residuals vs leverage"
    X[10], y[10] = 1_000.0, 0.0
    assert find_title() == "Residuals vs leverage (dashed: Cook's distance)"


def test_contours_are_cooks_distances(rows):
    X, y = rows
    influence = LinearRegression().fit(X, y).influence(X, y)
    display = ResidualsDisplay(influence).plot(
        "leverage", n_labels=0, show_smooth=False
    )
    lines = [
        line for line in display.axes_["leverage"].lines if len(line.get_xdata()) > 2
    ]
    found = []
    for line in lines:
        h, r = line.get_xdata(), line.get_ydata()
        distance = r**2 * h / ((1 - h) * 3)
        np.testing.assert_allclose(distance, distance[0], rtol=1e-10)
        found.append(round(float(distance[0]), 10))
    assert sorted(found) == [0.5, 0.5, 1.0, 1.0]
    # Row 7 lies beyond the outer one.
    assert influence.cooks_distance[7] > 1.0
    assert find_labels(display.axes_["leverage"]) == ["1"]  # of the contour


def test_the_smooth_line_is_that_of_r():
    x = np.array([1.0, 2, 2, 3, 5, 8, 9, 12, 14, 20])
    y = np.array([1.0, 3, 2, 9, 4, 6, 5, 9, 8, 30])
    order = np.random.default_rng(0).permutation(10)
    places, line = smooth(x[order], y[order])
    assert places.tolist() == np.unique(x).tolist()
    # lowess(x, y, delta=0) of R 4.2
    expected = [
        *(1.44742061627422, 2.14904360692062, 2.83267355495157, 4.07503221521292),
        *(5.62093009457899, 6.32586367824846, 8.79143201791967, 15.30458110124642),
        29.65440218397373,
    ]
    np.testing.assert_allclose(line, expected, rtol=1e-12)


def test_a_smooth_line_of_many_rows_follows_them():
    random = np.random.default_rng(0)
    x = random.normal(size=20_000)
    places, line = smooth(x, x**2 + 0.1 * random.normal(size=20_000), fraction=0.2)
    assert len(places) <= 100
    inner = np.abs(places) < 1.5
    np.testing.assert_allclose(line[inner], places[inner] ** 2, atol=0.15)
    assert smooth(np.ones(5), np.arange(5.0))[1].size == 0
    holes = np.where(np.arange(10) == 3, np.nan, np.arange(10.0))
    assert len(smooth(np.arange(10.0), holes)[0]) == 9


def test_smooth_lines(rows):
    X, y = rows
    display = ResidualsDisplay.from_estimator(LinearRegression().fit(X, y), X, y)
    assert sorted(display.smooth_lines_) == ["fitted", "leverage", "scale"]
    for kind, line in display.smooth_lines_.items():
        places, expected = smooth(*find_points(display.axes_[kind]))
        np.testing.assert_allclose(line.get_data(), [places, expected])
    assert display.plot(show_smooth=False).smooth_lines_ == {}


@pytest.mark.parametrize("scale", [1e-7, 1.0, 12345.678, 1e8])
@pytest.mark.parametrize("size", [(2.2, 1.8), (5, 4)])
def test_ticks_and_labels_do_not_collide(rows, scale, size):
    X, y = rows
    y = y * scale + 10 * scale
    influence = LinearRegression().fit(X, y).influence(X, y)
    for kind in ("fitted", "normal", "scale", "leverage"):
        _, ax = plt.subplots(figsize=size, layout="constrained")
        ResidualsDisplay(influence).plot(kind, ax=ax)
        ax.figure.draw_without_rendering()
        for axis, side in ((ax.xaxis, 0), (ax.yaxis, 1)):
            low, high = ax.bbox.min[side] - 1, ax.bbox.max[side] + 1
            spans = [
                tick.label1.get_window_extent().get_points()[:, side]
                for tick in axis.get_major_ticks()
                if low <= tick.gridline.get_window_extent().min[side] <= high
            ]
            spans.sort(key=min)
            assert len(spans) >= 1
            gaps = [b[0] - a[1] for a, b in itertools.pairwise(spans)]
            assert min(gaps, default=1.0) > 0.0
        boxes = [text.get_window_extent() for text in ax.texts if text.get_text()]
        assert not any(a.overlaps(b) for i, a in enumerate(boxes) for b in boxes[:i])
        plt.close("all")


def test_one_kind_is_drawn_where_it_is_told(rows):
    X, y = rows
    model = LinearRegression().fit(X, y)
    _, ax = plt.subplots()
    display = ResidualsDisplay.from_estimator(
        model, X, y, ax=ax, kind="normal", scatter_kw={"color": "black"}
    )
    assert display.axes_ == {"normal": ax}
    assert ax.collections[0].get_facecolor()[0][:3].tolist() == [0.0, 0.0, 0.0]
    again = display.plot("scale")
    assert again is display
    assert again.axes_["scale"] is not ax


@pytest.mark.parametrize("family", ["poisson", "binomial", "logistic"])
def test_residuals_of_generalised_models_are_those_of_pearson(rows, family):
    X, y = rows
    model = LogisticRegression()
    y = (y > 0).astype(int)
    y[:6] = 1 - y[:6]  # not separable
    if family != "logistic":
        model = GeneralizedLinearRegressor(family)
    influence = model.fit(X, y).influence(X, y)
    display = ResidualsDisplay.from_estimator(model, X, y)
    standardized = influence.standardized_pearson_residuals
    predictor = model.intercept_ + X @ np.ravel(model.coef_)
    for kind, x, drawn in (
        ("fitted", predictor, influence.pearson_residuals),
        ("scale", predictor, np.sqrt(np.abs(standardized))),
        ("leverage", influence.leverage, standardized),
    ):
        points = find_points(display.axes_[kind])
        np.testing.assert_allclose(points, [x, drawn], rtol=1e-12)
        line = smooth(*points, n_robust=0)
        np.testing.assert_allclose(display.smooth_lines_[kind].get_data(), line)
    assert display.axes_["fitted"].get_xlabel() == "linear predictor"
    assert display.axes_["leverage"].get_ylabel() == "standardized Pearson residual"


def test_rows_that_the_model_must_pass_through():
    X = np.column_stack([np.r_[1.0, np.zeros(9)], np.arange(10.0)])
    model = LinearRegression().fit(X, np.sin(X[:, 1]))
    influence = model.influence(X, np.sin(X[:, 1]))
    assert np.isnan(influence.standardized_residuals[0])
    display = ResidualsDisplay(influence).plot()
    assert "0" not in find_labels(display.axes_["leverage"])
    assert np.isfinite(find_points(display.axes_["normal"])[1]).sum() == 9


def test_errors(rows):
    X, y = rows
    two = LinearRegression().fit(X, np.column_stack([y, y]))
    with pytest.raises(
        ValueError, match=r"a single target; got residuals of shape \(40, 2"
    ):
        ResidualsDisplay.from_estimator(two, X, np.column_stack([y, y]))
    with pytest.raises(NotFittedError):
        ResidualsDisplay.from_estimator(LinearRegression(), X, y)
    three = LogisticRegression().fit(X, np.digitize(y, [-1.0, 1.0]))
    with pytest.raises(ValueError, match=r"requires two classes; .* has 3: 0, 1, 2"):
        ResidualsDisplay.from_estimator(three, X, np.digitize(y, [-1.0, 1.0]))
    with pytest.raises(TypeError, match="or a LogisticRegression; got Ridge"):
        ResidualsDisplay.from_estimator(Ridge().fit(X, y), X, y)
    display = ResidualsDisplay(LinearRegression().fit(X, y).influence(X, y))
    with pytest.raises(ValueError, match="'kind' parameter must be one of 'all'"):
        display.plot("qq")
    with pytest.raises(ValueError, match="ax requires a single kind of plot"):
        display.plot(ax=plt.subplots()[1])
