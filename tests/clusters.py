"""Clusters of Dask on this machine, for tests."""

from contextlib import contextmanager, suppress

import pytest


@contextmanager
def open_cluster(n_workers, **options):
    """Start a cluster of processes, and a client of it."""
    distributed = pytest.importorskip("distributed")
    options = {"threads_per_worker": 1, "dashboard_address": None, **options}
    local = distributed.LocalCluster(n_workers=n_workers, **options)
    client = distributed.Client(local)
    try:
        yield client
    finally:
        # On a busy machine a worker may take longer to end than Dask waits.
        with suppress(TimeoutError):
            client.close()
        with suppress(TimeoutError):
            local.close()
