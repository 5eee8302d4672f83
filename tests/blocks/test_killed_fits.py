"""A fit in blocks that is interrupted or killed leaves no files behind."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from sklearn_textbook.tree.encode.block_columns import PREFIX, read_block_columns
from tests.blocks.tables import cut, draw_table

pytestmark = pytest.mark.skipif(os.name == "nt", reason="POSIX signals and locks")

PROGRAM = """
import sys, time
import pandas as pd
from sklearn_textbook.ensemble import GradientBoostingRegressor
from sklearn_textbook.io import Batches

frame = pd.DataFrame({"x": range(1000), "y": range(1000)})

def make_blocks():
    yield frame
    if sys.argv[1] == "reading":
        print("ready", flush=True)
        time.sleep(60)
    yield frame

class Loud(GradientBoostingRegressor):
    def _report(self, number, rounds, stopping):
        if number == 2:
            print("ready", flush=True)

Loud(n_estimators=10**6).fit(Batches(make_blocks, ["x", "y"]), "y")
"""


def list_folders(folder):
    return [path for path in Path(folder).iterdir() if path.name.startswith(PREFIX)]


def stop_fit(tmp_path, stage, number):
    """Start a fit in another process, and send it a signal at a stage."""
    program = [sys.executable, "-c", PROGRAM, stage]
    environment = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        program, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout.readline() == b"ready\n"
        assert len(list_folders(tmp_path)) == 1
        process.send_signal(number)
        process.communicate(timeout=60)
    return process.returncode


def test_a_full_disk_names_the_folder(tmp_path):
    """A limit of the size of files stands for the disk."""
    program = [
        "import resource, signal",
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)",
        "resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))",
        "from sklearn_textbook.ensemble import GradientBoostingRegressor",
        "from tests.blocks.tables import cut, draw_table",
        "source = cut(draw_table(70_000), 5000, ['x2', 'value'])",
        "GradientBoostingRegressor(n_estimators=1).fit(source, 'value')",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(program)],
        env=os.environ | {"TMPDIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "let TMPDIR name a folder on a larger disk" in done.stderr
    assert list_folders(tmp_path) == []


@pytest.mark.parametrize("stage", ["reading", "growing"])
def test_an_interrupted_fit_removes_its_files(tmp_path, stage):
    assert stop_fit(tmp_path, stage, signal.SIGINT) != 0
    assert list_folders(tmp_path) == []


@pytest.mark.parametrize("stage", ["reading", "growing"])
def test_the_next_fit_removes_files_of_a_killed_one(tmp_path, stage, monkeypatch):
    assert stop_fit(tmp_path, stage, signal.SIGKILL) == -signal.SIGKILL
    (abandoned,) = list_folders(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    source = cut(draw_table(100), 50, ["x2", "value"])
    columns = read_block_columns(source, "value", is_numeric=True)
    assert list_folders(tmp_path) == [columns.folder]
    assert columns.folder != abandoned
    # Those in use stay.
    other = read_block_columns(source, "value", is_numeric=True)
    assert columns.open_column(0).read(slice(0, 100)).shape == (100,)
    assert len(list_folders(tmp_path)) == 2
    columns.close()
    other.close()
    assert list_folders(tmp_path) == []
