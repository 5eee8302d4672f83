"""A fitted estimator as a dictionary for JSON, and back.

Reading does not trust the dictionary: the class is one of a fixed list, every index of
tree and rules is checked, and nothing is looked up by name, imported or evaluated. All
errors are a ValueError, TypeError or KeyError, from which `model_file` makes messages.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from sklearn_textbook import __version__
from sklearn_textbook._contract.costs import get_costs
from sklearn_textbook._contract.registry import ESTIMATORS, find_class, list_estimators
from sklearn_textbook.io.saved_ensemble import load_ensemble, save_ensemble
from sklearn_textbook.io.saved_tree import load_rules, load_tree, save_tree
from sklearn_textbook.io.saved_values import (
    BY_SKOPS,
    is_of_class,
    load_declared,
    load_parameters,
    load_single_classes,
    make_estimator,
    save_classes,
    save_declared,
    save_parameters,
)
from sklearn_textbook.tree.encode import TableSchema

#: Value of the "format" entry of a model file.
FORMAT_NAME = "sklearn-textbook model"
#: Incremented whenever an entry changes its meaning or its place.
SCHEMA_VERSION = 1


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
    def schema(self) -> Any:
        """The columns of the training table, as a TableSchema."""
        saved = ESTIMATORS[type(self.estimator).__name__].saved
        if saved in ("tree", "rules"):
            return self.estimator.schema_
        reader = None if saved == "values" else self.estimator._get_reader()
        if reader is not None:
            return SavedModel(reader).schema
        from sklearn_textbook.io.saved_attributes import describe_columns

        return describe_columns(self.estimator)


# ------------------------------------------------------------------------- writing
def save_document(estimator: object, target: str | None, table: dict | None) -> dict:
    """Write a fitted estimator, the name of its target, and notes on its table."""
    saved, parameters = _find_way(estimator), None
    if saved == "members":
        fitted = _save_members(estimator)
    elif saved == "values":
        from sklearn_textbook.io.saved_attributes import save_attributes

        parameters = save_parameters(estimator)  # first, to refuse what has no JSON
        fitted = save_attributes(estimator)
    else:
        fitted = (save_ensemble if saved == "trees" else save_tree)(estimator)
    document = {
        "format": FORMAT_NAME,
        "schema_version": SCHEMA_VERSION,
        "written_by": f"sklearn-textbook {__version__}",
        "estimator": type(estimator).__name__,
        "parameters": parameters or save_parameters(estimator),
        "target": target,
        "table": table or {},
        **fitted,
    }
    if saved in ("members", "values"):
        load_document(document)  # to refuse a model that could not be read
    return document


def _find_way(estimator: object) -> str:
    """Find how a fitted estimator is saved."""
    saved = ESTIMATORS[type(estimator).__name__].saved
    if saved == "either":
        return "values" if estimator._averages_subsets else "members"
    return saved


def _save_members(estimator: object) -> dict:
    """Write an ensemble of estimators of any kind, each of them as a model file."""
    fitted = {
        "classes": save_classes(estimator),
        "kept": save_declared(estimator._saved_fields, estimator._list_saved()),
        "members": [
            {"name": name, "model": _save_member(name, member)}
            for name, member in estimator._list_parts()
        ],
    }
    return {"columns": SavedModel(estimator).schema.to_dict(), **fitted}


def _save_member(name: str, member: object) -> dict | None:
    """Write one member; None for one that was dropped."""
    if member is None:
        return None
    kind = type(member).__name__
    if kind not in ESTIMATORS or not is_of_class(member, kind):
        raise ValueError(
            f"its member {name!r} is a {kind}, which a model file cannot contain; "
            f"{BY_SKOPS}"
        )
    try:
        return save_document(member, None, {})
    except (TypeError, ValueError) as error:
        raise type(error)(f"its member {name!r}: {error}") from None


# ------------------------------------------------------------------------- reading
def load_document(
    document: dict,
    make: Callable = make_estimator,
    load_trees: Callable = load_ensemble,
) -> SavedModel:
    """Read a dictionary of `save_document`.

    `make` makes an estimator, or an object in its place, from a name and parameters;
    `load_trees` sets the trees of an ensemble in such an object.
    """
    name = document["estimator"]
    if not isinstance(name, str) or name not in ESTIMATORS:
        known = ", ".join(list_estimators())
        raise ValueError(f"unknown estimator {name!r}; known are {known}")
    saved = ESTIMATORS[name].saved
    if saved == "either":
        saved = "members" if "members" in document else "values"
    if saved == "members":
        model = SavedModel(_load_members(document), *_load_notes(document))
        if TableSchema.from_dict(document["columns"]) != model.schema:
            raise ValueError("the columns do not match those of the members")
        return model
    estimator = make(name, document["parameters"])
    if saved == "trees":
        load_trees(estimator, document)
    elif saved == "rules":
        load_rules(estimator, document, make)
    elif saved == "tree":
        load_tree(estimator, document)
    else:
        from sklearn_textbook.io.saved_attributes import load_attributes

        load_attributes(estimator, document)
    if hasattr(estimator, "classes_"):
        get_costs(estimator)  # raises ValueError for costs that do not fit the classes
    return SavedModel(estimator, *_load_notes(document))


def _load_notes(document: dict) -> tuple[str | None, dict]:
    """Read the name of the target, and the notes on the table."""
    target, table = document["target"], document["table"]
    if not (target is None or isinstance(target, str)) or not isinstance(table, dict):
        raise ValueError("target must be text or null, table an object")
    return target, table


def _load_members(document: dict) -> object:
    """Read an ensemble of estimators of any kind."""
    name, members = document["estimator"], document["members"]
    kind = find_class(name)
    estimator = kind([]) if "estimators" in kind._member_parameters else kind()
    estimator.set_params(**load_parameters(document["parameters"], estimator))
    if not isinstance(members, list) or not members:
        raise TypeError("members must be a non-empty list")
    parts = [_load_member(member) for member in members]
    classes = load_single_classes(document["classes"], estimator)
    if classes is not None:
        estimator.classes_ = classes
    kept = load_declared(estimator._saved_fields, document["kept"], {}, name)
    try:
        estimator._restore(parts, kept)
    except NotImplementedError as error:
        raise ValueError(str(error)) from None
    return estimator


def _load_member(saved: dict) -> tuple[str, object]:
    """Read the name of a member and the member; None for one that was dropped."""
    name, model = saved["name"], saved["model"]
    if not isinstance(name, str):
        raise TypeError("names of members must be text")
    if model is None:
        return name, None
    return name, load_document(model).estimator
