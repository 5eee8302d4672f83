"""Weights of levels and of pairs of levels from label arrays."""

from dataclasses import dataclass

import numpy as np

from sklearn_textbook._contract.labels import decode_dictionary


def _as_vector(values, name):
    """Return a one-dimensional array that keeps missing values."""
    if isinstance(values, np.ma.MaskedArray):
        vector = np.array(values.data, dtype=object)
        vector[np.ma.getmaskarray(values)] = None
    elif hasattr(values, "__array__"):
        vector = np.asarray(decode_dictionary(values))
    else:  # numpy would convert a NaN among strings to the string "nan"
        vector = np.array(values, dtype=object)
    if vector.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {vector.shape}")
    if len(vector) == 0:
        raise ValueError(f"{name} must have at least one value; it is empty")
    return vector


def _is_missing(value):
    if value is None:
        return True
    differs = value != value
    # pandas.NA compares as NA, which has no truth value.
    return bool(differs) if isinstance(differs, bool | np.bool_) else True


def _encode_objects(vector, name):
    table = {}  # value -> code, or -1 for the missing ones
    codes = np.empty(len(vector), dtype=np.int64)
    levels = []
    for i, value in enumerate(vector.tolist()):
        try:
            code = table.get(value)
        except TypeError:
            raise TypeError(
                f"{name} must be labels; got {value!r} of type "
                f"{type(value).__name__} at position {i}"
            ) from None
        if code is None:
            code = -1 if _is_missing(value) else len(levels)
            if code >= 0:
                levels.append(value)
            table[value] = code
        codes[i] = code
    return codes, levels


def encode_labels(values, name):
    """Return the codes (int64, -1 for missing) and the levels that they number."""
    vector = _as_vector(values, name)
    kind = vector.dtype.kind
    if kind not in "biufcmMUS":
        return _encode_objects(vector, name)
    if kind in "fc":
        missing = np.isnan(vector)
    elif kind in "mM":
        missing = np.isnat(vector)
    else:
        missing = np.zeros(len(vector), dtype=bool)
    levels, known_codes = np.unique(vector[~missing], return_inverse=True)
    codes = np.full(len(vector), -1, dtype=np.int64)
    codes[~missing] = known_codes
    return codes, levels


def check_weights(sample_weight, n_samples):
    """Return the weights as a float array of n_samples, ones for None."""
    if sample_weight is None:
        return np.ones(n_samples)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n_samples,):
        raise ValueError(
            f"sample_weight must have shape ({n_samples},); got {weights.shape}"
        )
    if not np.isfinite(weights).all():
        raise ValueError("sample_weight must be finite; it contains NaN or infinity")
    with np.errstate(over="ignore"):
        total = weights.sum()
    if not np.isfinite(total):
        raise ValueError("sample_weight must have a finite sum")
    if (weights < 0).any():
        raise ValueError(f"sample_weight must not be negative; got {weights.min()}")
    if not weights.any():
        raise ValueError("sample_weight must not be zero for every row")
    return weights


def check_same_length(x, y) -> None:
    """Raise ValueError if the two columns differ in length."""
    if len(x) != len(y):
        raise ValueError(
            f"x and y must have the same length; got {len(x)} and {len(y)}"
        )


def check_complete(codes, name) -> None:
    """Raise ValueError if a label is missing."""
    if (codes < 0).any():
        position = int(np.argmax(codes < 0))
        raise ValueError(
            f"{name} must not have missing values; got one at position {position}"
        )


def read_numbers(values, name):
    """Return a column of numbers as a float array, with NaN for missing."""
    if isinstance(values, np.ma.MaskedArray):
        values = values.astype(np.float64).filled(np.nan)
    try:
        numbers = np.asarray(decode_dictionary(values), dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from None
    if numbers.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional; got shape {numbers.shape}")
    if len(numbers) == 0:
        raise ValueError(f"{name} must have at least one value; it is empty")
    if np.isinf(numbers).any():
        raise ValueError(f"{name} must be finite; it contains infinity")
    return numbers


def check_target(y):
    """Return a numeric target, all of it finite."""
    values = read_numbers(y, "y")
    if np.isnan(values).any():
        position = int(np.argmax(np.isnan(values)))
        raise ValueError(
            f"y must not have missing values; got one at position {position}"
        )
    return values


def weigh_labels(y, sample_weight, name: str = "y", missing_allowed: bool = False):
    """Return the weights of the levels of a column, all of them positive."""
    codes, levels = encode_labels(y, name)
    if not missing_allowed:
        check_complete(codes, name)
    weights = check_weights(sample_weight, len(codes))
    known = codes >= 0
    level_weights = np.bincount(codes[known], weights[known], len(levels))
    return level_weights[level_weights > 0]


@dataclass(frozen=True)
class CrossTable:
    """Weights of the pairs (level of x, level of y) that occur where x is known.

    ``cell_x`` and ``cell_y`` are the codes of each pair and ``cell_weight`` its
    weight. ``known_fraction`` is the book's rho, the weight of the rows with known x
    over the weight of all rows.
    """

    cell_x: np.ndarray
    cell_y: np.ndarray
    cell_weight: np.ndarray
    x_levels: list
    known_fraction: float

    @property
    def x_weight(self):
        return np.bincount(self.cell_x, self.cell_weight)

    @property
    def y_weight(self):
        weight = np.bincount(self.cell_y, self.cell_weight)
        return weight[weight > 0]


def cross_tabulate(x, y, sample_weight):
    """Cross-tabulate two columns; rows of weight 0 are dropped."""
    x_codes, x_levels = encode_labels(x, "x")
    y_codes, y_levels = encode_labels(y, "y")
    check_same_length(x_codes, y_codes)
    check_complete(y_codes, "y")
    weights = check_weights(sample_weight, len(y_codes))
    known = (x_codes >= 0) & (weights > 0)
    known_weights = weights[known]
    known_fraction = known_weights.sum() / weights.sum()
    n_y = len(y_levels)
    pairs = x_codes[known] * n_y + y_codes[known]
    n_pairs = len(x_levels) * n_y
    if n_pairs <= 4 * len(weights) + 1024:
        cell_weight = np.bincount(pairs, known_weights, n_pairs)
        cells = np.flatnonzero(cell_weight)
        cell_weight = cell_weight[cells]
    else:  # many levels on both sides: only few pairs occur
        cells, pairs = np.unique(pairs, return_inverse=True)
        cell_weight = np.bincount(pairs, known_weights)
    cell_x, cell_y = np.divmod(cells, n_y)
    return CrossTable(cell_x, cell_y, cell_weight, x_levels, float(known_fraction))
