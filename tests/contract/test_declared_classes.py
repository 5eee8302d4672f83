"""Categories of y that are declared, but have no rows, are no classes."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier

from sklearn_textbook.tree import CARTClassifier, ReducedErrorPruning
from tests.loops import loop_over
from tests.registry import INSTANCES

CLASSIFIERS = {
    name: instances[0]
    for name, instances in INSTANCES.items()
    if is_classifier(instances[0])
}
LABELS = np.array(["c", "a"] * 15)
TARGETS = {
    "pandas": pd.Series(pd.Categorical(LABELS, categories=["c", "b", "a"])),
    "ordered": pd.Series(pd.Categorical(LABELS, ["c", "b", "a"], ordered=True)),
    "polars": pl.Series(LABELS.tolist(), dtype=pl.Enum(["c", "b", "a"])),
}


# LogisticRegression names them in a warning.
@pytest.mark.filterwarnings("ignore:y declares classes without rows:UserWarning")
@pytest.mark.filterwarnings("ignore:y has classes that are text:UserWarning")
@loop_over("target", TARGETS)
@loop_over("name", CLASSIFIERS)
def test_classes_are_those_with_rows(name, target):
    X = np.random.default_rng(0).normal(size=(30, 3))
    classifier = clone(CLASSIFIERS[name]).fit(X, TARGETS[target])
    assert classifier.classes_.tolist() == ["a", "c"]
    if hasattr(classifier, "predict_proba"):
        assert classifier.predict_proba(X).shape == (30, 2)
    expected = clone(CLASSIFIERS[name]).fit(X, LABELS)
    if getattr(classifier, "random_state", 0) is not None:
        np.testing.assert_array_equal(classifier.predict(X), expected.predict(X))


def test_a_class_without_rows_in_the_training_part():
    """Held-out rows of a class that the training rows lack are an error, by name."""
    X = np.arange(4.0)[:, np.newaxis]
    y = pd.Series(pd.Categorical(["a", "c", "a", "c"], categories=["a", "b", "c"]))
    tree = CARTClassifier(pruning=ReducedErrorPruning())
    with pytest.raises(
        ValueError, match="y_val must contain only classes seen in .* got 'b'"
    ):
        tree.fit(X, y, X_val=X[:1], y_val=["b"])
