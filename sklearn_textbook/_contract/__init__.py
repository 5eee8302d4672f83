"""The border with scikit-learn: parameters, weights, labels, threads."""
