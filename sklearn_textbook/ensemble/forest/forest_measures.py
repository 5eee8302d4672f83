"""Proximities of rows and importances of columns in a forest."""

from __future__ import annotations

from sklearn_textbook.ensemble.forest.permutation_importances import (
    compute_permutation_importances,
)
from sklearn_textbook.ensemble.forest.proximities import compute_proximities


class ForestMeasures:
    """Proximities of rows, and importances of columns by permutation."""

    def proximities(self, X, Y=None, *, out_of_bag=False, dense=True):
        """Compute the proximity of rows: the fraction of trees with both in one leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        Y : table of shape (n_others, n_features), default=None
            Rows to compare them with. None: X itself.
        out_of_bag : bool, default=False
            Whether to use only the trees for which both rows are out of bag; X must
            then be the training table.
        dense : bool, default=True
            Whether to return an array or a sparse matrix.

        Returns
        -------
        proximities : ndarray, csr_matrix or csr_array, shape (n_samples, n_others)
            See :func:`~sklearn_textbook.ensemble.compute_proximities`.
        """
        return compute_proximities(self, X, Y, out_of_bag=out_of_bag, dense=dense)

    def permutation_importances(self, X, y, *, n_repeats=1, random_state=None):
        r"""Compute how much a permuted column increases the error, 置换重要性.

        For each tree t, the values of column j are permuted among its out-of-bag rows
        :math:`O_t`, and the increase of its error on them is computed:

        .. math:: I_{jt} = \frac{1}{|O_t|} \sum_{i \in O_t} \left[
            L(y_i, h_t(x_i^{(j)})) - L(y_i, h_t(x_i)) \right]

        In classification, L is 1 for a wrong class and 0 for the right one; in
        regression, it is the squared error. The importance of a column is the mean over
        the trees.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table, with its rows in the same order.
        y : array-like of shape (n_samples,) or (n_samples, n_outputs)
            The training target.
        n_repeats : int, default=1
            Number of permutations of a column for each tree.
        random_state : int, RandomState instance or None, default=None
            Seed for the permutations.

        Returns
        -------
        importances : Bunch
            ``importances``, of shape (n_features, n_estimators), contains the increase
            for each tree, averaged over the repeats; ``importances_mean`` and
            ``importances_std``, of shape (n_features,), are taken over the trees.

        Raises
        ------
        ValueError
            If the forest has ``bootstrap=False``, or if X or y do not have the shape of
            the training data.

        Notes
        -----
        A column that a tree does not test cannot change its error and costs nothing.
        ``sklearn.inspection.permutation_importance`` permutes a column of all rows
        given and scores the forest as a whole. On training rows, which the trees have
        seen, it therefore overestimates importances, and if two columns are redundant,
        the trees that use the other one hide the effect. Here, each tree is scored
        individually, on rows that it has not seen. With ``pruning="out_of_bag"``, these
        rows have been used for pruning, so importances are somewhat too large.

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
