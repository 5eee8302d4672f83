"""Refusing tables that need more memory than the machine has."""

from __future__ import annotations

import os

GIB = 2**30
#: Bytes that are not compared with the memory: reading its size would take longer than
#: all else in a small fit.
NEGLIGIBLE = 2**20
#: Files with the limit of a container on Linux, of either version of control groups.
LIMIT_FILES = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def measure_memory():
    """Measure the memory that this process may use at most.

    Returns
    -------
    n_bytes : int or None
        The memory of the machine, or the limit of its container if that is less; None
        on systems that do not tell.
    """
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return None
    n_bytes = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    for name in LIMIT_FILES:
        try:
            with open(name, encoding="ascii") as file:
                n_bytes = min(n_bytes, int(file.read()))
        except (OSError, ValueError):  # no such file, or "max"
            continue
    return n_bytes


def require_memory(n_bytes, what, purpose, remedy, error=MemoryError):
    """Raise an error before arrays are allocated that are larger than the memory.

    Parameters
    ----------
    n_bytes : float
        Size of the arrays.
    what : str
        The estimator or parameter that needs them.
    purpose : str
        For what: "for 5 rows".
    remedy : str
        Sentence on what to do instead.
    error : type, default=MemoryError
        Class of the error.

    Raises
    ------
    MemoryError
        If they are larger than the memory of this machine.
    """
    if n_bytes < NEGLIGIBLE:
        return
    memory = measure_memory()
    if memory is not None and n_bytes > memory:
        raise error(
            f"{what} needs {n_bytes / GIB:.4g} GiB of memory {purpose}, but this "
            f"machine has {memory / GIB:.4g} GiB. {remedy}"
        )
