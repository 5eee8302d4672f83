"""Oblique splits against the reference implementation."""

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression

from sklearn_textbook.tree import (
    CARTClassifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from tests.reference.oblique import find_split, measure

N_TABLES = 40


def make_table(rng):
    """Numbers of any scale and offset, perhaps with gaps, and levels."""
    # A direction has at most half as many columns as there are rows.
    n, n_numeric, n_nominal = rng.integers(14, 80), rng.integers(1, 5), rng.integers(3)
    n *= rng.choice([1, 3])
    X = rng.normal(size=(n, n_numeric)) * 10.0 ** rng.integers(-3, 4, n_numeric)
    X += rng.choice([0.0, 50.0])
    if rng.random() < 0.5:
        X[rng.random(X.shape) < 0.1] = np.nan
    n_levels = rng.choice([2, 3, 5, 12, 20])
    levels = rng.integers(0, n_levels, size=(n, n_nominal)).astype(float)
    if rng.random() < 0.5:
        levels[rng.random(levels.shape) < 0.1] = np.nan
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(n_numeric)])
    for j in range(n_nominal):
        frame[f"n{j}"] = pd.Categorical.from_codes(
            np.nan_to_num(levels[:, j], nan=-1).astype(int),
            list("abcdefghijklmnopqrst"),
        )
    is_nominal = np.arange(n_numeric + n_nominal) >= n_numeric
    return frame, np.hstack([X, levels]), is_nominal


def compare_root(model, frame, X, is_nominal, target, weight, **rules):
    """The rows in the first child, or in the second one, and the improvement."""
    tree = model.fit(frame, target, sample_weight=weight).tree_
    split = find_split(X, is_nominal, target, weight, **rules)
    if split is None or tree.node_count == 1:
        # A node of one class is a leaf before a direction is looked for.
        assert tree.node_count == 1
        assert split is None or split[1] <= 1e-9 * weight.sum()
        return False
    expected, decrease = split
    found = tree.decision_path(model.schema_.read(frame))[:, 1].toarray()[:, 0] == 1
    whole = measure(target, weight, rules["is_classifier"])
    assert tree.nodes["improvement"][0] * weight.sum() == pytest.approx(
        decrease, rel=1e-7, abs=1e-9 * whole
    )
    assert np.array_equal(found, expected) or np.array_equal(found, ~expected)
    return True


@pytest.mark.parametrize(
    ("direction", "n_classes"), [("lda", 2), ("lda", 4), ("ridge", 2)]
)
def test_classification(direction, n_classes):
    n_compared = 0
    for seed in range(N_TABLES):
        rng = np.random.default_rng(seed)
        frame, X, is_nominal = make_table(rng)
        target = rng.integers(0, n_classes, len(frame))
        if rng.random() < 0.5:  # levels that matter
            target = np.where(X[:, -1] % 3 == 1, 0, target)
        target[:n_classes] = range(n_classes)
        weight = rng.choice([0.5, 1.0, 2.0, 3.7], len(frame))
        ridge = float(rng.choice([1e-3, 0.1, 1.0]))
        model = ObliqueTreeClassifier(
            direction=direction, ridge=ridge, prefer_axis=None, max_depth=1
        )
        n_compared += compare_root(
            model,
            frame,
            X,
            is_nominal,
            target,
            weight,
            direction=direction,
            ridge=ridge,
            is_classifier=True,
        )
    assert n_compared > N_TABLES // 2


def test_regression():
    n_compared = 0
    for seed in range(N_TABLES):
        rng = np.random.default_rng(seed)
        frame, X, is_nominal = make_table(rng)
        target = rng.normal(size=len(frame)) + np.nan_to_num(X[:, 0])
        target += 3.0 * (X[:, -1] % 3 == 1)
        weight = rng.choice([0.5, 1.0, 2.0, 3.7], len(frame))
        ridge = float(rng.choice([1e-3, 0.1, 1.0]))
        model = ObliqueTreeRegressor(ridge=ridge, prefer_axis=None, max_depth=1)
        n_compared += compare_root(
            model,
            frame,
            X,
            is_nominal,
            target,
            weight,
            direction="ridge",
            ridge=ridge,
            is_classifier=False,
        )
    assert n_compared > N_TABLES // 2


@pytest.mark.parametrize("ridge", [1e-3, 0.1])
def test_logistic_directions_are_those_of_logistic_regression(ridge):
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3)) * [1.0, 100.0, 1e-3]
        weight = rng.choice([0.5, 1.0, 2.0], len(X))
        target = (X @ [1.0, 0.01, -500.0] + rng.logistic(size=len(X)) > 0).astype(int)
        model = ObliqueTreeClassifier(
            direction="logistic", ridge=ridge, prefer_axis=None, max_depth=1
        ).fit(X, target, sample_weight=weight)
        mean = np.average(X, axis=0, weights=weight)
        scale = np.average((X - mean) ** 2, axis=0, weights=weight) ** 0.5
        reference = LogisticRegression(C=1.0 / (ridge * weight.sum()), tol=1e-10)
        reference.fit((X - mean) / scale, target, sample_weight=weight)
        expected = reference.coef_[0] / np.linalg.norm(reference.coef_)
        terms = model.tree_.terms
        found = np.zeros(3)
        found[terms["feature"]] = terms["weight"]
        found *= scale
        assert np.linalg.norm(found) == pytest.approx(1.0)
        assert abs(found @ expected) == pytest.approx(1.0, abs=1e-6)


def test_the_search_of_weights_improves_its_start():
    for seed in range(10):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(80, 3))
        target = (np.abs(X @ [1.0, 0.5, 0.0] + 0.3 * rng.normal(size=80)) > 0.7) + 0
        gains = [
            ObliqueTreeClassifier(
                direction="oc1", n_directions=n, max_depth=1, random_state=0
            )
            .fit(X, target)
            .tree_.nodes["improvement"][0]
            for n in (1, 20)
        ]
        axis = CARTClassifier(max_depth=1).fit(X, target).tree_.nodes["improvement"][0]
        assert axis <= gains[0] <= gains[1]
        assert gains[1] > axis
