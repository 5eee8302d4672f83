"""Distributions of the columns that nodes test, against plain counts of the rows."""

import json
import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from matplotlib.transforms import Bbox
from sklearn.datasets import load_iris

from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.inspection import TreeDisplay
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
    plot_tree,
    to_html,
)
from sklearn_textbook.tree.explain.distributions import MAX_LEVELS, ChartMaker
from sklearn_textbook.tree.explain.fitted import read_fitted

IRIS = load_iris(as_frame=True)
SPECIES = IRIS.target_names[IRIS.target]


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


def make_table(n=400):
    rng = np.random.default_rng(0)
    X = pd.DataFrame(
        {
            "x": rng.normal(size=n).round(2),
            "sex": rng.choice(["male", "female"], n),
            "alone": rng.random(n) < 0.4,
            "size": pd.Categorical(
                rng.choice(["S", "M", "L"], n), ["S", "M", "L"], ordered=True
            ),
            "port": rng.choice([f"port {i}" for i in range(30)], n),
            "day": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 100, n), "D"),
        }
    )
    X.loc[::13, "x"] = np.nan
    score = X["x"].fillna(0) + (X["sex"] == "male") + X["alone"] * X["size"].cat.codes
    score += X["port"].isin([f"port {i}" for i in range(9)]) * (X["day"] > "2024-02-01")
    return X, score.to_numpy() + 0.3 * rng.normal(size=n)


X, SCORE = make_table()
CLASSES = np.array(["low", "middle", "high"])[np.digitize(SCORE, [0.5, 1.5])]


def chart_nodes(model, X, y):
    maker = ChartMaker(read_fitted(model), X, y)
    path = model.decision_path(X).toarray().astype(bool)
    for node in np.flatnonzero(~model.tree_.is_leaf).tolist():
        yield node, path[:, node], maker.make(node)


def count_bars(chart):
    """The number of rows of each class, left and right of the first mark."""
    counts = {}
    for left, right, *_, number, text in chart.bars:
        is_left = (left + right) / 2 < chart.marks[0]
        n_rows = int(text.split(": ")[1].split()[0].replace(",", ""))
        counts[number, is_left] = counts.get((number, is_left), 0) + n_rows
    return counts


@pytest.mark.parametrize("options", [{}, {"missing": "surrogate"}])
def test_bars_count_the_rows_of_each_branch_and_class(options):
    model = CARTClassifier(max_depth=5, random_state=0, **options).fit(X, CLASSES)
    codes = np.searchsorted(model.classes_, CLASSES)
    tested = set()
    path = model.decision_path(X).toarray().astype(bool)
    for node, rows, chart in chart_nodes(model, X, CLASSES):
        name = X.columns[model.tree_.nodes["feature"][node]]
        tested.add(name)
        present = rows & X[name].notna().to_numpy()
        first = path[:, model.tree_.nodes["first_child"][node]]
        expected = {}
        for number in range(3):
            for is_left in (True, False):
                n_rows = (present & (first == is_left) & (codes == number)).sum()
                if n_rows:
                    expected[number, is_left] = n_rows
        assert count_bars(chart) == expected
        heights = [bar[3] for bar in chart.bars]
        assert max(heights) == pytest.approx(1.0)
        assert min(bar[2] for bar in chart.bars) == 0.0
        assert all(0 <= bar[0] < bar[1] <= 1.0 for bar in chart.bars)
        if chart.ends:
            values = X.loc[present, name]
            ends = [values.min(), values.max()]
            if name == "day":
                ends = [str(end.date()) for end in ends]
                assert chart.ends == ends
            else:
                assert [float(end) for end in chart.ends] == ends
    assert {"x", "sex", "port"} <= tested


def test_rare_levels_of_a_branch_are_one_bar():
    model = CARTClassifier(max_depth=1, random_state=0).fit(X[["port"]], CLASSES)
    ((_, _, chart),) = chart_nodes(model, X[["port"]], CLASSES)
    places = sorted({bar[0] for bar in chart.bars})
    assert len(places) == MAX_LEVELS
    texts = [bar[5] for bar in chart.bars]
    assert any(re.match(r"\d+ levels: ", text) for text in texts)
    total = sum(int(text.split(": ")[1].split()[0]) for text in texts)
    assert total == len(X)


def test_every_branch_of_a_multiway_test_is_marked():
    tree = C45Classifier(pruning=None).fit(X[["size", "sex"]], CLASSES)
    marks = {
        X[["size", "sex"]].columns[tree.tree_.nodes["feature"][node]]: chart.marks
        for node, _, chart in chart_nodes(tree, X[["size", "sex"]], CLASSES)
    }
    assert marks["sex"] == [0.5]
    many = X[["port"]]
    tree = C45Classifier(pruning=None, min_samples_leaf=1).fit(many, CLASSES)
    (node, _, chart), *_ = chart_nodes(tree, many, CLASSES)
    assert node == 0
    assert len({bar[0] for bar in chart.bars}) == MAX_LEVELS
    assert len(chart.marks) == MAX_LEVELS - 1


def test_points_and_boxes_of_regression():
    model = CARTRegressor(max_depth=4, random_state=0).fit(X, SCORE)
    low, span = SCORE.min(), np.ptp(SCORE)
    path = model.decision_path(X).toarray().astype(bool)
    kinds = set()
    for node, rows, chart in chart_nodes(model, X, SCORE):
        name = X.columns[model.tree_.nodes["feature"][node]]
        present = rows & X[name].notna().to_numpy()
        if chart.points:
            kinds.add("points")
            assert len(chart.points) == min(present.sum(), 200)
            first = path[:, model.tree_.nodes["first_child"][node]]
            sides = (present & first, present & ~first)
            for side, line in zip(sides, chart.lines, strict=True):
                mean = (SCORE[side].mean() - low) / span
                assert line[1] == line[3] == pytest.approx(mean)
            assert chart.lines[0][2] == chart.lines[1][0] == chart.marks[0]
        else:
            kinds.add("boxes")
            for left, right, quarter, three, number, text in chart.bars:
                assert number == -1
                if text.endswith(" levels"):
                    continue
                level = {"true": True, "false": False}.get(text, text)
                some = (SCORE[present & (X[name] == level)] - low) / span
                assert [quarter, three] == pytest.approx(
                    np.quantile(some, [0.25, 0.75])
                )
                medians = [
                    y0 for x0, y0, x1, y1 in chart.lines if (x0, x1) == (left, right)
                ]
                assert medians == [pytest.approx(np.median(some))]
    assert kinds == {"points", "boxes"}


def test_sums_of_oblique_tests():
    model = ObliqueTreeClassifier(max_depth=2, random_state=0).fit(IRIS.data, SPECIES)
    path = model.decision_path(IRIS.data).toarray().astype(bool)
    codes = np.searchsorted(model.classes_, SPECIES)
    for node, rows, chart in chart_nodes(model, IRIS.data, SPECIES):
        first = path[:, model.tree_.nodes["first_child"][node]]
        expected = {
            (number, is_left): n_rows
            for number in range(3)
            for is_left in (True, False)
            if (n_rows := (rows & (first == is_left) & (codes == number)).sum())
        }
        assert count_bars(chart) == expected


def test_a_value_at_the_threshold_is_on_its_left():
    table = np.array([[0.0], [1.0], [1.0], [3.0]])
    model = CARTClassifier().fit(table, [0, 0, 0, 1])
    ((_, _, chart),) = chart_nodes(model, [[0.0], [2.0], [2.0], [3.0]], [0, 0, 0, 1])
    assert model.tree_.threshold[0] == 2.0
    assert count_bars(chart) == {(0, True): 3, (1, False): 1}


def test_constant_values_and_empty_nodes():
    model = CARTRegressor(max_depth=2).fit([[0.0], [1.0], [2.0], [3.0]], [1.0, 2, 3, 4])
    charts = {n: c for n, _, c in chart_nodes(model, [[0.5], [0.5]], [1.0, 1.0])}
    assert charts[2] is None  # no row enters it
    assert len(charts[0].points) == 2
    labels = CARTClassifier().fit([[0.0], [1.0]], [0, 1])
    ((_, _, chart),) = chart_nodes(labels, [[0.5], [0.5]], [0, 1])
    assert len({bar[:2] for bar in chart.bars}) == 1


# -------------------------------------------------------------------------- figures
def test_figure_has_charts_in_the_boxes():
    model = CARTClassifier(max_depth=2).fit(IRIS.data, SPECIES)
    plain = plot_tree(model, ax="new")
    artists = plot_tree(model, X=IRIS.data, y=SPECIES, ax="new")
    figure = artists[0].figure
    figure.draw_without_rendering()
    bars = [a for a in artists if type(a).__name__ == "PolyCollection"]
    assert len(bars) == 2
    frames = [a for a in artists if type(a).__name__ == "FancyBboxPatch"]
    texts = [a for a in artists if type(a).__name__ == "Text"]
    assert {"1", "6.9"} <= {text.get_text() for text in texts}
    assert len(texts) == len([a for a in plain if type(a).__name__ == "Text"]) + 4
    boxes = [frame.get_window_extent() for frame in frames]
    for collection in bars:
        corners = np.concatenate([p.vertices for p in collection.get_paths()])
        corners = artists[0].axes.transData.transform(corners)
        extent = Bbox([corners.min(axis=0), corners.max(axis=0)])
        (box,) = (b for b in boxes if b.contains(*extent.min))
        assert box.x0 < extent.x0 < extent.x1 < box.x1
        assert box.y0 < extent.y0 < extent.y1 < box.y1
        for text in texts:  # no text over the bars
            assert not text.get_window_extent().overlaps(extent)
    display = TreeDisplay.from_estimator(model, X=IRIS.data, y=SPECIES)
    assert len(display.artists_) == len(artists)


@pytest.mark.parametrize("orientation", ["vertical", "horizontal"])
def test_all_kinds_of_columns_are_drawn(orientation):
    for model, y in (
        (CARTClassifier(max_depth=3, random_state=0), CLASSES),
        (CARTRegressor(max_depth=3, random_state=0), SCORE),
    ):
        model.fit(X, y)
        artists = plot_tree(model, X=X, y=y, ax="new", orientation=orientation)
        artists[0].figure.draw_without_rendering()
        plot_tree(model, X=X, y=y, ax="new", filled=False, fontsize=5)


# ---------------------------------------------------------------------------- pages
def test_page_has_the_charts_of_the_first_nodes(monkeypatch):
    model = CARTClassifier(max_depth=4, random_state=0).fit(X, CLASSES)
    read = r'<script type="application/json" id="data">(.*?)</script>'
    text = to_html(model, X=X, y=CLASSES)
    (tree,) = json.loads(re.findall(read, text, re.S)[0])["trees"]
    split = np.flatnonzero(~model.tree_.is_leaf)
    assert [int(node) for node in tree["charts"]] == split.tolist()
    maker = ChartMaker(read_fitted(model), X, CLASSES)
    written, chart = tree["charts"]["0"], maker.make(0)
    assert len(written["bars"]) == len(chart.bars)
    assert written["bars"][0][:4] == pytest.approx(chart.bars[0][:4], abs=5e-4)
    assert written["bars"][0][4:] == list(chart.bars[0][4:])
    monkeypatch.setattr("sklearn_textbook.tree.explain.page.tables.MAX_CHARTS", 3)
    text = to_html(model, X=X, y=CLASSES)
    (tree,) = json.loads(re.findall(read, text, re.S)[0])["trees"]
    assert set(tree["charts"]) <= {"0", "1", "2"}
    plain = json.loads(re.findall(read, to_html(model), re.S)[0])["trees"][0]
    assert plain["charts"] == {}


@pytest.mark.parametrize("draw", [plot_tree, to_html])
def test_wrong_rows_are_named(draw):
    model = CARTClassifier(max_depth=2).fit(IRIS.data, SPECIES)
    with pytest.raises(ValueError, match="X and y must be given together, got y=None"):
        draw(model, X=IRIS.data)
    with pytest.raises(ValueError, match="X and y must be given together, got X=None"):
        draw(model, y=SPECIES)
    with pytest.raises(ValueError, match="one value for each of the 150 rows of X"):
        draw(model, X=IRIS.data, y=SPECIES[:3])
    with pytest.raises(ValueError, match=r"only classes seen in training.*got 'rose'"):
        draw(model, X=IRIS.data[:1], y=["rose"])
    two = CARTClassifier().fit(IRIS.data, np.column_stack([SPECIES, SPECIES]))
    with pytest.raises(ValueError, match="single output, got 2"):
        draw(two, X=IRIS.data, y=SPECIES)


def test_ensembles_have_no_charts():
    forest = RandomForestClassifier(2, random_state=0).fit(IRIS.data, SPECIES)
    with pytest.raises(
        ValueError, match="given for a tree, got RandomForestClassifier"
    ):
        to_html(forest, X=IRIS.data, y=SPECIES)


def test_the_smallest_value_can_be_the_threshold():
    """C4.5 takes values of the table for thresholds."""
    table = np.array([[0.0], [1.0]] * 10)
    model = C45Classifier().fit(table, [0, 1] * 10)
    assert model.tree_.nodes["threshold"][0] == 0.0
    ((_, _, chart),) = chart_nodes(model, table, [0, 1] * 10)
    assert count_bars(chart) == {(0, True): 10, (1, False): 10}
