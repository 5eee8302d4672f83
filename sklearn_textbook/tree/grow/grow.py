"""From an encoded table and a target to a grown tree."""

from __future__ import annotations

from sklearn_textbook.tree.grow.plan import GrowthPlan


def grow_tree(table, target, rules, *, sample_weight=None, random_state=0, n_threads=1):
    """Grow one tree.

    Parameters
    ----------
    table : EncodedTable
        The sorted columns; they are only read.
    target : Target
        Classes or values of the rows.
    rules : GrowthRules
        Criterion, limits and strategies.
    sample_weight : ndarray of float64, shape (n_rows,), default=None
        Weights of the rows; rows of weight 0 are ignored.
    random_state : int, default=0
        Seed of all random choices.
    n_threads : int, default=1
        Number of threads; the tree does not depend on it.

    Returns
    -------
    tree : GrownTree
        The tree.
    """
    plan = GrowthPlan(table, target, rules, n_threads=n_threads)
    return plan.grow(sample_weight, random_state, n_threads, rules.design_effect)
