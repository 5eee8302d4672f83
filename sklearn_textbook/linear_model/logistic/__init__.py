"""Logistic regression, 对数几率回归."""
