"""Bayesian model averaging: weights of members."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm
from sklearn import config_context
from sklearn.base import clone
from sklearn.datasets import load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Lasso, Ridge, SGDClassifier
from sklearn.linear_model import LinearRegression as StockLinearRegression
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier, KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from sklearn_textbook.ensemble import (
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
)
from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from tests.ensemble.test_voting import make_play

IRIS = load_iris(return_X_y=True)
DIABETES = load_diabetes(return_X_y=True)
CLASSIFIERS = [("near", KNeighborsClassifier(20)), ("bayes", GaussianNB())]
REGRESSORS = [("near", KNeighborsRegressor(20)), ("tree", CARTRegressor(max_depth=3))]


class Table:
    """A fitted classifier whose probabilities are the columns of the table."""

    classes_ = np.array([0, 1])

    def __init__(self, column=0):
        self.column = column

    def get_params(self, deep=True):
        return {"column": self.column}

    def fit(self, X, y, sample_weight=None):
        return self

    def predict_proba(self, X):
        second = np.asarray(X, dtype=float)[:, self.column]
        return np.column_stack([1 - second, second])

    def __sklearn_is_fitted__(self):
        return True

    def __sklearn_tags__(self):
        return GaussianNB().__sklearn_tags__()


# ------------------------------------------------------------ members, classifiers


def test_hand_worked_weights():
    # The members give the true classes 0.8 * 0.5 and 0.4 * 0.9: 0.40 : 0.36.
    X, y = [[0.8, 0.4], [0.5, 0.1]], [1, 0]
    members = [("one", Table(0)), ("two", Table(1))]
    averaging = BayesianModelAveragingClassifier(members, prefit=True).fit(X, y)
    np.testing.assert_allclose(averaging.weights_, [0.40 / 0.76, 0.36 / 0.76])
    np.testing.assert_allclose(averaging.log_evidence_, np.log([0.40, 0.36]))
    given = averaging.predict_proba([[0.2, 0.8]])
    second = (0.40 * 0.2 + 0.36 * 0.8) / 0.76
    np.testing.assert_allclose(given, [[1 - second, second]])
    table = averaging.posterior_table_
    assert table["member"].tolist() == ["one", "two"]
    np.testing.assert_allclose(table["prior"], [0.5, 0.5])
    weighted = averaging.fit(X, y, sample_weight=[2, 1])
    evidence = np.array([0.8**2 * 0.5, 0.4**2 * 0.9])
    np.testing.assert_allclose(weighted.weights_, evidence / evidence.sum())


def test_equal_members_keep_the_prior():
    X, y = IRIS
    members = [(name, GaussianNB()) for name in "abc"]
    for weighting in ("held_out", "bic", "pseudo_bma_plus"):
        averaging = BayesianModelAveragingClassifier(
            members, weighting=weighting, prior=[3, 2, 5], n_parameters=[24] * 3
        ).fit(X, y)
        np.testing.assert_allclose(averaging.weights_, [0.3, 0.2, 0.5])
        alone = GaussianNB().fit(X, y).predict_proba(X)
        np.testing.assert_allclose(averaging.predict_proba(X), alone)


def test_held_out_evidence_is_log_loss_of_cross_validation():
    X, y = IRIS
    folds = KFold(4, shuffle=True, random_state=0)
    weight = np.random.default_rng(0).uniform(size=len(y))
    averaging = BayesianModelAveragingClassifier(CLASSIFIERS, cv=folds).fit(
        X, y.astype(str)
    )
    expected = [
        -log_loss(
            y,
            cross_val_predict(one, X, y, cv=folds, method="predict_proba"),
            normalize=False,
        )
        for _, one in CLASSIFIERS
    ]
    np.testing.assert_allclose(averaging.log_evidence_, expected)
    assert averaging.held_out_log_densities_.shape == (150, 2)
    assert averaging.classes_.tolist() == ["0", "1", "2"]
    assert averaging.score(X, y.astype(str)) > 0.9
    members = [("tree", CARTClassifier(max_depth=2)), ("bayes", GaussianNB())]
    weighted = BayesianModelAveragingClassifier(members, cv=folds).fit(X, y, weight)
    np.testing.assert_allclose(
        weighted.log_evidence_, weight @ weighted.held_out_log_densities_
    )


def test_a_better_member_dominates():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = (X[:, 0] + 0.3 * rng.normal(size=400) > 0).astype(int)
    members = [
        ("line", LogisticRegression()),
        ("noise", make_pipeline(StandardScaler(), KNeighborsClassifier(200))),
    ]
    averaging = BayesianModelAveragingClassifier(members).fit(X, y)
    assert averaging.weights_[0] > 1 - 1e-9
    drop = averaging.set_params(line="drop").fit(X, y)
    assert drop.weights_.tolist() == [1.0]


def test_floor():
    X, y = [[0.0, 0.5], [1.0, 0.5]], [1, 1]
    members = [("sure", Table(0)), ("unsure", Table(1))]
    averaging = BayesianModelAveragingClassifier(members, prefit=True)
    np.testing.assert_allclose(
        averaging.fit(X, y).weights_, [4 * 2**-52, 1], rtol=1e-12
    )
    averaging.set_params(floor=0.25).fit(X, y)
    np.testing.assert_allclose(averaging.weights_, [0.5, 0.5])
    averaging.set_params(floor=0.0).fit(X, y)
    assert averaging.weights_.tolist() == [0.0, 1.0]
    assert averaging.log_evidence_[0] == -np.inf
    averaging.set_params(weighting="pseudo_bma_plus").fit(X, y)
    assert averaging.weights_.tolist() == [0.0, 1.0]
    averaging.set_params(weighting="held_out", unsure="drop")
    with pytest.raises(ValueError, match="All members are excluded"):
        averaging.fit(X, y)
    # A row of weight 0 excludes nobody.
    averaging.fit(X, y, sample_weight=[0, 1])
    assert averaging.weights_.tolist() == [1.0]


def test_fitted_members_with_other_classes():
    X, y = IRIS
    members = [
        ("two", GaussianNB().fit(X[:100], y[:100])),
        ("all", GaussianNB().fit(X, y)),
    ]
    averaging = BayesianModelAveragingClassifier(members, prefit=True).fit(X, y)
    assert averaging.estimators_[0] is members[0][1]
    assert averaging.classes_.tolist() == [0, 1, 2]
    np.testing.assert_allclose(averaging.weights_, [0, 1], atol=1e-300)
    with pytest.raises(NotFittedError, match="not fitted"):
        averaging.set_params(two=GaussianNB()).fit(X, y)


def test_weights_are_repetitions_of_rows():
    X, y = IRIS
    counts = np.random.default_rng(0).integers(1, 4, size=len(y))
    members = [("a", LogisticRegression()), ("b", LogisticRegression(C=0.1))]
    repeated = np.repeat(np.arange(len(y)), counts)
    averaging = BayesianModelAveragingClassifier(
        [(name, one.set_params(separation="ignore")) for name, one in members],
        weighting="bic",
        n_parameters=[10, 8],
    )
    X = X[:, :2]  # not separable
    weighted = clone(averaging).fit(X, y, counts)
    other = clone(averaging).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted.weights_, other.weights_, rtol=1e-6)
    np.testing.assert_allclose(weighted.log_evidence_, other.log_evidence_)


def test_text_and_missing_values():
    X, y, weight = make_play()
    X.loc[3, "outlook"] = None
    members = [("c45", C45Classifier()), ("cart", CARTClassifier(max_depth=2))]
    for weighting in ("held_out", "bic", "pseudo_bma_plus"):
        averaging = BayesianModelAveragingClassifier(
            members, weighting=weighting, cv=2, random_state=0
        ).fit(X, y, weight)
        probabilities = averaging.predict_proba(X)
        np.testing.assert_allclose(probabilities.sum(axis=1), 1)
        np.testing.assert_allclose(averaging.weights_.sum(), 1)
    assert averaging.feature_names_in_.tolist() == X.columns.tolist()


def test_transform_gives_the_members_probabilities():
    X, y = IRIS
    averaging = BayesianModelAveragingClassifier(CLASSIFIERS).fit(X, y)
    columns = averaging.set_output(transform="pandas").transform(X)
    assert columns.columns[0] == "bayesianmodelaveragingclassifier_near0"
    given = columns.to_numpy().reshape(150, 2, 3)
    expected = np.tensordot(averaging.weights_, given, axes=(0, 1))
    np.testing.assert_allclose(averaging.predict_proba(X), expected)
    assert not hasattr(BayesianModelAveragingClassifier(), "transform")
    assert not hasattr(BayesianModelAveragingClassifier(), "fit_transform")


# -------------------------------------------------------------- members, regressors


def test_normal_densities_of_held_out_errors():
    X, y = DIABETES
    folds = KFold(3)
    averaging = BayesianModelAveragingRegressor(REGRESSORS, cv=folds).fit(X, y)
    given = np.column_stack(
        [cross_val_predict(one, X, y, cv=folds) for _, one in REGRESSORS]
    )
    deviations = np.sqrt(((given - y[:, np.newaxis]) ** 2).mean(axis=0))
    np.testing.assert_allclose(averaging.standard_deviations_, deviations)
    expected = norm.logpdf(y[:, np.newaxis], given, deviations)
    np.testing.assert_allclose(averaging.held_out_log_densities_, expected)
    np.testing.assert_allclose(averaging.log_evidence_, expected.sum(axis=0))


def test_standard_deviation_within_and_between_members():
    X, y = DIABETES
    averaging = BayesianModelAveragingRegressor(
        [("line", LinearRegression()), REGRESSORS[0]],
        weighting="pseudo_bma_plus",
        random_state=0,
    ).fit(X, y)
    values, deviations = averaging.predict(X, return_std=True)
    np.testing.assert_array_equal(values, averaging.predict(X))
    weights, given = averaging.weights_, averaging.transform(X)
    assert weights.min() > 0.01
    np.testing.assert_allclose(values, given @ weights)
    # The second moment of a mixture less the square of its mean.
    second = (given**2 + averaging.standard_deviations_**2) @ weights
    np.testing.assert_allclose(deviations, np.sqrt(second - values**2))
    with pytest.raises(ValueError, match="return_std"):
        averaging.predict(X, return_std="yes")


def test_bic_of_lines_is_that_of_the_line():
    X, y = DIABETES
    weight = np.random.default_rng(0).integers(1, 3, size=len(y))
    members = [
        ("all", LinearRegression()),
        ("ridge", LinearRegression(alpha=1.0)),
        ("stock", StockLinearRegression()),
    ]
    averaging = BayesianModelAveragingRegressor(members, weighting="bic")
    averaging.fit(X, y, weight)
    lines = averaging.estimators_[:2]
    table = averaging.posterior_table_
    np.testing.assert_allclose(table["bic"][0], lines[0].bic_)
    np.testing.assert_allclose(table["bic"][2], lines[0].bic_)
    np.testing.assert_allclose(table["log_likelihood"][1], lines[1].log_likelihood_)
    assert table["n_parameters"][0] == 12
    np.testing.assert_allclose(table["n_parameters"][1], lines[1].effective_rank_ + 2)
    np.testing.assert_allclose(averaging.weights_[0], averaging.weights_[2])
    assert not hasattr(averaging, "held_out_log_densities_")


def test_constant_target():
    X, y = DIABETES[0][:30], np.full(30, 7.0)
    for weighting in ("held_out", "bic", "pseudo_bma_plus"):
        averaging = BayesianModelAveragingRegressor(
            [("line", LinearRegression()), ("tree", CARTRegressor())],
            weighting=weighting,
        ).fit(X, y)
        values, deviations = averaging.predict(X, return_std=True)
        np.testing.assert_allclose(values, 7.0)
        assert (deviations < 1e-6).all()


# ------------------------------------------------------------- numbers of parameters


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (LinearRegression(), 12),
        (LinearRegression(fit_intercept=False), 11),
        (StockLinearRegression(), 12),
        (Ridge(), 12),
        (make_pipeline(StandardScaler(), StockLinearRegression()), 12),
        (CARTRegressor(max_leaf_nodes=5), 6),
        (DecisionTreeRegressor(max_leaf_nodes=7), 8),
    ],
    ids=str,
)
def test_parameters_of_regressors(member, expected):
    averaging = BayesianModelAveragingRegressor([("one", member)], weighting="bic")
    table = averaging.fit(*DIABETES).posterior_table_
    assert table["n_parameters"].tolist() == [expected]


def test_parameters_of_sparse_lines_are_those_not_zero():
    averaging = BayesianModelAveragingRegressor([("one", Lasso(1.0))], weighting="bic")
    averaging.fit(*DIABETES)
    n_found = np.count_nonzero(averaging.estimators_[0].coef_)
    assert 0 < n_found < 10
    assert averaging.posterior_table_["n_parameters"].tolist() == [n_found + 2]


@pytest.mark.parametrize(
    ("member", "expected"),
    [
        (LogisticRegression(separation="ignore"), 6),
        (LogisticRegression(C=1.0), 6),
        (StockLogisticRegression(), 6),
        (DecisionTreeClassifier(max_leaf_nodes=4, random_state=0), 8),
        (CARTClassifier(max_leaf_nodes=4), 8),
    ],
    ids=str,
)
def test_parameters_of_classifiers(member, expected):
    averaging = BayesianModelAveragingClassifier([("one", member)], weighting="bic")
    averaging.fit(IRIS[0][:, :2], IRIS[1])
    assert averaging.posterior_table_["n_parameters"].tolist() == [expected]


def test_unknown_numbers_of_parameters():
    X, y = IRIS
    averaging = BayesianModelAveragingClassifier(CLASSIFIERS, weighting="bic")
    with pytest.raises(ValueError, match="'near', KNeighborsC.*n_parameters"):
        averaging.fit(X, y)
    averaging.set_params(n_parameters=[7, 24], near="drop").fit(X, y)
    assert averaging.posterior_table_["n_parameters"].tolist() == [24]


# --------------------------------------------------------- workers, routes, errors


def test_workers_give_the_same():
    X, y = IRIS
    alone = BayesianModelAveragingClassifier(CLASSIFIERS).fit(X, y)
    two = BayesianModelAveragingClassifier(CLASSIFIERS, n_jobs=2).fit(X, y)
    np.testing.assert_array_equal(alone.log_evidence_, two.log_evidence_)


def test_verbose_prints_members(capsys):
    BayesianModelAveragingClassifier(CLASSIFIERS, verbose=True).fit(*IRIS)
    assert "[Averaging]" in capsys.readouterr().out


def test_weights_are_routed():
    X, y = DIABETES
    weight = np.random.default_rng(0).integers(1, 3, size=len(y))
    with config_context(enable_metadata_routing=True):
        line = LinearRegression().set_fit_request(sample_weight=True)
        members = [("line", line), ("near", KNeighborsRegressor(20))]
        routed = BayesianModelAveragingRegressor(members).fit(
            X, y, sample_weight=weight
        )
        subsets = BayesianModelAveragingRegressor().set_fit_request(sample_weight=True)
        subsets.fit(X, y, sample_weight=weight)
        assert subsets.get_metadata_routing().consumes("fit", ["sample_weight"])
    expected = LinearRegression().fit(X, y, weight)
    np.testing.assert_allclose(routed.estimators_[0].coef_, expected.coef_)
    np.testing.assert_allclose(
        routed.log_evidence_, weight @ routed.held_out_log_densities_
    )
    plain = BayesianModelAveragingRegressor().fit(X, y, weight)
    np.testing.assert_array_equal(subsets.coef_, plain.coef_)
    with pytest.raises(TypeError, match=r"KNeighborsRegressor.*'near'"):
        BayesianModelAveragingRegressor(members).fit(X, y, weight)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"weighting": "aic"}, "'weighting' parameter must be one of"),
        ({"prior": [1.0]}, "'prior' parameter must have one number for each of the 2"),
        ({"prior": [-1.0, 2.0]}, "'prior' parameter must be numbers of at least 0"),
        ({"n_parameters": [1, 2, 3]}, "'n_parameters' parameter must have one number"),
        ({"n_parameters": [1, -2]}, "'n_parameters' parameter must be numbers"),
        ({"n_parameters": "many"}, "'n_parameters' parameter must be None or an array"),
        ({"categorical_features": "all"}, "categorical_features must be"),
        ({"categorical_features": [[0]]}, "categorical_features must be"),
        ({"categorical_features": [0.5]}, "categorical_features must be"),
        ({"categorical_features": [-1]}, "categorical_features must be"),
        ({"categorical_features": {0: 7}}, r"categorical_features\[0\] must be"),
        ({"n_bootstrap": 0}, "'n_bootstrap'"),
        ({"prefit": 1}, "'prefit'"),
        ({"random_state": "a"}, "'random_state'"),
        ({"occam_window": 0.5}, "'occam_window'"),
        ({"max_subset_size": -1}, "'max_subset_size'"),
        ({"handle_unknown": "pass"}, "'handle_unknown'"),
        ({"reference_level": "any"}, "'reference_level'"),
        ({"n_jobs": "all"}, "n_jobs"),
        ({"floor": -0.1}, "'floor'"),
        ({"estimators": []}, "'estimators'"),
        ({"estimators": [("tree", CARTRegressor())]}, "should be a classifier"),
        (
            {"estimators": [("sgd", SGDClassifier())]},
            "'sgd', SGDClassifier, must have predict_proba",
        ),
        (
            {"cv": [(range(50), range(50, 150))]},
            "'cv' parameter must predict each row exactly",
        ),
    ],
)
def test_parameters_are_checked(parameters, message):
    averaging = BayesianModelAveragingClassifier(CLASSIFIERS).set_params(**parameters)
    with pytest.raises(ValueError, match=message):
        averaging.fit(*IRIS)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_members_that_predict_no_number_are_named(value):
    class Broken(StockLinearRegression):
        def predict(self, X):
            return np.where(np.arange(len(X)) == 3, value, super().predict(X))

    members = [("line", StockLinearRegression()), ("broken", Broken())]
    averaging = BayesianModelAveragingRegressor(members, weighting="bic")
    with pytest.raises(ValueError, match="'broken' predicts NaN or infinity for row 3"):
        averaging.fit(*DIABETES)


def test_large_numbers():
    X, y = DIABETES
    plain = BayesianModelAveragingRegressor(REGRESSORS).fit(X, y)
    large = BayesianModelAveragingRegressor(REGRESSORS).fit(X, y * 1e120)
    np.testing.assert_allclose(large.weights_, plain.weights_, rtol=1e-6)
    np.testing.assert_allclose(
        large.standard_deviations_, plain.standard_deviations_ * 1e120
    )


def test_refits_leave_nothing_behind():
    X, y = DIABETES
    averaging = BayesianModelAveragingRegressor(REGRESSORS).fit(X, y)
    averaging.set_params(estimators=None).fit(X, y)
    assert averaging.n_features_in_ == 10
    for name in ("estimators_", "held_out_log_densities_", "standard_deviations_"):
        assert not hasattr(averaging, name)
    averaging.set_params(estimators=REGRESSORS).fit(X[:, :4], y)
    assert averaging.n_features_in_ == 4
    for name in ("coef_", "design_", "inclusion_probabilities_", "coef_names_"):
        assert not hasattr(averaging, name)


@pytest.mark.parametrize(("before", "after"), [(None, REGRESSORS), (REGRESSORS, None)])
def test_parameters_set_after_the_fit_play_no_part(before, after, tmp_path):
    X, y = DIABETES
    if before is not None:
        before = [("tree", CARTRegressor(max_depth=2)), ("line", LinearRegression())]
    averaging = BayesianModelAveragingRegressor(before).fit(X, y)
    expected, text = averaging.predict(X, return_std=True), averaging.summary()
    averaging.set_params(estimators=after)
    save_model(averaging, tmp_path / "model.json")
    for one in (averaging, load_model(tmp_path / "model.json")):
        np.testing.assert_array_equal(one.predict(X, return_std=True), expected)
        assert one.summary() == text
        assert one.n_features_in_ == 10


def test_summary_of_members_fits_a_terminal():
    X, y = DIABETES
    members = [("line", LinearRegression()), ("tree", CARTRegressor(max_depth=3))]
    averaging = BayesianModelAveragingRegressor(members, weighting="bic").fit(X, y)
    text = averaging.summary()
    assert max(map(len, text.splitlines())) <= 80
    assert "line" in text
    assert f"{averaging.weights_[0]:.4f}" in text


def test_frames_and_arrays_agree():
    X, y = load_diabetes(return_X_y=True, as_frame=True)
    members = [("line", LinearRegression()), ("tree", CARTRegressor(max_depth=3))]
    for estimators in (None, members):
        averaging = BayesianModelAveragingRegressor(estimators)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            of_frame = clone(averaging).fit(X, y).predict(X)
            of_array = clone(averaging).fit(X.to_numpy(), y).predict(X.to_numpy())
        np.testing.assert_allclose(of_frame, of_array)
        table = averaging.fit(X, y).posterior_table_
        assert pd.DataFrame(table)["weight"].sum() == pytest.approx(1)
