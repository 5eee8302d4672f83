"""Linear models, models that consist of models, and pipelines, for tests of exports."""

import functools
import warnings

import numpy as np
from sklearn import decomposition
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.feature_selection import SelectKBest
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegression as StockLogisticRegression
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline, make_union
from sklearn.preprocessing import (
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
    TargetEncoder,
)

from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    AdaBoostClassifier,
    AveragingRegressor,
    BaggingClassifier,
    BaggingRegressor,
    BayesianModelAveragingClassifier,
    BayesianModelAveragingRegressor,
    GradientBoostingClassifier,
    MultiResponseLinearRegression,
    OutputCodeClassifier,
    RandomForestRegressor,
    StackingClassifier,
    StackingRegressor,
    VotingClassifier,
)
from sklearn_textbook.linear_model import (
    ElasticNet,
    ElasticNetClassifier,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
)
from sklearn_textbook.tree import (
    C45Classifier,
    C45RulesClassifier,
    CARTClassifier,
    CARTRegressor,
)
from tests.exchange.test_levels import make_frame, make_target

MEAN = {"missing": "mean"}
FEW = {"n_estimators": 3, "random_state": 0}
LOGISTIC = LogisticRegression(C=1.0, **MEAN)
MEMBERS = [
    ("c45", C45Classifier()),
    ("cart", CARTClassifier(max_depth=3)),
    ("logistic", LOGISTIC),
]
TREES = MEMBERS[:2]
REGRESSORS = [
    ("tree", CARTRegressor(max_depth=4)),
    ("line", LinearRegression(**MEAN)),
    ("forest", RandomForestRegressor(**FEW, max_depth=4)),
]
#: To impute, scale and encode all but one column.
PREPARE = make_column_transformer(
    (make_pipeline(SimpleImputer(add_indicator=True), StandardScaler()), ["a", "b"]),
    (OneHotEncoder(handle_unknown="ignore"), ["letter"]),
    (
        OrdinalEncoder(
            handle_unknown="use_encoded_value",
            unknown_value=-1,
            encoded_missing_value=-2,
        ),
        slice("size", "size"),
    ),
)
FILLED = make_pipeline(SimpleImputer(), RobustScaler())

#: What is predicted: a value, one above 0, two values, a fraction, 2 or 3 classes.
LINEAR = {
    "least squares": (LinearRegression(**MEAN), "value"),
    "least squares of two values": (LinearRegression(**MEAN), "values"),
    "rows without missing values": (LinearRegression(missing="drop"), "value"),
    "logistic": (LOGISTIC, 3),
    "logistic of two classes": (LOGISTIC, 2),
    "entropy": (MaxEntClassifier(**MEAN, alpha=1.0), 3),
    "entropy of two classes": (MaxEntClassifier(**MEAN, alpha=1.0), 2),
    "discriminant": (
        LinearDiscriminantAnalysis(**MEAN, categorical_features="from_dtype"),
        3,
    ),
    "poisson": (GeneralizedLinearRegressor("poisson", **MEAN), "positive"),
    "log": (GeneralizedLinearRegressor(transform_y="log", **MEAN), "positive"),
    "logit": (GeneralizedLinearRegressor("binomial", **MEAN), "fraction"),
    "cloglog": (
        GeneralizedLinearRegressor("binomial", link="cloglog", **MEAN),
        "fraction",
    ),
    "inverse": (GeneralizedLinearRegressor("gamma", **MEAN), "positive"),
    "power": (
        GeneralizedLinearRegressor("poisson", link="power", link_power=0.5, **MEAN),
        "positive",
    ),
    "penalised": (ElasticNet(0.05, **MEAN), "value"),
    "penalised counts": (ElasticNet(0.05, family="poisson", **MEAN), "positive"),
    "penalised logistic": (ElasticNetClassifier(0.01, **MEAN), 3),
    "penalised logistic of two classes": (ElasticNetClassifier(0.01, **MEAN), 2),
    "averaged subsets": (BayesianModelAveragingRegressor(**MEAN), "value"),
}
COMPOSED = {
    "votes": (VotingClassifier(MEMBERS), 3),
    "votes with ties": (
        VotingClassifier(MEMBERS, weights=[1, 2, 1], tie_breaking="confidence"),
        2,
    ),
    "soft votes": (VotingClassifier(MEMBERS, voting="soft", weights=[1, 2, 3]), 3),
    "average": (AveragingRegressor(REGRESSORS, weights=[1, 2, 3]), "value"),
    "stack": (StackingClassifier(MEMBERS, cv=2), 3),
    "stack of two classes": (StackingClassifier(MEMBERS, cv=2), 2),
    "stack by class": (
        StackingClassifier(
            MEMBERS, MultiResponseLinearRegression(inputs="class"), cv=2
        ),
        3,
    ),
    "stack with columns": (
        StackingClassifier(TREES, C45Classifier(), cv=2, passthrough=True),
        3,
    ),
    "stack of decisions": (
        StackingClassifier(
            [MEMBERS[2]],
            StockLogisticRegression(),
            cv=2,
            stack_method="decision_function",
        ),
        2,
    ),
    "stack of values": (StackingRegressor(REGRESSORS, Ridge(), cv=2), "value"),
    "averaged classes": (BayesianModelAveragingClassifier(MEMBERS, cv=2), 3),
    "averaged values": (BayesianModelAveragingRegressor(REGRESSORS, cv=2), "value"),
    "codes": (OutputCodeClassifier(random_state=0), 3),
    "codes of votes": (
        OutputCodeClassifier(C45Classifier(), code="one_vs_one", decoding="hamming"),
        3,
    ),
    "codes of zeros": (
        OutputCodeClassifier(
            C45Classifier(), code="sparse_random", loss="hinge", random_state=0
        ),
        3,
    ),
    "codes of decisions": (OutputCodeClassifier(LOGISTIC, random_state=0), 3),
    "rules": (C45RulesClassifier(), 3),
    "rules without any": (C45RulesClassifier(min_samples_leaf=300), 3),
    "adaboost of lines": (AdaBoostClassifier(LOGISTIC, n_estimators=3), 3),
    "bagging of lines": (BaggingClassifier(LOGISTIC, **FEW), 3),
    "bagging of columns": (
        BaggingRegressor(LinearRegression(**MEAN), **FEW, max_features=0.7),
        "value",
    ),
}
PIPELINES = {
    "prepared line": (make_pipeline(PREPARE, LogisticRegression(C=1.0)), 3),
    "prepared tree": (make_pipeline(PREPARE, CARTClassifier(max_depth=5)), 3),
    "components": (
        make_pipeline(
            PREPARE,
            make_union(PCA(3, whiten=True), decomposition.PCA(2), TruncatedSVD(2)),
            SelectKBest(k=4),
            RandomForestRegressor(**FEW, max_depth=4),
        ),
        "value",
    ),
    "discriminants": (
        make_pipeline(
            PREPARE,
            MaxAbsScaler(),
            LinearDiscriminantAnalysis(),
            CARTClassifier(max_depth=3),
        ),
        3,
    ),
    "text as it is": (
        make_pipeline(
            make_column_transformer(
                (MinMaxScaler(), ["a", "b"]), ("passthrough", ["letter", "size"])
            ),
            C45Classifier(),
        ),
        3,
    ),
    "target codes": (
        make_pipeline(
            make_column_transformer(
                (TargetEncoder(random_state=0), ["letter", "size"]),
                (FILLED, ["a", "b"]),
            ),
            GradientBoostingClassifier(n_estimators=5),
        ),
        2,
    ),
    "filled text": (
        make_pipeline(
            make_column_transformer(
                (
                    make_pipeline(
                        SimpleImputer(strategy="most_frequent"),
                        OneHotEncoder(handle_unknown="ignore", drop="first"),
                    ),
                    ["letter"],
                ),
                (FILLED, ["a", "b"]),
            ),
            LinearRegression(),
        ),
        "value",
    ),
    "votes of pipelines": (
        VotingClassifier(
            [
                ("line", make_pipeline(PREPARE, LogisticRegression(C=1.0))),
                ("cart", CARTClassifier(max_depth=3)),
            ],
            voting="soft",
        ),
        3,
    ),
}
CASES = LINEAR | COMPOSED | PIPELINES


def make_rows(n_rows=400, seed=0, missing=0.1, unknown=False):
    """Rows in double precision, as the programs compute."""
    frame = make_frame(n_rows, missing=missing, seed=seed, unknown=unknown)
    return frame.astype({"a": float, "b": float})


@functools.cache
def fit(name):
    """Fit the model of a case."""
    model, kind = CASES[name]
    X = make_rows()
    y = make_target(X)
    if isinstance(kind, int):
        labels = np.array(["it's", 'a "b"\\', "c\n?*/\u00e9"])
        y = labels[np.digitize(y, np.quantile(y, np.arange(1, kind) / kind))]
    elif kind == "values":
        y = np.stack([y, np.abs(y)], axis=1)
    elif kind == "positive":
        y = 1.0 + np.abs(y)
    elif kind == "fraction":
        y = (y > 1.0).astype(float)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return clone(model).fit(X, y)


@functools.cache
def predict(name, n_rows=200):
    """Rows, the predictions for them, and probabilities or values; None: no such."""
    model = fit(name)
    X = make_rows(n_rows, seed=1, missing=0.2, unknown=True)
    if name == "rows without missing values":
        X = X.dropna()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # levels not seen in training
        predicted = model.predict(X)
        if not hasattr(model, "classes_"):
            return X, predicted, predicted.reshape(len(X), -1)
        has_shares = hasattr(model, "predict_proba")
        return X, predicted, model.predict_proba(X) if has_shares else None
