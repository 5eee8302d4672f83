"""The outputs in the guide are what the commands print on a terminal of 80 columns.

A block of the page in which a line begins with ``$`` is a session. All sessions of the
page share a folder with the tables of ``tests/data``. In an output, a line ``...``
stands for any number of lines, and times may differ.
"""

import difflib
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple

import click
import pytest

from sklearn_textbook.cli.app import app

DATA = Path(__file__).parents[1] / "data"
GUIDE = Path(__file__).parents[2] / "doc" / "user_guide"
PAGE = GUIDE / "command_line.rst"
COMMAND = "sklearn-textbook "
#: A paragraph that ends with ``::`` or a directive for code, and the block below it.
BLOCK = re.compile(
    r"^( *)(?:\.\. code-block:: \w+|(?!\.\. ).*::)\n"
    r"(?:\1 +:.*\n)*\n((?:\1 +.*\n|\s*\n)+)",
    re.MULTILINE,
)
#: Seconds, and the blanks before them.
TIME = re.compile(r" *\d+\.\d seconds")


class Documented(NamedTuple):
    """A command of a session, and the lines that follow it."""

    arguments: list[str]
    output: list[str]


def read_blocks(text):
    """Read the literal blocks of a page, without their indentation."""
    for _, block in BLOCK.findall(text):
        lines = block.rstrip().split("\n")
        indent = min(len(line) - len(line.lstrip()) for line in lines if line)
        yield [line[indent:] for line in lines]


def read_sessions(text):
    """Read the commands with their outputs, in the order of the page."""
    for lines in read_blocks(text):
        if not lines[0].startswith("$ "):
            continue
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.MULTILINE)[1:]:
            command, _, output = part.replace("\\\n", " ").partition("\n")
            name, *arguments = shlex.split(command)
            assert name == COMMAND.strip()
            yield Documented(arguments, output.rstrip().split("\n") if output else [])


def list_command_lines():
    """List the commands that the pages of the guide name, by page."""
    for page in sorted(GUIDE.glob("*.rst")):
        for lines in read_blocks(page.read_text("utf-8")):
            text = "\n".join(lines).replace("\\\n", " ")
            for line in text.split("\n"):
                start = line.removeprefix("$ ").strip()
                if start.startswith(COMMAND):
                    words = shlex.split(start, comments=True)
                    stop = [n for n, word in enumerate(words) if word in ("|", ">")]
                    yield page.name, words[1 : min(stop, default=None)]


def is_as_documented(printed, documented):
    """Return whether lines are those of a page, of which some may be left out."""
    parts = [
        r"(?:.*\n)*?" if line == "..." else re.escape(line) + r"\n"
        for line in documented
    ]
    return re.fullmatch("".join(parts), "".join(f"{line}\n" for line in printed))


def settle(lines):
    """Make times equal, and remove blanks at the ends of lines."""
    return [TIME.sub(" # seconds", line.rstrip()) for line in lines]


def test_outputs_of_the_guide(terminal_session, tmp_path):
    for path in DATA.iterdir():
        if path.is_file():
            shutil.copy(path, tmp_path)
    sessions = [*read_sessions(PAGE.read_text("utf-8"))]
    assert len(sessions) >= 8
    assert sum(bool(each.output) for each in sessions) >= 8
    answers = terminal_session(*(each.arguments for each in sessions))
    for (code, text), (arguments, output) in zip(answers, sessions, strict=True):
        command = shlex.join([COMMAND.strip(), *arguments])
        assert code == 0, f"{command}\n{text}"
        documented = settle(output)
        printed = settle(text.rstrip("\n").split("\n"))
        if documented and not is_as_documented(printed, documented):
            difference = "\n".join(difflib.ndiff(documented, printed))
            pytest.fail(f"{command}\n{difference}")


@pytest.mark.parametrize(("page", "arguments"), [*list_command_lines()])
def test_commands_of_the_guide_have_the_options(page, arguments):
    name, *rest = arguments
    if name == "--help":
        return
    command = app.commands[name]
    parent = click.Context(app, info_name=COMMAND.strip(), obj={})
    command.make_context(name, rest, parent=parent)


def test_left_out_lines_and_times():
    printed = ["a", "b", "c  10.2 seconds", "d"]
    documented = ["a", "...", "c  0.3 seconds", "d"]
    assert is_as_documented(settle(printed), settle(documented))
    assert is_as_documented(printed, ["...", "d"])
    assert not is_as_documented(printed, ["a", "...", "c"])
    assert not is_as_documented(printed, ["b", "...", "d"])
    assert not is_as_documented(printed, printed[:-1])
