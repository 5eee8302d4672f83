"""A tree or an ensemble of trees as one HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from os import PathLike
from typing import Any

from numpy.typing import ArrayLike

from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.tree.explain.colors import class_colors
from sklearn_textbook.tree.explain.distributions import ChartMaker
from sklearn_textbook.tree.explain.page.members import list_members
from sklearn_textbook.tree.explain.page.tables import PageTables
from sklearn_textbook.tree.explain.text import check_at_least

#: The scripts, in the order in which they are joined.
SCRIPTS = (
    *("model.js", "layout.js", "panels.js", "boxes.js", "diagram.js"),
    *("row_form.js", "search.js", "page.js"),
)
FRAME_HEIGHT = 560


class Page(str):
    """The text of a page, which notebooks show in a frame."""

    __slots__ = ()

    def _repr_html_(self):
        """Return the page as a frame."""
        return make_frame(self)


def to_html(
    model: Any,
    path: str | PathLike[str] | None = None,
    *,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    title: str | None = None,
    max_trees: int | None = 100,
    max_nodes: int | None = 20_000,
    max_levels: int | None = 8,
) -> str | None:
    """Export a tree or an ensemble of trees as an HTML file.

    In a browser, the tree can be zoomed, panned, collapsed, searched and filtered; each
    node shows its distribution and rule. If a row is typed into a form, the nodes that
    it enters are highlighted, with the fraction of the row where it is divided among
    branches. All functions are accessible by keyboard and to screen readers. The file
    needs no network access, and its content security policy forbids it.

    Parameters
    ----------
    model : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`, or an ensemble of such trees: a
        forest, bagging, boosting or any other estimator whose ``estimators_`` are such
        trees.
    path : str or path-like or None, default=None
        File to write, in UTF-8. ``None`` returns the text.
    X : array-like, data frame or sparse matrix or None, default=None
        Rows, usually those of training, whose distribution is drawn in each node that
        has a test, as by :func:`plot_tree`; only for a tree, in its first 1,000 nodes.
    y : array-like of shape (n_samples,) or None, default=None
        The classes or values of these rows.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs, a list
        of such lists); ``None`` uses the class labels.
    title : str or None, default=None
        Title of the page; ``None`` uses the class name of the model.
    max_trees : int or None, default=100
        Maximum number of trees of an ensemble that are written, starting with the
        first. ``None`` writes all.
    max_nodes : int or None, default=20000
        Maximum number of nodes in total, which limits the size of the file. Trees that
        would exceed it are cut off at a level or left out. ``None`` writes all.
    max_levels : int or None, default=8
        Maximum number of levels written for a set of levels, and of columns for an
        oblique test; for the others, only their number is written. ``None`` writes all.

    Returns
    -------
    str or None
        The page, which notebooks show in a frame; ``None`` if written to a file.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If ``model`` is not a tree of this package and contains none.
    ValueError
        If a parameter is out of range, there are too few or too many names, or X and y
        do not match the tree, or are given for an ensemble.

    See Also
    --------
    plot_tree : Draws the tree with matplotlib.
    export_text : Writes the tree as text.

    Notes
    -----
    The page gives the number of nodes and trees that the limits leave out. A row that
    reaches a node whose children are left out has no prediction.

    The prediction for a typed row is that of ``predict`` and ``predict_proba`` of the
    tree shown; each tree of an ensemble gives its own prediction.

    The page requires a browser of 2024 or later.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, to_html
    >>> iris = load_iris(as_frame=True)
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> page = to_html(tree, class_names=iris.target_names, title="Iris")
    >>> print(page[:15], len(page) < 100_000)
    <!doctype html> True
    """
    for name, value in (("max_trees", max_trees), ("max_levels", max_levels)):
        check_at_least(name, value, 1, allow_none=True)
    check_at_least("max_nodes", max_nodes, 1, allow_none=True)
    if not (title is None or isinstance(title, str)):
        raise ValueError(f"title must be a string or None, got {title!r}.")
    title = type(model).__name__ if title is None else title
    data = collect_data(
        model, X, y, feature_names, class_names, max_trees, max_nodes, max_levels
    )
    text = fill_page({**data, "title": title})
    if path is None:
        return text
    write_file(path, text)
    return None


def collect_data(
    model, X, y, feature_names, class_names, max_trees, max_nodes, max_levels
):
    """Collect what a page shows; see :func:`to_html`."""
    members, n_others = list_members(model, class_names)
    has_rows = X is not None or y is not None
    if has_rows and members[0].model is not None:
        raise ValueError(
            f"X and y can be given for a tree, got {type(model).__name__}, whose "
            "members were trained on other rows or targets."
        )
    tables = PageTables(max_levels)
    n_left, n_left_out = max_nodes, 0
    for member in members[:max_trees]:
        if n_left is not None and n_left < 1:
            break
        fitted = member.read(feature_names, class_names)
        charts = ChartMaker(fitted, X, y) if has_rows else None
        n_left_out += tables.add_tree(
            member.name, fitted, member.addend, member.weight, n_left, charts
        )
        if n_left is not None:
            n_left -= fitted.tree.node_count
    n_classes = [len(names) for t in tables.targets for names in t["classes"] or []]
    return {
        "trees": tables.trees,
        "columns": tables.columns,
        "targets": tables.targets,
        "colors": class_colors(max(n_classes, default=0)),
        "takesMissing": takes_missing(members[0].estimator, model),
        "leftOut": {
            "trees": len(members) - len(tables.trees),
            "nodes": n_left_out,
            "others": n_others,
        },
    }


def takes_missing(*estimators) -> bool:
    """Whether rows to predict may have missing values."""
    return all(getattr(e, "missing", None) != "error" for e in estimators)


def fill_page(data):
    """Insert the data, the style and the scripts into the page."""
    folder = files(__package__)
    script = "\n".join(_read(folder, name) for name in SCRIPTS)
    # One function, so that the page has no global names.
    script = f'"use strict";\n(() => {{\n{script}\n}})();\n'
    style = _read(folder, "page.css")
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    parts = {
        "TITLE": html.escape(data["title"]),
        "STYLE_HASH": _hash(style),
        "SCRIPT_HASH": _hash(script),
        "STYLE": style,
        # Names may contain the end tag of a script.
        "DATA": text.replace("<", "\\u003c"),
        "SCRIPT": script,
    }
    page = _read(folder, "page.html")
    pieces = page.split("@@")
    text = "".join(parts[p] if n % 2 else p for n, p in enumerate(pieces))
    # Names may have lone surrogates, which are not UTF-8.
    return Page(text.encode("utf-8", "replace").decode())


def make_frame(page, height=FRAME_HEIGHT) -> str:
    """Write a page as a frame within another page."""
    return (
        f'<iframe srcdoc="{html.escape(page)}" title="Fitted tree" loading="lazy" '
        f'style="width:100%;height:{height}px;border:1px solid #8888"></iframe>'
    )


def _read(folder, name):
    return (folder / name).read_text(encoding="utf-8")


def _hash(text):
    digest = hashlib.sha256(text.encode()).digest()
    return "sha256-" + base64.b64encode(digest).decode()
