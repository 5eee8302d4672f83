"""Forests of classification trees: parameters, class weights, votes."""

from __future__ import annotations

import numpy as np
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import type_of_target

from sklearn_textbook._contract.labels import (
    decode_labels,
    split_shares,
    take_logarithms,
)
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook.ensemble.class_weights import check_preset, weigh_classes
from sklearn_textbook.ensemble.forest.base_forest import CART_PARAMETERS, BaseForest
from sklearn_textbook.tree import C45Classifier, CARTClassifier

#: Parameters that C4.5 members have under the forest's names.
C45_PARAMETERS = tuple(
    name
    for name in CART_PARAMETERS
    if name not in ("criterion", "ccp_alpha", "monotonic_cst", "categorical_smoothing")
)


class BaseForestClassifier(ClassifierMixin, BaseForest):
    """Forest of classification trees, with the parameters of a random forest."""

    _cart = CARTClassifier
    _criteria = ("gini", "entropy", "log_loss", "error")

    def __init__(
        self,
        n_estimators=100,
        *,
        criterion="gini",
        max_depth=None,
        min_samples_split=2,
        min_samples_leaf=1,
        min_weight_fraction_leaf=0.0,
        max_features="sqrt",
        max_leaf_nodes=None,
        min_impurity_decrease=0.0,
        bootstrap=True,
        oob_score=False,
        n_jobs=None,
        random_state=None,
        verbose=0,
        warm_start=False,
        class_weight=None,
        ccp_alpha=0.0,
        max_samples=None,
        monotonic_cst=None,
        voting="soft",
        pruning=None,
        max_bins=None,
        categorical_features="from_dtype",
        categorical_split="auto",
        categorical_smoothing="auto",
        missing="auto",
        handle_unknown="parent",
        tie_breaking="first",
        top_splits=1,
    ):
        self.n_estimators = n_estimators
        self.criterion = criterion
        self.max_depth = max_depth
        self.min_samples_split = min_samples_split
        self.min_samples_leaf = min_samples_leaf
        self.min_weight_fraction_leaf = min_weight_fraction_leaf
        self.max_features = max_features
        self.max_leaf_nodes = max_leaf_nodes
        self.min_impurity_decrease = min_impurity_decrease
        self.bootstrap = bootstrap
        self.oob_score = oob_score
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.class_weight = class_weight
        self.ccp_alpha = ccp_alpha
        self.max_samples = max_samples
        self.monotonic_cst = monotonic_cst
        self.voting = voting
        self.pruning = pruning
        self.max_bins = max_bins
        self.categorical_features = categorical_features
        self.categorical_split = categorical_split
        self.categorical_smoothing = categorical_smoothing
        self.missing = missing
        self.handle_unknown = handle_unknown
        self.tie_breaking = tie_breaking
        self.top_splits = top_splits

    def _check_parameters(self):
        super()._check_parameters()
        check_choice("voting", self.voting, ("soft", "hard"))
        check_preset(self.class_weight, self.warm_start)
        if self._grows_c45():
            self._check_c45_parameters()

    def _grows_c45(self):
        """Return whether members are C4.5 trees."""
        return isinstance(self.criterion, str) and self.criterion == "gain_ratio"

    def _takes_several_outputs(self):
        return not self._grows_c45() and super()._takes_several_outputs()

    def _check_c45_parameters(self):
        """Require parameters that C4.5 trees have."""
        for name, without in (("ccp_alpha", 0.0), ("monotonic_cst", None)):
            value = getattr(self, name)
            if value is not without and not (np.isscalar(value) and value == without):
                raise ValueError(
                    f"The {name!r} parameter must be {without} with "
                    'criterion="gain_ratio", since C4.5 trees do not support it; got '
                    f"{value!r}."
                )
        choices = ("auto", "fractional", "error")
        if self.missing not in choices:
            raise ValueError(
                "The 'missing' parameter must be one of "
                f'{", ".join(map(repr, choices))} with criterion="gain_ratio"; got '
                f"{self.missing!r}."
            )

    def _make_template(self):
        if not self._grows_c45():
            return super()._make_template()
        missing = "fractional" if self.missing == "auto" else self.missing
        split = self.categorical_split
        return C45Classifier(
            missing=missing,
            categorical_split="multiway" if split == "auto" else split,
            collapse=False,
            # The correction would make a leaf of a node whose sampled columns gain
            # little, as the root of a whole tree may.
            mdl_correction=False,
            **{name: getattr(self, name) for name in C45_PARAMETERS},
        )

    def _counts_votes(self):
        return self.voting == "hard"

    def _read_target(self, reader):
        super()._read_target(reader)
        self.classes_ = reader.classes_
        self.n_classes_ = reader.n_classes_
        if reader.n_outputs_ > 1:
            self.n_classes_ = [int(number) for number in reader.n_classes_]

    def _describe(self):
        attributes = super()._describe()
        return {
            **attributes,
            "classes_": self.classes_,
            "n_classes_": self.n_classes_,
        }

    def _list_classes(self):
        """List the classes of each output."""
        return [self.classes_] if self.n_outputs_ == 1 else self.classes_

    def _weigh_classes(self, target, weight):
        if self.class_weight is None:
            return weight, None
        codes = target.codes
        preset = isinstance(self.class_weight, str)
        if preset and self.class_weight == "balanced_subsample" and self.bootstrap:
            return weight, codes[:, 0] if codes.shape[1] == 1 else codes
        class_weight = "balanced" if preset else self.class_weight
        of_class = weigh_classes(
            class_weight, decode_labels(codes, self._list_classes()), weight
        )
        of_class = of_class if weight is None else weight * of_class
        if not np.isfinite(of_class).all() or of_class.min() < 0 or not of_class.any():
            raise ValueError(
                "The 'class_weight' parameter must leave some row a positive, finite "
                f"weight, and none a negative one; got {self.class_weight!r}."
            )
        return of_class, None

    def _score_classes(self, estimate, known):
        kind = type_of_target(known)
        if kind == "multiclass-multioutput":
            raise ValueError(
                "The type of target cannot be used to compute OOB estimates. Got "
                f"{kind} while only binary, multiclass and multilabel targets are "
                "supported."
            )
        return super()._score_classes(estimate, known)

    # ------------------------------------------------------------------ prediction
    def _compute_probabilities(self, matrix):
        """Class probabilities or votes; (n_rows, n_outputs, n_classes)."""
        probabilities = self._sum_predictions(matrix, votes=self._counts_votes())
        probabilities /= len(self.estimators_)
        return probabilities

    def _choose_classes(self, matrix):
        """Choose a class number for every row and output."""
        probabilities = self._compute_probabilities(matrix)
        best = probabilities.argmax(axis=2)
        if self._counts_votes():
            is_top = probabilities > probabilities.max(
                axis=2, keepdims=True
            ) - 0.5 / len(self)
            is_tied = np.flatnonzero((is_top.sum(axis=2) > 1).any(axis=1))
            means = self._sum_predictions(matrix[is_tied])
            best[is_tied] = np.where(is_top[is_tied], means, -1.0).argmax(axis=2)
        return best

    def predict_proba(self, X):
        """Predict class probabilities.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes), or list of such arrays
            Mean probability over the trees; with ``voting="hard"``, the fraction of
            trees that vote for the class. A list for several outputs.
        """
        probabilities = self._predict_blocks(X, self._compute_probabilities)
        return split_shares(probabilities, self.n_classes_)

    def predict_log_proba(self, X):
        """Compute the natural logarithm of :meth:`predict_proba`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        logarithms : ndarray of shape (n_samples, n_classes), or list of such arrays
            ``-inf`` where a probability is 0.
        """
        return take_logarithms(self.predict_proba(X))

    def predict(self, X):
        """Predict the class of each row.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,) or (n_samples, n_outputs)
            The class with the largest mean probability (相对多数投票法 with
            probabilities); ties go to the first. With ``voting="hard"``, the class with
            the most votes; ties go to the class with the largest mean probability.
        """
        best = self._predict_blocks(X, self._choose_classes)
        return decode_labels(best, self._list_classes())

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = tags.target_tags.multi_output
        return tags
