"""Discriminant analysis (判别分析): projections that keep classes apart.

The way of a table: ``class_table`` divides its rows among the classes and adds up means
and scatter, ``covariance`` estimates the covariance within the classes, ``whiten``
finds the coordinates in which it is the identity, ``solvers`` the discriminant
directions and the linear scores, ``linear_scores`` classes and posteriors from these.
"""

from sklearn_textbook.discriminant_analysis.linear import LinearDiscriminantAnalysis

__all__ = ["LinearDiscriminantAnalysis"]
