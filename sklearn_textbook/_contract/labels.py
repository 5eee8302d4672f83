"""Class labels and target values."""

from __future__ import annotations

from collections.abc import Sequence

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.utils import check_array
from sklearn.utils.multiclass import check_classification_targets

from sklearn_textbook._contract.parameters import is_integer, show_value

SHORT_RANGE = 1024  # range of integer labels that is searched by marking used ones


def decode_dictionary(values):
    """Return a column of pyarrow's dictionary type as a column of its values' type.

    pyarrow turns nulls of this type into the last value when it makes an array of
    chunks. Other columns are returned unchanged.
    """
    if isinstance(values, np.ndarray):
        return values
    series = nw.from_native(values, series_only=True, pass_through=True)
    is_series = isinstance(series, nw.Series) and series.implementation.is_pyarrow()
    if is_series and series.dtype in (nw.Categorical, nw.Enum):
        return values.cast(values.type.value_type)
    return values


def require_classes(y, name: str = "y") -> None:
    """Raise a ValueError that names the row if a class label is missing in a series."""
    if isinstance(y, np.ndarray):
        return  # found when it is read
    series = nw.from_native(y, series_only=True, pass_through=True)
    if isinstance(series, nw.Series) and series.null_count():
        raise _missing_error(name, series.is_null().to_numpy())


def list_declared_classes(y):
    """List the classes that the dtype of a target declares, also those without rows.

    polars' Categorical and pyarrow's dictionaries declare none.
    """
    if isinstance(y, np.ndarray):
        return []
    series = nw.from_native(y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return list(getattr(y, "categories", ()))
    if series.dtype == nw.Enum:
        return list(series.dtype.categories)
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        return series.to_native().cat.categories.tolist()
    return []


def check_target(y, *, is_numeric, name="y"):
    """Read a target as a two-dimensional array."""
    if is_numeric:
        y = check_numbers(y, name=name)
        return y.reshape(-1, 1) if y.ndim <= 1 else y
    require_classes(y, name)
    y = check_array(
        decode_dictionary(y),
        ensure_2d=False,
        dtype=None,
        ensure_all_finite=False,
        input_name=name,
    )
    if y.dtype == object:
        is_missing = np.array([_is_missing(label) for label in y.flat], dtype=bool)
        if is_missing.any():
            raise _missing_error(name, is_missing.reshape(y.shape))
    check_finite_target(y, name)
    return y.reshape(-1, 1) if y.ndim <= 1 else y


def check_numbers(
    y: ArrayLike,
    estimator: str | None = None,
    *,
    name: str = "y",
    is_present: np.ndarray | None = None,
):
    """Read a target of finite numbers."""
    y = decode_dictionary(y)
    try:
        y = check_array(
            y,
            ensure_2d=False,
            dtype=np.float64,
            ensure_all_finite=False,
            input_name=name,
            estimator=estimator,
        )
    except (TypeError, ValueError, OverflowError) as error:
        if not is_no_number(error):
            raise
        row, value = find_no_number(y)
        if is_integer(value):
            raise ValueError(
                f"{name} must be finite numbers, got an integer beyond float64 in row "
                f"{row}: {show_value(value)}."
            ) from None
        raise ValueError(
            f"{name} must be numbers for {estimator or 'regression'}, got "
            f"{str(value)[:100]!r} in row {row}. Classes require a classifier, or "
            "numbers such as 0 and 1."
        ) from None
    check_finite_target(y, name, is_present)
    return y


def is_no_number(error):
    """Whether an error means that a value cannot be converted to a float."""
    beginnings = (
        "could not convert",
        "float() argument",
        "Cannot cast",
        "setting an array element with a sequence",
    )
    return isinstance(error, OverflowError) or str(error).startswith(beginnings)


def find_no_number(values):
    """Row and value of the first value that cannot be converted to a float."""
    values = np.asarray(values, dtype=object)
    place = next(
        place for place, value in np.ndenumerate(values) if not _is_number(value)
    )
    return place[0] if place else 0, values[place]


def _is_number(value) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True


def _is_missing(label):
    try:
        return label is None or label != label
    except TypeError:  # pandas' NA has no truth value
        return True


def _missing_error(name, is_missing):
    return ValueError(_describe(name, is_missing, "missing"))


def _describe(name, is_wrong, kind) -> str:
    count, row = np.count_nonzero(is_wrong), int(np.argwhere(is_wrong)[0][0])
    if count == 1:
        article = "an" if kind == "infinite" else "a"
        return f"{name} has {article} {kind} value in row {row}: drop this row."
    return f"{name} has {count} {kind} values, first in row {row}: drop these rows."


def check_finite_target(
    y: np.ndarray, name: str = "y", is_present: np.ndarray | None = None
) -> None:
    """Require targets that are neither missing nor infinite."""
    if y.dtype.kind != "f" or get_config()["assume_finite"]:
        return
    is_wrong = ~np.isfinite(y)
    if is_present is not None and len(is_present) == len(y):
        is_wrong &= is_present.reshape(-1, *[1] * (y.ndim - 1))
    if not is_wrong.any():
        return
    is_missing = is_wrong & np.isnan(y)
    if is_missing.any():
        raise _missing_error(name, is_missing)
    raise ValueError(_describe(name, is_wrong, "infinite"))


def encode_labels(y: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Assign numbers to the classes of every output.

    As in scikit-learn only labels that occur are classes, regardless of what a
    categorical dtype declares.
    """
    if y.dtype.kind not in "biuUS":  # those cannot be continuous
        try:
            check_classification_targets(y)
        except TypeError:
            raise _explain_mixed_labels(y) from None
    codes = np.empty(y.shape, dtype=np.int32)
    classes = []
    for output in range(y.shape[1]):
        found, codes[:, output] = _encode_column(y[:, output])
        classes.append(found)
    return classes, codes


def _explain_mixed_labels(y):
    """Make the error for labels that cannot be sorted."""
    first_of = {}
    for label in y.ravel().tolist():
        first_of.setdefault(type(label), label)
    shown = " and ".join(map(repr, list(first_of.values())[:2]))
    return TypeError(
        f"y has labels of different types, such as {shown}, which cannot be sorted; "
        "convert them to strings."
    )


def encode_known_labels(
    y: np.ndarray, classes: list[np.ndarray], name: str = "y"
) -> np.ndarray:
    """Look up the numbers of labels among known classes."""
    codes = np.empty(y.shape, dtype=np.int32)
    for output, known in enumerate(classes):
        places, is_known = _find_places(y[:, output], known)
        if not is_known.all():
            label = y[:, output].tolist()[int(np.argmin(is_known))]
            words = ", ".join(map(repr, known.tolist()))
            raise ValueError(
                f"{name} must contain only classes seen in training, {words}; got "
                f"{label!r}."
            )
        codes[:, output] = places
    return codes


def decode_labels(codes: np.ndarray, classes: list[np.ndarray]) -> np.ndarray:
    """Look up the labels of class numbers."""
    columns = [
        known.take(numbers) for known, numbers in zip(classes, codes.T, strict=True)
    ]
    return columns[0] if len(columns) == 1 else np.stack(columns, axis=1)


def split_probabilities(
    probabilities: np.ndarray, n_classes: int | Sequence[int]
) -> np.ndarray | list:
    """Return class proportions as scikit-learn does: a list for several outputs."""
    if probabilities.shape[1] == 1:
        return probabilities[:, 0]
    return [
        np.ascontiguousarray(probabilities[:, output, :number])
        for output, number in enumerate(n_classes)
    ]


def take_logarithms(probabilities):
    """Return natural logarithms of probabilities or lists of them; ``-inf`` for 0."""
    if isinstance(probabilities, list):
        return [take_logarithms(of_output) for of_output in probabilities]
    with np.errstate(divide="ignore"):
        return np.log(probabilities)


def _find_places(labels, known):
    """Positions of labels among known classes, and whether they are among them."""
    kinds = {labels.dtype.kind, known.dtype.kind}
    if kinds <= set("biuf") or kinds == {"U"}:
        places = np.minimum(np.searchsorted(known, labels), len(known) - 1)
        return places, known[places] == labels
    # Numbers and strings have no common order, and "1" is not 1.
    number_of = {label: number for number, label in enumerate(known.tolist())}
    places = np.array([number_of.get(label, -1) for label in labels.tolist()])
    return places, places >= 0


def _encode_column(labels):
    """Sorted classes, and the number of each label's class."""
    if labels.dtype.kind in "iu":
        smallest = int(labels.min())
        width = int(labels.max()) - smallest + 1
        if width <= max(len(labels), SHORT_RANGE):
            # Marking the numbers that occur is faster than sorting.
            offsets = (labels - labels.dtype.type(smallest)).astype(np.intp)
            is_used = np.zeros(width, dtype=bool)
            is_used[offsets] = True
            classes = np.flatnonzero(is_used)
            ranks = np.cumsum(is_used, dtype=np.int32) - 1
            return (classes + smallest).astype(labels.dtype), ranks[offsets]
    return np.unique(labels, return_inverse=True)
