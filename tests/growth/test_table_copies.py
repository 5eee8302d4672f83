"""A tree of a table in files, whose subtrees work on copies of their rows."""

import numpy as np
import pytest
from sklearn.base import clone

from sklearn_textbook._contract.file_memory import arrays_in_files
from sklearn_textbook.ensemble import RandomForestClassifier, RandomForestRegressor
from sklearn_textbook.tree import CARTClassifier, CARTRegressor

# Tables of more than 65,536 rows are copied if the memory is small: here the root is
# not, nodes of up to half the rows are, and of these the small ones once more.
N_ROWS = 150_000


def draw_rows(n_rows=N_ROWS):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 6))
    X[:, 0] = X[:, 0].round(1)
    X[:, 1] = rng.integers(0, 30, n_rows)
    value = X[:, 0] - X[:, 2] * X[:, 3] + (X[:, 1] == 3) + rng.normal(size=n_rows)
    return X, value, rng.random(n_rows) + 0.1


X, VALUE, WEIGHT = draw_rows()
GAPS = np.where(np.random.default_rng(1).random(X.shape) < 0.05, np.nan, X)
ANSWER, CLASS = VALUE > 0.5, np.digitize(VALUE, [-1, 1])
LEVELS = {"categorical_features": [1]}
FEW = {"max_features": 2, "random_state": 0}

CASES = {
    "values": (CARTRegressor(max_depth=9), GAPS, VALUE, WEIGHT),
    "leaves of one row": (CARTRegressor(), X[:, :3], VALUE, None),
    "levels": (CARTRegressor(max_depth=9, **LEVELS), GAPS, VALUE, WEIGHT),
    "bins that are codes": (CARTRegressor(max_depth=9, max_bins=255), X, VALUE, None),
    "bins of a byte": (CARTRegressor(max_depth=9, max_bins=255), GAPS, VALUE, WEIGHT),
    "bins of two bytes": (CARTRegressor(max_depth=9, max_bins=900), X, VALUE, None),
    "counts": (
        CARTRegressor(criterion="poisson", max_depth=7),
        *(X, np.exp(VALUE / 3), WEIGHT),
    ),
    "two outputs": (CARTRegressor(max_depth=4), X, np.c_[VALUE, VALUE**2], WEIGHT),
    "classes of two outputs": (
        CARTClassifier(max_depth=4, **FEW),
        *(X, np.c_[ANSWER, CLASS], None),
    ),
    "two classes": (CARTClassifier(max_depth=9, **FEW), GAPS, ANSWER, None),
    "weighted classes": (CARTClassifier(max_depth=9, **FEW), GAPS, CLASS, WEIGHT),
    "entropy": (
        CARTClassifier(criterion="entropy", max_depth=9, **FEW),
        *(X, CLASS, None),
    ),
    "forest": (
        RandomForestRegressor(2, max_depth=9, n_jobs=2, random_state=0),
        *(X, VALUE, None),
    ),
    "forest of bins": (
        RandomForestClassifier(2, max_bins=99, n_jobs=2, random_state=0),
        *(GAPS, CLASS, WEIGHT),
    ),
    # These have no copies.
    "random thresholds": (
        CARTRegressor(splitter="random", max_depth=9, random_state=0),
        *(X, VALUE, None),
    ),
    "best first": (CARTRegressor(max_leaf_nodes=40), X, VALUE, WEIGHT),
}


@pytest.mark.parametrize("case", CASES)
def test_trees_do_not_depend_on_copies(case):
    model, table, target, weight = CASES[case]
    expected = clone(model).fit(table, target, sample_weight=weight)
    with arrays_in_files(limit=2**20, smallest=2**16):
        found = clone(model).fit(table, target, sample_weight=weight)
    members = zip(
        *(getattr(fitted, "estimators_", [fitted]) for fitted in (found, expected)),
        strict=True,
    )
    for member, other in members:
        assert member.tree_.nodes.tobytes() == other.tree_.nodes.tobytes()
        assert member.tree_.statistics.tobytes() == other.tree_.statistics.tobytes()
