"""The rounds of gradient boosting over a table that is in files."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sklearn_textbook._contract.blocks import list_blocks
from sklearn_textbook.ensemble.boosting.losses import Loss, add_weights
from sklearn_textbook.ensemble.resample import BlockDraw
from sklearn_textbook.tree.members import BlockBoostingGrower, square_gradients


def bound_values(tree, values: np.ndarray, monotonic: Sequence) -> np.ndarray:
    """Keep the values of nodes within the bounds of monotonic constraints.

    As in growth, the middle between the values of the children of a test of a
    constrained column bounds the values of all nodes below them.
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


class BlockRounds:
    """Grows the trees of one round after the other, as `GradientRounds` does.

    The scores of the rows and the derivatives of the loss are files.

    Parameters
    ----------
    grower : BlockBoostingGrower
        Has the table.
    loss : Loss
        Loss function to minimise.
    start : ndarray of float64, shape (n_scores,)
        The scores of all rows before the first round.
    learning_rate : float
        What the values of leaves are multiplied by.
    subsample : float
        Fraction of the rows that grow a tree.
    total_weight : float
        Sum of the weights of all rows.
    """

    def __init__(
        self,
        grower: BlockBoostingGrower,
        loss: Loss,
        start: np.ndarray,
        learning_rate: float,
        subsample: float,
        total_weight: float,
    ) -> None:
        self.grower, self.loss = grower, loss
        self.subsample = subsample
        self.learning_rate, self.total_weight = learning_rate, total_weight
        columns = self.columns = grower.columns
        shape = (columns.n_rows,)
        scores = range(loss.n_scores)
        self.raw = [columns.make_array(f"raw-{k}", np.float64, shape) for k in scores]
        for raw, value in zip(self.raw, start, strict=True):
            raw.fill(value)
        self.gradient = [
            columns.make_array(f"gradient-{k}", np.float64, shape) for k in scores
        ]
        self.hessian = None
        if not (loss.has_constant_hessian and columns.weight is None):
            self.hessian = [
                columns.make_array(f"hessian-{k}", np.float64, shape) for k in scores
            ]
        self._n_among = None
        if subsample < 1.0:
            self._n_among = np.array(
                [
                    np.count_nonzero(grower.takes_part(rows))
                    for rows in list_blocks(columns.n_rows)
                ]
            )
        self.oob_losses: list[float] = []
        self.oob_decreases: list[float] = []
        self._train_losses: list[float] = []
        self._lacks_loss = False

    def _read_block(self, rows):
        """Read the target, the weights and the scores of a block."""
        columns = self.columns
        y = columns.target.read(rows)
        weight = None if columns.weight is None else columns.weight.read(rows)
        raw = np.stack([scores.read(rows) for scores in self.raw])
        return y.astype(np.float64, copy=False), weight, raw

    def differentiate(self):
        """Write the derivatives; return their largest, the mean loss and variances."""
        loss, total = self.loss, 0.0
        largest = np.zeros(2)
        squares, hessians = np.zeros((2, loss.n_scores))
        for rows in list_blocks(self.columns.n_rows):
            y, weight, raw = self._read_block(rows)
            gradient = np.empty(raw.shape)
            hessian = None if self.hessian is None else np.empty(raw.shape)
            found, total = loss._differentiate(
                y, raw, weight, gradient, hessian, self.grower.n_threads, total
            )
            largest = np.maximum(largest, found)
            if self.grower.needs_variance:
                is_used = self.grower.takes_part(rows)
            for k in range(loss.n_scores):
                self.gradient[k].write(rows.start, gradient[k])
                if hessian is not None:
                    self.hessian[k].write(rows.start, hessian[k])
                if self.grower.needs_variance:
                    slopes = np.where(is_used, gradient[k], 0.0)
                    squares[k] += float(np.sum(square_gradients(slopes, weight)))
                    hessians[k] += (
                        np.count_nonzero(is_used)
                        if hessian is None
                        else np.sum(np.where(is_used, hessian[k], 0.0))
                    )
        variances = np.divide(
            squares, hessians, out=np.zeros(len(squares)), where=hessians > 0
        )
        return tuple(largest.tolist()), total / self.total_weight, variances

    @property
    def train_losses(self) -> list[float]:
        """Mean loss of the training rows after each round.

        That of the last round is computed with the derivatives of the next round, or
        when it is read.
        """
        if self._lacks_loss:
            self._keep_loss(self._compute_loss())
        return self._train_losses

    def _compute_loss(self) -> float:
        total = 0.0
        for rows in list_blocks(self.columns.n_rows):
            y, weight, raw = self._read_block(rows)
            total = self.loss._add_losses(y, raw, weight, self.grower.n_threads, total)
        return total / self.total_weight

    def grow(self, seed: int) -> list:
        """Grow the trees of a round, and add them to the scores."""
        before = np.nan
        if self._n_among is not None:
            self.grower.draw = BlockDraw(self._n_among, self.subsample, seed)
            before = self._compute_outside_loss()
        largest, loss_before, variances = self.differentiate()
        if self._lacks_loss:
            self._keep_loss(loss_before)
        trees = []
        for score in range(self.loss.n_scores):
            tree, node_of = self.grower.grow_from_files(
                self.gradient[score],
                None if self.hessian is None else self.hessian[score],
                largest,
                seed + score,
                float(variances[score]) if self.grower.needs_variance else 1.0,
            )
            values = self._find_values(tree) * self.learning_rate
            trees.append(tree.replace(statistics=values.reshape(-1, 1, 1)))
            for rows in list_blocks(self.columns.n_rows):
                raw = self.raw[score].read(rows)
                raw += self.grower.find_node_values(rows, values[node_of])
                self.raw[score].write(rows.start, raw)
        self._lacks_loss = True
        if self._n_among is not None:
            self.oob_losses.append(self._compute_outside_loss())
            self.oob_decreases.append(before - self.oob_losses[-1])
        return trees

    def _compute_outside_loss(self) -> float:
        """Compute the mean loss of the rows that do not grow the trees; NaN without."""
        total = total_weight = 0.0
        for rows in list_blocks(self.columns.n_rows):
            y, weight, raw = self._read_block(rows)
            is_outside = ~self.grower.takes_part(rows)
            if weight is not None:
                is_outside &= weight > 0
                weight = weight[is_outside]
            y = y[is_outside]
            if len(y):
                raw = np.ascontiguousarray(raw[:, is_outside])
                total = self.loss._add_losses(y, raw, weight, 1, total)
                total_weight += add_weights(weight, len(y))
        return total / total_weight if total_weight > 0 else np.nan

    def _keep_loss(self, loss) -> None:
        if not np.isfinite(loss):
            raise ValueError(
                f"The loss is not finite after round {len(self._train_losses) + 1}: "
                f"learning_rate={self.learning_rate} is too large."
            )
        self._train_losses.append(loss)
        self._lacks_loss = False

    def _find_values(self, tree):
        """Find what each node adds to a score, before it is shrunk."""
        values = tree.statistics[:, 0, 0].copy()
        if self.loss.has_newton_leaves:
            return values
        weight, l2 = tree.nodes["weight"], self.grower.l2_regularization
        values = self.loss._solve_leaves(-values * (weight + l2), weight, l2)
        if self.grower.monotonic is not None:
            bound_values(tree, values, self.grower.monotonic)
        return values
