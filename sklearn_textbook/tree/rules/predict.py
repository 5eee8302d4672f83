"""Rows of a table -> the rule of a list that decides each row."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.tree.rules._rules import find_covering
from sklearn_textbook.tree.rules.collect_paths import collect_tests


def find_deciding_rules(
    rule_list, matrix, after: np.ndarray | None = None, n_threads: int = 1
) -> np.ndarray:
    """Find the first rule that covers each row."""
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
