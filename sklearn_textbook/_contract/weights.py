"""Sample weights and class weights."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array
from sklearn.utils.class_weight import compute_class_weight, compute_sample_weight

from sklearn_textbook._contract.labels import find_no_number, is_no_number
from sklearn_textbook._contract.parameters import is_real, show_value, suggest

#: Bounds of the largest weight: squares of weights, times squares of other numbers, are
#: within float64.
SMALLEST, LARGEST = 1e-100, 1e100


def check_weights(
    sample_weight: ArrayLike | None,
    n_rows: int,
    name: str = "sample_weight",
    *,
    is_rescaled: bool = False,
    is_block: bool = False,
) -> np.ndarray | None:
    """Read sample weights; of a block of rows they may all be zero."""
    if sample_weight is None:
        return None
    if np.isscalar(sample_weight):
        sample_weight = [sample_weight] * n_rows
    try:
        weight = check_array(
            sample_weight,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite=False,
            input_name=name,
        )
    except (TypeError, ValueError, OverflowError) as error:
        if not is_no_number(error):
            raise
        row, value = find_no_number(sample_weight)
        raise ValueError(
            f"{name} must be finite numbers, got {show_value(value)} in row {row}."
        ) from None
    if weight.ndim != 1:
        raise ValueError(f"{name} must be 1D, got an array of shape {weight.shape}.")
    if len(weight) != n_rows:
        raise ValueError(
            f"{name} must have one entry per row, {n_rows} in all, got {len(weight)}."
        )
    is_finite = np.isfinite(weight)
    if not is_finite.all():
        row = int(np.argmin(is_finite))
        what = "NaN" if np.isnan(weight[row]) else "infinity"
        raise ValueError(f"Input {name} contains {what}, first in row {row}.")
    if (weight < 0).any():
        row = int(np.argmax(weight < 0))
        raise ValueError(
            f"{name} must not be negative, got {weight[row]} in row {row}."
        )
    if not is_block:
        require_weights(_add_up(weight), weight.max(), name)
        if not is_rescaled:
            _require_squares(weight, name)
    return weight


def require_weights(total: float, largest: float, name: str = "sample_weight") -> None:
    """Require weights that are not all zero and whose sum is finite."""
    if not largest > 0:
        raise ValueError(
            f"All sample weights are zero: {name} must be non-zero for at least one "
            "row."
        )
    if not np.isfinite(total):
        raise ValueError(
            f"The sum of {name} is too large for a float64; divide the weights by a "
            "common factor."
        )


def _require_squares(weight, name) -> None:
    require_square(weight.max(), name, f" in row {weight.argmax()}")


def require_square(largest: float, name: str, where: str = "") -> None:
    """Require that squares of weights neither vanish nor overflow."""
    if not SMALLEST <= largest <= LARGEST:
        what = "zero" if largest < SMALLEST else "infinite"
        raise ValueError(
            f"The largest weight of {name}, {largest:.3g}{where}, has a square that is "
            f"{what}, or nearly: multiply the weights by a power of ten."
        )


def _add_up(weight):
    with np.errstate(over="ignore"):
        return weight.sum()


def apply_class_weight(class_weight, y: np.ndarray, weight: np.ndarray) -> np.ndarray:
    """Multiply weights by those of the classes."""
    if class_weight is None:
        return weight
    check_class_weight(class_weight, 1 if y.ndim == 1 else y.shape[1])
    return _multiply(class_weight, compute_sample_weight(class_weight, y), y, weight)


def check_class_weight(
    class_weight: object, n_outputs: int, presets: tuple[str, ...] = ("balanced",)
) -> None:
    """Require class weights in one of scikit-learn's forms."""
    if class_weight is None:
        return
    if isinstance(class_weight, str) and class_weight in presets:
        return
    dicts = [class_weight] if n_outputs == 1 else class_weight
    if n_outputs > 1 and isinstance(dicts, list) and len(dicts) != n_outputs:
        raise ValueError(
            "The number of elements in class_weight should match number of outputs. "
            f"Got {len(dicts)} elements, but y has {n_outputs} outputs."
        )
    if (
        not isinstance(dicts, list)
        or len(dicts) != n_outputs
        or not all(isinstance(of_output, dict) for of_output in dicts)
    ):
        form = "a dict" if n_outputs == 1 else f"a list of {n_outputs} dicts"
        words = ", ".join(map(repr, presets))
        raise ValueError(
            f"The 'class_weight' parameter must be None, {words} or {form} from class "
            f"labels to weights, since y has {n_outputs} output"
            f"{'' if n_outputs == 1 else 's'}; got {show_value(class_weight)}."
            f"{suggest(class_weight, presets)}"
        )
    for of_output in dicts:
        for label, weight in of_output.items():
            if not is_real(weight):
                raise ValueError(
                    "The 'class_weight' parameter must be finite weights of at least "
                    f"0; got {show_value(weight)} for class {label}."
                )


def apply_known_class_weight(
    class_weight,
    classes: list[np.ndarray],
    codes: np.ndarray,
    y: np.ndarray,
    weight: np.ndarray,
) -> np.ndarray:
    """Multiply weights by class weights; some classes may have no row here."""
    if class_weight is None or isinstance(class_weight, str):
        return apply_class_weight(class_weight, y, weight)
    check_class_weight(class_weight, len(classes))
    # If a class of the dict has no row here, scikit-learn may refuse the dict.
    dicts = [class_weight] if len(classes) == 1 else class_weight
    expanded = np.ones(len(codes))
    for output, (of_class, known) in enumerate(zip(dicts, classes, strict=True)):
        expanded *= compute_sample_weight(of_class, known)[codes[:, output]]
    return _multiply(class_weight, expanded, y, weight)


def weigh_classes(class_weight, classes: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
    """Find the weight of each class from the numbers of their rows."""
    check_class_weight(class_weight, 1)
    if isinstance(class_weight, str):
        return n_rows.sum() / (len(classes) * n_rows)
    of_class = compute_class_weight(class_weight, classes=classes, y=classes)
    if not (np.isfinite(of_class) & (of_class >= 0)).all():
        raise ValueError(
            "The 'class_weight' parameter must be finite weights of at least 0; got "
            f"{show_value(class_weight)}."
        )
    return of_class


def balance_classes(codes: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
    """Weight of each class with which all classes have the same total weight.

    As scikit-learn's "balanced", which counts weights of rows only from 1.7 on.
    """
    return balance_totals(np.bincount(codes, weights=weight))


def balance_totals(totals: np.ndarray) -> np.ndarray:
    """Weight of each class with which these total weights become equal."""
    is_present = totals > 0
    of_class = np.zeros(len(totals))
    of_class[is_present] = totals.sum() / is_present.sum() / totals[is_present]
    return of_class


def _multiply(class_weight, expanded, y, weight):
    """Multiply weights by those of the rows' classes, and check these."""
    is_wrong = ~(np.isfinite(expanded) & (expanded >= 0))
    if is_wrong.any():
        label = y[int(np.argmax(is_wrong))]
        raise ValueError(
            "The 'class_weight' parameter must be finite weights of at least 0; got "
            f"{expanded[is_wrong][0]} for class {label}."
        )
    product = expanded if weight is None else weight * expanded
    total = _add_up(product)
    if not (product > 0).any() or not np.isfinite(total):
        raise ValueError(
            f"With class_weight={class_weight!r}, the weights of all rows sum to "
            f"{total}, but the sum must be positive and finite."
        )
    _require_squares(product, f"class_weight={class_weight!r}")
    return product
