"""Asking the members of fitted ensembles, and the report of all measures."""

import pickle

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import ensemble as stock
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.multiclass import OneVsRestClassifier, OutputCodeClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook import ensemble as ours
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import diversity
from sklearn_textbook.ensemble.diversity import diversity_report, predict_members
from sklearn_textbook.tree import C45Classifier

X, NUMBERS = load_iris(return_X_y=True)
# Sorted in another order than their numbers.
Y = np.array(["setosa", "virginica", "arctica"])[NUMBERS]
TRAIN, TEST = slice(0, None, 2), slice(1, None, 2)
THREE = [
    ("tree", DecisionTreeClassifier(max_depth=2, random_state=0)),
    ("bayes", GaussianNB()),
    ("logistic", make_pipeline(StandardScaler(), LogisticRegression(C=0.01))),
]


def ask_stock(model, X):
    """Members of scikit-learn that have learned numbers of classes."""
    columns = getattr(model, "estimators_features_", [slice(None)] * 99)
    said = [
        model.classes_[member.predict(X[:, of_member]).astype(int)]
        for member, of_member in zip(model.estimators_, columns, strict=False)
    ]
    return np.column_stack(said)


def ask_labels(model, X):
    """Members that have learned labels."""
    return np.column_stack([member.predict(X) for member in model.estimators_])


def ask_own_numbers(model, X):
    """Members of this package's ensembles that have learned numbers."""
    return np.column_stack(
        [model.classes_[member.predict(X)] for member in model.estimators_]
    )


def ask_own_columns(model, X):
    """Trees of some columns."""
    return np.column_stack(
        [
            member.predict(X[:, columns])
            for member, columns in zip(
                model.estimators_, model.estimators_features_, strict=True
            )
        ]
    )


def ask_marks(model, X):
    """Members that regress on marks of the classes."""
    said = [member.predict(X).argmax(axis=1) for member in model.estimators_]
    return model.classes_[np.column_stack(said)]


GIVEN = {"n_estimators": 5, "random_state": 0}
CASES = {
    "stock bagging": (stock.BaggingClassifier(**GIVEN), ask_stock),
    "stock bagging of columns": (
        stock.BaggingClassifier(**GIVEN, max_features=2, bootstrap_features=True),
        ask_stock,
    ),
    "stock forest": (stock.RandomForestClassifier(**GIVEN), ask_stock),
    "stock extra trees": (stock.ExtraTreesClassifier(**GIVEN), ask_stock),
    "stock AdaBoost": (stock.AdaBoostClassifier(**GIVEN), ask_labels),
    "stock voting": (stock.VotingClassifier(THREE), ask_stock),
    "stock voting without one": (
        stock.VotingClassifier([*THREE, ("none", "drop")]),
        ask_stock,
    ),
    "stock stacking": (stock.StackingClassifier(THREE), ask_stock),
    "bagging": (ours.BaggingClassifier(**GIVEN), ask_labels),
    "bagging of C4.5": (ours.BaggingClassifier(C45Classifier(), **GIVEN), ask_labels),
    "bagging of columns": (
        ours.BaggingClassifier(**GIVEN, max_features=2),
        ask_own_columns,
    ),
    "bagging of others": (
        ours.BaggingClassifier(GaussianNB(), **GIVEN),
        ask_own_numbers,
    ),
    "subspace": (ours.RandomSubspaceClassifier(**GIVEN), ask_own_columns),
    "forest": (ours.RandomForestClassifier(**GIVEN), ask_labels),
    "forest of C4.5": (
        ours.RandomForestClassifier(criterion="gain_ratio", **GIVEN),
        ask_labels,
    ),
    "extra trees": (ours.ExtraTreesClassifier(**GIVEN), ask_labels),
    "AdaBoost": (ours.AdaBoostClassifier(**GIVEN), ask_labels),
    "AdaBoost of others": (
        ours.AdaBoostClassifier(GaussianNB(), **GIVEN),
        ask_own_numbers,
    ),
    "flipping": (ours.OutputFlippingClassifier(**GIVEN), ask_labels),
    "flipping of others": (
        ours.OutputFlippingClassifier(GaussianNB(), **GIVEN),
        ask_labels,
    ),
    "smearing": (ours.OutputSmearingClassifier(**GIVEN), ask_marks),
    "smearing of others": (
        ours.OutputSmearingClassifier(KNeighborsRegressor(), **GIVEN),
        ask_marks,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_members_are_asked_as_they_predict(name):
    model, ask = CASES[name]
    model.fit(X[TRAIN], Y[TRAIN])
    predictions = predict_members(model, X[TEST])
    assert_array_equal(predictions, ask(model, X[TEST]))
    assert predictions.dtype == Y.dtype
    assert len(np.unique(predictions)) == 3
    report = diversity_report(model, X[TEST], Y[TEST])
    given = diversity_report(predictions, None, Y[TEST])
    for table in ("members", "pairwise", "group"):
        for column, values in getattr(report, table).items():
            assert_array_equal(values, getattr(given, table)[column])


@pytest.mark.parametrize("name", ["stock forest", "stock voting", "forest", "bagging"])
def test_frames_are_read_without_a_warning(name, recwarn):
    model, _ = CASES[name]
    frame = pd.DataFrame(X, columns=list("abcd"))
    expected = predict_members(model.fit(X[TRAIN], Y[TRAIN]), X[TEST])
    model.fit(frame[TRAIN], Y[TRAIN])
    assert_array_equal(predict_members(model, frame[TEST]), expected)
    assert len(recwarn) == 0


def test_sparse_tables_are_read():
    for model in (
        stock.BaggingClassifier(**GIVEN, max_features=2),
        ours.BaggingClassifier(**GIVEN, max_features=2),
    ):
        model.fit(X[TRAIN], Y[TRAIN])
        for kind in (sparse.csr_array, sparse.csc_array):
            assert_array_equal(
                predict_members(model, kind(X[TEST])), predict_members(model, X[TEST])
            )


def test_nominal_columns_and_missing_values_are_read_once():
    table, y = make_mixed_table(n_samples=300, random_state=0, return_X_y=True)
    model = ours.RandomForestClassifier(**GIVEN).fit(table, y)
    assert_array_equal(predict_members(model, table), ask_labels(model, table))


def test_fitted_classifiers_are_members():
    fitted = [model.fit(X[TRAIN], Y[TRAIN]) for _, model in THREE]
    expected = np.column_stack([model.predict(X[TEST]) for model in fitted])
    assert_array_equal(predict_members(fitted, X[TEST]), expected)
    assert diversity_report(tuple(fitted), X[TEST], Y[TEST]).name == "classifiers"


class Voters(ClassifierMixin, BaseEstimator):
    """An ensemble of no known kind."""

    def __init__(self, learns_numbers=True):
        self.learns_numbers = learns_numbers

    def fit(self, X, y):
        self.classes_, numbers = np.unique(y, return_inverse=True)
        y = numbers if self.learns_numbers else y
        self.estimators_ = [GaussianNB().fit(X, y), DecisionTreeClassifier().fit(X, y)]
        return self

    def predict(self, X):
        """Nobody asks."""


@pytest.mark.parametrize("learns_numbers", [True, False])
def test_unknown_ensembles_are_asked_for_what_their_members_know(learns_numbers):
    model = Voters(learns_numbers).fit(X[TRAIN], Y[TRAIN])
    expected = (ask_stock if learns_numbers else ask_labels)(model, X[TEST])
    assert_array_equal(predict_members(model, X[TEST]), expected)


def test_prefit_stacking_has_members_of_labels():
    fitted = [(name, model.fit(X[TRAIN], Y[TRAIN])) for name, model in THREE]
    model = stock.StackingClassifier(fitted, cv="prefit").fit(X[TRAIN], Y[TRAIN])
    assert_array_equal(predict_members(model, X[TEST]), ask_labels(model, X[TEST]))


@pytest.mark.parametrize("is_weighted", [False, True])
def test_report_holds_what_the_functions_say(is_weighted):
    model = ours.BaggingClassifier(**GIVEN).fit(X[TRAIN], Y[TRAIN])
    weight = np.random.default_rng(0).integers(0, 3, 75) if is_weighted else None
    report = diversity_report(model, X[TEST], Y[TEST], weight)
    predictions = predict_members(model, X[TEST])
    y, given = Y[TEST], {"sample_weight": weight}
    assert report.n_samples == (75 if weight is None else np.count_nonzero(weight))
    points = diversity.kappa_error_points(y, predictions, **given)
    for name, values in points.items():
        assert_array_equal(report.pairwise[name], values)
    pairs = np.triu_indices(5, 1)
    for name in ("disagreement", "correlation", "q_statistic"):
        values = getattr(diversity, name)(predictions, y_true=y, **given)
        assert_allclose(report.pairwise[name], values[pairs])
        others = [np.delete(row, i).mean() for i, row in enumerate(values)]
        assert_allclose(report.members[name], others)
    faults = diversity.double_fault(y, predictions, **given)
    assert_allclose(report.pairwise["double_fault"], faults[pairs])
    assert_allclose(report.members["error"], np.diag(faults))
    assert_allclose(report.get("mean_error"), np.diag(faults).mean())
    for name in report.group["measure"].tolist()[2:]:
        if name == "vote_entropy":
            value = diversity.entropy(predictions, **given)
        elif name == "entropy":
            value = diversity.entropy(predictions, y_true=y, **given)
        else:
            value = getattr(diversity, name)(y, predictions, **given)
        assert_allclose(report.get(name), value)


def test_votes_of_equal_number_go_to_the_first_class():
    # 2 votes against 1; a tie of "a" and "b"; a tie of "b" and "c".
    predictions = [["a", "a", "b"], ["b", "a", "c"], ["c", "b", "c"]]
    report = diversity_report(predictions, None, ["a", "b", "c"])
    assert_allclose(report.get("vote_error"), 1 / 3)
    report = diversity_report(predictions, None, ["a", "a", "c"], [1, 0.5, 0.25])
    assert report.get("vote_error") == 0.0
    assert report.is_weighted
    with pytest.raises(KeyError):
        report.get("kappa")


def test_report_is_printed_in_80_columns_and_as_frames():
    model = ours.RandomForestClassifier(**GIVEN).fit(X[TRAIN], Y[TRAIN])
    report = diversity_report(model, X[TEST], Y[TEST])
    lines = str(report).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[:2] == ["Diversity of RandomForestClassifier", "5 members on 75 rows"]
    assert repr(report) == str(report)
    assert list(report.members.as_frame()) == list(report.members)
    assert report.pairwise.as_frame().shape == (10, 8)
    assert str(pickle.loads(pickle.dumps(report))) == str(report)


REGRESSORS = {
    "stock bagging": stock.BaggingRegressor(**GIVEN, max_features=2),
    "stock forest": stock.RandomForestRegressor(**GIVEN),
    "stock AdaBoost": stock.AdaBoostRegressor(**GIVEN),
    "stock voting": stock.VotingRegressor(
        [("five", KNeighborsRegressor()), ("one", KNeighborsRegressor(1))]
    ),
    "bagging": ours.BaggingRegressor(**GIVEN),
    "bagging of others": ours.BaggingRegressor(KNeighborsRegressor(), **GIVEN),
    "subspace": ours.RandomSubspaceRegressor(**GIVEN),
    "forest": ours.RandomForestRegressor(**GIVEN),
}


@pytest.mark.parametrize("name", REGRESSORS)
def test_values_of_regressors_are_divided_into_error_and_ambiguity(name):
    model = REGRESSORS[name].fit(X[TRAIN, :3], X[TRAIN, 3])
    rows, y = X[TEST, :3], X[TEST, 3]
    predictions = predict_members(model, rows)
    assert predictions.shape == (75, len(model.estimators_))
    parts = diversity.error_ambiguity_decomposition(y, predictions)
    assert parts.ambiguity > 0
    if name != "stock AdaBoost":  # which takes a median
        assert_allclose(predictions.mean(axis=1), model.predict(rows))
        assert_allclose(parts.error, np.mean((model.predict(rows) - y) ** 2))


# -------------------------------------------------------------------------- errors
@pytest.mark.parametrize(
    "model",
    [
        stock.GradientBoostingClassifier(n_estimators=2),
        stock.HistGradientBoostingClassifier(max_iter=2),
        ours.GradientBoostingClassifier(n_estimators=2),
        stock.GradientBoostingRegressor(n_estimators=2),
        stock.HistGradientBoostingRegressor(max_iter=2),
        ours.GradientBoostingRegressor(n_estimators=2),
        ours.BoostingTreeRegressor(n_estimators=2),
    ],
    ids=lambda model: f"{type(model).__module__}.{type(model).__name__}",
)
def test_boosting_of_gradients_is_refused(model):
    model.fit(X, NUMBERS)
    with pytest.raises(
        ValueError, match=f"{type(model).__name__} are trees fitted to gradients"
    ):
        predict_members(model, X)
    with pytest.raises(
        ValueError, match=f"{type(model).__name__}( is a regressor| are trees)"
    ):
        diversity_report(model, X, NUMBERS)


def test_models_without_members_of_classes_are_refused():
    forest = ours.RandomForestRegressor(n_estimators=2).fit(X, NUMBERS)
    with pytest.raises(ValueError, match="ForestRegressor is a regressor.*error_"):
        diversity_report(forest, X, NUMBERS)
    with pytest.raises(ValueError, match="GaussianNB has no estimators_"):
        diversity_report(GaussianNB().fit(X, Y), X, Y)
    one_vs_rest = OneVsRestClassifier(GaussianNB()).fit(X, NUMBERS)
    with pytest.raises(
        ValueError, match="OneVsRestClassifier do not predict its classes 0, 1, 2"
    ):
        diversity_report(one_vs_rest, X, NUMBERS)
    codes = OutputCodeClassifier(GaussianNB(), random_state=0).fit(X, NUMBERS > 0)
    with pytest.raises(ValueError, match="OutputCodeClassifier predict digits of code"):
        diversity_report(codes, X, NUMBERS > 0)
    two = np.column_stack((NUMBERS, NUMBERS))
    forest = stock.RandomForestClassifier(n_estimators=2).fit(X, two)
    with pytest.raises(ValueError, match="must have a single output"):
        diversity_report(forest, X, NUMBERS)
    for kind in (stock.RandomForestRegressor, ours.RandomForestRegressor):
        forest = kind(n_estimators=2).fit(X, X[:, :2])
        with pytest.raises(
            ValueError, match="RandomForestRegressor must have a single"
        ):
            predict_members(forest, X)


def test_other_wrong_use_is_refused():
    model = ours.BaggingClassifier(n_estimators=2, random_state=0)
    with pytest.raises(NotFittedError):
        diversity_report(model, X, Y)
    model.fit(X, Y)
    with pytest.raises(
        ValueError, match="y must contain only classes seen in training.*got 'other'"
    ):
        diversity_report(model, X[:2], ["setosa", "other"])
    with pytest.raises(ValueError, match="one label per row of X, 2 in all"):
        diversity_report(model, X[:2], ["setosa"])
    with pytest.raises(
        ValueError, match="sample_weight must have one entry per row, 2 in all, got 1"
    ):
        diversity_report(model, X[:2], Y[:2], [1.0])
    with pytest.raises(
        ValueError, match="at least two members; BaggingClassifier has 1"
    ):
        diversity_report(ours.BaggingClassifier(n_estimators=1).fit(X, Y), X, Y)
    with pytest.raises(ValueError, match=r"requires at least two members; got 1"):
        diversity_report([model], X, Y)
    with pytest.raises(ValueError, match=r"ensemble\[1\] must be a fitted classifier"):
        diversity_report([model, 3], X, Y)
    with pytest.raises(
        ValueError, match=r"got ndarray. Use X=None to pass predictions"
    ):
        diversity_report(np.zeros((150, 2)), X, Y)
    with pytest.raises(ValueError, match="y_true must be the true labels"):
        diversity_report(np.zeros((150, 2)), None, None)
