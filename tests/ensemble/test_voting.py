"""Voting and averaging of members of any kind."""

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.compose import make_column_transformer
from sklearn.datasets import load_diabetes, load_iris
from sklearn.ensemble import VotingClassifier as StockVoting
from sklearn.ensemble import VotingRegressor as StockAveraging
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import (
    GridSearchCV,
    KFold,
    cross_val_predict,
    cross_val_score,
)
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

import sklearn_textbook.tree.encode.rank as rank
import sklearn_textbook.tree.encode.read as read
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    AveragingRegressor,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.ensemble.combination import (
    compute_non_negative_weights,
)
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)


@pytest.fixture(scope="module")
def mixed():
    """A table with text, gaps and weights, its labels strings."""
    X, y = make_mixed_table(
        400,
        missing_fraction=0.1,
        label_noise=0.2,
        as_frame=True,
        random_state=0,
        return_X_y=True,
    )
    weight = np.random.default_rng(0).uniform(0.5, 2, len(X))
    return X, y, weight


class Constant(ClassifierMixin, BaseEstimator):
    """Predicts one class, with some probability, and a class by the first column."""

    def __init__(self, probability=None):
        self.probability = probability

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile(self.probability, (len(X), 1))

    def predict(self, X):
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def vote_of(*probabilities, **params):
    members = [(f"m{i}", Constant(p)) for i, p in enumerate(probabilities)]
    X, y = np.zeros((3, 1)), np.array(["a", "b", "c"])
    return VotingClassifier(members, **params).fit(X, y), X[:1]


A, B, C = [0.8, 0.1, 0.1], [0.1, 0.6, 0.3], [0.1, 0.3, 0.6]


def test_rules_by_hand():
    for params, expected in [
        ({}, "a"),  # a tie: the first
        ({"weights": [1, 2, 1]}, "b"),
        ({"tie_breaking": "confidence"}, "b"),  # sums 1.0, 1.01, 0.99
        ({"rule": "majority", "reject_label": "?"}, "?"),
        ({"rule": "majority"}, "a"),  # must answer: plurality
        ({"rule": "majority", "weights": [1, 3, 1], "reject_label": "?"}, "b"),
        ({"rule": "unanimity", "weights": [1, 0, 0], "reject_label": "?"}, "a"),
        ({"reject_threshold": 0.5, "reject_label": "?"}, "?"),
        ({"voting": "soft"}, "b"),
        ({"voting": "soft", "rule": "max"}, "a"),
        ({"voting": "soft", "rule": "product"}, "b"),
        ({"voting": "soft", "reject_threshold": 0.4, "reject_label": 0}, 0),
    ]:
        voting, row = vote_of(A, B, [0.1, 0.31, 0.59], **params)
        (label,) = voting.predict(row)
        assert label == expected, params
        is_rejected = voting.rejected(row)[0]
        assert is_rejected == (expected in ("?", 0) or params == {"rule": "majority"})


def test_confidence_breaks_ties_against_the_order():
    voting, row = vote_of(C, B, C, B, [0.1, 0.2, 0.7], weights=[1, 1, 1, 2, 1])
    assert voting.predict(row) == ["b"]
    voting.set_params(tie_breaking="confidence")
    assert voting.predict(row) == ["c"]


def test_vote_fractions_and_normalised_probabilities():
    voting, row = vote_of(A, B, C, C, weights=[1, 1, 1, 2])
    np.testing.assert_allclose(voting.vote_fractions(row), [[0.2, 0.2, 0.6]])
    for rule in ("mean", "product", "min", "max", "median"):
        voting, row = vote_of(A, B, C, voting="soft", rule=rule, reject_label="?")
        np.testing.assert_allclose(voting.predict_proba(row).sum(), 1)


def test_reject_labels_of_other_types():
    X, y = IRIS
    members = [("near", KNeighborsClassifier()), ("bayes", GaussianNB())]
    voting = VotingClassifier(members, rule="unanimity", reject_label=-1).fit(X, y)
    predicted = voting.predict(X)
    assert predicted.dtype.kind == "i"
    assert np.array_equal(predicted == -1, voting.rejected(X))
    assert voting.rejected(X).any()
    voting.set_params(reject_label="unknown").fit(X, y)
    assert voting.predict(X).dtype == object
    assert set(voting.predict(X)) == {0, 1, 2, "unknown"}
    with pytest.raises(ValueError, match="'reject_label' parameter must not be one"):
        voting.set_params(reject_label=2).fit(X, y)


@pytest.mark.parametrize("voting", ["hard", "soft"])
def test_equal_to_scikit_learn(voting):
    X, y = IRIS
    members = [
        ("near", KNeighborsClassifier()),
        ("bayes", GaussianNB()),
        ("line", LogisticRegression(max_iter=1000)),
    ]
    params = {"voting": voting, "weights": [2, 1, 1.5]}
    ours = VotingClassifier(members, **params).fit(X, y)
    theirs = StockVoting(members, **params).fit(X, y)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    np.testing.assert_allclose(ours.transform(X), theirs.transform(X))
    assert list(ours.get_feature_names_out()) == list(theirs.get_feature_names_out())
    X, y = DIABETES
    members = [("line", LinearRegression()), ("near", KNeighborsRegressor())]
    ours = AveragingRegressor(members, weights=[3, 1]).fit(X, y)
    theirs = StockAveraging(members, weights=[3, 1]).fit(X, y)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X))


def list_members():
    encoder = make_column_transformer(
        (OneHotEncoder(handle_unknown="ignore"), ["outlook"]), remainder="drop"
    )
    return [
        ("c45", C45Classifier()),
        ("forest", RandomForestClassifier(5, random_state=0)),
        ("pipeline", make_pipeline(encoder, LogisticRegression())),
    ]


def make_play(n_rows=80):
    rng = np.random.default_rng(0)
    outlook = rng.choice(["rain", "sunny", "overcast"], n_rows)
    wind = rng.normal(size=n_rows)
    wind[::7] = np.nan
    y = np.where((outlook == "rain") | (wind > 1), "no", "yes")
    return (
        pd.DataFrame({"outlook": outlook, "wind": wind}),
        y,
        rng.uniform(1, 2, n_rows),
    )


def test_text_gaps_weights_and_mixed_members():
    X, y, weight = make_play()
    voting = VotingClassifier(list_members(), voting="soft").fit(X, y, weight)
    alone = [
        clone(one).fit(X, y, **params)
        for (_, one), params in zip(
            list_members(),
            [
                {"sample_weight": weight},
                {"sample_weight": weight},
                {"logisticregression__sample_weight": weight},
            ],
            strict=True,
        )
    ]
    expected = np.mean([one.predict_proba(X) for one in alone], axis=0)
    np.testing.assert_allclose(voting.predict_proba(X), expected)
    assert list(voting.feature_names_in_) == ["outlook", "wind"]
    assert voting.n_features_in_ == 2


def test_member_that_refuses_the_table_is_named():
    X, y, _ = make_play()
    members = [("tree", C45Classifier()), ("bayes", GaussianNB())]
    with pytest.raises(ValueError, match="could not convert") as caught:
        VotingClassifier(members).fit(X, y)
    assert caught.value.__notes__ == ["This comes from the member 'bayes', GaussianNB."]
    voting = VotingClassifier(members).fit(X[["wind"]].fillna(0), y)
    with pytest.raises(ValueError, match="NaN") as caught:
        voting.predict(X[["wind"]])
    assert "'bayes'" in caught.value.__notes__[-1]


def test_ten_trees_encode_the_table_once(monkeypatch):
    X, y, weight = make_play()
    calls = []
    for module, name in ((read, "_read_training_table"), (rank, "_encode_table")):
        function = getattr(module, name)

        def counted(*args, function=function, name=name):
            calls.append(name)
            return function(*args)

        monkeypatch.setattr(module, name, counted)
    trees = [(f"t{depth}", CARTClassifier(max_depth=depth)) for depth in range(1, 11)]
    voting = VotingClassifier(trees).fit(X, y, weight)
    assert sorted(calls) == ["_encode_table", "_read_training_table"]
    opened = []
    convert = type(voting.estimators_[0].schema_)._convert_columns

    def count(self, table, positions):
        opened.append(1)
        return convert(self, table, positions)

    monkeypatch.setattr(type(voting.estimators_[0].schema_), "_convert_columns", count)
    voting.predict(X)
    assert len(opened) == 1
    for (_, template), member in zip(trees, voting.estimators_, strict=True):
        codes = (y == "yes").astype(int)
        alone = clone(template).fit(X, codes, weight)
        assert np.array_equal(alone.predict_proba(X), member.predict_proba(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_prefit_members_are_taken_as_they_are(n_jobs):
    X, y, _ = make_play()
    members = [(name, clone(one).fit(X, y)) for name, one in list_members()]
    voting = VotingClassifier(members, prefit=True, voting="soft", n_jobs=n_jobs)
    voting.fit(X[:5], y[:5])
    assert [one for _, one in members] == voting.estimators_
    expected = np.mean([one.predict_proba(X) for _, one in members], axis=0)
    np.testing.assert_allclose(voting.predict_proba(X), expected)
    with pytest.raises(ValueError, match="seen in training, 'no', 'yes'; got 'maybe'"):
        voting.fit(X[:2], ["yes", "maybe"])


def test_prefit_members_of_different_classes():
    X, y = IRIS
    some = y < 2
    members = [
        ("all", GaussianNB().fit(X, y)),
        ("some", KNeighborsClassifier().fit(X[some], y[some])),
    ]
    voting = VotingClassifier(members, prefit=True, voting="soft").fit(X, y)
    expected = members[0][1].predict_proba(X) / 2
    expected[:, :2] += members[1][1].predict_proba(X) / 2
    np.testing.assert_allclose(voting.predict_proba(X), expected)
    voting.set_params(voting="hard").fit(X, y)
    assert voting.vote_fractions(X)[140].tolist() == [0, 0.5, 0.5]


@pytest.mark.parametrize("prefit", [False, True])
@pytest.mark.parametrize("calibration", ["sigmoid", "isotonic"])
def test_calibration_is_scikit_learns(calibration, prefit):
    X, y, _ = make_play(200)
    members = [("c45", C45Classifier()), ("cart", CARTClassifier(max_depth=3))]
    if prefit:
        members = [(name, one.fit(X[:100], y[:100])) for name, one in members]
    voting = VotingClassifier(
        members, voting="soft", calibration=calibration, prefit=prefit, cv=3
    ).fit(X[100:], y[100:])
    assert isinstance(voting.estimators_[0], CalibratedClassifierCV)
    assert voting.estimators_[0].method == calibration
    probabilities = voting.predict_proba(X)
    alone = [one.predict_proba(X) for one in voting.estimators_]
    np.testing.assert_allclose(probabilities, np.mean(alone, axis=0))
    if prefit:  # the trees themselves have not changed
        frozen = voting.estimators_[0].estimator.estimator
        assert frozen is members[0][1]


@pytest.mark.parametrize("weights", ["inverse_error", "non_negative", "optimal"])
def test_weights_from_held_out_predictions(weights):
    X, y = DIABETES
    folds = KFold(4, shuffle=True, random_state=0)
    members = [
        ("line", LinearRegression()),
        ("near", KNeighborsRegressor()),
        ("tree", CARTRegressor(max_depth=4)),
    ]
    averaging = AveragingRegressor(members, weights=weights, cv=folds).fit(X, y)
    for place, (_, one) in enumerate(members):
        expected = cross_val_predict(one, X, y, cv=folds)
        held_out = averaging.held_out_predictions_[:, place]
        np.testing.assert_allclose(held_out, expected)
    simple = AveragingRegressor(members).fit(X, y)
    held_out = averaging.held_out_predictions_
    loss = ((held_out @ averaging.weights_ - y) ** 2).mean()
    assert loss < ((held_out @ simple.weights_ - y) ** 2).mean()
    np.testing.assert_allclose(
        averaging.predict(X), averaging.transform(X) @ averaging.weights_
    )


def test_weights_of_fitted_members_from_new_rows():
    X, y = DIABETES
    members = [
        ("line", LinearRegression().fit(X[:300], y[:300])),
        ("tree", CARTRegressor().fit(X[:300], y[:300])),
    ]
    averaging = AveragingRegressor(members, weights="non_negative", prefit=True)
    averaging.fit(X[300:], y[300:])
    held_out = np.stack([one.predict(X[300:]) for _, one in members], axis=1)
    expected = compute_non_negative_weights(y[300:], held_out)
    np.testing.assert_allclose(averaging.weights_, expected)


def test_folds_that_are_no_partition():
    X, y = DIABETES
    twice = [(np.arange(100), np.arange(442)), (np.arange(100), np.arange(3))]
    averaging = AveragingRegressor(
        [("line", LinearRegression())], weights="optimal", cv=twice
    )
    with pytest.raises(ValueError, match="predict each row exactly once"):
        averaging.fit(X, y)


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"voting": "loud"}, "'voting' parameter"),
        ({"rule": "mean"}, "one of 'plurality', 'majority', 'unanimity' or None"),
        (
            {"rule": "median", "voting": "soft", "weights": [1, 2]},
            "weights are allowed only with",
        ),
        ({"reject_threshold": 1.5}, "'reject_threshold' parameter"),
        ({"tie_breaking": "last"}, "'tie_breaking' parameter"),
        ({"calibration": "platt"}, "'calibration' parameter"),
        ({"weights": [1]}, "1 weights, 2 estimators"),
        ({"weights": [1, -1]}, "must not be negative"),
        ({"prefit": 1}, "'prefit' parameter"),
        ({"n_jobs": 0.5}, "n_jobs"),
        ({"estimators": [("a", CARTClassifier), ("b", GaussianNB())]}, "instance"),
        ({"estimators": [("a", CARTRegressor())]}, "should be a classifier"),
        ({"estimators": [("a", GaussianNB()), ("a", GaussianNB())]}, "not unique"),
        ({"estimators": [("a__b", GaussianNB())]}, "must not contain __"),
        ({"estimators": [("voting", GaussianNB())]}, "conflict"),
        ({"estimators": [("a", "drop")]}, "All estimators are dropped"),
    ],
)
def test_wrong_parameters(params, message):
    members = [("a", GaussianNB()), ("b", KNeighborsClassifier())]
    voting = VotingClassifier(**{"estimators": members, **params})
    with pytest.raises((ValueError, TypeError), match=message):
        voting.fit(*IRIS).predict(IRIS[0])


def test_confidence_without_probabilities():
    class Mute(KNeighborsClassifier):
        predict_proba = property()

    voting = VotingClassifier([("mute", Mute())], tie_breaking="confidence")
    with pytest.raises(ValueError, match=r"none of \['mute'\] has it"):
        voting.fit(*IRIS).predict(IRIS[0])


def test_parameters_of_members_in_a_grid_search():
    members = [("tree", CARTClassifier()), ("bayes", GaussianNB())]
    grid = {"tree__max_depth": [1, 3], "bayes": ["drop", GaussianNB()]}
    search = GridSearchCV(VotingClassifier(members, voting="soft"), grid, cv=3)
    search.fit(*IRIS)
    assert search.best_score_ > 0.9
    assert len(search.cv_results_["params"]) == 4


@pytest.mark.parametrize(
    ("estimator", "weights", "data"),
    [
        (VotingClassifier, [None, [1, 0], [0, 1], [2, 1]], IRIS),
        (AveragingRegressor, [None, "optimal", [1, 0], [0, 1], [2, 1]], DIABETES),
    ],
)
def test_weights_in_a_grid_search(estimator, weights, data):
    is_classes = estimator is VotingClassifier
    members = {
        "tree": CARTClassifier(max_depth=2) if is_classes else CARTRegressor(),
        "other": GaussianNB() if is_classes else LinearRegression(),
    }
    search = GridSearchCV(estimator([*members.items()]), {"weights": weights}, cv=3)
    scores = search.fit(*data).cv_results_["mean_test_score"]
    for one_only, member in zip(([1, 0], [0, 1]), members.values(), strict=True):
        alone = cross_val_score(member, *data, cv=3).mean()
        assert scores[weights.index(one_only)] == pytest.approx(alone)
    assert search.best_params_["weights"] == weights[scores.argmax()]


@pytest.mark.parametrize("is_fitted", [False, True])
@pytest.mark.parametrize("estimator", [VotingClassifier, StackingClassifier])
def test_html_names_members_and_their_parameters(estimator, is_fitted):
    model = estimator([("c45", C45Classifier()), ("bayes", GaussianNB())])
    html = (model.fit(*IRIS) if is_fitted else model)._repr_html_()
    for text in ("bayes", "GaussianNB()", "c45", "C45Classifier()"):
        assert text in html
    assert ("estimators_" in html) == is_fitted


class Listener:
    """Notes the tasks of a fit."""

    def __init__(self):
        self.tasks = []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        self.tasks.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.tasks.append(f"end {context.task_name}")


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_callbacks_are_told_the_member(n_jobs):
    listener = Listener()
    members = [("bayes", GaussianNB()), ("tree", CARTClassifier())]
    voting = VotingClassifier(members, n_jobs=n_jobs).set_callbacks(listener)
    with joblib.parallel_config("threading", n_jobs=n_jobs):
        voting.fit(*IRIS)
    assert listener.tasks == [
        *("fit", "bayes", "end bayes", "tree", "end tree", "end fit")
    ]


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_workers_fit_the_same_members(backend):
    X, y, weight = make_play()
    alone = VotingClassifier(list_members(), voting="soft").fit(X, y, weight)
    with joblib.parallel_config(backend, n_jobs=2):
        together = clone(alone).fit(X, y, weight)
    expected = alone.predict_proba(X)
    np.testing.assert_array_equal(together.predict_proba(X), expected)
    jobs = clone(alone).set_params(n_jobs=2).fit(X, y, weight)
    np.testing.assert_array_equal(jobs.predict_proba(X), expected)


def test_ensembles_of_ensembles():
    X, y, weight = make_play()
    inner = VotingClassifier([("c45", C45Classifier()), ("cart", CARTClassifier())])
    stacking = StackingClassifier(
        [("voting", inner), ("forest", RandomForestClassifier(3, random_state=0))], cv=3
    )
    assert stacking.fit(X, y, weight).score(X, y) > 0.8
