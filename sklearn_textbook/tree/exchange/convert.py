"""The function that makes models of scikit-learn from those of this package."""

from __future__ import annotations

from functools import singledispatch
from typing import Any

from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.costs import refuse_costs
from sklearn_textbook.tree.exchange.sklearn_tree import convert_tree
from sklearn_textbook.tree.grow.grown_tree import GrownTree


# Ensembles register their own conversions, since trees do not know them.
@singledispatch
def to_sklearn(model: Any, /) -> Any:
    """Convert a fitted model to a scikit-learn estimator with the same predictions.

    Programs that read scikit-learn models, such as shap, skl2onnx, treelite, dtreeviz,
    supertree and eli5, and ``sklearn.tree.plot_tree``, accept the result.

    Parameters
    ----------
    model : estimator
        A fitted model of this package: a tree whose tests have a single column; a
        random forest, extra trees, bagging or random subspace ensemble of such trees;
        :class:`~sklearn_textbook.ensemble.AdaBoostClassifier`;
        :class:`~sklearn_textbook.ensemble.GradientBoostingClassifier` or
        :class:`~sklearn_textbook.ensemble.GradientBoostingRegressor` with a loss that
        scikit-learn supports; or
        :class:`~sklearn_textbook.ensemble.BoostingTreeRegressor`.

    Returns
    -------
    estimator : estimator of scikit-learn
        ``DecisionTreeClassifier``, ``RandomForestRegressor``, ... with the parameters
        that both have. If the table has nominal or ordinal columns, a ``Pipeline`` of
        an "encoder", which converts levels to codes, and such a "model".

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind.
    ValueError
        If scikit-learn has no equivalent of a column, test or parameter; the message
        names it.

    See Also
    --------
    export_rules : The rules of a tree as SQL or Python, exact in double precision.

    Notes
    -----
    scikit-learn trees round tables to single precision. Thresholds are rounded down to
    single precision as well, so predictions are equal for all tables of
    single-precision numbers, also in programs that store such thresholds. In a
    double-precision table, values within rounding error of a threshold may take the
    other branch.

    Missing values take the same branch as in the model, with two exceptions. ID3 and
    C4.5 divide rows among branches: if a column had no missing values in training,
    later ones go to the larger child, as in trees fitted by scikit-learn; otherwise
    conversion raises an error. After ``missing="error"``, missing values go to the
    larger child, too. scikit-learn's boosting estimators do not accept missing values.

    A test of levels becomes several thresholds on their codes; a child whose levels are
    not adjacent is copied. Levels without a branch end in a leaf with the prediction of
    the node, also with ``handle_unknown="error"`` if the training table contained them.
    Branches for missing values become tests of whether a value is present. All other
    nodes keep their numbers, so ``apply`` is equal, too, in trees without such tests.

    scikit-learn's AdaBoost divides scores by the sum of the member weights: predicted
    classes are equal except for ties, while ``decision_function`` and ``predict_proba``
    follow its formulas. In gradient boosting with two classes, a score of exactly 0
    gives the first class here and the second class there. The criterion "error" remains
    as the name of the impurity; scikit-learn cannot refit such a tree.

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
            "model must be a fitted tree, forest, bagging, AdaBoost or gradient "
            f"boosting model of sklearn_textbook, got {name}."
        )
    refuse_costs(model)
    return convert_tree(model)
