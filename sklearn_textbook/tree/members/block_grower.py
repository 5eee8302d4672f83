"""Growth of trees from the derivatives of a loss, over a table that is in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from sklearn.base import clone

from sklearn_textbook._contract.blocks import (
    BLOCK_ROWS,
    limit_workers,
    list_blocks,
    run_each,
)
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook.tree.cart_recipe import warn_of_light_sum
from sklearn_textbook.tree.encode.block_columns import BlockColumns, FileArray
from sklearn_textbook.tree.encode.block_table import ValueCounter, encode_blocks
from sklearn_textbook.tree.grow.gradient_plan import (
    GradientPlan,
    count_level,
    make_scale,
    round_block,
)
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.members.boosting_grower import BoostingGrower
from sklearn_textbook.tree.prune import Rows, cut_below, find_kept


class BlockRows:
    """The rows of a table in blocks: their nodes, and the histograms of these.

    Parameters
    ----------
    columns : BlockColumns
        The table.
    row_codes : FileArray
        Its codes.
    start : ndarray of int64, shape (n_columns + 1,)
        Where the codes of each column begin in a histogram.
    n_threads : int
        Number of threads.
    """

    def __init__(self, columns, row_codes, start: np.ndarray, n_threads: int) -> None:
        self.columns, self.n_threads = columns, n_threads
        self.row_codes, self.start = row_codes, start
        self._is_drawn: FileArray | None = None
        self._is_closed = False
        self.node_of_row = columns.make_array("nodes", np.int32, (columns.n_rows,))

    def count(self, level, gradient, hessian, scale) -> np.ndarray:
        """Send all rows to the nodes of a level, and sum up those in its slots."""
        n_slots = int(level[4].max(initial=-1)) + 1
        is_root = len(level[3]) == 0
        blocks = [*list_blocks(self.columns.n_rows)]
        n_workers = self._limit_workers(min(self.n_threads, len(blocks)), n_slots)
        parts = np.zeros((n_workers, n_slots, self.start[-1], 2), dtype=np.int64)

        def count_some(worker):
            for rows in blocks[worker::n_workers]:
                if self._is_closed:
                    raise RuntimeError("The fit has ended.")
                node = self._list_root(rows) if is_root else self.node_of_row.read(rows)
                pairs = None
                if n_slots > 0:
                    pairs = round_block(
                        gradient.read(rows),
                        None if hessian is None else hessian.read(rows),
                        scale,
                    )
                codes = self.row_codes.read(rows)
                count_level(codes, self.start, pairs, node, level, parts[worker])
                self.node_of_row.write(rows.start, node)

        run_each(count_some, n_workers)
        return parts.sum(axis=0) if n_workers > 1 else parts[0]

    def _limit_workers(self, n_workers, n_slots):
        """Limit the threads that count a level, by the memory of their histograms."""
        # The arrays of a block are replaced by those of the next.
        n_rows = min(BLOCK_ROWS, self.columns.n_rows)
        block = 2 * n_rows * (self.row_codes.row_bytes + 64)
        slots = n_slots * int(self.start[-1]) * 16
        # The plan keeps two, and there is one for the sum.
        return limit_workers(
            *(n_workers, self.columns.memory_limit, slots + block, 3 * slots),
            f"counting a level of {n_slots} nodes (fewer bins or leaves need less)",
        )

    def _list_root(self, rows):
        """Put the rows that take part into the root."""
        return np.where(self.takes_part(rows), 0, ~0).astype(np.int32)

    def draw_rows(self, draw) -> None:
        """Let a sample of the rows take part in the round at hand."""
        n_rows = self.columns.n_rows
        if self._is_drawn is None:
            self._is_drawn = self.columns.make_array("drawn", np.bool_, (n_rows,))
        for rows in list_blocks(n_rows):
            is_drawn = draw.mark(rows, self._has_weight(rows))
            self._is_drawn.write(rows.start, is_drawn)

    def _has_weight(self, rows: slice) -> np.ndarray:
        """Mark the rows of a block whose weights are above 0."""
        if self.columns.weight is None:
            return np.ones(rows.stop - rows.start, dtype=bool)
        return self.columns.weight.read(rows) > 0

    def takes_part(self, rows: slice) -> np.ndarray:
        """Mark the rows of a block that take part in the round at hand."""
        if self._is_drawn is not None:
            return self._is_drawn.read(rows)
        return self._has_weight(rows)

    def list_nodes(self, rows: slice, number: np.ndarray) -> np.ndarray:
        """List the numbers of the nodes of a block's rows; -1: it takes no part."""
        node = self.node_of_row.read(rows)
        return np.where(node >= 0, number[np.maximum(node, 0)], -1)

    def find_node_values(self, rows: slice, values: np.ndarray) -> np.ndarray:
        """Look up the value of the node of every row of a block."""
        node = self.node_of_row.read(rows)
        return values[np.where(node >= 0, node, ~node)]

    def close(self) -> None:
        """End growth, also in other threads."""
        self._is_closed = True


class BlockBoostingGrower(BoostingGrower):
    """Grows trees like `BoostingGrower`, bit for bit, over columns in files.

    Trees grow level by level: each level is a pass over the codes of all rows, their
    derivatives and the nodes that they are in.

    Parameters
    ----------
    template : CARTRegressor
        A tree with the parameters of the members.
    columns : BlockColumns
        The table.
    owner : estimator
        The ensemble, whose attributes ``n_features_in_`` and ``feature_names_in_`` are
        set.
    encode : callable
        Encodes the columns.
    n_jobs, max_bins, l2_regularization, interaction_groups, ccp_alpha
        As for `BoostingGrower`.
    """

    def __init__(
        self,
        template,
        columns: BlockColumns,
        *,
        owner,
        encode=encode_blocks,
        n_jobs=None,
        max_bins=None,
        l2_regularization: float = 0.0,
        interaction_groups=None,
        ccp_alpha: float = 0.0,
    ) -> None:
        reader = clone(template)
        reader._check_parameters()
        self.pruner, self.ccp_alpha = None, ccp_alpha
        self.columns, self.max_bins = columns, max_bins
        self.l2_regularization = l2_regularization
        reader.schema_, reader.n_outputs_ = columns.schema, 1
        names = np.array(columns.schema.names, dtype=object)
        for estimator in (reader, owner):
            estimator.n_features_in_ = len(names)
            estimator.feature_names_in_ = names
        self.reader = reader
        # The values are in files; growth reads only how many there are.
        target = np.broadcast_to(np.zeros(1), (columns.n_rows, 1))
        self.rows = Rows(None, Target(None, target, np.ones(1, np.int64)))
        self.n_threads = count_threads(n_jobs, columns.n_rows * len(names))
        self.table = encode(columns, max_bins, self.n_threads)
        reader._check_missing(self.table, is_sparse=False)
        reader.n_missing_ = self.table.n_missing
        self.weight = None
        self.groups = None
        if interaction_groups is not None:
            self.groups = interaction_groups(columns.schema.names)
        self._gradient_plan = None

    @property
    def n_columns(self):
        """Number of columns."""
        return self.columns.n_columns

    @property
    def n_rows(self):
        """Number of rows."""
        return self.columns.n_rows

    def _choose_plan(self):
        return GradientPlan(
            self.table,
            self._rules,
            self.l2_regularization,
            interaction_groups=self.groups,
        )

    def grow_by_levels(
        self,
        count: Callable,
        largest: tuple[float, float],
        has_hessian: bool,
        random_state: int,
        variance: float,
    ):
        """Grow a tree; ``count(level, scale)`` sends the rows to their nodes."""
        scale = make_scale(self.n_rows, largest, has_hessian)
        tree, node_of, surplus = self._gradient_plan.grow_by_levels(
            lambda level: count(level, scale), scale, random_state, variance
        )
        if surplus.any():
            node_of = find_kept(tree, surplus)[node_of]
            tree = cut_below(tree, surplus)
        return tree, node_of

    @property
    def needs_variance(self) -> bool:
        """Whether trees depend on the variance of the gradient."""
        return self._gradient_plan.smooths_levels

    def prepare_blocks(
        self, total_weight: float, n_weighted: int, **limits: float
    ) -> None:
        """Prepare to grow trees from rows of this total weight.

        ``limits`` are those of `BoostingGrower.prepare`.
        """
        rules = self.reader._resolve_rules(
            self.table, self.rows.target, None, self.n_rows
        )
        self._prepare_plan(rules, (total_weight, n_weighted), **limits)
        if self.columns.has_weights:
            smoothing = self.reader.categorical_smoothing
            warn_of_light_sum(self.table, smoothing, total_weight, n_weighted)

    def measure_weights(self) -> tuple[float, float]:
        """Find the lowest and the highest weight above 0."""
        lowest, highest = np.inf, 0.0
        for low, high in self.columns.map_targets(_find_range):
            lowest, highest = min(lowest, low), max(highest, high)
        return lowest, highest

    def sort_weights(self) -> Iterator[np.ndarray]:
        """List the weights above 0, ascending, in blocks."""
        counter = ValueCounter(self.columns, name="sorted-weights")
        for rows in list_blocks(self.n_rows):
            weight = self.columns.weight.read(rows)
            counter.add(weight[weight > 0])
        values, starts = counter.finish()
        for rows in list_blocks(int(starts[-1])):
            places = np.arange(rows.start, rows.stop, dtype=starts.dtype)
            yield values[np.searchsorted(starts, places, side="right") - 1]
        del values, starts  # before their files
        counter.remove()


def _find_range(_y, weight):
    """Find the lowest weight above 0 and the highest weight of a block."""
    return weight.min(initial=np.inf, where=weight > 0), weight.max()
