"""A fitted estimator as a dictionary for JSON, and back.

Reading does not trust the dictionary: the class is one of a fixed list, every index of
tree and rules is checked, and nothing is looked up by name, imported or evaluated. All
errors are a ValueError, TypeError or KeyError, from which `model_file` makes messages.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from sklearn_textbook import __version__
from sklearn_textbook._contract.registry import ESTIMATORS, list_names
from sklearn_textbook.io.ensemble_document import fit_ensemble, write_ensemble
from sklearn_textbook.io.packed_arrays import pack_floats, unpack_array
from sklearn_textbook.io.saved_parameters import (
    make_estimator,
    pack_parameters,
    predicts_classes,
)
from sklearn_textbook.io.saved_target import (
    pack_classes,
    read_max_features,
    read_n_missing,
    set_classes,
    set_columns,
    set_tests,
    unpack_classes,
)
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.explain.listed_rules import collect_listed_rules
from sklearn_textbook.tree.explain.neighbours import (
    join_neighbours,
    list_thresholds,
    look_up_neighbours,
)
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.route import RoutedTree
from sklearn_textbook.tree.rules import RuleList

#: Value of the "format" entry of a model file.
FORMAT_NAME = "sklearn-textbook model"
#: Incremented whenever an entry changes its meaning or its place.
SCHEMA_VERSION = 1

# Imported when needed, since they import all their classes.
_FITTED_DOCUMENT = "sklearn_textbook.io.fitted_document"
_COMPOSED_DOCUMENT = "sklearn_textbook.io.composed_document"


@dataclass
class SavedModel:
    """Content of a model file.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator.
    target : str or None
        Name of the column predicted by the estimator.
    table : dict
        Notes of the writer on the training table, as JSON values.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_textbook.io import read_model, save_model
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> tree = CARTRegressor().fit([[1.0], [2.0]], [10.0, 20.0])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "price.json")
    >>> save_model(tree, path, target="price")
    >>> read_model(path)
    SavedModel(estimator=CARTRegressor(), target='price', table={})
    """

    estimator: object
    target: str | None = None
    table: dict = field(default_factory=dict)

    @property
    def schema(self):
        """The columns of the training table, as a TableSchema."""
        saved = ESTIMATORS[type(self.estimator).__name__].saved
        if saved in ("tree", "rules"):
            return self.estimator.schema_
        reader = None if saved == "values" else self.estimator._get_reader()
        if reader is not None:
            return SavedModel(reader).schema
        return import_module(_FITTED_DOCUMENT).describe_columns(self.estimator)


def find_way(estimator: object) -> str:
    """Find how a fitted estimator is saved."""
    saved = ESTIMATORS[type(estimator).__name__].saved
    if saved == "either":
        return "values" if estimator._averages_subsets else "members"
    return saved


# ------------------------------------------------------------------- writing
def write_document(estimator, target, table):
    """Write a fitted estimator as a dictionary."""
    saved, parameters = find_way(estimator), None
    if saved == "members":
        write_composed = import_module(_COMPOSED_DOCUMENT).write_composed
        fitted = write_composed(estimator, write_document)
        fitted = {"columns": SavedModel(estimator).schema.to_dict(), **fitted}
    elif saved == "values":
        parameters = pack_parameters(estimator)  # first, to refuse what has no JSON
        fitted = import_module(_FITTED_DOCUMENT).write_fitted(estimator)
    else:
        fitted = (write_ensemble if saved == "trees" else _write_tree)(estimator)
    document = {
        "format": FORMAT_NAME,
        "schema_version": SCHEMA_VERSION,
        "written_by": f"sklearn-textbook {__version__}",
        "estimator": type(estimator).__name__,
        "parameters": parameters or pack_parameters(estimator),
        "target": target,
        "table": table or {},
        **fitted,
    }
    if saved in ("members", "values"):
        read_document(document)  # to refuse a model that could not be read
    return document


def _write_tree(estimator):
    """Write a tree, or a list of rules and its tree."""
    tree, rules = estimator, {}
    if hasattr(estimator, "tree_estimator_"):
        tree = estimator.tree_estimator_
        rules = {
            "tree_parameters": pack_parameters(tree),
            "rules": estimator.rule_list_.to_dict(),
        }
    return {
        "columns": tree.schema_.to_dict(),
        "classes": pack_classes(tree),
        "max_features": int(tree.max_features_),
        "n_missing": np.asarray(tree.n_missing_).tolist(),
        "tree": tree.tree_.to_dict(),
        **_write_neighbours(tree),
        **rules,
    }


def _write_neighbours(estimator):
    """Write the training values next to the thresholds of a tree, if known."""
    known, sides = getattr(estimator, "_neighbours", None), [np.empty((2, 0))]
    if known is None:
        return {}
    sides += [
        look_up_neighbours(known, column, thresholds)
        for column, thresholds in list_thresholds(estimator.tree_).items()
    ]
    return {"neighbours": pack_floats(np.concatenate(sides, axis=1))}


# ------------------------------------------------------------------- reading
def read_document(document, make=make_estimator, fit_members=fit_ensemble):
    """Read a SavedModel from a dictionary of `write_document`.

    Parameters
    ----------
    document : dict
        The dictionary.
    make : callable, default=make_estimator
        Makes an estimator, or an object in its place, from a name and parameters.
    fit_members : callable, default=fit_ensemble
        Sets the trees of an ensemble in such an object.

    Returns
    -------
    model : SavedModel
        The model.
    """
    name = document["estimator"]
    if not isinstance(name, str) or name not in ESTIMATORS:
        known = ", ".join(list_names())
        raise ValueError(f"unknown estimator {name!r}; known are {known}")
    saved = ESTIMATORS[name].saved
    if saved == "either":
        saved = "members" if "members" in document else "values"
    if saved == "members":
        read_composed = import_module(_COMPOSED_DOCUMENT).read_composed
        estimator = read_composed(document, read_document)
        model = SavedModel(estimator, *_read_notes(document))
        if TableSchema.from_dict(document["columns"]) != model.schema:
            raise ValueError("the columns do not match those of the members")
        return model
    estimator = make(name, document["parameters"])
    if saved == "trees":
        fit_members(estimator, document)
    elif saved == "values":
        import_module(_FITTED_DOCUMENT).fit_model(estimator, document)
    elif saved == "rules":
        tree = make(ESTIMATORS[name].made_of, document["tree_parameters"])
        _fit_tree(tree, document)
        _fit_rules(estimator, tree, document["rules"])
    else:
        _fit_tree(estimator, document)
    return SavedModel(estimator, *_read_notes(document))


def _read_notes(document):
    """Read the name of the target, and the notes on the table."""
    target, table = document["target"], document["table"]
    if not (target is None or isinstance(target, str)) or not isinstance(table, dict):
        raise ValueError("target must be text or null, table an object")
    return target, table


def _fit_tree(estimator, document):
    """Set the fitted attributes of a tree estimator."""
    schema = TableSchema.from_dict(document["columns"])
    tree = GrownTree.from_dict(document["tree"])
    classes = unpack_classes(document["classes"])
    _require_match(estimator, schema, tree, classes)
    estimator.tree_ = RoutedTree.from_grown(tree)
    set_columns(estimator, schema)
    set_tests(estimator, tree)
    estimator.n_outputs_ = tree.n_outputs
    estimator.max_features_ = read_max_features(document, tree.n_features)
    estimator.n_missing_ = read_n_missing(document, tree.n_features)
    set_classes(estimator, classes)
    if "neighbours" in document:
        sides = unpack_array(document["neighbours"], "neighbours")
        columns = list_thresholds(tree)
        n_thresholds = sum(map(len, columns.values()))
        if sides.shape != (2, n_thresholds):
            raise ValueError(
                f"neighbours must have shape (2, {n_thresholds}), got {sides.shape}"
            )
        estimator._neighbours = join_neighbours(columns, sides)


def _fit_rules(estimator, tree_estimator, rules):
    """Set the fitted attributes of a list of rules."""
    rule_list = RuleList.from_dict(rules, tree_estimator.tree_)
    collect_listed_rules(rule_list)  # whose conditions must not exclude each other
    estimator.tree_estimator_ = tree_estimator
    estimator.rule_list_ = rule_list
    set_columns(estimator, tree_estimator.schema_)
    estimator.classes_ = tree_estimator.classes_
    estimator.n_rules_ = len(rule_list)
    estimator.default_class_ = estimator.classes_[rule_list.rule_class[-1]]


def _require_match(estimator, schema, tree, classes):
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
