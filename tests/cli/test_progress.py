"""Progress bars: for long work, on a terminal, and on the standard error alone."""

import io
import json
import pickle
import re
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sklearn_textbook.cli import main, progress
from sklearn_textbook.cli.progress import show_progress
from sklearn_textbook.ensemble import (
    GradientBoostingRegressor,
    RandomForestClassifier,
    VotingClassifier,
)
from sklearn_textbook.tree import C45Classifier, CARTClassifier

DATA = Path(__file__).parents[1] / "data"
FIT = ("fit", str(DATA / "iris.csv"), "--target", "species", "--cv", "3")
has_callbacks = pytest.mark.skipif(
    not hasattr(RandomForestClassifier, "set_callbacks"),
    reason="callbacks are from scikit-learn 1.9 on",
)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def open_screen(monkeypatch):
    """Make the standard error a terminal, on which bars appear at once."""
    # Not a fixture: between the fixtures and the test, pytest sets the stream again.
    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(progress, "DELAY", 0.0)
    return stream


def test_long_work_has_a_bar_that_disappears(monkeypatch):
    screen = open_screen(monkeypatch)
    monkeypatch.setattr(progress, "DELAY", 0.05)
    with show_progress("counting", 3) as steps:
        steps.advance(2)
        time.sleep(0.5)
    shown = screen.getvalue()
    plain = re.sub(r"\x1b\[[0-9;?]*\w", "", shown)
    assert re.search(r"counting .*2/3.* 0:00:0\d", plain)
    # The line is erased, and the cursor shown again.
    assert shown.rindex("\x1b[2K") > shown.rindex("counting")
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")


def test_short_work_has_none(monkeypatch):
    screen = open_screen(monkeypatch)
    monkeypatch.setattr(progress, "DELAY", 60.0)
    assert main([*FIT, "--save", "/dev/null"]) == 0
    assert screen.getvalue() == ""


def test_the_bar_is_not_in_the_output(monkeypatch, capsys, tmp_path):
    screen = open_screen(monkeypatch)
    assert main([*FIT]) == 0
    assert "cross-validation" in screen.getvalue()
    assert "3/3" in screen.getvalue()
    with_bar = capsys.readouterr().out
    assert main([*FIT, "--quiet"]) == 0
    assert capsys.readouterr().out == with_bar
    assert "\x1b" not in with_bar


@pytest.mark.parametrize("flag", ["-q", "--quiet"])
def test_no_bar_if_quiet(monkeypatch, flag, tmp_path):
    screen = open_screen(monkeypatch)
    model = tmp_path / "m.json"
    assert main([*FIT, "--save", str(model), flag]) == 0
    compare = ("compare", *FIT[1:], "--algorithms", "cart")
    predict = ("predict", str(model), FIT[1], "-o", str(tmp_path / "out.csv"))
    for command in (compare, predict, ("show", str(model))):
        assert main([*command, flag]) == 0
    assert screen.getvalue().startswith(f"{FIT[1]}: accuracy ")
    assert "\x1b" not in screen.getvalue()


def test_no_bar_without_a_terminal(monkeypatch, capsys):
    monkeypatch.setattr(progress, "DELAY", 0.0)
    # Variables that make rich write colours do not matter.
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main([*FIT]) == 0
    assert capsys.readouterr().err == ""


def test_no_bar_on_a_dumb_terminal(monkeypatch):
    screen = open_screen(monkeypatch)
    monkeypatch.setenv("TERM", "dumb")
    assert main([*FIT]) == 0
    assert screen.getvalue() == ""


def test_commands_with_a_closed_standard_error(monkeypatch, capsys):
    stream = io.StringIO()
    stream.close()
    monkeypatch.setattr(sys, "stderr", stream)
    with show_progress("counting") as steps:
        steps.advance()


def test_warnings_are_written_above_the_bar(monkeypatch):
    screen = open_screen(monkeypatch)
    with show_progress("counting"):
        time.sleep(0.3)
        print("sklearn-textbook: warning: this", file=sys.stderr)
    # The bar is erased first.
    assert "\x1b[2Ksklearn-textbook: warning: this\n" in screen.getvalue()
    assert sys.stderr is screen


def read_table(n_rows=200):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 3))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(int)


@has_callbacks
@pytest.mark.parametrize(
    ("estimator", "n_tasks"),
    [
        (RandomForestClassifier(7), 7),
        (GradientBoostingRegressor(n_estimators=5), 5),
        (VotingClassifier([("a", C45Classifier()), ("b", CARTClassifier())]), 2),
    ],
)
def test_members_are_counted(monkeypatch, estimator, n_tasks):
    open_screen(monkeypatch)
    X, y = read_table()
    with show_progress("fitting") as steps:
        with steps.watch(estimator):
            estimator.fit(X, y)
        (task,) = steps._bar.tasks
        assert (task.completed, task.total) == (n_tasks, n_tasks)
    # The callback is gone with the bar.
    assert not [name for name in vars(estimator) if "callback" in name]


@has_callbacks
def test_members_are_parts_of_folds(monkeypatch):
    open_screen(monkeypatch)
    X, y = read_table()
    seen = []
    with show_progress("cross-validation", 2) as steps:
        report = steps._report

        def record(*counts):
            report(*counts)
            seen.append(steps._bar.tasks[0].completed)

        monkeypatch.setattr(steps, "_report", record)
        for _ in range(2):
            forest = RandomForestClassifier(4)
            with steps.watch(forest):
                forest.fit(X, y)
            steps.advance()
            seen.append(steps._bar.tasks[0].completed)
    assert seen == [0.25, 0.5, 0.75, 1, 1, 1.25, 1.5, 1.75, 2, 2]


def test_estimators_without_callbacks_are_fitted(monkeypatch):
    open_screen(monkeypatch)
    X, y = read_table()
    tree = CARTClassifier()
    with show_progress("fitting") as steps, steps.watch(tree):
        tree.fit(X, y)
        assert steps._bar.tasks[0].total is None


@has_callbacks
def test_a_callback_in_another_process_does_nothing():
    tasks = pickle.loads(pickle.dumps(progress._FitTasks(print)))
    assert tasks.report is None
    forest = RandomForestClassifier(2)
    forest.set_callbacks(tasks).fit(*read_table())
    assert len(forest.estimators_) == 2


@has_callbacks
def test_models_are_the_same_with_a_bar(monkeypatch, tmp_path):
    open_screen(monkeypatch)
    paths = [tmp_path / "a.json", tmp_path / "b.json"]
    for path, more in zip(paths, ((), ("-q",)), strict=True):
        forest = ("--algorithm", "random-forest", "--trees", "9")
        assert main([*FIT, *forest, "--save", str(path), *more]) == 0
    first, second = (json.loads(path.read_text()) for path in paths)
    assert first == second


def test_an_error_ends_the_bar(monkeypatch):
    screen = open_screen(monkeypatch)

    def fail():
        with show_progress("counting"):
            time.sleep(0.3)
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    shown = screen.getvalue()
    assert shown.rindex("\x1b[?25h") > shown.rindex("\x1b[?25l")
    assert sys.stderr is screen
