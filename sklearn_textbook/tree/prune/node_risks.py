"""What every node of a tree costs as a leaf, on the rows that grew it."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.parameters import check_choice

RISKS = ("impurity", "error")
#: Costs that differ by no more than this share of the root's cost are equal.
SAME = 1e-12


def measure_node_risks(tree, risk):
    """Measure what every node would cost as a leaf, without dividing by anything.

    Whole weights give whole numbers of errors, so that equal costs are exactly equal.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    risk : {"impurity", "error"}
        Impurity times weight, or the weight of the rows of other classes than the
        largest one (the mean over the outputs).

    Returns
    -------
    ndarray of float64, shape (node_count,)
        The costs; over the weight of the root they are risks.

    Raises
    ------
    ValueError
        If ``risk`` is neither, or is "error" for a tree that predicts values.
    """
    check_choice("risk", risk, RISKS)
    if risk == "impurity":
        return tree.nodes["weight"] * tree.nodes["impurity"]
    if not tree.is_classifier:
        raise ValueError(
            "risk='error' counts rows of wrong classes, but this tree predicts "
            "values; use risk='impurity'."
        )
    shares = tree.statistics
    errors = (shares.sum(axis=2) - shares.max(axis=2)).mean(axis=1)
    # A branch without rows has the distribution of its parent.
    return np.where(tree.nodes["weight"] > 0, errors, 0.0)
