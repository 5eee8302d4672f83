"""Class weights of an ensemble whose members are trained on samples of the rows."""

from __future__ import annotations

import numpy as np
from sklearn.utils.class_weight import compute_sample_weight

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import suggest
from sklearn_textbook._contract.weights import balance_classes, check_class_weight

PRESETS = ("balanced", "balanced_subsample")


def check_preset(class_weight, warm_start):
    """Require a preset, a dictionary or a list of them; warn of presets that drift.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if class_weight is None or isinstance(class_weight, (dict, list)):
        return
    if not isinstance(class_weight, str) or class_weight not in PRESETS:
        raise ValueError(
            "The 'class_weight' parameter must be None, a dict, a list of dicts, "
            f"'balanced' or 'balanced_subsample'; got {class_weight!r}."
            f"{suggest(class_weight, PRESETS)}"
        )
    if warm_start:
        warn_caller(
            f"class_weight={class_weight!r} is not recommended with warm_start=True, "
            "since the weights of later trees depend on the rows of the later fit. "
            "Pass the weights as a dict instead.",
            UserWarning,
        )


def weigh_classes(class_weight, labels, sample_weight):
    """Weight of each row by its classes.

    Parameters
    ----------
    class_weight : dict, list of dict, or "balanced"
        Weights of classes; "balanced" gives all classes the same total weight.
    labels : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        The rows' classes.
    sample_weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows, by which "balanced" counts them.

    Returns
    -------
    weight : ndarray of float64, shape (n_rows,)
        Product over the outputs.
    """
    if not isinstance(class_weight, str):
        check_class_weight(class_weight, 1 if labels.ndim == 1 else labels.shape[1])
        return compute_sample_weight(class_weight, labels)
    weight = np.ones(len(labels))
    for of_output in labels.reshape(len(labels), -1).T:
        codes = np.unique(of_output, return_inverse=True)[1]
        weight *= balance_classes(codes, sample_weight)[codes]
    return weight
