"""The rounds of gradient boosting: scores of rows, and the trees that change them."""

from __future__ import annotations

from itertools import combinations
from math import ceil

import numpy as np

from sklearn_textbook._contract.parameters import check_integer
from sklearn_textbook.tree.members import add_leaf_values, add_predictions


def list_groups(interaction_cst, names):
    """List the groups of columns that may be tested on the same path.

    Parameters
    ----------
    interaction_cst : {"pairwise", "no_interactions"} or sequence of sequences of int
        What was given. Columns in no group are together in one more.
    names : sequence of str
        Names of the columns.

    Returns
    -------
    groups : list of list of int
        Numbers of columns.

    Raises
    ------
    ValueError
        If a column does not exist, or a group is no sequence.
    """
    columns = range(len(names))
    if isinstance(interaction_cst, str) and interaction_cst == "no_interactions":
        return [[column] for column in columns]
    if isinstance(interaction_cst, str) and interaction_cst == "pairwise":
        return [list(pair) for pair in combinations(columns, 2)] or [[0]]
    try:
        groups = [list(group) for group in interaction_cst]
    except TypeError:
        raise ValueError(
            "Interaction constraints must be a sequence of tuples or lists of column "
            "indices, 'pairwise' or 'no_interactions'; got "
            f"interaction_cst={interaction_cst!r}."
        ) from None
    for group in groups:
        for column in group:
            check_integer("interaction_cst: a column", column, 0, len(names) - 1)
    rest = sorted(set(columns).difference(*groups))
    return [*groups, rest] if rest else groups


def choose_held_rows(codes, fraction, random_state):
    """Choose rows for validation, the same fraction of every class.

    Parameters
    ----------
    codes : ndarray of shape (n_rows,)
        Numbers of the classes.
    fraction : float
        Fraction of the rows; every class keeps one of its rows.
    random_state : RandomState
        Where chance comes from.

    Returns
    -------
    is_held : ndarray of bool, shape (n_rows,)
        The rows for validation.

    Raises
    ------
    ValueError
        If no row could be chosen.
    """
    is_held = np.zeros(len(codes), dtype=bool)
    for code in np.unique(codes):
        rows = np.flatnonzero(codes == code)
        n_held = min(ceil(fraction * len(rows)), len(rows) - 1)
        is_held[random_state.choice(rows, n_held, replace=False)] = True
    if not is_held.any():
        raise ValueError(
            f"n_iter_no_change requires validation rows, but n_samples={len(codes)} "
            f"and validation_fraction={fraction} leave none. Give X_val and y_val."
        )
    return is_held


class Scores:
    """Raw scores of some rows, to which trees are added.

    Parameters
    ----------
    matrix : array or sparse matrix of shape (n_rows, n_features)
        The rows, as trees take them.
    y : ndarray of float64, shape (n_rows,)
        Their targets, in the form that the loss accepts.
    weight : ndarray of float64, shape (n_rows,), or None
        Their weights.
    raw : ndarray of float64, shape (n_scores, n_rows)
        The scores.
    """

    def __init__(self, matrix, y, weight, raw):
        self.matrix, self.y, self.weight, self.raw = matrix, y, weight, raw

    def add(self, trees, names, n_threads):
        """Add the predictions of trees, one after the other for each score."""
        for score in range(len(self.raw)):
            out = self.raw[score].reshape(-1, 1, 1)
            add_predictions(
                trees[score :: len(self.raw)], self.matrix, out, n_threads, names
            )

    def compute_loss(self, loss, n_threads=1):
        """Compute the mean loss."""
        return loss.compute_loss(self.y, self.raw, self.weight, n_threads)


def spread_values(tree, values):
    """Set the values of inner nodes to the weighted means of their leaves.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    values : ndarray of float64, shape (node_count,)
        Values of the leaves; those of inner nodes are overwritten.

    Returns
    -------
    values : ndarray of float64, shape (node_count,)
        The same array.
    """
    nodes = tree.nodes
    first, count, weight = nodes["first_child"], nodes["n_children"], nodes["weight"]
    # Children come after their parents.
    for node in np.flatnonzero(count)[::-1]:
        below = slice(first[node], first[node] + count[node])
        values[node] = np.average(values[below], weights=weight[below])
    return values


def bound_values(tree, values, monotonic):
    """Keep the values of nodes within the bounds of monotonic constraints.

    As in growth, the middle between the values of the children of a test of a
    constrained column bounds the values of all nodes below them.

    Parameters
    ----------
    tree : GrownTree
        The tree.
    values : ndarray of float64, shape (node_count,)
        Values of all nodes; overwritten.
    monotonic : sequence of {-1, 0, 1}
        The constraint of each column.

    Returns
    -------
    values : ndarray of float64, shape (node_count,)
        The same array.
    """
    nodes = tree.nodes
    first, count = nodes["first_child"], nodes["n_children"]
    signs = np.asarray(monotonic)[np.where(count > 0, nodes["feature"], 0)]
    lower = np.full(len(nodes), -np.inf)
    upper = np.full(len(nodes), np.inf)
    # Children come after their parents.
    for node in np.flatnonzero(count):
        below = slice(first[node], first[node] + count[node])
        lower[below], upper[below] = lower[node], upper[node]
        if signs[node] == 0:
            continue
        left, right = first[node], first[node] + 1
        low, high = (left, right) if signs[node] > 0 else (right, left)
        middle = values[left] / 2 + values[right] / 2
        upper[low] = lower[high] = np.clip(middle, lower[node], upper[node])
    return np.clip(values, lower, upper, out=values)


class GradientRounds:
    """Grows the trees of one round after the other.

    Parameters
    ----------
    grower : BoostingGrower
        Has read the table.
    loss : Loss
        Loss function to minimise.
    scores : Scores
        The training rows, with their scores before the first round.
    learning_rate : float
        What the values of leaves are multiplied by.
    subsample : float
        Fraction of the rows that grow a tree.
    l2_regularization : float
        Added to the sum of hessians of a leaf.
    """

    def __init__(
        self, grower, loss, scores, learning_rate, subsample, l2_regularization
    ):
        self.grower, self.loss, self.scores = grower, loss, scores
        self.learning_rate, self.subsample = learning_rate, subsample
        self.l2_regularization = l2_regularization
        self.gradient = np.empty(scores.raw.shape)
        is_unit = loss.has_constant_hessian and scores.weight is None
        self.hessian = None if is_unit else np.empty(scores.raw.shape)
        weight = scores.weight
        self.weighted_rows = None
        if weight is not None and not (weight > 0).all():
            self.weighted_rows = np.flatnonzero(weight > 0).astype(np.uint32)
        self._train_losses, self.oob_losses, self.oob_decreases = [], [], []
        self._lacks_loss = False
        self._leaf_of_row = np.empty(scores.raw.shape[1], dtype=np.int32)

    @property
    def train_losses(self):
        """Mean loss of the training rows after each round.

        That of the last round is computed with the derivatives of the next round, or
        when it is read.
        """
        if self._lacks_loss:
            self._keep_loss(self.scores.compute_loss(self.loss, self.grower.n_threads))
        return self._train_losses

    def _keep_loss(self, loss):
        if not np.isfinite(loss):
            raise ValueError(
                f"The loss is not finite after round {len(self._train_losses) + 1}: "
                f"learning_rate={self.learning_rate} is too large."
            )
        self._train_losses.append(loss)
        self._lacks_loss = False

    def draw_rows(self, seed):
        """Draw the rows that grow the trees of a round; None: all."""
        if self.subsample == 1.0:
            return self.weighted_rows
        n_rows = len(self.scores.y)
        among = n_rows if self.weighted_rows is None else self.weighted_rows
        n_among = n_rows if self.weighted_rows is None else len(among)
        random = np.random.default_rng(seed)
        n_drawn = max(1, int(self.subsample * n_among))
        drawn = random.choice(among, n_drawn, replace=False, shuffle=False)
        return np.sort(drawn).astype(np.uint32)

    def grow(self, seed):
        """Grow the trees of a round, add them, and compute the losses."""
        scores, loss, n_threads = self.scores, self.loss, self.grower.n_threads
        rows = self.draw_rows(seed)
        outside = self._mark_outside(rows)
        before = None if outside is None else self._compute_loss_of(outside)
        largest, loss_before = loss.compute_with_loss(
            scores.y, scores.raw, scores.weight, self.gradient, self.hessian, n_threads
        )
        if self._lacks_loss:
            self._keep_loss(loss_before)
        trees = []
        for score in range(len(scores.raw)):
            hessian = None if self.hessian is None else self.hessian[score]
            tree, leaf_of_row = self.grower.grow_from(
                self.gradient[score],
                hessian,
                largest,
                rows,
                seed + score,
                out=self._leaf_of_row,
            )
            values = self._find_values(tree, leaf_of_row, rows, score)
            values *= self.learning_rate
            trees.append(tree.replace(statistics=values.reshape(-1, 1, 1)))
            # The other trees follow from the derivatives, not from the scores.
            add_leaf_values(leaf_of_row, values, scores.raw[score])
        self._lacks_loss = True
        if outside is not None:
            self.oob_losses.append(self._compute_loss_of(outside))
            self.oob_decreases.append(before - self.oob_losses[-1])
        return trees

    def _find_values(self, tree, leaf_of_row, rows, score):
        """Find what each node adds to a score, before it is shrunk."""
        if self.loss.has_newton_leaves and (
            self.l2_regularization == 0.0 or self.grower.adds_l2
        ):
            return tree.statistics[:, 0, 0].copy()
        values = self._compute_values(tree, leaf_of_row, rows, score)
        if self.grower.monotonic is not None:
            bound_values(tree, values, self.grower.monotonic)
        return values

    def _compute_values(self, tree, leaf_of_row, rows, score):
        """Compute the values that minimise the loss in each node."""
        loss, scores = self.loss, self.scores
        values = tree.statistics[:, 0, 0]
        weight = tree.nodes["weight"]
        if rows is not None:
            leaf_of_all = leaf_of_row
            leaf_of_row = np.full(len(leaf_of_all), -1, dtype=np.int32)
            leaf_of_row[rows] = leaf_of_all[rows]
        if loss.has_leaf_sums:
            added = self.l2_regularization if self.grower.adds_l2 else 0.0
            return loss.compute_leaf_values(
                scores.y,
                scores.raw,
                scores.weight,
                leaf_of_row,
                len(values),
                gradient_sums=-values * (weight + added),
                hessian_sums=weight,
                score=score,
                l2=self.l2_regularization,
            )
        values = loss.compute_leaf_values(
            scores.y,
            scores.raw,
            scores.weight,
            leaf_of_row,
            len(values),
            score=score,
            n_threads=self.grower.n_threads,
        )
        return spread_values(tree, values)

    # ---------------------------------------------------------------- out of bag
    def _mark_outside(self, rows):
        """List the rows that do not grow the trees; None: all do."""
        if self.subsample == 1.0:
            return None
        is_outside = np.ones(len(self.scores.y), dtype=bool)
        is_outside[rows] = False
        if self.scores.weight is not None:
            is_outside &= self.scores.weight > 0
        return np.flatnonzero(is_outside)

    def _compute_loss_of(self, rows):
        """Compute the mean loss of some rows; NaN without any."""
        if len(rows) == 0:
            return np.nan
        scores = self.scores
        weight = None if scores.weight is None else scores.weight[rows]
        raw = np.ascontiguousarray(scores.raw[:, rows])
        return self.loss.compute_loss(scores.y[rows], raw, weight)


class EarlyStopping:
    """Early stopping when the loss of validation rows stops decreasing.

    Parameters
    ----------
    scores : Scores
        The validation rows.
    loss : Loss
        The loss.
    n_rounds : int
        Number of rounds before with which a round is compared.
    tol : float
        The last round has a loss that is not lower by more than this than the highest
        of theirs.
    """

    def __init__(self, scores, loss, n_rounds, tol):
        self.scores, self.loss, self.tol = scores, loss, tol
        self.last_losses = np.full(n_rounds, np.inf)
        self.losses = []

    def catch_up(self, rounds, names):
        """Add the trees of earlier rounds, and compute the last losses."""
        for place, trees in enumerate(rounds, len(self.last_losses) - len(rounds)):
            self.scores.add(trees, names, 1)
            if place >= 0:
                self.last_losses[place] = self.scores.compute_loss(self.loss)

    def must_stop(self, trees, names, n_threads):
        """Add the trees of a round; return whether it was the last."""
        self.scores.add(trees, names, n_threads)
        value = self.scores.compute_loss(self.loss, n_threads)
        self.losses.append(value)
        if not np.any(value + self.tol < self.last_losses):
            return True
        self.last_losses[(len(self.losses) - 1) % len(self.last_losses)] = value
        return False
