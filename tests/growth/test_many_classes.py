"""Classes without end: the weights of all classes in all nodes take memory."""

import sys
import warnings

import numpy as np
import pytest

from sklearn_textbook._contract import memory
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn_textbook.ensemble.boosting import gradient_boosting_classifier
from sklearn_textbook.linear_model import LogisticRegression
from sklearn_textbook.linear_model.logistic import fitting
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)
from tests.processes import run_program

PROGRAM = """
import resource
import numpy as np
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.tree import C45Classifier, CARTClassifier
rng = np.random.default_rng(0)
X, y = rng.normal(size=(6000, 3)), rng.integers(0, 3000, 6000)
pages = int(open("/proc/self/statm").read().split()[0])
size = pages * resource.getpagesize() + (100 << 20)
resource.setrlimit(resource.RLIMIT_AS, (size, size))
for estimator in (
    CARTClassifier(n_jobs=1),
    C45Classifier(n_jobs=1),
    RandomForestClassifier(2, n_jobs=1),
):
    try:
        estimator.fit(X, y)
    except MemoryError as error:
        print(type(estimator).__name__, error)
assert CARTClassifier(max_depth=5, n_jobs=1).fit(X, y).get_depth() == 5
"""


@pytest.mark.skipif(sys.platform != "linux", reason="limits the address space")
def test_memory_that_runs_out():
    done = run_program(PROGRAM, timeout=300)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    names = [line.partition(" ")[0] for line in lines]
    assert names == ["CARTClassifier", "C45Classifier", "RandomForestClassifier"]
    assert all("weight of every class" in line for line in lines), lines


MACHINE = """
import os
sysconf = os.sysconf
pages = 100_000_000 // sysconf("SC_PAGE_SIZE")  # the nodes take 71,460,000 bytes
os.sysconf = lambda name: pages if name == "SC_PHYS_PAGES" else sysconf(name)
import numpy as np
from sklearn_textbook.tree import CARTClassifier
y = np.arange(3000) % 1500
X = np.random.default_rng(0).normal(size=(3000, 3))
try:
    CARTClassifier(n_jobs=1).fit(X, y)
except MemoryError as error:
    print(error)
assert CARTClassifier(n_jobs=1, max_depth=9).fit(X, y).get_depth() == 9
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the system tells its memory")
def test_trees_that_fit_only_once():
    """Nodes are copied at the end: they may take half of the memory."""
    done = run_program(MACHINE)
    assert done.returncode == 0, done.stderr
    assert "weight of every class" in done.stdout


PRESENT = """
import resource
import numpy as np
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.tree import CARTClassifier
rng = np.random.default_rng(0)
y = rng.permutation(np.arange(6000) % 4000)
X = rng.normal(size=(6000, 3))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

CARTClassifier(n_jobs=1).fit(X[:99], y[:99])
before = peak()
tree = CARTClassifier(n_jobs=1).fit(X, y).tree_
print(tree.statistics.nbytes, peak() - before)
before = peak()
forest = RandomForestClassifier(1, n_jobs=1, random_state=0).fit(X, y)
print(8 * forest[0].tree_.node_count * 4000, peak() - before)
forest.predict(X[:9])
assert forest[0].tree_.is_compact
"""


@pytest.mark.skipif(sys.platform != "linux", reason="pages that are not written to")
def test_classes_that_a_node_lacks_take_no_memory():
    done = run_program(PRESENT)
    assert done.returncode == 0, done.stderr
    for line in done.stdout.splitlines():
        dense, taken = map(int, line.split())
        assert taken < dense


@pytest.mark.parametrize("max_features", [None, 1])
@pytest.mark.parametrize("missing", [False, True])
def test_weights_of_many_classes(max_features, missing):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(3000) % 2000)
    X = rng.normal(size=(3000, 4)).round(1)
    X[rng.random(X.shape) < 0.1 * missing] = np.nan
    model = CARTClassifier(max_features=max_features, random_state=0)
    tree = model.fit(X, y).tree_
    leaves = model.apply(X)
    expected = np.zeros((tree.node_count, 2000))
    np.add.at(expected, (leaves, y), 1.0)
    for node in range(tree.node_count - 1, 0, -1):
        expected[tree.nodes["parent"][node]] += expected[node]
    np.testing.assert_array_equal(tree.statistics[:, 0], expected)
    compact = tree.compact()
    np.testing.assert_array_equal(
        compact.read_leaf_statistics(), tree.read_leaf_statistics()
    )
    np.testing.assert_array_equal(
        model.predict_proba(X), expected[leaves] / expected[leaves].sum(1)[:, None]
    )


@pytest.fixture
def rows(monkeypatch):
    """Rows of 100 classes, and warnings as if they were many."""
    monkeypatch.setattr(memory, "MEMORY_TO_WARN", 100_000)
    monkeypatch.setattr(gradient_boosting_classifier, "MEMORY_TO_WARN", 100_000)
    monkeypatch.setattr(fitting, "MANY_NUMBERS", 10_000)
    X = np.random.default_rng(0).normal(size=(300, 3))
    return X, np.arange(300) % 100


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        C45Classifier(),
        ID3Classifier(),
        RandomForestClassifier(2),
        BaggingClassifier(n_estimators=2),
    ],
)
def test_memory_of_many_classes_is_announced(rows, estimator):
    with pytest.warns(UserWarning, match="300 rows and 100 classes may need 0.. GB"):
        estimator.fit(*rows)


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(max_depth=3),
        CARTClassifier(max_leaf_nodes=9),
        CARTClassifier(min_samples_leaf=50),
        CARTClassifier(min_samples_leaf=0.2),
        CARTRegressor(),
        AdaBoostClassifier(n_estimators=2),
    ],
)
def test_small_trees_of_many_classes_are_not(rows, estimator):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(*rows)


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        RandomForestClassifier(2),
        GradientBoostingClassifier(n_estimators=1),
        LogisticRegression(max_iter=3, C=1.0, tol=1.0),
    ],
)
def test_many_rows_of_few_classes_are_not(rows, monkeypatch, estimator):
    X, y = rows
    monkeypatch.setattr(memory, "MEMORY_TO_WARN", 0)
    monkeypatch.setattr(gradient_boosting_classifier, "MEMORY_TO_WARN", 0)
    monkeypatch.setattr(fitting, "MANY_NUMBERS", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        estimator.fit(X, y % 9)


def test_time_of_many_classes_is_announced(rows):
    model = GradientBoostingClassifier(n_estimators=1)
    with pytest.warns(UserWarning, match="one tree per class in each round"):
        model.fit(*rows)
    model = LogisticRegression(max_iter=3, C=1.0, tol=1.0)
    with pytest.warns(UserWarning, match="30,000 probabilities for 300 rows and 100"):
        model.fit(*rows)
