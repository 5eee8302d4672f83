"""Peak memory of one fit, measured in a fresh process.

``python -m benchmarks.memory DIRECTORY PEER THREADS`` reads ``X.npy``, ``y.npy`` and
the rest of the task from ``task.json``, fits, and prints a JSON object with the bytes.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.peers import OWN, PEERS
from benchmarks.tasks import Task

PROCESS = Path("/proc/self")
#: What of a task is not an array.
OPTIONS = ("kind", "criterion", "algorithm", "n_trees", "max_features", "max_bins")


def _read_status(field):
    for line in (PROCESS / "status").read_text().splitlines():
        if line.startswith(field):
            return int(line.split()[1]) * 1024
    raise KeyError(field)


def read_resident():
    """Bytes resident now, and the most that ever were."""
    if PROCESS.exists():
        return _read_status("VmRSS"), _read_status("VmHWM")
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
    return peak, peak


def measure_fit(directory, peer_name, n_threads):
    """Fit on the saved arrays; bytes of X, resident before, and the peak."""
    peer = OWN if peer_name == OWN.name else PEERS[peer_name]
    # A small fit first: imports and buffers of the libraries are not its cost.
    options = json.loads((Path(directory) / "task.json").read_text())
    random = np.random.default_rng(0)
    small = Task(random.random((200, 2)), random.integers(2, size=200), **options)
    peer.make_fit(small, n_threads)()
    X = np.load(Path(directory) / "X.npy")
    y = np.load(Path(directory) / "y.npy")
    fit = peer.make_fit(Task(X, y, **options), n_threads)
    before, peak_before = read_resident()
    start = time.perf_counter()
    model = fit()
    seconds = time.perf_counter() - start
    _, peak = read_resident()
    pickle_bytes = None
    if hasattr(peer, "make_estimator"):
        pickle_bytes = len(pickle.dumps(model, pickle.HIGHEST_PROTOCOL))
    return {
        "x_bytes": X.nbytes,
        "before": before,
        "peak_before": peak_before,
        "peak": peak,
        "peak_bytes": peak - before,
        "times_x": (peak - before) / X.nbytes,
        "pickle_bytes": pickle_bytes,
        "seconds": seconds,
        "n_leaves": peer.count_leaves(model),
    }


def measure_in_fresh_process(task, peers, n_threads):
    """Run :func:`measure_fit` once per peer, each in a process of its own."""
    measured = {}
    with tempfile.TemporaryDirectory() as directory:
        np.save(Path(directory) / "X.npy", task.X)
        np.save(Path(directory) / "y.npy", task.y)
        options = {name: getattr(task, name) for name in OPTIONS}
        (Path(directory) / "task.json").write_text(json.dumps(options))
        for peer in peers:
            done = subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "benchmarks.memory",
                    directory,
                    peer.name,
                    str(n_threads),
                ],
                cwd=Path(__file__).parent.parent,
                env=os.environ,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise RuntimeError(f"{peer.name} failed:\n{done.stderr}")
            measured[peer.name] = json.loads(done.stdout)
    return measured


if __name__ == "__main__":
    print(json.dumps(measure_fit(sys.argv[1], sys.argv[2], int(sys.argv[3]))))
