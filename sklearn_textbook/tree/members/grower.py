"""Growth of many trees from one table that is read and encoded once."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace

import narwhals as nw
import numpy as np
from scipy import sparse
from scipy.sparse import issparse
from sklearn.base import clone, is_classifier

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.costs import get_costs
from sklearn_textbook._contract.memory import warn_of_memory
from sklearn_textbook._contract.monotonic import resolve_monotonic
from sklearn_textbook.tree.encode import NUMERIC, encode_table
from sklearn_textbook.tree.encode.block_columns import count_rows_from
from sklearn_textbook.tree.encode.block_matrix import BlockMatrix
from sklearn_textbook.tree.encode.rank import check_max_bins, require_table_memory
from sklearn_textbook.tree.grow.plan import GrowthPlan
from sklearn_textbook.tree.grow.storage import COMPACTED_NODES
from sklearn_textbook.tree.prune import OutOfBagPruning, Rows, resolve_pruner
from sklearn_textbook.tree.recipe import BaseTree, TreeClassifierMethods
from sklearn_textbook.tree.route import RoutedTree, estimate_empty_nodes


def read_blocks(owner, X, template):
    """Read a new table as numbers and codes, a sparse one in blocks of rows."""
    return template._read_blocks(X, owner=owner)


def read_matrix(owner, X, template):
    """Read a whole new table at once; see :func:`read_blocks`.

    That of a table in blocks is in a file, which the array maps.
    """
    if isinstance(X, BlockSource):
        return store_rows(owner, X, template).map_matrix()
    blocks = list(read_blocks(owner, X, template))
    if len(blocks) == 1:
        return blocks[0]
    join = sparse.vstack if any(map(sparse.issparse, blocks)) else np.concatenate
    return join(blocks)


def store_rows(
    owner, source: BlockSource, template, **vectors: tuple[str, Callable]
) -> BlockMatrix:
    """Write the rows of a new table, in blocks, to a file.

    ``target`` and ``weight`` may be names of columns, each with a function that checks
    the values of a block.
    """
    features = template._list_names(source, owner)
    needed = [*features, *(name for name, _ in vectors.values())]
    rows = BlockMatrix(len(features))
    rows.memory_limit = source.memory_limit
    try:
        for block in source.read_blocks(dict.fromkeys(needed)):
            frame = nw.from_native(block, eager_only=True)
            n_before = rows.n_rows
            with count_rows_from(n_before):
                checked = {
                    role: check(frame.get_column(name).to_native())
                    for role, (name, check) in vectors.items()
                }
            for matrix in read_blocks(
                owner, frame.select(features).to_native(), template
            ):
                rows.append(matrix, **checked)
        if rows.n_rows == 0:
            raise ValueError(f"{source._describe()} has no rows.")
    except BaseException:
        rows.close()
        raise
    return rows


def decides_by_largest_fraction(member) -> bool:
    """Return whether a member predicts the most probable class, the first at ties."""
    own = getattr(type(member), "_choose_classes", None)
    return own is TreeClassifierMethods._choose_classes and get_costs(member) is None


def choose_member_classes(member, fractions: np.ndarray) -> np.ndarray:
    """Choose classes as ``member.predict`` does."""
    return member._choose_classes(fractions)


def get_shown_tree(member):
    """Return the tree whose statistics are the predictions of a member."""
    is_classifier = isinstance(member, TreeClassifierMethods)
    return member._share_statistics() if is_classifier else member.tree_


def is_tree(estimator: object) -> bool:
    """Return whether an estimator is a tree of ours, which grows from weights."""
    return isinstance(estimator, BaseTree)


class MemberGrower:
    """Grows trees like a template, over one table that is read and encoded once.

    Members depend only on weights and seed, not on the thread or process. Growing from
    weights is equivalent to fitting the template on repeated rows, except that every
    member knows all classes and levels.

    Parameters
    ----------
    template : tree estimator
        ID3Classifier, C45Classifier, CARTClassifier or CARTRegressor with the
        parameters of the members; it is not changed.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The training table.
    y : array-like of shape (n_samples,) or (n_samples, n_outputs)
        The target.
    owner : estimator, default=None
        The ensemble, whose attributes ``n_features_in_`` and ``feature_names_in_`` are
        set, and which is named in error messages about the table. None: a copy of the
        template.
    n_jobs : int, default=None
        Number of threads for encoding the table.
    max_bins : int, default=None
        Maximum number of bins of a numeric column. None: as the template has it.

    Attributes
    ----------
    reader : tree estimator
        Copy of the template with the columns and classes, but without a tree.
    rows : Rows
        The rows as read, with the weights of ``class_weight``.
    table : EncodedTable
        The encoded rows, for templates that grow over all rows.
    n_rows, n_columns : int
        Size of the table.
    """

    def __init__(
        self, template, X, y, *, owner=None, n_jobs=None, max_bins=None
    ) -> None:
        reader = clone(template)
        reader.n_jobs = n_jobs
        reader._check_parameters()
        self.pruner = resolve_pruner(reader.pruning)
        if self.pruner is not None:
            self.pruner.check_parameters()
        check_max_bins(max_bins)
        if max_bins is None:
            max_bins = reader.max_bins
        self.max_bins = max_bins
        self.is_sparse = issparse(X)
        rows, schema, n_threads = reader._read_training(
            X, y, None, is_classifier(reader), owner=owner
        )
        reader.schema_ = schema
        reader.n_jobs = template.n_jobs
        self.n_threads = n_threads
        self.reader, self.rows, self._plan = reader, rows, None
        # Raise errors about the table here, not in a thread.
        is_random = getattr(reader, "splitter", "best") == "random"
        owner = reader if owner is None else owner
        require_table_memory(owner, rows.table, is_random=is_random)
        reader._check_missing(self.table, self.is_sparse)
        reader.n_missing_ = np.array(self.table.n_missing)
        warn_of_memory(reader, self.n_rows)

    @cached_property
    def table(self):
        """The encoded table of all rows."""
        reader = self.reader
        return self._encode(self.rows, self.n_threads, reader.schema_)

    @property
    def n_rows(self):
        """Number of rows."""
        return self.rows.n_rows

    @property
    def n_columns(self):
        """Number of columns."""
        return self.rows.table.shape[1]

    def expect_many(self):
        """Prepare data that saves time only for many trees."""
        reader, rows, table = copy(self.reader), self.rows, self.table
        if not reader._grows_over_weightless_rows or table.level_codes is not None:
            return
        # All threads are used here; later each thread would repeat the work.
        rules = reader._resolve_rules(table, rows.target, rows.weight, rows.n_rows)
        self._prepare(table, rows.target, rules, self.n_threads)

    def grow(
        self,
        weight: np.ndarray | None = None,
        random_state: int = 0,
        *,
        columns: np.ndarray | None = None,
        target=None,
        pruner=None,
        estimates_empty_nodes: bool = False,
        n_threads: int = 1,
        design_effect: float = 1.0,
    ):
        """Grow one member."""
        member, rows, table = copy(self.reader), self.rows, None
        member.random_state = random_state
        member._design_effect = design_effect
        if pruner is None:
            pruner = self._seed_pruner(random_state)
        if pruner is not self.pruner:
            member.pruning = pruner
        target = rows.target if target is None else target
        weight = self._multiply(weight)
        rows = Rows(rows.table, target, weight, weight)
        if columns is not None:
            self._restrict(member, columns)
            if (
                pruner is not None
                or estimates_empty_nodes
                or (not member._grows_over_weightless_rows)
                or getattr(member, "leaf_model", "constant") != "constant"
            ):
                # The matrix is a copy that is not used elsewhere.
                rows = replace(rows, table=rows.matrix[:, columns])
        is_bag_pruner = isinstance(pruner, OutOfBagPruning)
        holds_out = pruner is not None and not is_bag_pruner
        out_of_bag = validation = None
        if is_bag_pruner or estimates_empty_nodes:
            out_of_bag = self._take_out_of_bag(rows)
        if is_bag_pruner:
            validation = out_of_bag
        if holds_out or not member._grows_over_weightless_rows:
            rows, given = self._keep_weighted(rows)
            if holds_out:
                rows, validation = member._hold_out(pruner, rows, self.is_sparse)
            table = self._encode(rows, n_threads, member.schema_)
        else:
            given = None
            table = self.table if columns is None else self.table.take_columns(columns)
        member._grow_and_prune(
            pruner, rows, table, validation, given, n_threads, self._grow_one
        )
        del member._design_effect  # no part of the fitted tree
        if estimates_empty_nodes:
            self._estimate_empty_nodes(member, out_of_bag)
        if member.tree_.node_count >= COMPACTED_NODES:
            member.tree_ = member.tree_.compact()
        return member

    def _grow_one(self, table, target, weight, rules, seed, n_threads):
        """Grow a tree."""
        plan = self._prepare(table, target, rules, n_threads)
        return plan.grow(weight, seed, n_threads, rules.design_effect)

    def _prepare(self, table, target, rules, n_threads):
        """Prepare the data common to all members once."""
        plan = self._plan
        if plan is None or (
            plan.table is not table or plan.target is not target or plan.rules != rules
        ):
            plan = GrowthPlan(
                table,
                target,
                rules,
                COMPACTED_NODES if self.pruner is None else None,
                n_threads,
            )
            if table is self.table and target is self.rows.target:
                self._plan = plan
        return plan

    def share(self, member):
        """Share the common objects with a member from another process."""
        for name in ("schema_", "classes_", "n_missing_", "feature_names_in_"):
            if hasattr(self.reader, name):
                setattr(member, name, getattr(self.reader, name))
        return member

    def _take_out_of_bag(self, rows):
        """Select the rows of weight 0, with the weights of their classes."""
        weight = rows.weight
        is_out = np.zeros(self.n_rows, bool) if weight is None else weight == 0
        return replace(rows, weight=self.rows.weight).take(is_out)

    def _estimate_empty_nodes(self, member, rows) -> None:
        """Estimate the empty nodes of a member from its out-of-bag rows."""
        tree = estimate_empty_nodes(
            member.tree_,
            rows.matrix,
            rows.target,
            rows.weight,
            criterion=member._criterion_name(),
        )
        if tree is not member.tree_:
            member.tree_ = RoutedTree.from_grown(tree)

    def _multiply(self, weight):
        """Combine weights with those of the classes."""
        of_class = self.rows.weight
        if weight is None:
            return of_class
        if self.pruner is not None or not self.reader._grows_over_weightless_rows:
            weight = np.asarray(weight, dtype=np.float64)
        return weight if of_class is None else weight * of_class

    def __getstate__(self):
        """Leave out the plan, which is made again in each process."""
        return vars(self) | {"_plan": None}

    def _restrict(self, member, columns) -> None:
        """Restrict a member to some columns."""
        names, has_names = member.schema_.names, hasattr(member, "feature_names_in_")
        member.schema_ = member.schema_.take_columns(columns)
        member.n_features_in_ = len(columns)
        member.n_missing_ = member.n_missing_[columns]
        if hasattr(member, "feature_names_in_"):
            member.feature_names_in_ = member.feature_names_in_[columns]
        if getattr(member, "monotonic_cst", None) is not None:
            signs = resolve_monotonic(member.monotonic_cst, names, has_names=has_names)
            member.monotonic_cst = np.array(signs)[columns]
        declared = member.categorical_features
        if declared is not None and not isinstance(declared, str):
            kinds = np.array(member.schema_.kinds)
            member.categorical_features = kinds != NUMERIC

    def _seed_pruner(self, random_state):
        """Copy a pruner with a random state, with a new seed."""
        if self.pruner is None or not hasattr(self.pruner, "random_state"):
            return self.pruner
        return clone(self.pruner).set_params(random_state=random_state)

    def _keep_weighted(self, rows):
        """Drop the rows of weight 0; also return a mask of the kept rows."""
        if rows.weight is None or (rows.weight > 0).all():
            return rows, None
        is_kept = rows.weight > 0
        return rows.take(is_kept), (is_kept, rows.target)

    def _encode(self, rows, n_threads, schema):
        return encode_table(
            rows.table,
            schema,
            n_threads,
            sorts_nominal=self.reader._sorts_nominal,
            max_bins=self.max_bins,
        )

    def __sizeof__(self):
        """Return the bytes of the arrays, for schedulers of clusters."""
        table = vars(self).get("table")
        arrays = [self.rows.table] if isinstance(self.rows.table, np.ndarray) else []
        if table is not None:
            arrays += [table.order, table.values]
        return sum(array.nbytes for array in arrays)
