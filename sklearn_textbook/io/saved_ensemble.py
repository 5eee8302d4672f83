"""Ensembles of trees as JSON, and back.

Members share columns, classes and most parameters, which are written once; for each
member only its tree and its own parameters are written. The other attributes are those
that the class of the ensemble declares (`sklearn_textbook._contract.saved_field`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy

import numpy as np

from sklearn_textbook._contract.registry import list_estimators
from sklearn_textbook.io.saved_arrays import load_array, save_array
from sklearn_textbook.io.saved_tree import (
    count_outputs,
    load_max_features,
    load_member_tree,
    load_n_missing,
    save_member_tree,
    set_classes,
    set_directions,
)
from sklearn_textbook.io.saved_values import (
    BY_SKOPS,
    is_integer,
    is_of_class,
    list_parameters,
    load_classes,
    load_declared,
    load_parameters,
    make_estimator,
    predicts_classes,
    save_classes,
    save_declared,
    save_parameters,
    save_value,
    set_columns,
)
from sklearn_textbook.tree.encode import TableSchema

_TREES = list_estimators("tree")


def save_ensemble(estimator: object) -> dict:
    """Write the fitted attributes of an ensemble of trees."""
    members, reader = estimator._list_members(), _require_trees(estimator)
    shared = {
        "class": type(reader).__name__,
        "parameters": save_parameters(reader),
        "n_outputs": int(members[0].n_outputs_),
        "max_features": _get_max_features(members[0]),
        "handle_unknown": members[0].tree_.handle_unknown,
    }
    n_missing = np.asarray(reader.n_missing_)
    return {
        "columns": reader.schema_.to_dict(),
        "classes": save_classes(estimator),
        "n_missing": n_missing.tolist(),
        "member": shared,
        "kept": save_declared(estimator._saved_fields, estimator._list_saved()),
        "trees": [
            _save_member(member, columns, shared, n_missing)
            for member, columns in zip(members, estimator._list_columns(), strict=True)
        ],
    }


def _require_trees(estimator: object) -> object:
    """Require members that are trees of one class; return one with the columns."""
    reader, members = estimator._get_reader(), estimator._list_members()
    name = type(members[0] if reader is None else reader).__name__
    if reader is None or name not in _TREES or not is_of_class(reader, name):
        raise ValueError(
            f"its members are of class {name}, and only {', '.join(_TREES)} can be "
            f"saved; {BY_SKOPS}"
        )
    for number, member in enumerate(members):
        if not is_of_class(member, name):
            raise ValueError(
                f"its members are of several classes, {name} and, as number {number}, "
                f"{type(member).__name__}, but a model file can contain only one"
            )
    return reader


def _save_member(
    member: object, columns: np.ndarray | None, shared: dict, n_missing: np.ndarray
) -> dict:
    """Write the tree of a member, and in what it differs from the others."""
    saved = save_member_tree(member.tree_)
    if columns is not None:
        saved["columns"] = save_array(columns)
        n_missing = n_missing[columns]
    own = {}
    for name, common in shared["parameters"].items():
        value = save_value(getattr(member, name), name)
        if value != common:
            own[name] = value
    if own:
        saved["parameters"] = own
    if _get_max_features(member) != shared["max_features"]:
        saved["max_features"] = _get_max_features(member)
    if member.tree_.handle_unknown != shared["handle_unknown"]:
        saved["handle_unknown"] = member.tree_.handle_unknown
    if not np.array_equal(member.n_missing_, n_missing):
        saved["n_missing"] = np.asarray(member.n_missing_).tolist()
    return saved


def _get_max_features(member: object) -> int | None:
    """Return the number of columns tried per node; None if trees grew differently."""
    value = getattr(member, "max_features_", None)
    return None if value is None else int(value)


def load_ensemble(estimator: object, document: dict) -> None:
    """Set the fitted attributes of an ensemble of trees."""
    template = estimator.get_params(deep=False).get("estimator")
    if template is not None and type(template).__name__ not in _TREES:
        raise ValueError(f"estimator must be a tree or null, got {template!r}")
    reader, members, columns = load_members(estimator, document, make_estimator)
    sizes = {"members": len(members), "columns": estimator.n_features_in_}
    sizes["classes"] = getattr(estimator, "n_classes_", None)
    owner = type(estimator).__name__
    kept = load_declared(estimator._saved_fields, document["kept"], sizes, owner)
    estimator._restore(reader, members, columns, kept)


def load_members(
    estimator: object, document: dict, make: Callable
) -> tuple[object, list, list]:
    """Read the trees of an ensemble, and set its columns and classes.

    `make` makes a tree estimator from its name and parameters. Returned are one without
    a tree, its copies with trees, and the columns of each, None if it has all.
    """
    schema = TableSchema.from_dict(document["columns"])
    classes = load_classes(document["classes"])
    if (classes is not None) != predicts_classes(estimator):
        raise ValueError(f"the classes do not match a {type(estimator).__name__}")
    shared, trees = document["member"], document["trees"]
    if not isinstance(trees, list) or not trees:
        raise TypeError("trees must be a non-empty list")
    set_columns(estimator, schema)
    del estimator.schema_
    set_classes(estimator, classes)
    # Checked before memory is allocated for as many outputs as the file has.
    if shared["n_outputs"] != count_outputs(trees[0]):
        raise ValueError("n_outputs does not match tree 0")
    reader = _load_reader(
        document, shared, schema, estimator._list_member_classes(classes), make
    )
    known = list_parameters(reader)
    members, columns = [], []
    for number, saved in enumerate(trees):
        of_member = _load_columns(saved, len(schema.columns))
        given = {
            name: shared[name] for name in ("max_features", "handle_unknown")
        } | saved
        member = _load_member(given, f"tree {number}", reader, of_member, known)
        members.append(member)
        columns.append(of_member)
    return reader, members, columns


def _load_reader(
    document: dict,
    shared: dict,
    schema: TableSchema,
    classes: list | None,
    make: Callable,
) -> object:
    """Make the tree estimator that all members are copies of."""
    name, n_outputs = shared["class"], shared["n_outputs"]
    if not isinstance(name, str) or name not in _TREES:
        raise ValueError(f"members may be {', '.join(_TREES)}, not {name!r}")
    reader = make(name, shared["parameters"])
    set_columns(reader, schema)
    reader.n_missing_ = load_n_missing(document, len(schema.columns))
    if not is_integer(n_outputs) or n_outputs < 1:
        raise ValueError(f"n_outputs must be at least 1, got {n_outputs!r}")
    if predicts_classes(reader):
        if classes is None or len(classes) != n_outputs:
            raise ValueError(f"{name} requires classes of {n_outputs} outputs")
        set_classes(reader, classes)
    reader.n_outputs_ = n_outputs
    return reader


def _load_columns(saved: object, n_columns: int) -> np.ndarray | None:
    """Read the columns of a member; None: all."""
    if not isinstance(saved, dict):
        raise TypeError("trees must be objects")
    if "columns" not in saved:
        return None
    columns = load_array(saved["columns"], "columns")
    is_list = columns.ndim == 1 and columns.dtype.kind in "iu" and len(columns)
    if not is_list or columns.min() < 0 or columns.max() >= n_columns:
        raise ValueError(f"columns must be numbers from 0 to {n_columns - 1}")
    return columns.astype(np.intp)


def _load_member(
    saved: dict,
    name: str,
    reader: object,
    columns: np.ndarray | None,
    known: Iterable[str],
) -> object:
    """Make a member: a copy of the reader with its own parameters and tree."""
    member = copy(reader)
    if "parameters" in saved:
        own = load_parameters(saved["parameters"], member, known)
        vars(member).update(own)
    if columns is not None:
        member.n_missing_ = reader.n_missing_[columns]
        set_columns(member, reader.schema_.take_columns(columns))
    n_features = member.n_features_in_
    if "n_missing" in saved:
        member.n_missing_ = load_n_missing(saved, n_features)
    if saved["max_features"] is not None:
        member.max_features_ = load_max_features(saved, n_features)
    is_classifier = hasattr(reader, "classes_")
    n_classes = [1] * reader.n_outputs_
    if is_classifier:
        n_classes = np.atleast_1d(reader.n_classes_)
    member.tree_ = load_member_tree(
        saved,
        name,
        n_features=n_features,
        n_levels=member.schema_.n_levels,
        n_classes=np.array(n_classes, dtype=np.int64),
        is_classifier=is_classifier,
        handle_unknown=saved["handle_unknown"],
    )
    set_directions(member, member.tree_)
    return member
