"""The command line with ensembles: what is printed, kept, predicted and refused."""

import csv
import io
import json
import re
import shutil
import warnings
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import r2_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

from sklearn_textbook.cli import compare
from sklearn_textbook.cli.algorithms import ALGORITHMS as CLI_ALGORITHMS
from sklearn_textbook.cli.algorithms import has_trees, make_estimator
from sklearn_textbook.cli.models import (
    compute_importances,
    report_importances,
)
from sklearn_textbook.cli.output import Output
from sklearn_textbook.cli.scoring import Scorer, score_out_of_bag
from sklearn_textbook.ensemble import (
    BaggingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.io import load_model, read_table, save_model
from sklearn_textbook.tree import CARTClassifier, export_graphviz, export_rules
from sklearn_textbook.tree import export_text as write_tree

DATA = Path(__file__).parents[1] / "data"
IRIS = ("fit", DATA / "iris.csv", "--target", "species")
ALGORITHMS = (
    *("random-forest", "oblique-forest", "extra-trees"),
    *("bagging", "random-subspace"),
)
SEES_ROWS = ("random-forest", "oblique-forest", "bagging")


def read_iris():
    table = read_table(DATA / "iris.csv").frame
    return table.drop_columns(["species"]), np.array(table["species"].to_pylist())


def find_score(text, where):
    """The first number of a line of the scores."""
    return float(re.search(rf"\n{where} +(-?[\d.]+)", text)[1])


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_fit_predict_show(command, algorithm):
    text = command(
        *IRIS,
        *("--algorithm", algorithm, "--trees", 12, "--cv", 3, "--save", "m.json"),
    )
    model = load_model("m.json")
    X, y = read_iris()
    assert len(model) == model.n_estimators == 12
    kind = "oblique" if algorithm == "oblique-forest" else "CART"
    assert f"\n\nensemble  {type(model).__name__}, 12 {kind} trees\n" in text
    assert "\ntree  " not in text
    assert "\nrules  " not in text
    leaves = [member.get_n_leaves() for member in model]
    sizes = re.search(r"\nleaves of a tree +([\d.]+) +([\d.]+) +([\d.]+)\n", text)
    expected = [min(leaves), np.median(leaves), max(leaves)]
    assert [float(size) for size in sizes.groups()] == expected
    assert find_score(text, "training") == round(model.score(X, y), 3)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    known = [(y[one], y[two]) for one, two in folds.split(y[:, np.newaxis], y)]
    assert len(known) == 3
    values = np.column_stack([X[name].to_numpy() for name in X.column_names])
    scores = cross_val_score(model, values, y, cv=folds)
    assert find_score(text, "cross-validated") == pytest.approx(scores.mean(), abs=6e-4)
    assert ("\nout-of-bag  " in text) == (algorithm in SEES_ROWS)
    assert "\nconfusion matrix  cross-validated\n" in text

    rows = command("predict", "m.json", DATA / "iris.csv", "--proba")
    rows = list(csv.DictReader(io.StringIO(rows)))
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    first = model.predict_proba(X)[0].tolist()
    assert [float(rows[0][f"probability_{c}"]) for c in model.classes_] == first

    shown = command("show", "m.json")
    title = f"{type(model).__name__}, 12 {kind} trees, predicts species\n"
    assert shown.startswith(title)
    importances = text[text.index("\nimportances") : text.index("\n\nscores")]
    assert importances.splitlines()[2:] == shown.splitlines()[-5:]


def test_importances_are_those_of_the_ensemble(command):
    command(*IRIS, *("--algorithm", "random-forest", "--cv", 0, "--save", "m.json"))
    model = load_model("m.json")
    text = command("show", "m.json")
    lines = re.findall(r"\n(\S.*\S) +(\d\.\d{3})  (=*)", text)
    order = np.argsort(-model.feature_importances_)
    assert [name for name, _, _ in lines] == model.feature_names_in_[order].tolist()
    shares = [float(share) for _, share, _ in lines]
    np.testing.assert_allclose(shares, model.feature_importances_[order], atol=6e-4)
    bars = [len(bar) for _, _, bar in lines]
    assert bars[0] == max(bars) == 24
    assert bars == [
        round(24 * s / max(shares)) for s in model.feature_importances_[order]
    ]


def test_importances_of_members_of_some_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X[:, 2] > 0
    model = BaggingClassifier(
        n_estimators=5, max_features=2, bootstrap_features=True, random_state=0
    )
    importances = compute_importances(model.fit(X, y))
    expected = np.zeros(3)
    for member, columns in zip(model, model.estimators_features_, strict=True):
        for column, share in zip(columns, member.feature_importances_, strict=True):
            expected[column] += share
    np.testing.assert_allclose(importances, expected / expected.sum(), rtol=1e-12)
    constant = BaggingClassifier(n_estimators=2).fit(np.zeros((4, 2)), [0, 1, 0, 1])
    assert compute_importances(constant).tolist() == [0.0, 0.0]


def test_long_lists_of_importances_are_cut(capsys):
    names = [f"c{i}" for i in range(5)]
    shares = np.array([0.1, 0.4, 0.0, 0.4, 0.1])
    Output().write(report_importances(names, shares, 3))
    text = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in text[1:4]] == [
        ["c1", "0.400"],
        ["c3", "0.400"],
        ["c0", "0.100"],
    ]
    assert text[4] == "... and 2 more columns with 0.100 together"
    Output().write(report_importances(names[:1], np.zeros(1)))
    assert capsys.readouterr().out.splitlines()[1].split() == ["c0", "0.000"]


# ------------------------------------------------------------------ out of bag
def test_out_of_bag_score_is_that_of_the_ensemble(command):
    text = command(
        *IRIS, *("--algorithm", "bagging", "--trees", 60, "--save", "m.json")
    )
    model = load_model("m.json")
    assert model.oob_score
    assert find_score(text, "out-of-bag") == round(model.oob_score_, 3)
    assert re.search(r"\nout-of-bag .* 150 rows\n", text)
    shown = command("show", "m.json")
    assert f"\nout-of-bag score {model.oob_score_:.4g}, error " in shown


@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_only_rows_that_were_judged_are_scored():
    X, y = load_diabetes(return_X_y=True)
    model = RandomForestRegressor(3, oob_score=True, random_state=0).fit(X, y)
    seen = np.zeros((3, len(y)), dtype=bool)
    for number, rows in enumerate(model.estimators_samples_):
        seen[number, rows] = True
    judged = ~seen.all(axis=0)
    assert 0 < judged.sum() < len(y)
    score = score_out_of_bag(Scorer(None), model, y)
    assert score.means["R2"] == r2_score(y[judged], model.oob_prediction_[judged])
    assert score.note == f"{judged.sum()} rows"
    labels = np.where(y > 140, "high", "low")
    forest = RandomForestClassifier(3, oob_score=True, random_state=0).fit(X, labels)
    score = score_out_of_bag(Scorer(forest.classes_), forest, labels)
    said = forest.classes_[forest.oob_decision_function_.argmax(axis=1)]
    assert score.means["accuracy"] == np.mean((said == labels)[judged])
    without = RandomForestClassifier(3).fit(X, labels)
    assert score_out_of_bag(Scorer(without.classes_), without, labels) is None


def test_few_trees_warn_of_nothing(command):
    arguments = ("--algorithm", "random-forest", "--trees", 2, "--cv", 2)
    text = command(*IRIS, *arguments)
    assert command.capsys.readouterr().err == ""
    judged = int(re.search(r"\nout-of-bag .* (\d+) rows\n", text)[1])
    assert 0 < judged < 150


@pytest.mark.parametrize("algorithm", ["boosting-tree", "gradient-boosting"])
def test_boosting(command, algorithm):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.assign(y=y).to_csv("d.csv", index=False)
    arguments = ("--algorithm", algorithm, "--trees", 15, "--set", "max_depth=2")
    text = command(*("fit", "d.csv", "--target", "y", *arguments, "--save", "m.json"))
    model = load_model("m.json")
    name = type(model).__name__
    assert (len(model), model.max_depth) == (15, 2)
    assert f"\nensemble  {name}, 15 CART trees\n" in text
    assert find_score(text, "training") == round(model.score(X, y), 3)
    assert "\nout-of-bag" not in text
    predicted = command("predict", "m.json", "d.csv").split()[1:]
    assert [float(value) for value in predicted] == model.predict(X).tolist()
    assert command("show", "m.json", "--member", 14).startswith(f"{name}, member 14: ")


def test_boosting_of_several_classes(command):
    arguments = ("--algorithm", "gradient-boosting", "--trees", 4, "--cv", 0)
    text = command(*IRIS, *arguments, "--save", "m.json")
    assert "\nensemble  GradientBoostingClassifier, 12 CART trees\n" in text
    model = load_model("m.json")
    shown = command("show", "m.json", "--member", 5)
    assert shown.split("\n", 1)[1] == write_tree(
        model.estimators_[1, 2], max_depth=None
    )
    error = command("show", "m.json", "--member", 12, code=2)
    assert "--member must be from 0 to 11, got 12" in error


def test_adaboost(command):
    arguments = ("--algorithm", "adaboost", "--trees", 9, "--cv", 0, "--save", "m.json")
    text = command(*IRIS, *arguments)
    assert "\nensemble  AdaBoostClassifier, 9 CART trees\n" in text
    assert load_model("m.json").estimators_[0].get_depth() == 1
    command(*IRIS, *arguments, "--set", "estimator=cart", "--set", "max_depth=2")
    model = load_model("m.json")
    assert model.estimators_[0].get_depth() == 2
    X, _ = read_iris()
    lines = command("predict", "m.json", DATA / "iris.csv").splitlines()
    assert lines == ["prediction", *model.predict(X).tolist()]


def test_output_codes(command):
    arguments = ("--algorithm", "output-codes", "--save", "m.json")
    text = command(*IRIS, *arguments, "--set", "code=one_vs_rest")
    assert "\nensemble  OutputCodeClassifier, 3 CART trees\n" in text
    model, (X, _) = load_model("m.json"), read_iris()
    lines = command("predict", "m.json", DATA / "iris.csv").splitlines()
    assert lines == ["prediction", *model.predict(X).tolist()]
    error = command("predict", "m.json", DATA / "iris.csv", "--proba", code=2)
    assert "m.json has no probabilities; fit it with --set decoding=prob" in error
    error = command(*IRIS, *arguments, "--trees", 4, code=2)
    assert "--trees: output-codes grows a tree for each column of the code" in error
    Path("t.costs").write_text("setosa, virginica: 5\n")
    cost = ("--cv", 0, "--cost", "t.costs")
    error = command(*IRIS, *arguments, *cost, code=2)
    assert "OutputCodeClassifier has no probabilities" in error
    settings = ("--set", "decoding=probability", "--set", "estimator=c45")
    command(*IRIS, *arguments, *cost, *settings)
    shares = command("predict", "m.json", DATA / "iris.csv", "--proba").splitlines()
    assert len(shares) == 151


def test_boosting_trees_of_classes_are_refused(command):
    shutil.copy(DATA / "iris.csv", "iris.csv")
    arguments = ("--target", "species", "--algorithm", "boosting-tree")
    error = command("fit", "iris.csv", *arguments, code=5)
    assert error == (
        "sklearn-textbook: iris.csv, column 'species': boosting-tree predicts numbers, "
        "but the target is not numeric; gradient-boosting predicts classes\n"
    )
    error = command(
        "fit", "iris.csv", *arguments[:3], "boosting-tree-regressor", code=2
    )
    assert "regressor' is unknown; did you mean 'boosting-tree'?" in error


# --------------------------------------------------------------------- options
@pytest.mark.parametrize(("form", "ending"), [("sql", "sql"), ("python", "py")])
def test_code_of_all_trees_is_named(command, form, ending):
    options = ("--algorithm", "random-forest", "--trees", 3, "--save", "m.json")
    command(*IRIS, *options)
    message = command("show", "m.json", "--as", form, code=2)
    convert = f"convert m.json m.{ending}"
    assert f"or write all of them with sklearn-textbook {convert}; see" in message
    command(*convert.split())
    assert "convert" not in command("show", "m.json", "--as", "dot", code=2)


def test_settings_reach_the_ensemble_and_its_members(command):
    command(
        *IRIS,
        *("--algorithm", "bagging", "--cv", 0, "--seed", 7, "--jobs", 1),
        *("--set", "max_depth=2", "--set", "max_samples=0.5", "--set", "voting=hard"),
        *("--set", "pruning=error_based", "--set", "pruning__confidence=0.1"),
        *("--save", "m.json"),
    )
    model = load_model("m.json")
    assert (model.n_estimators, model.max_samples, model.voting) == (10, 0.5, "hard")
    assert (model.random_state, model.estimator.max_depth) == (7, 2)
    assert model.estimator.pruning.confidence == 0.1
    assert max(member.get_depth() for member in model) == 2


@pytest.mark.parametrize(
    ("algorithm", "settings", "judges"),
    [
        ("random-forest", [], True),
        ("random-forest", [("bootstrap", False)], False),
        ("random-forest", [("oob_score", False)], False),
        ("random-forest", [("oob_score", "f1_macro")], "f1_macro"),
        ("random-forest", [("warm_start", True)], False),
        ("extra-trees", [], False),
        ("extra-trees", [("bootstrap", True)], True),
        ("bagging", [("bootstrap", False)], False),
    ],
)
def test_ensembles_judge_themselves_where_they_can(algorithm, settings, judges):
    estimator = make_estimator(algorithm, True, settings, 0)
    assert estimator.oob_score == judges


@pytest.mark.parametrize("is_classes", [True, False])
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_ensemble_is_made(algorithm, is_classes):
    estimator = make_estimator(algorithm, is_classes, [("max_depth", 1)], 3, 4, 1)
    params = estimator.get_params()
    assert (params["n_estimators"], params["n_jobs"], params["random_state"]) == (
        4,
        1,
        3,
    )
    assert params.get("max_depth", params.get("estimator__max_depth")) == 1
    assert type(estimator).__name__.endswith(
        "Classifier" if is_classes else "Regressor"
    )


@pytest.mark.parametrize(
    ("algorithm", "member", "trees", "name"),
    [
        ("random-subspace", "c45", "C45", "C45Classifier"),
        ("random-subspace", "oblique-tree", "oblique", "ObliqueTreeClassifier"),
        ("output-flipping", "id3", "ID3", "ID3Classifier"),
        ("output-smearing", "cart", "CART", "CARTRegressor"),
        ("output-smearing", "oblique-tree", "oblique", "ObliqueTreeRegressor"),
    ],
)
def test_members_by_name(command, algorithm, member, trees, name):
    arguments = ["fit", DATA / "golf", "--algorithm", algorithm, "--cv", 0]
    arguments += ["--trees", 10, "--save", "m.json"]
    text = command(*arguments, "--set", f"estimator={member}")
    assert re.search(rf"\nensemble  \w+, 10 {trees} trees\n", text)
    model = load_model("m.json")
    assert {type(member).__name__ for member in model} == {name}
    lines = command("predict", "m.json", DATA / "golf.data").splitlines()
    features = read_table(DATA / "golf").frame.drop_columns(["class"])
    assert lines == ["prediction", *model.predict(features).tolist()]


def test_members_of_the_wrong_kind(command):
    arguments = ("--algorithm", "output-smearing", "--set")
    for member in ("c45", "3"):
        error = command(*IRIS, *arguments, f"estimator={member}", code=2)
        assert f"--set estimator={member}: the members predict numbers" in error
        assert "they may be cart, oblique-tree, optimal-tree;" in error


def test_regression_with_identifiers_and_a_test_table(command):
    rng = np.random.default_rng(0)
    lines = ["id,x,colour,y"]
    for number in range(90):
        x, colour = rng.integers(0, 9), rng.choice(["red", "green", ""])
        lines.append(f"n{number},{x},{colour},{x + 3 * (colour == 'red'):.1f}")
    Path("train.csv").write_text("\n".join(lines[:61]))
    Path("test.csv").write_text("\n".join([lines[0], *lines[61:]]))
    text = command(
        *("fit", "train.csv", "--target", "y", "--id", "id", "--test", "test.csv"),
        *("--algorithm", "random-forest-regressor", "--trees", 20, "--save", "m.json"),
    )
    assert "\nensemble  RandomForestRegressor, 20 CART trees\n" in text
    assert find_score(text, "out-of-bag") < find_score(text, "training")
    assert find_score(text, "test") > 0.8
    predicted = command("predict", "m.json", "test.csv").splitlines()
    assert predicted[0] == "id,prediction"
    assert predicted[1].startswith("n60,")


# ------------------------------------------------------------------------ show
@pytest.fixture
def forest(command):
    arguments = ("--algorithm", "random-forest", "--trees", 3, "--cv", 0)
    command(*IRIS, *arguments, "--save", "forest.json")
    return load_model("forest.json")


def test_one_member(command, forest):
    for number, member in enumerate(forest):
        text = command("show", "forest.json", "--member", number)
        title, tree = text.split("\n", 1)
        leaves, depth = member.get_n_leaves(), member.get_depth()
        assert title == (
            f"RandomForestClassifier, member {number}: CARTClassifier, "
            f"{leaves} leaves, depth {depth}"
        )
        assert tree == write_tree(member, max_depth=None)
    rules = command("show", "forest.json", "--member", 1, "--as", "rules")
    assert rules == export_rules(forest[1])
    dot = command("show", "forest.json", "--member", 1, "--as", "dot")
    assert dot == export_graphviz(forest[1], filled=True, rounded=True)
    short = command("show", "forest.json", "--member", 2, "--max-depth-shown", 0)
    assert short.split("\n", 1)[1] == write_tree(forest[2], max_depth=0)


def test_all_that_a_file_holds(command, forest):
    document = json.loads(command("show", "forest.json", "--as", "json"))
    assert document == json.loads(Path("forest.json").read_text("utf-8"))
    assert len(document["trees"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--member", 3], "--member must be from 0 to 2, got 3"),
        (
            ["--as", "rules"],
            "--as rules writes a single tree, but forest.json has 3; choose one",
        ),
        (["--as", "dot"], "--as dot writes a single tree"),
        (
            ["--as", "json", "--member", 1],
            "--as json prints the whole file; omit --member",
        ),
        (["--member", -1], "Invalid value for '--member'"),
    ],
)
def test_what_show_refuses(command, forest, arguments, message):
    error = command("show", "forest.json", *arguments, code=2)
    assert error.startswith(f"sklearn-textbook: {message}")
    assert error.count("\n") == 1


def test_a_tree_has_no_members(command):
    X, y = read_iris()
    save_model(CARTClassifier().fit(X, y), "tree.json")
    error = command("show", "tree.json", "--member", 0, code=2)
    assert error.startswith("sklearn-textbook: --member: tree.json is not an ens")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--trees", 5], "--trees: cart grows a single tree; see"),
        (
            ["--algorithm", "bagging", "--set", "estimator=svm"],
            "--set estimator=svm: the members predict classes; they may be cart, id3",
        ),
        (
            ["--algorithm", "bagging", "--set", "max_dept=3"],
            "--set: BaggingClassifier has no parameter 'max_dept'; did you mean 'max_",
        ),
        (
            ["--algorithm", "bagging", "--set", "max_depth=0"],
            "--set max_depth=0: The 'max_depth' parameter must be",
        ),
        (
            ["--algorithm", "random-forest", "--set", "criterion=gain"],
            "--set criterion=gain: The 'criterion' parameter must be one of 'gini'",
        ),
        (["--algorithm", "random-forest", "--trees", 0], "Invalid value for '--trees'"),
        (
            ["--algorithm", "forest"],
            "Invalid value for '--algorithm': 'forest' is unknown; did you mean 'ra",
        ),
    ],
)
def test_what_fit_refuses(command, arguments, message):
    error = command(*IRIS, *arguments, code=2)
    assert error.startswith(f"sklearn-textbook: {message}")
    assert error.count("\n") == 1


def test_members_that_predict_numbers(command):
    shutil.copy(DATA / "iris.csv", "iris.csv")
    error = command(
        *("fit", "iris.csv", "--target", "sepal length (cm)"),
        *("--algorithm", "bagging-regressor", "--set", "estimator=c45"),
        code=2,
    )
    members = "they may be cart, oblique-tree, optimal-tree; see"
    assert f"the members predict numbers; {members}" in error


def test_levels_are_refused_as_by_trees(command):
    Path("train.csv").write_text("colour,y\n" + "red,a\ngreen,b\nred,a\ngreen,b\n" * 3)
    Path("new.csv").write_text("colour\nred\nblue\n")
    arguments = ("--algorithm", "random-forest", "--cv", 0)
    arguments += ("--set", "handle_unknown=error")
    command("fit", "train.csv", "--target", "y", *arguments, "--save", "m.json")
    error = command("predict", "m.json", "new.csv", code=3)
    assert "new.csv, line 3, column 'colour': 'blue' was not seen" in error


# --------------------------------------------------------------------- compare
def read_scores(text):
    """Name -> first number of the lines of the scores."""
    lines = text[text.index("\nscores") :].partition("\nnote: ")[0].splitlines()[3:]
    return {
        line.split("  ")[0]: float(line.split("  ", 1)[1].split()[0]) for line in lines
    }


def test_compare_scores_as_fit_does(command):
    arguments = ("--target", "species", "--cv", 4, "--seed", 3, "--trees", 7)
    text = command("compare", DATA / "iris.csv", *arguments)
    assert "\nscores  cross-validated, the same 4 stratified folds\n" in text
    scores = read_scores(text)
    trees = {name: rows for name, rows in CLI_ALGORITHMS.items() if has_trees(name)}
    of_classes = [name for name, rows in trees.items() if "classes" in rows]
    of_classes.remove("optimal-tree")  # a search may take a minute
    assert list(scores) == ["majority class", *of_classes, "logistic"]
    for name in ("c45", "extra-trees"):
        few = ("--trees", 7) if name == "extra-trees" else ()
        fitted = command(*IRIS, *("--algorithm", name, "--cv", 4, "--seed", 3), *few)
        assert scores[name] == find_score(fitted, "cross-validated")


def test_compare_on_numbers_and_few_rows(command):
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    X.assign(y=y).iloc[:60].to_csv("d.csv", index=False)
    text = command("compare", "d.csv", "--target", "y", "--cv", 2, "--trees", 3)
    assert "the same 2 folds\n" in text
    boosting = ("boosting-tree", "gradient-boosting")
    assert list(read_scores(text)) == [
        *("mean", "cart", "oblique-tree"),
        *ALGORITHMS,
        *boosting,
        "linear",
    ]
    text = command("compare", DATA / "golf", "--algorithms", "id3,bagging-classifier")
    assert "\nnote: 9 folds instead of 10: the largest class has 9 rows\n" in text
    assert "\nid3  " in text
    assert "\nbagging-classifier  " in text
    assert "\ncart  " not in text


@pytest.mark.parametrize(
    ("algorithms", "code", "message"),
    [
        ("c45,baging", 2, "--algorithms: 'baging' is unknown; did you mean 'bagging'?"),
        (
            "id3-regressor",
            2,
            "--algorithms: 'id3-regressor' is unknown; there are: 'cart'",
        ),
        (
            "cart,id3,bagging-regressor",
            2,
            "--algorithms: bagging-regressor predicts numbers and id3 predicts",
        ),
        (
            "a=c45,a=id3",
            2,
            "--algorithms: a is given twice; NAME=ALGORITHM gives it a different name",
        ),
        ("a__b=c45", 2, "--algorithms: 'a__b=c45' has no name, or a name with two un"),
        ("=c45", 2, "--algorithms: '=c45' has no name, or a name with two underscor"),
        ("a=c46", 2, "--algorithms: 'c46' is unknown; did you mean 'c45'?"),
        (
            "cart-regressor",
            5,
            "iris.csv, column 'species': cart-regressor predicts num",
        ),
    ],
)
def test_what_compare_refuses(command, algorithms, code, message):
    shutil.copy(DATA / "iris.csv", "iris.csv")
    error = command(
        *("compare", "iris.csv", "--target", "species", "--algorithms", algorithms),
        code=code,
    )
    assert error.startswith(f"sklearn-textbook: {message}")
    assert error.count("\n") == 1


def test_compare_with_parameters(command):
    table = ("compare", DATA / "iris.csv", "--target", "species", "--cv", 3)
    text = command(
        *(*table, "--algorithms", "small=cart,cart,random-forest", "--trees", 5),
        *("--set", "small__max_depth=1", "--set", "random_forest__max_depth=2"),
    )
    assert "note:" not in text
    scores = read_scores(text)
    for name, options in {
        "small": ("--set", "max_depth=1"),
        "cart": (),
        "random-forest": (
            *("--algorithm", "random-forest", "--trees", 5, "--set", "max_depth=2"),
        ),
    }.items():
        fitted = command(*IRIS, "--cv", 3, *options)
        assert scores[name] == find_score(fitted, "cross-validated")
    # Parameters without a name are those of all that have them.
    some = (*table, "--algorithms", "cart,c45,logistic")
    text = command(
        *(*some, "--set", "max_depth=1", "--set", "pruning__confidence=0.1"),
        *("--set", "pruning=ErrorBasedPruning()"),
    )
    assert (
        "\nnote: max_depth is not set for logistic\n"
        "note: pruning is not set for logistic\n"
        "note: pruning__confidence is not set for logistic\n"
    ) in text
    text = command(*some, "--set", "C=1")
    assert text.endswith("\nnote: C is set for logistic only\n")
    error = command(*some, "--set", "dept=1", code=2)
    assert "--set: CARTClassifier has no parameter 'dept'; did you mean" in error
    error = command(*some, "--set", "c45__dept=1", code=2)
    assert "--set: C45Classifier has no parameter 'dept'; did you mean" in error


def test_missing_values_are_filled_in_for_linear_models(command):
    table = ("compare", DATA / "penguins.csv", "--target", "species", "--cv", 2)
    text = command(*table, "--algorithms", "cart,logistic,maximum-entropy")
    assert (
        "\nnote: logistic, maximum-entropy: means are filled in for missing values, "
        "with indicators (missing='mean')\n"
    ) in text
    # Warnings of the folds become notes, without the numbers of a single fold.
    assert (
        "\nnote: logistic: Complete separation: a linear score separates classes, so "
        "the likelihood has no maximum and coefficients diverge. Standard errors are "
        "meaningless. With a finite C, there is a maximum (2 folds)\n"
    ) in text
    fit = ("fit", *table[1:], "--algorithm", "logistic", "--set", "missing=mean")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        fitted = command(*fit)
    assert read_scores(text)["logistic"] == find_score(fitted, "cross-validated")
    strict = ("--set", "logistic__missing=error")
    text = command(*table, "--algorithms", "cart,logistic", *strict)
    assert re.search(r"\nlogistic +- +- +- +refused\n", text)


def test_compare_names_the_algorithm_that_fails(command, monkeypatch):
    def fail(scorer, estimator, *arguments):
        raise ValueError(f"no {type(estimator).__name__}\nhere")

    monkeypatch.setattr(compare, "cross_validate", fail)
    error = command("compare", DATA / "golf", "--algorithms", "c45", code=5)
    expected = "c45: no C45Classifier here; --algorithms chooses others"
    assert error == f"sklearn-textbook: {expected}\n"


def test_compare_needs_rows(command):
    Path("one.csv").write_text("x,y\n1,a\n2,b\n")
    error = command("compare", "one.csv", "--target", "y", code=5)
    assert error == "sklearn-textbook: one.csv: no cross-validation: too few rows\n"
