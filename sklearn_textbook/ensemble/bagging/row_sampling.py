"""Row sampling of bagging, and scoring on the out-of-bag rows, 包外估计."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.metrics import accuracy_score, r2_score
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import (
    check_count_or_share,
    check_truth,
)
from sklearn_textbook.ensemble.bagging.bag_draw import BagDraw
from sklearn_textbook.ensemble.out_of_bag import (
    check_oob_score,
    estimate_out_of_bag,
    score_named,
    warn_of_unscored_rows,
)
from sklearn_textbook.ensemble.resample import count_drawn_rows


class RowSamplingMixin:
    """Drawing of rows, and what it leaves out of the bag."""

    def _check_parameters(self):
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
                "out_of_bag_posterior=True cannot keep the predictions monotonic; got "
                f"monotonic_cst={monotonic!r}."
            )
        if self.oob_score and self.warm_start:
            raise ValueError(
                "Out of bag estimate only available if warm_start=False: members of "
                f"an earlier fit may have seen other rows; got oob_score={value!r}."
            )

    def _repeats_columns(self):
        return bool(self.bootstrap_features)

    def _plan_draw(self, n_rows, n_columns, weight):
        if weight is not None and not self.bootstrap:
            warnings.warn(
                f"When fitting {type(self).__name__} with sample_weight it is "
                f"recommended to use bootstrap=True, got {self.bootstrap}: a row of "
                "weight 2 is drawn no more than once, unlike two rows of weight 1.",
                UserWarning,
                stacklevel=4,
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
                f"max_samples={n_drawn} rows are to be drawn without replacement, but "
                f"only {n_drawable} rows have a weight above 0."
            )
        self._max_samples = n_drawn
        self._max_features = self._count_drawn_columns(n_columns)
        return BagDraw(
            n_rows,
            n_columns,
            n_drawn,
            self._max_features,
            bool(self.bootstrap),
            self._repeats_columns(),
            weight,
            bool(self.out_of_bag_posterior),
        )

    def _require_no_tree_options(self):
        if self.out_of_bag_posterior:
            raise ValueError(
                "out_of_bag_posterior=True estimates empty nodes of trees: the "
                "'estimator' must be one of ID3Classifier, C45Classifier, "
                f"CARTClassifier and CARTRegressor; got {self.estimator!r}."
            )

    # ------------------------------------------------------------------ out of bag
    @property
    def estimators_samples_(self):
        """The rows that each member has seen, as often as it has.

        Drawn again at every call, so that the ensemble does not have to keep them.

        Returns
        -------
        rows : list of ndarray of int
            Numbers of training rows.
        """
        check_is_fitted(self)
        return [draw.draw(seed)[1] for draw, seed in self._draws]

    def _finish_fit(self, training):
        for name in ("oob_score_", "oob_curve_", "oob_decision_function_"):
            vars(self).pop(name, None)
        vars(self).pop("oob_prediction_", None)
        if self.oob_score:
            self._score_out_of_bag(training)

    def _predict_out_of_bag(self, training, votes):
        """Predict the rows that each member has not seen."""
        combiner = self._make_combiner()
        for number, (draw, seed) in enumerate(self._draws):
            rows = np.flatnonzero(draw.mark_out_of_bag(seed))
            if len(rows):
                given = combiner.predict_rows(number, training.table, rows, votes=votes)
            else:
                given = np.zeros((0, self._n_outputs, self._count_statistics()))
            yield rows, given

    def _count_statistics(self):
        """Count the numbers that a prediction has per output."""
        return self.n_classes_ if self._predicts_classes else 1

    def _score_out_of_bag(self, training):
        """Estimate the error by out-of-bag rows."""
        votes = self._predicts_classes and self.voting == "hard"
        known = training.target.astype(
            np.intp if self._predicts_classes else np.float64
        )
        estimate = estimate_out_of_bag(
            self._predict_out_of_bag(training, votes),
            known,
            len(known),
            self._count_statistics(),
        )
        warn_of_unscored_rows(estimate.n_members)
        self.oob_curve_ = estimate.curve
        keep = self._keep_shares if self._predicts_classes else self._keep_values
        keep(estimate, known)

    def _keep_shares(self, estimate, known):
        """Keep the out-of-bag shares, and score them."""
        shares, known = estimate.prediction[:, 0], known[:, 0]
        best = shares.argmax(axis=1)
        self.oob_decision_function_ = shares.copy()
        is_scored = estimate.n_members > 0
        self.oob_decision_function_[~is_scored] = np.nan
        if isinstance(self.oob_score, str):
            labels, predicted = self.classes_.take(known), self.classes_.take(best)
            self.oob_score_ = score_named(
                self.oob_score, is_scored, labels, predicted, shares, self.classes_
            )
        else:
            score = self.oob_score if callable(self.oob_score) else accuracy_score
            self.oob_score_ = score(known, best)

    def _keep_values(self, estimate, known):
        """Keep the out-of-bag values, and score them."""
        predicted = estimate.prediction[:, :, 0]
        if self._n_outputs == 1:
            predicted, known = predicted[:, 0], known[:, 0]
        self.oob_prediction_ = predicted
        if isinstance(self.oob_score, str):
            is_scored = estimate.n_members > 0
            self.oob_score_ = score_named(self.oob_score, is_scored, known, predicted)
        else:
            score = self.oob_score if callable(self.oob_score) else r2_score
            self.oob_score_ = score(known, predicted)
