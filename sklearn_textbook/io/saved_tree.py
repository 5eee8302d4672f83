"""Trees as JSON, and back: estimators of one tree, rules, and members of ensembles.

The tree of an estimator is written node by node in full; those of an ensemble in as few
bytes per node as in pickles, without what all members have in common.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sklearn_textbook._contract.registry import ESTIMATORS
from sklearn_textbook.io.saved_arrays import load_array, save_array, save_floats
from sklearn_textbook.io.saved_values import (
    is_integer,
    load_classes,
    predicts_classes,
    save_classes,
    save_parameters,
    set_columns,
)
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.explain.listed_rules import collect_listed_rules
from sklearn_textbook.tree.explain.neighbours import (
    join_neighbours,
    list_thresholds,
    look_up_neighbours,
)
from sklearn_textbook.tree.grow.check import check_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.layout import SIDE_DTYPES
from sklearn_textbook.tree.grow.storage import COMPACTED_NODES, Shape, restore_nodes
from sklearn_textbook.tree.route import RoutedTree
from sklearn_textbook.tree.rules import RuleList

# How a column of the nodes may be written; see tree/grow/storage.py.
_FORMS = ("all", "inner", "leaves", "guessed", "n_samples", "statistics")


# --------------------------------------------------------- estimators of one tree
def save_tree(estimator: object) -> dict:
    """Write the fitted attributes of a tree, or of a list of rules and its tree."""
    tree, rules = estimator, {}
    if ESTIMATORS[type(estimator).__name__].saved == "rules":
        tree = estimator.tree_estimator_
        rules = {
            "tree_parameters": save_parameters(tree),
            "rules": estimator.rule_list_.to_dict(),
        }
    return {
        "columns": tree.schema_.to_dict(),
        "classes": save_classes(tree),
        "max_features": int(tree.max_features_),
        "n_missing": np.asarray(tree.n_missing_).tolist(),
        "tree": tree.tree_.to_dict(),
        **_save_neighbours(tree),
        **_save_bounds(tree),
        **rules,
    }


def _save_neighbours(estimator: object) -> dict:
    """Write the training values next to the thresholds of a tree, if known."""
    known, sides = getattr(estimator, "_neighbours", None), [np.empty((2, 0))]
    if known is None:
        return {}
    sides += [
        look_up_neighbours(known, column, thresholds)
        for column, thresholds in list_thresholds(estimator.tree_).items()
    ]
    return {"neighbours": save_floats(np.concatenate(sides, axis=1))}


def _save_bounds(estimator: object) -> dict:
    """Write what the search for a tree has proven."""
    if not hasattr(estimator, "lower_bound_"):
        return {}
    return {"bounds": [estimator.lower_bound_, estimator.objective_]}


def load_tree(estimator: object, document: dict) -> None:
    """Set the fitted attributes of a tree."""
    schema = TableSchema.from_dict(document["columns"])
    tree = GrownTree.from_dict(document["tree"])
    classes = load_classes(document["classes"])
    _require_match(estimator, schema, tree, classes)
    estimator.tree_ = RoutedTree.from_grown(tree)
    set_columns(estimator, schema)
    set_directions(estimator, tree)
    estimator.n_outputs_ = tree.n_outputs
    estimator.max_features_ = load_max_features(document, tree.n_features)
    estimator.n_missing_ = load_n_missing(document, tree.n_features)
    set_classes(estimator, classes)
    if "bounds" in document:
        lower, upper = document["bounds"]
        if not 0.0 <= lower <= upper < np.inf:
            raise ValueError(f"bounds must be ascending numbers, got {lower}, {upper}")
        estimator.lower_bound_, estimator.objective_ = float(lower), float(upper)
    if "neighbours" in document:
        sides = load_array(document["neighbours"], "neighbours")
        columns = list_thresholds(tree)
        n_thresholds = sum(map(len, columns.values()))
        if sides.shape != (2, n_thresholds):
            raise ValueError(
                f"neighbours must have shape (2, {n_thresholds}), got {sides.shape}"
            )
        estimator._neighbours = join_neighbours(columns, sides)


def load_rules(estimator: object, document: dict, make: Callable) -> None:
    """Set the fitted attributes of a list of rules; `make` makes its tree."""
    made_of = ESTIMATORS[type(estimator).__name__].made_of
    tree_estimator = make(made_of, document["tree_parameters"])
    load_tree(tree_estimator, document)
    rule_list = RuleList.from_dict(document["rules"], tree_estimator.tree_)
    collect_listed_rules(rule_list)  # whose conditions must not exclude each other
    estimator.tree_estimator_ = tree_estimator
    estimator.rule_list_ = rule_list
    set_columns(estimator, tree_estimator.schema_)
    estimator.classes_ = tree_estimator.classes_
    estimator.n_rules_ = len(rule_list)
    estimator.default_class_ = estimator.classes_[rule_list.rule_class[-1]]


def _require_match(
    estimator: object, schema: TableSchema, tree: GrownTree, classes: list | None
) -> None:
    """Refuse a file with inconsistent parts."""
    if len(schema.columns) != tree.n_features:
        raise ValueError(
            f"{len(schema.columns)} columns, but the tree has {tree.n_features}"
        )
    if not np.array_equal(schema.n_levels, tree.n_levels):
        raise ValueError("the levels of the columns do not match those of the tree")
    is_classifier = predicts_classes(estimator)
    if tree.is_classifier != is_classifier or (classes is not None) != is_classifier:
        raise ValueError(
            f"the tree and the classes do not match a {type(estimator).__name__}"
        )
    if classes is not None:
        n_classes = [len(labels) for labels in classes]
        if n_classes != np.asarray(tree.n_classes).tolist():
            raise ValueError(
                f"{n_classes} classes, but the tree has {tree.n_classes.tolist()}"
            )


# ----------------------------------------------------------- attributes of any tree
def load_n_missing(document: dict, n_columns: int) -> np.ndarray:
    """Read the numbers of missing values of the columns."""
    counts = document["n_missing"]
    if not isinstance(counts, list) or len(counts) != n_columns:
        raise ValueError(f"n_missing must be a list of {n_columns} counts")
    if not all(is_integer(count) and count >= 0 for count in counts):
        raise ValueError("n_missing must hold non-negative integers")
    return np.asarray(counts, dtype=np.int64)


def load_max_features(fields: dict, n_columns: int) -> int:
    """Read the number of columns tried per node."""
    value = fields["max_features"]
    if not is_integer(value) or not 1 <= value <= n_columns:
        raise ValueError(f"max_features must be from 1 to {n_columns}, got {value!r}")
    return value


def set_classes(estimator: object, classes: list[np.ndarray] | None) -> None:
    """Set the classes of all outputs of an estimator; None in regression."""
    if classes is None:
        return
    n_classes = [len(labels) for labels in classes]
    single = len(classes) == 1
    estimator.classes_ = classes[0] if single else classes
    estimator.n_classes_ = n_classes[0] if single else n_classes


def set_directions(estimator: object, tree: GrownTree) -> None:
    """Set the number of directions; refuse oblique tests in other trees."""
    name = type(estimator).__name__
    if hasattr(estimator, "_resolve_directions"):
        estimator.n_directions_ = estimator._resolve_directions(tree.n_features)
    elif len(tree.terms) and not name.startswith("Oblique"):
        raise ValueError(f"the tree of a {name} cannot have oblique tests")


# ------------------------------------------------------------- trees of an ensemble
def save_member_tree(tree: GrownTree) -> dict:
    """Write the parts of a tree that are not common to its ensemble.

    ``nodes`` has, for each column of the nodes, its form and arrays as `store_nodes`
    returns them; there are ``level_branch``, ``surrogates``, ``terms``, ``slopes`` and
    ``bounds`` if not empty.
    """
    stored = dict(tree.compact().stored)
    saved = {"nodes": {"n_children": save_array(stored.pop("n_children"))}}
    for name, (form, *arrays) in stored.items():
        saved["nodes"][name] = [form, *map(save_array, arrays)]
    if len(tree.level_branch):
        saved["level_branch"] = save_array(tree.level_branch)
    for side, dtype in SIDE_DTYPES.items():
        records = getattr(tree, side)
        if len(records):
            saved[side] = {name: save_array(records[name]) for name in dtype.names}
    if len(tree.bounds):
        saved["bounds"] = save_array(tree.bounds)
    return saved


def load_member_tree(saved: dict, name: str, **shared: object):
    """Read a tree, which is checked; `shared` are the parts common to the ensemble."""
    try:
        nodes, statistics = restore_nodes(_load_nodes(saved["nodes"]))
        sides = {}
        if "level_branch" in saved:
            branches = load_array(saved["level_branch"], "level_branch")
            sides["level_branch"] = _cast(branches, np.dtype(np.int32), "level_branch")
        for side in SIDE_DTYPES.keys() & saved.keys():
            sides[side] = _load_records(saved[side], side)
        if "bounds" in saved:
            bounds = load_array(saved["bounds"], "bounds")
            sides["bounds"] = bounds.astype(np.float64)
        tree = RoutedTree(nodes=nodes, statistics=statistics, **shared, **sides)
        check_tree(tree)
    except KeyError as error:
        raise ValueError(f"{name} lacks {error}") from None
    except (ValueError, TypeError, IndexError, OverflowError) as error:
        raise ValueError(f"{name}: {error}") from None
    # Compact like large trees after growth. The arrays of the file are dropped: the
    # checks were those of the tree.
    return tree.compact() if tree.node_count >= COMPACTED_NODES else tree


def count_outputs(saved: object) -> int:
    """Count the outputs of a member's tree by its statistics; 0 if these are wrong."""
    try:
        return load_array(saved["nodes"]["statistics"][1], "statistics").shape[1]
    except (KeyError, IndexError, TypeError):
        return 0


def _load_nodes(saved: object) -> dict:
    """Read the forms of the columns of the nodes, and their arrays."""
    if not isinstance(saved, dict):
        raise ValueError("nodes must be an object")
    n_children = load_array(saved["n_children"], "n_children")
    if n_children.dtype.kind not in "iu" or n_children.ndim != 1 or not len(n_children):
        raise ValueError("n_children must be a non-empty list of integers")
    # Checked before memory of this size is allocated.
    is_possible = n_children.min() >= 0 and n_children.max() < len(n_children)
    if not is_possible or not Shape(n_children).is_sound:
        raise ValueError("n_children must be those of a tree, breadth first")
    stored = {"n_children": n_children}
    for name, entry in saved.items():
        if name == "n_children":
            continue
        is_list = isinstance(entry, list) and 1 <= len(entry) <= 3
        if not is_list or not isinstance(entry[0], str) or entry[0] not in _FORMS:
            raise ValueError(f"{name} must be a list that begins with how it is kept")
        stored[name] = entry[0], *(load_array(part, name) for part in entry[1:])
    return stored


def _load_records(saved: object, side: str) -> np.ndarray:
    dtype = SIDE_DTYPES[side]
    if not isinstance(saved, dict) or saved.keys() != set(dtype.names):
        raise ValueError(f"{side} must have exactly {', '.join(dtype.names)}")
    columns = {name: load_array(saved[name], name) for name in saved}
    records = np.zeros(len(columns["node"]), dtype=dtype)
    for name, column in columns.items():
        if column.shape != records.shape:
            raise ValueError(f"the columns of {side} differ in length")
        records[name] = _cast(column, dtype[name], name)
    return records


def _cast(array: np.ndarray, dtype: np.dtype, name: str) -> np.ndarray:
    """Change the type of an array; refuse numbers that it cannot represent."""
    if dtype.kind == "i" and array.dtype.kind == "f":
        raise ValueError(f"{name} must hold integers")
    with np.errstate(over="ignore"):
        cast = array.astype(dtype)
    if array.ndim != 1 or not np.array_equal(cast, array, equal_nan=dtype.kind == "f"):
        raise ValueError(f"{name} must be a list of {dtype} numbers")
    return cast
