"""Class labels and columns of a model as JSON, and back."""

from __future__ import annotations

import numpy as np

_CLASS_DTYPES = {"bool": bool, "int64": np.int64, "float64": np.float64, "str": str}


def is_integer(value):
    """Return whether a value is an integer but not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def set_columns(estimator, schema):
    """Set the columns of an estimator."""
    estimator.schema_ = schema
    estimator.n_features_in_ = len(schema.columns)
    if schema.has_names:
        estimator.feature_names_in_ = np.asarray(schema.names, dtype=object)


def read_n_missing(document, n_columns):
    """Read the numbers of missing values of the columns."""
    counts = document["n_missing"]
    if not isinstance(counts, list) or len(counts) != n_columns:
        raise ValueError(f"n_missing must be a list of {n_columns} counts")
    if not all(is_integer(count) and count >= 0 for count in counts):
        raise ValueError("n_missing must hold non-negative integers")
    return np.asarray(counts, dtype=np.int64)


def read_max_features(fields, n_columns):
    """Read the number of columns tried per node."""
    value = fields["max_features"]
    if not is_integer(value) or not 1 <= value <= n_columns:
        raise ValueError(f"max_features must be from 1 to {n_columns}, got {value!r}")
    return value


def set_classes(estimator, classes):
    """Set the classes of all outputs of an estimator; None in regression."""
    if classes is None:
        return
    n_classes = [len(labels) for labels in classes]
    single = len(classes) == 1
    estimator.classes_ = classes[0] if single else classes
    estimator.n_classes_ = n_classes[0] if single else n_classes


def pack_classes(estimator):
    """Write the class labels of every output; None for a regressor."""
    if not hasattr(estimator, "classes_"):
        return None
    classes = estimator.classes_
    if not isinstance(classes, list):
        classes = [classes]
    return [_pack_labels(np.asarray(labels)) for labels in classes]


def _pack_labels(labels):
    values = labels.tolist()
    dtype = {"b": "bool", "i": "int64", "u": "int64", "f": "float64", "U": "str"}.get(
        labels.dtype.kind
    )
    if dtype is None:
        # Objects, and string types of libraries: the type is that of the contents.
        if not all(isinstance(value, str | bool | int | float) for value in values):
            kinds = sorted({type(value).__name__ for value in values})
            raise ValueError(
                f"class labels of type {', '.join(kinds)} cannot be saved; use text, "
                "numbers or booleans"
            )
        dtype = "object"
    return {"dtype": dtype, "values": values}


def unpack_classes(packed):
    """Read the class labels of every output; None for a regressor."""
    if packed is None:
        return None
    if not isinstance(packed, list) or not packed:
        raise TypeError("classes must be a list with one entry per output, or null")
    return [_unpack_labels(entry) for entry in packed]


def _unpack_labels(entry):
    values, dtype = entry["values"], entry["dtype"]
    if not isinstance(values, list) or not values:
        raise TypeError("the values of the classes must be a non-empty list")
    if not all(isinstance(value, str | bool | int | float) for value in values):
        raise TypeError("class labels must be text, numbers or booleans")
    if len(set(values)) < len(values):
        raise ValueError("class labels must differ")
    if dtype == "object":
        labels = np.empty(len(values), dtype=object)
        labels[:] = values
        return labels
    if dtype not in _CLASS_DTYPES:
        raise ValueError(f"unknown dtype {dtype!r} of the classes")
    plain = {"bool": bool, "int64": int, "float64": float, "str": str}[dtype]
    if not all(type(value) is plain for value in values):
        raise TypeError(f"class labels of dtype {dtype} must all be {plain.__name__}")
    return np.asarray(values, dtype=_CLASS_DTYPES[dtype])


def set_tests(estimator, tree):
    """Set the number of directions; refuse oblique tests in other trees."""
    name = type(estimator).__name__
    if hasattr(estimator, "_resolve_directions"):
        estimator.n_directions_ = estimator._resolve_directions(tree.n_features)
    elif len(tree.terms) and not name.startswith("Oblique"):
        raise ValueError(f"the tree of a {name} cannot have oblique tests")
