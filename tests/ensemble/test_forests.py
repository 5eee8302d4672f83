"""Forests: their trees, votes and out-of-bag estimates against plain loops."""

import pickle
from collections import Counter

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.metrics import roc_auc_score
from sklearn.naive_bayes import GaussianNB

from sklearn_textbook.ensemble import (
    BaggingClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    OutputFlippingClassifier,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn_textbook.tree.grow import _tree_grower
from tests.reference.forest import (
    draw_sample,
    estimate_out_of_bag,
    vote_hard,
    vote_soft,
)

FORESTS = {
    "forest-classes": RandomForestClassifier,
    "forest-values": RandomForestRegressor,
    "extra-classes": ExtraTreesClassifier,
    "extra-values": ExtraTreesRegressor,
}
TREE_ARRAYS = ("nodes", "statistics", "level_branch", "surrogates")


def make_table(kind, n_rows=120, seed=0):
    """A table with a target of two or three classes, or values, that follows it."""
    random = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "number": random.normal(size=n_rows).round(1),
            "other": random.normal(size=n_rows),
            "color": random.choice(["red", "green", "blue"], n_rows),
        }
    )
    score = table["number"] + (table["color"] == "red") + random.normal(size=n_rows) / 2
    if kind == "numbers":
        table["color"] = random.normal(size=n_rows)
    if kind == "missing":
        for name in table:
            table.loc[random.random(n_rows) < 0.1, name] = None
    return table, score.to_numpy()


def make_target(score, forest):
    """Three classes or values."""
    if forest.endswith("values"):
        return score.round(1)
    return np.array(["low", "middle", "high"])[np.digitize(score, [-0.5, 1.0])]


def assert_same_tree(tree, other):
    for name in TREE_ARRAYS:
        ours, theirs = getattr(tree, name), getattr(other, name)
        # Records with NaN thresholds are never equal as a whole.
        for field in ours.dtype.names or [...]:
            if tree.is_classifier or field in ("feature", "threshold", "n_samples"):
                np.testing.assert_array_equal(ours[field], theirs[field], err_msg=name)
            else:
                # The two ways to grow a tree add up y in different orders.
                np.testing.assert_allclose(
                    ours[field], theirs[field], 1e-9, 1e-12, err_msg=name
                )


# ------------------------------------------------------- trees of the single engine


@pytest.mark.parametrize("kind", ["numbers", "nominal", "missing"])
@pytest.mark.parametrize("forest", FORESTS)
def test_members_are_the_trees_of_the_single_tree_tree_grower(forest, kind):
    X, score = make_table(kind)
    y = make_target(score, forest)
    fitted = FORESTS[forest](
        4, bootstrap=True, max_features=2, random_state=1, n_jobs=2
    ).fit(X, y)
    for member, rows in zip(fitted, fitted.estimators_samples_, strict=True):
        weight = np.bincount(rows, minlength=len(X)).astype(float)
        alone = clone(member).fit(X, y, sample_weight=weight)
        assert_same_tree(member.tree_, alone.tree_)
        assert member.tree_.node_count > 5


@pytest.mark.parametrize("forest", FORESTS)
def test_members_without_bootstrap_weigh_the_rows(forest):
    X, score = make_table("missing")
    y = make_target(score, forest)
    weight = np.random.default_rng(0).integers(0, 4, len(X)).astype(float)
    fitted = FORESTS[forest](2, bootstrap=False, max_features=2, random_state=1)
    for member in fitted.fit(X, y, weight):
        assert_same_tree(member.tree_, clone(member).fit(X, y, weight).tree_)


@pytest.mark.parametrize("forest", FORESTS)
def test_weights_are_repeated_rows(forest):
    """Also the sampled columns and thresholds are the same; CART limits count rows."""
    X, score = make_table("nominal")
    y = make_target(score, forest)
    fitted = FORESTS[forest](3, bootstrap=True, max_features=2, random_state=2)
    fitted.fit(X, y)
    for member, rows in zip(fitted, fitted.estimators_samples_, strict=True):
        repeated = clone(member).fit(X.iloc[rows], y[rows]).tree_
        for name in ("feature", "kind", "n_children", "first_child"):
            np.testing.assert_array_equal(
                member.tree_.nodes[name], repeated.nodes[name], err_msg=name
            )
        np.testing.assert_allclose(member.tree_.value, repeated.value, atol=1e-12)


def test_c45_members():
    X, score = make_table("missing")
    y = make_target(score, "classes")
    forest = RandomForestClassifier(3, criterion="gain_ratio", random_state=0)
    for member, rows in zip(forest.fit(X, y), forest.estimators_samples_, strict=True):
        weight = np.bincount(rows, minlength=len(X)).astype(float)
        alone = clone(member).fit(X, y, sample_weight=weight)
        assert_same_tree(member.tree_, alone.tree_)
        assert member.missing == "fractional"
        assert member.tree_.node_count > 5


@pytest.mark.parametrize("pruning", ["reduced_error", "cost_complexity", "loss"])
def test_pruned_members(pruning):
    """A pruner that holds rows out holds out rows of the sample, each time others."""
    X, score = make_table("missing")
    y = make_target(score, "classes")
    forest = RandomForestClassifier(3, pruning=pruning, random_state=0, n_jobs=2)
    whole = RandomForestClassifier(3, random_state=0).fit(X, y)
    forest.fit(X, y)
    for member, rows, tree in zip(
        forest, forest.estimators_samples_, whole, strict=True
    ):
        weight = np.bincount(rows, minlength=len(X)).astype(float)
        alone = clone(member).fit(X, y, sample_weight=weight)
        assert_same_tree(member.tree_, alone.tree_)
        assert member.get_n_leaves() < tree.get_n_leaves()


def test_out_of_bag_pruning_judges_by_the_rows_left_out():
    X, score = make_table("nominal")
    y = make_target(score, "classes")
    forest = RandomForestClassifier(3, pruning="out_of_bag", random_state=0).fit(X, y)
    for member, rows in zip(forest, forest.estimators_samples_, strict=True):
        weight = np.bincount(rows, minlength=len(X)).astype(float)
        is_out = weight == 0
        alone = clone(member).fit(X, y, weight, X_val=X[is_out], y_val=y[is_out])
        assert_same_tree(member.tree_, alone.tree_)


@pytest.mark.parametrize("forest", FORESTS)
def test_same_forest_for_any_number_of_threads(forest):
    X, score = make_table("missing")
    y = make_target(score, forest)
    grown = [
        FORESTS[forest](9, oob_score=True, bootstrap=True, random_state=0, n_jobs=n)
        for n in (1, 2, 3)
    ]
    with pytest.warns(UserWarning, match="do not have OOB scores"):
        first = grown[0].fit(X, y)
    for other in grown[1:]:
        with pytest.warns(UserWarning, match="do not have OOB scores"):
            other.fit(X, y)
        for tree, same in zip(first, other, strict=True):
            assert_same_tree(tree.tree_, same.tree_)
        assert first.oob_score_ == other.oob_score_


def test_threads_without_a_tree_help_with_the_others(monkeypatch):
    numbers, choose = [], _tree_grower.choose_list_task_rows

    def choose_task_rows(n_rows, n_threads, local_rows):
        numbers.append(n_threads)
        return choose(n_rows, n_threads, local_rows)

    monkeypatch.setattr(_tree_grower, "choose_list_task_rows", choose_task_rows)
    X = np.random.default_rng(0).normal(size=(8000, 20))
    y = (X[:, 0] + X[:, 1] > 0).astype(int)
    forests = [RandomForestClassifier(2, random_state=0, n_jobs=n) for n in (1, 3, 5)]
    for forest in forests:
        forest.fit(X, y)
    assert numbers == [2, 2]
    for other in forests[1:]:
        for tree, same in zip(forests[0], other, strict=True):
            assert_same_tree(tree.tree_, same.tree_)


# ------------------------------------------------------------------------- draws


def test_share_of_rows_in_the_bag():
    X, y = np.zeros((2000, 1)), np.zeros(2000)
    forest = RandomForestRegressor(20, random_state=0).fit(X, y)
    shares = [len(np.unique(rows)) / 2000 for rows in forest.estimators_samples_]
    assert np.mean(shares) == pytest.approx(1 - 1 / np.e, abs=0.003)


@pytest.mark.parametrize("is_weighted", [False, True])
def test_samples_are_those_of_scikit_learn(is_weighted):
    from sklearn.ensemble import RandomForestRegressor as Stock

    X, score = make_table("numbers")
    weight = np.arange(len(X)) + 1.0 if is_weighted else None
    ours = RandomForestRegressor(3, random_state=7, max_samples=50)
    theirs = Stock(3, random_state=7, max_samples=50).fit(X, score, weight)
    ours.fit(X, score, weight)
    for mine, stock in zip(
        ours.estimators_samples_, theirs.estimators_samples_, strict=True
    ):
        np.testing.assert_array_equal(mine, stock)
    if not is_weighted:
        mine = draw_sample(ours[0].random_state, len(X), 50)
        np.testing.assert_array_equal(mine, ours.estimators_samples_[0])


def test_random_thresholds_make_each_tree_as_often_as_they_should():
    """One column of four values: five trees, one of 1/3 and four of 1/6."""
    random = np.random.RandomState(0)
    X, y = random.randint(0, 4, (60, 1)), random.random_sample(60)
    forest = ExtraTreesRegressor(1000, random_state=0, n_jobs=1).fit(X, y)
    counts = Counter(
        tuple(np.floor(member.tree_.threshold)) for member in forest.estimators_
    )
    assert len(counts) == 5
    shares = sorted(count / 1000 for count in counts.values())
    np.testing.assert_allclose(shares, [1 / 6] * 4 + [1 / 3], atol=0.04)


# ------------------------------------------------------------------------- votes


@pytest.mark.parametrize(("voting", "vote"), [("soft", vote_soft), ("hard", vote_hard)])
def test_votes(voting, vote):
    X, score = make_table("nominal")
    y = make_target(score, "classes")
    forest = RandomForestClassifier(
        4, voting=voting, min_samples_leaf=4, random_state=0
    ).fit(X, y)
    of_trees = [member.predict_proba(X) for member in forest]
    expected = [vote(shares) for shares in zip(*of_trees, strict=True)]
    shares, best = zip(*expected, strict=True)
    np.testing.assert_allclose(forest.predict_proba(X), shares, atol=1e-12)
    np.testing.assert_array_equal(forest.predict(X), forest.classes_[list(best)])
    if voting == "hard":
        is_tied = np.sort(shares, axis=1)[:, -1] == np.sort(shares, axis=1)[:, -2]
        first = forest.classes_[np.argmax(shares, axis=1)]
        assert (forest.predict(X) != first)[is_tied].any()


@pytest.mark.parametrize("voting", ["soft", "hard"])
def test_out_of_bag_classes(voting):
    X, score = make_table("missing", 60)
    y = make_target(score, "classes")
    forest = RandomForestClassifier(
        30, voting=voting, oob_score=True, random_state=0, min_samples_leaf=3
    ).fit(X, y)
    codes = np.searchsorted(forest.classes_, y)
    outputs = [member.predict_proba(X) for member in forest]
    if voting == "hard":
        outputs = [np.eye(3)[shares.argmax(axis=1)] for shares in outputs]

    def combine(said, code):
        shares, best = vote_soft(said)
        return shares, float(best != code)

    samples = [draw_sample(member.random_state, 60, 60) for member in forest]
    predictions, curve = estimate_out_of_bag(outputs, samples, codes, combine)
    np.testing.assert_allclose(forest.oob_decision_function_, predictions, atol=1e-12)
    np.testing.assert_allclose(forest.oob_curve_, curve, atol=1e-12)
    assert forest.oob_score_ == pytest.approx(1 - curve[-1])


def test_out_of_bag_values():
    X, score = make_table("missing", 60)
    forest = RandomForestRegressor(30, oob_score=True, random_state=0).fit(X, score)
    samples = [draw_sample(member.random_state, 60, 60) for member in forest]

    def combine(said, value):
        mean = sum(said) / len(said)
        return mean, (mean - value) ** 2

    outputs = [member.predict(X) for member in forest]
    predictions, curve = estimate_out_of_bag(outputs, samples, score, combine)
    np.testing.assert_allclose(forest.oob_prediction_, predictions, atol=1e-12)
    np.testing.assert_allclose(forest.oob_curve_, curve, atol=1e-12)
    assert forest.oob_score_ == pytest.approx(1 - curve[-1] / np.var(score))


# --------------------------------------------------------------------- in use


def test_no_stale_estimate():
    X, score = make_table("numbers")
    forest = RandomForestRegressor(30, oob_score=True, random_state=0).fit(X, score)
    assert hasattr(forest, "oob_curve_")
    forest.set_params(oob_score=False).fit(X, score)
    stale = [name for name in vars(forest) if name.startswith("oob_")]
    assert stale == ["oob_score"]


def test_pickle():
    X, score = make_table("missing")
    y = make_target(score, "classes")
    forest = RandomForestClassifier(5, random_state=0).fit(X, y)
    read = pickle.loads(pickle.dumps(forest))
    np.testing.assert_array_equal(read.predict_proba(X), forest.predict_proba(X))


@pytest.mark.parametrize(
    ("y", "what"), [("classes", "classes"), ("columns", "columns, kinds and levels")]
)
def test_warm_start_needs_the_same_table(y, what):
    known, score = make_table("nominal")
    X, labels = known, make_target(score, "classes")
    forest = RandomForestClassifier(2, warm_start=True, random_state=0).fit(X, labels)
    if y == "classes":
        labels = np.where(labels == "low", "lower", labels)
    else:
        X = X.assign(color="grey", size=1.0)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        forest.fit(X, labels)
    forest.set_params(n_estimators=4)
    with pytest.raises(ValueError, match=rf"same .*{what}\. Set"):
        forest.fit(X, labels)
    assert forest.predict(known).shape == (120,)


def test_warm_start_is_one_fit():
    X, score = make_table("missing")
    warm = RandomForestRegressor(2, warm_start=True, random_state=3).fit(X, score)
    warm.set_params(n_estimators=5).fit(X, score)
    once = RandomForestRegressor(5, random_state=3).fit(X, score)
    for tree, same in zip(warm, once, strict=True):
        assert_same_tree(tree.tree_, same.tree_)


class Unread:
    """A table that must not be read before the parameters are checked."""

    shape = (3, 1)

    def __len__(self):
        return 3

    def __array__(self, *arguments, **options):
        raise AssertionError("the table was read")


@pytest.mark.parametrize("max_bins", [None, 2, 12])
@pytest.mark.parametrize("forest", FORESTS)
def test_rows_reach_the_leaves_that_they_made(forest, max_bins):
    """Thresholds stand between bins, so that new tables are split as the first."""
    X, score = make_table("numbers", 400)
    y = make_target(score, forest)
    model = FORESTS[forest](4, bootstrap=False, max_bins=max_bins, random_state=0)
    for tree in model.fit(X, y):
        n_rows = np.bincount(tree.apply(X), minlength=tree.tree_.node_count)
        is_leaf = tree.tree_.children_left < 0
        expected = tree.tree_.n_node_samples * is_leaf
        np.testing.assert_array_equal(n_rows, expected)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_jobs", 0),
        ("n_estimators", 0),
        ("criterion", "gain"),
        ("missing", None),
        ("voting", "loud"),
        ("max_bins", 1),
        ("oob_score", 3),
        ("class_weight", "fair"),
        ("max_samples", -1),
        ("pruning", "some"),
        ("top_splits", 0),
        ("warm_start", 1),
        ("max_depth", 0),
        ("categorical_split", "any"),
    ],
)
def test_parameters_are_checked_before_the_table_is_read(name, value):
    forest = RandomForestClassifier(**{name: value})
    with pytest.raises(ValueError, match=f"The '{name}' parameter must be"):
        forest.fit(Unread(), [0, 1, 0])


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"ccp_alpha": 0.1}, "'ccp_alpha' parameter must be 0.0 with criterion"),
        (
            {"monotonic_cst": [1]},
            "'monotonic_cst' parameter must be None with criterion",
        ),
        ({"missing": "surrogate"}, "'missing' parameter must be one of 'auto', 'fr"),
    ],
)
def test_parameters_that_c45_members_lack(parameters, message):
    forest = RandomForestClassifier(criterion="gain_ratio", **parameters)
    with pytest.raises(ValueError, match=message):
        forest.fit(Unread(), [0, 1, 0])


def test_parameters_of_a_named_pruner():
    forest = RandomForestClassifier(pruning="reduced_error")
    assert forest.get_params()["pruning__validation_fraction"] == 0.3
    forest.set_params(pruning__validation_fraction=0.2)
    assert forest.pruning.validation_fraction == 0.2
    with pytest.raises(ValueError, match="its 'pruning' is None"):
        RandomForestClassifier().set_params(pruning__tie="keep")


def test_balanced_class_without_weight():
    X, y = np.arange(6.0)[:, np.newaxis], [0, 0, 1, 1, 2, 2]
    forest = ExtraTreesClassifier(2, class_weight="balanced", random_state=0)
    forest.fit(X, y, sample_weight=[1, 3, 1, 1, 0, 0])
    root = forest[0].tree_.value[0, 0]
    np.testing.assert_allclose(root, [0.5, 0.5, 0.0])
    with pytest.raises(ValueError, match="'class_weight' parameter must leave some"):
        ExtraTreesClassifier(2, class_weight={0: 0, 1: 0, 2: 0}).fit(X, y)


@pytest.mark.parametrize("ensemble", [RandomForestClassifier, BaggingClassifier])
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB scores")
def test_named_scorer_scores_the_judged_rows_alone(ensemble):
    X, y = load_iris(return_X_y=True)
    model = ensemble(n_estimators=5, oob_score="roc_auc_ovr", random_state=0).fit(X, y)
    in_bag = [np.bincount(rows, minlength=150) for rows in model.estimators_samples_]
    is_judged = (np.array(in_bag) == 0).any(axis=0)
    assert 0 < is_judged.sum() < 150
    shares = model.oob_decision_function_[is_judged]
    expected = roc_auc_score(y[is_judged], shares, multi_class="ovr")
    assert model.oob_score_ == pytest.approx(expected)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize(
    "model",
    [
        RandomForestClassifier(20),
        ExtraTreesRegressor(20),
        BaggingClassifier(n_estimators=20),
        BaggingClassifier(GaussianNB(), n_estimators=20),
        OutputFlippingClassifier(n_estimators=20),
    ],
)
def test_verbose_counts_members(model, n_jobs, capsys):
    X, y = load_iris(return_X_y=True)
    clone(model).set_params(verbose=1, n_jobs=n_jobs).fit(X, y)
    printed = capsys.readouterr()
    assert printed.err == ""
    lines = [f"{count} of 20 members fitted" for count in range(2, 21, 2)]
    assert printed.out.splitlines() == lines
    clone(model).set_params(verbose=2, n_jobs=n_jobs).fit(X, y)
    assert len(capsys.readouterr().out.splitlines()) == 20
    clone(model).set_params(n_jobs=n_jobs).fit(X, y)
    assert capsys.readouterr() == ("", "")


@pytest.mark.parametrize("forest_class", [RandomForestRegressor, ExtraTreesRegressor])
def test_a_deprecated_criterion_warns_at_the_line_that_makes_the_forest(forest_class):
    with pytest.warns(FutureWarning, match="squared_error") as caught:
        forest_class(criterion="friedman_mse")
    assert caught[0].filename == __file__
