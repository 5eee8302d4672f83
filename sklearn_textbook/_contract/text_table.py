"""Tables of text: one structure, written as lines, on a terminal or as HTML."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate
from unicodedata import east_asian_width

#: Characters of the longest bar.
BAR_WIDTH = 24
#: A sufficient width of the name of a row.
ENOUGH_FOR_A_NAME = 16
#: Replacement for the middle of a shortened name.
GAP = "..."


def measure_width(text: str) -> int:
    """Width of a text on a screen, where Chinese characters take two columns."""
    return sum(2 if east_asian_width(letter) in "WF" else 1 for letter in text)


def shorten(text: str, room: float) -> str:
    """Leave out the middle of a text that is too wide; at least five columns remain."""
    if measure_width(text) <= room:
        return text
    room = max(room, 5) - len(GAP)
    begin = _cut(text, room - room // 2)
    return begin + GAP + _cut(text[::-1], room // 2)[::-1]


def shorten_names(names: Sequence[str], room: float) -> list[str]:
    """Shorten names; those that would become equal get their numbers, from 1."""
    shown = [shorten(name, room) for name in names]
    counts = Counter(shown)
    for place, (name, short) in enumerate(zip(names, shown, strict=True)):
        if counts[short] > 1 and short != name:
            number = f"#{place + 1}"
            shown[place] = (
                _cut(name, max(room - len(GAP) - len(number), 1)) + GAP + number
            )
    return shown


def _cut(text, room):
    """Take the beginning of a text that fits."""
    widths = list(accumulate(map(measure_width, text)))
    return text[: bisect_right(widths, room)]


def write_rounded(value: float) -> str:
    """Write a number of a table: whole ones in full, others with six digits."""
    is_whole = abs(value) < 1e12 and value == int(value)
    return str(int(value)) if is_whole else f"{value:.6g}"


@dataclass(frozen=True)
class Bar:
    """A cell with a bar, whose length is a fraction of the longest."""

    fraction: float

    def __str__(self) -> str:
        return "=" * round(BAR_WIDTH * self.fraction)


@dataclass(frozen=True)
class TextTable:
    """A table of texts, of which the first column names the rows."""

    heads: Sequence
    rows: Sequence
    #: "l" aligns a column at the left, "r" at the right; the last letter is also that
    #: of all further columns.
    sides: str = "lr"
    #: Lines below the table, such as the number of rows that are left out.
    more: Sequence[str] = ()
    #: What happens where the table is too wide: another one is written instead; wide
    #: columns are wrapped ("wrap"), the last one first ("wrap last") or below its
    #: header ("hang last"); the last one is cut ("cut last"); or the columns are split
    #: into several tables ("split").
    narrow: TextTable | str = "wrap"
    #: Least widths of the first columns.
    least: Sequence[int] = ()

    def __post_init__(self) -> None:
        missing = len(self.heads) - len(self.sides)
        object.__setattr__(self, "sides", self.sides + self.sides[-1] * missing)

    @property
    def widths(self) -> list[int]:
        """Widths of the columns without wrapping."""
        columns = zip(self.heads, *self.rows, strict=True)
        return [max(measure_width(str(cell)) for cell in cells) for cells in columns]

    @property
    def width(self) -> int:
        """Width of the table without wrapping."""
        return sum(self.widths) + 2 * (len(self.heads) - 1)

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
