"""Samples of rows and columns for members of bagging, 样本扰动与输入属性扰动."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np

from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.parameters import (
    check_count_or_share,
    check_truth,
)
from sklearn_textbook._contract.random_state import borrow_random_state
from sklearn_textbook.ensemble.out_of_bag import (
    ATTRIBUTES,
    OutOfBagMixin,
    check_oob_score,
)
from sklearn_textbook.ensemble.resample import (
    RowDraw,
    count_drawn_rows,
    count_draws,
    draw_rows,
)


class RowSamplingMixin(OutOfBagMixin):
    """Drawing of rows, and what it leaves out of the bag."""

    _unscored_probability = np.nan

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_count_or_share("max_samples", self.max_samples, 1, words=(None,))
        for name in ("bootstrap", "bootstrap_features", "out_of_bag_posterior"):
            check_truth(name, getattr(self, name))
        value = self.oob_score
        check_oob_score(value)
        if self.oob_score and not self.bootstrap:
            raise ValueError(
                "Out of bag estimation only available if bootstrap=True; got "
                f"oob_score={value!r}."
            )
        monotonic = getattr(self.estimator, "monotonic_cst", None)
        if self.out_of_bag_posterior and monotonic is not None:
            raise ValueError(
                "out_of_bag_posterior=True cannot keep predictions monotonic; got "
                f"monotonic_cst={monotonic!r}."
            )
        if self.oob_score and self.warm_start:
            raise ValueError(
                "Out of bag estimate only available if warm_start=False, since members "
                "of an earlier fit may have been trained on other rows; got "
                f"oob_score={value!r}."
            )

    def _repeats_columns(self) -> bool:
        return bool(self.bootstrap_features)

    def _plan_draw(self, n_rows, n_columns, weight):
        if weight is not None and not self.bootstrap:
            warn_caller(
                f"When fitting {type(self).__name__} with sample_weight it is "
                f"recommended to use bootstrap=True, got {self.bootstrap}: a row of "
                "weight 2 is drawn at most once, unlike two rows of weight 1.",
                UserWarning,
            )
        n_drawn = count_drawn_rows(self.max_samples, n_rows, weight)
        if not self.bootstrap and n_drawn > n_rows:
            raise ValueError(
                f"Effective max_samples={n_drawn} must be <= n_samples={n_rows} to be "
                "able to sample without replacement."
            )
        n_drawable = n_rows if weight is None else np.count_nonzero(weight)
        if not self.bootstrap and n_drawn > n_drawable:
            raise ValueError(
                f"max_samples={n_drawn} rows cannot be drawn without replacement: only "
                f"{n_drawable} rows have a weight above 0."
            )
        self._max_samples = n_drawn
        self._max_features = self._count_drawn_columns(n_columns)
        return BagDraw(
            n_rows,
            n_drawn,
            weight,
            n_columns=n_columns,
            n_drawn_columns=self._max_features,
            replaces_rows=bool(self.bootstrap),
            replaces_columns=self._repeats_columns(),
            estimates_empty_nodes=bool(self.out_of_bag_posterior),
        )

    def _require_no_tree_options(self) -> None:
        if self.out_of_bag_posterior:
            raise ValueError(
                "out_of_bag_posterior=True requires trees of this package: the "
                "'estimator' must be an ID3Classifier, C45Classifier, CARTClassifier "
                f"or CARTRegressor; got {self.estimator!r}."
            )

    # ------------------------------------------------------------------ out of bag
    def _list_draws(self):
        return self._draws

    def _finish_fit(self, training) -> None:
        for name in ATTRIBUTES:
            vars(self).pop(name, None)
        if self.oob_score:
            self._score_out_of_bag(training)

    def _score_out_of_bag(self, training) -> None:
        """Estimate the error by out-of-bag rows."""
        is_classified = self._predicts_classes
        votes = is_classified and self.voting == "hard"
        n_statistics = self.n_classes_ if is_classified else 1
        combiner = self._make_combiner()

        def predict(number, rows):
            if len(rows) == 0:
                return np.zeros((0, self._n_outputs, n_statistics))
            return combiner.predict_rows(number, training.table, rows, votes=votes)

        known = training.target.astype(np.intp if is_classified else np.float64)
        self._estimate_out_of_bag(predict, known, n_statistics)


@dataclass(frozen=True, eq=False)
class BagDraw(RowDraw):
    """Samples of rows and columns, determined by the seed of a member alone.

    Columns are drawn first, then rows, from one stream of random numbers, as in
    scikit-learn: the same seed draws the same.

    Parameters
    ----------
    n_rows : int
        Number of rows.
    n_drawn_rows : int or None
        Rows that a member draws; None: it is trained on every row once.
    weight : ndarray of float64, shape (n_rows,), default=None
        Where rows are drawn, they are with probabilities in proportion; where all are
        used, their weights.
    n_columns : int
        Number of columns.
    n_drawn_columns : int
        Columns that a member draws.
    replaces_rows, replaces_columns : bool
        Whether a row, or a column, may be drawn again.
    estimates_empty_nodes : bool, default=False
        Whether empty nodes of a tree predict by the rows that it has not drawn.
    """

    _: KW_ONLY
    n_columns: int
    n_drawn_columns: int
    replaces_rows: bool = True
    replaces_columns: bool = False
    estimates_empty_nodes: bool = False

    @property
    def takes_all_columns(self):
        """Whether every member is trained on all columns, in their order."""
        return not self.replaces_columns and self.n_drawn_columns == self.n_columns

    def is_like(self, other):
        """Return whether another draw selects the same for every seed."""
        return self is other or all(
            np.array_equal(getattr(self, name), getattr(other, name))
            for name in vars(self)
        )

    def list_columns(self, seed):
        """List the columns of the member with this seed."""
        return self._draw_columns(borrow_random_state(seed))

    def list_rows(self, seed):
        """List the rows of the member, each as often as it is drawn."""
        if self.n_drawn_rows is None:
            return np.arange(self.n_rows)
        random_state = borrow_random_state(seed)
        self._draw_columns(random_state)
        return draw_rows(
            random_state,
            self.n_rows,
            self.n_drawn_rows,
            self.weight,
            self.replaces_rows,
        )

    def count_rows(self, seed):
        """Count how often the member draws each row."""
        return count_draws(self.list_rows(seed), self.n_rows)

    def _draw_columns(self, random_state):
        return draw_rows(
            random_state,
            self.n_columns,
            self.n_drawn_columns,
            replace=self.replaces_columns,
        )
