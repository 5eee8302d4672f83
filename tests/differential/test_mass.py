"""R's MASS::lda as an oracle: lda_oracle.R has written mass_lda.json."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import softmax

from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis

KEPT = Path(__file__).with_name("mass_lda.json")
SCRIPT = Path(__file__).with_name("lda_oracle.R")
TABLES = json.loads(KEPT.read_text())["tables"]
FITS = [
    pytest.param(table, fit, solver, id=f"{table['name']}-{number}-{solver}")
    for table in TABLES
    for number, fit in enumerate(table["fits"])
    for solver in ("svd", "lsqr", "eigen")
]


def fit_ours(table, fit, solver):
    priors = fit["prior"] if fit["prior_given"] else None
    model = LinearDiscriminantAnalysis(solver, priors=priors)
    return model.fit(np.array(table["X"]), table["y"])


def find_factor(table, fit):
    """What MASS divides the scatter by, over the number of rows that we divide by."""
    n_rows = len(table["y"])
    n_free = n_rows - len(table["levels"])
    return 1.0 if fit["method"] == "mle" else n_free / n_rows


@pytest.mark.parametrize(("table", "fit", "solver"), FITS)
def test_centres_priors_and_classes(table, fit, solver):
    model = fit_ours(table, fit, solver)
    assert model.classes_.tolist() == table["levels"]
    assert_allclose(model.means_, fit["means"], rtol=1e-9)
    assert_allclose(model.priors_, fit["prior"], rtol=1e-9)
    # The classes of the oracle by our scores: those of "moment" have another scale.
    if fit["method"] == "mle":
        assert model.predict(table["X"]).tolist() == fit["class"]


@pytest.mark.parametrize(("table", "fit", "solver"), FITS)
def test_posterior(table, fit, solver):
    model = fit_ours(table, fit, solver)
    scores = model.decision_function(table["X"])
    if scores.ndim == 1:
        scores = np.column_stack((np.zeros_like(scores), scores))
    log_prior = np.log(fit["prior"])
    if len(log_prior) == 2:
        log_prior = log_prior - log_prior[0]
    # Distances are measured with the oracle's covariance, priors are as they are.
    scores = (scores - log_prior) * find_factor(table, fit) + log_prior
    found = softmax(scores, axis=1)
    assert_allclose(found, fit["posterior"], rtol=1e-6, atol=1e-12)
    classes = np.array(table["levels"])[found.argmax(axis=1)]
    assert classes.tolist() == fit["class"]
    if fit["method"] == "mle":
        assert_allclose(model.predict_proba(table["X"]), found, rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize(
    ("table", "fit", "solver"), [case for case in FITS if "lsqr" not in case.id]
)
def test_scaling(table, fit, solver):
    model = fit_ours(table, fit, solver)
    factor = find_factor(table, fit)
    theirs = np.array(fit["scaling"])
    signs = np.sign(np.sum(model.scalings_ * theirs, axis=0))
    ours = model.scalings_ * signs * np.sqrt(factor)
    assert_allclose(ours, theirs, atol=1e-8 * np.abs(theirs).max())
    n_rows, n_classes = len(table["y"]), len(table["levels"])
    if not fit["prior_given"]:
        divisor = n_classes if fit["method"] == "mle" else n_classes - 1
        values = np.sqrt(model.eigenvalues_ * factor * n_rows / divisor)
        assert_allclose(values, fit["svd"], rtol=1e-8)


@pytest.mark.slow
def test_kept_numbers_are_what_the_script_prints():
    probe = ["Rscript", "--vanilla", "-e", "library(MASS)"]
    if shutil.which("Rscript") is None:
        pytest.skip("Rscript is not installed (Debian: r-base-core)")
    if subprocess.run(probe, capture_output=True, check=False).returncode:
        pytest.skip("the R package MASS is not installed (Debian: r-cran-mass)")
    command = ["Rscript", "--vanilla", str(SCRIPT)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    for table, kept in zip(json.loads(done.stdout)["tables"], TABLES, strict=True):
        assert (table["X"], table["y"]) == (kept["X"], kept["y"])
        for fit, other in zip(table["fits"], kept["fits"], strict=True):
            assert fit["class"] == other["class"]
            assert_allclose(fit["posterior"], other["posterior"], rtol=1e-6, atol=1e-15)
