"""Axes of displays."""


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
            "Displays need matplotlib: pip install 'sklearn-textbook[plot]'."
        ) from error
    return pyplot.subplots(layout="constrained", figsize=size)[1]
