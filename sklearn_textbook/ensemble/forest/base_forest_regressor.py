"""Forests of regression trees: parameters and prediction."""

from __future__ import annotations

import warnings

from sklearn.base import RegressorMixin

from sklearn_textbook.ensemble.forest.base_forest import BaseForest
from sklearn_textbook.tree import CARTRegressor


class BaseForestRegressor(RegressorMixin, BaseForest):
    """Forest of regression trees, with the parameters of a random forest."""

    _cart = CARTRegressor
    _criteria = ("squared_error", "absolute_error", "poisson", "friedman_mse")

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="squared_error",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features=1.0,
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        pruning=None,
        max_bins=None,
        categorical_features="from_dtype",
        categorical_split="auto",
        categorical_smoothing="auto",
        missing="auto",
        handle_unknown="parent",
        tie_breaking="first",
        top_splits=1,
    ):
        if isinstance(criterion, str) and criterion == "friedman_mse":
            # scikit-learn's name of the same splits, deprecated there as well.
            warnings.warn(
                'criterion="friedman_mse" is deprecated; use "squared_error", which '
                "grows the same trees.",
                FutureWarning,
                # The line that calls the class, which may have an __init__ too.
                stacklevel=3 - (type(self).__init__ is BaseForestRegressor.__init__),
            )
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.pruning = pruning
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits

    def predict(self, X):
        """Predict the value of each row: the mean over the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of float64, shape (n_samples,) or (n_samples, n_outputs)
            Values.
        """
        sums = self._predict_blocks(X, self._sum_predictions)
        values = sums[:, :, 0] / len(self.estimators_)
        return values[:, 0] if self.n_outputs_ == 1 else values
