"""treeple's oblique forests, run as a program in an interpreter of their own.

treeple needs an older scikit-learn than this package. ``TREEPLE_PYTHON`` is the path of
an interpreter that has it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from functools import cache

import numpy as np

from benchmarks.forests import N_COMBINED
from benchmarks.programs import Scratch, call_program, read_number, run_program
from benchmarks.tasks import CLASSIFICATION, OBLIQUE_FOREST

#: Each file is a table; the answers are written next to it.
SCRIPT = """
import sys
import time

import numpy as np
from treeple import ensemble

kind, n_trees, n_directions, n_combined, n_threads = sys.argv[1:6]
family = "Classifier" if kind == "classification" else "Regressor"
for seed, path in enumerate(sys.argv[6:]):
    with np.load(path) as table:
        X, X_test, y = (table[name] for name in ("X", "X_test", "y"))
    forest = getattr(ensemble, "ObliqueRandomForest" + family)(
        int(n_trees), max_features=int(n_directions), n_jobs=int(n_threads),
        feature_combinations=float(n_combined), random_state=seed,
    )
    start = time.perf_counter()
    forest.fit(X, y)
    seconds = time.perf_counter() - start
    ask = forest.predict_proba if kind == "classification" else forest.predict
    np.save(path + ".npy", ask(X_test))
    leaves = np.mean([tree.get_n_leaves() for tree in forest.estimators_])
    print(f"Leaves: {leaves:.1f}")
    print(f"Time taken: {seconds:.6f} seconds")
"""


def find_python():
    """The interpreter that is asked."""
    return os.environ.get("TREEPLE_PYTHON", sys.executable)


@cache
def find_treeple_version():
    """Version of treeple, None if the interpreter does not have it."""
    code = "from importlib.metadata import version; print(version('treeple'))"
    command = [find_python(), "-c", code]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None


class TreepleTables(Scratch):
    """Tables in files, and the script."""

    def __init__(self, tables):
        """Write dicts with X, X_test and y."""
        super().__init__()
        self.script = self.directory / "fit.py"
        self.script.write_text(SCRIPT)
        self.paths = []
        for number, table in enumerate(tables):
            self.paths.append(self.directory / f"{number}.npz")
            np.savez(self.paths[-1], **table)

    def make_command(self, kind, n_trees, n_directions, n_threads):
        """The command that fits a forest to each table."""
        numbers = (n_trees, n_directions, N_COMBINED, n_threads)
        command = [find_python(), str(self.script), kind, *map(str, numbers)]
        return [*command, *map(str, self.paths)]

    def read_answers(self):
        """The answers for the test rows of each table."""
        for path in self.paths:
            yield np.load(f"{path}.npy")


def predict_shares(tables, n_trees, n_directions):
    """Class shares of the test rows of several tables, in one call."""
    written = TreepleTables(tables)
    call_program(written.make_command(CLASSIFICATION, n_trees, n_directions, 1))
    return written.read_answers()


class TreepleForest:
    """treeple's oblique forests; the time of the fit is taken inside the program."""

    name = "treeple"
    algorithms = (OBLIQUE_FOREST,)
    is_threaded = True
    limits_depth = False
    answers_held_out_only = True

    def find_version(self):
        return find_treeple_version()

    def refusal(self, task):
        return "handed numbers only" if task.has_nominal else None

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        if max_depth is not None:
            raise ValueError(f"{self.name} is not asked for a depth")
        written = TreepleTables([{"X": task.X, "X_test": task.X_test, "y": task.y}])
        command = written.make_command(
            task.kind, task.n_trees, task.n_directions, n_threads
        )
        time_pattern = r"Time taken: ([\d.]+) seconds"
        return lambda: run_program(command, time_pattern, written)

    def make_predict(self, model, task, n_threads):
        """Answers for the rows that were held out, the only ones that it was asked."""
        (answers,) = model.table.read_answers()
        if len(answers) != task.n_rows:
            raise RuntimeError(f"{self.name} answered for {len(answers)} rows only")
        return lambda: answers

    def count_leaves(self, model):
        return round(float(read_number(r"Leaves: ([\d.]+)", model.output)))
