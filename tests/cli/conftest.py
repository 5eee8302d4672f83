"""Running the command in this process, and in a terminal."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from sklearn_textbook.cli import main
from tests.processes import Program

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture
def command(capsys, monkeypatch, tmp_path):
    """Run the command in this process, in a folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments, code=0):
        assert main([str(argument) for argument in arguments]) == code
        captured = capsys.readouterr()
        run.errors = captured.err
        return captured.out if code == 0 else captured.err

    run.capsys = capsys
    return run


@pytest.fixture
def iris_model(command):
    """A tree of the iris table, saved in the folder; the name of the file."""
    command(
        *("fit", DATA / "iris.csv", "--target", "species", "--cv", 0),
        *("--set", "max_depth=2", "--save", "iris.json"),
    )
    return "iris.json"


@pytest.fixture
def terminal(tmp_path):
    """Run the command in a pseudo-terminal; give its exit code and what it shows."""

    def run(*arguments, width=80, delay=60):
        code = _MODULE.format(delay=delay)
        code, run.raw = _run_in_terminal(code, arguments, tmp_path, width)
        return code, _plain(run.raw)

    return run


@pytest.fixture
def terminal_session(tmp_path):
    """Run commands one after the other in a process."""

    def run(*commands, width=80):
        arguments = [json.dumps([[*map(str, c)] for c in commands])]
        code, raw = _run_in_terminal(_SESSION, arguments, tmp_path, width)
        assert code == 0, raw
        *shown, rest = _plain(raw).split(_END)
        assert rest.strip() == ""
        codes, texts = zip(*(text.rsplit("\n", 1)[::-1] for text in shown), strict=True)
        return [*zip(map(int, codes), texts, strict=True)]

    return run


#: Progress bars appear after some seconds, lest tests depend on the machine.
_MODULE = """
import runpy
import sklearn_textbook.cli.progress
sklearn_textbook.cli.progress.DELAY = {delay}
runpy.run_module("sklearn_textbook", None, "__main__")
"""
#: Ends what a command of a session shows; before it, its exit code on a line.
_END = "\N{SYMBOL FOR END OF TRANSMISSION}"
_SESSION = f"""
import json, sys
from sklearn_textbook.cli import main, progress
progress.DELAY = 60
for command in json.loads(sys.argv[1]):
    code = main(command)
    print("", code, sep="\\n", end="{_END}", flush=True)
"""


def _run_in_terminal(code, arguments, folder, width):
    """Run a program in a pseudo-terminal; give its exit code and what it wrote."""
    if sys.platform == "win32":
        pytest.skip("pseudo-terminals are POSIX")
    import pty

    reader, end = pty.openpty()
    environment = {
        **os.environ,
        "TERM": "xterm-256color",
        "COLUMNS": str(width),
    }
    environment.pop("NO_COLOR", None)
    arguments = map(str, arguments)
    process = Program(code, *arguments, output=end, cwd=folder, env=environment)
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
