"""Algorithms on real tables, in a terminal of 80 columns: fit, show, use."""

import re
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pytest

from sklearn_textbook.cli.algorithms import ALGORITHMS

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
        least_accuracy=0.5,
        greatest_error=0.4,
    ),
}
#: Every algorithm is fitted to penguins and to credit; pca has a test of its own.
CASES = [
    *(("penguins", algorithm) for algorithm in ALGORITHMS),
    *(("credit", algorithm) for algorithm in ALGORITHMS),
    *(("titanic", name) for name in ("cart", "c45", "random-forest", "logistic")),
    *(("diamonds", name) for name in ("cart-regressor", "c45", "random-forest")),
    *(("diamonds", name) for name in ("gradient-boosting", "linear")),
]
#: Models that take no missing values, or numbers only.
COMPLETE = (
    *("linear", "logistic", "generalized-linear", "maximum-entropy"),
    *("negative-correlation", "lda"),
)
MANY = (
    *("random-forest", "extra-trees", "bagging", "random-subspace"),
    *("adaboost", "boosting-tree", "gradient-boosting"),
)
OPTIONS = {
    "id3": ("--set", "max_depth=4"),
    "generalized-linear": ("--set", "family=gamma", "--set", "link=log"),
}


def require_columns(shown, names):
    """The table of the columns fits, with all names and kinds."""
    (table,) = [part for part in shown.split("\n\n") if part.startswith("column ")]
    header, *lines = table.partition("\nsklearn-textbook: ")[0].splitlines()
    assert header.split()[:2] == ["column", "kind"]
    assert [line.split()[0] for line in lines] == list(names)
    assert {line.split()[1] for line in lines} <= {"nominal", "numeric"}


def require_width(shown):
    """No line is wider than the terminal; errors and warnings are one line each."""
    lines = re.sub(r".*\r", "", shown).splitlines()  # what a progress bar leaves
    wide = [line for line in lines if len(line.rstrip()) > 80]
    assert not [line for line in wide if not line.startswith("sklearn-textbook: ")]


@pytest.mark.parametrize(("name", "algorithm"), CASES)
def test_fit_show_and_predict(terminal_session, tmp_path, name, algorithm):
    table = TABLES[name]
    kind = algorithm.removesuffix("-regressor")
    frame = pd.read_csv(DATA / f"{name}.csv")
    if kind in COMPLETE:
        frame = frame.dropna()
    new = frame.sample(frac=0.1, random_state=0)
    train = frame.drop(new.index)
    train.to_csv(tmp_path / "table.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    is_class = kind == algorithm and ALGORITHMS[kind].classifier is not None
    target = table.label if is_class else table.number
    left_out = {*table.drop, table.label, table.number} - {target, None}
    columns = table.columns
    if kind == "lda":
        columns = [c for c in columns if pd.api.types.is_numeric_dtype(frame[c])]
        left_out.update(set(table.columns).difference(columns))
    fitted, shown, used = terminal_session(
        (
            *("fit", "table.csv", "--target", target, "--algorithm", algorithm),
            *(("--drop", ",".join(left_out)) if left_out else ()),
            *("--cv", "3", "--save", "m.json"),
            *(("--trees", "10") if kind in MANY else ()),
            *OPTIONS.get(algorithm, ()),
        ),
        ("show", "m.json"),
        ("predict", "m.json", "new.csv", "-o", "out.csv"),
    )
    assert fitted[0] == 0, fitted[1]
    require_columns(fitted[1], columns)
    if ALGORITHMS[kind].has_trees:
        require_width(fitted[1])
        require_width(shown[1])
    assert "cross-validated" in fitted[1]
    assert shown[0] == 0, shown[1]
    assert used[0] == 0, used[1]
    predicted = pd.read_csv(tmp_path / "out.csv")["prediction"].to_numpy()
    assert len(predicted) == len(new)
    if is_class:
        assert (predicted == new[target].to_numpy()).mean() > table.least_accuracy
    else:
        known = new[target].notna().to_numpy()
        off = predicted[known] - new[target].to_numpy()[known]
        assert abs(off).mean() < table.greatest_error * new[target].std()


def test_components(terminal_session, tmp_path):
    frame = pd.read_csv(DATA / "penguins.csv").dropna()
    frame.to_csv(tmp_path / "penguins.csv", index=False)
    fitted, used = terminal_session(
        (
            *("fit", "penguins.csv", "--algorithm", "pca", "--save", "m.json"),
            *("--drop", "species,island,sex"),
        ),
        ("transform", "m.json", "penguins.csv", "-o", "scores.csv"),
    )
    assert fitted[0] == 0, fitted[1]
    assert used[0] == 0, used[1]
    assert len(pd.read_csv(tmp_path / "scores.csv")) == len(frame)


LONG = "a column name of many words, as surveys and exports of databases have them"


@pytest.fixture
def long_names(tmp_path):
    """A table with long names of columns, levels and classes."""
    frame = pd.read_csv(PENGUINS).dropna()
    frame[LONG] = frame["bill_length_mm"] ** 2
    frame[f"{LONG}, too"] = frame["bill_depth_mm"] ** 2
    frame["species"] += " penguins of the Palmer Archipelago"
    frame.to_csv(tmp_path / "long.csv", index=False)
    return frame


@pytest.mark.parametrize(
    ("algorithm", "target"),
    [
        ("linear", "body_mass_g"),
        ("generalized-linear", "body_mass_g"),
        ("logistic", "species"),
        ("maximum-entropy", "species"),
        ("lda", "species"),
        ("pca", None),
    ],
)
def test_numbers_of_models_fit(terminal, long_names, algorithm, target):
    drop = "island,sex" if target == "species" else "species,island,sex"
    code, shown = terminal(
        *("fit", "long.csv", "--algorithm", algorithm, "--drop", drop, "--cv", "0"),
        *(("--target", target) if target else ()),
        *("--save", "m.json"),
    )
    assert code == 0, shown
    lines = [line for line in shown.splitlines() if "warning: " not in line]
    assert max(map(len, lines)) <= 80
    for width in (80, 100):
        code, shown = terminal("show", "m.json", width=width)
        assert code == 0
        assert max(map(len, shown.splitlines())) <= width
        assert "ames are shortened" in shown


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


@pytest.mark.parametrize("command", ["fit", "compare", "predict", "transform", "show"])
def test_help_fits(terminal, command):
    code, text = terminal(command, "--help")
    assert code == 0
    assert max(map(len, text.splitlines())) <= 80


def test_scores_with_costs_fit(terminal, tmp_path):
    (tmp_path / "penguins.csv").write_text(PENGUINS.read_text("utf-8"), "utf-8")
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
