"""Reading tables for ensembles whose members are trees of all columns."""

from __future__ import annotations

import numpy as np
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.tree.members import find_leaves_of_all, read_blocks, read_matrix


class TreeListMixin:
    """Blocks of rows and leaves for an ensemble of trees, a ``MemberList``."""

    def _predict_blocks(self, X, predict):
        """Call a function on a new table, a sparse one by blocks of rows."""
        check_is_fitted(self)
        blocks = read_blocks(self, X, self._list_members()[0])
        parts = [predict(matrix) for matrix in blocks]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def apply(self, X):
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
