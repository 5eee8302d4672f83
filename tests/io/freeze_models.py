"""Write the model files that later versions must read: `python -m` this module.

A file that is there is left as it is; a new kind of model gets one of its own. From the
first release on, files of a newer schema get names such as ``PCA-2``, and the old ones
stay.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.base import clone

from sklearn_textbook import ensemble, tree
from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.io import save_model
from sklearn_textbook.linear_model import (
    ElasticNet,
    ElasticNetClassifier,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
    OrdinalRegression,
)
from sklearn_textbook.linear_model.base import BaseLinearModel

FOLDER = Path(__file__).parents[1] / "data" / "models"
METHODS = ("predict", "predict_proba", "transform")
FEW = {"n_estimators": 2, "random_state": 0}
CLASSIFIERS = [
    ("c45", tree.C45Classifier()),
    ("cart", tree.CARTClassifier(max_depth=1)),
]
REGRESSORS = [
    ("deep", tree.CARTRegressor(max_depth=3)),
    ("flat", tree.CARTRegressor(max_depth=1)),
]
#: One of each class that a model file can hold; nothing of a solver's last digits.
MODELS = {
    "CARTClassifier": tree.CARTClassifier(max_depth=2, missing="surrogate"),
    "CARTRegressor": tree.CARTRegressor(max_depth=2),
    "ID3Classifier": tree.ID3Classifier(),
    "C45Classifier": tree.C45Classifier(pruning=tree.ErrorBasedPruning(0.4)),
    "C45RulesClassifier": tree.C45RulesClassifier(),
    "ObliqueTreeClassifier": tree.ObliqueTreeClassifier(prefer_axis=None, max_depth=3),
    "ObliqueTreeRegressor": tree.ObliqueTreeRegressor(prefer_axis=None, max_depth=3),
    "OptimalTreeClassifier": tree.OptimalTreeClassifier(max_depth=2),
    "OptimalTreeRegressor": tree.OptimalTreeRegressor(max_depth=2),
    **{
        name: getattr(ensemble, name)(**FEW)
        for kind in ("Classifier", "Regressor")
        for name in (
            f"RandomForest{kind}",
            f"ObliqueRandomForest{kind}",
            f"ExtraTrees{kind}",
            f"Bagging{kind}",
            f"RandomSubspace{kind}",
            f"GradientBoosting{kind}",
        )
    },
    "AdaBoostClassifier": ensemble.AdaBoostClassifier(n_estimators=2),
    "OutputCodeClassifier": ensemble.OutputCodeClassifier(decoding="probability"),
    "OutputFlippingClassifier": ensemble.OutputFlippingClassifier(**FEW),
    "OutputSmearingClassifier": ensemble.OutputSmearingClassifier(**FEW),
    "BoostingTreeRegressor": ensemble.BoostingTreeRegressor(2),
    "LinearRegression": LinearRegression(),
    "LogisticRegression": LogisticRegression(),
    "GeneralizedLinearRegressor": GeneralizedLinearRegressor("poisson"),
    "ElasticNet": ElasticNet("1se", family="poisson", alphas=5),
    "ElasticNetClassifier": ElasticNetClassifier(0.01, alphas=5, grouped_levels=True),
    "MaxEntClassifier": MaxEntClassifier(alpha=1.0),
    "OrdinalRegression": OrdinalRegression("probit"),
    "PCA": PCA(2, standardize=True),
    "TruncatedSVD": TruncatedSVD(2, algorithm="lapack"),
    "NegativeCorrelationRegressor": ensemble.NegativeCorrelationRegressor(
        2, hidden_units=2, max_iter=5, random_state=0
    ),
    "LinearDiscriminantAnalysis": LinearDiscriminantAnalysis(),
    "VotingClassifier": ensemble.VotingClassifier(CLASSIFIERS, weights=[2, 1]),
    "AveragingRegressor": ensemble.AveragingRegressor(REGRESSORS, weights=[2, 1]),
    "StackingClassifier": ensemble.StackingClassifier(CLASSIFIERS, cv=2),
    "StackingRegressor": ensemble.StackingRegressor(REGRESSORS, cv=2),
    "BayesianModelAveragingClassifier": ensemble.BayesianModelAveragingClassifier(
        CLASSIFIERS, cv=2
    ),
    "BayesianModelAveragingRegressor": ensemble.BayesianModelAveragingRegressor(
        REGRESSORS, weighting="bic"
    ),
    "BayesianModelAveragingClassifier-subsets": (
        ensemble.BayesianModelAveragingClassifier()
    ),
    "BayesianModelAveragingRegressor-subsets": (
        ensemble.BayesianModelAveragingRegressor(prior=[0.5, 1.0, 0.3])
    ),
    "MultiResponseLinearRegression": ensemble.MultiResponseLinearRegression(),
}


def make_table(*, has_missing, is_numeric):
    """Twelve days, and what is said of them."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "temperature": rng.integers(10, 30, 12) / 2.0,
            "outlook": rng.choice(["sunny", "overcast", "rain"], 12),
            "humidity": rng.integers(1, 9, 12).astype(float),
        }
    )
    play = (frame["temperature"] + frame["humidity"] + rng.normal(0, 3, 12)) > 15
    visitors = frame["humidity"].to_numpy() + rng.integers(0, 4, 12)
    if has_missing:
        frame.loc[2, "outlook"] = None
        frame.loc[5, "humidity"] = None
    if is_numeric:
        frame = frame.drop(columns="outlook")
    return frame, np.where(play, "yes", "no"), visitors


def list_rows(frame):
    """Rows of a frame as JSON."""
    frame = frame.astype(object)
    return frame.where(frame.notna(), None).to_numpy().tolist()


def freeze(name):
    """Write the file of a model, and one of what it predicts."""
    model = clone(MODELS[name])
    is_tree = type(model).__module__.split(".")[1] in ("tree", "ensemble")
    is_tree &= name != "MultiResponseLinearRegression"
    is_tree = is_tree and not isinstance(model, BaseLinearModel)
    is_numeric = not is_tree and not hasattr(model, "handle_unknown")
    X, labels, values = make_table(has_missing=is_tree, is_numeric=is_numeric)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(X, labels if hasattr(model, "predict_proba") else values)
    save_model(model, FOLDER / f"{name}.json", target="y")
    expected = {"columns": list(X), "rows": list_rows(X)}
    for method in METHODS:
        if hasattr(model, method):
            expected[method] = getattr(model, method)(X).tolist()
    path = FOLDER / f"{name}.expected.json"
    path.write_text(json.dumps(expected, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for name in MODELS:
        if not (FOLDER / f"{name}.json").exists():
            freeze(name)
