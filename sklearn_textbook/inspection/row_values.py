"""Values of rows as numbers, levels and dates, instead of codes."""

from __future__ import annotations

import math

import narwhals as nw
import numpy as np

from sklearn_textbook.tree.encode.columns import BOOLEAN, TEMPORAL
from sklearn_textbook.tree.explain.describe import quote_level
from sklearn_textbook.tree.explain.digits import format_number


class RowValues:
    """The values of a table as its users know them.

    Parameters
    ----------
    schema : TableSchema
        The columns.
    X : array-like, data frame or sparse matrix
        The table.
    matrix : ndarray or CSR array, shape (n_rows, n_features)
        Its numbers and level codes.
    """

    def __init__(self, schema, X, matrix) -> None:
        self.schema = schema
        self.X = X
        self.matrix = matrix

    def code(self, row, column) -> float:
        """Return the number or level code of a value; NaN if it is missing."""
        return float(self.matrix[row, column])

    def value(self, row, column):
        """Return a number, boolean, level, or date as text; None if it is missing."""
        return self.decode(column, self.code(row, column), row)

    def decode(
        self, column: int, code: float, row: int | None = None
    ) -> float | bool | int | str | None:
        """Return what :meth:`value` does for a number or level code."""
        schema = self.schema.columns[column]
        if math.isnan(code):
            return None
        if schema.levels is not None and code < 0:
            return self._read_unknown(row, column)
        if schema.source in TEMPORAL:
            return schema.format_value(code)
        if schema.levels is not None:
            return schema.levels[int(code)]
        return bool(code) if schema.source == BOOLEAN else code

    def _read_unknown(self, row, column):
        """Return a level that was not seen in training."""
        name = self.schema.columns[column].name
        frame = nw.from_native(self.X, eager_only=True, pass_through=True)
        if isinstance(frame, nw.DataFrame):
            is_named = self.schema.has_names and name in frame.columns
            return frame[name if is_named else frame.columns[column]][row]
        return np.asarray(self.X, dtype=object)[row, column]


def describe_value(value, tolerance=math.inf):
    """Write a value of :class:`RowValues` in a sentence.

    A number changes by at most ``tolerance``.

    Examples
    --------
    >>> from sklearn_textbook.inspection.row_values import describe_value
    >>> [describe_value(value) for value in (None, 1 / 3, True, "red")]
    ['missing', '0.3333', 'true', 'red']
    """
    if value is None:
        return "missing"
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        return format_number(value, tolerance=tolerance)
    return quote_level(value, '",')
