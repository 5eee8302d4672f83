"""A tiny run of the benchmark of maximum entropy, and a check that can fail."""

import json

import numpy as np
import pytest

from benchmarks import maximum_entropy as benchmark
from benchmarks import pairs


def test_works_run(tmp_path, capsys):
    pytest.importorskip("nltk")
    file = tmp_path / "times.json"
    arguments = ["--scale", "0.01", "--repeat", "1", "--rounds", "2"]
    assert benchmark.main([*arguments, "--json", str(file)]) == 0
    printed = capsys.readouterr().out
    assert all(f"{name}: " in printed for name in benchmark.WORKS)
    written = json.loads(file.read_text())
    assert list(written["works"]) == list(benchmark.WORKS)
    assert len(written["works"]["counts"]["ours"]["seconds"]) == 1


def test_different_work_is_reported(monkeypatch, capsys):
    pytest.importorskip("nltk")
    make_theirs = benchmark.make_theirs
    monkeypatch.setattr(
        benchmark, "make_theirs", lambda task, n_rounds: make_theirs(task, n_rounds + 1)
    )
    arguments = ["numbers", "--scale", "0.01", "--repeat", "1", "--rounds", "2"]
    assert benchmark.main(arguments) == pairs.DIFFERENT_WORK
    assert "DIFFERENT WORK: probabilities differ" in capsys.readouterr().out


def test_differences():
    shares = np.full((5, 3), 1 / 3)
    assert benchmark.find_differences(shares, shares + 1e-9) == []
    (reason,) = benchmark.find_differences(shares, shares + 1e-3)
    assert reason == "probabilities differ by up to 0.001"


def test_without_nltk(monkeypatch, capsys):
    monkeypatch.setattr(pairs, "installed_version", lambda package: None)
    assert benchmark.main([]) == pairs.NOT_AT_HAND
    assert "pip install nltk" in capsys.readouterr().out


def test_unknown_work():
    with pytest.raises(SystemExit):
        benchmark.main(["none"])
