"""The drawing of linear discriminants shows what the estimator computes."""

import itertools

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression

from sklearn_textbook.datasets import load_watermelon
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.inspection import DiscriminantDisplay
from sklearn_textbook.inspection.decision_lines import find_decision_lines
from tests.discriminant_analysis.cases import make_table
from tests.loops import loop_over


@pytest.fixture(autouse=True)
def no_window():
    with matplotlib.rc_context({"backend": "agg"}):
        yield
    matplotlib.pyplot.close("all")


def draw(X, y, model=None, **options):
    model = LinearDiscriminantAnalysis() if model is None else model
    return DiscriminantDisplay.from_estimator(model.fit(X, y), X, y, **options)


@pytest.fixture(scope="module")
def melons():
    return load_watermelon(
        version="3.0alpha", language="en", return_X_y=True, as_frame=True
    )


def test_watermelons(melons):
    display = draw(*melons)
    ax = display.ax_
    assert (ax.get_xlabel(), ax.get_ylabel()) == tuple(melons[0].columns)
    assert ax.get_aspect() == 1.0
    (line,) = display.decision_lines_
    model = LinearDiscriminantAnalysis().fit(*melons)
    ends = np.transpose(line.get_data())
    with pytest.warns(UserWarning, match="feature names"):
        assert_allclose(model.decision_function(ends), 0.0, atol=1e-12)
    along = np.diff(ends, axis=0)[0]
    projection = np.diff(np.transpose(display.projection_line_.get_data()), axis=0)[0]
    assert along @ projection == pytest.approx(0.0, abs=1e-12)
    w = model.direction_
    cosine = projection @ w / np.linalg.norm(projection) / np.linalg.norm(w)
    assert cosine == pytest.approx(-1.0)
    labels = ax.get_legend_handles_labels()[1]
    for name in ("no", "yes", "class mean", "projection line", "decision boundary"):
        assert name in labels


def test_projected_points_lie_on_the_line(melons):
    display = draw(*melons)
    start, end = np.transpose(display.projection_line_.get_data())
    across = np.array([start[1] - end[1], end[0] - start[0]])
    found = [c.get_offsets() for c in display.ax_.collections]
    is_on_line = [np.abs((points - start) @ across).max() < 1e-9 for points in found]
    # Two classes: points, projected points; their centres and projected centres.
    assert [len(points) for points in found] == [9, 8, 9, 8, 1, 1, 1, 1]
    assert is_on_line == [False, False, True, True, False, False, True, True]


def test_columns_of_different_ranges_have_no_projection(melons):
    X, y = melons
    display = draw(X.assign(density=1e4 * X["density"]), y)
    assert display.projection_line_ is None
    assert display.ax_.get_aspect() == "auto"
    display.plot(show_projection=True)
    assert display.projection_line_ is not None


def test_many_classes_have_different_markers_and_a_legend_beside_the_axes():
    X, y = make_table(0, 48, 4, 24)
    names = np.array([f"${n} and a long name of a class" for n in range(24)])
    display = draw(X, names[y])
    points = display.ax_.collections[:24]
    styles = {
        (tuple(c.get_facecolor()[0]), c.get_paths()[0].vertices.tobytes())
        for c in points
    }
    assert len(styles) == 24
    legend = display.ax_.get_legend()
    display.figure_.draw_without_rendering()
    frame, axes = legend.get_window_extent(), display.ax_.get_window_extent()
    assert frame.x0 > axes.x1
    assert frame.x1 <= display.figure_.bbox.x1
    assert frame.y0 >= 0
    texts = legend.get_texts()
    assert texts[3].get_text() == "$11 and a long name of…"
    assert not texts[3].get_parse_math()
    assert len(texts) == 26


def test_names_are_written_as_they_are(melons):
    X, y = melons
    X = X.set_axis(["$ per month, $1000", "_x"], axis=1)
    display = draw(X, np.where(y == "yes", "_yes $a$", "no"))
    texts = [text.get_text() for text in display.ax_.get_legend().get_texts()]
    assert texts[:2] == ["_yes $a$", "no"]
    assert not display.ax_.xaxis.label.get_parse_math()
    with matplotlib.style.context("dark_background"):
        display.plot()
    assert display.decision_lines_[0].get_color() == "white"


def test_without_projection(melons):
    display = draw(*melons, show_projection=False, legend=False)
    assert display.projection_line_ is None
    assert len(display.ax_.collections) == 4
    assert display.ax_.get_legend() is None


def test_three_classes_in_the_plane_of_directions():
    X, y = load_iris(return_X_y=True)
    display = draw(X, y)
    model = LinearDiscriminantAnalysis().fit(X, y)
    found = np.vstack([c.get_offsets() for c in display.ax_.collections[:3]])
    assert_allclose(found, model.transform(X), atol=1e-9)
    # Points beside a decision line are of the two classes that it divides.
    assert len(display.decision_lines_) == 2
    for line in display.decision_lines_:
        ends = np.transpose(line.get_data())
        along = np.diff(ends, axis=0)[0]
        side = np.array([-along[1], along[0]]) / np.linalg.norm(along) * 1e-3
        middle = ends.mean(axis=0)
        beside = np.array([middle + side, middle - side])
        rows = model.xbar_ + beside @ np.linalg.pinv(model.scalings_)
        assert len(set(model.predict(rows))) == 2


def test_two_classes_of_many_columns():
    X, y = make_table(0, 60, 5, 2)
    display = draw(X, y)
    (border,) = display.decision_lines_
    model = LinearDiscriminantAnalysis().fit(X, y)
    unit = model.coef_[0] / np.linalg.norm(model.coef_)
    projected = X @ unit > border.get_xdata()[0]
    assert (projected == model.predict(X).astype(bool)).all()
    ticks = [text.get_text() for text in display.ax_.get_yticklabels()]
    assert ticks == ["0", "1"]


def test_other_linear_classifiers(melons):
    model = LogisticRegression()
    (line,) = draw(*melons, model=model).decision_lines_
    with pytest.warns(UserWarning, match="feature names"):
        scores = model.decision_function(np.transpose(line.get_data()))
    assert_allclose(scores, 0.0, atol=1e-9)
    X, y = load_iris(return_X_y=True)
    assert len(draw(X[:, :2], y, model=LogisticRegression()).decision_lines_) == 3


@loop_over("seed", range(5))
def test_decision_lines_are_where_the_winner_changes(seed):
    random = np.random.default_rng(seed)
    weights, offsets = random.standard_normal((4, 2)), random.standard_normal(4)
    frame = (-3.0, 2.0, -1.0, 4.0)
    lines = find_decision_lines(weights, offsets, frame)
    for first, second, ends in lines:
        assert (ends >= np.array(frame[::2]) - 1e-9).all()
        assert (ends <= np.array(frame[1::2]) + 1e-9).all()
        share = np.linspace(0.01, 0.99, 20)[:, np.newaxis]
        scores = ((1 - share) * ends[0] + share * ends[1]) @ weights.T + offsets
        assert_allclose(scores[:, first], scores[:, second], atol=1e-9)
        assert (scores.max(axis=1) <= scores[:, first] + 1e-9).all()
    # Every change of the winner along random ways is on one of the lines.
    pairs = {(first, second) for first, second, _ in lines}
    steps = random.uniform(frame[::2], frame[1::2], (200, 2))
    ways = np.linspace(steps[:-1], steps[1:], 400, axis=1)
    winners = (ways @ weights.T + offsets).argmax(axis=2)
    for way, winner in zip(ways, winners, strict=True):
        for place in np.flatnonzero(winner[1:] != winner[:-1]):
            pair = tuple(sorted(winner[place : place + 2].tolist()))
            gap = np.linalg.norm(way[place + 1] - way[place])
            scores = way[place] @ weights.T + offsets
            top = np.sort(scores)[::-1]
            if top[1] - top[2] > 10 * gap:  # not where three classes meet
                assert pair in pairs


def test_what_cannot_be_drawn(melons):
    X, y = make_table(1, 60, 5, 3)
    model = LinearDiscriminantAnalysis().fit(X, y)
    with pytest.raises(ValueError, match="X must have the 5 columns .*, got 4"):
        DiscriminantDisplay.from_estimator(model, X[:, :4], y)
    with pytest.raises(
        ValueError, match="only classes of the estimator, 0, 1, 2; got 7"
    ):
        DiscriminantDisplay.from_estimator(model, X, y + 5)
    with pytest.raises(ValueError, match="shape \\(60,\\), one label per row"):
        DiscriminantDisplay.from_estimator(model, X, y[:5])
    with pytest.raises(
        ValueError, match="must have scalings_ with at least two columns"
    ):
        draw(X, y, model=LogisticRegression())
    with pytest.raises(ValueError, match="has no classes_"):
        draw(X, y, model=LinearRegression())
    with pytest.raises(ValueError, match="at least two classes"):
        draw(X, np.zeros(60))


def make_long_names(n_classes):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * [1, 1000, 1e-5, 1, 1e6]
    names = [f"class with a rather long name {n:02d}" for n in range(n_classes)]
    return X, np.array(names)[rng.integers(0, n_classes, 200)]


def test_legend_of_many_classes_and_labels_are_inside_the_figure():
    display = draw(*make_long_names(30))
    display.figure_.draw_without_rendering()
    figure = display.figure_.bbox
    legend = display.ax_.get_legend().get_window_extent()
    assert display.ax_.bbox.x1 < legend.x0 < legend.x1 <= figure.x1
    label = display.ax_.yaxis.label.get_window_extent()
    assert label.x0 >= 0.0
    assert display.ax_.get_ylabel() == "second direction"


def test_ticks_of_small_projections_do_not_overlap():
    _, ax = plt.subplots(figsize=(4.5, 3), layout="constrained")
    X, y = make_long_names(2)
    display = draw(100 * X, y, ax=ax)
    display.figure_.draw_without_rendering()
    axis = display.ax_.xaxis
    low, high = axis.get_view_interval()
    boxes = [
        label.get_window_extent()
        for label, place in zip(axis.get_ticklabels(), axis.get_ticklocs(), strict=True)
        if low <= place <= high
    ]
    assert len(boxes) >= 2
    assert all(a.x1 + 2 < b.x0 for a, b in itertools.pairwise(boxes))
