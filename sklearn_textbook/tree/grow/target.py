"""What a tree is grown for: the classes or values of the rows, and the root."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

#: Squares of numbers up to that, of their inverses, and sums of these are numbers, too.
LARGEST = 1e130


@dataclass(frozen=True, eq=False)
class Target:
    """Classes or values of all rows.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows, n_outputs), or None
        Class codes of a classification problem.
    values : ndarray of float64, shape (n_rows, n_outputs), or None
        Values of a regression problem.
    n_classes : ndarray of int64, shape (n_outputs,)
        Number of classes of each output; 1 for regression.
    """

    codes: np.ndarray | None
    values: np.ndarray | None
    n_classes: np.ndarray

    @property
    def is_classifier(self) -> bool:
        """Whether the rows have classes."""
        return self.codes is not None

    @property
    def n_rows(self):
        """Number of rows."""
        return (self.codes if self.is_classifier else self.values).shape[0]

    @property
    def n_outputs(self) -> int:
        """Number of outputs."""
        return len(self.n_classes)

    @property
    def output_start(self):
        """First statistic of every output, and one past the last."""
        return np.concatenate([[0], np.cumsum(self.n_classes)]).astype(np.int64)

    def take(self, rows):
        """Take some of the rows."""
        return Target(
            None if self.codes is None else self.codes[rows],
            None if self.values is None else self.values[rows],
            self.n_classes,
        )


def require_counts(values: np.ndarray) -> None:
    """Raise ValueError for numbers that Poisson regression does not allow."""
    if (values < 0).any():
        raise ValueError(
            "Some value(s) of y are negative which is not allowed for Poisson "
            "regression."
        )
    if values.sum() <= 0:
        raise ValueError(
            "Sum of y is not positive which is necessary for Poisson regression."
        )


def require_squares(values: np.ndarray) -> None:
    """Raise ValueError for numbers whose squares are infinite, or all zero."""
    largest = np.abs(values).max(initial=0.0)
    if largest == 0.0 or 1.0 / LARGEST < largest < LARGEST:
        return
    place = np.unravel_index(np.abs(values).argmax(), values.shape)
    square = "zero" if largest < 1.0 else "infinite"
    raise ValueError(
        f"The largest number of y, {values[place]!s} in row {place[0]}, has a square "
        f"that is {square}, or nearly: multiply y by a power of ten."
    )


def measure_root(
    target: Target, criterion: str, weight: np.ndarray | None
) -> tuple[np.ndarray, float, bool]:
    """Statistics, impurity and purity of all rows together."""
    if target.is_classifier:
        return _measure_classes(target, criterion, weight)
    return _measure_values(target.values, criterion, weight)


def _measure_classes(target, criterion, weight):
    statistics, impurity, is_pure = [], 0.0, True
    for output, n_classes in enumerate(target.n_classes):
        counts = np.bincount(target.codes[:, output], weight, n_classes).astype(float)
        part, is_one_class = measure_counts(counts, criterion)
        impurity += part
        is_pure = is_pure and is_one_class
        statistics.append(counts)
    impurity = 0.0 if is_pure else impurity / target.n_outputs
    return np.concatenate(statistics), impurity, is_pure


def measure_counts(counts: np.ndarray, criterion: str) -> tuple[float, bool]:
    """Impurity of one output."""
    present = counts[counts > 0]
    fraction = present / present.sum()
    if criterion == "gini":
        impurity = 1.0 - (fraction**2).sum()
    elif criterion == "error":
        impurity = 1.0 - fraction.max()
    else:
        impurity = 0.0 - (fraction * np.log2(fraction)).sum()
    return impurity, len(present) == 1


def _measure_values(values, criterion, weight):
    n_rows, n_outputs = values.shape
    weight = np.ones(n_rows) if weight is None else weight
    total = np.cumsum(weight)[-1]
    is_pure = bool((values == values[0]).all())
    statistics, impurity = np.empty(n_outputs), 0.0
    for output in range(n_outputs):
        y = values[:, output]
        if criterion == "absolute_error":
            statistics[output] = find_weighted_median(y, weight)
            impurity += np.sum(weight * np.abs(y - statistics[output])) / total
            continue
        # One after the other: sums of symmetric values are then exactly 0.
        statistics[output] = np.cumsum(weight * y)[-1] / total
        if criterion == "poisson":
            positive = y > 0
            ratio = y[positive] / statistics[output]
            impurity += np.sum(weight[positive] * y[positive] * np.log(ratio)) / total
        else:
            deviation = y - statistics[output]
            impurity += np.sum(weight * deviation * deviation) / total
    if is_pure:
        return values[0].copy(), 0.0, True
    return statistics, max(impurity, 0.0) / n_outputs, False


def find_weighted_median(y: np.ndarray, weight: np.ndarray) -> float:
    """Find the weighted median.

    The first y whose cumulated weight exceeds half; where the cumulated weight is
    exactly half, the mean of this y and the next one.
    """
    order = np.argsort(y, kind="stable")
    cumulated = np.cumsum(weight[order])
    half = cumulated[-1] / 2
    slack = 1e-12 * cumulated[-1]
    first = int(np.searchsorted(cumulated, half - slack))
    if cumulated[first] <= half + slack and first + 1 < len(y):
        return y[order[first]] / 2 + y[order[first + 1]] / 2
    return float(y[order[first]])


@lru_cache(maxsize=4)
def make_entropy_table(n_rows):
    """Tabulate c log2 c for c = 0 .. n_rows + 1 in fixed point; and the unit.

    Sums of such integers are exact, so two partitions with the same counts
    have the same entropy whatever the order of summation.
    """
    counts = np.arange(n_rows + 2, dtype=np.float64)
    products = np.zeros(n_rows + 2)
    products[1:] = counts[1:] * np.log2(counts[1:])
    bits = int(np.floor(59 - np.log2(max(products[-1], 1.0))))
    table = np.rint(products * 2.0**bits).astype(np.int64)
    table.flags.writeable = False
    return table, 2.0**-bits


def make_class_target(codes: np.ndarray, n_classes: int | Sequence[int]) -> Target:
    """Make a target from class indices."""
    codes = np.asarray(codes, dtype=np.int32)
    codes = np.ascontiguousarray(codes.reshape(len(codes), -1))
    return Target(codes, None, np.atleast_1d(np.asarray(n_classes, dtype=np.int64)))


def make_value_target(values: np.ndarray) -> Target:
    """Make a target from values."""
    values = np.asarray(values, dtype=np.float64)
    values = np.ascontiguousarray(values.reshape(len(values), -1))
    return Target(None, values, np.ones(values.shape[1], dtype=np.int64))
