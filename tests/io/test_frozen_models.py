"""Model files of earlier versions are read, and predict what they did then."""

import json

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook._contract.registry import ESTIMATORS
from sklearn_textbook.io import read_model
from tests.io.freeze_models import FOLDER, METHODS

NAMES = sorted(path.stem for path in FOLDER.glob("*.json") if "." not in path.stem)


def test_every_class_has_a_file():
    assert {name.partition("-")[0] for name in NAMES} == ESTIMATORS.keys()


@pytest.mark.parametrize("name", NAMES)
def test_frozen_file(name):
    saved = read_model(FOLDER / f"{name}.json")
    model = saved.estimator
    text = (FOLDER / f"{name}.expected.json").read_text("utf-8")
    expected = json.loads(text)
    assert (type(model).__name__, saved.target) == (name.partition("-")[0], "y")
    X = pd.DataFrame(expected["rows"], columns=expected["columns"])
    assert list(saved.schema.names) == expected["columns"]
    for method in METHODS:
        if method not in expected:
            continue
        found, wanted = getattr(model, method)(X), np.array(expected[method])
        if wanted.dtype.kind == "f":
            # Exponentials may differ in the last bit from machine to machine.
            np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-14)
        else:
            np.testing.assert_array_equal(found, wanted)
    if hasattr(model, "summary") and hasattr(model, "coef_names_"):
        assert all(str(name) in model.summary() for name in model.coef_names_)
