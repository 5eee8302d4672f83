"""``python -m benchmarks study blocks``: tables that are read in blocks of rows.

Writes Parquet files of 16 numeric and 4 text columns with gaps and weights, and fits
gradient boosting to them, each in a fresh process: in memory, reading included, and in
blocks. Prints the time, the peak memory of the process, and a hash of the trees, which
must be the same for the same rows.
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
from pyarrow import parquet

from benchmarks.memory import read_resident
from benchmarks.report import format_table
from sklearn_textbook import io
from sklearn_textbook.ensemble import GradientBoostingRegressor

#: Rows that are made, and written, at a time.
STEP = 250_000
MEBI = 2**20


def draw_rows(random, n_rows):
    """Draw rows: a target of a few columns, and noise."""
    numbers = random.normal(size=(n_rows, 16))
    numbers[:, 0] = numbers[:, 0].round(2)
    numbers[:, 1] = random.integers(0, 50, n_rows)
    target = numbers[:, 0] - numbers[:, 2] * numbers[:, 3] + np.sin(2 * numbers[:, 4])
    columns = {}
    for place, column in enumerate(numbers.T):
        gaps = random.random(n_rows) < 0.05 * (place < 8)
        columns[f"x{place}"] = pa.array(
            np.where(gaps, np.nan, column), from_pandas=True
        )
    for place, n_levels in enumerate((8, 8, 200, 200)):
        levels = np.array([f"level {number}" for number in range(n_levels)])
        codes = random.integers(0, n_levels, n_rows)
        target += (codes == 1) * (place < 2) + codes / 300 * (place == 2)
        gaps = random.random(n_rows) < 0.05
        columns[f"t{place}"] = pa.array(levels[codes], mask=gaps)
    columns["y"] = target + random.normal(size=n_rows)
    columns["w"] = random.random(n_rows) + 0.1
    return pa.table(columns)


def write_file(path, n_rows):
    """Write a Parquet file."""
    random = np.random.default_rng(0)
    writer = None
    for start in range(0, n_rows, STEP):
        table = draw_rows(random, min(STEP, n_rows - start))
        writer = writer or parquet.ParquetWriter(path, table.schema)
        writer.write_table(table, row_group_size=100_000)
    writer.close()


def measure_fit(path, how, n_rounds, n_threads):
    """Fit to a file; seconds, peak memory and a hash of the trees."""
    model = GradientBoostingRegressor(
        n_estimators=n_rounds, max_depth=5, random_state=0, n_jobs=n_threads
    )
    start = time.perf_counter()
    if how == "in memory":
        table = parquet.read_table(path)
        X = table.drop_columns(["y", "w"])
        model.fit(X, table["y"].to_numpy(), table["w"].to_numpy())
    else:
        model.fit(io.scan(path), "y", sample_weight="w")
    seconds = time.perf_counter() - start
    trees = hashlib.sha256()
    for member in model.estimators_.ravel():
        trees.update(member.tree_.nodes.tobytes() + member.tree_.statistics.tobytes())
    return seconds, read_resident()[1], trees.hexdigest()


def measure_apart(*arguments):
    """The same in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.blocks", "--one", *map(str, arguments)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True)
    return json.loads(answer.stdout)


def main(arguments=None):
    """Run the study, or one fit of it."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study blocks", description=__doc__
    )
    parser.add_argument(
        "--rows", type=int, nargs="+", default=[2_000_000, 10_000_000], metavar="N"
    )
    parser.add_argument(
        "--memory-rows",
        type=int,
        default=2_000_000,
        metavar="N",
        help="fit in memory, too, up to so many rows",
    )
    parser.add_argument("--rounds", type=int, default=20, metavar="N")
    parser.add_argument("--threads", type=int, default=2, metavar="N")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if options.one:
        path, how, n_rounds, n_threads = options.one
        print(json.dumps(measure_fit(path, how, int(n_rounds), int(n_threads))))
        return
    lines = [("rows", "fit", "seconds", "peak MiB", "trees")]
    for n_rows in options.rows:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "table.parquet")
            write_file(path, n_rows)
            found = set()
            for how in ("in memory", "in blocks"):
                if how == "in memory" and n_rows > options.memory_rows:
                    continue
                seconds, peak, trees = measure_apart(
                    path, how, options.rounds, options.threads
                )
                found.add(trees)
                lines.append(
                    (
                        f"{n_rows:,}",
                        how,
                        f"{seconds:.1f}",
                        f"{peak / MEBI:,.0f}",
                        trees[:8],
                    )
                )
            if len(found) > 1:
                raise SystemExit(f"{n_rows} rows: the trees differ")
    print(format_table(lines))


if __name__ == "__main__":
    main()
