"""Tables, targets and members that ensembles of named members may be given."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris

from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    AveragingRegressor,
    BayesianModelAveragingClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.linear_model import LogisticRegression, MaxEntClassifier
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor

X, CODES = load_iris(return_X_y=True)
NAMES = np.array(["setosa", "versicolor", "virginica"])[CODES]
TREES = [("c45", C45Classifier()), ("cart", CARTClassifier(max_depth=2))]
ENSEMBLES = {
    "voting": VotingClassifier(TREES),
    "soft voting": VotingClassifier(TREES, voting="soft"),
    "stacking": StackingClassifier(TREES, cv=2),
    "model averaging": BayesianModelAveragingClassifier(TREES, cv=2),
}


@pytest.mark.parametrize(
    "member",
    [
        LogisticRegression(C=1.0),
        MaxEntClassifier(alpha=1.0),
        CARTClassifier(max_depth=2),
    ],
    ids=lambda member: type(member).__name__,
)
@pytest.mark.parametrize("classes", [2, 3])
def test_stacking_with_a_class_of_weight_0(member, classes):
    """Members may leave its rows out, and then give it no column."""
    rows = slice(None) if classes == 3 else CODES != 1
    table, labels = X[rows], NAMES[rows]
    more = np.concatenate([labels, ["unknown"] * 10])
    wide = np.concatenate([table, table[:10]])
    weight = (more != "unknown").astype(float)
    stacking = StackingClassifier([("one", member), ("tree", CARTClassifier())], cv=2)
    stacking.fit(wide, more, weight)
    assert stacking.transform(wide).shape == stacking.secondary_table_.shape
    assert (stacking.predict(table) == labels).mean() > 0.9
    assert stacking.predict_proba(table).shape == (len(table), classes + 1)


def test_decision_functions_without_a_class_of_weight_0():
    weight = (CODES != 2).astype(float)
    members = [("lda", LinearDiscriminantAnalysis())]
    stacking = StackingClassifier(members, cv=2, stack_method="decision_function")
    with pytest.raises(ValueError, match="leave out classes whose rows all have weigh"):
        stacking.fit(X, NAMES, weight)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_targets_of_another_length(name):
    message = r"inconsistent numbers of samples: \[150, 149\]"
    ensemble = clone(ENSEMBLES[name])
    with pytest.raises(ValueError, match=message):
        ensemble.fit(X, NAMES[:-1])
    fitted = [(label, clone(tree).fit(X, NAMES)) for label, tree in TREES]
    ensemble.set_params(estimators=fitted)
    ensemble.set_params(
        **({"cv": "prefit"} if name == "stacking" else {"prefit": True})
    )
    with pytest.raises(ValueError, match=message):
        ensemble.fit(X, NAMES[:-1])


def test_averaging_of_fitted_members_and_a_target_of_another_length():
    members = [("tree", CARTRegressor().fit(X, CODES))]
    with pytest.raises(ValueError, match="inconsistent numbers of samples"):
        AveragingRegressor(members, prefit=True).fit(X, CODES[:-1])


def fit_trees(*targets):
    return [
        (name, CARTClassifier().fit(X, y))
        for name, y in zip("ab", targets, strict=True)
    ]


@pytest.mark.parametrize(
    "ensemble",
    [
        VotingClassifier([], prefit=True),
        BayesianModelAveragingClassifier([], prefit=True),
    ],
    ids=lambda ensemble: type(ensemble).__name__,
)
@pytest.mark.parametrize(
    ("targets", "message"),
    [
        (
            (NAMES, CODES),
            "such as 'setosa' of the member 'a' and 0 of the member 'b'",
        ),
        (
            (CODES, np.column_stack([CODES, CODES])),
            "The member 'b', CARTClassifier, predicts several outputs",
        ),
    ],
)
def test_fitted_members_whose_classes_do_not_fit(ensemble, targets, message):
    members = fit_trees(*targets)
    with pytest.raises(ValueError, match=message):
        ensemble.set_params(estimators=members).fit(X, targets[0])


def test_fitted_members_with_numbers_of_different_types():
    members = fit_trees(CODES, CODES.astype(float))
    voting = VotingClassifier(members, prefit=True).fit(X, CODES)
    assert (voting.predict(X) == CODES).all()


@pytest.mark.parametrize("name", ENSEMBLES)
@pytest.mark.parametrize("member", [None, "passthrough"])
def test_what_is_no_estimator(name, member):
    ensemble = clone(ENSEMBLES[name]).set_params(cart=member)
    message = f"estimator {type(member).__name__} should be a classifier.*'cart'"
    with pytest.raises(ValueError, match=message):
        ensemble.fit(X, NAMES)


@pytest.mark.parametrize("name", ENSEMBLES)
def test_labels_without_an_order(name):
    labels = np.where(CODES == 0, "a", CODES.astype(object))
    with pytest.raises(TypeError, match="such as 'a' and 1, which cannot be sorted"):
        clone(ENSEMBLES[name]).fit(X, labels)


def test_stacking_of_one_class():
    labels = np.full(len(X), "same")
    with pytest.raises(ValueError, match="at least two classes, .* one class: 'same'"):
        StackingClassifier(TREES, cv=2).fit(X, labels)
    stacking = StackingClassifier(TREES, CARTClassifier(), cv=2).fit(X, labels)
    assert set(stacking.predict(X)) == {"same"}


def test_error_of_the_second_learner_says_where_it_comes_from():
    table = X.copy()
    table[0, 0] = np.nan
    stacking = StackingClassifier(TREES, cv=2, passthrough=True)
    with pytest.raises(ValueError, match="contains NaN") as caught:
        stacking.fit(table, NAMES)
    assert "'final_estimator', MultiResponseLinear" in caught.value.__notes__[0]


class ColumnOfPredictions(CARTClassifier):
    """As CatBoost predicts of several classes."""

    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


class ColumnOfValues(CARTRegressor):
    def predict(self, X):
        return super().predict(X)[:, np.newaxis]


@pytest.mark.parametrize("name", ENSEMBLES)
def test_members_that_predict_a_column(name):
    ensemble = clone(ENSEMBLES[name])
    ensemble.set_params(estimators=[("one", ColumnOfPredictions()), TREES[1]])
    if name == "stacking":
        ensemble.set_params(stack_method="predict")
    predicted = ensemble.fit(X, NAMES).predict(X)
    assert predicted.shape == (150,)
    assert (predicted == NAMES).mean() > 0.6


@pytest.mark.parametrize("weights", [None, "optimal", "non_negative"])
def test_regressors_that_predict_a_column(weights):
    members = [("column", ColumnOfValues()), ("tree", CARTRegressor(max_depth=1))]
    plain = [("column", CARTRegressor()), members[1]]
    values = CODES * 1.5
    found, expected = (
        AveragingRegressor(each, weights=weights).fit(X, values).predict(X)
        for each in (members, plain)
    )
    np.testing.assert_array_equal(found, expected)


class Truncated(CARTClassifier):
    def predict(self, X):
        return super().predict(X)[1:]

    def predict_proba(self, X):
        return super().predict_proba(X)[:, 1:]


@pytest.mark.parametrize("name", ENSEMBLES)
def test_members_whose_answers_do_not_fit(name):
    ensemble = clone(ENSEMBLES[name])
    ensemble.set_params(estimators=[("short", Truncated()), TREES[1]])
    message = r"of the member 'short', Truncated, must return an array of shape \(\d+"
    with pytest.raises(ValueError, match=message):
        ensemble.fit(X, NAMES).predict(X)


@pytest.mark.parametrize(
    ("ensemble", "y"),
    [(VotingClassifier(TREES), NAMES), (AveragingRegressor([]), CODES)],
    ids=lambda given: type(given).__name__,
)
def test_weights_that_make_no_average(ensemble, y):
    trees = [("c45", CARTRegressor()), ("cart", CARTRegressor())]
    if isinstance(ensemble, AveragingRegressor):
        ensemble = clone(ensemble).set_params(estimators=trees)
    with pytest.raises(ValueError, match="'weights' parameter must be finite n"):
        clone(ensemble).set_params(weights=["a", 1]).fit(X, y)
    ensemble = clone(ensemble).set_params(weights=[0, 1], cart="drop")
    with pytest.raises(ValueError, match="0 for all estimators that are not dropped"):
        ensemble.fit(X, y)
