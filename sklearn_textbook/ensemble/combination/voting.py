"""Voting, 投票法: classifiers of any kind that decide together, or reject the row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassifierMixin
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_random_seed,
    check_real,
    check_truth,
    show_value,
)
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.ensemble.combination.base_combination import BaseCombination
from sklearn_textbook.ensemble.combination.class_members import ClassMembersMixin
from sklearn_textbook.ensemble.combination.held_out import check_folds
from sklearn_textbook.ensemble.combination.rules import (
    PROBABILITY_RULES,
    REJECTED,
    TIE_BREAKING,
    TOLERANCE,
    VOTE_RULES,
    choose_by_votes,
    combine_probabilities,
    count_votes,
)

#: The first is the default.
RULES = {"hard": VOTE_RULES, "soft": PROBABILITY_RULES}


def _has_probabilities(ensemble) -> bool:
    if ensemble.voting == "hard":
        raise AttributeError(
            f"predict_proba is not available when voting={ensemble.voting!r}"
        )
    return True


class VotingClassifier(ClassMembersMixin, ClassifierMixin, BaseCombination):
    r"""Voting of any classifiers, 投票法, which may also reject rows.

    Hard voting counts the predicted classes, soft voting combines the probabilities of
    the members:

    .. math:: v_j(x) = \frac{\sum_i w_i \mathbb{I}(h_i(x) = j)}{\sum_i w_i}, \qquad
        p_j(x) = \frac{\sum_i w_i p_{ij}(x)}{\sum_i w_i}.

    Parameters of scikit-learn's ``VotingClassifier`` have the same name, meaning and
    default here.

    Parameters
    ----------
    estimators : list of (str, classifier) tuples
        The members and their names: classifiers of this package, of scikit-learn or of
        other packages, or pipelines. ``"drop"`` in place of an estimator leaves it out.
    voting : {"hard", "soft"}, default="hard"
        Whether classes or probabilities are combined.
    weights : array-like of shape (n_members,), default=None
        Weights of the members. None: 1 for each.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one, or the setting of
        ``joblib.parallel_config``. Members of this package are fitted one after the
        other with threads, from a table that is encoded once.
    flatten_transform : bool, default=True
        Whether :meth:`transform` returns a table in soft voting, instead of an array of
        shape (n_members, n_samples, n_classes).
    verbose : bool, default=False
        Whether to print a line for each fitted member.
    rule : str, default=None
        In hard voting, "plurality" (相对多数投票法, the default), "majority"
        (绝对多数投票法: more than half of the votes) or "unanimity"; in soft voting,
        "mean" (the default), "product", "min", "max" or "median". See
        :func:`~sklearn_textbook.ensemble.combination.choose_by_votes` and
        :func:`~sklearn_textbook.ensemble.combination.combine_probabilities`.
    reject_threshold : float, default=0.0
        Rows are rejected if the fraction of votes or the combined probability of their
        class is below this threshold, in addition to rows rejected by the rule.
    reject_label : object, default=None
        Label that :meth:`predict` returns for rejected rows; it must not be one of the
        classes. None: the class with the most votes or the largest probability, so that
        every row has a class; :meth:`rejected` still finds the rejected rows.
    tie_breaking : {"first", "random", "confidence"}, default="first"
        How ties are broken in hard voting: "first" chooses the first class in the order
        of ``classes_``; "random" one at random; "confidence" the class with the largest
        mean probability over the members with ``predict_proba``.
    prefit : bool, default=False
        Whether the members are already fitted and are used as they are. ``classes_``
        are then all classes known to any member.
    calibration : {"sigmoid", "isotonic", "temperature"}, default=None
        How the probabilities of the members are calibrated by scikit-learn's
        ``CalibratedClassifierCV``: Platt's sigmoid, isotonic regression or temperature
        scaling. Calibration uses cross-validation or, with ``prefit=True``, the rows
        passed to :meth:`fit`, which members should not have seen.
    cv : int, cross-validation generator or iterable, default=None
        Folds for the calibration, as in ``CalibratedClassifierCV``.
    random_state : int, RandomState instance or None, default=None
        Seed for ``tie_breaking="random"``.

    Attributes
    ----------
    estimators_ : list of classifier
        The fitted members. Unless ``prefit=True``, they are fitted to class numbers
        (indices into ``classes_``).
    named_estimators_ : Bunch
        The fitted members by name.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of columns, if the members have this attribute.
    feature_names_in_ : ndarray of str
        Names of the columns, if the members have this attribute.

    See Also
    --------
    sklearn.ensemble.VotingClassifier : Supports neither other rules, rejection, ties
        broken by confidence, prefit members nor calibration.
    AveragingRegressor : The corresponding regressor.
    StackingClassifier : Learns how to combine members.

    Notes
    -----
    References: 周志华《机器学习》, section 8.4.2. Rejection by a threshold: C. K. Chow,
    "On optimum recognition error and reject tradeoff", IEEE Transactions on Information
    Theory 16(1), 1970.

    Examples
    --------
    >>> from sklearn.naive_bayes import GaussianNB
    >>> from sklearn_textbook.datasets import load_watermelon
    >>> from sklearn_textbook.ensemble import VotingClassifier
    >>> from sklearn_textbook.linear_model import LogisticRegression
    >>> from sklearn_textbook.tree import C45Classifier, ID3Classifier
    >>> melons = load_watermelon(version="3.0", language="en", as_frame=True)
    >>> voting = VotingClassifier(
    ...     [("id3", ID3Classifier()), ("c45", C45Classifier()),
    ...      ("logistic", LogisticRegression(C=1.0))],
    ...     rule="unanimity", reject_label="?")
    >>> voting.fit(melons.data, melons.target).predict(melons.data[6:10])
    array(['?', 'yes', 'no', 'no'], dtype=object)
    >>> int(voting.rejected(melons.data).sum())
    2
    """

    _title = "Voting"

    def __init__(
        self,
        estimators: Sequence[tuple[str, Any]],
        *,
        voting: str = "hard",
        weights: ArrayLike | None = None,
        n_jobs: int | None = None,
        flatten_transform: bool = True,
        verbose: bool = False,
        rule: str | None = None,
        reject_threshold: float = 0.0,
        reject_label: Any = None,
        tie_breaking: str = "first",
        prefit: bool = False,
        calibration: str | None = None,
        cv: Any = None,
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.estimators = estimators
        self.voting = voting
        self.weights = weights
        self.n_jobs = n_jobs
        self.flatten_transform = flatten_transform
        self.verbose = verbose
        self.rule = rule
        self.reject_threshold = reject_threshold
        self.reject_label = reject_label
        self.tie_breaking = tie_breaking
        self.prefit = prefit
        self.calibration = calibration
        self.cv = cv
        self.random_state = random_state

    # ------------------------------------------------------------------ parameters
    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_truth("prefit", self.prefit)
        if self.weights is not None:
            self._check_weights()
        check_choice("voting", self.voting, tuple(RULES))
        check_choice("rule", self.rule, RULES[self.voting], accepts_none=True)
        check_truth("flatten_transform", self.flatten_transform)
        check_real("reject_threshold", self.reject_threshold, 0.0, 1.0)
        check_choice("tie_breaking", self.tie_breaking, TIE_BREAKING)
        methods = ("sigmoid", "isotonic", "temperature")
        check_choice("calibration", self.calibration, methods, accepts_none=True)
        check_random_seed("random_state", self.random_state)
        check_folds(self.cv)

    def _get_rule(self):
        return RULES[self.voting][0] if self.rule is None else self.rule

    def _list_templates(self):
        """List the members, calibrated if they are to be."""
        members = self._list_given()
        if self.calibration is None:
            return members
        return [
            (
                name,
                CalibratedClassifierCV(
                    FrozenEstimator(one) if self.prefit else one,
                    method=self.calibration,
                    cv=self.cv,
                ),
            )
            for name, one in members
        ]

    # --------------------------------------------------------------------- fitting
    def _fits_members(self):
        return not self.prefit or self.calibration is not None

    def _finish_fit(self, X, target, tasks, sample_weight) -> None:
        self._check_reject_label()

    def _restore(self, parts, kept) -> None:
        if self.calibration is not None:
            raise ValueError("a model file cannot contain calibrated members")
        super()._restore(parts, kept)
        self._check_reject_label()

    def _check_reject_label(self) -> None:
        """Require a label that is not one of the classes."""
        label = self.reject_label
        if label is not None and not np.isscalar(label):
            raise ValueError(
                "The 'reject_label' parameter must be None or a single label; got "
                f"{show_value(label)}."
            )
        if label is not None and label in self.classes_.tolist():
            raise ValueError(
                "The 'reject_label' parameter must not be one of the classes "
                f"{self.classes_.tolist()}; got {label!r}."
            )

    # ------------------------------------------------------------------ prediction
    def _collect_votes(self, X):
        """Collect the members' classes, shape (n_samples, n_members)."""
        answers = self._call_members("predict", X)
        return np.stack([self._encode(labels) for labels in answers]).T

    def vote_fractions(self, X: MatrixLike) -> np.ndarray:
        """Compute the fraction of votes for each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        fractions : ndarray of shape (n_samples, n_classes)
            Fractions, weighted if members have weights; each row sums to 1.
        """
        check_is_fitted(self)
        votes = self._collect_votes(X)
        counts = count_votes(votes, len(self.classes_), self._list_weights())
        return counts / counts.sum(axis=1, keepdims=True)

    @available_if(_has_probabilities)
    def predict_proba(self, X: MatrixLike) -> np.ndarray:
        """Predict class probabilities, combined by the rule.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities; each row sums to 1, including rejected rows.
        """
        check_is_fitted(self)
        return combine_probabilities(
            self._collect_probabilities(X), self._get_rule(), self._list_weights()
        )

    def predict(self, X: MatrixLike) -> np.ndarray:
        """Predict the class of each row, or ``reject_label`` for rejected rows.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels. If ``reject_label`` has another type than the classes, such as
            a string with integers, an array of objects.
        """
        places, is_rejected = self._decide(X)
        y = self.classes_.take(places)
        if self.reject_label is None:
            return y
        label = np.asarray([self.reject_label])
        kind = object
        if (label.dtype.kind in "biuf") == (y.dtype.kind in "biuf"):
            kind = np.result_type(label, y)
        y = y.astype(kind)
        y[is_rejected] = self.reject_label
        return y

    def rejected(self, X: MatrixLike) -> np.ndarray:
        """Find the rejected rows, for which the members are not certain enough.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        is_rejected : ndarray of bool, shape (n_samples,)
            Whether the rule or ``reject_threshold`` rejects the row.
        """
        return self._decide(X)[1]

    def _decide(self, X):
        """Choose a class for each row; return also whether the row is rejected."""
        check_is_fitted(self)
        if self.voting == "soft":
            fractions = self.predict_proba(X)
            places = fractions.argmax(axis=1)
            is_rejected = np.zeros(len(places), dtype=bool)
        else:
            fractions = self.vote_fractions(X)
            is_rejected = np.zeros(len(fractions), dtype=bool)
            if self._get_rule() != "plurality":
                is_rejected = choose_by_votes(fractions, self._get_rule()) == REJECTED
            places = choose_by_votes(
                fractions,
                tie_breaking=self.tie_breaking,
                confidence=self._measure_confidence(X),
                random_state=self.random_state,
            )
        if self.reject_threshold > 0:
            least = self.reject_threshold * (1 - TOLERANCE)
            is_rejected |= fractions.max(axis=1) < least
        return places, is_rejected

    def _measure_confidence(self, X):
        """Compute mean probabilities of the members that give them; None if unused."""
        if self.tie_breaking != "confidence":
            return None
        members = self._list_fitted()
        able = [hasattr(member, "predict_proba") for _, member in members]
        if not any(able):
            raise ValueError(
                'tie_breaking="confidence" requires a member with predict_proba; none '
                f"of {[name for name, _ in members]} has it."
            )
        weights = self._list_weights()
        members = [pair for pair, is_able in zip(members, able, strict=True) if is_able]
        probabilities = self._collect_probabilities(X, members)
        if weights is not None and weights[able].any():
            return combine_probabilities(probabilities, weights=weights[able])
        return combine_probabilities(probabilities)

    def transform(self, X: MatrixLike) -> np.ndarray:
        """Return the outputs of the members as columns.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.

        Returns
        -------
        answers : ndarray
            In hard voting, class numbers (indices into ``classes_``), shape (n_samples,
            n_members). In soft voting, probabilities, shape (n_samples, n_members *
            n_classes), or (n_members, n_samples, n_classes) with
            ``flatten_transform=False``.
        """
        check_is_fitted(self)
        if self.voting == "hard":
            return self._collect_votes(X)
        probabilities = self._collect_probabilities(X)
        join = np.hstack if self.flatten_transform else np.stack
        return join(probabilities)

    def get_feature_names_out(
        self, input_features: ArrayLike | None = None
    ) -> np.ndarray:
        """Return the names of the columns of :meth:`transform`.

        Parameters
        ----------
        input_features : array-like of str or None, default=None
            Used only to check it against the columns of the training table.

        Returns
        -------
        names : ndarray of object
            ``votingclassifier_<name>``, in soft voting with the number of the class.
        """
        check_is_fitted(self)
        if self.voting == "hard":
            return self._name_columns(input_features, [""])
        if not self.flatten_transform:
            raise ValueError(
                "get_feature_names_out is not supported when `voting='soft'` and "
                "`flatten_transform=False`"
            )
        return self._name_columns(input_features, range(len(self.classes_)))

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []
        return tags
