"""``python -m benchmarks study blocks``: tables that are read in blocks of rows.

Writes Parquet files of 16 numeric and 4 text columns with gaps and weights, and fits
models to them, each in a fresh process: in memory, reading included, and in blocks.
Prints the time, the peak memory of the process, and a hash of the model, which must be
the same for the same rows. Linear models and components get two of the text columns,
as each level of the others would be a column. With ``--peers``, libraries that read a
table piece by piece are fitted to the 16 numeric columns, as they take no text.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from benchmarks.memory import read_resident
from benchmarks.report import format_table
from sklearn_textbook import io
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    GradientBoostingRegressor,
    RandomForestRegressor,
)
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import C45Classifier, CARTRegressor

#: Rows that are made, and written, at a time.
STEP = 250_000
MEBI = 2**20
NUMBERS = [f"x{place}" for place in range(16)]
TEXTS = [f"t{place}" for place in range(4)]

#: The models, by name: what makes one for a number of rounds and of threads, and its
#: target.
MODELS = {
    "boosting": (
        lambda n_rounds, n_threads: GradientBoostingRegressor(
            n_estimators=n_rounds, max_depth=5, random_state=0, n_jobs=n_threads
        ),
        "y",
    ),
    "CART": (
        lambda n_rounds, n_threads: CARTRegressor(max_depth=12, n_jobs=n_threads),
        "y",
    ),
    "CART, bins": (
        lambda n_rounds, n_threads: CARTRegressor(
            max_depth=12, max_bins=255, n_jobs=n_threads
        ),
        "y",
    ),
    "C4.5": (
        lambda n_rounds, n_threads: C45Classifier(
            max_depth=12, pruning=None, n_jobs=n_threads
        ),
        "answer",
    ),
    "forest": (
        lambda n_rounds, n_threads: RandomForestRegressor(
            5, max_depth=12, random_state=0, n_jobs=n_threads
        ),
        "y",
    ),
    "forest, bins": (
        lambda n_rounds, n_threads: RandomForestRegressor(
            5, max_depth=12, max_bins=255, random_state=0, n_jobs=n_threads
        ),
        "y",
    ),
    "AdaBoost": (
        lambda n_rounds, n_threads: AdaBoostClassifier(
            n_estimators=n_rounds, n_jobs=n_threads
        ),
        "answer",
    ),
    "least squares": (
        lambda n_rounds, n_threads: LinearRegression(missing="mean", n_jobs=n_threads),
        "y",
    ),
    "logistic": (
        lambda n_rounds, n_threads: LogisticRegression(
            missing="mean", n_jobs=n_threads
        ),
        "answer",
    ),
    "components": (
        lambda n_rounds, n_threads: PCA(
            5, categorical_features="from_dtype", missing="mean"
        ),
        None,
    ),
}


def draw_rows(random, n_rows):
    """Draw rows: a target of a few columns, and noise."""
    numbers = random.normal(size=(n_rows, 16))
    numbers[:, 0] = numbers[:, 0].round(2)
    numbers[:, 1] = random.integers(0, 50, n_rows)
    target = numbers[:, 0] - numbers[:, 2] * numbers[:, 3] + np.sin(2 * numbers[:, 4])
    columns = {}
    for name, column, place in zip(NUMBERS, numbers.T, range(16), strict=True):
        gaps = random.random(n_rows) < 0.05 * (place < 8)
        columns[name] = pa.array(np.where(gaps, np.nan, column), from_pandas=True)
    for place, n_levels in enumerate((8, 8, 200, 200)):
        levels = np.array([f"level {number}" for number in range(n_levels)])
        codes = random.integers(0, n_levels, n_rows)
        target += (codes == 1) * (place < 2) + codes / 300 * (place == 2)
        gaps = random.random(n_rows) < 0.05
        columns[TEXTS[place]] = pa.array(levels[codes], mask=gaps)
    columns["y"] = target + random.normal(size=n_rows)
    columns["answer"] = np.where(columns["y"] > 0.5, "yes", "no")
    columns["w"] = random.random(n_rows) + 0.1
    return pa.table(columns)


def write_file(path, n_rows):
    """Write a Parquet file."""
    random = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, STEP):
        table = draw_rows(random, min(STEP, n_rows - start))
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=STEP // 2)
    writer.close()


def describe(model):
    """A hash of what predictions depend on."""
    found = hashlib.sha256()
    if hasattr(model, "components_"):
        parts = [model.components_, model.mean_, model.explained_variance_]
    elif hasattr(model, "coef_"):
        parts = [model.coef_, model.intercept_]
    else:
        members = getattr(model, "estimators_", None)
        members = [model] if members is None else np.ravel(members).tolist()
        parts = [
            part
            for member in members
            for part in (member.tree_.nodes, member.tree_.statistics)
        ]
    for part in parts:
        found.update(np.asarray(part).tobytes())
    return found.hexdigest()


def fit_own(path, name, how, n_rounds, n_threads, limit):
    """Fit one of our models; returns its hash."""
    make, target = MODELS[name]
    model, columns = make(n_rounds, n_threads), [*NUMBERS, *TEXTS]
    if not hasattr(model, "max_depth") and not hasattr(model, "n_estimators"):
        columns = [*NUMBERS, *TEXTS[:2]]
    if how == "in memory":
        table = parquet.read_table(path)
        y = None if target is None else table[target]
        model.fit(table.select(columns), y, sample_weight=table["w"])
    else:
        columns += [*[target][: target is not None], "w"]
        source = io.scan(path, columns=columns, memory_limit=limit)
        model.fit(source, target, sample_weight="w")
    return describe(model)


# ------------------------------------------------------------------------------- peers
def open_file(path):
    """Open a file so that Arrow does not read ahead, which would take the memory."""
    return parquet.ParquetFile(path, pre_buffer=False, buffer_size=2**20)


def read_numbers(path, *others):
    """Read blocks of the numeric columns, and of others."""
    for batch in open_file(path).iter_batches(65_536, columns=[*NUMBERS, *others]):
        columns = [batch[name].to_numpy(zero_copy_only=False) for name in NUMBERS]
        yield np.stack(columns, axis=1), *(batch[name] for name in others)


def fit_xgboost(path, n_rounds, n_threads):
    """XGBoost with quantiles in external memory."""
    import xgboost

    class Rows(xgboost.DataIter):
        def __init__(self):
            super().__init__(cache_prefix=str(Path(path).with_suffix("")))
            self.reset()

        def reset(self):
            self.blocks = read_numbers(path, "y", "w")

        def next(self, input_data):
            block = next(self.blocks, None)
            if block is None:
                return False
            X, y, w = block
            input_data(data=X, label=y.to_numpy(), weight=w.to_numpy())
            return True

    rows = xgboost.ExtMemQuantileDMatrix(Rows(), max_bin=256, nthread=n_threads)
    options = {"max_depth": 5, "tree_method": "hist", "nthread": n_threads}
    xgboost.train(options, rows, n_rounds)


def fit_lightgbm(path, n_rounds, n_threads):
    """LightGBM from a sequence, which is read by random access and again in order."""
    import lightgbm

    file = open_file(path)
    groups = range(file.num_row_groups)
    sizes = [file.metadata.row_group(number).num_rows for number in groups]
    starts = np.cumsum([0, *sizes])

    class Rows(lightgbm.Sequence):
        batch_size = max(sizes)
        kept = (None, None)

        def __len__(self):
            return file.metadata.num_rows

        def read_group(self, number):
            if self.kept[0] != number:
                table = file.read_row_group(number, columns=NUMBERS)
                columns = [table[name].to_numpy() for name in NUMBERS]
                self.kept = (number, np.stack(columns, axis=1))
            return self.kept[1]

        def __getitem__(self, rows):
            if not isinstance(rows, slice):
                return self[rows : rows + 1][0]
            first, last = np.searchsorted(starts, [rows.start, rows.stop - 1], "right")
            parts = [
                self.read_group(number)[
                    max(0, rows.start - starts[number]) : rows.stop - starts[number]
                ]
                for number in range(first - 1, last)
            ]
            return np.concatenate(parts)

    y = np.concatenate([part.to_numpy() for _, part in read_numbers(path, "y")])
    options = {
        "max_depth": 5,
        "num_leaves": 31,
        "objective": "regression",
        "num_threads": n_threads,
        "verbose": -1,
    }
    lightgbm.train(options, lightgbm.Dataset(Rows(), y, params=options), n_rounds)


def fit_incremental_pca(path, n_rounds, n_threads):
    """scikit-learn's components, in one pass; missing values become 0, the mean."""
    from sklearn.decomposition import IncrementalPCA

    model = IncrementalPCA(5)
    for (X,) in read_numbers(path):
        model.partial_fit(np.nan_to_num(X))


def fit_gradient_descent(path, n_rounds, n_threads):
    """scikit-learn's logistic regression by stochastic gradients, five passes."""
    from sklearn.linear_model import SGDClassifier

    model = SGDClassifier(loss="log_loss", random_state=0)
    for _ in range(5):
        for X, y in read_numbers(path, "answer"):
            labels = y.to_numpy(zero_copy_only=False)
            model.partial_fit(np.nan_to_num(X), labels, classes=["no", "yes"])


def read_once(path, n_rounds, n_threads):
    """Nothing but reading the file."""
    for batch in open_file(path).iter_batches(65_536):
        pc.sum(batch["y"])


PEERS = {
    "reading the file": read_once,
    "XGBoost, ExtMemQuantileDMatrix": fit_xgboost,
    "LightGBM, Sequence": fit_lightgbm,
    "scikit-learn, IncrementalPCA": fit_incremental_pca,
    "scikit-learn, SGDClassifier": fit_gradient_descent,
}


# --------------------------------------------------------------------------- measuring
def measure_fit(path, name, how, n_rounds, n_threads, limit):
    """Fit to a file; seconds, peak memory and a hash of the model."""
    start = time.perf_counter()
    if how == "peer":
        PEERS[name](path, n_rounds, n_threads)
        found = ""
    else:
        found = fit_own(path, name, how, n_rounds, n_threads, limit)
    return time.perf_counter() - start, read_resident()[1], found


def measure_apart(path, name, how, options):
    """The same in a process of its own; None if it failed."""
    command = [sys.executable, "-m", "benchmarks.blocks", "--one", str(path), name, how]
    command += ["--rounds", str(options.rounds), "--threads", str(options.threads)]
    if options.memory_limit is not None:
        command += ["--memory-limit", options.memory_limit]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    if answer.returncode:
        print(answer.stderr, file=sys.stderr)
        return None
    return json.loads(answer.stdout.splitlines()[-1])


def main(arguments=None):
    """Run the study, or one fit of it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study blocks", description=__doc__
    )
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[2_000_000, 10_000_000], metavar="N"
    )
    parser.add_argument("--models", nargs="+", default=["boosting"], choices=MODELS)
    parser.add_argument("--peers", action="store_true", help="fit other libraries, too")
    parser.add_argument(
        "--memory-rows",
        type=int,
        default=2_000_000,
        metavar="N",
        help="fit in memory, too, up to so many rows",
    )
    parser.add_argument("--memory-limit", metavar="SIZE", help="of fits in blocks")
    parser.add_argument("--rounds", type=int, default=20, metavar="N")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--folder", help="where files are written, and stay")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        limits = options.rounds, options.threads, options.memory_limit
        print(json.dumps(measure_fit(*options.one, *limits)))
        return
    with tempfile.TemporaryDirectory() as folder:
        lines = run(options, Path(options.folder or folder))
    print(format_table(lines))


def run(options, folder):
    """Fit every model to every file; returns the lines of a table."""
    lines = [("rows", "model", "fit", "seconds", "peak MiB", "hash")]
    for n_rows in options.rows:
        path = folder / f"rows-{n_rows}.parquet"
        if not path.exists():
            write_file(path, n_rows)
        works = [(name, how) for name in options.models for how in ("memory", "blocks")]
        works += [(name, "peer") for name in PEERS if options.peers]
        found = {}
        for name, how in works:
            if how == "memory" and n_rows > options.memory_rows:
                continue
            how = how if how == "peer" else f"in {how}"
            measured = measure_apart(path, name, how, options)
            if measured is None:
                lines.append((f"{n_rows:,}", name, how, "failed", "", ""))
                continue
            seconds, peak, model = measured
            line = (name, how, f"{seconds:.1f}", f"{peak / MEBI:,.0f}", model[:8])
            lines.append((f"{n_rows:,}", *line))
            print(*lines[-1], sep="  ", file=sys.stderr, flush=True)
            if model and found.setdefault(name, model) != model:
                raise SystemExit(f"{n_rows} rows: the models of {name} differ")
    return lines


if __name__ == "__main__":
    main()
