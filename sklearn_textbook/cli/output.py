"""Printed text: coloured on a terminal, plain and unwrapped in a pipe."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from rich.cells import cell_len
from rich.console import Console, Group
from rich.measure import Measurement
from rich.table import Table as RichTable
from rich.text import Text

from sklearn_textbook._contract.text_table import (
    ENOUGH_FOR_A_NAME,
    Bar,
    TextTable,
    align_columns,
    measure_width,
    shorten,
    shorten_names,
)
from sklearn_textbook.cli.blocks import (
    Block,
    Blocks,
    Heading,
    Line,
    Note,
    RuleLines,
    Summary,
    Tree,
)

# Lines are not wrapped in a pipe.
_NO_EDGE = 100_000
# Levels may be the same words; they are in braces or quotes, or follow an equals sign.
_RULE_WORDS = r"\{[^}]*\}|\"[^\"]*\"|(?P<cyan>(?<!= )\b(?:IF|AND|THEN|ELSE|ALWAYS)\b)"
#: Lines of a long cell that hangs below its header, and the width of these.
MOST_LINES = 4
_LEAST_WIDTH = 32


class Output:
    """Where a command writes, the standard output by default."""

    def __init__(self, stream=None) -> None:
        self.stream = stream or sys.stdout
        options = {"highlight": False, "markup": False, "emoji": False}
        console = Console(file=self.stream, **options)
        self.is_terminal = console.is_terminal
        if not self.is_terminal:
            options |= {"width": _NO_EDGE, "color_system": None}
            console = Console(file=self.stream, **options)
        self.console = console

    @property
    def width(self) -> int:
        """Columns of the terminal; in a pipe, practically no limit."""
        return self.console.width

    def write(self, *blocks: Block | Blocks) -> None:
        """Write blocks, each from the beginning of a line."""
        for block in blocks:
            if isinstance(block, Iterator):
                self.write(*block)
                continue
            with self.console.capture() as capture:
                for line in self._convert(block):
                    self.console.print(line, soft_wrap=True)
            # rich pads the cells of the last column.
            lines = [line.rstrip(" ") for line in capture.get().split("\n")]
            self.stream.write("\n".join(lines))

    def _convert(self, block):
        """Convert a block to texts and tables of rich."""
        match block:
            case Heading(text, note):
                note = note and f"  {note}"
                return ["", _wrap(Text.assemble((text, "bold"), (note, "dim")))]
            case Note(text):
                return [_wrap(Text(f"note: {text}", "yellow"))]
            case Line(text, start):
                return [self._hang(Text.assemble((start, "bold"), text))]
            case Tree():
                text = block.write(self.width if self.is_terminal else None)
                return [paint_tree(text)]
            case RuleLines(lines, marks):
                return [
                    self._hang(Text.assemble((mark, "dim"), paint_rules(line)))
                    for mark, line in zip(marks, lines, strict=True)
                ]
            case Summary():
                return block.write(self.width).splitlines()
            case TextTable():
                return self._convert_table(block)
        return [block]

    def _hang(self, text, indent: int = 4):
        """Wrap a long text on a terminal, further lines indented; elsewhere keep it."""
        if not self.is_terminal:
            return text
        first, rest = text[:indent], text[indent:]
        lines = rest.wrap(self.console, max(self.width - indent, 20))
        return Text.assemble(first, Text("\n" + " " * indent).join(lines))

    def _convert_table(self, table):
        if isinstance(table.narrow, TextTable) and table.width > self.width:
            return self._convert_table(table.narrow)
        if table.narrow == "split":
            return self._split(table)
        if table.narrow == "hang last":
            return self._hang_last(table)
        made = RichTable(box=None, pad_edge=False, padding=(0, 2, 0, 0))
        made.header_style = "dim"
        gives_way = table.narrow in ("wrap last", "cut last")
        last, widths = len(table.heads) - 1, table.widths
        for place, head in enumerate(table.heads):
            least = table.least[place] if place < len(table.least) else 0
            width = widths[place]
            # Such columns lose nothing; the first gets up to half the room.
            is_whole = width <= self.width // 2 and not (gives_way and place == last)
            made.add_column(
                head,
                justify="right" if table.sides[place] == "r" else "left",
                overflow="fold",
                no_wrap=is_whole,
                min_width=max(least, is_whole * width) or None,
            )
        for *cells, end in table.rows:
            end = ShortCell(end) if table.narrow == "cut last" else end
            made.add_row(*map(_convert_cell, [*cells, end]))
        return [made, *table.more]

    def _split(self, table):
        """Write a table in blocks of columns, with names as long as there is room."""
        names = [name for name, *_ in table.rows]
        longest = max(map(measure_width, names))
        room = self.width - min(ENOUGH_FOR_A_NAME, longest)
        heads = [shorten(head, room // 2) for head in table.heads[1:]]
        rows = [heads, *(cells for _, *cells in table.rows)]
        widths = [
            2 + max(map(measure_width, column)) for column in zip(*rows, strict=True)
        ]
        blocks = [*_split_columns(widths, room)]
        room = self.width - max(sum(widths[block]) for block in blocks)
        short = shorten_names(names, room)
        for block in blocks:
            cells = zip(["", *short], rows, strict=True)
            first, *lines = align_columns([name, *row[block]] for name, row in cells)
            yield from [""] if block.start else []
            yield from [Text(first, "dim"), *lines]
        yield from table.more
        if short != names:
            note = "names are shortened to the width of the terminal"
            yield from self._convert(Note(note))

    def _hang_last(self, table):
        """Write a table whose last column is wrapped below its header."""
        start = table.width - table.widths[-1]
        indent = min(start, self.width - _LEAST_WIDTH)
        room = MOST_LINES * (self.width - indent)
        for line in align_columns([table.heads, *table.rows], table.sides):
            text = Text(line[:start] + _shorten_rule(line[start:], room))
            yield self._hang(text, indent)
        for line in table.more:
            yield self._hang(Text(line))


def _wrap(text):
    """Have a text wrapped on a terminal, where other text is not."""
    text.no_wrap, text.overflow = False, "fold"
    return Group(text)


def _convert_cell(cell):
    return Text(str(cell), "cyan") if isinstance(cell, Bar) else cell


def _split_columns(widths, room):
    """Split columns into slices that fit into the room, of at least one column."""
    first, used = 0, 0
    for column, width in enumerate(widths):
        if used + width > room and column > first:
            yield slice(first, column)
            first, used = column, 0
        used += width
    yield slice(first, len(widths))


def _shorten_rule(text, room):
    """Leave out the last conditions of a long rule, but not what it predicts."""
    conditions, then, prediction = text.rpartition(" THEN ")
    if len(text) <= room or not then:
        return text
    kept = conditions[: max(room - len(then + prediction) - 2, 0)]
    return f"{kept.rpartition(' ')[0]} …{then}{prediction}"


class ShortCell:
    """A cell that is cut between entries at the width of its column, never wrapped."""

    def __init__(self, text) -> None:
        self.text = text

    def __rich_measure__(self, console, options):
        return Measurement.get(console, options, Text(self.text))

    def __rich_console__(self, console, options):
        text = cut_between_entries(self.text, options.max_width)
        yield Text(text, no_wrap=True, overflow="ellipsis")


def cut_between_entries(text, width):
    """Cut a text after a comma, or at least after a word, where there is one."""
    if cell_len(text) <= width:
        return text
    for separator in (", ", " "):
        parts = text.split(separator)
        for n_parts in range(len(parts) - 1, 0, -1):
            cut = separator.join(parts[:n_parts]) + f"{separator}…"
            if cell_len(cut) <= width:
                return cut
    return text


def paint_tree(text):
    """Dim the branches of a tree written as text, and emphasize its predictions."""
    painted = Text(text.rstrip("\n"))
    painted.highlight_regex(r"(?m)^[| \-]+", "dim")
    painted.highlight_regex(
        r"(?m)(?<=: )[^:\n]+(?= \([^()]*rows?\b[^()]*\)$)", "bold green"
    )
    painted.highlight_regex(r"(?m)\([^()]*rows?\b[^()]*\)$", "dim")
    return painted


def paint_rules(text):
    """Emphasize the keywords of rules written as text, and dim their numbers."""
    painted = Text(text.rstrip("\n"))
    painted.highlight_regex(_RULE_WORDS)
    painted.highlight_regex(r"(?m)(?<= THEN ).*(?= \[support)", "bold green")
    painted.highlight_regex(r"(?m)(?<=^ELSE )(?!IF ).*(?= \[support)", "bold green")
    painted.highlight_regex(r"(?m)\[support.*\]$", "dim")
    return painted
