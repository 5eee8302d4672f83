"""Predictions of members for rows that they did not learn from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from joblib import effective_n_jobs
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import check_cv

from sklearn_textbook._contract.parameters import show_value
from sklearn_textbook.ensemble.combination.fitting import ask_member, describe_member
from sklearn_textbook.ensemble.members.estimator_members import (
    spread,
    take_metadata,
    take_rows,
)
from sklearn_textbook.ensemble.members.growth import (
    open_parallel,
    run_aside,
    yield_results,
)
from sklearn_textbook.tree.members import share_tables


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from, and rows to predict."""

    train: np.ndarray
    test: np.ndarray

    def predict(self, tasks, methods, X, y, n_classes):
        """Fit every member to some rows, and predict the others.

        The table of the fold is taken and encoded once for all members.
        """
        seen, unseen = take_rows(X, self.train), take_rows(X, self.test)
        answers = []
        with share_tables():
            for task, method in zip(tasks, methods, strict=True):
                params = take_metadata(task.params, self.train, len(y))
                member = clone(task.template)
                try:
                    member.fit(seen, y[self.train], **params)
                except Exception as error:
                    error.add_note(describe_member(task.name, task.template))
                    raise
                given = ask_member(task.name, member, method, unseen)
                answers.append(widen(given, member, method, n_classes))
        return answers


def widen(given: np.ndarray, member, method: str, n_classes: int | None) -> np.ndarray:
    """Add columns for classes without training rows in the member's fold."""
    if n_classes is None or method == "predict":
        return given
    if len(member.classes_) == n_classes:
        return given
    if method != "predict_proba":
        raise ValueError(
            f"{method} of {type(member).__name__} covers only {len(member.classes_)} "
            f"of {n_classes} classes in a fold. Use stratified folds (cv), and leave "
            "out classes whose rows all have weight 0."
        )
    return spread(given, member.classes_, n_classes, 0.0)


def predict_held_out(
    tasks: list,
    methods: list[str],
    X,
    y: np.ndarray,
    *,
    cv,
    n_jobs: int | None = None,
    n_classes: int | None = None,
) -> list[np.ndarray]:
    """Predict every row by members that are fitted without it."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    folds = _list_folds(cv, X, y, is_classifier=n_classes is not None)
    order = np.concatenate([fold.test for fold in folds])
    if not np.array_equal(np.sort(order), np.arange(len(y))):
        raise ValueError(
            "The 'cv' parameter must predict each row exactly once, as KFold does; "
            "folds that overlap or omit rows are not allowed."
        )
    arguments = tasks, methods, X, y, n_classes
    n_workers = min(effective_n_jobs(n_jobs), len(folds))
    if n_workers == 1:
        predicted = run_aside(lambda fold: [fold.predict(*arguments)], folds)
    else:
        calls = ((fold.predict, *arguments) for fold in folds)
        predicted = yield_results(open_parallel(n_jobs=n_workers), calls)
    by_member = zip(*predicted, strict=True)
    return [_sort(np.concatenate(answers), order) for answers in by_member]


def check_folds(cv) -> None:
    """Raise ValueError for a ``cv`` parameter that cannot give folds."""
    try:
        check_cv(cv)
    except ValueError as error:
        raise _fold_error(cv, error) from error


def _fold_error(cv, error):
    return ValueError(
        "The 'cv' parameter must be a number of folds, a cross-validation generator or "
        f"a list of folds; got {show_value(cv)}: {error}"
    )


def _list_folds(cv, X, y, *, is_classifier):
    """List the folds of a ``cv`` parameter."""
    try:
        divided = check_cv(cv, y, classifier=is_classifier).split(X, y)
        folds = [Fold(np.asarray(train), np.asarray(test)) for train, test in divided]
        if not folds:
            raise ValueError("it gives no folds")
        for fold in folds:
            for rows in (fold.train, fold.test):
                if y[rows].ndim != 1:  # an IndexError if they are no numbers of rows
                    raise ValueError("folds must be lists of row indices")
    except (TypeError, ValueError, AttributeError, IndexError) as error:
        raise _fold_error(cv, error) from error
    return folds


def _sort(answers, order):
    """Sort predictions in the order of the rows."""
    ordered = np.empty_like(answers)
    ordered[order] = answers
    return ordered
