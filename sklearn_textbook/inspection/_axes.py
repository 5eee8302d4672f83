"""Axes of displays, and their names and legends."""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Sequence

import numpy as np

from sklearn_textbook._contract.text_table import measure_width
from sklearn_textbook.tree.encode.schema import find_zone
from sklearn_textbook.tree.explain.lettering import (
    break_lines,
    choose_fonts,
    shorten_names,
)

#: Maximum length of a name and of its lines, and of a name in a legend, in characters.
NAME_LENGTH, LINE_LENGTH, LEGEND_LENGTH = 40, 24, 24
#: The same of a level, sizes of its letters in points, the width of a letter and the
#: height of a line, in multiples of the size.
LEVEL_LENGTH, LEVEL_SIZE, SMALLEST, LETTER_WIDTH, LINE_HEIGHT = 20, 9.0, 5.5, 0.6, 1.2
#: Units of durations, and steps of times of day, in seconds.
UNITS = {"days": 86400, "hours": 3600, "minutes": 60}
TIME_STEPS = (1, 5, 15, 30, 60, 300, 900, 1800, 3600, 7200, 10800, 14400, 21600)
#: Maximum number of times that a figure is laid out for its ticks.
MAX_LAYOUTS = 4
#: Maximum number of entries of a legend inside the axes, and of classes in a legend.
MAX_INSIDE, MAX_CLASSES = 8, 24


def make_axes(ax=None, *, size: tuple[float, ...] | None = None):
    """Make a figure with axes unless axes are given."""
    if ax is not None:
        return ax
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays require matplotlib: pip install matplotlib."
        ) from error
    return plt.subplots(layout="constrained", figsize=size)[1]


def separate_ticks(axes: Sequence) -> None:
    """Reduce the number of ticks of axes until their labels do not overlap."""
    from matplotlib.ticker import MaxNLocator

    figure = axes[0].figure.figure  # also of a part of a figure
    for _ in range(MAX_LAYOUTS):  # other labels may move the axes
        figure.draw_without_rendering()  # places the axes
        is_changed = False
        for axis in (axis for ax in axes for axis in (ax.xaxis, ax.yaxis)):
            for n_bins in (8, 6, 5, 4, 3, 2, 1):
                if not _labels_overlap(axis):
                    break
                axis.set_major_locator(MaxNLocator(n_bins, min_n_ticks=1))
                is_changed = True
        if not is_changed:
            break


def _labels_overlap(axis) -> bool:
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


def write_names(names: Sequence[object]) -> list[str]:
    """Shorten names of columns, and break them into lines."""
    names = shorten_names([str(name) for name in names], NAME_LENGTH)
    return ["\n".join(break_lines(name, LINE_LENGTH)) for name in names]


def write_levels(axis, names: Sequence[str]) -> None:
    """Write names of levels at 0, 1, 2, ... on an axis.

    On the x axis, long names are rotated. Of very many, only some are written.
    """
    box = axis.axes.bbox
    is_x = axis.axis_name == "x"
    room = (box.width if is_x else box.height) * 72 / axis.figure.dpi  # points
    slot = room / max(1, len(names))
    short = shorten_names(names, LEVEL_LENGTH)
    longest = max(map(measure_width, short), default=0)
    size = LEVEL_SIZE
    is_rotated = is_x and (longest + 2) * LETTER_WIDTH * size > slot
    if not is_x or is_rotated:
        size = min(size, max(SMALLEST, slot / LINE_HEIGHT))
        if slot > 3 * size:  # there is room for two lines
            short = shorten_names(names, 3 * LEVEL_LENGTH // 2)
            short = ["\n".join(break_lines(name, LEVEL_LENGTH)) for name in short]
    step = max(1, math.ceil(LINE_HEIGHT * SMALLEST / slot))
    places = range(0, len(names), step)
    axis.set_ticks(places, [short[n] for n in places], parse_math=False)
    axis.set_tick_params(rotation=90 if is_rotated else 0, labelsize=size)
    if is_x:
        axis.axes.set_xlim(-0.5, len(names) - 0.5)


def write_time_axis(axis, values: np.ndarray, time_zone: str | None = None) -> str:
    """Write dates, times of day, durations or booleans on an axis, if it has these."""
    from matplotlib import dates, ticker

    if values.dtype.kind == "M":
        zone = find_zone(time_zone) if time_zone else None
        locator = dates.AutoDateLocator(minticks=3, maxticks=6, tz=zone)
        axis.set_major_locator(locator)
        axis.set_major_formatter(dates.ConciseDateFormatter(locator, tz=zone))
    elif values.dtype.kind == "b":
        axis.set_ticks([0, 1], ["False", "True"])
    elif values.dtype.kind == "O" and isinstance(values[0], datetime.time):
        low, high = axis.get_view_interval()
        steps = (s for s in TIME_STEPS if abs(high - low) / s <= 6)
        axis.set_major_locator(ticker.MultipleLocator(next(steps, TIME_STEPS[-1])))
        axis.set_major_formatter(ticker.FuncFormatter(_write_time))
    elif values.dtype.kind == "m":
        return f" ({choose_unit(values)[0]})"
    return ""


def _write_time(seconds, _):
    start = datetime.datetime(1970, 1, 1)
    time = (start + datetime.timedelta(seconds=seconds)).time()
    return time.isoformat("seconds" if time.second else "minutes")


def choose_unit(durations: np.ndarray) -> tuple[str, int]:
    """Choose a unit in which durations are written.

    Parameters
    ----------
    durations : ndarray of timedelta64
        The durations.

    Returns
    -------
    name : str
        Name of the unit.
    seconds : int
        Its length.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.inspection._axes import choose_unit
    >>> choose_unit(np.array([3, 50], dtype="timedelta64[h]"))
    ('days', 86400)
    """
    longest = np.nanmax(np.abs(durations / np.timedelta64(1, "s")))
    found = (pair for pair in UNITS.items() if longest >= 2 * pair[1])
    return next(found, ("seconds", 1))


def add_legend(ax, classes, others=()):
    """Draw a legend, beside the axes if it is long."""
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


def name_curves(ax, **kwargs):
    """Draw a legend of what has a label, with short names."""
    handles, names = ax.get_legend_handles_labels()
    legend = ax.legend(handles, shorten_names(names, NAME_LENGTH), **kwargs)
    for text in legend.get_texts():
        text.set_parse_math(False)
    return legend


def use_fonts(ax) -> None:
    """Use fonts with the characters of the texts in axes, if any are installed."""
    from matplotlib.text import Text

    for text in (*ax.get_xticklabels(), *ax.get_yticklabels(), *ax.findobj(Text)):
        if not text.get_text().isascii():
            text.set_fontfamily(choose_fonts(text.get_text()))
