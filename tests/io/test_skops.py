"""skops saves and reads our estimators with the types that are listed for it."""

import numpy as np
import pytest
from sklearn.base import is_classifier
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.ensemble import (
    AveragingRegressor,
    BaggingClassifier,
    OutputFlippingClassifier,
    OutputSmearingClassifier,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn_textbook.io import list_trusted_types
from sklearn_textbook.linear_model import LogisticRegression
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
    ID3Classifier,
    ObliqueTreeClassifier,
)
from tests.io.test_ensemble_file import CLASSIFIERS, REGRESSORS, make_frame
from tests.io.test_fitted_model_file import CASES, LABELS, NUMBERS, fit

FRAME, TREE_LABELS, TREE_VALUES = make_frame()


@pytest.fixture(scope="module")
def reload():
    io = pytest.importorskip("skops.io")

    def reload(model):
        # A type that is not trusted, and not listed, is an error of skops.
        return io.loads(io.dumps(model), trusted=list_trusted_types())

    return reload


def assert_same(loaded, model, X):
    method = "predict" if hasattr(model, "predict") else "transform"
    np.testing.assert_array_equal(getattr(loaded, method)(X), getattr(model, method)(X))


@pytest.mark.parametrize("name", CASES)
def test_models(reload, name):
    model, X, y = CASES[name]
    model = fit(model, X, y)
    if hasattr(model, "summary"):
        model.summary()  # keeps what it has computed
    assert_same(reload(model), model, X)


@pytest.mark.parametrize(
    "estimator",
    [
        *CLASSIFIERS,
        *REGRESSORS,
        ID3Classifier(),
        ObliqueTreeClassifier(),
        C45Classifier(),
        C45RulesClassifier(),
        OutputFlippingClassifier(n_estimators=2),
        OutputSmearingClassifier(n_estimators=2),
    ],
    ids=repr,
)
@pytest.mark.filterwarnings("ignore:Some inputs do not have OOB")
def test_trees(reload, estimator):
    y = TREE_VALUES if estimator in REGRESSORS else TREE_LABELS
    model = fit(estimator, FRAME, y)
    assert_same(reload(model), model, FRAME)


def test_pipelines(reload):
    steps = StandardScaler(), PCA(2), LogisticRegression()
    for model in (make_pipeline(*steps), BaggingClassifier(steps[-1], 2)):
        model = fit(model, NUMBERS, LABELS)
        assert_same(reload(model), model, NUMBERS)


@pytest.mark.parametrize(
    ("estimator", "parameters"),
    [
        (VotingClassifier, {"voting": "soft"}),
        (VotingClassifier, {"tie_breaking": "confidence", "weights": [1, 2]}),
        (StackingClassifier, {"passthrough": True}),
        (AveragingRegressor, {"weights": "non_negative"}),
        (StackingRegressor, {"cv": 3}),
    ],
)
def test_combinations(reload, estimator, parameters):
    """Also those with members of scikit-learn, which a model file cannot contain."""
    is_classes = is_classifier(estimator([]))
    members = [
        ("tree", CARTClassifier() if is_classes else CARTRegressor()),
        ("ridge", make_pipeline(StandardScaler(), Ridge())),
    ]
    if is_classes:
        members[1] = "bayes", make_pipeline(StandardScaler(), GaussianNB())
    y = LABELS if is_classes else NUMBERS["both"]
    model = fit(estimator(members, **parameters), NUMBERS, y)
    assert_same(reload(model), model, NUMBERS)


def test_types_are_ours():
    types = list_trusted_types()
    assert all(name.startswith("sklearn_textbook.") for name in types)
    assert len(set(types)) == len(types) > 40
