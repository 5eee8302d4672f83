"""Folds and scorers that users bring along, good ones and bad ones."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import make_scorer, max_error
from sklearn.model_selection import GroupKFold, KFold

from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    LossPruning,
)
from sklearn_textbook.tree.prune.cost_complexity_pruning import (
    choose_subtree,
    summarise_losses,
)


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)).round(1)
    return X, (X[:, 0] + X[:, 1] + rng.normal(size=150) > 0).astype(int)


def score_less(estimator, X, y):
    """Score, less for larger trees."""
    return estimator.score(X, y) - 0.01 * estimator.get_n_leaves()


def score_by_leaves(estimator, X, y):
    """The same by other means: rows of equal node numbers, node by node."""
    n_leaves = (estimator.tree_.children_left < 0).sum()
    ends, right = estimator.apply(X), 0
    for node in np.unique(ends):
        labels = y[ends == node]
        right += (labels == estimator.predict(X[ends == node])[0]).sum()
    return right / len(y) - 0.01 * n_leaves


# --------------------------------------------------------------- callable scorers
@pytest.mark.parametrize("estimator", [CARTClassifier(), C45Classifier()])
@pytest.mark.parametrize("with_levels", [False, True])
def test_a_callable_sees_each_subtree(table, estimator, with_levels):
    X, y = table
    if with_levels:
        X = pd.DataFrame(X, columns=list("abcd"))
        X["e"] = pd.Categorical(np.where(X["a"] > 0, "low", "high"))
    folds = [(np.arange(100), np.arange(100, 150)), (np.arange(50, 150), np.arange(50))]
    fitted = [
        estimator.set_params(
            pruning=CostComplexityPruning(cv=folds, scoring=score)
        ).fit(X, y)
        for score in (score_less, score_by_leaves)
    ]
    paths = [one.pruning_path_["cv_risk"] for one in fitted]
    assert np.allclose(*paths)
    assert len(set(paths[0].tolist())) > 3


def test_a_callable_equals_a_scorer_of_predictions_alone(table):
    X, y = table
    plain, counted = (
        CARTClassifier(pruning=CostComplexityPruning(cv=4, scoring=scoring)).fit(X, y)
        for scoring in ("accuracy", lambda estimator, X, y: estimator.score(X, y))
    )
    assert np.array_equal(
        plain.pruning_path_["cv_risk"], counted.pruning_path_["cv_risk"]
    )


def test_a_callable_may_count_leaves_alone(table):
    X, y = table
    sizes = []

    def count(estimator, X, y):
        sizes.append(estimator.get_n_leaves())
        return -sizes[-1]

    folds = [(np.arange(150), np.arange(150))]
    pruner = CostComplexityPruning(cv=folds, scoring=count)
    fitted = CARTClassifier(pruning=pruner).fit(X, y)
    assert fitted.get_n_leaves() == 1
    assert set(sizes) == set(fitted.pruning_path_["n_leaves"].tolist())


@pytest.mark.parametrize(
    ("scoring", "message"),
    [
        (lambda estimator, X, y: None, "must return a single number"),
        (lambda estimator, X, y: {"a": 1.0}, "must return a single number"),
        (lambda estimator, X, y: np.ones(2), "must return a single number"),
        (lambda estimator, X, y: np.nan, "is NaN"),
    ],
)
def test_scorers_that_give_no_number(table, scoring, message):
    estimator = CARTClassifier(pruning=CostComplexityPruning(scoring=scoring))
    with pytest.raises(ValueError, match=message):
        estimator.fit(*table)


@pytest.mark.parametrize(
    "scoring", [score_less, make_scorer(max_error, greater_is_better=False)]
)
def test_scorers_that_take_no_weights(table, scoring):
    X, y = table
    estimator = CARTRegressor(pruning=CostComplexityPruning(scoring=scoring))
    estimator.fit(X, y)
    with pytest.raises(ValueError, match="must accept sample_weight"):
        estimator.fit(X, y, sample_weight=np.ones(len(y)))


def test_a_type_error_of_the_scorer_itself_stays(table):
    estimator = CARTClassifier(pruning=CostComplexityPruning(scoring=lambda: 1.0))
    with pytest.raises(TypeError, match="positional"):
        estimator.fit(*table)


# ------------------------------------------------------------------- given folds
@pytest.mark.parametrize("folds", [[1, 2], [([0], [1], [2])], [None]])
def test_folds_that_are_no_pairs(table, folds):
    estimator = CARTClassifier(pruning=CostComplexityPruning(cv=folds))
    with pytest.raises(ValueError, match=r"must give \(train, test\) pairs"):
        estimator.fit(*table)


def test_groups_are_given_as_folds(table):
    X, y = table
    groups = np.arange(len(y)) % 5
    estimator = CARTClassifier(pruning=CostComplexityPruning(cv=GroupKFold(5)))
    with pytest.raises(ValueError, match=r"requires groups.*cv=list\("):
        estimator.fit(X, y)
    folds = list(GroupKFold(5).split(X, y, groups))
    estimator.set_params(pruning__cv=folds).fit(X, y)
    assert estimator.pruning_path_["selected"].sum() == 1


def test_an_iterator_serves_once(table):
    X, y = table
    folds = KFold(3).split(X)
    estimator = CARTClassifier(pruning=CostComplexityPruning(cv=folds)).fit(X, y)
    expected = CARTClassifier(pruning=CostComplexityPruning(cv=KFold(3))).fit(X, y)
    assert estimator.get_n_leaves() == expected.get_n_leaves()
    with pytest.raises(ValueError, match="give a list"):
        estimator.fit(X, y)


# ----------------------------------------------------------------------- figures
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_standard_errors_of_small_and_large_weights(scale):
    losses = np.array([[[3.0, 3.0], [5.0, 5.0]]])
    ((risk, error),) = summarise_losses([(losses * scale, 20.0 * scale)])
    ((plain_risk, plain_error),) = summarise_losses([(losses, 20.0)])
    assert np.allclose(risk, plain_risk)
    # As in rpart, a weight counts rows.
    assert np.allclose(error * np.sqrt(scale), plain_error)


def test_standard_error_that_is_no_number():
    with np.errstate(invalid="ignore"):
        error = np.array([np.inf, np.inf, 1.0]) - np.inf
    assert choose_subtree(np.array([3.0, 1.0, 2.0]), error, "1se") == 1


def test_pruning_after_the_fact_draws_from_a_copy_of_the_random_state(table):
    X, y = table
    state = np.random.RandomState(0)
    grown = CARTClassifier(max_features=2, random_state=state).fit(X, y)
    before = state.get_state()
    pruner = CostComplexityPruning(cv=5)
    paths = [
        pruner.prune(grown.set_params(n_jobs=n_jobs), X=X, y=y).pruning_path_["cv_risk"]
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(*paths)
    for old, new in zip(before, state.get_state(), strict=True):
        assert np.array_equal(old, new)


@pytest.mark.parametrize("pruner", [CostComplexityPruning(cv=3), LossPruning()])
def test_other_rows_than_those_that_grew_the_tree(table, pruner):
    X, y = table
    weight = (np.arange(150) % 3 > 0).astype(float)
    grown = CARTClassifier().fit(X, y, sample_weight=weight)
    expected = pruner.prune(grown, X=X, y=y, sample_weight=weight).get_n_leaves()
    used = weight > 0
    assert pruner.prune(grown, X=X[used], y=y[used]).get_n_leaves() == expected
    with pytest.raises(ValueError, match="grown from 100 rows, but X has 150"):
        pruner.prune(grown, X=X, y=y)


def test_errors_in_a_fold_say_so():
    X = pd.DataFrame({"a": ["x", "y"] * 10 + ["once"]})
    y = (X["a"] == "x").to_numpy()
    fitted = CARTClassifier(handle_unknown="error", pruning="cost_complexity")
    with pytest.raises(ValueError, match="In a fold of the cross-validation: Column"):
        fitted.fit(X, y)
    pruning = CostComplexityPruning(
        cv=[(np.arange(1, 21), [0])], scoring="neg_log_loss"
    )
    with pytest.raises(ValueError, match="In a fold of the cross-validation: "):
        CARTClassifier(pruning=pruning).fit(X, y)


def test_simplified_trees_have_no_report_of_other_nodes():
    X, y = np.arange(30.0).reshape(-1, 1), np.arange(30) % 3
    fitted = CARTClassifier(pruning="loss").fit(X, y)
    assert hasattr(fitted, "pruning_report_")
    assert not hasattr(fitted.simplify(), "pruning_report_")
