"""Base class of all losses: the interface, and what needs its derivatives alone."""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator

from sklearn_textbook.ensemble.boosting.loss_rows import (
    check_leaves,
    check_rows,
    sum_by_node,
)

#: A sum of second derivatives below this counts as 0, and the step of a leaf is 0.
SMALLEST_HESSIAN = 1e-150


class Loss(BaseEstimator):
    r"""Base class of the losses :math:`L(y, f)` of a target y and raw scores f.

    A user-defined loss must define :meth:`compute_row_losses` and
    :meth:`differentiate`, in plain numpy, and may override any other method. A loss has
    no state other than its parameters, and its methods do not change it.

    See Also
    --------
    sklearn_textbook.ensemble.boosting.losses.SquaredError : A compiled loss.

    Notes
    -----
    In all methods, ``y`` is a float64 array of shape (n_rows,), with classes as the
    codes 0, 1, ...; ``raw`` is a C-contiguous float64 array of shape (n_scores,
    n_rows). A weight of None means weights of 1, and a weight of 2 counts as two equal
    rows.

    Examples
    --------
    The logarithm of the hyperbolic cosine is close to the squared error for small
    residuals and to the absolute error for large ones.

    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import Loss
    >>> class LogCosh(Loss):
    ...     name = "log-cosh"
    ...
    ...     def compute_row_losses(self, y, raw):
    ...         return np.log(np.cosh(raw[0] - y))
    ...
    ...     def differentiate(self, y, raw):
    ...         slope = np.tanh(raw - y)
    ...         return slope, 1.0 - slope**2
    >>> y = np.array([1.0, 2.0, 6.0])
    >>> LogCosh().find_start(y).round(3)
    array([2.175])
    """

    #: What messages call it.
    name = "loss"
    #: Number of raw scores per row.
    n_scores = 1
    #: How predictions follow from raw scores times the unit: identity, expit, softmax
    #: or exp.
    _link, _unit = "identity", 1.0
    #: Number of classes; None if y is a number.
    n_classes = None
    #: Whether the second derivative is 1 everywhere, before it is weighted.
    has_constant_hessian = False
    #: Whether the sums of the derivatives suffice for the values of leaves.
    has_leaf_sums = True
    #: Whether these are -G / (H + l2).
    has_newton_leaves = True

    def compute_row_losses(self, y, raw):
        """Compute the loss of each row.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.

        Returns
        -------
        loss : ndarray of shape (n_rows,)
            Losses without weights.
        """
        raise NotImplementedError(
            f"{type(self).__name__} must define compute_row_losses."
        )

    def differentiate(self, y, raw):
        """Compute the derivatives of the loss of each row by its raw scores.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.

        Returns
        -------
        gradient : ndarray of shape (n_scores, n_rows)
            First derivatives, without weights.
        hessian : ndarray of shape (n_scores, n_rows)
            Second derivatives, each with respect to a single score.
        """
        raise NotImplementedError(f"{type(self).__name__} must define differentiate.")

    def check_parameters(self):
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """

    def check_target(self, y):
        """Check that the loss is defined for the targets.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Targets; in classification, the class codes 0, 1, ...

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            The targets as an array.

        Raises
        ------
        ValueError
            If a target or a parameter is invalid; the message names the row.
        """
        self.check_parameters()
        y = np.ascontiguousarray(y, dtype=np.float64)
        if y.ndim != 1 or len(y) == 0:
            raise ValueError(f"y must have shape (n_rows,), got {y.shape}.")
        if self.n_classes is None:
            self._require(y, np.isfinite(y), "finite numbers")
        else:
            is_code = (y >= 0) & (y < self.n_classes) & (y == np.floor(y))
            self._require(y, is_code, f"the class codes 0 to {self.n_classes - 1}")
        return y

    def _require(self, y, is_allowed, allowed):
        if not is_allowed.all():
            row = int(np.argmin(is_allowed))
            raise ValueError(
                f"y must be {allowed} for the loss {self.name!r}, got {y[row]} in row "
                f"{row}."
            )

    def find_start(self, y, weight=None):
        """Find the constant scores with the smallest loss.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        weight : ndarray of float64, shape (n_rows,), default=None
            Weights.

        Returns
        -------
        start : ndarray of float64, shape (n_scores,)
            The scores, found numerically unless a subclass overrides this method.
        """
        return self._find_start(y, weight)

    def _find_start(self, y, weight):
        def compute(start):
            raw = np.repeat(start[:, None], len(y), axis=1)
            gradient = np.average(self.differentiate(y, raw)[0], axis=1, weights=weight)
            loss = np.average(self.compute_row_losses(y, raw), weights=weight)
            return float(loss), gradient

        return minimize(compute, np.zeros(self.n_scores), jac=True).x

    def compute_loss(self, y, raw, weight=None, n_threads=1):
        """Compute the weighted mean loss.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.
        weight : ndarray of float64, shape (n_rows,), default=None
            Weights.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        loss : float
            The mean over the rows.
        """
        check_rows(self.n_scores, y, raw, weight)
        return self._compute_loss(y, raw, weight, n_threads)

    def _compute_loss(self, y, raw, weight, n_threads):
        return float(np.average(self.compute_row_losses(y, raw), weights=weight))

    def compute_gradients(self, y, raw, weight, gradient, hessian, n_threads=1):
        """Compute the derivatives of the loss of each row, times its weight.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights.
        gradient : ndarray of float32 or float64, shape (n_scores, n_rows)
            Filled with the first derivatives.
        hessian : ndarray like ``gradient``, or None
            Filled with the second derivatives. None: they are not computed.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        largest_gradient : float
            The largest absolute first derivative.
        largest_hessian : float
            The largest second derivative.
        """
        check_rows(self.n_scores, y, raw, weight, gradient, hessian)
        return self._fill_gradients(y, raw, weight, gradient, hessian, n_threads)

    def compute_with_loss(self, y, raw, weight, gradient, hessian, n_threads=1):
        """Compute the derivatives and the mean loss in one pass over the rows.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights.
        gradient : ndarray of float32 or float64, shape (n_scores, n_rows)
            Filled with the first derivatives.
        hessian : ndarray like ``gradient``, or None
            Filled with the second derivatives. None: they are not computed.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        largest : tuple of two floats
            As returned by :meth:`compute_gradients`.
        loss : float
            As returned by :meth:`compute_loss`.
        """
        check_rows(self.n_scores, y, raw, weight, gradient, hessian)
        return self._compute_with_loss(y, raw, weight, gradient, hessian, n_threads)

    def _compute_with_loss(self, y, raw, weight, gradient, hessian, n_threads):
        return (
            self._fill_gradients(y, raw, weight, gradient, hessian, n_threads),
            self._compute_loss(y, raw, weight, n_threads),
        )

    def _fill_gradients(self, y, raw, weight, gradient, hessian, n_threads):
        slope, curvature = self.differentiate(y, raw)
        factor = 1.0 if weight is None else weight
        gradient[...] = slope * factor
        curvature = curvature * factor
        if hessian is not None:
            hessian[...] = curvature
        return float(np.abs(gradient).max()), float(np.max(curvature))

    def compute_leaf_values(
        self,
        y,
        raw,
        weight,
        leaf_of_row,
        n_nodes,
        *,
        gradient_sums=None,
        hessian_sums=None,
        score=0,
        l2=0.0,
        n_threads=1,
    ):
        r"""Compute the values of the leaves of a tree: one Newton step.

        .. math:: c = -\frac{G}{H + \lambda}

        where G and H are the sums of the weighted derivatives over the rows in the leaf
        [1]_. This is the minimum of a quadratic loss. The value is 0 if H + l2 is 0.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores before the tree.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights.
        leaf_of_row : ndarray of int, shape (n_rows,)
            Node in which each row ended; negative values leave the row out.
        n_nodes : int
            Number of nodes. Nodes without rows have the value 0.
        gradient_sums : ndarray of shape (n_nodes,), default=None
            G of each node. None: it is computed.
        hessian_sums : ndarray of shape (n_nodes,), default=None
            H of each node. None: it is computed.
        score : int, default=0
            The score to which the tree belongs.
        l2 : float, default=0.0
            The :math:`\lambda` added to H. Leaves that are medians or quantiles do not
            use it.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        values : ndarray of float64, shape (n_nodes,)
            The values added to the score, before shrinkage.

        References
        ----------
        .. [1] J. H. Friedman. "Greedy function approximation: a gradient boosting
               machine", Annals of Statistics 29(5), 2001, section 4.
        """
        check_rows(self.n_scores, y, raw, weight)
        leaf_of_row = check_leaves(leaf_of_row, len(y), n_nodes)
        if not self.has_leaf_sums:
            return self._measure_leaves(y, raw, weight, leaf_of_row, n_nodes, n_threads)
        if gradient_sums is None or hessian_sums is None:
            gradient, hessian = np.empty(raw.shape), np.empty(raw.shape)
            self.compute_gradients(y, raw, weight, gradient, hessian, n_threads)
            gradient_sums = sum_by_node(gradient[score], leaf_of_row, n_nodes)
            hessian_sums = sum_by_node(hessian[score], leaf_of_row, n_nodes)
        gradient_sums = self._correct_sums(
            y, weight, leaf_of_row, gradient_sums, hessian_sums
        )
        return self._solve_leaves(gradient_sums, hessian_sums, l2)

    def _correct_sums(self, y, weight, leaf_of_row, gradient_sums, hessian_sums):
        """Return the sums of the gradients, corrected where more is known."""
        return gradient_sums

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        """Compute the values of leaves from their sums."""
        curvature = hessian_sums + l2
        is_flat = np.abs(curvature) < SMALLEST_HESSIAN
        return np.where(
            is_flat, 0.0, -gradient_sums / np.where(is_flat, 1.0, curvature)
        )

    def _measure_leaves(self, y, raw, weight, leaf_of_row, n_nodes, n_threads):
        """Compute the values of leaves from their rows."""
        raise NotImplementedError

    def to_prediction(self, raw):
        """Convert raw scores to predictions.

        Parameters
        ----------
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.

        Returns
        -------
        prediction : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Values, or class probabilities.
        """
        return self._predict(raw)

    def _predict(self, raw):
        return raw[0].copy()
