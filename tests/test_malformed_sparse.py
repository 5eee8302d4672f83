"""Sparse tables whose index arrays point outside of them are refused, never read.

A compiled loop that follows such an index ends the process, so that there is one apart.
"""

from tests.processes import run_program

SCRIPT = """
import warnings
import numpy as np
from scipy import sparse
from sklearn.base import clone
from tests.registry import INSTANCES

warnings.simplefilter("ignore")
X = np.abs(np.random.default_rng(0).standard_normal((30, 4)))
X[X < 0.3] = 0.0
y = 1 + np.arange(30) % 2  # numbers that every family can have

def break_compressed(make, which, place, value):
    X_bad = make(X)
    getattr(X_bad, which)[place] = value
    return X_bad

def break_coo(value):
    X_bad = sparse.coo_array(X)
    X_bad.coords[1][3] = value
    return X_bad

def break_lists(columns, values):
    X_bad = sparse.lil_array(X)
    X_bad.rows[3], X_bad.data[3] = columns, values
    return X_bad

def break_keys(key):
    X_bad = sparse.dok_array(X)
    X_bad._dict[key] = 1.0
    return X_bad

def break_diagonals(change, which="offsets"):
    X_bad = sparse.dia_array(X)
    setattr(X_bad, which, change(getattr(X_bad, which)))
    return X_bad

MALFORMED = [
    break_compressed(make, which, place, value)
    for make in (sparse.csr_array, sparse.csc_array, sparse.csr_matrix)
    for which, place, value in (
        ("indptr", 2, 10**6), ("indptr", 3, 0), ("indptr", -1, 10**6),
        ("indices", 5, -1), ("indices", 5, -(10**6)), ("indices", 5, 10**6),
    )
] + [
    *(break_lists([place], [1.0]) for place in (-(10**6), 10**6)),
    break_lists([0, 1], [1.0]), break_lists(None, [1.0]),
    break_keys((10**6, 0)), break_keys((0, -(10**6))), break_keys((0,)),
    break_diagonals(lambda offsets: offsets[:-1]),
    break_diagonals(lambda offsets: 0 * offsets),
    break_diagonals(lambda data: data[0], "data"),
    break_coo(-(10**6)), break_coo(10**6),
]

def check(estimator, matrices):
    if not estimator.__sklearn_tags__().input_tags.sparse:
        return
    model = clone(estimator).fit(sparse.csr_array(X), y)
    for make in (sparse.lil_array, sparse.dok_array, sparse.dia_matrix):
        clone(estimator).fit(make(X), y)
    for X_bad in matrices:
        calls = [lambda: clone(estimator).fit(X_bad, y)]
        for method in ("predict", "transform", "apply"):
            if hasattr(model, method):
                calls.append(lambda m=method: getattr(model, m)(X_bad))
        for call in calls:
            try:
                call()
            except ValueError as error:
                assert "X is a malformed sparse matrix" in str(error), error
            else:
                raise AssertionError(f"{estimator} reads {X_bad!r}")

for name, (first, *others) in INSTANCES.items():
    print(name, flush=True)
    check(first, MALFORMED)
    for estimator in others:
        check(estimator, [MALFORMED[1], MALFORMED[11], MALFORMED[-1]])
print("done")
"""


def test_malformed_sparse_tables_are_refused():
    done = run_program(SCRIPT, timeout=600)
    printed = done.stdout.split()
    assert printed[-1] == "done", (printed[-1], done.returncode, done.stderr[-2000:])
    assert len(printed) > 20
