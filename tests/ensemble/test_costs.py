"""Ensembles whose errors have costs."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    ObliqueRandomForestClassifier,
    RandomForestClassifier,
)
from sklearn_textbook.exchange import export_code, to_sklearn
from sklearn_textbook.io import load_model, save_model
from sklearn_textbook.tree import CARTClassifier
from tests.growth.test_costs import COSTS, make_mixed_table

MODELS = [
    RandomForestClassifier(10, random_state=0),
    RandomForestClassifier(10, random_state=0, criterion="gain_ratio"),
    RandomForestClassifier(10, random_state=0, bootstrap=False, min_samples_leaf=9),
    ExtraTreesClassifier(10, random_state=0, max_depth=5),
    ObliqueRandomForestClassifier(5, random_state=0, max_depth=4),
    BaggingClassifier(n_estimators=10, random_state=0),
    AdaBoostClassifier(n_estimators=10),
    AdaBoostClassifier(CARTClassifier(max_depth=3), n_estimators=5),
    GradientBoostingClassifier(n_estimators=10, random_state=0),
]
each_model = pytest.mark.parametrize("model", MODELS, ids=repr)


def fit(model, costs, n_classes=3):
    X, y = make_mixed_table(n_classes=n_classes)
    return clone(model).set_params(cost_matrix=costs).fit(X[:200], y[:200]), X[200:]


@each_model
def test_the_class_of_least_expected_cost_is_predicted(model, tmp_path):
    fitted, new = fit(model, COSTS)
    probabilities, predicted = fitted.predict_proba(new), fitted.predict(new)
    assert (predicted != probabilities.argmax(axis=1)).any()
    expected = probabilities @ np.array(COSTS)
    chosen = expected[np.arange(len(new)), predicted]
    np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-9)
    save_model(fitted, tmp_path / "model.json")
    for other in (
        load_model(tmp_path / "model.json"),
        pickle.loads(pickle.dumps(fitted)),
    ):
        np.testing.assert_array_equal(other.predict(new), predicted)


@each_model
def test_equal_costs_are_no_costs(model):
    plain, new = fit(model, None)
    equal, _ = fit(model, 5 * (1 - np.eye(3)))
    np.testing.assert_array_equal(equal.predict_proba(new), plain.predict_proba(new))
    np.testing.assert_array_equal(equal.predict(new), plain.predict(new))


@each_model
def test_powers_of_two_change_nothing(model):
    one, new = fit(model, COSTS)
    other, _ = fit(model, np.array(COSTS) / 2**20)
    np.testing.assert_array_equal(one.predict_proba(new), other.predict_proba(new))
    np.testing.assert_array_equal(one.predict(new), other.predict(new))


@each_model
def test_two_classes_are_a_threshold(model):
    fitted, new = fit(model, [[0, 2], [7, 0]], n_classes=2)
    is_second = fitted.predict_proba(new)[:, 1] > 2 / 9 + 1e-12
    np.testing.assert_array_equal(fitted.predict(new), is_second)


@each_model
def test_wrong_costs_are_named(model):
    X, y = make_mixed_table()
    with pytest.raises(ValueError, match=r"'cost_matrix' parameter .* shape \(3, 3\)"):
        clone(model).set_params(cost_matrix=[[0, 1], [2, 0]]).fit(X, y)


def test_members_grow_with_costs_and_keep_the_counts_of_their_rows():
    X, y = make_mixed_table()
    forest = RandomForestClassifier(
        4, max_depth=2, random_state=0, max_features=None, categorical_smoothing=0
    )
    costly = clone(forest).set_params(cost_matrix=COSTS).fit(X, y)
    samples = costly.estimators_samples_
    for member, rows in zip(costly, samples, strict=True):
        counts = member.tree_.statistics[0, 0]
        np.testing.assert_array_equal(counts, np.bincount(y[rows], minlength=3))
        alone = CARTClassifier(
            max_depth=2, cost_matrix=COSTS, categorical_smoothing=0
        ).fit(X, y, sample_weight=np.bincount(rows, minlength=len(y)))
        np.testing.assert_array_equal(member.tree_.statistics, alone.tree_.statistics)
    plain = clone(forest).fit(X, y)
    assert any(
        one.tree_.nodes.tobytes() != other.tree_.nodes.tobytes()
        for one, other in zip(costly, plain, strict=True)
    )


def test_surrogates_of_members_share_the_plan():
    X, y = make_mixed_table()
    forest = RandomForestClassifier(
        3, missing="surrogate", random_state=0, max_features=None, cost_matrix=COSTS
    ).fit(X, y)
    for member, rows in zip(forest, forest.estimators_samples_, strict=True):
        alone = CARTClassifier(missing="surrogate", cost_matrix=COSTS).fit(
            X, y, sample_weight=np.bincount(rows, minlength=len(y))
        )
        # Smoothing of levels knows of bootstrap samples; the first split is a number.
        np.testing.assert_array_equal(
            member.tree_.statistics[0], alone.tree_.statistics[0]
        )


def test_bagging_passes_costs_on_to_trees_without_any():
    X, y = make_mixed_table()
    passed = BaggingClassifier(
        CARTClassifier(max_depth=3), random_state=0, cost_matrix=COSTS
    ).fit(X, y)
    assert passed.estimators_[0].cost_matrix is COSTS or (
        passed.estimators_[0].cost_matrix == COSTS
    )
    own = [[0, 1, 1], [1, 0, 1], [1, 50, 0]]
    kept = BaggingClassifier(
        CARTClassifier(max_depth=3, cost_matrix=own), random_state=0, cost_matrix=COSTS
    ).fit(X, y)
    assert kept.estimators_[0].cost_matrix == own
    others = BaggingClassifier(LogisticRegression(), random_state=0, cost_matrix=COSTS)
    others.fit(X[["b"]], y)
    expected = (others.predict_proba(X[["b"]]) @ np.array(COSTS)).argmin(axis=1)
    np.testing.assert_array_equal(others.predict(X[["b"]]), expected)


def test_votes_of_members_are_those_of_their_costs():
    X, y = make_mixed_table()
    template = CARTClassifier(max_depth=2, cost_matrix=COSTS)
    bagging = BaggingClassifier(template, random_state=0, voting="hard").fit(X, y)
    votes = np.mean(
        [member.predict(X)[:, None] == np.arange(3) for member in bagging], axis=0
    )
    np.testing.assert_allclose(bagging.predict_proba(X), votes)


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
def test_votes_are_no_probabilities(kind):
    X, y = make_mixed_table()
    with pytest.raises(ValueError, match="requires voting='soft'"):
        kind(voting="hard", cost_matrix=COSTS).fit(X, y)


@pytest.mark.parametrize("kind", [RandomForestClassifier, BaggingClassifier])
def test_out_of_bag_rows_are_classified_by_costs(kind):
    X, y = make_mixed_table()
    model = kind(n_estimators=30, random_state=0, oob_score=True, cost_matrix=COSTS)
    model.fit(X, y)
    decisions = model.oob_decision_function_ @ np.array(COSTS)
    accuracy = np.mean(decisions.argmin(axis=1) == y)
    assert model.oob_score_ == pytest.approx(accuracy, abs=0.011)  # ties
    assert model.oob_curve_[-1] == pytest.approx(1 - model.oob_score_)
    assert accuracy != np.mean(model.oob_decision_function_.argmax(axis=1) == y)


def test_stages_of_boosting_are_predicted_by_costs():
    for model in MODELS[-3:]:
        fitted, new = fit(model, COSTS)
        for predicted, probabilities in zip(
            fitted.staged_predict(new), fitted.staged_predict_proba(new), strict=True
        ):
            expected = probabilities @ np.array(COSTS)
            chosen = expected[np.arange(len(new)), predicted]
            np.testing.assert_allclose(chosen, expected.min(axis=1), atol=1e-9)


@each_model
def test_exported_models_predict_by_costs_or_are_refused(model):
    fitted, new = fit(model, COSTS)
    refused = [to_sklearn]
    if "Boost" in type(model).__name__:
        refused.append(export_code)
    else:
        program = {}
        exec(export_code(fitted, "python"), program)
        rows = new.astype(object).where(new.notna(), None).to_dict("records")
        predicted = [program["predict"](row) for row in rows]
        assert predicted == fitted.predict(new).tolist()
    for convert in refused:
        with pytest.raises(ValueError, match="predicts by cost_matrix"):
            convert(fitted)
