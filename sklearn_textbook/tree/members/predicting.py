"""What many trees say together about the rows of a table."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.route import predict_statistics


def add_predictions(
    trees, matrix, out, n_threads=1, feature_names=None, votes=False, weights=None
):
    """Add what every tree predicts for every row.

    Parameters
    ----------
    trees : sequence of GrownTree
        The trees.
    matrix : array of shape (n_rows, n_features), or scipy sparse array
        Numbers and level codes.
    out : ndarray of float64, shape (n_rows, n_outputs, n_statistics)
        Class shares or values are added here, tree by tree.
    n_threads : int, default=1
        Number of threads; the sums do not depend on it.
    feature_names : sequence of str, default=None
        Names of the columns, for error messages.
    votes : bool, default=False
        Whether a tree gives 1 to the class of the largest share, the first of equals.
    weights : ndarray of shape (n_trees,), default=None
        Weight of each tree; None: 1.
    """
    for number, tree in enumerate(trees):
        predicted = predict_statistics(tree, matrix, n_threads, feature_names)
        if votes:
            best = predicted.argmax(axis=2)[:, :, np.newaxis]
            predicted = np.arange(predicted.shape[2]) == best
        out += predicted if weights is None else weights[number] * predicted
