"""Places for texts beside points, clear of each other and of lines."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

#: Distances of a text from its point in points, and turns of its direction.
DISTANCES = np.concatenate([np.arange(4.0, 40.0, 4.0), np.arange(40.0, 200.0, 8.0)])
TURNS = np.radians([0.0, 15.0, -15.0, 30.0, -30.0, 50.0, -50.0])
ALL_AROUND = np.radians([0.0, 100.0, -80.0, 180.0])
#: Minimum gap between two texts, in pixels.
GAP = 1.0


def place_texts(
    ax,
    texts: list,
    angles: Sequence[float],
    *,
    lines: np.ndarray | None = None,
    turns: Sequence[float] = TURNS,
    stay_inside: bool = False,
    is_nearest: bool = False,
) -> None:
    """Move texts to the first place that is clear of lines and of other texts."""
    per_pixel = 72.0 / ax.figure.dpi
    if lines is None:
        lines = np.empty((0, 2, 2))
    lines = ax.transData.transform(lines.reshape(-1, 2)).reshape(-1, 2, 2)
    anchors = ax.transData.transform([text.xy for text in texts]).reshape(-1, 2)
    others = {text for text in ax.texts if text.get_text()} - set(texts)
    placed = [text.get_window_extent().extents for text in others]
    placed = np.array(placed).reshape(-1, 4)
    for number, (text, angle) in enumerate(zip(texts, angles, strict=True)):
        extent = text.get_window_extent()
        half = np.array([extent.width, extent.height]) / 2
        anchor = anchors[number]
        centers = anchor + _list_places(half, angle, turns, per_pixel)
        boxes = np.hstack([centers - half - GAP, centers + half + GAP])
        # If no place is clear of all, texts are more important than lines.
        cost = 4 * touch_boxes(boxes, placed) + 1 * touch_lines(boxes, lines)
        if is_nearest:
            cost = cost + 0.5 * ~_are_nearest(boxes, anchors, number)
        if stay_inside:
            low, high = ax.bbox.min, ax.bbox.max
            is_inside = (boxes[:, :2] >= low).all(1) & (boxes[:, 2:] <= high).all(1)
            cost += 2 * ~is_inside
        place = int(cost.argmin())
        text.set_position((centers[place] - anchor) * per_pixel)
        placed = np.vstack([placed, boxes[place]])


def _list_places(half, angle, turns, per_pixel):
    """List centers of a box relative to its point, the nearest first."""
    distance, turn = (grid.ravel() for grid in np.meshgrid(DISTANCES, turns))
    order = np.argsort(distance, kind="stable")
    distance, turn = distance[order], turn[order]
    direction = np.stack([np.cos(angle + turn), np.sin(angle + turn)], axis=1)
    # From the center of the box to its border in this direction.
    inner = (half / np.maximum(np.abs(direction), 1e-9)).min(axis=1)
    return direction * (distance / per_pixel + inner)[:, None]


def _are_nearest(boxes, anchors, own):
    """Whether each box is not nearer to the point of another text than to its own."""
    gaps = np.maximum(boxes[:, None, :2] - anchors, anchors - boxes[:, None, 2:])
    distances = np.hypot(*np.moveaxis(np.maximum(gaps, 0.0), 2, 0))
    return distances[:, own] <= distances.min(axis=1)


def touch_boxes(boxes, others):
    """Whether boxes (left, bottom, right, top) overlap any of some others."""
    low = np.maximum(boxes[:, None, :2], others[None, :, :2])
    high = np.minimum(boxes[:, None, 2:], others[None, :, 2:])
    return (high > low).all(axis=2).any(axis=1)


def touch_lines(boxes, lines):
    """Whether boxes are crossed by any of some lines, given by both ends."""
    start, step = lines[None, :, 0], (lines[:, 1] - lines[:, 0])[None]
    step = np.where(step == 0.0, 1e-12, step)
    # The part of the line between both sides of the box, for x and for y.
    first = (boxes[:, None, :2] - start) / step
    second = (boxes[:, None, 2:] - start) / step
    enter = np.minimum(first, second).max(axis=2)
    leave = np.maximum(first, second).min(axis=2)
    return ((enter < leave) & (enter < 1.0) & (leave > 0.0)).any(axis=1)
