"""The published JSON Schema: every file that is written is valid by it."""

import copy
import json
from pathlib import Path

import pandas as pd
import pytest

from sklearn_textbook.io import make_model_schema
from sklearn_textbook.io.saved_model import save_document
from sklearn_textbook.tree import CARTClassifier
from tests.io.freeze_models import FOLDER
from tests.io.test_ensemble_file import CLASSIFIERS, FRAME, LABELS, REGRESSORS, VALUES
from tests.io.test_fitted_model_file import CASES, fit
from tests.io.test_frozen_models import NAMES

PUBLISHED = Path(__file__).parents[2] / "doc" / "user_guide" / "model_schema.json"


@pytest.fixture(scope="module")
def validator():
    jsonschema = pytest.importorskip("jsonschema")
    schema = make_model_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def require_valid(validator, document):
    document = json.loads(json.dumps(document, allow_nan=False))
    errors = [
        f"{error.json_path}: {error.message}"[:300]
        for error in validator.iter_errors(document)
    ]
    assert errors == []


def test_published_schema_is_this_one():
    """``python -m sklearn_textbook.io.model_schema > PUBLISHED`` writes it."""
    assert json.loads(PUBLISHED.read_text("utf-8")) == make_model_schema()


@pytest.mark.parametrize("name", CASES)
def test_models_are_valid(validator, name):
    model, X, y = CASES[name]
    require_valid(validator, save_document(fit(model, X, y), "y", {"n_rows": 3}))


def test_columns_of_dates_may_have_a_time_zone(validator):
    days = pd.date_range("2024-01-01", periods=4, tz="Europe/Berlin")
    model = CARTClassifier().fit(pd.DataFrame({"when": days}), [0, 0, 1, 1])
    document = save_document(model, "y", {"n_rows": 4})
    assert "Europe/Berlin" in json.dumps(document)
    require_valid(validator, document)


@pytest.mark.parametrize("estimator", CLASSIFIERS + REGRESSORS, ids=repr)
def test_ensembles_are_valid(validator, estimator):
    y = VALUES if estimator in REGRESSORS else LABELS
    require_valid(validator, save_document(fit(estimator, FRAME, y), None, None))


@pytest.mark.parametrize("name", NAMES)
def test_frozen_files_are_valid(validator, name):
    require_valid(validator, json.loads((FOLDER / f"{name}.json").read_text("utf-8")))


@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("PCA", ["kept", "components_"], "text"),
        ("PCA", ["kept", "other_"], 1),
        ("PCA", ["estimator"], "os.system"),
        ("LinearRegression", ["kept", "_rows", "record"], "os"),
        ("LinearRegression", ["terms", 0], {"codes": [-1], "reference": None}),
        ("CARTClassifier", ["tree", "n_features"], 0),
        ("CARTClassifier", ["classes", 0, "values"], []),
        ("BaggingClassifier", ["trees"], []),
        ("BaggingClassifier", ["member", "class"], "PCA"),
        ("BaggingClassifier", ["kept", "seeds"], {"dtype": "O"}),
    ],
)
def test_other_files_are_not_valid(validator, name, place, value):
    document = json.loads((FOLDER / f"{name}.json").read_text("utf-8"))
    changed = copy.deepcopy(document)
    inner = changed
    for key in place[:-1]:
        inner = inner[key]
    inner[place[-1]] = value
    assert validator.is_valid(document)
    assert not validator.is_valid(changed)
