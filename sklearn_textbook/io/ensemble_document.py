"""Conversion of ensembles of trees to dictionaries for JSON, and back.

Members share columns, classes and most parameters, which are written once; for each
member only its tree and its own parameters are written. The other attributes are those
that the class of the ensemble declares (`sklearn_textbook._contract.kept.Kept`), and
are checked against the declarations.
"""

from __future__ import annotations

from copy import copy

import numpy as np

from sklearn_textbook._contract.registry import list_names
from sklearn_textbook.io.kept_values import pack_kept, unpack_kept
from sklearn_textbook.io.packed_arrays import pack_array, unpack_array
from sklearn_textbook.io.packed_trees import count_outputs, pack_tree, unpack_tree
from sklearn_textbook.io.saved_parameters import (
    BY_SKOPS,
    is_of_class,
    list_parameters,
    make_estimator,
    pack_parameters,
    pack_value,
    predicts_classes,
    unpack_parameters,
)
from sklearn_textbook.io.saved_target import (
    is_integer,
    pack_classes,
    read_max_features,
    read_n_missing,
    set_classes,
    set_columns,
    set_tests,
    unpack_classes,
)
from sklearn_textbook.tree.encode import TableSchema

TREES = list_names("tree")


# ------------------------------------------------------------------------- writing
def write_ensemble(estimator):
    """Write the fitted attributes of an ensemble of trees."""
    members, reader = estimator._list_members(), _require_trees(estimator)
    name = type(reader).__name__
    shared = {
        "class": name,
        "parameters": pack_parameters(reader),
        "n_outputs": int(members[0].n_outputs_),
        "max_features": _get_max_features(members[0]),
        "handle_unknown": members[0].tree_.handle_unknown,
    }
    n_missing = np.asarray(reader.n_missing_)
    return {
        "columns": reader.schema_.to_dict(),
        "classes": pack_classes(estimator),
        "n_missing": n_missing.tolist(),
        "member": shared,
        "kept": pack_kept(estimator._kept, estimator._list_kept()),
        "trees": [
            _pack_member(member, columns, shared, n_missing)
            for member, columns in zip(members, estimator._list_columns(), strict=True)
        ],
    }


def _require_trees(estimator):
    """Require members that are trees of one class; return one with the columns."""
    reader, members = estimator._get_reader(), estimator._list_members()
    name = type(members[0] if reader is None else reader).__name__
    if reader is None or name not in TREES or not is_of_class(reader, name):
        raise ValueError(
            f"its members are of class {name}, and only {', '.join(TREES)} can be "
            f"saved; {BY_SKOPS}"
        )
    for number, member in enumerate(members):
        if not is_of_class(member, name):
            raise ValueError(
                f"its members are of several classes, {name} and, as number {number}, "
                f"{type(member).__name__}, but a model file can contain only one"
            )
    return reader


def _pack_member(member, columns, shared, n_missing):
    """Write the tree of a member without the parts common to all members."""
    packed = pack_tree(member.tree_)
    if columns is not None:
        packed["columns"] = pack_array(columns)
        n_missing = n_missing[columns]
    own = {}
    for name, common in shared["parameters"].items():
        value = pack_value(getattr(member, name), name)
        if value != common:
            own[name] = value
    if own:
        packed["parameters"] = own
    if _get_max_features(member) != shared["max_features"]:
        packed["max_features"] = _get_max_features(member)
    if member.tree_.handle_unknown != shared["handle_unknown"]:
        packed["handle_unknown"] = member.tree_.handle_unknown
    if not np.array_equal(member.n_missing_, n_missing):
        packed["n_missing"] = np.asarray(member.n_missing_).tolist()
    return packed


def _get_max_features(member):
    """Return the number of columns tried per node; None if trees grew differently."""
    value = getattr(member, "max_features_", None)
    return None if value is None else int(value)


# ------------------------------------------------------------------------- reading
def fit_ensemble(estimator, document):
    """Set the fitted attributes of an ensemble of trees."""
    template = estimator.get_params(deep=False).get("estimator")
    if template is not None and type(template).__name__ not in TREES:
        raise ValueError(f"estimator must be a tree or null, got {template!r}")
    reader, members, columns = read_members(estimator, document, make_estimator)
    sizes = {"members": len(members), "columns": estimator.n_features_in_}
    sizes["classes"] = getattr(estimator, "n_classes_", None)
    owner = type(estimator).__name__
    kept = unpack_kept(estimator._kept, document["kept"], sizes, owner)
    estimator._restore(reader, members, columns, kept)


def read_members(estimator, document, make):
    """Read the trees of an ensemble, and set its columns and classes.

    Parameters
    ----------
    estimator : object
        The ensemble.
    document : dict
        Dictionary as `write_ensemble` writes it.
    make : callable
        Makes a tree estimator from its name and parameters.

    Returns
    -------
    reader : tree estimator
        Without a tree; all members are copies of it.
    members : list of tree estimator
        The members.
    columns : list of ndarray of int, or None
        The columns of each member; None: all of them.
    """
    schema = TableSchema.from_dict(document["columns"])
    classes = unpack_classes(document["classes"])
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
    reader = _read_reader(
        document, shared, schema, estimator._list_member_classes(classes), make
    )
    known = list_parameters(reader)
    members, columns = [], []
    for number, packed in enumerate(trees):
        of_member = _read_columns(packed, len(schema.columns))
        given = {
            name: shared[name] for name in ("max_features", "handle_unknown")
        } | packed
        member = _read_member(given, f"tree {number}", reader, of_member, known)
        members.append(member)
        columns.append(of_member)
    return reader, members, columns


def _read_reader(document, shared, schema, classes, make):
    """Make the tree estimator that all members are copies of."""
    name, n_outputs = shared["class"], shared["n_outputs"]
    if not isinstance(name, str) or name not in TREES:
        raise ValueError(f"members may be {', '.join(TREES)}, not {name!r}")
    reader = make(name, shared["parameters"])
    set_columns(reader, schema)
    reader.n_missing_ = read_n_missing(document, len(schema.columns))
    if not is_integer(n_outputs) or n_outputs < 1:
        raise ValueError(f"n_outputs must be at least 1, got {n_outputs!r}")
    if predicts_classes(reader):
        if classes is None or len(classes) != n_outputs:
            raise ValueError(f"{name} requires classes of {n_outputs} outputs")
        set_classes(reader, classes)
    reader.n_outputs_ = n_outputs
    return reader


def _read_columns(packed, n_columns):
    """Read the columns of a member; None: all."""
    if not isinstance(packed, dict):
        raise TypeError("trees must be objects")
    if "columns" not in packed:
        return None
    columns = unpack_array(packed["columns"], "columns")
    is_list = columns.ndim == 1 and columns.dtype.kind in "iu" and len(columns)
    if not is_list or columns.min() < 0 or columns.max() >= n_columns:
        raise ValueError(f"columns must be numbers from 0 to {n_columns - 1}")
    return columns.astype(np.intp)


def _read_member(packed, name, reader, columns, known):
    """Make a member: a copy of the reader with its own parameters and tree."""
    member = copy(reader)
    if "parameters" in packed:
        own = unpack_parameters(packed["parameters"], member, known)
        vars(member).update(own)
    if columns is not None:
        member.n_missing_ = reader.n_missing_[columns]
        set_columns(member, reader.schema_.take_columns(columns))
    n_features = member.n_features_in_
    if "n_missing" in packed:
        member.n_missing_ = read_n_missing(packed, n_features)
    if packed["max_features"] is not None:
        member.max_features_ = read_max_features(packed, n_features)
    is_classifier = hasattr(reader, "classes_")
    n_classes = [1] * reader.n_outputs_
    if is_classifier:
        n_classes = np.atleast_1d(reader.n_classes_)
    member.tree_ = unpack_tree(
        packed,
        name,
        n_features=n_features,
        n_levels=member.schema_.n_levels,
        n_classes=np.array(n_classes, dtype=np.int64),
        is_classifier=is_classifier,
        handle_unknown=packed["handle_unknown"],
    )
    set_tests(member, member.tree_)
    return member
