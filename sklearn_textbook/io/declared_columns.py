"""Conversion of texts to the types that a file declares, with errors for misfits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as compute

from sklearn_textbook.io.columns import (
    categories_from_text,
    find_non_number,
)
from sklearn_textbook.io.naming import list_names
from sklearn_textbook.io.table_file import TableFileError


@dataclass(frozen=True)
class DeclaredColumns:
    """Converter for the columns of one file.

    Parameters
    ----------
    path : str
        The file, for messages.
    find_line : callable
        Line of a row, counted from 0.
    """

    path: str
    find_line: Callable[[int], int | None]

    def refuse(self, name, text, row, problem, remedy):
        """Return the error for a value that does not fit its column."""
        return TableFileError(
            f"{text!r} {problem}",
            path=self.path,
            line=self.find_line(row),
            column=name,
            remedy=remedy,
        )

    def to_numbers(self, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
        """Convert texts to numbers; "nan" means a missing value."""
        try:
            numbers = column.cast(pa.float64())
        except pa.ArrowInvalid:
            row = find_non_number(column)
            if row is not None:
                raise self.refuse(
                    name,
                    column[row].as_py(),
                    row,
                    "is not a number",
                    "write a number, or ? if it is missing",
                ) from None
            # Python reads a few spellings that pyarrow does not, such as +1.
            values = [None if t is None else float(t) for t in column.to_pylist()]
            numbers = pa.chunked_array([pa.array(values, pa.float64())])
        not_a_number = compute.is_nan(numbers)
        return compute.if_else(not_a_number, pa.scalar(None, pa.float64()), numbers)

    def to_levels(
        self,
        name: str,
        column: pa.ChunkedArray,
        levels: Sequence[str],
        *,
        ordered: bool = False,
    ) -> pa.ChunkedArray:
        """Convert texts to categories with the declared levels, in their order."""
        coded = categories_from_text(column, list(levels), ordered=ordered)
        if coded.null_count > column.null_count:
            unknown = compute.and_(compute.is_null(coded), compute.is_valid(column))
            row = compute.index(unknown, True).as_py()
            raise self.refuse(
                name,
                column[row].as_py(),
                row,
                "is not a declared level",
                f"the declared levels are {list_names(levels)}",
            )
        return coded

    def convert_each(
        self,
        name: str,
        column: pa.ChunkedArray,
        convert: Callable,
        problem: str,
        remedy: str,
    ) -> list:
        """Convert texts one by one."""
        values = []
        for row, text in enumerate(column.to_pylist()):
            try:
                values.append(None if text is None else convert(text))
            except ValueError:
                remedy = f"{remedy}, or ? if it is missing"
                raise self.refuse(name, text, row, problem, remedy) from None
        return values
