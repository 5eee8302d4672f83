"""Formulas as MathML at build time: pages need no script and no network for them."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number

#: What the converter writes, and what browsers draw as TeX would.
CORRECTIONS = {
    '<mo stretchy="false">&#x0007C;': (
        '<mo stretchy="false" lspace="0" rspace="0">&#x0007C;'
    ),
    "&#x0007E;</mo></mover>": "&#x002DC;</mo></mover>",
    "&#x0005E;</mo></mover>": "&#x002C6;</mo></mover>",
    '<mover accent="true">': "<mover>",  # which lets accents touch their letters
}


def split_lines(source):
    """Split a block into formulas; lines that are aligned (&) become one table.

    The converter knows no ``aligned``, but ``matrix``; page.css aligns its columns.
    """
    # Sphinx puts every formula of a block on lines of its own.
    parts = [part.strip() for part in re.split(r"\n\s*\n", source) if part.strip()]
    if "&" not in source or r"\begin" in source:
        return parts
    return [r"\begin{matrix}" + r" \\ ".join(parts) + r"\end{matrix}"]


def render(source, display):
    """Convert a formula; refuse what the converter does not know."""
    known = source.replace(r"\arg", r"\operatorname{arg}")
    try:
        formula = convert(known, display=display)
    except Exception as error:
        raise ExtensionError(f"formula {source!r}: {error!r}") from error
    left = re.findall(r"\\\w+", re.sub(r"<[^>]*>", " ", formula))
    if "<mi>&</mi>" in formula:
        left.append("&")
    if left:
        raise ExtensionError(f"formula {source!r}: {left} cannot be converted")
    for written, drawn in CORRECTIONS.items():
        formula = formula.replace(written, drawn)
    if source.startswith(r"\begin{matrix}"):
        formula = formula.replace(
            "<mtable>", '<mtable class="aligned" displaystyle="true">', 1
        )
    return formula


def visit_inline(writer, node):
    writer.body.append(render(node.astext(), "inline"))
    raise nodes.SkipNode


def visit_block(writer, node):
    label = ""
    if node["number"]:
        number = get_node_equation_number(writer, node)
        label = f'<span class="eqno">({number})</span>'
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    for part in split_lines(node.astext()):
        writer.body.append(render(part, "block"))
    writer.body.append(f"{label}</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
