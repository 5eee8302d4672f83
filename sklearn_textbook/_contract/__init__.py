"""Checks of parameters, weights and labels as in scikit-learn, and threading."""
