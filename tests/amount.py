"""How many random tables the tests go through."""

import os

#: SKLEARN_TEXTBOOK_TEST_TABLES=5 takes five times as many as usual.
FACTOR = int(os.environ.get("SKLEARN_TEXTBOOK_TEST_TABLES", "1"))


def count_chunks(n_chunks):
    """Number of chunks of random tables, each a test of its own."""
    return n_chunks * FACTOR
