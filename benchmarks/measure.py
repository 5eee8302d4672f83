"""Time calls fairly, and state the machine that the times belong to."""

from __future__ import annotations

import gc
import math
import os
import platform
import sys
import time
from dataclasses import dataclass, field
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from statistics import median

import numpy as np

#: A sample of a short call is the mean of as many calls as fill this time.
SHORTEST_SAMPLE = 0.01

__all__ = [
    "Timing",
    "count_cores",
    "fit_exponent",
    "installed_version",
    "machine_facts",
    "median",
    "time_alternately",
]


def count_cores():
    """Number of cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


@cache
def installed_version(package):
    """Version of an installed distribution, None if it is not installed."""
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def machine_facts(versions):
    """What a reader needs to know to judge the times; versions by the tools' names."""
    return {
        "cores": count_cores(),
        "machine": platform.machine(),
        "system": platform.system(),
        "python": sys.version.split()[0],
        "load_average": list(os.getloadavg()) if hasattr(os, "getloadavg") else None,
        "versions": versions,
    }


@dataclass
class Timing:
    """Seconds of a call, round by round, and the processor's seconds in them."""

    seconds: list[float] = field(default_factory=list)
    cpu_seconds: list[float] = field(default_factory=list)

    @property
    def waiting(self):
        """Median time over processor time: 1 for one thread on a quiet machine."""
        return median(self.seconds) / max(median(self.cpu_seconds), 1e-9)


def _time_once(call, n_calls):
    """Seconds and processor seconds of one call, as it states them if it does."""
    start, cpu_start = time.perf_counter(), time.process_time()
    for _ in range(n_calls):
        result = call()
    cpu_seconds = (time.process_time() - cpu_start) / n_calls
    seconds = (time.perf_counter() - start) / n_calls
    seconds = getattr(result, "own_seconds", seconds)
    return seconds, getattr(result, "own_cpu_seconds", cpu_seconds)


def time_alternately(calls, n_repeats):
    """Time every call in turns, so that noise hits all alike.

    Parameters
    ----------
    calls : dict of hashable to callable
        What to time. Each is run once before, to warm up. If what it returns has
        ``own_seconds`` and ``own_cpu_seconds``, these are its time.
    n_repeats : int
        Number of rounds.

    Returns
    -------
    dict of hashable to Timing
        With ``n_repeats`` times each, in the order in which they were taken.
    """
    n_calls = {}
    for name, call in calls.items():
        start = time.perf_counter()
        call()
        first = time.perf_counter() - start
        n_calls[name] = max(1, min(1000, math.ceil(SHORTEST_SAMPLE / max(first, 1e-9))))
    timings = {name: Timing() for name in calls}
    collecting = gc.isenabled()
    for _ in range(n_repeats):
        for name, call in calls.items():
            gc.collect()
            gc.disable()
            try:
                seconds, cpu_seconds = _time_once(call, n_calls[name])
            finally:
                if collecting:
                    gc.enable()
            timings[name].seconds.append(seconds)
            timings[name].cpu_seconds.append(cpu_seconds)
    return timings


def fit_exponent(sizes, times):
    """Exponent b of time = a * size**b, by least squares on the logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
