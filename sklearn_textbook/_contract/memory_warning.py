"""The warning of a tree that needs gigabytes because it has many classes."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.caller import warn_caller

#: Bytes of class weights above which a warning is given, and the fewest classes: with
#: fewer, a table of many rows needs more memory than the class counts.
MEMORY_TO_WARN = 2**31
MANY_CLASSES = 100
_LARGEST_DEPTH = 62


def warn_of_memory(estimator, n_rows):
    """Warn if the class weights of the largest possible tree need gigabytes.

    Parameters
    ----------
    estimator : tree estimator
        The tree, whose classes are known.
    n_rows : int
        Number of training rows.
    """
    n_classes = int(np.sum(getattr(estimator, "n_classes_", 1)))
    n_nodes = 2 * _bound_leaves(estimator, n_rows) - 1
    # Growing holds the weights of the nodes twice: in its memory and in the result.
    n_bytes = 2 * 8 * n_nodes * n_classes
    if n_classes < MANY_CLASSES or n_bytes <= MEMORY_TO_WARN:
        return
    warn_caller(
        f"A tree for {n_rows:,} rows and {n_classes:,} classes may need "
        f"{n_bytes / 1e9:.1f} GB of memory, because each of about {n_nodes:,} nodes "
        "stores the weight of every class. Limit the tree by max_leaf_nodes, max_depth "
        "or min_samples_leaf, or merge classes with few rows.",
        UserWarning,
    )


def _bound_leaves(estimator, n_rows):
    """Maximum number of leaves, from the parameters that limit it."""
    bounds = [n_rows]
    max_leaf_nodes = getattr(estimator, "max_leaf_nodes", None)
    if max_leaf_nodes is not None:
        bounds.append(max_leaf_nodes)
    max_depth = getattr(estimator, "max_depth", None)
    if max_depth is not None:
        bounds.append(2 ** min(max_depth, _LARGEST_DEPTH))
    least = getattr(estimator, "min_samples_leaf", 1)
    if least < 1:
        bounds.append(1 / least if least > 0 else n_rows)
    else:
        bounds.append(n_rows / least)
    return max(1, int(min(bounds)))
