"""Conditions on the values of a row for it to end in each leaf of a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sklearn_textbook.tree.explain.rules import collect_rules


@dataclass(frozen=True, eq=False)
class ColumnBoxes:
    """Conditions of the leaves, and of other places where rows end, on one column.

    Parameters
    ----------
    column : int
        The column.
    conditions : list of Condition or None
        The condition of each place; None if every value is allowed.
    low, high : ndarray of float64, shape (n_places,)
        Numeric columns: ``low < value <= high``.
    accepted : ndarray of bool, shape (n_places, n_levels + 1), or None
        Nominal and ordinal columns: the levels; the last entry is for unknown ones.
    missing : ndarray of bool, shape (n_places,)
        Whether a missing value may stay, apart from what surrogates decide.
    """

    column: int
    conditions: list
    low: np.ndarray
    high: np.ndarray
    accepted: np.ndarray | None
    missing: np.ndarray

    def allows_missing(self, matrix: np.ndarray) -> np.ndarray:
        """Return whether missing values of rows may stay."""
        allowed = np.repeat(self.missing[np.newaxis], len(matrix), axis=0)
        for place, condition in enumerate(self.conditions):
            for chain in condition.chains if condition else ():
                allowed[:, place] &= follow_chain(chain, matrix)
        return allowed


def follow_chain(chain, matrix: np.ndarray) -> np.ndarray:
    """Return whether surrogates lead rows wholly into a branch."""
    taken = np.full(len(matrix), chain.otherwise == 1.0)
    is_open = np.ones(len(matrix), dtype=bool)
    for stand_in in chain.stand_ins:
        value = matrix[:, stand_in.feature]
        if stand_in.is_numeric:
            is_known = ~np.isnan(value)
            answer = (value > stand_in.low) & (value <= stand_in.high)
        else:
            is_known = np.isin(value, stand_in.known)
            answer = np.isin(value, stand_in.accepted)
        decides = is_open & is_known
        taken[decides] = answer[decides]
        is_open &= ~is_known
    return taken


def list_boxes(tree) -> tuple[np.ndarray, list[ColumnBoxes]]:
    """List where rows may end as a whole, and what this requires of each column."""
    rules = collect_rules(tree)
    places = np.array([rule.node for rule in rules], dtype=np.int64)
    found = [{c.feature: c for c in rule.conditions} for rule in rules]
    columns = sorted(set().union(*found))
    return places, [
        _make_boxes(tree, column, [path.get(column) for path in found])
        for column in columns
    ]


def _make_boxes(tree, column, conditions):
    n_levels = int(tree.n_levels[column])
    n_places = len(conditions)
    low, high = np.full(n_places, -np.inf), np.full(n_places, np.inf)
    accepted = np.ones((n_places, n_levels + 1), dtype=bool) if n_levels else None
    missing = np.ones(n_places, dtype=bool)
    for place, condition in enumerate(conditions):
        if condition is None:
            continue
        low[place], high[place] = condition.low, condition.high
        missing[place] = condition.missing == 1.0
        if n_levels:
            accepted[place] = np.array(condition.fractions) == 1.0
    return ColumnBoxes(column, conditions, low, high, accepted, missing)
