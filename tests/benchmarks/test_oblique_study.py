"""The study of oblique trees."""

import json

import numpy as np
import pytest

from benchmarks import oblique_study
from benchmarks.measure import installed_version
from benchmarks.oblique_study import (
    FORESTS,
    PEERS,
    TREES,
    choose_models,
    format_forests,
    format_trees,
    main,
    make_ringnorm,
    make_tables,
    make_twonorm,
    make_waveform,
    print_verdicts,
)
from benchmarks.study_tables import Table
from benchmarks.treeple import find_treeple_version


@pytest.fixture
def few_trees(monkeypatch):
    monkeypatch.setattr(oblique_study, "N_TREES", 5)


@pytest.mark.usefixtures("few_trees")
def test_study_runs(tmp_path, capsys):
    file = tmp_path / "study.json"
    names = ["iris", "sums, 10 % missing"]
    files = ["--json", str(file), "--picture", str(tmp_path / "picture.png")]
    main(["--seeds", "2", "--tables", *names, "--variants", *files])
    assert (tmp_path / "picture.png").stat().st_size > 10_000
    printed = capsys.readouterr().out
    written = json.loads(file.read_text())
    assert list(written) == names
    variants = oblique_study.TREE_VARIANTS | oblique_study.FOREST_VARIANTS
    expected = {*TREES, *FORESTS, *variants}
    expected |= {"YDF"} if installed_version("ydf") else set()
    assert set(written["sums, 10 % missing"]) == expected
    expected |= {"treeple"} if find_treeple_version() else set()
    assert set(written["iris"]) == expected
    for results in written.values():
        for name, values in results.items():
            accuracy, leaves = np.transpose(values)
            assert np.all((accuracy > 0.5) & (accuracy <= 1.0))
            assert name == "treeple" or np.all(leaves >= 2)
    # Sums of columns are what oblique trees are for.
    scores = {n: np.mean(v, axis=0) for n, v in written["sums, 10 % missing"].items()}
    assert scores["logistic"][0] > scores["CART"][0] + 0.05
    assert scores["logistic"][1] < scores["CART"][1]
    assert printed.count("\n   ") == 2 * 3


def test_unknown_table_is_refused(capsys):
    with pytest.raises(SystemExit):
        main(["--tables", "none"])
    assert "no such table; iris, wine" in capsys.readouterr().err


def test_tables_are_of_every_kind():
    tables = list(make_tables())
    assert len({table.name for table in tables}) == len(tables) == 10
    for table in tables:
        has_gaps = bool(table.X.isna().to_numpy().any())
        assert has_gaps == bool(table.nominal)
    assert sum(bool(table.nominal) for table in tables) == 2


def test_breimans_tables():
    X, y = make_twonorm(20_000)
    # Its best classifier is wrong in 2.3 per cent, the probability of z > 2.
    assert np.mean((X.sum(axis=1) > 0) == y) == pytest.approx(0.977, abs=0.004)
    X, y = make_ringnorm(20_000)
    assert X[y == 0].std() == pytest.approx(2.0, abs=0.01)
    assert X[y == 1].mean() == pytest.approx(2 / np.sqrt(20), abs=0.01)
    X, y = make_waveform(20_000)
    means = np.array([X[y == label].mean(axis=0) for label in range(3)])
    # Each class is the mean of two triangles with tops of 6 at 7, 11 and 15.
    tops = means[:, [6, 10, 14]]
    expected = [[1.0, 4.0, 4.0], [4.0, 4.0, 1.0], [3.0, 2.0, 3.0]]
    np.testing.assert_allclose(tops, expected, atol=0.1)


def test_peers_that_lack_are_left_out(monkeypatch, capsys):
    monkeypatch.setattr(oblique_study, "installed_version", lambda package: None)
    monkeypatch.setattr(oblique_study, "find_treeple_version", lambda: None)
    assert list(choose_models(with_variants=False)) == [*TREES, *FORESTS]
    assert "left out: YDF treeple" in capsys.readouterr().out


def test_tables_of_the_documentation(capsys):
    scores = {
        "CART": [0.8, 0.9, 0.7],
        "lda": [0.9, 0.99, 0.81],
        "random forest": [0.8, 0.9, 0.7],
        "random": [0.7, 0.81, 0.6],
        "YDF": [0.8, 0.9, 0.71],
    }
    results = {name: np.c_[values, [3, 4, 5]] for name, values in scores.items()}
    studies = [(Table("t", None, None), results)]
    assert list(format_trees(studies)) == [
        ".. csv-table::",
        '   :header: "table", "CART", "lda"',
        "",
        '   "t", "80.0; 4.0", "90.0 (+10.0 ± 0.6) +; 4.0"',
    ]
    row = list(format_forests(studies))[-1]
    assert row == '   "t", "80.0", "70.3 (−9.7 ± 0.3) −", "80.3 (−10.0 ± 0.6) −"'
    print_verdicts(studies)
    assert capsys.readouterr().out == (
        "YDF: of 1 differences ours is better in 0 and worse in 1\n"
    )
    assert "treeple" in PEERS
