"""A tiny run of the benchmark of ensembles of named members, and a failing check."""

import json
from dataclasses import replace

import pytest

from benchmarks.combinations import (
    TREES,
    WORKS,
    find_differences,
    fit_members,
    main,
    make_rows,
)


# Levels of the columns depend on each other in so few rows.
@pytest.mark.filterwarnings("ignore:Columns are linearly dependent")
def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.005", "--repeat", "1", "--json", str(file)]
    assert main(arguments) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in WORKS)
    assert list(json.loads(file.read_text())["works"]) == list(WORKS)


def test_table_has_text_and_missing_values():
    X, y = make_rows(WORKS["votes"], 0.01)
    assert X.shape == (1000, 20)
    assert X.isna().any().all()
    assert len(X.select_dtypes("number").columns) == 10
    assert set(y) == {"class 0", "class 1", "class 2"}


def test_differences():
    work = replace(WORKS["votes-trees"], members=TREES[:2])
    X, y = make_rows(work, 0.01)
    model = work.ensemble(work.members).fit(X, y)
    assert find_differences(model, fit_members(work, X, y), X) == []
    others = fit_members(replace(work, members=TREES[3:5]), X, y)
    names = [f"{name} predicts something else" for name, _ in TREES[:2]]
    assert find_differences(model, others, X) == names
