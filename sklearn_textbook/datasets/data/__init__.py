"""Tables of the textbooks as CSV files (see README.md in this folder)."""
