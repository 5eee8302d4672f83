"""Fitted models as the dictionaries that shap's TreeExplainer reads."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.tree.exchange.sklearn_tree import (
    SMALLEST_FRACTION,
    find_thresholds,
    require_equivalents,
)
from sklearn_textbook.tree.explain.fitted import FittedTree
from sklearn_textbook.tree.grow.layout import TREE_LEAF

READER = "a tree of shap"
#: Units of the scores, as shap names them; others are raw values.
OUTPUTS = {("identity", True): "probability", ("expit", True): "log_odds"}


def to_shap(model: Any) -> Any:
    """Convert a fitted model to the dictionary that ``shap.TreeExplainer`` reads.

    Thresholds are in double precision, so rows take the same branches as in the model;
    scikit-learn trees round to single precision.

    Parameters
    ----------
    model : estimator
        A fitted tree, forest, bagging or random subspace ensemble of trees, output
        perturbation, AdaBoost of trees, boosting tree or gradient boosting model of
        this package, whose trees neither divide rows nor have surrogate or oblique
        splits.

    Returns
    -------
    trees : dict
        The model for ``shap.TreeExplainer``. Its outputs are the scores of the model:
        class probabilities or values; for gradient boosting, the result of
        ``decision_function`` or the logarithm of the prediction; for AdaBoost and
        ``voting="hard"``, the votes for each class.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind.
    ValueError
        If a tree divides rows, or has surrogate or oblique splits;
        :func:`sklearn_textbook.inspection.shap_values` also explains such trees.

    See Also
    --------
    read_trees : Its ``read`` converts tables with levels or dates to a matrix for shap.
    to_sklearn : Converts to scikit-learn models, some of which shap can read.

    Notes
    -----
    shap requires numbers: levels as their codes, NaN for missing values and -1 for
    levels not seen in training, as returned by ``read_trees(model).read(X)``. A test of
    levels becomes several thresholds on the codes; a level without a branch ends in a
    leaf with the prediction of the node, also with ``handle_unknown="error"``.

    ID3 and C4.5 divide rows with a missing value. If a column had no missing values in
    training, later ones go to the larger child here.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.ensemble import RandomForestRegressor
    >>> from sklearn_textbook.exchange import to_shap
    >>> X, y = load_diabetes(return_X_y=True)
    >>> forest = RandomForestRegressor(10, max_depth=4, random_state=0).fit(X, y)
    >>> trees = to_shap(forest)
    >>> len(trees["trees"]), trees["tree_output"]
    (10, 'raw_value')

    ``shap.TreeExplainer(trees).shap_values(X)`` explains the predictions.
    """
    total = read_trees(model)
    allows_missing = total.reader.missing != "error"
    trees = []
    counts = _list_missing(total)
    for tree, first, n_missing in zip(total.trees, total.first, counts, strict=True):
        fitted = FittedTree(tree, total.schema, total.feature_names, [], [], n_missing)
        try:
            require_equivalents(fitted, allows_missing, READER)
            thresholds = find_thresholds(fitted, allows_missing, READER)
        except ValueError as error:
            raise ValueError(
                f"{error} sklearn_textbook.inspection.shap_values explains such trees."
            ) from None
        values = np.zeros((tree.node_count, total.n_scores))
        values[:, first : first + tree.n_outputs] = tree.statistics[:, :, 0]
        trees.append(_make_tree(tree, thresholds, values))
    is_plain = total.scale == 1.0 and not total.is_vote
    return {
        "trees": trees,
        "base_offset": total.start.copy(),
        "input_dtype": np.float64,
        "internal_dtype": np.float64,
        "objective": _name_objective(total),
        "tree_output": OUTPUTS.get(
            (total.link, is_plain and total.is_classifier), "raw_value"
        ),
    }


def _name_objective(total):
    """Name the loss that shap can explain, if the scores are those of one."""
    if total.link == "expit" and total.scale == 1.0:
        return "binary_crossentropy"
    is_value = total.link == "identity" and not total.is_classifier
    return "squared_error" if is_value else None


def _list_missing(total):
    """List the missing values of all columns in training, for each tree."""
    described, counts = total.model._describe_sum(), []
    for member, columns in zip(described.members, described.columns, strict=True):
        known = getattr(member, "n_missing_", None)
        if known is not None and columns is not None:
            # Other columns are not tested.
            of_all = np.zeros(len(total.feature_names), dtype=np.int64)
            of_all[np.asarray(columns)] = known
            known = of_all
        counts.append(known)
    return counts


def _make_tree(tree, thresholds, values):
    """Make the dictionary of one tree."""
    source = thresholds.source
    weight = tree.nodes["weight"][source] * thresholds.fraction
    default = np.where(thresholds.missing_left, thresholds.left, thresholds.right)
    is_leaf = thresholds.left == TREE_LEAF
    return {
        "children_left": thresholds.left,
        "children_right": thresholds.right,
        "children_default": np.where(is_leaf, TREE_LEAF, default),
        "features": np.where(is_leaf, TREE_LEAF, thresholds.feature),
        "thresholds": np.where(is_leaf, TREE_LEAF, thresholds.threshold),
        "values": values[source],
        # Without weight shap would divide by 0.
        "node_sample_weight": np.maximum(
            weight, SMALLEST_FRACTION * tree.nodes["weight"][0]
        ),
    }
