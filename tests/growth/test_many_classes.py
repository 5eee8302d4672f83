"""Classes without end: the weights of all classes in all nodes take memory."""

import sys

import pytest

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
