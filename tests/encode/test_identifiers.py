"""A column of text that names the rows is warned of, once per fit."""

import warnings

import numpy as np
import pandas as pd
import pytest

from sklearn_textbook.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
)


def make_frame(n_rows, n_levels):
    names = np.array([f"n{i % n_levels}" for i in range(n_rows)], dtype=object)
    return pd.DataFrame({"name": names, "x": np.arange(n_rows) % 7})


@pytest.mark.parametrize(
    "estimator",
    [
        CARTClassifier(pruning="cost_complexity"),
        CARTRegressor(),
        ID3Classifier(),
        C45Classifier(),
        C45RulesClassifier(),
        RandomForestClassifier(3),
        BaggingClassifier(CARTClassifier(), n_estimators=3),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_one_warning_per_fit(estimator):
    X = make_frame(60, 54)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        estimator.fit(X, np.arange(60) % 2)
    messages = [str(warning.message) for warning in caught]
    assert [text for text in messages if "identifies the rows" in text] == [
        (
            "Column 'name' has 54 levels in 60 rows. A column that identifies the rows "
            "separates the training rows but does not generalize to others: leave "
            "it out."
        )
    ]


@pytest.mark.parametrize(
    "X",
    [
        make_frame(60, 53),
        make_frame(49, 49),
        make_frame(60, 60).astype({"name": "category"}),
        make_frame(60, 60)[["x"]],
    ],
)
def test_no_warning(X):
    CARTClassifier().fit(X, np.arange(len(X)) % 2)
