"""Classes without end: the weights of all classes in all nodes take memory."""

import subprocess
import sys

import pytest

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
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    names = [line.partition(" ")[0] for line in lines]
    assert names == ["CARTClassifier", "C45Classifier", "RandomForestClassifier"]
    assert all("weight of every class" in line for line in lines), lines
