"""What all tests share."""

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
import pytest

from tests.less_overhead import pytest_collection  # noqa: F401
from tests.quick import QUICK

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


#: The quick tests, where these are run.
QUICK_ARGUMENTS = pytest.StashKey()


def pytest_addoption(parser):
    parser.addoption(
        "--all", action="store_true", help="run all tests, not only the quick ones"
    )


def pytest_configure(config):
    has_no_paths = config.args_source is pytest.Config.ArgsSource.TESTPATHS
    if has_no_paths and not config.option.all:
        # An installed package is tested from a copy without the source.
        has_source = (config.rootpath / "sklearn_textbook").is_dir()
        config.stash[QUICK_ARGUMENTS] = QUICK if has_source else QUICK[1:]
        # A module that is skipped, without what it imports, has no test of any name:
        # whole modules are collected, and the others of their tests are left out.
        paths = [path.partition("::")[0] for path in config.stash[QUICK_ARGUMENTS]]
        config.args[:] = dict.fromkeys(paths)


def pytest_collection_modifyitems(config, items):
    arguments = config.stash.get(QUICK_ARGUMENTS, ())
    named = tuple(path for path in arguments if "::" in path)
    modules = {path.partition("::")[0] for path in named}

    def is_quick(item):
        name, _, parameters = item.nodeid.partition("[")
        is_named = item.nodeid in named or (parameters and name in named)
        return is_named or name.partition("::")[0] not in modules

    if named:
        config.hook.pytest_deselected(
            items=[item for item in items if not is_quick(item)]
        )
        items[:] = filter(is_quick, items)
