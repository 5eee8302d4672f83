"""Quantiles of the targets of training rows that share leaves with new rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.parameters import show_value
from sklearn_textbook._contract.saved_field import Record, SavedField
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble._leaf_rows import find_quantiles, list_rows
from sklearn_textbook.tree.members import find_ends, find_leaves_of_all


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The training rows in the nodes of many trees."""

    #: The targets of the training rows; (n_rows, n_outputs).
    targets: np.ndarray
    #: The rows on which each tree was grown, as often as they were drawn, tree by tree;
    #: within a tree sorted by node.
    rows: np.ndarray
    #: Where the rows of each node and those below it begin and end among those of its
    #: tree. An empty node has those of its parent.
    begin: np.ndarray
    end: np.ndarray
    #: Weights of the rows in each tree; None: equal.
    weight: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("rows", "begin", "end"):
            values = getattr(self, name).astype(np.int32, copy=False)
            object.__setattr__(self, name, values)

    @classmethod
    def of_members(cls, model, matrix, targets) -> LeafRows | None:
        """Route the training rows through all trees of a fitted ensemble.

        None if these have equations: targets in a leaf are not distributed about one
        value.
        """
        if any(len(member.tree_.slopes) for member in model.estimators_):
            return None
        weight, found = None, []
        n_threads = count_threads(model.n_jobs, matrix.size)
        for member, columns, (draw, seed) in zip(
            model.estimators_, model._list_columns(), model._list_draws(), strict=True
        ):
            if draw.n_drawn_rows is not None:
                counts = draw.count_rows(seed).astype(np.int32, copy=False)
            elif draw.weight is None:
                counts = np.ones(len(targets), dtype=np.int32)
            else:
                weight = draw.weight
                counts = (weight > 0).astype(np.int32)
            seen = matrix if columns is None else matrix[:, columns]
            node = find_leaves_of_all([member.tree_], seen, n_threads)[:, 0]
            (n_children,) = member.tree_.read_columns("n_children")
            begin, end = np.zeros((2, len(n_children)), dtype=np.int32)
            rows = np.empty(counts.sum(), dtype=np.int32)
            list_rows(n_children.astype(np.int32), node, counts, begin, end, rows)
            found.append((rows, begin, end))
        parts = map(np.concatenate, zip(*found, strict=True))
        return cls(np.asarray(targets, dtype=np.float64), *parts, weight)

    @cached_property
    def ranks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The distinct values of each output, ascending, and their rank in each row."""
        found = [np.unique(of, return_inverse=True) for of in self.targets.T]
        return [(values, rank.astype(np.int32)) for values, rank in found]

    def __getstate__(self):
        """Leave out what is computed from the rest."""
        return {name: value for name, value in vars(self).items() if name != "ranks"}

    def require_trees(self, trees: Sequence) -> None:
        """Raise ValueError if the nodes or rows are not those of the trees."""
        n_nodes = np.array([tree.node_count for tree in trees])
        n_rows, roots = len(self.targets), np.cumsum([0, *n_nodes[:-1]])
        fits = len(self.begin) == len(self.end) == n_nodes.sum()
        fits = fits and n_rows > 0 and (self.begin < self.end).all()
        fits = fits and self.end[roots].sum() == len(self.rows)
        fits = fits and (self.end <= np.repeat(self.end[roots], n_nodes)).all()
        if not fits or self.rows.max() >= n_rows:
            raise ValueError("the rows in the leaves do not match the trees")

    def find_quantiles(
        self, members: Sequence, columns: Sequence, matrix, levels, n_threads: int
    ) -> np.ndarray:
        """Find quantiles of new rows; (n_rows, n_outputs, n_levels)."""
        row, tree, node, fraction = list_ends(members, columns, matrix, n_threads)
        n_nodes = [member.tree_.node_count for member in members]
        first_node = np.cumsum([0, *n_nodes[:-1]])
        first_row = np.cumsum([0, *self.end[first_node[:-1]].astype(np.int64)])
        node = node + first_node[tree]
        parts = (
            np.searchsorted(row, np.arange(matrix.shape[0] + 1)).astype(np.int64),
            first_row[tree] + self.begin[node],
            first_row[tree] + self.end[node],
            np.ascontiguousarray(fraction, dtype=np.float64),
        )
        found = np.zeros((matrix.shape[0], len(levels)), dtype=np.int32)
        result = np.empty((len(found), self.targets.shape[1], len(levels)))
        for output, (values, rank) in enumerate(self.ranks):
            find_quantiles(
                *parts, self.rows, rank, self.weight, levels, len(values), found,
                n_threads,
            )  # fmt: skip
            result[:, output] = values[found]
        return result


def list_ends(members: Sequence, columns: Sequence, matrix, n_threads: int) -> tuple:
    """List the nodes in which rows end in all trees, row by row.

    Returned are the rows, the trees, the nodes and the fractions of the rows in them.
    """
    trees, n_trees = [member.tree_ for member in members], len(members)
    takes_all = all(of_member is None for of_member in columns)
    if takes_all and not any(tree.handle_unknown == "fractional" for tree in trees):
        names = members[0].schema_.names
        node = find_leaves_of_all(trees, matrix, n_threads, names)
        row = np.repeat(np.arange(len(node)), n_trees)
        tree = np.tile(np.arange(n_trees), len(node))
        return row, tree, node.ravel(), np.ones(len(row))
    found = []
    for number, (member, of_member) in enumerate(zip(members, columns, strict=True)):
        seen = matrix if of_member is None else matrix[:, of_member]
        row, node, part = find_ends(member.tree_, seen, n_threads, member.schema_.names)
        found.append((row, np.full(len(row), number), node, part))
    row, tree, node, part = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    return row[order], tree[order], node[order], part[order]


def check_quantiles(quantiles) -> np.ndarray:
    """Require probabilities; a number is one of them."""
    try:
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
    except (TypeError, ValueError):
        levels = np.empty(0)
    if levels.ndim != 1 or not len(levels) or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(
            "The 'quantiles' parameter must be a number in the range [0.0, 1.0] or a "
            f"list of such numbers; got {show_value(quantiles)}."
        )
    return levels


def predict_quantiles(model, X, quantiles) -> np.ndarray:
    """Predict quantiles of the distribution in the leaves of a fitted ensemble."""
    levels = check_quantiles(quantiles)
    check_is_fitted(model)
    leaf_rows = getattr(model, "_leaf_rows", None)
    if leaf_rows is None:
        raise ValueError(
            "quantiles require a fit with store_distribution=True, and members that "
            "are trees of this package, with a constant in each leaf."
        )
    members, columns, parts = model.estimators_, model._list_columns(), []
    for block in model._read_rows(X):
        n_threads = count_threads(model.n_jobs, block.size * len(members))
        found = leaf_rows.find_quantiles(members, columns, block, levels, n_threads)
        parts.append(found)
    found = np.concatenate(parts)
    found = found[..., 0] if np.ndim(quantiles) == 0 else found
    return found[:, 0] if found.shape[1] == 1 else found


_FIELDS = (
    SavedField("targets", shape=("n_targets", None)),
    SavedField("rows", "integer", (None,), least=0),
    SavedField("begin", "integer", ("n_nodes",), least=0),
    SavedField("end", "integer", ("n_nodes",), least=1),
    SavedField("weight", shape=("n_targets",), is_optional=True, least=0),
)
#: What model files keep of a fit with ``store_distribution=True``.
KEPT_LEAF_ROWS = SavedField(
    "_leaf_rows", (Record(LeafRows, _FIELDS),), is_optional=True
)
