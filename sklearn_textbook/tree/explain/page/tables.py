"""The trees of a page as plain values for JSON, as ``model.js`` reads them."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.costs import SAME_COST
from sklearn_textbook.tree.encode.columns import BOOLEAN
from sklearn_textbook.tree.explain.conditions import (
    SumCondition,
    collect_branches,
    read_terms,
)
from sklearn_textbook.tree.explain.describe import Words, level_values
from sklearn_textbook.tree.explain.equations import describe_equation, read_slopes
from sklearn_textbook.tree.explain.fitted import word
from sklearn_textbook.tree.explain.shape import count_below
from sklearn_textbook.tree.grow.layout import NOMINAL, NUMERIC

#: Letters of a level in the label of an edge; sets of twice this length and the number
#: of the other levels fit in two lines.
LABEL_LETTERS = 22
#: Number of nodes among which those that are split have a chart.
MAX_CHARTS = 1000


class PageTables:
    """Collects the trees of a page, and the columns and classes that they share.

    Parameters
    ----------
    max_levels : int or None
        Maximum number of levels written for a set, and of columns for a sum.
    """

    def __init__(self, max_levels) -> None:
        self.max_levels = max_levels
        self.trees, self.columns, self.targets = [], [], []
        self._column_numbers, self._target_numbers = {}, {}

    def add_tree(
        self,
        name: str,
        fitted,
        addend: float,
        weight: float | None,
        max_nodes: int | None,
        charts=None,
    ) -> int:
        """Add a tree."""
        tree = fitted.tree
        n_nodes, cut = cut_tree(tree, max_nodes)
        n_children = tree.nodes["n_children"][:n_nodes].copy()
        n_children[list(cut)] = 0
        records = tree.nodes[:n_nodes]
        entry = {
            "name": name,
            "ensembleWeight": weight,
            "columns": [
                self._number_column(column, fitted.feature_names[feature])
                for feature, column in enumerate(fitted.schema.columns)
            ],
            "target": self._number_target(fitted),
            **list_choice(fitted),
            "addend": addend,
            "unknown": tree.handle_unknown,
            "children": n_children.tolist(),
            "threshold": to_numbers(records["threshold"]),
            "weight": to_numbers(records["weight"]),
            "impurity": to_numbers([float(f"{v:.4g}") for v in records["impurity"]]),
            "rows": records["n_samples"].tolist(),
            "statistics": to_numbers(tree.statistics[:n_nodes].ravel()),
            "cut": cut,
            "charts": write_charts(charts, n_children) if charts else {},
            **{
                field: records[name].tolist()
                for field, name in (
                    *(("kind", "kind"), ("feature", "feature")),
                    ("missing", "missing_branch"),
                )
            },
            **list_tests(tree, n_children),
            **list_equations(fitted, n_nodes),
            **write_words(fitted, self.max_levels, n_children),
        }
        self.trees.append(entry)
        return tree.node_count - n_nodes

    def _number_column(self, column, name):
        key = (column, name)
        if key not in self._column_numbers:
            number = self._column_numbers[key] = len(self.columns)
            levels = None
            if column.levels is not None:
                levels = [word(level) for level in level_values(column)]
            source = column.source
            # Columns with levels are entered by a choice, whatever their source.
            entry = {"number": number, "name": word(name), "source": source}
            self.columns.append({**entry, "kind": column.kind, "levels": levels})
        return self._column_numbers[key]

    def _number_target(self, fitted):
        names = tuple(map(tuple, fitted.class_names))
        if names not in self._target_numbers:
            self._target_numbers[names] = len(self.targets)
            self.targets.append({"classes": fitted.class_names or None})
        return self._target_numbers[names]


def list_choice(fitted) -> dict[str, object]:
    """List what the choice of a class depends on."""
    if fitted.costs is None:
        return {"tolerance": fitted.class_tolerance, "costs": None}
    tolerance = max(fitted.class_tolerance, SAME_COST) * fitted.costs.max()
    return {"tolerance": float(tolerance), "costs": fitted.costs.tolist()}


def cut_tree(tree, max_nodes: int | None) -> tuple[int, dict[int, int]]:
    """Choose the nodes to keep; they are numbered breadth first."""
    n_nodes = tree.node_count
    if max_nodes is None or n_nodes <= max_nodes:
        return n_nodes, {}
    first, size = tree.nodes["first_child"], tree.nodes["n_children"]
    is_split = size > 0
    stops = (first + size)[is_split]
    n_nodes = int(max(1, stops[stops <= max_nodes].max(initial=1)))
    cut = np.flatnonzero(is_split[:n_nodes] & (first[:n_nodes] >= n_nodes))
    below = count_below(tree).n_nodes
    return n_nodes, {int(node): int(below[node]) for node in cut}


def to_numbers(values):
    """List numbers for JSON, whole ones without a point, infinity and NaN as None."""
    values = np.asarray(values, dtype=np.float64)
    return [
        None
        if not np.isfinite(v)
        else int(v)
        if v.is_integer() and abs(v) < 1e15
        else v
        for v in values.tolist()
    ]


def list_tests(tree, n_children):
    """List the level maps, surrogates and sums of the nodes that are split."""
    split = np.flatnonzero(n_children)
    nodes = tree.nodes
    levels = {
        node: group_levels(tree, nodes[node])
        for node in split.tolist()
        if nodes["kind"][node] == NOMINAL
    }
    surrogates, terms = {}, {}
    is_split = set(split.tolist())
    for record in tree.surrogates:
        if int(record["node"]) in is_split:
            kind = int(record["kind"])
            surrogates.setdefault(int(record["node"]), []).append(
                [
                    *(int(record["feature"]), kind, int(record["low_branch"])),
                    to_numbers([record["threshold"]])[0],
                    group_levels(tree, record) if kind == NOMINAL else None,
                ]
            )
    for node in sorted(is_split.intersection(np.unique(tree.terms["node"]).tolist())):
        terms[node] = [
            [t.feature, t.fill, t.weight, t.summands and list(t.summands)]
            for t in read_terms(tree, node)
        ]
    return {"levels": levels, "surrogates": surrogates, "terms": terms}


def group_levels(tree, record):
    """List the codes of the levels of each child of a nominal test."""
    children = tree.read_level_map(record)
    n_children = int(children.max(initial=-1)) + 1
    return [np.flatnonzero(children == child).tolist() for child in range(n_children)]


def list_equations(fitted, n_nodes):
    """List the bounds and slopes of the equations of nodes, and their text."""
    tree, slopes, texts = fitted.tree, {}, {}
    words = Words(fitted)
    for node in np.unique(tree.slopes["node"]).tolist():
        if node < n_nodes:
            terms = read_slopes(tree, node)[["feature", "weight", "center"]].tolist()
            slopes[node] = [*to_numbers(tree.bounds[node]), *map(list, terms)]
            texts[node] = describe_equation(words, node)
    return {"slopes": slopes, "equations": texts}


def write_charts(charts, n_children):
    """List the parts of the charts of the first nodes that are split."""
    written = {}
    for node in np.flatnonzero(n_children[:MAX_CHARTS]).tolist():
        chart = charts.make(node)
        if chart:
            written[node] = {
                "bars": [[*_round(bar[:4]), *bar[4:]] for bar in chart.bars],
                "points": [_round(point) for point in chart.points],
                "lines": [_round(line) for line in chart.lines],
                "marks": _round(chart.marks),
                "ends": chart.ends,
            }
    return written


def _round(numbers):
    return [round(number, 3) for number in numbers]


def write_words(fitted, max_levels, n_children):
    """Write the conditions of the branches, and the sums of oblique tests.

    A condition is left out where it is the name of the column, or the sum, followed by
    the label of the edge.
    """
    words = Words(fitted, max_levels=max_levels)
    short = Words(fitted, max_levels=max_levels, max_letters=LABEL_LETTERS)
    tree = fitted.tree
    labels, conditions, tests = [""], {}, {}
    for node in np.flatnonzero(n_children).tolist():
        branches = collect_branches(tree, node)
        test = " ".join(words.test(node))
        if isinstance(branches[0], SumCondition):
            tests[node] = test
        for condition in branches:
            label, text = short.branch(condition), words.condition(condition)
            if text != f"{test} {label}" or not is_bound(words, tree, node):
                conditions[len(labels)] = text
            labels.append(label)
    return {"labels": labels, "conditions": conditions, "tests": tests}


def is_bound(words, tree, node):
    """Whether the branches of a node are conditions such as ``x <= 2``."""
    if tree.nodes["kind"][node] != NUMERIC:
        return int(node) in tree.terms["node"]
    source = words.fitted.schema.columns[int(tree.nodes["feature"][node])].source
    return source != BOOLEAN
