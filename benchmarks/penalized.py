"""Paths of elastic nets beside scikit-learn's and glmnet's.

Both fit the same path in turns. The objectives that they reach are compared before they
are timed. Ours also finds how much of the deviance each alpha explains. glmnet is timed
by R itself, without the start of R and the reading of the table; it needs Rscript and
the package glmnet.
"""

from __future__ import annotations

import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from sklearn.linear_model import LassoCV, lasso_path

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.linear_model import ElasticNet, ElasticNetClassifier

R_SCRIPT = """
suppressPackageStartupMessages(library(glmnet))
folder <- commandArgs(TRUE)[1]
read <- function(name, n) readBin(file.path(folder, name), "double", n)
shape <- read("shape", 2)
X <- matrix(read("X", prod(shape)), shape[1], shape[2])
y <- read("y", shape[1])
alphas <- read("alphas", 10000)
family <- commandArgs(TRUE)[2]
used <- system.time(fit <- glmnet(X, y, family = family, lambda = alphas,
                                  standardize = FALSE))
write <- function(x, name) writeBin(as.double(x), file.path(folder, name))
write(c(used[["elapsed"]], used[["user.self"]] + used[["sys.self"]]), "times")
write(as.matrix(rbind(fit$a0, as.matrix(fit$beta))), "coef")
"""


@dataclass(frozen=True)
class Work:
    """A path of a table, and whose is beside ours."""

    title: str
    n_rows: int
    n_columns: int
    peer: str
    n_alphas: int = 100
    is_binary: bool = False
    needs_cv: bool = False
    needed: float | None = None


WORKS = {
    "lasso": Work(
        "lasso, 100 alphas, 100,000 x 200", 100_000, 200, "scikit-learn", needed=1.0
    ),
    "lasso-cv": Work(
        "the same with five folds", 100_000, 200, "scikit-learn", needs_cv=True
    ),
    "lasso-wide": Work("lasso, 100 alphas, 500 x 10,000", 500, 10_000, "scikit-learn"),
    "lasso-glmnet": Work(
        "lasso, 100 alphas, 100,000 x 200", 100_000, 200, "glmnet", needed=0.5
    ),
    "logistic": Work(
        "logistic lasso, 30 alphas, 100,000 x 200",
        100_000,
        200,
        "glmnet",
        n_alphas=30,
        is_binary=True,
        needed=1.0,
    ),
}


@dataclass(frozen=True)
class Found:
    """Coefficients (n_columns, n_alphas) and intercepts, and perhaps the time."""

    coef: np.ndarray
    intercept: np.ndarray


@dataclass(frozen=True)
class Timed(Found):
    """What a program found that timed itself."""

    own_seconds: float
    own_cpu_seconds: float


def make_rows(work, scale):
    """Correlated columns, of which a fifth, at most 40, have effects; targets."""
    random = np.random.default_rng(0)
    n_rows = max(60, int(work.n_rows * scale))
    n_columns = max(10, int(work.n_columns * min(1.0, 10 * scale)))
    X = random.standard_normal((n_rows, n_columns))
    X += 0.5 * random.standard_normal((n_rows, 1))
    n_effects = min(40, n_columns // 5)
    y = X[:, :n_effects] @ random.standard_normal(n_effects)
    y += np.sqrt(n_effects) * random.standard_normal(n_rows)
    return X, (y > 0.0).astype(float) if work.is_binary else y


def choose_alphas(work, X, y):
    """The path of both."""
    largest = np.abs((y - y.mean()) @ (X - X.mean(axis=0))).max() / len(y)
    eps = 1e-3 if len(X) > X.shape[1] else 1e-2
    return largest * np.geomspace(1.0, eps, work.n_alphas)


def fit_ours(work, X, y, alphas):
    make = ElasticNetClassifier if work.is_binary else ElasticNet
    alpha = "min" if work.needs_cv else alphas[-1]
    model = make(alpha, l1_ratio=1.0, alphas=alphas).fit(X, y)
    coef = model.coef_path_
    return Found(coef[0] if coef.ndim == 3 else coef, np.ravel(model.intercept_path_))


def fit_scikit_learn(work, X, y, alphas):
    if work.needs_cv:
        model = LassoCV(alphas=alphas).fit(X, y)
        return Found(model.coef_[:, np.newaxis], np.atleast_1d(model.intercept_))
    means = X.mean(axis=0)
    _, coef, _ = lasso_path(X - means, y - y.mean(), alphas=alphas)
    return Found(coef, y.mean() - means @ coef)


@lru_cache(maxsize=1)
def has_glmnet():
    """Whether R and its package are there."""
    if shutil.which("Rscript") is None:
        return False
    command = ["Rscript", "-e", 'cat(requireNamespace("glmnet", quietly = TRUE))']
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stdout.endswith("TRUE")


def fit_glmnet(work, X, y, alphas):
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        np.array(X.shape, dtype=np.float64).tofile(folder / "shape")
        np.asfortranarray(X).T.tofile(folder / "X")
        y.tofile(folder / "y")
        alphas.tofile(folder / "alphas")
        (folder / "fit.R").write_text(R_SCRIPT)
        family = "binomial" if work.is_binary else "gaussian"
        command = ["Rscript", "--vanilla", str(folder / "fit.R"), name, family]
        subprocess.run(command, check=True, capture_output=True)
        found = np.fromfile(folder / "coef").reshape(-1, X.shape[1] + 1).T
        seconds, cpu_seconds = np.fromfile(folder / "times").tolist()
        return Timed(found[1:], found[0], seconds, cpu_seconds)


FITS = {"scikit-learn": fit_scikit_learn, "glmnet": fit_glmnet}


def measure_objectives(work, X, y, alphas, found):
    """What is minimised, for each alpha."""
    scores = X @ found.coef + found.intercept
    if work.is_binary:
        losses = np.logaddexp(0.0, scores) - y[:, np.newaxis] * scores
    else:
        losses = 0.5 * np.square(y[:, np.newaxis] - scores)
    return losses.mean(axis=0) + alphas * np.abs(found.coef).sum(axis=0)


def find_differences(work, X, y, alphas, ours, theirs):
    """Reasons why two paths are not the same; empty if they are."""
    if work.needs_cv:
        scores = [
            (X @ found.coef[:, -1:] + found.intercept[-1:]).ravel()
            for found in (ours, theirs)
        ]
        return [] if np.isfinite(scores).all() else ["no coefficients"]
    n_both = min(ours.coef.shape[1], theirs.coef.shape[1])
    mine, others = (
        measure_objectives(
            *(work, X, y, alphas[:n_both]),
            Found(found.coef[:, :n_both], found.intercept[:n_both]),
        )
        for found in (ours, theirs)
    )
    reasons = []
    worst = float((mine / others).max()) - 1.0
    if not worst <= 1e-6:
        reasons.append(f"our objective is larger by a fraction of {worst:.2g}")
    worst = float((others / mine).max()) - 1.0
    if not worst <= 1e-2:
        reasons.append(f"their objective is larger by a fraction of {worst:.2g}")
    return reasons


def run_work(work, options):
    """What both found, and their times."""
    X, y = make_rows(work, options.scale)
    alphas = choose_alphas(work, X, y)
    calls = {
        "ours": lambda: fit_ours(work, X, y, alphas),
        "theirs": lambda: FITS[work.peer](work, X, y, alphas),
    }
    found = calls["ours"](), calls["theirs"]()
    differences = find_differences(work, X, y, alphas, *found)
    times = time_alternately(calls, options.repeat)
    facts = {"shape": X.shape, "needed": work.needed}
    return Outcome(times, differences, work.peer, work.title, facts)


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("penalized", __doc__, 5)
    works = {
        name: work
        for name, work in WORKS.items()
        if work.peer != "glmnet" or has_glmnet()
    }
    return run_pairs(parser, arguments, works, run_work)
