"""The command line with voting, averaging and stacking of named members."""

import csv
import io
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import StratifiedKFold, cross_val_score

from sklearn_textbook.cli import main
from sklearn_textbook.cli.algorithms import ALGORITHMS, can_predict
from sklearn_textbook.cli.models import list_members
from sklearn_textbook.io import load_model
from tests.cli.test_cli_ensembles import find_score, read_iris
from tests.cli.test_terminal_session import require_width

DATA = Path(__file__).parents[1] / "data"
IRIS = ("fit", DATA / "iris.csv", "--target", "species", "--cv", 0)
WEATHER = ("fit", DATA / "weather.arff", "--target", "play", "--cv", 0)
DIAMONDS = ("fit", DATA / "diamonds.csv", "--target", "price", "--cv", 0)
GROW_MANY = (
    *("random-forest", "oblique-forest", "extra-trees", "bagging", "random-subspace"),
    *("adaboost", "gradient-boosting", "output-flipping", "output-smearing"),
)
THREE = ("--member", "c45", "--member", "forest=random-forest", "--member", "lda")


def read_members(text):
    """The lines of the table of members, without the header."""
    return re.search(r"\nmember.*\n((?:.+\n)+)", text)[1].splitlines()


def test_voting_is_fitted_saved_shown_and_used(command):
    text = command(
        *IRIS,
        *("--algorithm", "voting", *THREE, "--trees", 4, "--set", "voting=soft"),
        *("--set", "weights=[1, 2, 0.5]", "--set", "c45__max_depth=2", "--cv", 3),
        *("--set", "c45__pruning__confidence=0.1", "--save", "m.json"),
    )
    assert "\nensemble  VotingClassifier, 3 members\n" in text
    assert [line.split()[:3] for line in read_members(text)] == [
        ["c45", "1", "C45Classifier,"],
        ["forest", "2", "RandomForestClassifier,"],
        ["lda", "0.5", "LinearDiscriminantAnalysis,"],
    ]
    model = load_model("m.json")
    X, y = read_iris()
    members = dict(list_members(model))
    assert members["c45"].max_depth == 2
    assert members["c45"].pruning.confidence == 0.1
    assert members["forest"].n_estimators == len(members["forest"]) == 4
    assert find_score(text, "training") == round(model.score(X, y), 3)
    # The members of the folds are scored on the rows of the folds, too.
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    values = np.column_stack([X[name].to_numpy() for name in X.column_names])
    for where, one in (("cross-validated", model), *members.items()):
        scores = cross_val_score(one, values, y, cv=folds)
        where = where if one is model else f"  {where}"
        assert find_score(text, where) == pytest.approx(scores.mean(), abs=6e-4)

    rows = command("predict", "m.json", DATA / "iris.csv", "--proba")
    rows = list(csv.DictReader(io.StringIO(rows)))
    assert [row["prediction"] for row in rows] == model.predict(X).tolist()
    first = model.predict_proba(X)[0].tolist()
    assert [float(rows[0][f"probability_{c}"]) for c in model.classes_] == first

    shown = command("show", "m.json")
    assert shown.startswith("VotingClassifier, 3 members, predicts species\n")
    assert read_members(shown) == read_members(text)
    tree = command("show", "m.json", "--member", "c45")
    assert tree.startswith("VotingClassifier, member c45: C45Classifier, 3 leaves")
    assert "virginica (46 rows" in tree
    assert (
        command("show", "m.json", "--member", 0).partition(":")[2]
        == (tree.partition(":")[2])
    )
    rules = command("show", "m.json", "--member", "forest/3", "--as", "rules")
    assert re.match(r"IF .* THEN (setosa|versicolor|virginica) \[", rules)
    assert "LinearDiscriminant" in command("show", "m.json", "--member", "lda")


def test_every_classifier_is_a_member_and_predicts_classes(command):
    names = [name for name in ALGORITHMS if can_predict(name, True)]
    members = [f"m{place}={name}" for place, name in enumerate(names)]
    settings = [f"m{names.index(name)}__n_estimators=8" for name in GROW_MANY]
    # Without a penalty coefficients grow without end on iris.
    settings.append(f"m{names.index('logistic')}__C=1.0")
    settings.append(f"m{names.index('maximum-entropy')}__alpha=0.01")
    command(
        *(*IRIS, "--algorithm", "voting", "--save", "m.json"),
        *(word for member in members for word in ("--member", member)),
        *(word for setting in settings for word in ("--set", setting)),
    )
    X, y = read_iris()
    fitted = list_members(load_model("m.json"))
    assert [label for label, _ in fitted] == [f"m{p}" for p in range(len(names))]
    for label, member in fitted:
        assert (member.predict(X) == y).mean() > 0.9, label
        shown = command("show", "m.json", "--member", label)
        assert type(member).__name__ in shown


def test_parameters_of_the_member_that_is_meant_are_listed(command):
    members = ("--member", "cart", "--member", "random-forest")
    wrong = ("--set", "random_forest__n_estimators=5")
    error = command(*IRIS, "--algorithm", "voting", *members, *wrong, code=2)
    assert "did you mean 'random-forest__n_estimators'? It has random-forest__" in error
    assert "cart__" not in error


def test_shares_of_votes_are_the_probabilities_of_hard_voting(command):
    command(*IRIS, "--algorithm", "voting", *THREE, "--save", "m.json")
    rows = command("predict", "m.json", DATA / "iris.csv", "--proba")
    rows = list(csv.DictReader(io.StringIO(rows)))
    model, (X, _) = load_model("m.json"), read_iris()
    names = [f"probability_{label}" for label in model.classes_]
    given = [[float(row[name]) for name in names] for row in rows]
    assert given == model.vote_fractions(X).tolist()


def test_averaging_with_weights_that_are_found(command):
    text = command(
        *(*DIAMONDS, "--algorithm", "averaging", "--member", "cart"),
        *("--member", "linear", "--set", "weights=non_negative", "--save", "m.json"),
    )
    model = load_model("m.json")
    weights = [float(line.split()[1]) for line in read_members(text)]
    assert weights == [pytest.approx(weight, rel=1e-3) for weight in model.weights_]
    assert min(weights) > 0
    shown = command("show", "m.json")
    assert read_members(shown) == read_members(text)


def test_second_learner_of_stacking(command):
    arguments = (*IRIS, "--algorithm", "stacking", *THREE, "--trees", 4)
    text = command(*arguments, "--save", "m.json")
    final = load_model("m.json").final_estimator_
    assert (
        "\nsecond learner  MultiResponseLinearRegression, 9 coefficients per class\n"
        in text
    )
    for place, name in enumerate(("c45 setosa", "c45 versicolor", "c45 virginica")):
        numbers = re.search(rf"\n{name} +(.*)\n", text)[1].split()
        assert [float(number) for number in numbers] == pytest.approx(
            final.coef_[:, place].tolist(), rel=1e-3, abs=1e-9
        )
    text = command(*arguments, "--set", "final_estimator__inputs=class")
    assert re.search(r"\nintercept .*\nc45 .*\nforest .*\nlda .*\n", text)
    text = command(
        *arguments,
        *("--set", "final_estimator=cart", "--set", "final_estimator__max_depth=1"),
    )
    assert "\nsecond learner  CARTClassifier, 2 leaves, depth 1\n" in text


def test_stacking_of_two_classes_and_of_numbers(command):
    text = command(
        *(*WEATHER, "--algorithm", "stacking", "--member", "c45", "--member", "id3")
    )
    assert re.search(r"\n +yes\nintercept +\S+\nc45 +\S+\nid3 +\S+\n", text)
    text = command(
        *(*DIAMONDS, "--algorithm", "stacking-regressor", "--member", "cart"),
        *("--member", "linear", "--set", "cv=3"),
    )
    assert re.search(r"\n +coefficient\nintercept +\S+\ncart +\S+\nlinear +\S+\n", text)


def read_posterior(text):
    """The lines of the table of posterior probabilities, as lists of cells."""
    lines = re.search(r"\nposterior probabilities .*\n((?:.+\n)+)", text)[1]
    return [line.split() for line in lines.splitlines()]


def test_model_averaging_of_members(command):
    arguments = (*IRIS, "--algorithm", "bayesian-model-averaging")
    arguments += ("--member", "c45", "--member", "line=logistic", "--set", "line__C=1")
    text = command(*arguments, "--set", "prior=[1, 3]", "--save", "m.json")
    model = load_model("m.json")
    assert "\nensemble  BayesianModelAveragingClassifier, 2 members\n" in text
    table = model.posterior_table_
    head, *rows = read_posterior(text)
    assert head == ["prior", "log", "evidence", "weight"]
    for row, name in enumerate(("c45", "line")):
        assert rows[row][0] == name
        numbers = [table[key][row] for key in ("prior", "log_evidence", "weight")]
        assert [float(cell) for cell in rows[row][1:]] == [
            pytest.approx(number, rel=1e-3) for number in numbers
        ]
    assert read_posterior(command("show", "m.json")) == [head, *rows]
    text = command(*arguments, "--set", "weighting=bic")
    assert "\nposterior probabilities  weighting bic\n" in text
    columns = "prior log-likelihood parameters BIC log evidence weight"
    assert read_posterior(text)[0] == columns.split()
    shown = command("show", "m.json", "--member", "c45")
    assert "member c45: C45Classifier" in shown


def test_model_averaging_of_subsets(command):
    """The summary in fit has ten models, in show all of them."""
    text = command(
        *(*DIAMONDS, "--algorithm", "bayesian-model-averaging-regressor"),
        *("--set", "occam_window=1e9", "--set", "prior=[0.5]*9", "--save", "m.json"),
        code=2,
    )
    assert "--set prior=" in text
    text = command(
        *(*DIAMONDS, "--algorithm", "bayesian-model-averaging-regressor"),
        *("--set", "occam_window=1e9", "--save", "m.json"),
    )
    model = load_model("m.json")
    shown = command("show", "m.json")
    models = [re.findall(r"^\d\S*  BIC .*", each, re.M) for each in (text, shown)]
    assert [len(each) for each in models] == [10, len(model.weights_)]
    assert models[0] == models[1][:10]
    more = f"... and {len(model.weights_) - 10} more models; show prints all"
    assert more in text
    assert more not in shown
    assert "\ncarat " in shown
    rows = command("predict", "m.json", DATA / "diamonds.csv").splitlines()
    frame = pd.read_csv(DATA / "diamonds.csv").drop(columns="price")
    expected = model.predict(frame[model.feature_names_in_])
    assert [float(row) for row in rows[1:]] == expected.tolist()
    error = command("show", "m.json", "--as", "rules", code=2)
    assert "contains a BayesianModelAveragingRegressor, which has no tree" in error


def test_model_averaging_of_subsets_for_classes(command):
    text = command(
        *("fit", DATA / "titanic.csv", "--target", "survived", "--cv", 3),
        *("--algorithm", "bayesian-model-averaging", "--save", "m.json"),
        *("--drop", "age"),
    )
    assert "\nyes against no\n" in text
    assert find_score(text, "cross-validated") > 0.7
    rows = command("predict", "m.json", DATA / "titanic.csv", "--proba")
    rows = pd.read_csv(io.StringIO(rows))
    model = load_model("m.json")
    frame = pd.read_csv(DATA / "titanic.csv")[list(model.feature_names_in_)]
    names = [f"probability_{label}" for label in model.classes_]
    np.testing.assert_allclose(rows[names], model.predict_proba(frame))


def test_levels_not_seen_in_training(command):
    frame = pd.read_csv(DATA / "titanic.csv")
    frame.loc[:2, "class"] = "stowaway"
    frame.to_csv("new.csv", index=False)
    arguments = ("fit", DATA / "titanic.csv", "--target", "survived", "--cv", 0)
    arguments += ("--algorithm", "voting", "--member", "c45", "--save", "m.json")
    command(*arguments, "--member", "id3")
    assert main(["predict", "m.json", "new.csv", "-o", "out.csv"]) == 0
    note = "column 'class' has levels not seen in training: 'stowaway' (3 rows)"
    assert command.capsys.readouterr().err.count(note) == 1
    assert len(pd.read_csv("out.csv")) == len(frame)
    # A linear model gives them the mean effect, or refuses them.
    command(*arguments, "--member", "logistic")
    assert main(["predict", "m.json", "new.csv", "-o", "out.csv"]) == 0
    assert command.capsys.readouterr().err.count(note) == 1
    strict = ("--set", "logistic__handle_unknown=error")
    command(*arguments, "--member", "logistic", *strict)
    error = command("predict", "m.json", "new.csv", code=3)
    assert "line 2, column 'class': 'stowaway' was not seen in training" in error


def test_error_names_the_member(command):
    """Trees take missing values, the linear model does not."""
    error = command(
        *("fit", DATA / "penguins.csv", "--target", "species", "--cv", 0),
        *("--algorithm", "voting", "--member", "c45", "--member", "two=logistic"),
        code=5,
    )
    assert "this comes from the member 'two', LogisticRegression" in error
    assert "or --drop bill_length_mm," in error


def test_members_that_are_pruned(command):
    arguments = (*DIAMONDS, "--algorithm", "averaging", "--member", "cart")
    n_leaves = [
        int(re.search(r"CARTRegressor, ([\d,]+) leaves", text)[1].replace(",", ""))
        for text in (command(*arguments), command(*arguments, "--full"))
    ]
    assert n_leaves[0] < n_leaves[1]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["voting"], "--algorithm voting requires members: --member NAME"),
        (["cart", "--member", "c45"], "--member requires voting, averaging, stacking"),
        (["pca", "--member", "c45"], "--member: pca has no members"),
        (["voting", "--member", "forest"], "random-forest"),
        (["voting", "--member", "linear"], "linear does not predict classes"),
        (["voting", *["--member", "c45"] * 2], "--member c45 is given twice"),
        (["bayesian-model-averaging", "--trees", 3], "without --member grows no trees"),
        (["bayesian-model-averaging", "--full"], "without --member grows no trees"),
        (["bayesian-model-averaging", "--set", "prefit=true"], "not possible"),
        (["bayesian-model-averaging", "--set", "occam_window=0"], "'occam_window'"),
        (["voting", "--member", "a__b=c45"], "two underscores"),
        (["voting", "--member", "weights=c45"], "has a parameter of this name"),
        (
            ["stacking", "--member", "final_estimator=c45"],
            "has a parameter of this name",
        ),
        (["voting", "--member", "c45", "--trees", 3], "no member grows many trees"),
        (["voting", "--member", "lda", "--full"], "no member has a tree"),
        (["voting", "--member", "c45", "--set", "c45__x=1"], "no parameter 'x'"),
        (["voting", "--member", "c45", "--set", "x=1"], "no parameter 'x'"),
        (["voting", "--member", "c45", "--set", "rule=x"], "--set rule=x"),
        (["voting", "--member", "c45", "--set", "prefit=true"], "not possible"),
        (["voting", "--member", "c45", "--set", "reject_label=x"], "not possible"),
        (
            ["voting", "--member", "c45", "--set", "calibration=sigmoid"],
            "cannot contain",
        ),
        (["stacking", "--member", "c45", "--set", "cv=prefit"], "not possible"),
        (
            ["stacking", "--member", "c45", "--set", "final_estimator=linear"],
            "--set final_estimator=linear: linear does not predict classes",
        ),
    ],
)
def test_wrong_use(command, arguments, message):
    assert message in command(*IRIS, "--algorithm", *arguments, code=2)


def test_wrong_members_to_show(command):
    arguments = ("--algorithm", "voting", *THREE, "--trees", 4, "--save", "m.json")
    command(*IRIS, *arguments)
    for options, message in (
        (["--as", "dot"], "m.json has c45, forest, lda; choose one with --member NAME"),
        (["--member", "x"], "m.json has the members c45, forest, lda, or 0 to 2"),
        (["--member", 3], "m.json has the members c45, forest, lda, or 0 to 2"),
        (["--member", -1], "members are counted from 0"),
        (["--member", "forest", "--as", "dot"], "--member forest/0 to forest/3"),
        (["--member", "forest/4"], "from forest/0 to forest/3, got forest/4"),
        (["--member", "c45/0"], "the member c45 of m.json is not an ensemble"),
        (["--member", "lda", "--as", "rules"], "which has no tree"),
        (["--member", "c45", "--as", "json"], "omit --member"),
    ):
        assert message in command("show", "m.json", *options, code=2)
    error = command("predict", "m.json", DATA / "iris.csv", "--explain", code=2)
    assert "trees whose scores add up, but m.json contains a VotingClassifier;" in error


def test_width_of_posterior_probabilities(terminal_session, tmp_path):
    shutil.copy(DATA / "iris.csv", tmp_path)
    fit = ("fit", "iris.csv", "--target", "species", "--cv", 2)
    fit += ("--algorithm", "bayesian-model-averaging", "--save", "m.json")
    answers = terminal_session(
        (
            *(*fit, "--set", "weighting=bic", "--member", "c45"),
            *("--member", "a-member-with-a-long-name-of-many-words=cart"),
        ),
        ("show", "m.json"),
        (*fit, "--set", "max_subset_size=1"),
        ("show", "m.json"),
    )
    for code, text in answers:
        assert code == 0, text
        require_width(text)
    assert "posterior probabilities  weighting bic" in answers[1][1]
    assert "names are shortened" in answers[1][1]
    assert "P(included)" in answers[3][1]


@pytest.mark.parametrize("width", [80, 100])
def test_width_of_the_terminal(terminal_session, tmp_path, width):
    shutil.copy(DATA / "iris.csv", tmp_path)
    fitted, shown, member = terminal_session(
        (
            *("fit", "iris.csv", "--target", "species", "--algorithm", "stacking"),
            *("--cv", 2, *THREE, "--trees", 3),
            *("--member", "a-member-with-a-long-name-of-many-words=gradient-boosting"),
            *("--save", "m.json"),
        ),
        ("show", "m.json"),
        ("show", "m.json", "--member", "a-member-with-a-long-name-of-many-words"),
        width=width,
    )
    for code, text in (fitted, shown, member):
        assert code == 0, text
        lines = re.sub(r".*\r", "", text).splitlines()
        lines = [one for one in lines if not one.startswith("sklearn-textbook: ")]
        assert max(len(line.rstrip()) for line in lines) <= width
    assert "GradientBoostingClassifier" in member[1]
