"""Report of pruning as text."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook.tree.explain.conditions import branch_condition
from sklearn_textbook.tree.explain.describe import SHOWN_LEVELS, Words, has_children
from sklearn_textbook.tree.explain.digits import format_number
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.rule_formats import write_conditions
from sklearn_textbook.tree.explain.rules import Rule, extend_path
from sklearn_textbook.tree.explain.text import check_at_least, describe_leaf
from sklearn_textbook.tree.prune import resolve_pruner
from sklearn_textbook.tree.prune.choose import PRUNERS

#: The only method that starts from the root and not from the full tree.
FROM_THE_ROOT = "pre-pruning"
#: Columns of a path with the risk by which a subtree is chosen.
VALIDATED = {"cv_risk": "cross-validated risk", "validation_risk": "validation risk"}


def export_pruning_report(
    estimator: Any,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    max_rows: int | None = 10,
    decimals: int | None = None,
) -> str:
    """Report as text which branches of a tree were pruned, and why.

    The first lines give the number of leaves before and after pruning, and the measure
    that the method uses. One line follows for each pruned branch, the largest branch
    first, with its number of leaves, the column of its first test (for an oblique test,
    the column with the largest fraction and the number of other columns), the measure
    of the whole tree before and after this step (with pre-pruning, before and after the
    split that was not made), and the rule of the leaf that replaces the branch. If
    subtree raising replaced a node by its largest branch, the line names that branch.
    Branches inside a larger pruned branch are not listed.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree` that was pruned.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs, a list
        of such lists); ``None`` uses the class labels.
    max_rows : int or None, default=10
        Maximum number of branches listed; the others are counted. ``None`` lists all.
    decimals : int or None, default=None
        Number of decimals of thresholds and values. ``None`` writes each threshold with
        as few decimals as distinguish it from the other thresholds of its column.

    Returns
    -------
    str
        The text; every line ends with a newline.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If ``estimator`` is not a tree of this package.
    ValueError
        If it was not pruned, a parameter is out of range, or there are too few or too
        many names.

    See Also
    --------
    sklearn_textbook.inspection.PruningPathDisplay : The subtrees of cost-complexity
        pruning as a figure.

    Notes
    -----
    The underlying table is ``pruning_report_``, which has a row for every node
    considered by the method, including those that were kept.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_textbook.tree import CARTClassifier, export_pruning_report
    >>> data = load_breast_cancer(as_frame=True)
    >>> tumour = data.target_names[data.target]
    >>> tree = CARTClassifier(pruning="cost_complexity").fit(data.data, tumour)
    >>> print(export_pruning_report(tree, max_rows=1))
    CARTClassifier, cost-complexity pruning: 13 of 22 leaves kept.
    cross-validated risk: 0.07206 before pruning, 0.06151 after (alpha = 0.002302)
    training risk: 0 before pruning, 0.01738 after
    <BLANKLINE>
    leaves  first test  training risk       is now
         8  area error  0.01048 -> 0.01738  IF ... THEN benign (332 rows, 98.8%)
    ... 1 more branch, of 3 leaves
    <BLANKLINE>
    """
    blocks = list_pruning(estimator, feature_names, class_names, max_rows, decimals)
    lines = [
        line
        for block in blocks
        for line in (block.write_lines() if isinstance(block, TextTable) else [block])
    ]
    return "".join(f"{line}\n" for line in lines)


def list_pruning(
    estimator, feature_names=None, class_names=None, max_rows: int = 10, decimals=None
) -> list[str | TextTable]:
    """List the lines of the report, and the table of the branches."""
    check_at_least("max_rows", max_rows, 0, allow_none=True)
    check_at_least("decimals", decimals, 0, allow_none=True)
    fitted = read_fitted(estimator, feature_names, class_names)
    report = getattr(estimator, "pruning_report_", None)
    if report is None:
        raise ValueError(
            f"{type(estimator).__name__} has no pruning_report_, since it was fitted "
            f"with pruning={getattr(estimator, 'pruning', None)!r}."
        )
    words = Words(fitted, decimals, SHOWN_LEVELS, max_surrogates=1)
    method = _name_method(estimator.pruning)
    return [
        *_write_head(estimator, report, method),
        *_write_branches(words, report, method, max_rows),
    ]


# ----------------------------------------------------------------------- the head
def _write_head(estimator, report, method):
    """Write the number of leaves and the risk before and after pruning."""
    name, now = type(estimator).__name__, int(estimator.tree_.n_leaves)
    before = report.n_leaves_grown
    if before == now:
        yield f"{name}, {method}: nothing pruned; {_count(now)}."
    elif before is None:
        yield f"{name}, {method}: {_count(now)} kept."
    else:
        yield f"{name}, {method}: {now:,} of {_count(before)} kept."
    yield from _write_path(getattr(estimator, "pruning_path_", None), method)
    if report.n_rows:
        change = _write_change(*_find_ends(report, method), method)
        yield f"{report.measure}: {change}"


def _name_method(pruning):
    """Name a method like the parameter, or by the class of the pruner."""
    pruner = resolve_pruner(pruning, strict=False)
    names = {made: name for name, made in PRUNERS.items()}
    name = names.get(type(pruner), type(pruner).__name__).replace("_", "-")
    return name if name.lower().endswith("pruning") else f"{name} pruning"


def _write_path(path, method):
    """Write the risk by which the subtree was chosen."""
    selected = None if path is None else path.get("selected")
    if selected is None or not selected.any():
        return
    row = int(selected.argmax())
    for column, words in VALIDATED.items():
        if column in path:
            change = _write_change(*path[column][[0, row]].tolist(), method)
            alpha = format_number(path["alpha"][row])
            yield f"{words}: {change} (alpha = {alpha})"


def _find_ends(report, method):
    """Find the measure of the tree before the first step and after the last one."""
    idle = "pruned" if method == FROM_THE_ROOT else "kept"
    last = report["before" if report["decision"][-1] == idle else "after"][-1]
    return float(report["before"][0]), float(last)


def _write_change(before, after, method):
    if before == after:
        return format_number(after)
    if method == FROM_THE_ROOT:
        return f"{_pair(before, after, ' as a single leaf, ')} as pruned"
    return f"{_pair(before, after, ' before pruning, ')} after"


# ------------------------------------------------------------------- the branches
def _write_branches(words, report, method, max_rows):
    """Make a table of the pruned branches, the largest first."""
    if not report.n_rows:
        return
    rows, places = _find_branches(report)
    shown = len(rows) if max_rows is None else min(max_rows, len(rows))
    if not len(rows):
        return
    measure = f"{report.measure}{' if divided' * (method == FROM_THE_ROOT)}"
    heads = ["leaves", "first test", measure, "is now"]
    lines = []
    for row, node in zip(rows[:shown].tolist(), places.tolist(), strict=False):
        is_raised = report["decision"][row] == "raised"
        lines.append(
            [
                f"{report['n_leaves'][row]:,}",
                _name_test(words, report, row),
                _pair(float(report["before"][row]), float(report["after"][row])),
                _describe_place(words, node, is_raised),
            ]
        )
    yield ""
    n_others = len(rows) - shown
    more = []
    if n_others:
        n_leaves = int(report["n_leaves"][rows[shown:]].sum())
        others = f"{n_others:,} more branch{'es' if n_others > 1 else ''}"
        more = [f"... {others}, of {n_leaves:,} leaves"]
    yield from [TextTable(heads, lines, "rl", more, "hang last")] if shown else more


def _name_test(words, report, row):
    """Name the column of a test, and the number of the others in an oblique one."""
    name = words.name(int(report["feature"][row]))
    n_more = int(report["n_columns"][row]) - 1 if "n_columns" in report else 0
    return f"{name} + {n_more:,} more" if n_more > 0 else name


def _find_branches(report):
    """Find the rows of the pruned branches, the largest first, and their places.

    A place is the node of the pruned tree at the position of the branch.
    """
    places = report["tree_node"].copy()
    is_raised = report["decision"] == "raised"
    if is_raised.any():
        # The node itself was replaced by the root of its largest branch.
        largest = report["raised_node"]
        number = np.full(max(report["node"].max(), largest.max()) + 1, -1)
        number[report["node"]] = report["tree_node"]
        places[is_raised] = number[largest[is_raised]]
    rows = np.flatnonzero((report["decision"] != "kept") & (places >= 0))
    rows = rows[np.lexsort((report["node"][rows], -report["n_leaves"][rows]))]
    # Where several branches were pruned one by one, the largest includes all.
    _, first = np.unique(places[rows], return_index=True)
    rows = rows[np.sort(first)]
    return rows, places[rows]


def _describe_place(words, node, is_raised) -> str:
    """Describe what replaced a branch, as a rule."""
    tree = words.fitted.tree
    path = find_path(tree, node)
    if path is None:
        start = "no row reaches it:"
    else:
        conditions = tuple(c for c in path.values() if not c.is_always_true)
        rule = Rule(node, False, conditions, 0, 0.0)
        start = f"IF {write_conditions(words, rule)} THEN" if conditions else "ALWAYS"
    if is_raised and has_children(tree, node):
        test = words.name(int(tree.nodes["feature"][node]))
        return f"{start} its largest branch, which tests {test}"
    return f"{start} {describe_leaf(words, node)}"


def find_path(tree, node: int) -> dict | None:
    """Return the conditions that a row must satisfy to reach a node."""
    branches, nodes = [], tree.nodes
    while node > 0:
        parent = int(nodes["parent"][node])
        branches.append((parent, node - int(nodes["first_child"][parent])))
        node = parent
    path = {}
    for parent, branch in reversed(branches):
        path = extend_path(path, branch_condition(tree, parent, branch))
        if path is None:
            return None
    return path


# -------------------------------------------------------------------- small parts
def _count(number):
    """Format a number of leaves."""
    return f"{number:,} leaf" if number == 1 else f"{number:,} leaves"


def _pair(before, after, between: str = " -> "):
    """Format two numbers with enough digits to show that they differ."""
    tolerance = abs(before - after) / 4.0 if before != after else np.inf
    texts = [format_number(x, None, tolerance) for x in (before, after)]
    decimals = max(len(text.partition(".")[2]) for text in texts)
    if decimals and not any("e" in text for text in texts):
        texts = [f"{x:.{decimals}f}" if x else "0" for x in (before, after)]
    return between.join(texts)
