"""The threshold of an oblique split is the best one along its direction.

Large nodes are searched in bins of the sums, small ones in order. The sums are computed
again from the terms of a fitted tree, and all thresholds along them are tried.
"""

import numpy as np
import pytest

from sklearn_textbook.tree import ObliqueTreeClassifier, ObliqueTreeRegressor
from sklearn_textbook.tree.grow.layout import OBLIQUE

#: Around the sizes from which on samples are counted in bins, and in more of them.
SIZES = (60, 64, 65, 66, 100, 129, 300, 1000, 2500)
TABLES = {
    "normal": lambda X: X,
    "heavy tails": lambda X: np.exp(6 * X),
    "few values": lambda X: np.round(X),
    "powers of two": lambda X: np.round(X * 16) / 8,
    "offset": lambda X: 1e9 + np.round(X * 64) / 16,
    "one far away": lambda X: np.where(np.arange(len(X))[:, None] == 7, 1e13, X),
    "two heaps": lambda X: np.where(X > 0, 1e12, 0.0) + X,
}
CLASSES = [(2, "gini"), (2, "entropy"), (4, "gini"), (4, "entropy")]
VALUES = ["squared_error", "poisson"]


def draw(seed, table, n):
    rng = np.random.default_rng(seed)
    signal = rng.normal(size=(n, 4))
    return TABLES[table](signal), signal @ [1.0, -0.5, 0.2, 0.0], rng


def weigh_rows(kind, rng, n):
    if kind == "none":
        return None
    return rng.integers(1, 4, n) if kind == "whole" else rng.uniform(0.5, 2.0, n)


def losses(sums, weight, criterion):
    """Weight times impurity, from the sums of classes, or of y and of its squares."""
    weight = weight[:, np.newaxis]
    if criterion == "gini":
        return (weight - (sums**2).sum(axis=1, keepdims=True) / weight)[:, 0]
    if criterion == "entropy":
        shares = sums / weight
        logs = np.log2(shares, out=np.zeros_like(shares), where=shares > 0)
        return -(weight * shares * logs).sum(axis=1)
    if criterion == "squared_error":
        return sums[:, 1] - sums[:, 0] ** 2 / weight[:, 0]
    # Poisson deviance without the terms of each row alone.
    return -sums[:, 0] * np.log(np.maximum(sums[:, 0] / weight[:, 0], 1e-300))


def best_decrease(z, parts, weight, criterion, min_samples_leaf, rounding):
    """The largest decrease of weight times impurity by a threshold along z."""
    order = np.argsort(z, kind="stable")
    z, parts, weight = z[order], parts[order], weight[order]
    left, left_weight = np.cumsum(parts, axis=0)[:-1], np.cumsum(weight)[:-1]
    total, total_weight = parts.sum(axis=0), weight.sum()
    right, right_weight = total - left, total_weight - left_weight
    n_left = np.arange(1, len(z))
    allowed = (np.diff(z) > rounding) & (n_left >= min_samples_leaf)
    allowed &= len(z) - n_left >= min_samples_leaf
    if criterion == "poisson":
        allowed &= (left[:, 0] > 0) & (right[:, 0] > 1e-12 * total[0])
    if not allowed.any():
        return 0.0
    whole = losses(total[np.newaxis], np.array([total_weight]), criterion)[0]
    below = losses(left[allowed], left_weight[allowed], criterion)
    above = losses(right[allowed], right_weight[allowed], criterion)
    return (whole - below - above).max()


def project(tree, node, X):
    """The sums of some rows, and the terms."""
    terms = tree.terms[tree.terms["node"] == node]
    z = np.zeros(len(X))
    for term in terms:
        z += term["weight"] * X[:, term["feature"]]
    return z, terms


def check_nodes(model, X, parts, weight, min_samples_leaf):
    """Compare the decrease in every oblique node; returns their number."""
    tree = model.tree_
    criterion = model.criterion
    reached = model.decision_path(X).toarray().astype(bool)
    nodes = np.flatnonzero(tree.nodes["kind"] == OBLIQUE)
    size = 2.0 ** np.frexp(np.abs(X).max(axis=0))[1]
    for node in nodes:
        rows = reached[:, node]
        z, terms = project(tree, node, X[rows])
        # Sums that are equal but for rounding have no threshold between them. Twice the
        # kernel's, so that all thresholds that are tried here are tried there.
        scale = size[terms["feature"]] @ np.abs(terms["weight"])
        rounding = 2e-15 * (len(terms) + 1) * scale
        best = best_decrease(
            z, parts[rows], weight[rows], criterion, min_samples_leaf, rounding
        )
        record = tree.nodes[node]
        found = record["improvement"] * weight[rows].sum()
        whole = max(record["impurity"] * weight[rows].sum(), 1e-300)
        assert found >= best - 1e-9 * whole, f"node {node} of {rows.sum()} rows"
        goes_left = z <= record["threshold"]
        assert goes_left.sum() == tree.nodes["n_samples"][record["first_child"]]
    return len(nodes)


def fit(model, X, y, weight, seed):
    model.set_params(
        direction="random" if seed % 2 else model.direction,
        n_directions=1 if seed % 4 < 2 else 3,
        prefer_axis=None,
        min_samples_leaf=1 if seed % 3 else 5,
        max_depth=4,
        random_state=seed,
    )
    return model.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize(("n_classes", "criterion"), CLASSES)
@pytest.mark.parametrize("table", TABLES)
def test_classes(table, n_classes, criterion, weights):
    n_nodes = 0
    for seed, n in enumerate(SIZES):
        X, signal, rng = draw(seed, table, n)
        noisy = signal + rng.normal(size=n)
        y = np.searchsorted(
            np.quantile(noisy, np.arange(1, n_classes) / n_classes), noisy
        )
        weight = weigh_rows(weights, rng, n)
        model = ObliqueTreeClassifier(criterion=criterion)
        fit(model, X, y, weight, seed)
        weight = np.ones(n) if weight is None else weight.astype(float)
        parts = np.eye(n_classes)[y] * weight[:, np.newaxis]
        n_nodes += check_nodes(model, X, parts, weight, model.min_samples_leaf)
    assert n_nodes > 20


@pytest.mark.parametrize("weights", ["none", "whole", "real"])
@pytest.mark.parametrize("criterion", VALUES)
@pytest.mark.parametrize("table", TABLES)
def test_values(table, criterion, weights):
    n_nodes = 0
    for seed, n in enumerate(SIZES):
        X, signal, rng = draw(seed, table, n)
        y = signal + rng.normal(size=n)
        if criterion == "poisson":
            y = rng.poisson(np.exp(np.clip(y, -2.0, 3.0))).astype(float)
        weight = weigh_rows(weights, rng, n)
        model = ObliqueTreeRegressor(criterion=criterion)
        fit(model, X, y, weight, seed)
        weight = np.ones(n) if weight is None else weight.astype(float)
        if criterion == "squared_error":
            centred = y - np.average(y, weights=weight)
            parts = np.column_stack([centred, centred**2]) * weight[:, np.newaxis]
        else:
            parts = (y * weight)[:, np.newaxis]
        n_nodes += check_nodes(model, X, parts, weight, model.min_samples_leaf)
    assert n_nodes > 20
