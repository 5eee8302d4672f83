"""Shapley values against their definition, and against shap."""

import re

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.exceptions import NotFittedError

from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.inspection import shap_values
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from tests.exchange.tables import make_labels, make_table, make_values
from tests.exchange.test_levels import make_frame, make_target
from tests.exchange.test_tree_sum import MODELS, fit
from tests.reference.shapley import find_interaction, find_shapley_values

SMALL = {
    "id3": ID3Classifier(max_depth=3),
    "c45": C45Classifier(handle_unknown="fractional", max_depth=4, pruning=None),
    "surrogates": CARTClassifier(missing="surrogate", max_depth=4),
    "branches": CARTClassifier(
        missing="branch", categorical_split="multiway", max_depth=3
    ),
    "learned": CARTRegressor(missing="learned", max_depth=5),
    "divided": ID3Classifier(
        missing="fractional", handle_unknown="fractional", max_depth=3
    ),
    "lda": ObliqueTreeClassifier(
        max_depth=3, max_features_per_split=3, max_leaf_nodes=6
    ),
    "ridge": ObliqueTreeRegressor(
        direction="ridge", max_leaf_nodes=6, prefer_axis=None, missing="error"
    ),
}


def fit_small(name):
    model = SMALL[name]
    frame = make_frame(300, missing=0.0 if name == "ridge" else 0.15)
    y = make_target(frame)
    if hasattr(model, "predict_proba"):
        y = np.digitize(y, np.quantile(y, [0.4, 0.7]))
    new = make_frame(25, missing=0.3, seed=1, unknown=True)
    if name == "ridge":
        new = make_frame(25, seed=1)
    return model.fit(frame, y), new


@pytest.mark.parametrize("name", SMALL)
def test_definition(name):
    model, new = fit_small(name)
    trees = read_trees(model)
    (tree,) = trees.trees
    result = shap_values(model, new)
    values = result.values.reshape(len(new), 5, -1)
    matrix = trees.read(new)
    assert model.get_n_leaves() > 4
    for row, found in zip(matrix, values, strict=True):
        expected = np.zeros_like(found)
        for player, value in find_shapley_values(tree, row).items():
            if player >= 0:
                expected[player] += value
                continue
            terms = tree.terms[tree.terms["node"] == ~player]
            columns, first = np.unique(terms["feature"], return_index=True)
            shares = terms["share"][first].astype(float)
            expected[columns] += np.outer(shares / shares.sum(), value)
        assert_allclose(found, expected, atol=1e-13)
    base = np.reshape(result.base_values, -1)
    scores = trees.compute_scores(matrix)
    assert_allclose(values.sum(axis=1) + base, scores, atol=1e-13)


@pytest.mark.parametrize("name", [n for n in SMALL if n not in ("lda", "ridge")])
def test_interactions_by_definition(name):
    model, new = fit_small(name)
    trees = read_trees(model)
    new = new[:6]
    found = shap_values(model, new, interactions=True).values.reshape(6, 5, 5, -1)
    for row, pairs in zip(trees.read(new), found, strict=True):
        for one in range(5):
            for other in range(one):
                tests = trees.trees[0].nodes["feature"]
                if one in tests and other in tests:
                    expected = find_interaction(trees.trees[0], row, one, other)
                    assert_allclose(pairs[one, other], expected, atol=1e-13)
                else:
                    assert_array_equal(pairs[one, other], 0.0)
    assert_allclose(found, found.swapaxes(1, 2))
    single = shap_values(model, new).values.reshape(6, 5, -1)
    assert_allclose(found.sum(axis=2), single, atol=1e-13)


@pytest.mark.parametrize("name", MODELS)
def test_values_add_up(name):
    model = fit(name)
    new = make_frame(100, missing=0.2, seed=1, unknown=True)
    trees = read_trees(model)
    result = shap_values(model, new, n_jobs=2)
    values = result.values.reshape(100, 5, -1)
    scores = trees.compute_scores(trees.read(new))
    assert_allclose(
        values.sum(axis=1) + result.base_values, scores, rtol=1e-10, atol=1e-10
    )
    assert_array_equal(result.values, shap_values(model, new, n_jobs=1).values)
    assert result.feature_names == list(new)
    if trees.n_scores > 1:
        assert len(result.output_names) == trees.n_scores


@pytest.mark.parametrize(
    "model",
    [
        CARTClassifier(),
        CARTRegressor(max_depth=7),
        RandomForestClassifier(5, random_state=0),
        RandomForestRegressor(5, random_state=0),
        GradientBoostingRegressor(n_estimators=10),
        GradientBoostingClassifier(n_estimators=10),
    ],
    ids=lambda model: type(model).__name__,
)
def test_shap(model):
    shap = pytest.importorskip("shap")
    X, new = make_table(missing=0.1), make_table(50, seed=1, missing=0.1)
    if isinstance(model, (GradientBoostingClassifier, GradientBoostingRegressor)):
        X, new = make_table(), make_table(50, seed=1)
    is_classifier = hasattr(model, "predict_proba")
    y = make_labels(X) == "no" if is_classifier else make_values(X)
    model.fit(X, y)
    explainer = shap.TreeExplainer(to_sklearn(model))
    explanation = explainer(new, check_additivity=False)
    result = shap_values(model, new)
    # shap reads the leaves of boosted trees in single precision.
    atol = 1e-6 if "Boosting" in type(model).__name__ else 1e-12
    assert_allclose(result.values, explanation.values, atol=atol)
    pairs = shap_values(model, new[:10], interactions=True)
    expected = explainer.shap_interaction_values(new[:10])
    assert_allclose(pairs.values, np.asarray(expected), atol=atol)
    ours = result.to_shap()
    assert ours.shape == explanation.shape
    base = np.broadcast_to(explanation.base_values, ours.base_values.shape)
    assert_allclose(ours.base_values, base, atol=atol)
    assert_array_equal(ours.data, new)


def test_to_shap_without_shap(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "shap", None)
    X = make_table(50)
    result = shap_values(CARTRegressor(max_depth=2).fit(X, make_values(X)), X)
    with pytest.raises(ImportError, match="pip install shap"):
        result.to_shap()


def test_columns_that_have_no_effect():
    """What no test asks contributes exactly 0; a stump's column all of the change."""
    X = make_table(200, n_columns=6)
    model = CARTRegressor(max_depth=1).fit(X, X[:, 2])
    result = shap_values(model, X)
    (column,) = {int(f) for f in model.tree_.feature if f >= 0}
    others = [c for c in range(6) if c != column]
    assert_array_equal(result.values[:, others], 0.0)
    expected = model.predict(X) - result.base_values
    assert_allclose(result.values[:, column], expected, atol=1e-15)
    assert_allclose(result.base_values, X[:, 2].mean(dtype=float))


def test_equal_columns_share():
    """Columns that play the same part contribute the same."""
    X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    model = CARTClassifier().fit(X, (X[:, 0] * X[:, 1]).astype(int))
    values = shap_values(model, [[1.0, 1.0], [0.0, 0.0], [1.0, 0.0]]).values
    assert_allclose(values[:2, 0], values[:2, 1])
    assert values[2, 0, 1] > 0 > values[2, 1, 1]


def test_deep_trees():
    """A tree whose path has dozens of tests of a few columns, and one of many."""
    x = np.arange(200.0)
    X = np.stack([x, x % 7, x % 3], axis=1)
    model = CARTRegressor().fit(X, np.cumsum(np.sin(x) + 2) ** 2)
    assert model.get_depth() > 7
    result = shap_values(model, X)
    assert_allclose(result.values.sum(axis=1) + result.base_values, model.predict(X))
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(3000, 40)).astype(float)
    # A list of rules: the first column that is 1 decides.
    y = np.where(X.any(axis=1), X.argmax(axis=1), 40) + 0.0
    model = CARTRegressor().fit(X, y)
    trees = read_trees(model)
    new = X[rng.random(3000).argsort()[:50]]
    result = shap_values(model, new)
    scores = trees.compute_scores(new)[:, 0]
    assert_allclose(result.values.sum(axis=1) + result.base_values, scores, atol=1e-12)


def test_weights_are_copies():
    X = make_table(150)
    y = make_values(X).round(1)
    weight = np.random.default_rng(0).integers(0, 4, 150)
    model = CARTRegressor(max_depth=5)
    weighed = shap_values(model.fit(X, y, sample_weight=weight), X)
    copied = shap_values(model.fit(X.repeat(weight, 0), y.repeat(weight)), X)
    assert_allclose(weighed.values, copied.values, atol=1e-12)


def test_tables():
    """Sparse tables, single precision, a root without tests, no rows, one row."""
    X = make_table(200)
    X[np.abs(X) < 1] = 0
    y = make_values(X)
    model = RandomForestRegressor(5, random_state=0).fit(X, y)
    expected = shap_values(model, X).values
    for table in (sparse.csr_array(X), X.tolist(), X.astype(np.float64), X[:, ::-1]):
        if isinstance(table, np.ndarray) and table.strides[1] < 0:
            table = np.asfortranarray(X)
        assert_array_equal(shap_values(model, table).values, expected)
    assert_array_equal(shap_values(model, X[:1]).values, expected[:1])
    root = CARTRegressor().fit(X, np.ones(200))
    result = shap_values(root, X)
    assert_array_equal(result.values, 0.0)
    assert result.base_values == 1.0
    assert "shape (200, 4)" in repr(result)


def test_several_outputs():
    X = make_table(200)
    both = np.stack([X[:, 0] > 0, make_labels(X) == "no"], axis=1)
    model = RandomForestClassifier(5, random_state=0).fit(X, both)
    result = shap_values(model, X)
    assert result.output_names == [
        f"{label} of output {output}" for output in (0, 1) for label in (False, True)
    ]
    scores = result.values.sum(axis=1) + result.base_values
    assert_allclose(scores[:, 2:], model.predict_proba(X)[1], atol=1e-13)


def test_errors():
    X = make_table(100)
    y = make_values(X)
    with pytest.raises(NotFittedError):
        shap_values(CARTRegressor(), X)
    model = CARTRegressor().fit(X, y)
    with pytest.raises(ValueError, match="3 features"):
        shap_values(model, X[:, :3])
    with pytest.raises(ValueError, match="n_jobs"):
        shap_values(model, X, n_jobs=0)
    oblique = ObliqueTreeRegressor(prefer_axis=None).fit(X, y)
    with pytest.raises(ValueError, match="interactions=True is not supported"):
        shap_values(oblique, X, interactions=True)
    frame = make_frame()
    strict = CARTRegressor(handle_unknown="error").fit(frame, make_target(frame))
    new = make_frame(50, unknown=True, seed=3)
    with pytest.raises(ValueError, match=re.escape("'letter'")):
        shap_values(strict, new)


@pytest.mark.parametrize("name", ["flipping", "smearing"])
def test_scores_of_perturbed_outputs(name):
    """As documented: mean probabilities, and means before negative ones become 0."""
    model, new = fit(name), make_frame(60, missing=0.1, seed=1)
    result = shap_values(model, new)
    scores = result.values.sum(axis=1) + result.base_values
    if name == "smearing":
        assert (scores < 0).any()
        scores = np.maximum(scores, 0.0)
        scores /= scores.sum(axis=1, keepdims=True)
    assert_allclose(scores, model.predict_proba(new), atol=1e-10)
