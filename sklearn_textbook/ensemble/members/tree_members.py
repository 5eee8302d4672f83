"""Members that are trees of this package: one encoded table, rows as weights."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import sparse
from sklearn.base import clone, is_classifier
from sklearn.utils import column_or_1d

from sklearn_textbook._contract.labels import decode_dictionary, require_classes
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble.members.growth import grow_members
from sklearn_textbook.ensemble.resample import list_random_states
from sklearn_textbook.tree.members import (
    MemberGrower,
    add_predictions,
    choose_member_classes,
    decides_by_largest_fraction,
    get_shown_tree,
    is_tree,
    read_blocks,
)

#: Methods of trees that a subclass may not override: growing from weights and adding
#: up leaves would not call them.
OWN_METHODS = ("fit", "predict", "predict_proba")
#: Approximate number of cells in a block of a table, for trees of some columns.
BLOCK_CELLS = 1_000_000


def grows_from_weights(estimator) -> bool:
    """Return whether an estimator is a tree of ours with its growth unchanged."""
    if not is_tree(estimator):
        return False
    package = __name__.partition(".")[0]
    methods = [getattr(type(estimator), name, None) for name in OWN_METHODS]
    return all(
        method is None or method.__module__.partition(".")[0] == package
        for method in methods
    )


def grow_bag_batch(grower, draw, seeds):
    """Grow the members with these seeds, one after the other."""
    return [grow_bag_member(grower, draw, seed) for seed in seeds]


def grow_bag_member(grower: MemberGrower, draw, seed: int):
    """Grow the member with a seed, from the rows and columns that it draws."""
    random_states = list_random_states(grower.reader, seed)
    pruner = None
    if "pruning__random_state" in random_states:
        # The template may only name its pruner.
        pruner = clone(grower.pruner)
        pruner.set_params(random_state=random_states["pruning__random_state"])
    return grower.grow(
        draw.weigh(seed),
        random_states["random_state"],
        columns=None if draw.takes_all_columns else draw.list_columns(seed),
        pruner=pruner,
        estimates_empty_nodes=draw.estimates_empty_nodes,
        design_effect=draw.design_effect,
    )


class TreeTraining:
    """A training table, read and encoded once, and the trees that grow from it.

    Parameters
    ----------
    owner : estimator
        The ensemble, whose columns are set.
    template : tree estimator
        What members are like.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The table.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    """

    def __init__(self, owner, template, X, y) -> None:
        if y is not None and is_classifier(template):
            require_classes(y)
            y = column_or_1d(decode_dictionary(y), warn=True)
        elif len(getattr(y, "shape", ())) == 2 and y.shape[1] == 1:
            y = column_or_1d(decode_dictionary(y), warn=True)
        self.grower = MemberGrower(template, X, y, owner=owner, n_jobs=owner.n_jobs)
        self.n_jobs, self.verbose = owner.n_jobs, owner.verbose
        self.reader = self.grower.reader
        target = self.grower.rows.target
        self.classes = None
        if target.is_classifier:
            self.classes = self.reader.classes_
        self.target = target.codes if target.is_classifier else target.values
        matrix = self.grower.rows.matrix
        self.table = matrix.tocsr() if sparse.issparse(matrix) else matrix

    def grow(self, draw, seeds: list[int], metadata: dict):
        """Grow one member per seed."""
        if draw.takes_all_columns:
            self.grower.expect_many()
        return grow_members(
            self.grower,
            draw,
            seeds,
            self.n_jobs,
            self.verbose,
            grow_batch=grow_bag_batch,
            share=None if draw.takes_all_columns else self._share_classes,
        )

    def _share_classes(self, member):
        """Share the class labels with a member that uses some of the columns."""
        if self.classes is not None:
            member.classes_ = self.classes
        return member


class TreeCombiner:
    """Fitted trees and the sums of their predictions.

    Parameters
    ----------
    owner : estimator
        The fitted ensemble.
    routed : dict
        Parameters of the members' methods; empty, as trees of this package take none.
    """

    def __init__(self, owner, routed=None) -> None:
        self.owner = owner
        self.members = owner.estimators_
        self.columns = owner._list_columns()
        self.takes_all_columns = all(columns is None for columns in self.columns)

    def read_blocks(self, X) -> Iterator[np.ndarray]:
        """Read a new table as numbers and codes, by blocks of rows."""
        for matrix in read_blocks(self.owner, X, self.owner._reader):
            n_rows = matrix.shape[0]
            step = n_rows
            if not self.takes_all_columns and not sparse.issparse(matrix):
                step = max(1, BLOCK_CELLS // max(1, matrix.shape[1]))
            for first in range(0, n_rows, max(1, step)):
                yield matrix[first : first + step] if step < n_rows else matrix

    def sum_predictions(self, matrix: np.ndarray) -> np.ndarray:
        """Add up the class probabilities, or the values, of the members."""
        return self._sum(range(len(self.members)), matrix)

    def sum_votes(
        self,
        matrix: np.ndarray,
        numbers: Sequence[int] | None = None,
        weights: np.ndarray | None = None,
    ) -> np.ndarray:
        """Count the votes of the members."""
        numbers = range(len(self.members)) if numbers is None else numbers
        return self._sum(numbers, matrix, votes=True, weights=weights)

    def predict_one(
        self, number: int, table: np.ndarray, *, votes: bool = False
    ) -> np.ndarray:
        """Predict with one member."""
        return self._sum([number], table, votes=votes)

    def _sum(self, numbers, matrix, votes: bool = False, weights=None):
        """Add up what some members give or vote."""
        members = [self.members[number] for number in numbers]
        shape = (matrix.shape[0], *members[0].tree_.node_shape)
        total = np.zeros(shape)
        n_threads = count_threads(self.owner.n_jobs, matrix.size * len(members))
        names = self.owner._reader.schema_.names
        is_plain = all(map(decides_by_largest_fraction, members))
        if self.takes_all_columns and (is_plain or not votes):
            trees = [m.tree_ if votes else get_shown_tree(m) for m in members]
            add_predictions(trees, matrix, total, n_threads, names, votes, weights)
            return total
        weights = np.ones(len(members)) if weights is None else weights
        for number, member, weight in zip(numbers, members, weights, strict=True):
            columns = self.columns[number]
            seen = matrix if columns is None else matrix[:, columns]
            tree = member.tree_ if votes else get_shown_tree(member)
            given = np.zeros_like(total)
            add_predictions([tree], seen, given, n_threads, member.schema_.names)
            if votes:
                best = choose_member_classes(member, given)[:, :, np.newaxis]
                given = np.arange(total.shape[2]) == best
            total += weight * given
        return total
