"""The rules of a tree as text, data frame, dictionaries, SQL or Python code."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from numpy.typing import ArrayLike

from sklearn_textbook.tree.explain.conditions import SumCondition
from sklearn_textbook.tree.explain.describe import SHOWN_LEVELS, Words, describe_size
from sklearn_textbook.tree.explain.digits import format_fraction
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.listed_rules import (
    collect_listed_rules,
    join_rule_names,
    make_listed_records,
)
from sklearn_textbook.tree.explain.rule_python import write_python
from sklearn_textbook.tree.explain.rule_sql import write_sql
from sklearn_textbook.tree.explain.rules import collect_rules, make_records
from sklearn_textbook.tree.explain.text import check_at_least
from sklearn_textbook.tree.grow.grown_tree import refuse_slopes
from sklearn_textbook.tree.rules import RuleList

FORMATS = ("text", "frame", "dict", "sql", "python")


def export_rules(
    estimator: Any,
    format: str = "text",  # noqa: A002 - the public name
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    decimals: int | None = None,
    show_missing: bool | None = None,
    inner_nodes: bool | None = None,
    max_rules: int | None = 100,
    max_levels: int | None = SHOWN_LEVELS,
    max_surrogates: int | None = None,
) -> Any:
    r"""Export a tree as one rule per leaf, or export an ordered list of rules.

    Conditions on the same column are merged: ``x > 2`` and ``x > 3`` become ``x > 3``,
    ``x > 2`` and ``x <= 3`` become ``2 < x <= 3``, and sets of levels are intersected.
    Oblique tests are not merged; see :func:`export_text` for how they are written. The
    rules are equivalent to the tree: exactly one of them applies to each row (see
    :func:`~sklearn_textbook.tree.explain.build_rules` for rows that are divided among
    branches). In an ordered list, the first rule that applies is used.

    Parameters
    ----------
    estimator : estimator
        A fitted tree of :mod:`sklearn_textbook.tree`, or a C45RulesClassifier.
    format : {"text", "frame", "dict", "sql", "python"}, default="text"
        - ``"text"``: one line per rule, IF ... THEN ..., shortened by ``max_rules`` and
          ``max_levels``. The other formats are always complete;
        - ``"frame"``: a pandas data frame with one row per rule;
        - ``"dict"``: a list of dictionaries of plain Python values, as described in
          :func:`~sklearn_textbook.tree.explain.build_rules`;
        - ``"sql"``: a CASE expression for a SELECT, with identifiers in double
          quotes. Missing values are NULL and take the same branch as in the tree. The
          result is NULL for unknown levels with ``handle_unknown="error"``, and for a
          missing value in a tested column if the tree would divide the row among
          branches, as trees of ID3Classifier and C45Classifier do. Several outputs
          give several expressions, separated by commas;
        - ``"python"``: source code of a function ``predict_row(row)`` that has no
          dependencies and returns the same as ``predict`` for every row.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in ``"text"`` and ``"frame"``, in the order of
        ``classes_``; ``None`` uses the class labels, as the other formats always do.
    decimals : int or None, default=None
        Number of decimals of thresholds and values in ``"text"`` and ``"frame"``.
        ``None`` writes each threshold with as few decimals as distinguish it from the
        other thresholds of its column. For the weights of oblique tests, this is the
        number of significant digits. The other formats write all digits.
    show_missing : bool or None, default=None
        Whether ``"text"`` and ``"frame"`` show where missing values go. ``None`` shows
        this for columns with missing values in training. Ignored for ordered lists,
        where a missing value satisfies no condition.
    inner_nodes : bool or None, default=None
        Whether to add a rule for each inner node in which rows may end because of an
        unknown level or a missing value without a branch. ``None`` adds all such rules,
        except to ``"text"``, where it adds only those for nodes in which training rows
        ended; ``"sql"`` and ``"python"`` always include all. Ordered lists have none.
    max_rules : int or None, default=100
        Maximum number of rules in ``"text"``, followed by a line with the number of the
        other rules. The default rule of an ordered list is always written. ``None``
        writes all.
    max_levels : int or None, default=5
        Maximum number of levels that ``"text"`` writes for a set of levels, and of
        columns for an oblique test; for the others, only their number is written.
        ``None`` writes all.
    max_surrogates : int or None, default=None
        Maximum number of surrogates that ``"text"`` writes for a test; for the others,
        only their number is written. ``None`` writes all.

    Returns
    -------
    str, pandas.DataFrame or list of dict
        The rules.

    Raises
    ------
    ImportError
        If ``format="frame"`` and pandas is not installed.
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.
    TypeError
        If ``estimator`` is neither a tree nor a list of rules of this package.
    ValueError
        If a parameter is invalid, or there are too few or too many names. Also if
        ``format="sql"`` and the tree divides rows among branches: rows with a missing
        value in a column with missing values in training (``missing="fractional"``), or
        rows with an unknown level (``handle_unknown="fractional"``); or if
        ``format="sql"`` and an oblique test has a column of dates or times of day,
        which standard SQL cannot convert to seconds. For such trees, use ``"python"``,
        or ``"sql"`` with a C45RulesClassifier.

    See Also
    --------
    export_text : Writes the same tree as indented text.

    Notes
    -----
    Support is the fraction of the training weight that ends in the node of the rule;
    confidence is the proportion of the predicted class there.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier, export_rules
    >>> iris = load_iris(as_frame=True)
    >>> species = iris.target_names[iris.target]
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data[["petal width (cm)"]], species)
    >>> print(export_rules(tree))
    IF petal width (cm) <= 0.8 THEN setosa [support 33.3% (50 rows), confidence 100%]
    IF 0.8 < petal width (cm) <= 1.75 THEN versicolor [support 36% (54 rows), ...]
    IF petal width (cm) > 1.75 THEN virginica [support 30.7% (46 rows), ...]
    """
    if format not in FORMATS:
        raise ValueError(f"format must be one of {list(FORMATS)}, got {format!r}.")
    check_at_least("decimals", decimals, 0, allow_none=True)
    check_at_least("max_rules", max_rules, 0, allow_none=True)
    check_at_least("max_levels", max_levels, 1, allow_none=True)
    check_at_least("max_surrogates", max_surrogates, 1, allow_none=True)
    fitted, rules = _read_rules(estimator, feature_names, class_names)
    if rules is None:
        with_inner_nodes = format in ("sql", "python") or inner_nodes is not False
        rules = collect_rules(fitted.tree, with_inner_nodes)
    if format in ("sql", "python"):
        refuse_slopes([fitted.tree], f"export_rules with format={format!r}")
    if format == "dict":
        return _make_records(fitted, rules)
    if format == "sql":
        return write_sql(fitted, rules)
    if format == "python":
        return write_python(fitted, rules)
    if format == "frame":
        words = Words(fitted, decimals, None, show_missing)
        return _make_frame(words, rules, class_names is not None)
    if inner_nodes is None:
        rules = [rule for rule in rules if rule.is_leaf or rule.weight > 0.0]
    words = Words(
        fitted, decimals, max_levels, show_missing, max_surrogates=max_surrogates
    )
    return "".join(f"{line}\n" for line in _write_lines(words, rules, max_rules))


def _read_rules(estimator, feature_names, class_names):
    """Read the names of a fitted estimator, and its rules if it has a list."""
    rule_list = getattr(estimator, "rule_list_", None)
    if not isinstance(rule_list, RuleList):
        return read_fitted(estimator, feature_names, class_names), None
    fitted = join_rule_names(
        rule_list, estimator.schema_, estimator.classes_, feature_names, class_names
    )
    neighbours = getattr(estimator.tree_estimator_, "_neighbours", None)
    return replace(fitted, neighbours=neighbours), collect_listed_rules(rule_list)


def _make_records(fitted, rules):
    make = make_listed_records if fitted.is_list else make_records
    return make(fitted, rules)


def write_conditions(words, rule):
    """Write the conditions of a rule as text."""
    texts = [words.condition(condition) for condition in rule.conditions]
    if len(texts) > 1:
        texts = [
            f"({text})"
            if text.endswith(" or missing") or _has_choice(condition)
            else text
            for text, condition in zip(texts, rule.conditions, strict=True)
        ]
    return " AND ".join(texts)


def _has_choice(condition):
    """Whether a condition is on the levels of several columns."""
    if not isinstance(condition, SumCondition):
        return False
    return not condition.takes_sums and len(condition.level_terms) > 1


def _write_lines(words, rules, max_rules):
    """Write the first rules, the number of the others, and the default rule."""
    lines = [_write_line(words, rule, n) for n, rule in enumerate(rules[:max_rules])]
    n_defaults = int(words.fitted.is_list)
    n_more = len(rules) - n_defaults - len(lines)
    if n_more > 0:
        plural = "s" if n_more > 1 else ""
        lines.append(f"... {n_more:,} more rule{plural}; max_rules=None writes all")
    if n_defaults and len(rules) > len(lines) - (n_more > 0):
        lines.append(_write_line(words, rules[-1], len(rules) - 1))
    return lines


def _write_line(words, rule, number) -> str:
    """One rule as a line."""
    conditions = write_conditions(words, rule)
    is_next = words.fitted.is_list and number > 0
    if conditions:
        start = f"{'ELSE ' if is_next else ''}IF {conditions} THEN"
    else:
        start = "ELSE" if is_next else "ALWAYS"
    support = format_fraction(rule.weight / words.fitted.total_weight)
    notes = [f"support {support} ({describe_size(rule.n_samples, rule.weight)})"]
    confidence = words.confidence(rule.node)
    if confidence:
        notes.append(f"confidence {confidence}")
    return f"{start} {words.prediction(rule.node)} [{', '.join(notes)}]"


def _make_frame(words, rules, rename):
    """Make a data frame of rules, with class labels or the given names."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            'export_rules(format="frame") requires pandas: pip install pandas. '
            'format="dict" gives the same rules without it.'
        ) from error
    fitted = words.fitted
    frame = pd.DataFrame(_make_records(fitted, rules))
    frame["conditions"] = [write_conditions(words, rule) for rule in rules]
    if fitted.tree.is_classifier and rename:
        names = [words.outputs(rule.node) for rule in rules]
        frame["class"] = [each[0] for each in names] if fitted.is_single else names
    return frame
