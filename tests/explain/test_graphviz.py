"""DOT files, read back by a strict reader of the language."""

import html
import io
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest
import sklearn.tree

from sklearn_textbook.tree import CARTClassifier, ID3Classifier
from sklearn_textbook.tree.explain import export_graphviz, plot_tree
from sklearn_textbook.tree.explain.colors import class_colors, node_colors
from sklearn_textbook.tree.explain.fitted import read_fitted
from sklearn_textbook.tree.explain.shape import count_below
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
        if text[position] == "<":
            stop = find_end(text, position)
            tokens.append(text[position:stop])
            position = stop
            continue
        match = TOKEN.match(text, position)
        assert match, f"no DOT: {text[position : position + 40]!r}"
        tokens.append(match.group(match.lastgroup))
        position = match.end()
    return tokens


def find_end(text, position):
    """The end of an HTML-like string."""
    depth = 0
    for place in range(position, len(text)):
        depth += {"<": 1, ">": -1}.get(text[place], 0)
        if depth == 0:
            return place + 1
    raise AssertionError("no end of an HTML-like string")


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
        graph[kind].setdefault(name, {}).update(attributes)
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
    if value.startswith("<"):
        ET.fromstring(value[1:-1])
        lines = re.split(r"</TR>|<BR/>", value[1:-1])
        lines = [html.unescape(re.sub(r"<[^>]*>", "", line)) for line in lines]
        lines = [line.replace("\\\\", "\\") for line in lines if line.strip()]
        return "\n".join(lines)
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


def find_bars(text):
    """Width and colour of the cells of the bars, by node."""
    bars = {}
    for node, label in re.findall(
        r"^(\d+) \[label=<(.*?)>(?:, fill.*)?\];$", text, re.M
    ):
        cells = re.findall(r'<TD WIDTH="(\d+)"[^>]*BGCOLOR="(#\w+)"', label)
        bars[node] = [(int(width), color) for width, color in cells]
    return bars


def test_small_tree():
    text = export_graphviz(make_estimator_of_two_leaves())
    graph = read_dot(text)
    first, second = class_colors(2)
    labels = {node: entry["label"] for node, entry in graph["nodes"].items()}
    assert labels == {
        "0": "x\n4 rows",
        "1": "a\n3 rows, 100%",
        "2": "b\n1 row, 100%",
    }
    assert graph["edges"][("0", "1")]["label"] == "≤ 1.5"
    assert graph["edges"][("0", "2")]["label"] == "> 1.5"
    widths = [float(edge["penwidth"]) for edge in graph["edges"].values()]
    assert widths == [0.7 + 2.8 * 0.75, 0.7 + 2.8 * 0.25]
    assert find_bars(text) == {
        "0": [(54, first), (18, second)],
        "1": [(72, first)],
        "2": [(72, second)],
    }
    assert graph["general"]["graph"]["label"].split() == ["a", "b"]
    assert [first in text, second in text] == [True, True]


def test_texts_and_colours_are_those_of_plot_tree():
    pytest.importorskip("matplotlib").use("Agg")
    from matplotlib.text import Text

    for mode in MODES:
        estimator = random_tree(3, mode, depth=3)
        names = [f"x_{c}" for c in range(estimator.tree_.n_features)]
        options = {"feature_names": names, "max_depth": 2, "impurity": True}
        artists = plot_tree(estimator, ax="new", **options)
        plotted = sorted(a.get_text() for a in artists if isinstance(a, Text))
        graph = read_dot(export_graphviz(estimator, **options))
        entries = [*graph["nodes"].values(), *graph["edges"].values()]
        written = [line for e in entries for line in e["label"].split("\n")]
        assert sorted(written) == plotted
        import matplotlib.pyplot as plt

        plt.close("all")


def test_legend_of_many_classes_has_rows():
    builder = TreeBuilder([0])
    builder.add([1] * 27)
    estimator = make_estimator(builder.build(), make_schema(("x",)), np.arange(27))
    legend = read_dot(export_graphviz(estimator))["general"]["graph"]["label"]
    rows = [line.split() for line in legend.split("\n")]
    assert rows[0] == ["0", "1", "2", "3", "4", "5"]
    assert rows[-1] == ["+3", "more"]
    plain = export_graphviz(estimator, filled=False)
    assert "label" not in read_dot(plain)["general"]["graph"]
    assert find_bars(plain) == {"0": []}


@pytest.mark.skipif(shutil.which("dot") is None, reason="needs Graphviz")
@pytest.mark.parametrize("odd", ["\\N \\G \\l \\n", '"<b>&amp;', "列"])
def test_svg_has_the_text_in_letters_of_6_points(odd):
    estimator = make_estimator_of_two_leaves(odd, (odd, "b"), (odd, "other"))
    dot = export_graphviz(estimator).encode()
    run = subprocess.run(["dot", "-Tsvg"], input=dot, capture_output=True, check=True)
    assert run.stderr == b""
    texts = list(ET.fromstring(run.stdout).iter("{http://www.w3.org/2000/svg}text"))
    words = ["".join(text.itertext()).strip() for text in texts]
    assert words.count(odd) >= 3
    assert min(float(text.get("font-size")) for text in texts) >= 6.0


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
    graph = read_dot(export_graphviz(estimator, fontname=odd))
    assert graph["nodes"]["0"]["label"].split("\n") == [shown, "4 rows"]
    assert graph["nodes"]["1"]["label"].split("\n") == [shown, "3 rows, 100%"]
    label = graph["edges"][("0", "1")]["label"]
    assert label in (shown, '"' + shown.replace('"', '""') + '"')
    assert graph["general"]["node"]["fontname"] == shown


def test_options():
    estimator = make_estimator_of_two_leaves()
    graph = read_dot(
        export_graphviz(
            estimator,
            impurity=True,
            node_ids=True,
            proportion=True,
            rotate=True,
            leaves_parallel=True,
            precision=1,
            feature_names=["y"],
            class_names=["A", "B"],
        )
    )
    lines = graph["nodes"]["0"]["label"].split("\n")
    assert lines == ["y", "#0", "100% of rows", "impurity 0.5"]
    lines = graph["nodes"]["2"]["label"].split("\n")
    assert lines == ["B", "#2", "25% of rows, 100%", "impurity 0.5"]
    assert graph["general"]["rankdir"] == "LR"
    assert graph["general"]["node"]["style"] == "filled, rounded"
    assert graph["ranks"] == [["1", "2"]]
    bare = read_dot(export_graphviz(estimator, filled=False, rounded=False))
    assert "fillcolor" not in bare["nodes"]["0"]
    assert "style" not in bare["general"]["node"]


def test_max_depth_marks_what_it_leaves_out():
    estimator = random_tree(3, "branch")
    graph = read_dot(export_graphviz(estimator, max_depth=1))
    depth = estimator.tree_.depth
    assert sorted(map(int, graph["nodes"])) == np.flatnonzero(depth <= 1).tolist()
    n_below = count_below(estimator.tree_).n_nodes
    for node, attributes in graph["nodes"].items():
        n_hidden = n_below[int(node)] if depth[int(node)] == 1 else 0
        last = attributes["label"].split("\n")[-1]
        assert (last == f"+{n_hidden} nodes below") == (n_hidden > 0)


def test_a_subtree_is_written_as_in_the_whole_tree():
    estimator = random_tree(3, "branch")
    tree = estimator.tree_
    whole = read_dot(export_graphviz(estimator))
    root = int(np.flatnonzero((tree.depth == 1) & ~tree.is_leaf)[0])
    part = read_dot(export_graphviz(estimator, root=root))
    assert len(part["nodes"]) == count_below(tree).n_nodes[root] + 1
    assert part["nodes"].items() <= whole["nodes"].items()
    labels = {edge: entry["label"] for edge, entry in part["edges"].items()}
    for edge, label in labels.items():
        assert whole["edges"][edge]["label"] == label
    assert len(labels) == len(part["nodes"]) - 1


def test_weights_values_and_missing_values():
    builder = TreeBuilder([0])
    builder.add([[2.5]], n_samples=3)
    for node in builder.split(0, 0, 1.5, [[[1.0]], [[4.0]]], missing=1):
        builder.set_weight(node, 1.25)
    estimator = make_estimator(builder.build([]), make_schema(("x",)))
    estimator.n_missing_ = np.array([1])
    graph = read_dot(export_graphviz(estimator))
    assert graph["nodes"]["0"]["label"] == "x\n3 rows, weight 2.5"
    assert graph["nodes"]["2"]["label"].split("\n")[0] == "4"
    assert graph["edges"][("0", "2")]["label"] == "> 1.5 or missing"


def test_a_branch_without_rows_has_no_bar():
    X = pd.DataFrame({"c": pd.Categorical(["a", "b", "b"], categories=["a", "b", "z"])})
    text = export_graphviz(ID3Classifier().fit(X, ["p", "q", "q"]))
    assert read_dot(text)["nodes"]["3"]["label"] == "q\n0 rows"
    assert find_bars(text)["3"] == []


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
        ({"max_levels": 0}, "max_levels"),
        ({"root": 3}, "root must be a node number from 0 to 2, got 3"),
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
