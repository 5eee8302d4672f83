"""Running the command in this process, and in a terminal."""

import os
import re
import subprocess
import sys
from pathlib import Path

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


@pytest.fixture
def terminal(tmp_path):
    """Run the command in a pseudo-terminal; give its exit code and what it shows."""
    if sys.platform == "win32":
        pytest.skip("pseudo-terminals are POSIX")
    import pty

    def run(*arguments, width=80):
        reader, end = pty.openpty()
        environment = {
            **os.environ,
            "TERM": "xterm-256color",
            "COLUMNS": str(width),
            "PYTHONPATH": str(Path(__file__).parents[2]),
        }
        environment.pop("NO_COLOR", None)
        process = subprocess.Popen(
            [sys.executable, "-m", "sklearn_textbook", *map(str, arguments)],
            stdout=end,
            stderr=end,
            cwd=tmp_path,
            env=environment,
        )
        os.close(end)
        pieces = []
        while piece := _read(reader):
            pieces.append(piece)
        os.close(reader)
        text = b"".join(pieces).decode()
        run.raw = text
        plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n")
        return process.wait(), plain

    return run


def _read(descriptor):
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other end is closed
        return b""
