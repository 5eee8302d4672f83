"""Tables that are larger than the memory are refused before they are made dense."""

import os

import numpy as np
import pytest
from scipy import sparse

from sklearn_textbook.ensemble import (
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    RandomForestClassifier,
)
from sklearn_textbook.tree import CARTClassifier
from tests.memory import measure_peak

CASES = [
    (CARTClassifier(), 13, 20),
    (RandomForestClassifier(), 7, 14),
    (GradientBoostingClassifier(), 7, 14),
    (ExtraTreesClassifier(), 21, 14),
]


@pytest.mark.parametrize("is_sparse", [True, False])
@pytest.mark.parametrize("case", CASES, ids=lambda case: type(case[0]).__name__)
def test_larger_tables_than_the_memory_are_refused(case, is_sparse, monkeypatch):
    model, *n_bytes = case
    n_bytes = n_bytes[not is_sparse]
    X = sparse.csr_array(([1.0, 2.0], ([3, 900], [5, 900])), shape=(2000, 1500))
    X = X if is_sparse else X.toarray()
    y = np.arange(2000) % 2
    monkeypatch.setattr(os, "sysconf", lambda name: 4096)  # 16 MiB
    size = 2000 * 1500 * n_bytes / 2**30
    words = f"{type(model).__name__} needs {size:.4g} GiB of memory for a table of "
    with pytest.raises(MemoryError, match=words + "2,000 rows and 1,5") as caught:
        model.fit(X, y)
    assert "this machine has 0.01562 GiB" in str(caught.value)
    assert "TruncatedSVD" in str(caught.value)


def test_limit_of_a_container_is_read(monkeypatch, tmp_path):
    limit = tmp_path / "memory.max"
    names = (str(limit), str(tmp_path / "missing"))
    monkeypatch.setattr("sklearn_textbook._contract.memory.LIMIT_FILES", names)
    X, y = np.zeros((30_000, 3)), np.arange(30_000) % 2
    limit.write_text("max\n")
    CARTClassifier().fit(X, y)
    limit.write_text("1000000\n")
    with pytest.raises(MemoryError, match="CARTClassifier needs"):
        CARTClassifier().fit(X, y)


def test_boosting_holds_three_numbers_of_each_row_and_class():
    X, y = np.random.default_rng(0).random((3000, 2)), np.arange(3000) % 300
    model = GradientBoostingClassifier(n_estimators=1, max_depth=1)
    peak = measure_peak(lambda: model.fit(X, y))
    assert peak < 3.35 * 8 * 3000 * 300


def test_scores_larger_than_the_memory_are_refused(monkeypatch):
    X, y = np.zeros((4000, 1)), np.arange(4000) % 200
    monkeypatch.setattr(os, "sysconf", lambda name: 4096)  # 16 MiB
    words = "needs 0.01788 GiB of memory for the scores of 4,000 rows and 200"
    with pytest.raises(MemoryError, match=words):
        GradientBoostingClassifier().fit(X, y)
