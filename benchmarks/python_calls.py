"""``python -m benchmarks study python-calls``: the Python that a fit passes.

Counts the modules and the functions of the package that one call enters, ours and
those of scikit-learn's estimator of the same name, on a small numeric table. What a
reader has to follow to understand a fit, and most of what a fit of few rows takes.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import sklearn.ensemble
import sklearn.linear_model
import sklearn.tree
from sklearn.utils import check_random_state

import sklearn_textbook.ensemble
import sklearn_textbook.linear_model
import sklearn_textbook.tree
from benchmarks.report import format_table

#: Name -> our estimator and scikit-learn's, if it has one.
ESTIMATORS = {
    "CART": (
        sklearn_textbook.tree.CARTClassifier(),
        sklearn.tree.DecisionTreeClassifier(),
    ),
    "C4.5": (sklearn_textbook.tree.C45Classifier(), None),
    "random forest": (
        sklearn_textbook.ensemble.RandomForestClassifier(5, random_state=0),
        sklearn.ensemble.RandomForestClassifier(5, random_state=0),
    ),
    "gradient boosting": (
        sklearn_textbook.ensemble.GradientBoostingClassifier(n_estimators=5),
        sklearn.ensemble.HistGradientBoostingClassifier(max_iter=5),
    ),
    "logistic regression": (
        sklearn_textbook.linear_model.LogisticRegression(),
        sklearn.linear_model.LogisticRegression(),
    ),
}


def list_functions(call, package):
    """List module and name of each function of a package that a call enters."""
    root = str(Path(package.__file__).parent)
    entered = set()

    def note(frame, event, _):
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(root):
            entered.add((file[len(root) + 1 :], frame.f_code.co_qualname))

    call()  # what is only done once is not counted
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(None)
    return sorted(entered)


def make_table(n_rows=300, n_columns=5):
    """Numbers, and two classes."""
    rng = check_random_state(0)
    X = rng.normal(size=(n_rows, n_columns))
    return X, (X[:, 0] + rng.normal(size=n_rows) > 0).astype(np.intp)


def list_calls(estimator):
    """Name and function of the calls that are counted."""
    X, y = make_table()
    yield "fit", lambda: estimator.fit(X, y)
    yield "predict_proba", lambda: estimator.predict_proba(X)


def count_calls(estimator, package):
    """Modules and functions of each call; dashes without an estimator."""
    if estimator is None:
        return {"fit": ("-", "-"), "predict_proba": ("-", "-")}
    counts = {}
    for name, call in list_calls(estimator):
        entered = list_functions(call, package)
        counts[name] = (str(len({module for module, _ in entered})), str(len(entered)))
    return counts


def main(arguments=None):
    """Print the numbers, or the functions of one estimator."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks study python-calls", description=__doc__
    )
    parser.add_argument(
        "--show", choices=list(ESTIMATORS), help="list the functions of one of ours"
    )
    options = parser.parse_args(arguments)
    if options.show:
        for name, call in list_calls(ESTIMATORS[options.show][0]):
            print(f"{name}:")
            for module, function in list_functions(call, sklearn_textbook):
                print(f"  {module:<55} {function}")
        return
    rows = [("", "call", "modules", "functions", "scikit-learn", "functions")]
    for title, (ours, theirs) in ESTIMATORS.items():
        counts, others = (
            count_calls(ours, sklearn_textbook),
            count_calls(theirs, sklearn),
        )
        rows += [(title, call, *counts[call], *others[call]) for call in counts]
    print(format_table(rows))
