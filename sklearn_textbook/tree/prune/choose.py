"""The pruners by name, and resolution of the ``pruning`` parameter."""

from __future__ import annotations

from sklearn_textbook._contract.parameters import suggest
from sklearn_textbook.tree.prune.base import BasePruner
from sklearn_textbook.tree.prune.cost_complexity_pruning import CostComplexityPruning
from sklearn_textbook.tree.prune.error_based import ErrorBasedPruning
from sklearn_textbook.tree.prune.loss import LossPruning
from sklearn_textbook.tree.prune.out_of_bag import OutOfBagPruning
from sklearn_textbook.tree.prune.pre_pruning import PrePruning
from sklearn_textbook.tree.prune.reduced_error import ReducedErrorPruning

PRUNERS: dict[str, type[BasePruner]] = {
    "pre_pruning": PrePruning,
    "reduced_error": ReducedErrorPruning,
    "loss": LossPruning,
    "cost_complexity": CostComplexityPruning,
    "error_based": ErrorBasedPruning,
    "out_of_bag": OutOfBagPruning,
}


def resolve_pruner(pruning, *, strict: bool = True):
    """Return the pruner given as an object or by name."""
    if pruning is None:
        return None
    if isinstance(pruning, str) and pruning in PRUNERS:
        return PRUNERS[pruning]()
    if isinstance(pruning, BasePruner):
        return pruning
    if not strict:
        return None
    words = ", ".join(repr(name) for name in PRUNERS)
    classes = ", ".join(f"{pruner.__name__}()" for pruner in PRUNERS.values())
    raise ValueError(
        f"The 'pruning' parameter must be None, one of {words}, or a pruner such as "
        f"{classes}; got {pruning!r} of type {type(pruning).__name__}."
        f"{suggest(pruning, PRUNERS)}"
    )
