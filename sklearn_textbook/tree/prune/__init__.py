"""Stage 4, prune: one method per file."""

from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.best_first import keep_best_first
from sklearn_textbook.tree.prune.choose import resolve_pruner
from sklearn_textbook.tree.prune.cost_complexity import (
    PruningSequence,
    compute_weakest_link_sequence,
    find_costly_branches,
    prune_to_alpha,
)
from sklearn_textbook.tree.prune.cost_complexity_pruning import CostComplexityPruning
from sklearn_textbook.tree.prune.error_based import (
    ErrorBasedPruning,
    collapse_tree,
    compute_added_errors,
    prune_by_error,
)
from sklearn_textbook.tree.prune.loss import LossPruning
from sklearn_textbook.tree.prune.node_losses import choose_loss
from sklearn_textbook.tree.prune.out_of_bag import OutOfBagPruning
from sklearn_textbook.tree.prune.outcome import PruningTable
from sklearn_textbook.tree.prune.pre_pruning import PrePruning
from sklearn_textbook.tree.prune.rebuild import cut_below, find_kept
from sklearn_textbook.tree.prune.reduced_error import ReducedErrorPruning
from sklearn_textbook.tree.prune.rpart_sequence import compute_rpart_sequence
from sklearn_textbook.tree.prune.simplify import merge_equal_leaves
from sklearn_textbook.tree.prune.training_data import Rows, TrainingData

__all__ = [
    "BasePruner",
    "CostComplexityPruning",
    "ErrorBasedPruning",
    "LossPruning",
    "OutOfBagPruning",
    "PrePruning",
    "PruningSequence",
    "PruningTable",
    "ReducedErrorPruning",
    "Rows",
    "TrainingData",
    "choose_loss",
    "collapse_tree",
    "compute_added_errors",
    "compute_rpart_sequence",
    "compute_weakest_link_sequence",
    "cut_below",
    "find_costly_branches",
    "find_kept",
    "keep_best_first",
    "merge_equal_leaves",
    "prune_by_error",
    "prune_to_alpha",
    "resolve_pruner",
]
