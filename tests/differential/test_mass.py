"""R's MASS::lda as an oracle: lda_oracle.R has written mass_lda.json."""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

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
    divisor = "n" if fit["method"] == "mle" else "n-g"
    model = LinearDiscriminantAnalysis(
        solver, priors=priors, covariance_divisor=divisor
    )
    return model.fit(np.array(table["X"]), table["y"])


@pytest.mark.parametrize(("table", "fit", "solver"), FITS)
def test_centres_priors_and_classes(table, fit, solver):
    model = fit_ours(table, fit, solver)
    assert model.classes_.tolist() == table["levels"]
    assert_allclose(model.means_, fit["means"], rtol=1e-9)
    assert_allclose(model.priors_, fit["prior"], rtol=1e-9)
    assert model.predict(table["X"]).tolist() == fit["class"]


@pytest.mark.parametrize(("table", "fit", "solver"), FITS)
def test_posterior(table, fit, solver):
    model = fit_ours(table, fit, solver)
    found = model.predict_proba(table["X"])
    assert_allclose(found, fit["posterior"], rtol=1e-6, atol=1e-12)


@pytest.mark.parametrize(
    ("table", "fit", "solver"), [case for case in FITS if "lsqr" not in case.id]
)
def test_scaling(table, fit, solver):
    model = fit_ours(table, fit, solver)
    theirs = np.array(fit["scaling"])
    signs = np.sign(np.sum(model.scalings_ * theirs, axis=0))
    assert_allclose(model.scalings_ * signs, theirs, atol=1e-8 * np.abs(theirs).max())
    n_rows, n_classes = len(table["y"]), len(table["levels"])
    if not fit["prior_given"]:
        ratio = n_rows / n_classes
        if fit["method"] == "moment":
            ratio = (n_rows - n_classes) / (n_classes - 1)
        values = np.sqrt(model.eigenvalues_ * ratio)
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
