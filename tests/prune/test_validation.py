"""Rows that judge a tree: where they end, what they lose, how they are chosen."""

import pickle

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from sklearn_textbook.tree import (
    C45Classifier,
    CARTClassifier,
    CARTRegressor,
    ErrorBasedPruning,
    ID3Classifier,
    PrePruning,
    ReducedErrorPruning,
)
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.prune import Rows, TrainingData
from sklearn_textbook.tree.prune.hold_out import choose_held_out, deal_folds
from sklearn_textbook.tree.prune.node_losses import measure_node_losses
from sklearn_textbook.tree.route import find_ends, predict_statistics
from tests.loops import loop_over
from tests.reference.validation_cases import KINDS, make_case


def make_target(y, n_classes=None):
    """A target of one output or several."""
    y = np.asarray(y).reshape(len(y), -1)
    if n_classes is None:
        return Target(None, y.astype(float), np.ones(y.shape[1], dtype=np.int64))
    return Target(y.astype(np.int32), None, np.full(y.shape[1], n_classes))


def measure(estimator, X, y, weight=None):
    """The kernel's losses."""
    rows = estimator._read_rows(X, y, weight)
    data = estimator._make_training_data(None, None, rows, None, None, 1)
    return measure_node_losses(estimator.tree_, rows, data)


# --------------------------------------------------------------------- where they end
@pytest.mark.parametrize("kind", KINDS)
def test_ends_mix_to_the_prediction(kind):
    n_divided = n_stayed = 0
    for seed in range(25):
        case = make_case(kind, seed)
        tree = case.estimator.tree_
        matrix = case.estimator.schema_.read(case.X_val)
        rows, ends, shares = find_ends(tree, matrix)
        assert (np.diff(rows) >= 0).all()
        assert np.bincount(rows, shares, len(matrix)) == pytest.approx(1)
        mixed = np.zeros((len(matrix), *tree.statistics.shape[1:]))
        np.add.at(mixed, rows, shares[:, None, None] * tree.value[ends])
        np.testing.assert_allclose(mixed, predict_statistics(tree, matrix), atol=1e-12)
        table = sparse.csr_array(np.nan_to_num(matrix))
        for dense, other in zip(
            find_ends(tree, table.toarray()), find_ends(tree, table), strict=True
        ):
            np.testing.assert_array_equal(dense, other)
        n_divided += len(rows) > len(matrix)
        n_stayed += (tree.nodes["n_children"][ends] > 0).any()
    assert n_divided > 0
    assert n_stayed > 0


def test_no_rows_end_nowhere():
    estimator = ID3Classifier().fit([[0.0], [1.0]], [0, 1])
    for found in find_ends(estimator.tree_, np.empty((0, 1))):
        assert len(found) == 0


# ------------------------------------------------------------------- what nodes lose
@pytest.mark.parametrize("kind", KINDS)
def test_losses_equal_the_reference(kind):
    n_inner = 0
    for seed in range(30):
        case = make_case(kind, seed)
        validation = case.validation
        losses = measure(case.estimator, *validation.values())
        reference = case.measure_reference()
        for name in ("leaf", "stay", "branch"):
            np.testing.assert_allclose(
                getattr(losses, name), getattr(reference, name), rtol=1e-9, atol=1e-9
            )
        assert losses.total_weight == pytest.approx(reference.total)
        n_inner += len(reference.nodes) > 1
    assert n_inner > 15


@pytest.mark.parametrize("kind", KINDS)
def test_error_of_the_tree_is_that_of_its_predictions(kind):
    """For rows that are not divided."""
    n_compared = 0
    for seed in range(20):
        case = make_case(kind, seed)
        matrix = case.estimator.schema_.read(case.X_val)
        if len(find_ends(case.estimator.tree_, matrix)[0]) > len(matrix):
            continue
        validation = case.validation
        predicted = case.estimator.predict(case.X_val).reshape(len(matrix), -1)
        y = validation["y_val"].reshape(len(matrix), -1)
        loss = {
            "error": lambda a, b: a != b,
            "squared_error": lambda a, b: (a - b) ** 2,
            "absolute_error": lambda a, b: abs(a - b),
        }[case.loss](predicted, y).mean(axis=1)
        losses = measure(case.estimator, *validation.values())
        weight = validation["sample_weight_val"]
        assert losses.branch[0, 0] == pytest.approx((loss * weight).sum())
        assert losses.branch[0, 1] == pytest.approx((loss**2 * weight).sum())
        n_compared += 1
    assert n_compared > 3


@pytest.mark.parametrize(
    "rows",
    [
        Rows(np.zeros((2, 1)), make_target([0.5, 1.5])),
        Rows(np.zeros((2, 1)), make_target([[0, 1], [1, 0]], 2)),
        Rows(np.zeros((3, 1)), make_target([0, 1], 2)),
        Rows(np.zeros((2, 1)), make_target([0, 1], 2), np.ones(3)),
    ],
)
def test_rows_that_do_not_fit_the_tree_are_an_error(rows):
    tree = CARTClassifier().fit([[0.0], [1.0]], [0, 1]).tree_
    data = TrainingData(None, None, "gini", rows, find_ends)
    with pytest.raises(ValueError, match="the rows have|must have the same length"):
        measure_node_losses(tree, rows, data)


# ------------------------------------------------------------------ how they are chosen
@loop_over("seed", range(30))
def test_folds_are_of_one_size_and_have_the_same_classes(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_folds = int(rng.integers(12, 90)), int(rng.integers(2, 12))
    is_used = rng.random(n_rows) < 0.9
    is_used[:12] = True
    target = make_target(rng.integers(0, 4, n_rows), 4)
    fold = deal_folds(target, is_used, n_folds, seed)
    assert (fold[~is_used] == -1).all()
    assert set(fold[is_used]) == set(range(n_folds))
    assert np.ptp(np.bincount(fold[is_used])) <= 1
    for code in range(4):
        of_class = is_used & (target.codes[:, 0] == code)
        assert np.ptp(np.bincount(fold[of_class], minlength=n_folds)) <= 1
    np.testing.assert_array_equal(fold, deal_folds(target, is_used, n_folds, seed))


@loop_over("seed", range(30))
def test_folds_of_values_have_one_of_every_run_of_neighbours(seed):
    rng = np.random.default_rng(seed)
    n_rows, n_folds = int(rng.integers(12, 90)), int(rng.integers(2, 12))
    y = rng.permutation(n_rows).astype(float)
    fold = deal_folds(make_target(y), np.ones(n_rows, bool), n_folds, seed)
    assert np.ptp(np.bincount(fold, minlength=n_folds)) <= 1
    sorted_folds = fold[np.argsort(y)]
    for first in range(0, n_rows, n_folds):
        run = sorted_folds[first : first + n_folds]
        assert len(set(run)) == len(run)


@loop_over("seed", range(30))
def test_held_out_rows_have_their_share_of_every_class(seed):
    rng = np.random.default_rng(seed)
    n_rows, share = int(rng.integers(10, 200)), rng.uniform(0.05, 0.95)
    is_used = rng.random(n_rows) < 0.9
    is_used[:5] = True
    target = make_target(rng.integers(0, 3, n_rows), 3)
    is_held_out = choose_held_out(target, is_used, share, seed)
    assert not (is_held_out & ~is_used).any()
    n_used = is_used.sum()
    n_chosen = min(max(1, round(share * n_used)), n_used - 1)
    assert is_held_out.sum() == n_chosen
    for code in range(3):
        of_class = is_used & (target.codes[:, 0] == code)
        expected = of_class.sum() * n_chosen / n_used
        assert abs((is_held_out & of_class).sum() - expected) < 1


def test_held_out_values_are_spread_over_the_range():
    y = np.random.default_rng(0).normal(size=200)
    is_held_out = choose_held_out(make_target(y), np.ones(200, bool), 0.2)
    ranks = np.sort(np.argsort(np.argsort(y))[is_held_out])
    assert len(ranks) == 40
    np.testing.assert_array_equal(ranks // 5, np.arange(40))


def test_start_that_rounds_up_to_the_next_row():
    """The last place is the last row, although 2 + (1 - 1e-16) is 3 in a float."""

    class AlmostOne(np.random.RandomState):
        def random_sample(self, size=None):
            return 1 - 2.0**-53

    is_held_out = choose_held_out(
        make_target(np.arange(4.0)), np.ones(4, bool), 0.75, AlmostOne(0)
    )
    assert is_held_out.sum() == 3


def test_same_rows_unless_another_seed_is_given():
    target = make_target(np.zeros(50), 1)
    is_used = np.ones(50, bool)
    first = choose_held_out(target, is_used, 0.3)
    np.testing.assert_array_equal(first, choose_held_out(target, is_used, 0.3, None))
    assert (first != choose_held_out(target, is_used, 0.3, 1)).any()
    state = np.random.RandomState(0)
    drawn = [choose_held_out(target, is_used, 0.3, state) for _ in range(2)]
    assert (drawn[0] != drawn[1]).any()


def test_too_few_rows():
    target, is_used = make_target([0, 1, 0], 2), np.array([True, False, False])
    with pytest.raises(ValueError, match="There is 1 sample of positive weight"):
        choose_held_out(target, is_used, 0.3)
    assert sorted(deal_folds(target, np.ones(3, bool), 4)) == [0, 1, 2]


# ----------------------------------------------------------------- X_val, y_val of fit
X = np.arange(24.0).reshape(12, 2)
Y = np.array(["a", "b", "b"] * 4)
PRUNED = CARTClassifier(pruning="reduced_error")


@pytest.mark.parametrize(
    ("estimator", "validation", "message"),
    [
        (CARTClassifier(), (X, Y), "pruning=None does not use validation rows"),
        (
            C45Classifier(),
            (X, Y),
            "ErrorBasedPruning does not use validation rows",
        ),
        (PRUNED, (X, None), "X_val was given without y_val"),
        (PRUNED, (None, Y), "y_val was given without X_val"),
        (PRUNED, (None, None, np.ones(12)), "sample_weight_val was given without"),
        (PRUNED, (X[:, :1], Y), "X has 1 features, but CARTClassifier is expecting 2"),
        (
            PRUNED,
            (X, Y[:5]),
            r"y_val must have shape \(12, 1\), for 12 rows .*; got \(5, 1\)",
        ),
        (
            PRUNED,
            (X, np.tile(Y, (2, 1)).T),
            r"y_val must have shape \(12, 1\), .*; got \(12, 2\)",
        ),
        (
            PRUNED,
            (X, np.array(["a", "c", "b"] * 4)),
            "y_val must contain only classes.*got 'c'",
        ),
        (PRUNED, (X, np.arange(12)), "y_val must contain only classes.*got 0"),
        (PRUNED, (X, Y, np.zeros(12)), "weights are zero: sample_weight_val"),
        (
            PRUNED,
            (X, Y, np.ones(5)),
            "sample_weight_val must have one entry per row, 12 in all, got 5",
        ),
        (PRUNED, (X, Y, -np.ones(12)), "sample_weight_val must not be negative"),
        (PRUNED, (X[:0], Y[:0]), "0 sample"),
        (PRUNED, (X[0], Y[:1]), "2D array"),
        (
            CARTClassifier(missing="error", pruning="reduced_error"),
            (np.where(X == 4, np.nan, X), Y),
            "contains NaN or other missing values in column 'x0'",
        ),
    ],
)
def test_bad_validation_rows(estimator, validation, message):
    names = ("X_val", "y_val", "sample_weight_val")
    with pytest.raises(ValueError, match=message):
        clone(estimator).fit(X, Y, **dict(zip(names, validation, strict=False)))


@pytest.mark.parametrize(
    ("y", "y_val", "label"),
    [
        ([2, 10], ["2", "10"], "'2'"),
        (["2", "10"], [2, 10], "2"),
        ([2, 10], np.array(["x", "y"], dtype=object), "'x'"),
        (np.array(["p", "q"], dtype=object), ["p", "r"], "'r'"),
        ([0, 1], [0.5, 1.0], "0.5"),
        ([False, True], [0, 2], "2"),
    ],
)
def test_labels_of_another_type(y, y_val, label):
    """Numbers and strings are never taken for each other."""
    with pytest.raises(
        ValueError, match=f"y_val must contain only classes .*got {label}"
    ):
        clone(PRUNED).fit([[0], [1]], y, X_val=[[0], [1]], y_val=y_val)


def test_labels_that_are_equal_but_of_another_type():
    for y_val in ([0, 1], [0.0, 1.0], [False, True]):
        for y in ([0, 1], [False, True]):
            fitted = clone(PRUNED).fit([[0], [1]], y, X_val=[[0], [1]], y_val=y_val)
            assert fitted.pruning_report_["before"].tolist() == [0.0]
    y, y_val = np.array(["p", "q"], dtype=object), ["p", "q"]
    fitted = clone(PRUNED).fit([[0], [1]], y, X_val=[[0], [1]], y_val=y_val)
    assert fitted.pruning_report_["before"].tolist() == [0.0]


def test_training_rows_after_the_fact_come_whole():
    fitted, pruner = CARTClassifier().fit(X, Y), ReducedErrorPruning()
    with pytest.raises(ValueError, match="X was given without y"):
        pruner.prune(fitted, X, Y, X=X)
    with pytest.raises(ValueError, match="y was given without X"):
        pruner.prune(fitted, X, Y, y=Y)
    with pytest.raises(ValueError, match="sample_weight was given without X"):
        pruner.prune(fitted, X, Y, sample_weight=np.ones(12))
    with pytest.raises(
        ValueError, match=r"y must have shape \(12, 1\), for 12 rows .*; got \(3, 1\)"
    ):
        pruner.prune(fitted, X, Y, X=X, y=Y[:3])


def test_unknown_number_class():
    with pytest.raises(ValueError, match="y_val must contain only classes .*got 7"):
        clone(PRUNED).fit(X, np.arange(12) % 3, X_val=X, y_val=np.full(12, 7))


def test_level_never_seen_is_an_error_where_it_shall_be():
    table = np.array([["p"], ["q"]] * 6)
    estimator = ID3Classifier(handle_unknown="error", pruning="reduced_error")
    with pytest.raises(ValueError, match="has a level in row 1"):
        estimator.fit(table, Y, X_val=[["p"], ["r"]], y_val=["a", "b"])
    for handle_unknown in ("parent", "fractional"):
        estimator.set_params(handle_unknown=handle_unknown)
        estimator.fit(table, Y, X_val=[["p"], ["r"]], y_val=["a", "b"])
        # The row of level r ends in the root, or is divided between equal branches.
        assert estimator.pruning_report_["before"].tolist() == [0.5]


def test_missing_value_among_held_out_rows_is_an_error():
    """Wherever the row falls that has it."""
    for row in range(12):
        table = X.copy()
        table[row, 1] = np.nan
        for estimator in (CARTClassifier, ID3Classifier):
            estimator = estimator(missing="error", pruning="pre_pruning")
            with pytest.raises(ValueError, match="missing values in column 'x1'"):
                estimator.fit(table, Y)


def test_regression_target_must_be_numbers():
    estimator = CARTRegressor(pruning="reduced_error")
    with pytest.raises(ValueError, match="y_val must be numbers .*, got 'a' in row 0"):
        estimator.fit(X, np.arange(12.0), X_val=X, y_val=Y)
    with pytest.raises(ValueError, match="y_val has .* missing value"):
        estimator.fit(X, np.arange(12.0), X_val=X, y_val=np.full(12, np.nan))


@pytest.mark.parametrize("class_weight", [{"a": 2.0, "b": 3.0}, {"b": 3.0}, "balanced"])
def test_class_weights_weigh_validation_rows(class_weight):
    """Also where a class that has a weight has no validation row."""
    y = np.array(["a", "b", "c"] * 4)
    table = np.column_stack([np.arange(12) % 3 + (np.arange(12) == 4), np.arange(12)])
    only = np.flatnonzero(y != "a")
    estimator = CARTClassifier(pruning="reduced_error", class_weight=class_weight)
    estimator.fit(table, y, X_val=table[only], y_val=y[only])
    weight = np.where(y[only] == "b", 3.0, 1.0) if class_weight != "balanced" else None
    plain = CARTClassifier(class_weight=class_weight).fit(table, y)
    pruner = ReducedErrorPruning()
    expected = pruner.prune(
        plain.set_params(class_weight=None), table[only], y[only], weight
    )
    np.testing.assert_array_equal(estimator.tree_.nodes, expected.tree_.nodes)
    before = estimator.pruning_report_["before"]
    np.testing.assert_allclose(before, expected.pruning_report_["before"])


def test_class_weights_of_several_outputs():
    y = np.column_stack([np.arange(12) % 3, np.arange(12) % 2])
    weights = [{0: 1.0, 1: 5.0, 2: 2.0}, {0: 1.0, 1: 4.0}]
    estimator = CARTClassifier(class_weight=weights, pruning="reduced_error")
    estimator.fit(X, y)
    rows = estimator._read_rows(X[:2], y[:2], None)
    assert rows.weight.tolist() == [1.0, 20.0]
    with pytest.raises(ValueError, match="the weights of all rows sum to"):
        CARTClassifier(class_weight={"a": 0.0}, pruning="reduced_error").fit(
            X, Y, X_val=X[:1], y_val=Y[:1]
        )


# ------------------------------------------------------------ forms of tables and fits
def fit_report(estimator, *rows, **validation):
    return clone(estimator).fit(*rows, **validation).pruning_report_


def test_frames_of_validation_rows():
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    levels = np.array(["p", "q", "r"])
    frame = pd.DataFrame(
        {"n": rng.normal(size=60).round(1), "s": levels[rng.integers(0, 3, 60)]}
    )
    y = ((frame.n > 0) ^ (frame.s == "p") ^ (rng.random(60) < 0.2)).to_numpy()
    for estimator in (C45Classifier, ID3Classifier, CARTClassifier):
        estimator = estimator(pruning=ReducedErrorPruning())
        reports = [
            fit_report(estimator, f[:40], y[:40], X_val=f[40:], y_val=y[40:])
            for f in (frame, polars.from_pandas(frame))
        ]
        assert reports[0].n_rows > 1
        assert str(reports[0]) == str(reports[1])
    with pytest.raises(ValueError, match="feature names"):
        estimator.fit(frame, y, X_val=frame.rename(columns={"s": "t"}), y_val=y)


@pytest.mark.parametrize("make", [sparse.csr_array, sparse.csc_array, sparse.coo_array])
def test_sparse_rows_are_held_out(make):
    rng = np.random.default_rng(1)
    table = rng.normal(size=(80, 5)) * (rng.random((80, 5)) < 0.4)
    y = (table[:, 0] + rng.normal(size=80) > 0).astype(int)
    for pruner in (ReducedErrorPruning(), PrePruning(tie="keep")):
        dense = CARTClassifier(pruning=pruner).fit(table, y)
        thin = CARTClassifier(pruning=pruner).fit(make(table), y)
        np.testing.assert_array_equal(dense.tree_.nodes, thin.tree_.nodes)
        assert str(dense.pruning_report_) == str(thin.pruning_report_)
        split = {"X_val": make(table[50:]), "y_val": y[50:]}
        thin.fit(make(table[:50]), y[:50], **split)
        split["X_val"] = table[50:]
        dense.fit(table[:50], y[:50], **split)
        assert str(dense.pruning_report_) == str(thin.pruning_report_)


def test_held_out_rows_do_not_grow_the_tree():
    rng = np.random.default_rng(2)
    table, y = rng.normal(size=(100, 3)), rng.integers(0, 3, 100)
    pruner = ReducedErrorPruning(validation_fraction=0.4, random_state=3)
    fitted = CARTClassifier(pruning=pruner).fit(table, y)
    is_held_out = choose_held_out(make_target(y, 3), np.ones(100, bool), 0.4, 3)
    assert fitted.tree_.n_node_samples[0] == 60
    expected = CARTClassifier(pruning=pruner).fit(
        table[~is_held_out],
        y[~is_held_out],
        X_val=table[is_held_out],
        y_val=y[is_held_out],
    )
    np.testing.assert_array_equal(fitted.tree_.nodes, expected.tree_.nodes)
    assert str(fitted.pruning_report_) == str(expected.pruning_report_)


def test_rows_without_weight_are_not_held_out():
    rng = np.random.default_rng(4)
    table, y = rng.normal(size=(60, 3)), rng.integers(0, 2, 60)
    weight = (rng.random(60) < 0.5).astype(float)
    is_used = weight > 0
    for estimator in (CARTClassifier, ID3Classifier):
        estimator = estimator(pruning="reduced_error")
        fitted = clone(estimator).fit(table, y, sample_weight=weight)
        expected = clone(estimator).fit(table[is_used], y[is_used])
        n_used = is_used.sum()
        n_held_out = round(0.3 * n_used)
        for one in (fitted, expected):
            assert one.tree_.nodes["weight"][0] == n_used - n_held_out


def test_report_is_whole_after_pickling_and_refitting():
    fitted = clone(PRUNED).fit(X, Y)
    copied = pickle.loads(pickle.dumps(fitted))
    assert copied.pruning_report_.measure == "validation error"
    assert str(copied.pruning_report_) == str(fitted.pruning_report_)
    fitted.set_params(pruning=None).fit(X, Y)
    assert not hasattr(fitted, "pruning_report_")


def test_pruner_must_be_given_a_fitted_tree():
    pruner = ReducedErrorPruning()
    for wrong in (CARTClassifier, "tree", 3):
        with pytest.raises(TypeError, match="must be a fitted tree estimator"):
            pruner.prune(wrong, X, Y)
    with pytest.raises(Exception, match="not fitted"):
        pruner.prune(CARTClassifier(), X, Y)
    with pytest.raises(ValueError, match="ErrorBasedPruning does not use"):
        ErrorBasedPruning().prune(C45Classifier().fit(X, Y), X, Y)
