"""Conversion of ensembles of any estimators to dictionaries for JSON, and back.

Every member is stored as a complete model file inside that of the ensemble.
"""

from __future__ import annotations

from sklearn.base import is_classifier

from sklearn_textbook._contract.registry import ESTIMATORS, find_class
from sklearn_textbook.io.kept_values import pack_kept, unpack_kept
from sklearn_textbook.io.saved_parameters import (
    BY_SKOPS,
    is_of_class,
    unpack_parameters,
)
from sklearn_textbook.io.saved_target import pack_classes, unpack_classes


def write_composed(estimator, write_document):
    """Write the fitted attributes of an ensemble of estimators of any kind."""
    return {
        "classes": pack_classes(estimator),
        "kept": pack_kept(estimator._kept, estimator._list_kept()),
        "members": [
            {"name": name, "model": _write_member(name, member, write_document)}
            for name, member in estimator._list_parts()
        ],
    }


def _write_member(name, member, write_document):
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
        return write_document(member, None, {})
    except (TypeError, ValueError) as error:
        raise type(error)(f"its member {name!r}: {error}") from None


def read_composed(document, read_document):
    """Read an ensemble of estimators of any kind."""
    name, members = document["estimator"], document["members"]
    kind = find_class(name)
    estimator = kind([]) if "estimators" in kind._member_parameters else kind()
    estimator.set_params(**unpack_parameters(document["parameters"], estimator))
    if not isinstance(members, list) or not members:
        raise TypeError("members must be a non-empty list")
    parts = [_read_member(member, read_document) for member in members]
    classes = unpack_classes(document["classes"])
    if (0 if classes is None else len(classes)) != is_classifier(estimator):
        raise ValueError(f"the classes do not match a {name}")
    if classes is not None:
        estimator.classes_ = classes[0]
    kept = unpack_kept(estimator._kept, document["kept"], {}, name)
    try:
        estimator._restore(parts, kept)
    except NotImplementedError as error:
        raise ValueError(str(error)) from None
    return estimator


def _read_member(packed, read_document):
    """Read the name of a member and the member; None for one that was dropped."""
    name, model = packed["name"], packed["model"]
    if not isinstance(name, str):
        raise TypeError("names of members must be text")
    if model is None:
        return name, None
    return name, read_document(model).estimator
