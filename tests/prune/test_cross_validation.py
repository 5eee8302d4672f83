"""Alpha chosen by cross-validation: the same as an explicit loop, fold by fold."""

import math
import pickle
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes
from sklearn.metrics import get_scorer
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    CostComplexityPruning,
    ID3Classifier,
    ObliqueTreeClassifier,
    ObliqueTreeRegressor,
)
from sklearn_textbook.tree.prune import compute_weakest_link_sequence, cut_below
from sklearn_textbook.tree.prune.cost_complexity_pruning import (
    choose_subtree,
    list_subtrees,
)
from sklearn_textbook.tree.prune.hold_out import deal_folds
from sklearn_textbook.tree.route import RoutedTree
from tests.amount import FACTOR


# ------------------------------------------------------------- the explicit loop
def cut_at(estimator, alphas):
    """A fitted copy for each alpha, pruned; links as strong as alpha fall, too.

    A tree that is the one before it is the same object.
    """
    sequence = compute_weakest_link_sequence(estimator.tree_)
    copies, step = [], None
    for alpha in alphas:
        if sequence.find_step(alpha) != step:
            step = sequence.find_step(alpha)
            pruned = clone(estimator)
            vars(pruned).update(vars(estimator))
            cut = sequence.find_cut(step)
            pruned.tree_ = RoutedTree.from_grown(cut_below(estimator.tree_, cut))
        copies.append(pruned)
    return copies


def measure_each(measure, trees):
    """What is measured of each tree; of the same tree it is the same."""
    measured = {id(tree): measure(tree) for tree in {id(t): t for t in trees}.values()}
    return [measured[id(tree)] for tree in trees]


def take(X, rows):
    return X.iloc[rows] if isinstance(X, pd.DataFrame) else X[rows]


def list_midpoints(alphas):
    middle = [math.sqrt(a * b) for a, b in pairwise(alphas)]
    return [*middle, math.inf]


def assert_same_tree(one, other):
    assert one.to_dict() == other.to_dict()


def measure_errors(estimator, X, y):
    predicted = estimator.predict(X)
    if hasattr(estimator, "classes_"):
        return (predicted != y).astype(float)
    deviation = np.abs(predicted - y)
    is_absolute = getattr(estimator, "criterion", "") == "absolute_error"
    return deviation if is_absolute else deviation**2


def loop_over_folds(estimator, X, y, weight, folds):
    """cv_risk and cv_risk_std by growing and predicting, alpha by alpha."""
    unpruned = clone(estimator).set_params(pruning=None)
    full = clone(unpruned).fit(X, y, sample_weight=weight)
    alphas, steps = list_subtrees(compute_weakest_link_sequence(full.tree_))
    one = np.ones(len(y)) if weight is None else weight
    losses = np.zeros((len(alphas), len(y)))
    for train, test in folds:
        grown = clone(unpruned).fit(
            take(X, train),
            y[train],
            sample_weight=None if weight is None else weight[train],
        )
        trees = cut_at(grown, list_midpoints(alphas))
        rows, target = take(X, test), y[test]
        losses[:, test] = measure_each(
            lambda tree, X=rows, y=target: measure_errors(tree, X, y), trees
        )
    total = (one * losses).sum(axis=1)
    squares = (one * losses**2).sum(axis=1)
    spread = np.maximum(squares - total**2 / one.sum(), 0.0)
    return full, steps, total / one.sum(), np.sqrt(spread) / one.sum()


def make_table(seed, n_rows=120, *, is_classifier=True, missing=0.0, nominal=True):
    """A noisy table with ties, nominal columns and missing values."""
    random = np.random.default_rng(seed)
    X = random.integers(0, 12, (n_rows, 4)).astype(float)
    score = X[:, 0] - X[:, 1] + random.normal(0, 4, n_rows)
    y = (score > 0).astype(int) + (score > 5) if is_classifier else score.round(2)
    if missing:
        X[random.random(X.shape) < missing] = np.nan
    frame = pd.DataFrame(X, columns=list("abcd"))
    if nominal:
        words = np.array(["red", "green", "blue", "grey"], dtype=object)
        frame["colour"] = words[random.integers(0, 4, n_rows)]
    return frame, np.asarray(y)


ESTIMATORS = [
    CARTClassifier(),
    CARTClassifier(criterion="entropy", missing="surrogate", max_leaf_nodes=25),
    CARTClassifier(categorical_split="multiway", missing="branch", min_samples_leaf=3),
    CARTRegressor(),
    CARTRegressor(criterion="absolute_error", min_samples_leaf=4),
    CARTRegressor(min_samples_leaf=0.02, missing="surrogate"),
    C45Classifier(min_samples_leaf=1),
    C45Classifier(categorical_split="subset", collapse=False),
    ID3Classifier(categorical_split="one_vs_rest"),
    ObliqueTreeClassifier(),
    ObliqueTreeRegressor(direction="random", prefer_axis=None, random_state=0),
]


@pytest.mark.filterwarnings("ignore:The pruned tree is a single leaf")
@pytest.mark.parametrize("is_weighted", [False, True])
@pytest.mark.parametrize("estimator", ESTIMATORS, ids=lambda e: repr(e)[:60])
def test_equals_a_loop_over_folds_and_alphas(estimator, is_weighted):
    is_classifier = hasattr(estimator, "predict_proba")
    # Divided cases count by shares, which no prediction does.
    is_divided = isinstance(estimator, (C45Classifier, ID3Classifier))
    missing = 0.0 if is_divided else 0.08
    for seed in range(is_weighted, 2 * FACTOR, 2):
        X, y = make_table(seed, 90, is_classifier=is_classifier, missing=missing)
        weight = None
        if is_weighted:
            weight = np.random.default_rng(seed).integers(1, 4, len(y)) * 0.5
        folds = list(KFold(5, shuffle=True, random_state=seed).split(X))
        full, steps, risk, error = loop_over_folds(estimator, X, y, weight, folds)
        for rule in ("min", "1se"):
            pruning = CostComplexityPruning(cv=folds, rule=rule)
            fitted = clone(estimator).set_params(pruning=pruning)
            fitted.fit(X, y, sample_weight=weight)
            path = fitted.pruning_path_
            assert len(risk) > 5
            np.testing.assert_allclose(path["cv_risk"], risk, rtol=1e-10, atol=1e-12)
            np.testing.assert_allclose(path["cv_risk_std"], error, rtol=1e-7, atol=1e-9)
            chosen = choose_subtree(risk, error, rule)
            assert np.flatnonzero(path["selected"]).tolist() == [chosen]
            sequence = compute_weakest_link_sequence(full.tree_)
            expected = cut_below(full.tree_, sequence.find_cut(steps[chosen]))
            assert_same_tree(fitted.tree_, expected)
            assert fitted.get_n_leaves() == path["n_leaves"][chosen]


def count_errors(estimator, X, y):
    return -np.sum(estimator.predict(X) != y)


SCORERS = [
    (CARTClassifier(), "accuracy"),
    (CARTClassifier(missing="branch"), "neg_log_loss"),
    (CARTClassifier(min_samples_leaf=3), "roc_auc_ovr"),
    (CARTClassifier(), count_errors),
    (CARTRegressor(), "r2"),
    (CARTRegressor(missing="surrogate"), "neg_median_absolute_error"),
    (C45Classifier(laplace=True, min_samples_leaf=1), "neg_log_loss"),
    (ID3Classifier(handle_unknown="fractional"), "f1_macro"),
]


@pytest.mark.parametrize(
    ("estimator", "scoring"), SCORERS, ids=lambda e: getattr(e, "__name__", str(e))[:40]
)
def test_scorers_equal_a_loop(estimator, scoring):
    is_classifier = not isinstance(estimator, CARTRegressor)
    scorer = get_scorer(scoring) if isinstance(scoring, str) else scoring
    for seed in range(FACTOR):
        X, y = make_table(seed, 60, is_classifier=is_classifier, missing=0.06)
        folds = list(StratifiedKFold(4).split(X, y)) if is_classifier else None
        folds = folds or list(KFold(4).split(X))
        full = clone(estimator).set_params(pruning=None).fit(X, y)
        alphas, _ = list_subtrees(compute_weakest_link_sequence(full.tree_))
        scores = []
        for train, test in folds:
            grown = clone(full).fit(X.iloc[train], y[train])
            # The classes are those of the whole table.
            trees = cut_at(grown, list_midpoints(alphas))
            rows, target = X.iloc[test], y[test]
            scores.append(
                measure_each(lambda tree, X=rows, y=target: scorer(tree, X, y), trees)
            )
        pruning = CostComplexityPruning(cv=folds, scoring=scoring)
        fitted = clone(estimator).set_params(pruning=pruning).fit(X, y)
        path = fitted.pruning_path_
        np.testing.assert_allclose(path["cv_risk"], -np.mean(scores, axis=0), atol=1e-9)
        deviation = np.std(scores, axis=0, ddof=1) / 2
        np.testing.assert_allclose(path["cv_risk_std"], deviation, atol=1e-9)
        assert path["selected"][choose_subtree(path["cv_risk"], deviation, "min")]


def test_scorers_get_the_sample_weights_without_class_weights():
    X, y = make_table(0)
    weight = np.random.default_rng(0).random(len(y)) + 0.1
    folds = list(KFold(3).split(X))
    seen = []

    def scorer(estimator, X, y, sample_weight=None):
        seen.append(sample_weight)
        return np.average(estimator.predict(X) == y, weights=sample_weight)

    pruning = CostComplexityPruning(cv=folds, scoring=scorer)
    estimator = CARTClassifier(class_weight="balanced", pruning=pruning, n_jobs=1)
    estimator.fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(seen[0], weight[folds[0][1]])
    seen.clear()
    estimator.fit(X, y)
    assert seen[0] is None


def test_divided_rows_are_predicted_exactly_for_a_scorer():
    X, y = make_table(3, missing=0.2)
    folds = list(KFold(3).split(X))
    estimator = C45Classifier(
        pruning=CostComplexityPruning(cv=folds, scoring="accuracy")
    )
    path = estimator.fit(X, y).pruning_path_
    _, _, risk, _ = loop_over_folds(C45Classifier(), X, y, None, folds)
    np.testing.assert_allclose(path["cv_risk"] + 1, risk, atol=1e-12)


# ------------------------------------------------------------------- validation
def test_a_validation_set_takes_the_place_of_folds():
    X, y = make_table(5, 200, missing=0.05)
    X_val, y_val = make_table(6, 150, missing=0.05)
    fitted = CARTClassifier(pruning="cost_complexity")
    fitted.fit(X, y, X_val=X_val, y_val=y_val)
    full = CARTClassifier().fit(X, y)
    path = fitted.pruning_path_
    assert "cv_risk" not in path
    # The subtrees of the tree itself, at their own alphas.
    trees = cut_at(full, path["alpha"])
    risk = [(tree.predict(X_val) != y_val).mean() for tree in trees]
    np.testing.assert_allclose(path["validation_risk"][1:], risk[1:], atol=1e-12)
    expected = np.sqrt(np.array(risk) * (1 - np.array(risk)) / len(y_val))
    np.testing.assert_allclose(path["validation_risk_std"][1:], expected[1:], atol=1e-9)
    best = np.flatnonzero(risk <= min(risk) + 1e-12)[-1]
    assert path["selected"][best]
    scored = clone(fitted).set_params(pruning__scoring="accuracy")
    scored.fit(X, y, X_val=X_val, y_val=y_val)
    np.testing.assert_allclose(
        scored.pruning_path_["validation_risk"], path["validation_risk"] - 1, atol=1e-12
    )


def test_after_the_fact_equals_in_fit():
    X, y = make_table(7, 200, missing=0.05)
    X_val, y_val = make_table(8, 80)
    for estimator in (CARTClassifier(), ID3Classifier(), C45Classifier(pruning=None)):
        grown = clone(estimator).fit(X, y)
        before = grown.tree_
        for pruning in (CostComplexityPruning(4), CostComplexityPruning(rule="1se")):
            inside = clone(estimator).set_params(pruning=pruning)
            for training, validation in (({"X": X, "y": y}, ()), ({}, (X_val, y_val))):
                later = pruning.prune(grown, *validation, **training)
                names = dict(zip(("X_val", "y_val"), validation, strict=False))
                expected = clone(inside).fit(X, y, **names)
                assert_same_tree(later.tree_, expected.tree_)
                for name, column in expected.pruning_path_.items():
                    np.testing.assert_array_equal(later.pruning_path_[name], column)
        assert grown.tree_ is before
        assert not hasattr(grown, "pruning_path_")
    with pytest.raises(ValueError, match="give X and y, or give X_val and y_val"):
        CostComplexityPruning().prune(grown)
    with pytest.raises(TypeError, match="must be a fitted tree estimator"):
        CostComplexityPruning().prune(StandardScaler())


def test_without_choice_the_tree_stays():
    X, y = make_table(1)
    fitted = CARTClassifier(pruning=CostComplexityPruning(cv=None)).fit(X, y)
    full = CARTClassifier().fit(X, y)
    assert_same_tree(fitted.tree_, full.tree_)
    assert list(fitted.pruning_path_) == ["alpha", "n_leaves", "risk"]
    path = full.cost_complexity_pruning_path(X, y)
    assert set(fitted.pruning_path_["alpha"]) == set(path.ccp_alphas)
    assert set(fitted.pruning_path_["risk"]) <= set(path.impurities)


def make_useless_split():
    """A table in which the last split of a full tree does not lower the risk."""
    X = np.repeat(
        [[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [4, 4, 6, 6], axis=0
    )
    y = np.array([0, 1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1])
    return X, y


@pytest.mark.parametrize("cv", [4, None])
def test_path_has_one_row_for_each_alpha(cv):
    X, y = make_useless_split()
    full = CARTClassifier().fit(X, y)
    alphas = compute_weakest_link_sequence(full.tree_).ccp_alphas
    assert np.count_nonzero(alphas == 0.0) > 1  # the full tree, and a useless split
    fitted = CARTClassifier(pruning=CostComplexityPruning(cv=cv)).fit(X, y)
    path = fitted.pruning_path_
    assert path["alpha"].tolist() == np.unique(alphas).tolist()
    assert path["n_leaves"][0] < full.get_n_leaves()
    assert path["risk"][0] == pytest.approx(
        full.cost_complexity_pruning_path(X, y).impurities[0]
    )
    if cv is None:
        assert_same_tree(fitted.tree_, full.tree_)
    else:
        assert fitted.get_n_leaves() == path["n_leaves"][path["selected"]][0]


# ----------------------------------------------------------------- the folds
@pytest.mark.parametrize("n_folds", [2, 3, 10])
def test_folds_are_stratified_and_always_the_same(n_folds):
    fitted = CARTClassifier()
    X, y = make_table(2, 101)
    rows = fitted._read_training(X, y, None, True)[0]
    is_used = np.arange(101) % 9 != 4
    fold = deal_folds(rows.target, is_used, n_folds)
    assert (fold[~is_used] == -1).all()
    for labels in (np.zeros(101, int), y):
        for label in np.unique(labels):
            chosen = fold[is_used & (labels == label)]
            counts = np.bincount(chosen, minlength=n_folds)
            assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(fold, deal_folds(rows.target, is_used, n_folds))
    other = deal_folds(rows.target, is_used, n_folds, random_state=1)
    assert (fold != other).any()


def test_regression_folds_cover_the_range_of_values():
    X, y = make_table(2, 97, is_classifier=False)
    rows = CARTRegressor()._read_training(X, y, None, False)[0]
    fold = deal_folds(rows.target, np.ones(97, bool), 10)
    means = [y[fold == number].mean() for number in range(10)]
    assert np.std(means) < 0.4 * np.std(y) / math.sqrt(9.7)
    assert set(np.bincount(fold)) == {9, 10}


def test_integer_weights_are_copies_if_these_share_a_fold():
    X, y = make_table(9, 90, missing=0.05)
    copies = np.random.default_rng(0).integers(0, 4, len(y))
    group = np.random.default_rng(1).integers(0, 3, len(y))
    repeated = np.repeat(np.arange(len(y)), copies)
    for estimator in (CARTClassifier(), ID3Classifier(), C45Classifier()):
        paths = []
        for rows, weight in ((np.arange(len(y)), copies), (repeated, None)):
            folds = [
                (np.flatnonzero(group[rows] != k), np.flatnonzero(group[rows] == k))
                for k in range(3)
            ]
            fitted = clone(estimator).set_params(pruning=CostComplexityPruning(folds))
            fitted.fit(X.iloc[rows], y[rows], sample_weight=weight)
            paths.append(fitted.pruning_path_)
        assert len(paths[0]["alpha"]) > 4
        for name in paths[0]:
            np.testing.assert_allclose(paths[0][name], paths[1][name], atol=1e-9)


def test_result_does_not_depend_on_threads_or_repetition():
    X, y = make_mixed_table(
        4_000, missing_fraction=0.1, label_noise=0.1, as_frame=True, random_state=0
    )
    paths = [
        CARTClassifier(pruning="cost_complexity", n_jobs=n_jobs).fit(X, y).pruning_path_
        for n_jobs in (1, 2, 2)
    ]
    for path in paths[1:]:
        for name, column in path.items():
            np.testing.assert_array_equal(column, paths[0][name])


# ------------------------------------------------------------------ in use
def test_pruning_helps_on_noise():
    X, y = load_breast_cancer(return_X_y=True)
    full = CARTClassifier().fit(X, y)
    least = CARTClassifier(pruning="cost_complexity").fit(X, y)
    simple = CARTClassifier(pruning=CostComplexityPruning(rule="1se")).fit(X, y)
    assert full.get_n_leaves() > least.get_n_leaves() >= simple.get_n_leaves() > 1
    report = least.pruning_report_
    fallen = report["decision"] == "pruned"
    assert (np.diff(report["alpha"]) >= -1e-12).all()
    np.testing.assert_allclose(report["after"][:-1], report["before"][1:])
    path = least.pruning_path_
    assert report["after"][fallen][-1] == path["risk"][path["selected"]][0]
    assert report.measure == "training risk"


def test_in_pipelines_searches_and_pickles():
    X, y = load_diabetes(return_X_y=True)
    tree = CARTRegressor(pruning="cost_complexity")
    grid = {"cartregressor__pruning__rule": ["min", "1se"]}
    search = GridSearchCV(make_pipeline(StandardScaler(), tree), grid, cv=3).fit(X, y)
    best = search.best_estimator_[-1]
    assert isinstance(best.pruning, CostComplexityPruning)
    again = pickle.loads(pickle.dumps(best))
    assert again.pruning_path_.keys() == best.pruning_path_.keys()
    assert again.predict(StandardScaler().fit_transform(X)).shape == y.shape
    named = tree.get_params()["pruning__cv"], tree.set_params(pruning__cv=3)
    assert named[0] == 10
    assert tree.pruning.cv == 3


def test_several_outputs():
    X, y = load_diabetes(return_X_y=True)
    both = np.column_stack([y, X[:, 2] * 100])
    fitted = CARTRegressor(pruning="cost_complexity").fit(X, both)
    assert 1 < fitted.get_n_leaves() < 100
    classes = np.column_stack([y > 140, X[:, 2] > 0]).astype(str)
    fitted = CARTClassifier(pruning="cost_complexity").fit(X, classes)
    assert 1 < fitted.get_n_leaves() < 100
    folds = list(KFold(3).split(X))
    fitted.set_params(pruning=CostComplexityPruning(cv=folds)).fit(X, classes)
    unpruned = CARTClassifier().fit(X[folds[0][0]], classes[folds[0][0]])
    assert unpruned.tree_.n_outputs == 2
    root = fitted.pruning_path_["cv_risk"][-1]
    parts = [
        np.mean(
            [(classes[test, k] != mode(classes[train, k])).mean() for k in range(2)]
        )
        for train, test in folds
    ]
    assert root == pytest.approx(np.average(parts, weights=[len(t) for _, t in folds]))


def mode(labels):
    values, counts = np.unique(labels, return_counts=True)
    return values[counts.argmax()]


def test_rows_without_weight_keep_their_numbers_in_given_folds():
    X, y = make_table(4, 100)
    weight = (np.random.default_rng(4).random(100) < 0.8).astype(float)
    folds = list(KFold(4, shuffle=True, random_state=0).split(X))
    for estimator in (CARTClassifier(), ID3Classifier()):
        fitted = clone(estimator).set_params(pruning=CostComplexityPruning(folds))
        path = fitted.fit(X, y, sample_weight=weight).pruning_path_
        risk = loop_over_folds(estimator, X, y, weight, folds)[2]
        np.testing.assert_allclose(path["cv_risk"], risk, atol=1e-12)


def test_tiny_tables():
    one = CARTClassifier(pruning="cost_complexity").fit([[1.0]], ["a"])
    assert one.get_n_leaves() == 1
    assert np.isnan(one.pruning_path_["cv_risk"]).all()
    two = CARTRegressor(pruning="cost_complexity").fit([[1.0], [2.0]], [1.0, 2.0])
    assert two.pruning_path_["selected"].sum() == 1


# ------------------------------------------------------------------------ choice
def test_choice():
    risk = np.array([0.30, 0.25, 0.25, 0.27, 0.40])
    error = np.array([0.02, 0.01, 0.02, 0.02, 0.02])
    assert choose_subtree(risk, error, "min") == 2
    assert choose_subtree(risk, error, "1se") == 3
    assert choose_subtree(risk + 1e-15 * np.arange(5), error, "min") == 2
    assert choose_subtree(-risk, error, "min") == 4
    with pytest.raises(ValueError, match="NaN"):
        choose_subtree(np.array([0.1, np.nan]), error[:2], "min")


WRONG = [
    ({"cv": 1}, "'cv' parameter must be"),
    ({"cv": "five"}, "'cv' parameter must be"),
    ({"cv": 2.5}, "'cv' parameter must be"),
    ({"cv": True}, "'cv' parameter must be"),
    ({"cv": []}, "no folds"),
    ({"cv": [([0, 1], [])]}, "without training rows or without test rows"),
    ({"cv": [([0, 1], [500])]}, "from 0 to 119, got 500"),
    ({"rule": "2se"}, "'rule' parameter must be one of 'min', '1se'"),
    ({"risk": "gini"}, "'risk' parameter must be one of"),
    ({"sequence": "exact"}, "'sequence' parameter must be one of"),
    ({"scoring": "speed"}, "'scoring' parameter must be"),
    ({"scoring": 3}, "'scoring' parameter must be"),
    ({"random_state": "a"}, "random_state"),
]


@pytest.mark.parametrize(("parameters", "message"), WRONG, ids=str)
def test_wrong_parameters(parameters, message):
    X, y = make_table(0)
    pruning = CostComplexityPruning(**parameters)
    with pytest.raises(ValueError, match=message):
        CARTClassifier(pruning=pruning).fit(X, y)
