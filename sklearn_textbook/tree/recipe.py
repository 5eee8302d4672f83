"""Base class of the tree estimators: reading tables, routing and explaining."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.base import BaseEstimator, clone
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted, validate_data

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook._contract.costs import (
    choose_classes,
    find_altered_priors,
    get_costs,
    weigh_rows,
)
from sklearn_textbook._contract.labels import (
    check_numbers,
    check_target,
    decode_dictionary,
    decode_labels,
    encode_labels,
    split_probabilities,
    take_logarithms,
)
from sklearn_textbook._contract.memory import warn_of_memory
from sklearn_textbook._contract.numeric_table import check_columns
from sklearn_textbook._contract.random_state import borrow_random_state
from sklearn_textbook._contract.tables import open_lazy_table
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import apply_class_weight, check_weights
from sklearn_textbook.tree.encode import encode_table, read_training_table
from sklearn_textbook.tree.encode.block_columns import store_blocks
from sklearn_textbook.tree.encode.rank import require_table_memory
from sklearn_textbook.tree.encode.read import warn_of_identifiers
from sklearn_textbook.tree.explain.lazy_rules import LazyRules
from sklearn_textbook.tree.explain.neighbours import find_training_neighbours
from sklearn_textbook.tree.explain.page.notebook import PageReprMixin
from sklearn_textbook.tree.grow.altered_priors import restore_priors
from sklearn_textbook.tree.grow.grown_tree import GrownTree
from sklearn_textbook.tree.grow.plan import grow_tree
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.prune import Rows, merge_equal_leaves, resolve_pruner
from sklearn_textbook.tree.pruning_parameter import PruningParameter
from sklearn_textbook.tree.route import (
    MemberSum,
    RoutedTree,
    find_decision_path,
    find_leaves,
    predict_statistics,
)

if TYPE_CHECKING:
    from scipy.sparse import sparray, spmatrix

LARGEST_SEED = np.iinfo(np.int32).max
#: No validation rows: neither a table nor a target nor weights.
NO_ROWS = (None, None, None)


class BaseTree(PruningParameter, PageReprMixin, BaseEstimator, ABC):
    """Base class of the tree estimators.

    Subclasses define in ``_grow`` how the tree is grown.
    """

    _store_blocks = store_blocks
    # Whether growth needs nominal columns in sorted order.
    _sorts_nominal = True
    # Whether a tree of a subset of the rows can be grown over the sorted columns of all
    # rows: rows of weight 0 must then not affect the tree.
    _grows_over_weightless_rows = True
    # A class is predicted instead of an earlier one only if its probability is larger
    # by more than this.
    _class_tolerance = 0.0
    # Of trees without this parameter.
    max_bins: int | None = None

    @abstractmethod
    def _check_parameters(self):
        """Raise ValueError for invalid parameters."""

    @abstractmethod
    def _resolve_rules(self, table, target, weight, n_rows):
        """Return the GrowthRules of this estimator for ``n_rows`` rows of a table."""

    @abstractmethod
    def _criterion_name(self):
        """Return the name of the impurity stored in the nodes."""

    def _finish_growth(self, tree, pruner, rows, n_threads):
        """Apply the growth parameters that work on the grown tree."""
        return tree

    def _fit_tree(self, X, y, sample_weight, validation=NO_ROWS, *, is_classifier):
        """Read the table and the target, grow the tree and prune it."""
        self._check_parameters()
        pruner = resolve_pruner(self.pruning)
        if pruner is not None:
            pruner.check_parameters()
        self._check_validation(pruner, validation)
        rows, schema, n_threads = self._read_training(
            X, y, sample_weight, is_classifier
        )
        self.schema_ = schema
        rows, given = self._select_rows(rows)
        if validation[0] is not None:
            validation = self._read_rows(*validation, suffix="_val")
        else:
            rows, validation = self._hold_out(pruner, rows, issparse(X))
        is_random = getattr(self, "splitter", "best") == "random"
        require_table_memory(self, rows.table, is_random=is_random, is_alone=True)
        table = self._encode(rows, n_threads)
        self._check_missing(table, issparse(X))
        self.n_missing_ = np.array(table.n_missing)
        self._warn_before_growth(table, rows.target, rows.weight)
        warn_of_memory(self, rows.n_rows)
        self._grow_and_prune(pruner, rows, table, validation, given, n_threads)
        self._neighbours = find_training_neighbours(self.tree_, table)
        self._warn_after_growth()
        return self

    def _grow_and_prune(
        self, pruner, rows, table, validation, given, n_threads, grow_one=None
    ) -> None:
        """Grow the tree from encoded rows, and prune it.

        ``grow_one``, if given, grows it like ``_grow``.
        """
        grow_one = self._grow if grow_one is None else grow_one
        rules = self._resolve_rules(table, rows.target, rows.weight, rows.n_rows)
        seed = self._draw_seed(rules, table.n_columns)
        of_class = self._find_altered_priors(rows)
        tree = self._grow_by_priors(
            grow_one, rows, table, of_class, rules, pruner, seed, n_threads
        )
        for name in ("pruning_path_", "pruning_report_"):
            vars(self).pop(name, None)
        if pruner is not None:
            grow = self._plan_folds(rows, table, seed)
            data = self._make_training_data(
                rows, table, validation, grow, given, n_threads
            )
            tree = self._run_pruner(pruner, tree, data, n_threads)
        self.tree_ = RoutedTree.from_grown(tree)

    def _read_training(self, X, y, sample_weight, is_classifier, owner=None):
        """Read the rows and the columns, and choose the number of threads.

        An ensemble of such trees passes the columns of its table.
        """
        owner = self if owner is None else owner
        if y is None:
            # scikit-learn raises its usual message.
            validate_data(owner, X, y, skip_check_array=True)
        y = self._check_target(y, is_classifier=is_classifier)
        matrix, schema = self._read_table(X)
        check_columns(owner, X, y)
        for name in ("n_features_in_", "feature_names_in_"):
            if owner is not self and hasattr(owner, name):
                setattr(self, name, getattr(owner, name))
        n_rows, n_columns = matrix.shape
        warn_of_identifiers(schema, n_rows)
        n_threads = count_threads(self.n_jobs, n_rows * n_columns)
        if len(y) != n_rows:
            raise ValueError(
                f"Number of labels={len(y)} does not match number of samples={n_rows}."
            )
        target = self._read_target(y, is_classifier=is_classifier)
        weight = sample_weight = check_weights(sample_weight, n_rows)
        if is_classifier:
            labels = y[:, 0] if self.n_outputs_ == 1 else y
            weight = apply_class_weight(self.class_weight, labels, weight)
        return Rows(matrix, target, weight, sample_weight), schema, n_threads

    def _hold_out(self, pruner, rows, is_sparse):
        """Divide the rows into training and validation rows."""
        is_held_out = None
        if pruner is not None:
            is_held_out = pruner.choose_held_out(rows.target, rows.weight)
        if is_held_out is None:
            return rows, None
        validation = rows.take(is_held_out)
        if is_sparse or self.missing == "error":
            self._require_present(validation.matrix, self.schema_.names, is_sparse)
        return rows.take(~is_held_out), validation

    def _encode(self, rows, n_threads):
        """Encode and sort the columns of the rows."""
        return encode_table(
            rows.table,
            self.schema_,
            n_threads,
            sorts_nominal=self._sorts_nominal,
            max_bins=self.max_bins,
        )

    def _draw_seed(self, rules, n_columns):
        """Draw a seed if growth is random."""
        if (
            rules.random_splitter
            or rules.shuffles_columns
            or rules.top_splits > 1
            or rules.max_features < n_columns
        ):
            return borrow_random_state(self.random_state).randint(LARGEST_SEED)
        return 0

    def _grow(self, table, target, weight, rules, seed, n_threads):
        """Grow one tree."""
        return grow_tree(
            table,
            target,
            rules,
            sample_weight=weight,
            random_state=seed,
            n_threads=n_threads,
        )

    def _find_altered_priors(self, rows):
        """Find the factors of the classes' weights for growth; None: all 1."""
        costs = get_costs(self)
        if costs is None:
            return None
        codes = rows.target.codes[:, 0]
        totals = np.bincount(codes, weights=rows.weight, minlength=len(costs))
        return find_altered_priors(costs, totals)

    def _grow_by_priors(
        self, grow_one, rows, table, of_class, rules, pruner, seed, n_threads
    ) -> GrownTree:
        """Grow a tree with the weights of the classes multiplied by factors."""
        weight = rows.weight
        if of_class is not None:
            weight = weigh_rows(weight, rows.target.codes[:, 0], of_class)
        tree = grow_one(table, rows.target, weight, rules, seed, n_threads)
        tree = self._finish_growth(tree, pruner, rows, n_threads)
        return restore_priors(tree, of_class)

    def _plan_folds(self, rows, table, seed):
        """Make the function that grows a tree from a subset of the rows.

        It may be called from several threads at once.
        """
        # Priors are those of all rows, as in rpart.
        of_class = self._find_altered_priors(rows)

        def grow(is_kept, n_threads=1):
            kept, kept_table = rows, table
            n_rows = int(np.count_nonzero(is_kept))
            if self._grows_over_weightless_rows:
                weight = np.ones(rows.n_rows) if rows.weight is None else rows.weight
                kept = Rows(rows.table, rows.target, np.where(is_kept, weight, 0.0))
            else:
                kept = rows.take(is_kept)
                kept_table = self._encode(kept, n_threads)
            rules = self._resolve_rules(kept_table, kept.target, kept.weight, n_rows)
            pruner = resolve_pruner(self.pruning)
            return self._grow_by_priors(
                *(self._grow, kept, kept_table, of_class),
                *(rules, pruner, seed, n_threads),
            )

        return grow

    def _warn_before_growth(self, table, target, weight):
        """Warn about rows from which no tree can grow."""

    def _warn_after_growth(self):
        """Warn about what is doubtful in the tree."""

    def _check_target(self, y, *, is_classifier):
        """Read the target; raise ValueError if it is not supported."""
        if not self._takes_several_outputs():
            y = decode_dictionary(y) if is_classifier else check_numbers(y)
            y = column_or_1d(y, warn=True)
        return check_target(y, is_numeric=not is_classifier)

    def _select_rows(self, rows):
        """Choose the rows to train on, and return which of the given ones they are."""
        return rows, None

    def _read_table(self, X):
        return read_training_table(X, self.categorical_features)

    def _read_target(self, y, *, is_classifier):
        """Set the attributes that describe the target."""
        self.n_outputs_ = y.shape[1]
        if not is_classifier:
            values = np.ascontiguousarray(y, dtype=np.float64)
            return Target(None, values, np.ones(self.n_outputs_, dtype=np.int64))
        classes, codes = encode_labels(y)
        n_classes = np.array([len(found) for found in classes], dtype=np.int64)
        single = self.n_outputs_ == 1
        self.classes_ = classes[0] if single else classes
        self.n_classes_ = int(n_classes[0]) if single else n_classes.astype(np.intp)
        get_costs(self)  # raises ValueError for costs that do not fit the classes
        return Target(codes, None, n_classes)

    def _check_missing(self, table, is_sparse) -> None:
        """Raise ValueError for missing values where they are not allowed."""
        if table.n_missing.any() and (is_sparse or self.missing == "error"):
            column = int(np.flatnonzero(table.n_missing)[0])
            raise self._missing_error(table.schema.names[column], is_sparse)

    def _missing_error(self, name, is_sparse):
        why = 'which missing="error" does not allow'
        if is_sparse:
            why = "which a sparse table must not have: its unstored entries are zeros"
        return ValueError(
            f"Input X contains NaN or other missing values in column {name!r}, {why}."
        )

    def _require_present(self, matrix, names, is_sparse) -> None:
        """Raise ValueError for a table with missing values."""
        if issparse(matrix):
            matrix = matrix.tocoo()
            is_missing = np.zeros(matrix.shape[1], dtype=bool)
            is_missing[matrix.coords[1][np.isnan(matrix.data)]] = True
        else:
            is_missing = np.isnan(matrix).any(axis=0)
        if is_missing.any():
            raise self._missing_error(names[int(np.argmax(is_missing))], is_sparse)

    def _read_blocks(self, X, owner=None):
        """Read a new table as numbers and codes; a sparse one in blocks of rows."""
        X = open_lazy_table(X)
        if isinstance(X, BlockSource):
            for block in X.read_blocks(self._list_names(X, owner)):
                yield from self._read_blocks(block, owner)
            return
        check_columns(self if owner is None else owner, X, reset=False)
        for _, matrix in self.schema_.read_blocks(X):
            if self.missing == "error" or issparse(X):
                self._require_present(matrix, self.schema_.names, issparse(X))
            yield matrix

    def _list_names(self, source, owner=None) -> list[str]:
        """List the columns of the model, to be read from a table in blocks."""
        names = getattr(self if owner is None else owner, "feature_names_in_", None)
        if names is None:
            raise ValueError(
                f"{source._describe()} has names of columns, but "
                f"{type(self).__name__} was fitted to a table without them."
            )
        return names.tolist()

    def _route(self, function, X, join=np.concatenate, tree=None):
        """Call a routing function on a new table."""
        check_is_fitted(self)
        parts = [
            function(
                self.tree_ if tree is None else tree,
                matrix,
                n_threads=count_threads(self.n_jobs, matrix.size),
                feature_names=self.schema_.names,
            )
            for matrix in self._read_blocks(X)
        ]
        return parts[0] if len(parts) == 1 else join(parts)

    def _predict_statistics(self, X):
        return self._route(predict_statistics, X)

    # ------------------------------------------------------------ public methods
    def apply(self, X: MatrixLike) -> np.ndarray:
        """Return the number of the node in which each row ends.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        nodes : ndarray of int64, shape (n_samples,)
            Node numbers in ``tree_``: a leaf, or an inner node if the row has a missing
            value or unseen level without a branch there.
        """
        return self._route(find_leaves, X)

    def decision_path(self, X: MatrixLike) -> spmatrix | sparray:
        """Return the decision path of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        indicator : csr_matrix or csr_array of shape (n_samples, node_count)
            Nonzero elements indicate the nodes that the row passes through.
        """
        return self._route(find_decision_path, X, partial(vstack, format="csr"))

    def get_depth(self) -> int:
        """Return the depth of the tree: the largest distance of a leaf from the root.

        Returns
        -------
        depth : int
            The depth; 0 for a single leaf.
        """
        check_is_fitted(self)
        return self.tree_.max_depth

    def get_n_leaves(self) -> int:
        """Return the number of leaves.

        Returns
        -------
        n_leaves : int
            Number of leaves.
        """
        check_is_fitted(self)
        return self.tree_.n_leaves

    def _describe_sum(self) -> MemberSum:
        """Describe the sum over trees that the model is: that of one tree."""
        return MemberSum([self], self, [None], tolerance=self._class_tolerance)

    @property
    def feature_importances_(self) -> np.ndarray:
        """Impurity-based importance of each column, normalized to sum to 1.

        Returns
        -------
        importances : ndarray of float64, shape (n_features,)
            All zero if the tree has no split.
        """
        check_is_fitted(self)
        return self.tree_.compute_feature_importances()

    @property
    def rules_(self) -> LazyRules:
        """If-then rules, one per leaf, as a sequence of dictionaries.

        One rule follows for each inner node in which a row may end because of an unseen
        level (``handle_unknown="parent"``) or a missing value without a branch. The
        rules are computed on first access; see
        :func:`~sklearn_textbook.tree.export_rules` for other formats.
        """
        check_is_fitted(self)
        return LazyRules(
            self.tree_,
            self.schema_,
            getattr(self, "classes_", None),
            class_tolerance=self._class_tolerance,
            costs=get_costs(self),
        )

    def simplify(self) -> Self:
        """Return a copy without the splits whose leaves all predict the same.

        ``predict`` does not change for rows whose tested values are all known;
        ``predict_proba`` becomes that of the merged leaf. The class of a row that is
        divided among branches may change, since the merged leaf takes part in its
        average.

        Returns
        -------
        estimator : estimator of the same class
            A fitted copy with the smaller tree.
        """
        check_is_fitted(self)
        copy = clone(self)
        vars(copy).update(vars(self))
        decisions = None
        if get_costs(self) is not None:
            decisions = self._choose_classes(self.tree_.value)
        copy.tree_ = RoutedTree.from_grown(merge_equal_leaves(self.tree_, decisions))
        # The report refers to nodes of the tree before this.
        vars(copy).pop("pruning_report_", None)
        return copy

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.categorical = True
        tags.input_tags.string = True
        tags.input_tags.allow_nan = self.missing != "error"
        tags.target_tags.multi_output = self._takes_several_outputs()
        return tags


class TreeClassifierMethods:
    """Mixin for the prediction of classes."""

    def _choose_classes(self, probabilities):
        """Return the index of the predicted class for every row and output."""
        costs = get_costs(self)
        if costs is None:
            return probabilities.argmax(axis=2)
        return choose_classes(probabilities[:, 0], costs)[:, np.newaxis]

    def _list_classes(self):
        """List the classes of each output."""
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def _share_statistics(self):
        """Return the tree whose statistics, normalized, are the probabilities."""
        check_is_fitted(self)
        return self.tree_

    def predict_proba(self, X: MatrixLike) -> np.ndarray | Any:
        """Predict class probabilities: the class fractions in the leaf of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        proba : ndarray of shape (n_samples, n_classes), or list of such arrays
            Weighted fractions of the training rows, in the order of ``classes_``; a
            list for several outputs.
        """
        probabilities = self._route(
            predict_statistics, X, tree=self._share_statistics()
        )
        return split_probabilities(probabilities, self.n_classes_)

    def predict_log_proba(self, X: MatrixLike) -> np.ndarray | Any:
        """Predict class log-probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        log_proba : ndarray of shape (n_samples, n_classes), or list of such arrays
            Natural logarithms of the probabilities; ``-inf`` where one is 0.
        """
        return take_logarithms(self.predict_proba(X))

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the most probable class of each row; ties go to the first class.

        With ``cost_matrix``, it is the class with the least expected cost.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            Class labels.
        """
        probabilities = self._predict_statistics(X)
        best = self._choose_classes(probabilities)
        return decode_labels(best, self._list_classes())


class TreeRegressorMethods:
    """Mixin for the prediction of values."""

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the value of each row: the mean or median of its leaf.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of float64, shape (n_samples,) or (n_samples, n_outputs)
            Values.
        """
        values = self._predict_statistics(X)[:, :, 0]
        return values[:, 0] if self.n_outputs_ == 1 else values
