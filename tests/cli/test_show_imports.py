"""Saved trees are printed without importing scikit-learn, which takes a second."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from sklearn_textbook.cli import show as show_module
from sklearn_textbook.io import model_file, read_model
from sklearn_textbook.io.printed_model import load_printed

MODELS = Path(__file__).parents[1] / "data" / "models"
FORESTS = tuple(
    f"{name}{kind}"
    for name in ("RandomForest", "ExtraTrees", "Bagging", "RandomSubspace")
    for kind in ("Classifier", "Regressor")
)
FORMS = {
    "CARTClassifier": ("text", "rules", "sql", "python", "dot", "json"),
    "CARTRegressor": ("text", "rules", "sql", "python", "dot", "json"),
    # SQL divides no rows.
    "C45Classifier": ("text", "rules", "python", "dot", "json"),
    "ID3Classifier": ("text", "rules", "python", "dot", "json"),
    "C45RulesClassifier": ("text", "rules", "sql", "python", "json"),
    **dict.fromkeys(
        ("ObliqueTreeClassifier", "ObliqueTreeRegressor"),
        ("text", "rules", "sql", "python", "dot", "json"),
    ),
    **dict.fromkeys(FORESTS, ("text", "json")),
}
#: All that such a command imports beside the standard library and this package.
ALLOWED = {"click", "numpy", "rich", "scipy"}


def list_calls():
    """Arguments of show for every model file and form, and for a member of a forest."""
    calls = []
    for name, forms in FORMS.items():
        path = str(MODELS / f"{name}.json")
        calls += [("show", path, "--as", form) for form in forms]
        if name in FORESTS:
            calls.append(("show", path, "--member", "1", "--as", "rules"))
    return calls


def test_printing_trees_imports_no_scikit_learn():
    code = (
        "import json, sys\n"
        "from sklearn_textbook.cli import main\n"
        "for call in json.loads(sys.argv[1]):\n"
        "    code = main(call)\n"
        "    assert code == 0, (code, call)\n"
        "print(json.dumps(list(sys.modules)))\n"
    )
    printed = subprocess.run(
        [sys.executable, "-c", code, json.dumps(list_calls())],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    loaded = json.loads(printed.splitlines()[-1])
    others = {name.partition(".")[0] for name in loaded}
    others -= {*sys.stdlib_module_names, "sklearn_textbook"}
    assert "sklearn_textbook.tree.explain.rules" in loaded
    # Compiled modules register names of Cython, editable installs one of their own.
    own = re.compile("_|cython", re.IGNORECASE)
    assert {name for name in others if not own.match(name)} <= ALLOWED
    assert "scipy.sparse" not in loaded


@pytest.mark.parametrize(
    "call", list_calls(), ids=lambda call: f"{Path(call[1]).stem} {call[-1]}"
)
def test_same_text_as_of_the_estimator(command, monkeypatch, call):
    shown = command(*call)
    monkeypatch.setattr(show_module, "read_with", lambda _, path: read_model(path))
    assert command(*call) == shown


def test_other_models_are_read_whole():
    path = MODELS / "AdaBoostClassifier.json"
    whole = model_file.read_with(load_printed, path).estimator
    assert type(whole) is type(read_model(path).estimator)


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("CARTClassifier", {"parameters": []}, "parameters must be an object"),
        ("CARTClassifier", {"tree": {}}, "This is not a grown"),
        ("CARTClassifier", {"classes": None}, "do not match a CARTClassifier"),
        ("RandomForestClassifier", {"kept": {"oob_score_": "x"}}, "oob_score_ must be"),
        ("RandomForestClassifier", {"trees": []}, "trees must be a non-empty list"),
    ],
)
def test_damaged_files(command, tmp_path, name, change, message):
    document = json.loads((MODELS / f"{name}.json").read_text("utf-8"))
    (tmp_path / "bad.json").write_text(json.dumps({**document, **change}), "utf-8")
    error = command("show", "bad.json", code=4)
    assert error.startswith("sklearn-textbook: bad.json: is damaged: ")
    assert message in error
