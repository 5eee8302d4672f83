"""The command line: forms of show, and the explanations of predict."""

import csv
import io
import re
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.inspection import explain
from sklearn_textbook.io import load_model, read_table
from sklearn_textbook.tree import export_rules, to_html

DATA = Path(__file__).parents[1] / "data"
IRIS = ("fit", DATA / "iris.csv", "--target", "species", "--cv", 0)


@pytest.fixture
def tree(command):
    command(*IRIS, "--save", "tree.json")
    return load_model("tree.json")


def read_explanations(text):
    return [row["explanation"] for row in csv.DictReader(io.StringIO(text))]


# ------------------------------------------------------------------------ show
def test_source_code(command, tree):
    assert command("show", "tree.json", "--as", "sql") == (
        export_rules(tree, "sql").rstrip("\n") + "\n"
    )
    source = command("show", "tree.json", "--as", "python")
    names = {}
    exec(source, names)
    rows = read_table(DATA / "iris.csv").frame.to_pylist()
    predicted = [names["predict_row"](row) for row in rows]
    expected = command("predict", "tree.json", DATA / "iris.csv").split()[1:]
    assert predicted == expected


def test_code_of_a_tree_that_divides_rows(command):
    loan = ("fit", DATA / "loan.parquet", "--target", "decision", "--cv", 0)
    command(*loan, "--algorithm", "c45", "--save", "c45.json")
    error = command("show", "c45.json", "--as", "sql", code=2)
    assert error.startswith(
        "sklearn-textbook: --as sql: A CASE expression sends a row down one branch"
    )
    assert "def predict_row(row):" in command("show", "c45.json", "--as", "python")
    command(*loan, "--algorithm", "c45-rules", "--save", "rules.json")
    assert command("show", "rules.json", "--as", "sql").startswith("CASE\n")


@pytest.mark.parametrize(
    ("algorithm", "member", "values"),
    [
        ("gradient-boosting", 4, "values for versicolor"),
        ("output-smearing", 1, "values for setosa, versicolor, virginica"),
    ],
)
def test_values_of_a_tree_of_a_classifier(command, algorithm, member, values):
    options = ("--algorithm", algorithm, "--trees", 2, "--save", "m.json")
    command(*IRIS, *options)
    first = command("show", "m.json", "--tree", member).splitlines()[0]
    assert first.endswith(f"; {values}")


def test_drawings(command, tree):
    text = command("show", "tree.json", "--as", "svg")
    assert text.startswith("<?xml")
    assert text.endswith("</svg>\n")
    command("show", "tree.json", "--as", "svg", "-o", "tree.svg")
    assert Path("tree.svg").read_text("utf-8") == text
    assert len(command("show", "tree.json", "--as", "svg", "--max-depth-shown", 0)) < (
        len(text)
    )
    command("show", "tree.json", "--as", "png", "-o", "tree.png")
    assert Path("tree.png").read_bytes().startswith(b"\x89PNG\r\n")


def test_pages(command, tree):
    page = command("show", "tree.json", "--as", "html")
    assert page == to_html(tree)
    command("show", "tree.json", "--as", "html", "-o", "tree.html")
    assert Path("tree.html").read_text("utf-8") == page
    command(*IRIS, "--algorithm", "bagging", "--trees", 3, "--save", "bagging.json")
    page = command("show", "bagging.json", "--as", "html")
    assert page == to_html(load_model("bagging.json"))
    command(*IRIS, "--algorithm", "c45-rules", "--save", "rules.json")
    error = command("show", "rules.json", "--as", "html", code=2)
    assert "--as html draws trees, but rules.json contains a list of rules" in error


def test_pictures_are_not_for_terminals(terminal, command, tree):
    code, text = terminal("show", "tree.json", "--as", "png")
    assert code == 2
    assert "--as png: a terminal cannot show pictures; use --output FILE" in text


def test_drawings_need_their_extra(command, tree, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.pyplot", None)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    error = command("show", "tree.json", "--as", "png", "-o", "tree.png", code=2)
    assert "pip install matplotlib" in error


@pytest.mark.parametrize("form", ["text", "rules", "sql", "dot", "json"])
def test_files_are_what_is_printed(command, tree, form):
    printed = command("show", "tree.json", "--as", form)
    assert command("show", "tree.json", "--as", form, "-o", "out.txt") == ""
    assert Path("out.txt").read_text("utf-8") == printed
    error = command("show", "tree.json", "--as", form, "-o", "none/out", code=4)
    expected = "none/out: cannot be written (No such file or directory)"
    assert error == f"sklearn-textbook: {expected}\n"


def test_forest(command):
    arguments = ("--algorithm", "random-forest", "--trees", 20)
    text = command(*IRIS, *arguments, "--save", "forest.json")
    forest = load_model("forest.json")
    score = forest.oob_score_
    assert re.search(rf"\nout-of-bag +{score:.3f} ", text)
    shown = command("show", "forest.json")
    assert f"\nout-of-bag score {score:.4g}, error {1 - score:.4g}\n" in shown
    assert "\nimportances  share in the decrease of impurity\n" in shown
    one = command("show", "forest.json", "--tree", 3)
    assert one == command("show", "forest.json", "--member", 3)
    for form in ("sql", "python", "svg", "png"):
        error = command("show", "forest.json", "--as", form, code=2)
        assert f"--as {form} writes a single tree, but forest.json has 20" in error
    code = command("show", "forest.json", "--as", "sql", "--tree", 3)
    assert code.rstrip("\n") == export_rules(forest[3], "sql").rstrip("\n")


# --------------------------------------------------------------------- explain
def test_rules_of_rows(command, tree):
    text = command("predict", "tree.json", DATA / "iris.csv", "--explain")
    frame = read_table(DATA / "iris.csv").frame.drop_columns(["species"])
    leaves = tree.apply(frame)
    rules = dict(
        zip(
            [rule["node"] for rule in export_rules(tree, "dict", inner_nodes=True)],
            export_rules(tree, inner_nodes=True).splitlines(),
            strict=True,
        )
    )
    assert read_explanations(text) == [rules[leaf] for leaf in leaves]
    assert len(np.unique(leaves)) == 4


@pytest.mark.parametrize("direction", ["lda", "random"])
def test_oblique_trees(command, direction):
    """Of a table with nominal columns and missing values, in every form."""
    settings = ("--set", f"direction={direction}", "--set", "prefer_axis=null")
    settings += ("--set", "max_depth=3")
    arguments = ("--target", "species", "--algorithm", "oblique-tree", "--cv", 0)
    text = command(
        "fit", DATA / "penguins.csv", *arguments, *settings, "--save", "m.json"
    )
    tree = load_model("m.json")
    assert len(tree.tree_.terms)
    shown = command("show", "m.json")
    assert shown.splitlines()[0].startswith(
        f"ObliqueTreeClassifier, {tree.get_n_leaves()}"
    )
    assert shown.split("\n", 1)[1] in text
    assert command("show", "m.json", "--as", "svg").endswith("</svg>\n")
    assert command("show", "m.json", "--as", "dot").startswith("digraph Tree {")
    frame = read_table(DATA / "penguins.csv").frame.drop_columns(["species"])
    assert frame["sex"].null_count > 0
    names = {}
    exec(command("show", "m.json", "--as", "python"), names)
    predicted = [names["predict_row"](row) for row in frame.to_pylist()]
    told = command("predict", "m.json", DATA / "penguins.csv", "--explain")
    rows = list(csv.DictReader(io.StringIO(told)))
    assert [row["prediction"] for row in rows] == predicted
    rules = export_rules(tree, inner_nodes=True, max_rules=None).splitlines()
    assert {row["explanation"] for row in rows} <= {*rules}


def test_unknown_levels_of_sums(command):
    """Such a row is divided, or stays in the node."""
    rng = np.random.default_rng(0)
    x, colour = rng.normal(size=90), rng.choice(["red", "green", "blue"], 90)
    y = np.where(x + (colour == "red") > 0.5, "yes", "no")
    lines = [",".join(map(str, row)) for row in zip(x, colour, y, strict=True)]
    Path("t.csv").write_text("\n".join(["x,colour,y", *lines]))
    Path("new.csv").write_text("x,colour\n0.1,pink\n3,red\n")
    arguments = ("fit", "t.csv", "--target", "y", "--algorithm", "oblique-tree")
    arguments += ("--set", "prefer_axis=null", "--cv", 0, "--save", "m.json")
    for policy, start in (
        ("parent", "IF colour is an unknown level THEN no ["),
        ("fractional", "divided among 2 rules: IF "),
    ):
        command(*arguments, "--set", f"handle_unknown={policy}")
        told = read_explanations(command("predict", "m.json", "new.csv", "--explain"))
        assert told[0].startswith(start)
        assert "*x" in told[1]
    command(*arguments, "--set", "handle_unknown=error")
    error = command("predict", "m.json", "new.csv", code=3)
    assert "new.csv, line 2, column 'colour': 'pink' was not seen" in error


def test_row_that_stays_in_a_node(command):
    Path("t.csv").write_text("colour,y\n" + "red,a\ngreen,b\nblue,a\n" * 4)
    arguments = ("fit", "t.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    command(*arguments, "--set", "categorical_split=multiway")
    Path("new.csv").write_text("colour\nred\npink\n")
    red, pink = read_explanations(command("predict", "m.json", "new.csv", "--explain"))
    assert red == "IF colour = red THEN a [support 33.3% (4 rows), confidence 100%]"
    assert "THEN a [support 0% (0 rows), confidence 66.7%]" in pink


def test_divided_rows(command):
    command("fit", DATA / "golf", "--cv", 0, "--algorithm", "c45", "--save", "m.json")
    Path("q.csv").write_text(
        "outlook,temperature,humidity,windy\nrain,70,80,\n,70,,\novercast,,,\n"
    )
    rows = read_explanations(command("predict", "m.json", "q.csv", "--explain"))
    assert rows[0].startswith("divided among 2 rules: IF outlook = rain AND windy = ")
    assert rows[0].count("THEN") == 2
    assert rows[1].startswith("divided among 5 rules: ")
    assert rows[1].endswith("; ...")
    assert rows[2].startswith("IF outlook = overcast THEN Play [")


def test_rules_of_a_list(command):
    arguments = ("--algorithm", "c45-rules", "--save", "m.json")
    command("fit", DATA / "golf", "--cv", 0, *arguments)
    text = command("predict", "m.json", DATA / "golf.data", "--explain")
    rules = [
        line.removeprefix("ELSE ")
        for line in export_rules(load_model("m.json")).splitlines()
    ]
    used = load_model("m.json").apply(
        read_table(DATA / "golf").frame.drop_columns("class")
    )
    assert read_explanations(text) == [rules[number] for number in used]
    assert -1 in used


def test_explanations_with_costs(command):
    Path("t.csv").write_text("x,y\n" + "1,no\n1,no\n1,yes\n2,yes\n" * 4)
    Path("t.costs").write_text("no, yes: 9\n")
    arguments = ("fit", "t.csv", "--target", "y", "--cv", 0, "--cost", "t.costs")
    command(*arguments, "--save", "m.json")
    rows = read_explanations(command("predict", "m.json", "t.csv", "--explain"))
    assert rows[0].startswith("IF x <= 1.5 THEN yes [")
    assert rows[0].endswith("]; yes has the least expected cost")
    assert rows[3].startswith("IF x > 1.5 THEN yes [")
    assert rows[3].endswith("]")
    assert "x <= 1.5: yes (12 rows, 33.3%)" in command("show", "m.json")
    command("convert", "m.json", "m.sql")
    error = command("convert", "m.json", "m.pmml", code=2)
    assert "CARTClassifier predicts by cost_matrix, which this format" in error


def test_numbers_are_explained(command):
    Path("t.csv").write_text("x,y\n" + "1,1.5\n2,2.5\n" * 4)
    command("fit", "t.csv", "--target", "y", "--cv", 0, "--save", "m.json")
    rows = read_explanations(command("predict", "m.json", "t.csv", "--explain"))
    assert rows[:2] == [
        "IF x <= 1.5 THEN 1.5 [support 50% (4 rows)]",
        "IF x > 1.5 THEN 2.5 [support 50% (4 rows)]",
    ]


def test_ensembles_are_explained_by_contributions(command):
    command(*IRIS, "--algorithm", "bagging", "--save", "m.json")
    rows = read_explanations(
        command("predict", "m.json", DATA / "iris.csv", "--explain")
    )
    model = load_model("m.json")
    frame = pd.read_csv(DATA / "iris.csv", sep=";")[list(model.feature_names_in_)]
    assert rows == [entry.sentence for entry in explain(model, frame)]
    assert rows[0].startswith("probability of 'setosa': 1.00 = 0.3")
