"""An ordered list of rules, as data."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.rules.check import check_rule_list
from sklearn_textbook.tree.rules.serialise import read_fields, write_fields


@dataclass(frozen=True, eq=False, repr=False)
class RuleList:
    """Rules of which the first that covers a row decides its class.

    A condition is known by the node of the tree to which its branch leads. A missing
    value, and a level that the node has not seen, meet no condition. Arrays with an
    entry more than there are rules end with that of the rows which no rule covers.

    Parameters
    ----------
    tree : GrownTree
        The tree that the rules come from.
    start : ndarray of int64, shape (n_rules + 1,)
        Where the conditions of each rule start in ``nodes``.
    nodes : ndarray of int32
        The conditions.
    rule_class : ndarray of int32, shape (n_rules + 1,)
        Class of each rule, and the default class.
    shares : ndarray of float64, shape (n_rules + 1, n_classes)
        Share of each class, largest for the rule's own.
    rate : ndarray of float64, shape (n_rules + 1,)
        Pessimistic error rate of each rule; NaN for the default.
    n_samples : ndarray of int64, shape (n_rules + 1,)
        Training rows that each rule is the first to cover.
    weight : ndarray of float64, shape (n_rules + 1,)
        Their weight.
    """

    tree: GrownTree
    start: np.ndarray
    nodes: np.ndarray
    rule_class: np.ndarray
    shares: np.ndarray
    rate: np.ndarray
    n_samples: np.ndarray
    weight: np.ndarray

    def __post_init__(self):
        for array in vars(self).values():
            if isinstance(array, np.ndarray):
                array.flags.writeable = False

    def __len__(self):
        """Return the number of rules, the default not counted."""
        return len(self.start) - 1

    def __repr__(self):
        return f"{type(self).__name__}(n_rules={len(self)})"

    @property
    def n_conditions(self):
        """Number of conditions of each rule."""
        return np.diff(self.start)

    def to_dict(self):
        """Write the rules as plain Python values, fit for JSON, without the tree.

        Returns
        -------
        dict
            ``format``, ``schema_version`` and the arrays as lists; "NaN" for the error
            rate of the default.
        """
        return write_fields(self)

    @classmethod
    def from_dict(cls, fields, tree):
        """Read the rules from what :meth:`to_dict` wrote.

        Parameters
        ----------
        fields : dict
            The dictionary. It may come from anywhere: everything is checked.
        tree : GrownTree
            The tree that the rules come from.

        Returns
        -------
        RuleList
            A list with equal arrays.

        Raises
        ------
        ValueError
            If the dictionary is not one of a list of rules, was written by a newer
            version, is damaged, or belongs to another tree; the message says where.
        """
        rule_list = cls(tree=tree, **read_fields(fields))
        check_rule_list(rule_list)
        return rule_list
