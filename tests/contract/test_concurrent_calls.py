"""Threads that fit and predict at once, each as if it were alone."""

import importlib
import pickle
import re
import sys
import sysconfig
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from threadpoolctl import threadpool_limits

import sklearn_textbook
from sklearn_textbook.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    compute_proximities,
)
from sklearn_textbook.inspection import explain, shap_values
from sklearn_textbook.tree import C45Classifier, CARTClassifier, export_text
from tests.registry import INSTANCES

N_THREADS = 4
ESTIMATORS = {name: instances[0] for name, instances in sorted(INSTANCES.items())}
ANSWERS = ("predict", "predict_proba", "transform", "apply", "decision_function")
PACKAGE = Path(sklearn_textbook.__file__).parent

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
VALUES = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=60)
CLASSES = np.where(VALUES + rng.normal(size=60) > 1.0, "yes", "no")


@pytest.fixture(autouse=True)
def frequent_switches():
    """With the interpreter's lock, threads take turns a hundred times as often."""
    interval = sys.getswitchinterval()
    sys.setswitchinterval(5e-5)
    yield
    sys.setswitchinterval(interval)


def call_at_once(function, arguments):
    """Call a function in as many threads as there are arguments, from one moment on."""
    start = threading.Barrier(len(arguments))

    def call(argument):
        start.wait()
        return function(argument)

    with ThreadPoolExecutor(len(arguments)) as pool:
        return list(pool.map(call, arguments))


def answer(estimator, table):
    """All that an estimator computes for the rows of a table, as bytes."""
    found = {}
    for name in ANSWERS:
        if hasattr(estimator, name):
            results = getattr(estimator, name)(table)
            parts = results if isinstance(results, list) else [results]
            found[name] = [np.asarray(part).tolist() for part in parts]
    assert found
    return found


@pytest.mark.parametrize("name", ESTIMATORS)
@pytest.mark.filterwarnings("ignore")
def test_threads_fit_and_predict_as_one_thread(name):
    estimator = clone(ESTIMATORS[name])
    settings = {"random_state": 0, "n_jobs": 2}
    known = estimator.get_params(deep=False)
    estimator.set_params(**{key: settings[key] for key in settings if key in known})
    y = VALUES if is_regressor(estimator) else CLASSES

    def fit(rows):
        return answer(clone(estimator).fit(X[rows], y[rows]), X)

    # Two threads for each of two tables.
    tables = [slice(None), slice(0, 50)] * (N_THREADS // 2)
    with threadpool_limits(1, user_api="blas"):
        expected = [fit(rows) for rows in tables]
        assert call_at_once(fit, tables) == expected


def explain_text(model):
    return str(explain(model, X[:5]))


@pytest.mark.parametrize(
    ("model", "questions"),
    [
        (
            CARTClassifier(pruning="cost_complexity", random_state=0),
            [export_text, explain_text, lambda model: model.rules_],
        ),
        (C45Classifier(), [export_text, explain_text]),
        (
            RandomForestClassifier(20, n_jobs=2, oob_score=True, random_state=0),
            [
                lambda model: shap_values(model, X).values.tolist(),
                lambda model: compute_proximities(model, X).tolist(),
                lambda model: model.feature_importances_.tolist(),
            ],
        ),
        (
            GradientBoostingRegressor(n_estimators=20, n_jobs=2, random_state=0),
            [lambda model: shap_values(model, X).values.tolist()],
        ),
    ],
    ids=lambda value: type(value).__name__,
)
def test_threads_share_a_fitted_model(model, questions):
    """What a model computes on first use, it may compute in several threads."""
    y = CLASSES if is_classifier(model) else VALUES
    kept = pickle.dumps(clone(model).fit(X, y))
    questions = [lambda model: answer(model, X), *questions]
    expected = [question(pickle.loads(kept)) for question in questions]
    for _ in range(5):
        # Nothing is known yet of the trees of this one.
        fresh = pickle.loads(kept)
        asked = [questions[i % len(questions)] for i in range(2 * N_THREADS)]
        found = call_at_once(lambda question, fresh=fresh: question(fresh), asked)
        for i, result in enumerate(found):
            assert result == expected[i % len(questions)]


@pytest.mark.skipif(
    not sysconfig.get_config_var("Py_GIL_DISABLED"),
    reason="this Python has no build without the interpreter's lock",
)
def test_no_module_needs_the_lock_of_the_interpreter():
    # An imported module that needs the lock enables it for all, with a warning.
    if getattr(sys, "_is_gil_enabled", bool)():
        pytest.skip("another library has enabled the lock")
    paths = [*PACKAGE.rglob("_*.so"), *PACKAGE.rglob("_*.pyd")]
    assert paths
    for path in paths:
        folder = ".".join(path.relative_to(PACKAGE.parent).parent.parts)
        importlib.import_module(f"{folder}.{path.name.partition('.')[0]}")
    assert not sys._is_gil_enabled()


@pytest.mark.skipif(not list(PACKAGE.rglob("*.pyx")), reason="the source is not here")
def test_compiled_modules_change_no_variable_of_the_module():
    """Which is what setup.py says of all of them."""
    for path in [*PACKAGE.rglob("*.pyx"), *PACKAGE.rglob("*.px[id]")]:
        assert not re.search(r"^ +global ", path.read_text("utf-8"), re.M), path
