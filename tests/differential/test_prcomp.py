"""The components of R's prcomp and princomp, as tests/data/prcomp.json has them.

prcomp.R made the file (R 4); where R is installed, it is made again and compared.
"""

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from sklearn_textbook.decomposition import PCA

SCRIPT = Path(__file__).with_name("prcomp.R")
DATA = Path(__file__).parents[1] / "data" / "prcomp.json"
CASES = json.loads(DATA.read_text("utf-8"))
TABLES = [name for name, case in CASES.items() if "X" in case]


def read(case):
    return {name: np.array(value) for name, value in case.items()}


def align(found, expected):
    """Columns of R with the signs of ours: a sign of a component means nothing."""
    return expected * np.sign((found * expected).sum(axis=0))


@pytest.mark.parametrize("svd_solver", ["full", "covariance_eigh"])
@pytest.mark.parametrize("name", TABLES)
def test_prcomp(name, svd_solver):
    case = read(CASES[name])
    X, weights = case["X"], case["weights"]
    pca = PCA(standardize=bool(case["standardize"][0]), svd_solver=svd_solver)
    pca.fit(X, sample_weight=None if (weights == 1).all() else weights)
    n_kept = case["correlations"].shape[1]
    sdev = case["sdev"]
    np.testing.assert_allclose(
        np.sqrt(pca.explained_variance_)[:n_kept], sdev[:n_kept], rtol=1e-8
    )
    # summary() rounds to five decimals.
    np.testing.assert_allclose(
        pca.explained_variance_ratio_[:n_kept],
        case["proportions"][:n_kept],
        atol=5.1e-6,
    )
    for found, expected in (
        (pca.components_.T[:, :n_kept], case["rotation"][:, :n_kept]),
        (pca.loadings_[:, :n_kept], case["correlations"]),
    ):
        np.testing.assert_allclose(found, align(found, expected), atol=1e-8)
    found, expected = pca.transform(X)[:, :n_kept], case["scores"][:, :n_kept]
    np.testing.assert_allclose(found, align(found, expected), atol=1e-8 * sdev[0])


def test_princomp_of_a_correlation_matrix():
    case = read(CASES["Harman74"])
    pca = PCA().fit_covariance(case["covariance"])
    np.testing.assert_allclose(np.sqrt(pca.explained_variance_), case["sdev"])
    found = pca.components_.T
    np.testing.assert_allclose(found, align(found, case["loadings"]), atol=1e-9)


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="Rscript is not installed")
def test_file_is_what_the_script_makes():
    done = subprocess.run(
        ["Rscript", "--vanilla", str(SCRIPT)],
        capture_output=True,
        text=True,
        check=True,
    )
    made = json.loads(done.stdout)
    assert made.keys() == CASES.keys()
    for name, case in made.items():
        for key, value in read(case).items():
            stored = np.array(CASES[name][key])
            if key in ("rotation", "scores", "correlations", "loadings"):
                stored, value = np.abs(stored), np.abs(value)
            np.testing.assert_allclose(value, stored, rtol=1e-6, atol=1e-6)
