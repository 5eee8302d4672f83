"""Gradient boosting of other libraries and ours, with equal settings.

A hundred rounds with a learning rate of 0.1, and no regularisation but 20 rows in a
leaf. With bins, trees have 31 leaves, the best splits first; without, a depth of 3.
"""

from __future__ import annotations

from types import MappingProxyType

from benchmarks.measure import installed_version
from benchmarks.tasks import CLASSIFICATION, GRADIENT_BOOSTING

LEARNING_RATE, N_LEAVES, LEAST_ROWS, DEPTH = 0.1, 31, 20, 3


def choose_class(module, task, family):
    """The class of a module for a task."""
    kind = "Classifier" if task.kind == CLASSIFICATION else "Regressor"
    return getattr(module, family + kind)


def describe_trees(task):
    """Size of the trees, under scikit-learn's names."""
    is_exact = task.max_bins is None
    return {
        "learning_rate": LEARNING_RATE,
        "max_depth": DEPTH if is_exact else None,
        "max_leaf_nodes": None if is_exact else N_LEAVES,
        "min_samples_leaf": LEAST_ROWS,
    }


class OwnGradientBoosting:
    """Our estimator."""

    package = "sklearn-textbook"
    #: by which its fitted models are known
    attribute = "train_score_"

    def make_estimator(self, task, n_threads):
        from sklearn_textbook import ensemble

        return choose_class(ensemble, task, "GradientBoosting")(
            n_estimators=task.n_trees,
            max_bins=task.max_bins,
            n_jobs=n_threads,
            **describe_trees(task),
        )

    def make_fit(self, task, n_threads, max_depth=None):
        model = self.make_estimator(task, n_threads)
        return lambda: model.fit(task.X, task.y)

    def make_predict(self, model, task, n_threads):
        predict = getattr(
            model, "predict_proba" if task.kind == CLASSIFICATION else "predict"
        )
        return lambda: predict(task.X)

    def count_leaves(self, model):
        """What stands in for leaves: the number of rounds."""
        return model.n_estimators_


class ScikitLearnBoosting(OwnGradientBoosting):
    """scikit-learn's older estimator: exact thresholds, one thread."""

    name = "scikit-learn-boosting"
    package = "scikit-learn"
    algorithms = (GRADIENT_BOOSTING,)
    is_threaded = False
    limits_depth = False

    def find_version(self):
        return installed_version(self.package)

    def refusal(self, task):
        return "needs a task without bins" if task.max_bins is not None else None

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        from sklearn import ensemble

        model = choose_class(ensemble, task, "GradientBoosting")(
            n_estimators=task.n_trees, **describe_trees(task)
        )
        return lambda: model.fit(task.X, task.y)


class HistogramBoosting(ScikitLearnBoosting):
    """scikit-learn's estimator with histograms."""

    name = "scikit-learn-histograms"
    is_threaded = True

    def refusal(self, task):
        return "needs bins" if task.max_bins is None else None

    def make_fit(self, task, n_threads, max_depth=None):
        from sklearn import ensemble

        model = choose_class(ensemble, task, "HistGradientBoosting")(
            max_iter=task.n_trees,
            max_bins=task.max_bins,
            early_stopping=False,
            **describe_trees(task),
        )
        return limit_threads(lambda: model.fit(task.X, task.y), n_threads)

    def make_predict(self, model, task, n_threads):
        return limit_threads(super().make_predict(model, task, n_threads), n_threads)

    def count_leaves(self, model):
        return model.n_iter_


def limit_threads(call, n_threads):
    """The call with so many threads of OpenMP."""
    from threadpoolctl import threadpool_limits

    def call_limited():
        with threadpool_limits(n_threads, user_api="openmp"):
            return call()

    return call_limited


class LightGBM(HistogramBoosting):
    """LightGBM; what it has of its own for nominal columns stays as it is."""

    name = package = "lightgbm"

    def make_fit(self, task, n_threads, max_depth=None):
        import lightgbm

        model = choose_class(lightgbm, task, "LGBM")(
            n_estimators=task.n_trees,
            learning_rate=LEARNING_RATE,
            num_leaves=N_LEAVES,
            min_child_samples=LEAST_ROWS,
            max_bin=task.max_bins,
            n_jobs=n_threads,
            verbose=-1,
        )
        return lambda: model.fit(task.X, task.y)

    def make_predict(self, model, task, n_threads):
        return OwnGradientBoosting.make_predict(self, model, task, n_threads)

    def count_leaves(self, model):
        return model.booster_.current_iteration()


class XGBoost(LightGBM):
    """XGBoost with histograms, which asks for hessians instead of rows in a leaf."""

    name = package = "xgboost"
    #: what is its default, and what is needed for trees like the others'
    settings = MappingProxyType(
        {
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_depth": 0,
            "reg_lambda": 0.0,
            "enable_categorical": True,
        }
    )

    def make_fit(self, task, n_threads, max_depth=None):
        import xgboost

        model = choose_class(xgboost, task, "XGB")(
            n_estimators=task.n_trees,
            learning_rate=LEARNING_RATE,
            max_leaves=N_LEAVES,
            max_bin=task.max_bins,
            n_jobs=n_threads,
            **self.settings,
        )
        return lambda: model.fit(task.X, task.y)

    def count_leaves(self, model):
        return model.get_booster().num_boosted_rounds()
