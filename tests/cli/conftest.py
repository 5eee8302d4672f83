"""Running the command in this process."""

import pytest

from sklearn_textbook.cli import main


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Run the command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        assert main([str(argument) for argument in arguments]) == code
        captured = capsys.readouterr()
        return captured.out if code == 0 else captured.err

    run.capsys = capsys
    return run
