"""Impurity-based importances of the columns."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.layout import LEAF, OBLIQUE


def compute_feature_importances(tree, normalize: bool = True) -> np.ndarray:
    r"""Compute impurity-based feature importances, 特征重要性.

    .. math:: I_j = \sum_{t : j(t) = j} \frac{W_t}{W_{root}} \, \Delta i(t)

    where W is the weight of a node and Δi the improvement of its split. Surrogates are
    ignored. The improvement of an oblique test is divided among its columns in
    proportion to their absolute weights in standard units.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    normalize : bool, default=True
        Whether to normalize the sum over all columns to 1. Without any improvement all
        importances are 0.

    Returns
    -------
    ndarray of float64, shape (n_features,)
        The importances, as scikit-learn's ``tree_.compute_feature_importances``.

    Examples
    --------
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> from sklearn_textbook.tree.grow.importances import compute_feature_importances
    >>> X, y = [[0, 0], [0, 1], [1, 0], [1, 1]], [0.0, 1.0, 4.0, 5.0]
    >>> tree = CARTRegressor().fit(X, y).tree_
    >>> compute_feature_importances(tree, normalize=False)
    array([4.  , 0.25])
    >>> compute_feature_importances(tree)
    array([0.94117647, 0.05882353])
    """
    kind = tree.nodes["kind"]
    axis = tree.nodes[(kind != LEAF) & (kind != OBLIQUE)]
    importances = np.bincount(
        axis["feature"],
        weights=axis["weight"] * axis["improvement"],
        minlength=tree.n_features,
    )
    if len(tree.terms):
        terms = tree.terms[list_first_levels(tree.terms)]
        tests = tree.nodes[terms["node"]]
        importances = importances + np.bincount(
            terms["feature"],
            weights=tests["weight"] * tests["improvement"] * terms["share"],
            minlength=tree.n_features,
        )
    importances = importances / tree.nodes["weight"][0]
    total = importances.sum()
    if normalize and total > 0:
        importances /= total
    return importances


def list_first_levels(terms: np.ndarray) -> np.ndarray:
    """List the first term of every column of every oblique test."""
    is_first = np.ones(len(terms), dtype=bool)
    is_first[1:] = (np.diff(terms["node"]) != 0) | (np.diff(terms["feature"]) != 0)
    return np.flatnonzero(is_first)
