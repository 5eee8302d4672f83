"""The memory that a call needs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable


def measure_peak(call: Callable) -> int:
    """The most bytes that are allocated during a call, by all threads.

    The measuring ends with the call, also with an error: it makes Python far slower,
    and would add up what all later tests allocate.
    """
    assert not tracemalloc.is_tracing()
    tracemalloc.start()
    try:
        call()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
