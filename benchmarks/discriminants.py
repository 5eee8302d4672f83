"""Linear discriminant analysis of scikit-learn, and ours."""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from benchmarks.measure import installed_version
from benchmarks.tasks import DISCRIMINANT


def limit_threads(function, n_threads):
    """The same call with at most so many threads for linear algebra."""

    def call():
        with threadpool_limits(n_threads, user_api="blas"):
            return function()

    return call


def make_own_discriminant():
    """Our estimator with its defaults."""
    from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis

    return LinearDiscriminantAnalysis()


def count_directions(model):
    """What stands in for leaves: directions, which both sides should find."""
    return model.scalings_.shape[1]


class ScikitLearnDiscriminant:
    """scikit-learn's estimator with its default solver, by singular values."""

    name = "scikit-learn-discriminant"
    package = "scikit-learn"
    algorithms = (DISCRIMINANT,)
    is_threaded = True
    limits_depth = False

    def find_version(self):
        return installed_version(self.package)

    def refusal(self, task):
        return None

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        estimator = LinearDiscriminantAnalysis()
        return limit_threads(lambda: estimator.fit(task.X, task.y), n_threads)

    def make_predict(self, model, task, n_threads):
        return limit_threads(lambda: model.predict_proba(task.X), n_threads)

    def count_leaves(self, model):
        return count_directions(model)
