"""skops saves and reads our estimators with the types that are listed for it."""

from pathlib import Path
from textwrap import dedent

import numpy as np
import pandas as pd
import pytest
from sklearn.base import is_classifier
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder, StandardScaler

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    AveragingRegressor,
    BaggingClassifier,
    GradientBoostingClassifier,
    OutputFlippingClassifier,
    OutputSmearingClassifier,
    RandomForestClassifier,
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
GUIDE = Path(__file__).parents[2] / "doc" / "user_guide" / "files.rst"


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
    "estimator",
    [
        CARTClassifier(),
        GradientBoostingClassifier(n_estimators=3),
        LinearDiscriminantAnalysis(),
        LogisticRegression(C=1.0),
        RandomForestClassifier(n_estimators=3),
    ],
    ids=repr,
)
def test_pipelines_that_prepare_columns(estimator):
    io = pytest.importorskip("skops.io")
    columns = make_column_transformer(
        (make_pipeline(SimpleImputer(), StandardScaler()), ["number"]),
        (OneHotEncoder(drop="first", sparse_output=False), ["letter"]),
        (OrdinalEncoder(), ["size"]),
    )
    X = pd.DataFrame(
        {
            "number": [1.5, None, 2.0, 4.0, 3.5, 1.0, 0.5, 2.5] * 5,
            "letter": list("abcabacb") * 5,
            "size": ["small", "large"] * 20,
        }
    )
    y = ["no", "yes", "no", "yes", "yes", "no", "yes", "yes"] * 5
    model = make_pipeline(columns, estimator).fit(X, y)
    trusted = [*list_trusted_types(), "numpy.dtype"]
    assert_same(io.loads(io.dumps(model), trusted=trusted), model, X)


def test_documented_example(tmp_path, monkeypatch):
    pytest.importorskip("skops.io")
    if not GUIDE.is_file():
        pytest.skip("without the source, there is no documentation")
    monkeypatch.chdir(tmp_path)
    text = GUIDE.read_text(encoding="utf-8").partition("    import skops.io\n")
    example = dedent(text[1] + text[2].partition("\n:func:")[0])
    names = {}
    exec(example, names)
    X = names["golf"].data
    assert_same(names["loaded"], names["pipeline"], X)


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
