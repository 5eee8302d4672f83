"""The function that makes models of scikit-learn from those of this package."""

from __future__ import annotations

from functools import singledispatch

from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.tree.exchange.sklearn_tree import convert_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree


# Ensembles register their own conversions, since trees do not know them.
@singledispatch
def to_sklearn(model, /):
    """Convert a model to a fitted scikit-learn estimator with the same predictions.

    Programs that read models of scikit-learn, such as shap, skl2onnx, treelite,
    dtreeviz, supertree and eli5, and ``sklearn.tree.plot_tree``, accept the result.

    Parameters
    ----------
    model : estimator
        A fitted model of this package: a tree whose tests have one column; a random
        forest, extra trees, bagging or random subspaces of such trees;
        :class:`~sklearn_textbook.ensemble.AdaBoostClassifier`;
        :class:`~sklearn_textbook.ensemble.GradientBoostingClassifier` or
        :class:`~sklearn_textbook.ensemble.GradientBoostingRegressor` with a loss that
        scikit-learn has; or
        :class:`~sklearn_textbook.ensemble.BoostingTreeRegressor`.

    Returns
    -------
    estimator : estimator of scikit-learn
        ``DecisionTreeClassifier``, ``RandomForestRegressor``, ... with the parameters
        that both have. For a table with nominal or ordinal columns a ``Pipeline`` of
        an "encoder", which reads levels as codes, and such a "model".

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If it is of another kind.
    ValueError
        If scikit-learn has no equivalent of a column, test or parameter; it is named.

    See Also
    --------
    export_rules : The rules of a tree as SQL or Python, exact in double precision.

    Notes
    -----
    Trees of scikit-learn round tables to single precision. Thresholds are rounded down
    to single precision, which makes predictions equal for every table of such numbers,
    also for programs that store thresholds so. In a table of double precision, values
    that are within rounding of a threshold may go the other way.

    Missing values go where they go in the model, with two exceptions. ID3 and C4.5
    divide rows among branches: if a column had no missing values in training, later
    ones go to the larger child, as in trees that scikit-learn fits; otherwise this is
    an error. So they do after ``missing="error"``. Boosting of scikit-learn takes no
    missing values.

    A test of levels becomes a few thresholds of their codes, with copies of a child
    whose levels are not neighbours; levels without a branch end in a leaf with the
    prediction of the node, also with ``handle_unknown="error"`` if the training table
    had them. Branches of missing values become tests whether there is a value. All
    other nodes keep their numbers: in trees without such tests ``apply`` is equal too.

    AdaBoost of scikit-learn divides scores by the sum of the members' weights: classes
    are equal but for ties, while ``decision_function`` and ``predict_proba`` follow its
    formulas. In gradient boosting of two classes, steps that cancel to a score of
    exactly 0 give the first class here, the second there. The criterion "error" stays
    the name of the impurities; scikit-learn cannot fit such a tree again.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.tree import export_text
    >>> from sklearn_textbook.exchange import to_sklearn
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> tree = to_sklearn(CARTClassifier(max_depth=2).fit(X, y))
    >>> tree
    DecisionTreeClassifier(max_depth=2)
    >>> print(export_text(tree, feature_names=list("abcd")), end="")
    |--- c <= 2.45
    |   |--- class: 0
    |--- c >  2.45
    |   |--- d <= 1.75
    |   |   |--- class: 1
    |   |--- d >  1.75
    |   |   |--- class: 2
    """
    if hasattr(model, "fit") and not isinstance(model, type):
        check_is_fitted(model)
    if not isinstance(getattr(model, "tree_", None), GrownTree):
        name = model.__name__ if isinstance(model, type) else type(model).__name__
        raise TypeError(
            "to_sklearn makes models of scikit-learn from fitted trees, forests, "
            f"bagging, AdaBoost and gradient boosting of sklearn_textbook; got {name}."
        )
    return convert_tree(model)
