"""What each member of a fitted ensemble predicts."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from sklearn.base import is_regressor
from sklearn.ensemble import (
    AdaBoostClassifier,
    BaggingClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    RandomForestClassifier,
    StackingClassifier,
    VotingClassifier,
)
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.ensemble.boosting import gradient_boosting_classifier
from sklearn_textbook.ensemble.diversity.predictions import encode_together
from sklearn_textbook.ensemble.members.estimator_combiner import (
    ask_batch,
    compute_member_values,
)
from sklearn_textbook.ensemble.members.estimator_members import take_columns
from sklearn_textbook.ensemble.members.member_list import MemberList
from sklearn_textbook.ensemble.output_perturbation.base import BaseOutputPerturbation
from sklearn_textbook.tree.members import (
    add_predictions,
    choose_member_classes,
    is_tree,
    read_blocks,
)

#: Their members are trees of gradients.
_OF_GRADIENTS = (
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    gradient_boosting_classifier.GradientBoostingClassifier,
)
_FORESTS = (RandomForestClassifier, ExtraTreesClassifier)
#: scikit-learn's ensembles that read the table before their members do.
_READING = (AdaBoostClassifier, BaggingClassifier, *_FORESTS)
#: Those whose members learn numbers of classes.
_OF_NUMBERS = (BaggingClassifier, StackingClassifier, VotingClassifier, *_FORESTS)


def predict_members(ensemble, X):
    """Predict the class of each row by each member of a fitted ensemble.

    Parameters
    ----------
    ensemble : estimator, or sequence of estimator
        A fitted classifier with ``estimators_``, such as bagging, forests, AdaBoost,
        voting and stacking of scikit-learn and of this package, or fitted classifiers.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows.

    Returns
    -------
    predictions : ndarray of shape (n_samples, n_members)
        Labels, a column for each member.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the ensemble is not fitted.
    ValueError
        If the members do not predict classes: boosting of gradients, regressors,
        several outputs.

    See Also
    --------
    diversity_report : All measures of such predictions.

    Notes
    -----
    Trees of this package read the table once, all together.

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
    codes, classes = predict_codes(ensemble, X)
    return classes.take(codes.T)


def predict_codes(ensemble, X):
    """Predict numbers of classes; see :func:`predict_members`.

    Returns
    -------
    codes : ndarray of int, shape (n_members, n_samples)
        Numbers of the classes.
    classes : ndarray
        Their labels.
    """
    if isinstance(ensemble, (list, tuple)):
        return _ask_classifiers(ensemble, X)
    require_classifiers(ensemble)
    classes = ensemble.classes_
    if isinstance(ensemble, MemberList):
        codes = _ask_own(ensemble, X)
    else:
        codes = _ask_others(ensemble, X)
    if len(codes) < 2:
        raise ValueError(
            f"{type(ensemble).__name__} has {len(codes)} member; diversity needs two."
        )
    return np.asarray(codes, dtype=np.min_scalar_type(len(classes))), classes


def require_classifiers(ensemble):
    """Require an ensemble whose members predict classes.

    Parameters
    ----------
    ensemble : object
        What was given.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If it is not fitted.
    ValueError
        If it is no such ensemble.
    """
    name = type(ensemble).__name__
    if isinstance(ensemble, type) or not hasattr(ensemble, "predict"):
        raise ValueError(
            "ensemble must be a fitted ensemble or a sequence of fitted classifiers; "
            f"got {name}. Give predictions with X=None."
        )
    if is_regressor(ensemble):
        raise ValueError(
            f"{name} is a regressor, whose members predict numbers. Give their "
            "predictions to error_ambiguity_decomposition."
        )
    if isinstance(ensemble, _OF_GRADIENTS):
        raise ValueError(
            f"{name}: its members are trees of gradients, which correct the sum of "
            "those before them and predict no classes; they have no diversity."
        )
    check_is_fitted(ensemble)
    if not hasattr(ensemble, "estimators_"):
        raise ValueError(f"{name} has no estimators_: its members are not known.")
    if not isinstance(getattr(ensemble, "classes_", None), np.ndarray):
        raise ValueError(f"{name} must have one output, with its classes in classes_.")


def _ask_own(ensemble, X):
    """Ask the members of an ensemble of this package for numbers of classes."""
    members = list(ensemble.estimators_)
    if not hasattr(ensemble, "_reader"):
        has_trees = is_tree(members[0])
    else:
        has_trees = ensemble._reader is not None
    if has_trees:
        blocks = read_blocks(ensemble, X, ensemble._get_reader())
        return np.hstack([_ask_trees(ensemble, members, matrix) for matrix in blocks])
    if isinstance(ensemble, BaseOutputPerturbation):

        def ask(table):
            said = (ensemble._ask_member(member, table, True) for member in members)
            return np.array([of_member.argmax(axis=1) for of_member in said]).T

        return ensemble._predict_blocks(X, ask).T
    combiner = ensemble._make_combiner()
    (table,) = combiner.read_blocks(X)
    return ask_batch(
        compute_member_values,
        members,
        combiner.columns,
        table,
        len(ensemble.classes_),
        {},
    )


def _ask_trees(ensemble, members, matrix):
    """Ask trees for numbers of classes; (n_members, n_rows)."""
    n_threads = count_threads(ensemble.n_jobs, matrix.size)
    n_rows, n_classes = matrix.shape[0], len(ensemble.classes_)
    codes = np.empty((len(members), n_rows), np.min_scalar_type(n_classes))
    columns = ensemble._list_columns()
    for row, member, of_member in zip(codes, members, columns, strict=True):
        seen = matrix if of_member is None else matrix[:, of_member]
        shares = np.zeros((n_rows, *member.tree_.statistics.shape[1:]))
        names = member.schema_.names
        add_predictions([member.tree_], seen, shares, n_threads, names)
        if is_regressor(member):  # of the marks of the classes
            row[:] = shares.reshape(n_rows, n_classes).argmax(axis=1)
        else:
            row[:] = choose_member_classes(member, shares)[:, 0]
    return codes


def _ask_others(ensemble, X):
    """Ask the members of another ensemble for numbers of classes."""
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
    members = [member for member in ensemble.estimators_ if member != "drop"]
    columns = [None] * len(members)
    if isinstance(ensemble, BaggingClassifier):
        columns = ensemble.estimators_features_
    learn_numbers = isinstance(ensemble, _OF_NUMBERS) and (
        getattr(ensemble, "cv", None) != "prefit"
    )
    if not isinstance(ensemble, (*_READING, *_OF_NUMBERS)):
        _require_all_classes(ensemble, members)
    codes = []
    for number, (member, of_member) in enumerate(zip(members, columns, strict=True)):
        seen = _take(table, of_member)
        said = np.asarray(member.predict(seen))
        if learn_numbers:
            codes.append(said.astype(np.intp))
        else:
            codes.append(_find_classes(said, ensemble, number))
    return codes


def _take(table, columns):
    """Take the columns of a member, unless these are all."""
    if columns is None:
        return table
    n_columns = table.shape[1]
    if len(columns) == n_columns and np.array_equal(columns, np.arange(n_columns)):
        return table
    return take_columns(table.tocsc() if sparse.issparse(table) else table, columns)


def _require_all_classes(ensemble, members):
    """Require that members tell all classes apart, not some of them from others."""
    known = [getattr(member, "classes_", ensemble.classes_) for member in members]
    if any(isinstance(classes, list) for classes in known) or not np.array_equal(
        np.unique(np.concatenate(known)), ensemble.classes_
    ):
        raise ValueError(
            f"{type(ensemble).__name__}: its members do not predict its classes "
            f"{', '.join(map(repr, ensemble.classes_.tolist()[:5]))}."
        )


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
            f"is none of the classes {words}: its members do not predict classes."
        )
    return np.searchsorted(classes, labels)


def _ask_classifiers(classifiers, X):
    """Ask fitted classifiers for numbers of classes."""
    for number, classifier in enumerate(classifiers):
        if not hasattr(classifier, "predict"):
            raise ValueError(
                f"ensemble[{number}] must be a fitted classifier; got "
                f"{type(classifier).__name__}. Give predictions with X=None."
            )
    if len(classifiers) < 2:
        raise ValueError(f"Diversity needs two members; got {len(classifiers)}.")
    said = {
        f"ensemble[{number}].predict(X)": np.asarray(classifier.predict(X))
        for number, classifier in enumerate(classifiers)
    }
    codes, classes = encode_together(said)
    return np.stack(codes), classes
