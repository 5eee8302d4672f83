"""Predictions of members that may be any scikit-learn estimator."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.ensemble.members.estimator_members import (
    read_table,
    take_columns,
    take_rows,
)
from sklearn_textbook.ensemble.members.parallel_results import (
    open_parallel,
    yield_results,
)

#: Members predict in at most this many batches, whatever ``n_jobs`` is: the sums are
#: the same then.
MOST_BATCHES = 64


def count_member_votes(member, X, n_classes, routed):
    """Mark the class that a member votes for in each row."""
    predicted = np.asarray(member.predict(X, **routed.get("predict", {})))
    numbers = predicted.astype(np.intp)[:, np.newaxis]
    return (np.arange(n_classes) == numbers).astype(np.float64)


def compute_member_probabilities(member, X, n_classes, routed):
    """Compute class probabilities of a member, or its votes if it has none."""
    if not hasattr(member, "predict_proba"):
        return count_member_votes(member, X, n_classes, routed)
    given = member.predict_proba(X, **routed.get("predict_proba", {}))
    return spread(given, member.classes_, n_classes, 0.0)


def compute_member_logarithms(member, X, n_classes, routed):
    """Compute logarithms of class probabilities of a member."""
    with np.errstate(divide="ignore"):
        given = member.predict_log_proba(X, **routed.get("predict_log_proba", {}))
    return spread(given, member.classes_, n_classes, -np.inf)


def compute_member_decisions(member, X, n_classes, routed):
    """Compute the decision function of a member, which must have all classes."""
    if 0 < len(member.classes_) < n_classes:
        raise ValueError(
            f"A {type(member).__name__} was trained on rows of only "
            f"{len(member.classes_)} of the {n_classes} classes, so its "
            "decision_function cannot be averaged with the others. Draw more rows "
            "(max_samples)."
        )
    return member.decision_function(X, **routed.get("decision_function", {}))


def compute_member_values(member, X, n_classes, routed):
    """Compute values of a member."""
    return np.asarray(member.predict(X, **routed.get("predict", {})))


def spread(given, member_classes, n_classes, default):
    """Widen predictions for the classes of a member to all classes."""
    if np.array_equal(member_classes, np.arange(n_classes)):
        return given
    wide = np.full((given.shape[0], n_classes), default)
    wide[:, np.asarray(member_classes, dtype=np.intp)] = given
    return wide


def predict_batch(compute, members, columns, X, n_classes, routed):
    """Predict with members one after the other."""
    return [
        compute(
            member,
            X if of_member is None else take_columns(X, of_member),
            n_classes,
            routed,
        )
        for member, of_member in zip(members, columns, strict=True)
    ]


def sum_batch(add, *arguments):
    """Predict with members one after the other, and add up the predictions."""
    return add_in_turn(add, predict_batch(*arguments))


def add_in_turn(add, parts):
    """Add up arrays from the first to the last."""
    total = None
    for part in parts:
        total = part if total is None else add(total, part)
    return total


class EstimatorCombiner:
    """Fitted estimators and the sums of their predictions.

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

    def sum_predictions(self, table):
        """Add up the class probabilities, or the values, of the members.

        Parameters
        ----------
        table : ndarray, data frame, csr or csc matrix
            The rows.

        Returns
        -------
        total : ndarray of shape (n_rows, n_outputs, n_statistics)
            The sums; votes of members without probabilities.
        """
        return self._shape(self.add_up(self._choose_method(), table))

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
        """Predict some rows with one member.

        Parameters
        ----------
        number : int
            Number of the member.
        table : ndarray, data frame, csr or csc matrix
            A table.
        rows : ndarray of int
            Numbers of the rows to predict.
        votes : bool, default=False
            Whether it votes for a class.

        Returns
        -------
        predicted : ndarray of shape (n_predicted, n_outputs, n_statistics)
            Probabilities, votes or values.
        """
        compute = count_member_votes if votes else self._choose_method()
        members, columns = [self.members[number]], [self.columns[number]]
        table = take_rows(table, rows)
        (given,) = predict_batch(
            compute, members, columns, table, self.n_classes, self.routed
        )
        return self._shape(given)

    def add_up(self, compute, table, add=np.add):
        """Predict with all members, and add up the predictions.

        Parameters
        ----------
        compute : function
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
            (
                sum_batch,
                add,
                compute,
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

    def _choose_method(self):
        is_classifier = self.n_classes is not None
        return compute_member_probabilities if is_classifier else compute_member_values

    def _shape(self, given):
        """Reshape predictions to (n_rows, n_outputs, n_statistics)."""
        if self.n_classes is not None:
            return given[:, np.newaxis].astype(np.float64, copy=False)
        return given.reshape(len(given), -1, 1)
