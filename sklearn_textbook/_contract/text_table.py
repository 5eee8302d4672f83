"""Tables of text: one structure, written as lines, on a terminal or as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

#: Characters of the longest bar.
BAR_WIDTH = 24


def measure_width(text: str) -> int:
    """Width of a text on a screen, where Chinese characters take two columns."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def write_number(value: float) -> str:
    """Write a number of a table: whole ones in full, others with six digits."""
    is_whole = abs(value) < 1e12 and value == int(value)
    return str(int(value)) if is_whole else f"{value:.6g}"


@dataclass(frozen=True)
class Bar:
    """A cell with a bar, whose length is a fraction of the longest."""

    share: float

    def __str__(self) -> str:
        return "=" * round(BAR_WIDTH * self.share)


@dataclass(frozen=True)
class TextTable:
    """A table of texts, of which the first column names the rows.

    Parameters
    ----------
    heads : sequence of str
        Headers of the columns.
    rows : sequence of sequences of str or Bar
        The cells.
    sides : str, default="lr"
        One letter for each column: "l" aligns it at the left, "r" at the right. The
        last letter is also that of all further columns.
    more : sequence of str, default=()
        Lines below the table, such as the number of rows that are left out.
    narrow : TextTable or str, default="wrap"
        What happens where the table is too wide: another one is written instead; wide
        columns are wrapped ("wrap"), the last one first ("wrap last") or below its
        header ("hang last"); the last one is cut ("cut last"); or the columns are split
        into several tables ("split").
    least : sequence of int, default=()
        Least widths of the first columns.
    """

    heads: Sequence
    rows: Sequence
    sides: str = "lr"
    more: Sequence[str] = ()
    narrow: TextTable | str = "wrap"
    least: Sequence[int] = ()

    def __post_init__(self):
        missing = len(self.heads) - len(self.sides)
        object.__setattr__(self, "sides", self.sides + self.sides[-1] * missing)

    @property
    def width(self) -> int:
        """Width of the table without wrapping."""
        columns = zip(self.heads, *self.rows, strict=True)
        widths = [max(measure_width(str(cell)) for cell in cells) for cells in columns]
        return sum(widths) + 2 * (len(widths) - 1)

    def write_lines(self) -> list[str]:
        """Write one line for the headers, one for each row, and those below."""
        return [*align_columns([self.heads, *self.rows], self.sides), *self.more]


def align_columns(rows: Iterable, sides: str = "lr") -> list[str]:
    """Write one line for each row of cells, aligned as in `TextTable`."""
    table = [[str(cell) for cell in row] for row in rows]
    widths = [max(map(measure_width, column)) for column in zip(*table, strict=True)]
    sides += sides[-1] * (len(widths) - len(sides))
    lines = []
    for row in table:
        cells = []
        for text, width, side in zip(row, widths, sides, strict=False):
            space = " " * (width - measure_width(text))
            cells.append(space + text if side == "r" else text + space)
        lines.append("  ".join(cells).rstrip())
    return lines
