"""Trees as decision trees of scikit-learn: equal predictions, or an error."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.tree
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.ensemble import VotingClassifier
from sklearn_textbook.exchange import to_sklearn
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
)
from sklearn_textbook.tree.exchange.sklearn_tree import make_sklearn_tree, round_down
from tests.exchange.tables import make_labels, make_table, make_values

N_NEW = 10_000
#: Before 1.8, scikit-learn's decision_path sends missing values right; before 1.9, its
#: trees refuse missing values with criteria that could not be trained with them.
RELEASE = tuple(map(int, sklearn.__version__.split(".")[:2]))


def require_equal(model, X):
    """Compare all that both models compute for new rows."""
    same = to_sklearn(model)
    check_is_fitted(same)
    assert_array_equal(same.predict(X), model.predict(X))
    assert_array_equal(same.apply(X), model.apply(X))
    if RELEASE >= (1, 8) or not np.isnan(X).any():
        paths = same.decision_path(X) != model.decision_path(X)
        assert paths.nnz == 0
    if hasattr(model, "predict_proba"):
        several = model.n_outputs_ > 1
        ours, theirs = model.predict_proba(X), same.predict_proba(X)
        pairs = zip(ours, theirs, strict=True) if several else [(ours, theirs)]
        for own, other in pairs:
            assert_allclose(other, own, rtol=0, atol=1e-15)
    assert_allclose(same.feature_importances_, model.feature_importances_, atol=1e-12)
    assert same.get_depth() == model.get_depth()
    assert same.get_n_leaves() == model.get_n_leaves()
    return same


@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"criterion": "entropy", "min_samples_leaf": 3},
        {"criterion": "error"},
        {"splitter": "random", "random_state": 0},
        {"max_leaf_nodes": 10, "class_weight": "balanced"},
        {"ccp_alpha": 0.01},
        {"pruning": "cost_complexity"},
    ],
)
def test_classifier_with_missing_values(parameters):
    X = make_table(missing=0.1)
    weight = np.random.default_rng(1).random(len(X))
    model = CARTClassifier(**parameters).fit(X, make_labels(X), sample_weight=weight)
    assert model.tree_.node_count > 3
    same = require_equal(model, make_table(N_NEW, missing=0.1, seed=1))
    assert type(same) is sklearn.tree.DecisionTreeClassifier
    if RELEASE >= (1, 9) or model.criterion != "error":
        assert same.criterion == model.criterion


@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_regressor_with_missing_values(criterion):
    X = make_table(missing=0.1)
    model = CARTRegressor(criterion=criterion, max_depth=8).fit(X, make_values(X))
    same = require_equal(model, make_table(N_NEW, missing=0.1, seed=1))
    assert type(same) is sklearn.tree.DecisionTreeRegressor


def test_several_outputs():
    X = make_table(missing=0.1)
    labels, values = make_labels(X), make_values(X)
    new = make_table(N_NEW, missing=0.1, seed=1)
    both = np.stack([labels, np.where(values > 0, "x", "a longer label")], axis=1)
    same = require_equal(CARTClassifier().fit(X, both), new)
    assert same.n_outputs_ == 2
    require_equal(CARTRegressor().fit(X, np.stack([values, -(values**2)], 1)), new)


@pytest.mark.parametrize(
    "model",
    [
        ID3Classifier(),
        C45Classifier(),
        C45Classifier(laplace=True, threshold="midpoint"),
    ],
)
def test_trees_by_gain(model):
    X = make_table()
    model.fit(X, make_labels(X))
    require_equal(model, make_table(N_NEW, seed=1))


def test_nearly_equal_classes_of_c45():
    """C4.5 predicts the first of two classes whose weights differ by rounding."""
    X = np.zeros((2, 1), dtype=np.float32)
    weight = [1.0, 1.0 + 1e-8]
    model = C45Classifier().fit(X, ["a", "b"], sample_weight=weight)
    assert model.predict(X).tolist() == ["a", "a"]
    assert to_sklearn(model).predict(X).tolist() == ["a", "a"]


def test_values_next_to_a_threshold():
    """The nearest number of single precision to a threshold may be on either side."""
    low = np.float32(0.1)
    X = np.array([low, np.nextafter(low, np.float32(1))], np.float32)[:, np.newaxis]
    rng = np.random.default_rng(0)
    grid = np.sort(rng.normal(size=40).astype(np.float32))
    for x in (X, np.unique(np.concatenate([grid, np.nextafter(grid, np.inf)]))):
        x = x.astype(np.float32).reshape(-1, 1)
        model = CARTClassifier().fit(x, np.arange(len(x)) % 2)
        same = require_equal(model, x)
        inner = same.tree_.feature >= 0
        thresholds = same.tree_.threshold[inner]
        assert_array_equal(thresholds, thresholds.astype(np.float32))


def test_thresholds_are_rounded_down():
    exact = np.array([0.5, 0.1, -0.1, 1e300, -1e300, np.inf, 0.0, 1e-60, -1e-60])
    rounded = round_down(exact)
    assert (rounded <= exact).all()
    next_ones = np.nextafter(rounded[:3].astype(np.float32), np.float32(np.inf))
    assert (next_ones > exact[:3]).all()
    assert rounded[[0, 5, 6]].tolist() == [0.5, np.inf, 0.0]
    assert rounded[3] == np.finfo(np.float32).max
    assert rounded[4] == -np.inf
    assert rounded[7] == 0.0
    assert rounded[8] < 0.0


def test_missing_values_alone_in_a_child():
    X = np.array([[1.0], [1.0], [np.nan], [np.nan]])
    model = CARTClassifier().fit(X, [0, 0, 1, 1])
    assert require_equal(model, X).predict(X).tolist() == [0, 0, 1, 1]


def test_missing_values_that_training_did_not_have():
    """Without a rule of the model, the larger child, as in trees of scikit-learn."""
    X = make_table()
    y = make_labels(X)
    new = make_table(N_NEW, missing=0.2, seed=1)
    same = to_sklearn(ID3Classifier(max_depth=2).fit(X, y))
    stock = sklearn.tree.DecisionTreeClassifier(criterion="entropy", max_depth=2)
    assert_array_equal(same.predict(new), stock.fit(X, y).predict(new))


def test_names_pickle_and_clone():
    X = pd.DataFrame(make_table(), columns=["a", "b", "c", "d"])
    model = CARTRegressor(max_depth=3, monotonic_cst={"a": 1}, random_state=4)
    same = to_sklearn(model.fit(X, make_values(X.to_numpy())))
    assert same.feature_names_in_.tolist() == ["a", "b", "c", "d"]
    with pytest.raises(ValueError, match="feature names should match"):
        same.predict(X.rename(columns={"a": "z"}))
    again = pickle.loads(pickle.dumps(same))
    assert_array_equal(again.predict(X), model.predict(X))
    fresh = clone(same)
    if RELEASE >= (1, 9):
        assert fresh.get_params()["monotonic_cst"] == [1, 0, 0, 0]
    assert fresh.random_state == 4
    fresh.fit(X, make_values(X.to_numpy()))
    assert fresh.get_depth() == 3


def test_a_fit_does_not_change_the_model():
    X = make_table()
    model = CARTClassifier().fit(X, make_labels(X))
    before = model.predict(X)
    same = to_sklearn(model)
    same.classes_[0] = "x"
    same.fit(X, np.arange(len(X)) % 2)
    assert_array_equal(model.predict(X), before)


@pytest.mark.parametrize("y", [["a", "a"], [True, False], [3.5, 1.5]])
def test_labels(y):
    X = np.array([[1.0], [2.0]])
    model = CARTClassifier().fit(X, y if isinstance(y[0], str) else np.array(y) > 2)
    same = require_equal(model, X)
    assert same.classes_.dtype == model.classes_.dtype


def test_functions_of_scikit_learn():
    pytest.importorskip("matplotlib").use("Agg")
    X, y = load_iris(return_X_y=True)
    same = to_sklearn(CARTClassifier(max_depth=2).fit(X, y))
    texts = [text.get_text() for text in sklearn.tree.plot_tree(same)]
    assert sum("gini" in text for text in texts) == 5
    assert sklearn.tree.export_text(same).count("class: ") == 3
    dot = sklearn.tree.export_graphviz(same)
    assert "gini = 0.667\\nsamples = 150\\nvalue = [50, 50, 50]" in dot
    stock = sklearn.tree.DecisionTreeClassifier(max_depth=2, random_state=0).fit(X, y)
    assert_allclose(same.tree_.impurity.sum(), stock.tree_.impurity.sum())


# ---------------------------------------------------------------------- refusals
def check_refusal(model, X, y, error, *words):
    with pytest.raises(error) as caught:
        to_sklearn(model.fit(X, y))
    for word in words:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("column", "words"),
    [
        (pd.date_range("2020-01-01", periods=400), "is a date column"),
        (
            pd.Categorical([3, 1] * 200, categories=[3, 1], ordered=True),
            "not in increasing order",
        ),
        ([1, "u"] * 200, "strings and numbers"),
    ],
)
def test_columns_that_encoders_do_not_read(column, words):
    X = pd.DataFrame({"number": np.arange(400.0), "colour": pd.Series(column)})
    check_refusal(CARTClassifier(), X, [0, 1] * 200, ValueError, "'colour'", words)


def test_tests_without_equivalent():
    full = make_table()
    X = pd.DataFrame(make_table(missing=0.2), columns=["a", "b", "c", "d"])
    y = make_labels(X.to_numpy())
    surrogate = CARTClassifier(missing="surrogate")
    check_refusal(surrogate, X, y, ValueError, "Node ", "surrogate", "'")
    for model in (ID3Classifier(), C45Classifier()):
        check_refusal(model, X, y, ValueError, "Node 0 ", "divides rows", "'")
    oblique = ObliqueTreeClassifier(random_state=0)
    check_refusal(
        oblique, full, make_labels(full), ValueError, "Node 0 ", "sum of columns"
    )


def test_models_without_equivalent():
    X, y = load_iris(return_X_y=True)
    rules = C45RulesClassifier()
    check_refusal(rules, X, y, TypeError, "C45RulesClassifier")
    voting = VotingClassifier([("a", CARTClassifier())])
    check_refusal(voting, X, y, TypeError, "VotingClassifier")
    stock = sklearn.tree.DecisionTreeClassifier()
    check_refusal(stock, X, y, TypeError, "DecisionTreeClassifier")
    with pytest.raises(NotFittedError):
        to_sklearn(CARTClassifier())
    for wrong in (CARTClassifier, "tree", None):
        with pytest.raises(TypeError, match="model must be a fitted tree"):
            to_sklearn(wrong)


class WideTree:
    """A tree of scikit-learn whose nodes have more fields, as those of 1.10 have."""

    dropped = ()

    def __init__(self, tree):
        self.tree = tree

    def __getattr__(self, name):
        return getattr(self.tree, name)

    def __reduce__(self):
        make, arguments, state = self.tree.__reduce__()
        nodes = state["nodes"]
        fields = [
            *(field for field in nodes.dtype.descr if field[0] not in self.dropped),
            ("left_cat_bitset", "<u4", (8,)),
            ("split_kind", "i1"),
        ]
        wide = np.zeros(len(nodes), fields)
        for name in set(wide.dtype.names) & set(nodes.dtype.names):
            wide[name] = nodes[name]
        wide["split_kind"] = np.where(nodes["left_child"] < 0, -1, 7)
        state = {**state, "nodes": wide}
        return lambda *some: type(self)(make(*some)), arguments, state

    def __setstate__(self, state):
        self.nodes = state["nodes"]
        nodes = np.zeros(len(self.nodes), self.tree.__reduce__()[2]["nodes"].dtype)
        for name in nodes.dtype.names:
            nodes[name] = self.nodes[name]
        self.tree.__setstate__({**state, "nodes": nodes})


class WideTreeClassifier(sklearn.tree.DecisionTreeClassifier):
    def fit(self, X, y):
        super().fit(X, y)
        self.tree_ = WideTree(self.tree_)
        return self


def test_fields_that_scikit_learn_adds_to_nodes():
    X = make_table(missing=0.1)
    model = CARTClassifier(max_depth=4).fit(X, make_labels(X))
    same = make_sklearn_tree(model, WideTreeClassifier)
    nodes = same.tree_.nodes
    assert nodes.dtype.names[-2:] == ("left_cat_bitset", "split_kind")
    is_leaf = nodes["left_child"] < 0
    assert_array_equal(nodes["split_kind"], np.where(is_leaf, -1, 7))
    assert not nodes["left_cat_bitset"].any()
    rows = make_table(N_NEW, missing=0.1, seed=1)
    assert_array_equal(same.predict(rows), model.predict(rows))


def test_fields_that_scikit_learn_takes_from_nodes(monkeypatch):
    monkeypatch.setattr(WideTree, "dropped", ("threshold",))
    X = make_table()
    model = CARTClassifier(max_depth=4).fit(X, make_labels(X))
    with pytest.raises(RuntimeError, match="no field 'threshold'"):
        make_sklearn_tree(model, WideTreeClassifier)
