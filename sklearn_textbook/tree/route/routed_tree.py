"""A grown tree that also answers for rows: what estimators keep as ``tree_``."""

from __future__ import annotations

from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.route.route import (
    find_decision_path,
    find_leaves,
    predict_statistics,
)


class RoutedTree(GrownTree):
    """A grown tree with the methods of scikit-learn's ``tree_``.

    They take tables of numbers and level codes, not the user's tables: those go
    through the estimator, which looks their levels up.
    """

    @classmethod
    def from_grown(cls, tree):
        """Give a tree these methods.

        Parameters
        ----------
        tree : GrownTree
            The tree.

        Returns
        -------
        tree : RoutedTree
            It shares all arrays with the given one.
        """
        routed = cls.__new__(cls)
        vars(routed).update(vars(tree))
        return routed

    def apply(self, X):
        """Node where each row ends.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
            Numbers and level codes.

        Returns
        -------
        nodes : ndarray of int64, shape (n_rows,)
            Node numbers.
        """
        return find_leaves(self, X)

    def predict(self, X):
        """Class shares or values.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
            Numbers and level codes.

        Returns
        -------
        shares : ndarray
            Of shape (n_rows, n_classes) for one output, otherwise (n_rows, n_outputs,
            n_classes); values stand for classes in regression.
        """
        predicted = predict_statistics(self, X)
        return predicted[:, 0] if self.n_outputs == 1 else predicted

    def decision_path(self, X):
        """Nodes that every row enters.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
            Numbers and level codes.

        Returns
        -------
        indicator : scipy.sparse.csr_matrix of shape (n_rows, node_count)
            1 where the row enters the node.
        """
        return find_decision_path(self, X)
