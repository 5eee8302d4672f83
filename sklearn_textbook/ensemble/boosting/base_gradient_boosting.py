"""Base class of gradient boosting, for values and for classes."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import ExitStack, closing
from functools import partial
from itertools import combinations
from math import ceil
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import check_consistent_length, check_random_state, get_tags
from sklearn.utils.validation import check_is_fitted, has_fit_parameter

from sklearn_textbook._contract.blocks import BlockSource, add_up
from sklearn_textbook._contract.dask_frames import find_client, refuse_on_workers
from sklearn_textbook._contract.fitting import (
    CallbackSupportMixin,
    all_or_nothing,
    with_callbacks,
)
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_deprecated,
    check_integer,
    check_random_seed,
    check_real,
    check_smoothing,
    check_truth,
    check_verbose,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook._contract.tables import check_sparse_format
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.ensemble.boosting.dask_rounds import DaskRounds
from sklearn_textbook.ensemble.boosting.hold_out import (
    HoldOutDraw,
    TrainingRows,
    choose_held_rows,
)
from sklearn_textbook.ensemble.boosting.losses import Loss
from sklearn_textbook.ensemble.boosting.rounds import (
    BlockRounds,
    BlockScores,
    EarlyStopping,
    GradientRounds,
    Scores,
    grow_round,
)
from sklearn_textbook.ensemble.boosting.staged_mixins import StagedPredictionMixin
from sklearn_textbook.ensemble.conformal import KEPT_CALIBRATION, is_calibrated
from sklearn_textbook.ensemble.members.estimator_members import take_rows
from sklearn_textbook.ensemble.members.growth import grow_aside
from sklearn_textbook.ensemble.members.member_list import (
    MemberList,
    TreeListMixin,
    count_lacking,
    warn_of_no_lack,
    yield_until_stopped,
)
from sklearn_textbook.ensemble.resample import draw_seeds
from sklearn_textbook.tree import CARTRegressor
from sklearn_textbook.tree.members import (
    BlockBoostingGrower,
    BoostingGrower,
    DaskColumns,
    MemberSum,
    add_predictions,
    encode_blocks,
    encode_dask_columns,
    read_block_columns,
    read_blocks,
    read_dask_columns,
    read_matrix,
    store_rows,
)


def list_groups(
    interaction_cst: str | Sequence, names: Sequence[str]
) -> list[list[int]]:
    """List the groups of columns that may be tested on the same path."""
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


#: Parameters that the trees have under the same names.
TREE_PARAMETERS = (
    "max_depth",
    "max_leaf_nodes",
    "min_samples_split",
    "min_samples_leaf",
    "min_impurity_decrease",
    "max_features",
    "monotonic_cst",
    "categorical_features",
    "categorical_smoothing",
    "missing",
)


class BaseGradientBoosting(
    StagedPredictionMixin,
    TreeListMixin,
    MemberList,
    CallbackSupportMixin,
    BaseEstimator,
    ABC,
):
    """Fitting and adding trees; what differs is the target and the loss."""

    _fits_blocks = True
    _saved_fields = (
        SavedField("n_estimators_", "integer", least=1),
        SavedField("loss_", "part"),
        SavedField("_start_score", shape=(None,)),
        SavedField("train_score_", shape=("n_estimators_",)),
        SavedField("validation_score_", shape=(None,), is_optional=True),
        SavedField("oob_scores_", shape=("n_estimators_",), is_optional=True),
        SavedField("oob_improvement_", shape=("n_estimators_",), is_optional=True),
        SavedField("oob_score_", is_optional=True),
        KEPT_CALIBRATION,
    )

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        check_integer("n_estimators", self.n_estimators, 1)
        check_real("learning_rate", self.learning_rate, 0.0)
        check_real("subsample", self.subsample, 0.0, 1.0)
        if not self.subsample > 0:
            raise ValueError(
                f"The 'subsample' parameter must be above 0; got {self.subsample!r}."
            )
        check_real("ccp_alpha", self.ccp_alpha, 0.0)
        check_real("min_weight_fraction_leaf", self.min_weight_fraction_leaf, 0.0, 0.5)
        check_deprecated(
            "criterion",
            self.criterion,
            ("friedman_mse", "squared_error"),
            "1.9. Leave it out: both choose the same splits.",
        )
        check_choice("missing", self.missing, ("learned", "error"))
        check_real("l2_regularization", self.l2_regularization, 0.0)
        check_smoothing(self.categorical_smoothing)
        check_integer("n_iter_no_change", self.n_iter_no_change, 1, accepts_none=True)
        check_real("validation_fraction", self.validation_fraction, 0.0, 1.0)
        check_real("tol", self.tol, 0.0)
        check_truth("warm_start", self.warm_start)
        check_random_seed("random_state", self.random_state)
        check_verbose(self.verbose)
        check_n_jobs(self.n_jobs)
        check_truth("store_distribution", self.store_distribution)
        if self.store_distribution and self.n_iter_no_change is None:
            raise ValueError(
                "store_distribution=True requires validation rows, and thus "
                "n_iter_no_change, which is None."
            )
        if isinstance(self.interaction_cst, str):
            check_choice(
                "interaction_cst", self.interaction_cst, ("pairwise", "no_interactions")
            )
        self._check_init()

    def _check_init(self):
        init = self.init
        if init is None or (isinstance(init, str) and init == "zero"):
            return
        method = "predict_proba" if is_classifier(self) else "predict"
        if isinstance(init, (str, type)) or not (
            hasattr(init, "fit") and hasattr(init, method)
        ):
            raise ValueError(
                "The 'init' parameter must be None, 'zero' or an estimator with 'fit' "
                f"and '{method}'; got {init!r}."
            )

    def _make_template(self):
        """Make the tree of which members are copies."""
        return CARTRegressor(**{name: getattr(self, name) for name in TREE_PARAMETERS})

    @abstractmethod
    def _read_target(self, y):
        """Check the target; classes become codes."""

    @abstractmethod
    def _read_block_target(self, columns) -> None:
        """Check the target of a table that is read in blocks; classes become codes."""

    @abstractmethod
    def _encode_known(self, y, name: str = "y_val"):
        """Check the target of rows that take no part in the fit."""

    @abstractmethod
    def _make_loss(self):
        """Make the loss of a name; ``self.classes_`` is known."""

    def _weigh(self, y, weight):
        """Combine weights of rows and classes."""
        return weight

    @abstractmethod
    def _score_init(self, X):
        """Raw scores by the estimator ``init_``, of shape (n_scores, n_rows)."""

    # --------------------------------------------------------------------- fitting
    @all_or_nothing
    @with_callbacks
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        X_val: MatrixLike | None = None,
        y_val: ArrayLike | None = None,
        sample_weight_val: ArrayLike | None = None,
    ) -> Self:
        """Fit the trees round by round.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training table. Or a table that is read in blocks: what
            :func:`~sklearn_textbook.io.scan` returns, a LazyFrame of polars, a Dataset
            of pyarrow or a data frame of Dask; an estimator given as ``init`` reads it
            again. If there is a current client of Dask, its workers fit the trees to a
            data frame of Dask, whatever ``n_jobs`` is. They do not support quantile
            losses, an estimator as ``init``, more trees with ``warm_start``, validation
            rows held out from the training table, a limit of memory, or
            ``min_weight_fraction_leaf`` with unequal weights, except for losses with
            constant second derivatives; without a client, all of these work.
        y : array-like of shape (n_samples,), or str
            The target; of a table in blocks, the name of its column.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows; rows of weight 0 are ignored. Of a table in blocks, the
            name of their column.
        X_val, y_val : array-like, default=None
            Validation rows for ``n_iter_no_change``; or a table in blocks, and the name
            of its target. None: the fraction ``validation_fraction`` of the training
            rows is held out.
        sample_weight_val : array-like of shape (n_val,), default=None
            Weights of the validation rows; of a table in blocks, the name of their
            column.

        Returns
        -------
        self : estimator
            The fitted ensemble.

        Raises
        ------
        ValueError
            If a parameter, the table, the target or a weight is invalid.

        Warns
        -----
        FutureWarning
            If ``criterion`` is given.
        """
        self._check_parameters()
        metadata = None if sample_weight is None else {"sample_weight": sample_weight}
        if not self.warm_start:
            vars(self).pop("estimators_", None)
        done = list(getattr(self, "estimators_", ()))
        n_new = count_lacking(self.n_estimators, len(done))
        context = self._init_callback_context(max_subtasks=n_new)
        hooks = {"estimator": self, "X": X, "y": y, "metadata": metadata}
        context.call_on_fit_task_begin(**hooks)
        validation = (X_val, y_val, sample_weight_val)
        if isinstance(X, BlockSource):
            self._fit_blocks(X, y, sample_weight, validation, done, context, hooks)
            context.call_on_fit_task_end(**hooks)
            return self
        if y is not None:
            y = self._read_target(y)
            (X, y, sample_weight), validation = self._hold_out(
                X, y, sample_weight, validation
            )
        grower = self._read_table(X, y)
        weight = self._weigh(y, check_weights(sample_weight, grower.n_rows))
        if not done:
            is_own = isinstance(self.loss, Loss)
            self.loss_ = clone(self.loss) if is_own else self._make_loss()
        grower.prepare(weight, **self._limit_leaves_of(weight, grower.n_rows))
        if n_new == 0:
            warn_of_no_lack()
        else:
            rounds = self._start_rounds(grower, X, y, weight, done)
            self._run_rounds(rounds, validation, done, context, hooks)
        # After an interruption a round may still be under way, which needs its threads;
        # they end with the grower then.
        grower.close()
        context.call_on_fit_task_end(**hooks)
        return self

    def _fit_blocks(
        self, source, target, sample_weight, validation, done, context, hooks
    ) -> None:
        """Fit to a table that is read in blocks."""
        self._require_blocks()
        client = None if source._dask_frame is None else find_client()
        if client is not None:
            self._require_workable(source, validation, done)
        (source, target, sample_weight), validation = self._hold_out(
            source, target, sample_weight, validation
        )
        read = (
            read_block_columns if client is None else partial(read_dask_columns, client)
        )
        columns = read(
            source,
            target,
            sample_weight,
            self.categorical_features,
            is_numeric=not is_classifier(self),
        )
        with closing(columns), ExitStack() as ends:
            rounds = self._start_block_rounds(columns, done)
            ends.callback(rounds.close)
            if self.n_estimators == len(done):
                warn_of_no_lack()
                return
            if self.init_ is not None and not done:
                self.init_.fit(source, target, sample_weight)
            self._score_start(source, rounds.scores)
            if done:
                before = [member.tree_ for members in done for member in members]
                names = rounds.grower.reader.schema_.names
                rounds.scores.add(before, names, rounds.grower.n_threads)
            self._run_rounds(rounds, validation, done, context, hooks)

    def _require_blocks(self) -> None:
        """Require parameters with which a table can be read in blocks."""
        if self.init is None or isinstance(self.init, str):
            return
        if not getattr(self.init, "_fits_blocks", False):
            raise ValueError(
                "A table that is read in blocks requires init=None, 'zero' or an "
                f"estimator that is fitted to such tables, got {self.init!r}."
            )
        if getattr(self, "class_weight", None) is not None:
            raise ValueError(
                "A table that is read in blocks requires class_weight=None with the "
                f"estimator {self.init!r} as init, since it is fitted to the same "
                f"weights; got {self.class_weight!r}. Give sample_weight."
            )

    def _require_workable(self, source, validation, done) -> None:
        """Require what the workers of a Dask client can do."""
        if not (self.init is None or isinstance(self.init, str)):
            refuse_on_workers("init=None or 'zero'", self.init)
        if done:
            refuse_on_workers(
                "warm_start=False, or an estimator that is not fitted", True
            )
        if self.n_iter_no_change is not None and validation[0] is None:
            refuse_on_workers("X_val and y_val with n_iter_no_change", None)
        if source.memory_limit is not None:
            refuse_on_workers("memory_limit=None", source.memory_limit)
        if self.store_distribution:
            refuse_on_workers("store_distribution=False", True)

    def _score_start(self, source, scores) -> None:
        """Set the scores before the first round of rows that are in files."""
        if self.init_ is None:
            return
        n_rows = 0
        for block in source.read_blocks(self.feature_names_in_.tolist()):
            found = np.asarray(self._score_init(block), dtype=np.float64)
            for raw, values in zip(scores.raw, found, strict=True):
                raw.write(n_rows, values)
            n_rows += found.shape[1]
        if n_rows != scores.rows.n_rows:
            raise ValueError(
                f"{source._describe()} had {scores.rows.n_rows} rows when it was first "
                f"read, and {n_rows} when it was read for init={self.init!r}."
            )

    def _start_block_rounds(self, columns, done) -> BlockRounds:
        """Prepare the rounds over the columns of a table in files."""
        self._read_block_target(columns)
        total_weight, n_weighted = columns.measure_weights()
        if not done:
            is_own = isinstance(self.loss, Loss)
            self.loss_ = clone(self.loss) if is_own else self._make_loss()
        self.loss_._require_blocks()
        rounds_class, encode = BlockRounds, encode_blocks
        with_workers = isinstance(columns, DaskColumns)
        if with_workers:
            rounds_class, encode = DaskRounds, encode_dask_columns
            if not (self.loss_.has_newton_leaves or self.loss_.has_leaf_sums):
                refuse_on_workers(
                    "a loss whose leaves follow from sums over their rows", self.loss_
                )
        grower = self._open_grower(BlockBoostingGrower, columns, encode=encode)
        lowest, highest = 1.0, 1.0
        if columns.has_weights and self.min_weight_fraction_leaf:
            lowest, highest = grower.measure_weights()
        limits = self._limit_leaves(
            *(total_weight, n_weighted, lowest == highest),
            self._refuse_limit if with_workers else grower.sort_weights,
        )
        grower.prepare_blocks(total_weight, n_weighted, **limits)
        for _ in columns.map_targets(self.loss_._require_block):
            pass
        if not done:
            self.init_, self._start_score = None, np.zeros(self.loss_.n_scores)
            start = self.loss_._start_from_blocks(
                columns.map_targets, columns.memory_limit
            )
            if self.init is None:
                self._start_score = start
            elif not isinstance(self.init, str):
                self.init_ = clone(self.init)
        return rounds_class(
            *(grower, self.loss_, self._start_score),
            float(self.learning_rate),
            float(self.subsample),
            total_weight,
        )

    def _hold_out(self, X, y, weight, validation):
        """Hold out validation rows, if early stopping needs them."""
        X_val, y_val, weight_val = validation
        if X_val is None and not (y_val is None and weight_val is None):
            raise ValueError("y_val and sample_weight_val require X_val.")
        if self.n_iter_no_change is None:
            if X_val is not None:
                raise ValueError(
                    "X_val is used only with n_iter_no_change, which is None."
                )
            return (X, y, weight), None
        if X_val is not None:
            if y_val is None:
                raise ValueError("X_val requires y_val.")
            if not isinstance(X_val, BlockSource):
                y_val = self._encode_known(y_val)
            return (X, y, weight), (X_val, y_val, weight_val)
        if isinstance(X, BlockSource):
            return self._hold_out_blocks(X, y, weight)
        check_consistent_length(X, y, weight)
        check_sparse_format(X)
        X = X.tocsr() if sparse.issparse(X) else X
        is_held = choose_held_rows(
            y if is_classifier(self) else np.zeros(len(y)),
            self.validation_fraction,
            check_random_state(self.random_state),
        )
        weight = check_weights(weight, len(y))
        return tuple(
            [
                None if part is None else take_rows(part, np.flatnonzero(rows))
                for part in (X, y, weight)
            ]
            for rows in (~is_held, is_held)
        )

    def _hold_out_blocks(self, source, target, weight):
        """Hold out validation rows while a source is read."""
        source._require_name("y", target)
        if not (self.init is None or isinstance(self.init, str)):
            raise ValueError(
                "A table that is read in blocks requires X_val and y_val with "
                f"n_iter_no_change and init={self.init!r}, which reads the table again."
            )
        draw = HoldOutDraw(
            self.validation_fraction, check_random_state(self.random_state)
        )
        training = TrainingRows(source, target, not is_classifier(self), draw)
        return (training, target, weight), (training.held, target, weight)

    def _read_table(self, X, y):
        """Read and encode the table."""
        return self._open_grower(BoostingGrower, X, y)

    def _open_grower(self, grower_class, *table, **options):
        """Make the grower of a table."""
        groups = None
        if self.interaction_cst is not None:

            def groups(names):
                return list_groups(self.interaction_cst, names)

        return grower_class(
            self._make_template(),
            *table,
            owner=self,
            n_jobs=self.n_jobs,
            max_bins=self.max_bins,
            l2_regularization=float(self.l2_regularization),
            interaction_groups=groups,
            ccp_alpha=float(self.ccp_alpha),
            **options,
        )

    def _refuse_limit(self):
        """Raise ValueError, as the workers of a Dask client do not sort weights."""
        refuse_on_workers(
            "min_weight_fraction_leaf=0.0, equal weights, or a loss with constant "
            "second derivatives",
            self.min_weight_fraction_leaf,
        )

    def _limit_leaves_of(self, weight, n_rows):
        """Convert ``min_weight_fraction_leaf`` for weights in memory."""
        if weight is None:
            return self._limit_leaves(n_rows, n_rows, True, None)
        present = weight[weight > 0]
        return self._limit_leaves(
            add_up(weight),
            len(present),
            present.min() == present.max(),
            lambda: [np.sort(present)],
        )

    def _limit_leaves(self, total, n_rows, is_equal, sort_weights):
        """Convert ``min_weight_fraction_leaf`` to what the grower takes.

        Of the weights above 0, ``total`` is the sum and ``n_rows`` the number;
        ``sort_weights`` gives them in blocks, ascending.
        """
        fraction = self.min_weight_fraction_leaf * self.subsample
        if not fraction:
            return {}
        if is_equal:
            return {"min_rows_leaf": ceil(fraction * n_rows)}
        if self.loss_.has_constant_hessian:
            return {"min_weight_leaf": fraction * total}

        # The grower knows hessians, not weights: so many rows have the weight.
        def add_lightest():
            total = 0.0
            for weight in sort_weights():
                sums = np.cumsum([total, *weight])[1:]
                total = sums[-1]
                yield sums

        *_, last = add_lightest()
        enough, n_rows_leaf = fraction * last[-1], 1
        for sums in add_lightest():
            n_rows_leaf += int(np.searchsorted(sums, enough))
        return {"min_rows_leaf": min(n_rows_leaf, n_rows)}

    def _start(self, X, y, weight, is_new):
        """Raw scores before the first round."""
        if is_new:
            self.init_, self._start_score = None, np.zeros(self.loss_.n_scores)
            if self.init is None:
                self._start_score = self.loss_.find_start(y, weight)
            elif not isinstance(self.init, str):
                self.init_ = clone(self.init)
                weights = {} if weight is None else {"sample_weight": weight}
                if weights and not has_fit_parameter(self.init_, "sample_weight"):
                    raise ValueError(
                        f"The initial estimator {type(self.init_).__name__} does not "
                        "support sample weights."
                    )
                labels = self.classes_[y.astype(int)] if is_classifier(self) else y
                self.init_.fit(X, labels, **weights)
        return self._find_start(X, len(y))

    def _find_start(self, X, n_rows):
        if self.init_ is not None:
            return np.ascontiguousarray(self._score_init(X), dtype=np.float64)
        return np.repeat(self._start_score[:, np.newaxis], n_rows, axis=1)

    def _start_rounds(self, grower, X, y, weight, done) -> GradientRounds:
        """Prepare the rounds, after those that are done."""
        y = self.loss_.check_target(y)
        scores = Scores(
            grower.rows.matrix, y, weight, self._start(X, y, weight, not done)
        )
        names = grower.reader.schema_.names
        before = [member.tree_ for members in done for member in members]
        if before:
            scores.add(before, names, grower.n_threads)
        return GradientRounds(
            grower,
            self.loss_,
            scores,
            float(self.learning_rate),
            float(self.subsample),
            float(self.l2_regularization),
        )

    def _run_rounds(self, rounds, validation, done, context, hooks) -> None:
        """Grow the new trees."""
        grower = rounds.grower
        names = grower.reader.schema_.names
        self._template = grower.reader
        self.max_features_ = grower.reader.max_features_
        seeds = draw_seeds(self.random_state, len(done), self.n_estimators - len(done))
        kept = self._keep_history(len(done))
        with ExitStack() as ends:
            stopping = self._plan_stopping(validation, done, ends)

            def describe():
                return self._describe(rounds, stopping, done, kept)

            grown = grow_aside(rounds, None, [[seed] for seed in seeds], grow_round)
            new = yield_until_stopped(grown, context, "round", hooks, describe)
            ends.enter_context(closing(new))
            for trees in new:
                done.append([grower.make_member(tree) for tree in trees])
                self._report(len(done), rounds, stopping)
                if stopping is not None and stopping.must_stop(
                    trees, names, grower.n_threads
                ):
                    break
            trees = [member.tree_ for members in done for member in members]
            for name in ("_calibration", "_node_variance"):
                vars(self).pop(name, None)
            if self.store_distribution:
                self._calibrate(rounds, stopping.scores, trees)
        for name, value in describe().items():
            setattr(self, name, value)

    def _calibrate(self, rounds, scores, trees) -> None:
        """Calibrate intervals or sets of classes by the scores of validation rows."""
        make, measure = self._plan_calibration(rounds, trees)
        parts = []
        for matrix, y, weight, raw in scores.read_blocks():
            rows = slice(None) if weight is None else np.flatnonzero(weight)
            weights = () if weight is None else (weight[rows],)
            parts.append((*measure(matrix[rows], y[rows], raw[:, rows]), *weights))
        self._calibration = make(*map(np.concatenate, zip(*parts, strict=True)))

    @abstractmethod
    def _plan_calibration(self, rounds, trees) -> tuple[Callable, Callable]:
        """Return what makes a calibration, and what gives its arguments of some rows.

        The latter is a function of the rows, their targets and their scores.
        """

    def _score_validation(self, X, y, weight, ends):
        """Compute the scores of validation rows before the first round."""
        if not isinstance(X, BlockSource):
            matrix = read_matrix(self, X, self._template)
            weight = check_weights(weight, len(y), name="sample_weight_val")
            raw = self._find_start(X, len(y))
            return Scores(matrix, self.loss_.check_target(y), weight, raw)
        for role, name in (("y_val", y), ("sample_weight_val", weight)):
            if role == "y_val" or name is not None:
                X._require_name(role, name)

        def check_target(values):
            return self.loss_._check_block(self._encode_known(values))

        def check_block(values):
            return check_weights(
                values, len(values), "sample_weight_val", is_block=True
            )

        vectors = {"target": (y, check_target)}
        if weight is not None:
            vectors["weight"] = (weight, check_block)
        rows = store_rows(self, X, self._template, **vectors)
        ends.callback(rows.close)
        total = rows.measure_weights("sample_weight_val")
        scores = BlockScores(rows, self._start_score, total)
        self._score_start(X, scores)
        return scores

    def _plan_stopping(self, validation, done, ends):
        """Prepare early stopping on the validation rows."""
        if validation is None:
            return None
        stopping = EarlyStopping(
            self._score_validation(*validation, ends),
            self.loss_,
            int(self.n_iter_no_change),
            float(self.tol),
        )
        rounds = [[member.tree_ for member in members] for members in done]
        stopping.catch_up(rounds, self._template.schema_.names)
        return stopping

    def _keep_history(self, n_done):
        """Keep the losses of earlier rounds; NaN where they were not computed."""
        # Improvements are added up.
        unknown = {
            "train_score_": np.nan,
            "validation_score_": np.nan,
            "oob_scores_": np.nan,
            "oob_improvement_": 0.0,
        }
        return {
            name: [*vars(self).pop(name, [value] * n_done)][:n_done]
            for name, value in unknown.items()
        }

    def _describe(self, rounds, stopping, done, kept):
        """List the fitted attributes after some rounds."""
        losses = {"train_score_": rounds.train_losses}
        if stopping is not None:
            losses["validation_score_"] = stopping.losses
        if self.subsample < 1.0:
            losses["oob_scores_"] = rounds.oob_losses
            losses["oob_improvement_"] = rounds.oob_decreases
        known = ("n_features_in_", "feature_names_in_", "classes_", "n_classes_")
        known += ("loss_", "init_", "_start_score", "_template", "max_features_")
        fitted = {name: getattr(self, name) for name in known if hasattr(self, name)}
        fitted["estimators_"] = np.array(done, dtype=object).reshape(len(done), -1)
        fitted["n_estimators_"] = len(done)
        for name, values in losses.items():
            fitted[name] = np.array([*kept[name], *values])
        if self.subsample < 1.0:
            fitted["oob_score_"] = float(fitted["oob_scores_"][-1])
        return fitted

    def _report(self, number, rounds, stopping):
        """Print the loss of a round."""
        if self.verbose == 0:
            return
        line = f"round {number}: training loss {rounds.train_losses[-1]:.6g}"
        if stopping is not None and stopping.losses:
            line += f", validation loss before the round {stopping.losses[-1]:.6g}"
        print(line)

    def _describe_sum(self):
        """Describe the sum over trees that the model is, score by score."""
        if self.init_ is not None:
            raise ValueError(
                "Only models with init=None or init='zero' are sums of trees; got "
                f"init={self.init!r}."
            )
        loss, (n_rounds, n_scores) = self.loss_, self.estimators_.shape
        if loss._link == "identity" and type(loss)._predict is not Loss._predict:
            raise ValueError(
                f"The loss {type(loss).__name__} defines its own conversion of scores "
                "to predictions, which cannot be exported."
            )
        members = self.estimators_.T.ravel().tolist()
        return MemberSum(
            members,
            self._template,
            [None] * len(members),
            first=np.repeat(np.arange(n_scores), n_rounds),
            start=self._start_score,
            link=loss._link,
            scale=loss._unit,
        )

    # ---------------------------------------------------------------- model files
    def _get_reader(self):
        return self._template

    def _list_members(self):
        return self.estimators_.ravel().tolist()

    def _list_saved(self):
        if self.init_ is not None:
            raise ValueError(
                f"it starts from the predictions of a {type(self.init_).__name__} "
                "(init), which a model file cannot contain; init may be None or 'zero'"
            )
        return super()._list_saved()

    def _restore(self, reader, members, columns, kept) -> None:
        rounds = np.array(members, dtype=object).reshape(kept["n_estimators_"], -1)
        super()._restore(reader, rounds, columns, kept)
        self._template, self.init_ = reader, None
        self.max_features_ = members[0].max_features_
        n_scores = rounds.shape[1]
        fits = self.loss_.n_scores == n_scores == len(self._start_score)
        if is_classifier(self):
            fits = fits and n_scores == (self.n_classes_ if self.n_classes_ > 2 else 1)
        if is_calibrated(self):
            self._calibration.require_target(1, getattr(self, "n_classes_", 0))
        if (
            not fits
            or not isinstance(self.loss_, Loss)
            or any(of_member is not None for of_member in columns)
        ):
            raise ValueError("the loss, the initial scores and the trees do not match")

    # ------------------------------------------------------------------ prediction
    def _add_round(self, members, matrix, raw) -> None:
        """Add the trees of some rounds, an array of members, to scores."""
        names = self._template.schema_.names
        n_threads = count_threads(self.n_jobs, matrix.size * len(self.estimators_))
        for score in range(len(raw)):
            trees = [member.tree_ for member in members[:, score]]
            out = raw[score].reshape(-1, 1, 1)
            add_predictions(trees, matrix, out, n_threads, names)

    def _compute_raw(self, X):
        """Raw scores of new rows, of shape (n_scores, n_rows)."""
        check_is_fitted(self)
        blocks = []
        for matrix in read_blocks(self, X, self._template):
            raw = np.zeros((self.loss_.n_scores, matrix.shape[0]))
            if self.init_ is None:
                raw += self._start_score[:, np.newaxis]
            self._add_round(self.estimators_, matrix, raw)
            blocks.append(raw)
        raw = blocks[0] if len(blocks) == 1 else np.concatenate(blocks, axis=1)
        if self.init_ is not None:
            raw += self._score_init(X)
        return raw

    def _stage_raw(self, X):
        """Raw scores after each round."""
        check_is_fitted(self)
        matrix = read_matrix(self, X, self._template)
        raw = self._find_start(X, matrix.shape[0])
        for number in range(len(self.estimators_)):
            self._add_round(self.estimators_[number : number + 1], matrix, raw)
            yield raw

    @property
    def n_trees_per_iteration_(self) -> int:
        """Number of trees of each round."""
        check_is_fitted(self)
        return self.estimators_.shape[1]

    @property
    def feature_importances_(self) -> np.ndarray:
        """Importance of each column: its fraction of the decrease of the loss.

        Returns
        -------
        importances : ndarray of float64, shape (n_features,)
            Sums to 1; all zero if no tree has a split.
        """
        check_is_fitted(self)
        decreases = np.zeros(self.n_features_in_)
        for member in self.estimators_.ravel():
            weight = member.tree_.nodes["weight"][0]
            decreases += member.tree_.compute_feature_importances(False) * weight
        total = decreases.sum()
        return decreases / total if total > 0 else decreases

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        parts = [self._make_template()]
        if hasattr(self.init, "fit") and not isinstance(self.init, type):
            parts.append(self.init)
        for name in ("sparse", "categorical", "string", "allow_nan"):
            of_parts = [getattr(get_tags(part).input_tags, name) for part in parts]
            setattr(tags.input_tags, name, all(of_parts))
        return tags
