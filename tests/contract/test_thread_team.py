"""Threads that share tasks, and how many of them there are."""

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import joblib
import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV
from threadpoolctl import threadpool_limits

from sklearn_textbook._contract import threads
from sklearn_textbook._contract._threads import count_runs
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from tests.loops import loop_over
from tests.processes import run_program


@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(threads, "cpu_count", lambda: 8)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)


# --------------------------------------------------------------------------- the team


@loop_over("n_threads", [1, 2, 3, 5, 16])
@loop_over("n_tasks", [0, 1, 2, 3, 17, 1000, 20_000])
def test_every_task_runs_once(n_threads, n_tasks):
    n_runs, n_done = count_runs(n_threads, n_tasks)
    assert np.all(n_runs == 1)
    assert len(n_runs) == n_done.sum() == n_tasks


@pytest.mark.parametrize("n_threads", [1, 2, 5])
def test_a_team_runs_tasks_again_and_again(n_threads):
    n_runs, _ = count_runs(n_threads, 7, n_calls=3000)
    assert np.all(n_runs == 3000)


def test_tasks_may_have_teams_of_their_own():
    n_runs, n_done = count_runs(3, 40, n_nested=4)
    assert np.all(n_runs == 1)
    assert len(n_runs) == 160
    assert n_done.sum() == 40


def test_many_teams_at_a_time():
    with ThreadPoolExecutor(8) as pool:
        futures = [pool.submit(count_runs, 4, 50, 20) for _ in range(200)]
    assert all(np.all(future.result()[0] == 20) for future in futures)


def test_team_helps():
    """More than one thread takes part, sooner or later."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if np.count_nonzero(count_runs(2, 100_000)[1]) == 2:
            return
    pytest.fail("no second thread in a minute")


def test_threads_that_cannot_be_started_are_done_without():
    """With no memory for another stack, kernels go on with the threads there are."""
    resource = pytest.importorskip("resource")
    if sys.platform != "linux":
        pytest.skip("limits the address space")
    code = (
        "import resource\n"
        "from sklearn_textbook._contract._threads import count_runs\n"
        "pages = int(open('/proc/self/statm').read().split()[0])\n"
        "size = pages * resource.getpagesize() + (20 << 20)\n"
        "resource.setrlimit(resource.RLIMIT_AS, (size, size))\n"
        "n_runs, n_done = count_runs(200, 300)\n"
        "assert (n_runs == 1).all() and n_done.sum() == 300\n"
    )
    assert resource
    run_python(code)


def run_python(code):
    """Run a program that must end well, and before long."""
    done = run_program(code)
    assert done.returncode == 0, done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork_after_a_fit():
    run_python(
        "import os, sys, warnings\n"
        "import numpy as np\n"
        "from sklearn_textbook.tree import CARTClassifier\n"
        "warnings.simplefilter('ignore')\n"
        "rng = np.random.default_rng(0)\n"
        "X = rng.random((20_000, 10))\n"
        "y = (X[:, 0] > rng.random(20_000)).astype(int)\n"
        "leaves = CARTClassifier(n_jobs=2).fit(X, y).apply(X)\n"
        "child = os.fork()\n"
        "again = CARTClassifier(n_jobs=2).fit(X, y).apply(X)\n"
        "assert (leaves == again).all()\n"
        "if child == 0:\n"
        "    os._exit(0)\n"
        "sys.exit(os.waitpid(child, 0)[1])\n"
    )


def test_ctrl_c_is_heeded_once_a_kernel_is_done():
    run_python(
        "import _thread, threading, time\n"
        "from sklearn_textbook._contract._threads import count_runs\n"
        "def interrupt():\n"
        "    time.sleep(0.1)\n"
        "    _thread.interrupt_main()\n"
        "threading.Thread(target=interrupt).start()\n"
        "try:\n"
        "    while True:\n"
        "        count_runs(2, 1000, 10)\n"
        "except KeyboardInterrupt:\n"
        "    assert count_runs(2, 100)[0].sum() == 100\n"
    )


def test_errors_leave_nothing_behind():
    X = np.random.default_rng(0).random((30_000, 8))
    y = (X[:, 0] > 0.5).astype(int)
    spoilt = X.copy()
    spoilt[17, 3] = np.inf
    for _ in range(20):
        with pytest.raises(ValueError, match="infinit"):
            CARTClassifier(n_jobs=3).fit(spoilt, y)
    assert CARTClassifier(n_jobs=3).fit(X, y).score(X, y) == 1.0


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        CARTRegressor(),
        C45Classifier(),
        ObliqueTreeClassifier(),
        ObliqueTreeRegressor(direction="random", max_depth=6, random_state=0),
        LinearRegression(),
        LogisticRegression(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_models_are_the_same_for_any_number_of_threads(estimator):
    X, y = make_classification(40_000, 10, n_redundant=0, flip_y=0.2, random_state=0)
    X[::7, 3] = 1.0
    predict = getattr(estimator, "predict_proba", estimator.predict)
    expected = None
    for n_jobs in (1, 2, 3, 5):
        estimator.set_params(n_jobs=n_jobs).fit(X, y)
        predicted = predict(X)
        expected = predicted if expected is None else expected
        assert predicted.tobytes() == expected.tobytes()


# ------------------------------------------------------------------ how many there are


def test_none_takes_all_cores(eight_cores):
    assert count_threads(None) == 8
    assert count_threads(-1) == 8
    assert count_threads(-2) == 7
    assert count_threads(3) == 3
    assert count_threads(None, n_cells=100_000) == 3


@pytest.mark.parametrize(
    ("setting", "n_threads"),
    [("3", 3), (" 2 ", 2), ("5,2", 5), ("12", 8), ("0", 8), ("-1", 8), ("", 8)],
)
def test_omp_num_threads_is_the_most(eight_cores, monkeypatch, setting, n_threads):
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert count_threads(None) == n_threads
    assert count_threads(4) == 4


def test_threadpoolctl_limits_the_threads(eight_cores):
    with threadpool_limits(2):
        assert count_threads(None) == 2
        assert count_threads(4) == 4
        with threadpool_limits(1, user_api="openmp"):
            assert count_threads(None) == 1
        assert count_threads(None) == 2
    with threadpool_limits(1, user_api="blas"):
        assert count_threads(None) == 8
    assert count_threads(None) == 8


def count_several():
    return count_threads(None), count_threads(3)


def test_threads_of_joblib_have_one_each(eight_cores):
    with parallel_config("threading"):
        for counted in Parallel(n_jobs=2)(delayed(count_several)() for _ in range(4)):
            assert counted == (1, 3)
        # One job is no parallel call.
        assert Parallel(n_jobs=1)([delayed(count_several)()]) == [(8, 3)]
    assert count_threads(None) == 8


@pytest.mark.parametrize("backend", ["loky", "multiprocessing"])
def test_processes_of_joblib_share_the_cores(monkeypatch, backend):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    # One of them has no say in how many cores each process has.
    share = max(1, joblib.cpu_count() // 2) if backend == "loky" else 1
    counted = Parallel(n_jobs=2, backend=backend)(
        delayed(count_threads)(None) for _ in range(2)
    )
    assert counted == 2 * [share]


class CountingClassifier(ClassifierMixin, BaseEstimator):
    """Notes how many threads it would have."""

    def __init__(self, depth=1):
        self.depth = depth

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        self.n_threads_ = count_threads(None)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0])

    def score(self, X, y):
        return self.n_threads_


@pytest.mark.parametrize(("n_jobs", "n_threads"), [(1, 8), (2, 1)])
def test_grid_search_in_threads(eight_cores, n_jobs, n_threads):
    X, y = make_classification(60, random_state=0)
    search = GridSearchCV(CountingClassifier(), {"depth": [1, 2]}, n_jobs=n_jobs, cv=3)
    with parallel_config("threading"):
        search.fit(X, y)
    assert np.all(search.cv_results_["mean_test_score"] == n_threads)
    # The refit is no part of the parallel call.
    assert search.best_estimator_.n_threads_ == 8
