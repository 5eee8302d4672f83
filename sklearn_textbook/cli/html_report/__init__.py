"""The report of a fit: a self-contained HTML page."""
