"""Parameters of estimators as JSON, and back: only classes of a fixed list."""

from __future__ import annotations

import math
import numbers
import warnings

import numpy as np

from sklearn_textbook._contract.registry import ESTIMATORS, PARTS, find_class
from sklearn_textbook.io.naming import explain_unknown_name

#: How to save other estimators.
BY_SKOPS = (
    "skops.io.dump saves it, and skops.io.load reads it with "
    "trusted=sklearn_textbook.io.list_trusted_types()"
)
# Parameters of the machine, not the model: a file may not set threads.
_NOT_SAVED = ("n_jobs",)
_SPECIAL_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


def is_of_class(estimator, name):
    """Return whether an object is of the class with this name."""
    return type(estimator) is find_class(name)


def predicts_classes(estimator):
    """Distinguish classifiers from regressors by name, without importing them."""
    return ESTIMATORS[type(estimator).__name__].predicts == "classes"


def make_estimator(name, parameters):
    """Make an unfitted estimator of a class that a model file may name.

    Parameters that `fit` would refuse are refused here.
    """
    estimator = find_class(name)()
    estimator.set_params(**unpack_parameters(parameters, estimator))
    with warnings.catch_warnings():
        # Such as those on parameters without effect, which fit has already issued.
        warnings.simplefilter("ignore")
        try:
            estimator._check_parameters()
        except NotImplementedError as error:
            raise ValueError(str(error)) from None
    return estimator


def pack_parameters(estimator):
    """Write the parameters of an estimator as JSON; those that are estimators, too."""
    values = estimator.get_params(deep=False)
    return {
        name: pack_value(values[name], name)
        for name in sorted(list_parameters(estimator))
    }


def pack_value(value, name):
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
        return [pack_value(item, name) for item in value]
    if isinstance(value, set | frozenset):
        return {"set": pack_value(sorted(value, key=repr), name)}
    if isinstance(value, dict):
        # As pairs: the keys of a JSON object are always text, unlike class labels.
        pairs = [[key, item] for key, item in value.items()]
        return {"mapping": pack_value(pairs, name)}
    part = type(value).__name__
    if part in PARTS and is_of_class(value, part):
        return {"part": part, "parameters": pack_parameters(value)}
    remedy = ""
    if name == "random_state":
        remedy = "; give random_state an integer or None before saving"
    raise ValueError(
        f"parameter {name} has type {type(value).__name__}, which a model file "
        f"cannot contain{remedy}"
    )


def list_parameters(estimator):
    """List the parameters of an estimator that a model file may have."""
    names = estimator.get_params(deep=False)
    left_out = {*_NOT_SAVED, *getattr(estimator, "_member_parameters", ())}
    return [name for name in names if name not in left_out]


def unpack_parameters(packed, estimator, known=None):
    """Read the parameters of an estimator; unknown ones are refused."""
    if not isinstance(packed, dict):
        raise TypeError("parameters must be an object")
    known = list_parameters(estimator) if known is None else known
    for name in packed:
        if name not in known:
            raise ValueError(
                f"{type(estimator).__name__} has no parameter {name!r}; "
                f"{explain_unknown_name(name, known)}"
            )
    return {name: unpack_value(value) for name, value in packed.items()}


def unpack_value(value):
    """Read a value as `pack_value` writes it."""
    if isinstance(value, list):
        return [unpack_value(item) for item in value]
    if isinstance(value, dict):
        if set(value) == {"number"}:
            return _SPECIAL_NUMBERS[value["number"]]
        if set(value) == {"mapping"}:
            return dict(unpack_value(value["mapping"]))
        if set(value) == {"set"}:
            return set(unpack_value(value["set"]))
        if set(value) == {"part", "parameters"} and value["part"] in PARTS:
            part = find_class(value["part"])()
            return part.set_params(**unpack_parameters(value["parameters"], part))
        raise ValueError(f"unknown form of a parameter: {sorted(value)}")
    return value
