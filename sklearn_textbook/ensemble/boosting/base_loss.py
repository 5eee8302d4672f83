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
    r"""Base class for losses :math:`L(y, f)` of a target y and raw scores f.

    A user-defined loss needs :meth:`compute_row_losses` and :meth:`differentiate`, in
    plain numpy, and may override any other method. A loss has parameters only; its
    methods do not change it.

    See Also
    --------
    sklearn_textbook.ensemble.boosting.losses.SquaredError : A loss that is compiled.

    Notes
    -----
    Everywhere, ``y`` has the shape (n_rows,) and is of float64, classes as the codes 0,
    1, ...; ``raw``, of float64 and C-contiguous, has the shape (n_scores, n_rows); a
    weight of None stands for weights of 1, and a weight of 2 for two equal rows.

    Examples
    --------
    The logarithm of the hyperbolic cosine is close to the squared error for small
    residuals, and to the absolute error for large ones.

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
            Without weights.
        """
        raise NotImplementedError(
            f"{type(self).__name__} has to define compute_row_losses."
        )

    def differentiate(self, y, raw):
        """Compute the derivatives of each row's loss by its raw scores.

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
            Second derivatives, each by the same score twice.
        """
        raise NotImplementedError(f"{type(self).__name__} has to define differentiate.")

    def check_parameters(self):
        """Require parameters that are allowed.

        Raises
        ------
        ValueError
            If a value is not allowed; the message lists what is.
        """

    def check_target(self, y):
        """Require targets that the loss is defined for.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Targets; of a classification the codes 0, 1, ... of the classes.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            The same.

        Raises
        ------
        ValueError
            If a target or a parameter is not allowed; the message names the row.
        """
        self.check_parameters()
        y = np.ascontiguousarray(y, dtype=np.float64)
        if y.ndim != 1 or len(y) == 0:
            raise ValueError(f"y must have one target per row, got shape {y.shape}.")
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
                f"y has the value {y[row]} in row {row}, but the loss {self.name!r} "
                f"takes {allowed}."
            )

    def find_start(self, y, weight=None):
        """Find the constant scores of the smallest loss.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        weight : ndarray of float64, shape (n_rows,), default=None
            Weights.

        Returns
        -------
        start : ndarray of float64, shape (n_scores,)
            Found numerically unless a class overrides it.
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
        """Compute the weighted mean of the losses.

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
        """Write the derivatives of each row's loss, times its weight.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights.
        gradient : ndarray of float32 or float64, shape (n_scores, n_rows)
            Is filled with the first derivatives.
        hessian : ndarray like ``gradient``, or None
            Is filled with the second derivatives; None: they are not wanted.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        largest_gradient : float
            The largest absolute value of a first derivative.
        largest_hessian : float
            The largest second derivative.
        """
        check_rows(self.n_scores, y, raw, weight, gradient, hessian)
        return self._fill_gradients(y, raw, weight, gradient, hessian, n_threads)

    def compute_with_loss(self, y, raw, weight, gradient, hessian, n_threads=1):
        """Write the derivatives, and compute the mean loss, in one pass over the rows.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights.
        gradient : ndarray of float32 or float64, shape (n_scores, n_rows)
            Is filled with the first derivatives.
        hessian : ndarray like ``gradient``, or None
            Is filled with the second derivatives; None: they are not wanted.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        largest : tuple of two floats
            What :meth:`compute_gradients` returns.
        loss : float
            What :meth:`compute_loss` returns.
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
        r"""Compute what the leaves of a tree add to a score: one Newton step.

        .. math:: c = -\frac{G}{H + \lambda}

        with the sums G and H of the weighted derivatives of the rows in the leaf [1]_:
        the minimum of a quadratic loss, and 0 where H + l2 is 0.

        Parameters
        ----------
        y : ndarray of float64, shape (n_rows,)
            Targets.
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores before the tree.
        weight : ndarray of float64, shape (n_rows,), or None
            Weights.
        leaf_of_row : ndarray of int, shape (n_rows,)
            Node where each row ended; negative: the row has no part in it.
        n_nodes : int
            Number of nodes. One without rows gets 0.
        gradient_sums : ndarray of shape (n_nodes,), default=None
            G of each node; None: it is computed.
        hessian_sums : ndarray of shape (n_nodes,), default=None
            H of each node; None: it is computed.
        score : int, default=0
            The score that the tree belongs to.
        l2 : float, default=0.0
            What is added to H. Leaves that are medians or quantiles do not use it.
        n_threads : int, default=1
            Number of threads; the result does not depend on it.

        Returns
        -------
        values : ndarray of float64, shape (n_nodes,)
            What is added, before any shrinkage.

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
        return self._solve_leaves(gradient_sums, hessian_sums, l2)

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
        """Turn raw scores into predictions.

        Parameters
        ----------
        raw : ndarray of float64, shape (n_scores, n_rows)
            Raw scores.

        Returns
        -------
        prediction : ndarray of shape (n_rows,) or (n_rows, n_classes)
            Values, or probabilities of the classes.
        """
        return self._predict(raw)

    def _predict(self, raw):
        return raw[0].copy()
