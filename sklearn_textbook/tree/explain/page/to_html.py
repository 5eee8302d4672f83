"""A tree or an ensemble of trees as one HTML file."""

from __future__ import annotations

import base64
import hashlib
import html
import json
from importlib.resources import files
from pathlib import Path

from sklearn_textbook.tree.explain.colors import class_colors
from sklearn_textbook.tree.explain.page.members import list_members
from sklearn_textbook.tree.explain.page.tables import PageTables
from sklearn_textbook.tree.explain.text import check_at_least

#: In this order they make one script.
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
    model,
    path=None,
    *,
    feature_names=None,
    class_names=None,
    title=None,
    max_trees=100,
    max_nodes=20_000,
    max_levels=8,
):
    """Write a tree or an ensemble of trees as a single HTML file for a browser.

    The page shows the tree to zoom, pan, collapse, search and filter, with the
    distribution and the rule of each node. A row typed into a form lights the nodes
    that it enters, with the fraction of the row where it is divided among branches.
    The keyboard and screen readers reach everything. The file needs no network and
    forbids itself to use one.

    Parameters
    ----------
    model : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`, or an ensemble of such trees: a
        forest, bagging, boosting or any other estimator with these trees in
        ``estimators_``.
    path : str or path-like or None, default=None
        File to write, in UTF-8. ``None`` returns the text.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` for the names of the training table.
    class_names : array-like or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs a list
        of such lists); ``None`` for the class labels.
    title : str or None, default=None
        Title of the page; ``None`` for the name of the class of the model.
    max_trees : int or None, default=100
        Maximum number of trees of an ensemble; the first ones are written. ``None``
        for all.
    max_nodes : int or None, default=20000
        Maximum number of nodes in all, which limits the size of the file. Of trees
        beyond it the upper levels or nothing is written. ``None`` for all.
    max_levels : int or None, default=8
        Maximum number of levels written for a set, and of columns for an oblique
        test; the rest is counted. ``None`` writes all.

    Returns
    -------
    str or None
        The page, which notebooks show in a frame; ``None`` if it is written to a file.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If it is not a tree of this package or has none.
    ValueError
        If a parameter is out of its range or there are too few or too many names.

    See Also
    --------
    plot_tree : The tree as a figure.
    export_text : The tree as text.

    Notes
    -----
    What the limits leave out is counted on the page. A row that comes to a node whose
    children are left out has no prediction there.

    The prediction of a typed row is that of ``predict`` and ``predict_proba`` of the
    tree shown; of an ensemble, each tree gives its own.

    The page is for browsers of 2024 and later.

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
        model, feature_names, class_names, max_trees, max_nodes, max_levels
    )
    text = fill_page({**data, "title": title})
    if path is None:
        return text
    Path(path).write_text(text, encoding="utf-8", newline="\n")
    return None


def collect_data(model, feature_names, class_names, max_trees, max_nodes, max_levels):
    """Collect what a page shows; see :func:`to_html`."""
    members, n_others = list_members(model, class_names)
    tables = PageTables(max_levels)
    n_left, n_left_out = max_nodes, 0
    for member in members[:max_trees]:
        if n_left is not None and n_left < 1:
            break
        fitted = member.read(feature_names, class_names)
        n_left_out += tables.add_tree(
            member.name, fitted, member.addend, member.weight, n_left
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


def takes_missing(*estimators):
    """Whether rows to predict may have missing values."""
    return all(getattr(e, "missing", None) != "error" for e in estimators)


def fill_page(data):
    """Put the data, the style and the scripts into the page."""
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
        # Names may contain what ends a script.
        "DATA": text.replace("<", "\\u003c"),
        "SCRIPT": script,
    }
    page = _read(folder, "page.html")
    pieces = page.split("@@")
    text = "".join(parts[p] if n % 2 else p for n, p in enumerate(pieces))
    # Names may have lone surrogates, which are not UTF-8.
    return Page(text.encode("utf-8", "replace").decode())


def make_frame(page, height=FRAME_HEIGHT):
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
