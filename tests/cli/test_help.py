"""The help of the command, and what the command loads for it."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from sklearn_textbook.cli.commands import compare, fit, predict, show

ROOT = Path(__file__).parents[2]
DATA = Path(__file__).parents[1] / "data"


@pytest.mark.parametrize(
    "command_", [fit, compare, predict, show], ids=lambda c: c.name
)
def test_help_is_complete(command, command_):
    text = " ".join(command(command_.name, "--help").split())
    assert "Examples:" in text
    for parameter in command_.params:
        if parameter.param_type_name == "option":
            assert parameter.help, parameter.name
            for name in [*parameter.opts, *parameter.secondary_opts]:
                assert name in text


def test_help_of_the_command(command):
    assert command() == command("--help")
    text = command("-h")
    for name in (
        "fit",
        "compare",
        "predict",
        "show",
        "Exit codes: 0 success, 1 internal error",
    ):
        assert name in text


def test_help_needs_no_numpy(tmp_path):
    code = (
        "import sys; from sklearn_textbook.cli import main; main(['fit', '--help']);"
        "sys.exit('numpy' in sys.modules or 'pyarrow' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True)
    assert done.returncode == 0, done.stderr


def test_show_loads_only_what_it_needs(command, iris_model, tmp_path):
    """No table reader, and none of scikit-learn's own estimators."""
    unused = [
        *("pyarrow.csv", "pyarrow.parquet", "matplotlib", "sklearn.model_selection"),
        *(f"sklearn.{name}" for name in ("tree", "ensemble", "linear_model")),
    ]
    code = (
        "import sys; from sklearn_textbook.cli import main;"
        f"main(['show', {iris_model!r}]);"
        f"sys.exit(str([name for name in {unused} if name in sys.modules]))"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True
    )
    assert done.stderr == b"[]\n", done.stderr


def test_examples_of_the_help_work(command):
    """The first example of every command is run as it stands."""
    shutil.copy(DATA / "iris.csv", "iris.csv")
    shutil.copy(DATA / "iris.csv", "new.csv")
    for line in command("--help").splitlines():
        if line.strip().startswith("sklearn-textbook "):
            command(*line.split()[1:])
    assert Path("predicted.csv").read_text().count("\n") == 151


def test_parquet_example_with_identifier(command):
    rng = np.random.default_rng(0)
    frame = {
        "address": [f"street {i}" for i in range(40)],
        "rooms": rng.integers(1, 6, 40),
        "price": rng.normal(100, 20, 40),
    }
    parquet.write_table(pa.table(frame), "house.parquet")
    arguments = ["fit", "house.parquet", "--target", "price", "--id", "address"]
    text = command(*arguments, "--save", "house.json")
    assert "left out: 'address'\n" in text
    predicted = command("predict", "house.json", "house.parquet")
    assert predicted.startswith("address,prediction\nstreet 0,")
