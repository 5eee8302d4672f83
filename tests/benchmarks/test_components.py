"""A tiny run of the benchmark of principal components, and a check that can fail."""

import json
from dataclasses import replace

import pytest

from benchmarks.pairs import DIFFERENT_WORK
from benchmarks.principal_components import (
    WORKS,
    find_differences,
    main,
    make_rows,
)
from sklearn_textbook.decomposition import PCA


def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.001", "--repeat", "2", "--json", str(file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in WORKS)
    written = json.loads(file.read_text())
    assert list(written["works"]) == list(WORKS)
    assert len(written["works"]["tall"]["ours"]["seconds"]) == 2


def test_different_work_is_reported(monkeypatch, capsys):
    work = replace(WORKS["tall"], ours=lambda X: PCA().fit(X[:, ::-1]))
    monkeypatch.setitem(WORKS, "tall", work)
    assert main(["tall", "--scale", "0.001", "--repeat", "1"]) == DIFFERENT_WORK
    assert "DIFFERENT WORK: the planes are turned" in capsys.readouterr().out


def test_differences():
    X = make_rows(WORKS["tall"], 0.001, 1.0)
    whole, few = PCA().fit(X), PCA(3).fit(X)
    assert find_differences(whole, whole, 1e-9) == []
    assert "components against 3" in find_differences(whole, few, 1.0)[0]
    larger = PCA().fit(1.1 * X)
    assert "variances differ" in find_differences(whole, larger, 1e-3)[0]


def test_unknown_work():
    with pytest.raises(SystemExit):
        main(["none"])
