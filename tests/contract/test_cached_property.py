"""Cached properties hold no lock while they are computed."""

import os
import threading
import time

import numpy as np
import pytest

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook.ensemble import RandomForestClassifier
from sklearn_textbook.tree.members import MemberGrower
from tests.test_import_rules import PYTHON_FILES, find_in_files, python_imports

X = np.arange(40.0).reshape(20, 2)
Y = np.arange(20) % 2
SECONDS = 20


def fit_small_forest():
    RandomForestClassifier(2, random_state=0, n_jobs=1).fit(X, Y)


@pytest.fixture
def long_encoding(monkeypatch):
    """A thread that stays in the encoding of its table until the test ends."""
    began, may_end = threading.Event(), threading.Event()
    encode = MemberGrower._encode

    def encode_slowly(self, *arguments):
        if threading.current_thread() is thread:
            began.set()
            may_end.wait(SECONDS)
        return encode(self, *arguments)

    monkeypatch.setattr(MemberGrower, "_encode", encode_slowly)
    thread = threading.Thread(target=fit_small_forest, daemon=True)
    thread.start()
    assert began.wait(SECONDS)
    yield
    may_end.set()
    thread.join(SECONDS)


@pytest.mark.usefixtures("long_encoding")
def test_forests_do_not_wait_for_the_encoding_of_others():
    other = threading.Thread(target=fit_small_forest, daemon=True)
    other.start()
    other.join(SECONDS / 2)
    assert not other.is_alive()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
@pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning")
@pytest.mark.usefixtures("long_encoding")
def test_forks_during_an_encoding_can_fit():
    child = os.fork()
    if child == 0:
        fit_small_forest()
        os._exit(0)
    for _ in range(100 * SECONDS):
        number, status = os.waitpid(child, os.WNOHANG)
        if number:
            assert status == 0
            return
        time.sleep(0.01)
    os.kill(child, 9)
    os.waitpid(child, 0)
    pytest.fail("the child waits forever")


def test_threads_get_the_same_object():
    barrier = threading.Barrier(2)

    class Example:
        @cached_property
        def value(self):
            barrier.wait(SECONDS)
            return object()

    example, found = Example(), []
    threads = [
        threading.Thread(target=lambda: found.append(example.value)) for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found[0] is found[1] is example.value
    assert isinstance(Example.value, cached_property)


def test_that_of_functools_is_not_used():
    def list_uses(path):
        if path.name == "cached_property.py":
            return []
        return [
            module
            for module, names in python_imports(path)
            if module == "functools" and "cached_property" in names
        ]

    assert find_in_files(PYTHON_FILES, list_uses) == {}
