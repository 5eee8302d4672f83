"""Reading a target of one class per row."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
    require_classes,
)


def check_class_target(owner, y: ArrayLike) -> np.ndarray:
    """Read a target as an array of labels."""
    require_classes(y)
    y = decode_dictionary(y)
    shape = getattr(y, "shape", ())
    if len(shape) == 2 and shape[1] > 1:
        raise NotImplementedError(
            f"{type(owner).__name__} only supports binary or multiclass "
            "classification. Multilabel and multi-output classification are not "
            "supported."
        )
    return check_target(column_or_1d(y, warn=True), is_numeric=False)[:, 0]


def read_class_target(owner, y: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Read a target as class numbers."""
    (classes,), codes = encode_labels(check_class_target(owner, y).reshape(-1, 1))
    return classes, codes[:, 0].astype(np.intp)


def join_classes(members: dict) -> np.ndarray:
    """Join the classes of fitted members."""
    known, text, number = [], None, None
    for name, member in members.items():
        classes = member.classes_
        if isinstance(classes, list) or np.ndim(classes) != 1:
            raise ValueError(
                f"The member {name!r}, {type(member).__name__}, predicts several "
                "outputs; members must predict a single class per row."
            )
        known.append(np.asarray(classes))
        if isinstance(known[-1].tolist()[0], str):
            text = text or (name, known[-1])
        else:
            number = number or (name, known[-1])
    if text and number:
        shown = " and ".join(
            f"{classes.tolist()[0]!r} of the member {name!r}"
            for name, classes in (text, number)
        )
        raise ValueError(
            f"The classes of the members have different types, such as {shown}. Fit "
            "all members to the same labels."
        )
    return np.unique(np.concatenate(known))


def require_places(owner, member, places: np.ndarray) -> None:
    """Require class numbers of a member that are places in ``classes_``."""
    is_place = (places >= 0) & (places < len(owner.classes_))
    if not is_place.all() or len(set(places.tolist())) < len(places):
        raise ValueError(
            f"the classes of the {type(member).__name__} differ from those of the "
            f"{type(owner).__name__}"
        )
