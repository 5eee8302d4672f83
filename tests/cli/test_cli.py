"""The command line: what it prints, writes and refuses, and how it ends."""

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
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as parquet
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

from sklearn_textbook.cli import explain_missing_module, main
from sklearn_textbook.cli.algorithms import ALGORITHMS, list_algorithms
from sklearn_textbook.cli.columns import find_hints, print_columns
from sklearn_textbook.cli.commands import compare, fit, predict, show
from sklearn_textbook.cli.options import NameList, read_literal
from sklearn_textbook.cli.output import Output, paint_rules
from sklearn_textbook.cli.report import print_confusions
from sklearn_textbook.cli.scoring import choose_folds
from sklearn_textbook.io import load_model, read_table
from sklearn_textbook.tree import (
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    export_graphviz,
    export_rules,
    export_text,
)

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data"
SCRIPT = Path(sys.executable).parent / "sklearn-textbook"
MODULE = [sys.executable, "-m", "sklearn_textbook"]


def run_process(arguments, command=MODULE, **options):
    options = {"capture_output": True, "cwd": ROOT, "timeout": 120, **options}
    environment = {**os.environ, "PYTHONIOENCODING": "utf-8", "COLUMNS": "60"}
    return subprocess.run([*command, *map(str, arguments)], env=environment, **options)


def write(name, text):
    path = Path(name)
    path.write_text(text, encoding="utf-8")
    return path


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
    assert "largest class    0.333          0.000          -              150" in text
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


# ----------------------------------------------------------- columns and target
def test_columns_before_the_tree(command):
    text = command(
        "fit", DATA / "loan.parquet", "--target", "decision", "--drop", "applied"
    )
    assert text.startswith(
        f"{DATA / 'loan.parquet'}: 240 rows, 7 columns (Parquet)\n"
        "target decision: 2 classes (refused 121, granted 115)\n"
        "left out: 'applied'\n"
        "left out: 4 rows without a value of 'decision'\n"
        "\n"
        "column      kind     missing  values\n"
        "income      numeric       12  6300 to 67700, 171 distinct\n"
        "age         numeric       12  19 to 79, 59 distinct\n"
        "town        nominal       12  Xi'an 66, Wuhan 54, Chengdu 54, Harbin 50\n"
        "school      ordinal       11  primary 80 < secondary 75 < university 70\n"
        "owns_house  boolean       13  false 128, true 95\n"
        "\n"
        "tree  CARTClassifier, "
    )


def test_hints(command):
    rows = "".join(f"p{i},{i + 2},{i},7,,{i * 1.5},{'ab'[i % 2]}\n" for i in range(8))
    write("table.csv", f"name,number,row,same,empty,size,class\n{rows}")
    text = command("fit", "table.csv", "--target", "class")
    assert re.findall("note: column (.*)", text) == [
        (
            "'name' has a different value in every row; it is left out (use --keep "
            "name to keep it)"
        ),
        "'row' numbers the rows; it is left out (use --keep row to keep it)",
        (
            "'same' has the same value in every row; it is left out (use --keep "
            "same to keep it)"
        ),
        "'empty' has no values; it is left out (use --keep empty to keep it)",
        (
            "'number' has a different value in every row; if it only numbers the rows, "
            "leave it out with --id"
        ),
    ]


def test_an_index_of_a_sample_of_the_rows(command):
    """pandas and R write the numbers of the rows, also of those that were drawn."""
    frame = pd.DataFrame({"class": list("ab") * 20, "x": [0.5, 1.5, 1.5, 2.5] * 10})
    frame.sample(30, random_state=0).to_csv("new.csv")
    text = command("fit", "new.csv", "--target", "class")
    assert "note: column 'column_1' numbers the rows; it is left out" in text
    pd.read_csv("new.csv").to_csv("read.csv", index=False)
    text = command("fit", "read.csv", "--target", "class")
    assert "note: column 'Unnamed: 0' numbers the rows; it is left out" in text
    text = command("fit", "read.csv", "--target", "class", "--keep", "Unnamed: 0")
    assert "numbers the rows; it is left out" not in text
    frame.sample(30, random_state=0).to_csv("bare.csv", header=False)
    text = command("fit", "bare.csv", "--target", "column_2", "--no-header")
    assert "left out" not in text  # a column of a file without a header


@pytest.mark.filterwarnings("always")
def test_warnings_of_the_folds_are_one_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    x = np.arange(60.0)
    pd.DataFrame({"x1": x, "class": np.where(x < 30, "a", "b")}).to_csv("t.csv")
    assert main(["fit", "t.csv", "--target", "class", "--algorithm", "logistic"]) == 0
    # Each fold has another likelihood and another number of iterations.
    assert capsys.readouterr().err.count("separation") == 1


def test_no_hints_for_useful_columns():
    frame = pa.table({"x": [0.5, 1, 2, 3, 4, 5], "n": [9, 1, 5, 6, 2, 30]})
    assert find_hints(frame) == []


@pytest.mark.parametrize(
    ("values", "options", "line", "note"),
    [
        ("a b a b", [], "target y: 2 classes (a 2, b 2)", None),
        ("0 1 1 1", [], "target y: 2 classes (1 3, 0 1)", None),
        ("true false true true", [], "target y: 2 classes (true 3, false 1)", None),
        (
            "1 2 3 3",
            [],
            "target y: 3 classes (3 2, 1 1, 2 1)",
            "the 3 whole numbers of",
        ),
        (
            "1 2 3 3",
            ["--algorithm", "cart-regressor"],
            "target y: numbers from 1",
            None,
        ),
        ("1.5 2 3 3", [], "target y: numbers from 1.5 to 3 (regression)", None),
        ("1.5 2 3 3", ["--categorical", "y"], "target y: 3 classes (3 2, 1.5", None),
        ("1 2 3 3", ["--algorithm", "cart-classifier"], "target y: 3 classes", None),
    ],
)
def test_kind_of_the_target(command, values, options, line, note):
    rows = "".join(f"{i},{value}\n" for i, value in enumerate(values.split()))
    write("table.csv", f"x,y\n{rows}")
    text = command("fit", "table.csv", "--target", "y", "--cv", 0, *options)
    assert f"\n{line}" in text
    assert ("note: the" in text) == (note is not None)
    command(
        "fit", "table.csv", "--target", "y", "--cv", 0, *options, "--save", "m.json"
    )
    # Labels are written, and scored, as the file has them.
    predicted = command("predict", "m.json", "table.csv").split()[1:]
    if "numbers" not in line:
        assert predicted == values.split()
    else:
        assert [float(value) for value in predicted] == [*map(float, values.split())]


def test_column_overrides(command):
    write(
        "table.csv",
        "a,b,c,d,y\n" + "".join(f"{i},x{i},{i},0{i},{i % 2}\n" for i in range(4)),
    )
    text = command(
        *("fit", "table.csv", "--target", "y", "--cv", 0, "--categorical", "a,d"),
        *("--drop", "b", "--numeric", "c", "--save", "m.json"),
    )
    assert re.search(r"\na +nominal +-  0 1, 1 1, 2 1, 3 1\n", text)
    schema = load_model("m.json").schema_
    assert schema.names == ("a", "c", "d")
    assert schema.kinds == ("nominal", "numeric", "nominal")
    assert schema.columns[2].levels == ("00", "01", "02", "03")
    assert command("predict", "m.json", "table.csv").split()[1:] == list("0101")


def test_names_with_commas():
    assert NameList().convert('a, "b,c" ,d,', None, None) == ["a", "b,c", "d"]


def test_wide_tables_are_cut():
    stream = io.StringIO()
    columns = {f"column {i}": [1.5, 2.5] for i in range(53)}
    columns = {"many": [f"level {i}" for i in range(2)], **columns}
    print_columns(Output(stream), pa.table(columns))
    lines = stream.getvalue().splitlines()
    assert len(lines) == 2 + 50 + 1
    assert lines[-1] == "... and 4 more columns"


def test_many_levels_and_classes():
    stream = io.StringIO()
    levels = [f"level {i // 2}" for i in range(40)]
    print_columns(Output(stream), pa.table({"x": levels}))
    assert "20 levels: level 0 2, level 1 2" in stream.getvalue()
    assert stream.getvalue().endswith("level 5 2, ...\n")
    counts = np.eye(20, dtype=int) * 5
    counts[3, 4], counts[7, 0] = 2, 9
    stream = io.StringIO()
    print_confusions(Output(stream), counts, [f"c{i}" for i in range(20)])
    lines = [line.split() for line in stream.getvalue().splitlines()]
    assert lines == [
        ["true", "predicted", "rows"],
        ["c7", "c0", "9"],
        ["c3", "c4", "2"],
    ]


def test_only_the_heaviest_rules_are_shown(command):
    rng = np.random.default_rng(0)
    rows = "".join(f"{x:.3f},{'ab'[int(x * 50) % 2]}\n" for x in rng.random(400))
    write("table.csv", f"x,y\n{rows}")
    text = command("fit", "table.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    model = load_model("m.json")
    all_rules = export_rules(model).splitlines()
    shown = [line for line in text.splitlines() if line.startswith("IF")]
    assert len(shown) == 20 < len(all_rules)
    assert set(shown) < set(all_rules)
    more = f"... and {len(all_rules) - 20} rules with less support; "
    show = "sklearn-textbook show m.json --as rules --all prints them all"
    assert f"{more}{show}\n" in text
    unsaved = command("fit", "table.csv", "--target", "y", "--cv", 0)
    show = "--save FILE and sklearn-textbook show FILE --as rules --all print them all"
    assert f"{more}{show}\n" in unsaved
    printed = command("show", "m.json", "--as", "rules").splitlines()
    assert printed == [*shown, f"{more}--all prints them all"]
    whole = command("show", "m.json", "--as", "rules", "--all")
    assert whole.splitlines() == all_rules
    assert command("show", "m.json", "--as", "rules", "-o", "rules.txt") == ""
    assert Path("rules.txt").read_text("utf-8") == whole
    short = command("show", "m.json", "--max-depth-shown", "1")
    assert short.endswith(export_text(model, max_depth=1))


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
    for name, algorithm in ALGORITHMS.items():
        assert name in list_algorithms()
        module = __import__(algorithm.module, fromlist=["x"])
        if algorithm.classifier is not None:
            assert hasattr(getattr(module, algorithm.classifier), "predict_proba")
        if algorithm.regressor is not None:
            assert not hasattr(getattr(module, algorithm.regressor), "predict_proba")


# --------------------------------------------------------------------- predict
@pytest.fixture
def iris_model(command):
    command(
        *("fit", DATA / "iris.csv", "--target", "species", "--cv", 0),
        *("--set", "max_depth=2", "--save", "iris.json"),
    )
    return "iris.json"


def test_columns_are_found_by_name(command, iris_model):
    table = read_table(DATA / "iris.csv").frame
    names = table.column_names[::-1]
    shuffled = table.select(names).append_column("extra", pa.array(["x"] * 150))
    shuffled.to_pandas().to_csv("shuffled.tsv", sep="\t", index=False)
    expected = command("predict", iris_model, DATA / "iris.csv")
    assert command("predict", iris_model, "shuffled.tsv") == expected


def test_formats_of_the_output(command, iris_model):
    expected = command("predict", iris_model, DATA / "iris.csv", "--proba")
    names = expected.splitlines()[0].split(",")
    assert names == ["prediction", *(f"probability_{c}" for c in _iris_classes())]
    for ending, separator in ((".csv", ","), (".tsv", "\t"), (".txt", ",")):
        path = f"out{ending}"
        command("predict", iris_model, DATA / "iris.csv", "--proba", "-o", path)
        assert Path(path).read_text() == expected.replace(",", separator)
    for path in ("out.parquet", "out.arff"):
        command("predict", iris_model, DATA / "iris.csv", "--proba", "-o", path)
        table = read_table(path).frame
        assert table.column_names == names
        rows = list(csv.DictReader(io.StringIO(expected)))
        assert table["prediction"].to_pylist() == [row["prediction"] for row in rows]
        assert table[names[1]].to_pylist() == [float(row[names[1]]) for row in rows]


def _iris_classes():
    return ["setosa", "versicolor", "virginica"]


def test_identifiers_are_copied(command):
    write("train.csv", "id,x,y\n007,1,a\n008,2,b\n009,3,b\n")
    command(
        "fit", "train.csv", "--target", "y", "--id", "id", "--cv", 0, "--save", "m.json"
    )
    write("new.csv", 'x,id,note\n1,010,"a, b"\n3,?,c\n')
    assert command("predict", "m.json", "new.csv") == "id,prediction\n010,a\n,b\n"
    both = command("predict", "m.json", "new.csv", "--id", "note")
    assert both == 'id,note,prediction\n010,"a, b",a\n,c,b\n'
    assert command("predict", "m.json", "new.csv", "--id", "nte", code=3) == (
        "sklearn-textbook: new.csv: no column 'nte' to copy\n"
    )


def test_table_without_a_header(command):
    write("train.csv", "a,1.5,x\nb,2.5,y\na,1.0,x\n")
    arguments = ["fit", "train.csv", "--target", "column_1", "--cv", 0]
    command(*arguments, "--save", "m.json")
    # With the target, and without it: the columns keep their places.
    assert command("predict", "m.json", "train.csv").split()[1:] == ["a", "b", "a"]
    write("new.csv", "2.5,y\n1.5,x\n")
    assert command("predict", "m.json", "new.csv").split()[1:] == ["b", "a"]


def test_missing_marks_are_remembered(command):
    write("train.csv", "x,z,y\n1,-,a\n2,5,b\n-,6,b\n")
    command(
        *("fit", "train.csv", "--target", "y", "--missing-marks", "-", "--cv", 0),
        *("--save", "m.json"),
    )
    write("new.csv", "x,z\n-,-\n1,-\n")
    assert len(command("predict", "m.json", "new.csv").split()) == 3


def test_score_where_the_target_is_known(command, iris_model):
    table = read_table(DATA / "iris.csv").frame.to_pandas()
    table.loc[5:, "species"] = None
    table.to_csv("some.csv", index=False)
    command("predict", iris_model, "some.csv", "-o", "out.csv")
    main(["predict", iris_model, "some.csv", "-o", "out.csv"])
    assert command.capsys.readouterr().err == "some.csv: accuracy 1 (5 rows)\n"
    table.drop(columns="species").to_csv("none.csv", index=False)
    main(["predict", iris_model, "none.csv", "-o", "out.csv"])
    assert command.capsys.readouterr().err == ""


def test_target_that_is_not_as_in_training_is_noted(command, iris_model):
    table = read_table(DATA / "iris.csv").frame.to_pandas()
    table.loc[:1, "species"] = "rosa"
    table.to_csv("rosa.csv", index=False)
    main(["predict", iris_model, "rosa.csv", "-o", "out.csv"])
    assert (
        "note: column 'species' has classes not seen in training, which count as "
        "errors: 'rosa' (2 rows)\n" in command.capsys.readouterr().err
    )
    fit = ("fit", DATA / "iris.csv", "--target", "sepal length (cm)", "--cv", 0)
    command(*fit, "--save", "length.json")
    table["sepal length (cm)"] = "long"
    table.to_csv("long.csv", index=False)
    main(["predict", "length.json", "long.csv", "-o", "out.csv"])
    error = command.capsys.readouterr().err
    assert error.endswith(
        "note: no scores: column 'sepal length (cm)' has no numbers\n"
    )


def test_numbers_are_written_in_full(command):
    """Whole numbers have no exponent, counts a comma between thousands."""
    y = np.arange(2400) * 1_000 + 1_000_001
    frame = pd.DataFrame({"x": y * 2.0, "half": y / 2, "y": y, "c": y % 4_000 > 2_000})
    frame.to_csv("large.csv", index=False)
    fit = ("fit", "large.csv", "--cv", 2, "--drop")
    text = command(*fit, "half,c", "--target", "y", "--full", "--set", "max_depth=1")
    assert "target y: numbers from 1000001 to 3399001 (regression)" in text
    assert " 2000002 to 6798002, 2,400 distinct" in text
    text = command(*fit, "half,x", "--target", "c", "--algorithm", "logistic")
    assert re.search("\nrows: +2,400 ", text)
    assert text.splitlines()[-1].split()[-1] == "1,200"


def test_level_that_is_refused(command):
    write("train.csv", "colour,y\nred,a\ngreen,b\nred,a\n")
    command(
        *("fit", "train.csv", "--target", "y", "--cv", 0, "--save", "m.json"),
        *("--set", "handle_unknown=error"),
    )
    write("new.csv", "colour\nred\n\n\nblue\n")
    assert command("predict", "m.json", "new.csv", code=3) == (
        "sklearn-textbook: new.csv, line 5, column 'colour': 'blue' was not seen in "
        "training, and the model has handle_unknown='error'; training had 'green', "
        "'red'\n"
    )


def test_text_is_looked_up_as_text(command):
    """A table of which all codes are numbers has the levels of training all the "
    "same."""
    write("train.csv", "code,y\n1,a\nA2,b\n1,a\n03,b\n")
    command("fit", "train.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    write("new.csv", "code\n1\n03\n")
    assert command("predict", "m.json", "new.csv").split()[1:] == ["a", "b"]


# ------------------------------------------------------------------ bad input
GOOD_CSV = "size,colour,y\n1,red,a\n2,green,b\n3,red,b\n"


@pytest.fixture
def bad_files(command):
    """Files with one fault each, beside a good table and a good model."""
    write("good.csv", GOOD_CSV)
    command("fit", "good.csv", "--target", "y", "--cv", 0, "--save", "good.json")
    write("ragged.csv", "size,y\n1,a\n2,b,c\n")
    write("empty.csv", "")
    write("header.csv", "size,y\n")
    write("twice.csv", "size,y,size\n1,2,3\n")
    write("one_class.csv", "size,y\n1,a\n2,a\n")
    write("constant.csv", "size,y\n1,2.5\n2,2.5\n")
    write("word.csv", "size,y\n1,a\nbig,b\n")
    write("infinite.csv", "size,y\n1,a\ninf,b\n")
    write("halves.csv", "size,y\n1,0.5\n2,1.5\n")
    write("no_target.csv", "size,y\n1,?\n2,\n")
    write("only.csv", "y\na\nb\n")
    write("few.csv", "size,colur\n1,red\n")
    write("narrow.csv", "size,y\n1,a\n")
    write("numbers.csv", "size,colour\n1,red\nlarge,red\n")
    write("dates.csv", "size,y\n1,2024-01-01\n2,2024-01-02\n")
    Path("western.csv").write_bytes("size,y\n1,é\n2,b\n".encode("latin-1"))
    good = json.loads(Path("good.json").read_text("utf-8"))
    write("newer.json", json.dumps({**good, "schema_version": 99}))
    write("damaged.json", json.dumps({**good, "tree": {}}))
    write("cut.json", Path("good.json").read_text("utf-8")[:200])
    write("foreign.json", '{"learner": {}}')
    write("words.names", "a, b.\nx: u, v.\nsize: continuous.\n")
    write("words.data", "u,1,a\nw,2,b\n")
    write("formula.names", "a, b.\nx: continuous.\ndouble := x * 2.\n")
    write("formula.data", "1,a\n")
    write("weather.arff", "@relation w\n@attribute a {x,y}\n@data\nx\nz\n")


BAD = {
    # ---- tables: 3
    "fit none.csv --target y": (
        3,
        "none.csv: no such file",
    ),
    "fit god.csv --target y": (3, "god.csv: no such file; did you mean 'good.csv'?"),
    "fit western.csv --target y": (
        3,
        (
            "western.csv, line 2: byte 0xE9 is not UTF-8; set the encoding of the "
            "file, e.g. --encoding gb18030 or latin-1"
        ),
    ),
    "fit good.csv --target colr": (
        3,
        "good.csv: no column 'colr' to predict; did you mean 'colour'?",
    ),
    "fit good.csv --target weight": (
        3,
        "good.csv: no column 'weight' to predict; there are: 'size', 'colour', 'y'",
    ),
    "fit ragged.csv --target y": (
        3,
        (
            "ragged.csv, line 3: the row has 3 values, but there are 2 columns; "
            "unexpected 'c'; quote values that contain the comma"
        ),
    ),
    "fit empty.csv --target y": (
        3,
        "empty.csv: is empty; a table has a header and rows",
    ),
    "fit header.csv --target y": (
        3,
        (
            "header.csv: has a header ('size', 'y') but no rows; add rows, or use "
            "--no-header if the first line is a row"
        ),
    ),
    "fit twice.csv --target y": (
        3,
        (
            "twice.csv, line 1, column 'size': duplicate name of columns 1 and 3; "
            "column names must be unique"
        ),
    ),
    "fit word.csv --target y --numeric size": (
        3,
        (
            "word.csv, line 3, column 'size': 'big' is not a number; correct it, "
            "or leave it empty if it is missing"
        ),
    ),
    "fit infinite.csv --target y": (
        3,
        (
            "infinite.csv, line 3, column 'size': the value inf is infinite; give a "
            "finite number, or leave it empty if it is missing"
        ),
    ),
    "fit weather.arff --target a": (
        3,
        (
            "weather.arff, line 5, column 'a': 'z' is not a declared level; the "
            "declared levels are 'x', 'y'"
        ),
    ),
    "fit words.data": (
        3,
        (
            "words.data, line 2, column 'x': 'w' is not a declared level; the declared "
            "levels are 'u', 'v'"
        ),
    ),
    "fit formula": (
        3,
        (
            "formula.names, line 3, column 'double': is defined by the formula 'x * "
            "2', which is not supported; compute it, and write its values into the data"
        ),
    ),
    "fit good.csv --target y --drop colours": (
        3,
        "good.csv: no column 'colours'; did you mean 'colour'?",
    ),
    "fit good.csv --target y --test few.csv": (
        3,
        "few.csv: no column 'colour', which the model needs; did you mean 'colur'?",
    ),
    "predict good.json few.csv": (
        3,
        "few.csv: no column 'colour', which the model needs; did you mean 'colur'?",
    ),
    "predict good.json numbers.csv": (
        3,
        (
            "numbers.csv, line 3, column 'size': 'large' is not a number; correct it, "
            "or leave it empty if it is missing"
        ),
    ),
    "predict good.json good.csv -o none/out.csv": (
        3,
        "none/out.csv: cannot be written (No such file or directory)",
    ),
    # ---- models: 4
    "show none.json": (4, "none.json: no such file"),
    "show cut.json": (4, "cut.json: is not valid JSON: line 1, column..."),
    "show foreign.json": (
        4,
        (
            "foreign.json: is JSON, but not a sklearn-textbook model; give a file "
            "written by sklearn-textbook fit --save or by save_model"
        ),
    ),
    "predict newer.json good.csv": (
        4,
        (
            "newer.json: has schema version 99, but this version of sklearn-textbook "
            "reads up to 1; install a newer one"
        ),
    ),
    "predict damaged.json good.csv": (
        4,
        "damaged.json: is damaged: This is not a grown...",
    ),
    "predict good.csv good.csv": (
        4,
        (
            "good.csv: is not a model file; give a file written by sklearn-textbook "
            "fit --save or by save_model"
        ),
    ),
    "fit good.csv --target y --save none/m.json": (
        4,
        "none/m.json: the folder 'none' does not exist",
    ),
    "fit good.csv --target y --save .": (4, ".: is a folder; give the path of a file"),
    "fit good.csv --target y --cv many": (
        2,
        "Invalid value for '--cv': 'many' is not a valid integer; ...",
    ),
    # ---- the algorithm: 5
    "fit one_class.csv --target y": (
        5,
        (
            "one_class.csv, column 'y': the target is 'a' in all 2 rows, so there is "
            "nothing to predict; choose another target"
        ),
    ),
    "fit constant.csv --target y": (
        5,
        (
            "constant.csv, column 'y': the target is 2.5 in all 2 rows, so there is "
            "nothing to predict; choose another target"
        ),
    ),
    "fit no_target.csv --target y": (
        5,
        "no_target.csv, column 'y': the target has no values",
    ),
    "fit only.csv --target y": (
        5,
        (
            "only.csv, column 'y': the target is the only column, so there is nothing "
            "to predict it from"
        ),
    ),
    "fit dates.csv --target y": (
        5,
        (
            "dates.csv, column 'y': dates and times cannot be predicted; choose "
            "another target"
        ),
    ),
    "fit good.csv --target y --algorithm cart-regressor": (
        5,
        (
            "good.csv, column 'y': cart-regressor predicts numbers, but the target "
            "is not numeric; cart predicts classes"
        ),
    ),
    "fit halves.csv --target y --algorithm c45": (
        5,
        (
            "halves.csv, column 'y': c45 predicts classes, but the target has numbers "
            "that are not whole; cart predicts numbers, --categorical treats "
            "them as classes"
        ),
    ),
    "fit halves.csv --target y --algorithm c45-rules": (
        5,
        (
            "halves.csv, column 'y': c45-rules predicts classes, but the target has "
            "numbers that are not whole; cart predicts numbers, --categorical treats "
            "them as classes"
        ),
    ),
    "fit good.csv --target size --algorithm cart-classifier --missing-marks 1.5": (
        0,
        "",
    ),
    # ---- wrong use: 2
    "fit good.csv --target y --set max_dept=3": (
        2,
        (
            "--set: CARTClassifier has no parameter 'max_dept'; did you mean "
            "'max_depth'? It has categorical_features, categorical_split, ..."
        ),
    ),
    "fit good.csv --target y --set max_depth=abc": (
        2,
        "--set max_depth=abc: The 'max_depth' parameter ...",
    ),
    "fit good.csv --target y --set max_depth": (
        2,
        (
            "Invalid value for '--set': 'max_depth' is not of the form name=value, as "
            "in max_depth=3; see sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv": (
        2,
        (
            "Missing option '--target', the column to predict: good.csv has 'size', "
            "'colour', 'y'; see sklearn-textbook fit --help"
        ),
    ),
    "fit .": (3, ".: is a folder; give the path of a file"),
    "show good.json --as pdf": (
        2,
        "Invalid value for '--as': 'pdf' is unknown. Choose from text, ...",
    ),
    "show good.json --as rule": (
        2,
        "Invalid value for '--as': 'rule' is unknown; did you mean 'rules'? ...",
    ),
    "prdict good.json good.csv": (
        2,
        (
            "No such command 'prdict'. Did you mean 'predict'? See sklearn-textbook "
            "--help"
        ),
    ),
    "predict good.json narrow.csv": (
        3,
        (
            "narrow.csv: no column 'colour', which the model needs; there are: 'size', "
            "'y'"
        ),
    ),
    "fit good.csv --target y --cv 1": (
        2,
        "--cv must be 0 (none) or at least 2; see sklearn-textbook fit --help",
    ),
    "fit good.csv --target y --algorithm c5": (
        2,
        (
            "Invalid value for '--algorithm': 'c5' is unknown; did you mean 'c45'? "
            "Choose from cart, ..."
        ),
    ),
    "fit good.csv --target y --delimiter ;;": (
        2,
        (
            "Invalid value for '--delimiter': ';;' is neither a single character "
            "nor one "
            "of comma, semicolon, tab, pipe, space; see sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv --target y --drop y": (
        2,
        "--target 'y' is also in --drop or --id; see sklearn-textbook fit --help",
    ),
    "fit good.csv --target y --numeric size --categorical size": (
        2,
        (
            "'size' is in --numeric and also declared in another way; see "
            "sklearn-textbook fit --help"
        ),
    ),
    "fit good.csv --target y --numeric size --drop size": (
        2,
        (
            "'size' is left out, but listed in --categorical, --numeric, --ordinal, "
            "--keep or "
            "--weight; see sklearn-textbook fit --help"
        ),
    ),
    "sohw good.json": (2, "No such command 'sohw'..."),
}


@pytest.mark.parametrize("arguments", BAD)
def test_bad_input(command, bad_files, arguments):
    code, message = BAD[arguments]
    text = command(*arguments.split(), code=code)
    if code == 0:
        return
    assert text.count("\n") == 1
    expected = f"sklearn-textbook: {message}"
    if message.endswith("..."):  # where a list, or the words of another module follow
        assert text.startswith(expected.removesuffix("..."))
    else:
        assert text == f"{expected}\n"


def test_probabilities_of_numbers(command):
    write("train.csv", "x,y\n1,1.5\n2,2.5\n3,4.5\n")
    command("fit", "train.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    assert command("predict", "m.json", "train.csv", "--proba", code=2) == (
        "sklearn-textbook: --proba: m.json predicts numbers, which have no "
        "probabilities; see sklearn-textbook predict --help\n"
    )


def test_notes_of_a_model_are_checked(command, iris_model):
    document = json.loads(Path(iris_model).read_text("utf-8"))
    document["table"]["names"] = {"a": 1}
    write("bad.json", json.dumps(document))
    assert command("predict", "bad.json", DATA / "iris.csv", code=4) == (
        "sklearn-textbook: bad.json: is damaged: table.names is not a list of names\n"
    )


def test_refused_level_in_cross_validation(command):
    rows = "".join(f"c{i},{'ab'[i % 2]}\n" for i in range(6))
    write("table.csv", f"x,y\n{rows}")
    arguments = ["fit", "table.csv", "--target", "y", "--set", "handle_unknown=error"]
    arguments += ["--keep", "x"]
    text = command(*arguments, code=5)
    assert text.startswith("sklearn-textbook: cross-validation: ")
    assert text.endswith("; --cv 0 leaves it out\n")
    assert text.count("\n") == 1
    command(*arguments, "--cv", 0)


def test_model_is_not_left_behind_by_a_failed_fit(command, bad_files):
    command("fit", "one_class.csv", "--target", "y", "--save", "m.json", code=5)
    assert not Path("m.json").exists()


# --------------------------------------------------------- pipes and terminals
def test_colours_and_progress_on_a_terminal(terminal):
    arguments = ("fit", DATA / "iris.csv", "--target", "species")
    code, plain = terminal(*arguments, width=70)
    assert code == 0
    assert "\x1b[1m" in terminal.raw
    assert "cross-validation" in plain
    assert "10/10" in plain
    rules = plain[plain.index("IF petal") : plain.index("scores")]
    assert max(len(line) for line in rules.splitlines()) <= 70


def test_columns_keep_names_and_kinds_on_a_terminal(terminal, tmp_path):
    names = ["number of the passenger's cabin", "port", "年龄", "class of the ticket"]
    levels = [f"a level with a long name {i}" for i in range(9)]
    rows = [
        f"{levels[i % 9]},{'SCQ'[i % 3]},{i % 7},{levels[i % 8]},{i % 2}"
        for i in range(72)
    ]
    table = tmp_path / "table.csv"
    table.write_text("\n".join([",".join([*names, "y"]), *rows]), encoding="utf-8")
    code, plain = terminal("fit", table, "--target", "y", "--cv", 0)
    assert code == 0
    lines = plain[plain.index("\ncolumn ") :].splitlines()[2:6]
    kinds = ["nominal", "nominal", "numeric", "nominal"]
    for name, kind, line in zip(names, kinds, lines, strict=True):
        assert re.match(rf"{name} +{kind} +-  \w", line)
        assert len(line) <= 80
    # What is cut ends with an ellipsis; what is short is whole.
    assert lines[0].rstrip().endswith("…")
    assert lines[1].rstrip().endswith("S 24, C 24, Q 24")


def test_long_names_of_columns_are_wrapped_not_cut(terminal, tmp_path):
    names = [f"{word} " + "a question of the survey " * 4 + "?" for word in ("A", "B")]
    table = tmp_path / "table.csv"
    rows = "".join(f"{i % 3},{i % 5},{i % 2}\n" for i in range(30))
    table.write_text(f"{names[0]},{names[1]},y\n{rows}", encoding="utf-8")
    _, plain = terminal("fit", table, "--target", "y", "--cv", 0)
    shown = plain[plain.index("\ncolumn ") : plain.index("\ntree ")]
    assert max(map(len, shown.splitlines())) <= 80
    words = " ".join(line[: shown.index("kind") - 1] for line in shown.split("\n"))
    assert " ".join(words.split()).count("a question of the survey ?") == 2
    assert shown.count("numeric") == 2


def test_confusions_too_wide_for_the_terminal(terminal, tmp_path):
    table = tmp_path / "table.csv"
    rows = "".join(f"{i % 13},a class with a long name {i % 6}\n" for i in range(60))
    table.write_text(f"x,y\n{rows}", encoding="utf-8")
    _, plain = terminal("fit", table, "--target", "y", "--set", "max_depth=2")
    shown = plain[plain.index("\nconfusion matrix") :].splitlines()
    assert shown[2].split() == ["true", "predicted", "rows"]
    assert shown[3].count("a class with a long name") == 2


def test_reader_that_leaves_early():
    process = subprocess.Popen(
        [*MODULE, "fit", DATA / "iris.csv", "--target", "species"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=ROOT,
    )
    process.stdout.close()
    errors = process.stderr.read()
    process.stderr.close()
    assert (process.wait(), errors) == (0, b"")


def test_interruption(command, monkeypatch):
    def interrupt(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr("sklearn_textbook.cli.fit.cross_validate", interrupt)
    text = command("fit", DATA / "iris.csv", "--target", "species", code=130)
    assert text.strip() == "sklearn-textbook: interrupted"


def test_error_of_the_program(command, monkeypatch, iris_model):
    def fail(*arguments, **options):
        raise RuntimeError("this\nis wrong")

    monkeypatch.setattr("sklearn_textbook.cli.report.print_tree", fail)
    assert command("show", iris_model, code=1) == (
        "sklearn-textbook: internal error: RuntimeError: this is wrong; --debug "
        "shows the traceback\n"
    )
    assert "Traceback" in command("show", iris_model, "--debug", code=1)


def test_debug_shows_the_traceback(command):
    text = command("show", "none.json", "--debug", code=4)
    assert text.startswith("Traceback")
    assert text.endswith("sklearn-textbook: none.json: no such file\n")


@pytest.mark.filterwarnings("default")
def test_warnings_are_one_line_each(command):
    rows = "".join(f"{2 * i},{i}\n" for i in range(20))
    write("table.csv", f"x,y\n{rows}")
    main(["fit", "table.csv", "--target", "y", "--algorithm", "cart-classifier"])
    warned = command.capsys.readouterr().err.splitlines()
    assert all(line.startswith("sklearn-textbook: warning: ") for line in warned)
    assert len(set(warned)) == len(warned) <= 1


@pytest.mark.parametrize("module", ["click", "rich", "pyarrow"])
def test_missing_extra(tmp_path, module):
    hidden = tmp_path / module
    hidden.mkdir()
    (hidden / "__init__.py").write_text(
        f"raise ModuleNotFoundError('no {module}', name='{module}')"
    )
    path = os.pathsep.join([str(tmp_path), str(ROOT)])
    done = subprocess.run(
        [*MODULE, "fit", "x.csv", "--target", "y"],
        env={**os.environ, "PYTHONPATH": path},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.stderr == (
        "sklearn-textbook: the command requires click, rich, pyarrow; install them "
        "with "
        "pip install 'sklearn-textbook[cli]'\n"
    )
    assert done.returncode == 2


def test_other_missing_modules_are_faults():
    assert explain_missing_module(ImportError("no spam", name="spam.eggs")) is None


# ------------------------------------------------------------------------ help
@pytest.mark.parametrize(
    "command_", [fit, compare, predict, show], ids=lambda c: c.name
)
def test_help_is_complete(command, command_):
    text = " ".join(command(command_.name, "--help").split())
    assert "Examples:" in text
    for parameter in command_.params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name
            for name in [*parameter.opts, *parameter.secondary_opts]:
                assert name in text


def test_help_of_the_command(command):
    assert command() == command("--help")
    text = command("-h")
    for name in (
        "fit",
        "compare",
        "predict",
        "show",
        "Exit codes: 0 success, 1 internal error",
    ):
        assert name in text


def test_help_needs_no_numpy(tmp_path):
    code = (
        "import sys; from sklearn_textbook.cli import main; main(['fit', '--help']);"
        "sys.exit('numpy' in sys.modules or 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_show_loads_only_what_it_needs(command, iris_model, tmp_path):
    """No table reader, and none of scikit-learn's own estimators."""
    unused = [
        *("pyarrow.csv", "pyarrow.parquet", "matplotlib", "sklearn.model_selection"),
        *(f"sklearn.{name}" for name in ("tree", "ensemble", "linear_model")),
    ]
    code = (
        "import sys; from sklearn_textbook.cli import main;"
        f"main(['show', {iris_model!r}]);"
        f"sys.exit(str([name for name in {unused} if name in sys.modules]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True
    )
    assert done.stderr == b"[]\n", done.stderr


def test_examples_of_the_help_work(command):
    """The first example of every command is run as it stands."""
    shutil.copy(DATA / "iris.csv", "iris.csv")
    shutil.copy(DATA / "iris.csv", "new.csv")
    for line in command("--help").splitlines():
        if line.strip().startswith("sklearn-textbook "):
            command(*line.split()[1:])
    assert Path("predicted.csv").read_text().count("\n") == 151


def test_parquet_example_with_identifier(command):
    rng = np.random.default_rng(0)
    frame = {
        "address": [f"street {i}" for i in range(40)],
        "rooms": rng.integers(1, 6, 40),
        "price": rng.normal(100, 20, 40),
    }
    parquet.write_table(pa.table(frame), "house.parquet")
    arguments = ["fit", "house.parquet", "--target", "price", "--id", "address"]
    text = command(*arguments, "--save", "house.json")
    assert "left out: 'address'\n" in text
    predicted = command("predict", "house.json", "house.parquet")
    assert predicted.startswith("address,prediction\nstreet 0,")
