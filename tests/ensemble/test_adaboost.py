"""AdaBoost: rounds, stumps, members of all sorts, what they say together."""

import pickle
import random
import signal
import time

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn.ensemble
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn import config_context
from sklearn.base import clone
from sklearn.callback import ProgressBar
from sklearn.datasets import load_iris, make_classification
from sklearn.model_selection import cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.tree import DecisionTreeClassifier

from sklearn_textbook.datasets import load_watermelon, make_mixed_table
from sklearn_textbook.ensemble import AdaBoostClassifier
from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    export_text,
)
from tests.amount import FACTOR, count_chunks
from tests.loops import loop_over
from tests.processes import Program
from tests.reference import adaboost as reference
from tests.reference.cases import make_column, make_frame
from tests.reference.compare import assert_same_nodes, find_difference, read_grown_tree

X, Y = make_classification(200, 6, n_informative=4, flip_y=0.1, random_state=0)
LABELS = np.array(["no", "yes"])[Y]
IRIS, SPECIES = load_iris(return_X_y=True)


def make_table(seed, n_classes, n_rows=None):
    """Random columns with ties and gaps, classes and weights."""
    generator = random.Random(seed)
    n_rows = n_rows or generator.randint(4, 40)
    columns = []
    while len(columns) < 3:
        column = make_column(generator, n_rows, generator.choice([0, 0.3]))
        if n_classes == 2 or column.kind != "nominal":
            columns.append(column)
    y = [generator.randrange(n_classes) for _ in range(n_rows)]
    y[:n_classes] = range(n_classes)
    weights = [generator.choice([1, 1, 2, 3]) for _ in range(n_rows)]
    return columns, y, generator.choice([None, weights])


# ------------------------------------------------------------ reference and brute force


@pytest.mark.parametrize("n_classes", [2, 3, 4])
@pytest.mark.parametrize("chunk", range(count_chunks(2)))
def test_reference(chunk, n_classes):
    n_rounds = 0
    for seed in range(20 * chunk, 20 * chunk + 20):
        columns, y, weights = make_table(seed, n_classes)
        wanted = reference.boost(columns, y, n_classes, 6, weights)
        model = AdaBoostClassifier(n_estimators=6, store_weights=True, n_jobs=2)
        frame = make_frame(columns)
        if not wanted:
            with pytest.raises(ValueError, match="worse than random"):
                model.fit(frame, y, sample_weight=weights)
            continue
        model.fit(frame, y, sample_weight=weights)
        assert len(model) == len(wanted), seed
        assert_allclose(model.estimator_errors_, [float(r.error) for r in wanted])
        assert_allclose(model.estimator_weights_, [r.alpha for r in wanted])
        for number, (stump, one) in enumerate(zip(model, wanted, strict=True)):
            difference = find_difference(one.nodes, read_grown_tree(stump.tree_))
            assert difference is None, (seed, number, difference)
            assert stump.predict(frame).tolist() == one.says
            found = model.sample_weights_[number]
            assert_allclose(found, [float(weight) for weight in one.weights])
        votes = np.array(reference.add_votes(wanted, len(y), n_classes))
        decisions = model.decision_function(frame)
        wanted_decisions = votes[:, 1] - votes[:, 0]
        if n_classes > 2:
            others = votes.sum(axis=1, keepdims=True) - votes
            wanted_decisions = votes - others / (n_classes - 1)
        assert_allclose(decisions, wanted_decisions, atol=1e-12)
        n_rounds += len(wanted)
    assert n_rounds > 40


def draw_frame(seed, n_rows):
    """Numbers of many and of few values, text of many levels, gaps."""
    generator = np.random.default_rng(seed)
    frame = {
        "normal": generator.normal(size=n_rows),
        "rounded": generator.normal(size=n_rows).round(1),
        "few": generator.integers(0, 5, n_rows).astype(float),
        "gaps": np.where(
            generator.random(n_rows) < 0.1, np.nan, generator.random(n_rows)
        ),
        "text": generator.choice(["a", "b", "c", None], n_rows),
        "names": [f"name {i}" for i in generator.integers(0, n_rows // 6, n_rows)],
    }
    weights = generator.integers(0, 4, n_rows).astype(float)
    return pd.DataFrame(frame), weights, generator


@pytest.mark.parametrize("sampling", ["reweight", "resample"])
@pytest.mark.parametrize("n_classes", [2, 3])
@loop_over("seed", range(2 * FACTOR))
def test_stumps_are_those_of_trees(seed, n_classes, sampling):
    """Over 40 rounds, in which sums are kept and taken anew; bins and levels by far
    more than fit into a byte. A tree that grows from the same weights has no stump
    with a smaller error. Levels are not smoothed: what their splits are worth on other
    rows depends on how weights have changed."""
    frame, weights, generator = draw_frame(seed, 3000)
    y = generator.integers(0, n_classes, len(frame))
    if seed % 2:
        weights = None
    template = CARTClassifier(criterion="error", max_depth=1, categorical_smoothing=0)
    model = AdaBoostClassifier(
        template, n_estimators=40, store_weights=True, sampling=sampling
    )
    model.set_params(random_state=seed).fit(frame, y, sample_weight=weights)
    n_same = 0
    for stump, D in zip(model, model.sample_weights_, strict=False):
        if sampling == "resample":
            assert stump.tree_.nodes["n_samples"][0] < len(frame)
            assert stump.tree_.nodes["weight"][0] == len(frame)
            continue
        tree = clone(template)
        tree.fit(frame, y, sample_weight=D * stump.tree_.nodes["weight"][0])
        errors = [D[one.predict(frame) != y].sum() for one in (stump, tree)]
        assert errors[0] <= errors[1] + 1e-12
        if n_classes == 2:
            difference = find_difference(
                read_grown_tree(tree.tree_), read_grown_tree(stump.tree_)
            )
            n_same += difference is None
    # Two stumps may be equally good up to rounding, which then decides.
    assert sampling == "resample" or n_classes > 2 or n_same >= 38


@pytest.mark.parametrize("without", [[], ["names"], ["names", "text", "few"]])
def test_drawn_rows_make_the_stump(without):
    frame, _, generator = draw_frame(0, 500)
    y = generator.integers(0, 2, len(frame))
    trees = clone(CARTClassifier(criterion="error", max_depth=1, top_splits=1))
    kernel = AdaBoostClassifier(sampling="resample", n_estimators=20, random_state=3)
    # A limit that never counts makes it a tree like any other.
    slow = clone(kernel).set_params(estimator=trees.set_params(max_leaf_nodes=5))
    frame = frame.drop(columns=without)
    kernel.fit(frame, y)
    slow.fit(frame, y)
    assert_allclose(kernel.estimator_errors_, slow.estimator_errors_, atol=1e-12)
    for one, other in zip(kernel, slow, strict=True):
        difference = find_difference(
            read_grown_tree(other.tree_), read_grown_tree(one.tree_)
        )
        assert difference is None


@pytest.mark.parametrize("n_classes", [2, 3])
def test_same_for_any_number_of_threads(n_classes):
    frame, weights, generator = draw_frame(5, 20_000)
    y = generator.integers(0, n_classes, len(frame))
    models = [
        AdaBoostClassifier(n_estimators=8, n_jobs=n_jobs).fit(frame, y, weights)
        for n_jobs in (1, 2, 5)
    ]
    for other in models[1:]:
        assert_array_equal(other.estimator_errors_, models[0].estimator_errors_)
        for one, two in zip(models[0], other, strict=True):
            assert_same_nodes(read_grown_tree(one.tree_), read_grown_tree(two.tree_))


# --------------------------------------------------------------------------- theory


@pytest.mark.parametrize("learning_rate", [1.0, 0.3])
@pytest.mark.parametrize("n_classes", [2, 3])
def test_training_error_is_below_its_bound(n_classes, learning_rate):
    for seed in range(8):
        frame, weights, generator = draw_frame(seed, 60)
        y = generator.integers(0, n_classes, len(frame))
        model = AdaBoostClassifier(n_estimators=20, learning_rate=learning_rate)
        model.fit(frame, y, sample_weight=weights)
        scores = list(model.staged_score(frame, y, sample_weight=weights))
        assert (1.0 - np.array(scores) <= model.error_bounds_ + 1e-12).all()
        e, alpha = model.estimator_errors_, model.estimator_weights_
        z = (1 - e) * np.exp(-alpha) + e * np.exp(alpha)
        assert_allclose(model.normalizers_, z)


def test_bound_falls_as_errors_tell():
    model = AdaBoostClassifier(n_estimators=20).fit(X, Y)
    e = model.estimator_errors_
    assert_allclose(model.normalizers_, 2 * np.sqrt(e * (1 - e)))
    # Theorem 8.2.
    gamma = 0.5 - e
    assert (model.error_bounds_ <= np.exp(-2 * np.cumsum(gamma**2)) + 1e-12).all()


def test_every_member_has_half_of_the_next_weights_wrong():
    model = AdaBoostClassifier(n_estimators=20, store_weights=True).fit(X, Y)
    for stump, weights in zip(model, model.sample_weights_[1:], strict=True):
        assert_allclose(weights[stump.predict(X) != Y].sum(), 0.5)
        assert_allclose(weights.sum(), 1.0)


def test_samme_makes_all_classes_as_likely_as_chance():
    model = AdaBoostClassifier(n_estimators=20, store_weights=True)
    model.fit(IRIS, SPECIES)
    for stump, weights in zip(model, model.sample_weights_[1:], strict=True):
        assert_allclose(weights[stump.predict(IRIS) != SPECIES].sum(), 2 / 3)


# ---------------------------------------------------------- the same as scikit-learn's


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("learning_rate", [1.0, 0.5])
@pytest.mark.parametrize(
    "member", [DecisionTreeClassifier(max_depth=1, random_state=0), GaussianNB()]
)
def test_same_members_as_scikit_learn(member, learning_rate, n_classes):
    table, y = (
        (X, LABELS) if n_classes == 2 else (IRIS, np.array(["a", "b", "c"])[SPECIES])
    )
    options = {"n_estimators": 10, "learning_rate": learning_rate}
    theirs = sklearn.ensemble.AdaBoostClassifier(member, **options).fit(table, y)
    ours = AdaBoostClassifier(member, **options).fit(table, y)
    assert len(ours) == len(theirs.estimators_)
    # Theirs are filled up where boosting has ended early.
    errors, weights = (
        values[: len(ours)]
        for values in (theirs.estimator_errors_, theirs.estimator_weights_)
    )
    assert_allclose(ours.estimator_errors_, errors, rtol=1e-9)
    assert_allclose(2 * ours.estimator_weights_, weights, rtol=1e-9)
    assert_array_equal(ours.predict(table), theirs.predict(table))
    # Theirs of two classes is a difference of two numbers that sum to 0.
    scale = (2 if n_classes == 2 else 1) / ours.estimator_weights_.sum()
    decisions = ours.decision_function(table) * scale
    assert_allclose(decisions, theirs.decision_function(table), atol=1e-9)


def test_same_stumps_as_scikit_learn_by_gini():
    theirs = sklearn.ensemble.AdaBoostClassifier(n_estimators=20).fit(X, Y)
    ours = AdaBoostClassifier(CARTClassifier(max_depth=1), n_estimators=20).fit(X, Y)
    assert_allclose(ours.estimator_errors_, theirs.estimator_errors_, rtol=1e-9)
    assert_allclose(ours.feature_importances_, theirs.feature_importances_)
    assert_array_equal(ours.predict(X), theirs.predict(X))


# ------------------------------------------------------------------- ends of boosting


def test_perfect_member_ends_boosting():
    table = np.arange(6.0)[:, np.newaxis]
    model = AdaBoostClassifier().fit(table, [0, 0, 0, 1, 1, 1])
    assert model.estimator_weights_.tolist() == [1.0]
    assert model.estimator_errors_.tolist() == [0.0]
    assert model.stop_reason_.startswith("Member 1 has no errors")
    assert model.score(table, [0, 0, 0, 1, 1, 1]) == 1.0


class Growing(DecisionTreeClassifier):
    """Has no row wrong from its third fit on."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        Growing.n_fits += 1
        self.max_depth = 1 if Growing.n_fits < 3 else None
        return super().fit(X, y, sample_weight)


def test_perfect_member_outvotes_all_before_it(monkeypatch):
    monkeypatch.setattr(Growing, "n_fits", 0)
    model = AdaBoostClassifier(Growing(), learning_rate=0.7).fit(X, LABELS)
    first, second, third = model.estimator_weights_
    assert third == 1.0 + first + second
    assert_array_equal(model.predict(X), LABELS)
    assert model.error_bounds_[-1] >= 0.0
    assert_allclose(model.normalizers_[2], np.exp(-third))
    # Nothing is left to add.
    model.set_params(warm_start=True, n_estimators=60)
    with pytest.warns(UserWarning, match="does not fit new"):
        model.fit(X, LABELS)
    assert len(model) == 3


@pytest.mark.parametrize("sampling", ["reweight", "resample"])
def test_nothing_better_than_chance(sampling):
    table, y = np.zeros((8, 2)), [0, 1] * 4
    model = AdaBoostClassifier(sampling=sampling, random_state=0, max_restarts=4)
    again = "" if sampling == "reweight" else " in any of 5 draws"
    message = (
        f"worse than random guessing.*no better than chance{again}: its weighted "
        "error was 0.5, that of guessing among 2 classes is 0.5"
    )
    with pytest.raises(ValueError, match=message):
        model.fit(table, y)


def test_later_member_no_better_than_chance():
    table, y = np.zeros((9, 1)), [0, 0, 0, 0, 0, 0, 1, 1, 1]
    model = AdaBoostClassifier().fit(table, y)
    # After the leaf that says 0, both classes weigh the same.
    assert len(model) == 1
    assert_allclose(model.estimator_errors_, [1 / 3])
    assert model.stop_reason_.startswith("Member 2 was no better than chance:")
    assert_array_equal(model.predict(table), np.zeros(9))


class Unlucky(CARTClassifier):
    """Says the contrary at its first fits."""

    n_left = 0

    def fit(self, X, y):
        super().fit(X, y)
        self.is_wrong_ = Unlucky.n_left > 0
        Unlucky.n_left -= 1
        return self

    def predict(self, X):
        said = super().predict(X)
        return 1 - said if self.is_wrong_ else said


@pytest.mark.parametrize("max_restarts", [2, 3])
def test_bad_rounds_are_drawn_again(max_restarts, monkeypatch):
    monkeypatch.setattr(Unlucky, "n_left", 3)
    model = AdaBoostClassifier(
        Unlucky(max_depth=1),
        n_estimators=4,
        sampling="resample",
        max_restarts=max_restarts,
        random_state=0,
    )
    if max_restarts == 2:
        with pytest.raises(ValueError, match="in any of 3 draws"):
            model.fit(X, Y)
        return
    model.fit(X, Y)
    assert len(model) == 4
    assert (model.estimator_errors_ < 0.5).all()
    assert not model[0].is_wrong_
    assert model.stop_reason_ == "All n_estimators=4 rounds were run."


def test_one_class():
    model = AdaBoostClassifier().fit(X, np.full(len(X), "only"))
    assert set(model.predict(X)) == {"only"}
    assert_array_equal(model.predict_proba(X), np.ones((len(X), 1)))
    assert_array_equal(model.decision_function(X), np.ones((len(X), 1)))


@pytest.mark.parametrize("learning_rate", [30.0, 5000.0])
@pytest.mark.parametrize("member", [None, DecisionTreeClassifier(max_depth=1)])
def test_weights_never_overflow(member, learning_rate):
    model = AdaBoostClassifier(
        member, n_estimators=40, learning_rate=learning_rate, store_weights=True
    )
    with np.errstate(over="raise", invalid="raise"):
        model.fit(IRIS, SPECIES)
    assert_allclose(model.sample_weights_.sum(axis=1), 1.0)
    assert np.isfinite(model.decision_function(IRIS)).all()
    assert_allclose(model.predict_proba(IRIS).sum(axis=1), 1.0)


@pytest.mark.parametrize("scale", [1e-300, 1e-30, 1e290])
def test_scale_of_weights_does_not_count(scale):
    plain = AdaBoostClassifier(n_estimators=20).fit(X, Y)
    scaled = AdaBoostClassifier(n_estimators=20)
    scaled.fit(X, Y, sample_weight=np.full(len(X), scale))
    assert_allclose(scaled.estimator_errors_, plain.estimator_errors_)
    assert_array_equal(scaled.predict(X), plain.predict(X))


# ------------------------------------------------------------------------- properties


def test_weight_is_number_of_copies():
    for seed in range(10):
        frame, weights, generator = draw_frame(seed, 80)
        y = generator.integers(0, 3, len(frame))
        copies = np.repeat(np.arange(len(frame)), weights.astype(int))
        options = {"n_estimators": 15}
        weighted = AdaBoostClassifier(**options).fit(frame, y, sample_weight=weights)
        copied = AdaBoostClassifier(**options).fit(frame.iloc[copies], y[copies])
        assert_allclose(weighted.estimator_errors_, copied.estimator_errors_)
        for one, other in zip(weighted, copied, strict=True):
            assert_array_equal(one.tree_.feature, other.tree_.feature)
            assert_allclose(
                one.tree_.nodes["threshold"], other.tree_.nodes["threshold"]
            )


def test_names_and_order_of_columns_do_not_count():
    frame, weights, generator = draw_frame(1, 300)
    y = generator.integers(0, 2, len(frame))
    model = AdaBoostClassifier(n_estimators=15).fit(frame, y, sample_weight=weights)
    renamed = frame.rename(columns=lambda name: f"the {name}")[
        [f"the {name}" for name in reversed(frame.columns)]
    ]
    other = AdaBoostClassifier(n_estimators=15).fit(renamed, y, sample_weight=weights)
    assert_allclose(other.estimator_errors_, model.estimator_errors_)
    assert_allclose(other.feature_importances_[::-1], model.feature_importances_)
    assert_allclose(
        other.decision_function(renamed), model.decision_function(frame), atol=1e-9
    )
    assert model.feature_names_in_.tolist() == list(frame.columns)


def test_exchanged_classes_change_the_sign():
    model = AdaBoostClassifier(n_estimators=15).fit(X, Y)
    other = AdaBoostClassifier(n_estimators=15).fit(X, 1 - Y)
    assert_allclose(other.decision_function(X), -model.decision_function(X))


# ------------------------------------------------------------------------ predictions


@pytest.mark.parametrize(
    "member",
    [
        None,
        CARTClassifier(max_depth=2),
        C45Classifier(pruning=None),
        GaussianNB(),
    ],
)
@pytest.mark.parametrize("n_classes", [2, 3])
def test_what_members_say_together(member, n_classes):
    table, y = (X, LABELS) if n_classes == 2 else (IRIS, SPECIES * 10)
    model = AdaBoostClassifier(member, n_estimators=7).fit(table, y)
    votes = np.zeros((len(table), n_classes))
    stages = zip(
        model.staged_predict(table),
        model.staged_decision_function(table),
        model.staged_predict_proba(table),
        model.staged_score(table, y),
        strict=True,
    )
    for stump, alpha in zip(model, model.estimator_weights_, strict=True):
        said = stump.predict(table)
        if member is not None and isinstance(member, GaussianNB):
            said = model.classes_[said]
        votes += alpha * (said[:, np.newaxis] == model.classes_)
        predicted, decision, shares, score = next(stages)
        assert_array_equal(predicted, model.classes_[votes.argmax(axis=1)])
        assert score == np.mean(predicted == y)
        raised = np.exp(2 * votes)
        assert_allclose(shares, raised / raised.sum(axis=1, keepdims=True))
        if n_classes == 2:
            assert_allclose(decision, votes[:, 1] - votes[:, 0], atol=1e-12)
            assert_allclose(shares[:, 1], 1 / (1 + np.exp(-2 * decision)))
        else:
            assert_allclose(decision, votes - (votes.sum(1)[:, None] - votes) / 2)
    assert list(stages) == []
    assert_array_equal(model.predict(table), predicted)
    assert_allclose(model.decision_function(table), decision)
    assert_allclose(model.predict_proba(table), shares)
    assert_allclose(model.predict_log_proba(table), np.log(shares), atol=1e-9)
    right = votes[np.arange(len(y)), np.searchsorted(model.classes_, y)]
    votes[np.arange(len(y)), np.searchsorted(model.classes_, y)] = -1
    margins = (right - votes.max(axis=1)) / model.estimator_weights_.sum()
    assert_allclose(model.margins(table, y), margins, atol=1e-12)
    assert_array_equal(margins > 0, predicted == y)


def test_trees_of_the_members():
    model = AdaBoostClassifier(n_estimators=5).fit(X, LABELS)
    leaves = model.apply(X)
    for number, stump in enumerate(model):
        assert_array_equal(leaves[:, number], stump.apply(X))
        assert export_text(stump).count("|---") == 2
        assert stump.get_depth() == 1
        assert stump.classes_.tolist() == ["no", "yes"]
    each = np.array([stump.feature_importances_ for stump in model])
    weights = model.estimator_weights_
    assert_allclose(model.feature_importances_, weights @ each / weights.sum())
    assert_allclose(model.feature_importances_.sum(), 1.0)
    others = AdaBoostClassifier(GaussianNB(), n_estimators=2).fit(X, Y)
    assert not hasattr(others, "apply")
    assert not hasattr(others, "feature_importances_")


def test_levels_never_seen_and_missing_values_in_new_rows():
    frame, weights, generator = draw_frame(2, 400)
    y = generator.integers(0, 2, len(frame))
    model = AdaBoostClassifier(n_estimators=30).fit(frame, y, sample_weight=weights)
    new = frame.iloc[:50].copy()
    new["names"], new["normal"], new["few"] = "never seen", np.nan, np.nan
    votes = np.zeros((50, 2))
    for stump, alpha in zip(model, model.estimator_weights_, strict=True):
        votes += alpha * (stump.predict(new)[:, np.newaxis] == [0, 1])
    assert_allclose(model.decision_function(new), votes[:, 1] - votes[:, 0], atol=1e-12)


# ------------------------------------------------------------------ members and tables


@pytest.mark.parametrize(
    "member",
    [
        ID3Classifier(),
        C45Classifier(),
        CARTClassifier(max_depth=2, missing="surrogate"),
        CARTClassifier(pruning="reduced_error"),
    ],
)
def test_trees_learn_from_the_weights(member):
    frame, y = load_watermelon(version="3.0", return_X_y=True, as_frame=True)
    model = AdaBoostClassifier(
        member, n_estimators=4, store_weights=True, random_state=0
    ).fit(frame, y)
    for tree, weights in zip(model, model.sample_weights_, strict=False):
        params = {"random_state": tree.random_state}
        if member.pruning == "reduced_error":
            params = {"pruning": tree.pruning}
        alone = clone(member).set_params(**params)
        alone.fit(frame, y, sample_weight=weights * len(frame))
        assert export_text(alone) == export_text(tree)


def test_members_that_take_no_weights_are_drawn():
    message = "KNeighborsClassifier doesn't support sample_weight.*'resample'"
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(KNeighborsClassifier()).fit(X, Y)
    options = {"sampling": "resample", "n_estimators": 5, "random_state": 1}
    model = AdaBoostClassifier(KNeighborsClassifier(), **options).fit(X, LABELS)
    again = AdaBoostClassifier(KNeighborsClassifier(), **options).fit(X, LABELS)
    assert_array_equal(model.predict_proba(X), again.predict_proba(X))
    assert model.score(X, LABELS) > model[0].score(X, Y) - 0.05
    assert model[0].classes_.tolist() == [0, 1]


@pytest.mark.parametrize("sampling", ["reweight", "resample"])
def test_members_see_frames_as_frames(sampling):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = AdaBoostClassifier(GaussianNB(), n_estimators=3, sampling=sampling)
    model.fit(frame, Y)
    assert model[0].feature_names_in_.tolist() == list("abcdef")
    assert_array_equal(model.feature_names_in_, model[0].feature_names_in_)


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, sparse.csr_array, list])
def test_tables_of_all_sorts(make):
    table = np.where(X > 1, X, 0.0)
    wanted = AdaBoostClassifier(n_estimators=10).fit(table, Y)
    given = table.tolist() if make is list else make(table)
    model = AdaBoostClassifier(n_estimators=10).fit(given, Y)
    assert_array_equal(model.estimator_errors_, wanted.estimator_errors_)
    assert_array_equal(model.decision_function(given), wanted.decision_function(table))


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int64])
@pytest.mark.parametrize("order", ["C", "F"])
def test_votes_are_those_of_the_stumps(order, dtype):
    table = np.asarray((10 * X).round(), dtype=dtype, order=order)
    model = AdaBoostClassifier(n_estimators=60).fit(table, Y)
    # Rows on thresholds, and neighbours of these.
    thresholds = np.array([stump.tree_.threshold[0] for stump in model])
    new = np.repeat(np.concatenate([thresholds, [-1e9, 1e9]])[:, np.newaxis], 6, axis=1)
    new = [new, np.nextafter(new, np.inf), np.nextafter(new, -np.inf)]
    new = np.asarray(np.concatenate(new), dtype=dtype, order=order)
    for rows in (new, new[::2]):
        votes = np.zeros((len(rows), 2))
        for stump, alpha in zip(model, model.estimator_weights_, strict=True):
            votes += alpha * (stump.predict(rows)[:, np.newaxis] == [0, 1])
        found = model.decision_function(rows)
        assert_allclose(found, votes[:, 1] - votes[:, 0], atol=1e-12)


def test_mixed_table_in_and_out_of_pickle():
    frame, y = make_mixed_table(500, random_state=0, return_X_y=True, as_frame=True)
    model = AdaBoostClassifier(n_estimators=20, n_jobs=2).fit(frame, y)
    read = pickle.loads(pickle.dumps(model))
    assert_array_equal(read.decision_function(frame), model.decision_function(frame))
    assert read.score(frame, y) > np.mean(y == y.mode()[0])


def test_missing_values_that_are_errors():
    table = X.copy()
    table[3, 2] = np.nan
    with pytest.raises(ValueError, match="missing values in column 'x2'"):
        AdaBoostClassifier(missing="error").fit(table, Y)
    model = AdaBoostClassifier(missing="branch", n_estimators=5).fit(table, Y)
    assert {stump.missing for stump in model} == {"branch"}


# --------------------------------------------------------------------- use in practice


@pytest.mark.parametrize("sampling", ["reweight", "resample"])
@pytest.mark.parametrize(
    "member", [None, CARTClassifier(max_depth=2), DecisionTreeClassifier(max_depth=2)]
)
def test_warm_start_goes_on(member, sampling):
    options = {"store_weights": True, "random_state": 3, "sampling": sampling}
    whole = AdaBoostClassifier(member, n_estimators=12, **options).fit(X, LABELS)
    model = AdaBoostClassifier(member, n_estimators=5, warm_start=True, **options)
    first = model.fit(X, LABELS).estimators_
    model.set_params(n_estimators=12).fit(X, LABELS)
    assert all(one is other for one, other in zip(first, model, strict=False))
    assert_allclose(model.estimator_errors_, whole.estimator_errors_)
    assert_allclose(model.sample_weights_, whole.sample_weights_)
    assert_array_equal(model.predict(X), whole.predict(X))
    with pytest.warns(UserWarning, match="does not fit new"):
        model.fit(X, LABELS)
    with pytest.raises(ValueError, match="n_estimators=4 must be larger"):
        model.set_params(n_estimators=4).fit(X, LABELS)


def test_warm_start_keeps_classes_and_members():
    model = AdaBoostClassifier(n_estimators=2, warm_start=True).fit(X, LABELS)
    model.set_params(n_estimators=4)
    with pytest.raises(ValueError, match=r"classes \['no', 'yes'\].*\[0, 1\]"):
        model.fit(X, Y)
    with pytest.raises(ValueError, match="got GaussianNB for the classes"):
        model.set_params(estimator=GaussianNB()).fit(X, LABELS)


class Recorder:
    """Notes the rounds, and stops after some."""

    def __init__(self, stop_after=None):
        self.stop_after, self.rounds = stop_after, []

    def setup(self, estimator, context):
        pass

    def teardown(self, estimator, context):
        pass

    def on_fit_task_begin(self, estimator, context):
        pass

    def on_fit_task_end(self, estimator, context, *, X, y, fitted_estimator):
        if context.task_name == "round":
            self.rounds.append((len(fitted_estimator), fitted_estimator.score(X, y)))
            return len(self.rounds) == self.stop_after
        return False


@pytest.mark.parametrize("member", [None, GaussianNB()])
def test_callbacks_see_every_round(member):
    recorder = Recorder()
    model = AdaBoostClassifier(member, n_estimators=4).set_callbacks(recorder)
    model.fit(X, Y)
    numbers, scores = zip(*recorder.rounds, strict=True)
    assert numbers == (1, 2, 3, 4)
    assert list(scores) == list(model.staged_score(X, Y))
    stopped = AdaBoostClassifier(member).set_callbacks(Recorder(3)).fit(X, Y)
    assert len(stopped) == 3
    assert stopped.stop_reason_ == "A callback stopped the fit."
    assert_array_equal(stopped.estimator_errors_, model.estimator_errors_[:3])


def test_progress(capsys):
    model = AdaBoostClassifier(n_estimators=3, verbose=1)
    model.set_callbacks(ProgressBar()).fit(X, Y)
    output = capsys.readouterr().out
    assert "AdaBoostClassifier" in output
    assert f"Round 1: error {model.estimator_errors_[0]:.6g}, weight" in output


INTERRUPTED_FIT = """
import numpy as np
from sklearn_textbook.ensemble import AdaBoostClassifier
from sklearn_textbook.tree import CARTClassifier
random = np.random.default_rng(0)
X = random.normal(size=(100_000, 10))
y = random.integers(0, 2, len(X))
for member in (None, CARTClassifier(max_depth=12)):
    model = AdaBoostClassifier(member, n_estimators=50_000)
    print("ready", flush=True)
    try:
        model.fit(X, y)
    except KeyboardInterrupt:
        print("interrupted", hasattr(model, "estimators_"), flush=True)
        model.set_params(n_estimators=3).fit(X[:50], y[:50])
        print(len(model) <= 3, flush=True)
"""


def test_interruption():
    process = Program(INTERRUPTED_FIT)
    for _ in range(2):
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        start = time.perf_counter()
        assert process.stdout.readline() == "interrupted False\n"
        # A second on a machine with nothing else to do.
        assert time.perf_counter() - start < 5.0
        assert process.stdout.readline() == "True\n"
    output, errors = process.communicate(timeout=60)
    assert (output, errors, process.returncode) == ("", "", 0)


def test_routed_weights():
    weights = np.where(Y == 1, 1.0, 1e-15)
    with config_context(enable_metadata_routing=True):
        model = AdaBoostClassifier(n_estimators=1).set_fit_request(sample_weight=True)
        model.set_score_request(sample_weight=False)
        found = cross_validate(
            model, X, Y, params={"sample_weight": weights}, return_estimator=True
        )
    for fitted in found["estimator"]:
        assert set(fitted.predict(X)) == {1}


# ---------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_estimators": 0}, "'n_estimators' parameter must be an int"),
        ({"learning_rate": 0.0}, "'learning_rate' parameter must be a float in .*0.0"),
        ({"learning_rate": np.inf}, "'learning_rate' parameter must be a float"),
        ({"sampling": "bootstrap"}, "'sampling' parameter must be one of 'reweight'"),
        ({"max_restarts": -1}, "'max_restarts' parameter must be an int"),
        ({"store_weights": 1}, "'store_weights' parameter must be True or False"),
        ({"warm_start": "yes"}, "'warm_start' parameter must be True or False"),
        ({"random_state": "x"}, "'random_state' parameter must be None"),
        ({"verbose": -1}, "'verbose' parameter must be an int"),
        ({"n_jobs": 0}, "'n_jobs' parameter must be None"),
        ({"missing": "fractional"}, "'missing' parameter must be one of 'learned'"),
        ({"estimator": CARTRegressor()}, "'estimator' parameter must be None or a cl"),
        ({"estimator": GaussianNB}, "'estimator' parameter must be None or a cl"),
        ({"estimator": "stump"}, "'estimator' parameter must be None or a classifier"),
        (
            {"estimator": GaussianNB(), "missing": "error"},
            "'missing' parameter applies only to the default stump",
        ),
        (
            {"estimator": GaussianNB(), "categorical_features": [0]},
            "'categorical_features' parameter applies only to the default stump",
        ),
        ({"categorical_features": ["no such"]}, "categorical_features"),
    ],
)
def test_parameters_are_checked(options, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(**options).fit(X, Y)


@pytest.mark.parametrize("member", [None, GaussianNB()])
@pytest.mark.parametrize(
    ("y", "weights", "message"),
    [
        (Y[:-1], None, "199"),
        (X[:, 0], None, "[Uu]nknown label type"),
        (np.column_stack([Y, Y]), None, "1d array"),
        (Y, np.zeros(200), "All sample weights are zero"),
        (Y, -np.ones(200), "sample_weight must not be negative, got -1.0 in row 0"),
        (Y, np.ones(3), "sample_weight must have one entry per row, 200 in all, got 3"),
    ],
)
def test_targets_and_weights_are_checked(member, y, weights, message):
    with pytest.raises(ValueError, match=message):
        AdaBoostClassifier(member).fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="not yet fitted|This AdaBoostClassifier"):
        AdaBoostClassifier(member).predict(X)
