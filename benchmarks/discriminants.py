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


class OwnDiscriminant:
    """Our estimator with its defaults."""

    package = "sklearn-textbook"
    #: by which its fitted models are known
    attribute = "scalings_"

    def make_fit(self, task, n_threads, max_depth=None):
        """There is no depth: whoever asks for one gets the same."""
        estimator = self._find_class()()
        return limit_threads(lambda: estimator.fit(task.X, task.y), n_threads)

    def _find_class(self):
        from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis

    def make_predict(self, model, task, n_threads):
        return limit_threads(lambda: model.predict_proba(task.X), n_threads)

    def count_leaves(self, model):
        """What stands in for leaves: directions, which both sides should find."""
        return model.scalings_.shape[1]


class ScikitLearnDiscriminant(OwnDiscriminant):
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

    def _find_class(self):
        from sklearn.discriminant_analysis import LinearDiscriminantAnalysis

        return LinearDiscriminantAnalysis
