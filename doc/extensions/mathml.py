"""Formulas as MathML at build time: pages need no script, font or network for them."""

import re

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.errors import ExtensionError
from sphinx.util.math import get_node_equation_number


def render(source, display):
    """Convert a formula; refuse what the converter does not know."""
    known = source.replace(r"\arg", r"\operatorname{arg}")
    try:
        formula = convert(known, display=display)
    except Exception as error:
        raise ExtensionError(f"formula {source!r}: {error!r}") from error
    left = re.findall(r"\\\w+", re.sub(r"<[^>]*>", " ", formula))
    if left:
        raise ExtensionError(f"formula {source!r}: {left} cannot be converted")
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
    # Sphinx puts every formula of a block on lines of its own.
    for part in filter(str.strip, re.split(r"\n\s*\n", node.astext())):
        writer.body.append(render(part, "block"))
    writer.body.append(f"{label}</div>")
    raise nodes.SkipNode


def setup(app):
    app.add_html_math_renderer("mathml", (visit_inline, None), (visit_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
