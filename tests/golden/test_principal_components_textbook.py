"""例16.1 and 习题16.1 of 李航: four school subjects, six samples.

The example is printed as a correlation matrix with two decimals, while the printed
results were computed from more: they are met within the recorded tolerance only, and
the values recomputed from the printed matrix exactly.
"""

import numpy as np
import pytest

from sklearn_textbook.datasets import load_pca_correlation_example, load_pca_exercise
from sklearn_textbook.decomposition import PCA
from tests.golden import get_example


@pytest.fixture(scope="module")
def subjects():
    """The first two components of the four subjects."""
    return PCA(n_components=2).fit_covariance(load_pca_correlation_example().data)


def assert_golden(name, found):
    """Equal to what was recomputed, and to what is printed as far as recorded."""
    example = get_example(f"lihang.ex16.1.{name}")
    verified = example["verified"]
    if isinstance(verified["value"], dict):
        found = dict(zip(verified["value"], found, strict=True))
    assert found == pytest.approx(verified["value"], abs=1e-9)
    tolerance = verified["tolerance_covering_printed"]
    assert found == pytest.approx(example["printed"], abs=tolerance)


def test_eigenvalues(subjects):
    assert_golden("eigenvalues", subjects.eigenvalues_.tolist())


def test_contributions(subjects):
    y1, y2 = subjects.explained_variance_ratio_
    assert_golden("contribution", [y1, y2, subjects.cumulative_contribution_[-1]])


def test_directions(subjects):
    example = get_example("lihang.ex16.1.eigenvectors")
    verified = example["verified"]
    np.testing.assert_allclose(subjects.components_, verified["value"], atol=1e-9)
    tolerance = verified["tolerance_covering_printed"]
    np.testing.assert_allclose(subjects.components_, example["printed"], atol=tolerance)


def test_loadings(subjects):
    example = get_example("lihang.ex16.1.loadings")
    verified = example["verified"]
    loadings = subjects.loadings_.T
    np.testing.assert_allclose(loadings, verified["value"], atol=1e-9)
    tolerance = verified["tolerance_covering_printed"]
    np.testing.assert_allclose(loadings, example["printed"], atol=tolerance)


def test_communalities(subjects):
    assert_golden("communality", subjects.communalities_.tolist())


@pytest.mark.parametrize(("threshold", "n_components"), [(0.7, 2), (0.8, 3)])
def test_cumulative_contribution_chooses(threshold, n_components):
    """The book's 70 to 80 per cent: two components have 76."""
    R = load_pca_correlation_example().data
    assert PCA(threshold).fit_covariance(R).n_components_ == n_components


@pytest.mark.parametrize("svd_solver", ["full", "covariance_eigh"])
def test_exercise(svd_solver):
    expected = get_example("lihang.exercise16.1")["verified"]["value"]
    X = load_pca_exercise().data
    pca = PCA(svd_solver=svd_solver).fit(X)
    assert pca.mean_.tolist() == expected["mean"]
    assert pca.explained_variance_ == pytest.approx(expected["covariance_eigenvalues"])
    assert pca.components_[0] == pytest.approx(expected["covariance_first_direction"])
    np.testing.assert_allclose(pca.get_covariance(), expected["covariance"], atol=1e-12)
    pca.set_params(standardize=True).fit(X)
    eigenvalues = expected["correlation_eigenvalues"]
    assert pca.explained_variance_ == pytest.approx(eigenvalues, abs=1e-9)
    scores = expected["correlation_scores_y1"]
    assert pca.transform(X)[:, 0] == pytest.approx(scores, abs=1e-9)
    root = np.sqrt(0.5)
    np.testing.assert_allclose(pca.components_, [[root, root], [root, -root]])


def test_exercise_by_its_matrices():
    expected = get_example("lihang.exercise16.1")["verified"]["value"]
    X = load_pca_exercise().data
    by_rows = PCA(standardize=True).fit(X)
    by_matrix = PCA(standardize=True).fit_covariance(
        expected["covariance"], mean=expected["mean"], n_samples=6
    )
    np.testing.assert_allclose(by_matrix.transform(X), by_rows.transform(X), atol=1e-12)
    np.testing.assert_allclose(by_matrix.singular_values_, by_rows.singular_values_)
