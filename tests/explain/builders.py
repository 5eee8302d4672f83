"""Small trees for the tests of explanations: by hand and at random, no estimator.

``route_row`` is a plain-Python walk, written from the layout's description alone.
"""

import math
from types import SimpleNamespace

import numpy as np

from sklearn_textbook.tree.encode.schema import ColumnSchema, TableSchema
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import (
    DENSE_MAP,
    FRACTIONAL,
    LEAF,
    NODE_DTYPE,
    NOMINAL,
    NUMERIC,
    ORDINAL,
    STAY,
    SURROGATE_DTYPE,
)
from tests.tree_builders import write_level_map


def make_schema(*columns):
    """A schema of (name, kind, levels, source) rows; kind and source may be left."""
    full = []
    for name, *rest in columns:
        kind, levels, source = (*rest, *("numeric", None, "number")[len(rest) :])
        full.append(ColumnSchema(name, kind, levels, source))
    return TableSchema(tuple(full), has_names=True)


def make_estimator(tree, schema, classes=None):
    """What explanations read of a fitted estimator."""
    return SimpleNamespace(
        tree_=tree, schema_=schema, classes_=classes, n_outputs_=tree.n_outputs
    )


class TreeBuilder:
    """Lays nodes out breadth first; children are told when their parent is split.

    Parameters
    ----------
    n_levels : list of int
        Levels per column, 0 for numeric ones.
    """

    def __init__(self, n_levels):
        self.n_levels = np.array(n_levels, dtype=np.int64)
        self.nodes, self.statistics, self.maps, self.surrogates = [], [], [], []
        self.n_maps = 0

    def add(self, statistics, n_samples=None, parent=-1, impurity=0.5):
        """Add a leaf; returns its number."""
        statistics = np.atleast_2d(np.asarray(statistics, dtype=np.float64))
        weight = float(statistics[0].sum())
        rows = round(weight) if n_samples is None else n_samples
        self.nodes.append(
            (-1, 0, -2, STAY, LEAF, parent, -1, -2.0, impurity, 0.0, rows, weight)
        )
        self.statistics.append(statistics)
        return len(self.nodes) - 1

    def set_weight(self, node, weight):
        """Give a node a weight of its own (regression)."""
        record = list(self.nodes[node])
        record[11] = float(weight)
        self.nodes[node] = tuple(record)

    def split(self, node, feature, test, children, missing=STAY):
        """Split a node by a threshold, or by a map of level codes to children."""
        first = len(self.nodes)
        for statistics in children:
            self.add(statistics, parent=node)
        kind = NUMERIC
        if isinstance(test, list):
            kind = NOMINAL
        elif self.n_levels[feature]:
            kind = ORDINAL
        record = list(self.nodes[node])
        start = self._add_map(test) if kind == NOMINAL else -1
        threshold = math.nan if kind == NOMINAL else test
        record[:5] = first, len(children), feature, missing, kind
        record[6:8] = start, threshold
        self.nodes[node] = tuple(record)
        return range(first, first + len(children))

    def stand_in(self, node, feature, test, low_branch=0):
        """Add a surrogate to a node."""
        kind = NUMERIC
        if isinstance(test, list):
            kind = NOMINAL
        elif self.n_levels[feature]:
            kind = ORDINAL
        start = self._add_map(test) if kind == NOMINAL else -1
        threshold = math.nan if kind == NOMINAL else test
        self.surrogates.append(
            (node, feature, kind, low_branch, start, threshold, 0.9, 0.8, 1)
        )

    def build(self, n_classes=None, handle_unknown="parent"):
        """The tree; classification unless ``n_classes`` is ``[]``."""
        is_classifier = n_classes != []
        statistics = np.stack(self.statistics)
        n_outputs, n_statistics = statistics.shape[1:]
        if n_classes is None:
            n_classes = [n_statistics] * n_outputs
        surrogates = np.array(
            sorted(self.surrogates, key=lambda s: s[0]), dtype=SURROGATE_DTYPE
        )
        return GrownTree(
            nodes=np.array(self.nodes, dtype=NODE_DTYPE),
            statistics=statistics,
            n_features=len(self.n_levels),
            n_levels=self.n_levels,
            n_classes=np.array(n_classes or [1] * n_outputs, dtype=np.int64),
            is_classifier=is_classifier,
            level_branch=np.array(self.maps, dtype=np.int32),
            surrogates=surrogates,
            handle_unknown=handle_unknown,
        )

    def _add_map(self, branches):
        """Append a level map, dense and sparse in turn."""
        start = len(self.maps)
        self.maps.extend(write_level_map(branches, is_sparse=self.n_maps % 2 == 1))
        self.n_maps += 1
        return start


# ------------------------------------------------------------------- routing
def route_row(tree, row):
    """Where a row ends: node -> share; NaN is missing, -1 an unseen level."""
    ends, stack = {}, [(0, 1.0)]
    while stack:
        number, share = stack.pop()
        node = tree.nodes[number]
        if node["kind"] == LEAF:
            ends[number] = ends.get(number, 0.0) + share
            continue
        branch = find_branch(tree, number, row)
        first, count = int(node["first_child"]), int(node["n_children"])
        if branch == STAY:
            ends[number] = ends.get(number, 0.0) + share
        elif branch == FRACTIONAL:
            weights = tree.nodes["weight"][first : first + count]
            for child, weight in enumerate(weights):
                if weight > 0:
                    stack.append((first + child, share * weight / weights.sum()))
        else:
            stack.append((first + branch, share))
    return ends


def find_branch(tree, number, row):
    node = tree.nodes[number]
    value = row[node["feature"]]
    if math.isnan(value):
        for surrogate in tree.surrogates[tree.surrogates["node"] == number]:
            branch = judge(tree, surrogate, row[surrogate["feature"]])
            if branch is not None:
                return branch
        return int(node["missing_branch"])
    branch = judge(tree, node, value)
    if branch is None:
        if tree.handle_unknown == "error":
            raise ValueError("unseen level")
        return STAY if tree.handle_unknown == "parent" else FRACTIONAL
    return branch


def judge(tree, test, value):
    """Branch of a value under a test, None if the test cannot tell."""
    if math.isnan(value):
        return None
    low = int(test["low_branch"]) if "low_branch" in test.dtype.names else 0
    if test["kind"] == NUMERIC:
        return low if value <= test["threshold"] else 1 - low
    if value < 0:
        return None
    if test["kind"] == ORDINAL:
        return low if value <= test["threshold"] else 1 - low
    branch = look_up_level(tree.level_branch[test["map_start"] :], int(value))
    return None if branch < 0 else branch


def look_up_level(level_map, level):
    """Child number that a map, dense or sparse, has for a level; -1 for none."""
    n_pairs = int(level_map[0])
    if n_pairs == DENSE_MAP:
        return int(level_map[1 + level])
    pairs = level_map[1 : 1 + 2 * n_pairs].reshape(2, n_pairs).tolist()
    return dict(zip(*pairs, strict=True)).get(level, -1)


def predict_distribution(tree, row):
    """Mean of the distributions (or values) of the nodes a row ends in."""
    return sum(share * tree.value[node] for node, share in route_row(tree, row).items())


# -------------------------------------------------------------- random trees
KINDS = ("numeric", "numeric", "nominal", "ordinal", "boolean", "integer")
MODES = ("learned", "branch", "stay", "fractional", "surrogate")


def random_schema(rng, n_columns):
    """Columns of every kind, with names that need quoting."""
    columns = []
    for number in range(n_columns):
        kind = KINDS[rng.integers(len(KINDS))]
        name = f'{kind} "{number}" it\'s 列'
        count = int(rng.integers(2, 6))
        if kind == "numeric":
            columns.append((name,))
        elif kind == "boolean":
            columns.append((name, "nominal", (False, True), "boolean"))
        elif kind == "integer":
            columns.append((name, "nominal", tuple(range(3, 3 + count)), "category"))
        else:
            levels = tuple(f"{letter}'\"x" for letter in "abcdef"[:count])
            columns.append((name, kind, levels, "category"))
    return make_schema(*columns)


def random_rows(rng, schema, n_rows, with_unseen):
    """Rows as codes and numbers, with missing values and (if asked) unseen levels."""
    table = np.empty((n_rows, len(schema.columns)))
    for c, column in enumerate(schema.columns):
        if column.levels is None:
            table[:, c] = rng.integers(-3, 4, n_rows) / 2
        else:
            lowest = -1 if with_unseen else 0
            table[:, c] = rng.integers(lowest, len(column.levels), n_rows)
    table[rng.random(table.shape) < 0.15] = np.nan
    return table


def raw_value(column, value):
    """The value of a table's cell that a code stands for."""
    if math.isnan(value):
        return None
    if column.levels is None:
        return float(value)
    return column.levels[int(value)] if value >= 0 else "a level never seen"


def random_tree(seed, mode, handle_unknown="parent", n_classes=3, n_outputs=1, depth=4):
    """A tree of random tests, its counts taken from random rows routed through it."""
    rng = np.random.default_rng(seed)
    schema = random_schema(rng, int(rng.integers(2, 6)))
    table = random_rows(rng, schema, 60, with_unseen=False)
    n_levels = [len(c.levels or ()) for c in schema.columns]
    is_classifier = n_classes > 0
    y = rng.integers(0, max(n_classes, 2), (60, n_outputs)).astype(float)
    builder = TreeBuilder(n_levels)
    members = [np.ones(60)]

    def statistics(weights, fallback):
        if weights.sum() == 0:
            return fallback
        if not is_classifier:
            return (weights @ y / weights.sum())[:, None]
        return np.stack(
            [
                np.bincount(y[:, o].astype(int), weights, n_classes)
                for o in range(n_outputs)
            ]
        )

    def add(weights, parent):
        fallback = builder.statistics[parent] if parent >= 0 else None
        node = builder.add(
            statistics(weights, fallback), int(np.count_nonzero(weights)), parent
        )
        builder.set_weight(node, weights.sum())
        return node

    add(members[0], -1)
    level_of = [0]
    node = 0
    while node < len(builder.nodes):
        weights = members[node]
        if level_of[node] < depth and np.count_nonzero(weights) > 3:
            children = _random_split(
                rng, builder, node, table, weights, mode, handle_unknown
            )
            for share in children:
                add(share, node)
                members.append(share)
                level_of.append(level_of[node] + 1)
        node += 1
    classes = None
    if is_classifier:
        labels = np.array(["it's", 'a "b"', "c\\n", "d"][:n_classes], dtype=object)
        classes = labels if n_outputs == 1 else [labels] * n_outputs
    tree = builder.build(None if is_classifier else [], handle_unknown)
    return make_estimator(tree, schema, classes)


def _random_split(rng, builder, node, table, weights, mode, handle_unknown):
    """Write a random test into a node; returns the weights of the rows per child."""
    feature = int(rng.integers(table.shape[1]))
    n_levels = int(builder.n_levels[feature])
    values = table[:, feature]
    present = np.unique(values[(weights > 0) & ~np.isnan(values)])
    if len(present) < 2:
        return []
    kind = _random_kind(rng, n_levels, mode)
    n_children, start, threshold = 2, -1, math.nan
    if kind == NOMINAL:
        branches = [-1] * n_levels
        if rng.random() < 0.5 and mode != "surrogate":
            n_children = n_levels
            branches = list(range(n_levels))
        else:
            for rank, code in enumerate(rng.permutation(present)):
                branches[int(code)] = rank % 2
        start = builder._add_map(branches)
    elif rng.random() < 0.15 and mode in ("learned", "branch"):
        threshold = math.inf
    else:
        threshold = float(present[rng.integers(len(present) - 1)])
    missing = _random_missing(rng, mode, n_children, threshold)
    n_children = max(n_children, missing + 1)
    first = len(builder.nodes)
    record = list(builder.nodes[node])
    record[:5] = first, n_children, feature, missing, kind
    record[6:8] = start, threshold
    builder.nodes[node] = tuple(record)
    if mode == "surrogate":
        _random_stand_ins(rng, builder, node, feature, table)
    return _send_rows(builder, node, table, weights, n_children, handle_unknown)


def _random_kind(rng, n_levels, mode):
    if n_levels == 0:
        return NUMERIC
    return NOMINAL if rng.random() < 0.7 else ORDINAL


def _random_missing(rng, mode, n_children, threshold):
    if threshold == math.inf:
        return 1
    if mode == "learned":
        return int(rng.integers(n_children))
    if mode == "branch":
        return n_children if rng.random() < 0.7 else STAY
    if mode == "fractional":
        return FRACTIONAL
    if mode == "surrogate":
        return int(rng.integers(-1, 2))
    return STAY


def _random_stand_ins(rng, builder, node, feature, table):
    others = [c for c in range(table.shape[1]) if c != feature]
    for column in rng.permutation(others)[: rng.integers(1, 4)].tolist():
        n_levels = int(builder.n_levels[column])
        low = int(rng.integers(2))
        if n_levels and rng.random() < 0.6:
            builder.stand_in(node, column, rng.integers(-1, 2, n_levels).tolist())
        elif n_levels:
            builder.stand_in(node, column, float(rng.integers(n_levels - 1)), low)
        else:
            builder.stand_in(node, column, float(rng.integers(-3, 3)) / 2, low)


def _send_rows(builder, node, table, weights, n_children, handle_unknown):
    """Weights of the rows in every child; fractional rows follow the present ones."""
    tree = SimpleNamespace(
        nodes=np.array(builder.nodes[node : node + 1], dtype=NODE_DTYPE),
        level_branch=np.array(builder.maps, dtype=np.int32),
        surrogates=np.array(builder.surrogates, dtype=SURROGATE_DTYPE),
        handle_unknown=handle_unknown,
    )
    tree.surrogates = tree.surrogates[tree.surrogates["node"] == node]
    tree.surrogates["node"] = 0
    shares = np.zeros((n_children, len(table)))
    divided = []
    for row in np.flatnonzero(weights):
        branch = find_branch(tree, 0, table[row])
        if branch >= 0:
            shares[branch, row] = weights[row]
        elif branch == FRACTIONAL:
            divided.append(row)
    whole = shares.sum(axis=1)
    for row in divided:
        shares[:, row] = weights[row] * whole / whole.sum()
    return list(shares)
