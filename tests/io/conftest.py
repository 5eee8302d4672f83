"""Fixtures of tests of files."""

import pytest


@pytest.fixture(scope="package")
def folder(tmp_path_factory):
    """A folder for all examples: one for each takes longer than its file."""
    return tmp_path_factory.mktemp("examples")
