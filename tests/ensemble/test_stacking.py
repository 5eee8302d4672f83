"""Stacking: the secondary table, second learners, text, weights."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.linear_model import LinearRegression as StockLinearRegression
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    KFold,
    LeaveOneOut,
    StratifiedKFold,
    cross_val_predict,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor

from sklearn_textbook.ensemble import (
    MultiResponseLinearRegression,
    StackingClassifier,
    StackingRegressor,
)
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from tests.containers import READS_POLARS
from tests.ensemble.test_voting import make_play

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
MEMBERS = [("near", KNeighborsClassifier()), ("bayes", GaussianNB())]


def test_secondary_table_is_made_of_rows_not_learned_from():
    X, y = IRIS
    folds = StratifiedKFold(3, shuffle=True, random_state=1)
    stacking = StackingClassifier(MEMBERS, cv=folds).fit(X, y)
    expected = np.hstack(
        [
            cross_val_predict(one, X, y, cv=folds, method="predict_proba")
            for _, one in MEMBERS
        ]
    )
    np.testing.assert_allclose(stacking.secondary_table_, expected)
    # The members in use have learned from all rows.
    whole = np.hstack([clone(one).fit(X, y).predict_proba(X) for _, one in MEMBERS])
    np.testing.assert_allclose(stacking.transform(X), whole)


def test_leave_one_out():
    X, y = IRIS[0][::5], IRIS[1][::5]
    stacking = StackingClassifier(MEMBERS, cv=LeaveOneOut()).fit(X, y)
    for row in (0, 13, 29):
        others = np.arange(len(X)) != row
        for place, (_, one) in enumerate(MEMBERS):
            learned = clone(one).fit(X[others], y[others])
            given = stacking.secondary_table_[row, 3 * place : 3 * place + 3]
            np.testing.assert_allclose(given, learned.predict_proba(X[[row]])[0])


def test_folds_whose_training_rows_are_masks():
    X, y = load_iris(return_X_y=True)
    folds = [*StratifiedKFold(3).split(X, y)]
    masks = [(np.isin(np.arange(150), train), test) for train, test in folds]
    by_number, by_mask = (
        StackingClassifier(MEMBERS, cv=cv).fit(X, y).predict_proba(X)
        for cv in (folds, masks)
    )
    np.testing.assert_array_equal(by_mask, by_number)


def test_weights_reach_folds_members_and_second_learner():
    """Weights are repetitions where the folds keep copies together."""
    X, y, _ = make_play(60)
    counts = np.random.default_rng(0).integers(1, 4, len(X))
    copies = np.repeat(np.arange(len(X)), counts)
    fold_of = np.arange(len(X)) % 3
    folds = [
        (np.flatnonzero(fold_of != k), np.flatnonzero(fold_of == k)) for k in range(3)
    ]
    repeated = [
        tuple(np.flatnonzero(np.isin(copies, part)) for part in fold) for fold in folds
    ]
    members = [("c45", C45Classifier()), ("cart", CARTClassifier(max_depth=3))]
    weighted = StackingClassifier(members, cv=folds).fit(X, y, counts)
    whole = StackingClassifier(members, cv=repeated).fit(X.iloc[copies], y[copies])
    np.testing.assert_allclose(
        weighted.secondary_table_[copies], whole.secondary_table_
    )
    expected = whole.predict_proba(X)
    np.testing.assert_allclose(weighted.predict_proba(X), expected, atol=1e-12)


@pytest.mark.parametrize("make_frame", [pd.DataFrame, pl.DataFrame])
def test_text_is_passed_through(make_frame):
    if make_frame is pl.DataFrame and not READS_POLARS:
        pytest.skip("this scikit-learn does not read the names of these columns")
    X, y, _ = make_play()
    X = make_frame({name: X[name].tolist() for name in X})
    stacking = StackingClassifier(
        [("c45", C45Classifier()), ("cart", CARTClassifier())],
        final_estimator=C45Classifier(),
        passthrough=True,
        cv=3,
    ).fit(X, y)
    names = [*("stackingclassifier_c45", "stackingclassifier_cart", "outlook", "wind")]
    assert type(stacking.secondary_table_) is type(X)
    assert list(stacking.secondary_table_.columns) == names
    assert list(stacking.get_feature_names_out()) == names
    assert stacking.score(X, y) > 0.9


def test_pandas_index_plays_no_part():
    X, y, _ = make_play()
    model = StackingClassifier(
        [("c45", C45Classifier())], C45Classifier(), passthrough=True, cv=3
    )
    shuffled = X.set_index(np.random.default_rng(0).permutation(len(X)))
    table = model.fit(X, y).secondary_table_
    other = model.fit(shuffled, y).secondary_table_
    pd.testing.assert_frame_equal(table, other.reset_index(drop=True))


def test_regression_is_breimans():
    X, y = DIABETES
    folds = KFold(5, shuffle=True, random_state=0)
    members = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
    stacking = StackingRegressor(members, cv=folds).fit(X, y)
    table = np.stack([cross_val_predict(one, X, y, cv=folds) for _, one in members]).T
    second = StockLinearRegression(positive=True).fit(table, y)
    np.testing.assert_allclose(stacking.final_estimator_.coef_, second.coef_)
    np.testing.assert_allclose(
        stacking.predict(X), second.predict(stacking.transform(X))
    )
    free = StackingRegressor(members, passthrough=True).fit(X, y)
    assert (free.final_estimator_.coef_ < 0).any()


def test_folds_without_a_class():
    """A class with one row lacks in the fold that predicts it."""
    X, y = IRIS[0][:101], IRIS[1][:101]
    stacking = StackingClassifier(MEMBERS, cv=KFold(5, shuffle=True, random_state=0))
    table = stacking.fit(X, y).secondary_table_
    assert table.shape == (101, 6)
    np.testing.assert_allclose(table[100, [2, 5]], 0)
    members = [("line", LogisticRegression(max_iter=1000))]
    stacking = StackingClassifier(
        members, stack_method="decision_function", cv=KFold(3)
    )
    with pytest.raises(ValueError, match="covers only 2 of 3 classes in a fold"):
        stacking.fit(*IRIS)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"final_estimator": CARTRegressor()}, "must be a classifier"),
        ({"final_estimator": "mlr"}, "must be None or an estimator with fit"),
        ({"stack_method": "transform"}, "'stack_method' parameter"),
        ({"passthrough": 2}, "'passthrough' parameter"),
        (
            {
                "final_estimator": MultiResponseLinearRegression(inputs="class"),
                "passthrough": True,
            },
            "columns of X belong to no class",
        ),
    ],
)
def test_wrong_parameters(params, message):
    with pytest.raises(ValueError, match=message):
        StackingClassifier(MEMBERS, **params).fit(*IRIS)


# ---------------------------------------------------- multi-response regression
def test_all_inputs_are_one_regression_per_class():
    X, y = IRIS
    weight = np.random.default_rng(0).uniform(0, 2, len(y))
    model = MultiResponseLinearRegression().fit(X, y, weight)
    responses = np.stack(
        [StockLinearRegression().fit(X, y == k, weight).predict(X) for k in range(3)], 1
    )
    np.testing.assert_allclose(model.decision_function(X), responses)
    assert np.array_equal(model.predict(X), responses.argmax(axis=1))
    cut = np.clip(responses, 0, 1)
    np.testing.assert_allclose(
        model.predict_proba(X), cut / cut.sum(axis=1, keepdims=True)
    )


@pytest.mark.parametrize("positive", [False, True])
def test_class_inputs(positive):
    X, y = IRIS
    table = StackingClassifier(MEMBERS).fit(X, y).secondary_table_
    model = MultiResponseLinearRegression(inputs="class", positive=positive)
    model.fit(table, y)
    for k in range(3):
        second = StockLinearRegression(positive=positive).fit(table[:, k::3], y == k)
        # Members that agree have no unique coefficients.
        fitted = model.regressions_[k].predict(table[:, k::3])
        np.testing.assert_allclose(fitted, second.predict(table[:, k::3]), atol=1e-9)
    with pytest.raises(ValueError, match="X has 5 columns"):
        model.fit(table[:, :5], y)


def test_two_classes_need_one_regression():
    X, y = IRIS[0][50:, :2], IRIS[1][50:]
    for inputs in ("all", "class"):
        model = MultiResponseLinearRegression(inputs=inputs).fit(X, y)
        (regression,) = model.regressions_
        second = StockLinearRegression().fit(X, y == 2)
        np.testing.assert_allclose(regression.coef_, second.coef_)
        fitted = second.predict(X)
        np.testing.assert_allclose(model.decision_function(X), 2 * fitted - 1)
        assert np.array_equal(model.predict(X), np.where(fitted > 0.5, 2, 1))


def test_one_class_is_refused():
    with pytest.raises(ValueError, match="y has only one class: 'a'"):
        MultiResponseLinearRegression().fit([[1.0], [2.0]], ["a", "a"])
