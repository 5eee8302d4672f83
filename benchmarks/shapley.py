"""Shapley values of ensembles of trees, beside shap's TreeExplainer.

shap explains the same trees, as models of scikit-learn, with one thread. It gets only
some of the rows, and its time is multiplied by their share: all rows would take it
many minutes. The values of these rows are compared.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.inspection import shap_values

N_ROWS = 10_000
N_COLUMNS = 20


@dataclass(frozen=True)
class Work:
    """A model whose predictions are explained.

    Parameters
    ----------
    title : str
        What is explained.
    model : estimator
        The model, not fitted.
    n_classes : int
        Classes of the target; 0 for regression.
    share : float
        Share of the rows that shap gets.
    interactions : bool, default=False
        Whether values of pairs of columns are computed.
    """

    title: str
    model: object
    n_classes: int
    share: float
    interactions: bool = False


FOREST = {"n_estimators": 100, "random_state": 0}
WORKS = {
    "forest": Work(
        "100 full trees, two classes", RandomForestClassifier(**FOREST), 2, 0.01
    ),
    "forest-five-classes": Work(
        "100 full trees, five classes", RandomForestClassifier(**FOREST), 5, 0.01
    ),
    "forest-regression": Work(
        "100 trees of depth 10, regression",
        RandomForestRegressor(**FOREST, max_depth=10, max_features="sqrt"),
        0,
        0.05,
    ),
    "boosting": Work(
        "100 trees of depth 3", GradientBoostingClassifier(random_state=0), 2, 1.0
    ),
    "interactions": Work(
        "pairs of columns, 100 trees of depth 6",
        RandomForestClassifier(**FOREST, max_depth=6),
        2,
        0.01,
        interactions=True,
    ),
}


@dataclass
class Scaled:
    """Values of some rows, and what all rows would take."""

    values: np.ndarray
    own_seconds: float
    own_cpu_seconds: float


def make_table(n_rows, n_classes):
    """Normal columns, of which eight have effects, and noise."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_COLUMNS)).astype(np.float32).astype(np.float64)
    y = X[:, :4].sum(axis=1) + X[:, 4] * X[:, 5] + np.sin(2 * X[:, 6]) + X[:, 7] ** 2
    y += rng.normal(size=n_rows)
    if n_classes:
        return X, np.digitize(y, np.quantile(y, np.arange(1, n_classes) / n_classes))
    return X, y


def run_shapley(work, options):
    """Time one work on both sides and compare the values."""
    import shap

    X, y = make_table(int(N_ROWS * options.scale), work.n_classes)
    model = work.model.fit(X, y)
    explainer = shap.TreeExplainer(to_sklearn(model))
    n_some = max(2, round(len(X) * work.share))

    def explain():
        start, cpu_start = time.perf_counter(), time.process_time()
        if work.interactions:
            values = explainer.shap_interaction_values(X[:n_some])
        else:
            values = explainer.shap_values(X[:n_some], check_additivity=False)
        factor = len(X) / n_some
        cpu_seconds = (time.process_time() - cpu_start) * factor
        seconds = (time.perf_counter() - start) * factor
        return Scaled(np.asarray(values), seconds, cpu_seconds)

    def explain_ours():
        return shap_values(model, X, interactions=work.interactions)

    times = time_alternately({"ours": explain_ours, "theirs": explain}, options.repeat)
    difference = np.abs(explain_ours().values[:n_some] - explain().values).max()
    differences = [f"values differ by {difference:.2g}"] * bool(difference > 1e-6)
    title = f"{work.title}; shap got {n_some:,} of {len(X):,} rows"
    return Outcome(times, differences, "shap", title)


def main(arguments=None):
    """Run the works; see the module's docstring."""
    parser = make_parser("shapley", __doc__, n_repeats=3)
    return run_pairs(parser, arguments, WORKS, run_shapley, ("shap", "scikit-learn"))
