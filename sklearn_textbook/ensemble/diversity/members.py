"""What each member of a fitted ensemble predicts."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse
from sklearn import ensemble as stock
from sklearn.base import is_regressor
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.boosting.base_gradient_boosting import (
    BaseGradientBoosting,
)
from sklearn_textbook.ensemble.boosting.boosting_tree import BoostingTreeRegressor
from sklearn_textbook.ensemble.diversity.predictions import encode_together
from sklearn_textbook.ensemble.members.estimator_members import (
    compute_member_values,
    predict_batch,
    take_columns,
)
from sklearn_textbook.ensemble.members.member_list import MemberList
from sklearn_textbook.ensemble.output_perturbation.base import BaseOutputPerturbation
from sklearn_textbook.tree.members import (
    add_predictions,
    choose_member_classes,
    get_shown_tree,
    is_tree,
    read_blocks,
)

#: Their members are trees of gradients or of residuals.
_OF_GRADIENTS = (
    BaseGradientBoosting,
    BoostingTreeRegressor,
    stock.GradientBoostingClassifier,
    stock.GradientBoostingRegressor,
    stock.HistGradientBoostingClassifier,
    stock.HistGradientBoostingRegressor,
)
_FORESTS = (
    stock.RandomForestClassifier,
    stock.RandomForestRegressor,
    stock.ExtraTreesClassifier,
    stock.ExtraTreesRegressor,
)
_BAGGING = (stock.BaggingClassifier, stock.BaggingRegressor)
#: scikit-learn's ensembles that read the table before their members do.
_READING = (
    stock.AdaBoostClassifier,
    stock.AdaBoostRegressor,
    *_BAGGING,
    *_FORESTS,
)
#: Those whose members learn numbers of classes.
_OF_NUMBERS = (
    stock.BaggingClassifier,
    stock.StackingClassifier,
    stock.VotingClassifier,
    *_FORESTS,
)


def predict_members(ensemble: Any, X: MatrixLike) -> np.ndarray:
    """Predict each row with each member of a fitted ensemble.

    Parameters
    ----------
    ensemble : estimator, or sequence of estimator
        A fitted ensemble with ``estimators_``, such as bagging, forests, AdaBoost,
        voting and stacking of scikit-learn and of this package; or several fitted
        classifiers.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    predictions : ndarray of shape (n_samples, n_members)
        Predicted labels or values, with one column per member.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the ensemble is not fitted.
    ValueError
        If the members do not predict the target itself, as in gradient boosting, or if
        there are several outputs or fewer than two members.

    See Also
    --------
    diversity_report : All measures for the predictions of classifiers.
    error_ambiguity_decomposition : The error of the mean of regressors.

    Notes
    -----
    An ensemble of trees of this package reads the table once for all members.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_adaboost_example
    >>> from sklearn_textbook.ensemble import AdaBoostClassifier
    >>> from sklearn_textbook.ensemble.diversity import predict_members
    >>> X, y = load_adaboost_example(return_X_y=True)
    >>> model = AdaBoostClassifier(n_estimators=3).fit(X, y)
    >>> predict_members(model, X)[:4]
    array([[ 1,  1, -1],
           [ 1,  1, -1],
           [ 1,  1, -1],
           [-1,  1, -1]])
    """
    if _is_regressor(ensemble):
        _require_members(ensemble)
        return np.asarray(_predict_all(ensemble, X), dtype=np.float64).T
    codes, classes = predict_codes(ensemble, X)
    return classes.take(codes.T)


def predict_codes(ensemble, X) -> tuple[np.ndarray, np.ndarray]:
    """Predict numbers of classes; see :func:`predict_members`."""
    if isinstance(ensemble, (list, tuple)):
        return _predict_classifiers(ensemble, X)
    require_classifiers(ensemble)
    classes = ensemble.classes_
    return np.asarray(
        _predict_all(ensemble, X), np.min_scalar_type(len(classes))
    ), classes


def require_classifiers(ensemble: object) -> None:
    """Require an ensemble whose members predict classes."""
    name = type(ensemble).__name__
    if _is_regressor(ensemble):
        raise ValueError(
            f"{name} is a regressor, whose members predict numbers. Pass their "
            "predictions (predict_members) to error_ambiguity_decomposition."
        )
    _require_members(ensemble)
    if hasattr(ensemble, "code_book_"):
        raise ValueError(
            f"The members of {name} predict digits of code words, not classes."
        )
    if not isinstance(getattr(ensemble, "classes_", None), np.ndarray):
        raise ValueError(
            f"{name} must have a single output and the attribute classes_."
        )


def _is_regressor(ensemble):
    """Return whether an object is a regressor."""
    return hasattr(ensemble, "__sklearn_tags__") and is_regressor(ensemble)


def _require_members(ensemble) -> None:
    """Require a fitted ensemble of members that predict the target alone."""
    name = type(ensemble).__name__
    if isinstance(ensemble, type) or not hasattr(ensemble, "predict"):
        raise ValueError(
            "ensemble must be a fitted ensemble or a sequence of fitted classifiers; "
            f"got {name}. Use X=None to pass predictions."
        )
    if isinstance(ensemble, _OF_GRADIENTS):
        raise ValueError(
            f"The members of {name} are trees fitted to gradients, which correct the "
            "sum of the preceding trees and do not predict the target; they have no "
            "diversity."
        )
    check_is_fitted(ensemble)
    if not hasattr(ensemble, "estimators_"):
        raise ValueError(f"{name} has no estimators_, so its members are unknown.")


def _predict_all(ensemble, X):
    """Predict numbers of classes, or values, by the members; (n_members, n_rows)."""
    predict = _predict_own if isinstance(ensemble, MemberList) else _predict_others
    predicted = predict(ensemble, X)
    name = type(ensemble).__name__
    if len(predicted) < 2:
        raise ValueError(
            f"Diversity requires at least two members; {name} has {len(predicted)}."
        )
    if np.ndim(predicted[0]) != 1:
        raise ValueError(f"{name} must have a single output.")
    return predicted


def _predict_own(ensemble, X):
    """Predict by the members of an ensemble of this package."""
    described = ensemble._describe_sum()
    members = described.members
    if is_tree(described.reader):
        blocks = read_blocks(ensemble, X, described.reader)
        parts = [_predict_trees(ensemble, members, matrix) for matrix in blocks]
        return parts[0] if len(parts) == 1 else np.hstack(parts)
    if isinstance(ensemble, BaseOutputPerturbation):

        def predict(table):
            predicted = (
                ensemble._predict_member(member, table, True) for member in members
            )
            return np.array([of_member.argmax(axis=1) for of_member in predicted]).T

        return ensemble._predict_blocks(X, predict).T
    combiner = ensemble._make_combiner()
    (table,) = combiner.read_blocks(X)
    n_classes = len(getattr(ensemble, "classes_", ()))
    columns = combiner.columns
    return predict_batch(compute_member_values, members, columns, table, n_classes, {})


def _predict_trees(ensemble, members, matrix):
    """Predict the rows of a matrix by trees of this package."""
    n_threads = count_threads(ensemble.n_jobs, matrix.size)
    predicted = []
    for member, columns in zip(members, ensemble._list_columns(), strict=True):
        seen = matrix if columns is None else matrix[:, columns]
        votes = not is_regressor(ensemble)
        tree = member.tree_ if votes else get_shown_tree(member)
        given = np.zeros((matrix.shape[0], *tree.node_shape))
        add_predictions([tree], seen, given, n_threads, member.schema_.names)
        if not votes:
            predicted.append(given[:, 0, 0] if given.shape[1] == 1 else given[:, :, 0])
        elif is_regressor(member):  # of the marks of the classes
            predicted.append(given.reshape(len(given), -1).argmax(axis=1))
        else:
            predicted.append(choose_member_classes(member, given)[:, 0])
    return predicted


def _predict_others(ensemble, X):
    """Predict by the members of another ensemble."""
    table = X
    if isinstance(ensemble, _READING):
        table = validate_data(
            ensemble,
            X,
            reset=False,
            accept_sparse=["csr", "csc"],
            # Of which scikit-learn's trees make their own copy otherwise.
            dtype=np.float32 if isinstance(ensemble, _FORESTS) else None,
            ensure_all_finite=False,
        )
    members = list(ensemble.estimators_)
    columns = [None] * len(members)
    if isinstance(ensemble, _BAGGING):
        columns = ensemble.estimators_features_
    learn_numbers = not is_regressor(ensemble) and _learn_numbers(ensemble, members)
    predicted = []
    for number, (member, of_member) in enumerate(zip(members, columns, strict=True)):
        values = np.asarray(member.predict(_take(table, of_member)))
        if learn_numbers:
            values = values.astype(np.intp)
        elif not is_regressor(ensemble):
            values = _find_classes(values, ensemble, number)
        predicted.append(values)
    return predicted


def _learn_numbers(ensemble, members) -> bool:
    """Return whether members are fitted to class indices instead of labels."""
    is_prefit = getattr(ensemble, "cv", None) == "prefit"
    if isinstance(ensemble, _OF_NUMBERS) and not is_prefit:
        return True
    if isinstance(ensemble, _READING) or is_prefit:
        return False
    # Of other ensembles, all members together must know just these.
    known = [getattr(member, "classes_", ensemble.classes_) for member in members]
    if not any(isinstance(classes, list) for classes in known):
        known = np.unique(np.concatenate(known))
        if np.array_equal(known, ensemble.classes_):
            return False
        if np.array_equal(known, np.arange(len(ensemble.classes_))):
            return True
    words = ", ".join(map(repr, ensemble.classes_.tolist()[:5]))
    raise ValueError(
        f"The members of {type(ensemble).__name__} do not predict its classes {words}."
    )


def _take(table, columns):
    """Take the columns of a member, unless these are all."""
    if columns is None:
        return table
    n_columns = table.shape[1]
    if len(columns) == n_columns and np.array_equal(columns, np.arange(n_columns)):
        return table
    return take_columns(table.tocsc() if sparse.issparse(table) else table, columns)


def _find_classes(labels, ensemble, number):
    """Look up what a member predicts among the classes of its ensemble."""
    classes = ensemble.classes_
    is_known = np.isin(labels, classes)
    if not is_known.all():
        wrong = labels.tolist()[int(np.argmin(is_known))]
        words = ", ".join(map(repr, classes.tolist()[:5]))
        raise ValueError(
            f"Member {number} of {type(ensemble).__name__}, a "
            f"{type(ensemble.estimators_[number]).__name__}, predicts {wrong!r}, which "
            f"is not one of the classes {words}: its members do not predict classes."
        )
    return np.searchsorted(classes, labels)


def _predict_classifiers(classifiers, X):
    """Predict numbers of classes by fitted classifiers."""
    for number, classifier in enumerate(classifiers):
        if not hasattr(classifier, "predict"):
            raise ValueError(
                f"ensemble[{number}] must be a fitted classifier; got "
                f"{type(classifier).__name__}. Use X=None to pass predictions."
            )
    if len(classifiers) < 2:
        raise ValueError(
            f"Diversity requires at least two members; got {len(classifiers)}."
        )
    predicted = {
        f"ensemble[{number}].predict(X)": np.asarray(classifier.predict(X))
        for number, classifier in enumerate(classifiers)
    }
    codes, classes = encode_together(predicted)
    return np.stack(codes), classes
