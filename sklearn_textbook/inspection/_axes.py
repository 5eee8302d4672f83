"""Axes of displays, and their names and legends."""

import itertools

from sklearn_textbook.tree.explain.lettering import (
    break_lines,
    choose_fonts,
    shorten_names,
)

#: Maximum length of a name and of its lines, and of a name in a legend, in characters.
NAME_LENGTH, LINE_LENGTH, LEGEND_LENGTH = 40, 24, 24
#: Maximum number of entries of a legend inside the axes, and of classes in a legend.
MAX_INSIDE, MAX_CLASSES = 8, 24


def make_axes(ax=None, *, size=None):
    """Make a figure with axes unless axes are given.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None, default=None
        Axes to use.
    size : tuple of float or None, default=None
        Width and height of the new figure in inches.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Axes to draw into.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays require matplotlib: pip install matplotlib."
        ) from error
    return plt.subplots(layout="constrained", figsize=size)[1]


def separate_ticks(axes):
    """Reduce the number of ticks of axes until their labels do not overlap.

    Parameters
    ----------
    axes : sequence of matplotlib.axes.Axes
        Axes of one figure, with all that is drawn in them.
    """
    from matplotlib.ticker import MaxNLocator

    figure = axes[0].figure.figure  # also of a part of a figure
    figure.draw_without_rendering()  # places the axes
    is_changed = False
    for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
        for n_bins in (8, 6, 5, 4, 3, 2, 1):
            if not _labels_overlap(axis):
                break
            axis.set_major_locator(MaxNLocator(n_bins, min_n_ticks=1))
            is_changed = True
    if is_changed:
        figure.draw_without_rendering()  # other labels may have moved the axes


def _labels_overlap(axis):
    """Whether labels of ticks overlap or almost touch."""
    labels = [label for label in axis.get_ticklabels() if label.get_text()]
    low, high = sorted(axis.get_view_interval())
    number = 0 if axis.axis_name == "x" else 1
    labels = [x for x in labels if low <= x.get_position()[number] <= high]
    boxes = sorted(label.get_window_extent().extents.tolist() for label in labels)
    if number == 1:
        boxes.sort(key=lambda box: box[1])
    least = 0.3 * labels[0].get_fontsize() if labels else 0.0
    gaps = [b[number] - a[number + 2] for a, b in itertools.pairwise(boxes)]
    return any(gap < least for gap in gaps)


def find_foreground():
    """Return the colour of text in the current style, for lines on the background."""
    from matplotlib import rcParams

    return rcParams["text.color"]


def write_names(names):
    """Shorten names of columns, and break them into lines.

    Parameters
    ----------
    names : sequence of object
        The names.

    Returns
    -------
    list of str
    """
    names = shorten_names([str(name) for name in names], NAME_LENGTH)
    return ["\n".join(break_lines(name, LINE_LENGTH)) for name in names]


def add_legend(ax, classes, others=()):
    """Draw a legend, beside the axes if it is long.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        The axes.
    classes : sequence of (matplotlib.artist.Artist, object)
        Artists and names of the classes; if there are many, the last are counted.
    others : sequence of (matplotlib.artist.Artist, str), default=()
        Artists and labels of what else is drawn.

    Returns
    -------
    matplotlib.legend.Legend
    """
    from matplotlib.patches import Patch

    names = shorten_names([str(name) for _, name in classes], LEGEND_LENGTH)
    entries = [(handle, name) for (handle, _), name in zip(classes, names, strict=True)]
    n_more = len(entries) - MAX_CLASSES
    if n_more > 0:
        entries[MAX_CLASSES:] = [(Patch(alpha=0.0), f"+{n_more:,} more")]
    entries += others
    place = {}
    if len(entries) > MAX_INSIDE:
        place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1.0), "borderaxespad": 0}
        place["labelspacing"] = 0.2
    legend = ax.legend(*zip(*entries, strict=True), fontsize="small", **place)
    for text, _ in zip(legend.get_texts(), names, strict=False):
        text.set_parse_math(False)
    return legend


def use_fonts(ax):
    """Use fonts with the characters of the texts in axes, if any are installed.

    Parameters
    ----------
    ax : matplotlib.axes.Axes
        Axes with all their texts.
    """
    from matplotlib.text import Text

    for text in (*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.findobj(Text)):
        if not text.get_text().isascii():
            text.set_fontfamily(choose_fonts(text.get_text()))
