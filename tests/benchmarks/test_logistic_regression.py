"""The benchmark of logistic regression, on few rows."""

import pytest

from benchmarks import logistic_regression as command
from benchmarks.pairs import DIFFERENT_WORK


@pytest.mark.parametrize("name", ["binary", "multinomial"])
def test_small_run(name, capsys):
    assert command.main([name, "--scale", "0.003", "--repeat", "1"]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"{name}: ")
    assert "ratio" in line


def test_higher_loss_is_told(monkeypatch, capsys):
    losses = iter([0.7, 0.6])
    monkeypatch.setattr(command, "log_loss", lambda y, shares: next(losses))
    arguments = ["binary", "--scale", "0.001", "--repeat", "1"]
    assert command.main(arguments) == DIFFERENT_WORK
    assert "DIFFERENT WORK" in capsys.readouterr().out


def test_unknown_work_is_refused(capsys):
    with pytest.raises(SystemExit):
        command.main(["ternary"])
    assert "no such work" in capsys.readouterr().err
