"""R's rpart, run as a program; the time of its fit, taken inside R, is what counts."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import numpy as np

from benchmarks.programs import Scratch, read_number, run_program
from benchmarks.tasks import CART_ALPHA, CLASSIFICATION, REGRESSION, as_shares

#: Neither surrogates nor the second-best splits: rpart's fastest setting. The largest
#: depth is the largest that rpart knows. Alpha is its cp, in units of the root's risk.
SCRIPT = """
library(rpart)
given <- commandArgs(trailingOnly = TRUE)
directory <- given[1]
is_classifier <- given[2] == "classification"
size <- as.integer(given[3:7])
read_numbers <- function(name, n) readBin(file.path(directory, name), "double", n)
read_table <- function(name, n) {
  data.frame(matrix(read_numbers(name, n * size[3]), n, size[3]))
}
table <- read_table("X", size[1])
test <- read_table("X_test", size[2])
target <- read_numbers("y", size[1])
table$target <- if (is_classifier) factor(target) else target
control <- rpart.control(
  xval = 10, cp = 0, minsplit = size[4], minbucket = size[5], maxdepth = 30,
  maxcompete = 0, maxsurrogate = 0, usesurrogate = 0
)
set.seed(0)
seconds <- system.time({
  full <- rpart(
    target ~ ., table, method = if (is_classifier) "class" else "anova",
    control = control
  )
  steps <- full$cptable
  best <- max(which(steps[, "xerror"] == min(steps[, "xerror"])))
  pruned <- prune(full, cp = steps[best, "CP"])
})[["elapsed"]]
answers <- predict(pruned, test, type = if (is_classifier) "class" else "vector")
answers <- as.numeric(if (is_classifier) as.character(answers) else answers)
writeBin(answers, file.path(directory, "answers"))
cat("Leaves:", sum(pruned$frame$var == "<leaf>"), "\\n")
cat("Time taken:", format(seconds, nsmall = 3), "seconds\\n")
"""


class RpartTable(Scratch):
    """A task in files of numbers, column by column, and the script beside them."""

    def __init__(self, task):
        super().__init__()
        self.script = self.directory / "fit.R"
        self.script.write_text(SCRIPT)
        for name in ("X", "X_test", "y"):
            values = np.asarray(getattr(task, name), dtype=np.float64)
            values.ravel(order="F").tofile(self.directory / name)


@cache
def find_rpart_version():
    """Version of rpart, None without R or rpart."""
    if shutil.which("Rscript") is None:
        return None
    command = ["Rscript", "-e", 'cat(as.character(packageVersion("rpart")))']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else None


class RpartTree:
    """rpart with ten folds, grown as far as ours, and pruned where its xerror is least.

    It computes the sequence of subtrees by an approximation, of classes by their
    errors, and grows no deeper than 30.
    """

    name = "rpart"
    algorithms = (CART_ALPHA,)
    is_threaded = False
    limits_depth = False
    minsplit, minbucket = 2, 1
    #: Its folds take a time in proportion to the rows times the alphas; of values that
    #: all differ, a full tree has about as many alphas as rows.
    most_values = 2_000

    def find_version(self):
        return find_rpart_version()

    def refusal(self, task):
        if task.has_nominal or task.sample_weight is not None:
            return "handed numbers without weights only"
        if task.kind == REGRESSION and task.n_rows > self.most_values:
            return "minutes, since it tries an alpha for every few rows"
        return None

    def criterion(self, task):
        return task.criterion

    def make_fit(self, task, n_threads, max_depth=None):
        if max_depth is not None:
            raise ValueError(f"{self.name} is not asked for a depth")
        table = RpartTable(task)
        sizes = (*task.X.shape, self.minsplit, self.minbucket)
        sizes = (sizes[0], len(task.y_test), *sizes[1:])
        command = ["Rscript", str(table.script), str(table.directory), task.kind]
        command += map(str, sizes)
        time_pattern = r"Time taken: ([\d.]+) seconds"
        return lambda: run_program(command, time_pattern, table)

    def make_predict(self, model, task, n_threads):
        """Answers for the rows that were held out, the only ones that it was asked."""
        answers = np.fromfile(model.table.directory / "answers")
        if len(answers) != task.n_rows:
            raise RuntimeError(f"{self.name} answered for {len(answers)} rows only")
        if task.kind == CLASSIFICATION:
            return lambda: as_shares(answers.astype(np.int64), task.n_classes)
        return lambda: answers

    def count_leaves(self, model):
        return int(read_number(r"Leaves: (\d+)", model.output))


class RpartDefaultTree(RpartTree):
    """The same with rpart's own limits, so that its trees are much smaller."""

    name = "rpart-default"
    minsplit, minbucket = 20, 7
    most_values = 100_000
