"""The command line: pruning, columns left out, weights, ordered levels, costs."""

import json
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from sklearn_textbook.cli import main
from sklearn_textbook.cli.algorithms import make_estimator
from sklearn_textbook.cli.metrics import measure_area
from sklearn_textbook.io import load_model, read_model, read_table
from sklearn_textbook.tree import CARTClassifier, CostComplexityPruning

DATA = Path(__file__).parents[1] / "data"
IRIS = ("fit", DATA / "iris.csv", "--target", "species", "--cv", 0)


def write_table(n_rows=120, **columns):
    """Write a table of x, which decides y but for noise, and of other columns."""
    rng = np.random.default_rng(0)
    x = rng.integers(0, 10, n_rows)
    y = np.where((x > 4) ^ (rng.random(n_rows) < 0.15), "yes", "no")
    columns = {"x": x, "z": rng.integers(0, 50, n_rows), **columns, "y": y}
    rows = zip(*columns.values(), strict=True)
    text = "\n".join(",".join(map(str, row)) for row in [columns, *rows])
    Path("table.csv").write_text(text, encoding="utf-8")
    return columns


# --------------------------------------------------------------------- pruning
def test_trees_are_pruned_by_default(command):
    text = command(*IRIS, "--save", "m.json")
    X = read_table(DATA / "iris.csv").frame
    y = np.array(X["species"].to_pylist())
    pruner = CostComplexityPruning(10, scoring="gini", random_state=0)
    tree = CARTClassifier(pruning=pruner, random_state=0)
    tree.fit(X.drop_columns(["species"]), y)
    assert load_model("m.json").tree_.n_leaves == tree.tree_.n_leaves == 4
    assert (
        "\nnote: pruned from 9 to 4 leaves by cost complexity (10-fold "
        "cross-validation, Gini risk); --full disables pruning\n"
    ) in text
    assert "\ntree  CARTClassifier, 9 leaves, depth 5\n" in command(*IRIS, "--full")


@pytest.mark.parametrize(
    ("algorithm", "settings", "pruning"),
    [
        ("cart", [], "gini"),
        ("cart-regressor", [], "1se"),
        ("cart", [("max_depth", 3)], "gini"),
        ("cart-regressor", [("pruning__rule", "min")], "min"),
        ("cart", [("pruning", None)], None),
        ("cart", [("pruning", "reduced_error")], "reduced_error"),
        ("cart", [("ccp_alpha", 0.1)], None),
        ("oblique-tree", [], "gini"),
        ("oblique-tree", [("direction", "oc1"), ("pruning", None)], None),
        ("id3", [], None),
        ("c45", [], "error_based"),
    ],
)
def test_what_is_pruned_how(algorithm, settings, pruning):
    is_classes = algorithm != "cart-regressor"
    estimator = make_estimator(algorithm, is_classes, settings, 3, prunes=True)
    found = getattr(estimator.pruning, "scoring", None)
    found = found or getattr(estimator.pruning, "rule", estimator.pruning)
    assert found == pruning
    assert make_estimator("bagging", True, [], 0, prunes=True).estimator.pruning is None


def test_small_tables_are_not_pruned(command):
    write_table(n_rows=49)
    arguments = ("fit", "table.csv", "--target", "y", "--cv", 0)
    assert "prun" not in command(*arguments)
    write_table(n_rows=50)
    assert "note: pruned from" in command(*arguments)


def test_note_and_report_count_the_same_leaves(command):
    """Also if the weakest link of the grown tree is worth nothing."""
    rows = "".join(f"{i // 20},{'n' if i < 40 and i % 2 else 'y'}\n" for i in range(80))
    Path("table.csv").write_text(f"x,class\n{rows}", encoding="utf-8")
    text = command("fit", "table.csv", "--target", "class", "--cv", 0)
    assert "note: pruned from 3 to 2 leaves by" in text
    assert "2 of 3 leaves kept" in text


def write_weak_table(effect):
    """Many weak columns: a forest sees what the best single split does not."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 12))
    y = effect * X.sum(axis=1) + rng.normal(size=400)
    columns = {f"x{j}": X[:, j].round(3) for j in range(12)}
    pd.DataFrame({**columns, "y": y.round(3)}).to_csv("weak.csv", index=False)


@pytest.mark.parametrize("effect", [0.2, 0.0])
def test_single_leaf_although_a_forest_finds_something(command, effect):
    write_weak_table(effect)
    text = command("fit", "weak.csv", "--target", "y", "--cv", 0)
    assert "tree  CARTRegressor, 1 leaf" in text
    note = "single leaf, but the out-of-bag R2 of a random forest is 0."
    assert (note in " ".join(text.split())) == (effect > 0)
    if effect:
        assert "--set pruning__rule=min" in " ".join(text.split())
    # With --full there is no pruning to blame.
    assert "single leaf" not in command("fit", "weak.csv", "--target", "y", "--full")


def test_rare_class_is_not_a_single_leaf(command):
    """A class of 4% whose share is a fifth where it is commonest."""
    rng = np.random.default_rng(1)
    x = rng.uniform(size=3000)
    is_rare = rng.uniform(size=3000) < np.where(x > 0.85, 0.2, 0.01)
    labels = np.where(is_rare, "yes", "no")
    pd.DataFrame({"x": x.round(4), "y": labels}).to_csv("rare.csv", index=False)
    text = command("fit", "rare.csv", "--target", "y", "--cv", 5, "--seed", 1)
    accuracy, auc = re.search(
        r"cross-validated +(\S+).* (0\.\d+) ± \S+ +5 f", text
    ).groups()
    assert float(auc) > 0.75
    assert float(accuracy) >= round(np.mean(~is_rare), 3)
    strict = ("--set", "pruning__scoring=null", "--set", "pruning__rule=1se")
    text = command("fit", "rare.csv", "--target", "y", "--cv", 0, *strict)
    assert "tree  CARTClassifier, 1 leaf" in text
    assert "class_weight=balanced" in text


def test_full_trees_of_other_algorithms(command):
    arguments = ("fit", DATA / "golf", "--cv", 0, "--full")
    assert "pruning" not in command(
        *arguments, "--algorithm", "c45", "--save", "m.json"
    )
    assert load_model("m.json").pruning is None
    assert command(*arguments, "--algorithm", "random-forest", code=2) == (
        "sklearn-textbook: --full: random-forest has no tree that is pruned by "
        "default; see sklearn-textbook fit --help\n"
    )
    error = command(*arguments, "--set", "pruning__rule=min", code=2)
    assert "--full grows the whole tree, and --set pruning__rule prunes it" in error


def test_compare_prunes_as_fit_does(command):
    columns = write_table()
    arguments = ("table.csv", "--target", "y", "--cv", 3)
    for more in ([], ["--full"]):
        text = command("compare", *arguments, "--algorithms", "cart", *more)
        fitted = command("fit", *arguments, *more)
        accuracy = re.search(r"\ncross-validated +(\S+ ± \S+)", fitted)[1]
        assert re.search(rf"\ncart +{re.escape(accuracy)}", text)
    assert len(columns["y"]) == 120


# ------------------------------------------------------------ columns left out
def test_columns_that_name_the_rows(command):
    n_rows = 120
    text_columns = {
        "name": [f"n {i}" for i in range(n_rows)],
        "ticket": [f"t{i % 61}" for i in range(n_rows)],
        "town": [f"t{i % 60}" for i in range(n_rows)],
        "land": ["UK"] * n_rows,
    }
    write_table(**text_columns)
    arguments = ("fit", "table.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    text = command(*arguments)
    assert re.findall("note: column (.*)", text) == [
        (
            "'name' has a different value in every row; it is left out (use --keep "
            "name to keep it)"
        ),
        (
            "'ticket' has 61 levels in 120 rows; it is left out (use --keep ticket to "
            "keep it)"
        ),
        (
            "'land' has the same value in every row; it is left out (use --keep "
            "land to "
            "keep it)"
        ),
    ]
    assert load_model("m.json").schema_.names == ("x", "z", "town")
    text = command(*arguments, "--keep", "name,land", "--categorical", "ticket")
    assert "left out" not in text
    assert len(load_model("m.json").schema_.names) == 6
    assert len(command("predict", "m.json", "table.csv").split()) == n_rows + 1
    error = command(*arguments, "--keep", "nam", code=3)
    assert error == (
        "sklearn-textbook: table.csv: no column 'nam' to keep; did you mean 'name'?\n"
    )


def test_no_column_is_left(command):
    Path("t.csv").write_text("x,y\n" + "".join(f"n{i},{i % 2}\n" for i in range(9)))
    assert command("fit", "t.csv", "--target", "y", code=5) == (
        "sklearn-textbook: t.csv, column 'x': has a different value in every row, "
        "and no "
        "other column is left to predict from; use --keep x to keep it\n"
    )


# ------------------------------------------------------------- unseen levels
def test_unseen_levels_are_counted(command):
    Path("t.csv").write_text("colour,y\n" + "red,a\ngreen,b\nred,a\n" * 4)
    arguments = ("fit", "t.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    command(*arguments)
    levels = ["blue", "pink", "blue", "red", ""]
    Path("new.csv").write_text("colour,y\n" + "".join(f"{x},a\n" for x in levels))
    note = (
        "note: column 'colour' has levels not seen in training: 'blue' (2 rows), "
        "'pink' (1 row)\n"
    )
    main(["predict", "m.json", "new.csv", "-o", "out.csv"])
    assert command.capsys.readouterr().err.startswith(note)
    assert note in command(*arguments, "--test", "new.csv")
    many = "".join(f"{x},a\n" for x in "abcdefgaabbcc")
    Path("new.csv").write_text(f"colour,y\n{many}")
    main(["predict", "m.json", "new.csv", "-o", "out.csv"])
    assert "'e' (1 row) and 2 more levels (2 rows)\n" in command.capsys.readouterr().err


# --------------------------------------------------------------------- weights
@pytest.mark.parametrize("n_distinct", [1, 3, 1000])
def test_area_under_the_curve(n_distinct):
    rng = np.random.default_rng(n_distinct)
    shares = rng.integers(0, n_distinct, 80) / n_distinct
    is_class = rng.random(80) < shares + 0.2
    for weights in (None, rng.random(80)):
        area = roc_auc_score(is_class, shares, sample_weight=weights)
        assert measure_area(is_class, shares, weights) == pytest.approx(area)


def test_weights(command):
    weights = np.random.default_rng(1).integers(0, 4, 120)
    columns = write_table(w=weights)
    arguments = ("fit", "table.csv", "--target", "y", "--full", "--weight", "w")
    arguments += ("--set", "max_depth=1", "--cv", 3, "--test", "table.csv")
    text = command(*arguments, "--save", "m.json")
    used = weights > 0
    assert f"\nweights w: {weights.sum()} in all\n" in text
    left_out = 120 - used.sum()
    assert f"left out: {left_out} rows without a value of 'y', or of weight 0" in text
    model = load_model("m.json")
    assert model.schema_.names == ("x", "z")
    X = np.column_stack([columns["x"], columns["z"]])
    expected = CARTClassifier(max_depth=1).fit(X, columns["y"], sample_weight=weights)
    predicted = expected.predict(X)
    rows = f"{used.sum()} rows, weighted"
    accuracy = accuracy_score(columns["y"], predicted, sample_weight=weights)
    area = roc_auc_score(
        columns["y"], expected.predict_proba(X)[:, 1], sample_weight=weights
    )
    for where in ("training", "test"):
        line = re.search(rf"\n{where} +(\S+) +\S+ +(\S+) +{rows}\n", text)
        assert line.groups() == (f"{accuracy:.3f}", f"{area:.3f}")
    matrix = text[text.index("confusion matrix  test") :].splitlines()[2:4]
    assert sum(int(n) for line in matrix for n in line.split()[1:]) == weights.sum()
    main(["predict", "m.json", "table.csv", "-o", "out.csv"])
    assert f"accuracy {accuracy:.4g}, " in command.capsys.readouterr().err
    assert f"cross-validated  {accuracy:.1f}"[:19] in text


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("-1", "t.csv, line 3, column 'w': the weight is -1; weights must be numbers"),
        ("", "t.csv, line 3, column 'w': the weight is missing; weights must be"),
        ("much", "t.csv, line 3, column 'w': 'much' is not a number"),
    ],
)
def test_weights_that_are_refused(command, value, message):
    Path("t.csv").write_text(f"x,w,y\n1,1,a\n2,{value},b\n3,2,b\n")
    arguments = ("fit", "t.csv", "--cv", 0, "--weight")
    code = 3
    error = command(*arguments, "w", "--target", "y", code=code)
    assert error.startswith(f"sklearn-textbook: {message}")


def test_columns_that_are_no_weights(command):
    Path("t.csv").write_text("x,w,y\n1,0,a\n2,0,b\n3,0,b\n")
    arguments = ("fit", "t.csv", "--cv", 0, "--target", "y", "--weight")
    assert "column 'w': no row has a positive weight" in command(
        *arguments, "w", code=5
    )
    assert "t.csv: no column 'v'" in command(*arguments, "v", code=3)
    assert "--weight 'y' is also the --target" in command(*arguments, "y", code=2)
    error = command(*arguments, "w", "--drop", "w", code=2)
    assert "'w' is left out, but listed in" in error


# -------------------------------------------------------------- ordered levels
def test_ordered_levels(command):
    sizes = ["mid", "low", "high", "top", ""] * 12
    rows = "".join(f"{s},{s in ('low', 'mid')}\n" for s in sizes)
    Path("t.csv").write_text(f"size,y\n{rows}")
    arguments = ("fit", "t.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    text = command(*arguments, "--ordinal", "size=low<mid< high<top")
    assert re.search(r"\nsize +ordinal +12  low 12 < mid 12 < high 12 < top 12\n", text)
    schema = load_model("m.json").schema_
    assert schema.columns[0].levels == ("low", "mid", "high", "top")
    assert "size <= mid" in text
    assert command("predict", "m.json", "t.csv").split()[1:5] == [
        *("true", "true", "false", "false")
    ]
    error = command(*arguments, "--ordinal", "size=low<mid<high", code=3)
    assert error == (
        "sklearn-textbook: t.csv, line 5, column 'size': 'top' is not a declared "
        "level; the declared levels are 'low', 'mid', 'high'\n"
    )
    for value in ("size", "size=low", "=a<b", "size=a<<b"):
        error = command(*arguments, "--ordinal", value, code=2)
        assert f"{value!r} is not of the form column=low<high" in error
    error = command(*arguments, "--ordinal", "size=a<b<a", code=2)
    assert "'size=a<b<a' has a duplicate level" in error
    error = command(*arguments, "--ordinal", "size=a<b", "--numeric", "size", code=2)
    assert "'size' is in --ordinal and also declared in another way" in error


def test_numbers_as_ordered_levels(command):
    Path("t.csv").write_text("s,y\n" + "3,a\n1,b\n2,b\n" * 3)
    arguments = ("fit", "t.csv", "--target", "y", "--cv", 0, "--ordinal", "s=1<2<3")
    assert "  1 3 < 2 3 < 3 3\n" in command(*arguments)


# ----------------------------------------------------------------------- costs
def test_costs(command):
    columns = write_table()
    Path("t.costs").write_text("no, yes: 9\n")
    arguments = ("fit", "table.csv", "--target", "y", "--cv", 3, "--test", "table.csv")
    text = command(*arguments, "--cost", "t.costs", "--save", "m.json")
    saved = read_model("m.json")
    assert saved.table["costs"] == [[0.0, 1.0], [9.0, 0.0]]
    X = np.column_stack([columns["x"], columns["z"]])
    shares = saved.estimator.predict_proba(
        read_table("table.csv").frame.select(["x", "z"])
    )
    expected = np.array(["no", "yes"])[(shares[:, 0] < 9 * shares[:, 1]).astype(int)]
    assert (expected != saved.estimator.classes_[shares.argmax(1)]).any()
    assert command("predict", "m.json", "table.csv").split()[1:] == expected.tolist()
    y = np.array(columns["y"])
    cost = np.mean(np.select([y == expected, y == "yes"], [0, 9], 1))
    for where in ("training", "test"):
        line = re.search(rf"\n{where} +(\S+) +\S+ +\S+ +(\S+) +120 rows\n", text)
        assert float(line[1]) == pytest.approx(np.mean(y == expected), abs=6e-4)
        assert float(line[2]) == pytest.approx(cost, abs=6e-4)
    assert "\nnote: the class with the least expected cost is predicted\n" in text
    main(["predict", "m.json", "table.csv", "-o", "out.csv"])
    assert f", cost {cost:.4g} (120 rows)" in command.capsys.readouterr().err
    forest = ("--algorithm", "random-forest", "--trees", 5)
    text = command(*arguments, "--cost", "t.costs", *forest)
    assert re.search(r"\nout-of-bag( +\d\.\d+){4} ", text)
    assert len(X) == len(y)


def test_costs_that_are_refused(command):
    write_table()
    arguments = ("fit", "table.csv", "--cv", 0, "--cost", "t.costs", "--target")
    error = command(*arguments, "y", code=3)
    assert error == "sklearn-textbook: t.costs: no such file\n"
    Path("t.costs").write_text("no, maybe: 9\n")
    error = command(*arguments, "y", code=3)
    assert "t.costs, line 1: unknown class 'maybe'" in error
    assert "--cost requires classes, but 'z' is numeric" in command(
        *arguments, "z", code=2
    )


@pytest.mark.parametrize("costs", [[[0, 1]], "x", [[0, 1], [-1, 0]], {"a": 1}])
def test_costs_of_a_damaged_model(command, costs):
    write_table()
    command("fit", "table.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    document = json.loads(Path("m.json").read_text("utf-8"))
    document["table"]["costs"] = costs
    Path("bad.json").write_text(json.dumps(document))
    assert command("predict", "bad.json", "table.csv", code=4) == (
        "sklearn-textbook: bad.json: is damaged: table.costs is not a matrix of costs\n"
    )


# ---------------------------------------------------------------- importances
def test_importances_of_a_tree(command):
    text = command(*IRIS)
    lines = text[text.index("\nimportances") :].splitlines()[2:6]
    assert lines[0].split() == ["column", "share"]
    assert [line.split(" (cm)")[0] for line in lines[1:3]] == [
        *("petal length", "petal width")
    ]
    shares = [float(line.split(")")[1].split()[0]) for line in lines[1:3]]
    assert sum(shares) == pytest.approx(1, abs=0.002)
    assert lines[3] == "... and 2 more columns without a split"


def test_missing_test_table_is_refused_before_fitting(command):
    write_table()
    arguments = ["fit", "table.csv", "--target", "y", "--test", "tabel.csv"]
    assert main(arguments) == 3
    captured = command.capsys.readouterr()
    assert captured.out == ""
    assert captured.err.endswith("tabel.csv: no such file; did you mean 'table.csv'?\n")


# ------------------------------------------------------------- layout of the files
def test_sheets_titles_and_comments(command):
    openpyxl = pytest.importorskip("openpyxl")
    columns = write_table()
    book = openpyxl.Workbook()
    sheet = book.create_sheet("data of 2024")
    rows = zip(*(np.asarray(c).tolist() for c in columns.values()), strict=True)
    for row in [("a title",), tuple(columns), ("# a comment",), *rows]:
        sheet.append(row)
    book.save("t.xlsx")
    layout = ("--sheet", "data of 2024", "--skip-lines", 1, "--comment", "#")
    fit = ("--target", "y", "--cv", 0, "--save", "m.json")
    text = command("fit", "t.xlsx", *fit, *layout, "--test", "table.csv")
    assert "t.xlsx: 120 rows, 3 columns (Excel, sheet 'data of 2024')" in text
    predicted = command("predict", "m.json", "t.xlsx", *layout)
    assert predicted == command("predict", "m.json", "table.csv")
    Path("t.csv").write_text("a title\n# a comment\n" + Path("table.csv").read_text())
    layout = ("--skip-lines", 1, "--comment", "#")
    assert predicted == command("predict", "m.json", "t.csv", *layout)
    message = command("fit", "t.xlsx", *fit, "--sheet", "2024", code=3)
    assert "t.xlsx: no sheet '2024'; numbers are from 1 to 2; there are: " in message
    message = command("fit", "table.csv", *fit, "--sheet", "a", code=3)
    assert "table.csv: sheet is for excel files, and this is csv" in message


def test_weights_in_arff_files(command):
    columns = write_table()
    rng = np.random.default_rng(0)
    weights = rng.choice([0, 0.5, 1, 3], len(columns["y"]))
    write_table(w=weights)
    rows = zip(columns["x"], columns["z"], columns["y"], weights, strict=True)
    lines = [f"{x},{z},{y},{{{w}}}" for x, z, y, w in rows]
    header = "@attribute x numeric\n@attribute z numeric\n@attribute y {no, yes}\n"
    Path("t.arff").write_text(header + "@data\n" + "\n".join(lines))
    end = ("--target", "y", "--cv", 2, "--set", "max_depth=3", "--save")
    text = command("fit", "t.arff", *end, "a.json")
    assert f"\nweights weight: {weights.sum():g} in all\n" in text
    expected = command("fit", "table.csv", "--weight", "w", *end, "b.json")
    parts = [part[part.index("\ntree ") : -8] for part in (text, expected)]
    assert parts[0] == parts[1]
    main(["predict", "a.json", "t.arff"])
    assert ", weighted)" in command.capsys.readouterr().err
    command("fit", "t.arff", *end, "c.json", "--drop", "weight")
    assert "weight" not in read_model("c.json").table
