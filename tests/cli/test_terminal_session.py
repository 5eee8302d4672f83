"""Every algorithm on a real table, in a terminal of 80 columns: fit, show, use."""

import re
from pathlib import Path

import pandas as pd
import pytest

from sklearn_textbook.cli import main
from sklearn_textbook.cli.algorithms import ALGORITHMS

PENGUINS = Path(__file__).parents[1] / "data" / "penguins.csv"
COLUMNS = ("island", "bill_length_mm", "bill_depth_mm", "flipper_length_mm", "sex")
#: Models of numbers, or that take no missing values.
COMPLETE = ("linear", "logistic", "generalized-linear", "maximum-entropy", "lda")
MANY = (
    *("random-forest", "extra-trees", "bagging", "random-subspace"),
    *("adaboost", "boosting-tree", "gradient-boosting"),
)
OPTIONS = {
    "id3": ("--set", "max_depth=4"),
    "lda": ("--drop", "island,sex"),
    "generalized-linear": ("--set", "family=gamma", "--set", "link=log"),
}


def require_columns(shown, names):
    """The table of the columns fits, with all names and kinds."""
    (table,) = [part for part in shown.split("\n\n") if part.startswith("column ")]
    header, *lines = table.partition("\nsklearn-textbook: ")[0].splitlines()
    assert header.split()[:2] == ["column", "kind"]
    assert max(map(len, lines)) <= 80
    assert [line.split()[0] for line in lines] == list(names)
    assert {line.split()[1] for line in lines} <= {"nominal", "numeric"}


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_fit_show_and_predict(terminal, tmp_path, monkeypatch, algorithm):
    frame = pd.read_csv(PENGUINS)
    if algorithm in COMPLETE:
        frame = frame.dropna()
    new = frame.sample(20, random_state=0)
    frame.drop(new.index).to_csv(tmp_path / "penguins.csv", index=False)
    new.to_csv(tmp_path / "new.csv", index=False)
    is_class = ALGORITHMS[algorithm].classifier is not None
    target = "species" if is_class else "body_mass_g"
    other = "body_mass_g" if is_class else "species"
    drop = OPTIONS.get(algorithm, ())
    dropped = f"year,{other}"
    if drop[:1] == ("--drop",):
        dropped, drop = f"{dropped},{drop[1]}", ()
    code, shown = terminal(
        *("fit", "penguins.csv", "--target", target, "--algorithm", algorithm),
        *("--drop", dropped, "--cv", "3", "--save", "m.json"),
        *(("--trees", "10") if algorithm in MANY else ()),
        *drop,
    )
    assert code == 0, shown
    require_columns(shown, [name for name in COLUMNS if name not in dropped])
    assert "cross-validated" in shown
    code, shown = terminal("show", "m.json")
    assert code == 0, shown
    monkeypatch.chdir(tmp_path)
    assert main(["predict", "m.json", "new.csv", "-o", "out.csv"]) == 0
    predicted = pd.read_csv(tmp_path / "out.csv")["prediction"]
    assert len(predicted) == 20
    if is_class:
        assert (predicted.to_numpy() == new[target].to_numpy()).mean() > 0.8
    else:
        known = new[target].notna().to_numpy()
        off = predicted[known].to_numpy() - new[target][known].to_numpy()
        assert abs(off).mean() < 0.7 * new[target].std()


def test_components(terminal, tmp_path, monkeypatch):
    frame = pd.read_csv(PENGUINS).dropna()
    frame.to_csv(tmp_path / "penguins.csv", index=False)
    code, shown = terminal(
        *("fit", "penguins.csv", "--algorithm", "pca", "--drop", "species,island,sex"),
        *("--save", "m.json"),
    )
    assert code == 0, shown
    monkeypatch.chdir(tmp_path)
    assert main(["transform", "m.json", "penguins.csv", "-o", "scores.csv"]) == 0
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
