"""Plain-Python twins of the compiled algorithms: what a reader reads first."""
