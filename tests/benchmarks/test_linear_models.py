"""A tiny run of the benchmark of linear models, and a check that can fail."""

import json
from dataclasses import replace

import numpy as np
import pytest

from benchmarks.linear_models import WORKS, find_differences, main
from benchmarks.pairs import DIFFERENT_WORK


def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.001", "--repeat", "2", "--json", str(file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in WORKS)
    written = json.loads(file.read_text())
    assert list(written["works"]) == list(WORKS)
    assert len(written["works"]["least-squares-tall"]["ours"]["seconds"]) == 2


def test_different_work_is_reported(monkeypatch, capsys):
    name = "least-squares-tiny"
    work = WORKS[name]
    monkeypatch.setitem(
        WORKS, name, replace(work, ours=lambda X, y: 1.1 * work.ours(X, y))
    )
    assert main([name, "--repeat", "1"]) == DIFFERENT_WORK
    assert "DIFFERENT WORK: coefficients differ by 0.1 of" in capsys.readouterr().out


def test_differences():
    coefficients = np.array([1.0, -2.0])
    assert find_differences(coefficients, coefficients, 0.0) == []
    assert (
        "shape (2,) against (1,)"
        in find_differences(coefficients, coefficients[:1], 1.0)[0]
    )


def test_unknown_work():
    with pytest.raises(SystemExit):
        main(["none"])
