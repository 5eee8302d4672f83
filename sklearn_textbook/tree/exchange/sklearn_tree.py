"""One tree as a decision tree of scikit-learn."""

from __future__ import annotations

from functools import partial

import numpy as np
import sklearn

from sklearn_textbook.tree.encode.columns import TEMPORAL
from sklearn_textbook.tree.exchange.encoder import add_columns
from sklearn_textbook.tree.exchange.expand import (
    LARGEST_TREE,
    Expansion,
    ThresholdTree,
)
from sklearn_textbook.tree.exchange.fitted_shell import (
    fit_on_codes,
    share_parameters,
)
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.grow.grown_tree import refuse_slopes
from sklearn_textbook.tree.grow.layout import (
    FRACTIONAL,
    LEAF,
    NOMINAL,
    NUMERIC,
    OBLIQUE,
    ORDINAL,
    TREE_LEAF,
)

SKLEARN = "a tree of scikit-learn"
#: Part of all weight that a leaf without training rows has.
SMALLEST_FRACTION = 1e-12


def round_down(thresholds: np.ndarray) -> np.ndarray:
    """Round thresholds down to numbers of single precision.

    For every x of single precision, x <= t if and only if x <= t rounded.
    """
    with np.errstate(over="ignore", under="ignore"):
        rounded = thresholds.astype(np.float32)
        is_above = rounded.astype(np.float64) > thresholds
        rounded[is_above] = np.nextafter(rounded[is_above], np.float32(-np.inf))
    return rounded.astype(np.float64)


def require_readable(schema) -> None:
    """Raise ValueError for a column that no encoder of scikit-learn reads as here."""
    for column in schema.columns:
        if column.source in TEMPORAL:
            raise ValueError(
                f"Column {column.name!r} is a {column.source} column, but scikit-learn "
                "trees accept only numbers. Convert it to numbers before fitting."
            )


def _refuse(fitted, node, what, instead, reader=SKLEARN) -> None:
    """Raise ValueError for a node that the reader has no equivalent of."""
    column = fitted.feature_names[fitted.tree.nodes["feature"][node]]
    raise ValueError(
        f"Node {node} {what.format(column=repr(column))}, which {reader} does not "
        f"support. {instead}."
    )


def require_equivalents(fitted, allows_missing: bool, reader: str = SKLEARN) -> None:
    """Raise ValueError for a test that trees of thresholds have no equivalent of."""
    nodes = fitted.tree.nodes
    refuse = partial(_refuse, fitted, reader=reader)
    for node in np.flatnonzero(nodes["kind"] == OBLIQUE)[:1]:
        instead = "Only trees whose tests have a single column can be converted"
        refuse(node, "tests a sum of columns (of which {column} is the first)", instead)
    if fitted.tree.handle_unknown == "fractional":
        for node in np.flatnonzero(np.isin(nodes["kind"], (NOMINAL, ORDINAL)))[:1]:
            what = "divides rows with an unknown level of column {column}"
            refuse(node, what, 'Fit the model with handle_unknown="parent"')
    if not allows_missing:
        return
    if len(fitted.tree.surrogates):
        node = fitted.tree.surrogates["node"][0]
        what = "has surrogate splits for missing values of column {column}"
        refuse(node, what, 'Fit the model with missing="learned"')
    for node in np.flatnonzero(nodes["missing_branch"] == FRACTIONAL):
        if fitted.n_missing is None or fitted.n_missing[nodes["feature"][node]]:
            what = "divides rows with a missing value of column {column}"
            instead = (
                'Impute the values before fitting, or use CART with missing="learned"'
            )
            refuse(node, what, instead)


def find_missing_branch(nodes, keeps_stay):
    """Find the child of missing values in every node.

    Where training had none, and the model has no rule for them, they go to the larger
    child as in trees that scikit-learn fits.
    """
    branch = nodes["missing_branch"].copy()
    is_open = branch == FRACTIONAL if keeps_stay else branch < 0
    for node in np.flatnonzero(is_open & (nodes["kind"] != LEAF)):
        first, number = nodes["first_child"][node], nodes["n_children"][node]
        # If both children are equally large, scikit-learn uses the right one.
        counts = nodes["n_samples"][first : first + number][::-1]
        branch[node] = number - 1 - int(np.argmax(counts))
    return branch


def find_thresholds(fitted, allows_missing, reader=SKLEARN):
    """Find the tree of thresholds with the same predictions."""
    tree = fitted.tree
    nodes = tree.nodes
    missing = find_missing_branch(nodes, keeps_stay=allows_missing)
    is_leaf = nodes["kind"] == LEAF
    is_plain = (nodes["kind"] == NUMERIC) & (nodes["n_children"] == 2) & (missing >= 0)
    if (is_plain | is_leaf).all():
        left = nodes["first_child"].astype(np.int64)
        return ThresholdTree(
            source=np.arange(len(nodes)),
            fraction=np.ones(len(nodes)),
            left=left,
            right=np.where(is_leaf, TREE_LEAF, left + 1),
            feature=nodes["feature"],
            threshold=nodes["threshold"],
            missing_left=(missing == 0) & ~is_leaf,
            depth=tree.max_depth,
        )

    def refuse(node):
        what = (
            "tests a set of levels of column {column}; to copy what is below such "
            f"tests takes more than {LARGEST_TREE} nodes"
        )
        instead = 'Fit the model with categorical_split="one_vs_rest" or a max_depth'
        _refuse(fitted, node, what, instead, reader)

    return Expansion(tree, missing, refuse).run()


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
    # Children come after their parent.
    for node in range(len(nodes) - 1, 0, -1):
        decrease[nodes["parent"][node]] += decrease[node]
    is_heavy = nodes["weight"] > 0
    impurities = np.zeros(len(nodes))
    return np.divide(decrease, nodes["weight"], out=impurities, where=is_heavy)


def make_state(
    tree, thresholds: ThresholdTree, values: np.ndarray, examples: np.ndarray
) -> dict:
    """Make the state of a ``sklearn.tree`` ``Tree``, as its pickles have it.

    Of the examples, nodes that scikit-learn has fitted to numbers, the first is the
    root, the last a leaf. Fields that are not known here are copied from them.
    """
    source, fraction = thresholds.source, thresholds.fraction
    weight = tree.nodes["weight"]
    # shap needs some weight in every leaf, also in those of levels never seen.
    weight = np.maximum(weight[source] * fraction, SMALLEST_FRACTION * weight[0])
    columns = {
        "left_child": thresholds.left,
        "right_child": thresholds.right,
        "feature": thresholds.feature,
        "threshold": round_down(thresholds.threshold),
        "impurity": find_impurities(tree.nodes)[source],
        "n_node_samples": np.ceil(tree.nodes["n_samples"][source] * fraction),
        "weighted_n_node_samples": weight,
        "missing_go_to_left": thresholds.missing_left,
    }
    missing = [name for name in columns if name not in examples.dtype.names]
    if missing:
        raise RuntimeError(
            f"The nodes of trees in scikit-learn {sklearn.__version__} have no field "
            f"{missing[0]!r}: this version is not supported. Install scikit-learn 1.9."
        )
    is_leaf = thresholds.left == TREE_LEAF
    records = examples[[0, -1]][is_leaf.astype(np.intp)]
    for name, column in columns.items():
        records[name] = column
    return {
        "max_depth": thresholds.depth,
        "node_count": len(source),
        "nodes": records,
        "values": np.ascontiguousarray(values[source], dtype=np.float64),
    }


def compute_values(model, fitted):
    """Class proportions or values of all nodes, as the model predicts them."""
    tree = fitted.tree
    if not tree.is_classifier:
        return tree.statistics
    # Not those of the tree with Laplace's correction.
    values = model._share_statistics().compute_value()
    if fitted.class_tolerance > 0:
        # C4.5 treats nearly equal proportions as equal; make the chosen one largest.
        rows, outputs = np.indices(fitted.best.shape)
        values[rows, outputs, fitted.best] = values.max(axis=2)
    return values


def make_sklearn_tree(model, kind, labels: list[np.ndarray] | None = None, adapt=None):
    """Make a decision tree of scikit-learn from one of this package.

    ``adapt`` changes the array of the values of all nodes; labels are those of the
    model if they are not given.
    """
    refuse_slopes([model.tree_], "to_sklearn")
    fitted = read_fitted(model)
    require_readable(fitted.schema)
    allows_missing = model.missing != "error"
    require_equivalents(fitted, allows_missing)
    tree = fitted.tree
    thresholds = find_thresholds(fitted, allows_missing)
    n_classes = tree.n_classes.tolist() if tree.is_classifier else None
    estimator = fit_on_codes(kind(), tree.n_features, n_classes, tree.n_outputs)
    share_parameters(model, estimator, criterion=model._criterion_name())
    if tree.is_classifier:
        labels = fitted.classes if labels is None else labels
        estimator.classes_ = labels[0].copy() if len(labels) == 1 else list(labels)
    estimator.max_features_ = getattr(model, "max_features_", tree.n_features)
    # Scikit-learn has no public constructor of a tree from arrays. A pickle of a
    # fitted estimator is one: these are the public methods through which the pickle
    # module disassembles and assembles a tree, and its documented arrays.
    make, arguments, state = estimator.tree_.__reduce__()
    values = compute_values(model, fitted)
    values = values if adapt is None else adapt(values)
    copy = make(*arguments)
    new = make_state(tree, thresholds, values, state["nodes"])
    copy.__setstate__({**state, **new})
    estimator.tree_ = copy
    if allows_missing:
        _accept_missing(estimator)
    return estimator


def _accept_missing(estimator) -> None:
    """Reset the parameters for which scikit-learn refuses to predict missing values.

    Before 1.9 they are constraints and criteria that scikit-learn itself cannot train
    with missing values. That predictions are equal matters more than the record.
    """
    try:
        estimator.predict(np.full((1, estimator.n_features_in_), np.nan))
    except ValueError:
        usual = type(estimator)().get_params()
        names = "criterion", "monotonic_cst"
        estimator.set_params(**{name: usual[name] for name in names})


def convert_tree(model):
    """Make a decision tree of scikit-learn from a model that is a single tree."""
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    is_classifier = model.tree_.is_classifier
    kind = DecisionTreeClassifier if is_classifier else DecisionTreeRegressor
    return add_columns(model, make_sklearn_tree(model, kind), model.schema_)
