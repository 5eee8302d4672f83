"""Every algorithm on a real table, in a terminal of 80 columns: fit, show, use."""

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
