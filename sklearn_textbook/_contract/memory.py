"""Errors and warnings of what needs more memory than the machine has."""

from __future__ import annotations

import os

import numpy as np

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.file_memory import is_in_files

GIB = 2**30
#: Bytes that are not compared with the memory: reading its size would take longer than
#: all else in a small fit.
NEGLIGIBLE = 2**20
#: Files with the limit of a container on Linux, of either version of control groups.
LIMIT_FILES = (
    "/sys/fs/cgroup/memory.max",
    "/sys/fs/cgroup/memory/memory.limit_in_bytes",
)


def measure_memory() -> int | None:
    """Measure the memory that this process may use at most."""
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


def require_memory(
    n_bytes: float, what: str, purpose: str, remedy: str, error: type = MemoryError
) -> None:
    """Raise an error before arrays are allocated that are larger than the memory.

    Those in files may be.
    """
    if n_bytes < NEGLIGIBLE or is_in_files():
        return
    memory = measure_memory()
    if memory is not None and n_bytes > memory:
        raise error(
            f"{what} needs {n_bytes / GIB:.4g} GiB of memory {purpose}, but this "
            f"machine has {memory / GIB:.4g} GiB. {remedy}"
        )


#: Bytes of class weights above which a warning is given, and the fewest classes: with
#: fewer, a table of many rows needs more memory than the class counts.
MEMORY_TO_WARN = 2**31
MANY_CLASSES = 100
_LARGEST_DEPTH = 62


def warn_of_memory(estimator, n_rows: int) -> None:
    """Warn if the class weights of the largest possible tree need gigabytes."""
    n_classes = int(np.sum(getattr(estimator, "n_classes_", 1)))
    n_nodes = 2 * _bound_leaves(estimator, n_rows) - 1
    # Growing holds the weights of the nodes twice: in its memory and in the result.
    n_bytes = 2 * 8 * n_nodes * n_classes
    if n_classes < MANY_CLASSES or n_bytes <= MEMORY_TO_WARN:
        return
    warn_caller(
        f"A tree for {n_rows:,} rows and {n_classes:,} classes may need "
        f"{n_bytes / 1e9:.1f} GB of memory, because each of about {n_nodes:,} nodes "
        "stores the weight of every class. Limit the tree by max_leaf_nodes, max_depth "
        "or min_samples_leaf, or merge classes with few rows.",
        UserWarning,
    )


def _bound_leaves(estimator, n_rows):
    """Maximum number of leaves, from the parameters that limit it."""
    bounds = [n_rows]
    max_leaf_nodes = getattr(estimator, "max_leaf_nodes", None)
    if max_leaf_nodes is not None:
        bounds.append(max_leaf_nodes)
    max_depth = getattr(estimator, "max_depth", None)
    if max_depth is not None:
        bounds.append(2 ** min(max_depth, _LARGEST_DEPTH))
    least = getattr(estimator, "min_samples_leaf", 1)
    if least < 1:
        bounds.append(1 / least if least > 0 else n_rows)
    else:
        bounds.append(n_rows / least)
    return max(1, int(min(bounds)))
