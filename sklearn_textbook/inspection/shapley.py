"""Contributions of columns to predictions: Shapley values of trees."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
from scipy import sparse

from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.exchange.tree_sum import read_trees
from sklearn_textbook.tree.grow.layout import OBLIQUE
from sklearn_textbook.tree.route.shapley import (
    compute_expectations,
    compute_shapley_values,
)

#: Number of rows between two checks for Ctrl-C.
BLOCK_ROWS = 512


@dataclass(frozen=True, eq=False)
class ShapleyValues:
    """Contributions of the columns of each row to its prediction.

    The attributes have the same names as in ``shap.Explanation``.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features[, n_features][, n_scores])
        Contributions of columns or of pairs of columns. For a model with one score,
        there is no axis of scores.
    base_values : float, or ndarray of float64 of shape (n_scores,)
        Prediction if no column is known. The sum of this value and the values of a row
        is the score of the row.
    data : array, or sparse matrix, of shape (n_rows, n_features)
        The rows.
    feature_names : list of str
        Names of the columns.
    output_names : list of str or None
        Names of the scores: classes, or "class of output" for several outputs. None if
        there is a single score.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_boosting_tree_example
    >>> from sklearn_textbook.inspection import shap_values
    >>> from sklearn_textbook.tree import CARTRegressor
    >>> X, y = load_boosting_tree_example(return_X_y=True)
    >>> result = shap_values(CARTRegressor(max_depth=1).fit(X, y), X)
    >>> result
    ShapleyValues(values of shape (10, 1), base_values=7.307)
    >>> result.values[[0, 9], 0].round(3)
    array([-1.07 ,  1.605])
    """

    values: np.ndarray
    base_values: np.ndarray
    data: object
    feature_names: list
    output_names: list | None

    def __repr__(self):
        return (
            f"ShapleyValues(values of shape {self.values.shape}, "
            f"base_values={np.array2string(np.asarray(self.base_values), precision=4)})"
        )

    def to_shap(self) -> Any:
        """Convert to an ``Explanation`` of the shap package, for its plots.

        Returns
        -------
        explanation : shap.Explanation
            The same values.

        Raises
        ------
        ImportError
            If shap is not installed.
        """
        try:
            import shap
        except ImportError as error:
            raise ImportError(
                "to_shap requires the shap package: pip install shap. The values "
                "are also available in the attribute values."
            ) from error
        n_rows = len(self.values)
        base = np.repeat(np.asarray(self.base_values)[np.newaxis], n_rows, axis=0)
        data = self.data.toarray() if sparse.issparse(self.data) else self.data
        return shap.Explanation(
            self.values,
            base_values=base,
            data=data,
            feature_names=self.feature_names,
            output_names=self.output_names,
        )


def shap_values(
    model: Any, X: MatrixLike, *, interactions: bool = False, n_jobs: int | None = None
) -> ShapleyValues:
    r"""Compute exact Shapley values: the contribution of each column to a prediction.

    For a row x, let :math:`f_S(x)` be the prediction of the model if only the columns
    of a set S are known: at a test of another column, the row goes to all children in
    proportion to their training weights. The contribution of column i is

    .. math::

        \phi_i = \sum_{S \not\ni i} \frac{|S|! \, (p - |S| - 1)!}{p!}
            \big(f_{S \cup \{i\}}(x) - f_S(x)\big),

    which is the mean change over all orders in which the p columns may become known.
    The contributions of a row and the base value sum to its score.

    Parameters
    ----------
    model : estimator
        A fitted tree, random forest, extra trees, bagging, random subspace, output
        perturbation, AdaBoost, boosting tree or gradient boosting model of this
        package.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The rows, as for ``predict``.
    interactions : bool, default=False
        Whether to divide the contributions among pairs of columns (Shapley interaction
        index, half of it in either order). The diagonal contains the contributions of
        single columns; rows of this symmetric matrix sum to the contributions.
    n_jobs : int or None, default=None
        Number of threads. None or -1: one per core. The result does not depend on it.

    Returns
    -------
    result : ShapleyValues
        Its ``values`` have shape (n_samples, n_features), with another axis for the
        scores of classes or outputs if there is more than one. Scores are class
        probabilities for trees and for ensembles that average them; predicted values in
        regression; log-odds in gradient boosting, or the scores before the softmax for
        more than two classes; logarithms of the mean for losses with a log link; sums
        of the weights of votes in AdaBoost; the mean class probabilities of the members
        (with ``voting="hard"``: proportions of votes) in
        :class:`~sklearn_textbook.ensemble.OutputFlippingClassifier`; and in
        :class:`~sklearn_textbook.ensemble.OutputSmearingClassifier` the mean values
        that the members predict for each class, before negative ones become 0 and they
        are divided by their sum, which gives the probabilities.

    Raises
    ------
    sklearn.exceptions.NotFittedError
        If the model is not fitted.
    TypeError
        If the model is of another kind.
    ValueError
        If the table does not match the model, or if ``interactions`` are requested for
        oblique trees.

    See Also
    --------
    sklearn_textbook.exchange.to_sklearn : Converts to models that shap can explain.

    Notes
    -----
    The values equal those of shap's ``TreeExplainer`` with
    ``feature_perturbation="tree_path_dependent"``, but are available for all trees of
    this package: multiway and nominal tests, missing values with any treatment (a row
    that is divided among the children has a contribution of 0 from that test),
    surrogates (which count as reading the missing column), and levels not seen in
    training. An oblique test counts as one column, whose contribution is divided among
    its columns in proportion to their fractions in the test. Members of AdaBoost and of
    hard voting that divide a row count with fractions of their votes.

    The sum over all subsets of the columns of a path is the integral of a polynomial,
    which Gaussian quadrature computes without cancellation. A row takes O(L m)
    operations in a tree with L leaves and m columns on a path, O(L m³) with
    ``interactions``.

    References
    ----------
    S. M. Lundberg et al., From local explanations to global understanding with
    explainable AI for trees, Nature Machine Intelligence 2, 2020.

    Examples
    --------
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.inspection import shap_values
    >>> from sklearn_textbook.tree import CARTClassifier
    >>> X, y = load_watermelon("3.0alpha", return_X_y=True)
    >>> model = CARTClassifier(max_depth=2).fit(X, y)
    >>> result = shap_values(model, X[:1])
    >>> result.values[0].round(3)
    array([[-0.141,  0.141],
           [-0.389,  0.389]])
    >>> float(result.values[0, :, 1].sum() + result.base_values[1])
    1.0
    """
    trees = read_trees(model)
    if interactions and any(_is_oblique(tree) for tree in trees.trees):
        raise ValueError(
            "interactions=True is not supported for oblique tests, which have several "
            "columns each; use interactions=False."
        )
    matrix = trees.read(X)
    n_rows, n_columns = matrix.shape
    n_threads = count_threads(n_jobs, n_rows * n_columns * len(trees.trees))
    if any(tree.handle_unknown == "error" for tree in trees.trees):
        # Raises the error for levels that no node may meet.
        trees.compute_scores(matrix, n_threads)
    shape = (n_rows, n_columns, *[n_columns] * bool(interactions), trees.n_scores)
    values = np.empty(shape)
    computed = _leave_out_last_class(trees)
    n_computed = trees.n_scores - (computed is not trees.trees)
    for first in range(0, n_rows, BLOCK_ROWS):
        block = matrix[first : first + BLOCK_ROWS]
        rows = slice(first, first + block.shape[0])
        values[rows, ..., :n_computed] = compute_shapley_values(
            computed,
            trees.first,
            n_computed,
            block.toarray() if sparse.issparse(block) else block,
            n_threads,
            interactions,
        )
    if n_computed < trees.n_scores:
        values[..., -1] = 0.0 - values[..., :-1].sum(axis=-1)
    base = trees.start + compute_expectations(trees.trees, trees.first, trees.n_scores)
    if trees.n_scores == 1:
        values, base = values[..., 0], float(base[0])
    return ShapleyValues(
        values, base, _read_data(X), trees.feature_names, _name_scores(trees)
    )


def _is_oblique(tree) -> bool:
    return bool((tree.nodes["kind"] == OBLIQUE).any())


def _leave_out_last_class(trees):
    """List the trees without the last class, where all add up to the same number.

    Its contributions are then those of the others with the opposite sign.
    """
    if trees.n_scores < 2 or len(trees.classes) != 1 or trees.link != "identity":
        return trees.trees
    for tree in trees.trees:
        totals = tree.statistics[:, :, 0].sum(axis=1)
        if not np.allclose(totals, totals[0], rtol=1e-12, atol=0.0):
            return trees.trees
    return [
        tree.replace(statistics=tree.statistics[:, :-1], n_classes=tree.n_classes[:-1])
        for tree in trees.trees
    ]


def _read_data(X):
    """Return the rows as an array, or as the sparse matrix that they are."""
    if sparse.issparse(X):
        return X
    frame = nw.from_native(X, eager_only=True, pass_through=True)
    return frame.to_numpy() if isinstance(frame, nw.DataFrame) else np.asarray(X)


def _name_scores(trees):
    """Name the scores; None if there is one."""
    if trees.n_scores == 1:
        return None
    if not trees.is_classifier:
        return [f"output {number}" for number in range(trees.n_scores)]
    width = trees.n_scores // trees.n_outputs
    names = []
    for output, classes in enumerate(trees.classes):
        suffix = f" of output {output}" if trees.n_outputs > 1 else ""
        labels = [str(label) for label in classes.tolist()]
        # Outputs with fewer classes have empty scores.
        labels += ["none"] * (width - len(labels))
        names += [f"{label}{suffix}" for label in labels]
    return names
