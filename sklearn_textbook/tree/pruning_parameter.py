"""Mixins for the ``pruning`` parameter of the tree estimators."""

from __future__ import annotations

from copy import copy
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.sparse import issparse, vstack
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.costs import (
    find_altered_priors,
    get_costs,
    weigh_rows,
)
from sklearn_textbook._contract.labels import check_target, encode_known_labels
from sklearn_textbook._contract.monotonic import is_constrained
from sklearn_textbook._contract.scoring import read_columns
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.weights import apply_known_class_weight, check_weights
from sklearn_textbook.tree.grow.altered_priors import (
    multiply_classes,
    restore_priors,
)
from sklearn_textbook.tree.grow.target import Target
from sklearn_textbook.tree.prune import Rows, TrainingData, resolve_pruner
from sklearn_textbook.tree.route import RoutedTree, find_ends, predict_statistics


class NamedPruner:
    """Mixin for ``pruning__...`` parameters, also if the pruner is given by name."""

    def _takes_several_outputs(self):
        """Return whether y may have several columns."""
        pruner = resolve_pruner(self.pruning, strict=False)
        return pruner is None or pruner.takes_several_outputs

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Get the parameters, including those of the pruner if ``deep``.

        Parameters
        ----------
        deep : bool, default=True
            Whether to include the parameters of the pruner, as ``pruning__...``.

        Returns
        -------
        params : dict
            Names and values.
        """
        params = super().get_params(deep=deep)
        if deep and isinstance(self.pruning, str):
            pruner = resolve_pruner(self.pruning, strict=False)
            if pruner is not None:
                for name, value in pruner.get_params().items():
                    params[f"pruning__{name}"] = value
        return params

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``pruning__...`` replaces the name of a pruner by the pruner.

        Parameters
        ----------
        **params : dict
            Names and values.

        Returns
        -------
        self : estimator
            This estimator.

        Raises
        ------
        ValueError
            If there is no such parameter.
        """
        if any(name.startswith("pruning__") for name in params):
            pruning = params.get("pruning", self.pruning)
            if pruning is None:
                names = [name for name in params if name.startswith("pruning__")]
                raise ValueError(
                    f"Invalid parameter {names[0]!r} for {type(self).__name__}: its "
                    "'pruning' is None. First set 'pruning' to a pruner or its name."
                )
            if isinstance(pruning, str):
                params["pruning"] = resolve_pruner(pruning)
        return super().set_params(**params)


class PruningParameter(NamedPruner):
    """Mixin for validation rows and for pruning a fitted tree."""

    # ------------------------------------------------------------------------ rows
    def _check_validation(self, pruner, validation):
        """Raise ValueError for validation rows that the pruner would not use."""
        _require_whole(validation, suffix="_val")
        if validation[0] is None:
            return
        if pruner is None or pruner.uses_validation == "never":
            who = "pruning=None" if pruner is None else type(pruner).__name__
            raise ValueError(
                f"X_val was given, but {who} does not use validation rows; "
                'pruning="reduced_error", "pre_pruning" and "cost_complexity" do.'
            )

    def _read_rows(self, X, y, sample_weight, suffix: str = ""):
        """Read rows with the columns and classes that the estimator knows."""
        is_numeric = not hasattr(self, "classes_")
        y, sample_weight = read_columns(
            X, y, sample_weight, is_numeric=is_numeric, suffix=suffix
        )
        blocks = list(self._read_blocks(X))
        if len(blocks) == 1:
            matrix = blocks[0]
        else:
            join = vstack if any(map(issparse, blocks)) else np.concatenate
            matrix = join(blocks)
        name = f"y{suffix}"
        y = check_target(y, is_numeric=is_numeric, name=name)
        if y.shape != (matrix.shape[0], self.n_outputs_):
            raise ValueError(
                f"{name} must have shape {(matrix.shape[0], self.n_outputs_)}, for "
                f"{matrix.shape[0]} rows and {self.n_outputs_} outputs; got {y.shape}."
            )
        weight = sample_weight = check_weights(
            sample_weight, matrix.shape[0], f"sample_weight{suffix}"
        )
        if not is_numeric:
            classes = self._list_classes()
            codes = encode_known_labels(y, classes, name)
            n_classes = np.array([len(found) for found in classes], dtype=np.int64)
            labels = y[:, 0] if self.n_outputs_ == 1 else y
            weight = apply_known_class_weight(
                self.class_weight, classes, codes, labels, weight
            )
            target = Target(codes, None, n_classes)
            return Rows(matrix, target, weight, sample_weight)
        values = np.ascontiguousarray(y, dtype=np.float64)
        target = Target(None, values, np.ones(self.n_outputs_, dtype=np.int64))
        return Rows(matrix, target, weight, sample_weight)

    # -------------------------------------------------------------------- the stage
    def _run_pruner(self, pruner, tree, data, n_threads):
        """Prune the tree and set the attributes that describe the pruning."""
        of_class = None
        if data.costs is not None and pruner.uses_altered_priors:
            of_class = find_altered_priors(data.costs, tree.statistics[0, 0])
        if of_class is not None:
            tree = multiply_classes(tree, of_class)
            if data.rows is not None:
                codes = data.target.codes[:, 0]
                weight = weigh_rows(data.weight, codes, of_class)
                data = replace(data, rows=replace(data.rows, weight=weight))
        outcome = pruner.prune_grown(tree, data, n_threads)
        outcome = replace(outcome, tree=restore_priors(outcome.tree, of_class))
        self.pruning_report_ = outcome.report
        if outcome.path is not None:
            self.pruning_path_ = outcome.path
        return outcome.tree

    def _make_training_data(self, rows, table, validation, grow, given, n_threads):
        """Bundle the rows with what pruners need from this estimator."""

        def ends(tree, matrix):
            return find_ends(tree, matrix, n_threads, self.schema_.names)

        return TrainingData(
            rows,
            table,
            criterion=self._criterion_name(),
            validation=validation,
            find_ends=ends,
            choose_classes=getattr(self, "_choose_classes", None),
            grow=grow,
            stand_in=self._make_stand_in,
            given=given,
            is_monotonic=is_constrained(getattr(self, "monotonic_cst", None)),
            costs=get_costs(self),
        )

    def _make_stand_in(self, tree, matrix, gather):
        """Copy this estimator with another tree and the known leaves of some rows.

        Scorers may call any of its methods; predictions for exactly these rows are
        looked up instead of routed.
        """
        stand_in = copy(self)
        stand_in.tree_ = RoutedTree.from_grown(tree)

        def route(function, X, join=np.concatenate, tree=None):
            tree = stand_in.tree_ if tree is None else tree
            if X is matrix and function is predict_statistics:
                return gather(tree)
            if isinstance(X, np.ndarray) or issparse(X):
                # Rows of the matrix, which has been validated already.
                return function(tree, X, feature_names=self.schema_.names)
            return type(self)._route(stand_in, function, X, join, tree)

        stand_in._route = route
        return stand_in

    def _draw_fold_seed(self, rows, table):
        """Draw the seed of the trees of folds, from a copy of the random state."""
        rules = self._resolve_rules(table, rows.target, rows.weight, rows.n_rows)
        return clone(self)._draw_seed(rules, table.n_columns)

    def _prune_fitted(self, pruner, training, validation):
        """Return a fitted copy whose tree a pruner has pruned."""
        check_is_fitted(self)
        pruner.check_parameters()
        self._check_validation(pruner, validation)
        _require_whole(training)
        if validation[0] is not None:
            validation = self._read_rows(*validation, suffix="_val")
        else:
            validation = None
        rows = table = grow = given = None
        n_values = 1 if validation is None else validation.matrix.size
        n_threads = count_threads(self.n_jobs, n_values)
        if training[0] is not None:
            rows = self._read_rows(*training)
            _require_grown(self.tree_, rows.weight, rows.n_rows)
            rows, given = self._select_rows(rows)
            n_threads = count_threads(self.n_jobs, rows.matrix.size)
            table = self._encode(rows, n_threads)
            grow = self._plan_folds(rows, table, self._draw_fold_seed(rows, table))
        data = self._make_training_data(rows, table, validation, grow, given, n_threads)
        pruned = clone(self)
        vars(pruned).update(vars(self))
        pruned.pruning = clone(pruner)
        if hasattr(pruned, "ccp_alpha"):
            pruned.ccp_alpha = 0.0  # as fit allows only one of the two
        for name in ("pruning_path_", "pruning_report_"):
            vars(pruned).pop(name, None)
        tree = pruned._run_pruner(pruner, self.tree_, data, n_threads)
        pruned.tree_ = RoutedTree.from_grown(tree)
        return pruned


def _require_grown(tree, weight, n_rows) -> None:
    """Raise ValueError for rows that cannot be the training rows of the tree."""
    n_used = n_rows if weight is None else np.count_nonzero(weight > 0.0)
    n_grown = tree.nodes["n_samples"][0]
    if n_used != n_grown:
        raise ValueError(
            f"The tree was grown from {n_grown} rows, but X has {n_used} rows of "
            "positive weight. Give the training rows, without held-out rows, as X and "
            "y, and other rows as X_val and y_val."
        )


def _require_whole(rows, suffix: str = "") -> None:
    """Raise ValueError if only one of the table and the target is given."""
    X, y, weight = rows
    if X is not None and y is None:
        raise ValueError(f"X{suffix} was given without y{suffix}.")
    if X is None and (y is not None or weight is not None):
        given = "y" if y is not None else "sample_weight"
        raise ValueError(f"{given}{suffix} was given without X{suffix}.")
