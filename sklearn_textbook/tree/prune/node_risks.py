"""Training risk of every node of a tree as a leaf."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.parameters import check_choice

RISKS = ("impurity", "error")
#: Costs that differ by at most this fraction of the cost of the root are equal.
SAME = 1e-12


def measure_node_risks(tree, risk):
    """Compute the cost of every node as a leaf, not divided by the total weight.

    Integer weights give integer numbers of errors, so that ties are exact.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    risk : {"impurity", "error"}
        Impurity times weight, or the weight of the rows not of the majority class (the
        mean over the outputs).

    Returns
    -------
    ndarray of float64, shape (node_count,)
        The costs; divided by the weight of the root they are risks.

    Raises
    ------
    ValueError
        If ``risk`` is neither, or is "error" for a regression tree.
    """
    check_choice("risk", risk, RISKS)
    if risk == "impurity":
        return tree.nodes["weight"] * tree.nodes["impurity"]
    if not tree.is_classifier:
        raise ValueError(
            "risk='error' counts misclassified rows, but this is a regression tree; "
            "use risk='impurity'."
        )
    shares = tree.statistics
    errors = (shares.sum(axis=2) - shares.max(axis=2)).mean(axis=1)
    # A branch without rows has the distribution of its parent.
    return np.where(tree.nodes["weight"] > 0, errors, 0.0)
