"""Bagging of any estimators: draws, votes, out-of-bag estimates, errors."""

import joblib
import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.datasets import make_classification, make_regression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.linear_model import LinearRegression, RidgeClassifier
from sklearn.metrics import accuracy_score, roc_auc_score
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler
from sklearn.svm import SVC

from sklearn_textbook.ensemble import BaggingClassifier, BaggingRegressor
from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from tests.reference import bagging as reference

X, Y = make_classification(
    60, 5, n_informative=3, n_redundant=0, n_classes=3, random_state=0
)
VALUES = make_regression(60, 5, noise=20.0, random_state=0)
LABELS = np.array(["a", "b", "c"])[Y]


# ------------------------------------------------------- the same as scikit-learn's
DRAWS = {
    "defaults": {},
    "patches": {"max_samples": 30, "max_features": 0.7},
    "pasting": {"bootstrap": False, "max_samples": 0.6},
    "columns": {"bootstrap_features": True, "oob_score": True, "n_estimators": 30},
}


@pytest.mark.parametrize("draws", DRAWS)
@pytest.mark.parametrize(
    "member", [GaussianNB(), SVC(), make_pipeline(StandardScaler(), GaussianNB())]
)
def test_same_classifiers_as_scikit_learn(member, draws):
    options = {"random_state": 3, **DRAWS[draws]}
    theirs = sklearn.ensemble.BaggingClassifier(member, **options).fit(X, LABELS)
    ours = BaggingClassifier(member, **options).fit(X, LABELS)
    for name in ("estimators_samples_", "estimators_features_"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(theirs, name))
    np.testing.assert_array_equal(ours.predict_proba(X), theirs.predict_proba(X))
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    for name in ("predict_log_proba", "decision_function"):
        assert hasattr(ours, name) == hasattr(theirs, name)
        if hasattr(ours, name):
            with np.errstate(divide="ignore"):
                wanted = getattr(theirs, name)(X)
            np.testing.assert_allclose(getattr(ours, name)(X), wanted, rtol=1e-12)
    if "oob_score" in options:
        assert ours.oob_score_ == theirs.oob_score_
        np.testing.assert_allclose(
            ours.oob_decision_function_, theirs.oob_decision_function_, rtol=1e-12
        )


@pytest.mark.parametrize("draws", DRAWS)
def test_same_regressors_as_scikit_learn(draws):
    options = {"random_state": 3, **DRAWS[draws]}
    theirs = sklearn.ensemble.BaggingRegressor(LinearRegression(), **options)
    ours = BaggingRegressor(LinearRegression(), **options).fit(*VALUES)
    theirs.fit(*VALUES)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-12)
    if "oob_score" in options:
        np.testing.assert_allclose(ours.oob_prediction_, theirs.oob_prediction_)
        assert ours.oob_score_ == pytest.approx(theirs.oob_score_)


def test_weights_are_probabilities_of_being_drawn():
    weight = np.random.default_rng(0).uniform(size=60)
    weight[:20] = 0.0
    options = {"n_estimators": 4, "random_state": 1, "max_samples": 50}
    theirs = sklearn.ensemble.BaggingClassifier(KNeighborsClassifier(), **options)
    theirs.fit(X, Y, sample_weight=weight)
    for member in (KNeighborsClassifier(), CARTClassifier()):
        ours = BaggingClassifier(member, **options).fit(X, Y, sample_weight=weight)
        np.testing.assert_array_equal(
            ours.estimators_samples_, theirs.estimators_samples_
        )
        assert min(map(np.min, ours.estimators_samples_)) >= 20


def test_two_thirds_are_seen():
    """The share of rows in a bootstrap sample tends to 1 - 1/e, 63.2 %."""
    rows = BagDraw(100_000, 100_000, n_columns=3, n_drawn_columns=3).list_rows(0)
    assert len(np.unique(rows)) / 100_000 == pytest.approx(1 - np.exp(-1), abs=0.003)


# ------------------------------------------------------------- the plain reference
@pytest.mark.parametrize("n_columns", [5, 2])
@pytest.mark.parametrize(
    "member", [CARTClassifier(), CARTClassifier(max_features=1), KNeighborsClassifier()]
)
def test_classifier_agrees_with_plain_loops(member, n_columns):
    """Also where some member has not seen all classes, or some row has no judge."""
    table, y = X[:40], Y[:40].copy()
    y[np.flatnonzero(y == 2)[1:]] = 0
    options = {"max_features": n_columns, "random_state": 5}
    ours = BaggingClassifier(member, 4, oob_score=True, voting="soft", **options)
    with pytest.warns(UserWarning, match="Some inputs do not have OOB scores"):
        ours.fit(table, y)
    plain = reference.fit_bagging(member, table, y, 4, 5, 40, n_columns)
    assert min(len(fitted.classes_) for fitted, _, _ in plain) == 2
    shares, curve = reference.judge_classes(plain, table, y)
    np.testing.assert_allclose(ours.oob_decision_function_, shares, atol=1e-9)
    np.testing.assert_allclose(ours.oob_curve_, curve)
    ours.set_params(voting="hard")
    wanted = [reference.vote(plain, row, [0, 1, 2]) for row in table]
    np.testing.assert_array_equal(ours.predict(table), wanted)


@pytest.mark.parametrize("member", [CARTRegressor(), LinearRegression()])
def test_regressor_agrees_with_plain_loops(member):
    table, values = VALUES
    ours = BaggingRegressor(member, 15, oob_score=True, random_state=5)
    ours.fit(table, values)
    plain = reference.fit_bagging(member, table, values, 15, 5, 60, 5)
    predicted, curve = reference.judge_values(plain, table, values)
    np.testing.assert_allclose(ours.oob_prediction_, predicted)
    np.testing.assert_allclose(ours.oob_curve_, curve)
    means = np.mean([m.predict(table) for m, _, _ in plain], axis=0)
    np.testing.assert_allclose(ours.predict(table), means)


def test_votes_are_shares_of_members():
    ours = BaggingClassifier(GaussianNB(), 4, voting="hard", random_state=0)
    shares = ours.fit(X, LABELS).predict_proba(X)
    assert set(np.unique(shares)) <= {0.0, 0.25, 0.5, 0.75, 1.0}
    votes = [ours.classes_[member.predict(X)] for member in ours]
    counts = [(np.array(votes) == label).mean(axis=0) for label in ours.classes_]
    np.testing.assert_array_equal(shares, np.transpose(counts))
    with np.errstate(divide="ignore"):
        logarithms = np.log(shares)
    np.testing.assert_array_equal(ours.predict_log_proba(X), logarithms)


def test_out_of_bag_scorers():
    for member in (GaussianNB(), CARTClassifier()):
        ours = BaggingClassifier(member, 25, oob_score="accuracy", random_state=0)
        accuracy = ours.fit(X, LABELS).oob_score_
        best = ours.classes_[ours.oob_decision_function_.argmax(axis=1)]
        assert accuracy == accuracy_score(LABELS, best)
        assert accuracy == ours.set_params(oob_score=True).fit(X, LABELS).oob_score_
        assert accuracy == pytest.approx(1 - ours.oob_curve_[-1])
        ours.set_params(oob_score="roc_auc_ovr").fit(X, LABELS)
        area = roc_auc_score(LABELS, ours.oob_decision_function_, multi_class="ovr")
        assert ours.oob_score_ == pytest.approx(area)
        ours.set_params(oob_score=lambda y, predicted: np.sum(y == predicted))
        assert ours.fit(X, LABELS).oob_score_ == pytest.approx(60 * accuracy)


def test_out_of_bag_of_several_values():
    table, values = VALUES
    both = np.column_stack([values, -values])
    for member in (CARTRegressor(), KNeighborsRegressor()):
        ours = BaggingRegressor(member, 30, oob_score=True, random_state=0)
        single = clone(ours).fit(table, values)
        ours.fit(table, both)
        assert ours.predict(table).shape == (60, 2)
        np.testing.assert_allclose(ours.oob_prediction_[:, 0], single.oob_prediction_)
        np.testing.assert_allclose(ours.oob_prediction_[:, 1], -single.oob_prediction_)
        assert ours.oob_score_ == pytest.approx(single.oob_score_)


# ------------------------------------------------------------------------- tables
FRAME = pd.DataFrame(
    {"size": X[:, 0], "weight": X[:, 1], "color": np.where(X[:, 2] > 0, "red", "blue")}
)


@pytest.mark.parametrize("as_frame", [pd.DataFrame, pl.from_pandas])
def test_members_choose_columns_by_name(as_frame):
    pipeline = make_pipeline(
        make_column_transformer(
            (OneHotEncoder(), ["color"]), (StandardScaler(), ["size"])
        ),
        KNeighborsClassifier(),  # takes no weights, so that rows are drawn
    )
    frame = as_frame(FRAME)
    ours = BaggingClassifier(pipeline, 15, random_state=0, oob_score=True)
    ours.fit(frame, LABELS)
    assert list(ours[0].feature_names_in_) == ["size", "weight", "color"]
    assert ours.score(frame, LABELS) > 0.6
    array = np.column_stack([FRAME["color"] == "red", FRAME["size"]]).astype(float)
    assert ours.oob_decision_function_.shape == (60, 3)
    assert len(ours.estimators_samples_[0]) == len(array)


def test_a_frame_with_a_column_twice_is_an_array():
    frame = FRAME[["size", "weight"]]
    options = {"bootstrap_features": True, "random_state": 2}
    ours = BaggingClassifier(GaussianNB(), **options).fit(frame, Y)
    assert list(ours.feature_names_in_) == ["size", "weight"]
    assert any(len(set(columns)) == 1 for columns in ours.estimators_features_)
    of_array = BaggingClassifier(GaussianNB(), **options).fit(frame.to_numpy(), Y)
    np.testing.assert_array_equal(
        ours.predict_proba(frame), of_array.predict_proba(frame.to_numpy())
    )


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_tables(make):
    table = np.where(X > 0.5, X, 0.0)
    options = {"max_features": 3, "oob_score": True, "random_state": 0}
    for member in (CARTClassifier(), RidgeClassifier()):
        dense = BaggingClassifier(member, 30, **options).fit(table, Y)
        ours = BaggingClassifier(member, 30, **options).fit(make(table), Y)
        np.testing.assert_allclose(
            ours.predict_proba(make(table)), dense.predict_proba(table)
        )
        assert ours.oob_score_ == dense.oob_score_


# ------------------------------------------------------------------- working alike
@pytest.mark.parametrize("member", [KNeighborsClassifier(), CARTClassifier()])
def test_same_for_any_number_of_jobs(member):
    options = {"max_features": 3, "oob_score": True, "random_state": 0}
    ours = BaggingClassifier(member, 20, n_jobs=1, **options).fit(X, LABELS)
    with joblib.parallel_config("threading"):
        two = BaggingClassifier(member, 20, n_jobs=2, **options).fit(X, LABELS)
        shares = two.predict_proba(X)
    np.testing.assert_array_equal(ours.predict_proba(X), shares)
    np.testing.assert_array_equal(ours.oob_curve_, two.oob_curve_)


@pytest.mark.slow
def test_same_in_processes():
    for member in (KNeighborsClassifier(), CARTClassifier()):
        for max_features in (1.0, 3):
            options = {"max_features": max_features, "random_state": 0}
            ours = BaggingClassifier(member, 6, **options).fit(X, LABELS)
            with joblib.parallel_config("loky", n_jobs=2):
                other = BaggingClassifier(member, 6, **options).fit(X, LABELS)
                shares = other.predict_proba(X)
            np.testing.assert_array_equal(ours.predict_proba(X), shares)
            if member.__class__ is CARTClassifier:
                assert len({id(tree.classes_) for tree in other}) == 1


@pytest.mark.parametrize("member", [GaussianNB(), CARTClassifier()])
def test_warm_start_adds_members(member):
    ours = BaggingClassifier(member, 4, warm_start=True, random_state=0).fit(X, Y)
    first = list(ours)
    ours.set_params(n_estimators=9).fit(X, Y)
    assert list(ours)[:4] == first
    at_once = BaggingClassifier(member, 9, random_state=0).fit(X, Y)
    np.testing.assert_array_equal(ours.predict_proba(X), at_once.predict_proba(X))
    np.testing.assert_array_equal(ours.estimators_samples_, at_once.estimators_samples_)
    with pytest.warns(UserWarning, match="does not fit new"):
        ours.fit(X, Y)
    with pytest.raises(ValueError, match="n_estimators=2 must be larger or equal"):
        ours.set_params(n_estimators=2).fit(X, Y)


def test_warm_start_does_not_mix_trees_and_others():
    ours = BaggingClassifier(GaussianNB(), 2, warm_start=True).fit(X, Y)
    ours.set_params(estimator=CARTClassifier(), n_estimators=3)
    with pytest.raises(ValueError, match="GaussianNB and cannot be mixed with CART"):
        ours.fit(X, Y)


# ------------------------------------------------------------------------ metadata
@config_context(enable_metadata_routing=True)
def test_metadata_goes_to_the_members():
    class Consumer(GaussianNB):
        def fit(self, X, y, side=None, factor=None):
            self.side_, self.factor_ = side, factor
            return super().fit(X, y)

    member = Consumer().set_fit_request(side=True, factor=True)
    ours = BaggingClassifier(member, 2, random_state=0)
    ours.fit(X, Y, side=np.arange(60), factor=[1, 2])
    for fitted, rows in zip(ours, ours.estimators_samples_, strict=True):
        np.testing.assert_array_equal(fitted.side_, rows)
        assert fitted.factor_ == [1, 2]


def test_metadata_needs_routing():
    with pytest.raises(
        ValueError, match=r"fit got \['side'\].*enable_metadata_routing"
    ):
        BaggingClassifier(GaussianNB()).fit(X, Y, side=1)
    fitted = BaggingClassifier(GaussianNB(), 2).fit(X, Y)
    with pytest.raises(ValueError, match=r"predict got \['side'\]"):
        fitted.predict(X, side=1)


# -------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"estimator": 3},
            "'estimator' .* methods 'fit', 'predict', .*; got 3, .* no 'f",
        ),
        ({"estimator": StandardScaler()}, "'estimator' .* which has no 'predict'"),
        ({"estimator": GaussianNB}, "'estimator' .* which is a class"),
        (
            {"estimator": LinearRegression()},
            "'estimator' .* classifier with.*; got LinearR",
        ),
        ({"n_estimators": 0}, r"'n_estimators' .* range \[1, inf\); got 0"),
        ({"max_samples": 0.0}, r"'max_samples' .* float in the range \(0.0, 1.0\]"),
        ({"max_samples": 1.5}, "'max_samples'"),
        ({"max_features": 6}, "max_features must be <= n_features=5, got 6"),
        ({"max_features": 1.5}, "'max_features'"),
        ({"max_samples": 61, "bootstrap": False}, "Effective max_samples=61 must be"),
        ({"bootstrap": 1}, "'bootstrap' parameter must be True or False"),
        ({"oob_score": 3}, "'oob_score' parameter must be True, False, the name"),
        ({"oob_score": True, "bootstrap": False}, "only available if bootstrap=True"),
        ({"oob_score": True, "warm_start": True}, "only available if warm_start=Fals"),
        ({"voting": "loud"}, "'voting' parameter must be one of 'soft', 'hard'"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be"),
        ({"verbose": -1}, "'verbose'"),
        (
            {"estimator": GaussianNB(), "out_of_bag_posterior": True},
            r"out_of_bag_posterior=True .* trees .*; got GaussianNB\(\)",
        ),
        (
            {
                "estimator": CARTClassifier(monotonic_cst=[1, 0, 0, 0, 0]),
                "out_of_bag_posterior": True,
            },
            "cannot keep predictions monotonic",
        ),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        BaggingClassifier(**options).fit(X, Y)


def test_too_few_rows_of_weight():
    weight = np.zeros(60)
    weight[:5] = 1
    ours = BaggingClassifier(bootstrap=False, max_samples=6)
    with (
        pytest.warns(UserWarning, match="recommended to use bootstrap=True"),
        pytest.raises(ValueError, match="only 5 rows have a weight above 0"),
    ):
        ours.fit(X, Y, sample_weight=weight)


def test_decisions_of_members_that_lack_a_class():
    y = np.arange(60) % 2
    y[0] = 2
    ours = BaggingClassifier(LinearDiscriminantAnalysis(), 9, random_state=1)
    ours.fit(X, y)
    assert min(len(member.classes_) for member in ours) == 2
    np.testing.assert_allclose(ours.predict_proba(X).sum(axis=1), 1.0)
    with pytest.raises(ValueError, match="of the 3 classes, so its decision_func"):
        ours.decision_function(X)


def test_several_outputs_are_no_classes():
    with pytest.raises(ValueError, match="1d array"):
        BaggingClassifier().fit(X, np.column_stack([Y, Y]))
