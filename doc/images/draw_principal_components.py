"""Draws principal_components.png for the guide; run it in this directory."""

import matplotlib.pyplot as plt

from sklearn_textbook.datasets import load_pca_correlation_example
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.inspection import BiplotDisplay, ScreeDisplay

R = load_pca_correlation_example(language="en", as_frame=True).data
pca = PCA(n_components=0.75).fit_covariance(R)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.5), layout="constrained")
ScreeDisplay.from_estimator(pca, ax=left)
BiplotDisplay.from_estimator(pca, ax=right)
figure.savefig("principal_components.png", dpi=120)
