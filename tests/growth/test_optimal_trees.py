"""Trees of limited depth with the smallest loss."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer, load_diabetes, make_classification

from sklearn_textbook.criteria import expected_cost
from sklearn_textbook.tree import (
    CARTClassifier,
    OptimalTreeClassifier,
    OptimalTreeRegressor,
    export_text,
)
from tests.reference.optimal_tree import (
    find_smallest_loss,
    measure_loss,
    order_levels,
)

CRITERIA = ("misclassification", "gini", "squared_error", "costs")
COSTS = {
    2: np.array([[0.0, 0.3], [2.0, 0.0]]),
    3: np.array([[0.0, 1.0, 2.5], [4.0, 0.0, 0.7], [0.0, 3.0, 0.0]]),
}


def make_tree(criterion, n_classes=2, **parameters):
    if criterion == "squared_error":
        return OptimalTreeRegressor(**parameters)
    if criterion == "costs":
        return OptimalTreeClassifier(cost_matrix=COSTS[n_classes], **parameters)
    return OptimalTreeClassifier(criterion=criterion, **parameters)


def make_rows(random, n_rows, criterion, kinds, n_classes=2):
    """Draw columns with ties and gaps, a target that they explain in part, weights."""
    columns = []
    for kind in kinds:
        if kind == "number":
            column = random.integers(0, 5, n_rows).astype(float)
            column[random.random(n_rows) < 0.15] = np.nan
        else:
            column = random.choice(list("abcdefghij")[:kind], n_rows).astype(object)
            column[random.random(n_rows) < 0.15] = None
        columns.append(column)
    if criterion == "squared_error":
        y = random.normal(size=n_rows).round(1)
    else:
        y = random.integers(0, n_classes, n_rows)
        y[:n_classes] = range(n_classes)
    return columns, y


def to_frame(columns):
    return pd.DataFrame({f"x{i}": column for i, column in enumerate(columns)})


def compute_objective(model, X, y, weight, criterion, complexity):
    """The objective of the leaves in which the rows end."""
    ends = model.apply(X)
    loss = sum(
        measure_loss(y[ends == end], weight[ends == end], criterion)
        for end in np.unique(ends)
    )
    return loss / weight.sum() + complexity * model.get_n_leaves()


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("depth", [1, 2, 3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_brute_force_finds_no_smaller_loss(criterion, depth, n_classes):
    random = np.random.default_rng(depth)
    for trial in range(12 if depth < 3 else 4):
        kinds = [("number", "number"), ("number", 4), (8, "number")][trial % 3]
        n_rows = 14 if depth < 3 else 10
        columns, y = make_rows(random, n_rows, criterion, kinds, n_classes)
        weight = random.integers(1, 4, n_rows).astype(float)
        if trial % 2:
            weight = random.random(n_rows) + 0.1
        complexity = [0.0, 0.03, 0.1][trial // 2 % 3]
        coded = y if n_classes == 2 or criterion == "squared_error" else None
        orders = [
            None if kind == "number" else order_levels(column, coded, weight)
            for kind, column in zip(kinds, columns, strict=True)
        ]
        loss = COSTS[n_classes] if criterion == "costs" else criterion
        expected = find_smallest_loss(
            columns,
            orders,
            np.arange(n_rows),
            y,
            weight,
            depth,
            complexity * weight.sum(),
            loss,
        )
        X = to_frame(columns)
        model = make_tree(criterion, n_classes, max_depth=depth, complexity=complexity)
        model.fit(X, y, sample_weight=weight)
        assert model.is_optimal_
        assert model.optimality_gap_ == 0.0
        assert model.lower_bound_ == model.objective_
        assert model.get_depth() <= depth
        np.testing.assert_allclose(model.objective_, expected / weight.sum(), atol=1e-9)
        np.testing.assert_allclose(
            compute_objective(model, X, y, weight, loss, complexity),
            model.objective_,
            atol=1e-9,
        )


def test_gaps_are_values_below_or_above_all_others():
    """Missing values on either side are thresholds of two columns without gaps."""
    for seed in range(8):
        random = np.random.default_rng(seed)
        X = random.normal(size=(90, 3)).round(1)
        y = random.integers(0, [2, 3, 13][seed % 3], 90)
        X[random.random(X.shape) < 0.25] = np.nan
        both = np.hstack([np.nan_to_num(X, nan=nan) for nan in (-9.0, 9.0)])
        model, expected = (OptimalTreeClassifier().fit(x, y) for x in (X, both))
        assert model.is_optimal_
        assert model.objective_ == pytest.approx(expected.objective_, abs=1e-12)


@pytest.mark.parametrize("criterion", CRITERIA[:3])
def test_levels_ordered_by_means(criterion):
    """With enough rows of each level, sets of levels are found."""
    random = np.random.default_rng(0)
    levels = random.choice(list("abcdefgh"), 1000)
    is_high = np.isin(levels, ["a", "d", "g"])
    y = (is_high ^ (random.random(1000) < 0.1)).astype(int)
    model = make_tree(criterion, max_depth=1).fit(pd.DataFrame({"x": levels}), y)
    assert model.tree_.read_level_map(model.tree_.nodes[0]).tolist() in (
        [0, 1, 1, 0, 1, 1, 0, 1],
        [1, 0, 0, 1, 0, 0, 1, 0],
    )


@pytest.mark.parametrize("criterion", CRITERIA)
@pytest.mark.parametrize("depth", [2, 3])
def test_tree_does_not_depend_on_threads(criterion, depth):
    X, y = make_classification(
        250, 5, n_informative=3, flip_y=0.1, class_sep=0.8, random_state=1
    )
    X[::7, 0] = np.nan
    texts = set()
    for n_jobs in (1, 2, 5):
        model = make_tree(criterion, max_depth=depth, n_jobs=n_jobs).fit(X, y)
        assert model.is_optimal_
        texts.add(export_text(model))
    assert len(texts) == 1


def test_many_classes_and_float_weights_give_the_same_loss():
    """Of equal tables: by prefix sums, of whole and of other weights, and by runs."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    expected = OptimalTreeClassifier(max_depth=2).fit(X, y).objective_
    scaled = OptimalTreeClassifier(max_depth=2).fit(X, y, np.full(len(y), 0.1))
    assert scaled.objective_ == pytest.approx(expected, abs=1e-12)
    # Classes of one row each that no tree of depth two can get right.
    many = np.concatenate([y, np.arange(2, 60)])
    rows = np.concatenate([X, np.repeat(X[:1], 58, axis=0)])
    model = OptimalTreeClassifier(max_depth=2).fit(rows, many)
    errors = expected * len(y) + 58
    assert model.objective_ * len(many) == pytest.approx(errors, abs=1e-6)


@pytest.mark.parametrize("criterion", CRITERIA)
def test_weights_are_copies(criterion):
    random = np.random.default_rng(3)
    columns, y = make_rows(random, 60, criterion, ("number", 7, "number"))
    X, weight = to_frame(columns), random.integers(0, 4, 60)
    weight[:2] = 1
    copies = np.repeat(np.arange(60), weight)
    once = make_tree(criterion, complexity=0.01).fit(X, y, weight.astype(float))
    twice = make_tree(criterion, complexity=0.01).fit(X.iloc[copies], y[copies])
    assert once.objective_ == pytest.approx(twice.objective_, abs=1e-12)


def test_costs_are_those_of_the_predictions():
    X, y = load_breast_cancer(return_X_y=True)
    costs = {0: {1: 20}, 1: {0: 1}}
    model = OptimalTreeClassifier(max_depth=2, cost_matrix=costs).fit(X, y)
    assert model.is_optimal_
    found = expected_cost(y, model.predict(X), costs)
    assert model.objective_ == pytest.approx(found, abs=1e-12)
    tree = model.tree_
    assert tree.impurity[0] == pytest.approx(min(20 * (y == 0).mean(), (y == 1).mean()))
    plain = OptimalTreeClassifier(max_depth=2).fit(X, y)
    plain.set_params(cost_matrix=costs)
    assert found < expected_cost(y, plain.predict(X), costs)
    # A search of trees with altered priors, as CART grows them, is worse.
    weights = np.where(y == 0, 20.0, 1.0)
    altered = OptimalTreeClassifier(max_depth=2).fit(X, y, weights)
    assert model.objective_ <= expected_cost(y, altered.predict(X), costs)


def test_equal_costs_scale_the_objective():
    X, y = load_breast_cancer(return_X_y=True)
    plain = OptimalTreeClassifier(max_depth=2).fit(X, y)
    scaled = OptimalTreeClassifier(max_depth=2, cost_matrix=[[0, 5], [5, 0]]).fit(X, y)
    assert scaled.objective_ == pytest.approx(5 * plain.objective_, abs=1e-12)
    assert (scaled.predict(X) == plain.predict(X)).all()


def test_gini_takes_costs_as_altered_priors():
    X, y = load_breast_cancer(return_X_y=True)
    X = X[:, :6]
    costs = np.array([[0.0, 4.0], [1.0, 0.0]])
    parameters = {"max_depth": 2, "criterion": "gini"}
    costly = OptimalTreeClassifier(cost_matrix=costs, **parameters).fit(X, y)
    weighted = OptimalTreeClassifier(**parameters).fit(X, y, np.where(y == 0, 4.0, 1.0))
    assert costly.objective_ == pytest.approx(weighted.objective_)
    assert (costly.predict(X) == weighted.predict(X)).all()
    share = (y == 0).mean()
    assert costly.tree_.value[0, 0] == pytest.approx([share, 1 - share])


def test_stopped_search_is_honest():
    X, y = make_classification(
        400, 8, n_informative=5, flip_y=0.2, class_sep=0.5, random_state=0
    )
    full = OptimalTreeClassifier(time_limit=None).fit(X, y)
    assert full.is_optimal_
    objectives = []
    for seconds in (0.0, 0.001, 0.02, 0.1):
        model = OptimalTreeClassifier(time_limit=seconds).fit(X, y)
        assert model.lower_bound_ <= full.objective_ <= model.objective_ + 1e-12
        assert model.optimality_gap_ == model.objective_ - model.lower_bound_
        assert model.is_optimal_ == (model.optimality_gap_ == 0.0)
        objectives.append(model.objective_)
    assert not OptimalTreeClassifier(max_depth=6, time_limit=0.05).fit(X, y).is_optimal_
    assert objectives[0] >= objectives[-1]


def test_no_worse_than_cart_and_less_deep():
    X, y = load_breast_cancer(return_X_y=True)
    for depth in (1, 2):
        cart = CARTClassifier(max_depth=depth).fit(X, y)
        model = OptimalTreeClassifier(max_depth=depth).fit(X, y)
        assert model.score(X, y) >= cart.score(X, y)
    X, y = load_diabetes(return_X_y=True)
    model = OptimalTreeRegressor(max_depth=2).fit(X, y)
    assert model.objective_ == pytest.approx(np.mean((model.predict(X) - y) ** 2))


def test_complexity_removes_leaves():
    X, y = load_breast_cancer(return_X_y=True)
    leaves = [
        OptimalTreeClassifier(max_depth=2, complexity=c).fit(X, y).get_n_leaves()
        for c in (0.0, 0.05, 1.0)
    ]
    assert leaves[0] > leaves[1] > leaves[2] == 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"max_depth": 0}, "'max_depth' parameter must be an int in the range"),
        ({"max_depth": 99}, "'max_depth' parameter must be an int in the range"),
        ({"complexity": -1.0}, "'complexity' parameter must be a float"),
        ({"time_limit": "long"}, "'time_limit' parameter must be a float"),
        ({"criterion": "entropy"}, "'criterion' parameter must be"),
        ({"missing": "surrogate"}, "'missing' parameter must be"),
    ],
)
def test_invalid_parameters(parameters, message):
    with pytest.raises(ValueError, match=message):
        OptimalTreeClassifier(**parameters).fit([[0.0], [1.0]], [0, 1])
