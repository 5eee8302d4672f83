"""Algorithms on real tables, in a terminal of 80 columns: fit, show, use."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    COMBINATIONS,
    can_predict,
    find_wish,
)

DATA = Path(__file__).parents[1] / "data"
PENGUINS = DATA / "penguins.csv"


class RealTable(NamedTuple):
    """A file of tests/data, and what the models of it are to reach."""

    label: str  # the target of classifiers
    number: str | None  # the target of regressors
    columns: tuple[str, ...]  # that models are fitted to
    drop: tuple[str, ...] = ()
    least_accuracy: float = 0.8
    greatest_error: float = 0.7  # mean absolute error in standard deviations


TABLES = {
    "penguins": RealTable(
        "species",
        "body_mass_g",
        ("island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "sex"),
        drop=("year",),
    ),
    "titanic": RealTable(
        "survived", None, ("class", "age", "sex"), least_accuracy=0.65
    ),
    "credit": RealTable(
        "Status",
        "Amount",
        (
            *("Seniority", "Home", "Time", "Age", "Marital", "Records", "Job"),
            *("Expenses", "Income", "Assets", "Debt", "Price"),
        ),
        least_accuracy=0.65,
    ),
    "diamonds": RealTable(
        "cut",
        "price",
        ("carat", "color", "clarity", "depth", "table", "x", "y", "z"),
        least_accuracy=0.4,
        greatest_error=0.4,
    ),
}
#: More rows would only take longer.
MOST_ROWS = 500


def list_usable(is_classes):
    """List the algorithms that predict classes, or those that predict numbers."""
    names = [*ALGORITHMS, *COMBINATIONS]
    names = [name for name in names if can_predict(name, is_classes)]
    if is_classes:
        return names
    return [f"{name}-regressor" * (find_wish(name) is None) or name for name in names]


#: Every algorithm that can be used on a table; pca has a test of its own. The
#: algorithms of a line share a process, as importing takes longer than most of them.
CLASSIFIERS, REGRESSORS = list_usable(True), list_usable(False)
CASES = [
    ("credit", CLASSIFIERS + REGRESSORS),
    ("penguins", ["cart", "c45", "c45-rules", "logistic", "lda", "adaboost"]),
    ("titanic", [name for name in CLASSIFIERS if name != "lda"]),
    ("diamonds", CLASSIFIERS + REGRESSORS),
]
#: Models that take no missing values, or numbers only.
COMPLETE = (
    *("linear", "logistic", "generalized-linear", "maximum-entropy"),
    *("negative-correlation", "lda", "ordinal", "elastic-net"),
)
MANY = (
    *("random-forest", "oblique-forest", "extra-trees", "bagging", "random-subspace"),
    *("adaboost", "output-flipping", "output-smearing"),
    *("boosting-tree", "gradient-boosting"),
)
MEMBERS = ("--member", "cart", "--member", "random-subspace")
OPTIONS = {
    "id3": ("--set", "max_depth=4"),
    "generalized-linear": ("--set", "family=gamma", "--set", "link=log"),
    "negative-correlation": ("--set", "n_estimators=3"),
    "logistic": ("--set", "C=1"),  # classes of few rows may be separable
    "maximum-entropy": ("--set", "alpha=1"),
    "oblique-tree": ("--full", "--set", "max_depth=4"),
}


def require_columns(shown, names):
    """The table of the columns fits, with all names and kinds."""
    (table,) = [part for part in shown.split("\n\n") if part.startswith("column ")]
    table, _, _ = table.partition("\nsklearn-textbook: ")[0].partition("\nnote: ")
    header, *lines = table.splitlines()
    assert header.split()[:2] == ["column", "kind"]
    assert [line.split()[0] for line in lines] == list(names)
    assert {line.split()[1] for line in lines} <= {"nominal", "numeric"}


def require_width(shown):
    """No line is wider than the terminal; errors and warnings are one line each."""
    lines = re.sub(r".*\r", "", shown).splitlines()  # what a progress bar leaves
    wide = [line for line in lines if len(line.rstrip()) > 80]
    assert not [line for line in wide if not line.startswith("sklearn-textbook: ")]


class Session:
    """Fitting an algorithm to a table, showing the model, and using it."""

    def __init__(self, name, algorithm, folder):
        self.algorithm, self.table = algorithm, TABLES[name]
        self.kind = algorithm.removesuffix("-regressor")
        frame = pd.read_csv(DATA / f"{name}.csv")
        if self.kind in COMPLETE:
            frame = frame.dropna()
        frame = frame.sample(min(len(frame), MOST_ROWS), random_state=0)
        self.new = frame.sample(frac=0.4, random_state=0)
        self.folder = folder / algorithm
        self.folder.mkdir()
        frame.drop(self.new.index).to_csv(self.folder / "table.csv", index=False)
        self.new.to_csv(self.folder / "new.csv", index=False)
        self.is_class = self.kind == algorithm and can_predict(algorithm, True)
        self.target = self.table.label if self.is_class else self.table.number
        self.columns = self.table.columns
        if self.kind == "lda":
            is_number = pd.api.types.is_numeric_dtype
            self.columns = [c for c in self.columns if is_number(frame[c])]

    def list_commands(self):
        targets = {self.table.label, self.table.number} - {self.target, None}
        left_out = {*self.table.drop, *targets}
        left_out |= {*self.table.columns} - {*self.columns}
        path = Path(self.algorithm)
        return [
            (
                *("fit", path / "table.csv", "--target", self.target),
                *("--algorithm", self.algorithm),
                *(("--drop", ",".join(sorted(left_out))) if left_out else ()),
                *("--cv", "2", "--save", path / "m.json"),
                *(("--trees", "10") if self.kind in MANY else ()),
                *OPTIONS.get(self.kind, ()),
                *(MEMBERS if self.kind in COMBINATIONS else ()),
            ),
            ("show", path / "m.json"),
            ("predict", path / "m.json", path / "new.csv", "-o", path / "out.csv"),
        ]

    def check(self, fitted, shown, used):
        """Check what the commands printed, and the predictions."""
        for code, text in (fitted, shown, used):
            assert code == 0, f"{self.algorithm}: {text}"
        require_columns(fitted[1], self.columns)
        require_width(fitted[1])
        require_width(shown[1])
        assert "cross-validated" in fitted[1]
        predicted = pd.read_csv(self.folder / "out.csv")["prediction"].to_numpy()
        assert len(predicted) == len(self.new)
        true = self.new[self.target]
        if self.is_class:
            accuracy = (predicted == true.to_numpy()).mean()
            assert accuracy > self.table.least_accuracy, self.algorithm
        else:
            known = true.notna().to_numpy()
            off = abs(predicted[known] - true.to_numpy()[known]).mean()
            assert off < self.table.greatest_error * true.std(), self.algorithm


@pytest.mark.parametrize(("name", "algorithms"), CASES)
def test_fit_show_and_predict(terminal_session, tmp_path, name, algorithms):
    sessions = [Session(name, each, tmp_path) for each in algorithms if each != "pca"]
    answers = terminal_session(
        *(command for session in sessions for command in session.list_commands())
    )
    for place, session in enumerate(sessions):
        session.check(*answers[3 * place : 3 * place + 3])


def test_components(terminal_session, tmp_path):
    names, commands = ("penguins", "credit", "diamonds"), []
    for name in names:
        frame = pd.read_csv(DATA / f"{name}.csv").dropna()
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
        text = frame.select_dtypes(exclude="number").columns
        commands += [
            (
                *("fit", f"{name}.csv", "--algorithm", "pca", "--save", f"{name}.json"),
                *("--drop", ",".join(text)),
            ),
            ("show", f"{name}.json"),
            ("transform", f"{name}.json", f"{name}.csv", "-o", f"{name}-scores.csv"),
        ]
    answers = terminal_session(*commands)
    for code, text in answers:
        assert code == 0, text
        require_width(text)
    for name in names:
        scores = pd.read_csv(tmp_path / f"{name}-scores.csv")
        assert len(scores) == len(pd.read_csv(tmp_path / f"{name}.csv"))


LONG = "a column name of many words, as surveys and exports of databases have them"


@pytest.fixture
def long_names(tmp_path):
    """A table with long names of columns, levels and classes."""
    frame = pd.read_csv(DATA / "penguins.csv").dropna()
    frame[LONG] = frame["bill_length_mm"] ** 2
    frame[f"{LONG}, too"] = frame["bill_depth_mm"] ** 2
    frame["species"] += " penguins of the Palmer Archipelago"
    frame.to_csv(tmp_path / "long.csv", index=False)
    return frame


NUMBERS = {
    "linear": "body_mass_g",
    "bayesian-model-averaging": "body_mass_g",
    "generalized-linear": "body_mass_g",
    "logistic": "species",
    "maximum-entropy": "species",
    "lda": "species",
    "pca": None,
}


def test_numbers_of_models_fit(terminal_session, long_names):
    commands = []
    for algorithm, target in NUMBERS.items():
        drop = "island,sex" if target == "species" else "species,island,sex"
        command = ("fit", "long.csv", "--algorithm", algorithm, "--drop", drop)
        target = ("--target", target) if target else ()
        file = f"{algorithm}.json"
        commands += [(*command, "--cv", "0", *target, "--save", file), ("show", file)]
    answers = terminal_session(*commands)
    for algorithm, fitted, shown in zip(
        NUMBERS, answers[::2], answers[1::2], strict=True
    ):
        assert fitted[0] == 0, fitted[1]
        lines = [line for line in fitted[1].splitlines() if "warning: " not in line]
        assert max(map(len, lines)) <= 80, algorithm
        assert shown[0] == 0
        assert max(map(len, shown[1].splitlines())) <= 80, algorithm
        assert "ames are shortened" in shown[1], algorithm


def test_numbers_fit_a_wider_terminal(terminal_session, long_names):
    command = ("fit", "long.csv", "--algorithm", "linear", "--target", "body_mass_g")
    drop = "species,island,sex"
    ((code, shown),) = terminal_session(
        (*command, "--drop", drop, "--cv", "0"), width=100
    )
    assert code == 0
    assert 80 < max(map(len, shown.splitlines())) <= 100


def test_all_components_are_shown(terminal, long_names):
    drop = "species,island,sex"
    code, text = terminal(
        *("fit", "long.csv", "--algorithm", "pca", "--drop", drop, "--save", "m.json")
    )
    assert code == 0
    weights = re.compile(r"\n +(pca\d +)*pca6\n")
    assert not weights.search(text)
    assert "... and 1 more column; show prints all of a saved model" in text
    code, text = terminal("show", "m.json")
    assert weights.search(text)


def test_help_fits(terminal_session):
    names = ("fit", "compare", "predict", "transform", "show", "diversity", "convert")
    commands = [["--help"], *([name, "--help"] for name in names)]
    for code, text in terminal_session(*commands):
        assert code == 0
        assert max(map(len, text.splitlines())) <= 80


def test_scores_with_costs_fit(terminal, tmp_path):
    text = (DATA / "penguins.csv").read_text("utf-8")
    (tmp_path / "penguins.csv").write_text(text, "utf-8")
    (tmp_path / "p.costs").write_text("Adelie, Gentoo: 5\nGentoo, Chinstrap: 2\n")
    code, text = terminal(
        *("fit", "penguins.csv", "--target", "species", "--cost", "p.costs"),
        *("--cv", "3"),
    )
    assert code == 0
    lines = text.splitlines()
    first = lines.index("scores")
    head, *scores = lines[first + 1 : first + 6]
    assert max(map(len, [head, *scores])) <= 80
    assert head.split() == ["accuracy", "kappa", "AUC", "cost"]
    assert [len(line.split()) for line in scores] == [8, 7, 7, 6]
    assert scores[3].startswith("  standard deviation ")
    assert "±" not in text
