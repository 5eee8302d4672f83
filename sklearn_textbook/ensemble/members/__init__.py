"""Fitting the members of an ensemble and combining their predictions."""
