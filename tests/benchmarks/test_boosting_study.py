"""The study of whether our gradient boosting is as good as that of others."""

import json

import numpy as np
import pytest
from sklearn.metrics import log_loss

from benchmarks import boosting_study
from benchmarks.boosting_study import (
    MODELS,
    PACKAGES,
    VARIANTS,
    choose_models,
    format_table,
    is_marked,
    list_differences,
    main,
    make_tables,
    predict_own,
    print_verdicts,
    score,
)
from benchmarks.forest_study import compare_scores
from benchmarks.measure import installed_version
from benchmarks.study_tables import Table, make_splits


@pytest.fixture
def few_rounds(monkeypatch):
    monkeypatch.setattr(boosting_study, "N_ROUNDS", 5)


@pytest.mark.usefixtures("few_rounds")
def test_study_runs(tmp_path, capsys):
    file = tmp_path / "study.json"
    names = ["breast cancer", "mixed, values"]
    main(["--seeds", "2", "--tables", *names, "--json", str(file)])
    printed = capsys.readouterr().out
    written = json.loads(file.read_text())
    assert list(written) == names
    at_hand = [name for name in MODELS if name not in PACKAGES]
    at_hand += [
        name for name, package in PACKAGES.items() if installed_version(package)
    ]
    for results in written.values():
        for by_name in results.values():
            assert set(by_name) == set(at_hand)
            assert np.shape(list(by_name.values())) == (len(at_hand), 2)
            # Five rounds are far from the end, but no more than chance apart.
            assert np.ptp([np.mean(values) for values in by_name.values()]) < 0.1
    assert list(written["mixed, values"]) == ["R2"]
    assert printed.count("\n   ") == 1 + 3
    assert printed.count("of 3 differences") == len(at_hand) - 1


def test_unknown_table_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--tables", "none"])
    assert "no such table; breast cancer, digits" in capsys.readouterr().err


def test_tables_are_of_every_kind():
    tables = list(make_tables())
    assert len({table.name for table in tables}) == len(tables) == 10
    assert sum(table.is_regression for table in tables) == 3
    with_levels = [table for table in tables if table.nominal]
    assert len(with_levels) == 4
    for table in tables:
        has_gaps = bool(table.X.isna().to_numpy().any())
        assert has_gaps == bool(table.nominal)
        assert not any(
            table.X[name].cat.ordered for name in table.X.select_dtypes("category")
        )


@pytest.mark.usefixtures("few_rounds")
@pytest.mark.parametrize("name", [name for name in VARIANTS if name.startswith("ours")])
def test_variants_differ(name):
    table = list(make_tables())[-1]
    (split,) = make_splits(table, 1)
    found = VARIANTS[name](table, split)
    assert not np.allclose(found, predict_own(table, split))


def test_packages_that_lack_are_left_out(monkeypatch, capsys):
    monkeypatch.setattr(boosting_study, "installed_version", lambda package: None)
    assert list(choose_models(with_variants=False)) == ["ours", "scikit-learn"]
    assert not any(name.startswith("LightGBM") for name in choose_models(True))
    assert "left out: LightGBM YDF" in capsys.readouterr().out


def test_higher_scores_are_better():
    table = Table("t", None, np.array([0, 1, 0, 1]))
    split = next(iter(make_splits(next(iter(make_tables())), 1)))
    good = np.eye(2)[split.y_test] * 0.8 + 0.1
    poor = np.full_like(good, 0.5)
    best, worst = score(table, split, good), score(table, split, poor)
    assert best["log loss"] == pytest.approx(-log_loss(split.y_test, good))
    assert best["log loss"] > worst["log loss"]
    assert best["accuracy"] == 1.0 > worst["accuracy"]


@pytest.mark.parametrize(
    ("gain", "mark", "verdict"),
    [(0.3, ") +", "better in 1"), (-0.3, ") −", "worse in 1")],
)
def test_differences_beyond_chance_are_marked(gain, mark, verdict, capsys):
    theirs = np.array([0.5, 0.6, 0.7])
    ours = theirs + gain + np.array([0.01, -0.01, 0.0])
    assert is_marked(compare_scores(ours, theirs))
    assert not is_marked(compare_scores(theirs + np.array([0.1, -0.1, 0.0]), theirs))
    studies = [(Table("t", None, None), {"R2": {"ours": ours, "other": theirs}})]
    assert len(list(list_differences(studies))) == 1
    assert mark in list(format_table(studies))[-1]
    print_verdicts(studies)
    printed = capsys.readouterr().out
    assert verdict in printed
    assert ("worse: t, R2" in printed) == (gain < 0)
