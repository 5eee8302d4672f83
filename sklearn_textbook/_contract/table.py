"""Small tables of results: arrays of equal length by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from sklearn_textbook._contract.text_table import align_columns, write_rounded

#: Rows at either end of a table that are printed.
_SHOWN_ROWS = 10


class Table(dict):
    """A table of equal-length arrays by name.

    Printed, it shows at most its first and last ten rows.

    Parameters
    ----------
    **columns : dict of array
        The columns.
    """

    def __init__(self, **columns: Any) -> None:
        super().__init__({name: np.asarray(data) for name, data in columns.items()})
        shapes = {name: column.shape for name, column in self.items()}
        if any(shape != (self.n_rows,) for shape in shapes.values()):
            raise ValueError(
                f"The columns of a table must have equal lengths; got shapes {shapes}."
            )

    def __reduce__(self):
        return _make_table, (type(self), dict(self)), vars(self) or None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.values()))) if self else 0

    def as_frame(self):
        """Return the table as a pandas DataFrame."""
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError(
                "as_frame requires pandas: pip install pandas. The table itself is a "
                "dictionary of arrays, from which any other data frame can be made."
            ) from error
        return pd.DataFrame(dict(self))

    def __str__(self):
        if not self:
            return f"{type(self).__name__}()"
        n_left_out = self.n_rows - 2 * _SHOWN_ROWS
        rows = np.arange(self.n_rows)
        if n_left_out > 1:
            rows = np.r_[rows[:_SHOWN_ROWS], rows[-_SHOWN_ROWS:]]
        columns = [
            [name, *map(_word, column[rows].tolist())] for name, column in self.items()
        ]
        lines = [f" {line}" for line in align_columns(zip(*columns, strict=True), "r")]
        if n_left_out > 1:
            lines.insert(1 + _SHOWN_ROWS, f" ... {n_left_out:,} more rows ...")
        return "\n".join(lines)

    def __repr__(self) -> str:
        return str(self)


def _make_table(kind, columns):
    return kind(**columns)


def _word(value):
    return write_rounded(value) if isinstance(value, float) else str(value)
