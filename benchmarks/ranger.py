"""R's ranger, run as a program; the time of its fit, taken inside R, is what counts."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import numpy as np

from benchmarks.programs import Scratch, read_number, run_program
from benchmarks.tasks import CLASSIFICATION, EXTRA_TREES, FOREST

#: It draws one threshold per column for splitrule="extratrees", as scikit-learn does.
SCRIPT = """
suppressPackageStartupMessages(library(ranger))
given <- commandArgs(trailingOnly = TRUE)
directory <- given[1]
is_classifier <- given[2] == "classification"
is_extra <- given[3] == "extra"
size <- as.integer(given[4:8])
read_numbers <- function(name, n) readBin(file.path(directory, name), "double", n)
read_table <- function(name, n) {
  data.frame(matrix(read_numbers(name, n * size[3]), n, size[3]))
}
table <- read_table("X", size[1])
test <- read_table("X_test", size[2])
target <- read_numbers("y", size[1])
if (is_classifier) target <- factor(target)
rule <- if (is_extra) "extratrees" else if (is_classifier) "gini" else "variance"
seconds <- system.time({
  forest <- ranger(
    x = table, y = target, num.trees = size[4], mtry = size[5],
    probability = is_classifier, min.node.size = 1, splitrule = rule,
    replace = !is_extra, sample.fraction = 1, num.random.splits = 1,
    oob.error = FALSE, num.threads = as.integer(given[9]), seed = 1
  )
})[["elapsed"]]
answers <- predict(forest, test, num.threads = as.integer(given[9]))$predictions
if (is_classifier) answers <- answers[, order(as.numeric(colnames(answers)))]
writeBin(as.numeric(answers), file.path(directory, "answers"))
children <- forest$forest$child.nodeIDs
leaves <- sapply(children, function(of_tree) sum(of_tree[[1]] == 0))
cat("Leaves:", format(mean(leaves), nsmall = 1), "\\n")
cat("Time taken:", format(seconds, nsmall = 3), "seconds\\n")
"""


class RangerTable(Scratch):
    """A task in files of numbers, column by column, and the script beside them."""

    def __init__(self, task):
        super().__init__()
        self.script = self.directory / "fit.R"
        self.script.write_text(SCRIPT)
        for name in ("X", "X_test", "y"):
            values = np.asarray(getattr(task, name), dtype=np.float64)
            values.ravel(order="F").tofile(self.directory / name)


@cache
def find_ranger_version():
    """Version of ranger, None without R or ranger."""
    if shutil.which("Rscript") is None:
        return None
    command = ["Rscript", "-e", 'cat(as.character(packageVersion("ranger")))']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class RangerForest:
    """ranger's forests, as deep as scikit-learn's, that give shares of classes.

    Its shares are those of the leaves, as everybody else's here; its out-of-bag
    estimate is switched off.
    """

    name = "ranger"
    algorithms = (FOREST, EXTRA_TREES)
    is_threaded = True
    limits_depth = False
    answers_held_out_only = True

    def find_version(self):
        return find_ranger_version()

    def refusal(self, task):
        if task.has_nominal:
            return "handed numbers only"
        return None if task.max_bins is None else "no bins"

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        if max_depth is not None:
            raise ValueError(f"{self.name} is not asked for a depth")
        table = RangerTable(task)
        numbers = (*task.X.shape, task.n_trees, task.n_drawn_columns, n_threads)
        numbers = (numbers[0], len(task.y_test), *numbers[1:])
        family = "extra" if task.algorithm == EXTRA_TREES else "forest"
        command = ["Rscript", str(table.script), str(table.directory)]
        command += [task.kind, family, *map(str, numbers)]
        time_pattern = r"Time taken: ([\d.]+) seconds"
        return lambda: run_program(command, time_pattern, table)

    def make_predict(self, model, task, n_threads):
        """Answers for the rows that were held out, the only ones that it was asked."""
        answers = np.fromfile(model.table.directory / "answers")
        n_columns = task.n_classes if task.kind == CLASSIFICATION else 1
        if len(answers) != task.n_rows * n_columns:
            n_rows = len(answers) / n_columns
            raise RuntimeError(f"{self.name} answered for {n_rows:g} rows only")
        answers = answers.reshape(task.n_rows, n_columns, order="F")
        if task.kind == CLASSIFICATION:
            return lambda: answers
        return lambda: answers[:, 0]

    def count_leaves(self, model):
        return round(float(read_number(r"Leaves: ([\d.]+)", model.output)))
