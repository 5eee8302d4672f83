"""Text, sizes and positions of the boxes of a figure."""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace

import numpy as np

from sklearn_textbook.tree.explain.conditions import branch_condition, read_terms
from sklearn_textbook.tree.explain.describe import Words, has_children
from sklearn_textbook.tree.explain.digits import format_fraction, format_number
from sklearn_textbook.tree.explain.lettering import (
    break_lines,
    measure,
    shorten,
    shorten_names,
)
from sklearn_textbook.tree.explain.shape import count_below
from sklearn_textbook.tree.explain.tidy import place_nodes
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY

# All lengths are in points, at a font of BASE_SIZE.
BASE_SIZE = 10.0
LINE_HEIGHT = 1.25  # of the font's size
SMALL = 0.85  # size of notes and edge labels, of the font's size
PADDING = (7.0, 5.0)  # across and down
BAR_HEIGHT = 3.5
BAR_GAP = 1.5  # between the descenders of the text and the bar
CHART_SIZE = (104.0, 40.0)  # smallest width, and height, of the chart of a distribution
CHART_GAP = 4.0  # above it, and below for the marks of thresholds
SIBLING_GAP = 9.0
LABEL_GAP = 4.0
EDGE_WIDTHS = (0.7, 3.5)  # of edges with none and with all of the rows
LEVEL_GAPS = (20.0, 26.0)  # between levels of a vertical and a horizontal drawing
LINE_WIDTH = 18  # letters
NOTE_WIDTH = 24  # letters of a line of a note
SUM_WIDTH = 26  # letters of a line of a sum
MAX_LETTERS = 40  # of one name
LESS_EQUAL = {"<= ": "≤ ", ">= ": "≥ "}
# The end of a set that is not written in full; no line breaks within it.
MORE = re.compile(r"(\+[\d,]+) more\b")


@dataclass
class Box:
    """One node of a figure.

    Parameters
    ----------
    node : int
        Number of the node.
    title : list of str
        The lines in bold: the column of the test, or the prediction.
    notes : list of str
        The lines below, in a smaller font.
    label : list of str
        The lines of the label of the edge from the parent.
    fractions : list of float
        Class proportions, for the bar at the bottom; empty for no bar.
    chart : Chart or None
        The distribution of the column of the test.
    width, height : float
        Size of the box.
    label_width, label_height : float
        Size of the label.
    label_room : float
        Extent of the longest label of the level, along the edges.
    level_end : float
        End of the largest box of the level, along the edges.
    x, y : float
        Center of the box.
    """

    node: int
    title: list
    notes: list
    label: list = field(default_factory=list)
    fractions: list = field(default_factory=list)
    chart: object = None
    width: float = 0.0
    height: float = 0.0
    label_width: float = 0.0
    label_height: float = 0.0
    label_room: float = 0.0
    level_end: float = 0.0
    x: float = 0.0
    y: float = 0.0


class BoxWriter:
    """Makes the boxes of a tree according to the parameters of a figure."""

    def __init__(
        self,
        fitted,
        *,
        precision,
        max_levels,
        show_missing,
        impurity,
        node_ids,
        proportion,
        bars,
        charts=None,
    ) -> None:
        fitted = replace(
            fitted,
            feature_names=shorten_names(fitted.feature_names, MAX_LETTERS),
            class_names=[shorten_names(n, MAX_LETTERS) for n in fitted.class_names],
        )
        self.words = Words(fitted, precision, max_levels, show_missing, MAX_LETTERS)
        self.impurity = impurity
        self.node_ids = node_ids
        self.proportion = proportion
        self.bars = bars
        self.charts = charts
        self.precision = precision
        self.below = count_below(fitted.tree)

    def write(self, node, is_cut):
        """Write the box of one node; ``is_cut`` if its children are not drawn."""
        fitted = self.words.fitted
        tree, record = fitted.tree, fitted.tree.nodes[node]
        is_inner = has_children(tree, node)
        title, width = self.words.outputs(node), LINE_WIDTH
        if is_inner:
            texts = self.words.test(node, sign="·")
            # No line break between a level and its number.
            title = [text.replace(": ", ":\N{NO-BREAK SPACE}") for text in texts]
        if is_inner and len(title) > 1:  # a sum, whose terms have lines of their own
            title = [shorten(text, 2 * MAX_LETTERS) for text in title]
            width = SUM_WIDTH
        title = [line for text in title for line in _break_lines(text, width)]
        notes = [f"#{node}"] if self.node_ids else []
        notes.append(self._size(node, record, is_leaf=not is_inner))
        if self.impurity:
            number = format_number(round(record["impurity"], 4), self.precision)
            notes.append(f"impurity {number}")
        notes += self._missing(node) if is_inner else []
        if is_cut:
            notes.append(f"+{self.below.n_nodes[node]:,} nodes below")
        notes = [line for note in notes for line in _break_lines(note, NOTE_WIDTH)]
        chart = self.charts.make(node) if self.charts else None
        label, fractions = self._label(record, node), self._fractions(node)
        return Box(node, title, notes, label, fractions, chart)

    def _size(self, node, record, is_leaf):
        """Return the size of a node and, in a leaf, the confidence."""
        total = float(self.words.fitted.tree.nodes["weight"][0])
        size = self.words.size(node)
        if self.proportion:
            size = f"{format_fraction(float(record['weight']) / total)} of rows"
        if not is_leaf or not self.words.fitted.is_single or record["weight"] <= 0:
            return size
        confidence = self.words.confidence(node)
        return f"{size}, {confidence}" if confidence else size

    def _missing(self, node):
        """Return a note on missing values that do not take a single branch."""
        record = self.words.fitted.tree.nodes[node]
        terms = read_terms(self.words.fitted.tree, node)
        if terms:
            return ["if missing: the mean"] if self.words.fills(terms) else []
        if not self.words.tells_missing(int(record["feature"])):
            return []
        chains = branch_condition(self.words.fitted.tree, node, 0).chains
        if chains:
            names = [self.words.name(s.feature) for s in chains[0].stand_ins]
            names = list(dict.fromkeys(names))
            return [f"if missing: use {', '.join(self.words.cut_short(names, names))}"]
        target = int(record["missing_branch"])
        notes = {STAY: "if missing: stops", FRACTIONAL: "if missing: all branches"}
        return [notes[target]] if target in notes else []

    def _label(self, record, node):
        parent = int(record["parent"])
        if parent < 0:
            return []
        tree = self.words.fitted.tree
        branch = node - int(tree.nodes["first_child"][parent])
        text = self.words.branch(branch_condition(tree, parent, branch))
        for ascii_sign, sign in LESS_EQUAL.items():
            if text.startswith(ascii_sign):
                text = sign + text[len(ascii_sign) :]
        return _break_lines(text, LINE_WIDTH)

    def _fractions(self, node):
        fitted = self.words.fitted
        if not (self.bars and fitted.tree.is_classifier and fitted.is_single):
            return []
        if fitted.tree.nodes["weight"][node] <= 0:
            return []
        return fitted.class_fractions(node)[0].tolist()


def _break_lines(text, width):
    return break_lines(MORE.sub("\\1\N{NO-BREAK SPACE}more", text), width)


def set_sizes(boxes, families, small=SMALL) -> None:
    """Set the size of every box and label from its text.

    ``small`` is the font size of notes and labels, of that of the titles.
    """
    known = {}

    def width(key):
        if key not in known:
            known[key] = measure(key[0], families, *key[1:])
        return known[key]

    def widest(lines, size, weight="normal"):
        return max((width((text, size, weight)) for text in lines), default=0.0)

    line = BASE_SIZE * LINE_HEIGHT
    for box in boxes:
        text = max(
            widest(box.title, BASE_SIZE, "bold"), widest(box.notes, BASE_SIZE * small)
        )
        box.width = text + 2 * PADDING[0]
        box.height = line * (len(box.title) + small * len(box.notes)) + 2 * PADDING[1]
        box.height += BAR_HEIGHT + BAR_GAP if box.fractions else 0.0
        if box.chart:
            box.width = max(box.width, CHART_SIZE[0] + 2 * PADDING[0])
            box.height += CHART_SIZE[1] + 2 * CHART_GAP
            box.height += line * small if box.chart.ends else 0.0
        box.label_width = widest(box.label, BASE_SIZE * small)
        box.label_height = line * small * len(box.label)


def place_boxes(boxes, first_child, n_children, depth, is_horizontal):
    """Place the boxes of a tree, and return the total width and height.

    The root is at the top or, in a horizontal drawing, at the left; y increases
    downwards. Labels are between the boxes and the edges that lead to them.
    """
    if is_horizontal:
        across = [max(box.height, box.label_height) for box in boxes]
        along = [(box.width, box.label_width) for box in boxes]
    else:
        across = [max(box.width, box.label_width) for box in boxes]
        along = [(box.height, box.label_height) for box in boxes]
    places = place_nodes(first_child, n_children, across, SIBLING_GAP)
    starts, ends, rooms = _place_levels(np.array(along), depth, is_horizontal)
    for box, place, level in zip(boxes, places.tolist(), depth, strict=True):
        box.label_room, box.level_end = rooms[level], ends[level]
        if is_horizontal:
            box.x, box.y = starts[level] + box.width / 2, place
        else:
            box.x, box.y = place, starts[level] + box.height / 2
    breadth = float((places + np.array(across) / 2).max())
    return (ends[-1], breadth) if is_horizontal else (breadth, ends[-1])


def _place_levels(along, depth, is_horizontal):
    """Return where the boxes of each level start and end, and extents of labels."""
    starts, ends, rooms = [], [0.0], []
    depth = np.asarray(depth)
    for level in range(int(depth.max()) + 1):
        box, label = along[depth == level].max(axis=0)
        gap = LEVEL_GAPS[is_horizontal] if level else 0.0
        starts.append(ends[-1] + gap + label + (2 * LABEL_GAP if label else 0.0))
        ends.append(starts[-1] + box)
        rooms.append(label)
    return starts, ends[1:], rooms
