"""A grown tree with prediction methods, the ``tree_`` of the estimators."""

from __future__ import annotations

import numpy as np

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
    def from_grown(cls, tree: GrownTree) -> RoutedTree:
        """Convert a grown tree."""
        routed = cls.__new__(cls)
        vars(routed).update(vars(tree))
        return routed

    def apply(self, X) -> np.ndarray:
        """Return the node in which each row ends."""
        return find_leaves(self, X)

    def predict(self, X) -> np.ndarray:
        """Predict class probabilities or values."""
        predicted = predict_statistics(self, X)
        return predicted[:, 0] if self.n_outputs == 1 else predicted

    def decision_path(self, X):
        """Return the decision path of every row."""
        return find_decision_path(self, X)
