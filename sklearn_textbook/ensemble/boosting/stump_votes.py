"""Votes of many stumps at the cost of one look-up in each column.

The weighted votes of the stumps that test a column are a step function of its value: a
table of the sums between two thresholds, or of the levels, is all that a row needs,
however many stumps there are.
"""

from __future__ import annotations

import numpy as np

from sklearn_textbook.ensemble.boosting._stumps import add_steps
from sklearn_textbook.tree.members import describe_stump


class StumpVotes:
    """The sums of stumps by column.

    Parameters
    ----------
    stumps : list of dict
        What ``describe_stump`` returns for each.
    weights : ndarray of float64, shape (n_stumps,)
        What their votes count.
    n_classes : int
        Number of classes.
    """

    def __init__(self, stumps, weights, n_classes):
        self.constant = np.zeros(n_classes)
        by_column = {}
        for stump, weight in zip(stumps, weights, strict=True):
            if stump["column"] < 0:
                self.constant[stump["root"]] += weight
            else:
                by_column.setdefault(stump["column"], []).append((stump, weight))
        thresholds, votes = [], []
        self.columns = np.array(sorted(by_column), dtype=np.int64)
        self.kinds = np.empty(len(self.columns), dtype=np.uint8)
        for number, column in enumerate(self.columns):
            of_column = by_column[column]
            self.kinds[number] = of_column[0][0]["kind"]
            steps, table = _sum_steps(of_column, n_classes)
            thresholds.append(steps)
            votes.append(table)
        self.first_threshold = _count_up(thresholds)
        self.first_vote = _count_up(votes)
        # One more, so that there is a first one.
        self.thresholds = np.concatenate([*thresholds, [np.inf]])
        self.votes = np.concatenate([*votes, np.zeros((1, n_classes))])

    @classmethod
    def of(cls, members, weights, n_classes):
        """Make the sums; None if some member is not a plain stump."""
        stumps = [describe_stump(member) for member in members]
        if any(stump is None for stump in stumps):
            return None
        return cls(stumps, weights, n_classes)

    def add_up(self, matrix, n_threads):
        """Add up the votes for some rows.

        Parameters
        ----------
        matrix : ndarray of float64 or float32, shape (n_rows, n_columns)
            Numbers and level codes.
        n_threads : int
            Number of threads.

        Returns
        -------
        votes : ndarray of float64, shape (n_rows, n_classes)
        """
        out = np.empty((len(matrix), len(self.constant)))
        out[:] = self.constant
        add_steps(
            matrix,
            self.columns,
            self.kinds,
            self.first_threshold,
            self.thresholds,
            self.first_vote,
            self.votes,
            out,
            n_threads,
        )
        return out


def _sum_steps(stumps, n_classes):
    """Return the thresholds of a column and the sums of votes.

    The last two sums are those of unseen levels and of missing values.
    """
    first = stumps[0][0]
    steps = np.empty(0)
    n_places = first["n_levels"]
    if first["kind"] < 2:
        steps = np.unique([stump["threshold"] for stump, _ in stumps])
        n_places = len(steps) + 1
    table = np.zeros((n_places + 2, n_classes))
    for stump, weight in stumps:
        if first["kind"] < 2:
            place = np.searchsorted(steps, stump["threshold"]) + 1
            table[:place, stump["says"][0]] += weight
            table[place:-2, stump["says"][1]] += weight
        else:
            table[np.arange(n_places), stump["says"]] += weight
        table[-2, stump["root"]] += weight
        table[-1, stump["missing"]] += weight
    return steps, table


def _count_up(parts):
    """Return the starts of consecutive parts, and the end of the last."""
    return np.cumsum([0, *map(len, parts)], dtype=np.int64)
