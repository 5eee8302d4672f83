"""Description of an ordered list of rules in the form of the rules of a tree."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook.tree.explain.conditions import strict_condition
from sklearn_textbook.tree.explain.fitted import FittedTree, join_names
from sklearn_textbook.tree.explain.rules import Rule, extend_path, rule_record
from sklearn_textbook.tree.rules import RuleList


@dataclass(frozen=True)
class FittedRules(FittedTree):
    """A list of rules with the names of its columns and classes.

    Rows end in rules instead of nodes: place i is rule i, and the last place is the
    default.

    Parameters
    ----------
    rule_list : RuleList
        The rules.
    """

    rule_list: RuleList = field(kw_only=True)

    is_list: ClassVar[bool] = True

    @property
    def statistics(self):
        """Class proportions of every rule."""
        return self.rule_list.shares[:, None, :]

    @property
    def total_weight(self) -> float:
        """Weight of the training rows."""
        return float(self.rule_list.weight.sum())

    def class_fractions(self, place):
        """Class proportions of one rule; shape (1, n_classes)."""
        return self.statistics[place]

    @property
    def best(self):
        """Number of the class of every rule; shape (n_rules + 1, 1)."""
        return self.rule_list.rule_class[:, None]


def join_rule_names(
    rule_list: RuleList,
    schema,
    classes: np.ndarray,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
) -> FittedRules:
    """Make a :class:`FittedRules` of its parts."""
    fitted = join_names(rule_list.tree, schema, classes, feature_names, class_names)
    return FittedRules(**vars(fitted), rule_list=rule_list)


def collect_listed_rules(rule_list: RuleList) -> list[Rule]:
    """List the rules in order, then the default, which has no conditions."""
    rules = []
    for number in range(len(rule_list) + 1):
        path = {}
        if number < len(rule_list):
            part = slice(rule_list.start[number], rule_list.start[number + 1])
            for node in rule_list.nodes[part].tolist():
                path = extend_path(path, strict_condition(rule_list.tree, node))
                if path is None:
                    raise ValueError(
                        f"nodes: no row satisfies all conditions of rule {number}."
                    )
        rules.append(
            Rule(
                node=number,
                is_leaf=True,
                conditions=tuple(path.values()),
                n_samples=int(rule_list.n_samples[number]),
                weight=float(rule_list.weight[number]),
            )
        )
    return rules


def make_listed_records(fitted: FittedRules, rules: list[Rule]) -> list[dict]:
    """Rules as dictionaries."""
    records = []
    for rule in rules:
        rate = float(fitted.rule_list.rate[rule.node])
        number = rule.node if rule.node < len(fitted.rule_list) else -1
        error = None if np.isnan(rate) else rate
        records.append({"rule": number, **rule_record(fitted, rule), "error": error})
    return records


def build_listed_rules(rule_list: RuleList, schema, classes: np.ndarray) -> list[dict]:
    """Write a list of rules as dictionaries; see :func:`make_listed_records`."""
    fitted = join_rule_names(rule_list, schema, classes)
    return make_listed_records(fitted, collect_listed_rules(rule_list))
