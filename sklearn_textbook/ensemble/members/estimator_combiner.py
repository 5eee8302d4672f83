"""Asking the members of a bagging that may be any scikit-learn estimator."""

from __future__ import annotations

import numpy as np
from sklearn.utils.parallel import delayed

from sklearn_textbook.ensemble.members.estimator_members import (
    read_table,
    take_columns,
    take_rows,
)
from sklearn_textbook.ensemble.members.parallel_results import (
    open_parallel,
    yield_results,
)

#: Members are asked in at most so many batches, whatever ``n_jobs`` is: the sums are
#: the same then.
MOST_BATCHES = 64


def count_member_votes(member, X, n_classes, routed):
    """Mark the class that a member votes for in each row."""
    predicted = np.asarray(member.predict(X, **routed.get("predict", {})))
    numbers = predicted.astype(np.intp)[:, np.newaxis]
    return (np.arange(n_classes) == numbers).astype(np.float64)


def compute_member_shares(member, X, n_classes, routed):
    """Ask a member for shares of the classes, or its vote if it gives none."""
    if not hasattr(member, "predict_proba"):
        return count_member_votes(member, X, n_classes, routed)
    given = member.predict_proba(X, **routed.get("predict_proba", {}))
    return spread(given, member.classes_, n_classes, 0.0)


def compute_member_logarithms(member, X, n_classes, routed):
    """Ask a member for logarithms of shares."""
    with np.errstate(divide="ignore"):
        given = member.predict_log_proba(X, **routed.get("predict_log_proba", {}))
    return spread(given, member.classes_, n_classes, -np.inf)


def compute_member_decisions(member, X, n_classes, routed):
    """Ask a member for its decision function, which is to cover all classes."""
    if 0 < len(member.classes_) < n_classes:
        raise ValueError(
            f"A {type(member).__name__} has learned from rows of {len(member.classes_)}"
            f" of the {n_classes} classes, so that its decision_function cannot be "
            "averaged with those of others. Draw more rows (max_samples)."
        )
    return member.decision_function(X, **routed.get("decision_function", {}))


def compute_member_values(member, X, n_classes, routed):
    """Ask a member for values."""
    return np.asarray(member.predict(X, **routed.get("predict", {})))


def spread(given, member_classes, n_classes, default):
    """Widen what a member says of its classes to all classes."""
    if len(member_classes) == n_classes:
        return given
    wide = np.full((given.shape[0], n_classes), default)
    wide[:, np.asarray(member_classes, dtype=np.intp)] = given
    return wide


def ask_batch(ask, members, columns, X, n_classes, routed):
    """Ask members one after the other."""
    return [
        ask(
            member,
            X if of_member is None else take_columns(X, of_member),
            n_classes,
            routed,
        )
        for member, of_member in zip(members, columns, strict=True)
    ]


def sum_batch(add, *arguments):
    """Ask members one after the other, and add up what they say."""
    return add_in_turn(add, ask_batch(*arguments))


def add_in_turn(add, parts):
    """Add up arrays from the first to the last."""
    total = None
    for part in parts:
        total = part if total is None else add(total, part)
    return total


class EstimatorCombiner:
    """Fitted estimators that are asked about a table.

    Parameters
    ----------
    owner : estimator
        The fitted ensemble.
    routed : dict, default=None
        Parameters of the members' methods: name of the method -> dict.
    """

    def __init__(self, owner, routed=None):
        self.owner = owner
        self.routed = {} if routed is None else routed
        self.n_classes = getattr(owner, "n_classes_", None)
        self.members = owner.estimators_
        self.columns = owner._list_columns()

    def read_blocks(self, X):
        """Read a new table.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The table.

        Yields
        ------
        table : ndarray, data frame, csr or csc matrix
            All rows.
        """
        yield read_table(self.owner, X, reset=False)

    def sum_shares(self, table):
        """Add up the shares of the classes, or the values, that the members give.

        Parameters
        ----------
        table : ndarray, data frame, csr or csc matrix
            The rows.

        Returns
        -------
        total : ndarray of shape (n_rows, n_outputs, n_statistics)
            The sums; votes of members that give no shares.
        """
        return self._shape(self.add_up(self._choose_question(), table))

    def sum_votes(self, table):
        """Count the votes of the members.

        Parameters
        ----------
        table : ndarray, data frame, csr or csc matrix
            The rows.

        Returns
        -------
        total : ndarray of float64, shape (n_rows, 1, n_classes)
            Votes for each class.
        """
        return self._shape(self.add_up(count_member_votes, table))

    def predict_rows(self, number, table, rows, *, votes=False):
        """Ask one member about some rows.

        Parameters
        ----------
        number : int
            Number of the member.
        table : ndarray, data frame, csr or csc matrix
            A table.
        rows : ndarray of int
            The rows of it that the member is asked about.
        votes : bool, default=False
            Whether it votes for a class.

        Returns
        -------
        predicted : ndarray of shape (n_asked, n_outputs, n_statistics)
            Shares, votes or values.
        """
        ask = count_member_votes if votes else self._choose_question()
        members, columns = [self.members[number]], [self.columns[number]]
        table = take_rows(table, rows)
        (given,) = ask_batch(ask, members, columns, table, self.n_classes, self.routed)
        return self._shape(given)

    def add_up(self, ask, table, add=np.add):
        """Ask all members, and add up what they say.

        Parameters
        ----------
        ask : function
            Called with a member, its columns of the table, the number of classes and
            the parameters of the members' methods.
        table : ndarray, data frame, csr or csc matrix
            The rows.
        add : function, default=numpy.add
            Adds two arrays.

        Returns
        -------
        total : ndarray
            The sum.
        """
        n_members = len(self.members)
        n_batches = min(n_members, MOST_BATCHES)
        batches = np.array_split(np.arange(n_members), n_batches)
        tasks = (
            delayed(sum_batch)(
                add,
                ask,
                [self.members[number] for number in batch],
                [self.columns[number] for number in batch],
                table,
                self.n_classes,
                self.routed,
            )
            for batch in batches
        )
        parallel = open_parallel(n_jobs=self.owner.n_jobs, verbose=self.owner.verbose)
        return add_in_turn(add, yield_results(parallel, tasks))

    def _choose_question(self):
        is_classifier = self.n_classes is not None
        return compute_member_shares if is_classifier else compute_member_values

    def _shape(self, given):
        """Bring what members say into the shape of statistics."""
        if self.n_classes is not None:
            return given[:, np.newaxis].astype(np.float64, copy=False)
        return given.reshape(len(given), -1, 1)
