"""Printed thresholds send rows where the tree sends them."""

import re

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.inspection import explain, find_counterfactuals
from sklearn_textbook.io import read_model, save_model
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    export_rules,
    export_text,
)
from sklearn_textbook.tree.explain.digits import shorten_thresholds
from sklearn_textbook.tree.explain.neighbours import (
    find_neighbours,
    list_thresholds,
)

RULE = re.compile(r"(?:IF (.*) THEN|ALWAYS) .*? \[.*?\(([\d,]+) rows?\)")
OPERATORS = {"<=": np.less_equal, ">": np.greater, "<": np.less}


def make_close_tables():
    rng = np.random.default_rng(0)
    columns = [
        start + step * rng.integers(0, 40, 200)
        for start, step in ((1000, 0.01), (1.7e9, 0.001), (0, 1e-7), (-5, 1.0))
    ]
    for spread in (1e-11, 1e-9, 1e-5, 1.0):
        columns.append(1000.0 + spread * rng.random(200))
    columns.append(rng.random(200).astype(np.float32))
    for column in columns:
        ranks = np.unique(column, return_inverse=True)[1]
        yield (
            column,
            (8 * ranks // (ranks.max() + 1) % 2 == 1) ^ (rng.random(200) < 0.1),
        )


def count_rows(text, column):
    """Rows that satisfy the conditions of a rule on the column x, as it is printed."""
    fits = np.full(len(column), True)
    for part in text.split(" AND "):
        words = part.split()
        for i in range(1, len(words), 2):
            left, right = (
                column if word == "x" else float(word)
                for word in (words[i - 1], words[i + 1])
            )
            fits &= OPERATORS[words[i]](left, right)
    return int(fits.sum())


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(),
        CARTClassifier(ccp_alpha=0.002),
        C45Classifier(),
        C45RulesClassifier(),
    ],
)
def test_rules_apply_to_the_rows_of_their_leaves(estimator):
    for column, y in make_close_tables():
        estimator.fit(pd.DataFrame({"x": column}), y)
        text = export_rules(estimator, max_rules=None)
        found = RULE.findall(text)
        is_list = isinstance(estimator, C45RulesClassifier)
        assert is_list or len(found) == estimator.get_n_leaves()
        for conditions, n_rows in found if len(found) > 1 and not is_list else ():
            assert count_rows(conditions, column) == int(n_rows.replace(",", ""))
        for number in re.findall(r"(?:<=|>|<) (-?[\d.e-]+)", text):
            tree = getattr(estimator, "tree_estimator_", estimator).tree_
            thresholds = list_thresholds(tree)[0]
            sides = [(column <= t).tolist() for t in thresholds]
            assert (column <= float(number)).tolist() in sides


def test_text_separates_the_training_values():
    column = 1000 + 0.01 * np.arange(30)
    tree = CARTRegressor(max_depth=1).fit(column[:, None], column > 1000.125)
    assert "x0 <= 1000.125" in export_text(tree)


@pytest.mark.parametrize("seed", range(3))
def test_explained_rows_are_on_the_side_of_the_text(seed):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"x": np.round(1000 + rng.random(60), 4)})
    tree = CARTClassifier(max_depth=4).fit(X, rng.random(60) < 0.5)
    thresholds = list_thresholds(tree.tree_)[0]
    near = np.concatenate([thresholds, np.nextafter(thresholds, np.inf)])
    given = pd.DataFrame({"x": np.concatenate([near, near + 1e-9, near - 1e-9])})
    n_tests = 0
    for explanation in explain(tree, given):
        for line in str(explanation).splitlines():
            found = re.match(r"  x (<=|>) (\S+) {2,}(\S+) +\d+ ", line)
            if found:
                operator, threshold, value = found.groups()
                assert OPERATORS[operator](float(value), float(threshold))
                n_tests += 1
    assert n_tests > len(given)
    for found in find_counterfactuals(tree, given):
        text = str(found)
        old, new, condition = re.search(r"x: (\S+) -> (\S+) \((.*)\)", text).groups()
        assert count_rows(condition, np.array([float(old)])) == 0
        assert count_rows(condition, np.array([float(new)])) == 1


def test_few_digits_where_values_are_far():
    def shorten(value, low, high):
        return shorten_thresholds([value], low=[low], high=[high])[value]

    value = 2 / 3
    assert shorten(value, 0.5, 0.8) == "0.6667"
    assert shorten(value, value - 1e-6, 0.8) == "0.666667"
    assert shorten(value, value, np.nextafter(value, 1)) == repr(value)
    assert shorten(value, value, 0.67) == "0.6673"
    assert shorten(value, value, np.inf) == repr(value)
    assert shorten(4.0, 4.0, 5.0) == "4"
    assert shorten_thresholds([value]) == {value: "0.6666666667"}


def test_model_files_keep_the_digits(tmp_path):
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 2)), rng.random(200) < 0.5
    for estimator in (CARTClassifier(max_depth=4), C45RulesClassifier()):
        estimator.fit(X, y ^ (X[:, 0] > 0.3))
        save_model(estimator, tmp_path / "model.json")
        loaded = read_model(tmp_path / "model.json").estimator
        assert export_rules(loaded) == export_rules(estimator)


def test_neighbours_are_the_training_values_next_to_the_thresholds():
    rng = np.random.default_rng(0)
    for missing in ("learned", "surrogate") * 20:
        n_rows = int(rng.integers(5, 300))
        n_values = rng.integers(2, 50)
        X = rng.integers(0, n_values, size=(n_rows, 4)).astype(float)
        X[rng.uniform(size=X.shape) < 0.1] = np.nan
        tree = CARTRegressor(missing=missing).fit(X, rng.normal(size=n_rows))
        assert len(tree._neighbours) >= tree.get_n_leaves() - 1
        for record in tree._neighbours:
            values = np.unique(X[:, record["feature"]])
            sides = find_neighbours([record["threshold"]], values[~np.isnan(values)])
            assert (record["low"], record["high"]) == tuple(side[0] for side in sides)
