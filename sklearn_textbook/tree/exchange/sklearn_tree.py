"""One tree as a decision tree of scikit-learn."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.exchange.fitted_shell import (
    copy_names,
    fit_on_codes,
    share_parameters,
)
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.grow.layout import (
    LEAF,
    OBLIQUE,
    TREE_LEAF,
)

#: What a test of several columns, or of levels, is called in error messages.
_ENCODE = (
    "Encode the column as numbers before fitting, for example with "
    "sklearn.preprocessing.OneHotEncoder in a Pipeline, and convert the model in it"
)


def round_down(thresholds):
    """Round thresholds down to numbers of single precision.

    Parameters
    ----------
    thresholds : ndarray of float64
        Thresholds; infinite ones stay.

    Returns
    -------
    rounded : ndarray of float64
        The largest number t' of single precision that is at most t. For every x of
        single precision, x <= t' if and only if x <= t.
    """
    with np.errstate(over="ignore", under="ignore"):
        rounded = thresholds.astype(np.float32)
        is_above = rounded.astype(np.float64) > thresholds
        rounded[is_above] = np.nextafter(rounded[is_above], np.float32(-np.inf))
    return rounded.astype(np.float64)


def require_numbers(schema):
    """Raise ValueError for a table that scikit-learn's trees cannot read."""
    for column in schema.columns:
        kind = column.source if column.source in TEMPORAL else column.kind
        if kind != "numeric":
            raise ValueError(
                f"Column {column.name!r} is {_with_article(kind)}, and trees of "
                f"scikit-learn read numbers only. {_ENCODE}."
            )


def _with_article(kind):
    nouns = {"nominal": "nominal", "ordinal": "ordinal"}
    return nouns.get(kind, f"a {kind} column")


def _refuse(fitted, node, what, instead):
    """Raise ValueError for a node that scikit-learn has no equivalent of."""
    column = fitted.feature_names[fitted.tree.nodes["feature"][node]]
    raise ValueError(
        f"Node {node} {what.format(column=repr(column))}, which trees of scikit-learn "
        f"do not have. {instead}."
    )


def require_plain_tests(fitted, allows_missing):
    """Raise ValueError for a test that scikit-learn has no equivalent of.

    Parameters
    ----------
    fitted : FittedTree
        The tree.
    allows_missing : bool
        Whether its missing values must go where they went in training.
    """
    nodes = fitted.tree.nodes
    for node in np.flatnonzero(nodes["kind"] == OBLIQUE)[:1]:
        instead = "Only trees whose tests have one column can be converted"
        _refuse(fitted, node, "tests a sum of columns (column {column} first)", instead)
    for node in np.flatnonzero(nodes["n_children"] > 2)[:1]:
        what = f"divides column {{column}} into {nodes['n_children'][node]} branches"
        if nodes["missing_branch"][node] == 2:
            what = "has a branch of its own for missing values of column {column}"
        _refuse(fitted, node, what, 'Fit the model with missing="learned"')
    if not allows_missing:
        return
    if len(fitted.tree.surrogates):
        node = fitted.tree.surrogates["node"][0]
        what = "has surrogate splits for missing values of column {column}"
        _refuse(fitted, node, what, 'Fit the model with missing="learned"')
    inner = np.flatnonzero((nodes["kind"] != LEAF) & (nodes["missing_branch"] < 0))
    for node in inner:
        if fitted.n_missing is None or fitted.n_missing[nodes["feature"][node]]:
            what = (
                "divides rows with a missing value of column {column} among its "
                "branches, or keeps them"
            )
            instead = (
                'Impute the values before fitting, or use CART with missing="learned"'
            )
            _refuse(fitted, node, what, instead)


def find_missing_left(nodes):
    """Tell which nodes send missing values to the left.

    Where training had none, and the model has no rule for them, they go to the larger
    child as in trees that scikit-learn fits.
    """
    first = np.maximum(nodes["first_child"], 0)
    second = np.minimum(first + 1, len(nodes) - 1)
    larger = nodes["n_samples"][first] > nodes["n_samples"][second]
    goes_left = np.where(
        nodes["missing_branch"] < 0, larger, nodes["missing_branch"] == 0
    )
    return goes_left & (nodes["kind"] != LEAF)


def find_impurities(nodes):
    """Find impurities from which scikit-learn computes the importances of columns.

    Trees of gradient boosting have none. A node is given all that the tests below it
    decrease the loss, in the unit in which scikit-learn's importances, which it divides
    by the weight of the root, add up to those of the ensemble here.
    """
    is_inner = nodes["kind"] != LEAF
    if nodes["impurity"].any() or not is_inner.any():
        return nodes["impurity"]
    decrease = nodes["improvement"] * nodes["weight"] * nodes["weight"][0]
    # Children stand after their parent.
    for node in range(len(nodes) - 1, 0, -1):
        decrease[nodes["parent"][node]] += decrease[node]
    is_heavy = nodes["weight"] > 0
    impurities = np.zeros(len(nodes))
    return np.divide(decrease, nodes["weight"], out=impurities, where=is_heavy)


def make_state(tree, values, dtype):
    """Make the state of a ``sklearn.tree`` ``Tree``, as its pickles have it.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    values : ndarray of float64, shape (node_count, n_outputs, max_n_classes)
        Class proportions or values.
    dtype : numpy.dtype
        Type of the node records.

    Returns
    -------
    state : dict
        For ``Tree.__setstate__``. Nodes keep their numbers.
    """
    nodes = tree.nodes
    records = np.zeros(len(nodes), dtype=dtype)
    is_leaf = nodes["kind"] == LEAF
    left = nodes["first_child"].astype(np.int64)
    columns = {
        "left_child": left,
        "right_child": np.where(is_leaf, TREE_LEAF, left + 1),
        "feature": nodes["feature"],
        "threshold": np.where(
            is_leaf, nodes["threshold"], round_down(nodes["threshold"])
        ),
        "impurity": find_impurities(nodes),
        "n_node_samples": nodes["n_samples"],
        "weighted_n_node_samples": nodes["weight"],
        "missing_go_to_left": find_missing_left(nodes),
    }
    for name in dtype.names:
        # A KeyError here names a field that this version of scikit-learn has added.
        records[name] = columns[name]
    return {
        "max_depth": tree.max_depth,
        "node_count": len(nodes),
        "nodes": records,
        "values": np.ascontiguousarray(values, dtype=np.float64),
    }


def compute_values(model, fitted):
    """Class proportions or values of all nodes, as the model predicts them."""
    tree = fitted.tree
    if not tree.is_classifier:
        return tree.statistics
    # Not those of the tree with Laplace's correction.
    values = model._share_statistics().compute_value()
    if fitted.class_tolerance > 0:
        # C4.5 takes nearly equal proportions as equal: let the chosen one be largest.
        rows, outputs = np.indices(fitted.best.shape)
        values[rows, outputs, fitted.best] = values.max(axis=2)
    return values


def make_sklearn_tree(model, kind, labels=None, adapt=None):
    """Make a decision tree of scikit-learn from one of this package.

    Parameters
    ----------
    model : tree estimator
        A fitted tree.
    kind : type
        The class of the result, such as ``sklearn.tree.DecisionTreeClassifier``.
    labels : list of ndarray or None, default=None
        Class labels of each output; None: those of the model.
    adapt : callable or None, default=None
        Changes the array of the values of all nodes.

    Returns
    -------
    estimator : estimator of scikit-learn
        A fitted one, without names of columns.

    Raises
    ------
    ValueError
        If scikit-learn's trees have no equivalent of a test or column.
    """
    fitted = read_fitted(model)
    require_numbers(fitted.schema)
    require_plain_tests(fitted, allows_missing=model.missing != "error")
    tree = fitted.tree
    n_classes = tree.n_classes.tolist() if tree.is_classifier else None
    estimator = fit_on_codes(kind(), tree.n_features, n_classes, tree.n_outputs)
    share_parameters(model, estimator, criterion=model._criterion_name())
    if tree.is_classifier:
        labels = fitted.classes if labels is None else labels
        estimator.classes_ = labels[0].copy() if len(labels) == 1 else list(labels)
    estimator.max_features_ = getattr(model, "max_features_", tree.n_features)
    # Scikit-learn has no public constructor of a tree from arrays. A pickle of a
    # fitted estimator is one: these are the public methods through which the pickle
    # module takes a tree apart and puts it together, and its documented arrays.
    make, arguments, state = estimator.tree_.__reduce__()
    values = compute_values(model, fitted)
    values = values if adapt is None else adapt(values)
    copy = make(*arguments)
    copy.__setstate__({**state, **make_state(tree, values, state["nodes"].dtype)})
    estimator.tree_ = copy
    return estimator


def convert_tree(model):
    """Make a decision tree of scikit-learn from a model that is a single tree."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    is_classifier = model.tree_.is_classifier
    kind = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    return copy_names(model, make_sklearn_tree(model, kind))
