"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

import html
import itertools
from typing import Any

from numpy.typing import ArrayLike

from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.tree.explain.boxes import (
    BASE_SIZE,
    EDGE_WIDTHS,
    SMALL,
    BoxWriter,
)
from sklearn_textbook.tree.explain.colors import (
    EDGE_COLOR,
    FRAME_COLOR,
    NOTE_COLOR,
    TEXT_COLOR,
    class_colors,
    node_colors,
)
from sklearn_textbook.tree.explain.describe import has_children
from sklearn_textbook.tree.explain.fitted import read_fitted, word
from sklearn_textbook.tree.explain.legend import list_classes
from sklearn_textbook.tree.explain.shape import check_root
from sklearn_textbook.tree.explain.text import check_at_least

#: Width and height of the bar of class proportions, in points.
BAR = (72, 4)
#: Classes in a row of the legend.
LEGEND_COLUMNS = 6


def export_graphviz(
    estimator: Any,
    out_file: Any = None,
    *,
    max_depth: int | None = None,
    root: int = 0,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    filled: bool = True,
    leaves_parallel: bool = False,
    impurity: bool = False,
    node_ids: bool = False,
    proportion: bool = False,
    rotate: bool = False,
    rounded: bool = True,
    precision: int | None = None,
    fontname: str = "helvetica",
    show_missing: bool | None = None,
    max_levels: int | None = 4,
) -> str | None:
    r"""Export a tree in the DOT language of Graphviz.

    ``dot -Tsvg tree.dot -o tree.svg`` draws the file; this function itself does not
    need Graphviz. The drawing looks like that of :func:`plot_tree`: nodes show the
    column of their test (for an oblique test, the weighted sum of columns) or the
    prediction, and a bar of the class proportions; edges show the condition of the
    branch, and their width increases with the number of rows.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`.
    out_file : file-like, path or None, default=None
        File to write to; ``None`` returns the text.
    max_depth : int or None, default=None
        Maximum depth to draw, counted from ``root``; ``None`` draws all levels. Nodes
        whose children are not drawn show the number of nodes below them.
    root : int, default=0
        Number of the node whose subtree is drawn; ``node_ids=True`` shows the numbers.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs, a list
        of such lists); ``None`` uses the class labels.
    filled : bool, default=True
        Whether to colour the nodes by the predicted class and its proportion (in
        regression, by the value), and to draw the bars and a legend of the classes.
    leaves_parallel : bool, default=False
        Whether to draw all leaves at the bottom.
    impurity : bool, default=False
        Whether to show the impurity of each node.
    node_ids : bool, default=False
        Whether to show the number of each node.
    proportion : bool, default=False
        Whether to show fractions of all rows instead of numbers of rows.
    rotate : bool, default=False
        Whether to draw the tree from left to right.
    rounded : bool, default=True
        Whether to round the corners of the nodes.
    precision : int or None, default=None
        Number of decimals of thresholds and values. ``None`` writes each threshold with
        as few decimals as distinguish it from the other thresholds of its column. For
        the weights of oblique tests, this is the number of significant digits.
    fontname : str, default="helvetica"
        Name of the font.
    show_missing : bool or None, default=None
        Whether edges show where missing values go. ``None`` shows this for columns with
        missing values in training.
    max_levels : int or None, default=4
        Maximum number of levels written for a set of levels, and of columns for an
        oblique test; for the others, only their number is written. ``None`` writes all.

    Returns
    -------
    str or None
        The text if ``out_file`` is None.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If ``estimator`` is not a tree of this package.
    ValueError
        If a parameter is out of range, or there are too few or too many names.

    See Also
    --------
    plot_tree : Draws the tree with matplotlib.
    sklearn.tree.export_graphviz : The same for scikit-learn trees. Here, the names of
        columns and classes are written by default, and a test may have any number of
        branches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, export_graphviz
    >>> iris = load_iris(as_frame=True)
    >>> tree = CARTClassifier(max_depth=1).fit(iris.data, iris.target)
    >>> text = export_graphviz(tree)
    >>> text.splitlines()[-2]
    '0 -> 2 [label=<<TABLE ...><TR><TD>&gt; 2.45</TD></TR></TABLE>>, penwidth="2.57"];'
    """
    check_at_least("max_depth", max_depth, 0, allow_none=True)
    check_at_least("precision", precision, 0, allow_none=True)
    check_at_least("max_levels", max_levels, 1, allow_none=True)
    fitted = read_fitted(estimator, feature_names, class_names)
    check_root(root, fitted.tree)
    writer = BoxWriter(
        fitted,
        precision=precision,
        max_levels=max_levels,
        show_missing=show_missing,
        impurity=impurity,
        node_ids=node_ids,
        proportion=proportion,
        bars=filled,
    )
    style = [("filled", filled), ("rounded", rounded)]
    style = ", ".join(name for name, is_on in style if is_on)
    lines = [
        *_header(style, rotate, leaves_parallel, fontname),
        *_legend(writer),
        *_graph(writer, root, max_depth, filled, leaves_parallel),
        "}\n",
    ]
    return _write("\n".join(lines), out_file)


def escape(text):
    """Escape text for a quoted string of DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _header(style, rotate, leaves_parallel, fontname):
    """Write the opening lines: attributes of all nodes and edges."""
    font = f'fontname="{escape(word(fontname))}", fontcolor="{TEXT_COLOR}"'
    style = f'style="{style}", ' if style else ""
    small = f"{BASE_SIZE * SMALL:g}"
    yield "digraph Tree {"
    yield (
        f'node [shape=box, {style}color="{FRAME_COLOR}", penwidth="0.8", '
        f'margin="0.1,0.05", height="0", width="0", fontsize="{BASE_SIZE:g}", {font}];'
    )
    yield f'graph [fontsize="{small}", {font}];'
    if leaves_parallel:
        yield "graph [ranksep=equally, splines=polyline];"
    yield f'edge [color="{EDGE_COLOR}", arrowhead=none, fontsize="{small}", {font}];'
    if rotate:
        yield "rankdir=LR;"


def _legend(writer):
    """Write the legend of the classes, below the drawing."""
    names, colors = list_classes(writer)
    if not names:
        return
    cells = [
        f'<TD WIDTH="10" HEIGHT="8" FIXEDSIZE="TRUE" BGCOLOR="{color}"></TD>'
        f'<TD ALIGN="LEFT">{_spell(name)}  </TD>'
        if color != "none"
        else f'<TD></TD><TD ALIGN="LEFT">{_spell(name)}</TD>'
        for name, color in zip(names, colors, strict=True)
    ]
    rows = [
        f"<TR>{''.join(cells[start : start + LEGEND_COLUMNS])}</TR>"
        for start in range(0, len(cells), LEGEND_COLUMNS)
    ]
    table = f'<TABLE BORDER="0" CELLSPACING="3">{"".join(rows)}</TABLE>'
    yield f'graph [labelloc="b", label=<{table}>];'


def _graph(writer, root, max_depth, filled, leaves_parallel):
    """Iterate over nodes, each followed by the edge that leads to it, depth first."""
    fitted = writer.words.fitted
    tree, nodes = fitted.tree, fitted.tree.nodes
    colors = node_colors(fitted) if filled else None
    palette = class_colors(int(tree.n_classes[0]))
    leaves, stack = [], [(root, 0)]
    while stack:
        node, depth = stack.pop()
        is_inner = has_children(tree, node)
        is_cut = is_inner and max_depth is not None and depth >= max_depth
        box = writer.write(node, is_cut)
        fill = f', fillcolor="{colors[node]}"' if filled else ""
        yield f"{node} [label=<{_label(box, palette)}>{fill}];"
        if node != root:
            fraction = float(nodes["weight"][node] / (nodes["weight"][root] or 1.0))
            yield f"{nodes['parent'][node]} -> {node} [{_edge(box, fraction)}];"
        if not is_inner or is_cut:
            leaves.append(node)
            continue
        first, count = int(nodes["first_child"][node]), int(nodes["n_children"][node])
        children = range(first, first + count)
        stack += [(child, depth + 1) for child in reversed(children)]
    if leaves_parallel:
        yield f"{{rank=same; {'; '.join(map(str, leaves))}}};"


def _label(box, palette):
    """Write the text of a node and the bar of its class proportions as a table."""
    rows = [f"<B>{_spell(text)}</B>" for text in box.title]
    size = f"{BASE_SIZE * SMALL:g}"
    rows += [
        f'<FONT POINT-SIZE="{size}" COLOR="{NOTE_COLOR}">{_spell(text)}</FONT>'
        for text in box.notes
    ]
    width, height = BAR
    # Whole points whose sum is the width.
    ends = [round(width * end) for end in itertools.accumulate(box.fractions)]
    widths = [stop - start for start, stop in itertools.pairwise([0, *ends])]
    cells = [
        f'<TD WIDTH="{part}" HEIGHT="{height}" FIXEDSIZE="TRUE" BGCOLOR="{color}"></TD>'
        for part, color in zip(widths, palette, strict=False)
        if part
    ]
    if cells:
        size = f'FIXEDSIZE="TRUE" WIDTH="{width}" HEIGHT="{height}"'
        rows.append(_table(f"<TR>{''.join(cells)}</TR>", f'CELLPADDING="0" {size}'))
    rows = "".join(f"<TR><TD>{row}</TD></TR>" for row in rows)
    return _table(rows, 'CELLPADDING="1"')


def _edge(box, fraction) -> str:
    """Write the condition of a branch, on white, and the width of the edge."""
    thin, wide = EDGE_WIDTHS
    text = "<BR/>".join(_spell(line) for line in box.label)
    label = _table(f"<TR><TD>{text}</TD></TR>", 'CELLPADDING="1" BGCOLOR="white"')
    return f'label=<{label}>, penwidth="{thin + (wide - thin) * fraction:.2f}"'


def _table(rows, attributes) -> str:
    borders = 'BORDER="0" CELLBORDER="0" CELLSPACING="0"'
    return f"<TABLE {borders} {attributes}>{rows}</TABLE>"


def _spell(text):
    r"""Write text for an HTML-like label, where \N and \G would be names."""
    return html.escape(text, quote=False).replace("\\", "\\\\") or " "


def _write(text, out_file):
    """Write to an open file or to a path, or return the text."""
    if out_file is None:
        return text
    if hasattr(out_file, "write"):
        out_file.write(text)
    else:
        write_file(out_file, text)
    return None
