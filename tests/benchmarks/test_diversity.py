"""A tiny run of the benchmark of diversity measures, and a failing check."""

import json

import numpy as np
import pytest

from benchmarks.diversity import (
    FORMULAS,
    WORKS,
    find_differences,
    main,
    make_predictions,
    measure_all,
    measure_some,
)


def test_works_run(tmp_path, capsys):
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.005", "--repeat", "1", "--members", "6"]
    assert main([*arguments, "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in WORKS)
    assert "extrapolated" in printed
    assert list(json.loads(file.read_text())["works"]) == list(WORKS)


def test_time_is_multiplied_by_the_share_of_the_pairs(monkeypatch):
    seconds = iter([0.0, 2.0])
    monkeypatch.setattr("benchmarks.diversity.time.perf_counter", lambda: next(seconds))
    y, predictions = make_predictions(100, 6)
    scaled = measure_some(WORKS["disagreement"], y, predictions.T)
    assert [len(row) for row in scaled.measured[0]] == [5, 4]
    assert scaled.own_seconds == pytest.approx(2.0 * 15 / 9)


@pytest.mark.parametrize("name", WORKS)
def test_differences(name, monkeypatch):
    work, (y, predictions) = WORKS[name], make_predictions(500, 6)
    scaled = measure_some(work, y, predictions.T)
    assert find_differences(work, measure_all(work, y, predictions), scaled) == []
    moved = measure_all(work, y, np.roll(predictions, 1, axis=1))
    assert f"{work.measures[0]} of member 0 with others differs" in find_differences(
        work, moved, scaled
    )
    # Also by the formulas that are used without DESlib.
    monkeypatch.setattr("benchmarks.diversity.installed_version", lambda name: None)
    scaled = measure_some(work, y, predictions.T)
    assert find_differences(work, measure_all(work, y, predictions), scaled) == []
    assert set(work.measures) <= FORMULAS.keys()
