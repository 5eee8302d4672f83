"""Station 4, prune: one method per file."""

from sklearn_textbook.tree.prune.best_first import keep_best_first
from sklearn_textbook.tree.prune.cost_complexity import (
    WeakestLinkSequence,
    compute_weakest_link_sequence,
    prune_to_alpha,
)
from sklearn_textbook.tree.prune.rebuild import cut_below
from sklearn_textbook.tree.prune.simplify import merge_equal_leaves

__all__ = [
    "WeakestLinkSequence",
    "compute_weakest_link_sequence",
    "cut_below",
    "keep_best_first",
    "merge_equal_leaves",
    "prune_to_alpha",
]
