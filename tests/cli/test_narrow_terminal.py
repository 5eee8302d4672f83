"""A tree on a narrow terminal: lines end between words."""

import io
import re
from pathlib import Path

import pandas as pd
import pyarrow.csv
import pytest

from sklearn_textbook.cli.blocks import Tree
from sklearn_textbook.cli.columns import report_columns
from sklearn_textbook.cli.models import report_pruning
from sklearn_textbook.cli.output import MOST_LINES, Output, cut_between_entries
from sklearn_textbook.tree import CARTClassifier, ObliqueTreeClassifier

DATA = Path(__file__).parents[1] / "data"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def print_on(stream):
    table = pd.DataFrame({"median household income": [1.0, 2.0, 3.0, 4.0]})
    tree = CARTClassifier().fit(
        table, ["below the limit"] * 2 + ["above the limit"] * 2
    )
    Output(stream).write(Tree(tree))
    return re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()).splitlines()


@pytest.mark.parametrize("width", [30, 45])
def test_lines_end_between_words(width, monkeypatch):
    monkeypatch.setenv("COLUMNS", str(width))
    monkeypatch.setenv("TERM", "xterm")
    lines = print_on(Terminal())
    assert max(map(len, lines)) <= width
    words = " ".join(line.lstrip("|- ") for line in lines)
    assert words == " ".join(line.lstrip("|- ") for line in print_on(io.StringIO()))


def test_levels_of_a_column_are_not_cut_inside_words(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    output = Output(Terminal())
    output.write(report_columns(pyarrow.csv.read_csv(DATA / "credit.csv")))
    shown = re.sub(r"\x1b\[[0-9;]*m", "", output.stream.getvalue())
    assert "7 levels: owner 682, rent 301, parents 234, …" in shown
    assert "married 995, single 319, separated 43, widow 28, …" in shown
    assert max(map(len, shown.splitlines())) <= 80


@pytest.mark.parametrize(
    ("text", "width", "expected"),
    [
        ("red 3, blue 2", 13, "red 3, blue 2"),
        ("red 3, blue 2", 12, "red 3, …"),
        ("12 levels: red 3", 14, "12 levels: …"),
        ("红色 3, 蓝色 2", 10, "红色 3, …"),
        ("disestablishment 7", 9, "disestablishment 7"),
    ],
)
def test_texts_are_cut_between_entries(text, width, expected):
    assert cut_between_entries(text, width) == expected


def test_rules_of_pruned_branches_wrap_below_their_heading(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    table = pd.read_csv(DATA / "credit.csv")
    tree = CARTClassifier(pruning="cost_complexity", random_state=0)
    tree.fit(table.drop(columns="Status"), table["Status"])
    output = Output(Terminal())
    output.write(report_pruning(tree, 4))
    _, branches = output.stream.getvalue().split("\n\n")
    header, *lines, others = branches.splitlines()
    start = header.index("is now")
    assert max(map(len, lines)) <= 80
    assert len(lines) > 4
    assert {line[start - 2 : start] for line in lines} == {"  "}
    assert all(line[start] != " " for line in lines)
    assert others.startswith("... ")


def test_long_rules_of_pruned_branches_are_shortened(monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("TERM", "xterm")
    table = pd.read_csv(DATA / "credit.csv")
    tree = ObliqueTreeClassifier(pruning="cost_complexity", random_state=0)
    tree.fit(table.drop(columns="Status"), table["Status"])
    terminal, pipe = Output(Terminal()), Output(io.StringIO())
    for output in (terminal, pipe):
        output.write(report_pruning(tree, 3))
    _, branches = terminal.stream.getvalue().split("\n\n")
    header, *lines, _ = branches.splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 3 * (MOST_LINES + 1)
    start = header.index("is now")
    rules = [
        " ".join(rule.split())
        for rule in re.split("^.{5}[0-9] .*?  IF", "\n".join(lines), flags=re.MULTILINE)
    ]
    whole = pipe.stream.getvalue().split("\n\n")[1].splitlines()[1:4]
    for rule, line in zip(rules[1:], whole, strict=True):
        assert "… THEN" in rule
        first, last = rule.split(" … ")
        assert line[start:].startswith(f"IF {first}")
        assert line.endswith(last)


def test_lines_of_a_pipe_are_whole():
    assert len(print_on(io.StringIO())) == 2


def test_fit_prints_one_surrogate_of_a_test_and_show_all(terminal_session):
    arguments = ("fit", DATA / "credit.csv", "--target", "Status", "--cv", 0)
    fit, show, rules = terminal_session(
        (*arguments, "--set", "missing=surrogate", "--save", "m.json"),
        ("show", "m.json"),
        ("show", "m.json", "--as", "rules"),
    )
    for code, text in (fit, show, rules):
        assert code == 0
        assert max(map(len, (line.rstrip() for line in text.splitlines()))) <= 80
    words = " ".join(fit[1].replace("|", " ").split())
    assert "if Home in {other, parents, rent}; 4 more surrogates; if all" in words
    assert "is missing too" not in words
    for _, text in (show, rules):
        words = " ".join(text.replace("|", " ").split())
        assert "more surrogates" not in words
        assert "Home is missing too: Debt <= 15; if Debt is missing too" in words
