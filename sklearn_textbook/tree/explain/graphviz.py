"""A tree in the DOT language of Graphviz."""

from __future__ import annotations

from sklearn_textbook.tree.explain.colors import node_colors
from sklearn_textbook.tree.explain.conditions import collect_branches
from sklearn_textbook.tree.explain.describe import (
    SHOWN_LEVELS,
    Words,
    has_children,
)
from sklearn_textbook.tree.explain.digits import format_number, format_share
from sklearn_textbook.tree.explain.fitted import read_fitted, word
from sklearn_textbook.tree.explain.text import check_at_least

LABELS = ("all", "root", "none")


def export_graphviz(
    estimator,
    out_file=None,
    *,
    max_depth=None,
    feature_names=None,
    class_names=None,
    label="all",
    filled=False,
    leaves_parallel=False,
    impurity=True,
    node_ids=False,
    proportion=False,
    rotate=False,
    rounded=False,
    precision=None,
    fontname="helvetica",
    show_missing=None,
    max_levels=SHOWN_LEVELS,
):
    r"""Write a tree in the DOT language.

    Graphviz draws the file with ``dot -Tpng tree.dot -o tree.png``; this function
    itself does not need Graphviz. Nodes are labelled with the column of their test (of
    an oblique test, the weighted sum of columns), edges with the condition of the
    branch.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`.
    out_file : file-like, path or None, default=None
        File to write to; ``None`` returns the text.
    max_depth : int or None, default=None
        Maximum depth to draw; ``None`` for the whole tree.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` for the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs a list
        of such lists); ``None`` for the class labels.
    label : {"all", "root", "none"}, default="all"
        Which nodes show labels for their statistics.
    filled : bool, default=False
        Whether to colour the nodes by class and proportion of the class, or by value.
    leaves_parallel : bool, default=False
        Whether to draw all leaves at the bottom.
    impurity : bool, default=True
        Whether to show the impurity of the nodes.
    node_ids : bool, default=False
        Whether to show the numbers of the nodes.
    proportion : bool, default=False
        Whether to show proportions instead of numbers of rows and class weights.
    rotate : bool, default=False
        Whether to draw the tree from left to right.
    rounded : bool, default=False
        Whether to round the corners of the nodes.
    precision : int or None, default=None
        Number of decimals. ``None`` writes each threshold with as few as distinguish it
        from the other thresholds of its column. Weights of oblique tests have this
        number of significant digits.
    fontname : str, default="helvetica"
        Name of the font.
    show_missing : bool or None, default=None
        Whether edges show where missing values go. ``None`` does so for columns with
        missing values in training.
    max_levels : int or None, default=5
        Maximum number of levels written for a set, and of columns for an oblique
        test; the rest is counted. ``None`` writes all.

    Returns
    -------
    str or None
        The text if ``out_file`` is None.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If it is not a tree of this package.
    ValueError
        If a parameter is out of its range or there are too few or too many names.

    See Also
    --------
    plot_tree : A figure by matplotlib.
    sklearn.tree.export_graphviz : For trees of scikit-learn. Here the names of columns
        and classes are the default, and a test may have any number of branches.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, export_graphviz
    >>> iris = load_iris(as_frame=True)
    >>> tree = CARTClassifier(max_depth=1).fit(iris.data, iris.target)
    >>> print(export_graphviz(tree, impurity=False))
    digraph Tree {
    node [shape=box, color="black", fontname="helvetica"];
    edge [fontname="helvetica"];
    0 [label="petal length (cm)\nrows: 150\nweights: 50, 50, 50\nclass: 0"];
    1 [label="rows: 50\nweights: 50, 0, 0\nclass: 0"];
    0 -> 1 [label="<= 2.45"];
    2 [label="rows: 100\nweights: 0, 50, 50\nclass: 1"];
    0 -> 2 [label="> 2.45"];
    }
    """
    check_at_least("max_depth", max_depth, 0, allow_none=True)
    check_at_least("precision", precision, 0, allow_none=True)
    check_at_least("max_levels", max_levels, 1, allow_none=True)
    if label not in LABELS:
        raise ValueError(f"label must be one of {list(LABELS)}, got {label!r}.")
    fitted = read_fitted(estimator, feature_names, class_names)
    words = Words(fitted, precision, max_levels, show_missing)
    labels = NodeLabels(words, label, impurity, node_ids, proportion, precision)
    style = [("filled", filled), ("rounded", rounded)]
    style = ", ".join(name for name, is_on in style if is_on)
    lines = [
        *_header(style, rotate, leaves_parallel, fontname),
        *_graph(words, labels, max_depth, filled, leaves_parallel),
        "}\n",
    ]
    return _write("\n".join(lines), out_file)


class NodeLabels:
    """The lines of text in the nodes of a drawing."""

    def __init__(self, words, label, impurity, node_ids, proportion, decimals):
        self.words = words
        self.label = label
        self.impurity = impurity
        self.node_ids = node_ids
        self.proportion = proportion
        self.decimals = decimals

    def lines(self, node, is_cut=False):
        """List the lines of one node."""
        fitted = self.words.fitted
        tree, record = fitted.tree, fitted.tree.nodes[node]
        lines = []
        if self.node_ids:
            lines.append(f"node #{node}")
        if has_children(tree, node):
            lines += self.words.test(node)
        if self.impurity:
            number = format_number(round(record["impurity"], 4), self.decimals)
            lines.append(self._say(node, "impurity", number))
        lines.append(self._rows(node, record))
        if tree.is_classifier:
            # A branch without rows has the weights of its parent.
            what = "weights" if record["weight"] > 0 else "shares of the parent"
            lines += self._outputs(node, what, self._weights(node))
            lines += self._outputs(node, "class", self.words.outputs(node))
        else:
            lines += self._outputs(node, "value", self.words.outputs(node))
        return [*lines, "(...)"] if is_cut else lines

    def _say(self, node, what, text):
        """Write a number with its label, unless labels are not shown."""
        shown = self.label == "all" or (self.label == "root" and node == 0)
        return f"{what}: {text}" if shown else text

    def _rows(self, node, record):
        if self.proportion:
            total = float(self.words.fitted.tree.nodes["weight"][0])
            return self._say(node, "rows", format_share(record["weight"] / total))
        text = str(int(record["n_samples"]))
        if float(record["n_samples"]) != float(record["weight"]):
            weight = format_number(record["weight"], self.decimals)
            return (
                f"{self._say(node, 'rows', text)}, {self._say(node, 'weight', weight)}"
            )
        return self._say(node, "rows", text)

    def _weights(self, node):
        """Weights or class proportions, per output."""
        fitted = self.words.fitted
        table = fitted.tree.statistics[node]
        as_shares = self.proportion or fitted.tree.nodes["weight"][node] <= 0
        if as_shares:
            table = fitted.class_shares(node)
        texts = []
        for names, numbers in zip(fitted.class_names, table.tolist(), strict=True):
            numbers = numbers[: len(names)]
            spelled = [
                format_share(n) if as_shares else format_number(n, self.decimals)
                for n in numbers
            ]
            texts.append(", ".join(spelled))
        return texts

    def _outputs(self, node, what, texts):
        """One line per output."""
        return [self._say(node, what, text) for text in texts]


def escape(text):
    """Escape text for a quoted string of DOT."""
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _header(style, rotate, leaves_parallel, fontname):
    """Write the opening lines: attributes of all nodes and edges."""
    font = f'fontname="{escape(word(fontname))}"'
    style = f'style="{style}", ' if style else ""
    yield "digraph Tree {"
    yield f'node [shape=box, {style}color="black", {font}];'
    if leaves_parallel:
        yield "graph [ranksep=equally, splines=polyline];"
    yield f"edge [{font}];"
    if rotate:
        yield "rankdir=LR;"


def _graph(words, labels, max_depth, filled, leaves_parallel):
    """Iterate over nodes, each followed by the edge that leads to it, depth first."""
    tree = words.fitted.tree
    colors = node_colors(words.fitted) if filled else None
    leaves = []
    stack = [(0, 0, None)]
    while stack:
        node, depth, edge = stack.pop()
        is_inner = has_children(tree, node)
        is_cut = is_inner and max_depth is not None and depth >= max_depth
        lines = "\\n".join(escape(line) for line in labels.lines(node, is_cut))
        fill = f', fillcolor="{colors[node]}"' if filled else ""
        yield f'{node} [label="{lines}"{fill}];'
        if edge is not None:
            yield f'{tree.nodes["parent"][node]} -> {node} [label="{escape(edge)}"];'
        if not is_inner or is_cut:
            leaves.append(node)
            continue
        first = int(tree.nodes["first_child"][node])
        for branch, condition in reversed([*enumerate(collect_branches(tree, node))]):
            stack.append((first + branch, depth + 1, words.branch(condition)))
    if leaves_parallel:
        yield f"{{rank=same; {'; '.join(map(str, leaves))}}};"


def _write(text, out_file):
    """Write to an open file or to a path, or return the text."""
    if out_file is None:
        return text
    if hasattr(out_file, "write"):
        out_file.write(text)
    else:
        with open(out_file, "w", encoding="utf-8") as file:
            file.write(text)
    return None
