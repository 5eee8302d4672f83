"""Sample weights and class weights."""

from __future__ import annotations

import numpy as np
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_sample_weight


def check_weights(sample_weight, n_rows, name="sample_weight"):
    """Read sample weights.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,), float or None
        Weights of the rows; one number stands for all.
    n_rows : int
        Number of rows.
    name : str, default="sample_weight"
        What the messages call them.

    Returns
    -------
    weight : ndarray of float64, shape (n_rows,), or None
        None if there are no weights.

    Raises
    ------
    ValueError
        If the weights are negative, all zero, not finite, or not one per row.
    """
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        sample_weight = np.full(n_rows, sample_weight, dtype=np.float64)
    weight = check_array(
        sample_weight, ensure_2d=False, dtype=np.float64, input_name=name
    )
    if weight.ndim != 1:
        raise ValueError(f"{name} must be 1D, got an array of shape {weight.shape}.")
    if len(weight) != n_rows:
        raise ValueError(f"{name} has {len(weight)} entries, but X has {n_rows} rows.")
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(
            f"{name} must not be negative, got {weight[row]} in row {row}."
        )
    if not (weight > 0).any():
        raise ValueError(
            f"All sample weights are zero: {name} has no row of non-zero sample "
            "weight to learn from."
        )
    if not np.isfinite(_add_up(weight)):
        raise ValueError(
            f"{name} has a sum that is too large for a float64; divide the "
            "weights by a common factor."
        )
    return weight


def _add_up(weight):
    with np.errstate(over="ignore"):
        return weight.sum()


def apply_class_weight(class_weight, y, weight):
    """Multiply weights by those of the classes.

    Parameters
    ----------
    class_weight : dict, list of dict, "balanced" or None
        Weight of each class, as scikit-learn's; for several outputs one dict each.
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Class labels.
    weight : ndarray of shape (n_rows,) or None
        Weights so far.

    Returns
    -------
    weight : ndarray of shape (n_rows,) or None
        The product.

    Raises
    ------
    ValueError
        If a weight is negative or not finite, or if no row keeps a weight above 0.
    """
    if class_weight is None:
        return weight
    return _multiply(class_weight, compute_sample_weight(class_weight, y), y, weight)


def apply_known_class_weight(class_weight, classes, codes, y, weight):
    """Multiply weights by those of classes, of which some may have no row here.

    Parameters
    ----------
    class_weight : dict, list of dict, "balanced" or None
        Weight of each class, as scikit-learn's; "balanced" counts the rows here.
    classes : list of ndarray
        The sorted classes of each output.
    codes : ndarray of int32, shape (n_rows, n_outputs)
        The rows' class numbers.
    y : ndarray of shape (n_rows,) or (n_rows, n_outputs)
        Their class labels.
    weight : ndarray of shape (n_rows,) or None
        Weights so far.

    Returns
    -------
    weight : ndarray of shape (n_rows,) or None
        The product.

    Raises
    ------
    ValueError
        If no row keeps a weight above 0.
    """
    if class_weight is None or isinstance(class_weight, str):
        return apply_class_weight(class_weight, y, weight)
    # Of labels that lack a class, scikit-learn takes a dict for one of others.
    dicts = [class_weight] if len(classes) == 1 else class_weight
    expanded = np.ones(len(codes))
    for output, (of_class, known) in enumerate(zip(dicts, classes, strict=True)):
        expanded *= compute_sample_weight(of_class, known)[codes[:, output]]
    return _multiply(class_weight, expanded, y, weight)


def _multiply(class_weight, expanded, y, weight):
    """Multiply weights by those of the rows' classes, and check these."""
    is_wrong = ~(np.isfinite(expanded) & (expanded >= 0))
    if is_wrong.any():
        label = y[int(np.argmax(is_wrong))]
        raise ValueError(
            "The 'class_weight' parameter must hold finite weights of at least 0; got "
            f"{expanded[is_wrong][0]} for class {label}."
        )
    product = expanded if weight is None else weight * expanded
    total = _add_up(product)
    if not (product > 0).any() or not np.isfinite(total):
        raise ValueError(
            f"With class_weight={class_weight!r} the weights of all rows sum to "
            f"{total}: there is nothing to learn from."
        )
    return product
