"""Running the command in this process, and in a terminal."""

import json
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

    def run(*arguments, width=80):
        module = ["-m", "sklearn_textbook", *map(str, arguments)]
        code, run.raw = _run_in_terminal(module, tmp_path, width)
        return code, _plain(run.raw)

    return run


@pytest.fixture
def terminal_session(tmp_path):
    """Run commands one after the other in a process, as importing takes the longest."""

    def run(*commands, width=80):
        arguments = ["-c", _SESSION, json.dumps([[*map(str, c)] for c in commands])]
        code, raw = _run_in_terminal(arguments, tmp_path, width)
        assert code == 0, raw
        *shown, rest = _plain(raw).split(_END)
        assert rest.strip() == ""
        codes, texts = zip(*(text.rsplit("\n", 1)[::-1] for text in shown), strict=True)
        return [*zip(map(int, codes), texts, strict=True)]

    return run


#: Ends what a command of a session shows; before it, its exit code on a line.
_END = "\N{SYMBOL FOR END OF TRANSMISSION}"
_SESSION = f"""
import json, sys
from sklearn_textbook.cli import main
for command in json.loads(sys.argv[1]):
    code = main(command)
    print("", code, sep="\\n", end="{_END}", flush=True)
"""


def _run_in_terminal(arguments, folder, width):
    """Run Python in a pseudo-terminal; give its exit code and what it wrote."""
    if sys.platform == "win32":
        pytest.skip("pseudo-terminals are POSIX")
    import pty

    reader, end = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLUMNS": str(width),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    environment.pop("NO_COLOR", None)
    process = subprocess.Popen(
        [sys.executable, *arguments],
        stdout=end,
        stderr=end,
        cwd=folder,
        env=environment,
    )
    os.close(end)
    pieces = []
    while piece := _read(reader):
        pieces.append(piece)
    os.close(reader)
    return process.wait(), b"".join(pieces).decode()


def _plain(text):
    """Leave out colours and movements of the cursor."""
    return re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", text).replace("\r\n", "\n")


def _read(descriptor):
    try:
        return os.read(descriptor, 1 << 16)
    except OSError:  # the other end is closed
        return b""
