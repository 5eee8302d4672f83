"""A tree as indented text."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from sklearn_textbook.tree.explain.conditions import (
    branch_condition,
    collect_branches,
    read_terms,
)
from sklearn_textbook.tree.explain.describe import SHOWN_LEVELS, Words, has_children
from sklearn_textbook.tree.explain.digits import format_number
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.lettering import break_lines
from sklearn_textbook.tree.explain.shape import count_below
from sklearn_textbook.tree.grow.layout import FRACTIONAL, STAY

#: Minimum width of the text in wrapped lines, whatever the indentation.
MIN_TEXT_WIDTH = 24


def export_text(
    estimator: Any,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    max_depth: int | None = 10,
    spacing: int = 3,
    decimals: int | None = None,
    show_weights: bool = False,
    show_missing: bool | None = None,
    max_levels: int | None = SHOWN_LEVELS,
    max_surrogates: int | None = None,
    max_width: int | None = None,
) -> str:
    r"""Write a tree as indented text.

    There is one line per branch. If the branch leads to a leaf, the line ends with the
    prediction, the number of training rows in the leaf (and their weight, if different)
    and the proportion of the predicted class.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs, a list
        of such lists); ``None`` uses the class labels.
    max_depth : int or None, default=10
        Maximum depth to write; for the levels below it, only their number and that of
        their leaves is written. ``None`` writes the whole tree.
    spacing : int, default=3
        Number of characters per level of indentation.
    decimals : int or None, default=None
        Number of decimals of thresholds and values. ``None`` writes each threshold with
        as few decimals as distinguish it from the other thresholds of its column. For
        the weights of oblique tests, this is the number of significant digits.
    show_weights : bool, default=False
        Whether to add the weight of each class in the leaf.
    show_missing : bool or None, default=None
        Whether to write for each test which branch missing values take. ``None`` writes
        this for columns with missing values in training. In an oblique test, missing
        values are replaced by a value.
    max_levels : int or None, default=5
        Maximum number of levels written for a set of levels, and of columns for an
        oblique test; for the others, only their number is written. ``None`` writes all.
    max_surrogates : int or None, default=None
        Maximum number of surrogates written for a test; for the others, only their
        number is written. ``None`` writes all.
    max_width : int or None, default=None
        Maximum width of a line in characters. Longer lines are wrapped between words
        and indented. ``None`` does not wrap.

    Returns
    -------
    str
        The text. Every line ends with a newline.

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
    export_rules : Exports the same tree as one rule per leaf.
    plot_tree : Draws the same tree.
    sklearn.tree.export_text : The same for scikit-learn trees. Here, the names of
        columns and classes are written by default, a test may have any number of
        branches, and each leaf shows its size and confidence.

    Notes
    -----
    An oblique test is written as a sum such as ``0.62*density + colour(green: 0.31,
    dark: -0.64) - 0.3*seconds(day) <= 0.85``: a nominal column adds the number of its
    level; dates, times of day and durations are converted to seconds (dates since
    1970-01-01 UTC). Weights are rounded, so rows close to the threshold may be on the
    other side of the sum as written; see :func:`export_rules` for code with all digits.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, export_text
    >>> iris = load_iris(as_frame=True)
    >>> species = iris.target_names[iris.target]
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, species)
    >>> print(export_text(tree))
    |--- petal length (cm) <= 2.45: setosa (50 rows, 100%)
    |--- petal length (cm) > 2.45
    |   |--- petal width (cm) <= 1.75: versicolor (54 rows, 90.7%)
    |   |--- petal width (cm) > 1.75: virginica (46 rows, 97.8%)
    """
    check_at_least("max_depth", max_depth, 0, allow_none=True)
    check_at_least("spacing", spacing, 1)
    check_at_least("decimals", decimals, 0, allow_none=True)
    check_at_least("max_levels", max_levels, 1, allow_none=True)
    check_at_least("max_surrogates", max_surrogates, 1, allow_none=True)
    check_at_least("max_width", max_width, 1, allow_none=True)
    fitted = read_fitted(estimator, feature_names, class_names)
    words = Words(
        fitted, decimals, max_levels, show_missing, max_surrogates=max_surrogates
    )
    lines = _lines(words, max_depth, show_weights)
    return "".join(_write_line(*line, spacing, max_width) for line in lines)


def check_at_least(name, value, least, allow_none: bool = False) -> None:
    """Raise ValueError for a parameter that is not an integer >= ``least``."""
    if value is None and allow_none:
        return
    is_integer = hasattr(value, "__index__") and not isinstance(value, bool)
    if not is_integer or value < least:
        options = f"an integer >= {least}" + (" or None" if allow_none else "")
        raise ValueError(f"{name} must be {options}, got {value!r}.")


def _write_line(depth, text, spacing, max_width) -> str:
    """Write a line after the branches that lead to it, wrapped if it is too long."""
    step, dash = "|" + " " * spacing, "|" + "-" * spacing + " "
    lines = [text]
    if max_width is not None:
        width = max(max_width - len(step * (depth + 1) + "  "), MIN_TEXT_WIDTH)
        lines = break_lines(text, width, whole_words=False)
    further = "".join(f"{step * (depth + 1)}  {line}\n" for line in lines[1:])
    return f"{step * depth}{dash}{lines[0]}\n{further}"


def _lines(words, max_depth, show_weights):
    """Iterate over depth and text of the lines, in order."""
    tree = words.fitted.tree
    below = count_below(tree)
    if not has_children(tree, 0):
        yield 0, describe_leaf(words, 0, show_weights)
        return
    # Stack of nodes, and of lines that follow the branches of a node.
    stack = [(None, -1, 0)]
    while stack:
        text, depth, node = stack.pop()
        ending = ""
        if node is not None and not has_children(tree, node):
            ending = f": {describe_leaf(words, node, show_weights)}"
        elif node is not None and max_depth is not None and depth >= max_depth:
            ending = f": {_cut(words, node, below)}"
        elif node is not None:
            stack.extend(reversed(_branches(words, node, depth + 1)))
        if text is not None:
            yield depth, f"{text}{ending}"


def _branches(words, node, depth):
    """Return stack entries for the branches of a node and the lines after them."""
    tree = words.fitted.tree
    first = int(tree.nodes["first_child"][node])
    entries = [
        (words.condition(condition, with_fractions=False), depth, first + branch)
        for branch, condition in enumerate(collect_branches(tree, node))
    ]
    missing = _missing_line(words, node)
    return [*entries, (missing, depth, None)] if missing else entries


def _missing_line(words, node):
    """Return the line on missing values, unless they take a single branch.

    In a sum they count as a value.
    """
    tree = words.fitted.tree
    terms = read_terms(tree, node)
    if terms:
        return words.fills(terms)
    feature = int(tree.nodes["feature"][node])
    target = int(tree.nodes["missing_branch"][node])
    if not words.tells_missing(feature):
        return None
    chains = branch_condition(tree, node, 0).chains
    if target >= 0 and not chains:
        return None
    last = _last_resort(words, node, target)
    start = f"{words.name(feature)} is missing: "
    if chains:
        return f"{start}first branch if {words.chain(chains[0], answer=last)}"
    return start + last


def _last_resort(words, node, target):
    """Describe where a missing value goes if no surrogate decides."""
    if target == FRACTIONAL:
        return "divided among all branches by their weight"
    if target == STAY:
        return f"stops here: {_prediction(words, node)}"
    return ("first branch", "second branch")[target]


def _prediction(words, node):
    fraction = words.confidence(node)
    return (
        f"{words.prediction(node)} ({fraction})" if fraction else words.prediction(node)
    )


def describe_leaf(words, node, show_weights: bool = False) -> str:
    """Write the prediction of a leaf, its size and confidence."""
    tree = words.fitted.tree
    notes = [words.size(node)]
    if tree.is_classifier and tree.nodes["weight"][node] > 0:
        notes[0] += f", {words.confidence(node)}"
        if show_weights:
            notes.append(_class_weights(words, node))
    return f"{words.prediction(node)} ({'; '.join(notes)})"


def _class_weights(words, node):
    """List the weight of every class in a node, output by output."""
    outputs = [
        ", ".join(
            f"{name} {format_number(weight, words.decimals)}"
            for name, weight in zip(names, weights.tolist(), strict=False)
        )
        for names, weights in zip(
            words.fitted.class_names, words.fitted.tree.statistics[node], strict=True
        )
    ]
    return outputs[0] if len(outputs) == 1 else f"[{'], ['.join(outputs)}]"


def _cut(words, node, below) -> str:
    """Describe the leaves and levels below a node at the maximum depth."""
    leaves, levels = int(below.n_leaves[node]), int(below.n_levels[node])
    more = f"... {leaves} leaves in {levels} more level{'s' if levels > 1 else ''}"
    return f"{more}; here {describe_leaf(words, node)}"
