"""What is to be learned, in the form that every tool is handed it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

CLASSIFICATION = "classification"
REGRESSION = "regression"

#: Binary trees; ID3; C4.5 with pruning; C4.5's many-way trees by gain ratio alone,
#: with nothing that keeps them small; binary trees with cost-complexity pruning, the
#: alpha chosen by ten folds.
CART, ID3, C45, GAIN_RATIO = "cart", "id3", "c4.5", "gain-ratio"
CART_ALPHA = "cart-alpha"
#: Forests of such binary trees, over bootstrap samples or with random thresholds.
FOREST, EXTRA_TREES = "forest", "extra-trees"
#: Forests of sparse random directions; a tree by Fisher's discriminants.
OBLIQUE_FOREST, OBLIQUE_TREE = "oblique-forest", "oblique-tree"
FORESTS = (FOREST, EXTRA_TREES, OBLIQUE_FOREST)
#: The first components of a table, which is its own target.
TRUNCATED_SVD = "truncated-svd"
#: No trees at all, but linear discriminant analysis.
DISCRIMINANT = "discriminant"
#: Fifty stumps, fitted one after the other to the weights of rows.
ADABOOST = "adaboost"
#: Trees fitted one after the other to the derivatives of a loss.
GRADIENT_BOOSTING = "gradient-boosting"


@dataclass(frozen=True, eq=False)
class Task:
    """What is to be learned: a table, a target and how to grow on it."""

    X: Any
    y: np.ndarray
    kind: str = CLASSIFICATION
    criterion: str = "gini"
    sample_weight: np.ndarray | None = None
    has_nominal: bool = False
    #: of CART alone: others do not judge splits of many levels by other rows
    categorical_smoothing: str | float = "auto"
    algorithm: str = CART
    #: rows held out: if there are some, they tell how good a tree is
    X_test: Any = None
    y_test: np.ndarray | None = None
    #: of ensembles alone: the trees, or rounds of boosting, the columns drawn at a
    #: node, as in scikit-learn, and into how many bins a column is cut; None: exact
    n_trees: int = 1
    max_features: float | str = 1.0
    max_bins: int | None = None
    #: of oblique forests alone: directions tried in a node
    n_directions: int = 5
    #: of decompositions alone
    n_components: int = 10

    @property
    def n_rows(self):
        return self.y.shape[0]

    @property
    def n_classes(self):
        """Classes are the numbers 0, 1, ...; all of them are present."""
        return int(self.y.max()) + 1

    @property
    def n_drawn_columns(self):
        """Number of columns that a tree of the forest looks at in a node."""
        n_columns = self.X.shape[1]
        if self.max_features == "sqrt":
            return max(1, int(np.sqrt(n_columns)))
        return max(1, int(self.max_features * n_columns))


def with_criterion(task, criterion):
    """The same task, grown by another impurity."""
    return task if criterion == task.criterion else replace(task, criterion=criterion)


def without_training_rows(task):
    """The rows held out, as a task of their own: what is to be predicted."""
    return replace(task, X=task.X_test, y=task.y_test, X_test=None, y_test=None)


def make_frame(task, target="target"):
    """The table and, last, the classes: a data frame, for programs that read files."""
    import pandas as pd

    if isinstance(task.X, pd.DataFrame):
        frame = task.X.copy()
    else:
        frame = pd.DataFrame(task.X).add_prefix("x")
    names = [f"class_{label}" for label in range(task.n_classes)]
    frame[target] = pd.Categorical.from_codes(task.y, names)
    return frame


def as_shares(labels, n_classes):
    """Class shares of answers that name a class number each."""
    shares = np.zeros((len(labels), n_classes))
    shares[np.arange(len(labels)), labels] = 1.0
    return shares
