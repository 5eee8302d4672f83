"""Trees grown with other weights of the classes, which costs of errors ask for.

Breiman et al. (1984), section 4.4.
"""

from __future__ import annotations

import numpy as np

#: Weights are integers if they differ from one by at most this fraction.
_ROUNDING = 1e-9


def multiply_classes(tree, of_class: np.ndarray):
    """Multiply the class weights in all nodes of a tree by factors of the classes.

    The weight of a node times its impurity, or its improvement, stays the same.
    """
    statistics = tree.statistics * of_class
    nearest = np.rint(statistics)
    is_whole = np.abs(statistics - nearest) <= _ROUNDING * nearest
    statistics = np.where(is_whole, nearest, statistics)
    nodes = tree.nodes.copy()
    old = nodes["weight"]
    # A branch without rows has the proportions of its parent, but no weight.
    new = np.where(old > 0.0, statistics[:, 0].sum(axis=1), 0.0)
    ratio = np.divide(old, new, out=np.ones_like(old), where=new > 0.0)
    for name in ("impurity", "improvement"):
        nodes[name] *= ratio
    nodes["weight"] = new
    return tree.replace(nodes=nodes, statistics=statistics)


def restore_priors(tree, of_class: np.ndarray | None):
    """Restore the class weights of a tree grown with weights times these factors."""
    return tree if of_class is None else multiply_classes(tree, 1.0 / of_class)
