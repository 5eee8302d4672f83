"""A tiny run of the benchmark of GLMs, and a check that can fail."""

import json
from dataclasses import replace

import pytest
from sklearn.linear_model import PoissonRegressor

from benchmarks.generalized_linear import (
    WORKS,
    find_differences,
    fit_ours,
    main,
    make_rows,
)
from benchmarks.pairs import DIFFERENT_WORK


def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.001", "--repeat", "1", "--json", str(file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in WORKS)
    assert list(json.loads(file.read_text())["works"]) == list(WORKS)


def test_different_work_is_reported(monkeypatch, capsys):
    work = replace(WORKS["poisson"], theirs=lambda: PoissonRegressor(alpha=1.0))
    monkeypatch.setitem(WORKS, "poisson", work)
    assert main(["poisson", "--scale", "0.001", "--repeat", "1"]) == DIFFERENT_WORK
    assert "DIFFERENT WORK: shares of the deviance" in capsys.readouterr().out


def test_differences():
    X, y = make_rows(WORKS["poisson"], 0.001)
    ours, other = (fit_ours(WORKS["poisson"], X, y) for _ in range(2))
    assert find_differences(ours, other, X, y) == []
    other.coef_ = other.coef_ + ours.standard_errors_
    assert "coefficients differ by 1 errors" in find_differences(ours, other, X, y)[1]


def test_unknown_work():
    with pytest.raises(SystemExit):
        main(["none"])
