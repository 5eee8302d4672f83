"""The study of what pruning is worth."""

import numpy as np
import pytest
from sklearn.datasets import load_diabetes, load_iris

from benchmarks.pruning_study import (
    METHODS,
    TEST_SHARE,
    Table,
    compare_scores,
    draw_picture,
    format_table,
    make_tables,
    study_table,
)


def make_results(gain):
    """Results of three splits, in which every method gains as much."""
    plain = np.array([[0.7, 90.0], [0.8, 100.0], [0.75, 110.0]])
    pruned = plain + np.array([gain, -80.0])
    return {"unpruned": plain} | dict.fromkeys(METHODS, pruned)


def test_every_method_prunes_trees_of_classes():
    results = study_table(Table("iris", *load_iris(return_X_y=True)), n_splits=2)
    assert list(results) == ["unpruned", *METHODS]
    leaves = {name: rows[:, 1] for name, rows in results.items()}
    assert all(rows.shape == (2, 2) for rows in results.values())
    assert all((leaves[name] <= leaves["unpruned"]).all() for name in METHODS)
    assert all((rows[:, 0] > 0.8).all() for rows in results.values())


def test_methods_of_classes_alone_are_left_out_in_regression():
    table = Table("diabetes", *load_diabetes(return_X_y=True), is_regression=True)
    results = study_table(table, n_splits=2)
    assert set(METHODS) - set(results) == {"loss (BIC)", "error_based"}


def test_tables_are_as_many_as_their_names():
    names = [table.name for table in make_tables()]
    assert len(set(names)) == len(names) >= 10


def test_standard_error_knows_that_the_training_rows_overlap():
    scores = np.array([0.9, 0.8, 0.7, 0.8])
    gain, error = compare_scores(scores, np.full(4, 0.6))
    assert gain == pytest.approx(0.2)
    independent = scores.std(ddof=1) / 2
    overlap = TEST_SHARE / (1 - TEST_SHARE)
    assert error == pytest.approx(independent * np.sqrt(1 + 4 * overlap))


@pytest.mark.parametrize(("gain", "cell"), [(0.1, "85.0+"), (-0.1, "65.0−")])
def test_table_of_the_documentation(gain, cell):
    table = Table("one, two", None, None)
    *_, line = format_table([(table, make_results(gain))])
    cells = [f'"{cell} (20)"'] * len(METHODS)
    assert line == "   " + ", ".join(['"one, two"', '"75.0 (100)"', *cells])
    unpruned = {"unpruned": make_results(gain)["unpruned"]}
    *_, line = format_table([(table, unpruned)])
    assert line.endswith(", –" * len(METHODS))


def test_picture(tmp_path):
    studies = [(Table(name, None, None), make_results(0.1)) for name in ("a", "b")]
    del studies[1][1]["error_based"]
    draw_picture(studies, tmp_path / "picture.png")
    assert (tmp_path / "picture.png").stat().st_size > 10_000
