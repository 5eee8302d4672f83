"""Parameters, columns, class labels and fitted attributes as JSON, and back.

A part that is an object is of a class of the registry. Fitted attributes are checked
against their declarations (`sklearn_textbook._contract.saved_field`).
"""

from __future__ import annotations

import math
import numbers
import warnings
from collections.abc import Iterable

import numpy as np

from sklearn_textbook._contract.registry import ESTIMATORS, PARTS, find_class
from sklearn_textbook._contract.saved_field import Record, SavedField
from sklearn_textbook.io.naming import explain_unknown_name
from sklearn_textbook.io.saved_arrays import load_array, save_array, save_floats
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.grow.narrow import narrow

#: How to save other estimators.
BY_SKOPS = (
    "skops.io.dump saves it, and skops.io.load reads it with "
    "trusted=sklearn_textbook.io.list_trusted_types()"
)
# Parameters of the machine, not the model: a file may not set threads.
_NOT_SAVED = ("n_jobs",)
_SPECIAL_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
_CLASS_DTYPES = {"bool": bool, "int64": np.int64, "float64": np.float64, "str": str}
#: Kinds of dtypes that the entries of an array may have.
_ARRAY_KINDS = {"integer": "iu", "truth": "iu", "number": "iuf", "float": "iuf"}
#: Types of numbers that a model may compute in.
PRECISIONS = ("float32", "float64")
#: Largest size of a single integer; floats represent these exactly.
_LARGEST_WHOLE = 2**53


def is_integer(value: object) -> bool:
    """Return whether a value is an integer but not a bool."""
    return isinstance(value, int) and not isinstance(value, bool)


def is_of_class(estimator: object, name: str) -> bool:
    """Return whether an object is of the class with this name."""
    return type(estimator) is find_class(name)


def predicts_classes(estimator: object) -> bool:
    """Return whether an estimator, or an object of the same name, is a classifier."""
    return ESTIMATORS[type(estimator).__name__].predicts == "classes"


# ---------------------------------------------------------------------- parameters
def make_estimator(name: str, parameters: object) -> object:
    """Make an unfitted estimator; refuse parameters that `fit` would refuse."""
    estimator = find_class(name)()
    estimator.set_params(**load_parameters(parameters, estimator))
    with warnings.catch_warnings():
        # Such as those on parameters without effect, which fit has already issued.
        warnings.simplefilter("ignore")
        try:
            estimator._check_parameters()
        except NotImplementedError as error:
            raise ValueError(str(error)) from None
    return estimator


def list_parameters(estimator: object) -> list[str]:
    """List the parameters of an estimator that a model file may have."""
    names = estimator.get_params(deep=False)
    left_out = {*_NOT_SAVED, *getattr(estimator, "_member_parameters", ())}
    return [name for name in names if name not in left_out]


def save_parameters(estimator: object) -> dict:
    """Write the parameters of an estimator; those that are estimators, too."""
    values = estimator.get_params(deep=False)
    return {
        name: save_value(values[name], name)
        for name in sorted(list_parameters(estimator))
    }


def load_parameters(
    saved: object, estimator: object, known: Iterable[str] | None = None
) -> dict:
    """Read the parameters of an estimator; unknown ones are refused."""
    if not isinstance(saved, dict):
        raise TypeError("parameters must be an object")
    known = list_parameters(estimator) if known is None else known
    for name in saved:
        if name not in known:
            raise ValueError(
                f"{type(estimator).__name__} has no parameter {name!r}; "
                f"{explain_unknown_name(name, known)}"
            )
    return {name: load_value(value) for name, value in saved.items()}


def save_value(value: object, name: str) -> object:
    """Convert the value of a parameter to unambiguous JSON."""
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
        return [save_value(item, name) for item in value]
    if isinstance(value, set | frozenset):
        return {"set": save_value(sorted(value, key=repr), name)}
    if isinstance(value, dict):
        # As pairs: the keys of a JSON object are always text, unlike class labels.
        pairs = [[key, item] for key, item in value.items()]
        return {"mapping": save_value(pairs, name)}
    part = type(value).__name__
    if part in PARTS and is_of_class(value, part):
        return {"part": part, "parameters": save_parameters(value)}
    remedy = ""
    if name == "random_state":
        remedy = "; give random_state an integer or None before saving"
    raise ValueError(
        f"parameter {name} has type {type(value).__name__}, which a model file "
        f"cannot contain{remedy}"
    )


def load_value(saved: object) -> object:
    """Read a value as `save_value` writes it."""
    if isinstance(saved, list):
        return [load_value(item) for item in saved]
    if isinstance(saved, dict):
        if set(saved) == {"number"}:
            return _SPECIAL_NUMBERS[saved["number"]]
        if set(saved) == {"mapping"}:
            return dict(load_value(saved["mapping"]))
        if set(saved) == {"set"}:
            return set(load_value(saved["set"]))
        if set(saved) == {"part", "parameters"} and saved["part"] in PARTS:
            part = find_class(saved["part"])()
            return part.set_params(**load_parameters(saved["parameters"], part))
        raise ValueError(f"unknown form of a parameter: {sorted(saved)}")
    return saved


# ---------------------------------------------------------------- columns, classes
def set_columns(estimator: object, schema: TableSchema) -> None:
    """Set the columns of an estimator."""
    estimator.schema_ = schema
    estimator.n_features_in_ = len(schema.columns)
    if schema.has_names:
        estimator.feature_names_in_ = np.asarray(schema.names, dtype=object)


def save_classes(estimator: object) -> list[dict] | None:
    """Write the class labels of every output; None for a regressor."""
    if not hasattr(estimator, "classes_"):
        return None
    classes = estimator.classes_
    if not isinstance(classes, list):
        classes = [classes]
    return [_save_labels(np.asarray(labels)) for labels in classes]


def _save_labels(labels: np.ndarray) -> dict:
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


def load_classes(saved: object) -> list[np.ndarray] | None:
    """Read the class labels of every output; None for a regressor."""
    if saved is None:
        return None
    if not isinstance(saved, list) or not saved:
        raise TypeError("classes must be a list with one entry per output, or null")
    return [_load_labels(entry) for entry in saved]


def load_single_classes(saved: object, estimator: object) -> np.ndarray | None:
    """Read the class labels of an estimator that has one output."""
    classes = load_classes(saved)
    if (0 if classes is None else len(classes)) != predicts_classes(estimator):
        raise ValueError(f"the classes do not match a {type(estimator).__name__}")
    return None if classes is None else classes[0]


def _load_labels(entry: dict) -> np.ndarray:
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


# ------------------------------------------------------------ declared attributes
def save_declared(declared: Iterable[SavedField], values: dict) -> dict:
    """Write the declared values; absent ones are left out."""
    return {
        each.name: _save_one(each, values[each.name])
        for each in declared
        if each.name in values
    }


def _save_one(declared: SavedField, value: object) -> object:
    if value is None:
        return None
    if isinstance(declared.kind, tuple):
        for record in declared.kind:
            if type(value) is record.of:
                fields = {each.name: getattr(value, each.name) for each in record.kept}
                fields = save_declared(record.kept, fields)
                return {"record": record.of.__name__, **fields}
        raise ValueError(
            f"{declared.name} is a {type(value).__name__}, which a model file cannot "
            "contain"
        )
    if declared.kind == "precision":
        return np.dtype(value).name
    if () in declared.shapes and np.ndim(value) == 0:
        return save_value(value, declared.name)
    if declared.kind == "float":
        return save_floats(value)
    array = np.asarray(value, dtype=np.uint8 if declared.kind == "truth" else None)
    return save_array(narrow(array))


def load_declared(
    declared: Iterable[SavedField],
    saved: object,
    sizes: dict[str, int | None],
    owner: str,
) -> dict:
    """Read the declared values, and refuse all others.

    `sizes` are known lengths of arrays, None if any is allowed; others are added as
    they are found. `owner` is the name of the class, for messages.
    """
    if not isinstance(saved, dict):
        raise TypeError("kept must be an object")
    unknown = saved.keys() - {each.name for each in declared}
    if unknown:
        raise ValueError(f"{owner} has no {sorted(unknown)[0]!r}")
    values = {}
    for each in declared:
        if each.name not in saved and each.is_optional:
            continue
        value = _load_one(each, saved[each.name], sizes)
        values[each.name] = value
        if isinstance(value, int):
            sizes.setdefault(each.name, value)
    return values


def _load_one(declared: SavedField, saved: object, sizes: dict) -> object:
    """Read one number, text, array or object according to its declaration."""
    if saved is None and declared.is_optional:
        return None
    if isinstance(declared.kind, tuple):
        return _load_record(declared, saved, sizes)
    is_array = isinstance(saved, list) or (
        isinstance(saved, dict) and "base64" in saved
    )
    if () in declared.shapes and not (is_array and len(declared.shapes) > 1):
        return _load_single(declared, saved)
    return _load_entries(declared, saved, sizes)


def _load_record(declared: SavedField, saved: object, sizes: dict) -> object:
    """Read an object of one of the declared classes."""
    records: dict[str, Record] = {each.of.__name__: each for each in declared.kind}
    name = saved.get("record") if isinstance(saved, dict) else None
    if not isinstance(name, str) or name not in records:
        raise ValueError(
            f"{declared.name} must be an object with record {' or '.join(records)}"
        )
    fields = {field: value for field, value in saved.items() if field != "record"}
    record = records[name]
    return record.of(**load_declared(record.kept, fields, sizes, name))


def _load_single(declared: SavedField, saved: object) -> object:
    """Read a single value."""
    name, kind = declared.name, declared.kind
    value = load_value(saved)
    is_number = isinstance(value, float) or is_integer(value)
    is_right = {
        "truth": isinstance(value, bool),
        "text": isinstance(value, str),
        "precision": isinstance(value, str) and value in PRECISIONS,
        "part": hasattr(value, "get_params"),
        "integer": is_integer(value),
        "number": is_number,
        "float": is_number,
    }[kind]
    if not is_right:
        raise ValueError(f"{name} must be a single {kind}, got {str(saved)[:40]}")
    if kind == "precision":
        return np.dtype(value)
    if not is_number:
        return value
    if not is_integer(value) or abs(value) > _LARGEST_WHOLE:
        if kind == "integer":
            raise ValueError(f"{name} must be at most {_LARGEST_WHOLE}, got {value}")
        value = float(value)
    _require_range(declared, value)
    return value


def _load_entries(declared: SavedField, saved: object, sizes: dict) -> np.ndarray:
    """Read an array."""
    name, kind = declared.name, declared.kind
    array = load_array(saved, name)
    shapes = [shape for shape in declared.shapes if shape]
    fits = any(_match_shape(shape, array.shape, sizes) for shape in shapes)
    if not fits or (array.size and array.dtype.kind not in _ARRAY_KINDS[kind]):
        known = [tuple(_fill_length(n, sizes) for n in shape) for shape in shapes]
        wanted = " or ".join(map(str, known))
        raise ValueError(
            f"{name} must be {kind}s of shape {wanted}, got {array.dtype} of shape "
            f"{array.shape}"
        )
    if array.size:
        _require_range(declared, array)
    if kind == "truth":
        if not np.isin(array, (0, 1)).all():
            raise ValueError(f"{name} must consist of 0 and 1")
        return array.astype(bool)
    if kind == "integer":
        return array.astype(np.int64)
    is_single = kind == "float" and array.dtype == np.float32
    return array if is_single else array.astype(np.float64)


def _fill_length(length: object, sizes: dict) -> object:
    """Replace a length by its value if it is known; None: any."""
    if isinstance(length, tuple):
        parts = [_fill_length(part, sizes) for part in length]
        return sum(parts) if all(isinstance(part, int) for part in parts) else None
    return sizes.get(length, length) if isinstance(length, str) else length


def _match_shape(shape: tuple, found: tuple, sizes: dict) -> bool:
    """Whether an array has the declared shape; lengths not yet known are recorded."""
    if len(shape) != len(found):
        return False
    noted = dict(sizes)
    for wanted, length in zip(shape, found, strict=True):
        if isinstance(wanted, str) and noted.get(wanted) is None:
            noted[wanted] = length
        if _fill_length(wanted, noted) not in (None, length):
            return False
    sizes.update(noted)
    return True


def _require_range(declared: SavedField, value: object) -> None:
    """Require finite and not too small numbers, if so declared."""
    lowest = np.min(value)
    if declared.is_finite and not np.all(np.isfinite(value)):
        raise ValueError(f"{declared.name} must be finite")
    least = declared.least
    if least is not None and not math.isnan(lowest) and lowest < least:
        raise ValueError(f"{declared.name} must be at least {least}, got {lowest}")
