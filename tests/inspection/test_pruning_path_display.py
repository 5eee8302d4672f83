"""The path of cost-complexity pruning as a figure."""

from itertools import pairwise
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, make_classification
from sklearn.exceptions import NotFittedError

from sklearn_textbook.inspection import PruningPathDisplay
from sklearn_textbook.tree import CARTClassifier, CostComplexityPruning

X_AXES = ["alpha", "n_leaves"]


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def make_path(n_rows=5, name="cv", chosen=2, **columns):
    """A path whose judged risk is least in its middle."""
    alpha = np.r_[0.0, np.geomspace(1e-3, 0.3, n_rows - 1)] if n_rows > 1 else [0.0]
    path = {"alpha": alpha, "n_leaves": 2 * np.arange(n_rows)[::-1] + 1}
    path["risk"] = np.linspace(0.0, 0.5, n_rows)
    if name:
        path[f"{name}_risk"] = 0.2 + 0.01 * np.abs(np.arange(n_rows) - n_rows // 2)
        path[f"{name}_risk_std"] = np.full(n_rows, 0.03)
        path["selected"] = np.arange(n_rows) == chosen
    return path | columns


def legend_of(display):
    return [text.get_text() for text in display.ax_.get_legend().get_texts()]


@pytest.mark.parametrize("x", X_AXES)
def test_labels_of_the_second_scale_are_clear_of_all_others(x):
    scale = {name: 1e7 * make_path(20)[name] for name in ("risk", "cv_risk")}
    _, ax = plt.subplots(figsize=(2.5, 2.0))
    display = PruningPathDisplay(make_path(20, **scale)).plot(x=x, ax=ax)
    display.figure_.draw_without_rendering()
    ticks = display.top_ax_.xaxis.get_major_ticks()
    boxes = [tick.label2.get_window_extent() for tick in ticks]
    boxes.sort(key=lambda box: box.x0)
    assert len(boxes) > 1
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
    assert ax.yaxis.get_offset_text().get_text() == ""
    assert "4e+06" in [label.get_text() for label in ax.get_yticklabels()]


def test_lines_and_marks_have_the_colour_of_the_style():
    with plt.style.context("dark_background"):
        display = PruningPathDisplay(make_path()).plot()
    assert display.limit_line_.get_color() == "white"
    assert display.best_.get_markeredgecolor() == "white"


def test_over_alpha_a_subtree_is_a_step():
    path = make_path()
    display = PruningPathDisplay(path).plot()
    assert display.line_.get_drawstyle() == "steps-post"
    edges, heights = display.line_.get_data()
    np.testing.assert_array_equal(edges[:-1], path["alpha"])
    np.testing.assert_array_equal(heights, [*path["cv_risk"], path["cv_risk"][-1]])
    assert edges[-1] > path["alpha"][-1]  # the root has no end
    np.testing.assert_array_equal(display.training_line_.get_ydata()[:-1], path["risk"])
    # The mark of the choice stands within its step.
    place, height = display.chosen_.get_data()
    assert path["alpha"][2] < place[0] < path["alpha"][3]
    assert height == path["cv_risk"][2]


def test_over_leaves_a_subtree_is_a_point():
    path = make_path(chosen=3)
    display = PruningPathDisplay(path).plot(x="n_leaves")
    np.testing.assert_array_equal(display.line_.get_xdata(), path["n_leaves"])
    assert display.chosen_.get_xdata() == path["n_leaves"][3]
    assert display.best_.get_xdata() == path["n_leaves"][2]
    assert display.chosen_.get_label() == "chosen: 3 leaves"
    assert display.best_.get_label() == "smallest: 5 leaves"


@pytest.mark.parametrize("x", X_AXES)
def test_band_and_limit_are_one_standard_error(x):
    display = PruningPathDisplay(make_path()).plot(x=x)
    corners = display.band_.get_paths()[0].vertices[:, 1]
    assert corners.min() == pytest.approx(0.2 - 0.03)
    assert corners.max() == pytest.approx(0.22 + 0.03)
    assert display.limit_line_.get_ydata()[0] == pytest.approx(0.23)


@pytest.mark.parametrize(("x", "words"), [("alpha", "97531"), ("n_leaves", None)])
def test_second_scale_names_the_subtrees(x, words):
    path = make_path()
    display = PruningPathDisplay(path).plot(x=x)
    shown = {label.get_text() for label in display.top_ax_.get_xticklabels()}
    assert shown == (set(words) if words else {f"{a:.2g}" for a in path["alpha"]})
    display.ax_.set_xlim(0.01, 0.1)
    assert display.top_ax_.get_xlim() == (0.01, 0.1)


@pytest.mark.parametrize("x", X_AXES)
def test_many_subtrees_do_not_crowd_the_second_scale(x):
    path = make_path(5_000, chosen=2_600)
    display = PruningPathDisplay(path).plot(x=x)
    display.figure_.draw_without_rendering()
    labels = display.top_ax_.get_xticklabels()
    assert 3 <= len(labels) <= 40
    boxes = sorted((label.get_window_extent() for label in labels), key=lambda b: b.x0)
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


@pytest.mark.parametrize("x", X_AXES)
def test_root_alone(x):
    display = PruningPathDisplay(make_path(1, chosen=0)).plot(x=x)
    display.figure_.canvas.draw()
    assert display.chosen_.get_label() == "chosen: 1 leaf"


@pytest.mark.parametrize("x", X_AXES)
def test_without_rows_that_judge_there_is_the_training_risk(x):
    display = PruningPathDisplay(make_path(name=None)).plot(x=x)
    assert display.training_line_ is display.line_
    assert display.chosen_ is display.best_ is display.band_ is None
    assert legend_of(display) == ["training risk"]


def test_subtrees_of_equal_alpha():
    path = make_path(alpha=np.array([0.0, 0.0, 0.1, 0.1, 0.2]))
    display = PruningPathDisplay(path).plot()
    display.figure_.canvas.draw()
    assert display.chosen_.get_xdata() == pytest.approx(0.1)


def test_of_equal_risks_the_chosen_subtree_is_the_smallest_one():
    flat = np.full(5, 0.2)
    assert PruningPathDisplay(make_path(cv_risk=flat)).plot().best_.get_label() == (
        "smallest: 5 leaves"
    )
    flat[2] = 0.4  # the chosen one is not among the least
    assert PruningPathDisplay(make_path(cv_risk=flat)).plot().best_.get_label() == (
        "smallest: 1 leaf"
    )


def test_validation_rows_are_called_so():
    display = PruningPathDisplay(make_path(name="validation")).plot()
    assert "validation risk" in legend_of(display)


def test_scores_are_drawn_as_they_are():
    path = make_path()
    display = PruningPathDisplay(
        path | {"cv_risk": -0.9 + path["cv_risk"]}, scoring="roc_auc"
    ).plot()
    np.testing.assert_allclose(display.line_.get_ydata()[:-1], 0.9 - path["cv_risk"])
    assert display.ax_.get_ylabel() == "roc_auc"
    assert display.training_line_ is None
    assert display.limit_line_.get_ydata()[0] == pytest.approx(0.7 - 0.03)
    assert display.best_.get_ydata() == pytest.approx(0.7)


def test_lines_can_be_styled_and_left_out():
    display = PruningPathDisplay(make_path()).plot(
        show_training=False,
        legend=False,
        line_kw={"color": "black", "label": "mine"},
        band_kw={"alpha": 0.5},
    )
    assert display.training_line_ is None
    assert display.ax_.get_legend() is None
    assert display.line_.get_label() == "mine"
    assert display.band_.get_alpha() == 0.5


def test_of_a_fitted_tree():
    X, y = load_breast_cancer(return_X_y=True)
    tree = CARTClassifier(pruning=CostComplexityPruning(cv=3, rule="1se")).fit(X, y)
    figure, ax = plt.subplots()
    display = PruningPathDisplay.from_estimator(tree, ax=ax, x="n_leaves")
    assert (display.ax_, display.figure_) == (ax, figure)
    assert plt.gca() is ax
    assert display.chosen_.get_xdata() == tree.get_n_leaves()
    assert display.plot() is display
    assert display.ax_ is not ax
    tree.set_params(pruning__scoring="roc_auc").fit(X, y)
    assert PruningPathDisplay.from_estimator(tree).ax_.get_ylabel() == "roc_auc"


def test_trees_without_a_path_are_refused():
    X, y = make_classification(50, random_state=0)
    with pytest.raises(NotFittedError):
        PruningPathDisplay.from_estimator(CARTClassifier(pruning="cost_complexity"))
    with pytest.raises(ValueError, match=r"got CARTClassifier with pruning=None"):
        PruningPathDisplay.from_estimator(CARTClassifier().fit(X, y))
    with pytest.raises(ValueError, match="got SimpleNamespace with pruning=None"):
        PruningPathDisplay.from_estimator(SimpleNamespace())


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ({"alpha": [0.0], "risk": [0.1]}, r"\['n_leaves'\] is missing"),
        (make_path(risk=np.zeros(3)), r"must have equal lengths.*'risk': \(3,\)"),
        ({"alpha": [], "risk": [], "n_leaves": []}, "must have at least one row"),
    ],
)
def test_wrong_paths_are_refused(path, message):
    with pytest.raises(ValueError, match=message):
        PruningPathDisplay(path)


def test_wrong_axis_is_named():
    with pytest.raises(ValueError, match=r"x must be one of .*'alpha'.*, got 'size'"):
        PruningPathDisplay(make_path()).plot(x="size")


def test_without_matplotlib_there_is_a_clear_error(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        PruningPathDisplay(make_path()).plot()
