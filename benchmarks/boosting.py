"""AdaBoost of scikit-learn, and ours: fifty stumps."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import installed_version
from benchmarks.tasks import ADABOOST


class OwnAdaBoost:
    """Our estimator with its defaults."""

    package = "sklearn-textbook"
    #: by which its fitted models are known
    attribute = "error_bounds_"

    def make_estimator(self, task, n_threads):
        from sklearn_textbook.ensemble import AdaBoostClassifier

        return AdaBoostClassifier(n_jobs=n_threads)

    def make_fit(self, task, n_threads, max_depth=None):
        """Stumps have one depth: whoever asks for another gets the same."""
        model = self.make_estimator(task, n_threads)
        return lambda: model.fit(task.X, task.y)

    def make_predict(self, model, task, n_threads):
        return lambda: model.predict_proba(task.X)

    def count_leaves(self, model):
        """What stands in for leaves: the number of members."""
        return len(model.estimators_)


class ScikitLearnAdaBoost(OwnAdaBoost):
    """scikit-learn's estimator, stumps by the Gini index.

    Levels become their codes, and missing values a number below all others.
    """

    name = "scikit-learn-adaboost"
    package = "scikit-learn"
    algorithms = (ADABOOST,)
    is_threaded = False
    limits_depth = False

    def find_version(self):
        return installed_version(self.package)

    def refusal(self, task):
        return None

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        from sklearn.ensemble import AdaBoostClassifier

        model, X = AdaBoostClassifier(), as_numbers(task.X)
        return lambda: model.fit(X, task.y)

    def make_predict(self, model, task, n_threads):
        X = as_numbers(task.X)
        return lambda: model.predict_proba(X)


def as_numbers(table):
    """Codes and numbers, none of them missing."""
    if isinstance(table, np.ndarray):
        return table
    columns = []
    for name in table.columns:
        column = table[name]
        is_nominal = not np.issubdtype(column.to_numpy().dtype, np.number)
        codes = column.cat.codes if is_nominal else column.fillna(column.min() - 1)
        columns.append(np.asarray(codes, dtype=np.float64))
    return np.column_stack(columns)
