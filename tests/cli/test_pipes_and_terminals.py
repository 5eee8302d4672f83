"""The command in pipes, on terminals and when it is interrupted."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sklearn_textbook.cli import explain_missing_module, main
from tests.cli.files import write

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data"
MODULE = [sys.executable, "-m", "sklearn_textbook"]


def test_colours_and_progress_on_a_terminal(terminal):
    arguments = ("fit", DATA / "iris.csv", "--target", "species")
    code, plain = terminal(*arguments, width=70, delay=0)
    assert code == 0
    assert "\x1b[1m" in terminal.raw
    assert "cross-validation" in plain
    assert "10/10" in plain
    rules = plain[plain.index("IF petal") : plain.index("scores")]
    assert max(len(line) for line in rules.splitlines()) <= 70


def test_columns_keep_names_and_kinds_on_a_terminal(terminal, tmp_path):
    names = ["number of the passenger's cabin", "port", "年龄", "class of the ticket"]
    levels = [f"a level with a long name {i}" for i in range(9)]
    rows = [
        f"{levels[i % 9]},{'SCQ'[i % 3]},{i % 7},{levels[i % 8]},{i % 2}"
        for i in range(72)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([",".join([*names, "y"]), *rows]), encoding="utf-8")
    code, plain = terminal("fit", table, "--target", "y", "--cv", 0)
    assert code == 0
    lines = plain[plain.index("\ncolumn ") :].splitlines()[2:6]
    kinds = ["nominal", "nominal", "numeric", "nominal"]
    for name, kind, line in zip(names, kinds, lines, strict=True):
        assert re.match(rf"{name} +{kind} +-  \w", line)
        assert len(line) <= 80
    # What is cut ends with an ellipsis; what is short is whole.
    assert lines[0].rstrip().endswith("…")
    assert lines[1].rstrip().endswith("S 24, C 24, Q 24")


def test_long_names_of_columns_are_wrapped_not_cut(terminal, tmp_path):
    names = [f"{word} " + "a question of the survey " * 4 + "?" for word in ("A", "B")]
    table = tmp_path / "table.csv"
    rows = "".join(f"{i % 3},{i % 5},{i % 2}\n" for i in range(30))
    table.write_text(f"{names[0]},{names[1]},y\n{rows}", encoding="utf-8")
    _, plain = terminal("fit", table, "--target", "y", "--cv", 0)
    shown = plain[plain.index("\ncolumn ") : plain.index("\ntree ")]
    assert max(map(len, shown.splitlines())) <= 80
    words = " ".join(line[: shown.index("kind") - 1] for line in shown.split("\n"))
    assert " ".join(words.split()).count("a question of the survey ?") == 2
    assert shown.count("numeric") == 2


def test_confusions_too_wide_for_the_terminal(terminal, tmp_path):
    table = tmp_path / "table.csv"
    rows = "".join(f"{i % 13},a class with a long name {i % 6}\n" for i in range(60))
    table.write_text(f"x,y\n{rows}", encoding="utf-8")
    _, plain = terminal("fit", table, "--target", "y", "--set", "max_depth=2")
    shown = plain[plain.index("\nconfusion matrix") :].splitlines()
    assert shown[2].split() == ["true", "predicted", "rows"]
    assert shown[3].count("a class with a long name") == 2


def test_reader_that_leaves_early():
    process = subprocess.Popen(
        [*MODULE, "fit", DATA / "iris.csv", "--target", "species"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, b"")


def test_interruption(command, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn_textbook.cli.fit.cross_validate", interrupt)
    text = command("fit", DATA / "iris.csv", "--target", "species", code=130)
    assert text.strip() == "sklearn-textbook: interrupted"


def test_error_of_the_program(command, monkeypatch, iris_model):
    def fail(*arguments, **options):
        raise RuntimeError("this\nis wrong")

    monkeypatch.setattr("sklearn_textbook.cli.blocks.Tree.write", fail)
    assert command("show", iris_model, code=1) == (
        "sklearn-textbook: internal error: RuntimeError: this is wrong; --debug "
        "shows the traceback\n"
    )
    assert "Traceback" in command("show", iris_model, "--debug", code=1)


def test_debug_shows_the_traceback(command):
    text = command("show", "none.json", "--debug", code=4)
    assert text.startswith("Traceback")
    assert text.endswith("sklearn-textbook: none.json: no such file\n")


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_each(command):
    rows = "".join(f"{2 * i},{i}\n" for i in range(20))
    write("table.csv", f"x,y\n{rows}")
    main(["fit", "table.csv", "--target", "y", "--algorithm", "cart-classifier"])
    warned = command.capsys.readouterr().err.splitlines()
    assert all(line.startswith("sklearn-textbook: warning: ") for line in warned)
    assert len(set(warned)) == len(warned) <= 1


@pytest.mark.parametrize("module", ["click", "rich", "pyarrow"])
def test_missing_extra(tmp_path, module):
    hidden = tmp_path / module
    hidden.mkdir()
    (hidden / "__init__.py").write_text(
        f"raise ModuleNotFoundError('no {module}', name='{module}')"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [*MODULE, "fit", "x.csv", "--target", "y"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr == (
        "sklearn-textbook: the command requires click, rich, pyarrow: "
        "pip install click rich pyarrow\n"
    )
    assert done.returncode == 2


def test_other_missing_modules_are_faults():
    assert explain_missing_module(ImportError("no spam", name="spam.eggs")) is None
