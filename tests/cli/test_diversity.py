"""The command ``diversity``."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.ensemble.diversity import diversity_report
from sklearn_textbook.io import load_model

IRIS = Path(__file__).parents[1] / "data" / "iris.csv"
FOREST = ("--algorithm", "random-forest", "--trees", 6, "--cv", 0)


@pytest.fixture
def forest(command):
    command("fit", IRIS, "--target", "species", *FOREST, "--save", "m.json")
    return "m.json"


def read_lines(text, first):
    """The numbers of the lines that begin so."""
    return [
        [float(cell) for cell in line.removeprefix(first).split()]
        for line in text.splitlines()
        if line.startswith(first)
    ]


def test_measures_of_a_forest(command, forest):
    text = command("diversity", forest, IRIS, "-o", "pairs.csv")
    frame = pd.read_csv(IRIS, sep=";")
    model = load_model("m.json")
    report = diversity_report(model, frame.drop(columns="species"), frame["species"])
    assert "iris.csv: 150 rows\n" in text
    assert "\ndiversity  RandomForestClassifier, 6 CART trees\n" in text
    assert read_lines(text, "Kohavi-Wolpert variance ") == [
        [round(report.get("kohavi_wolpert_variance"), 3)]
    ]
    kappas = report.pairwise["kappa"]
    expected = np.round([kappas.mean(), kappas.min(), kappas.max()], 3).tolist()
    assert read_lines(text, "kappa ") == [expected]
    assert "\n15 pairs  " in text
    members = np.column_stack(list(report.members.values()))
    for number, member in enumerate(members[:, 1:]):
        assert read_lines(text, f"     {number} ") == [np.round(member, 3).tolist()]
    pairs = pd.read_csv("pairs.csv")
    assert list(pairs) == list(report.pairwise)
    np.testing.assert_allclose(pairs.to_numpy(), report.pairwise.as_frame().to_numpy())


def test_members_shown(command, forest):
    text = command("diversity", forest, IRIS, "--max-members-shown", 2)
    assert "\n... and 4 more members\n" in text
    assert len(read_lines(text, "     1 ")) == 1
    assert not read_lines(text, "     2 ")
    assert "member " not in command("diversity", forest, IRIS, "--max-members-shown", 0)


def test_terminal_of_80_columns(command, forest, terminal):
    code, shown = terminal("diversity", forest, IRIS)
    assert code == 0, shown
    assert max(map(len, shown.splitlines())) <= 80
    assert "\nmember  error  disagreement  correlation " in shown


def test_members_by_name(command):
    members = ("--algorithm", "voting", "--member", "c45", "--member", "small=cart")
    options = ("--set", "small__max_depth=1", "--cv", 0, "--save", "m.json")
    command("fit", IRIS, "--target", "species", *members, *options)
    text = command("diversity", "m.json", IRIS)
    assert [line.split()[0] for line in text.splitlines()[-2:]] == ["c45", "small"]


def test_rows_without_a_target_are_left_out(command, forest):
    frame = pd.read_csv(IRIS, sep=";")
    frame.loc[3, "species"] = None
    frame.to_csv("some.csv", index=False)
    text = command("diversity", forest, "some.csv")
    assert "some.csv: 149 rows\n" in text
    assert "note: 1 row without a target left out\n" in text


def test_classes_of_numbers_and_weights(command):
    frame = pd.read_csv(IRIS, sep=";")
    frame["species"] = frame["species"].astype("category").cat.codes
    frame["w"] = np.arange(150) % 3
    frame.to_csv("numbers.csv", index=False)
    bagging = ("--algorithm", "bagging", "--trees", 4, "--cv", 0, "--weight", "w")
    command("fit", "numbers.csv", "--target", "species", *bagging, "--save", "m.json")
    text = command("diversity", "m.json", "numbers.csv")
    assert "numbers.csv: 100 rows, weighted\n" in text
    report = diversity_report(
        load_model("m.json"),
        frame.drop(columns=["species", "w"]),
        frame["species"],
        frame["w"],
    )
    assert read_lines(text, "mean error ") == [[round(report.get("mean_error"), 3)]]


def test_what_is_refused(command, forest):
    frame = pd.read_csv(IRIS, sep=";")
    frame.drop(columns="species").to_csv("without.csv", index=False)
    error = command("diversity", forest, "without.csv", code=3)
    assert "no column 'species', the target of the model" in error
    frame.assign(species=None).to_csv("empty.csv", index=False)
    error = command("diversity", forest, "empty.csv", code=3)
    assert "no row has a value of the target" in error
    frame.loc[2, "species"] = "rose"
    frame.to_csv("other.csv", index=False)
    error = command("diversity", forest, "other.csv", code=3)
    assert "line 4" in error
    assert "'rose' is not a class of the model" in error
    command("fit", IRIS, "--target", "species", "--cv", 0, "--save", "tree.json")
    error = command("diversity", "tree.json", IRIS, code=2)
    assert "tree.json contains a CARTClassifier, which has no members;" in error
    forest = ("--algorithm", "random-forest-regressor", "--trees", 2, "--cv", 0)
    length = ("fit", IRIS, "--target", "sepal length (cm)", *forest)
    command(*length, "--save", "length.json")
    error = command("diversity", "length.json", IRIS, code=2)
    assert "RandomForestRegressor; diversity is measured for classifiers;" in error
    boosting = ("--algorithm", "gradient-boosting", "--trees", 2, "--cv", 0)
    command("fit", IRIS, "--target", "species", *boosting, "--save", "gb.json")
    error = command("diversity", "gb.json", IRIS, code=2)
    assert (
        "gb.json: The members of GradientBoostingClassifier are trees fitted to "
        "gradients" in error
    )
    error = command("diversity", forest, IRIS, "-o", "pairs.unknown", code=3)
    assert "pairs.unknown" in error
