"""Decompositions of matrices: principal components."""

from sklearn_textbook.decomposition.pca import PCA

__all__ = ["PCA"]
