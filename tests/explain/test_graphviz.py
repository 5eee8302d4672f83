"""DOT files, read back by a strict reader of the language."""

import io
import re

import numpy as np
import pandas as pd
import pytest
import sklearn.tree

from sklearn_textbook.tree import CARTClassifier, ID3Classifier
from sklearn_textbook.tree.explain import export_graphviz
from sklearn_textbook.tree.explain.colors import class_colors, node_colors
from sklearn_textbook.tree.explain.fitted import read_fitted
from tests.explain.builders import (
    MODES,
    TreeBuilder,
    make_estimator,
    make_schema,
    random_tree,
)

TOKEN = re.compile(
    r'\s*(?:(?P<string>"(?:[^"\\]|\\.)*")|(?P<word>[A-Za-z_]\w*|\d+)|(?P<sign>->|[{}\[\];=,]))'
)


def read_tokens(text):
    position, tokens = 0, []
    while text[position:].strip():
        match = TOKEN.match(text, position)
        assert match, f"no DOT: {text[position : position + 40]!r}"
        tokens.append(match.group(match.lastgroup))
        position = match.end()
    return tokens


def read_dot(text):
    """Nodes, edges and general attributes of a DOT file, or an assertion error."""
    tokens = read_tokens(text)
    assert tokens[:3] == ["digraph", "Tree", "{"]
    assert tokens.pop() == "}"
    graph = {"nodes": {}, "edges": {}, "general": {}, "ranks": []}
    rest = iter(tokens[3:])
    for token in rest:
        if token == "{":
            group = []
            while (token := next(rest)) != "}":
                group.append(token)
            graph["ranks"].append([t for t in group if t.isdigit()])
            assert next(rest) == ";"
            continue
        name, sign = token, next(rest)
        if sign == "=":
            graph["general"][name] = next(rest)
            assert next(rest) == ";"
            continue
        if sign == "->":
            name, sign = (name, next(rest)), next(rest)
        assert sign == "["
        attributes = read_attributes(rest)
        kind = "edges" if isinstance(name, tuple) else "nodes"
        if name in ("node", "edge", "graph"):
            kind = "general"
        graph[kind][name] = attributes
        assert next(rest) == ";"
    return graph


def read_attributes(rest):
    attributes, sign = {}, ","
    while sign == ",":
        key, equals, value = next(rest), next(rest), next(rest)
        assert equals == "="
        attributes[key] = unquote(value)
        sign = next(rest)
    assert sign == "]"
    return attributes


def unquote(value):
    """What Graphviz shows for a string: its lines."""
    if not value.startswith('"'):
        return value
    signs = {"n": "\n", '"': '"', "\\": "\\"}
    return re.sub(r"\\(.)", lambda match: signs[match.group(1)], value[1:-1])


def make_estimator_of_two_leaves(name="x", labels=("a", "b"), levels=None):
    builder = TreeBuilder([2 if levels else 0])
    builder.add([3, 1])
    builder.split(0, 0, [0, 1] if levels else 1.5, [[3, 0], [0, 1]], missing=0)
    column = (name, "nominal", levels, "string") if levels else (name,)
    return make_estimator(
        builder.build(), make_schema(column), np.array(labels, dtype=object)
    )


def test_small_tree():
    graph = read_dot(export_graphviz(make_estimator_of_two_leaves()))
    assert graph["nodes"] == {
        "0": {"label": "x\nimpurity: 0.5\nrows: 4\nweights: 3, 1\nclass: a"},
        "1": {"label": "impurity: 0.5\nrows: 3\nweights: 3, 0\nclass: a"},
        "2": {"label": "impurity: 0.5\nrows: 1\nweights: 0, 1\nclass: b"},
    }
    assert graph["edges"] == {
        ("0", "1"): {"label": "<= 1.5"},
        ("0", "2"): {"label": "> 1.5"},
    }


@pytest.mark.parametrize("mode", MODES)
def test_every_tree_is_valid_and_whole(mode):
    for seed in range(6):
        estimator = random_tree(seed, mode)
        tree = estimator.tree_
        graph = read_dot(export_graphviz(estimator, filled=True, rounded=True))
        assert sorted(map(int, graph["nodes"])) == list(range(tree.node_count))
        assert {(int(a), int(b)) for a, b in graph["edges"]} == {
            (int(parent), node)
            for node, parent in enumerate(tree.nodes["parent"])
            if node
        }
        for attributes in graph["nodes"].values():
            assert re.fullmatch("#[0-9A-F]{6}", attributes["fillcolor"])


ODD = ['quote "', "back\\slash", "\\N \\G \\l", "<b>&amp;", "new\nline", "列", "]; x ["]


@pytest.mark.parametrize("odd", ODD)
def test_odd_names_are_shown_as_they_are(odd):
    shown = odd.replace("\n", "\\n")
    estimator = make_estimator_of_two_leaves(odd, (odd, "b"), (odd, "other"))
    graph = read_dot(export_graphviz(estimator, fontname=odd, impurity=False))
    lines = graph["nodes"]["0"]["label"].split("\n")
    assert lines == [shown, "rows: 4", "weights: 3, 1", f"class: {shown}"]
    label = graph["edges"][("0", "1")]["label"]
    assert label in (shown, '"' + shown.replace('"', '""') + '"')
    assert graph["general"]["node"]["fontname"] == shown


def test_options():
    estimator = make_estimator_of_two_leaves()
    graph = read_dot(
        export_graphviz(
            estimator,
            label="root",
            node_ids=True,
            proportion=True,
            rotate=True,
            leaves_parallel=True,
            filled=True,
            rounded=True,
            precision=1,
            feature_names=["y"],
            class_names=["A", "B"],
        )
    )
    assert graph["nodes"]["0"]["label"].split("\n") == [
        "node #0",
        "y",
        "impurity: 0.5",
        "rows: 100%",
        "weights: 75%, 25%",
        "class: A",
    ]
    assert graph["nodes"]["2"]["label"] == "node #2\n0.5\n25%\n0%, 100%\nB"
    assert graph["general"]["rankdir"] == "LR"
    assert graph["general"]["node"]["style"] == "filled, rounded"
    assert graph["ranks"] == [["1", "2"]]
    bare = read_dot(export_graphviz(estimator, label="none", impurity=False))
    assert bare["nodes"]["0"]["label"] == "x\n4\n3, 1\na"
    assert "fillcolor" not in bare["nodes"]["0"]
    assert "style" not in bare["general"]["node"]


def test_max_depth_marks_what_it_leaves_out():
    estimator = random_tree(3, "branch")
    graph = read_dot(export_graphviz(estimator, max_depth=1))
    depth = estimator.tree_.depth
    assert sorted(map(int, graph["nodes"])) == np.flatnonzero(depth <= 1).tolist()
    is_leaf = estimator.tree_.is_leaf
    for node, attributes in graph["nodes"].items():
        is_cut = depth[int(node)] == 1 and not is_leaf[int(node)]
        assert attributes["label"].endswith("\n(...)") == is_cut


def test_weights_values_and_missing_values():
    builder = TreeBuilder([0])
    builder.add([[2.5]], n_samples=3)
    for node in builder.split(0, 0, 1.5, [[[1.0]], [[4.0]]], missing=1):
        builder.set_weight(node, 1.25)
    estimator = make_estimator(builder.build([]), make_schema(("x",)))
    estimator.n_missing_ = np.array([1])
    graph = read_dot(export_graphviz(estimator, impurity=False))
    assert graph["nodes"]["0"]["label"] == "x\nrows: 3, weight: 2.5\nvalue: 2.5"
    assert graph["edges"][("0", "2")]["label"] == "> 1.5 or missing"


@pytest.mark.parametrize("proportion", [False, True])
def test_a_branch_without_rows_shows_shares_of_its_parent(proportion):
    X = pd.DataFrame({"c": pd.Categorical(["a", "b", "b"], categories=["a", "b", "z"])})
    tree = ID3Classifier().fit(X, ["p", "q", "q"])
    options = {"impurity": False, "proportion": proportion}
    nodes = read_dot(export_graphviz(tree, **options))["nodes"]
    rows = "0%" if proportion else "0"
    shares = "shares of the parent: 33.3%, 66.7%"
    assert nodes["3"]["label"] == f"rows: {rows}\n{shares}\nclass: q"
    nodes = read_dot(export_graphviz(tree, label="none", **options))["nodes"]
    assert nodes["3"]["label"] == f"{rows}\n33.3%, 66.7%\nq"


def test_text_goes_where_it_is_sent(tmp_path):
    estimator = make_estimator_of_two_leaves("列")
    text = export_graphviz(estimator)
    assert export_graphviz(estimator, tmp_path / "tree.dot") is None
    assert (tmp_path / "tree.dot").read_text("utf-8") == text
    file = io.StringIO()
    assert export_graphviz(estimator, file) is None
    assert file.getvalue() == text


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"label": "some"}, r"label must be one of .*'root'.*got 'some'"),
        ({"max_depth": -1}, "max_depth"),
        ({"precision": 0.5}, "precision"),
    ],
)
def test_wrong_parameters_are_named(parameters, message):
    with pytest.raises(ValueError, match=message):
        export_graphviz(make_estimator_of_two_leaves(), **parameters)


# ------------------------------------------------------------------- colours
def test_colours_of_classes_differ():
    for n_classes in (1, 2, 7, 8, 30, 100):
        colors = class_colors(n_classes)
        assert len(set(colors)) == n_classes
        assert all(re.fullmatch("#[0-9A-F]{6}", color) for color in colors)


def read(tree, classes=None):
    return read_fitted(make_estimator(tree, make_schema(("x",)), classes))


def test_tint_grows_with_the_share_of_the_class():
    builder = TreeBuilder([0])
    builder.add([5, 5])
    builder.add([10, 0])
    builder.add([7, 3])
    even, pure, mixed = node_colors(read(builder.build(), np.array([0, 1])))
    assert even == "#FFFFFF"
    red = [int(color[1:3], 16) for color in (pure, mixed, even)]
    assert red == sorted(set(red))


def test_colour_of_values_runs_from_light_to_dark():
    builder = TreeBuilder([0])
    for value in (3.0, 1.0, 9.0):
        builder.add([[value]])
    red = [int(color[1:3], 16) for color in node_colors(read(builder.build([])))]
    assert red[1] > red[0] > red[2]
    builder = TreeBuilder([0])
    builder.add([[3.0]])
    assert node_colors(read(builder.build([]))) == ["#F7FBFF"]


@pytest.mark.parametrize(
    ("tree", "name"),
    [
        (CARTClassifier(), "threshold"),
        (CARTClassifier(categorical_split="multiway"), "children_left"),
    ],
)
def test_scikit_learn_refuses_trees_that_it_cannot_show(tree, name):
    table = pd.DataFrame({"sex": ["f", "m", "d", "f"], "age": [1.0, 2.0, 3.0, 4.0]})
    tree.fit(table, [0, 1, 2, 0])
    with pytest.raises(
        AttributeError, match=f"{name}.*\n?.*sklearn_textbook.tree show"
    ):
        sklearn.tree.export_graphviz(tree, impurity=False)
    assert "sex" in export_graphviz(tree)


def test_scikit_learn_shows_trees_of_numbers():
    tree = CARTClassifier().fit([[1.0], [2.0]], [0, 1])
    assert "1.5" in sklearn.tree.export_graphviz(tree)
