"""The column to predict: classes or numbers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sklearn_textbook.cli.algorithms import find_counterpart, find_wish
from sklearn_textbook.cli.columns import count_distinct
from sklearn_textbook.cli.errors import make_fit_error
from sklearn_textbook.io.naming import count_things

#: Whole numbers with at most so many distinct values are taken as classes.
MOST_NUMBERED_CLASSES = 10
#: With more distinct values, numbers are not treated as classes.
MOST_NUMBERS = 100


@dataclass(frozen=True)
class TargetColumn:
    """The column to predict, in the form that an estimator accepts.

    The values are class labels or numbers, without missing ones; the note says what was
    decided and is not obvious. The order is that of the classes, if it is declared.
    """

    name: str
    values: np.ndarray
    is_classes: bool
    note: str = ""
    order: tuple = ()

    def order_classes(self, estimator) -> list[str]:
        """Tell an estimator of ordered classes their order, unless it has been set.

        Returns a note if it is not declared, and the classes are sorted.
        """
        if "class_order" not in estimator.get_params(deep=False):
            return []
        if estimator.class_order is not None:
            return []
        order, notes = list(self.order), []
        if not order:
            order = np.unique(self.values).tolist()
        if not self.order and isinstance(order[0], str):
            levels = "<".join(order)
            note = f"the classes are sorted, {levels}; another order is declared by "
            notes = [f"{note}--ordinal {self.name}=LOW<HIGH"]
        estimator.set_params(class_order=order)
        return notes


def read_target(
    column: pa.ChunkedArray, name: str, algorithm: str, path: str, text_note: str = ""
) -> TargetColumn:
    """Turn a column without missing values into class labels or numbers.

    ``text_note`` says how the column could be read if it is text that looks like
    numbers. What the algorithm cannot predict is refused.
    """
    wish = find_wish(algorithm)
    kind = column.type

    def refuse(problem, remedy):
        raise make_fit_error(problem, path, name, remedy)

    if pa.types.is_temporal(kind):
        refuse("dates and times cannot be predicted", "choose another target")
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind)
    if not is_number and wish == "regressor":
        refuse(
            f"{algorithm} predicts numbers, but the target is not numeric",
            text_note or f"{find_counterpart(algorithm, True)} predicts classes",
        )
    n_distinct = count_distinct(column)
    if n_distinct < 2:
        rows = count_things(len(column), "row")
        refuse(
            f"the target is {column[0].as_py()!r} in all {rows}, so there is nothing "
            "to predict",
            "choose another target",
        )
    if not is_number:
        order = ()
        if pa.types.is_dictionary(kind) and kind.ordered:
            order = tuple(column.unify_dictionaries().chunk(0).dictionary.to_pylist())
        return TargetColumn(name, as_labels(column), True, order=order)
    values = column.to_numpy().astype(np.float64)
    are_whole = bool(np.all(values == np.floor(values)))
    few = are_whole and n_distinct <= MOST_NUMBERED_CLASSES
    if wish == "regressor" or (wish is None and not few):
        return TargetColumn(name, values, False)
    if not are_whole or n_distinct > MOST_NUMBERS:
        numbers = f"{n_distinct:,} distinct numbers"
        if not are_whole:
            numbers = "numbers that are not whole"
        refuse(
            f"{algorithm} predicts classes, but the target has {numbers}",
            f"{find_counterpart(algorithm, False)} predicts numbers, --categorical "
            "treats them as classes",
        )
    note = ""
    if wish is None and n_distinct > 2:
        note = (
            f"the {n_distinct} whole numbers of {name!r} are treated as classes; use "
            f"--algorithm {algorithm}-regressor to predict the number"
        )
    return TargetColumn(name, values.astype(np.int64), True, note)


def as_labels(column) -> np.ndarray:
    """Return a column of classes as an array."""
    if pa.types.is_boolean(column.type):
        return column.to_numpy().astype(bool)
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_pylist())
