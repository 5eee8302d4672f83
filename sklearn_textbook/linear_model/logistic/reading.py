"""Reading class labels and weights of a logistic regression."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.utils import check_consistent_length, column_or_1d
from sklearn.utils.class_weight import compute_class_weight

from sklearn_textbook._contract.labels import (
    check_target,
    encode_labels,
    list_declared_classes,
)
from sklearn_textbook._contract.parameters import is_real, show_value
from sklearn_textbook._contract.weights import check_weights

#: Number of classes that a message lists.
MAX_NAMED = 10


def name_some(values):
    """Join values in a list; only the first ones if there are many."""
    text = ", ".join(map(repr, values[:MAX_NAMED]))
    more = len(values) - MAX_NAMED
    return f"{text} and {more} more" if more > 0 else text


def read_classes(name, X, y, sample_weight):
    """Read class labels; rows of weight 0 are ignored.

    Parameters
    ----------
    name : str
        Name of the estimator.
    X : array-like
        The table, which must have as many rows.
    y : array-like of shape (n_rows,)
        Class labels.
    sample_weight : array-like or None
        Weights of the rows.

    Returns
    -------
    classes : ndarray of shape (n_classes,)
        The sorted classes that have rows.
    codes : ndarray of int32, shape (n_present,)
        Their numbers.

    Raises
    ------
    ValueError
        If labels are missing or not classes, or if only one class has rows.

    Warns
    -----
    UserWarning
        If a categorical y declares classes that have no rows.
    """
    if y is None:
        raise ValueError(
            f"This {name} estimator requires y to be passed, but the target y is None."
        )
    labels = check_target(y, is_numeric=False)
    if getattr(y, "ndim", 1) == 2 or labels.shape[1] > 1:
        labels = column_or_1d(labels, warn=True)
    labels = labels.reshape(-1, 1)
    check_consistent_length(X, labels)
    weight = check_weights(sample_weight, len(labels))
    if weight is not None and not weight.all():
        labels = labels[weight > 0]
    (classes,), codes = encode_labels(labels)
    if len(classes) < 2:
        raise ValueError(
            f"{name} needs samples of at least 2 classes in the data, but the data "
            f"contains only one class: {classes.tolist()[0]!r}."
        )
    present = set(classes.tolist())
    empty = [label for label in list_declared_classes(y) if label not in present]
    if empty:
        warnings.warn(
            f"y declares classes without rows: {name_some(empty)}. They have no "
            "coefficients and no probability, and are not in classes_.",
            UserWarning,
            stacklevel=4,  # the caller of fit, which is decorated
        )
    return classes, codes[:, 0]


def weigh_classes(class_weight, classes, codes, weight):
    """Multiply weights by those of the classes.

    Parameters
    ----------
    class_weight : dict, "balanced" or None
        Weights of the classes.
    classes : ndarray of shape (n_classes,)
        The classes.
    codes : ndarray of int, shape (n_rows,)
        Class numbers.
    weight : ndarray of shape (n_rows,) or None
        Weights of the rows.

    Returns
    -------
    weight : ndarray of shape (n_rows,) or None
        The products.

    Raises
    ------
    ValueError
        If a class has a weight that is not a finite number above 0.
    """
    if class_weight is None:
        return weight
    for label, given in class_weight.items() if isinstance(class_weight, dict) else ():
        if not (is_real(given) and 0 < given < np.inf):
            raise ValueError(
                "The 'class_weight' parameter must be finite weights above 0; got "
                f"{show_value(given)} for class {label!r}. To leave out a class, leave "
                "out its rows."
            )
    factors = compute_class_weight(
        class_weight,
        classes=classes,
        y=classes[codes],
        **({} if weight is None else {"sample_weight": weight}),
    )
    return factors[codes] * (1.0 if weight is None else weight)
