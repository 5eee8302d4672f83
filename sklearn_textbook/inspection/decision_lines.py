"""Lines between classes in a plane, from their linear scores."""

from __future__ import annotations

from itertools import combinations

import numpy as np

#: Steeper than this, in shares of the frame's length, a condition counts as met or not
#: along the whole line.
FLAT = 1e-12


def find_decision_lines(weights, offsets, frame):
    """Find where two classes have equal scores and no other has a larger one.

    Parameters
    ----------
    weights : ndarray of shape (n_classes, 2)
        Scores of the classes are ``weights @ point + offsets``.
    offsets : ndarray of shape (n_classes,)
        See ``weights``.
    frame : tuple of float
        Left, right, bottom and top of the part of the plane to look at.

    Returns
    -------
    lines : list of tuple
        Numbers of the two classes, and the two ends of the line as an array (2, 2).
    """
    left, right, bottom, top = frame
    size = np.array([right - left, top - bottom])
    corner = np.array([left, bottom])
    # In units of the frame, so that nothing depends on the units of the columns.
    slopes, levels = weights * size, offsets + weights @ corner
    lines = []
    for first, second in combinations(range(len(levels)), 2):
        ends = _clip_line(slopes, levels, first, second)
        if ends is not None:
            lines.append((first, second, corner + ends * size))
    return lines


def _clip_line(slopes, levels, first, second):
    """Find what part of a line of equal scores decides, in the unit square."""
    normal = slopes[second] - slopes[first]
    level = levels[second] - levels[first]
    length = np.linalg.norm(normal)
    if not np.isfinite(level) or length == 0.0:
        return None
    start = -level * normal / length**2
    along = np.array([-normal[1], normal[0]]) / length
    # Conditions a + b t >= 0: inside the square, and no third class scores higher.
    third = [k for k in range(len(levels)) if k not in (first, second)]
    values = [*start, *(1.0 - start)]
    steps = [*along, *(-along)]
    for other in third:
        if np.isfinite(levels[other]):
            margin = slopes[first] - slopes[other]
            values.append(margin @ start + levels[first] - levels[other])
            steps.append(margin @ along)
    low, high = -np.inf, np.inf
    for value, step in zip(values, steps, strict=True):
        if abs(step) <= FLAT * max(1.0, abs(value)):
            if value < 0.0:
                return None
        elif step > 0.0:
            low = max(low, -value / step)
        else:
            high = min(high, -value / step)
    return start + np.outer([low, high], along) if low < high else None
