"""What all tests share."""

import functools
import gc
import inspect
import os

# Workers of pytest-xdist share the cores: where each took as many threads as there
# are cores, they would wait for each other, spinning. Tests of several threads ask
# for them by n_jobs. The libraries read this when they are loaded.
if "PYTEST_XDIST_WORKER_COUNT" in os.environ:
    n_workers = int(os.environ["PYTEST_XDIST_WORKER_COUNT"])
    n_threads = max(1, (os.cpu_count() or 1) // n_workers)
    for library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{library}_NUM_THREADS", str(n_threads))
    # Nor do threads that have nothing to do keep a core busy.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")

import hypothesis
import matplotlib

# Lets scikit-learn's checks of array API input run; scipy reads it when imported.
os.environ.setdefault("SCIPY_ARRAY_API", "1")

matplotlib.use("agg")

# Machines differ in speed and share their cores, so no example is timed. The
# examples are the same in every run unless HYPOTHESIS_PROFILE=explore asks for
# new ones.
hypothesis.settings.register_profile(
    "default", deadline=None, derandomize=True, print_blob=True, max_examples=50
)
hypothesis.settings.register_profile("explore", deadline=None, max_examples=2_000)
hypothesis.settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "default"))


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


def pytest_collection_finish():
    """Keep garbage collection from visiting all collected tests."""
    gc.collect()
    gc.freeze()
