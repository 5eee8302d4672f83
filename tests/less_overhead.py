"""Plug-in of pytest for many small tests: what they would do over and over, once.

It changes no answer. Our tests load it, and so do scikit-learn's own.
"""

import functools
import gc
import inspect

import numpy as np
import pytest
from narwhals.stable.v2 import dependencies

# scikit-learn reads the signature of __init__ whenever it asks for parameters, which
# takes a tenth of the time of its checks. That of a function stays the same.
read_signature = inspect.signature
read_init_signature = functools.cache(read_signature)


def find_signature(function, **options):
    """Read the signature of an ``__init__`` once; of all else as inspect does."""
    is_init = inspect.isfunction(function) and function.__name__ == "__init__"
    if is_init and not options and not hasattr(function, "__wrapped__"):
        return read_init_signature(function)
    return read_signature(function, **options)


inspect.signature = find_signature


def know_arrays(is_kind):
    """Answer for arrays at once, which narwhals looks for in vain among all frames."""

    @functools.wraps(is_kind)
    def is_kind_or_array(native):
        return type(native) is not np.ndarray and is_kind(native)

    return is_kind_or_array


# scikit-learn asks several times in every method that is given a table.
for name in ("is_into_dataframe", "is_into_series"):
    setattr(dependencies, name, know_arrays(getattr(dependencies, name)))


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Collect tests without garbage collection, which does not visit them later."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        gc.freeze()
        gc.enable()
