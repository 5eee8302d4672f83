"""The command line with models that are no trees: linear ones, lda and pca."""

import csv
import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.cli.algorithms import (
    ALGORITHMS,
    COMBINATIONS,
    TRANSFORMERS,
    has_trees,
)
from sklearn_textbook.io import load_model, read_model
from tests.public_api import public_estimators

DATA = Path(__file__).parents[1] / "data"
IRIS = DATA / "iris.csv"
SPECIES = ("fit", IRIS, "--target", "species")
LENGTH = ("fit", IRIS, "--target", "petal length (cm)", "--cv", 3)
MODELS = [name for name in ALGORITHMS if not has_trees(name)]


def read_csv(text):
    return list(csv.DictReader(io.StringIO(text)))


@pytest.fixture
def mixed(tmp_path):
    """A table with text, numbers and whole numbers."""
    rng = np.random.default_rng(0)
    colour = rng.choice(["red", "green", "blue"], 60)
    size = rng.normal(size=60).round(3)
    price = (10 + 2 * size + (colour == "red") + rng.normal(size=60)).round(2)
    frame = pd.DataFrame({"colour": colour, "size": size, "price": price})
    frame["sold"] = np.where(price + rng.normal(size=60) > 10, "yes", "no")
    frame.to_csv(tmp_path / "mixed.csv", index=False)
    return frame


def test_every_estimator_is_an_algorithm():
    algorithms = {**ALGORITHMS, **COMBINATIONS, **TRANSFORMERS}
    named = {row.name for rows in algorithms.values() for row in rows.values()}
    # The default second learner of stacking, and what pca does without centring.
    others = {"MultiResponseLinearRegression", "TruncatedSVD"}
    assert named == set(public_estimators()) - others


def test_algorithms_without_trees():
    assert [
        "negative-correlation",
        *("linear", "logistic", "generalized-linear", "ordinal", "elastic-net"),
        *("maximum-entropy", "lda"),
    ] == MODELS


@pytest.mark.parametrize("algorithm", MODELS)
def test_fit_show_predict(command, mixed, algorithm):
    is_number = "classes" not in ALGORITHMS[algorithm]
    target, other = ("price", "sold") if is_number else ("sold", "price")
    drop = f"{other},colour" if algorithm == "lda" else other
    options = ("--target", target, "--drop", drop, "--algorithm", algorithm)
    text = command("fit", "mixed.csv", *options, "--cv", 3, "--save", "m.json")
    assert read_model("m.json").target == target
    model = load_model("m.json")
    size = "10 members"
    if hasattr(model, "coef_"):
        size = f"{np.shape(model.coef_)[-1]} coefficient"
    assert f"\n\nmodel  {type(model).__name__}, {size}" in text
    assert "\ntraining" in text
    assert "\ncross-validated" in text
    shown = command("show", "m.json")
    assert shown.startswith(f"{type(model).__name__}, {size}")
    assert f"predicts {target}" in shown
    for printed in (text, shown):
        is_without = hasattr(model, "thresholds_") or not hasattr(model, "coef_")
        assert is_without or "intercept" in printed
        assert "size" in printed
        if algorithm != "lda":
            assert "colour=" in printed
    if hasattr(model, "summary"):
        assert all(line.rstrip() in text for line in model.summary().splitlines())
    rows = read_csv(command("predict", "m.json", "mixed.csv"))
    X = mixed.drop(columns=[target, *drop.split(",")])
    expected = [str(value) for value in model.predict(X).tolist()]
    assert [row["prediction"] for row in rows] == expected


def test_order_of_the_classes(command):
    """As --ordinal declares it, or the dtype of a column of ordered categories."""
    rng = np.random.default_rng(0)
    score = rng.normal(size=120)
    codes = np.digitize(score + rng.logistic(size=120), [-1.0, 1.0])
    pain = np.array(["none", "some", "much"])[codes]
    frame = pd.DataFrame({"dose": score.round(3), "pain": pain})
    frame.to_csv("pain.csv", index=False)
    options = ("--target", "pain", "--algorithm", "ordinal", "--cv", 0)
    ordered = ("--ordinal", "pain=none<some<much")
    text = command("fit", "pain.csv", *options, *ordered, "--save", "m.json")
    assert "classes: none < some < much" in " ".join(text.split())
    model = load_model("m.json")
    assert model.class_order_.tolist() == ["none", "some", "much"]
    assert model.coef_[0] > 0.5
    given = ("--set", "class_order=['much', 'some', 'none']")
    text = command("fit", "pain.csv", *options, *ordered, *given)
    assert "classes: much < some < none" in " ".join(text.split())
    levels = pd.CategoricalDtype(["none", "some", "much"], ordered=True)
    frame.astype({"pain": levels}).to_parquet("pain.parquet")
    text = command("fit", "pain.parquet", *options)
    assert "classes: none < some < much" in " ".join(text.split())
    text = command("fit", "pain.csv", *options)
    assert "note: the classes are sorted, much<none<some; another order is" in text
    text = command("fit", "pain.csv", *options, "--memory", "64MB")
    assert "note: the classes are sorted, much<none<some; another order is" in text
    compared = ("compare", "pain.csv", "--target", "pain", "--cv", 3)
    text = command(*compared, "--algorithms", "ordinal,logistic", *ordered)
    assert "classes are sorted" not in text


def test_coefficients_of_many_classes(command):
    text = command(*SPECIES, "--algorithm", "lda", "--save", "m.json")
    shown = command("show", "m.json")
    for printed in (text, shown):
        assert "setosa  versicolor  virginica" in " ".join(printed.split("\n"))
    rows = read_csv(command("transform", "m.json", IRIS))
    assert list(rows[0]) == [
        "lineardiscriminantanalysis0",
        "lineardiscriminantanalysis1",
    ]


def test_parameters_of_models(command):
    settings = ("--set", "alpha=2.5", "--set", "fit_intercept=false")
    command(*LENGTH, "--drop", "species", "--algorithm", "linear", *settings)
    error = command(*LENGTH, "--algorithm", "linear", "--set", "alfa=1", code=2)
    assert "has no parameter 'alfa'; did you mean 'alpha'?" in error
    error = command(*LENGTH, "--algorithm", "linear", "--set", "alpha=-1", code=2)
    assert "--set alpha=-1: The 'alpha' parameter must be" in error
    error = command(*LENGTH, "--algorithm", "linear", "--trees", 3, code=2)
    assert "--trees: linear grows no trees" in error
    error = command(*LENGTH, "--algorithm", "linear", "--full", code=2)
    assert "--full: linear has no tree" in error


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            (*SPECIES, "--algorithm", "linear"),
            5,
            "linear predicts numbers, but the target is not numeric; logistic predicts",
        ),
        ((*LENGTH, "--algorithm", "logistic"), 5, "logistic predicts classes, but the"),
        (
            (*LENGTH, "--algorithm", "pca", "--test", IRIS),
            2,
            "pca makes no predictions",
        ),
        (
            ("fit", IRIS, "--algorithm", "pca"),
            5,
            "pca requires numeric columns; use --set categorical_features=from_dtype",
        ),
        (
            ("fit", DATA / "titanic.csv", "--target", "survived", "--algorithm", "lda"),
            5,
            "titanic.csv: lda requires numeric columns, and there are none; use --set",
        ),
        (
            ("fit", DATA / "diamonds.csv", "--target", "price", "--algorithm", "lda"),
            5,
            "'price': lda predicts classes, but the target has 1,428 distinct numbers;",
        ),
        (
            ("fit", DATA / "weather.arff", "--target", "play", "--algorithm", "lda"),
            5,
            "indicators of the levels, or --drop outlook,",
        ),
        (("show", "m.json", "--as", "rules"), 2, "a MaxEntClassifier, which has no tr"),
        (("show", "m.json", "--tree", 0), 2, "MaxEntClassifier, which has no tree"),
        (
            ("predict", "m.json", IRIS, "--explain"),
            2,
            "--explain requires trees, but m.json contains a Ma",
        ),
        (("transform", "m.json", IRIS), 2, "MaxEntClassifier, which has no compo"),
        (
            ("predict", "p.json", IRIS),
            2,
            "contains a PCA, which makes no predictions; use",
        ),
        (("transform", "p.json", DATA / "golf.names"), 3, "which the model needs"),
    ],
)
def test_what_is_refused(command, arguments, code, message):
    if "m.json" in arguments:
        options = ("--set", "alpha=1", "--cv", 0, "--save", "m.json")
        command(*SPECIES, "--algorithm", "maximum-entropy", *options)
    if "p.json" in arguments:
        drop = ("--target", "species")
        command("fit", IRIS, "--algorithm", "pca", *drop, "--save", "p.json")
    error = command(*arguments, code=code)
    assert message in error
    assert error.count("\n") == error.count("sklearn-textbook: ")


def test_missing_values_name_their_column(command, tmp_path):
    rows = ["x,z,y", *(f"{i},{i * i % 7},{i % 3}.5" for i in range(20)), ",1,2.5"]
    (tmp_path / "gap.csv").write_text("\n".join(rows) + "\n")
    fit = ("fit", "gap.csv", "--target", "y", "--cv", 0, "--algorithm", "linear")
    refused = "gap.csv: column 'x' has missing values, which the model does not accept"
    remedy = (
        "use --set missing=mean to fill in means with an indicator, --set "
        "missing=drop to leave the rows out, or --drop x"
    )
    trees = "; trees accept missing values\n"
    assert f"{refused}; {remedy}{trees}" in command(*fit, code=5)
    stacking = ("--algorithm", "stacking", "--member", "cart", "--member", "linear")
    error = command(*fit, *stacking, code=5)
    assert "the member 'linear', LinearRegression; use --set missing=mean" in error
    error = command("fit", "gap.csv", "--algorithm", "pca", code=5)
    assert error.endswith(f"{refused}; {remedy}\n")
    folds = ("--target", "y", "--algorithms", "cart,linear")
    strict = ("--set", "linear__missing=error")
    text = command("compare", "gap.csv", *folds, *strict)
    assert re.search(r"\nlinear +- +- +- +refused\n", text)
    assert re.search(r"\ncart +\S+ ± .* seconds\n", text)
    assert "linear: column 'x' has missing values" in text
    strict = ("--set", "missing=error")
    error = command("compare", "gap.csv", *folds[:-1], "linear", *strict, code=5)
    assert "linear: column 'x' has missing values" in error
    assert "--algorithms chooses others\n" in error
    for missing, n_rows in (("mean", 21), ("drop", 20)):
        text = command(*fit, "--set", f"missing={missing}")
        assert re.search(rf"\ntraining .* {n_rows} rows\n", text)
        note = "\nnote: 1 row with missing values left out\n"
        assert (note in text) == (missing == "drop")
        assert ("missing(x)" in text) == (missing == "mean")
    text = command("fit", "gap.csv", "--algorithm", "pca", "--set", "missing=mean")
    assert "missing(x)" in text


@pytest.mark.parametrize("algorithm", ["linear", "pca"])
def test_missing_values_of_new_rows_name_their_line(command, tmp_path, algorithm):
    rows = ["x,z,y", *(f"{i / 2},{i * i % 7},{i % 3}.5" for i in range(20))]
    (tmp_path / "full.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "gap.csv").write_text("\n".join([*rows, ",1,2.5"]) + "\n")
    fit = ("fit", "full.csv", "--target", "y", "--cv", 0, "--algorithm", algorithm)
    command(*fit, "--save", "m.json")
    use = "transform" if algorithm == "pca" else "predict"
    error = command(use, "m.json", "gap.csv", code=3)
    assert "gap.csv, line 22, column 'x': the value is missing, which the" in error


def test_a_level_of_a_single_fold(command, tmp_path):
    rows = ["c,x,y", *(f"{'ab'[i % 2]},{i},{i * i % 7}.5" for i in range(19)), "z,1,2"]
    (tmp_path / "rare.csv").write_text("\n".join(rows) + "\n")
    table = ("rare.csv", "--target", "y", "--cv", 2)
    fit = ("fit", *table, "--algorithm", "linear")
    strict = ("--set", "handle_unknown=error")
    error = command(*fit, *strict, code=5)
    assert "cross-validation: Column 'c' of a fold has the level 'z'" in error
    assert error.endswith("handle_unknown=mean accepts it; --cv 0 leaves it out\n")
    assert "cross-validated" in command(*fit)
    assert "linear" in command("compare", *table, "--algorithms", "linear")


def test_components(command):
    options = ("--target", "species", "--set", "n_components=2")
    fit = ("fit", IRIS, "--algorithm", "pca", *options, "--set", "standardize=true")
    text = command(*fit, "--save", "p.json")
    model = load_model("p.json")
    assert "\n\ncomponents  PCA, 2 components\n" in text
    for printed in (text, command("show", "p.json")):
        assert "pca0    2.9185  0.730       0.730\n" in printed
        assert "\nloadings  coefficients of the columns in the components\n" in printed
        assert "\nsepal width (cm)" in printed
    rows = read_csv(command("transform", "p.json", IRIS))
    assert list(rows[0]) == ["species", "pca0", "pca1"]
    X = pd.read_csv(IRIS, sep=";").drop(columns="species")
    expected = model.transform(X)
    found = [[float(row["pca0"]), float(row["pca1"])] for row in rows]
    np.testing.assert_array_equal(found, expected)
    command(
        "transform", "p.json", IRIS, "-o", "scores.parquet", "--id", "petal width (cm)"
    )
    frame = pd.read_parquet("scores.parquet")
    assert frame.columns.tolist() == ["species", "petal width (cm)", "pca0", "pca1"]


def test_components_of_columns_in_different_units(command):
    fit = ("fit", DATA / "diamonds.csv", "--algorithm", "pca")
    fit += ("--drop", "cut,color,clarity")
    assert "note: column 'price' has by far the largest variance" in command(*fit)
    assert "variance and" not in command(*fit, "--set", "standardize=true")
    assert "variance and" not in command("fit", IRIS, *fit[2:4], "--drop", "species")


def test_many_components_are_cut_on_fit_only(command, tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.normal(size=(99, 50))).add_prefix("column ")
    frame.to_csv(tmp_path / "wide.csv", index=False)
    text = command("fit", "wide.csv", "--algorithm", "pca", "--save", "p.json")
    assert "... and 10 more rows; show prints all of a saved model" in text
    assert "... and 44 more columns; show prints" in text
    shown = command("show", "p.json")
    assert "more rows" not in shown
    assert "\ncolumn 49 " in shown


def test_weights(command, mixed, tmp_path):
    mixed["weight"] = np.arange(60) % 3
    mixed.to_csv("weighted.csv", index=False)
    drop = ("--drop", "colour,sold", "--weight", "weight")
    command("fit", "weighted.csv", "--algorithm", "pca", *drop, "--save", "p.json")
    model = load_model("p.json")
    assert model.n_samples_ == mixed["weight"].sum()
    assert model.feature_names_in_.tolist() == ["size", "price"]


def test_compare_takes_them_by_name(command):
    names = ("--algorithms", "cart,linear,generalized-linear", "--drop", "species")
    text = command("compare", *LENGTH[1:], *names)
    assert "\nlinear " in text
    assert "\ngeneralized-linear " in text
    text = command("compare", *LENGTH[1:], "--trees", 2)
    assert "\nlinear " in text
    assert "generalized-linear" not in text
