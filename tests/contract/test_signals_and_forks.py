"""Ctrl-C in the middle of a fit, and processes made by fork after one with threads."""

import os
import pickle
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from sklearn_textbook._contract.threads import Call
from sklearn_textbook.tree import ObliqueTreeClassifier
from tests.processes import Program, run_program

MAKE_ROWS = """
import sys, time, warnings
import numpy as np
from sklearn.tree import DecisionTreeClassifier
from sklearn_textbook.ensemble import *
from sklearn_textbook.linear_model import *
from sklearn_textbook.tree import *
warnings.simplefilter("ignore")
MANY = {{"direction": "random", "n_directions": 2000, "n_jobs": 1}}
rng = np.random.default_rng(0)
X = rng.normal(size=({n_rows}, 20))
y = (X[:, 0] + rng.normal(size=len(X)) > 0).astype(int)
estimator = {estimator}
"""

INTERRUPT = """
print("working", flush=True)
try:
    {work}
    print("done", flush=True)
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
    # One member takes minutes, and the interpreter waits for it.
    "BaggingClassifier(ObliqueTreeClassifier(**MANY), 2, n_jobs=2)": 60_000,
    "AdaBoostClassifier(n_estimators=90_000)": 30_000,
}
#: A busy machine is slower than the second that it takes otherwise.
MOST_SECONDS = 5.0


#: Targets and columns that make nodes cost far more than their cells.
COSTLY_NODES = {
    "CARTClassifier(criterion='entropy', n_jobs=1)": (
        "estimator.fit(X, rng.integers(0, 1000, len(X)))"
    ),
    "ObliqueTreeClassifier(direction='logistic', n_jobs=1)": (
        "estimator.fit(X, np.floor(3 * np.tanh(X[:, 0] + X[:, 1] * X[:, 2])))"
    ),
    "C45Classifier(categorical_features=[0, 1, 2], categorical_split='subset')": (
        "estimator.fit(rng.integers(0, 1000, (len(X), 3)), rng.integers(0, 5, len(X)))"
    ),
}


def interrupt_program(code):
    """Send Ctrl-C to a program after half a second of its work; it has to end."""
    process = Program(code)
    try:
        assert process.stdout.readline() == "working\n"
        time.sleep(0.5)
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.stdout.readline() == "interrupted\n"
        assert time.monotonic() - began < MOST_SECONDS
        rest, errors = process.communicate(timeout=40)
    finally:
        process.kill()
    assert (rest, errors, process.returncode) == ("", "", 0)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("estimator", LONG_FITS)
def test_ctrl_c_ends_a_fit(estimator):
    made = MAKE_ROWS.format(n_rows=LONG_FITS[estimator], estimator=estimator)
    interrupt_program(made + INTERRUPT.format(work="estimator.fit(X, y)"))


STOP_SEARCH = """
limit = estimator.time_limit
estimator.set_params(time_limit=0.0).fit(X, y).set_params(time_limit=limit)
stopped = False
print("working", flush=True)
warnings.simplefilter("error")
try:
    estimator.fit(X, y)
except UserWarning as warning:
    stopped = "search was interrupted" in str(warning)
warnings.simplefilter("ignore")
# All parameters and attributes are there.
assert estimator.set_params(time_limit=0.1).fit(X, y).optimality_gap_ > 0.0
print("interrupted" if stopped else "done", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_ctrl_c_ends_a_search_with_the_best_tree():
    estimator = "OptimalTreeClassifier(max_depth=5, time_limit=None, n_jobs=2)"
    made = MAKE_ROWS.format(n_rows=2_000, estimator=estimator)
    interrupt_program(made + STOP_SEARCH)


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
@pytest.mark.parametrize("estimator", COSTLY_NODES)
def test_ctrl_c_ends_costly_nodes(estimator):
    made = MAKE_ROWS.format(n_rows=200_000, estimator=estimator)
    interrupt_program(made + INTERRUPT.format(work=COSTLY_NODES[estimator]))


ONE_NODE = """
from sklearn_textbook.tree.route._leaf_equations import fit_nodes

columns = np.tile(X, 75)
target, places = X[:, 0].copy(), np.array([0, len(X)])
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_ctrl_c_ends_the_equation_of_a_node():
    made = MAKE_ROWS.format(n_rows=40_000, estimator=None) + ONE_NODE
    work = (
        "fit_nodes(columns, target, 1 + 0 * target, places[:1], places[1:], places, 1)"
    )
    interrupt_program(made + INTERRUPT.format(work=work))


# -------------------------------------------------------------- tasks in other threads


def start_task(call, task):
    """Begin a task in a thread, and wait until it is at work."""
    has_begun = threading.Event()

    def work():
        has_begun.set()
        task()

    thread = threading.Thread(target=call.run, args=(work,), daemon=True)
    thread.start()
    assert has_begun.wait(30)
    return thread


def wait_for_ever():
    while True:
        time.sleep(0.01)


def fit_for_minutes():
    X = np.random.default_rng(0).normal(size=(300_000, 20))
    tree = ObliqueTreeClassifier(direction="random", n_directions=2000, n_jobs=1)
    tree.fit(X, X[:, 0] > X[:, 1] ** 2)


@pytest.mark.parametrize("task", [wait_for_ever, fit_for_minutes])
def test_tasks_end_with_their_call(task):
    with Call() as call:
        thread = start_task(call, task)
        time.sleep(0.5)
        assert thread.is_alive()
    thread.join(30)
    assert not thread.is_alive()


def test_calls_within_calls_end_with_them():
    started = []

    def call_again():
        with Call() as inner:
            started.append(start_task(inner, fit_for_minutes))
            started[0].join()

    with Call() as outer:
        start_task(outer, call_again)
        while not started:
            time.sleep(0.01)
    started[0].join(30)
    assert not started[0].is_alive()


def test_results_and_errors_of_tasks():
    def fail():
        raise RuntimeError("a task failed")

    with Call() as call:
        assert call.run(max, 2, 3) == 3
        with pytest.raises(RuntimeError, match="a task failed"):
            call.run(fail)
    assert call.run(fail) is None  # nobody waits for it any more
    assert pickle.loads(pickle.dumps(call)).run(max, 2, 3) == 3


LEAVE_A_TASK = """
import threading, time
from sklearn_textbook._contract.threads import Call

def work():
    time.sleep(0.5)
    print("done", flush=True)

threading.Thread(target=Call().run, args=(work,), daemon=True).start()
time.sleep(0.1)
"""


def test_the_interpreter_waits_for_tasks_of_joblibs_threads():
    """Otherwise a thread is unwound, through C++ code of others, too."""
    done = subprocess.run(
        [sys.executable, "-c", LEAVE_A_TASK], capture_output=True, text=True, check=True
    )
    assert (done.stdout, done.stderr) == ("done\n", "")


LEAVE_AGAIN = """
import signal, threading, time
from sklearn_textbook._contract import threads
signal.signal(signal.SIGINT, signal.default_int_handler)
threads.PATIENCE = 100.0
call = threads.Call()
threading.Thread(target=call.run, args=(time.sleep, 100), daemon=True).start()
time.sleep(0.1)
print("leaving", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no such signals")
def test_ctrl_c_ends_the_wait_for_tasks_of_others():
    process = subprocess.Popen(
        [sys.executable, "-c", LEAVE_AGAIN],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout.readline() == "leaving\n"
        time.sleep(1.0)
        process.send_signal(signal.SIGINT)
        rest, errors = process.communicate(timeout=50)
    finally:
        process.kill()
    assert (rest, errors, process.returncode) == ("", "", 0)


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


def test_fits_in_threads_end_while_they_are_traced():
    """As by a profiler, a debugger or a measurement of coverage, after other fits."""
    code = """
import sys, threading
from sklearn.datasets import load_iris
from sklearn_textbook.ensemble import BaggingClassifier
X, y = load_iris(return_X_y=True)
bagging = BaggingClassifier(n_estimators=6, random_state=0, n_jobs=2).fit(X, y)
def trace(*_): pass
threading.setprofile(trace)
sys.setprofile(trace)
bagging.fit(X, y)
print("ended")
"""
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120
    )
    assert result.stdout == "ended\n", result.stderr
