"""Growth of many trees on one table: the interface for ensembles.

A table is read and encoded once; a bootstrap sample, a fold or a boosting round is a
vector of weights over its rows.
"""

from sklearn_textbook.tree.encode import share_tables
from sklearn_textbook.tree.encode.block_columns import (
    count_rows_from,
    explain_full_disk,
    read_block_columns,
    store_blocks,
)
from sklearn_textbook.tree.encode.block_table import encode_blocks
from sklearn_textbook.tree.encode.dask_columns import (
    DaskColumns,
    align_rows,
    encode_dask_columns,
    read_dask_columns,
)
from sklearn_textbook.tree.exchange import (
    add_columns,
    fit_on_codes,
    make_sklearn_tree,
    share_parameters,
)
from sklearn_textbook.tree.explain.page.notebook import PageReprMixin
from sklearn_textbook.tree.grow._settings import mark_smoothed
from sklearn_textbook.tree.grow.gradient_plan import add_leaf_values
from sklearn_textbook.tree.grow.target import make_class_target, make_value_target
from sklearn_textbook.tree.members.block_grower import BlockBoostingGrower, BlockRows
from sklearn_textbook.tree.members.boosting_grower import (
    BoostingGrower,
    square_gradients,
    sum_gradients,
)
from sklearn_textbook.tree.members.grower import (
    MemberGrower,
    choose_member_classes,
    decides_by_largest_fraction,
    get_shown_tree,
    is_tree,
    read_blocks,
    read_matrix,
    store_rows,
)
from sklearn_textbook.tree.members.stumps import StumpBuilder, describe_stump
from sklearn_textbook.tree.pruning_parameter import NamedPruner
from sklearn_textbook.tree.route import find_ends, multiply_equations
from sklearn_textbook.tree.route.many_trees import (
    MemberSum,
    add_predictions,
    find_leaves_of_all,
)

__all__ = [
    "BlockBoostingGrower",
    "BlockRows",
    "BoostingGrower",
    "DaskColumns",
    "MemberGrower",
    "MemberSum",
    "NamedPruner",
    "PageReprMixin",
    "StumpBuilder",
    "add_columns",
    "add_leaf_values",
    "add_predictions",
    "align_rows",
    "choose_member_classes",
    "count_rows_from",
    "decides_by_largest_fraction",
    "describe_stump",
    "encode_blocks",
    "encode_dask_columns",
    "explain_full_disk",
    "find_ends",
    "find_leaves_of_all",
    "fit_on_codes",
    "get_shown_tree",
    "is_tree",
    "make_class_target",
    "make_sklearn_tree",
    "make_value_target",
    "mark_smoothed",
    "multiply_equations",
    "read_block_columns",
    "read_blocks",
    "read_dask_columns",
    "read_matrix",
    "share_parameters",
    "share_tables",
    "square_gradients",
    "store_blocks",
    "store_rows",
    "sum_gradients",
]
