"""Explanations of single predictions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.inspection.node_words import NodeWords
from sklearn_textbook.inspection.row_explanation import Explanations
from sklearn_textbook.inspection.row_values import RowValues
from sklearn_textbook.inspection.score_rows import ScoreExplainer
from sklearn_textbook.inspection.tree_rows import TreeExplainer
from sklearn_textbook.tree.explain.describe import Words
from sklearn_textbook.tree.explain.fitted import join_names, read_fitted

if TYPE_CHECKING:
    from sklearn_textbook.inspection.row_explanation import RowExplanation


def explain(
    model: Any,
    X: MatrixLike,
    *,
    feature_names: ArrayLike | None = None,
    class_names: ArrayLike | None = None,
    max_terms: int = 5,
    decimals: int | None = None,
    n_jobs: int | None = None,
) -> list[RowExplanation]:
    """Explain the prediction for each row in words.

    For a tree, the sentence consists of the conditions that the row meets, one per
    column, and a description of the training rows that meet them, too; the path shows
    the effect of each test. For an ensemble of trees, the sentence lists the columns
    with the largest contributions (Shapley values) to the score of the predicted class,
    or to the predicted value.

    Parameters
    ----------
    model : estimator
        A fitted tree, random forest, extra trees, bagging, random subspace, output
        perturbation, AdaBoost, boosting tree or gradient boosting model of this
        package.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows, as for ``predict``.
    feature_names : array-like of str or None, default=None
        Names of the columns; ``None`` uses the names of the training table.
    class_names : array-like of str or None, default=None
        Names of the classes in the order of ``classes_`` (for several outputs, a list
        of such lists); ``None`` uses the class labels.
    max_terms : int, default=5
        Maximum number of levels written for a set of levels, of columns for an oblique
        test, and of columns in a sentence for an ensemble.
    decimals : int or None, default=None
        Number of decimals of thresholds and values; ``None`` uses as few as distinguish
        them.
    n_jobs : int or None, default=None
        Number of threads for ensembles. None: one per core.

    Returns
    -------
    explanations : list of RowExplanation
        One per row, with the attributes ``prediction``, ``probabilities`` and
        ``sentence``; for a tree also ``path``, a record of each test with the
        prediction before and after it, and ``leaves``, where the row ends; for an
        ensemble ``contributions``, ``base`` and ``score``. ``print`` shows the first
        ten.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind.
    ValueError
        If the table or the names do not match the model, or a parameter is out of
        range.

    See Also
    --------
    find_counterfactuals : Finds what would have to change for another prediction.
    shap_values : The contributions as an array.
    sklearn_textbook.tree.export_rules : The rules of all leaves.

    Notes
    -----
    A row with a missing or unknown value may be divided among branches. All its leaves
    are then listed with the fraction of the row that ends in each, and the sentence
    describes the three largest.

    In gradient boosting with two classes, the score is that of the second class. The
    average is the weighted mean of the scores of the training rows in the leaves.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.inspection import explain
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> iris = load_iris(as_frame=True)
    >>> species = iris.target_names[iris.target]
    >>> tree = CARTClassifier(max_depth=2).fit(iris.data, species)
    >>> print(explain(tree, iris.data[50:51]))
    Row 0: 'versicolor' (90.7%)
      petal length (cm) > 2.45 and petal width (cm) <= 1.75: 90.7% of the 54
      training rows here are 'versicolor'.
    <BLANKLINE>
      test                      value  rows  'versicolor'
      all training rows                 150         33.3%
      petal length (cm) > 2.45    4.7   100           50%
      petal width (cm) <= 1.75    1.4    54         90.7%
    """
    check_integer("max_terms", max_terms, 1)
    check_integer("decimals", decimals, 0, accepts_none=True)
    trees = read_trees(model)
    matrix = trees.read(X)
    values = RowValues(trees.schema, X, matrix)
    predictions = model.predict(X).tolist()
    probabilities = [None] * len(predictions)
    if trees.is_classifier and hasattr(model, "predict_proba"):
        probabilities = _list_probabilities(model, X)
    if trees._is_one_tree:
        fitted = read_fitted(model, feature_names, class_names)
        nodes = NodeWords(
            Words(fitted, decimals, max_terms, show_missing=False, rows=matrix),
            trees.trees[0].statistics[:, :, 0],
            quoted=_quote_classes(fitted, class_names),
            center=_name_center(model),
        )
        explainer = TreeExplainer(nodes, values, max_terms)
        return Explanations(explainer.explain(predictions, probabilities))
    fitted = _name_scores(trees, feature_names, class_names)
    explainer = ScoreExplainer(
        trees,
        fitted.feature_names,
        values,
        quoted=_quote_classes(fitted, class_names),
        max_terms=max_terms,
        decimals=decimals,
    )
    return Explanations(explainer.explain(X, predictions, probabilities, n_jobs))


def _name_scores(trees, feature_names, class_names):
    """Check the names of an ensemble by those of a tree with all of its classes."""
    shape = [len(classes) for classes in trees.classes] or [1] * trees.n_outputs
    tree = trees.trees[0]
    tree = tree.replace(
        statistics=np.zeros((len(tree.nodes), len(shape), max(shape))),
        n_classes=np.array(shape),
        is_classifier=trees.is_classifier,
    )
    classes = trees.classes
    if trees.is_classifier and trees.n_outputs == 1:
        (classes,) = classes
    return join_names(tree, trees.schema, classes, feature_names, class_names)


def _list_probabilities(model, X):
    """List the probabilities of each row by class; a list for several outputs."""
    fractions, classes = model.predict_proba(X), model.classes_
    if not isinstance(classes, list):
        labels = classes.tolist()
        return [dict(zip(labels, row, strict=True)) for row in fractions.tolist()]
    outputs = []
    for label, array in zip(classes, fractions, strict=True):
        labels = label.tolist()
        outputs.append([dict(zip(labels, r, strict=True)) for r in array.tolist()])
    return list(map(list, zip(*outputs, strict=True)))


def _quote_classes(fitted, class_names):
    """Names of classes for sentences: quoted text, and ``class 1`` of a number."""
    return [
        [
            f"'{name}'" if has_names or isinstance(label, str) else f"class {name}"
            for name, label in zip(names, np.asarray(labels).tolist(), strict=True)
        ]
        for names, labels in zip(fitted.class_names, fitted.classes, strict=True)
        for has_names in [class_names is not None and class_names is not True]
    ]


def _name_center(model):
    """Return how the values of the leaves of a regression tree are computed."""
    is_median = getattr(model, "criterion", None) == "absolute_error"
    return "median" if is_median else "mean"
