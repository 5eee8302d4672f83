"""Axes of displays."""

import itertools


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
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError(
            "Displays require matplotlib: pip install 'sklearn-textbook[plot]'."
        ) from error
    return pyplot.subplots(layout="constrained", figsize=size)[1]


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
