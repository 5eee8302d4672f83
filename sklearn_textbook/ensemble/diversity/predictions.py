"""Predictions of members, read as codes of labels or as right and wrong."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_array

from sklearn_textbook._contract.labels import (
    check_finite_target,
    check_target,
    decode_dictionary,
    encode_labels,
)
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.members.estimator_members import as_frame

#: Whole numbers beyond this are not all floats.
_LARGEST_WHOLE = 2.0**53


@dataclass(frozen=True, eq=False)
class MemberCodes:
    """Prediction of each member for each row, as a number.

    Parameters
    ----------
    codes : ndarray of unsigned int, shape (n_members, n_rows)
        Number of the predicted class; of correctness 1 for right, 0 for wrong.
    classes : ndarray of shape (n_classes,)
        Label of each number.
    weight : ndarray of float64, shape (n_rows,), or None
        Weights of the rows; None: each counts 1.
    is_correctness : bool, default=False
        Whether these are right and wrong.
    """

    codes: np.ndarray
    classes: np.ndarray
    weight: np.ndarray | None
    is_correctness: bool = False

    @property
    def total(self):
        """Sum of the weights."""
        if self.weight is None:
            return float(self.codes.shape[1])
        return self.weight.sum()

    def average(self, values):
        """Weighted mean over the rows, the last axis of an array."""
        if self.weight is None:
            return values.mean(axis=-1)
        return values @ self.weight / self.total

    def count_right(self):
        """Count the members that are right on each row."""
        return self.codes.sum(axis=0, dtype=np.int64)

    def compare_with(self, known):
        """Turn class numbers into right and wrong, given the true numbers."""
        right = (self.codes == known).astype(np.uint8)
        classes = np.array([False, True])
        return MemberCodes(right, classes, self.weight, is_correctness=True)


def read_members(
    predictions: ArrayLike,
    y_true: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> MemberCodes:
    """Read predictions, and turn them into right and wrong if the truth is given."""
    predicted, known = _read(predictions, y_true, sample_weight)
    return predicted if y_true is None else predicted.compare_with(known)


def read_predictions_and_correctness(
    y_true, predictions, sample_weight=None
) -> tuple[MemberCodes, MemberCodes]:
    """Read predictions, as they are and as right and wrong; see ``read_members``."""
    predicted, known = _read(predictions, require_truth(y_true), sample_weight)
    return predicted, predicted.compare_with(known)


def _read(predictions, y_true, sample_weight):
    """Read predictions and, if these are given, the numbers of true labels."""
    columns = _list_columns(predictions)
    n_members, n_rows = len(columns), len(next(iter(columns.values())))
    if y_true is not None:
        columns["y_true"] = read_truth(y_true, n_rows)
    weight = read_row_weights(sample_weight, n_rows)
    is_used = None if weight is None else weight > 0
    codes, classes = encode_together(columns, is_used)
    if weight is not None:
        weight = weight[is_used]
    predicted = MemberCodes(np.stack(codes[:n_members]), classes, weight)
    return predicted, None if y_true is None else codes[n_members]


def _list_columns(predictions):
    """List the labels of each member, by what messages call them."""
    frame = as_frame(predictions)
    if frame is None or len(frame.columns) < 2:
        labels = np.ascontiguousarray(read_columns(predictions).T)
        return {f"predictions[:, {n}]": of_member for n, of_member in enumerate(labels)}
    columns = {}
    for series in frame.iter_columns():
        name = f"predictions[{series.name!r}]"
        labels = check_target(series.to_native(), is_numeric=False, name=name)
        columns[name] = labels[:, 0]
    return columns


def read_columns(predictions: ArrayLike, *, dtype=None):
    """Read predictions as a two-dimensional array."""
    predictions = check_array(
        predictions,
        dtype=dtype,
        ensure_2d=False,
        allow_nd=True,
        ensure_all_finite=False,
        input_name="predictions",
    )
    if predictions.ndim != 2 or predictions.shape[1] < 2:
        raise ValueError(
            "predictions must have shape (n_samples, n_members) with at least two "
            f"members; got {predictions.shape}."
        )
    return predictions


def read_truth(y_true: ArrayLike, n_rows: int, *, is_numeric: bool = False):
    """Read the targets that belong to predictions, as a one-dimensional array."""
    y_true = check_target(y_true, is_numeric=is_numeric, name="y_true")
    if y_true.shape[1] != 1:
        raise ValueError(
            f"y_true must have shape (n_samples,); got {y_true.shape}. It comes before "
            "the predictions of the members."
        )
    require_length("y_true", len(y_true), n_rows)
    return y_true[:, 0]


def require_truth(y_true):
    """Raise ValueError if there are no true labels."""
    if y_true is None:
        raise ValueError("y_true must be the true labels, got None.")
    return y_true


def read_row_weights(sample_weight, n_rows):
    """Read sample weights of the rows of predictions; None if there are none."""
    if np.ndim(sample_weight) == 1:
        require_length("sample_weight", len(sample_weight), n_rows)
    return check_weights(sample_weight, n_rows)


def require_length(name, length, n_rows) -> None:
    """Require an entry for each row of the predictions."""
    if length != n_rows:
        raise ValueError(
            f"{name} must have one entry per row of predictions, {n_rows} in all, got "
            f"{length}."
        )


def encode_together(
    columns: dict, is_used: np.ndarray | None = None
) -> tuple[list[np.ndarray], np.ndarray]:
    """Encode the labels of several columns by common integers."""
    encoded = []
    for name, labels in columns.items():
        labels = _check_labels(labels, name)
        if is_used is not None:
            labels = labels[is_used]
        found, numbers = _encode_labels(labels, name)
        # Many members are kept at once.
        encoded.append((found, numbers.astype(np.min_scalar_type(len(found)))))
    _require_one_kind(list(columns), [found for found, _ in encoded])
    classes = np.unique(np.concatenate([found for found, _ in encoded]))
    dtype = np.min_scalar_type(len(classes))
    codes = [
        np.searchsorted(classes, found).astype(dtype)[numbers]
        for found, numbers in encoded
    ]
    return codes, classes


def _check_labels(labels, name):
    """Require labels without missing values, and integers if they are numbers."""
    if labels.dtype.kind == "O":
        return check_target(decode_dictionary(labels), is_numeric=False, name=name)[
            :, 0
        ]
    if labels.dtype.kind != "f":
        return labels
    check_finite_target(labels, name)
    is_whole = labels == np.floor(labels)
    if not is_whole.all():
        row = int(np.argmin(is_whole))
        raise ValueError(
            f"{name} must be class labels; got the continuous number "
            f"{labels[row]} in row {row}."
        )
    if np.abs(labels).max(initial=0.0) < _LARGEST_WHOLE:
        return labels.astype(np.int64)
    return labels


def _encode_labels(labels, name):
    """Sorted labels of a column, and the number of each row's."""
    if labels.dtype.kind in "biuUS":
        (found,), numbers = encode_labels(labels[:, np.newaxis])
        return found, numbers[:, 0]
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError:
        raise ValueError(
            f"{name} mixes labels that cannot be sorted, such as strings and numbers."
        ) from None


def _require_one_kind(names, found):
    """Require text in all columns, or numbers in all."""
    is_text = [
        all(isinstance(label, (str, bytes)) for label in labels.tolist())
        for labels in found
    ]
    if len(set(is_text)) == 1:
        return
    other = is_text.index(not is_text[0])
    shown = [repr(found[place].tolist()[0]) for place in (0, other)]
    raise ValueError(
        f"{names[0]} and {names[other]} have labels of different types, such as "
        f"{shown[0]} and {shown[1]}, which are never equal."
    )
