"""Rows of a table -> the rule of a list that decides each row."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.rules._rules import find_covering
from sklearn_textbook.tree.rules.collect_paths import collect_tests


def find_deciding_rules(rule_list, matrix, after=None, n_threads=1):
    """Find the first rule that covers each row.

    Parameters
    ----------
    rule_list : RuleList
        The rules.
    matrix : ndarray of float64 or float32, shape (n_rows, n_features)
        Numbers and level codes.
    after : ndarray of int64, shape (n_rows,), default=None
        An earlier result of this function: the first rule after these is searched. A
        row without a rule there has none in the result.
    n_threads : int, default=1
        Number of threads.

    Returns
    -------
    rules : ndarray of int64, shape (n_rows,)
        Indices of the rules; -1 if none covers the row.
    """
    if after is None:
        place = np.zeros(len(matrix), dtype=np.int64)
    else:
        place = np.where(after < 0, len(rule_list), after + 1)
    find_covering(
        matrix,
        collect_tests(rule_list.tree)[rule_list.nodes],
        rule_list.tree.level_branch,
        rule_list.start,
        place,
        n_threads,
    )
    return place
