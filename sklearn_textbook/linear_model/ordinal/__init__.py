"""Regression of ordered classes (有序回归)."""
