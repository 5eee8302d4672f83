"""A fitted estimator as a dictionary that JSON can hold, and back.

Reading takes nothing for granted: the class is one of a fixed list, every index of
tree and rules is checked, and nothing in the dictionary is looked up, imported or
evaluated. All that is wrong is a ValueError, TypeError or KeyError; `model_file` words
it.
"""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from importlib import import_module

import numpy as np

from sklearn_textbook import __version__
from sklearn_textbook.io.naming import explain_unknown_name
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.route import RoutedTree
from sklearn_textbook.tree.rules import RuleList

#: What the "format" entry of a model file says.
FORMAT_NAME = "sklearn-textbook model"
#: Raised whenever an entry changes its meaning or its place.
SCHEMA_VERSION = 1

# The classes that a model file may name, and where they are. Nothing else is built.
_TREES = "sklearn_textbook.tree"
ESTIMATORS = {
    "CARTClassifier": _TREES,
    "CARTRegressor": _TREES,
    "ID3Classifier": _TREES,
    "C45Classifier": _TREES,
    "C45RulesClassifier": _TREES,
}
# Those that are made of a tree, and the class of the tree, which is kept with them.
_MADE_OF = {"C45RulesClassifier": "C45Classifier"}
# The classes of objects that a parameter may be.
PARTS = dict.fromkeys(
    (
        "CostComplexityPruning",
        "ErrorBasedPruning",
        "LossPruning",
        "OutOfBagPruning",
        "PrePruning",
        "ReducedErrorPruning",
    ),
    _TREES,
)

# What belongs to the machine, not to the model: a file may not ask for threads.
_NOT_SAVED = ("n_jobs",)
_CLASS_DTYPES = {"bool": bool, "int64": np.int64, "float64": np.float64, "str": str}
_SPECIAL_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


@dataclass
class SavedModel:
    """What a model file holds.

    Parameters
    ----------
    estimator : estimator
        The fitted estimator.
    target : str or None
        Name of the column that it predicts.
    table : dict
        What the writer noted about the training table; JSON values.

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


# ------------------------------------------------------------------- writing
def find_class(name):
    """Give a class that a model file may name."""
    return getattr(import_module({**ESTIMATORS, **PARTS}[name]), name)


def write_document(estimator, target, table):
    """Write a fitted estimator as a dictionary."""
    name = type(estimator).__name__
    tree, rules = estimator, {}
    if name in _MADE_OF:
        tree = estimator.tree_estimator_
        rules = {
            "tree_parameters": _pack_parameters(tree),
            "rules": estimator.rule_list_.to_dict(),
        }
    return {
        "format": FORMAT_NAME,
        "schema_version": SCHEMA_VERSION,
        "written_by": f"sklearn-textbook {__version__}",
        "estimator": name,
        "parameters": _pack_parameters(estimator),
        "target": target,
        "table": table or {},
        "columns": tree.schema_.to_dict(),
        "classes": _pack_all_classes(tree),
        "max_features": int(tree.max_features_),
        "n_missing": np.asarray(tree.n_missing_).tolist(),
        "tree": tree.tree_.to_dict(),
        **rules,
    }


def _pack_parameters(estimator):
    return {
        name: _pack_parameter(value, name)
        for name, value in sorted(estimator.get_params(deep=False).items())
        if name not in _NOT_SAVED
    }


def _pack_parameter(value, name):
    """Turn the value of a parameter into JSON that tells it apart from all others."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, numbers.Integral):
        return int(value)
    if isinstance(value, numbers.Real):
        value = float(value)
        return value if math.isfinite(value) else {"number": repr(value)}
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, list | tuple):
        return [_pack_parameter(item, name) for item in value]
    if isinstance(value, dict):
        # As pairs: the keys of a JSON object are always text, class labels are not.
        pairs = [[key, item] for key, item in value.items()]
        return {"mapping": _pack_parameter(pairs, name)}
    part = type(value).__name__
    if part in PARTS and type(value) is find_class(part):
        return {"part": part, "parameters": _pack_parameters(value)}
    remedy = ""
    if name == "random_state":
        remedy = "; give random_state an integer or None before saving"
    raise ValueError(
        f"parameter {name} is a {type(value).__name__}, which a model file cannot "
        f"hold{remedy}"
    )


def _pack_all_classes(estimator):
    if not estimator.tree_.is_classifier:
        return None
    classes = estimator.classes_
    if estimator.n_outputs_ == 1:
        classes = [classes]
    return [_pack_classes(np.asarray(labels)) for labels in classes]


def _pack_classes(labels):
    values = labels.tolist()
    dtype = {"b": "bool", "i": "int64", "u": "int64", "f": "float64", "U": "str"}.get(
        labels.dtype.kind
    )
    if dtype is None:
        # Objects, and texts of a type of their own: told by what they hold.
        if not all(isinstance(value, str | bool | int | float) for value in values):
            kinds = sorted({type(value).__name__ for value in values})
            raise ValueError(
                f"class labels of type {', '.join(kinds)} cannot be saved; use text, "
                "numbers or booleans"
            )
        dtype = "object"
    return {"dtype": dtype, "values": values}


# ------------------------------------------------------------------- reading
def read_document(document):
    """Read a SavedModel from what `write_document` wrote."""
    name = document["estimator"]
    if not isinstance(name, str) or name not in ESTIMATORS:
        known = ", ".join(ESTIMATORS)
        raise ValueError(f"unknown estimator {name!r}; known are {known}")
    estimator = _make_estimator(name, document["parameters"])
    if name in _MADE_OF:
        tree = _make_estimator(_MADE_OF[name], document["tree_parameters"])
        _fit_tree(tree, document)
        _fit_rules(estimator, tree, document["rules"])
    else:
        _fit_tree(estimator, document)
    target, table = document["target"], document["table"]
    if not (target is None or isinstance(target, str)) or not isinstance(table, dict):
        raise ValueError("target must be text or null, table an object")
    return SavedModel(estimator, target, table)


def _make_estimator(name, parameters):
    estimator = find_class(name)()
    return estimator.set_params(**_unpack_parameters(parameters, estimator))


def _fit_tree(estimator, document):
    """Give a tree estimator what `fit` sets."""
    schema = TableSchema.from_dict(document["columns"])
    tree = GrownTree.from_dict(document["tree"])
    classes = _unpack_all_classes(document["classes"])
    _require_match(estimator, schema, tree, classes)
    estimator.tree_ = RoutedTree.from_grown(tree)
    _set_columns(estimator, schema)
    estimator.n_outputs_ = tree.n_outputs
    estimator.max_features_ = _require_max_features(document, tree)
    estimator.n_missing_ = _require_n_missing(document, tree)
    if classes is not None:
        n_classes = [len(labels) for labels in classes]
        single = tree.n_outputs == 1
        estimator.classes_ = classes[0] if single else classes
        estimator.n_classes_ = n_classes[0] if single else n_classes


def _fit_rules(estimator, tree_estimator, rules):
    """Give a list of rules what `fit` sets."""
    rule_list = RuleList.from_dict(rules, tree_estimator.tree_)
    estimator.tree_estimator_ = tree_estimator
    estimator.rule_list_ = rule_list
    _set_columns(estimator, tree_estimator.schema_)
    estimator.classes_ = tree_estimator.classes_
    estimator.n_rules_ = len(rule_list)
    estimator.default_class_ = estimator.classes_[rule_list.rule_class[-1]]


def _set_columns(estimator, schema):
    estimator.schema_ = schema
    estimator.n_features_in_ = len(schema.columns)
    if schema.has_names:
        estimator.feature_names_in_ = np.asarray(schema.names, dtype=object)


def _require_max_features(document, tree):
    value = document["max_features"]
    if not is_integer(value) or not 1 <= value <= tree.n_features:
        raise ValueError(
            f"max_features must be from 1 to {tree.n_features}, got {value!r}"
        )
    return value


def _require_n_missing(document, tree):
    counts = document["n_missing"]
    if not isinstance(counts, list) or len(counts) != tree.n_features:
        raise ValueError(f"n_missing must be a list of {tree.n_features} counts")
    if not all(is_integer(count) and count >= 0 for count in counts):
        raise ValueError("n_missing must hold integers that are not negative")
    return np.asarray(counts, dtype=np.int64)


def is_integer(value):
    """Tell integers from booleans, which Python counts among them."""
    return isinstance(value, int) and not isinstance(value, bool)


def _require_match(estimator, schema, tree, classes):
    """Refuse a file whose parts do not belong together."""
    if len(schema.columns) != tree.n_features:
        raise ValueError(
            f"{len(schema.columns)} columns, but the tree has {tree.n_features}"
        )
    if not np.array_equal(schema.n_levels, tree.n_levels):
        raise ValueError("the levels of the columns are not those of the tree")
    is_classifier = hasattr(type(estimator), "predict_proba")
    if tree.is_classifier != is_classifier or (classes is not None) != is_classifier:
        raise ValueError(
            f"the tree and the classes do not belong to a {type(estimator).__name__}"
        )
    if classes is not None:
        n_classes = [len(labels) for labels in classes]
        if n_classes != np.asarray(tree.n_classes).tolist():
            raise ValueError(
                f"{n_classes} classes, but the tree has {tree.n_classes.tolist()}"
            )


def _unpack_parameters(packed, estimator):
    if not isinstance(packed, dict):
        raise TypeError("parameters must be an object")
    known = [n for n in estimator.get_params(deep=False) if n not in _NOT_SAVED]
    for name in packed:
        if name not in known:
            raise ValueError(
                f"{type(estimator).__name__} has no parameter {name!r}; "
                f"{explain_unknown_name(name, known)}"
            )
    return {name: _unpack_parameter(value) for name, value in packed.items()}


def _unpack_parameter(value):
    if isinstance(value, list):
        return [_unpack_parameter(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"number"}:
            return _SPECIAL_NUMBERS[value["number"]]
        if set(value) == {"mapping"}:
            return dict(_unpack_parameter(value["mapping"]))
        if set(value) == {"part", "parameters"} and value["part"] in PARTS:
            part = find_class(value["part"])()
            return part.set_params(**_unpack_parameters(value["parameters"], part))
        raise ValueError(f"unknown form of a parameter: {sorted(value)}")
    return value


def _unpack_all_classes(packed):
    if packed is None:
        return None
    if not isinstance(packed, list) or not packed:
        raise TypeError("classes must be a list with one entry per output, or null")
    return [_unpack_classes(entry) for entry in packed]


def _unpack_classes(entry):
    values, dtype = entry["values"], entry["dtype"]
    if not isinstance(values, list) or not values:
        raise TypeError("the values of the classes must be a list that is not empty")
    if dtype == "object":
        if not all(isinstance(value, str | bool | int | float) for value in values):
            raise TypeError("class labels must be text, numbers or booleans")
        labels = np.empty(len(values), dtype=object)
        labels[:] = values
        return labels
    if dtype not in _CLASS_DTYPES:
        raise ValueError(f"unknown dtype {dtype!r} of the classes")
    plain = {"bool": bool, "int64": int, "float64": float, "str": str}[dtype]
    if not all(type(value) is plain for value in values):
        raise TypeError(f"class labels of dtype {dtype} must all be {plain.__name__}")
    return np.asarray(values, dtype=_CLASS_DTYPES[dtype])
