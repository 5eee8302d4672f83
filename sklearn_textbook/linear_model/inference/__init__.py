"""Summaries of fits: tables of coefficients with standard errors and tests."""
