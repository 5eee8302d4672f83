"""A tiny run of the benchmark of penalised paths, and a check that can fail."""

import json
from dataclasses import replace

import numpy as np

from benchmarks.penalized import (
    WORKS,
    choose_alphas,
    find_differences,
    fit_ours,
    fit_scikit_learn,
    has_glmnet,
    main,
    make_rows,
)


def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.002", "--repeat", "1", "--json", str(file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    names = [w for w, work in WORKS.items() if work.peer != "glmnet" or has_glmnet()]
    assert all(f"{name}: " in printed for name in names)
    assert list(json.loads(file.read_text())["works"]) == names


def test_differences():
    work = WORKS["lasso"]
    X, y = make_rows(work, 0.002)
    alphas = choose_alphas(work, X, y)
    ours = fit_ours(work, X, y, alphas)
    theirs = fit_scikit_learn(work, X, y, alphas)
    assert find_differences(work, X, y, alphas, ours, theirs) == []
    worse = replace(ours, intercept=ours.intercept + np.std(y))
    (reason,) = find_differences(work, X, y, alphas, worse, theirs)
    assert "our objective is larger" in reason
    (reason,) = find_differences(work, X, y, alphas, ours, worse)
    assert "their objective is larger" in reason
