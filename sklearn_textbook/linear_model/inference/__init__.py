"""What a fit prints: tables of coefficients with their standard errors and tests."""
