"""Figures: what is drawn, and that nothing stands in the way of anything else."""

import io
import re
import xml.etree.ElementTree as ET

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.colors import to_hex
from matplotlib.patches import FancyBboxPatch, PathPatch, Rectangle
from matplotlib.text import Text

from sklearn_textbook.inspection import TreeDisplay
from sklearn_textbook.tree import C45Classifier
from sklearn_textbook.tree.explain import plot_tree
from sklearn_textbook.tree.explain.colors import (
    CLASS_COLORS,
    node_colors,
)
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.shape import count_below
from sklearn_textbook.tree.explain.tidy import place_nodes
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY
from tests.explain.builders import (
    MODES,
    TreeBuilder,
    make_estimator,
    make_schema,
    random_tree,
)

ORIENTATIONS = ("vertical", "horizontal")


@pytest.fixture(autouse=True)
def closed_figures():
    plt.close("all")
    yield
    plt.close("all")


def texts(artists):
    return [artist.get_text() for artist in artists if isinstance(artist, Text)]


def frames(artists):
    return [artist for artist in artists if isinstance(artist, FancyBboxPatch)]


def extents(artists):
    """Corners of artists in pixels: left, bottom, right, top."""
    return np.array([artist.get_window_extent().extents for artist in artists])


def overlaps(first, second, slack=0.5):
    """Whether boxes overlap by more than a part of a pixel; shape (n, m)."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    return np.all(high - low > slack, axis=2)


def make_wide(n_leaves, n_levels=0):
    """A balanced tree, or many branches of which each is split again."""
    builder = TreeBuilder([0, n_levels])
    builder.add([n_leaves, n_leaves, 1])
    open_nodes, leaves = [0], 1
    if n_levels:
        open_nodes = [
            *builder.split(
                0, 1, list(range(n_levels)), [[2, 1, 0]] * n_levels, missing=0
            )
        ]
        leaves = n_levels
    while leaves < n_leaves:
        node = open_nodes.pop(0)
        threshold = float(node) + 0.123
        open_nodes += builder.split(
            node, 0, threshold, [[1, 0, 0], [1, 1, 0]], missing=1
        )
        leaves += 1
    levels = tuple(f"level number {n}" for n in range(n_levels)) or None
    nominal = ("b", "nominal", levels, "string") if levels else ("b",)
    schema = make_schema(("sepal length (cm)",), nominal)
    labels = np.array(["setosa", "versicolor", "virginica"])
    return make_estimator(builder.build(), schema, labels)


# -------------------------------------------------------------------- layout
@st.composite
def random_shapes(draw):
    """First children and numbers of children, level by level, and sizes."""
    first_child, n_children = [], []
    n_nodes, most = 1, draw(st.integers(1, 40))
    while len(n_children) < n_nodes:
        count = draw(st.integers(0, 5)) if n_nodes < most else 0
        first_child.append(n_nodes if count else -1)
        n_children.append(count)
        n_nodes += count
    size = st.floats(0.5, 20.0)
    return (
        first_child,
        n_children,
        draw(st.lists(size, min_size=n_nodes, max_size=n_nodes)),
    )


def levels_of(first_child, n_children):
    level = [0] * len(n_children)
    for node, (first, count) in enumerate(zip(first_child, n_children, strict=True)):
        level[first : first + count] = [level[node] + 1] * count if count else []
    return np.array(level)


@given(random_shapes(), st.floats(0.0, 5.0))
def test_nodes_of_a_level_keep_their_order_and_distance(shape, gap):
    first_child, n_children, sizes = shape
    places = place_nodes(first_child, n_children, sizes, gap)
    sizes, level = np.array(sizes), levels_of(first_child, n_children)
    for number in range(level.max() + 1):
        row = level == number
        left, right = places[row] - sizes[row] / 2, places[row] + sizes[row] / 2
        assert np.all(left[1:] - right[:-1] >= gap - 1e-9)
    assert (places - sizes / 2).min() == pytest.approx(0.0, abs=1e-9)
    for node, (first, count) in enumerate(zip(first_child, n_children, strict=True)):
        if count:
            middle = (places[first] + places[first + count - 1]) / 2
            assert places[node] == pytest.approx(middle)


def test_small_subtrees_between_large_ones_are_spread_evenly():
    # The first and the last child have five children each, the others none.
    first_child = [1, 6, -1, -1, -1, 11] + [-1] * 10
    n_children = [5, 5, 0, 0, 0, 5] + [0] * 10
    places = place_nodes(first_child, n_children, [1.0] * 16, 1.0)
    assert np.diff(places[1:6]) == pytest.approx([2.5] * 4)


def test_layout_time_grows_with_the_number_of_nodes():
    # A chain of a hundred thousand levels: quadratic work would not end.
    depth = 100_000
    first_child = [
        1 + 2 * ((node + 1) // 2) if node % 2 == 0 else -1
        for node in range(2 * depth + 1)
    ]
    n_children = [2 if first > 0 else 0 for first in first_child]
    first_child[-1], n_children[-1] = -1, 0
    places = place_nodes(first_child, n_children, [1.0] * (2 * depth + 1), 1.0)
    assert np.all(np.abs(np.diff(places)[1::2]) == 2.0)


# ------------------------------------------------------------------ the figure
@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("make", [lambda: make_wide(30), lambda: make_wide(24, 8)])
def test_nothing_overlaps_at_the_default_size_of_figures(make, orientation):
    figure = plt.figure()
    artists = plot_tree(make(), orientation=orientation)
    figure.draw_without_rendering()
    boxes = extents(frames(artists))
    letters = extents([artist for artist in artists if isinstance(artist, Text)])
    n_boxes = len(boxes)
    assert not (overlaps(boxes, boxes) & ~np.eye(n_boxes, dtype=bool)).any()
    assert not (overlaps(letters, letters) & ~np.eye(len(letters), dtype=bool)).any()
    # Every text stands in one box, or, as a label, in none.
    inside = overlaps(letters, boxes, slack=0.0)
    assert inside.sum(axis=1).max() == 1
    owner = boxes[inside.argmax(axis=1)][inside.any(axis=1)]
    written = letters[inside.any(axis=1)]
    assert np.all(written[:, 0] >= owner[:, 0])
    assert np.all(written[:, 2] <= owner[:, 2])
    assert (~inside.any(axis=1)).sum() == n_boxes - 1
    # And all is in the figure.
    everything = np.concatenate([boxes, letters])
    assert everything[:, :2].min() >= 0
    assert np.all(everything[:, 2:].max(axis=0) <= figure.bbox.size)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_edges_keep_clear_of_all_labels_and_boxes(orientation):
    # Labels and boxes of very different sizes, the largest between others.
    levels = ("a", "a level with a very long name", "b", "c", "d", "e")
    builder = TreeBuilder([6, 0])
    builder.add([6, 6])
    children = builder.split(0, 0, list(range(6)), [[1, 1]] * 6, missing=0)
    for node in (children[0], children[2]):
        builder.split(node, 1, float(node), [[1, 0], [0, 1]], missing=0)
    schema = make_schema(("colour", "nominal", levels, "string"), ("x",))
    names = np.array(["a class with a very long name", "yes"])
    estimator = make_estimator(builder.build(), schema, names)
    artists = plot_tree(estimator, orientation=orientation, ax="new")
    artists[0].figure.draw_without_rendering()
    boxes = extents(frames(artists))
    letters = extents([artist for artist in artists if isinstance(artist, Text)])
    labels = letters[~overlaps(letters, boxes, slack=0.0).any(axis=1)]
    assert len(labels) >= 10
    obstacles = np.concatenate([labels, boxes])
    for edge in artists:
        if type(edge) is PathPatch:
            path = edge.get_path().interpolated(1).transformed(edge.get_transform())
            points = np.concatenate(path.to_polygons(closed_only=False))
            low, high = obstacles[:, None, :2] + 0.5, obstacles[:, None, 2:] - 0.5
            assert not ((points > low) & (points < high)).all(axis=2).any()


def test_labels_of_edges_have_the_colour_of_the_style():
    with plt.style.context("dark_background"):
        artists = plot_tree(make_wide(3))
        shown = [artist for artist in artists if isinstance(artist, Text)]
        labels = [text for text in shown if text.get_text()[0] in "≤>"]
        assert {to_hex(text.get_color()) for text in labels} == {"#ffffff"}
        assert shown[0].get_color() == "#202124"  # on a light box


def test_bars_are_below_the_descenders_of_the_text():
    artists = plot_tree(make_wide(3))
    artists[0].figure.draw_without_rendering()
    bars = extents([a for a in artists if type(a) is Rectangle])
    letters = extents([a for a in artists if isinstance(a, Text)])
    assert not overlaps(letters, bars, slack=0.0).any()


def make_long_levels(n_levels=24):
    """A test of two sets of levels whose long names start alike."""
    names = [f"Andersson, Mrs. Anna Katarina Charlotte ({n})" for n in range(n_levels)]
    half = n_levels // 2
    builder = TreeBuilder([n_levels, 0])
    builder.add([6, 6])
    builder.split(0, 0, [0] * half + [1] * (n_levels - half), [[6, 0], [0, 6]])
    builder.split(1, 1, 0.5, [[1, 0], [5, 0]])
    schema = make_schema(
        ("passenger", "nominal", tuple(names), "string"),
        ("a_column_with_a_long_name_that_ends_with_its_number_1",),
    )
    return make_estimator(builder.build(), schema, np.array(["no", "yes"]))


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_labels_of_many_long_levels_are_short_and_count_the_rest(orientation):
    estimator = make_long_levels(804)
    artists = plot_tree(estimator, orientation=orientation)
    shown = " ".join(texts(artists)).replace("\N{NO-BREAK SPACE}", " ")
    assert shown.count("+401 more") == 2
    assert '…Charlotte (0)", ' in shown
    assert max(map(len, texts(artists))) < 27
    lines = [artist for artist in artists if isinstance(artist, Text)]
    assert len(lines) < 40
    assert "column_1" not in shown
    everything = plot_tree(make_long_levels(8), ax="new", max_levels=None)
    shown = " ".join(texts(everything))
    assert "more" not in shown
    assert all(f'({n})"' in shown for n in range(8))


def test_long_names_that_start_alike_keep_their_ends():
    estimator = make_wide(3)
    start = "average_monthly_income_of_the_applicant_in_"
    names = [f"{start}2023_euro", f"{start}2024_euro"]
    shown = "".join(texts(plot_tree(estimator, feature_names=names)))
    assert "n_2023_euro" in shown
    names[1] = "b"
    shown = "".join(texts(plot_tree(estimator, feature_names=names, ax="new")))
    assert "average_monthly_income_of_the_applicant…" in shown
    classes = ["versicolor of the valley in the far north"[:-n] for n in (3, 2, 1)]
    legend = plot_tree(estimator, class_names=classes, ax="new")[-1]
    assert len({text.get_text() for text in legend.get_texts()}) == 3


def test_a_node_of_40_branches_is_drawn_in_a_tall_figure():
    builder = TreeBuilder([40])
    builder.add([40, 40])
    builder.split(0, 0, list(range(40)), [[1, 1]] * 40)
    levels = tuple(f"level {n}" for n in range(40))
    schema = make_schema(("a", "nominal", levels, "string"))
    estimator = make_estimator(builder.build(), schema, np.array(["no", "yes"]))
    artists = plot_tree(estimator, orientation="horizontal", ax="new")
    assert len(frames(artists)) == 41


def test_texts_of_boxes_and_edges():
    builder = TreeBuilder([3, 0])
    builder.add([6, 6])
    kids = builder.split(0, 0, [0, 1, 2], [[4, 0], [1, 3], [1, 3]], missing=FRACTIONAL)
    builder.split(kids[2], 1, 2.5, [[1, 1], [0, 2]], missing=STAY)
    schema = make_schema(
        ("colour", "nominal", ("red", "blue", "grey"), "string"), ("x",)
    )
    estimator = make_estimator(builder.build(), schema, np.array(["no", "yes"]))
    assert texts(plot_tree(estimator)) == [
        "colour",
        "12 rows",
        *("no", "4 rows, 100%", "red"),
        *("yes", "4 rows, 75%", "blue"),
        *("x", "4 rows", "grey"),
        *("no", "2 rows, 50%", "≤ 2.5"),
        *("yes", "2 rows, 100%", "> 2.5"),
    ]
    estimator.n_missing_ = np.array([1, 1])
    shown = texts(plot_tree(estimator, ax="new"))
    assert shown[2] == "if missing: all branches"
    assert "if missing: stops" in shown


def test_missing_values_on_edges_and_by_surrogates():
    builder = TreeBuilder([0, 0])
    builder.add([3, 3])
    left, _ = builder.split(0, 0, 1.5, [[3, 1], [0, 2]], missing=1)
    builder.split(left, 1, 1.5, [[3, 0], [0, 1]], missing=1)
    builder.stand_in(left, 0, 0.5)
    schema = make_schema(("x",), ("y",))
    estimator = make_estimator(builder.build(), schema, np.array([0, 1]))
    shown = texts(plot_tree(estimator, show_missing=True))
    assert "> 1.5 or missing" in shown
    assert "if missing: use x" in shown
    assert not any("missing" in text for text in texts(plot_tree(estimator)))


def test_options_show_in_the_boxes():
    estimator = make_wide(3)
    shown = texts(
        plot_tree(
            estimator,
            feature_names=["length", "b"],
            class_names=["A", "B", "C"],
            impurity=True,
            node_ids=True,
            proportion=True,
            precision=1,
        )
    )
    assert shown[:4] == ["length", "#0", "100% of rows", "impurity 0.5"]
    assert "≤ 0.1" in shown
    assert {"A", "B", "C"} & set(shown)


def test_max_depth_marks_what_it_leaves_out():
    artists = plot_tree(make_wide(8), max_depth=1)
    assert len(frames(artists)) == 3
    assert texts(artists).count("+6 nodes below") == 2
    assert len(frames(plot_tree(make_wide(8), max_depth=0, ax="new"))) == 1


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_a_subtree_is_drawn_as_in_the_whole_tree(orientation):
    estimator = make_wide(24, 8)
    options = {"node_ids": True, "fontsize": 8, "orientation": orientation}
    whole = texts(plot_tree(estimator, ax="new", **options))
    tree = estimator.tree_
    for root in (0, 2, 5, int(np.flatnonzero(tree.is_leaf)[0])):
        below = count_below(tree).n_nodes[root]
        artists = plot_tree(estimator, ax="new", root=root, **options)
        assert len(frames(artists)) == below + 1
        shown = texts(artists)
        assert f"#{root}" == shown[1]
        assert set(shown) <= set(whole)
        part = plot_tree(estimator, ax="new", root=root, max_depth=1, **options)
        n_children = int(tree.nodes["n_children"][root])
        assert len(frames(part)) == 1 + n_children
        assert count_hidden(part) == below - n_children
    for root in (-1, tree.node_count, 1.0, True):
        with pytest.raises(ValueError, match=r"root must be a node number"):
            plot_tree(estimator, root=root)


def test_colours_and_bars():
    estimator = make_wide(4)
    artists = plot_tree(estimator)
    fills = [to_hex(frame.get_facecolor()).upper() for frame in frames(artists)]
    assert fills == node_colors(read_fitted(estimator))
    bars = [artist for artist in artists if isinstance(artist, Rectangle)]
    bars = [to_hex(bar.get_facecolor()).upper() for bar in bars]
    assert set(bars) <= set(CLASS_COLORS[:3])
    assert bars[:3] == list(CLASS_COLORS[:3])
    plain = plot_tree(estimator, filled=False, rounded=False, ax="new")
    assert {to_hex(frame.get_facecolor()) for frame in frames(plain)} == {"#ffffff"}
    assert not any(type(artist) is Rectangle for artist in plain)


def test_edges_are_as_wide_as_the_rows_they_carry():
    builder = TreeBuilder([0])
    builder.add([90, 10])
    builder.split(0, 0, 0.5, [[90, 0], [0, 10]], missing=0)
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    edges = [e for e in plot_tree(estimator) if type(e) is PathPatch]
    assert edges[0].get_linewidth() > 2 * edges[1].get_linewidth()


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("n_classes", [0, 3])
def test_every_tree_can_be_drawn(mode, n_classes):
    for seed in range(2):
        estimator = random_tree(
            seed, mode, n_classes=n_classes, n_outputs=1 + seed, depth=3
        )
        # The fonts of a machine may lack the odd letter of the columns' names.
        names = [f"$x_{c}" for c in range(estimator.tree_.n_features)]
        artists = plot_tree(estimator, feature_names=names, ax="new", show_missing=True)
        artists[0].figure.set_dpi(20)  # few pixels take little time
        artists[0].figure.canvas.draw()
        assert len(frames(artists)) == estimator.tree_.node_count
        plt.close("all")


def test_svg_has_text_of_6_points_and_more():
    buffer = io.BytesIO()
    with plt.rc_context({"svg.fonttype": "none"}):
        artists = plot_tree(make_wide(200), ax="new")
        artists[0].figure.savefig(buffer, format="svg")
    svg = ET.fromstring(buffer.getvalue())
    found = list(svg.iter("{http://www.w3.org/2000/svg}text"))
    legend = [text.get_text() for text in artists[-1].get_texts()]
    assert sorted(text.text for text in found) == sorted(texts(artists) + legend)
    sizes = [re.search(r"([\d.]+)px", text.get("style")).group(1) for text in found]
    assert min(map(float, sizes)) >= 6.0  # a pixel of this file is a point


def test_a_tree_of_one_leaf():
    builder = TreeBuilder([0])
    builder.add([2, 6])
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.array([0, 1]))
    assert texts(plot_tree(estimator)) == ["1", "8 rows, 75%"]


# ---------------------------------------------------------------- where and how
def test_figures_are_as_large_as_the_tree_needs():
    plot_tree(make_wide(3))
    small = plt.gcf().get_size_inches()
    plt.close("all")
    plot_tree(make_wide(20))
    large = plt.gcf().get_size_inches()
    assert large[0] > 2 * small[0]
    plt.close("all")
    plot_tree(make_wide(150))
    assert plt.gcf().get_size_inches()[0] <= 24.0


def count_hidden(artists):
    """Nodes that the boxes say are not drawn."""
    notes = [text for text in texts(artists) if text.endswith(" nodes below")]
    return sum(int(note.split()[0].replace(",", "")) for note in notes)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("size", [None, (6, 4), (0.5, 0.5)])
def test_letters_are_never_too_small_to_read(size, orientation):
    if size:
        plt.figure(figsize=size)
    artists = plot_tree(make_wide(300), orientation=orientation)
    figure = artists[0].figure
    sizes = [artist.get_fontsize() for artist in figure.findobj(Text)]
    assert min(sizes) >= 6.0
    assert len(frames(artists)) + count_hidden(artists) == 599
    if size == (0.5, 0.5):  # there is no room for the root
        assert len(frames(artists)) == 1
    else:
        assert len(frames(artists)) >= 3
        drawn = extents(frames(artists))
        assert np.all(drawn[:, 2:].max(axis=0) <= figure.bbox.size)
        assert np.all(drawn[:, :2].min(axis=0) >= 0)


def test_a_larger_figure_and_a_given_size_show_more():
    shown = []
    for size in (4, 12, 80):
        plt.figure(figsize=(size, size))
        shown.append(len(frames(plot_tree(make_wide(60)))))
    assert shown[0] < shown[1] < shown[2] == 119
    assert len(frames(plot_tree(make_wide(60), fontsize=2, ax="new"))) == 119
    plt.figure(figsize=(40, 40))
    assert len(frames(plot_tree(make_wide(60), max_depth=2))) == 7


def test_legend_names_the_colours_of_the_classes():
    *artists, legend = plot_tree(make_wide(4))
    names = [text.get_text() for text in legend.get_texts()]
    assert names == ["setosa", "versicolor", "virginica"]
    colors = [to_hex(patch.get_facecolor()).upper() for patch in legend.get_patches()]
    assert colors == list(CLASS_COLORS[:3])
    legend.figure.draw_without_rendering()
    everything = extents([a for a in artists if not isinstance(a, PathPatch)])
    assert not overlaps(extents([legend]), everything).any()
    assert np.all(legend.get_window_extent().min >= 0)
    named = plot_tree(make_wide(4), class_names=["A", "B", "C"], ax="new")[-1]
    assert [text.get_text() for text in named.get_texts()] == ["A", "B", "C"]


@pytest.mark.parametrize("n_classes", [19, 27])
def test_legend_of_many_classes_has_rows_and_counts_the_rest(n_classes):
    builder = TreeBuilder([0])
    builder.add([1] * n_classes)
    names = np.array([f"class with the number {n}" for n in range(n_classes)])
    estimator = make_estimator(builder.build(), make_schema(("x",)), names)
    legend = plot_tree(estimator)[-1]
    shown = [text.get_text() for text in legend.get_texts()]
    assert shown == [*names[:24], *(["+3 more"] if n_classes == 27 else [])]
    colors = [to_hex(patch.get_facecolor()) for patch in legend.get_patches()]
    assert len(set(colors[:24])) == min(n_classes, 24)
    legend.figure.draw_without_rendering()
    inside = legend.get_window_extent()
    assert np.all(inside.min >= 0)
    assert np.all(inside.max <= legend.figure.bbox.size)


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (random_tree(1, "learned", n_classes=0), {}),
        (random_tree(1, "learned", n_outputs=2), {}),
        (make_wide(3), {"filled": False}),
    ],
)
def test_without_colours_of_classes_there_is_no_legend(estimator, parameters):
    artists = plot_tree(estimator, **parameters)
    assert artists[0].axes.get_legend() is None


def test_axes_are_taken_as_pyplot_does():
    _, (left, right) = plt.subplots(1, 2)
    assert plot_tree(make_wide(3), ax=left)[0].axes is left
    assert plot_tree(make_wide(3))[0].axes is right
    assert plot_tree(make_wide(3), ax="new")[0].axes not in (left, right)
    assert not left.axison


@pytest.mark.parametrize("layout", ["constrained", "tight", None])
@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_boxes_fit_their_text_whatever_the_layout(layout, orientation):
    figure, axes = plt.subplots(1, 2, figsize=(12, 5), layout=layout)
    shown = []
    for ax in axes:
        artists = plot_tree(make_wide(60), orientation=orientation, ax=ax)
        shown.append(len(frames(artists)))
        figure.draw_without_rendering()
        boxes = extents(frames(artists))
        bold = [a for a in artists if isinstance(a, Text) and a.get_weight() == "bold"]
        letters = extents(bold)
        inside = overlaps(letters, boxes, slack=0.0)
        assert inside.any(axis=1).all()
        owner = boxes[inside.argmax(axis=1)]
        margins = np.concatenate(
            [letters[:, 0] - owner[:, 0], owner[:, 2] - letters[:, 2]]
        )
        assert margins.min() >= 0
        assert not (overlaps(boxes, boxes) & ~np.eye(len(boxes), dtype=bool)).any()
        assert np.all(boxes[:, 2:].max(axis=0) <= ax.bbox.max + 1)
    assert min(shown) >= (7 if layout else 3)


def test_a_tree_is_not_drawn_over_anything_else():
    first = plot_tree(make_wide(3))[0].axes
    assert plot_tree(make_wide(3))[0].axes is not first
    _, ax = plt.subplots()
    ax.plot([1, 2], [3, 4])
    assert plot_tree(make_wide(3))[0].axes is not ax
    assert plot_tree(make_wide(3), ax=ax)[0].axes is ax
    empty = plt.figure(figsize=(7, 7))
    assert plot_tree(make_wide(3))[0].figure is empty


@pytest.mark.parametrize(("fontsize", "least"), [(6, 6), (7, 6), (12, 10.2), (4, 4)])
def test_letters_can_have_a_size_without_small_ones(fontsize, least):
    figure = plot_tree(make_wide(3), fontsize=fontsize)[0].figure
    sizes = [a.get_fontsize() for a in figure.findobj(Text) if a.get_text()]
    assert max(sizes) == fontsize
    assert min(sizes) == pytest.approx(least)


def test_display():
    estimator = make_wide(4)
    display = TreeDisplay.from_estimator(
        estimator, class_names=["A", "B", "C"], orientation="horizontal"
    )
    assert display.figure_ is display.ax_.figure
    assert "A" in texts(display.artists_)
    _, ax = plt.subplots()
    assert display.plot(ax=ax, max_depth=0) is display
    assert display.ax_ is ax
    assert len(frames(display.artists_)) == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"orientation": "up"}, r"orientation must be one of .*'horizontal'.*'up'"),
        ({"max_depth": -1}, "max_depth must be an integer >= 0 or None"),
        ({"fontsize": 0}, "fontsize must be a number > 0 or None, got 0"),
        ({"ax": "here"}, "ax must be"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        plot_tree(make_wide(3), **parameters)


def test_without_matplotlib_there_is_a_clear_error(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib.pyplot", None)
    with pytest.raises(ImportError, match=r"pip install matplotlib"):
        plot_tree(make_wide(3))


@pytest.mark.parametrize(
    ("n_levels", "expected"), [(1, "vertical"), (3, "vertical"), (40, "horizontal")]
)
def test_plot_is_horizontal_if_only_the_root_would_fit(n_levels, expected):
    levels = np.arange(400) % n_levels
    X = np.array([f"country {level:02}" for level in range(n_levels)])[levels]
    tree = C45Classifier().fit(X[:, np.newaxis], levels % 3)
    automatic, given, other = (
        [(box.get_x(), box.get_y()) for box in frames(artists)]
        for artists in (
            plot_tree(tree, ax="new"),
            plot_tree(tree, ax="new", orientation=expected),
            plot_tree(tree, ax="new", orientation="vertical"),
        )
    )
    assert automatic == given
    assert len(automatic) == tree.tree_.node_count
    assert len(other) == (1 if expected == "horizontal" else len(automatic))
