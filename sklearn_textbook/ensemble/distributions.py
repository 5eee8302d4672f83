"""Distributions of the target: quantiles, intervals, sets of classes, standard errors.

Intervals and sets are conformal: they are calibrated on rows that the members did not
see. Quantiles weigh the training rows by the leaves that they share with a new row.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_truth,
    is_real,
    show_value,
)
from sklearn_textbook._contract.saved_field import Record, SavedField
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble._leaf_rows import (
    find_quantiles,
    group_rows,
    number_in_preorder,
)
from sklearn_textbook.ensemble.resample import DrawnRowsMixin
from sklearn_textbook.tree.members import find_ends, find_leaves_of_all

#: Sums of weights are compared up to this fraction, for rounding.
_ROUNDING = 1e-10
#: Rows that all members predict at a time.
ROWS_AT_ONCE = 4096
#: Fitted attributes of the functions below.
ATTRIBUTES = ("_calibration", "_leaf_rows")

# ------------------------------------------------------------------------------------
# Conformal scores: how far rows that the members did not see are from predictions.
# ------------------------------------------------------------------------------------


def find_critical_score(
    scores: np.ndarray, coverage: float, weight: np.ndarray | None = None
) -> float:
    r"""Find the score that a new row exceeds with at most a given probability.

    .. math:: \min \Big\{ s : \sum_{i: s_i \leq s} w_i \geq
        (1 - \alpha) \Big( 1 + \frac{1}{n} \Big) \sum_i w_i \Big\}

    With equal weights, this is the score number :math:`\lceil (1 - \alpha)(n + 1)
    \rceil` in ascending order.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        The scores of rows that are exchangeable with a new one.
    coverage : float
        :math:`1 - \alpha`, between 0 and 1.
    weight : ndarray of float64, shape (n,), default=None
        Weights of the rows, above 0; a new row counts as one of mean weight. None:
        equal.

    Returns
    -------
    score : float
        Infinite if there are too few rows.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.distributions import find_critical_score
    >>> find_critical_score(np.arange(1.0, 100.0), 0.9)
    90.0
    """
    n_rows = len(scores)
    if n_rows == 0:
        return np.inf
    order = np.argsort(scores, kind="stable")
    weight = np.ones(n_rows) if weight is None else weight
    sums = np.cumsum(weight[order])
    wanted = coverage * (1 + 1 / n_rows) * (1 - _ROUNDING) * sums[-1]
    place = int(np.searchsorted(sums, wanted))
    return float(scores[order[place]]) if place < n_rows else np.inf


@dataclass(frozen=True, eq=False)
class Calibration:
    """The scores of rows that the members did not see.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_outputs)
        Of a value: its distance from the prediction, divided by the scale of the
        latter. Of a class: 1 less its predicted probability.
    floor : ndarray of float64, shape (n_outputs,), default=None
        What is added to the spread of the members to get the scale.
    codes : ndarray of int, shape (n_rows,), default=None
        The classes.
    weight : ndarray of float64, shape (n_rows,), default=None
        Weights of the rows; None: equal.
    """

    scores: np.ndarray
    floor: np.ndarray | None = None
    codes: np.ndarray | None = None
    weight: np.ndarray | None = None

    @classmethod
    def of_estimate(cls, estimate, target: np.ndarray, weight: np.ndarray | None):
        """Calibrate by out-of-bag predictions; None if there are none."""
        is_scored = estimate.n_members > 0
        if weight is not None:
            is_scored &= weight > 0
            weight = weight[is_scored]
        if not is_scored.any():
            return None
        predicted, target = estimate.prediction[is_scored], target[is_scored]
        if estimate.spread is None and target.shape[1] > 1:
            return None
        if estimate.spread is None:
            codes = target[:, 0].astype(np.int64)
            own = predicted[np.arange(len(codes)), 0, codes]
            return cls(1.0 - own[:, np.newaxis], codes=codes, weight=weight)
        return cls.of_values(
            predicted[:, :, 0], target, estimate.spread[is_scored], weight
        )

    @classmethod
    def of_values(cls, predicted, target, spread, weight=None):
        """Calibrate by predictions of values, and their spread; NaN: not known."""
        known = np.isfinite(spread)
        total = np.where(known, spread, 0.0).sum(axis=0)
        floor = total / np.maximum(known.sum(axis=0), 1)
        spread = np.where(known, spread, floor)
        floor = np.where(floor > 0, floor, 1.0)
        return cls(np.abs(target - predicted) / (spread + floor), floor, weight=weight)

    def require_target(self, n_outputs: int, n_classes: int) -> None:
        """Raise ValueError if the scores are not those of such a target."""
        fits = self.scores.shape[1] == n_outputs and len(self.scores) > 0
        if n_classes:
            fits = fits and self.codes is not None and self.codes.max() < n_classes
        else:
            fits = fits and self.floor is not None and len(self.floor) == n_outputs
        if not fits or (self.weight is not None and not self.weight.min() > 0):
            raise ValueError("the calibration does not match the target")

    def find_widths(self, spread: np.ndarray, coverage: float) -> np.ndarray:
        """Find half the widths of intervals; shape (n_rows, n_outputs)."""
        critical = [
            find_critical_score(scores, coverage, self.weight)
            for scores in self.scores.T
        ]
        return np.array(critical) * (spread + self.floor)

    def find_thresholds(
        self, n_classes: int, coverage: float, class_conditional: bool
    ) -> np.ndarray:
        """Find the probability from which on a class is in a set."""
        scores, weight = self.scores[:, 0], self.weight
        if not class_conditional:
            critical = find_critical_score(scores, coverage, weight)
            return np.full(n_classes, 1.0 - critical)
        rows = [self.codes == code for code in range(n_classes)]
        return 1.0 - np.array(
            [
                find_critical_score(
                    scores[own], coverage, None if weight is None else weight[own]
                )
                for own in rows
            ]
        )


# ------------------------------------------------------------------------------------
# Quantiles of the targets of training rows in the same leaves.
# ------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class LeafRows:
    """The training rows in the nodes of many trees.

    Parameters
    ----------
    targets : ndarray of float64, shape (n_rows, n_outputs)
        The targets of the training rows.
    rows : ndarray of int32, shape (n_listed,)
        The rows on which each tree was grown, as often as they were drawn, tree by
        tree; within a tree sorted by leaf.
    begin, end : ndarray of int32, shape (n_nodes,)
        Where the rows of each node begin and end among those of its tree. An empty node
        has the rows of its parent.
    weight : ndarray of float64, shape (n_rows,), default=None
        Weights of the rows in each tree; None: equal.
    """

    targets: np.ndarray
    rows: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    weight: np.ndarray | None = None

    def __post_init__(self) -> None:
        for name in ("rows", "begin", "end"):
            object.__setattr__(
                self, name, getattr(self, name).astype(np.int32, copy=False)
            )

    @classmethod
    def of_trees(cls, trees, columns, draws, matrix, targets, n_threads: int):
        """Route the training rows through all trees.

        None if these have equations: targets in a leaf are not distributed about one
        value.
        """
        if any(len(tree.slopes) for tree in trees):
            return None
        weight, found = None, []
        for tree, of_member, (draw, seed) in zip(trees, columns, draws, strict=True):
            if draw.n_drawn_rows is None:
                weight = draw.weight
                counts = np.ones(len(targets), dtype=np.int32)
                if weight is not None:
                    counts[weight == 0] = 0
            else:
                counts = draw.count_rows(seed).astype(np.int32, copy=False)
            seen = matrix if of_member is None else matrix[:, of_member]
            node = find_leaves_of_all([tree], seen, n_threads)[:, 0]
            (n_children,) = tree.read_columns("n_children")
            found.append(_list_rows(n_children.astype(np.int32), node, counts))
        rows, begin, end = map(np.concatenate, zip(*found, strict=True))
        return cls(np.asarray(targets, dtype=np.float64), rows, begin, end, weight)

    @cached_property
    def ranks(self) -> list[tuple[np.ndarray, np.ndarray]]:
        """The distinct values of each output, ascending, and their rank in each row."""
        found = [np.unique(of, return_inverse=True) for of in self.targets.T]
        return [(values, rank.astype(np.int32)) for values, rank in found]

    def __getstate__(self):
        """Leave out what is computed from the rest."""
        return {name: value for name, value in vars(self).items() if name != "ranks"}

    def require_trees(self, trees: Sequence) -> None:
        """Raise ValueError if the nodes or rows are not those of the trees."""
        n_nodes = np.array([tree.node_count for tree in trees])
        n_rows, roots = len(self.targets), np.cumsum([0, *n_nodes[:-1]])
        fits = len(self.begin) == len(self.end) == n_nodes.sum()
        fits = fits and n_rows > 0 and (self.begin < self.end).all()
        fits = fits and self.end[roots].sum() == len(self.rows)
        fits = fits and (self.end <= np.repeat(self.end[roots], n_nodes)).all()
        if not fits or self.rows.max() >= n_rows:
            raise ValueError("the rows in the leaves do not match the trees")

    def find_quantiles(
        self, ends: tuple, n_nodes: np.ndarray, levels: np.ndarray, n_threads: int
    ) -> np.ndarray:
        """Find quantiles; shape (n_rows, n_outputs, n_levels).

        ``ends`` are the rows, ascending, the numbers of the trees, the nodes, and the
        fractions of the rows in these.
        """
        row, tree, node, fraction = ends
        first_node = np.cumsum([0, *n_nodes[:-1]])
        first_row = np.cumsum([0, *self.end[first_node[:-1]].astype(np.int64)])
        node = node + first_node[tree]
        start = np.searchsorted(row, np.arange(row[-1] + 2) if len(row) else [0])
        parts = (
            start.astype(np.int64),
            first_row[tree] + self.begin[node],
            first_row[tree] + self.end[node],
            np.ascontiguousarray(fraction, dtype=np.float64),
        )
        found = np.zeros((len(start) - 1, len(levels)), dtype=np.int32)
        result = np.empty((len(found), self.targets.shape[1], len(levels)))
        for output, (values, rank) in enumerate(self.ranks):
            find_quantiles(
                *parts, self.rows, rank, self.weight, levels, len(values), found,
                n_threads,
            )  # fmt: skip
            result[:, output] = values[found]
        return result


def _list_rows(n_children, node, counts):
    """Sort the rows of a tree by leaf; return where those of each node are."""
    place, size = np.empty_like(n_children), np.empty_like(n_children)
    number_in_preorder(n_children, place, size)
    starts = np.zeros(len(place) + 2, dtype=np.int32)
    rows = np.empty(counts.sum(), dtype=np.int32)
    group_rows(node, place, counts, starts, rows)
    begin, end = starts[place], starts[place + size]
    parent = np.repeat(np.arange(len(place)), n_children)
    empty = np.flatnonzero(begin == end)
    for child in empty[empty > 0]:  # parents come before their children
        begin[child], end[child] = begin[parent[child - 1]], end[parent[child - 1]]
    return rows, begin, end


def list_ends(members: Sequence, columns: Sequence, matrix, n_threads: int) -> tuple:
    """List the nodes in which rows end in all trees, row by row.

    Returned are the rows, the trees, the nodes and the fractions of the rows in them.
    """
    trees, n_trees = [member.tree_ for member in members], len(members)
    takes_all = all(of_member is None for of_member in columns)
    if takes_all and not any(tree.handle_unknown == "fractional" for tree in trees):
        names = members[0].schema_.names
        node = find_leaves_of_all(trees, matrix, n_threads, names)
        row = np.repeat(np.arange(len(node)), n_trees)
        tree = np.tile(np.arange(n_trees), len(node))
        return row, tree, node.ravel(), np.ones(len(row))
    found = []
    for number, (member, of_member) in enumerate(zip(members, columns, strict=True)):
        seen = matrix if of_member is None else matrix[:, of_member]
        row, node, part = find_ends(member.tree_, seen, n_threads, member.schema_.names)
        found.append((row, np.full(len(row), number), node, part))
    row, tree, node, part = map(np.concatenate, zip(*found, strict=True))
    order = np.argsort(row, kind="stable")
    return row[order], tree[order], node[order], part[order]


# ------------------------------------------------------------------------------------
# Squared residuals in the leaves of boosted trees.
# ------------------------------------------------------------------------------------


class NodeMeans:
    """Weighted means of values of the rows in each node of many trees.

    Parameters
    ----------
    trees : list of GrownTree
        The trees, over the same columns.
    names : sequence of str
        The names of the columns.
    n_threads : int
        Number of threads.
    """

    def __init__(self, trees: Sequence, names: Sequence[str], n_threads: int) -> None:
        self.trees, self.names, self.n_threads = trees, names, n_threads
        self.first_node = np.cumsum([0, *(tree.node_count for tree in trees)])
        self.sums = np.zeros((2, self.first_node[-1]))

    def add(self, matrix, values: np.ndarray, weight: np.ndarray | None) -> None:
        """Add a block of rows."""
        weight = np.ones(len(values)) if weight is None else weight
        for number, tree in enumerate(self.trees):
            node = find_leaves_of_all([tree], matrix, self.n_threads, self.names)[:, 0]
            own = slice(*self.first_node[number : number + 2])
            for sums, of_row in zip(self.sums, (weight, weight * values), strict=True):
                sums[own] += np.bincount(node, of_row, tree.node_count)

    def finish(self) -> np.ndarray:
        """Return the means, tree by tree; an empty node has that of its parent."""
        means = []
        for number, tree in enumerate(self.trees):
            (n_children,) = tree.read_columns("n_children")
            parent = np.repeat(np.arange(len(n_children)), n_children)
            weight, total = self.sums[:, slice(*self.first_node[number : number + 2])]
            for child in range(len(parent), 0, -1):  # children follow their parents
                weight[parent[child - 1]] += weight[child]
                total[parent[child - 1]] += total[child]
            mean = total / np.where(weight > 0, weight, 1.0)
            for child in np.flatnonzero(weight[1:] <= 0) + 1:
                mean[child] = mean[parent[child - 1]]
            means.append(mean)
        return np.concatenate(means)


def measure_node_spread(
    trees: Sequence, variance: np.ndarray, matrix, names, n_threads: int
) -> np.ndarray:
    """Measure the root of the mean over the trees of the variances of rows' nodes."""
    first_node = np.cumsum([0, *(tree.node_count for tree in trees)])[:-1]
    spread = np.empty(matrix.shape[0])
    for first in range(0, matrix.shape[0], ROWS_AT_ONCE):
        block = matrix[first : first + ROWS_AT_ONCE]
        node = find_leaves_of_all(trees, block, n_threads, names) + first_node
        spread[first : first + ROWS_AT_ONCE] = np.sqrt(variance[node].mean(axis=1))
    return spread


# ------------------------------------------------------------------------------------
# Standard errors by the infinitesimal jackknife.
# ------------------------------------------------------------------------------------


class Jackknife:
    r"""Variance of a bagged prediction by the infinitesimal jackknife.

    .. math:: V = \sum_i c_i^2 - b, \quad
        c_i = \frac{1}{T} \sum_t (N_{ti} - \bar N_i) (p_t - \bar p), \quad
        b = \frac{1}{T^2} \sum_t (p_t - \bar p)^2 \sum_i \mathrm{var}_t(N_{ti})

    where :math:`N_{ti}` is how often tree t has drawn row i, and b the bias of a finite
    number of trees. V may be negative; its Monte Carlo error is about normal, so that
    the mean of the normal distribution around V, truncated at 0, is returned.

    Parameters
    ----------
    counts : iterable of ndarray of int, shape (n_rows,)
        How often each member has drawn each row.
    """

    def __init__(self, counts: Iterable[np.ndarray]) -> None:
        drawn = np.stack([of.astype(np.uint16) for of in counts])
        n_members = len(drawn)
        # The sum of squares of c is a quadratic form in the predictions.
        self.products = np.zeros((n_members, n_members))
        for first in range(0, drawn.shape[1], 16 * ROWS_AT_ONCE):
            block = drawn[:, first : first + 16 * ROWS_AT_ONCE].astype(np.float64)
            self.products += block @ block.T
        within = np.trace(self.products) - self.products.sum() / n_members
        self.variance = within / n_members
        self.n_rows = max(1, int(np.count_nonzero(drawn.any(axis=0))))

    def measure(self, predictions: np.ndarray) -> np.ndarray:
        """Measure standard errors from predictions of shape (n_members, ...)."""
        n_members = len(predictions)
        deviation = predictions - predictions.mean(axis=0)
        flat = deviation.reshape(n_members, -1)
        squares = np.einsum("ti,ti->i", flat, self.products @ flat) / n_members**2
        noise = self.variance * (flat**2).sum(axis=0) / n_members**2
        variance = squares - noise
        per_row = noise / self.n_rows
        error = np.sqrt(per_row * (2 * noise + 4 * np.maximum(variance, 0.0)))
        safe = np.where(error > 0, error, 1.0)
        z = variance / safe
        ratio = np.exp(-0.5 * z**2 - 0.5 * np.log(2 * np.pi) - log_ndtr(z))
        mean = np.where(error > 0, variance + safe * ratio, variance)
        return np.sqrt(np.maximum(mean, 0.0)).reshape(deviation.shape[1:])


# ------------------------------------------------------------------------------------
# Methods of ensembles.
# ------------------------------------------------------------------------------------


def check_coverage(coverage) -> None:
    """Require a probability strictly between 0 and 1."""
    if not is_real(coverage) or not 0.0 < coverage < 1.0:
        raise ValueError(
            "The 'coverage' parameter must be a float in the range (0.0, 1.0); got "
            f"{show_value(coverage)} of type {type(coverage).__name__}."
        )


def check_quantiles(quantiles) -> np.ndarray:
    """Require probabilities; a number is one of them."""
    try:
        levels = np.atleast_1d(np.asarray(quantiles, dtype=np.float64))
    except (TypeError, ValueError):
        levels = np.empty(0)
    if levels.ndim != 1 or not len(levels) or not ((levels >= 0) & (levels <= 1)).all():
        raise ValueError(
            "The 'quantiles' parameter must be a number in the range [0.0, 1.0] or a "
            f"list of such numbers; got {show_value(quantiles)}."
        )
    return levels


class DistributionMixin(DrawnRowsMixin):
    """What is stored of the distribution, and standard errors of predictions."""

    @abstractmethod
    def _read_rows(self, X) -> Iterator:
        """Read a new table as the members take it, block by block."""

    @abstractmethod
    def _predict_members(self, X) -> Iterator[np.ndarray]:
        """Predict blocks of rows, (n_members, n_rows, n_outputs, n_statistics)."""

    def _require_stored(self, trees: Sequence) -> None:
        """Raise ValueError if what a file has does not match its trees."""
        leaf_rows = getattr(self, "_leaf_rows", None)
        if leaf_rows is not None:
            leaf_rows.require_trees(trees)
        calibration = getattr(self, "_calibration", None)
        if calibration is not None:
            n_classes = getattr(self, "n_classes_", 0)
            calibration.require_target(trees[0].n_outputs, n_classes)

    def _get_calibration(self, caller) -> Calibration:
        """Return the scores of out-of-bag rows."""
        check_is_fitted(self)
        calibration = getattr(self, "_calibration", None)
        if calibration is None:
            raise ValueError(
                f"{caller} requires a fit with store_distribution=True and out-of-bag "
                "rows (bootstrap=True)."
            )
        return calibration

    def standard_error(self, X: MatrixLike) -> np.ndarray:
        r"""Estimate standard errors of predictions by the infinitesimal jackknife.

        The standard deviation of the prediction of a row over training tables of the
        same size, drawn from the same population. It says how well the mean (or the
        probability of a class) is known, and not how far a value may be from it.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        errors : ndarray of shape (n_samples,), (n_samples, n_outputs or n_classes)
            Standard errors of what ``predict`` (of classifiers, ``predict_proba``)
            returns; never negative.

        Raises
        ------
        ValueError
            If rows were not drawn with replacement, or there are several outputs of
            classes.

        Notes
        -----
        The sum of the squared covariances of predictions and of the numbers of times
        that rows are drawn, less its bias due to a finite number of members [1]_. The
        difference may be negative where there are few members; the mean of the normal
        distribution around it, truncated at 0, is never. The Monte Carlo error of the
        squared error is about :math:`\sqrt{2 n} / T` times the variance of the
        predictions of the T members for n training rows. Rows drawn by
        ``sample_weight`` count as one observation each. Memory is O(n · T).

        References
        ----------
        .. [1] S. Wager, T. Hastie, B. Efron (2014), Confidence intervals for random
           forests: the jackknife and the infinitesimal jackknife. Journal of Machine
           Learning Research 15.
        """
        check_is_fitted(self)
        draws = self._list_draws()
        replaces = {
            draw.n_drawn_rows is not None and getattr(draw, "replaces_rows", True)
            for draw, _ in draws
        }
        if replaces != {True} or len({draw.n_rows for draw, _ in draws}) > 1:
            raise ValueError(
                "standard_error requires bootstrap=True and members that were fitted "
                "to the same rows."
            )
        jackknife = Jackknife(draw.count_rows(seed) for draw, seed in draws)
        parts = [jackknife.measure(block) for block in self._predict_members(X)]
        errors = np.concatenate(parts)
        if hasattr(self, "classes_"):
            if errors.shape[1] > 1:
                raise ValueError("standard_error requires one output of classes.")
            return errors[:, 0]
        errors = errors[:, :, 0]
        return errors[:, 0] if errors.shape[1] == 1 else errors


class IntervalMixin:
    """Quantiles and intervals of the values that an ensemble predicts."""

    def predict_interval(
        self, X: MatrixLike, coverage: float = 0.9, *, method: str = "conformal"
    ) -> np.ndarray:
        r"""Predict an interval for the value of each row.

        .. math:: H(x) \pm q \, (s(x) + \bar s)

        where s is the standard deviation of the predictions of the members,
        :math:`\bar s` the mean of that of the training rows, each predicted by the
        members that did not see it (包外), and q the quantile of their absolute
        residuals in units of :math:`s + \bar s`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Probability with which an interval shall contain the value.
        method : {"conformal", "quantile"}, default="conformal"
            "conformal": as above. "quantile": from the quantile :math:`(1 - c) / 2` to
            :math:`(1 + c) / 2` of the distribution in the leaves, which is not
            calibrated.

        Returns
        -------
        intervals : ndarray of shape (n_samples, 2) or (n_samples, n_outputs, 2)
            Lower and upper bounds; infinite if there are too few out-of-bag rows for
            the coverage.

        Raises
        ------
        ValueError
            If the ensemble was fitted without ``store_distribution=True``, or has no
            out-of-bag rows.

        Notes
        -----
        The coverage is that of rows from the same population as the training rows, on
        average over all of them, and not of each group of rows. Several outputs have an
        interval each, with this coverage.
        """
        check_coverage(coverage)
        check_choice("method", method, ("conformal", "quantile"))
        if method == "quantile":
            tails = [(1.0 - coverage) / 2, (1.0 + coverage) / 2]
            return self._predict_quantiles(X, tails)
        calibration, parts = self._get_calibration("predict_interval"), []
        for block in self._predict_members(X):
            center, spread = block.mean(axis=0), measure_spread(block)
            center, spread = center[:, :, 0], spread[:, :, 0]
            width = calibration.find_widths(spread, coverage)
            parts.append(np.stack([center - width, center + width], axis=2))
        bounds = np.concatenate(parts)
        return bounds[:, 0] if bounds.shape[1] == 1 else bounds

    def _predict_quantiles(self, X, quantiles):
        """Predict quantiles of the distribution in the leaves."""
        levels = check_quantiles(quantiles)
        check_is_fitted(self)
        leaf_rows = getattr(self, "_leaf_rows", None)
        if leaf_rows is None:
            raise ValueError(
                "quantiles require a fit with store_distribution=True, and members "
                "that are trees of this package, with a constant in each leaf."
            )
        members, columns = self.estimators_, self._list_columns()
        n_nodes = np.array([member.tree_.node_count for member in members])
        parts = []
        for block in self._read_rows(X):
            n_threads = count_threads(self.n_jobs, block.size * len(members))
            ends = list_ends(members, columns, block, n_threads)
            parts.append(leaf_rows.find_quantiles(ends, n_nodes, levels, n_threads))
        found = np.concatenate(parts)
        found = found[..., 0] if np.ndim(quantiles) == 0 else found
        return found[:, 0] if found.shape[1] == 1 else found


def measure_spread(predictions: np.ndarray) -> np.ndarray:
    """Measure the standard deviation over the members, 0 if there is one."""
    if len(predictions) == 1:
        return np.zeros(predictions.shape[1:])
    return predictions.std(axis=0, ddof=1)


class PredictionSetMixin:
    """Sets of classes that an ensemble predicts."""

    def predict_set(
        self, X: MatrixLike, coverage: float = 0.9, *, class_conditional: bool = False
    ) -> np.ndarray:
        r"""Predict the set of classes that each row may have.

        .. math:: \{ c : p(c \mid x) \geq 1 - q \}

        where q is the quantile of :math:`1 - p(y_i \mid x_i)` of the training rows,
        each predicted by the members that did not see it (包外).

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        coverage : float, default=0.9
            Probability with which a set shall contain the class.
        class_conditional : bool, default=False
            Whether the rows of each class shall be covered with this probability, by a
            quantile for each class. Sets are larger then, above all of rare classes.

        Returns
        -------
        is_member : ndarray of bool, shape (n_samples, n_classes)
            Whether each of ``classes_`` is in the set. A set is empty if no class is
            probable enough, which happens where the coverage is below the accuracy.

        Raises
        ------
        ValueError
            If the ensemble was fitted without ``store_distribution=True``, has no
            out-of-bag rows, or has several outputs.

        Notes
        -----
        These are the smallest sets on average, if the probabilities are right [1]_. The
        coverage is that of rows from the same population as the training rows, on
        average over all of them (with ``class_conditional``, over those of a class).

        References
        ----------
        .. [1] M. Sadinle, J. Lei, L. Wasserman (2019), Least ambiguous set-valued
           classifiers with bounded error levels. Journal of the American Statistical
           Association 114.
        """
        check_coverage(coverage)
        check_truth("class_conditional", class_conditional)
        check_is_fitted(self)
        if isinstance(self.n_classes_, list):
            raise ValueError(
                f"predict_set requires a single output; got {len(self.n_classes_)}."
            )
        calibration = self._get_calibration("predict_set")
        thresholds = calibration.find_thresholds(
            self.n_classes_, coverage, bool(class_conditional)
        )
        # Equal fractions of votes may differ by rounding.
        return self.predict_proba(X) >= thresholds - _ROUNDING


#: What model files keep of a fit with ``store_distribution=True``.
KEPT_CALIBRATION = SavedField(
    "_calibration",
    (
        Record(
            Calibration,
            (
                SavedField("scores", shape=("n_scored", None), least=0),
                SavedField("floor", shape=(None,), is_optional=True, least=0),
                SavedField("codes", "integer", ("n_scored",), True, least=0),
                SavedField("weight", shape=("n_scored",), is_optional=True, least=0),
            ),
        ),
    ),
    is_optional=True,
)
KEPT_LEAF_ROWS = SavedField(
    "_leaf_rows",
    (
        Record(
            LeafRows,
            (
                SavedField("targets", shape=("n_targets", None)),
                SavedField("rows", "integer", (None,), least=0),
                SavedField("begin", "integer", ("n_nodes",), least=0),
                SavedField("end", "integer", ("n_nodes",), least=1),
                SavedField("weight", shape=("n_targets",), is_optional=True, least=0),
            ),
        ),
    ),
    is_optional=True,
)
