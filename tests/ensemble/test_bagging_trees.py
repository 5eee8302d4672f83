"""Bagging and random subspaces of our trees, over one encoded table."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn.ensemble
from sklearn.base import clone
from sklearn.callback import FitCallback
from sklearn.datasets import make_classification, make_regression
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    BaggingClassifier,
    BaggingRegressor,
    RandomSubspaceClassifier,
    RandomSubspaceRegressor,
)
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    ID3Classifier,
    OutOfBagPruning,
    ReducedErrorPruning,
    export_text,
)

X, Y = make_classification(
    80, 6, n_informative=4, n_redundant=0, n_classes=3, flip_y=0.2, random_state=0
)
X = X.round(1)  # ties
TABLE, VALUES = make_regression(80, 6, noise=50.0, random_state=0)
LABELS = np.array(["a", "b", "c"])[Y]


class CARTItself(CARTClassifier):
    """Fits itself, so that a bagging has to call its ``fit``."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


class C45Itself(C45Classifier):
    """Fits itself, so that a bagging has to call its ``fit``."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


class ID3Itself(ID3Classifier):
    """Fits itself, so that a bagging has to call its ``fit``."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


class RegressorItself(CARTRegressor):
    """Fits itself, so that a bagging has to call its ``fit``."""

    def fit(self, X, y, sample_weight=None):
        return super().fit(X, y, sample_weight)


CLASSIFIERS = {
    "cart": (CARTClassifier, CARTItself, {}),
    "random cart": (CARTClassifier, CARTItself, {"max_features": 2, "max_depth": 5}),
    "random thresholds": (CARTClassifier, CARTItself, {"splitter": "random"}),
    "pruned cart": (
        CARTClassifier,
        CARTItself,
        {"pruning": ReducedErrorPruning(random_state=0), "class_weight": "balanced"},
    ),
    "named pruner": (C45Classifier, C45Itself, {"pruning": "reduced_error"}),
    "chosen alpha": (
        CARTClassifier,
        CARTItself,
        {"pruning": CostComplexityPruning(cv=3, random_state=0)},
    ),
    "c45": (C45Classifier, C45Itself, {}),
    "laplace": (C45Classifier, C45Itself, {"pruning": None, "laplace": True}),
    "id3": (ID3Classifier, ID3Itself, {"max_features": 3}),
}
DRAWS = {
    "rows": {},
    "columns": {"max_features": 3, "max_samples": 0.7},
    "repeated columns": {"bootstrap_features": True},
}


def assert_same_trees(ours, others):
    assert len(ours) == len(others)
    for tree, other in zip(ours, others, strict=True):
        assert tree.random_state == other.random_state
        assert tree.tree_.to_dict() == other.tree_.to_dict()


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("kind", CLASSIFIERS)
def test_trees_are_those_that_fit_themselves(kind, draws):
    fast, slow, options = CLASSIFIERS[kind]
    options_of_both = {"n_estimators": 3, "random_state": 7, **DRAWS[draws]}
    ours = BaggingClassifier(fast(**options), **options_of_both).fit(X, Y)
    others = BaggingClassifier(slow(**options), **options_of_both).fit(X, Y)
    assert type(others[0]) is slow
    assert_same_trees(ours, others)
    np.testing.assert_array_equal(ours.estimators_samples_, others.estimators_samples_)
    np.testing.assert_allclose(
        ours.predict_proba(X), others.predict_proba(X), atol=1e-12
    )
    for voting in ("soft", "hard"):
        ours.set_params(voting=voting)
        others.set_params(voting=voting)
        np.testing.assert_array_equal(ours.predict(X), others.predict(X))


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize("criterion", ["squared_error", "absolute_error"])
def test_regression_trees_are_those_that_fit_themselves(criterion, draws):
    options = {"n_estimators": 3, "random_state": 7, **DRAWS[draws]}
    ours = BaggingRegressor(CARTRegressor(criterion=criterion), **options)
    others = BaggingRegressor(RegressorItself(criterion=criterion), **options)
    for y in (VALUES, np.column_stack([VALUES, -VALUES])):
        assert_same_trees(ours.fit(TABLE, y), others.fit(TABLE, y))
        np.testing.assert_allclose(ours.predict(TABLE), others.predict(TABLE))


def test_rows_are_drawn_as_in_scikit_learn():
    """Members, not only samples: our CART grows scikit-learn's trees."""
    table = np.random.default_rng(0).uniform(size=(200, 3)).astype(np.float32)
    y = (table.sum(axis=1) > 1.5).astype(int)
    options = {"n_estimators": 5, "max_features": 2, "random_state": 0}
    ours = BaggingClassifier(CARTClassifier(max_depth=2), **options).fit(table, y)
    theirs = sklearn.ensemble.BaggingClassifier(
        sklearn.tree.DecisionTreeClassifier(max_depth=2), **options
    ).fit(table, y)
    np.testing.assert_allclose(ours.predict_proba(table), theirs.predict_proba(table))


def test_defaults_are_our_trees():
    assert type(BaggingClassifier().fit(X, Y).estimator_) is CARTClassifier
    assert type(BaggingRegressor().fit(TABLE, VALUES).estimator_) is CARTRegressor
    assert type(RandomSubspaceClassifier().fit(X, Y)[0]) is CARTClassifier
    assert type(RandomSubspaceRegressor().fit(TABLE, VALUES)[0]) is CARTRegressor


def test_members_know_labels_and_columns():
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    options = {"n_estimators": 4, "max_features": 2, "random_state": 0}
    ours = BaggingClassifier(CARTClassifier(max_depth=2), **options)
    ours.fit(frame, LABELS)
    for member, columns in zip(ours, ours.estimators_features_, strict=True):
        assert list(member.classes_) == ["a", "b", "c"]
        assert list(member.feature_names_in_) == list(frame.columns[columns])
        assert set(member.predict(frame.iloc[:, columns])) <= set("abc")
        assert any(name in export_text(member) for name in member.feature_names_in_)
    others = clone(ours).set_params(estimator=CARTItself(max_depth=2))
    others.fit(frame, LABELS)
    assert list(others[0].classes_) == [0, 1, 2]
    np.testing.assert_array_equal(ours.predict(frame), others.predict(frame))


# ------------------------------------------------------- nominal and missing columns
MIXED, MIXED_LABELS = make_mixed_table(300, random_state=0, as_frame=True)
MIXED.loc[::7, "numeric_0"] = np.nan
MIXED.loc[::11, "nominal_0"] = np.nan


@pytest.mark.parametrize("max_features", [1.0, 0.5])
@pytest.mark.parametrize(
    "member",
    [C45Classifier(), ID3Classifier(max_depth=3), CARTClassifier(pruning="out_of_bag")],
)
def test_mixed_tables_as_they_come(member, max_features):
    """The members are those that grow from the drawn rows of the frame."""
    ours = BaggingClassifier(
        member, 20, max_features=max_features, random_state=0, oob_score=True
    )
    ours.fit(MIXED, MIXED_LABELS)
    assert ours.oob_score_ > 0.5
    if member.pruning == "out_of_bag":
        return
    columns = ours.estimators_features_[0]
    seen = MIXED if max_features == 1.0 else MIXED.iloc[:, columns]
    weight = np.bincount(ours.estimators_samples_[0], minlength=len(MIXED))
    alone = clone(member).fit(seen, MIXED_LABELS, sample_weight=weight)
    assert alone.tree_.to_dict() == ours[0].tree_.to_dict()


def test_out_of_bag_pruning_prunes_by_rows_not_drawn():
    bare = BaggingClassifier(CARTClassifier(), 5, random_state=0).fit(X, Y)
    ours = clone(bare).set_params(estimator__pruning="out_of_bag").fit(X, Y)
    for number, rows in enumerate(ours.estimators_samples_):
        left = np.setdiff1d(np.arange(80), rows)
        pruned = OutOfBagPruning().prune(bare[number], X[left], Y[left])
        assert pruned.get_n_leaves() < bare[number].get_n_leaves()
        assert pruned.tree_.to_dict() == ours[number].tree_.to_dict()


def test_rows_out_of_the_bag_speak_for_empty_nodes():
    """A level that a sample lacks is judged by the rows that have it."""
    color = np.repeat(["red", "blue", "rare"], [20, 20, 3])
    y = np.repeat(["no", "yes", "rare"], [20, 20, 3])
    frame = pd.DataFrame({"color": pd.Categorical(color)})
    rare = pd.DataFrame({"color": pd.Categorical(["rare"], categories=set(color))})
    bare = BaggingClassifier(ID3Classifier(), 60, random_state=0).fit(frame, y)
    ours = clone(bare).set_params(out_of_bag_posterior=True).fit(frame, y)
    n_lacking = 0
    for number, rows in enumerate(ours.estimators_samples_):
        lacks = not np.isin(rows, [40, 41, 42]).any()
        n_lacking += lacks
        assert ours[number].predict(rare) == ["rare"]
        assert (bare[number].predict(rare) != ["rare"]) == lacks
    assert n_lacking > 0


# ------------------------------------------------------------------ random subspaces
@pytest.mark.parametrize(
    ("member", "n_drawn"),
    [(C45Classifier(), 3), (KNeighborsClassifier(), 2), (CARTClassifier(), 6)],
)
def test_subspaces_are_a_bagging_of_columns(member, n_drawn):
    options = {"n_estimators": 6, "max_features": n_drawn, "random_state": 1}
    ours = RandomSubspaceClassifier(member, **options).fit(X, LABELS)
    same = BaggingClassifier(member, bootstrap=False, **options).fit(X, LABELS)
    np.testing.assert_array_equal(ours.estimators_features_, same.estimators_features_)
    np.testing.assert_array_equal(ours.predict_proba(X), same.predict_proba(X))
    assert all(len(set(columns)) == n_drawn for columns in ours.estimators_features_)
    assert not hasattr(ours, "estimators_samples_")


def test_subspaces_see_half_of_the_columns():
    ours = RandomSubspaceRegressor(random_state=0).fit(TABLE, VALUES)
    assert {len(columns) for columns in ours.estimators_features_} == {3}
    assert len({tuple(columns) for columns in ours.estimators_features_}) > 5
    member, columns = ours[4], ours.estimators_features_[4]
    alone = CARTRegressor().fit(TABLE[:, columns], VALUES)
    assert alone.tree_.to_dict() == member.tree_.to_dict()
    predicted = [
        m.predict(TABLE[:, m_columns])
        for m, m_columns in zip(ours, ours.estimators_features_, strict=True)
    ]
    np.testing.assert_allclose(ours.predict(TABLE), np.mean(predicted, axis=0))


@pytest.mark.parametrize("kind", [CARTRegressor, RegressorItself])
def test_subspaces_weigh_rows(kind):
    weight = np.arange(80) % 3
    ours = RandomSubspaceRegressor(kind(max_depth=3), random_state=0)
    weighted = clone(ours).fit(TABLE, VALUES, sample_weight=weight)
    rows = np.repeat(np.arange(80), weight)
    repeated = clone(ours).fit(TABLE[rows], VALUES[rows])
    np.testing.assert_allclose(weighted.predict(TABLE), repeated.predict(TABLE))


def test_subspaces_need_members_that_take_weights():
    ours = RandomSubspaceRegressor(KNeighborsRegressor())
    with pytest.raises(ValueError, match="KNeighborsRegressor.fit does not accept it"):
        ours.fit(TABLE, VALUES, sample_weight=np.ones(80))


# -------------------------------------------------------------------------- the rest
class Stop(FitCallback):
    """Counts members, and stops after the third."""

    def __init__(self):
        self.sizes = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, fitted_estimator=None):
        if context.task_name != "member":
            return False
        assert fitted_estimator.predict(X).shape == (80,)
        self.sizes.append(len(fitted_estimator))
        return len(self.sizes) == 3


@pytest.mark.parametrize("member", [CARTClassifier(), KNeighborsClassifier()])
def test_callbacks_see_every_member(member):
    callback = Stop()
    ours = BaggingClassifier(member, 9, random_state=0, n_jobs=1)
    ours.set_callbacks(callback).fit(X, Y)
    assert callback.sizes == [1, 2, 3]
    assert len(ours) == len(ours.estimators_samples_) == 3
    assert ours.predict(X).shape == (80,)


def test_members_share_what_they_have_in_common():
    """A pickle of many members has the levels and labels once."""
    frame = pd.DataFrame({"name": [f"level {i % 40}" for i in range(80)], "x": X[:, 0]})
    ours = BaggingClassifier(C45Classifier(), random_state=0, n_jobs=2)
    few, many = (
        len(pickle.dumps(clone(ours).set_params(n_estimators=n).fit(frame, LABELS)))
        for n in (2, 20)
    )
    one = len(pickle.dumps(C45Classifier().fit(frame, LABELS).schema_))
    assert many - few < 18 * (few - one)
    again = pickle.loads(pickle.dumps(ours.fit(frame, LABELS)))
    np.testing.assert_array_equal(again.predict(frame), ours.predict(frame))


def test_wide_tables_are_asked_by_blocks(monkeypatch):
    ours = BaggingClassifier(CARTClassifier(), max_features=3, random_state=0)
    shares = ours.fit(X, Y).predict_proba(X)
    monkeypatch.setattr(
        "sklearn_textbook.ensemble.members.tree_members.BLOCK_CELLS", 50
    )
    np.testing.assert_array_equal(ours.predict_proba(X), shares)
