"""Truncated singular value decompositions: ours and scikit-learn's in one protocol.

What a tool answers is the table made of its components again, and the target is the
table: the score is R² then. Components are what leaves are of trees.
"""

from __future__ import annotations

from threadpoolctl import threadpool_limits

from benchmarks.measure import installed_version
from benchmarks.tasks import TRUNCATED_SVD


def fit_decomposition(estimator, task, n_threads):
    """A function without arguments that fits, with some threads for BLAS."""

    def fit():
        with threadpool_limits(n_threads):
            return estimator.fit(task.X)

    return fit


def rebuild_table(model, task, n_threads):
    """A function without arguments: the rows, projected and put back."""

    def rebuild():
        with threadpool_limits(n_threads):
            return model.inverse_transform(model.transform(task.X))

    return rebuild


class OwnTruncatedSVD:
    """Ours, with its default algorithm."""

    package = "sklearn-textbook"
    #: by which its fitted models are known
    attribute = "components_"

    def make_fit(self, task, n_threads, max_depth=None):
        """There is no depth: whoever asks for one gets the same."""
        estimator = self._find_class()(task.n_components, random_state=0)
        return fit_decomposition(estimator, task, n_threads)

    def _find_class(self):
        from sklearn_textbook.decomposition import TruncatedSVD

        return TruncatedSVD

    def make_predict(self, model, task, n_threads):
        return rebuild_table(model, task, n_threads)

    def count_leaves(self, model):
        return len(model.components_)


class ScikitLearnTruncatedSVD(OwnTruncatedSVD):
    """scikit-learn's, with its default algorithm: random projection."""

    name = "scikit-learn-svd"
    package = "scikit-learn"
    algorithms = (TRUNCATED_SVD,)
    is_threaded = True
    limits_depth = True

    def find_version(self):
        return installed_version(self.package)

    def refusal(self, task):
        return None

    def criterion(self, task):
        return task.criterion

    def _find_class(self):
        from sklearn.decomposition import TruncatedSVD

        return TruncatedSVD
