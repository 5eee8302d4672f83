"""A tree as a figure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.explain.boxes import (
    BASE_SIZE,
    LEVEL_GAPS,
    SIBLING_GAP,
    SMALL,
    BoxWriter,
    place_boxes,
    set_sizes,
)
from sklearn_textbook.tree.explain.colors import node_colors
from sklearn_textbook.tree.explain.distributions import ChartMaker
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.legend import Legend
from sklearn_textbook.tree.explain.lettering import choose_fonts
from sklearn_textbook.tree.explain.paint import Painter
from sklearn_textbook.tree.explain.shape import check_root, list_subtree
from sklearn_textbook.tree.explain.text import check_at_least

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

ORIENTATIONS = ("auto", "vertical", "horizontal")
NEW_FIGURE = "new"
#: Margin around the drawing in points, for frames and wide edges.
MARGIN = 10.0
#: Maximum increase of the gaps between levels, as a multiple of the gap.
LONGEST_EDGE = 2.0
#: Maximum size of a new figure, vertical and horizontal, and minimum, in inches.
LARGEST_FIGURES = ((24.0, 16.0), (24.0, 24.0))
SMALLEST_FIGURE = (3.0, 2.0)
#: Minimum font size in points; trees too large for it are drawn in part.
SMALLEST_LETTERS = 6.0
SMALLEST_SCALE = SMALLEST_LETTERS / (BASE_SIZE * SMALL)


def plot_tree(
    estimator: Any,
    *,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    max_depth: int | None = None,
    root: int = 0,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    filled: bool = True,
    impurity: bool = False,
    node_ids: bool = False,
    proportion: bool = False,
    rounded: bool = True,
    precision: int | None = None,
    orientation: str = "auto",
    show_missing: bool | None = None,
    max_levels: int | None = 4,
    ax: Axes | Any | None = None,
    fontsize: float | None = None,
) -> list[Artist]:
    """Draw a tree with matplotlib.

    Boxes show the column of the test (for an oblique test, the weighted sum of columns)
    or the prediction; edges show the condition of the branch. The bar in a box shows
    the class proportions; the colour of the box shows the predicted class and its
    proportion (in regression, the value). The width of an edge increases with its
    number of rows. The font is as large as possible without overlaps, from 6 to 10
    points. If the whole tree does not fit at 6 points, only the upper levels are drawn,
    and the nodes at which the drawing stops show the number of nodes below them; a
    larger figure shows more levels, and a horizontal one more branches of a node. Names
    of columns, classes and levels are shortened to 40 characters.

    Characters that the fonts of matplotlib do not have are drawn with a Chinese font if
    one is installed, such as Noto Sans CJK; otherwise, matplotlib warns and draws boxes
    in their place.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`.
    X : array-like, data frame or sparse matrix or None, default=None
        Rows, usually those of training, whose distribution is drawn in each box that
        has a test: the values of its column, stacked by class, or, in regression,
        against the target; levels as bars or, in regression, boxes from the lower to
        the upper quartile, in the order of the branches. Triangles mark the threshold,
        or where branches part. In regression, at most 200 rows are drawn as points,
        and horizontal lines are means of the branches. Missing values are left out.
    y : array-like of shape (n_samples,) or None, default=None
        The classes or values of these rows.
    max_depth : int or None, default=None
        Maximum depth to draw, counted from ``root``. ``None`` draws as many levels as
        fit, or all levels if ``fontsize`` is given.
    root : int, default=0
        Number of the node whose subtree is drawn; ``node_ids=True`` shows the numbers.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs, a list
        of such lists); ``None`` uses the class labels.
    filled : bool, default=True
        Whether to colour the boxes, and to draw the bars and a legend of the classes.
    impurity : bool, default=False
        Whether to show the impurity of each node.
    node_ids : bool, default=False
        Whether to show the number of each node.
    proportion : bool, default=False
        Whether to show fractions of all rows instead of numbers of rows.
    rounded : bool, default=True
        Whether to round the corners of the boxes.
    precision : int or None, default=None
        Number of decimals of thresholds and values. ``None`` writes each threshold with
        as few decimals as distinguish it from the other thresholds of its column. For
        the weights of oblique tests, this is the number of significant digits.
    orientation : {"auto", "vertical", "horizontal"}, default="auto"
        Whether the root is at the top or on the left. "auto": at the top, unless only
        the root would be drawn.
    show_missing : bool or None, default=None
        Whether to show where missing values go. ``None`` shows this for columns with
        missing values in training.
    max_levels : int or None, default=4
        Maximum number of levels written for a set of levels, and of columns for an
        oblique test; for the others, only their number is written. ``None`` writes all.
    ax : matplotlib.axes.Axes, "new" or None, default=None
        Axes to draw on. ``"new"`` opens a new figure whose size fits the tree, up to 24
        x 16 inches, or 24 x 24 if it is horizontal. ``None`` uses the current axes if
        they are empty, and otherwise opens a new figure.
    fontsize : float or None, default=None
        Font size of the titles in points; other text is 15% smaller, but not below 6
        points. ``None`` uses the largest size that fits. A given size may make the
        drawing extend beyond the axes, and is used even if it is below 6.

    Returns
    -------
    list of matplotlib.artist.Artist
        All artists drawn; the last is the legend.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If ``estimator`` is not a tree of this package.
    ValueError
        If a parameter is out of range, there are too few or too many names, or X and y
        do not match the tree.

    See Also
    --------
    sklearn_textbook.inspection.TreeDisplay : The figure as a Display object.
    export_graphviz : Exports the tree to Graphviz.
    sklearn.tree.plot_tree : The same for scikit-learn trees. Here, the names of columns
        and classes are shown by default, and a test may have any number of branches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, plot_tree
    >>> iris = load_iris(as_frame=True)
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> artists = plot_tree(tree, class_names=iris.target_names)

    Show the distribution of the tested column in each node:

    >>> artists = plot_tree(tree, X=iris.data, y=iris.target)

    Save a file with text that can be searched and edited:

    >>> import matplotlib
    >>> with matplotlib.rc_context({"svg.fonttype": "none"}):
    ...     artists[0].figure.savefig("tree.svg")  # doctest: +SKIP
    """
    plt = _import_pyplot()
    check_at_least("max_depth", max_depth, 0, allow_none=True)
    check_at_least("precision", precision, 0, allow_none=True)
    check_at_least("max_levels", max_levels, 1, allow_none=True)
    if orientation not in ORIENTATIONS:
        raise ValueError(
            f"orientation must be one of {list(ORIENTATIONS)}, got {orientation!r}."
        )
    if fontsize is not None and not fontsize > 0:
        raise ValueError(f"fontsize must be a number > 0 or None, got {fontsize!r}.")
    if isinstance(ax, str) and ax != NEW_FIGURE:
        raise ValueError(f'ax must be axes, "new" or None, got {ax!r}.')
    fitted = read_fitted(estimator, feature_names, class_names)
    check_root(root, fitted.tree)
    writer = BoxWriter(
        fitted,
        precision=precision,
        max_levels=max_levels,
        show_missing=show_missing,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        bars=filled,
        charts=None if X is None and y is None else ChartMaker(fitted, X, y),
    )
    ax = _find_axes(plt, ax)
    if fontsize is None:
        drawing = _choose_drawing(writer, root, max_depth, orientation, ax)
    else:
        small = max(SMALL, min(1.0, SMALLEST_LETTERS / fontsize))
        is_horizontal = orientation == "horizontal"
        drawing = Drawing(writer, root, max_depth, is_horizontal, small)
    if ax is None:
        ax = drawing.open_figure(plt, fontsize)
    fill = node_colors(fitted) if filled else None
    return drawing.draw(ax, fill, rounded, fontsize)


def _import_pyplot():
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "plot_tree requires matplotlib: pip install matplotlib."
        ) from error
    return plt


def _find_axes(plt, ax):
    """Choose the given or the current axes; None if a new figure is needed."""
    if isinstance(ax, str):
        return None
    if ax is not None or not plt.get_fignums():
        return ax
    figure = plt.gcf()
    if not figure.axes:
        return figure.add_axes((0.0, 0.0, 1.0, 1.0))
    ax = plt.gca()
    return None if ax.has_data() or ax.texts else ax


def _measure_axes(ax):
    """Width and height of axes in points, after the layout of their figure."""
    ax.set_axis_off()
    if ax.figure.get_layout_engine() is not None:
        ax.figure.figure.draw_without_rendering()  # also of a part of a figure
    extent = ax.get_window_extent()
    return np.array([extent.width, extent.height]) * 72.0 / ax.figure.dpi


def _choose_drawing(writer, root, max_depth, orientation, ax):
    """Lay out the tree; "auto": horizontally, if only the root would fit otherwise."""

    def choose(is_horizontal):
        largest = np.array(LARGEST_FIGURES[is_horizontal])
        available = largest * 72.0 if ax is None else _measure_axes(ax)
        return _choose_levels(writer, root, max_depth, is_horizontal, available)

    drawing = choose(orientation == "horizontal")
    if orientation == "auto" and len(drawing.boxes) == 1:
        other = choose(True)
        drawing = other if len(other.boxes) > 1 else drawing
    return drawing


def _choose_levels(writer, root, max_depth, is_horizontal, available):
    """Lay out as many levels as fit at the minimum font size."""
    across = available[1 if is_horizontal else 0] / SMALLEST_SCALE
    n_nodes = [len(level) for level in list_subtree(writer.words.fitted.tree, root)]
    deepest = (
        len(n_nodes) - 1 if max_depth is None else min(max_depth, len(n_nodes) - 1)
    )
    chosen = Drawing(writer, root, 0, is_horizontal)
    for depth in range(1, deepest + 1):
        if n_nodes[depth] * (BASE_SIZE + SIBLING_GAP) > across:
            break
        drawing = Drawing(writer, root, depth, is_horizontal)
        if drawing.find_scale(available) < SMALLEST_SCALE:
            break
        chosen = drawing
    return chosen


class Drawing:
    """The layout of the boxes of a tree, to be drawn into axes."""

    def __init__(self, writer, root, max_depth, is_horizontal, small=SMALL) -> None:
        self.small = small
        self.tree = writer.words.fitted.tree
        self.is_horizontal = is_horizontal
        levels = list_subtree(self.tree, root)
        levels = levels if max_depth is None else levels[: max_depth + 1]
        shown = np.concatenate(levels)
        nodes = self.tree.nodes[shown]
        self.depth = [depth for depth, level in enumerate(levels) for _ in level]
        is_inner = nodes["n_children"] > 0
        is_cut = is_inner & (np.array(self.depth) == max_depth)
        self.n_children = np.where(is_cut, 0, nodes["n_children"]).tolist()
        # Positions in the list of boxes, where siblings stay next to each other.
        self.first_child = np.searchsorted(shown, nodes["first_child"]).tolist()
        self.boxes = [
            writer.write(node, cut)
            for node, cut in zip(shown.tolist(), is_cut.tolist(), strict=True)
        ]
        self.boxes[0].label = []
        self.families = choose_fonts(self._all_text())
        set_sizes(self.boxes, self.families, small)
        self.size = place_boxes(
            self.boxes, self.first_child, self.n_children, self.depth, is_horizontal
        )
        self.legend = Legend(writer, self.families, self.size[0], small)

    def _all_text(self):
        parts = [(*box.title, *box.notes, *box.label) for box in self.boxes]
        return "".join(text for lines in parts for text in lines)

    @property
    def full_size(self):
        """Width and height of the drawing and its legend."""
        width, height = self.size
        return np.array([max(width, self.legend.width), height + self.legend.height])

    def find_scale(self, available):
        """Return the largest scale, up to 1, at which the drawing fits a given size."""
        return min(float(((available - MARGIN) / self.full_size).min()), 1.0)

    def open_figure(self, plt, fontsize):
        """Make a figure of suitable size and return its axes."""
        scale = 1.0 if fontsize is None else fontsize / BASE_SIZE
        needed = (self.full_size * scale + 2 * BASE_SIZE) / 72.0
        largest = LARGEST_FIGURES[self.is_horizontal]
        size = np.clip(needed, SMALLEST_FIGURE, largest)
        return plt.figure(figsize=size).add_axes((0.0, 0.0, 1.0, 1.0))

    def draw(self, ax, fill, rounded, fontsize):
        """Draw all boxes, edges and the legend, and return the artists."""
        available = _measure_axes(ax)
        scale = max(self.find_scale(available), SMALLEST_SCALE)
        if fontsize is not None:
            scale = fontsize / BASE_SIZE
        available = available / scale
        free = np.array([0.0, self.legend.height])
        self._spread_levels(available - free - MARGIN / scale)
        width, height = self.size
        top = (available[1] - self.legend.height - height) / 2
        ax.set_xlim((width - available[0]) / 2, (width + available[0]) / 2)
        ax.set_ylim(available[1] - top, -top)
        artists = Painter(self, ax, scale, fill, rounded).paint()
        return artists + self.legend.draw(ax, scale)

    def _spread_levels(self, available):
        """Increase the gaps between the levels to fill the axes."""
        axis = 0 if self.is_horizontal else 1
        n_steps = max(self.depth)
        if n_steps == 0:
            return
        most = LONGEST_EDGE * LEVEL_GAPS[self.is_horizontal]
        extra = min((available[axis] - self.size[axis]) / n_steps, most)
        if extra <= 0.0:
            return
        for box, level in zip(self.boxes, self.depth, strict=True):
            box.level_end += level * extra
            if self.is_horizontal:
                box.x += level * extra
            else:
                box.y += level * extra
        width, height = self.size
        more = n_steps * extra
        self.size = (width + more, height) if axis == 0 else (width, height + more)
