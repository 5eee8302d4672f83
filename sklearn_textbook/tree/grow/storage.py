"""The nodes and statistics of a grown tree in a few bytes per node, and back.

A record takes 80 bytes. Most of it can be computed from the rest:

- children are consecutive and numbered breadth first, so that the numbers of children
  give ``first_child`` and ``parent``;
- fields that only inner nodes have are stored for these alone;
- integers that add up from the children to the parent (rows, class counts) are stored
  for the leaves alone;
- the weight may be the sum of the class counts, the impurity their Gini impurity, the
  improvement the decrease of the impurity; the few nodes where rounding makes a
  difference are stored separately;
- numbers are stored in the narrowest type that holds them, and once if all are equal.

Every rule is tried, and a column that it does not restore bit for bit is stored as it
is. The rules use only additions, products and quotients, which all machines round
alike.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_textbook.tree.grow.layout import (
    FEW_NUMBERS,
    NODE_DTYPE,
    make_statistics,
)
from sklearn_textbook.tree.grow.narrow import N_SAMPLED, is_same, narrow, narrow_equal

#: Trees of at least this many nodes are compacted. Smaller ones take less time to grow
#: than to compact.
COMPACTED_NODES = 4096
# Entries of a leaf in the columns that only inner nodes use.
_LEAF_ENTRIES = {
    "feature": -2,
    "missing_branch": -1,
    "kind": 0,
    "map_start": -1,
    "threshold": -2.0,
    "impurity": 0.0,
    "improvement": 0.0,
}
_INNER = ("feature", "missing_branch", "kind", "map_start", "threshold")
_KEPT = (*_INNER, "n_samples", "weight", "impurity", "improvement")
# A number in bytes, and with the number of its node.
_NUMBER_BYTES, _EXCEPTION_BYTES = 8, 12


# Rules are tried out on whatever numbers there are.
@np.errstate(all="ignore")
def store_nodes(nodes: np.ndarray, statistics: np.ndarray):
    """Write nodes and statistics in a few bytes a node."""
    nodes = np.ascontiguousarray(nodes)
    statistics = np.ascontiguousarray(statistics)
    shape = Shape(nodes["n_children"])
    stored = {"n_children": narrow(shape.n_children)}
    for name in ("first_child", "parent"):
        if not is_same(nodes[name], getattr(shape, name)):
            stored[name] = "all", narrow(nodes[name])
    columns = {name: np.ascontiguousarray(nodes[name]) for name in _KEPT}
    for name in _INNER:
        stored[name] = _store_inner(name, columns[name], shape)
    stored["n_samples"] = _store_sums(columns["n_samples"], shape)
    stored["statistics"] = _store_sums(statistics, shape)
    stored["weight"] = _store_weight(columns, statistics, shape)
    impurity, decrease = columns["impurity"], compute_decrease(columns, shape)
    if statistics.shape[2] == 1:  # values, of which there is no guess
        stored["impurity"] = _store_inner("impurity", impurity, shape)
    else:
        gini = compute_gini(statistics, columns["weight"])
        stored["impurity"] = _store_guessed("impurity", impurity, gini, shape)
    stored["improvement"] = _store_guessed(
        "improvement", columns["improvement"], decrease, shape
    )
    return stored


@np.errstate(all="ignore")
def store_columns(columns: dict) -> dict[str, tuple] | None:
    """Write what :func:`store_nodes` would of a tree that has just grown."""
    is_values = len(columns["statistics"]) == len(columns["n_children"])
    stored = {"n_children": columns["n_children"]}
    for name in _INNER:
        # Level maps have no place in these trees.
        column = columns.get(name, np.full(1, _LEAF_ENTRIES[name]))
        stored[name] = "inner", narrow_equal(column)
    stored["n_samples"] = "leaves", narrow(columns["n_samples"])
    if is_values == columns["statistics_add_up"]:
        return None
    statistics = narrow(columns["statistics"])[:, np.newaxis, :]
    stored["statistics"] = "all" if is_values else "leaves", statistics
    for how in ("n_samples", "statistics"):
        if columns["weight_is"][how]:
            stored["weight"] = (how,)
            break
    else:
        weight = narrow(columns["weight"])
        if weight.dtype.kind == "f" or not columns["weight_adds_up"]:
            return None
        stored["weight"] = "leaves", weight
    impurity = "all", columns["impurity"]
    if columns["leaf_is_pure"]:
        impurity = "inner", columns["inner_impurity"]
    impurity = impurity[0], narrow_equal(impurity[1])
    if is_values:
        stored["impurity"] = impurity
    else:
        stored["impurity"] = _store_exceptions(*columns["not_gini"], impurity)
    stored["improvement"] = _store_exceptions(
        *columns["not_decrease"], ("inner", narrow_equal(columns["improvement"]))
    )
    return stored


@np.errstate(all="ignore")
def restore_nodes(stored: dict) -> tuple[np.ndarray, np.ndarray]:
    """Read what :func:`store_nodes` wrote."""
    shape = Shape(stored["n_children"])
    nodes = np.empty(shape.n_nodes, dtype=NODE_DTYPE)
    nodes["n_children"] = shape.n_children
    for name in ("first_child", "parent"):
        nodes[name] = stored[name][1] if name in stored else getattr(shape, name)
    for name in _INNER:
        nodes[name] = _restore(stored, name, shape)
    nodes["n_samples"] = _restore_sums(stored["n_samples"], shape)
    statistics = _restore_sums(stored["statistics"], shape).astype(np.float64)
    how = stored["weight"][0]
    if how == "statistics":
        nodes["weight"] = add_classes(statistics)
    elif how == "n_samples":
        nodes["weight"] = nodes["n_samples"]
    else:
        nodes["weight"] = _restore_sums(stored["weight"], shape)
    columns = {"weight": np.ascontiguousarray(nodes["weight"])}
    columns["impurity"] = np.ascontiguousarray(
        _restore_guessed(
            stored, "impurity", shape, compute_gini, statistics, columns["weight"]
        ),
        dtype=np.float64,
    )
    nodes["impurity"] = columns["impurity"]
    nodes["improvement"] = _restore_guessed(
        stored, "improvement", shape, compute_decrease, columns, shape
    )
    return nodes, statistics


def restore_columns(stored: dict, names: Sequence[str]) -> list[np.ndarray]:
    """Read some of the columns that say which way rows go."""
    if tuple(names) == ("n_children",):
        return [np.asarray(stored["n_children"])]
    shape = Shape(stored["n_children"])
    return [
        shape.n_children if name == "n_children" else _restore(stored, name, shape)
        for name in names
    ]


def _restore(stored, name, shape):
    how, values = stored[name]
    if how == "all":
        return np.broadcast_to(values, shape.n_nodes)
    column = np.full(shape.n_nodes, _LEAF_ENTRIES[name], dtype=NODE_DTYPE[name])
    column[shape.inner] = values
    return column


def restore_statistics(stored: dict) -> np.ndarray:
    """Read the statistics of all nodes, as whole numbers if they were stored so."""
    how, values = stored["statistics"]
    if how == "all":
        return np.asarray(values)
    return _restore_sums(stored["statistics"], Shape(stored["n_children"]))


def restore_leaf_statistics(stored: dict) -> np.ndarray:
    """Read the statistics of the leaves."""
    how, values = stored["statistics"]
    if how == "all":
        values = np.asarray(values)[np.asarray(stored["n_children"]) == 0]
    if values.shape[2] <= FEW_NUMBERS:
        return np.ascontiguousarray(values, dtype=np.float64)
    statistics = make_statistics(values.shape[0] * values.shape[1], values.shape[2])
    present = np.flatnonzero(values)
    statistics.reshape(-1)[present] = values.reshape(-1)[present]
    return statistics.reshape(values.shape)


class Shape:
    """The shape of a tree, told by the numbers of children, breadth first."""

    def __init__(self, n_children) -> None:
        self.n_children = np.asarray(n_children).astype(np.int32)
        self.n_nodes = len(self.n_children)
        is_inner = self.n_children > 0
        self.inner, self.leaves = np.flatnonzero(is_inner), np.flatnonzero(~is_inner)
        last = np.cumsum(self.n_children, dtype=np.int64)
        first = (last - self.n_children)[self.inner] + 1
        # Where the children of each inner node start, the root left out.
        self.starts = first - 1
        self.first_child = np.full(self.n_nodes, -1, dtype=np.int32)
        self.first_child[self.inner] = first
        # Whether these are numbers of children of a tree, breadth first.
        self.is_sound = bool(
            self.n_children.min() >= 0
            and (first > self.inner).all()
            and last[-1] + 1 == self.n_nodes
        )

    @property
    def is_two_way(self):
        """Whether all splits have two children."""
        return self.is_sound and not np.any(self.n_children & ~2)

    def add_children(self, column):
        """Add up the numbers of the children of each inner node."""
        if len(self.inner) == 0 or self.is_two_way:
            return column[1::2] + column[2::2]
        return np.add.reduceat(column[1:], self.starts)

    @property
    def parent(self):
        """Number of the parent of every node, -1 at the root."""
        parent = np.repeat(np.arange(self.n_nodes, dtype=np.int32), self.n_children)
        return np.concatenate([np.full(1, -1, dtype=np.int32), parent])


def list_levels(n_children: np.ndarray):
    """List the levels of a tree whose nodes are numbered breadth first."""
    levels, first, last = [], 0, 1
    while first < last:
        levels.append((first, last))
        first, last = last, last + int(n_children[first:last].sum(dtype=np.int64))
    return levels


# ------------------------------------------------------------ what inner nodes have
def _store_inner(name, column, shape):
    entries = column.take(shape.leaves)
    expected = np.array(_LEAF_ENTRIES[name], dtype=column.dtype)
    if is_same(entries, np.broadcast_to(expected, entries.shape)):
        return "inner", narrow_equal(column[shape.inner])
    return "all", narrow_equal(column)


# ----------------------------------------------------------------- what adds up
def _store_sums(column, shape):
    """Keep the leaves' numbers if they are whole and add up to those of the others."""
    n_parts = column.shape[-1] // FEW_NUMBERS if column.ndim == 3 else 0
    if n_parts > 1:
        # A few of many classes at a time, which copies less at once.
        parts = np.array_split(column, n_parts, axis=-1)
        kept = [_store_sums(part, shape) for part in parts]
        if all(how == "leaves" for how, _ in kept):
            return "leaves", np.concatenate([leaves for _, leaves in kept], axis=-1)
        return "all", narrow(column)
    leaves = narrow(column.take(shape.leaves, axis=0))
    if (
        leaves.dtype.kind in "iu"
        and shape.is_sound
        and is_same(shape.add_children(column), column.take(shape.inner, axis=0))
    ):
        return "leaves", leaves
    return "all", narrow(column)


def _restore_sums(kept, shape):
    how, values = kept
    if how == "all":
        return np.asarray(values)
    if not shape.is_sound:
        raise ValueError("The numbers of children of a stored tree are damaged.")
    column = np.zeros((shape.n_nodes, *values.shape[1:]), dtype=np.int64)
    column[shape.leaves] = values
    # Bottom up, a level at a time.
    for first, last in reversed(list_levels(shape.n_children)):
        inner = first + np.flatnonzero(shape.n_children[first:last])
        if len(inner):
            start = shape.first_child[inner[0]]
            stop = start + shape.n_children[inner].sum()
            column[inner] = np.add.reduceat(
                column[start:stop], shape.first_child[inner] - start
            )
    return column


def _store_weight(columns, statistics, shape):
    weight = columns["weight"]
    guesses = {
        "n_samples": lambda rows: columns["n_samples"][rows].astype(np.float64),
        "statistics": lambda rows: add_classes(statistics[rows]),
    }
    for how, guess in guesses.items():
        # A sample tells for most trees that all would be in vain.
        sample = slice(0, N_SAMPLED)
        if is_same(guess(sample), weight[sample]) and is_same(
            guess(slice(None)), weight
        ):
            return (how,)
    return _store_sums(weight, shape)


def add_classes(statistics):
    """Add the first output's class weights, class by class."""
    return _add_classes(statistics[:, 0], lambda weights, nodes: weights)


def _add_classes(statistics, compute):
    """Add numbers that are computed from class weights and nodes, class by class."""
    n_nodes, n_classes = statistics.shape
    if n_classes <= FEW_NUMBERS:
        total, nodes = np.zeros(n_nodes), slice(None)
        for k in range(n_classes):
            total += compute(statistics[:, k], nodes)
        return total
    # Most of many classes are not present in a node, and add zero.
    nodes, k = np.nonzero(statistics)
    numbers = compute(statistics[nodes, k], nodes)
    return np.bincount(nodes, numbers, n_nodes)


# ----------------------------------------------------------------- what is computed
def compute_gini(statistics, weight):
    """Compute the Gini impurity of all nodes as growing does, in the same order."""

    def square_fractions(weights, nodes):
        fractions = weights / weight[nodes]
        return fractions * fractions

    impurity = np.zeros(len(weight))
    for output in range(statistics.shape[1]):
        impurity += 1.0 - _add_classes(statistics[:, output], square_fractions)
    return impurity / statistics.shape[1]


def compute_decrease(columns, shape):
    """Compute the decrease of the impurity by all splits, if all are two-way."""
    decrease = np.zeros(shape.n_nodes)
    if shape.is_two_way:
        weight, impurity = columns["weight"], columns["impurity"]
        above, left = weight[shape.inner], impurity[shape.inner]
        for child in (1, 2):
            left = left - weight[child::2] / above * impurity[child::2]
        decrease[shape.inner] = np.where(left > 0.0, left, 0.0)
    return decrease


def _store_guessed(name, column, guess, shape):
    """Keep the nodes where the guess is wrong, if that is less than all."""
    is_wrong = column.view(np.int64) != guess.view(np.int64)
    plain = _store_inner(name, column, shape) if is_wrong.any() else ("inner", ())
    wrong = np.flatnonzero(is_wrong)
    return _store_exceptions(wrong, column[wrong], plain)


def _store_exceptions(wrong, values, plain):
    """Keep the nodes where a guess is wrong, unless the plain column is shorter."""
    if len(wrong) == 0:
        return ("guessed",)
    if len(wrong) * _EXCEPTION_BYTES < len(plain[1]) * _NUMBER_BYTES:
        return "guessed", narrow(wrong), values
    return plain


def _restore_guessed(stored, name, shape, compute, *arguments):
    if stored[name][0] != "guessed":
        return _restore(stored, name, shape)
    column = compute(*arguments)
    if len(stored[name]) > 1:
        _, wrong, values = stored[name]
        column[wrong] = values
    return column
