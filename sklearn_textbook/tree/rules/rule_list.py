"""Arrays of an ordered list of rules."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.rules.check import check_rule_list
from sklearn_textbook.tree.rules.serialise import read_fields, write_fields


@dataclass(frozen=True, eq=False, repr=False)
class RuleList:
    """List of rules; the first rule that covers a row decides its class.

    A condition is identified by the node of the tree to which its branch leads. Missing
    values, and levels not seen in the node, satisfy no condition. Arrays with one entry
    more than there are rules end with the entry of the default.

    Parameters
    ----------
    tree : GrownTree
        The tree from which the rules are derived.
    start : ndarray of int64, shape (n_rules + 1,)
        Where the conditions of each rule start in ``nodes``.
    nodes : ndarray of int32
        The conditions.
    rule_class : ndarray of int32, shape (n_rules + 1,)
        Class of each rule, and the default class.
    shares : ndarray of float64, shape (n_rules + 1, n_classes)
        Class probabilities, the largest for the class of the rule.
    rate : ndarray of float64, shape (n_rules + 1,)
        Pessimistic error rate of each rule; NaN for the default.
    n_samples : ndarray of int64, shape (n_rules + 1,)
        Number of training rows that each rule decides.
    weight : ndarray of float64, shape (n_rules + 1,)
        Weight of these rows.
    """

    tree: GrownTree
    start: np.ndarray
    nodes: np.ndarray
    rule_class: np.ndarray
    shares: np.ndarray
    rate: np.ndarray
    n_samples: np.ndarray
    weight: np.ndarray

    def __post_init__(self) -> None:
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __len__(self):
        """Return the number of rules, not counting the default."""
        return len(self.start) - 1

    def __repr__(self) -> str:
        return f"{type(self).__name__}(n_rules={len(self)})"

    @property
    def n_conditions(self) -> np.ndarray:
        """Number of conditions of each rule."""
        return np.diff(self.start)

    def to_dict(self) -> dict[str, Any]:
        """Return the rules, without the tree, as plain Python values for JSON."""
        return write_fields(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any], tree: GrownTree) -> Self:
        """Read the rules from the result of :meth:`to_dict`."""
        rule_list = cls(tree=tree, **read_fields(fields))
        check_rule_list(rule_list)
        return rule_list
