"""Stage 5, route: leaves, class distributions and paths of rows."""

from sklearn_textbook.tree.route.empty_nodes import estimate_empty_nodes
from sklearn_textbook.tree.route.leaf_equations import (
    LEAST_WEIGHT,
    fit_leaf_equations,
    multiply_equations,
)
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
from sklearn_textbook.tree.route.walk import predict_in_nodes

__all__ = [
    "LEAST_WEIGHT",
    "MemberSum",
    "RoutedTree",
    "add_predictions",
    "estimate_empty_nodes",
    "find_decision_path",
    "find_ends",
    "find_leaves",
    "find_leaves_of_all",
    "fit_leaf_equations",
    "multiply_equations",
    "pick_classes",
    "predict_in_nodes",
    "predict_statistics",
]
