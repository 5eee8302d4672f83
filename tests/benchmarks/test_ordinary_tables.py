"""A tiny run of the benchmark of ordinary tables, and a check that can fail."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.ordinary_tables import WORKS, lose_cells, main, make_classes
from benchmarks.pairs import DIFFERENT_WORK

TINY = ("--scale", "0.006", "--trees", "10", "--repeat", "1", "--threads", "2")


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    assert main([*TINY, "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in WORKS)
    written = json.loads(file.read_text())["works"]
    assert list(written) == list(WORKS)
    assert all(len(work["ours"]["cpu_seconds"]) == 1 for work in written.values())
    assert written["numeric"]["shape"] == [600, 20]
    assert written["small-tree-full"]["leaves"]["ours"] == 31


def test_different_work_is_reported(monkeypatch, capsys):
    work = replace(WORKS["numeric"], own={"max_depth": 1})
    monkeypatch.setitem(WORKS, "numeric", work)
    assert main(["numeric", *TINY]) == DIFFERENT_WORK
    assert "DIFFERENT WORK: 2 leaves against" in capsys.readouterr().out


def test_tables_are_what_their_titles_say():
    n_rows = 1_000
    is_missing = np.isnan(WORKS["few-missing"].make(n_rows)[0])
    assert is_missing.sum(axis=0).tolist() == [5] + [0] * 19
    assert np.isnan(lose_cells(make_classes)(n_rows)[0]).mean() == pytest.approx(
        0.05, abs=0.005
    )
    assert np.array_equal(np.unique(WORKS["integers"].make(n_rows)[0]), range(10))
    X, _ = WORKS["nominal"].make(n_rows)
    assert [len(np.unique(x)) for x in X.T[:6]] == [4, 8, 12, 20, 30, 48]
    X, y = WORKS["increasing"].make(n_rows)
    assert np.corrcoef(X[:, 0], y)[0, 1] > 0.1
