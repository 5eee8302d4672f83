"""Stage 5, route: leaves, class distributions and paths of rows."""

from sklearn_textbook.tree.route.empty_nodes import estimate_empty_nodes
from sklearn_textbook.tree.route.many_trees import (
    MemberSum,
    add_predictions,
    find_leaves_of_all,
)
from sklearn_textbook.tree.route.route import (
    find_decision_path,
    find_ends,
    find_leaves,
    pick_classes,
    predict_statistics,
)
from sklearn_textbook.tree.route.routed_tree import RoutedTree

__all__ = [
    "MemberSum",
    "RoutedTree",
    "add_predictions",
    "estimate_empty_nodes",
    "find_decision_path",
    "find_ends",
    "find_leaves",
    "find_leaves_of_all",
    "pick_classes",
    "predict_statistics",
]
