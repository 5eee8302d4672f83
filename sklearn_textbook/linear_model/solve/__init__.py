"""Sums and triangular factors of weighted rows, and linear equations."""
