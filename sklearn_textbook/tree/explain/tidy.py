"""Tidy drawing of trees with any number of branches and boxes of any size.

By the rules of Reingold and Tilford, subtrees are packed as closely as their outlines
allow, a parent is centred above its children, and a mirrored tree gives the mirrored
drawing; by that of Buchheim, small subtrees between large ones are spread evenly. Each
pair of outlines is compared only down to the depth of the shallower one.

References
----------
E. M. Reingold, J. S. Tilford: Tidier Drawings of Trees, 1981.
C. Buchheim, M. Juenger, S. Leipert: Improving Walker's Algorithm to Run in Linear
Time, 2002.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np


class Outline:
    """The extent of one side of a subtree on every level.

    ``reach[-1]`` belongs to the top level, ``reach[0]`` to the deepest; ``shift`` is
    added to all of them, so that a whole subtree moves at once.
    """

    def __init__(self, reach) -> None:
        self.reach = [reach]
        self.shift = 0.0

    def __len__(self) -> int:
        return len(self.reach)

    def at(self, level):
        """Return the extent on a level, counted from 0 at the top."""
        return self.reach[-1 - level] + self.shift

    def put_above(self, reach) -> None:
        """Add a new top level."""
        self.reach.append(reach - self.shift)

    def cover(self, other):
        """Replace the top levels by those of another outline."""
        if len(other) >= len(self):
            self.reach, self.shift = other.reach, other.shift
            return
        for level in range(len(other)):
            self.reach[-1 - level] = other.at(level) - self.shift


class Subtrees:
    """Subtrees side by side, with the root of the first at 0."""

    def __init__(self, gap) -> None:
        self.gap = gap
        self.places = []
        self.left = self.right = None
        # (number of levels, subtree) of those that the right outline shows, from the
        # shallowest, which is the last one added, to the deepest.
        self.visible = []

    def add(self, left, right):
        """Place another subtree, given its outlines relative to its root."""
        number = len(self.places)
        if number == 0:
            self.places.append(0.0)
            self.left, self.right = left, right
            self.visible = [(len(right), 0)]
            return
        place = self._push_right(left, number)
        self.places.append(place)
        left.shift += place
        right.shift += place
        if len(left) > len(self.left):
            left.cover(self.left)
            self.left = left
        self.right.cover(right)
        while self.visible and self.visible[-1][0] <= len(right):
            self.visible.pop()
        self.visible.append((len(right), number))

    def _push_right(self, left, number):
        """Return the leftmost position of the next subtree; spread those in between."""
        place, start = -np.inf, 0
        for n_levels, owner in reversed(self.visible):
            before, stop = place, min(n_levels, len(left))
            for level in range(start, stop):
                place = max(place, self.right.at(level) + self.gap - left.at(level))
            if -np.inf < before < place:
                step = (place - before) / (number - owner)
                for between in range(owner + 1, number):
                    self.places[between] += step * (between - owner)
            start = stop
            if stop == len(left):
                break
        return place


def place_nodes(
    first_child: Sequence[int],
    n_children: Sequence[int],
    sizes: Sequence[float],
    gap: float,
) -> np.ndarray:
    """Place the nodes of a tree along the axis of the siblings.

    Parameters
    ----------
    first_child : sequence of int
        First child of each node; siblings are consecutive, and parents come before
        their children.
    n_children : sequence of int
        Number of each node's children, 0 for a leaf.
    sizes : sequence of float
        Extent of each node along the axis.
    gap : float
        Minimum distance between neighbours on one level.

    Returns
    -------
    ndarray of float64
        The middle of each node; the outermost edge is at 0.

    Examples
    --------
    >>> from sklearn_textbook.tree.explain.tidy import place_nodes
    >>> place_nodes([1, -1, -1], [2, 0, 0], [4.0, 2.0, 2.0], gap=1.0)
    array([2.5, 1. , 4. ])
    """
    n_nodes = len(sizes)
    outlines, offsets = {}, np.zeros(n_nodes)
    # Children have larger numbers than their parent, so they are processed first.
    for node in range(n_nodes - 1, -1, -1):
        half = sizes[node] / 2.0
        if not n_children[node]:
            outlines[node] = Outline(-half), Outline(half)
            continue
        children = range(first_child[node], first_child[node] + n_children[node])
        forest = Subtrees(gap)
        for child in children:
            forest.add(*outlines.pop(child))
        middle = (forest.places[0] + forest.places[-1]) / 2.0
        for child, place in zip(children, forest.places, strict=True):
            offsets[child] = place - middle
        for outline, reach in ((forest.left, -half), (forest.right, half)):
            outline.shift -= middle
            outline.put_above(reach)
        outlines[node] = forest.left, forest.right
    left, _ = outlines[0]
    places = offsets
    for node in range(n_nodes):
        for child in range(first_child[node], first_child[node] + n_children[node]):
            places[child] += places[node]
    return places - (min(left.reach) + left.shift)
