"""A grown tree with prediction methods, the ``tree_`` of the estimators."""

from __future__ import annotations

from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.route.route import (
    find_decision_path,
    find_leaves,
    predict_statistics,
)


class RoutedTree(GrownTree):
    """A grown tree with the methods of scikit-learn's ``tree_``.

    They take tables of numbers and level codes; other tables have to be passed to the
    estimator, which encodes their levels.
    """

    @classmethod
    def from_grown(cls, tree):
        """Convert a grown tree.

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
        """Return the node in which each row ends.

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
        """Predict class probabilities or values.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
            Numbers and level codes.

        Returns
        -------
        proba : ndarray
            Of shape (n_rows, n_classes) for one output, otherwise (n_rows, n_outputs,
            n_classes); in regression the values.
        """
        predicted = predict_statistics(self, X)
        return predicted[:, 0] if self.n_outputs == 1 else predicted

    def decision_path(self, X):
        """Return the decision path of every row.

        Parameters
        ----------
        X : array or sparse matrix of shape (n_rows, n_features)
            Numbers and level codes.

        Returns
        -------
        indicator : csr_matrix or csr_array of shape (n_rows, node_count)
            Nonzero elements indicate that the row goes through the node.
        """
        return find_decision_path(self, X)
