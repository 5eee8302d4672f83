"""图4.5, 图4.6 and 图4.7 of 周志华: pre-pruning and post-pruning, step by step."""

import pytest

from sklearn_textbook.tree import ID3Classifier, PrePruning, ReducedErrorPruning
from tests.golden import get_example
from tests.golden.test_trees_textbook import load_parts
from tests.reference.compare import read_grown_tree

FIGURES = {
    "unpruned": ("zhou.fig4.5.tree", None),
    "prepruned": ("zhou.fig4.6.tree", PrePruning()),
    "postpruned": ("zhou.fig4.7.tree", ReducedErrorPruning(tie="keep")),
}


def fit(pruning, **parameters):
    """The tree of the melons that grow it, pruned by the others."""
    (X, y), (X_val, y_val) = load_parts()
    if pruning is None:
        return ID3Classifier(**parameters).fit(X, y)
    estimator = ID3Classifier(pruning=pruning, **parameters)
    return estimator.fit(X, y, X_val=X_val, y_val=y_val)


def write_tree(estimator, number=0):
    """A branch in the form of the printed trees."""
    node = read_grown_tree(estimator.tree_)[number]
    if not node["children"]:
        (counts,) = node["statistics"]
        # The class False stands for 好瓜: the first, which the book takes at ties.
        leaf = {"leaf": "是" if counts[0] >= counts[1] else "否"}
        return leaf | ({} if node["n_samples"] else {"empty": True})
    column = estimator.schema_.columns[node["feature"]]
    below = [write_tree(estimator, child) for child in node["children"]]
    branches = dict(zip(column.levels, below, strict=True))
    return {"feature": column.name, "branches": branches}


def list_accuracies(report):
    """Per cent of the other melons that are judged rightly, before and after."""
    return [
        (100 * (1 - before), 100 * (1 - after))
        for before, after in zip(report["before"], report["after"], strict=True)
    ]


def read_steps(example_id, kind):
    """Recorded steps, and how many decimals they have."""
    example = get_example(example_id)
    return (example[kind], 1) if kind == "printed" else (example[kind]["value"], 9)


@pytest.mark.parametrize("figure", FIGURES)
def test_figure(figure):
    """The tree as printed, and the accuracy: 42.9, 71.4 and 71.4 per cent."""
    example_id, pruning = FIGURES[figure]
    estimator = fit(pruning)
    assert write_tree(estimator) == get_example(example_id)["printed"]
    accuracy = 100 * estimator.score(*load_parts()[1])
    example = get_example("zhou.4.3.accuracy")
    assert accuracy == pytest.approx(example["verified"]["value"][figure])
    assert round(accuracy, 1) == example["printed"][figure]


@pytest.mark.parametrize("kind", ["printed", "verified"])
def test_post_pruning_steps(kind):
    """Nodes 6, 5, 2, 3, 1 in turn, with the book's accuracies and decisions."""
    report = fit(ReducedErrorPruning(tie="keep")).pruning_report_
    steps, decimals = read_steps("zhou.4.3.postpruning_steps", kind)
    numbers = number_nodes_as_printed()
    assert report["node"].tolist() == [numbers[step["node"]] for step in steps]
    for (before, after), step in zip(list_accuracies(report), steps, strict=True):
        assert round(before, decimals) == round(step["before"], decimals)
        assert round(after, decimals) == round(step["after"], decimals)
    decisions = {"prune": "pruned", "keep": "kept"}
    expected = [decisions[step["decision"]] for step in steps]
    assert report["decision"].tolist() == expected
    assert report.measure == "validation error"


@pytest.mark.parametrize("kind", ["printed", "verified"])
def test_pre_pruning_steps(kind):
    """The root is split, its first two branches are not."""
    report = fit(PrePruning()).pruning_report_
    (start, *steps), decimals = read_steps("zhou.4.3.prepruning_steps", kind)
    numbers = number_nodes_as_printed()
    assert report["node"].tolist() == [numbers[1], numbers[2], numbers[3]]
    befores = [start["before"], *(step["before"] for step in steps[1:])]
    for (before, after), step, expected in zip(
        list_accuracies(report), steps, befores, strict=True
    ):
        assert round(before, decimals) == round(expected, decimals)
        assert round(after, decimals) == round(step["after"], decimals)
    decisions = {"split": "kept", "keep leaf": "pruned"}
    expected = [decisions[step["decision"]] for step in steps]
    assert report["decision"].tolist() == expected


def number_nodes_as_printed():
    """The book's numbers of the inner nodes of 图4.5 -> ours."""
    nodes = read_grown_tree(fit(None).tree_)
    hollow, slightly_hollow, _ = nodes[0]["children"]
    slightly_curly = nodes[slightly_hollow]["children"][1]
    black = nodes[slightly_curly]["children"][1]
    return {1: 0, 2: hollow, 3: slightly_hollow, 5: slightly_curly, 6: black}


def test_pruning_at_ties_gives_figure_4_6():
    """The book says that one would prune nodes 5 and 3, too; 图4.6 is left then."""
    estimator = fit(ReducedErrorPruning(tie="prune"))
    assert write_tree(estimator) == get_example("zhou.fig4.6.tree")["printed"]
    decisions = estimator.pruning_report_["decision"].tolist()
    assert decisions == ["pruned", "pruned", "pruned", "pruned", "kept"]


def test_pre_pruning_that_divides_at_ties():
    """Node 3 gains nothing, but is split then; its branch 5 would gain nothing."""
    report = fit(PrePruning(tie="keep")).pruning_report_
    numbers = number_nodes_as_printed()
    order = [numbers[number] for number in (1, 2, 3, 5, 6)]
    assert report["node"].tolist() == order
    assert report["decision"].tolist() == ["kept", "pruned", "kept", "kept", "pruned"]


@pytest.mark.parametrize("figure", ["prepruned", "postpruned"])
def test_after_the_fact(figure):
    """Pruning the tree of 图4.5 without growing it again."""
    example_id, pruning = FIGURES[figure]
    grown = fit(None)
    pruned = pruning.prune(grown, *load_parts()[1])
    assert write_tree(pruned) == get_example(example_id)["printed"]
    assert write_tree(grown) == get_example("zhou.fig4.5.tree")["printed"]
