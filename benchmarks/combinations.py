"""Voting, averaging and stacking beside their members alone.

Predictions of an ensemble are timed in turns with those of its fitted members, one
after the other, the table shared between them as in the ensemble: what is left is what
combining costs. A fit is timed in turns with separate fits, each of which encodes the
table. What both give is compared.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from sklearn.base import clone
from sklearn.compose import make_column_selector, make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from benchmarks.measure import time_alternately
from benchmarks.pairs import Outcome, make_parser, run_pairs
from sklearn_textbook.datasets import make_mixed_table
from sklearn_textbook.ensemble import (
    AveragingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
    StackingClassifier,
    VotingClassifier,
)
from sklearn_textbook.linear_model import LinearRegression, LogisticRegression
from sklearn_textbook.tree import C45Classifier, CARTClassifier, CARTRegressor
from sklearn_textbook.tree.members import share_tables

N_ROWS = 100_000
COLUMNS = {"n_numeric": 10, "n_nominal": 7, "n_ordinal": 3}


def add_linear(members, linear):
    """Add a linear model, whose missing values are imputed and text encoded."""
    prepare = make_column_transformer(
        (SimpleImputer(), make_column_selector(dtype_include="number")),
        (
            OneHotEncoder(handle_unknown="ignore"),
            make_column_selector(dtype_exclude="number"),
        ),
    )
    return [*members, ("linear", make_pipeline(prepare, linear))]


CLASSIFIERS = add_linear(
    [
        ("c45", C45Classifier(max_depth=8)),
        ("cart", CARTClassifier(max_depth=8)),
        ("forest", RandomForestClassifier(20, random_state=0)),
    ],
    LogisticRegression(C=1.0),
)
REGRESSORS = add_linear(
    [
        ("cart", CARTRegressor(max_depth=8)),
        ("forest", RandomForestRegressor(20, random_state=0)),
    ],
    LinearRegression(),
)
TREES = [(f"tree{depth}", CARTClassifier(max_depth=depth)) for depth in range(3, 13)]


@dataclass(frozen=True)
class Work:
    """An ensemble, and the method that is timed; None: ``fit``."""

    title: str
    ensemble: Callable
    members: list
    method: str | None
    of_members: str = "predict"
    parameters: dict = field(default_factory=dict)
    is_prefit: bool = False


WORKS = {
    "votes": Work("hard voting", VotingClassifier, CLASSIFIERS, "predict"),
    "votes-prefit": Work(
        "hard voting of members that were fitted before",
        VotingClassifier,
        CLASSIFIERS,
        "predict",
        parameters={"prefit": True},
        is_prefit=True,
    ),
    "votes-trees": Work("hard voting of ten trees", VotingClassifier, TREES, "predict"),
    "probabilities": Work(
        "soft voting",
        VotingClassifier,
        CLASSIFIERS,
        "predict_proba",
        "predict_proba",
        {"voting": "soft"},
    ),
    "product-trees": Work(
        "product of the probabilities of ten trees",
        VotingClassifier,
        TREES,
        "predict_proba",
        "predict_proba",
        {"voting": "soft", "rule": "product"},
    ),
    "average": Work("averaging", AveragingRegressor, REGRESSORS, "predict"),
    "stacking": Work(
        "stacking", StackingClassifier, CLASSIFIERS, "predict", "predict_proba"
    ),
    "fit-trees": Work("fit of ten trees", VotingClassifier, TREES, None),
}


def make_rows(work, scale):
    """A table with text and missing values, and its target."""
    is_classes = work.ensemble is not AveragingRegressor
    task = {"label_noise": 0.1, "n_classes": 3} if is_classes else {"noise": 1.0}
    X, y = make_mixed_table(
        max(500, round(N_ROWS * scale)),
        **COLUMNS,
        **task,
        task="classification" if is_classes else "regression",
        missing_fraction=0.05,
        as_frame=True,
        random_state=0,
    )
    for name in X.select_dtypes("category"):
        X[name] = X[name].astype("str").where(X[name].notna())
    return X, np.array([f"class {label}" for label in y]) if is_classes else y


def predict_by_members(work, members, X):
    """Ask the members one after the other, which share the table."""
    with share_tables():
        return [getattr(member, work.of_members)(X) for member in members]


def fit_members(work, X, y):
    """Fit the members one after the other, and return them."""
    return [clone(member).fit(X, y) for _, member in work.members]


def find_differences(model, members, X):
    """Reasons why members are not the same; empty if they are."""
    reasons = []
    for name, ours, alone in zip(
        model.named_estimators_, model.estimators_, members, strict=True
    ):
        method = "predict_proba" if hasattr(ours, "predict_proba") else "predict"
        answers = (getattr(one, method)(X) for one in (ours, alone))
        if not np.allclose(*answers, rtol=1e-6, atol=1e-6):
            reasons.append(f"{name} predicts something else")
    return reasons


def run_work(work, options):
    """What both found, and their times."""
    X, y = make_rows(work, options.scale)
    alone = fit_members(work, X, y)
    members = work.members
    if work.is_prefit:
        names = [name for name, _ in members]
        members = [*zip(names, alone, strict=True)]
    model = work.ensemble(members, **work.parameters).fit(X, y)
    differences = find_differences(model, alone, X)
    if work.method is None:
        calls = {
            "ours": lambda: work.ensemble(members).fit(X, y),
            "theirs": lambda: fit_members(work, X, y),
        }
    else:
        calls = {
            "ours": lambda: getattr(model, work.method)(X),
            "theirs": lambda: predict_by_members(work, model.estimators_, X),
        }
    times = time_alternately(calls, options.repeat)
    return Outcome(times, differences, "members alone", work.title, {"shape": X.shape})


def main(arguments=None):
    """Run the command; the number that it exits with."""
    parser = make_parser("combinations", __doc__, 7)
    return run_pairs(parser, arguments, WORKS, run_work)
