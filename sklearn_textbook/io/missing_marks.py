"""What stands for a missing value in a text table, beside an empty field."""

MISSING_MARKS = ("?", "NA", "N/A", "NaN", "nan", "null", "NULL")
