"""A tree on a narrow terminal: lines end between words."""

import io
import re

import pandas as pd
import pytest

from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.report import print_tree
from sklearn_textbook.tree import CARTClassifier


class Terminal(io.StringIO):
    def isatty(self):
        return True


def print_on(stream):
    table = pd.DataFrame({"median household income": [1.0, 2.0, 3.0, 4.0]})
    tree = CARTClassifier().fit(
        table, ["below the limit"] * 2 + ["above the limit"] * 2
    )
    print_tree(Output(stream), tree)
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()


@pytest.mark.parametrize("width", [30, 45])
def test_lines_end_between_words(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    lines = print_on(Terminal())
    assert max(map(len, lines)) <= width
    words = " ".join(line.lstrip("|- ") for line in lines)
    assert words == " ".join(line.lstrip("|- ") for line in print_on(io.StringIO()))


def test_lines_of_a_pipe_are_whole():
    assert len(print_on(io.StringIO())) == 2
