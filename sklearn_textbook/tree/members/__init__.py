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
from sklearn_textbook.tree.pruning_parameter import NamedPruner

__all__ = [
    "MemberGrower",
    "NamedPruner",
    "add_predictions",
    "choose_member_classes",
    "decides_by_largest_share",
    "get_shown_tree",
    "is_tree",
    "read_blocks",
    "read_matrix",
]
