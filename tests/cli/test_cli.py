"""The command line: what it prints and writes on good tables, and its scores."""

import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_diabetes
from sklearn.metrics import (
    cohen_kappa_score,
    confusion_matrix,
    make_scorer,
    precision_recall_fscore_support,
)
from sklearn.model_selection import (
    KFold,
    StratifiedKFold,
    cross_val_predict,
    cross_val_score,
)

from sklearn_textbook._contract.registry import find_class
from sklearn_textbook.cli import main
from sklearn_textbook.cli.algorithms import ALGORITHMS, list_algorithms
from sklearn_textbook.cli.options import (
    CLASS_SCORES,
    NUMBER_SCORES,
    read_literal,
)
from sklearn_textbook.cli.output import paint_rules
from sklearn_textbook.cli.scoring import choose_folds
from sklearn_textbook.io import load_model, read_table
from sklearn_textbook.tree import (
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    ErrorBasedPruning,
    LossPruning,
    PrePruning,
    export_graphviz,
    export_rules,
    export_text,
)
from tests.cli.files import write

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data"
SCRIPT = Path(sys.executable).parent / "sklearn-textbook"
MODULE = [sys.executable, "-m", "sklearn_textbook"]


def run_process(arguments, command=MODULE, **options):
    options = {"capture_output": True, "cwd": ROOT, "timeout": 120, **options}
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "60"}
    return subprocess.run([*command, *map(str, arguments)], env=environment, **options)


# ---------------------------------------------------------- three real files
FILES = {
    "iris.csv": ("species", []),
    "weather.arff": ("play", ["--set", "categorical_split=multiway"]),
    "loan.parquet": ("decision", ["--set", "max_depth=3"]),
    "watermelon_gb18030.csv": ("好瓜", ["--id", "编号"]),
}


@pytest.mark.parametrize("name", FILES)
def test_fit_predict_show_on_real_files(command, name):
    target, options = FILES[name]
    path = DATA / name
    text = command("fit", path, "--target", target, *options, "--save", "model.json")
    model = load_model("model.json")
    table = read_table(path)
    assert text.startswith(f"{path}: {table.n_rows} rows, {table.n_columns} columns (")
    # The columns and their kinds stand before the tree.
    for column in model.feature_names_in_:
        assert 0 < text.index(f"\n{column}") < text.index("\ntree  CARTClassifier")
    assert export_text(model) in text
    assert export_rules(model) in text
    assert text.endswith("\nsaved to model.json\n")

    features = table.frame.select(list(model.feature_names_in_))
    predicted = command("predict", "model.json", path, "--proba")
    rows = list(csv.DictReader(io.StringIO(predicted)))
    assert [row["prediction"] for row in rows] == model.predict(features).tolist()
    shares = model.predict_proba(features)
    for label, share in zip(model.classes_, shares.T, strict=True):
        written = [float(row[f"probability_{label}"]) for row in rows]
        assert written == share.tolist()

    assert command("show", "model.json").endswith(export_text(model, max_depth=None))
    assert command("show", "model.json", "--as", "rules") == export_rules(model)
    dot = command("show", "model.json", "--as", "dot")
    assert dot == export_graphviz(model, filled=True, rounded=True)
    document = json.loads(command("show", "model.json", "--as", "json"))
    assert document == json.loads(Path("model.json").read_text("utf-8"))


@pytest.mark.parametrize("name", ["golf", "golf.names", "golf.data"])
def test_files_of_c45(command, name):
    text = command("fit", DATA / name, "--save", "model.json", "--cv", 3)
    assert text.startswith(
        f"{DATA}/golf.data: 14 rows, 5 columns (C4.5, golf.names)\n"
        "target class: 2 classes (Play 9, Don't Play 5)\n"
    )
    model = load_model("model.json")
    assert model.schema_.columns[0].levels == ("sunny", "overcast", "rain")
    table = read_table(DATA / name)
    features = table.frame.drop_columns(["class"])
    expected = ["prediction", *model.predict(features).tolist()]
    # The names are found beside the rows; the class may be unknown there.
    shutil.copy(DATA / "golf.names", "golf.names")
    rows = (DATA / "golf.data").read_text("utf-8")
    write("golf.test", rows)
    write("golf.cases", re.sub("(Don't )?Play", "?", rows))
    for ending in ("test", "cases"):
        text = command("predict", "model.json", f"golf.{ending}")
        assert text.splitlines() == expected
    main(["predict", "model.json", "golf.test", "-o", "predicted.csv"])
    assert command.capsys.readouterr().err == (
        "golf.test: accuracy 1, kappa 1, AUC 1 (14 rows)\n"
    )
    text = command("fit", DATA / name, "--test", "golf.test", "--cv", 0)
    assert re.search(r"\ntest +1\.000 +1\.000 +1\.000 +14 rows\n", text)
    assert command("show", "model.json").endswith(export_text(model))


@pytest.mark.parametrize(("algorithm", "threshold"), [("id3", "77.5"), ("c45", "75")])
def test_algorithms_by_gain(command, algorithm, threshold):
    arguments = ["fit", DATA / "golf", "--algorithm", algorithm, "--cv", 0]
    text = command(*arguments, "--save", "m.json")
    assert "5 leaves, depth 2\n" in text
    assert f"\n|   |--- humidity <= {threshold}: Play (2 rows, 100%)\n" in text
    rules = command("show", "m.json", "--as", "rules").splitlines()
    assert len(rules) == 5
    assert rules[2].startswith("IF outlook = overcast THEN Play [")
    rows = command("predict", "m.json", DATA / "golf.data", "--proba").splitlines()
    assert rows[:2] == [
        "prediction,probability_Don't Play,probability_Play",
        "Don't Play,1.0,0.0",
    ]
    assert '"fractional"' in command("show", "m.json", "--as", "json")


GOLF_RULES = """\
rules  C45RulesClassifier, 3 rules and a default, from a tree of 5 leaves, depth 2
0  IF outlook = overcast THEN Play [support 28.6% (4 rows), confidence 83.3%]
1  ELSE IF outlook = sunny AND humidity > 75 THEN Don't Play [support 21.4% (3 rows), \
confidence 80%]
2  ELSE IF outlook = rain AND windy = true THEN Don't Play [support 14.3% (2 rows), \
confidence 75%]
   ELSE Play [support 35.7% (5 rows), confidence 85.7%]

use of the rules  training; advantage: errors added without the rule
rule  size  error  used     wrong  advantage  class
   0     1  29.3%     4  0 (0.0%)    0 (0|0)  Play
   1     2  37.0%     3  0 (0.0%)    3 (3|0)  Don't Play
   2     2  50.0%     2  0 (0.0%)    2 (2|0)  Don't Play
default class Play: used 5, wrong 0

confusion matrix  training
true \\ predicted  Don't Play  Play
Don't Play                 5     0
Play                       0     9

scores
"""


def test_rules_from_a_tree(command):
    arguments = ["fit", DATA / "golf", "--algorithm", "c45-rules", "--cv", 3]
    text = command(*arguments, "--save", "m.json")
    assert f"\n\n{GOLF_RULES}" in text
    assert "\ncross-validated  " in text
    assert "\ntree  " not in text
    model = load_model("m.json")
    features = read_table(DATA / "golf").frame.drop_columns(["class"])
    rows = command("predict", "m.json", DATA / "golf.data", "--proba").splitlines()
    assert rows[:2] == [
        "prediction,probability_Don't Play,probability_Play",
        "Don't Play,0.8,0.2",
    ]
    assert [row.split(",")[0] for row in rows[1:]] == model.predict(features).tolist()

    assert command("show", "m.json", "--as", "rules") == export_rules(model)
    title, _, rules = command("show", "m.json").partition("\n")
    assert title.endswith("from a tree of 5 leaves, depth 2, predicts class")
    assert f"\n{rules}\nuse of" in text
    assert json.loads(command("show", "m.json", "--as", "json"))["rules"]
    assert command("show", "m.json", "--as", "dot", code=2) == (
        "sklearn-textbook: --as dot draws trees, but m.json contains a list of "
        "rules; see "
        "sklearn-textbook show --help\n"
    )


def test_use_of_the_rules_is_that_of_evaluate(command):
    """On a table with missing values in the columns and in the target."""
    table = DATA / "loan.parquet"
    text = command(
        *("fit", table, "--target", "decision", "--id", "applied", "--save", "m.json"),
        *("--algorithm", "c45-rules", "--set", "confidence=0.5", "--cv", 0),
    )
    frame = read_table(table).frame.to_pandas().dropna(subset="decision")
    features, y = frame.drop(columns=["decision", "applied"]), frame["decision"]
    assert features.isna().any(axis=None)
    model = C45RulesClassifier(confidence=0.5).fit(features, y)
    evaluation = model.evaluate(features, y)
    lines = text[text.index("rule  size") : text.index("\nscores")].splitlines()
    assert model.n_rules_ > 4
    used = [line.split()[3] for line in lines[1 : model.n_rules_ + 1]]
    assert used == [f"{rule['used']:g}" for rule in evaluation.rules]
    default = evaluation.default
    assert lines[model.n_rules_ + 1] == (
        f"default class {default['class']}: used {default['used']:g}, "
        f"wrong {default['wrong']:g}"
    )
    counts = [line.split()[1:] for line in lines[-2:]]
    assert counts == evaluation.confusion.astype(int).astype(str).tolist()
    assert load_model("m.json").predict(features).tolist() == (
        model.predict(features).tolist()
    )


def test_only_the_first_rules_of_a_list_are_shown(command):
    rows = "".join(f"level {i % 60},{i % 2 == 0}\n" for i in range(600))
    write("table.csv", f"x,y\n{rows}")
    arguments = ["--target", "y", "--algorithm", "c45-rules", "--cv", 0]
    text = command("fit", "table.csv", *arguments, "--save", "m.json")
    model = load_model("m.json")
    rules = export_rules(model).splitlines()
    more = f"... and {model.n_rules_ - 20} rules; "
    assert model.n_rules_ > 20
    shown = text[text.index("\n 0  IF") + 1 : text.index("\nuse of")].splitlines()
    assert shown == [
        *(f"{number:2}  {rule}" for number, rule in enumerate(rules[:20])),
        f"{more}sklearn-textbook show m.json prints them all",
        f"    {rules[-1]}",
    ]
    assert command("show", "m.json", "--as", "rules").splitlines() == [
        *rules[:20],
        f"{more}--all prints them all",
        rules[-1],
    ]
    assert command("show", "m.json", "--as", "rules", "--all").splitlines() == rules
    used = text[text.index("\nrule  size") + 1 : text.index("\nconf")].splitlines()
    assert [line.split()[0] for line in used[1:21]] == [*map(str, range(20))]
    assert {line.split()[-1] for line in used[1:21]} <= {"true", "false"}
    assert f"{used[21]}; " == more
    assert used[22].startswith(f"default class {str(model.default_class_).lower()}: ")
    assert len(command("show", "m.json").splitlines()) == model.n_rules_ + 2


def test_rules_that_are_only_a_default(command):
    write("table.csv", "x,y\n1,a\n1,a\n1,b\n")
    arguments = ["--target", "y", "--algorithm", "c45-rules", "--cv", 0]
    text = command("fit", "table.csv", *arguments, "--keep", "x")
    assert (
        "rules  C45RulesClassifier, 0 rules and a default, from a tree of 1 leaf, "
        "depth 0\nALWAYS a [support 100% (3 rows), confidence 60%]\n\n"
        "use of the rules  training; advantage: errors added without the rule\n"
        "default class a: used 3, wrong 1\n\n"
    ) in text


def test_colours_of_rules():
    def painted(line, style):
        text = paint_rules(line)
        spans = [span for span in text.spans if span.style == style]
        return [line[span.start : span.end] for span in spans]

    default = "ELSE play it [support 36% (5 rows), confidence 86%]"
    assert painted(default, "bold green") == ["play it"]
    assert painted(default, "cyan") == ["ELSE"]
    rule = "ELSE IF a > 1 THEN b [support 36% (5 rows), confidence 86%]"
    assert painted(rule, "bold green") == ["b"]
    assert painted(rule, "cyan") == ["ELSE", "IF", "THEN"]
    levels = 'IF a in {IF, VS1} AND b = IF AND c = "x, THEN" THEN d [support 36%]'
    assert painted(levels, "cyan") == ["IF", "AND", "AND", "THEN"]


def test_what_was_pruned_is_told(command):
    arguments = ["fit", DATA / "iris.csv", "--target", "species", "--cv", 0]
    assert "pruning" not in command(*arguments, "--full")
    text = command(*arguments, "--set", "pruning=cost_complexity")
    told = text.partition("\npruning  ")[2].splitlines()
    assert told[1].startswith("CARTClassifier, cost-complexity pruning: ")
    assert told[1].endswith(" of 9 leaves kept.")
    assert told[2].startswith("cross-validated risk: ")
    text = command("fit", DATA / "golf", "--algorithm", "c45", "--cv", 0)
    assert "error-based pruning: nothing pruned; 5 leaves." in text


def test_parameters_of_a_part(command):
    arguments = ["fit", DATA / "golf", "--algorithm", "c45", "--cv", 0]
    arguments += ["--save", "m.json"]
    command(*arguments, "--set", "pruning__confidence=0.1", "--set", "laplace=true")
    model = load_model("m.json")
    assert (model.pruning.confidence, model.laplace) == (0.1, True)
    command(*arguments, "--set", "pruning=null")
    assert load_model("m.json").pruning is None
    text = command(
        *arguments, "--set", "pruning__confidence=0.1", "--set", "pruning=None", code=2
    )
    assert "--set: C45Classifier has no parameter 'pruning__confidence'; It" in text


def test_target_and_identifiers_of_c45(command):
    names = "y.\nname: label.\nx: continuous.\ny: a, b.\nz: ignore.\nkind: u, v.\n"
    write("t.names", names)
    write("t.data", "p1,1,a,0,u\np2,2,b,0,v\np3,3,b,0,u\n")
    text = command("fit", "t", "--cv", 0, "--save", "m.json")
    assert "t.data: 3 rows, 4 columns (C4.5, t.names)\ntarget y: 2 classes" in text
    assert "\nleft out: 'name'\n" in text
    assert "\nnote: left out as t.names says: 'z'\n" in text
    assert load_model("m.json").schema_.names == ("x", "kind")
    assert command("predict", "m.json", "t.data").splitlines() == [
        *("name,prediction", "p1,a", "p2,b", "p3,b")
    ]
    # The options come before what the files say.
    text = command("fit", "t", "--cv", 0, "--target", "kind", "--categorical", "name")
    assert "target kind: 2 classes (u 2, v 1)\n" in text
    assert "left out: 'name'" not in text
    assert command("fit", "t", "--id", "y", code=2) == (
        "sklearn-textbook: Missing option '--target', the column to predict: t.data "
        "has 'name', 'x', 'kind'; see sklearn-textbook fit --help\n"
    )


@pytest.mark.skipif(not SCRIPT.exists(), reason="the package is not installed")
def test_script_is_the_module(tmp_path):
    refused = run_process(["show", tmp_path / "none.json"], [str(SCRIPT)])
    assert refused.returncode == 4
    assert refused.stderr.decode() == (
        f"sklearn-textbook: {tmp_path}/none.json: no such file\n"
    )


def test_command_in_pipes(tmp_path):
    model = tmp_path / "iris.json"
    fitted = run_process(
        ["fit", DATA / "iris.csv", "--target", "species", "--save", model, "--full"]
    )
    assert (fitted.returncode, fitted.stderr) == (0, b"")
    # Nothing but text. COLUMNS is 60: neither wrapped nor cut, and nothing padded.
    text = fitted.stdout.decode()
    assert "\x1b" not in text
    assert max(map(len, text.splitlines())) > 100
    assert not [line for line in text.splitlines() if line.endswith(" ")]
    table = (DATA / "iris.csv").read_bytes()
    predicted = run_process(["predict", model, "-"], input=table)
    assert predicted.returncode == 0
    assert predicted.stdout.decode().split()[:2] == ["prediction", "setosa"]
    assert predicted.stderr == (
        b"standard input: accuracy 1, kappa 1, AUC 1 (150 rows)\n"
    )


# ---------------------------------------------------------------------- scores
def test_scores_are_those_of_scikit_learn(command):
    text = command(
        *("fit", DATA / "iris.csv", "--target", "species", "--cv", 5, "--seed", 3),
        "--full",
    )
    table = read_table(DATA / "iris.csv").frame
    X, y = table.drop_columns(["species"]), np.asarray(table["species"].to_pylist())
    X = X.to_pandas()
    tree = CARTClassifier(random_state=3)
    folds = StratifiedKFold(5, shuffle=True, random_state=3)
    expected = []
    for scoring in ("accuracy", make_scorer(cohen_kappa_score), "roc_auc_ovr"):
        scores = cross_val_score(tree, X, y, cv=folds, scoring=scoring)
        expected.append(f"{scores.mean():.3f} ± {scores.std():.3f}")
    assert f"cross-validated  {'  '.join(expected)}  5 folds\n" in text
    assert "majority class   0.333          0.000          -              150" in text
    assert re.search(r"\ntraining +1\.000 +1\.000 +1\.000 +150 rows\n", text)
    predicted = cross_val_predict(tree, X, y, cv=folds)
    counts = confusion_matrix(y, predicted)
    printed = text[text.index("confusion matrix") :].splitlines()
    assert [line.split()[1:] for line in printed[2:5]] == counts.astype(str).tolist()
    assert printed[6] == "classes  cross-validated"
    scores = np.transpose(precision_recall_fscore_support(y, predicted))
    for line, (*shares, rows) in zip(printed[8:11], scores, strict=True):
        assert line.split()[1:] == [*(f"{x:.3f}" for x in shares), f"{rows:.0f}"]


def test_regression_scores(command):
    frame = load_diabetes(as_frame=True).frame
    frame[:300].to_csv("train.csv", index=False)
    frame[300:].to_csv("test.csv", index=False)
    text = command(
        *("fit", "train.csv", "--target", "target", "--set", "max_depth=2"),
        *("--cv", 4, "--test", "test.csv", "--save", "model.json", "--full"),
    )
    X, y = frame.drop(columns="target"), frame["target"]
    tree = CARTRegressor(max_depth=2, random_state=0)
    folds = KFold(4, shuffle=True, random_state=0)
    r2 = cross_val_score(tree, X[:300], y[:300], cv=folds)
    error = -cross_val_score(
        tree, X[:300], y[:300], cv=folds, scoring="neg_mean_absolute_error"
    )
    (line,) = [line for line in text.splitlines() if line.startswith("cross-validated")]
    assert f" {r2.mean():.3f} ± {r2.std():.3f} " in line
    assert f" {error.mean():.2f} ± {error.std():.2f}  4 folds" in line
    (line,) = [line for line in text.splitlines() if line.startswith("test ")]
    fitted = tree.fit(X[:300], y[:300])
    assert line.split()[1] == f"{fitted.score(X[300:], y[300:]):.3f}"
    assert line.endswith("142 rows")
    assert "confusion" not in text
    command("predict", "model.json", "test.csv", "-o", "predicted.csv")
    predicted = np.loadtxt("predicted.csv", skiprows=1)
    np.testing.assert_array_equal(predicted, fitted.predict(X[300:]))


def test_test_table(command):
    text = (DATA / "iris.csv").read_text("utf-8").splitlines()
    write("train.csv", "\n".join([text[0], *text[1::2]]))
    write("test.csv", "\n".join([text[0], *text[2::2]]))
    printed = command(
        *("fit", "train.csv", "--target", "species", "--cv", 0, "--full"),
        *("--test", "test.csv", "--save", "model.json"),
    )
    assert "cross-validated" not in printed
    tested = read_table("test.csv").frame
    model = load_model("model.json")
    predicted = model.predict(tested.drop_columns(["species"]))
    counts = confusion_matrix(tested["species"].to_pylist(), predicted)
    accuracy = np.trace(counts) / 75
    assert re.search(rf"\ntest +{accuracy:.3f} .* 75 rows\n", printed)
    lines = printed[printed.index("confusion matrix  test") :].splitlines()[2:5]
    assert [line.split()[1:] for line in lines] == counts.astype(str).tolist()


def test_seed(command):
    arguments = ["fit", DATA / "iris.csv", "--target", "species", "--set"]
    arguments += ["max_features=1", "--cv", 3]
    first, again = command(*arguments), command(*arguments)
    other = command(*arguments, "--seed", 1)
    assert first == again != other


def test_folds_are_as_many_as_the_rows_allow(command):
    text = command("fit", DATA / "weather.arff", "--target", "play")
    assert (
        "note: 9 folds instead of 10: the largest class has 9 rows\n"
        "note: the smallest class has 5 rows, so some folds are without it\n"
    ) in text
    assert choose_folds(10, np.arange(9.0), False)[0] == 4
    assert choose_folds(3, np.arange(9.0), False) == (3, [])
    assert choose_folds(5, np.array([0, 1, 2]), True) == (
        0,
        ["no cross-validation: too few rows"],
    )
    write("few.csv", "x,y\n1,a\n2,b\n")
    assert "note: no cross-validation: too few rows" in command(
        "fit", "few.csv", "--target", "y"
    )


# ------------------------------------------------------------------ parameters
@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("3", 3),
        ("0.5", 0.5),
        ("None", None),
        ("null", None),
        ("true", True),
        ("gini", "gini"),
        ("one_vs_rest", "one_vs_rest"),
        ("{'a': 2}", {"a": 2}),
        ('["x"]', ["x"]),
        ("__import__('os')", "__import__('os')"),
    ],
)
def test_literals(text, value):
    assert read_literal(text) == value


@pytest.mark.parametrize(
    ("setting", "pruner"),
    [
        ("ErrorBasedPruning(confidence=0.1)", ErrorBasedPruning(0.1)),
        ("LossPruning( alpha = 2 )", LossPruning(2)),
        ("PrePruning", PrePruning(random_state=7)),
        (
            "CostComplexityPruning(cv=null, scoring=gini)",
            CostComplexityPruning(None, scoring="gini", random_state=7),
        ),
        (
            "CostComplexityPruning(random_state=1, rule='1se')",
            CostComplexityPruning(random_state=1, rule="1se"),
        ),
    ],
)
def test_pruners_are_written_as_in_python(command, setting, pruner):
    arguments = ("fit", DATA / "iris.csv", "--target", "species", "--seed", 7)
    command(*arguments, "--set", f"pruning={setting}", "--cv", 0, "--save", "m.json")
    saved = load_model("m.json").pruning
    assert (type(saved), saved.get_params()) == (type(pruner), pruner.get_params())


def test_estimators_are_written_as_in_python(command):
    arguments = ("fit", DATA / "iris.csv", "--target", "species", "--algorithm")
    tree = "C45Classifier(max_depth=2, pruning=ErrorBasedPruning(confidence=0.1))"
    options = ("--set", f"estimator={tree}", "--trees", 3, "--save", "m.json")
    command(*arguments, "bagging", *options)
    member = load_model("m.json").estimator
    assert (member.max_depth, member.pruning.confidence) == (2, 0.1)
    logistic = "LogisticRegression(C=2, parametrization=reference)"
    options = ("--member", "c45", "--set", f"final_estimator={logistic}")
    text = command(*arguments, "stacking", *options, "--cv", 0)
    # Of three classes, the last is the reference.
    assert re.search(r"\n +setosa +versicolor\nintercept ", text)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("ErorBasedPruning()", "there is no class 'ErorBasedPruning' to call; did you"),
        ("Path()", "to call; Possible are CostComplexityPruning, ErrorBasedPruning, L"),
        (
            "ErrorBasedPruning(confidenc=1)",
            "ErrorBasedPruning has no parameter 'confidenc'; did you mean 'confidence'",
        ),
        ("VotingClassifier()", "VotingClassifier requires the parameter 'estimators'"),
        ("ErrorBasedPruning(0.1)", "it is not the call of a class with named paramete"),
        ("ErrorBasedPruning(**{})", "it is not the call of a class with named paramet"),
        ("ErrorBasedPruning(confidence=f(1))", "it is not the call of a class with na"),
        ("ErrorBasedPruning(a=1)(b=2)", "it is not the call of a class with named par"),
        ("LossPruning(alpha=-1)", "--set pruning=LossPruning(alpha=-1): The 'alpha' p"),
        ("CostComplexityPruning(cv=[1,)", "it is not the call of a class with named"),
    ],
)
def test_calls_that_are_refused(command, value, message):
    arguments = ("fit", DATA / "iris.csv", "--target", "species", "--set")
    text = command(*arguments, f"pruning={value}", code=2)
    assert message in text


def test_nothing_in_a_setting_is_evaluated(command, tmp_path):
    made = tmp_path / "made"
    code = f"__import__('pathlib').Path('{made}').touch()"
    arguments = ("fit", DATA / "iris.csv", "--target", "species", "--set")
    for value in (code, f"LossPruning(alpha={code})", f"LossPruning(alpha=[{code}])"):
        command(*arguments, f"pruning={value}", code=2)
    assert not made.exists()


def test_parameters_reach_the_algorithm(command):
    command(
        *("fit", DATA / "iris.csv", "--target", "species", "--cv", 0, "--seed", 7),
        *("--set", "criterion=entropy", "--set", "max_depth=2"),
        *("--set", 'class_weight={"setosa": 2, "versicolor": 1, "virginica": 1}'),
        *("--save", "m.json"),
    )
    model = load_model("m.json")
    assert (model.criterion, model.max_depth, model.random_state) == ("entropy", 2, 7)
    assert model.class_weight["setosa"] == 2


def test_every_algorithm_is_there():
    for name, rows in ALGORITHMS.items():
        assert name in list_algorithms()
        for predicts, row in rows.items():
            is_classifier = hasattr(find_class(row.name), "predict_proba")
            assert is_classifier == (predicts == "classes")


# --------------------------------------------------------------------- scoring
SCORERS = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced_accuracy",
    "kappa": make_scorer(cohen_kappa_score),
    "auc": "roc_auc_ovr",
    "f1_macro": "f1_macro",
    "f1_micro": "f1_micro",
    "f1_weighted": "f1_weighted",
    "precision_macro": "precision_macro",
    "recall_macro": "recall_macro",
    "matthews_corrcoef": "matthews_corrcoef",
    "log_loss": "neg_log_loss",
}
NUMBER_SCORERS = {
    "r2": "r2",
    "rmse": "neg_root_mean_squared_error",
    "mae": "neg_mean_absolute_error",
    "median_absolute_error": "neg_median_absolute_error",
    "mape": "neg_mean_absolute_percentage_error",
}


def read_row(text, start):
    """The numbers of a line of the scores, without the deviations."""
    line = next(line for line in text.splitlines() if line.startswith(start))
    cells = re.split("  +", line)[1:]
    return [float(cell.split()[0]) for cell in cells if not cell.endswith("folds")]


@pytest.mark.parametrize(
    ("names", "column", "tree"),
    [
        (SCORERS, "species", CARTClassifier),
        (NUMBER_SCORERS, "petal width (cm)", CARTRegressor),
    ],
)
def test_other_scores_are_those_of_scikit_learn(command, names, column, tree):
    assert set(names) == set(CLASS_SCORES if names is SCORERS else NUMBER_SCORES)
    table = read_table(DATA / "iris.csv").frame.to_pandas()
    X, y = table.drop(columns=column), table[column]
    model = tree(max_depth=2, random_state=0)
    folds = (StratifiedKFold if tree is CARTClassifier else KFold)(
        5, shuffle=True, random_state=0
    )
    arguments = ("fit", DATA / "iris.csv", "--target", column, "--cv", 5, "--full")
    options = ("--set", "max_depth=2", "--scoring", ",".join(names))
    text = command(*arguments, *options)
    expected = [
        abs(cross_val_score(model, X, y, cv=folds, scoring=name).mean())
        for name in names.values()
    ]
    np.testing.assert_allclose(read_row(text, "cross-validated"), expected, atol=6e-4)
    compare = ("compare", *arguments[1:], "--algorithms", "cart", *options)
    cross_validated = read_row(command(*compare), "cart ")[: len(names)]
    assert cross_validated == read_row(text, "cross-validated")
    headings = CLASS_SCORES if names is SCORERS else NUMBER_SCORES
    scores = text[text.index("\nscores\n") :].splitlines()
    assert re.split("  +", scores[2].strip()) == [headings[name] for name in names]


def test_scores_without_a_value(command):
    write("new.csv", "x,y\n1,a\n2,b\n3,new\n")
    rows = (f"{2 * i},{'ab'[i % 3 > 1]}\n" for i in range(9))
    write("train.csv", f"x,y\n{''.join(rows)}")
    fit = ("fit", "train.csv", "--target", "y", "--cv", 0)
    iris = ("fit", DATA / "iris.csv", "--target", "species", "--cv", 0)
    text = command(*fit, "--test", "new.csv", "--scoring", "log_loss,f1_macro")
    assert re.search(r"\ntest +- +0\.\d+ +3 rows\n", text)
    codes = ("--algorithm", "output-codes", "--scoring", "log_loss,accuracy")
    assert re.search(r"\ntraining +- +1\.000 +150 rows\n", command(*iris, *codes))


@pytest.mark.parametrize("name", ["fit", "compare"])
@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        ("f1", "--scoring: 'f1' is unknown; did you mean 'f1_macro'? Choose from acc"),
        ("accuracy,xyz", "--scoring: 'xyz' is unknown; Choose from accuracy, balance"),
        ("mae", "--scoring: mae is for numbers, and 'species' has classes; choose fr"),
    ],
)
def test_scores_that_are_refused(command, name, scoring, message):
    error = command(
        name, DATA / "iris.csv", "--target", "species", "--scoring", scoring, code=2
    )
    assert message in error


def test_scores_of_classes_are_refused_for_numbers(command):
    target = ("--target", "petal width (cm)", "--scoring", "log_loss")
    error = command("fit", DATA / "iris.csv", *target, code=2)
    assert (
        "log_loss is for classes, and 'petal width (cm)' has numbers; choose from r2, "
        "rmse, mae"
    ) in error
    pca = ("--algorithm", "pca", "--scoring", "r2", "--drop", "species")
    assert "pca makes no predictions" in command("fit", DATA / "iris.csv", *pca, code=2)
