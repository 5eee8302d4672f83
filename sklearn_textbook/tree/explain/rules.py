"""The rules of a tree: one per leaf, and one per inner node in which rows may end."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.tree.encode.columns import BOOLEAN, TEMPORAL
from sklearn_textbook.tree.explain.conditions import (
    SumCondition,
    branch_condition,
    collect_branches,
)
from sklearn_textbook.tree.explain.describe import (
    has_children,
    level_values,
)
from sklearn_textbook.tree.explain.describe_sums import list_summands
from sklearn_textbook.tree.explain.equations import make_equation_record
from sklearn_textbook.tree.explain.fitted import join_names
from sklearn_textbook.tree.grow.layout import STAY


@dataclass(frozen=True)
class Rule:
    """A rule: the conditions under which rows end in a node.

    Parameters
    ----------
    node : int
        Number of the node in which the rows end.
    is_leaf : bool
        Whether this is a leaf; if not, the rows end in an inner node.
    conditions : tuple of Condition or SumCondition
        The conditions, one per column and one per oblique test.
    n_samples : int
        Number of training rows that end in the node.
    weight : float
        Their weight.
    """

    node: int
    is_leaf: bool
    conditions: tuple
    n_samples: int
    weight: float


def collect_rules(tree, inner_nodes: bool = True) -> list[Rule]:
    """List the rules of a tree: of leaves in depth-first order, then of inner nodes."""
    leaf_rules, inner_rules = [], []
    stack = [(0, {})]
    while stack:
        node, path = stack.pop()
        if not has_children(tree, node):
            leaf_rules.append(_rule(tree, node, path))
            continue
        if inner_nodes:
            stop = extend_path(path, branch_condition(tree, node, STAY))
            if stop is not None:
                inner_rules.append(_rule(tree, node, stop))
        first = int(tree.nodes["first_child"][node])
        for branch, condition in reversed([*enumerate(collect_branches(tree, node))]):
            longer = extend_path(path, condition)
            if longer is not None:
                stack.append((first + branch, longer))
    return leaf_rules + inner_rules


def extend_path(path, condition):
    """Add a condition to a path; None if no row can satisfy both."""
    if isinstance(condition, SumCondition):
        if condition.is_impossible or condition.contradicts(path):
            return None
        return {**path, condition.key: condition}
    known = path.get(condition.key)
    condition = known.meet(condition) if known else condition
    if condition.is_impossible:
        return None
    return {**path, condition.key: condition}


def _rule(tree, node, path):
    n_samples, weight = _ending_here(tree, node)
    conditions = tuple(c for c in path.values() if not c.is_always_true)
    return Rule(node, not has_children(tree, node), conditions, n_samples, weight)


def _ending_here(tree, node):
    """Return the number and weight of the training rows that end in a node."""
    record = tree.nodes[node]
    n_samples, weight = int(record["n_samples"]), float(record["weight"])
    first, n_children = int(record["first_child"]), int(record["n_children"])
    if n_children:
        children = tree.nodes[first : first + n_children]
        n_samples = max(0, n_samples - int(children["n_samples"].sum()))
        rest = weight - float(children["weight"].sum())
        # Rounding errors of sums are not weights.
        weight = rest if rest > 1e-9 * weight else 0.0
    return n_samples, weight


def build_rules(
    tree,
    schema,
    classes=None,
    feature_names: ArrayLike | None = None,
    inner_nodes: bool = True,
    *,
    class_tolerance: float = 0.0,
    costs: np.ndarray | None = None,
) -> list[dict]:
    """Write a tree as a list of rules, each a dictionary of plain Python values.

    Exactly one rule applies to a row, and its class (or value) is the prediction of
    the tree. For rows that are divided among branches several rules apply, each to a
    fraction; the fractions sum to 1, and the prediction is the mean of the
    distributions (or values) of the rules weighted by them. No rule applies to rows
    with an unknown level if ``handle_unknown="error"``.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    schema : TableSchema
        The columns of its table.
    classes : ndarray, list of ndarray or None, default=None
        The class labels; for several outputs a list. ``None`` for regression.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    inner_nodes : bool, default=True
        Whether to add a rule for each inner node in which rows may end because of an
        unknown level or a missing value without a branch.
    class_tolerance : float, default=0.0
        A class is predicted instead of an earlier one only if its proportion is larger
        by more than this.
    costs : ndarray of shape (n_classes, n_classes), default=None
        Costs of errors, a row for each true class; the class of the least expected
        cost is predicted.

    Returns
    -------
    list of dict
        Leaves from left to right, then inner nodes. Each rule has

        - ``node``, ``is_leaf``: the node in which its rows end;
        - ``conditions``: a list, one entry per column and one per oblique test, in the
          order of the path;
        - ``class`` or, for regression, ``value``: the prediction (a list for several
          outputs);
        - ``slopes``, ``low``, ``high`` (linear leaves only): the terms that are added
          to ``value``, each ``weight * (x - center)`` with its ``standard_error``, and
          the bounds of the sum;
        - ``distribution``: proportion of each class (classification only);
        - ``confidence``: proportion of the predicted class (classification only);
        - ``n_samples``, ``weight``: training rows that end there, and their weight;
        - ``support``: their fraction of the total weight.

        A condition has ``feature``, ``operator``, ``value`` and ``missing``. Values
        of dates, times of day and durations are text, dates in ISO 8601. The
        operators are ``"<="``, ``">"``, ``"range"`` (``value[0] < x <= value[1]``),
        ``"=="``, ``"in"``, ``"not in"``, ``"is missing"`` and ``"is not missing"``.
        ``missing`` is the fraction of a row that satisfies the condition if its value
        is missing: True for 1, False for 0. A condition may also have

        - ``partial``: levels, with the fraction of their rows that satisfies it;
        - ``unseen``: the same for a level not seen in training;
        - ``surrogates``: the tests for a missing value; a list of entries, which must
          all be satisfied. An entry has ``tests`` on other columns, of which the first
          applicable one is used (one with ``known`` is applicable to the levels listed
          there), and ``otherwise``, the fraction if none is applicable.

        The condition of an oblique test has ``sum`` instead of ``feature``: a list of
        terms, each with ``feature``, ``weight`` (dates, times of day and durations in
        seconds) or ``levels``, a dictionary of what each level adds, and ``missing``,
        what a missing value adds. The operator is ``"<="`` or ``">"``, with
        ``unseen``, if not 0, for a level that is in none of the dictionaries; or
        ``"has unseen level"``, which such a level satisfies.

    See Also
    --------
    export_rules : The rules as text, data frame, SQL or Python code.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> from sklearn_textbook.tree.explain import build_rules
    >>> iris = load_iris(as_frame=True)
    >>> model = CARTClassifier(max_depth=2).fit(iris.data, iris.target)
    >>> rules = build_rules(model.tree_, model.schema_, model.classes_)
    >>> rules[0]["conditions"][0]["operator"], rules[0]["conditions"][0]["value"]
    ('<=', 2.45)
    >>> rules[0]["class"], rules[0]["confidence"], rules[0]["n_samples"]
    (0, 1.0, 50)
    """
    fitted = join_names(tree, schema, classes, feature_names)
    fitted = replace(fitted, class_tolerance=class_tolerance, costs=costs)
    return make_records(fitted, collect_rules(tree, inner_nodes))


def make_records(fitted, rules):
    """Rules as dictionaries; see :func:`build_rules`."""
    return [
        {"node": rule.node, "is_leaf": rule.is_leaf, **rule_record(fitted, rule)}
        for rule in rules
    ]


def rule_record(fitted, rule):
    """Return one rule as a dictionary without its node; see :func:`build_rules`."""
    return {
        "conditions": [condition_record(fitted, c) for c in rule.conditions],
        **_prediction_record(fitted, rule.node),
        "n_samples": rule.n_samples,
        "weight": rule.weight,
        "support": rule.weight / fitted.total_weight,
    }


def _prediction_record(fitted, node):
    """Return the prediction of a node; a list for several outputs."""
    if not fitted.tree.is_classifier:
        values = fitted.predicted(node)
        record = {"value": values[0] if fitted.is_single else values}
        if len(fitted.tree.slopes):
            record |= make_equation_record(fitted, node)
        return record
    labels, distributions, confidences = [], [], []
    for classes, fractions, best in zip(
        fitted.classes, fitted.class_fractions(node), fitted.best[node], strict=True
    ):
        classes = np.asarray(classes).tolist()
        fractions = fractions.tolist()[: len(classes)]
        labels.append(classes[best])
        confidences.append(fractions[best])
        distributions.append(dict(zip(classes, fractions, strict=True)))
    parts = {"class": labels, "distribution": distributions, "confidence": confidences}
    return {key: p[0] if fitted.is_single else p for key, p in parts.items()}


def condition_record(fitted, condition):
    """One condition as a dictionary; see :func:`build_rules`."""
    if isinstance(condition, SumCondition):
        return _sum_record(fitted, condition)
    record = {"feature": fitted.feature_names[condition.feature]}
    if not condition.takes_present:
        record.update(operator="is missing", value=None)
    elif condition.takes_all_present:
        record.update(operator="is not missing", value=None)
    elif condition.is_numeric:
        record.update(_interval(fitted, condition))
    else:
        record.update(_level_set(fitted, condition))
    record["missing"] = _plain_fraction(condition.missing)
    if condition.chains:
        record["surrogates"] = [
            {
                "tests": [_stand_in_record(fitted, s) for s in chain.stand_ins],
                "otherwise": _plain_fraction(chain.otherwise),
            }
            for chain in condition.chains
        ]
    return record


def _sum_record(fitted, condition):
    """Return the condition of an oblique test as a dictionary."""
    terms = []
    for term in condition.terms:
        column = fitted.schema.columns[term.feature]
        summands = list_summands(term, column)
        record = {"feature": fitted.feature_names[term.feature]}
        if summands is None:
            record["weight"] = term.weight
        else:
            names = [False, True] if column.levels is None else level_values(column)
            record["levels"] = {names[code]: value for code, value in summands}
        terms.append({**record, "missing": term.fill})
    record = {"sum": terms, "operator": "has unseen level", "value": None}
    if condition.takes_sums:
        record.update(_plain_comparison(condition.low, condition.high))
        if condition.is_fractional:
            record["unseen"] = condition.unseen
    return record


def _plain_comparison(low, high):
    """Return operator and value of an interval."""
    if low == -np.inf:
        return {"operator": "<=", "value": high}
    if high == np.inf:
        return {"operator": ">", "value": low}
    return {"operator": "range", "value": [low, high]}


def _plain_fraction(fraction):
    return bool(fraction) if fraction in (0.0, 1.0) else fraction


def _interval(fitted, test):
    """Return operator and value of an interval; for booleans stored as numbers, ==."""
    column = fitted.schema.columns[test.feature]
    if column.source == BOOLEAN:
        return {"operator": "==", "value": test.low >= 0.0}
    record = _plain_comparison(test.low, test.high)
    if column.source in TEMPORAL:
        value, write = record["value"], column.format_value
        is_range = record["operator"] == "range"
        record["value"] = [write(v) for v in value] if is_range else write(value)
    return record


def _level_set(fitted, condition):
    """Return operator and value of a set of levels, and the divided levels."""
    levels = level_values(fitted.schema.columns[condition.feature])
    *fractions, unseen = condition.fractions
    if unseen == 1.0:
        refused = [
            v for v, fraction in zip(levels, fractions, strict=True) if fraction < 1.0
        ]
        record = {"operator": "not in", "value": refused}
    else:
        accepted = [
            v for v, fraction in zip(levels, fractions, strict=True) if fraction == 1.0
        ]
        record = _equal_or_in(accepted)
        if unseen > 0.0:
            record["unseen"] = unseen
    partial = {v: s for v, s in zip(levels, fractions, strict=True) if 0.0 < s < 1.0}
    return {**record, "partial": partial} if partial else record


def _equal_or_in(values):
    if len(values) == 1:
        return {"operator": "==", "value": values[0]}
    return {"operator": "in", "value": list(values)}


def _stand_in_record(fitted, stand_in):
    """Write the test of a surrogate as a dictionary."""
    record = {"feature": fitted.feature_names[stand_in.feature]}
    if stand_in.is_numeric:
        if stand_in.low >= stand_in.high:
            return {**record, "operator": "in", "value": []}
        return {**record, **_interval(fitted, stand_in)}
    levels = level_values(fitted.schema.columns[stand_in.feature])
    accepted = [levels[code] for code in stand_in.accepted]
    known = [levels[code] for code in stand_in.known]
    return {**record, **_equal_or_in(accepted), "known": known}
