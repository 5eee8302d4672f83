r"""Losses of boosting.

A loss :math:`L(y, f)` measures the error of raw scores f, the sums of the members'
values. A tree is fitted to its first and second derivatives, or to residuals, and its
leaves add the values that decrease the loss most. ``Loss`` has the interface, for
user-defined losses.

=================== ========================================= =============
class               L(y, f)                                   prediction
=================== ========================================= =============
``SquaredError``    :math:`\frac12 (y - f)^2`                 f
``AbsoluteError``   :math:`|y - f|`                           f
``HuberLoss``       squared up to :math:`\delta`, then linear f
``QuantileLoss``    :math:`q (y - f)_+ + (1 - q) (f - y)_+`   f
``PoissonLoss``     :math:`e^f - y f`                         :math:`e^f`
``GammaLoss``       :math:`f + y e^{-f}`                      :math:`e^f`
``TweedieLoss``     deviances between these two               :math:`e^f`
``LogLoss``         :math:`\log(1 + e^{-\tilde y f})`         probabilities
``ExponentialLoss`` :math:`e^{-\tilde y f}`                   probabilities
``MultinomialLoss`` :math:`\log \sum_k e^{f_k} - f_y`         probabilities
=================== ========================================= =============

Of two classes, :math:`\tilde y` is -1 and 1. In exponents, -700 and 600 stand for what
is beyond them: no derivative is infinite, however large a score has become.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import brentq, minimize
from sklearn.base import BaseEstimator

from sklearn_textbook._contract.blocks import add_up, list_blocks
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    check_truth,
)
from sklearn_textbook.ensemble.boosting import _losses
from sklearn_textbook.ensemble.boosting.block_quantiles import (
    find_block_quantiles,
    find_unit,
)

# ------------------------------------------------------------------------------------
# Checks of the arrays passed to losses, and sums by node.
# ------------------------------------------------------------------------------------


def check_rows(
    n_scores: int, y: np.ndarray, raw: np.ndarray, weight: np.ndarray | None, *outputs
) -> None:
    """Require arrays that belong together."""
    shape = (n_scores, len(y))
    if shape[1] == 0:
        raise ValueError("y has no rows.")
    for name, array in zip(
        ("raw", "gradient", "hessian"), (raw, *outputs), strict=False
    ):
        if array is not None and array.shape != shape:
            raise ValueError(
                f"{name} must have shape {shape}, for {shape[0]} raw scores per row "
                f"and {shape[1]} rows; got {array.shape}."
            )
    if weight is not None and weight.shape != shape[1:]:
        raise ValueError(f"weight must have shape {shape[1:]}, got {weight.shape}.")


def add_weights(weight: np.ndarray | None, n_rows: int) -> float:
    """Add up the weights of rows, or count the rows."""
    return float(n_rows) if weight is None else add_up(weight)


def add_pairs(pairs: Iterable[tuple[Any, float]]) -> tuple[Any, float]:
    """Add up the sums of blocks and their weights."""
    total, total_weight = 0.0, 0.0
    for of_block, weight in pairs:
        total, total_weight = total + of_block, total_weight + weight
    return total, total_weight


def sum_by_node(
    values: np.ndarray, leaf_of_row: np.ndarray, n_nodes: int
) -> np.ndarray:
    """Add up the values of the rows of each node."""
    places = leaf_of_row.astype(np.intp) + 1
    return np.bincount(np.maximum(places, 0), values, n_nodes + 1)[1:]


def check_leaves(leaf_of_row: np.ndarray, n_rows: int, n_nodes: int) -> np.ndarray:
    """Require a node for each row."""
    if leaf_of_row.shape != (n_rows,):
        raise ValueError(
            f"leaf_of_row must have shape ({n_rows},), got {leaf_of_row.shape}."
        )
    row = int(np.argmax(leaf_of_row))
    if leaf_of_row[row] >= n_nodes:
        raise ValueError(
            f"leaf_of_row must be below n_nodes={n_nodes}, got {leaf_of_row[row]} in "
            f"row {row}."
        )
    return np.ascontiguousarray(leaf_of_row, dtype=np.int32)


# ------------------------------------------------------------------------------------
# Base class of all losses: the interface, and what needs its derivatives alone.
# ------------------------------------------------------------------------------------


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
    #: Whether numbers of rows correct these sums.
    has_leaf_counts = False
    #: Whether the values of leaves are -G / (H + l2).
    has_newton_leaves = True

    def compute_row_losses(self, y: np.ndarray, raw: np.ndarray) -> np.ndarray:
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

    def differentiate(
        self, y: np.ndarray, raw: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
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

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """

    def check_target(self, y: ArrayLike) -> np.ndarray:
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
        return self._check_block(y)

    def _check_block(self, y, weight=None):
        """Check the targets of a block of rows, each by itself."""
        y = np.ascontiguousarray(y, dtype=np.float64)
        if y.ndim != 1 or len(y) == 0:
            raise ValueError(f"y must have shape (n_rows,), got {y.shape}.")
        if self.n_classes is None:
            self._require(y, np.isfinite(y), "finite numbers")
        else:
            is_code = (y >= 0) & (y < self.n_classes) & (y == np.floor(y))
            self._require(y, is_code, f"the class codes 0 to {self.n_classes - 1}")
        return y

    def _require_block(self, y, weight) -> None:
        """Require targets that the loss accepts."""
        self._check_block(y)

    def _require(self, y, is_allowed, allowed) -> None:
        if not is_allowed.all():
            row = int(np.argmin(is_allowed))
            raise ValueError(
                f"y must be {allowed} for the loss {self.name!r}, got {y[row]} in row "
                f"{row}."
            )

    def _require_blocks(self) -> None:
        """Require a loss that is computed block by block."""
        self.check_parameters()
        if not isinstance(self, CompiledLoss):
            raise ValueError(
                f"The loss {self.name!r} is user-defined, but a table that is read in "
                "blocks requires a loss of this package."
            )

    def find_start(self, y: np.ndarray, weight: np.ndarray | None = None) -> np.ndarray:
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

    def compute_loss(
        self,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None = None,
        n_threads: int = 1,
    ) -> float:
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

    def _settle(self, find_quantile: Callable[[float], float]) -> Loss:
        """Return the loss, with parameters that depend on the rows determined.

        ``find_quantile`` finds a quantile of the absolute residuals of the rows.
        """
        return self

    def _compute_loss(self, y, raw, weight, n_threads) -> float:
        return self._add_losses(y, raw, weight, n_threads) / add_weights(weight, len(y))

    def _add_losses(self, y, raw, weight, n_threads, total: float = 0.0) -> float:
        """Add the weighted losses of rows, or of a block of them, to a total."""
        losses = self.compute_row_losses(y, raw)
        return add_up(losses if weight is None else losses * weight, total)

    def compute_gradients(
        self,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None,
        gradient: np.ndarray,
        hessian: np.ndarray | None,
        n_threads: int = 1,
    ) -> tuple[float, float]:
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

    def compute_with_loss(
        self,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None,
        gradient: np.ndarray,
        hessian: np.ndarray | None,
        n_threads: int = 1,
    ) -> tuple[tuple[float, float], float]:
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
        largest, total = self._differentiate(
            y, raw, weight, gradient, hessian, n_threads, total=0.0
        )
        return largest, total / add_weights(weight, len(y))

    def _fill_gradients(self, y, raw, weight, gradient, hessian, n_threads):
        return self._differentiate(y, raw, weight, gradient, hessian, n_threads)[0]

    def _differentiate(
        self, y, raw, weight, gradient, hessian, n_threads, total: float | None = None
    ):
        """Compute the derivatives of rows, or of a block of them, and their largest.

        The losses are added to a total, unless that is None.
        """
        if total is not None:
            total = self._add_losses(y, raw, weight, n_threads, total)
        slope, curvature = self.differentiate(y, raw)
        factor = 1.0 if weight is None else weight
        gradient[...] = slope * factor
        curvature = curvature * factor
        if hessian is not None:
            hessian[...] = curvature
        return (float(np.abs(gradient).max()), float(np.max(curvature))), total

    def compute_leaf_values(
        self,
        y: np.ndarray,
        raw: np.ndarray,
        weight: np.ndarray | None,
        leaf_of_row: np.ndarray,
        n_nodes: int,
        *,
        gradient_sums: np.ndarray | None = None,
        hessian_sums: np.ndarray | None = None,
        score: int = 0,
        l2: float = 0.0,
        n_threads: int = 1,
    ) -> np.ndarray:
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
        if self.has_leaf_counts:
            counts = self._count_rows(y, weight, leaf_of_row, n_nodes)
            gradient_sums = self._correct_sums(gradient_sums, hessian_sums, counts)
        return self._solve_leaves(gradient_sums, hessian_sums, l2)

    def _count_rows(self, y, weight, leaf_of_row, n_nodes) -> np.ndarray:
        """Count the rows of each node by their targets."""
        raise NotImplementedError

    def _correct_sums(self, gradient_sums, hessian_sums, counts):
        """Return the sums of the gradients, corrected by the numbers of rows."""
        raise NotImplementedError

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

    def to_prediction(self, raw: np.ndarray) -> np.ndarray:
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


# ------------------------------------------------------------------------------------
# Losses whose values and derivatives are computed in compiled code.
# ------------------------------------------------------------------------------------


#: Ratios of sums are kept between this and its inverse: logarithms stay finite.
SMALLEST_RATIO = 2.0**-52
#: Largest exponent, as in the kernels.
LARGEST_SCORE = 600.0


def take_log_ratio(above, below):
    """Take logarithms of ratios, which are kept away from 0 and infinity."""
    total = np.maximum(above + below, np.finfo(np.float64).tiny)
    return np.log(np.maximum(above, SMALLEST_RATIO * total)) - np.log(
        np.maximum(below, SMALLEST_RATIO * total)
    )


class CompiledLoss(Loss):
    """A loss that the kernels compute, given by a number and two settings."""

    kind = _losses.Kind.BOUNDED

    def _find_settings(self, y, raw, weight):
        """Find what the kernel calls low and high."""
        return 0.0, 0.0

    def _find_start(self, y, weight):
        def map_targets(function):
            for rows in list_blocks(len(y)):
                yield function(y[rows], None if weight is None else weight[rows])

        return self._start_from_blocks(map_targets)

    def _start_from_blocks(self, map_targets, memory_limit=None):
        """Find the constant scores with the smallest loss.

        ``map_targets`` calls a function with the targets and weights of each block.
        """
        return self._start_from_sum(*add_pairs(map_targets(self._sum_block)))

    def _sum_block(self, y, weight):
        return self._sum_target(y, weight), add_weights(weight, len(y))

    def _start_from_sum(self, total, weight):
        """Find the constant scores with the smallest loss from sums over all rows."""
        raise NotImplementedError

    def _sum_target(self, y, weight):
        """Sum up what the constant scores with the smallest loss depend on."""
        return float(np.sum(y if weight is None else y * weight))

    def _add_losses(self, y, raw, weight, n_threads, total=0.0):
        settings = self._find_settings(y, raw, weight)
        memory = _losses.make_memory(len(raw), n_threads)
        return _losses.add_losses(self.kind, *settings, y, raw, weight, memory, total)

    def _differentiate(self, y, raw, weight, gradient, hessian, n_threads, total=None):
        settings = self._find_settings(y, raw, weight)
        memory = _losses.make_memory(len(raw), n_threads)
        return _losses.differentiate(
            self.kind, *settings, y, raw, weight, gradient, hessian, memory, total
        )


# ------------------------------------------------------------------------------------
# Losses of the residual: squared and absolute error, Huber's, quantiles.
# ------------------------------------------------------------------------------------


def find_quantile(
    values: np.ndarray,
    weight: np.ndarray | None,
    quantile: float,
    total_weight: float | None = None,
) -> float:
    """Find a weighted quantile of some rows; ``total_weight`` is that of all rows."""
    ends = np.array([0, len(values)])
    if total_weight is None:
        total_weight = add_weights(weight, len(values))
    unit = find_unit(total_weight)
    found = _losses.find_leaf_quantiles(
        values, weight, unit, None, ends, quantile, -1.0, 1
    )
    return float(found[0])


class SquaredError(CompiledLoss):
    r"""Squared error :math:`\frac12 (y - f)^2`.

    The negative gradient is the residual, and the value of a leaf is the mean of its
    residuals: boosting fits residuals.

    See Also
    --------
    HuberLoss : Squared error for small residuals only.

    Notes
    -----
    李航 defines the loss as :math:`(y - f)^2`, twice this value, and so does
    ``train_score_`` of scikit-learn's ``GradientBoostingRegressor``.

    References
    ----------
    李航. 统计学习方法 (第2版), 8.4.2, 算法8.3. J. H. Friedman. "Greedy function
    approximation", 2001, algorithm 2.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import SquaredError
    >>> y, raw = np.array([1.0, 5.0]), np.array([[2.0, 2.0]])
    >>> SquaredError().compute_loss(y, raw)
    2.5
    """

    name = "squared_error"
    has_constant_hessian = True

    def _find_settings(self, y, raw, weight):
        return -np.inf, np.inf

    def _start_from_sum(self, total, weight):
        return np.array([total / weight])


class _QuantileLeaves(CompiledLoss):
    """Losses whose leaves are quantiles of the residuals, or begin there."""

    has_constant_hessian = True
    has_leaf_sums = False
    has_newton_leaves = False

    def _get_quantile(self) -> float:
        return 0.5

    def _get_delta(self, y, raw, weight):
        """Bound of a step from the quantile; negative: no step."""
        return -1.0

    def _find_start(self, y, weight):
        return np.array([find_quantile(y, weight, self._get_quantile())])

    def _start_from_blocks(self, map_targets, memory_limit=None):
        def take_all(y, weight):
            return np.zeros(len(y), dtype=np.int32), y, weight

        _, total_weight = add_pairs(map_targets(self._sum_block))
        return find_block_quantiles(
            lambda: map_targets(take_all),
            *(1, self._get_quantile(), total_weight, memory_limit),
        )

    def _measure_blocks(self, read, n_leaves, *limits):
        """Compute the values of leaves, as `find_block_quantiles` finds quantiles."""
        return find_block_quantiles(read, n_leaves, self._get_quantile(), *limits)

    def _measure_leaves(self, y, raw, weight, leaf_of_row, n_nodes, n_threads):
        starts = np.zeros(n_nodes + 1, dtype=np.int64)
        order = np.empty(len(y), dtype=np.int32)
        _losses.sort_by_leaf(leaf_of_row, starts, order)
        return _losses.find_leaf_quantiles(
            y - raw[0],
            weight,
            find_unit(add_weights(weight, len(y))),
            order,
            starts,
            self._get_quantile(),
            self._get_delta(y, raw, weight),
            n_threads,
        )


class AbsoluteError(_QuantileLeaves):
    r"""Absolute error :math:`|y - f|`.

    The gradient is the sign of f - y, or 0 if they are equal. The value of a leaf is
    the weighted median of its residuals, the lowest if there are several.

    See Also
    --------
    QuantileLoss : Any other quantile.

    Notes
    -----
    scikit-learn's ``GradientBoostingRegressor`` uses the same median; its
    ``HistGradientBoostingRegressor`` uses the midpoint of the two middle values if
    there are no weights.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 3.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import AbsoluteError
    >>> AbsoluteError().find_start(np.array([1.0, 2.0, 4.0, 9.0]))
    array([2.])
    """

    name = "absolute_error"
    kind = _losses.Kind.PINBALL

    def _find_settings(self, y, raw, weight):
        return -1.0, 1.0


class QuantileLoss(_QuantileLeaves):
    r"""Pinball loss :math:`q (y - f)_+ + (1 - q) (f - y)_+` for quantiles.

    The value of a leaf is the weighted quantile of its residuals: the lowest value such
    that at least the fraction q of the weight does not exceed it.

    Parameters
    ----------
    quantile : float, default=0.5
        The fraction q of targets below the prediction, between 0 and 1.

    See Also
    --------
    AbsoluteError : Twice this loss for q = 0.5.

    Notes
    -----
    scikit-learn calls the parameter ``alpha`` or ``quantile``. Without weights, its
    ``HistGradientBoostingRegressor`` interpolates between two values.

    References
    ----------
    R. Koenker, G. Bassett. "Regression quantiles", Econometrica 46(1), 1978.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import QuantileLoss
    >>> QuantileLoss(quantile=0.9).find_start(np.arange(11.0))
    array([9.])
    """

    name = "quantile"
    kind = _losses.Kind.PINBALL

    def __init__(self, quantile: float = 0.5) -> None:
        self.quantile = quantile

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_real("quantile", self.quantile, 0.0, 1.0)

    def _get_quantile(self) -> float:
        return float(self.quantile)

    def _find_settings(self, y, raw, weight):
        return -float(self.quantile), 1.0 - float(self.quantile)


class HuberLoss(_QuantileLeaves):
    r"""Huber's loss: squared for small residuals, linear for large ones.

    .. math::

        L(y, f) = \begin{cases} \frac12 r^2 & |r| \le \delta \\
        \delta (|r| - \frac12 \delta) & |r| > \delta \end{cases}, \quad r = y - f

    where :math:`\delta` is a weighted quantile of the absolute residuals, computed anew
    from the rows given in each use of the loss. The value of a leaf is the weighted
    median m of its residuals plus one step towards the minimum:

    .. math:: c = m + \frac{\sum_i w_i \operatorname{sign}(r_i - m)
        \min(\delta, |r_i - m|)}{\sum_i w_i}

    Parameters
    ----------
    alpha : float, default=0.9
        Fraction of the rows whose residuals count as small, between 0 and 1.
    delta : float or None, default=None
        A fixed :math:`\delta`, which makes losses of different rows or rounds
        comparable. None: :math:`\delta` is determined by ``alpha``.

    See Also
    --------
    SquaredError : Squared for all residuals.
    AbsoluteError : Linear throughout.

    Notes
    -----
    The second derivative is taken to be 1 everywhere, as in scikit-learn. The initial
    score is the median or, if ``delta`` is given, the minimum of the loss.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, section 4.4, algorithm 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import HuberLoss
    >>> y, raw = np.array([1.0, 2.0, 12.0]), np.zeros((1, 3))
    >>> HuberLoss(delta=2.0).compute_loss(y, raw).__round__(4)
    8.1667
    """

    name = "huber"
    kind = _losses.Kind.BOUNDED

    def __init__(self, alpha: float = 0.9, delta: float | None = None) -> None:
        self.alpha = alpha
        self.delta = delta

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_real("alpha", self.alpha, 0.0, 1.0)
        if self.delta is not None:
            check_real("delta", self.delta, 0.0)

    def _get_delta(self, y, raw, weight):
        if self.delta is not None:
            return float(self.delta)
        return find_quantile(np.abs(y - raw[0]), weight, float(self.alpha))

    def _find_settings(self, y, raw, weight):
        delta = self._get_delta(y, raw, weight)
        return -delta, delta

    def _measure_blocks(self, read, n_leaves, *limits):
        middle = super()._measure_blocks(read, n_leaves, *limits)
        steps, totals = np.zeros((2, n_leaves))
        for leaf, residuals, weight in read():
            rows = np.flatnonzero(leaf >= 0)
            leaf = leaf[rows]
            weight = np.ones(len(rows)) if weight is None else weight[rows]
            clipped = np.clip(residuals[rows] - middle[leaf], -self.delta, self.delta)
            steps += np.bincount(leaf, weight * clipped, n_leaves)
            totals += np.bincount(leaf, weight, n_leaves)
        return middle + np.divide(steps, totals, out=steps, where=totals > 0)

    def _settle(self, find_quantile):
        if self.delta is not None:
            return self
        return HuberLoss(self.alpha, find_quantile(float(self.alpha)))

    def _find_start(self, y, weight):
        if self.delta is None:
            return super()._find_start(y, weight)
        return CompiledLoss._find_start(self, y, weight)

    def _start_from_blocks(self, map_targets, memory_limit=None):
        if self.delta is None:
            return super()._start_from_blocks(map_targets, memory_limit)
        ranges = [*map_targets(lambda y, _: (y.min(), y.max()))]
        lowest, highest = min(ranges)[0], max(high for _, high in ranges)
        if lowest == highest:
            return np.array([lowest])

        def add_gradients(start):
            def sum_block(y, weight):
                clipped = np.clip(start - y, -self.delta, self.delta)
                return self._sum_block(clipped, weight)

            total, total_weight = add_pairs(map_targets(sum_block))
            return total / total_weight

        return np.array([brentq(add_gradients, lowest, highest, xtol=1e-14)])


# ------------------------------------------------------------------------------------
# Losses of numbers whose means are exponentials of the raw scores.
# ------------------------------------------------------------------------------------


class TweedieLoss(CompiledLoss):
    r"""Half the deviance of a Tweedie distribution with mean :math:`e^f`.

    .. math:: L(y, f) = \frac{e^{(2-p) f}}{2 - p} - y \frac{e^{(1-p) f}}{1 - p}

    up to a term that depends only on y. Targets must be at least 0.

    Parameters
    ----------
    power : float, default=1.5
        Exponent p of the variance :math:`\phi \mu^p`, from 1 (Poisson) to 2 (gamma).
    leaf_rule : {"newton", "minimum"}, default="newton"
        Value of a leaf: one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y \mu^{1-p} + \lambda}{\sum w \mu^{2-p} + \lambda}`,
        where the ratio is limited to the range from :math:`2^{-52}` to :math:`2^{52}`.

    See Also
    --------
    PoissonLoss : The special case of power 1.
    GammaLoss : The special case of power 2.

    Notes
    -----
    Both rules agree for small steps. A Newton step overshoots if the targets of a leaf
    are many times larger than the predictions. scikit-learn's
    ``HistGradientBoostingRegressor`` uses Newton steps; it has no Tweedie loss.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 1 (the minimum).
    B. Jørgensen. "The Theory of Dispersion Models", 1997, chapter 4.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import TweedieLoss
    >>> start = TweedieLoss(power=1.2).find_start(np.array([0.0, 1.0, 5.0]))
    >>> np.exp(start)
    array([2.])
    """

    name = "tweedie"
    kind = _losses.Kind.TWEEDIE
    _link = "exp"

    def __init__(self, power: float = 1.5, leaf_rule: str = "newton") -> None:
        self.power = power
        self.leaf_rule = leaf_rule

    @property
    def has_newton_leaves(self) -> bool:  # type: ignore[override]
        """Whether the values of leaves are -G / (H + l2)."""
        return self.leaf_rule == "newton"

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_real("power", self.power, 1.0, 2.0)
        check_choice("leaf_rule", self.leaf_rule, ("newton", "minimum"))

    def check_target(self, y: ArrayLike) -> np.ndarray:
        """Check that the loss is defined for the targets.

        Parameters
        ----------
        y : array-like of shape (n_rows,)
            Targets.

        Returns
        -------
        y : ndarray of float64, shape (n_rows,)
            The targets as an array.

        Raises
        ------
        ValueError
            If a target is negative (with power 2, not above 0), or all targets are 0.
        """
        y = super().check_target(y)
        self._take_log(y.max())
        return y

    def _check_block(self, y, weight=None):
        y = super()._check_block(y)
        if self.power == 2.0:
            self._require(y, y > 0.0, "above 0")
        else:
            self._require(y, y >= 0.0, "at least 0")
        return y

    def _take_log(self, mean):
        if mean <= 0.0:
            raise ValueError(
                f"y must have a value above 0 for the loss {self.name!r}, since the "
                "initial score is the logarithm of the mean; got only zeros."
            )
        return np.log(mean)

    def _find_settings(self, y, raw, weight):
        return 1.0 - self.power, 2.0 - self.power

    def _start_from_sum(self, total, weight):
        return np.array([self._take_log(total / weight)])

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        if self.leaf_rule == "newton":
            return super()._solve_leaves(gradient_sums, hessian_sums, l2)
        # the sums of w y mu^(1 - p) and of w mu^(2 - p)
        targets = np.maximum(hessian_sums - (2.0 - self.power) * gradient_sums, 0.0)
        means = np.maximum(hessian_sums + (self.power - 1.0) * gradient_sums, 0.0)
        return take_log_ratio(targets + l2, means + l2)

    def _predict(self, raw):
        return np.exp(np.minimum(raw[0], LARGEST_SCORE))


class PoissonLoss(TweedieLoss):
    r"""Half the Poisson deviance with mean :math:`e^f`: :math:`e^f - y f`.

    For counts. Targets must be at least 0, but need not be integers.

    Parameters
    ----------
    leaf_rule : {"newton", "minimum"}, default="newton"
        Value of a leaf: one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y + \lambda}{\sum w \mu + \lambda}`.

    See Also
    --------
    TweedieLoss : Other powers.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import PoissonLoss
    >>> PoissonLoss().check_target([0, 2, -1])
    Traceback (most recent call last):
        ...
    ValueError: y must be at least 0 for the loss 'poisson', got -1.0 in row 2.
    """

    name = "poisson"
    power = 1.0

    def __init__(self, leaf_rule: str = "newton") -> None:
        self.leaf_rule = leaf_rule


class GammaLoss(TweedieLoss):
    r"""Half the gamma deviance with mean :math:`e^f`: :math:`f + y e^{-f}`.

    Targets must be above 0.

    Parameters
    ----------
    leaf_rule : {"newton", "minimum"}, default="newton"
        Value of a leaf: one Newton step :math:`-G / (H + \lambda)`, or the minimum
        :math:`\log \frac{\sum w y / \mu + \lambda}{\sum w + \lambda}`.

    See Also
    --------
    TweedieLoss : Other powers.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 1.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import GammaLoss
    >>> loss = GammaLoss(leaf_rule="minimum")
    >>> y, raw, leaf_of_row = np.array([1.0, 3.0]), np.zeros((1, 2)), np.zeros(2, int)
    >>> loss.compute_leaf_values(y, raw, None, leaf_of_row, n_nodes=1)
    array([0.69314718])
    """

    name = "gamma"
    power = 2.0

    def __init__(self, leaf_rule: str = "newton") -> None:
        self.leaf_rule = leaf_rule


# ------------------------------------------------------------------------------------
# Losses of classes.
# ------------------------------------------------------------------------------------


class LogLoss(CompiledLoss):
    r"""Log loss for two classes; the raw score is the log odds of the second class.

    .. math:: L(y, f) = \log(1 + e^{-\tilde y f}), \quad \tilde y = 2 y - 1

    With :math:`p = 1 / (1 + e^{-f})`, the derivatives are :math:`p - y` and :math:`p (1
    - p)`, and the value of a leaf is :math:`\sum w (y - p) / (\sum w p (1 - p) +
    \lambda)`.

    See Also
    --------
    MultinomialLoss : Any number of classes.
    ExponentialLoss : The loss of AdaBoost.

    Notes
    -----
    In Friedman's paper, the score is half the log odds. The values of leaves agree with
    those of scikit-learn's ``GradientBoostingClassifier``.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, algorithm 5.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import LogLoss
    >>> LogLoss().to_prediction(np.log([[1.0, 3.0]]))
    array([[0.5 , 0.5 ],
           [0.25, 0.75]])
    """

    name = "log_loss"
    n_classes = 2
    kind = _losses.Kind.LOGISTIC
    _link = "expit"

    def _start_from_sum(self, total, weight):
        mean = total / weight
        return np.array([take_log_ratio(mean, 1.0 - mean)]) / self._unit

    def _predict(self, raw):
        scores = np.stack([-self._unit * raw[0], self._unit * raw[0]], axis=1)
        return 1.0 / (1.0 + np.exp(-np.clip(scores, -LARGEST_SCORE, LARGEST_SCORE)))


class ExponentialLoss(LogLoss):
    r"""Exponential loss for two classes; the raw score is half the log odds.

    .. math:: L(y, f) = e^{-\tilde y f}, \quad \tilde y = 2 y - 1

    This is the loss of AdaBoost. The value of a leaf is the minimum

    .. math:: c = \frac12 \log \frac{W_+ + \lambda / 2}{W_- + \lambda / 2}, \quad
        W_\pm = \sum_{\tilde y_i = \pm 1} w_i e^{-\tilde y_i f(x_i)}

    where the ratio is limited to the range from :math:`2^{-52}` to :math:`2^{52}`. The
    value of a leaf whose rows have one class is therefore 18.02 or -18.02 if
    :math:`\lambda` is 0.

    See Also
    --------
    LogLoss : Less sensitive to wrong labels.

    Notes
    -----
    scikit-learn's ``GradientBoostingClassifier`` uses a Newton step, :math:`(W_+ - W_-)
    / (W_+ + W_-)`, instead.

    References
    ----------
    李航. 统计学习方法 (第2版), 8.3.2. J. Friedman, T. Hastie, R. Tibshirani. "Additive
    logistic regression", Annals of Statistics 28(2), 2000.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import ExponentialLoss
    >>> y = np.array([0.0, 0.0, 0.0, 1.0])
    >>> np.exp(2 * ExponentialLoss().find_start(y))
    array([0.33333333])
    """

    name = "exponential"
    kind = _losses.Kind.EXPONENTIAL
    has_leaf_counts = True
    has_newton_leaves = False
    _unit = 2.0  # of the raw score, in log odds

    def _count_rows(self, y, weight, leaf_of_row, n_nodes):
        if weight is not None:
            leaf_of_row = np.where(weight > 0, leaf_of_row, -1)
        return np.array([sum_by_node(of, leaf_of_row, n_nodes) for of in (1.0 - y, y)])

    def _correct_sums(self, gradient_sums, hessian_sums, counts):
        # In a leaf of one class, they differ by rounding errors only.
        n_below, n_above = counts
        return np.select(
            [(n_below == 0) & (n_above > 0), (n_above == 0) & (n_below > 0)],
            [-hessian_sums, hessian_sums],
            gradient_sums,
        )

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        above = np.maximum(hessian_sums - gradient_sums, 0.0)
        below = np.maximum(hessian_sums + gradient_sums, 0.0)
        return 0.5 * take_log_ratio(above + l2, below + l2)


class MultinomialLoss(CompiledLoss):
    r"""Log loss for K classes, with one raw score per class.

    .. math:: L(y, f) = \log \sum_k e^{f_k} - f_y

    With the softmax probabilities :math:`p_k`, the derivatives with respect to
    :math:`f_k` are :math:`p_k - 1[y = k]` and :math:`p_k (1 - p_k)`. The value of a
    leaf is

    .. math:: c = \frac{K - 1}{K} \frac{\sum w (1[y = k] - p_k)}
        {\sum w p_k (1 - p_k) + \lambda}

    Parameters
    ----------
    n_classes : int, default=3
        Number of classes K.
    friedman_factor : bool, default=True
        Whether to multiply the values of leaves by (K - 1) / K, since the K trees of a
        round are fitted independently although the scores are not independent.

    See Also
    --------
    LogLoss : Two classes with one score.

    Notes
    -----
    scikit-learn's ``GradientBoostingClassifier`` uses the factor, its
    ``HistGradientBoostingClassifier`` does not. The initial scores sum to 0.

    References
    ----------
    J. H. Friedman. "Greedy function approximation", 2001, section 4.6, algorithm 6.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.boosting.losses import MultinomialLoss
    >>> loss = MultinomialLoss(n_classes=3)
    >>> start = loss.find_start(np.array([0.0, 1.0, 2.0, 2.0]))
    >>> loss.to_prediction(start[:, None])
    array([[0.25, 0.25, 0.5 ]])
    """

    name = "log_loss"
    kind = _losses.Kind.SOFTMAX
    _link = "softmax"
    n_classes: int

    def __init__(self, n_classes: int = 3, friedman_factor: bool = True) -> None:
        self.n_classes = n_classes
        self.friedman_factor = friedman_factor

    @property
    def n_scores(self) -> int:  # type: ignore[override]
        """Number of raw scores per row."""
        return self.n_classes

    @property
    def has_newton_leaves(self) -> bool:  # type: ignore[override]
        """Whether the values of leaves are -G / (H + l2)."""
        return not self.friedman_factor

    def check_parameters(self) -> None:
        """Check the parameters.

        Raises
        ------
        ValueError
            If a value is invalid; the message lists the allowed values.
        """
        check_integer("n_classes", self.n_classes, 2)
        check_truth("friedman_factor", self.friedman_factor)

    def _sum_target(self, y, weight):
        return np.bincount(y.astype(np.intp), weight, self.n_classes)

    def _start_from_sum(self, total, weight):
        scores = np.log(np.maximum(total / total.sum(), SMALLEST_RATIO))
        return scores - scores.mean()

    def _find_settings(self, y, raw, weight):
        if not 0.0 <= y.min() <= y.max() < self.n_classes:
            self.check_target(y)  # the kernel looks up the score of a code
        return super()._find_settings(y, raw, weight)

    def _solve_leaves(self, gradient_sums, hessian_sums, l2):
        steps = super()._solve_leaves(gradient_sums, hessian_sums, l2)
        return steps * (
            (self.n_classes - 1) / self.n_classes if self.friedman_factor else 1.0
        )

    def _predict(self, raw):
        powers = np.exp(raw - raw.max(axis=0))
        return np.ascontiguousarray((powers / powers.sum(axis=0)).T)


__all__ = [
    "AbsoluteError",
    "ExponentialLoss",
    "GammaLoss",
    "HuberLoss",
    "LogLoss",
    "Loss",
    "MultinomialLoss",
    "PoissonLoss",
    "QuantileLoss",
    "SquaredError",
    "TweedieLoss",
]
