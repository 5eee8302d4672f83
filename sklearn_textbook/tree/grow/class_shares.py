"""Proportions of the classes in nodes."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.layout import FEW_NUMBERS, make_statistics


def share_out(weights):
    """Divide class weights by their sum.

    Parameters
    ----------
    weights : ndarray of float64, shape (n_nodes, n_outputs, n_classes)
        Class weights.

    Returns
    -------
    ndarray of float64, of the same shape
        Class proportions; 0 where all weights are.
    """
    total = weights.sum(axis=2, keepdims=True)
    n_classes = weights.shape[2]
    if n_classes <= FEW_NUMBERS:
        return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
    shares = make_statistics(weights.shape[0] * weights.shape[1], n_classes)
    present = np.flatnonzero(weights)
    each = weights.reshape(-1)[present] / total.reshape(-1)[present // n_classes]
    shares.reshape(-1)[present] = each
    return shares.reshape(weights.shape)
