"""Forests of other packages and ours: what their members of the protocol share."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import installed_version
from benchmarks.tasks import (
    CLASSIFICATION,
    EXTRA_TREES,
    FOREST,
    OBLIQUE_FOREST,
    REGRESSION,
)

#: The beginnings of the names of classes.
FAMILIES = {
    FOREST: "RandomForest",
    EXTRA_TREES: "ExtraTrees",
    OBLIQUE_FOREST: "ObliqueRandomForest",
}
#: Columns in a random direction of YDF and of treeple, on average.
N_COMBINED = 2


def describe_forest(task):
    """Parameters of a forest under scikit-learn's names."""
    return {
        "n_estimators": task.n_trees,
        "max_features": task.max_features,
        "criterion": task.criterion,
        "random_state": 0,
    }


def choose_forest(module, task):
    """The class of a module for a task, under scikit-learn's names."""
    kind = "Classifier" if task.kind == CLASSIFICATION else "Regressor"
    return getattr(module, FAMILIES[task.algorithm] + kind)


def make_own_forest(task, n_threads, max_depth):
    """Our forest for a task."""
    from sklearn_textbook import ensemble

    options = describe_forest(task) | {"max_depth": max_depth, "n_jobs": n_threads}
    if task.algorithm == OBLIQUE_FOREST:
        options |= {"n_directions": task.n_directions, "max_features": None}
    else:
        options["max_bins"] = task.max_bins
    return choose_forest(ensemble, task)(**options)


def count_mean_leaves(model):
    """Leaves of a tree of a forest, on average."""
    return round(np.mean([tree.get_n_leaves() for tree in model.estimators_]))


class ScikitLearnForest:
    """scikit-learn's forests: exact, but for thresholds in float32."""

    name = "scikit-learn-forest"
    package = "scikit-learn"
    algorithms = (FOREST, EXTRA_TREES)
    is_threaded = True
    limits_depth = True

    def find_version(self):
        return installed_version(self.package)

    def _find_module(self):
        from sklearn import ensemble

        return ensemble

    def refusal(self, task):
        return "no nominal columns" if task.has_nominal else None

    def criterion(self, task):
        return task.criterion

    def make_estimator(self, task, n_threads, max_depth):
        options = describe_forest(task) | {"max_depth": max_depth, "n_jobs": n_threads}
        return choose_forest(self._find_module(), task)(**options)

    def make_fit(self, task, n_threads, max_depth=None):
        estimator = self.make_estimator(task, n_threads, max_depth)
        return lambda: estimator.fit(task.X, task.y)

    def make_predict(self, model, task, n_threads):
        if task.kind == CLASSIFICATION:
            return lambda: model.predict_proba(task.X)
        return lambda: model.predict(task.X)

    def count_leaves(self, model):
        return count_mean_leaves(model)


class IntelForest(ScikitLearnForest):
    """The forests of scikit-learn-intelex: each column is cut into 256 bins."""

    name = "scikit-learn-intelex"
    package = "scikit-learn-intelex"
    algorithms = (FOREST,)

    def _find_module(self):
        from sklearnex import ensemble

        return ensemble

    def make_estimator(self, task, n_threads, max_depth):
        estimator = super().make_estimator(task, n_threads, max_depth)
        if task.max_bins is not None:
            estimator.set_params(max_bins=task.max_bins)
        return estimator


def describe_sparse_oblique(n_directions):
    """Parameters of YDF for as many sparse random directions in a node."""
    return {
        "split_axis": "SPARSE_OBLIQUE",
        "sparse_oblique_num_projections_exponent": 1.0,
        "sparse_oblique_max_num_projections": n_directions,
        "sparse_oblique_projection_density_factor": float(N_COMBINED),
    }


class YdfForest:
    """YDF's random forest: exact splits, fully grown, shares averaged; or oblique.

    It classifies by information gain whatever is asked, computes in float32, and
    counts the root as depth 1. Its out-of-bag estimate is switched off, since no other
    makes one here.
    """

    name = "ydf-forest"
    package = "ydf"
    algorithms = (FOREST, OBLIQUE_FOREST)
    is_threaded = True
    limits_depth = True
    label = "target"

    def find_version(self):
        return installed_version(self.package)

    def refusal(self, task):
        return "no nominal columns here" if task.has_nominal else None

    def criterion(self, task):
        return "entropy" if task.kind == CLASSIFICATION else task.criterion

    def _make_columns(self, task):
        X = np.asarray(task.X, dtype=np.float32)
        return {f"x{j}": np.ascontiguousarray(X[:, j]) for j in range(X.shape[1])}

    def make_fit(self, task, n_threads, max_depth=None):
        import ydf

        ydf.verbose(0)
        columns = self._make_columns(task)
        is_regression = task.kind == REGRESSION
        columns[self.label] = task.y.astype(np.float32) if is_regression else task.y
        extra = {}
        if task.algorithm == OBLIQUE_FOREST:
            extra = describe_sparse_oblique(task.n_directions)
        if task.max_bins is not None:
            extra = {
                "discretize_numerical_columns": True,
                "num_discretized_numerical_bins": task.max_bins,
            }
        learner = ydf.RandomForestLearner(
            label=self.label,
            task=getattr(ydf.Task, task.kind.upper()),
            num_trees=task.n_trees,
            num_candidate_attributes=task.n_drawn_columns,
            max_depth=-1 if max_depth is None else max_depth + 1,
            min_examples=1,
            winner_take_all=False,
            compute_oob_performances=False,
            num_threads=n_threads,
            random_seed=0,
            **extra,
        )
        return lambda: learner.train(columns)

    def make_predict(self, model, task, n_threads):
        columns = self._make_columns(task)
        if task.kind == REGRESSION:
            return lambda: model.predict(columns, num_threads=n_threads)

        in_order = np.argsort([int(label) for label in model.label_classes()])

        def predict_shares():
            shares = model.predict(columns, num_threads=n_threads)
            if shares.ndim == 1:
                shares = np.column_stack((1 - shares, shares))
            return shares[:, in_order]

        return predict_shares

    def count_leaves(self, model):
        return round((model.num_nodes() / model.num_trees() + 1) / 2)
