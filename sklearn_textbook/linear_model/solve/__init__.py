"""Sums and triangular factors of rows, linear equations, quasi-Newton methods."""
