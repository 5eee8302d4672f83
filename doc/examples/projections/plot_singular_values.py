"""
Singular values
===============

The singular value decomposition writes a matrix as a sum of matrices of rank one, in
order of importance. In this example, three of sixty terms suffice for an image, and a
comparison of the methods shows how accurately they compute small singular values.
"""

# %%
# An image as a sum
# -----------------
# A matrix of 60 x 80 numbers is the sum of three smooth patterns of rank one and noise.
# The outer product expansion (外积展开式) recovers such patterns.
import matplotlib.pyplot as plt
import numpy as np

from sklearn_textbook.decomposition import svd

random = np.random.default_rng(0)
rows, columns = np.linspace(0, 1, 60), np.linspace(0, 1, 80)
patterns = (
    2.0 * np.outer(np.sin(3 * rows), np.cos(2 * columns))
    + 1.0 * np.outer(np.cos(9 * rows), np.sin(6 * columns))
    + 0.5 * np.outer(np.sin(20 * rows), np.sin(15 * columns))
)
A = patterns + 0.3 * random.standard_normal(patterns.shape)
decomposition = svd(A)
print(decomposition)

# %%
# The plots show the noisy matrix, the sums of the first k terms (``reconstruct(k)``)
# and the patterns, with the Frobenius norm of the difference from the patterns. The sum
# of three terms is closer to the patterns than the noisy matrix is.
figure, axes = plt.subplots(1, 5, figsize=(11, 2.4), layout="constrained")
shown = {"A": A} | {f"k = {k}": decomposition.reconstruct(k) for k in (1, 2, 3)}
shown["without noise"] = patterns
for ax, (title, matrix) in zip(axes, shown.items(), strict=True):
    ax.imshow(matrix, cmap="RdBu_r", vmin=-2.2, vmax=2.2)
    error = np.linalg.norm(matrix - patterns)
    ax.set(title=title, xlabel=f"Frobenius error {error:.1f}", xticks=[], yticks=[])
plt.show()

# %%
# How many terms
# --------------
# Each singular value (奇异值) is the weight of its term. After the third, only noise is
# left, and the values decrease slowly. The error of the sum of k terms follows from the
# remaining singular values, without computing the sum.
s = decomposition.singular_values
errors = [decomposition.frobenius_error(k) for k in range(len(s) + 1)]
figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
left.plot(np.arange(1, 16), s[:15], "o")
left.set(xlabel="i", ylabel="singular value", ylim=(0, None), xticks=[1, 3, 5, 10, 15])
right.plot(errors)
right.set(xlabel="number of terms k", ylabel="Frobenius error", ylim=(0, None))
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()

# %%
# Accuracy of the methods
# -----------------------
# The book computes singular values as square roots of the eigenvalues of :math:`A^T A`
# (``method="gram"``). This is easy to follow, but squaring halves the number of correct
# digits. The two matrices of this example have known singular values, powers of two
# from 1 down to :math:`2^{-45}`.
#
# The errors of LAPACK are small relative to the largest singular value, and therefore
# large relative to the smallest. For the first matrix, whose columns are nearly
# dependent, Jacobi rotations are no more accurate. The second is an orthogonal matrix
# whose rows have different scales, as if measured in different units; for it, they
# compute every value to its last digits.
from scipy.linalg import hadamard

known = 2.0 ** -(3 * np.arange(16))
signs = hadamard(16)
orthogonal = np.linalg.qr(random.standard_normal((16, 16)))[0]
matrices = {
    "nearly dependent columns": signs * known @ signs / 16,
    "rows of different scales": random.permutation(known)[:, np.newaxis] * orthogonal,
}
figure, axes = plt.subplots(1, 2, figsize=(9, 3.4), sharey=True, layout="constrained")
for ax, (title, matrix) in zip(axes, matrices.items(), strict=True):
    for method, marker in {"gram": "s", "lapack": "o", "jacobi": "x"}.items():
        values = svd(matrix, method).singular_values
        relative = np.abs(values / known - 1)
        ax.loglog(known, np.maximum(relative, 1e-16), marker, label=method, alpha=0.7)
    ax.set(title=title, xlabel="singular value")
    ax.invert_xaxis()
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set(ylabel="relative error")
axes[0].legend(frameon=False)
plt.show()

# %%
# Latent semantic analysis
# ------------------------
# :class:`~sklearn_textbook.decomposition.TruncatedSVD` projects the rows of a table
# onto the first right singular vectors. For word counts, this is latent semantic
# analysis (潜在语义分析): sentences with similar vocabulary are close to each other.
# Here, sentences about trees and about matrices have different directions.
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.pipeline import make_pipeline

from sklearn_textbook.decomposition import TruncatedSVD

sentences = [
    "the tree has leaves and a root",
    "prune the tree at the leaves",
    "leaves fall from the root of a tree",
    "the matrix has rows and columns",
    "rows and columns of the matrix are vectors",
    "vectors span the columns",
]
model = make_pipeline(
    TfidfVectorizer(stop_words="english"), TruncatedSVD(2, random_state=0)
)
positions = model.fit_transform(sentences)
for sentence, (first, second) in zip(sentences, np.abs(positions), strict=True):
    print(f"{first:.2f}  {second:.2f}  {sentence}")
