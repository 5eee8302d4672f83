"""The benchmark of smooth models, on few rows."""

import pytest

from benchmarks import smooth_models as command


@pytest.mark.parametrize(
    "name",
    ["logistic-mixed-1", "poisson-standard-2", "components-standard-1", "small-ridge-"],
)
def test_small_run(name, capsys):
    name = name + "diabetes-1" if name.endswith("-") else name
    assert command.main([name, "--scale", "0.001", "--repeat", "1"]) == 0
    line = capsys.readouterr().out
    assert line.startswith(f"{name}: ")
    assert "ratio" in line


def test_higher_loss_is_told(monkeypatch, capsys):
    losses = iter([0.7, 0.6])
    work = command.WORKS["poisson"]
    changed = vars(work) | {"measure": lambda *rest: next(losses)}
    monkeypatch.setitem(command.WORKS, "poisson", command.Work(**changed))
    arguments = ["poisson-standard-1", "--scale", "0.001", "--repeat", "1"]
    assert command.main(arguments) != 0
    assert "DIFFERENT WORK" in capsys.readouterr().out
