"""The list of members of an ensemble, warm starts, and reading tables for trees."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.tree.members import (
    MemberSum,
    PageReprMixin,
    find_leaves_of_all,
    read_blocks,
    read_matrix,
)


class MemberList(PageReprMixin):
    """Lets an ensemble be read as the list of its members, and be kept in a file.

    What a model file keeps (:mod:`sklearn_textbook.io`) are the parameters, the
    columns, the classes, the trees, and what ``_saved_fields`` lists.
    """

    #: Tuple of :class:`~sklearn_textbook._contract.saved_field.SavedField`.
    _saved_fields = ()

    def __len__(self):
        """Return the number of members."""
        return len(self.estimators_)

    def __getitem__(self, index):
        """Return a member."""
        return self.estimators_[index]

    def __iter__(self):
        """Iterate over the members."""
        return iter(self.estimators_)

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        """Return a tree estimator with the columns and classes; None if there is none.

        The parameters of members are written where they differ from its own.
        """
        return self._list_members()[0]

    def _list_members(self) -> list:
        """List the members, each of which has one tree."""
        return list(self.estimators_)

    def _list_columns(self):
        """List the columns of each member; None: all of them."""
        return [None] * len(self._list_members())

    def _sum_members(self, **others) -> MemberSum:
        """Describe a sum over the members."""
        return MemberSum(
            self._list_members(), self._get_reader(), self._list_columns(), **others
        )

    def _list_member_classes(self, classes):
        """List the classes of each output of a member, from those of the ensemble."""
        return classes

    def _list_saved(self):
        """List the attributes of ``_saved_fields`` that are set."""
        names = (kept.name for kept in self._saved_fields)
        return {name: getattr(self, name) for name in names if hasattr(self, name)}

    def _restore(
        self,
        reader,
        members: list,
        columns: list[np.ndarray] | None,
        kept: dict[str, object],
    ) -> None:
        """Set the fitted attributes again, but for those of columns and classes."""
        self.estimators_ = members
        for name, value in kept.items():
            setattr(self, name, value)


def count_lacking(n_estimators: int, n_members: int) -> int:
    """Count the members that a fit has to add."""
    if n_members > n_estimators:
        raise ValueError(
            f"n_estimators={n_estimators} must be larger or equal to "
            f"len(estimators_)={n_members} when warm_start==True"
        )
    return n_estimators - n_members


def warn_of_no_lack() -> None:
    """Warn of a warm start that has nothing to add."""
    warn_caller(
        "Warm-start fitting without increasing n_estimators does not fit new trees.",
        UserWarning,
    )


def yield_until_stopped(
    grown: Iterator, context, name: str, hooks: dict, describe: Callable
):
    """Yield new members, each a task of callbacks, until one of them stops the fit."""
    for member in grown:
        subcontext = context.subcontext(task_name=name)
        subcontext.call_on_fit_task_begin(**hooks)
        yield member
        if subcontext.call_on_fit_task_end(**hooks, reconstruction_attributes=describe):
            grown.close()
            return


class TreeListMixin:
    """Blocks of rows and leaves for an ensemble of trees, a ``MemberList``."""

    def _predict_blocks(self, X, predict):
        """Call a function on a new table, a sparse one by blocks of rows."""
        check_is_fitted(self)
        blocks = read_blocks(self, X, self._list_members()[0])
        parts = [predict(matrix) for matrix in blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def apply(self, X: MatrixLike) -> np.ndarray:
        """Find the leaf in which each row ends, for each tree.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        nodes : ndarray of int64, shape (n_samples, n_estimators)
            Node numbers.
        """
        check_is_fitted(self)
        members = self._list_members()
        matrix = read_matrix(self, X, members[0])
        n_threads = count_threads(self.n_jobs, matrix.size * len(members))
        trees = [member.tree_ for member in members]
        return find_leaves_of_all(trees, matrix, n_threads, members[0].schema_.names)

    def __sklearn_is_fitted__(self):
        return len(getattr(self, "estimators_", ())) > 0
