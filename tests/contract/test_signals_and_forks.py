"""Ctrl-C in the middle of a fit, and processes made by fork after one with threads."""

import os
import signal
import subprocess
import sys
import time

import pytest

from tests.processes import Program, run_program

MAKE_ROWS = """
import sys, time, warnings
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn_textbook.ensemble import *
from sklearn_textbook.linear_model import *
from sklearn_textbook.tree import *
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=({n_rows}, 20))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
estimator = {estimator}
"""

INTERRUPT = """
print("fitting", flush=True)
try:
    estimator.fit(X, y)
    print("fitted", flush=True)
except KeyboardInterrupt:
    print("interrupted", flush=True)
    # The interpreter is as good as before.
    CARTClassifier(n_jobs=2).fit(X[:500], y[:500]).predict(X[:500])
"""

FORK = """
import multiprocessing, os
expected = estimator.fit(X, y).predict(X)
context = multiprocessing.get_context("fork")

def fit_again(queue):
    again = estimator.fit(X, y).predict(X)
    queue.put(bool((again == expected).all()))

queue = context.Queue()
process = context.Process(target=fit_again, args=(queue,))
process.start()
assert queue.get(timeout=60)
process.join(60)
assert process.exitcode == 0
child = os.fork()
same = (estimator.predict(X) == expected).all()
if child == 0:
    os._exit(0 if same else 1)
assert os.waitpid(child, 0)[1] == 0 and same
"""

PRUNED = "CARTClassifier(pruning=CostComplexityPruning(50{}), n_jobs={})"
#: Fits that take a second at least.
LONG_FITS = {
    "CARTClassifier(criterion='entropy', n_jobs=2)": 600_000,
    "CARTClassifier(max_features=0.5, n_jobs=1)": 800_000,
    "CARTClassifier(max_features=0.3, n_jobs=2)": 1_000_000,
    "ObliqueTreeClassifier(n_jobs=2)": 400_000,
    "ObliqueTreeClassifier(direction='oc1', n_jobs=2)": 30_000,
    PRUNED.format("", 2): 100_000,
    PRUNED.format(", scoring='accuracy'", 2): 100_000,
    "RandomForestClassifier(1000, n_jobs=2)": 100_000,
    "GradientBoostingClassifier(n_estimators=9000, n_jobs=2)": 100_000,
    "BaggingClassifier(CARTClassifier(), 1000, n_jobs=2)": 30_000,
    "BaggingClassifier(DecisionTreeClassifier(max_depth=6), 1000, n_jobs=2)": 30_000,
    "AdaBoostClassifier(n_estimators=90_000)": 30_000,
}
#: A busy machine is slower than the second that it takes otherwise.
MOST_SECONDS = 5.0


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("estimator", LONG_FITS)
def test_ctrl_c_ends_a_fit(estimator):
    made = MAKE_ROWS.format(n_rows=LONG_FITS[estimator], estimator=estimator)
    process = Program(made + INTERRUPT)
    try:
        assert process.stdout.readline() == "fitting\n"
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - began < MOST_SECONDS
        rest, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert (rest, errors, process.returncode) == ("", "", 0)


LEAVE_A_TASK = """
import threading, time
from sklearn_textbook._contract.threads_at_exit import run_to_end

def work():
    time.sleep(0.5)
    print("done", flush=True)

threading.Thread(target=run_to_end, args=(work,), daemon=True).start()
time.sleep(0.1)
"""


def test_the_interpreter_waits_for_tasks_of_joblibs_threads():
    """Otherwise a thread is unwound, through C++ code of others, too."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVE_A_TASK], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.parametrize(
    "estimator",
    [
        "CARTClassifier(n_jobs=2)",
        "C45Classifier(n_jobs=2)",
        "ObliqueTreeClassifier(n_jobs=2)",
        PRUNED.format("", 2),
        "RandomForestClassifier(10, random_state=0, n_jobs=2)",
        "GradientBoostingClassifier(n_estimators=5, n_jobs=2)",
        "AdaBoostClassifier(n_estimators=5, n_jobs=2)",
        "BaggingClassifier(CARTClassifier(), 5, random_state=0, n_jobs=2)",
        "LogisticRegression(n_jobs=2)",
    ],
)
def test_forks_fit_and_predict(estimator):
    made = MAKE_ROWS.format(n_rows=8000, estimator=estimator)
    done = run_program(made + FORK, timeout=200)
    assert done.returncode == 0, done.stderr
