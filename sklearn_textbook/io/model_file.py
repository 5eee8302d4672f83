"""Fitted estimators as JSON: readable, versioned, and never executed.

A model file contains names, numbers, lists, and the bytes of long arrays of numbers.
Reading it builds an estimator of a fixed list of classes from trees, rules or arrays,
after checking every index and shape; nothing in the file is looked up by name, imported
or evaluated.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any, NoReturn

from sklearn_textbook._contract.registry import ESTIMATORS, list_estimators
from sklearn_textbook._contract.written_files import write_file
from sklearn_textbook.io.saved_model import (
    FORMAT_NAME,
    SCHEMA_VERSION,
    SavedModel,
    load_document,
    save_document,
)
from sklearn_textbook.io.saved_values import (
    BY_SKOPS,
    is_integer,
    is_of_class,
)

__all__ = ["ModelFileError", "SavedModel", "load_model", "read_model", "save_model"]


_WANTED = "give a file written by sklearn-textbook fit --save or by save_model"


class ModelFileError(ValueError):
    """One-line error for a model file that cannot be written or read.

    Parameters
    ----------
    problem : str
        What is wrong.
    path : str, default=None
        The file.

    Examples
    --------
    >>> from sklearn_textbook.io import ModelFileError
    >>> print(ModelFileError("is damaged", path="model.json"))
    model.json: is damaged
    """

    def __init__(self, problem: str, path: str | None = None) -> None:
        self.problem = problem
        self.path = None if path is None else str(path)
        super().__init__(problem, path)

    def __str__(self):
        return self.problem if self.path is None else f"{self.path}: {self.problem}"


def save_model(
    estimator: Any,
    path: str | PathLike[str],
    *,
    target: str | None = None,
    table: dict[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a JSON file.

    The file contains the class and parameters of the estimator, the columns and levels
    of the training table, the class labels and the tree; for a list of rules, the rules
    and the tree from which they are derived; for an ensemble, the trees of its members;
    for any other model, its coefficients or components and the statistics of its
    summary. The model that `load_model` reads makes equal predictions. The file
    contains neither training rows nor out-of-bag predictions.

    Parameters
    ----------
    estimator : estimator
        A fitted tree (CARTClassifier, CARTRegressor, ID3Classifier, C45Classifier,
        ObliqueTreeClassifier, ObliqueTreeRegressor), C45RulesClassifier, or an
        ensemble of such trees: RandomForest, ExtraTrees, Bagging, RandomSubspace and
        GradientBoosting, each Classifier or Regressor, AdaBoostClassifier and
        BoostingTreeRegressor; or LinearRegression, LogisticRegression,
        GeneralizedLinearRegressor, OrdinalRegression, ElasticNet,
        ElasticNetClassifier, MaxEntClassifier, PCA, TruncatedSVD or
        LinearDiscriminantAnalysis; or VotingClassifier,
        AveragingRegressor, StackingClassifier, StackingRegressor,
        BayesianModelAveragingClassifier, BayesianModelAveragingRegressor or
        MultiResponseLinearRegression, if all their members are of these classes.
    path : str or path-like
        The file to write. If writing fails, what was there remains. A symbolic link is
        followed, and an existing file keeps its permissions.
    target : str, default=None
        Name of the predicted column.
    table : dict, default=None
        Additional information to store, as JSON values.

    Raises
    ------
    ModelFileError
        If the class of the estimator or of a member is not supported; if a parameter
        has a value that JSON cannot represent, such as a random generator or a
        function; or if members come from fits with different settings (``warm_start``).
    sklearn.exceptions.NotFittedError
        If the estimator is not fitted.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.io import load_model, save_model
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = CARTClassifier(max_depth=2).fit(X, y)
    >>> path = pathlib.Path(tempfile.mkdtemp(), "iris.json")
    >>> save_model(tree, path, target="species")
    >>> bool((load_model(path).predict_proba(X) == tree.predict_proba(X)).all())
    True
    """
    from sklearn.utils.validation import check_is_fitted

    name = type(estimator).__name__
    if name not in ESTIMATORS or not is_of_class(estimator, name):
        raise ModelFileError(
            f"{name} cannot be saved as a model file; {BY_SKOPS}. A model file can "
            f"contain {', '.join(list_estimators())}",
            path,
        )
    names = None
    if ESTIMATORS[name].saved in ("tree", "rules", "trees"):
        names = ["tree_", "rule_list_", "estimators_"]
    check_is_fitted(estimator, names, all_or_any=any)
    try:
        document = save_document(estimator, target, table)
        text = json.dumps(document, ensure_ascii=False, allow_nan=False) + "\n"
    except (TypeError, ValueError) as error:
        raise ModelFileError(str(error), path) from None
    try:
        write_file(path, text)
    except OSError as error:
        raise ModelFileError(f"cannot be written ({error.strerror})", path) from None


def load_model(path: str | PathLike[str]) -> Any:
    """Read a fitted estimator from a JSON file.

    Parameters
    ----------
    path : str or path-like
        A file written by `save_model`.

    Returns
    -------
    estimator : estimator
        The fitted estimator, of the same class and with the same predictions as the
        saved one.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not a model file, is damaged, or was written by a
        newer version of the package. Nothing in a file is ever executed.

    See Also
    --------
    read_model : Also returns the name of the target.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_textbook.io import load_model
    >>> path = pathlib.Path(tempfile.mkdtemp(), "foreign.json")
    >>> _ = path.write_text('{"learner": {}}')
    >>> load_model(path)
    Traceback (most recent call last):
    ...
    sklearn_textbook.io.model_file.ModelFileError: ...foreign.json: is JSON, but ...
    """
    return read_model(path).estimator


def read_model(path: str | PathLike[str]) -> SavedModel:
    """Read a model file, including the target and notes on the table.

    Parameters
    ----------
    path : str or path-like
        A file written by `save_model`.

    Returns
    -------
    model : SavedModel
        Estimator, target and notes on the table.

    Raises
    ------
    ModelFileError
        As in `load_model`.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> from sklearn_textbook.io import read_model, save_model
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> tree = CARTClassifier().fit([[1.0], [2.0]], ["unripe", "ripe"])
    >>> path = pathlib.Path(tempfile.mkdtemp(), "fruit.json")
    >>> save_model(tree, path, target="state", table={"n_rows": 2})
    >>> model = read_model(path)
    >>> model.target, model.table, model.estimator.predict([[1.2]])
    ('state', {'n_rows': 2}, array(['unripe'], dtype='<U6'))
    """
    return read_with(load_document, path)


def read_with(read: Callable, path: str | PathLike) -> SavedModel:
    """Read a model file with `load_document`, or with a function like it."""
    document = _read_json(path)
    version = document.get("schema_version")
    if document.get("format") != FORMAT_NAME:
        raise ModelFileError(f"is JSON, but not a {FORMAT_NAME}; {_WANTED}", path)
    if not is_integer(version) or version < 1:
        raise ModelFileError("is damaged: it has no schema_version", path)
    if version > SCHEMA_VERSION:
        raise ModelFileError(
            f"has schema version {version}, but this version of sklearn-textbook "
            f"reads up to {SCHEMA_VERSION}; install a newer one",
            path,
        )
    try:
        return read(document)
    except KeyError as error:
        raise ModelFileError(f"is damaged: {error} is missing", path) from None
    except (
        ValueError,
        TypeError,
        AttributeError,
        IndexError,
        OverflowError,
        RecursionError,
    ) as error:
        reason = " ".join(str(error).split())
        raise ModelFileError(f"is damaged: {reason}", path) from None


def looks_like_model(path: str | PathLike) -> bool:
    """Return whether a file begins as `save_model` writes it."""
    try:
        with Path(path).open("rb") as file:
            start = file.read(200)
    except OSError:
        return False
    pattern = rb'\s*\{\s*"format":\s*"%b"' % FORMAT_NAME.encode()
    return re.match(pattern, start) is not None


def _read_json(path: str | PathLike) -> dict:
    try:
        text = Path(path).read_bytes().decode("utf-8")
    except FileNotFoundError:
        raise ModelFileError("no such file", path) from None
    except OSError as error:
        raise ModelFileError(f"cannot be read ({error.strerror})", path) from None
    except UnicodeDecodeError:
        raise ModelFileError(
            f"is not a model file: it is not UTF-8 text; {_WANTED}", path
        ) from None
    try:
        document = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        if error.pos == 0 or not text.strip():
            problem = "is not a model file" if text.strip() else "is empty"
            raise ModelFileError(f"{problem}; {_WANTED}", path) from None
        cut = error.pos >= len(text.rstrip())
        hint = "; it ends too early" if cut else ""
        raise ModelFileError(
            f"is not valid JSON: line {error.lineno}, column {error.colno}{hint}", path
        ) from None
    except (ValueError, RecursionError):
        raise ModelFileError("is not valid JSON for a model file", path) from None
    if not isinstance(document, dict):
        raise ModelFileError(f"is JSON, but not a {FORMAT_NAME}; {_WANTED}", path)
    return document


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")
