"""Proximities of rows and importances of columns in a forest."""

from __future__ import annotations

from sklearn_textbook.ensemble.forest.permutation_importances import (
    compute_permutation_importances,
)
from sklearn_textbook.ensemble.forest.proximities import compute_proximities


class ForestMeasures:
    """Proximities of rows, and importances of columns by permutation."""

    def proximities(self, X, Y=None, *, out_of_bag=False, dense=True):
        """Measure how near rows are: the fraction of trees with both in the same leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : table of shape (n_others, n_features), default=None
            Rows to compare them with; None: X itself.
        out_of_bag : bool, default=False
            Whether only trees count for which both rows are out of bag; X is then the
            training table.
        dense : bool, default=True
            Whether the result is an array or a sparse matrix.

        Returns
        -------
        proximities : ndarray or scipy.sparse.csr_matrix, shape (n_samples, n_others)
            See :func:`~sklearn_textbook.ensemble.compute_proximities`.
        """
        return compute_proximities(self, X, Y, out_of_bag=out_of_bag, dense=dense)

    def permutation_importances(self, X, y, *, n_repeats=1, random_state=None):
        r"""Measure how much more trees err on a permuted column, 置换重要性.

        For every tree t, the values of column j are permuted among its out-of-bag rows
        :math:`O_t`, and the rise of its error on them is taken:

        .. math:: I_{jt} = \frac{1}{|O_t|} \sum_{i \in O_t} \left[
            L(y_i, h_t(x_i^{(j)})) - L(y_i, h_t(x_i)) \right]

        L is 1 for a wrong class and 0 for the right one, or the squared error. The
        importance of a column is the mean over the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table, in its order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The training target.
        n_repeats : int, default=1
            How many times a column is permuted for each tree.
        random_state : int, RandomState instance or None, default=None
            Seed of the permutations.

        Returns
        -------
        importances : Bunch
            ``importances``, of shape (n_features, n_estimators), has the rise for every
            tree, the mean over its repeats; ``importances_mean`` and
            ``importances_std``, of shape (n_features,), are over the trees.

        Raises
        ------
        ValueError
            If the forest has ``bootstrap=False``, or if X or y are not of the training
            table's shape.

        Notes
        -----
        A column that a tree does not test cannot change its error and costs nothing.
        ``sklearn.inspection.permutation_importance`` permutes a column of all rows that
        it is given and scores the forest as a whole: on training rows, which the trees
        know, this overrates; and where two columns are redundant, the trees that use
        the other hide the loss. Here each tree is scored alone, on rows that it has not
        seen. With ``pruning="out_of_bag"`` these rows have cut the tree back, so that
        importances are somewhat too large.

        References
        ----------
        L. Breiman (2001), Random forests, Machine Learning 45, section 10.

        Examples
        --------
        >>> from sklearn.datasets import load_iris
        >>> from sklearn_textbook.ensemble import RandomForestClassifier
        >>> X, y = load_iris(return_X_y=True)
        >>> forest = RandomForestClassifier(random_state=0).fit(X, y)
        >>> result = forest.permutation_importances(X, y, random_state=0)
        >>> result.importances.shape
        (4, 100)
        >>> int(result.importances_mean.argmin())  # the width of the sepals
        1
        """
        return compute_permutation_importances(
            self, X, y, n_repeats=n_repeats, random_state=random_state
        )
