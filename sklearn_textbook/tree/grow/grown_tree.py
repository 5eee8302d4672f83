"""The grown tree: an immutable table of nodes and its side tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.importances import compute_feature_importances
from sklearn_textbook.tree.grow.layout import (
    LEAF,
    NOMINAL,
    OBLIQUE,
    SCHEMA_VERSION,
    SLOPE_DTYPE,
    SURROGATE_DTYPE,
    TERM_DTYPE,
    TREE_LEAF,
    share_out,
)
from sklearn_textbook.tree.grow.level_map import read_level_map
from sklearn_textbook.tree.grow.narrow import narrow
from sklearn_textbook.tree.grow.serialise import read_fields, write_fields
from sklearn_textbook.tree.grow.storage import (
    list_levels,
    restore_columns,
    restore_leaf_statistics,
    restore_nodes,
    restore_statistics,
    store_nodes,
)

# Functions of scikit-learn that read these attributes cannot show every tree.
_EXPORTS = (
    "export_graphviz, export_text and plot_tree of sklearn_textbook.tree show such "
    "trees."
)
# Fields that pickles leave out if they are empty, and their defaults.
_SIDE_TABLES = {
    "level_branch": partial(np.empty, 0, np.int32),
    "surrogates": partial(np.empty, 0, SURROGATE_DTYPE),
    "terms": partial(np.empty, 0, TERM_DTYPE),
    "slopes": partial(np.empty, 0, SLOPE_DTYPE),
    "bounds": partial(np.empty, (0, 2), np.float64),
}


def _as_native(value):
    """Arrays, also those within containers, in the byte order of this machine."""
    if isinstance(value, np.ndarray) and not value.dtype.isnative:
        return value.astype(value.dtype.newbyteorder("="))
    if isinstance(value, tuple):
        return tuple(map(_as_native, value))
    if isinstance(value, dict):
        return {name: _as_native(entry) for name, entry in value.items()}
    return value


def refuse_slopes(trees: Iterable[GrownTree], what: str) -> None:
    """Raise ValueError if a tree has linear equations, which something cannot show."""
    if any(len(tree.slopes) for tree in trees):
        raise ValueError(
            f"{what} takes trees with a constant in each leaf, but this model has "
            "linear equations in its leaves (leaf_model='linear')."
        )


@dataclass(frozen=True, eq=False, repr=False)
class GrownTree:
    """A tree as arrays, used in routing, pruning, explaining and exporting.

    Nodes are numbered breadth first: the root is 0, the children of a node are
    consecutive from ``first_child`` on, and the number of a parent is smaller than
    those of its children.

    Parameters
    ----------
    nodes : ndarray of NODE_DTYPE, shape (node_count,)
        One record per node; see :mod:`sklearn_textbook.tree.grow.layout`.
    statistics : ndarray of float64, shape (node_count, n_outputs, n_statistics)
        Classification: the weight of each class. Regression: the node's value
        (mean or median; with ``slopes``, the value at their centers), with
        ``n_statistics`` = 1.
    n_features : int
        Number of columns of the table.
    n_levels : ndarray of int64, shape (n_features,)
        Number of levels of a nominal or ordinal column, 0 for a numeric one.
    n_classes : ndarray of int64, shape (n_outputs,)
        Number of classes of each output; 1 for regression, as in scikit-learn.
    is_classifier : bool
        Whether ``statistics`` are class weights.
    level_branch : ndarray of int32
        The level maps of all nominal tests, concatenated, each in the
        shorter of two forms: the child number of every level, or of the levels
        present in the node; see :mod:`sklearn_textbook.tree.grow.level_map`. Read
        them with :meth:`read_level_map`.
    surrogates : ndarray of SURROGATE_DTYPE
        Surrogate tests for missing values, sorted by node and rank.
    terms : ndarray of TERM_DTYPE
        The terms of oblique tests, sorted by node. A row goes to the first child if
        their sum is at most the threshold.
    slopes : ndarray of SLOPE_DTYPE
        The columns of linear equations in the nodes, sorted by node: each adds to the
        node's value.
    bounds : ndarray of float64, shape (node_count, 2) or (0, 2)
        With linear equations, the smallest and the largest prediction of each node.
    handle_unknown : {"parent", "fractional", "error"}
        How levels not seen in a node are treated.
    schema_version : int
        Version of the layout.
    """

    nodes: np.ndarray
    statistics: np.ndarray
    n_features: int
    n_levels: np.ndarray
    n_classes: np.ndarray
    is_classifier: bool
    level_branch: np.ndarray = field(default_factory=_SIDE_TABLES["level_branch"])
    surrogates: np.ndarray = field(default_factory=_SIDE_TABLES["surrogates"])
    terms: np.ndarray = field(default_factory=_SIDE_TABLES["terms"])
    slopes: np.ndarray = field(default_factory=_SIDE_TABLES["slopes"])
    bounds: np.ndarray = field(default_factory=_SIDE_TABLES["bounds"])
    handle_unknown: str = "parent"
    schema_version: int = SCHEMA_VERSION

    def __post_init__(self) -> None:
        for name in ("nodes", "statistics", *_SIDE_TABLES):
            array = vars(self).get(name)
            if array is not None and array.flags.owndata:
                array.flags.writeable = False

    def __repr__(self) -> str:
        return (
            f"{type(self).__name__}(node_count={self.node_count}, "
            f"n_leaves={self.n_leaves}, n_features={self.n_features}, "
            f"n_outputs={self.n_outputs}, is_classifier={self.is_classifier})"
        )

    # ---------------------------------------------------------------- storage
    @classmethod
    def from_stored(cls, stored: dict, **fields) -> GrownTree:
        """Make a tree from its compact form."""
        # The class itself gives the defaults of the others.
        tree = cls(nodes=None, statistics=None, **fields)
        for name in ("nodes", "statistics"):
            del vars(tree)[name]
        vars(tree)["stored"] = stored
        return tree

    def compact(self) -> GrownTree:
        """Return the tree in a compact form with a few bytes per node.

        Routing many trees, pickling and what this class computes without ``nodes``
        and ``statistics`` use the compact form. The first access to either of these two
        creates and keeps both; compact the tree again to free their memory.
        """
        fields = dict(vars(self))
        if "stored" not in fields:
            fields["stored"] = store_nodes(self.nodes, self.statistics)
        for name in ("nodes", "statistics"):
            fields.pop(name, None)
        tree = type(self).__new__(type(self))
        vars(tree).update(fields)
        return tree

    @property
    def is_compact(self) -> bool:
        """Whether only the compact form is in memory."""
        return "nodes" not in vars(self)

    def __getattr__(self, name):
        """Create ``nodes`` and ``statistics`` of a compact tree at the first access."""
        stored = vars(self).get("stored")
        if name not in ("nodes", "statistics") or stored is None:
            # Raise the original error, possibly of a property.
            return object.__getattribute__(self, name)
        arrays = restore_nodes(stored)
        for key, array in zip(("nodes", "statistics"), arrays, strict=True):
            array.flags.writeable = False
            # Of two threads, the first one's arrays stay.
            vars(self).setdefault(key, array)
        return vars(self)[name]

    def __getstate__(self):
        """Return the compact form: plain arrays, numbers and names."""
        state = dict(vars(self.compact()))
        state["n_levels"] = narrow(np.asarray(self.n_levels))
        for name in _SIDE_TABLES:
            if len(state[name]) == 0:
                del state[name]
        return state

    def __setstate__(self, state) -> None:
        """Restore a pickle, also with another byte order or with uncompressed nodes."""
        state = {name: _as_native(value) for name, value in state.items()}
        for name, make in _SIDE_TABLES.items():
            state.setdefault(name, make())
        state["n_levels"] = np.asarray(state["n_levels"], dtype=np.int64)
        vars(self).update(state)
        self.__post_init__()

    def read_columns(self, *names) -> list[np.ndarray]:
        """Read fields of the nodes, without expanding a compact tree."""
        if self.is_compact:
            return restore_columns(self.stored, names)
        return [self.nodes[name] for name in names]

    def _read_n_children(self):
        return self.read_columns("n_children")[0]

    def read_leaf_statistics(self) -> np.ndarray:
        """Read the statistics of the leaves, without expanding a compact tree."""
        if self.is_compact:
            return restore_leaf_statistics(self.stored)
        return self.statistics[self.nodes["n_children"] == 0]

    def read_statistics(self, nodes: np.ndarray) -> np.ndarray:
        """Read the statistics of some nodes, without expanding a compact tree."""
        if self.is_compact:
            return restore_statistics(self.stored)[nodes].astype(np.float64)
        return self.statistics[nodes]

    # ------------------------------------------------------------------ shape
    @property
    def node_count(self) -> int:
        """Number of nodes, including leaves."""
        return len(self._read_n_children())

    @property
    def capacity(self):
        """The same as ``node_count``: there are no unused records."""
        return self.node_count

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return int(np.count_nonzero(self._read_n_children() == 0))

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.n_classes)

    @property
    def n_statistics(self):
        """Number of statistics of each output."""
        if self.is_compact:
            return self.stored["statistics"][1].shape[2]
        return self.statistics.shape[2]

    @property
    def node_shape(self):
        """Shape of the statistics of a node: numbers of outputs and of statistics."""
        return self.n_outputs, self.n_statistics

    @property
    def max_n_classes(self) -> int:
        """Largest number of classes of an output."""
        return int(self.n_classes.max())

    @property
    def depth(self):
        """Depth of every node, the root having depth 0; shape (node_count,)."""
        depth = np.zeros(self.node_count, dtype=np.int64)
        for level, (first, last) in enumerate(self._list_levels()):
            depth[first:last] = level
        return depth

    @property
    def max_depth(self):
        """Depth of the deepest leaf."""
        return len(self._list_levels()) - 1

    def _list_levels(self):
        return list_levels(self._read_n_children())

    # -------------------------------------------- scikit-learn's names for it
    @property
    def is_leaf(self):
        """Mask of the leaves."""
        return self.nodes["kind"] == LEAF

    @property
    def is_binary(self) -> bool:
        """Whether every split has two children."""
        return bool(np.all(self.nodes["n_children"] <= 2))

    @property
    def children_left(self):
        """First child of every node, -1 in a leaf."""
        self._require_binary("children_left")
        return self.nodes["first_child"].astype(np.intp)

    @property
    def children_right(self):
        """Second child of every node, -1 in a leaf."""
        self._require_binary("children_right")
        first = self.nodes["first_child"]
        return np.where(first == TREE_LEAF, TREE_LEAF, first + 1).astype(np.intp)

    @property
    def feature(self):
        """Column tested in every node, -2 in a leaf."""
        self._require_axis_parallel("feature")
        return self.nodes["feature"].astype(np.intp)

    @property
    def threshold(self):
        """Threshold of every node, -2.0 in a leaf."""
        self._require_axis_parallel("threshold")
        is_nominal = self.nodes["kind"] == NOMINAL
        if is_nominal.any():
            raise AttributeError(
                "threshold is defined for trees without nominal tests only; node "
                f"{is_nominal.argmax()} of this tree tests the levels of a column. "
                f"Read tree_.nodes and tree_.read_level_map instead. {_EXPORTS}"
            )
        return self.nodes["threshold"]

    @property
    def impurity(self):
        """Impurity of every node."""
        return self.nodes["impurity"]

    @property
    def n_node_samples(self):
        """Number of training rows in every node."""
        return self.nodes["n_samples"]

    @property
    def weighted_n_node_samples(self):
        """Weight of the training rows in every node."""
        return self.nodes["weight"]

    @property
    def missing_go_to_left(self):
        """Whether a missing value goes to the first child."""
        return (self.nodes["missing_branch"] == 0).astype(np.uint8)

    @property
    def value(self):
        """Class proportions or means; shape (node_count, n_outputs, max_n_classes)."""
        return self.compute_value()

    def compute_value(self, nodes: slice | np.ndarray = slice(None)) -> np.ndarray:
        """Compute the class proportions or means of some nodes."""
        statistics = self.statistics[nodes]
        if not self.is_classifier:
            return statistics
        return share_out(statistics)

    def _require_binary(self, name) -> None:
        if not self.is_binary:
            raise AttributeError(
                f"{name} is defined for trees with two-way splits only; this tree has "
                "a node with more children. Read first_child and n_children of "
                f"tree_.nodes instead. {_EXPORTS}"
            )

    def _require_axis_parallel(self, name) -> None:
        is_oblique = self.nodes["kind"] == OBLIQUE
        if is_oblique.any():
            raise AttributeError(
                f"{name} is defined for trees without oblique tests only; node "
                f"{is_oblique.argmax()} of this tree tests a sum of columns. Read "
                f"tree_.nodes and tree_.terms instead. {_EXPORTS}"
            )

    def read_level_map(self, record) -> np.ndarray:
        """Read the child of every level in a nominal test."""
        n_levels = self.n_levels[record["feature"]]
        return read_level_map(self.level_branch, record["map_start"], n_levels)

    def compute_node_depths(self) -> np.ndarray:
        """Return the depth of every node as in scikit-learn: 1 for the root."""
        return self.depth + 1

    def compute_feature_importances(self, normalize: bool = True) -> np.ndarray:
        """Sum the improvements of the tests of each column."""
        # The records of a compact tree are created temporarily.
        tree = self.compact() if self.is_compact else self
        return compute_feature_importances(tree, normalize=normalize)

    # ------------------------------------------------------------ other forms
    def replace(self, **changes) -> GrownTree:
        """Return a copy with some fields changed."""
        return replace(self, **changes)

    def to_dict(self) -> dict:
        """Convert the tree to plain Python values for JSON."""
        return write_fields(self)

    @classmethod
    def from_dict(cls, fields: dict) -> GrownTree:
        """Read a tree from the result of :meth:`to_dict`."""
        tree = cls(**read_fields(fields))
        check_tree(tree)
        return tree
