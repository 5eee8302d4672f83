"""Marks of missing values in text tables, in addition to empty fields."""

MISSING_MARKS = ("?", "NA", "N/A", "NaN", "nan", "null", "NULL")
