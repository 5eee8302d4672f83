"""Consistency checks of a list of rules."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.grow.check import refuse
from sklearn_textbook.tree.grow.layout import NOMINAL, OBLIQUE

#: Tolerance of sums of ``shares``, which may have been rounded when written.
ROUNDING = 1e-6


def check_rule_list(rule_list) -> None:
    """Raise ValueError for an inconsistent list of rules."""
    tree = rule_list.tree
    if not tree.is_classifier or tree.n_outputs != 1:
        raise ValueError("The tree of a rule list must be a classifier of one output.")
    _check_shapes(rule_list)
    _check_conditions(rule_list)
    _check_classes(rule_list)
    rate, weight = rule_list.rate, rule_list.weight
    is_rate = (rate >= 0.0) & (rate <= 1.0)
    is_rate[-1] = np.isnan(rate[-1])
    refuse(~is_rate, "rate", "must be from 0 to 1, and NaN for the default")
    refuse(rule_list.n_samples < 0, "n_samples", "must not be negative")
    refuse(
        ~np.isfinite(weight) | (weight < 0.0),
        "weight",
        "must be finite and not negative",
    )
    with np.errstate(over="ignore"):
        total = weight.sum()
    if not 0.0 < total < np.inf:
        raise ValueError("weight must have a sum that is finite and not 0.")


def _check_shapes(rule_list) -> None:
    if not len(rule_list.start):
        raise ValueError("start must have one entry more than there are rules.")
    n_entries = len(rule_list) + 1
    for name in ("rule_class", "shares", "rate", "n_samples", "weight"):
        length = len(getattr(rule_list, name))
        if length != n_entries:
            raise ValueError(
                f"{name} must have {n_entries} entries, for {len(rule_list)} rules and "
                f"the default, got {length}."
            )
    n_classes = rule_list.tree.max_n_classes
    if rule_list.shares.shape[1] != n_classes:
        raise ValueError(
            f"shares must have one column for each of the {n_classes} classes of the "
            f"tree, got {rule_list.shares.shape[1]}."
        )


def _check_conditions(rule_list) -> None:
    """Check that every rule is part of one path, from the root downwards."""
    start, conditions, tree = rule_list.start, rule_list.nodes, rule_list.tree
    # Compared, not subtracted: the difference of any two integers may overflow.
    if start[0] != 0 or start[-1] != len(conditions) or np.any(start[1:] < start[:-1]):
        raise ValueError(
            f"start must rise from 0 to {len(conditions)}, the number of conditions."
        )
    refuse(
        (conditions < 1) | (conditions >= tree.node_count),
        "nodes",
        f"a condition must be from 1 to {tree.node_count - 1}",
    )
    parent = tree.nodes["parent"]
    above = tree.nodes[parent[conditions]]
    refuse(
        above["kind"] == OBLIQUE,
        "nodes",
        "a condition must not be the branch of an oblique test",
    )
    refuse(
        (above["kind"] != NOMINAL) & (conditions > above["first_child"] + 1),
        "nodes",
        "a condition must not be the branch of missing values",
    )
    # A parent's number is smaller than its children's, so climbing up to a number no
    # larger than that of the condition before ends there, or on another path.
    is_first = np.zeros(len(conditions), dtype=bool)
    is_first[start[:-1][rule_list.n_conditions > 0]] = True
    before = np.where(is_first, 0, np.roll(conditions, 1))
    reached = parent[conditions]
    waiting = np.flatnonzero(~is_first & (reached > before))
    while len(waiting):
        reached[waiting] = parent[reached[waiting]]
        waiting = waiting[reached[waiting] > before[waiting]]
    refuse(
        ~is_first & (reached != before),
        "nodes",
        "a condition must be below the preceding condition in the tree",
    )


def _check_classes(rule_list) -> None:
    rule_class, shares = rule_list.rule_class, rule_list.shares
    n_classes = shares.shape[1]
    refuse(
        (rule_class < 0) | (rule_class >= n_classes),
        "rule_class",
        f"must be from 0 to {n_classes - 1}",
    )
    refuse(
        ~((shares > 0.0) & (shares <= 1.0)).all(axis=1)
        | (np.abs(shares.sum(axis=1) - 1.0) > ROUNDING),
        "shares",
        "must be positive and add up to 1",
    )
    refuse(
        shares.argmax(axis=1) != rule_class,
        "shares",
        "the class of the rule must have the largest",
    )
