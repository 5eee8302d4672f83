"""A model of a table read in blocks is that of the same rows in memory, bit for bit."""

import hashlib
import tempfile
from pathlib import Path

import numpy as np
import pytest

from sklearn_textbook._contract.blocks import run_each
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    NegativeCorrelationRegressor,
    RandomForestClassifier,
)
from sklearn_textbook.ensemble.boosting.block_quantiles import find_block_quantiles
from sklearn_textbook.ensemble.boosting.hold_out import choose_held_rows
from sklearn_textbook.ensemble.boosting.losses import HuberLoss, Loss, find_quantile
from sklearn_textbook.io import Batches, scan
from sklearn_textbook.tree import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.members import block_grower
from tests.amount import FACTOR
from tests.blocks.tables import cut, draw_table, list_features

#: More than one block of sums.
N_ROWS = 70_000
TABLE = draw_table(N_ROWS)
NAMES = list_features(TABLE)


def describe(model):
    """A hash of the trees, and what else predictions depend on."""
    found = hashlib.sha256()
    for member in model.estimators_.ravel():
        for name in ("nodes", "statistics", "level_branch"):
            found.update(getattr(member.tree_, name).tobytes())
    losses = [*model.train_score_.tolist(), *getattr(model, "oob_scores_", ())]
    return found.hexdigest(), model._start_score.tolist(), losses


CASES = {
    "squared error": (GradientBoostingRegressor, "value", None, {}),
    "weights": (GradientBoostingRegressor, "value", "w", {"init": "zero"}),
    "poisson": (GradientBoostingRegressor, "count", "w", {"loss": "poisson"}),
    "two classes": (GradientBoostingClassifier, "answer", "w", {}),
    "three classes": (GradientBoostingClassifier, "class", None, {"max_bins": 30}),
    "balanced classes": (
        GradientBoostingClassifier,
        "class",
        "w",
        {"class_weight": "balanced"},
    ),
    "weights of classes": (
        GradientBoostingClassifier,
        "answer",
        None,
        {"class_weight": {"yes": 3.0, "no": 0.5}},
    ),
    "sampled rows": (GradientBoostingRegressor, "value", "w", {"subsample": 0.3}),
    "sampled rows of classes": (
        GradientBoostingClassifier,
        "class",
        None,
        {"subsample": 0.5, "min_samples_leaf": 500},
    ),
    "best first": (
        GradientBoostingRegressor,
        "value",
        "w",
        {"max_leaf_nodes": 12, "max_depth": None, "l2_regularization": 1.0},
    ),
    "sampled columns": (
        GradientBoostingClassifier,
        "answer",
        None,
        {"max_features": 0.4, "min_samples_leaf": 40},
    ),
    "constraints": (
        GradientBoostingRegressor,
        "value",
        None,
        {"monotonic_cst": {"x2": 1, "x3": -1}, "interaction_cst": "pairwise"},
    ),
    "exponential loss": (
        GradientBoostingClassifier,
        "answer",
        "w",
        {"loss": "exponential", "l2_regularization": 0.5, "learning_rate": 1.0},
    ),
    "absolute error": (
        GradientBoostingRegressor,
        "value",
        None,
        {"loss": "absolute_error"},
    ),
    "quantiles": (
        GradientBoostingRegressor,
        "count",
        "w",
        {"loss": "quantile", "alpha": 0.8, "subsample": 0.7},
    ),
    "Huber's loss": (
        GradientBoostingRegressor,
        "value",
        "w",
        {"loss": "huber", "subsample": 0.6, "monotonic_cst": {"x2": 1}},
    ),
    "Huber's loss with a bound": (
        GradientBoostingRegressor,
        "value",
        None,
        {"loss": HuberLoss(delta=0.5)},
    ),
    "pruning": (
        GradientBoostingRegressor,
        "value",
        "w",
        {"ccp_alpha": 0.02, "subsample": 0.8},
    ),
    "a fraction of the weight": (
        GradientBoostingRegressor,
        "value",
        "w",
        {"min_weight_fraction_leaf": 0.06},
    ),
    "a fraction of the weight of classes": (
        GradientBoostingClassifier,
        "class",
        "w",
        {"min_weight_fraction_leaf": 0.06},
    ),
    "a fraction of the rows": (
        GradientBoostingClassifier,
        "answer",
        None,
        {"min_weight_fraction_leaf": 0.1},
    ),
    "an initial estimator": (
        GradientBoostingClassifier,
        "class",
        "w",
        {"init": GradientBoostingClassifier(n_estimators=1)},
    ),
}


@pytest.mark.parametrize("case", list(CASES))
def test_the_model_is_that_of_memory(case):
    estimator, target, weight, options = CASES[case]
    model = estimator(n_estimators=4, random_state=0, **options)
    columns = [TABLE.select(NAMES), TABLE[target].to_numpy(zero_copy_only=False)]
    expected = describe(
        model.fit(*columns, None if weight is None else TABLE[weight].to_numpy())
    )
    names = [*NAMES, target, *([weight] if weight else [])]
    for step, n_jobs in ((1000, 1), (65_536, 2), (N_ROWS, 1))[: 1 + 2 * FACTOR]:
        model.set_params(n_jobs=n_jobs)
        model.fit(cut(TABLE, step, names), target, sample_weight=weight)
        assert describe(model) == expected
    np.testing.assert_array_equal(
        model.predict(cut(TABLE, 999, names)), model.predict(TABLE.select(NAMES))
    )


def test_a_limit_of_memory_leaves_the_model(monkeypatch):
    model = GradientBoostingRegressor(n_estimators=2, max_depth=6, n_jobs=2)
    expected = describe(model.fit(TABLE.select(NAMES), TABLE["value"].to_numpy()))
    source = cut(TABLE, 20_000, [*NAMES, "value"])
    n_workers = []

    def count_workers(function, n):
        n_workers.append(n)
        run_each(function, n)

    monkeypatch.setattr(block_grower, "run_each", count_workers)
    for limit, most in (("1GiB", 2), ("18 MiB", 1)):
        n_workers.clear()
        model.fit(scan(source, memory_limit=limit), "value")
        assert describe(model) == expected
        assert max(n_workers) == most
    model.set_params(max_leaf_nodes=None, max_depth=12)
    with pytest.raises(
        ValueError,
        match=r"memory_limit is 18.0 MiB, and counting a level of \d+ nodes .* needs",
    ):
        model.fit(scan(source, memory_limit="18 MiB"), "value")


def test_predictions_of_trees_and_forests_for_blocks():
    rows = TABLE.slice(0, 3000)
    X, y = rows.select(NAMES), rows["class"].to_numpy(zero_copy_only=False)
    blocks = cut(rows, 700)
    for model in (CARTClassifier(max_depth=5), RandomForestClassifier(5)):
        model.fit(X, y)
        for method in ("predict", "predict_proba", "apply"):
            found = getattr(model, method)(blocks)
            np.testing.assert_array_equal(found, getattr(model, method)(X))


@pytest.mark.parametrize("limit", [None, 50, 20_000])
@pytest.mark.parametrize("quantile", [0.0, 0.3, 0.5, 1.0])
def test_quantiles_by_passes(quantile, limit):
    """They are those that are selected in memory, for any weights and ties."""
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=3000) * 10.0 ** rng.integers(-300, 300, 3000)
    numbers[::3] = rng.integers(-3, 3, 1000)
    numbers[7::50] = -0.0
    group = rng.integers(-1, 9, 3000).astype(np.int32)
    group[group == 5] = 6  # one group is empty
    for weight in (None, rng.integers(0, 3, 3000) / 10.0, rng.random(3000) ** 50):
        total = 3000.0 if weight is None else weight.sum()

        def read(weight=weight):
            for first in range(0, 3000, 700):
                rows = slice(first, first + 700)
                yield (
                    group[rows],
                    numbers[rows],
                    None if weight is None else weight[rows],
                )

        found = find_block_quantiles(read, 9, quantile, total, limit)
        for number in range(9):
            rows = group == number
            weight_here = None if weight is None else weight[rows]
            expected = 0.0
            if rows.any():
                expected = find_quantile(numbers[rows], weight_here, quantile, total)
            assert found[number] == expected
            assert np.signbit(found[number]) == np.signbit(expected)


@pytest.mark.parametrize(
    ("estimator", "target", "options"),
    [
        (GradientBoostingClassifier, "class", {}),
        (GradientBoostingRegressor, "count", {"loss": "huber"}),
        (
            GradientBoostingRegressor,
            "value",
            {"init": GradientBoostingRegressor(n_estimators=1)},
        ),
    ],
)
def test_early_stopping(estimator, target, options, tmp_path, monkeypatch):
    """Whether the validation rows are in memory or read in blocks, or the others."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    options |= {"n_estimators": 80, "n_iter_no_change": 2, "learning_rate": 0.9}
    model = estimator(**options)
    fitted, held = TABLE.slice(0, 4000), TABLE.slice(4000, 2000)
    y, y_val = (part[target].to_numpy(zero_copy_only=False) for part in (fitted, held))
    in_memory = {"X_val": held.select(NAMES), "y_val": y_val}
    in_memory["sample_weight_val"] = held["w"].to_numpy()
    in_blocks = {"X_val": cut(held, 900), "y_val": target, "sample_weight_val": "w"}
    model.fit(fitted.select(NAMES), y, **in_memory)
    expected, losses = describe(model), model.validation_score_
    assert model.n_estimators_ < 80
    source = cut(fitted, 900, [*NAMES, target])
    for X, target_of_X, validation in (
        (source, target, in_memory),
        (source, target, in_blocks),
        (fitted.select(NAMES), y, in_blocks),
    ):
        model.fit(X, target_of_X, **validation)
        assert describe(model) == expected
        np.testing.assert_array_equal(model.validation_score_, losses)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize(
    ("estimator", "target", "options"),
    [
        (GradientBoostingClassifier, "class", {"class_weight": "balanced"}),
        (GradientBoostingClassifier, "rare", {"init": "zero"}),
        (GradientBoostingRegressor, "value", {"subsample": 0.5}),
    ],
)
def test_held_out_rows(estimator, target, options, tmp_path, monkeypatch):
    """The same rows are held out, and a level that only they have is not known."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rare = np.where(np.arange(N_ROWS) % 9001 == 5, "rare", "common")
    table = TABLE.append_column("rare", [rare])
    own = [f"row {row}" if row % 2000 == 0 else "other" for row in range(N_ROWS)]
    table = table.append_column("own", [own])
    names = ["x0", "x2", "whole", "many", "size", "own"]
    options |= {"n_iter_no_change": 1, "tol": 1.0, "random_state": 3}
    model = estimator(n_estimators=3, max_depth=3, **options)
    y = table[target].to_numpy(zero_copy_only=False)
    model.fit(table.select(names), y, table["w"].to_numpy())
    expected, losses = describe(model), model.validation_score_
    kinds = model.estimators_[0, 0].schema_
    assert 20 < len(kinds.columns[-1].levels) < 36
    for step in (1000, 50_000, N_ROWS):
        source = cut(table, step, [*names, target, "w"])
        model.fit(source, target, sample_weight="w")
        assert describe(model) == expected
        np.testing.assert_array_equal(model.validation_score_, losses)
        assert model.estimators_[0, 0].schema_ == kinds
    assert [*tmp_path.iterdir()] == []


def test_at_most_a_row_of_a_class_too_many_is_held_out():
    labels = np.repeat(["a", "b", "a", "c"], [70_000, 1, 70_000, 3])
    is_held = choose_held_rows(labels, 0.1, np.random.RandomState(0))
    counts = {label: int(is_held[labels == label].sum()) for label in "abc"}
    assert counts == {"a": 14_000, "b": 0, "c": 1}
    # In every block.
    assert 6553 <= is_held[:65_536].sum() <= 6554


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y_val": "nothing"}, ValueError, "y_val has 'nothing', which is not a col"),
        ({"y_val": [1.0]}, TypeError, "y_val must be the name of a column of"),
        ({"y_val": "text"}, ValueError, "y_val must be numbers"),
        ({"sample_weight_val": "value"}, ValueError, "sample_weight_val must not be"),
        ({"sample_weight_val": "zero"}, ValueError, "All sample weights are zero"),
        ({"X_val": cut(TABLE, 900, ["x3"])}, ValueError, "not a column of"),
    ],
)
def test_wrong_validation_rows(change, error, message, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    table = TABLE.slice(0, 500).append_column("zero", [[0.0] * 500])
    model = GradientBoostingRegressor(n_iter_no_change=2)
    validation = {"X_val": cut(table, 200), "y_val": "value"} | change
    with pytest.raises(error, match=message):
        model.fit(cut(table, 200, ["x2", "value"]), "value", **validation)
    assert [*tmp_path.iterdir()] == []


@pytest.mark.parametrize("options", [{}, {"init": "zero", "subsample": 0.5}])
def test_warm_start(options):
    """Rounds are added in blocks to those of a fit in memory, and in blocks."""
    options |= {"random_state": 0, "warm_start": True}
    X, y = TABLE.select(NAMES), TABLE["class"].to_numpy(zero_copy_only=False)
    expected = GradientBoostingClassifier(n_estimators=2, **options).fit(X, y)
    model = GradientBoostingClassifier(n_estimators=2, **options).fit(X, y)
    source = cut(TABLE, 9000, [*NAMES, "class"])
    for n_estimators in (3, 4):
        expected.set_params(n_estimators=n_estimators).fit(X, y)
        model.set_params(n_estimators=n_estimators).fit(source, "class")
        assert describe(model) == describe(expected)
    with pytest.warns(UserWarning, match="does not fit new trees"):
        model.fit(source, "class")
    assert describe(model) == describe(expected)


def test_an_initial_estimator_with_class_weights():
    init = GradientBoostingClassifier(n_estimators=1)
    model = GradientBoostingClassifier(init=init, class_weight="balanced")
    with pytest.raises(ValueError, match="requires class_weight=None with the"):
        model.fit(cut(TABLE.slice(0, 100), 50, ["x2", "answer"]), "answer")


class OwnLoss(Loss):
    name = "own"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"init": CARTRegressor()}, "requires init=None, 'zero' or an estimator that"),
        (
            {"n_iter_no_change": 3, "init": GradientBoostingRegressor()},
            "blocks requires X_val and y_val with n_iter_no_change and init=",
        ),
        ({"n_iter_no_change": 3, "validation_fraction": 0.0}, "=0.0 leave none. Give"),
        ({"loss": OwnLoss()}, "The loss 'own' is user-defined, but a table"),
        ({"max_bins": None}, "there may be 65536 of them. Set max_bins"),
    ],
)
def test_what_blocks_do_not_allow(options, message):
    model = GradientBoostingRegressor(n_estimators=2, **options)
    table = TABLE.slice(0, 100)
    if options == {"max_bins": None}:
        table = TABLE.append_column("id", [range(N_ROWS)])
    names = [name for name in table.column_names if name in ("id", "x0", "value")]
    with pytest.raises(ValueError, match=message):
        model.fit(cut(table, 10_000, names), "value")


def test_estimators_without_blocks_say_so():
    source = cut(TABLE.slice(0, 100), 10, ["x2", "value"])
    model = NegativeCorrelationRegressor(n_estimators=2)
    with pytest.raises(TypeError, match="Regressor cannot be fitted to the table"):
        model.fit(source, "value")
    model.fit(TABLE.select(["x2"]).slice(0, 50), TABLE["value"].to_numpy()[:50])
    with pytest.raises(TypeError, match="predictions with io.predict_to"):
        model.predict(source)


def test_one_class_and_weights_of_zero():
    table = TABLE.slice(0, 50).select(["x2", "answer", "value", "w"])
    one = table.filter([name == "yes" for name in table["answer"].to_pylist()])
    with pytest.raises(ValueError, match="requires at least two classes"):
        GradientBoostingClassifier().fit(cut(one, 7, ["x2", "answer"]), "answer")
    zero = table.set_column(3, "w", [[0.0] * 50])
    with pytest.raises(ValueError, match="All sample weights are zero"):
        GradientBoostingRegressor().fit(
            cut(zero, 7, ["x2", "value", "w"]), "value", sample_weight="w"
        )


def test_identifiers_are_warned_of():
    table = TABLE.slice(0, 200).select(["x2", "value"])
    table = table.append_column("id", [[f"row {number}" for number in range(200)]])
    with pytest.warns(UserWarning, match="'id' has 200 levels in 200 rows"):
        GradientBoostingRegressor(n_estimators=1).fit(cut(table, 70), "value")


def test_nothing_is_left_behind(tmp_path, monkeypatch):
    """Neither after a fit nor after an error while the source is read."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    names = ["x2", "text", "value"]
    GradientBoostingRegressor(n_estimators=2).fit(cut(TABLE, 9000, names), "value")
    assert [*Path(tmp_path).iterdir()] == []

    def make_blocks():
        yield TABLE.select(names).slice(0, 100)
        raise OSError("the connection is lost")

    fitted = GradientBoostingRegressor(n_estimators=2)
    fitted.fit(TABLE.select(["x2"]), TABLE["value"].to_numpy())
    with pytest.raises(OSError, match="connection"):
        fitted.fit(Batches(make_blocks, names), "value")
    assert [*Path(tmp_path).iterdir()] == []
    assert fitted.n_features_in_ == 1
