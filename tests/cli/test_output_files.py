"""Outputs of the command: refused where they are inputs, and early."""

import os
import shutil
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from tests.cli.files import write

DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            "fit table.csv --target species --save table.csv",
            "--save table.csv: this is also the file of TABLE table.csv",
        ),
        (
            "fit table.csv --target species --save link.csv",
            "--save link.csv: this is also the file of TABLE table.csv",
        ),
        (
            "fit table.csv --target species --test test.csv --save test.csv",
            "--save test.csv: this is also the file of --test test.csv",
        ),
        (
            "fit golf --save golf.names",
            "--save golf.names: this is also the file of TABLE golf.names",
        ),
        (
            "fit table.csv --algorithm pca --save table.csv",
            "--save table.csv: this is also the file of TABLE table.csv",
        ),
        (
            "predict iris.json table.csv -o ./table.csv",
            "--output ./table.csv: this is also the file of TABLE table.csv",
        ),
        (
            "predict model.csv table.csv -o model.csv",
            "--output model.csv: this is also the file of MODEL model.csv",
        ),
        (
            "transform model.csv table.csv -o table.csv",
            "--output table.csv: this is also the file of TABLE table.csv",
        ),
        (
            "diversity model.csv table.csv -o table.csv",
            "--output table.csv: this is also the file of TABLE table.csv",
        ),
        (
            "show iris.json --as json -o iris.json",
            "--output iris.json: this is also the file of MODEL iris.json",
        ),
        (
            "convert model.py model.py",
            "OUTPUT model.py: this is also the file of MODEL model.py",
        ),
    ],
)
def test_inputs_are_not_overwritten(command, iris_model, arguments, message):
    for name in ("table.csv", "test.csv"):
        shutil.copy(DATA / "iris.csv", name)
    for name in ("model.csv", "model.py"):
        shutil.copy(iris_model, name)
    Path("link.csv").symlink_to("table.csv")
    write("golf.names", "yes, no.\nwindy: true, false.\n")
    write("golf.data", "true, yes\nfalse, no\n")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert message in command(*arguments.split(), code=2)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.skipif(not Path("/dev/stdin").exists(), reason="requires /dev/stdin")
def test_standard_input_is_not_overwritten(command, iris_model):
    shutil.copy(DATA / "iris.csv", "table.csv")
    with open("table.csv", "rb") as stream:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "sklearn_textbook"),
                *("predict", iris_model, "-", "-o", "table.csv"),
            ],
            stdin=stream,
            capture_output=True,
            text=True,
            check=False,
        )
    assert done.returncode == 2
    assert "this is also the file of TABLE" in done.stderr


def test_too_long_names_are_refused(command):
    name = "m" * 300 + ".json"
    arguments = ("fit", DATA / "iris.csv", "--target", "species", "--cv", 0)
    assert "cannot be written (" in command(*arguments, "--save", name, code=4)
    name = name.replace("json", "html")
    assert "cannot be written (" in command(*arguments, "--report", name, code=2)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="requires POSIX pipes")
def test_predictions_into_a_pipe(command, iris_model):
    os.mkfifo("pipe")
    read = []
    reader = threading.Thread(
        target=lambda: read.append(Path("pipe").read_text("utf-8"))
    )
    reader.daemon = True
    reader.start()
    command("predict", iris_model, DATA / "iris.csv", "-o", "pipe")
    reader.join(10)
    assert read[0].startswith("prediction\n")
    assert Path("pipe").is_fifo()
