"""CART on the tables of 李航《统计学习方法》: example 5.4 and exercise 5.2."""

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.datasets import load_loan, load_regression_tree_example
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.golden import get_example
from tests.reference.compare import read_grown_tree

GINI = get_example("lihang.ex5.4.gini")
LOSSES = get_example("lihang.exercise5.2.split_losses")["verified"]["value"]
SPLITS = [(name, value) for name, values in GINI["printed"].items() for value in values]


def fit_loan(columns=None, **parameters):
    X, y = load_loan(return_X_y=True, as_frame=True)
    X = X if columns is None else X[columns]
    return CARTClassifier(categorical_split="one_vs_rest", **parameters).fit(X, y)


def fit_points(**parameters):
    X, y = load_regression_tree_example(return_X_y=True)
    return CARTRegressor(**parameters).fit(X, y)


def impurity_after_split(estimator):
    """Mean impurity of the children of the root."""
    root = estimator.tree_.nodes[0]
    return root["impurity"] - root["improvement"]


@pytest.mark.parametrize(("column", "value"), SPLITS)
def test_gini_of_every_split(column, value):
    """基尼指数 Gini(D, A=a): the value against all the others."""
    X, y = load_loan(return_X_y=True, as_frame=True)
    tested = pd.DataFrame({column: pd.Categorical(X[column].eq(value))})
    gini = impurity_after_split(CARTClassifier(max_depth=1).fit(tested, y))
    assert round(gini, 2) == GINI["printed"][column][value]
    assert gini == pytest.approx(GINI["verified"]["value"][column][value], abs=1e-9)


@pytest.mark.parametrize("column", GINI["printed"])
def test_best_value_of_every_column(column):
    estimator = fit_loan([column], max_depth=1)
    ginis = GINI["verified"]["value"][column]
    assert impurity_after_split(estimator) == pytest.approx(min(ginis.values()))
    level_map = read_grown_tree(estimator.tree_)[0]["level_map"]
    levels = estimator.schema_.columns[0].levels
    alone = {levels[code] for code, child in level_map.items() if child == 0}
    best = {value for value, gini in ginis.items() if gini == min(ginis.values())}
    if len(levels) > 2:  # of two levels, each is "the value" as well as "the rest"
        assert alone <= best
        assert len(alone) == 1


def test_loan_tree():
    """The CART tree is the tree of figure 5.5: a house of one's own, then a job."""
    estimator = fit_loan()
    nodes = read_grown_tree(estimator.tree_)
    assert len(nodes) == 5

    def check(number, expected):
        node = nodes[number]
        if "leaf" in expected:
            assert not node["children"]
            label = estimator.classes_[np.argmax(node["statistics"][0])]
            assert label == expected["leaf"]
            return
        schema = estimator.schema_.columns[node["feature"]]
        assert schema.name == expected["feature"]
        for value, branch in expected["branches"].items():
            child = node["level_map"][schema.levels.index(value)]
            check(node["children"][child], branch)

    check(0, get_example("lihang.ex5.3.tree")["printed"])
    choice = get_example("lihang.ex5.4.choice")["printed"]
    names = [estimator.schema_.names[n["feature"]] for n in nodes if n["children"]]
    assert [f"{name}=是" for name in names] == [choice["root"], choice["then"]]


@pytest.mark.parametrize("split", LOSSES)
def test_loss_of_every_split_point(split):
    """m(s): the squared error left on both sides of s (least squares)."""
    X, y = load_regression_tree_example(return_X_y=True)
    above = np.greater(X, float(split))
    estimator = CARTRegressor(max_depth=1).fit(above, y)
    loss = impurity_after_split(estimator) * len(y)
    assert loss == pytest.approx(LOSSES[split], abs=1e-9)


def test_best_split_point():
    tree = fit_points(max_depth=1).tree_
    assert tree.threshold[0] == float(min(LOSSES, key=LOSSES.get))


@pytest.mark.parametrize(
    "parameters", [{"max_leaf_nodes": 6}, {"min_impurity_decrease": 0.02}]
)
def test_regression_tree(parameters):
    """习题5.2: leaves are nodes with a squared error of at most 0.2."""
    nodes = read_grown_tree(fit_points(**parameters).tree_)

    def check(number, expected):
        node = nodes[number]
        if "leaf" in expected:
            assert not node["children"]
            assert node["statistics"][0][0] == pytest.approx(expected["leaf"])
            assert node["impurity"] * node["n_samples"] <= 0.2
            return 1
        assert node["threshold"] == expected["threshold"]
        left = (node["impurity"] - node["improvement"]) * node["n_samples"]
        assert left == pytest.approx(expected["sse"], abs=1e-9)
        low, high = node["children"]
        return (
            1
            + check(low, expected["branches"]["<="])
            + check(high, expected["branches"][">"])
        )

    golden = get_example("lihang.exercise5.2.tree")["verified"]["value"]
    assert check(0, golden) == len(nodes)
