"""Reference implementations in plain Python: what a reader reads first."""
