"""The study of whether our forests are as good as others."""

import json

import numpy as np
import pandas as pd
import pytest

from benchmarks import forest_study
from benchmarks.forest_study import (
    MEASURES,
    Difference,
    compare_scores,
    format_table,
    list_differences,
    list_pairs,
    main,
)
from benchmarks.study_forests import FORESTS, LevelOrder, write_levels
from benchmarks.study_tables import Table, make_splits, make_tables


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_study_runs(tmp_path, capsys):
    names = ["wine", "mixed, values, 10 % missing"]
    file = tmp_path / "study.json"
    arguments = ["--seeds", "2", "--trees", "12", "--json", str(file)]
    main([*arguments, "--tables", *names])
    printed = capsys.readouterr().out
    written = json.loads(file.read_text())
    forests = list(FORESTS)
    if "left out: ranger" in printed:
        forests = [name for name in FORESTS if not name.endswith("ranger")]
    assert list(written["scores"]) == names
    for results in written["scores"].values():
        assert list(results) == forests
        for scores in results.values():
            assert np.shape(scores) == (2, len(MEASURES))
            assert 0.4 < np.min(scores) < np.max(scores) <= 1
    n_peers = len(forests) // 2
    assert len(written["differences"]) == 2 * 2 * len(MEASURES) * n_peers
    assert all(f'"{name}"' in printed for name in names)
    n_each = 2 * len(MEASURES) * n_peers
    assert printed.count(f" of {n_each} within one standard error") == 2


def test_unknown_table_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--tables", "none"])
    assert "no such table; wine, breast cancer" in capsys.readouterr().err


def test_tables_are_of_every_kind():
    tables = list(make_tables())
    assert len({table.name for table in tables}) == len(tables) == 10
    assert sum(table.is_regression for table in tables) == 3
    assert sum(bool(table.nominal) for table in tables) == 4
    assert sum(bool(table.X.isna().to_numpy().any()) for table in tables) == 2
    for table in tables:
        assert 1 <= table.max_features < table.X.shape[1]


def test_splits_are_the_same_for_every_forest():
    table = next(iter(make_tables()))
    one, other = list(make_splits(table, 2)), list(make_splits(table, 2))
    np.testing.assert_array_equal(one[1].y_test, other[1].y_test)
    assert not np.array_equal(one[0].X.index, one[1].X.index)
    assert not set(one[0].X.index) & set(one[0].X_test.index)


def test_levels_become_texts_and_missing_ones_stay_missing():
    table = list(make_tables())[6]
    written = write_levels(table.X)
    assert list(written)[:2] == ["x0", "x1"]
    for name, old in zip(written, table.X, strict=True):
        is_known = written[name].notna()
        assert is_known.tolist() == table.X[old].notna().tolist()
        if old in table.nominal:
            assert written[name][is_known].str.startswith("level ").all()


@pytest.mark.parametrize(
    ("gain", "verdict", "mark"),
    [(0.0, "equal", ")"), (0.3, "better", ") +"), (-0.3, "worse", ") −")],
)
def test_verdicts(gain, verdict, mark):
    theirs = np.array([[0.5, 0.5], [0.6, 0.6], [0.7, 0.7]])
    results = {"ours": theirs + gain, "other": theirs}
    found = compare_scores(results["ours"][:, 0], theirs[:, 0])
    assert found == Difference(
        pytest.approx(gain), pytest.approx(0.0), pytest.approx(0.1)
    )
    assert found.verdict == verdict
    studies = [(Table("t", None, None), results)]
    assert len(list(list_differences(studies))) == len(MEASURES)
    line = list(format_table(studies))[-1]
    assert line.count(mark + '"') == len(MEASURES)
    assert line.startswith('   "t", "')


def test_ours_is_compared_as_it_comes_and_in_the_place_of_the_peer():
    assert list_pairs(FORESTS) == [
        ("ours", "scikit-learn"),
        ("ours", "ranger"),
        ("ours as scikit-learn", "scikit-learn"),
        ("ours as ranger", "ranger"),
    ]


def test_order_of_levels():
    """By the mean target; of three classes along the line on which they differ most."""
    levels = pd.Series([*"aabbccc", None], dtype="category")
    X = pd.DataFrame({"x": levels, "z": [1.0, 2, 3, 4, 5, 6, 7, np.nan]})
    order = LevelOrder().fit(X, np.array([5.0, 5, 1, 1, 3, 3, 3, 3]))
    found = order.transform(X)
    assert found["x"].tolist() == [2, 2, 0, 0, 1, 1, 1, 1]  # commonest: c
    assert found["z"].tolist() == [1, 2, 3, 4, 5, 6, 7, 4]
    new = pd.DataFrame({"x": ["never seen"], "z": [0.5]})
    assert order.transform(new).iloc[0].tolist() == [3, 0.5]
    classes = LevelOrder().fit(X, np.array([0, 0, 1, 1, 0, 2, 1, 2]))
    places = classes.places_["x"]
    assert {places["a"], places["b"]} == {0, 2}


def test_error_of_the_mean_is_that_of_the_pairs():
    ours, theirs = np.array([0.7, 0.9, 0.8]), np.array([0.6, 0.7, 0.7])
    found = compare_scores(ours, theirs)
    gains = ours - theirs
    assert found.error == pytest.approx(gains.std(ddof=1) / np.sqrt(3))
    assert found.spread == pytest.approx(theirs.std(ddof=1))


def test_command_without_ranger(monkeypatch, capsys):
    monkeypatch.setattr(forest_study, "find_ranger_version", lambda: None)
    monkeypatch.setattr(
        forest_study,
        "study_table",
        lambda table, n_seeds, n_trees, forests: {
            name: np.array([[0.5, 0.5], [0.6, 0.6]]) for name in forests
        },
    )
    main(["--tables", "wine"])
    printed = capsys.readouterr().out
    assert "left out: ranger" in printed
    assert printed.count("2 of 2 within one standard error") == 2
