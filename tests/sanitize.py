"""Run tests under AddressSanitizer and UndefinedBehaviorSanitizer (GCC on Linux).

``python -m tests.sanitize`` compiles a copy of the package under ``build/sanitized``
with both and runs the tests of growth, pruning and routing there; arguments are for
pytest in their place. The first error ends the run with a report of its place.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
COPY = ROOT / "build" / "sanitized"
SANITIZERS = "address,undefined"
#: Loaded before Python; with the C++ library, matplotlib may throw exceptions.
LIBRARIES = ("libasan.so", "libubsan.so", "libstdc++.so")
DEFAULT_TESTS = ("tests/growth", "tests/prune", "tests/route")
#: They limit or measure the memory, of which the sanitizers take more than the tests.
LEFT_OUT = (
    "tests/growth/test_many_classes.py::test_memory_that_runs_out",
    "tests/growth/test_many_classes.py::test_classes_that_a_node_lacks_take_no_memory",
)


def copy_sources():
    """Copy what has to be built and tested; times stay, so that builds are short."""
    leave_out = shutil.ignore_patterns("*.so", "__pycache__")
    for name in ("sklearn_textbook", "tests", "doc"):
        shutil.copytree(ROOT / name, COPY / name, ignore=leave_out, dirs_exist_ok=True)
    for name in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / name, COPY / name)


def find_library(name):
    """Where GCC has a run-time library."""
    found = subprocess.run(
        ["gcc", f"-print-file-name={name}"], capture_output=True, text=True, check=True
    )
    return found.stdout.strip()


def main(arguments):
    """Build and test; returns the status of the command."""
    copy_sources()
    subprocess.run(
        [sys.executable, "setup.py", "build_ext", "--inplace"],
        cwd=COPY,
        env=os.environ | {"SKLEARN_TEXTBOOK_SANITIZE": SANITIZERS},
        check=True,
    )
    options = {
        "PYTHONPATH": str(COPY),
        "PYTHONMALLOC": "malloc",
        "LD_PRELOAD": " ".join(map(find_library, LIBRARIES)),
        # Python keeps memory until it ends.
        "ASAN_OPTIONS": "detect_leaks=0",
        "UBSAN_OPTIONS": "halt_on_error=1:print_stacktrace=1",
    }
    pytest = [sys.executable, "-m", "pytest", "-p", "no:faulthandler", "-s", "-q"]
    left_out = [f"--deselect={test}" for test in LEFT_OUT]
    tests = subprocess.run(
        [*pytest, *left_out, *(arguments or DEFAULT_TESTS)],
        cwd=COPY,
        env=os.environ | options,
        check=False,
    )
    return tests.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
