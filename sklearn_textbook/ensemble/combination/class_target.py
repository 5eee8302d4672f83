"""Reading a target of one class per row."""

from __future__ import annotations

import numpy as np
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.labels import (
    check_target,
    decode_dictionary,
    encode_labels,
    require_classes,
)


def check_class_target(owner, y):
    """Read a target as an array of labels.

    Parameters
    ----------
    owner : estimator
        What messages name.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    y : ndarray of shape (n_samples,)
        The labels.

    Raises
    ------
    NotImplementedError
        If there are several labels per row.
    ValueError
        If labels are missing, or continuous numbers.
    """
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


def read_class_target(owner, y):
    """Read a target as class numbers.

    Parameters
    ----------
    owner : estimator
        What messages name.
    y : array-like of shape (n_samples,)
        Class labels.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The sorted classes.
    codes : ndarray of intp, shape (n_samples,)
        Their numbers.
    """
    (classes,), codes = encode_labels(check_class_target(owner, y).reshape(-1, 1))
    return classes, codes[:, 0].astype(np.intp)


def require_places(owner, member, places):
    """Require class numbers of a member that are places in ``classes_``.

    Parameters
    ----------
    owner : classifier
        The ensemble.
    member : classifier
        What the message names.
    places : ndarray of int
        The numbers.

    Raises
    ------
    ValueError
        If they are not, or if one is there twice.
    """
    is_place = (places >= 0) & (places < len(owner.classes_))
    if not is_place.all() or len(set(places.tolist())) < len(places):
        raise ValueError(
            f"the classes of the {type(member).__name__} are not those of the "
            f"{type(owner).__name__}"
        )
