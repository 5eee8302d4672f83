"""Growing many trees over one table: what ensembles see of trees beside the estimators.

A table is read and encoded once; a bootstrap sample, a fold or a boosting round is a
vector of weights over its rows.
"""

from sklearn_textbook.tree.members.deciding import (
    choose_member_classes,
    decides_by_largest_share,
    get_shown_tree,
)
from sklearn_textbook.tree.members.grower import MemberGrower, is_tree
from sklearn_textbook.tree.members.predicting import add_predictions
from sklearn_textbook.tree.members.reading import read_blocks, read_matrix
from sklearn_textbook.tree.members.targets import make_class_target, make_value_target
from sklearn_textbook.tree.route import find_ends

__all__ = [
    "MemberGrower",
    "add_predictions",
    "choose_member_classes",
    "decides_by_largest_share",
    "find_ends",
    "get_shown_tree",
    "is_tree",
    "make_class_target",
    "make_value_target",
    "read_blocks",
    "read_matrix",
]
