"""Summaries of fits: tables of coefficients with their standard errors and tests."""
