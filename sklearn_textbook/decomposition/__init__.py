"""Matrix decompositions, 矩阵分解: singular values and principal components."""

from sklearn_textbook.decomposition.factors import SVDFactors
from sklearn_textbook.decomposition.pca import PCA
from sklearn_textbook.decomposition.result import SingularValueDecomposition
from sklearn_textbook.decomposition.singular_values import svd
from sklearn_textbook.decomposition.truncated_svd import TruncatedSVD

__all__ = [
    "PCA",
    "SVDFactors",
    "SingularValueDecomposition",
    "TruncatedSVD",
    "svd",
]
