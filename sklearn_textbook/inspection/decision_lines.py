"""Decision lines of linear scores in a plane."""

from __future__ import annotations

from itertools import combinations

import numpy as np

#: A condition that changes less than this along the line is constant; in units of the
#: frame.
FLAT = 1e-12


def find_decision_lines(
    weights: np.ndarray, offsets: np.ndarray, frame: tuple[float, ...]
) -> list[tuple]:
    """Return where two classes have equal scores and no other class a larger one."""
    left, right, bottom, top = frame
    size = np.array([right - left, top - bottom])
    corner = np.array([left, bottom])
    # In units of the frame, independent of the units of the columns.
    slopes, levels = weights * size, offsets + weights @ corner
    lines = []
    for first, second in combinations(range(len(levels)), 2):
        ends = _clip_line(slopes, levels, first, second)
        if ends is not None:
            lines.append((first, second, corner + ends * size))
    return lines


def _clip_line(slopes, levels, first, second):
    """Return the part of a line of equal scores that is a decision boundary."""
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
