"""Elements of HTML, escaped, and the output of the command as such elements."""

from __future__ import annotations

from html import escape

from rich.table import Table

#: Elements without content and end tag.
_VOID = ("br", "meta")


class Html(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def make(tag, *children, **attributes):
    """Make an element.

    Parameters
    ----------
    tag : str
        Its name.
    *children : str or Html
        Its content; text is escaped.
    **attributes : str or None
        Its attributes; None leaves one out. An underscore at the end of a name is
        left out, others are hyphens.

    Returns
    -------
    element : Html
        The element.
    """
    words = [tag]
    for name, value in attributes.items():
        if value is not None:
            key = name.rstrip("_").replace("_", "-")
            words.append(f'{key}="{escape(str(value))}"')
    start = f"<{' '.join(words)}>"
    if tag in _VOID:
        return Html(start)
    return Html(f"{start}{join(*children)}</{tag}>")


def join(*children):
    """Join texts, which are escaped, and elements."""
    return Html(
        "".join(
            child if isinstance(child, Html) else escape(str(child))
            for child in children
        )
    )


def make_table(heads, rows, *, caption=None, right=(), label=None):
    """Make a table whose first column names the rows.

    Parameters
    ----------
    heads : sequence of str
        Headers of the columns.
    rows : iterable of sequence of str or Html
        Cells.
    caption : str or None, default=None
        Text over the table.
    right : sequence of str, default=()
        Headers of the right-aligned columns.
    label : str or None, default=None
        Name of the table for screen readers if it has no caption.

    Returns
    -------
    table : Html
        In a box that scrolls if it is too wide.
    """
    classes = ["number" if head in right else None for head in heads]
    top = [
        make("th", head, scope="col", class_=kind) if head else make("td")
        for head, kind in zip(heads, classes, strict=True)
    ]
    lines = []
    for first, *others in rows:
        cells = [
            other if other.startswith("<td") else make("td", other, class_=kind)
            for other, kind in zip(others, classes[1:], strict=True)
        ]
        lines.append(make("tr", make("th", first, scope="row"), *cells))
    title = [] if caption is None else [make("caption", caption)]
    table = make(
        "table", *title, make("thead", make("tr", *top)), make("tbody", *lines)
    )
    return scroll(table, label or caption or "table")


def scroll(content, label):
    """Put wide content into a box that scrolls, also by the keyboard."""
    return make(
        "div", content, class_="scroll", tabindex="0", role="region", aria_label=label
    )


class HtmlOutput:
    """Where the printing functions of the command write a page of HTML.

    Parameters
    ----------
    is_prose : bool, default=False
        Whether lines are paragraphs; else they keep their spaces and line breaks.
    additions : dict of str to Html, default=None
        What follows a heading, by its text.
    folded : dict of str to str, default=None
        Titles of details that hide the lines below a heading, by its text.
    """

    #: As in a pipe: nothing is cut or wrapped.
    is_terminal = False
    width = 100_000

    def __init__(self, *, is_prose=False, additions=None, folded=None):
        self.is_prose = is_prose
        self.additions = additions or {}
        self.folded = folded or {}
        self._parts = []
        self._lines = []
        self._title = "text"

    def write(self, *things, wrap=False):
        """Write lines of text or tables."""
        for thing in things:
            if isinstance(thing, Table):
                self._end_lines()
                self._parts.append(_convert(thing, self._title))
            else:
                self._lines.append(str(thing))

    def hang(self, text, indent=4):
        """Return a text unchanged: the page wraps it."""
        return text

    def heading(self, text, note=""):
        """Write a heading with a note below it."""
        self._end_lines()
        self._title = text
        self._parts.append(make("h3", text[:1].upper() + text[1:]))
        if note:
            self._parts.append(make("p", note, class_="note"))
        self._parts.append(self.additions.get(text, Html()))

    def notes(self, notes):
        """Write notes."""
        self._end_lines()
        self._parts += [make("p", f"Note: {note}", class_="remark") for note in notes]

    def finish(self):
        """Return all written content as one element."""
        self._end_lines()
        return join(*self._parts)

    def _end_lines(self):
        lines, self._lines = self._lines, []
        lines = "\n".join(lines).strip("\n").split("\n")
        if self.is_prose or len(lines) == 1:
            self._parts += [make("p", line) for line in lines if line]
        elif self._title == "rules":  # long lines, without columns
            items = [make("li", make("code", line)) for line in lines]
            self._parts.append(make("ul", *items, class_="lines"))
        else:
            # The last column of a pruning report are rules, which may be long.
            kind = "wrapped" if self._title == "pruning" else None
            text = scroll(make("pre", "\n".join(lines), class_=kind), self._title)
            if self._title in self.folded:
                title = make("summary", self.folded[self._title])
                text = make("details", title, text)
            self._parts.append(text)


def _convert(table, label):
    """Convert a table of the terminal."""
    heads = [str(column.header) for column in table.columns]
    right = [str(c.header) for c in table.columns if c.justify == "right"]
    rows = zip(*(column.cells for column in table.columns), strict=True)
    return make_table(
        heads, [[*map(_convert_cell, row)] for row in rows], right=right, label=label
    )


def _convert_cell(cell):
    text = str(cell)
    if text and not text.strip("="):
        return make_bar(len(text) / 24)
    return text


def make_bar(share):
    """Make a cell with a bar."""
    width = f"width: {100 * share:.1f}%"
    bar = make("span", class_="bar", style=width, aria_hidden="true")
    return make("td", bar, class_="bars")
