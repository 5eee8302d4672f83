"""Elements of HTML, escaped."""

from __future__ import annotations

from html import escape

from sklearn_textbook._contract.text_table import Bar, TextTable

#: Elements without content and end tag.
_VOID = ("br", "meta")
_SIDES = {"l": "text-align: left", "r": "text-align: right"}
#: A column whose cells may have several lines.
_LONG = "; white-space: normal; min-width: 14rem"


class Html(str):
    """Text that is HTML already and is not escaped again."""

    __slots__ = ()


def make(tag: str, *children: str, **attributes: str | None) -> Html:
    """Make an element; None leaves an attribute out.

    An underscore at the end of the name of an attribute is left out, others are
    hyphens.
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


def join(*children: str) -> Html:
    """Join texts, which are escaped, and elements."""
    return Html(
        "".join(
            child if isinstance(child, Html) else escape(str(child))
            for child in children
        )
    )


def make_table(
    table: TextTable, caption: str | None = None, class_: str | None = None
) -> Html:
    """Make a table whose first column names the rows; cells may be elements."""
    if not table.rows:
        return Html()
    styles = [_SIDES[side] for side in table.sides]
    if table.narrow in ("wrap last", "hang last", "cut last"):
        styles[-1] += _LONG
    heads = [
        make("th", head, scope="col", style=style) if head else make("td")
        for head, style in zip(table.heads, styles, strict=True)
    ]
    lines = []
    for first, *others in table.rows:
        cells = [
            _make_cell(cell, style)
            for cell, style in zip(others, styles[1:], strict=True)
        ]
        name = make("th", first, scope="row", style=styles[0])
        lines.append(make("tr", name, *cells))
    title = [] if caption is None else [make("caption", caption)]
    head, body = make("thead", make("tr", *heads)), make("tbody", *lines)
    return make("table", *title, head, body, class_=class_)


def _make_cell(cell, style):
    if isinstance(cell, Bar):
        width = f"width: {100 * cell.fraction:.1f}%"
        bar = make("span", class_="bar", style=width, aria_hidden="true")
        return make("td", bar, class_="bars")
    is_cell = isinstance(cell, Html) and cell.startswith("<td")
    return cell if is_cell else make("td", cell, style=style)
