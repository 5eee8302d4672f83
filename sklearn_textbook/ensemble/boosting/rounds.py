"""The rounds of gradient boosting: the trees, and the scores that they change."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import partial

import numpy as np

from sklearn_textbook._contract.blocks import BLOCK_ROWS, list_blocks
from sklearn_textbook.ensemble.boosting.block_quantiles import find_block_quantiles
from sklearn_textbook.ensemble.boosting.losses import (
    Loss,
    add_pairs,
    add_weights,
    find_quantile,
)
from sklearn_textbook.ensemble.resample import BlockDraw
from sklearn_textbook.tree.members import (
    BlockBoostingGrower,
    BlockRows,
    add_leaf_values,
    add_predictions,
    multiply_equations,
    square_gradients,
    sum_gradients,
)


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

    def __init__(self, matrix, y, weight, raw) -> None:
        self.matrix, self.y, self.weight, self.raw = matrix, y, weight, raw

    def add(self, trees, names, n_threads) -> None:
        """Add the predictions of trees, one after the other for each score."""
        for score in range(len(self.raw)):
            out = self.raw[score].reshape(-1, 1, 1)
            add_predictions(
                trees[score :: len(self.raw)], self.matrix, out, n_threads, names
            )

    def compute_loss(self, loss, n_threads: int = 1):
        """Compute the mean loss."""
        return loss.compute_loss(self.y, self.raw, self.weight, n_threads)

    def read_blocks(self):
        """Yield blocks of rows as trees take them, targets, weights and scores."""
        for block in list_blocks(len(self.y)):
            weight = None if self.weight is None else self.weight[block]
            yield self.matrix[block], self.y[block], weight, self.raw[:, block]


class BlockScores:
    """Raw scores, in files, of rows that are in files, too.

    Parameters
    ----------
    rows : BlockColumns or BlockMatrix
        The rows, with their targets and weights.
    start : ndarray of float64, shape (n_scores,)
        The scores of all rows.
    total_weight : float
        Sum of the weights of all rows.
    """

    def __init__(self, rows, start: np.ndarray, total_weight: float) -> None:
        self.rows, self.total_weight = rows, total_weight
        self.raw = [
            rows.make_array(f"raw-{score}", np.float64, (rows.n_rows,))
            for score in range(len(start))
        ]
        for raw, value in zip(self.raw, start, strict=True):
            raw.fill(value)

    def read(self, block: slice):
        """Read the targets, the weights and the scores of a block."""
        rows = self.rows
        y = rows.target.read(block).astype(np.float64, copy=False)
        weight = None if rows.weight is None else rows.weight.read(block)
        return y, weight, np.stack([raw.read(block) for raw in self.raw])

    def read_blocks(self):
        """Yield blocks, as `Scores` does."""
        for block in list_blocks(self.rows.n_rows):
            yield self.rows.read_matrix(block), *self.read(block)

    def add(self, trees, names, n_threads) -> None:
        """Add the predictions of trees, as `Scores` does."""
        for block in list_blocks(self.rows.n_rows):
            matrix = self.rows.read_matrix(block)
            for score, raw in enumerate(self.raw):
                out = raw.read(block)
                own = trees[score :: len(self.raw)]
                add_predictions(own, matrix, out.reshape(-1, 1, 1), n_threads, names)
                raw.write(block.start, out)

    def find_quantile(self, quantile: float, takes_part=None) -> float:
        """Find a quantile of the absolute residuals of the rows, or some of them."""

        def read():
            for block in list_blocks(self.rows.n_rows):
                y, weight, raw = self.read(block)
                group = np.zeros(len(y), dtype=np.int32)
                if takes_part is not None:
                    group = np.where(takes_part(block), group, -1)
                yield group, np.abs(y - raw[0]), weight

        limits = self.total_weight, self.rows.memory_limit
        return float(find_block_quantiles(read, 1, quantile, *limits)[0])

    def compute_loss(self, loss, n_threads: int = 1) -> float:
        """Compute the mean loss."""
        loss, total = loss._settle(self.find_quantile), 0.0
        for y, weight, raw in map(self.read, list_blocks(self.rows.n_rows)):
            total += loss._add_losses(y, raw, weight, n_threads)
        return total / self.total_weight


def spread_values(tree, values: np.ndarray) -> np.ndarray:
    """Set the values of inner nodes to the weighted means of their leaves."""
    nodes = tree.nodes
    first, count, weight = nodes["first_child"], nodes["n_children"], nodes["weight"]
    # Children come after their parents.
    for node in np.flatnonzero(count)[::-1]:
        below = slice(first[node], first[node] + count[node])
        values[node] = np.average(values[below], weights=weight[below])
    return values


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


class Rounds(ABC):
    """The trees of one round after the other, and the losses of the rounds.

    Parameters
    ----------
    grower : BoostingGrower
        Has the table.
    loss : Loss
        Loss function to minimise.
    learning_rate : float
        What the values of leaves are multiplied by.
    subsample : float
        Fraction of the rows that grow a tree.
    """

    def __init__(self, grower, loss, learning_rate, subsample) -> None:
        self.grower, self.loss = grower, loss
        self.learning_rate, self.subsample = learning_rate, subsample
        self._train_losses: list[float] = []
        self.oob_losses: list[float] = []
        self.oob_decreases: list[float] = []
        self._lacks_loss = False

    @abstractmethod
    def grow(self, seed: int) -> list:
        """Grow the trees of a round, and add them to the scores."""

    @abstractmethod
    def _compute_loss(self) -> float:
        """Compute the mean loss of the training rows."""

    @property
    def train_losses(self) -> list[float]:
        """Mean loss of the training rows after each round.

        That of the last round is computed with the derivatives of the next round, or
        when it is read.
        """
        if self._lacks_loss:
            self._keep_loss(self._compute_loss())
        return self._train_losses

    def _keep_loss(self, loss) -> None:
        if not np.isfinite(loss):
            raise ValueError(
                f"The loss is not finite after round {len(self._train_losses) + 1}: "
                f"learning_rate={self.learning_rate} is too large."
            )
        self._train_losses.append(loss)
        self._lacks_loss = False


class GradientRounds(Rounds):
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
    ) -> None:
        super().__init__(grower, loss, learning_rate, subsample)
        self.scores = scores
        self.l2_regularization = l2_regularization
        self.gradient = np.empty(scores.raw.shape)
        is_unit = loss.has_constant_hessian and scores.weight is None
        self.hessian = None if is_unit else np.empty(scores.raw.shape)
        weight = scores.weight
        self.weighted_rows = None
        if weight is not None and not (weight > 0).all():
            self.weighted_rows = np.flatnonzero(weight > 0).astype(np.uint32)
        self._leaf_of_row = np.empty(scores.raw.shape[1], dtype=np.int32)

    def _compute_loss(self):
        return self.scores.compute_loss(self.loss, self.grower.n_threads)

    def draw_rows(self, seed):
        """Draw the rows that grow the trees of a round; None: all."""
        if self.subsample == 1.0:
            return self.weighted_rows
        n_rows, weight = len(self.scores.y), self.scores.weight
        blocks = [*list_blocks(n_rows)]
        is_among = np.ones(n_rows, dtype=bool) if weight is None else weight > 0
        n_among = np.array([np.count_nonzero(is_among[rows]) for rows in blocks])
        draw = BlockDraw(n_among, self.subsample, seed)
        is_drawn = [draw.mark(rows, is_among[rows]) for rows in blocks]
        return np.flatnonzero(np.concatenate(is_drawn)).astype(np.uint32)

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
            if len(tree.bounds):
                tree = trees[-1]
                if loss._link == "exp":
                    # The step of a row with a large target may be far larger than what
                    # minimises its loss, y / m - 1 instead of log(y / m), and other
                    # rows may follow it.
                    bounds = np.copysign(np.log1p(np.abs(tree.bounds)), tree.bounds)
                    tree = tree.replace(bounds=bounds)
                trees[-1] = multiply_equations(tree, self.learning_rate)
                scores.add(trees, self.grower.reader.schema_.names, n_threads)
            else:
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
        scores, total, total_weight = self.scores, 0.0, 0.0
        loss = self.loss._settle(lambda quantile: self._find_quantile(rows, quantile))
        ends = np.searchsorted(rows, range(BLOCK_ROWS, len(scores.y), BLOCK_ROWS))
        for part in np.split(rows, ends):
            if len(part):
                weight = None if scores.weight is None else scores.weight[part]
                raw = np.ascontiguousarray(scores.raw[:, part])
                total = loss._add_losses(scores.y[part], raw, weight, 1, total)
                total_weight += add_weights(weight, len(part))
        return total / total_weight

    def _find_quantile(self, rows, quantile):
        """Find a quantile of the absolute residuals of some rows."""
        y, raw, weight = self.scores.y, self.scores.raw[0], self.scores.weight
        sizes = np.abs(y[rows] - raw[rows])
        total = add_weights(weight, len(y))
        return find_quantile(
            sizes, None if weight is None else weight[rows], quantile, total
        )


class BlockRounds(Rounds):
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
        super().__init__(grower, loss, learning_rate, subsample)
        self.total_weight = total_weight
        self.columns = grower.columns
        self.has_hessian = self.columns.has_weights or not loss.has_constant_hessian
        self.settled = loss
        self._open(start)
        self._n_among = None
        if subsample < 1.0:
            self._n_among = np.array([*self._list_n_among()])

    def _open(self, start) -> None:
        """Make the files."""
        columns, scores = self.columns, range(self.loss.n_scores)
        table = self.grower.table
        self.rows = BlockRows(
            columns, table.row_codes, table.column_start, self.grower.n_threads
        )
        shape = (columns.n_rows,)
        self.scores = BlockScores(columns, start, self.total_weight)
        self.raw, self._read_block = self.scores.raw, self.scores.read
        self.gradient = [
            columns.make_array(f"gradient-{k}", np.float64, shape) for k in scores
        ]
        self.hessian = None
        if self.has_hessian:
            self.hessian = [
                columns.make_array(f"hessian-{k}", np.float64, shape) for k in scores
            ]

    def close(self) -> None:
        """End growth, also in other threads."""
        self.rows.close()

    def _list_n_among(self):
        """Count the rows of each block that may take part in a round."""
        for rows in list_blocks(self.columns.n_rows):
            yield np.count_nonzero(self.rows.takes_part(rows))

    def differentiate(self):
        """Write the derivatives; return their largest, the mean loss and variances."""
        self._settle()
        largest, total = np.zeros(2), 0.0
        squares, hessians = np.zeros((2, self.loss.n_scores))
        for found, loss, of_block in self._differentiate(self.grower.needs_variance):
            largest, total = np.maximum(largest, found), total + loss
            squares, hessians = squares + of_block[0], hessians + of_block[1]
        variances = np.divide(
            squares, hessians, out=np.zeros(len(squares)), where=hessians > 0
        )
        return tuple(largest.tolist()), total / self.total_weight, variances

    def _differentiate(self, needs_variance: bool):
        """Write the derivatives of each block, and measure them and the losses."""
        n_scores = self.loss.n_scores
        for rows in list_blocks(self.columns.n_rows):
            y, weight, raw = self._read_block(rows)
            gradient = np.empty(raw.shape)
            hessian = None if self.hessian is None else np.empty(raw.shape)
            largest, loss = self.settled._differentiate(
                y, raw, weight, gradient, hessian, self.rows.n_threads, 0.0
            )
            # Of the gradients, the sum of squares; of the hessians, the sum.
            sums = np.zeros((2, n_scores))
            if needs_variance:
                is_used = self.rows.takes_part(rows)
            for k in range(n_scores):
                self.gradient[k].write(rows.start, gradient[k])
                if hessian is not None:
                    self.hessian[k].write(rows.start, hessian[k])
                if needs_variance:
                    slopes = np.where(is_used, gradient[k], 0.0)
                    sums[0, k] = np.sum(square_gradients(slopes, weight))
                    sums[1, k] = (
                        np.count_nonzero(is_used)
                        if hessian is None
                        else np.sum(np.where(is_used, hessian[k], 0.0))
                    )
            yield largest, loss, sums

    def _settle(self, takes_part=None) -> None:
        """Determine the parameters of the loss that depend on the scores of rows."""
        self.settled = self.loss._settle(
            partial(self.scores.find_quantile, takes_part=takes_part)
        )

    def _compute_loss(self) -> float:
        self._settle()
        total = 0.0
        for loss in self._list_losses():
            total += loss
        return total / self.total_weight

    def _list_losses(self):
        """Add up the losses of each block."""
        for rows in list_blocks(self.columns.n_rows):
            y, weight, raw = self._read_block(rows)
            yield self.settled._add_losses(y, raw, weight, self.rows.n_threads)

    def grow(self, seed: int) -> list:
        """Grow the trees of a round by passes over the files."""
        before = np.nan
        if self._n_among is not None:
            self._draw(BlockDraw(self._n_among, self.subsample, seed))
            before = self._compute_outside_loss()
        largest, loss_before, variances = self.differentiate()
        if self._lacks_loss:
            self._keep_loss(loss_before)
        trees = []
        for score in range(self.loss.n_scores):
            tree, node_of = self.grower.grow_by_levels(
                partial(self._count, score),
                largest,
                self.has_hessian,
                seed + score,
                float(variances[score]) if self.grower.needs_variance else 1.0,
            )
            if self.grower.ccp_alpha > 0.0:
                tree, node_of = self._prune(tree, node_of, score)
            values = self._find_values(tree, node_of, score) * self.learning_rate
            trees.append(tree.replace(statistics=values.reshape(-1, 1, 1)))
            self._add_values(score, values[node_of])
        self._lacks_loss = True
        if self._n_among is not None:
            self.oob_losses.append(self._compute_outside_loss())
            self.oob_decreases.append(before - self.oob_losses[-1])
        return trees

    def _prune(self, tree, node_of, score):
        """Prune a tree; returns also what the numbers of nodes become."""
        sums = np.zeros((3, len(tree.nodes)))
        for of_block in self._list_node_sums(score, node_of, len(tree.nodes)):
            sums += of_block
        tree, kept = self.grower.prune(tree, sums)
        return tree, kept[node_of]

    def _list_node_sums(self, score, node_of, n_nodes):
        """Sum up the gradients of each block by the nodes of a tree."""
        for rows in list_blocks(self.columns.n_rows):
            _, weight, _ = self._read_block(rows)
            nodes = self.rows.list_nodes(rows, node_of)
            used = nodes >= 0
            yield sum_gradients(
                nodes[used],
                self.gradient[score].read(rows)[used],
                None if weight is None else weight[used],
                n_nodes,
            )

    def _draw(self, draw: BlockDraw) -> None:
        """Let a sample of the rows grow the trees of a round."""
        self.rows.draw_rows(draw)

    def _count(self, score: int, level: tuple, scale: tuple) -> np.ndarray:
        """Send all rows to the nodes of a level, and count their histograms."""
        hessian = None if self.hessian is None else self.hessian[score]
        return self.rows.count(level, self.gradient[score], hessian, scale)

    def _add_values(self, score: int, values: np.ndarray) -> None:
        """Add the value of the node of each row to a score."""
        for rows in list_blocks(self.columns.n_rows):
            raw = self.raw[score].read(rows)
            raw += self.rows.find_node_values(rows, values)
            self.raw[score].write(rows.start, raw)

    def _compute_outside_loss(self) -> float:
        """Compute the mean loss of the rows that do not grow the trees; NaN without."""
        self._settle(self._mark_outside)
        total, total_weight = add_pairs(self._list_outside_losses())
        return total / total_weight if total_weight > 0 else np.nan

    def _mark_outside(self, rows) -> np.ndarray:
        """Mark the rows of a block that do not grow the trees."""
        is_outside = ~self.rows.takes_part(rows)
        if self.columns.weight is not None:
            is_outside &= self.columns.weight.read(rows) > 0
        return is_outside

    def _list_outside_losses(self):
        """Add up the losses and weights of each block's rows that grow no tree."""
        for rows in list_blocks(self.columns.n_rows):
            y, weight, raw = self._read_block(rows)
            is_outside = self._mark_outside(rows)
            weight = None if weight is None else weight[is_outside]
            y = y[is_outside]
            if len(y):
                raw = np.ascontiguousarray(raw[:, is_outside])
                loss = self.settled._add_losses(y, raw, weight, 1)
                yield loss, add_weights(weight, len(y))

    def _find_values(self, tree, node_of, score):
        """Find what each node adds to a score, before it is shrunk."""
        values = tree.statistics[:, 0, 0].copy()
        loss = self.loss
        if loss.has_newton_leaves:
            return values
        if loss.has_leaf_sums:
            weight, l2 = tree.nodes["weight"], self.grower.l2_regularization
            sums = -values * (weight + l2)
            if loss.has_leaf_counts:
                counts = np.zeros((2, len(values)))
                for of_block in self._list_target_counts(node_of, len(values)):
                    counts += of_block
                sums = loss._correct_sums(sums, weight, counts)
            values = loss._solve_leaves(sums, weight, l2)
        else:
            values = spread_values(tree, self._measure_leaves(tree, node_of, score))
        if self.grower.monotonic is not None:
            bound_values(tree, values, self.grower.monotonic)
        return values

    def _list_target_counts(self, node_of, n_nodes):
        """Count the rows of each block by their nodes and targets."""
        for rows in list_blocks(self.columns.n_rows):
            y, weight, _ = self._read_block(rows)
            nodes = self.rows.list_nodes(rows, node_of)
            yield self.loss._count_rows(y, weight, nodes, n_nodes)

    def _measure_leaves(self, tree, node_of, score) -> np.ndarray:
        """Compute the values of leaves from their rows; 0 for the other nodes."""
        leaves = np.flatnonzero(tree.nodes["n_children"] == 0)
        number = np.full(len(tree.nodes), -1, dtype=np.int32)
        number[leaves] = np.arange(len(leaves))

        def read():
            for rows in list_blocks(self.columns.n_rows):
                y, weight, raw = self._read_block(rows)
                leaf = self.rows.list_nodes(rows, number[node_of])
                yield leaf, y - raw[score], weight

        values = np.zeros(len(tree.nodes))
        values[leaves] = self.settled._measure_blocks(
            read, len(leaves), self.total_weight, self.columns.memory_limit
        )
        return values


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

    def __init__(self, scores, loss, n_rounds, tol) -> None:
        self.scores, self.loss, self.tol = scores, loss, tol
        self.last_losses = np.full(n_rounds, np.inf)
        self.losses = []

    def catch_up(self, rounds, names) -> None:
        """Add the trees of earlier rounds, and compute the last losses."""
        for place, trees in enumerate(rounds, len(self.last_losses) - len(rounds)):
            self.scores.add(trees, names, 1)
            if place >= 0:
                self.last_losses[place] = self.scores.compute_loss(self.loss)

    def must_stop(self, trees, names, n_threads) -> bool:
        """Add the trees of a round; return whether it was the last."""
        self.scores.add(trees, names, n_threads)
        value = self.scores.compute_loss(self.loss, n_threads)
        self.losses.append(value)
        if not np.any(value + self.tol < self.last_losses):
            return True
        self.last_losses[(len(self.losses) - 1) % len(self.last_losses)] = value
        return False


def grow_round(rounds, _draw, seeds):
    """Grow the trees of a round, in the form of ``grow_aside``."""
    return [rounds.grow(seed) for seed in seeds]
