"""Charts of the column that a node tests, among the rows of the node."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook.tree.encode.columns import BOOLEAN, TEMPORAL
from sklearn_textbook.tree.explain.conditions import list_level_children, read_terms
from sklearn_textbook.tree.explain.describe import has_children, level_values
from sklearn_textbook.tree.explain.digits import format_number
from sklearn_textbook.tree.explain.fitted import word
from sklearn_textbook.tree.grow.layout import NOMINAL
from sklearn_textbook.tree.route import find_decision_path

#: Number of bins of a histogram, and maximum numbers of levels and of points.
N_BINS, MAX_LEVELS, MAX_POINTS = 16, 14, 200
#: Share of its place that the bar of a level takes.
BAR_FRACTION = 0.8


@dataclass
class Chart:
    """What is drawn of the rows of a node, in a square from 0 to 1 in both directions.

    Parameters
    ----------
    bars : list of (left, right, bottom, top, number, text)
        Rectangles: the rows of a bin or level in a class, whose number is given, or
        the middle half of the values of a level (number -1); and what they are.
    points : list of (x, y)
        Rows in regression.
    lines : list of (x0, y0, x1, y1)
        Means of the branches, and medians and ranges of levels, in regression.
    marks : list of float
        Where branches part.
    ends : list of str
        The smallest and the largest value; empty for levels.
    """

    bars: list = field(default_factory=list)
    points: list = field(default_factory=list)
    lines: list = field(default_factory=list)
    marks: list = field(default_factory=list)
    ends: list = field(default_factory=list)


class ChartMaker:
    """Makes the charts of a tree for some rows.

    Parameters
    ----------
    fitted : FittedTree
        The tree and its names.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows, as for ``predict``.
    y : array-like of shape (n_samples,)
        Their classes or values.
    """

    def __init__(self, fitted, X, y) -> None:
        if X is None or y is None:
            name = "y" if y is None else "X"
            raise ValueError(f"X and y must be given together, got {name}=None.")
        if not fitted.is_single:
            raise ValueError(
                "X and y can be given for trees with a single output, got "
                f"{fitted.tree.n_outputs} outputs."
            )
        self.fitted = fitted
        self.tree = tree = fitted.tree
        self.matrix = fitted.schema.read(X)
        y = check_target(y, is_numeric=not tree.is_classifier)
        if y.shape != (self.matrix.shape[0], 1):
            raise ValueError(
                f"y must have one value for each of the {self.matrix.shape[0]} rows of "
                f"X, got shape {y.shape}."
            )
        if tree.is_classifier:
            self.target = encode_known_labels(y, fitted.classes)[:, 0]
            self.n_classes = int(tree.n_classes[0])
        else:
            low, high = float(y.min()), float(y.max())
            self.target = (y[:, 0] - low) / ((high - low) or 1.0)
            self.n_classes = 0
        path = find_decision_path(tree, self.matrix, feature_names=fitted.feature_names)
        path = path.tocsc()
        self.rows, self.starts = path.indices, path.indptr

    def make(self, node: int) -> Chart | None:
        """Make the chart of a node."""
        record = self.tree.nodes[node]
        if not has_children(self.tree, node):
            return None
        rows = self.rows[self.starts[node] : self.starts[node + 1]]
        terms = read_terms(self.tree, node)
        if terms:
            values, column = self._add_terms(rows, terms), None
        else:
            feature = int(record["feature"])
            values = self.matrix[rows, feature].astype(np.float64)
            column = self.fitted.schema.columns[feature]
        is_levels = column is not None and (
            column.levels is not None or column.source == BOOLEAN
        )
        present = np.isfinite(values)
        if is_levels:
            present &= values >= 0
        values, target = values[present], self.target[rows[present]]
        if not len(values):
            return None
        if is_levels:
            return self._chart_levels(record, column, values.astype(int), target)
        return self._chart_numbers(float(record["threshold"]), column, values, target)

    def _add_terms(self, rows, terms):
        """Compute the sums of an oblique test; NaN for a level not seen here."""
        total = np.zeros(len(rows))
        for term in terms:
            values = self.matrix[rows, term.feature].astype(np.float64)
            is_missing = np.isnan(values)
            codes = np.where(is_missing, -1, values)
            if term.summands is None:
                part = term.weight * values
            else:
                # Code -1, a level never seen, takes the last entry.
                summands = np.array([*term.summands, None], dtype=np.float64)
                part = summands[codes.astype(int)]
            total += np.where(is_missing, term.fill, part)
        return total

    def _chart_numbers(self, threshold, column, values, target):
        """Draw a histogram, or the values against the target."""
        ends = [float(values.min()), float(values.max())]
        chart = Chart(ends=[self._write(column, end) for end in ends])
        low, high = min(ends[0], threshold), max(ends[1], threshold)
        if self.n_classes == 0:
            span = (high - low) or 1.0
            places, mark = (values - low) / span, (threshold - low) / span
            chart.marks.append(mark)
            some = _choose_rows(len(values))
            chart.points = list(
                zip(places[some].tolist(), target[some].tolist(), strict=True)
            )
            is_low = values <= threshold
            sides = ((is_low, 0.0, mark), (~is_low, mark, 1.0))
            for side, start, stop in sides:
                if side.any():
                    mean = float(target[side].mean())
                    chart.lines.append((start, mean, stop, mean))
            return chart
        # The threshold is an edge of two bins, and a value equal to it on its left.
        width = (high - low) / N_BINS or 1.0
        is_low = values <= threshold
        n_left = max(int(np.ceil((threshold - low) / width)), int(is_low.any()))
        n_bins = n_left + int(np.ceil((high - threshold) / width))
        bins = n_left + np.ceil((values - threshold) / width).astype(int) - 1
        first, last = np.where(is_low, [[0], [n_left - 1]], [[n_left], [n_bins - 1]])
        bins = np.clip(bins, first, last)
        chart.marks.append(n_left / n_bins)
        counts = np.zeros((n_bins, self.n_classes))
        np.add.at(counts, (bins, target), 1.0)
        texts = [
            " to ".join(
                self._write(column, threshold + (n - n_left + side) * width)
                for side in (0, 1)
            )
            for n in range(n_bins)
        ]
        edges = np.arange(n_bins + 1) / n_bins
        self._stack(chart, edges[:-1], edges[1:], counts, texts)
        return chart

    def _chart_levels(self, record, column, codes, target):
        """Draw a bar or box for each level, by branch, the most frequent first."""
        if column.levels is None:
            names = ["false", "true"]
            branch_of = (np.arange(2) > record["threshold"]).astype(int)
        else:
            names = list(map(word, level_values(column)))
            branch_of = np.array(list_level_children(self.tree, record["kind"], record))
        count = np.bincount(codes, minlength=len(names))
        levels = np.flatnonzero(count)
        if record["kind"] == NOMINAL:
            levels = levels[np.lexsort((levels, -count[levels], branch_of[levels]))]
        groups = _merge_levels(levels, branch_of, count)
        chart = Chart()
        for n, (one, other) in enumerate(itertools.pairwise(groups)):
            if branch_of[one[0]] != branch_of[other[0]]:
                chart.marks.append((n + 1) / len(groups))
        place_of = np.zeros(len(names), dtype=int)
        for n, group in enumerate(groups):
            place_of[group] = n
        places = place_of[codes]
        texts = [
            names[group[0]] if len(group) == 1 else f"{len(group)} levels"
            for group in groups
        ]
        gap = (1.0 - BAR_FRACTION) / 2
        left = (np.arange(len(groups)) + gap) / len(groups)
        right = (np.arange(len(groups)) + 1 - gap) / len(groups)
        if self.n_classes:
            counts = np.zeros((len(groups), self.n_classes))
            np.add.at(counts, (places, target), 1.0)
            self._stack(chart, left, right, counts, texts, list(map(len, groups)))
            return chart
        for n, text in enumerate(texts):
            some = target[places == n]
            ends = np.quantile(some, [0.0, 0.25, 0.5, 0.75, 1.0]).tolist()
            a, b = float(left[n]), float(right[n])
            chart.bars.append((a, b, ends[1], ends[3], -1, text))
            chart.lines.append((a, ends[2], b, ends[2]))
            middle = (a + b) / 2
            chart.lines += [
                (middle, ends[0], middle, ends[1]),
                (middle, ends[3], middle, ends[4]),
            ]
        return chart

    def _stack(self, chart, left, right, counts, texts, n_levels: int = 1) -> None:
        """Add the bars of the classes of each place, on top of each other.

        That of several levels is as high as their mean.
        """
        heights = counts / np.reshape(n_levels, (-1, 1))
        heights /= heights.sum(axis=1).max()
        tops = np.cumsum(heights, axis=1)
        bottoms = tops - heights
        names = self.fitted.class_names[0]
        for place, number in zip(*(a.tolist() for a in counts.nonzero()), strict=True):
            text = f"{texts[place]}: {int(counts[place, number]):,} {names[number]}"
            chart.bars.append(
                (
                    *(float(left[place]), float(right[place])),
                    *(float(bottoms[place, number]), float(tops[place, number])),
                    *(number, text),
                )
            )

    @staticmethod
    def _write(column, value):
        """Write a number or date at the end of the axis."""
        if column is None or column.source not in TEMPORAL:
            return format_number(value)
        return column.format_value(round(value)).split("T")[0]


def _merge_levels(levels, branch_of, count):
    """Put the rarest levels of each branch together if there are too many."""
    if len(levels) <= MAX_LEVELS:
        return [[level] for level in levels.tolist()]
    branches = branch_of[levels]
    n_branches = len(np.unique(branches))
    if n_branches > MAX_LEVELS:  # those of all branches
        n_branches, branches = 1, np.zeros(len(levels), dtype=int)
        levels = levels[np.argsort(-count[levels], kind="stable")]
    order = np.argsort(-count[levels], kind="stable")
    is_rare = np.ones(len(levels), dtype=bool)
    is_rare[order[: MAX_LEVELS - n_branches]] = False
    groups = []
    before = None
    for level, *state in zip(levels.tolist(), branches, is_rare, strict=True):
        if state == before and state[1]:
            groups[-1].append(level)
        else:
            groups.append([level])
        before = state
    return groups


def _choose_rows(n_rows):
    """Choose rows for points, always the same."""
    if n_rows <= MAX_POINTS:
        return np.arange(n_rows)
    rng = np.random.default_rng(0)
    return np.sort(rng.choice(n_rows, MAX_POINTS, replace=False))
