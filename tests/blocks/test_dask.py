"""A model fitted by the workers of a Dask cluster is that of memory, bit for bit."""

import os
import pickle
import signal
import subprocess
import sys
import time
from contextlib import contextmanager, nullcontext
from itertools import pairwise

import numpy as np
import pytest

from sklearn_textbook import io
from sklearn_textbook._contract.dask_frames import require_workers
from sklearn_textbook.ensemble import (
    GradientBoostingClassifier,
    GradientBoostingRegressor,
)
from sklearn_textbook.ensemble.boosting.dask_rounds import Part
from sklearn_textbook.ensemble.boosting.losses import SquaredError
from sklearn_textbook.linear_model import LinearRegression
from sklearn_textbook.tree import CARTClassifier
from sklearn_textbook.tree.encode.dask_columns import call_on_blocks
from tests.blocks.tables import draw_frame
from tests.blocks.test_block_boosting import CASES, NAMES, describe
from tests.clusters import open_cluster

dask = pytest.importorskip("dask")
dd = pytest.importorskip("dask.dataframe")
distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")

#: Three blocks of sums.
N_ROWS = 140_000
FRAME = draw_frame(N_ROWS)
#: Where partitions begin; one has no rows, others have parts of several blocks.
UNEQUAL = (0, 1000, 1000, 80_000, 80_001, N_ROWS)


@pytest.fixture(scope="module")
def cluster_of_one():
    with open_cluster(1) as client:
        yield client


@pytest.fixture(scope="module")
def cluster_of_two():
    with open_cluster(2) as client:
        yield client


@pytest.fixture
def one_worker(cluster_of_one):
    with cluster_of_one.as_current():
        yield cluster_of_one


@pytest.fixture
def two_workers(cluster_of_two):
    with cluster_of_two.as_current():
        yield cluster_of_two


def cut(frame, bounds=UNEQUAL):
    """A data frame of Dask with some partitions."""
    parts = [dask.delayed(frame.iloc[start:stop]) for start, stop in pairwise(bounds)]
    return dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)


def fit_both(case, n_estimators=3, bounds=UNEQUAL, frame=FRAME, make=None):
    """Fit to the rows in memory, and to a data frame of Dask."""
    estimator, target, weight, options = CASES[case]
    options = {"n_estimators": n_estimators, "random_state": 0, **options}
    given = None if weight is None else frame[weight]
    memory = estimator(**options).fit(frame[NAMES], frame[target].to_numpy(), given)
    model = (make or estimator)(**options)
    read = [*NAMES, target, *([weight] if weight else [])]
    model.fit(cut(frame[read], bounds), target, sample_weight=weight)
    return model, memory


def check_same(model, memory):
    assert describe(model) == describe(memory)
    np.testing.assert_array_equal(model.feature_names_in_, memory.feature_names_in_)
    rows = FRAME[NAMES].iloc[:100]
    np.testing.assert_array_equal(model.predict(rows), memory.predict(rows))


# ------------------------------------------------------------------------- the model


@pytest.mark.parametrize("case", ["weights", "two classes"])
def test_one_worker(case, one_worker):
    check_same(*fit_both(case))


@pytest.mark.parametrize("case", ["squared error", "three classes", "sampled rows"])
def test_two_workers(case, two_workers):
    check_same(*fit_both(case))


#: Cases that workers do not fit.
REFUSED = {
    "absolute error": "sums over their rows; got AbsoluteError",
    "quantiles": "sums over their rows; got QuantileLoss",
    "Huber's loss": "sums over their rows; got HuberLoss",
    "Huber's loss with a bound": "sums over their rows; got HuberLoss",
    "a fraction of the weight of classes": "min_weight_fraction_leaf=0.0.* got 0.06",
    "an initial estimator": "require init=None or 'zero'; got GradientBoosting",
}


@pytest.mark.parametrize("case", sorted(CASES.keys() - REFUSED))
def test_all_cases(case, two_workers):
    for bounds in (UNEQUAL, (0, N_ROWS), tuple(range(0, N_ROWS + 1, 10_000))):
        check_same(*fit_both(case, bounds=bounds))


@pytest.mark.parametrize("case", ["weights", "three classes", "sampled rows"])
def test_four_workers_of_two_threads(case):
    with open_cluster(4, threads_per_worker=2):
        check_same(*fit_both(case))


def test_declared_columns(two_workers):
    """Numbers as levels, and blocks of columns without values."""
    frame = FRAME[["x2", "x3", "whole", "text", "value"]].iloc[:2000].copy()
    frame["whole"] %= 7
    frame["void"] = np.nan
    frame.loc[:999, ["text", "x3"]] = None
    options = {"n_estimators": 3, "categorical_features": ["whole", "text"]}
    names = ["x2", "x3", "whole", "text", "void"]
    memory = GradientBoostingRegressor(**options).fit(frame[names], frame["value"])
    model = GradientBoostingRegressor(**options)
    model.fit(cut(frame[[*names, "value"]], (0, 500, 1500, 2000)), "value")
    assert describe(model) == describe(memory)


def test_early_stopping(two_workers):
    """Validation rows in memory, in a source of blocks, and in a Dask data frame."""
    options = {"n_estimators": 20, "n_iter_no_change": 1, "learning_rate": 2.0}
    model = GradientBoostingClassifier(**options)
    read = [*NAMES, "class"]
    fitted, held = FRAME[read].iloc[:4000], FRAME[read].iloc[4000:5000]
    validation = {"X_val": held[NAMES], "y_val": held["class"].to_numpy()}
    model.fit(fitted[NAMES], fitted["class"].to_numpy(), **validation)
    expected = describe(model), model.validation_score_.tolist()
    assert model.n_estimators_ < 20
    table = cut(fitted, (0, 900, 4000))
    for X_val in (
        io.Batches(lambda: (held.iloc[start : start + 400] for start in (0, 400, 800))),
        cut(held, (0, 300, 1000)),
        validation["X_val"],
    ):
        y_val = validation["y_val"] if X_val is validation["X_val"] else "class"
        model.fit(table, "class", X_val=X_val, y_val=y_val)
        assert (describe(model), model.validation_score_.tolist()) == expected


# --------------------------------------------------------------------------- sources


def test_scans_leave_out_columns(two_workers):
    names = ["x2", "x3", "text"]
    frame = FRAME[[*names, "x0", "value"]].iloc[:3000]
    memory = GradientBoostingRegressor(n_estimators=3).fit(frame[names], frame["value"])
    table = io.scan(cut(frame, (0, 2000, 3000)), exclude=["x0"])
    model = GradientBoostingRegressor(n_estimators=3).fit(table, "value")
    assert describe(model) == describe(memory)
    np.testing.assert_array_equal(model.predict(table), memory.predict(frame[names]))
    with pytest.raises(ValueError, match="'x9', which is not a column of the Dask"):
        io.scan(table, columns=["x9"])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"loss": "absolute_error"},
        {"init": GradientBoostingRegressor(n_estimators=1)},
        {"n_iter_no_change": 1, "learning_rate": 3.0},
    ],
)
def test_partitions_are_read_one_after_the_other_without_a_client(options):
    """What workers do not fit is fitted so, too."""
    names = ["x2", "x3", "text"]
    frame = FRAME[[*names, "value"]].iloc[:3000]
    model = GradientBoostingRegressor(n_estimators=3, random_state=0, **options)
    expected = describe(model.fit(frame[names], frame["value"]))
    with dask.config.set(scheduler="synchronous"):
        for table in (cut(frame, (0, 2000, 3000)), io.scan(cut(frame, (0, 0, 3000)))):
            assert describe(model.fit(table, "value")) == expected


def test_other_estimators_read_one_partition_after_the_other(one_worker):
    names = ["x2", "whole", "flag", "size"]
    frame = FRAME[[*names, "class", "value", "w"]].iloc[:3000]
    table = cut(frame, (0, 10, 10, 2000, 3000))
    tree = CARTClassifier(max_depth=6)
    expected = tree.fit(frame[names], frame["class"], frame["w"]).tree_
    classes = io.scan(table, exclude=["value"])
    found = tree.fit(classes, "class", sample_weight="w").tree_
    for name in ("nodes", "statistics", "level_branch"):
        assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()
    line = LinearRegression().fit(frame[names], frame["value"], frame["w"])
    expected = line.coef_.tolist(), line.intercept_
    line.fit(table[[*names, "value", "w"]], "value", sample_weight="w")
    assert (line.coef_.tolist(), line.intercept_) == expected
    with pytest.raises(TypeError, match="lazy.* call its compute method first"):
        line.predict(table[names])


# ------------------------------------------------------------------- workers are lost


def make_killer(n_estimators, killed):
    """A regressor whose worker with the first part is killed after some rounds."""

    class Killer(GradientBoostingRegressor):
        def _report(self, number, rounds, stopping):
            if number == n_estimators // 3:
                columns = rounds.columns
                pids = columns.client.run(os.getpid)
                killed.append(pids[columns.worker_of_part[0]])
                os.kill(killed[0], signal.SIGKILL)

    return Killer


@contextmanager
def open_workers_without_nannies(n_workers):
    """Workers that nobody starts again."""
    with open_cluster(0) as client:
        program = [sys.executable, "-m", "distributed.cli.dask_worker"]
        program += [client.scheduler.address, "--no-nanny", "--nthreads", "1"]
        workers = [
            subprocess.Popen(
                [*program, "--no-dashboard"], stdout=-3, stderr=subprocess.DEVNULL
            )
            for _ in range(n_workers)
        ]
        try:
            client.wait_for_workers(n_workers)
            yield client
        finally:
            for worker in workers:
                worker.kill()
                worker.wait()


@pytest.mark.skipif(os.name == "nt", reason="POSIX signals")
@pytest.mark.parametrize("open_workers", [open_cluster, open_workers_without_nannies])
@pytest.mark.parametrize("case", ["weights", "sampled rows"])
def test_a_worker_is_killed(case, open_workers):
    killed = []
    with open_workers(2) as client:
        model, memory = fit_both(case, 9, make=make_killer(9, killed))
        assert len(killed) == 1
        assert killed[0] not in client.run(os.getpid).values()
    check_same(model, memory)


def copy_unaligned(array):
    """A copy that is not aligned in memory, as after a transfer."""
    found = np.empty(array.nbytes + 1, dtype=np.uint8)[1:].view(array.dtype)
    found = found.reshape(array.shape)
    found[...] = array
    assert not found.flags.aligned
    return found


def test_sums_do_not_depend_on_alignment():
    """numpy adds up unaligned numbers in another order."""
    rng = np.random.default_rng(2)
    targets = rng.normal(size=65_536), rng.random(65_536)
    codes = rng.integers(0, 300, (65_536, 1)).astype(np.uint16)
    moved = tuple(map(copy_unaligned, targets))
    assert np.sum(moved[0]) != np.sum(targets[0])

    def add(y, weight):
        return y.sum(), weight.sum()

    assert call_on_blocks(moved, 0, add) == call_on_blocks(targets, 0, add)
    part = Part(copy_unaligned(codes), moved, 0, None, None, None)
    row_codes, (y, weight) = part.fixed[:2]
    assert all(array.flags.aligned for array in (row_codes, y, weight))


def test_a_part_made_again_gets_the_earlier_calls():
    """A level that sends rows left or right of a code, then their values."""
    codes = np.array([[0], [1], [2], [1]], dtype=np.uint8)
    targets = np.arange(4.0), None
    part = Part(codes, targets, 0, np.array([0, 3]), SquaredError(), np.zeros(1))
    root = tuple(
        np.array(values, dtype)
        for values, dtype in (
            ([-1], np.int32),
            ([0], np.int32),
            ([0], np.int64),
            ([], np.uint8),
            ([0], np.int32),
        )
    )
    level = (
        np.array([0, -1, -1], np.int32),
        np.array([1, 0, 0], np.int32),
        np.zeros(3, np.int64),
        np.array([0, 1, 1], np.uint8),
        np.array([-1, 0, -1], np.int32),
    )
    scale = (1.0, 1.0, 3)
    calls = [
        ("_differentiate", (False,)),
        ("_count", (0, root, scale)),
        ("_count", (0, level, scale)),
        ("_add_values", (0, np.array([0.0, 0.5, 2.0]))),
        ("_list_losses", ()),
    ]
    found = [part.call(number, *call, None) for number, call in enumerate(calls)]
    assert found[1].shape == found[2].shape == (1, 3, 2)
    assert found[2][0, 1:].sum() == 0
    assert found[4] == [(0.5**2 + 1.0**2 + 0.0**2 + 1.0**2) / 2]
    assert part.call(4, *calls[4], None) == found[4]
    # Those of the past are not known any more.
    assert part.call(1, *calls[1], None) is None
    other = pickle.loads(pickle.dumps(part))
    assert other.call(4, *calls[4], None) is None
    assert other.call(4, *calls[4], calls[:4]) == found[4]
    for number in (1, 2):
        again = part.call(number, *calls[number], calls[:number])
        np.testing.assert_array_equal(again, found[number])


# ---------------------------------------------------------------------------- errors


def test_a_client_without_workers():
    frame = cut(FRAME[["x2", "value"]].iloc[:100], (0, 100))
    with open_cluster(0), pytest.raises(RuntimeError, match="client has no workers"):
        GradientBoostingRegressor().fit(frame, "value")


def test_workers_without_the_package(one_worker, monkeypatch):
    versions = one_worker.get_versions(packages=["sklearn_textbook"])
    (worker,) = versions["workers"].values()
    monkeypatch.setattr(one_worker, "get_versions", lambda **_: versions)
    require_workers(one_worker)
    worker["packages"]["sklearn_textbook"] = None
    frame = cut(FRAME[["x2", "value"]].iloc[:100], (0, 100))
    with pytest.raises(RuntimeError, match="worker tcp://.* lacks sklearn_textbook"):
        GradientBoostingRegressor().fit(frame, "value")
    worker["packages"]["sklearn_textbook"] = "0.0.1"
    with pytest.raises(RuntimeError, match="has version 0.0.1 of sklearn_textbook"):
        GradientBoostingRegressor().fit(frame, "value")


def test_partitions_that_differ(one_worker):
    frame = FRAME[["x2", "x3", "value"]].iloc[:100]

    def fit(second, names=("x2", "x3", "value")):
        parts = [dask.delayed(part) for part in (frame, second)]
        ddf = dd.from_delayed(parts, meta=frame.iloc[:0], verify_meta=False)
        GradientBoostingRegressor(n_estimators=1).fit(
            io.scan(ddf, columns=names), "value"
        )

    with pytest.raises(ValueError, match="Partition 1 of the Dask data frame has the"):
        fit(frame.rename(columns={"x3": "x4"}))
    with pytest.raises(ValueError, match="lacks columns.*x3"):
        fit(frame.drop(columns="x3"), ("x3", "value"))
    with pytest.raises(ValueError, match="'x3' contains string values from row 100 on"):
        fit(frame.assign(x3="text"))
    with pytest.raises(ValueError, match="infinity: column 'x3', row 103"):
        fit(frame.assign(x3=[1.0] * 3 + [np.inf] * 97))
    with pytest.raises(
        ValueError, match="100 missing values.* This is partition 1 of the Dask"
    ):
        fit(frame.assign(value=np.nan))


@pytest.mark.parametrize("case", list(REFUSED))
def test_what_workers_do_not_fit(case, one_worker):
    """What can be done instead is said."""
    with pytest.raises(ValueError, match=REFUSED[case]) as caught:
        fit_both(case, frame=FRAME.iloc[:1000], bounds=(0, 500, 1000))
    assert 'dask.config.set(scheduler="threads")' in str(caught.value)


def test_further_trees_held_out_rows_and_limits_are_refused(one_worker):
    frame = cut(FRAME[["x2", "value"]].iloc[:1000], (0, 500, 1000))
    model = GradientBoostingRegressor(n_estimators=1, warm_start=True)
    model.fit(frame, "value")
    with pytest.raises(ValueError, match="require warm_start=False"):
        model.set_params(n_estimators=2).fit(frame, "value")
    with pytest.raises(ValueError, match="X_val and y_val with n_iter_no_change"):
        GradientBoostingRegressor(n_iter_no_change=2).fit(frame, "value")
    with pytest.raises(ValueError, match="memory_limit=None; got 1048576"):
        GradientBoostingRegressor().fit(io.scan(frame, memory_limit="1MiB"), "value")
    with pytest.raises(ValueError, match="at least 0 .* got -"):
        GradientBoostingRegressor(loss="poisson").fit(frame, "value")


def test_targets_are_names(one_worker):
    frame = cut(FRAME[["x2", "value", "w"]].iloc[:100], (0, 100))
    with pytest.raises(TypeError, match="y must be the name of a column of the Dask"):
        GradientBoostingRegressor().fit(frame, frame["value"])
    with pytest.raises(ValueError, match="sample_weight='z' is not a column"):
        GradientBoostingRegressor().fit(frame, "value", sample_weight="z")


@pytest.mark.parametrize("fails", [None, "x2", "loss"])
def test_the_rows_are_released(fails, two_workers):
    """After a fit, and after errors while their tracebacks exist."""
    frame = FRAME[["x2", "x3", "value"]].iloc[:2000]
    model = GradientBoostingRegressor(n_estimators=2)
    caught = nullcontext()
    if fails is not None:
        caught = pytest.raises(ValueError, match="infinity|leaves follow")
    if fails == "loss":
        model.set_params(loss="absolute_error")
    elif fails is not None:
        frame = frame.assign(x2=np.inf)
    with caught:
        model.fit(cut(frame, (0, 1000, 2000)), "value")
    limit = time.monotonic() + 30
    while any(two_workers.has_what().values()) and time.monotonic() < limit:
        time.sleep(0.1)
    assert not any(two_workers.has_what().values())
