"""Discriminant analysis (判别分析): projections that separate classes.

``class_table`` groups the rows by class and computes means and scatter, ``covariance``
estimates the covariance within the classes, ``whiten`` finds the coordinates in which
it is the identity, ``solvers`` the discriminant directions and the linear scores, and
``linear_scores`` derives classes and posteriors from these.
"""

from sklearn_textbook.discriminant_analysis.linear import LinearDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis"]
