"""Names of columns as files have them."""

from __future__ import annotations

from collections.abc import Sequence

from sklearn_textbook.io.table_file import TableFileError


def clean_names(
    names: Sequence[str], *, path: str, line: int | None = None
) -> tuple[list[str], list[str]]:
    """Strip blanks around the names of columns, and name those without a name.

    Parameters
    ----------
    names : sequence of str
        The names in the file.
    path : str
        The file, for messages.
    line : int, default=None
        Their line.

    Returns
    -------
    names : list of str
        The names.
    notes : list of str
        One sentence for every column without a name.

    Raises
    ------
    TableFileError
        If two names are equal.

    Examples
    --------
    >>> from sklearn_textbook.io.column_names import clean_names
    >>> clean_names(["size ", ""], path="fruit.csv")
    (['size', 'column_2'], ["column 2 has no name; named 'column_2'"])
    """
    places, notes = {}, []
    for number, name in enumerate(map(str.strip, names), start=1):
        if not name:
            name = f"column_{number}"
            notes.append(f"column {number} has no name; named {name!r}")
        if name in places:
            raise TableFileError(
                f"duplicate name of columns {places[name]} and {number}",
                path=path,
                line=line,
                column=name,
                remedy="column names must be unique",
            )
        places[name] = number
    return list(places), notes
