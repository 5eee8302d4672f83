"""A tree of a table read in blocks is that of the same rows in memory, bit for bit."""

import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook._contract import file_memory
from sklearn_textbook._contract.file_memory import arrays_in_files
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    BoostingTreeRegressor,
    ExtraTreesRegressor,
    OutputCodeClassifier,
    OutputFlippingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
    RandomSubspaceClassifier,
)
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
)
from tests.blocks.tables import cut, draw_table, list_features

TABLE = draw_table(6000)
NAMES = list_features(TABLE)

CASES = {
    "gini": (CARTClassifier(), "class", None),
    "two classes": (CARTClassifier(max_leaf_nodes=40), "answer", "w"),
    "entropy": (CARTClassifier(criterion="entropy", max_depth=8), "class", "w"),
    "class weights": (CARTClassifier(class_weight="balanced"), "class", "w"),
    "costs": (
        CARTClassifier(
            cost_matrix=[[0, 1], [4, 0]], missing="surrogate", pruning="reduced_error"
        ),
        "answer",
        "w",
    ),
    "squared error": (CARTRegressor(max_depth=8), "value", "w"),
    "absolute error": (
        CARTRegressor(criterion="absolute_error", max_depth=4),
        "value",
        None,
    ),
    "poisson": (CARTRegressor(criterion="poisson", max_depth=6), "count", "w"),
    "surrogates": (CARTClassifier(missing="surrogate", max_depth=6), "answer", None),
    "cross-validated": (
        CARTClassifier(pruning="cost_complexity", max_depth=8),
        "answer",
        "w",
    ),
    "held out": (CARTClassifier(pruning="reduced_error"), "class", None),
    "random thresholds": (
        CARTRegressor(splitter="random", random_state=0),
        "value",
        None,
    ),
    "bins": (CARTRegressor(max_bins=30, max_depth=8), "value", "w"),
    "many bins": (CARTClassifier(max_bins=300, max_depth=8), "class", None),
    "bins of sorted columns": (
        CARTClassifier(max_bins=30, missing="surrogate", max_depth=6),
        "answer",
        "w",
    ),
    "bins and pruning": (
        CARTClassifier(max_bins=30, pruning="cost_complexity", max_depth=8),
        "answer",
        "w",
    ),
    "C4.5": (C45Classifier(), "class", "w"),
    "ID3": (ID3Classifier(max_depth=5), "class", None),
    "rules": (C45RulesClassifier(max_depth=6), "class", "w"),
    "oblique": (ObliqueTreeClassifier(max_depth=4, random_state=0), "class", None),
    "forest": (RandomForestClassifier(5, random_state=0), "class", "w"),
    "out of bag": (
        RandomForestRegressor(20, random_state=0, max_bins=255, oob_score=True),
        "value",
        None,
    ),
    "extra trees": (ExtraTreesRegressor(3, random_state=0), "value", "w"),
    "bagging": (BaggingClassifier(C45Classifier(), 3, random_state=0), "answer", "w"),
    "subspaces": (
        RandomSubspaceClassifier(n_estimators=3, random_state=0),
        "class",
        None,
    ),
    "stumps": (AdaBoostClassifier(n_estimators=10), "answer", "w"),
    "stumps of bins": (
        AdaBoostClassifier(CARTClassifier(max_depth=1, max_bins=20), n_estimators=10),
        "answer",
        "w",
    ),
    "subspaces of bins": (
        RandomSubspaceClassifier(
            CARTClassifier(max_depth=4, max_bins=20), n_estimators=3, random_state=0
        ),
        "class",
        None,
    ),
    "boosted trees": (
        AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=4),
        "class",
        None,
    ),
    "residuals": (BoostingTreeRegressor(5, max_depth=3), "value", "w"),
    "output code": (
        OutputCodeClassifier(CARTClassifier(max_depth=3), random_state=0),
        "class",
        None,
    ),
    "flipped": (
        OutputFlippingClassifier(n_estimators=3, random_state=0),
        "class",
        None,
    ),
}


def describe(model):
    """A hash of the trees, and what else predictions depend on."""
    found = hashlib.sha256()
    if isinstance(model, C45RulesClassifier):
        members = [model.tree_estimator_]
        found.update(
            model.rule_list_.nodes.tobytes() + model.rule_list_.shares.tobytes()
        )
    else:
        members = getattr(model, "estimators_", [model])
    for member in members:
        for name in ("nodes", "statistics", "level_branch", "surrogates", "terms"):
            found.update(np.asarray(getattr(member.tree_, name)).tobytes())
    others = (
        "estimator_weights_",
        "oob_score_",
        "train_losses_",
        "classes_",
        "n_missing_",
    )
    kept = [np.asarray(getattr(model, name, ())).tolist() for name in others]
    return found.hexdigest(), kept, model.feature_names_in_.tolist()


def fit_in_memory(model, target, weight):
    options = {} if weight is None else {"sample_weight": TABLE[weight]}
    return clone(model).fit(TABLE.select(NAMES), TABLE[target], **options)


def fit_in_blocks(model, step, target, weight, n_jobs=1):
    names = [*NAMES, target, *[weight][: weight is not None]]
    options = {} if weight is None else {"sample_weight": weight}
    model = clone(model).set_params(n_jobs=n_jobs)
    return model.fit(cut(TABLE, step, names), target, **options)


@pytest.mark.parametrize("case", CASES)
def test_tree_of_blocks_is_that_of_the_table(case, monkeypatch):
    model, target, weight = CASES[case]
    expected = describe(fit_in_memory(model, target, weight))
    assert describe(fit_in_blocks(model, 6000, target, weight, 2)) == expected
    # All but the smallest arrays in files.
    monkeypatch.setattr(file_memory, "SMALLEST_PIECE", 4096)
    assert describe(fit_in_blocks(model, 1000, target, weight)) == expected


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's process tables")
def test_arrays_of_a_context_are_in_files_without_names(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    with arrays_in_files(smallest=2**16):
        array = np.arange(20_000.0)
        assert "sklearn_textbook-" in Path("/proc/self/maps").read_text()
        assert list(tmp_path.iterdir()) == []
        # Both grow and shrink.
        array.resize(50_000, refcheck=False)
        array.resize(10_000, refcheck=False)
    assert (array == np.arange(10_000.0)).all()
    del array
    small = np.arange(20_000.0)
    assert str(tmp_path) not in Path("/proc/self/maps").read_text()
    assert small[-1] == 19_999.0


@pytest.mark.skipif(sys.platform != "linux", reason="reads Linux's process tables")
def test_pages_beyond_the_limit_are_given_back():
    def count_pages():
        _, resident, of_files = map(
            int, Path("/proc/self/statm").read_text().split()[:3]
        )
        return resident, of_files

    page = os.sysconf("SC_PAGE_SIZE")
    of_files = count_pages()[1]
    n_bytes = 200 * 2**20
    with arrays_in_files(limit=n_bytes // 4, smallest=2**20):
        array = np.arange(n_bytes // 8, dtype=np.float64)
        for _ in range(1000):
            if (count_pages()[1] - of_files) * page < n_bytes // 2:
                break
            time.sleep(0.01)
        assert (count_pages()[1] - of_files) * page < n_bytes // 2
        # Nothing of them is lost.
        assert array.sum() == array[-1] * len(array) / 2


def test_a_full_disk_names_the_folder(tmp_path):
    """A limit of the size of files stands for the disk."""
    program = [
        "import resource, signal",
        "import numpy as np",
        "from sklearn_textbook._contract.file_memory import arrays_in_files",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))",
        "with arrays_in_files(smallest=100_000):",
        "    np.empty(100_000)",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(program)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "OSError" in done.stderr
    assert "let TMPDIR name a folder on a larger disk" in done.stderr


def test_other_members_need_the_table_in_memory():
    model = BaggingClassifier(DecisionTreeClassifier(), 2)
    with pytest.raises(TypeError, match="not trees of this package"):
        model.fit(cut(TABLE, 1000, ["x2", "x3", "class"]), "class")


def test_validation_rows_may_be_in_memory_or_in_blocks():
    model = CARTClassifier(pruning="reduced_error", max_depth=6)
    X, y = TABLE.select(NAMES), TABLE["class"]
    validation = {"X_val": X.slice(0, 1000), "y_val": y.slice(0, 1000)}
    expected = clone(model).fit(X, y, **validation)
    source = cut(TABLE, 1000, [*NAMES, "class"])
    found = clone(model).fit(source, "class", **validation)
    assert describe(found) == describe(expected)
    validation = {"X_val": cut(TABLE.slice(0, 1000), 300), "y_val": "class"}
    assert describe(model.fit(source, "class", **validation)) == describe(expected)
