"""Forests in use: callbacks, interruption, routed metadata, tables of all sorts."""

import signal
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from scipy import sparse
from sklearn.callback import ProgressBar
from sklearn.model_selection import cross_validate

from sklearn_textbook.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from tests.processes import Program

ALL = [
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
]


def make_numbers(n_rows=60):
    random = np.random.default_rng(0)
    X = random.normal(size=(n_rows, 4))
    return X, (X[:, 0] + X[:, 1] > 0).astype(int)


# ----------------------------------------------------------------------- callbacks


class Recorder:
    """Notes every hook, and stops after some trees."""

    def __init__(self, stop_after=None):
        self.stop_after = stop_after
        self.tasks, self.n_trees, self.scores = [], [], []

    def setup(self, estimator, context):
        self.tasks.append("setup")

    def teardown(self, estimator, context):
        self.tasks.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.tasks.append(("begin", context.task_name, context.task_id))

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        self.tasks.append(("end", context.task_name, context.task_id))
        if context.task_name != "tree":
            return False
        self.n_trees.append(len(fitted_estimator.estimators_samples_))
        self.scores.append(fitted_estimator.score(X, y))
        return self.stop_after is not None and len(self.n_trees) >= self.stop_after


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("forest", ALL)
def test_one_task_per_tree(forest, n_jobs):
    X, y = make_numbers()
    recorder = Recorder()
    fitted = forest(5, random_state=0, n_jobs=n_jobs).set_callbacks(recorder)
    fitted.fit(X, y)
    trees = [(hook, "tree", number) for number in range(5) for hook in ("begin", "end")]
    assert recorder.tasks[2:-2] == trees
    assert recorder.tasks[:2] == ["setup", ("begin", "fit", 0)]
    assert recorder.tasks[-2:] == [("end", "fit", 0), "teardown"]
    assert recorder.n_trees == [1, 2, 3, 4, 5]
    assert recorder.scores[-1] == fitted.score(X, y)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("forest", ALL)
def test_stopped_forest_is_a_smaller_forest(forest, n_jobs):
    X, y = make_numbers()
    stopped = forest(50, random_state=0, n_jobs=n_jobs).set_callbacks(Recorder(3))
    smaller = forest(3, random_state=0).fit(X, y)
    assert len(stopped.fit(X, y)) == 3
    np.testing.assert_array_equal(stopped.predict(X), smaller.predict(X))


def test_warm_start_counts_the_new_trees():
    X, y = make_numbers()
    forest = RandomForestClassifier(3, warm_start=True, random_state=0).fit(X, y)
    recorder = Recorder()
    forest.set_params(n_estimators=5).set_callbacks(recorder).fit(X, y)
    assert recorder.n_trees == [4, 5]


def test_progress_bar(capsys):
    X, y = make_numbers()
    RandomForestClassifier(4, random_state=0).set_callbacks(ProgressBar()).fit(X, y)
    assert "RandomForestClassifier" in capsys.readouterr().out


# -------------------------------------------------------------------- interruption

INTERRUPTED_FIT = """
import numpy as np
from sklearn_textbook.ensemble import RandomForestClassifier
random = np.random.default_rng(0)
X = random.normal(size=(20_000, 10))
y = random.integers(0, 2, len(X))
for n_jobs in (1, 2):
    forest = RandomForestClassifier(5_000, n_jobs=n_jobs, random_state=0)
    print("ready", flush=True)
    try:
        forest.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", hasattr(forest, "estimators_"), flush=True)
        forest.set_params(n_estimators=3).fit(X[:50], y[:50])
        print(len(forest), flush=True)
"""


def test_interruption():
    """Control-C ends a fit at once, and leaves a forest that can be fitted again."""
    process = Program(INTERRUPTED_FIT)
    for _ in range(2):
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "interrupted False\n"
        # A second on a machine with nothing else to do.
        assert time.perf_counter() - start < 5.0
        assert process.stdout.readline() == "3\n"
    output, errors = process.communicate(timeout=60)
    assert (output, errors, process.returncode) == ("", "", 0)


# ---------------------------------------------------------------------- scikit-learn


def test_routed_weights():
    """Weights asked for reach the fits of a cross-validation."""
    X, y = make_numbers()
    weight = np.where(y == 0, 1.0, 0.0)
    with sklearn.config_context(enable_metadata_routing=True):
        forest = ExtraTreesRegressor(3, random_state=0)
        forest.set_fit_request(sample_weight=True)
        forest.set_score_request(sample_weight=False)
        fits = cross_validate(
            forest, X, y, params={"sample_weight": weight}, return_estimator=True, cv=2
        )["estimator"]
    for fitted in fits:
        # Rows of weight 0 are those of the class 1.
        assert fitted.predict(X).max() == 0.0


# --------------------------------------------------------------------------- tables


def make_frame():
    random = np.random.default_rng(1)
    frame = pd.DataFrame(
        {
            "number": random.normal(size=80),
            "color": random.choice(["red", "green", "blue", None], 80),
        }
    )
    frame.loc[::9, "number"] = np.nan
    y = np.where((frame["color"] == "red") | (frame["number"] > 0.5), "yes", "no")
    return frame, y


@pytest.mark.parametrize("criterion", ["gini", "gain_ratio"])
def test_frames_are_alike(criterion):
    frame, y = make_frame()
    forest = RandomForestClassifier(8, criterion=criterion, random_state=0)
    of_pandas = forest.fit(frame, y).predict_proba(frame)
    other = pl.from_pandas(frame)
    np.testing.assert_array_equal(of_pandas, forest.predict_proba(other))
    np.testing.assert_array_equal(of_pandas, forest.fit(other, y).predict_proba(other))
    assert forest.score(frame, y) > 0.9
    assert list(forest.feature_names_in_) == ["number", "color"]


@pytest.mark.parametrize("forest", ALL)
def test_sparse_is_dense(forest):
    X = sparse.random(200, 12, 0.2, random_state=0, format="csr")
    y = (X[:, [0]].toarray()[:, 0] > 0).astype(int)
    of_sparse = forest(4, random_state=0).fit(X, y)
    of_dense = forest(4, random_state=0).fit(X.toarray(), y)
    np.testing.assert_array_equal(of_sparse.predict(X), of_dense.predict(X.toarray()))
    np.testing.assert_array_equal(of_sparse.apply(X), of_dense.apply(X.toarray()))


def test_level_never_seen():
    frame, y = make_frame()
    forest = RandomForestClassifier(8, random_state=0).fit(frame, y)
    new = frame.assign(color="grey")
    np.testing.assert_allclose(forest.predict_proba(new).sum(axis=1), 1.0)
    forest.set_params(handle_unknown="error").fit(frame, y)
    with pytest.raises(ValueError, match="Column 'color' has a level in row 0"):
        forest.predict(new)


def test_missing_values_that_are_errors():
    frame, y = make_frame()
    forest = RandomForestClassifier(3, missing="error", random_state=0)
    with pytest.raises(ValueError, match="missing values in column 'number'"):
        forest.fit(frame, y)
    whole = frame.fillna({"number": 0.0, "color": "none"})
    forest.fit(whole, y)
    with pytest.raises(ValueError, match="missing values in column 'number'"):
        forest.predict(whole.assign(number=np.nan))


def test_messages_name_the_forest():
    frame, y = make_frame()
    forest = ExtraTreesClassifier(3, random_state=0).fit(frame, y)
    of_array = ExtraTreesClassifier(3).fit(np.zeros((2, 2)), [0, 1])
    with pytest.raises(ValueError, match="ExtraTreesClassifier is expecting 2 feat"):
        of_array.predict(np.zeros((2, 3)))
    with pytest.raises(ValueError, match="Feature names unseen at fit time:\n- size"):
        forest.predict(frame.rename(columns={"number": "size"}))
    with pytest.raises(ValueError, match="This ExtraTreesClassifier estimator requi"):
        ExtraTreesClassifier().fit(frame, None)


@pytest.mark.parametrize("forest", ALL)
def test_tables_from_which_nothing_can_be_learnt(forest):
    for X, y in (
        ([[0.0]], [1]),
        ([[0.0], [1.0], [2.0]], [1, 1, 1]),
        ([[5.0], [5.0], [5.0]], [1, 1, 1]),
    ):
        fitted = forest(3, random_state=0).fit(X, y)
        assert fitted.predict([[9.0]]) == [1]
        assert not fitted.feature_importances_.any()
    with pytest.raises(ValueError, match="All sample weights are zero"):
        forest(3).fit([[0.0], [1.0]], [0, 1], sample_weight=[0.0, 0.0])


def test_sample_without_any_event():
    """Poisson trees of samples whose values are all 0 are leaves."""
    X, y = np.arange(5.0)[:, np.newaxis], [0.0, 0.0, 0.0, 0.0, 5.0]
    forest = RandomForestRegressor(20, criterion="poisson", random_state=0).fit(X, y)
    values = [member.predict(X).max() for member in forest]
    assert min(values) == 0.0 < max(values)
