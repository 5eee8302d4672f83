"""Where displays draw."""


def make_axes(ax=None, *, size=None):
    """Make a new figure with one pair of axes, unless there are axes already.

    Parameters
    ----------
    ax : matplotlib.axes.Axes or None, default=None
        Axes to take.
    size : tuple of float or None, default=None
        Width and height of the new figure in inches.

    Returns
    -------
    ax : matplotlib.axes.Axes
        Where to draw.

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
