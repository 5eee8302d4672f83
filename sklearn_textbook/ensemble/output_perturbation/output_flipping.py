"""Members that learn flipped class labels, 翻转法 (output flipping)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from sklearn_textbook._contract.parameters import (
    check_choice,
    check_estimator,
    is_checked,
    is_real,
)
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook.ensemble.members.estimator_members import take_rows
from sklearn_textbook.ensemble.output_perturbation.base import BaseOutputPerturbation
from sklearn_textbook.tree import CARTClassifier
from sklearn_textbook.tree.members import make_class_target

DEFAULT_FLIP_RATE = 0.2


def find_largest_flip_rate(frequencies: np.ndarray) -> float:
    r"""Find the smallest flip rate at which some row's class is not the most probable.

    Parameters
    ----------
    frequencies : ndarray of float64, shape (n_classes,)
        Relative frequencies of the classes, not all in one.

    Returns
    -------
    largest : float
        :math:`\sum_j P_j (1 - P_j) / (1 + \max_j P_j - \min_j P_j)` over the classes
        that occur; for two classes the frequency of the smaller one.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.ensemble.output_perturbation.output_flipping import (
    ...     find_largest_flip_rate,
    ... )
    >>> find_largest_flip_rate(np.array([0.25, 0.75]))
    0.25
    """
    present = frequencies[frequencies > 0]
    spread = present.max() - present.min()
    return float((present * (1 - present)).sum() / (1 + spread))


@dataclass(frozen=True, eq=False)
class LabelFlips:
    r"""The flipped class numbers of the member with a seed.

    With the probability :math:`w = p / \sum_j P_j (1 - P_j)` a row's class is drawn
    again, from all classes in proportion to their frequencies :math:`P_j`. So a row of
    class i gets class j with the probability :math:`w P_j`, and the fraction of changed
    rows is p on average.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows,)
        Class numbers of the rows.
    frequencies : ndarray of float64, shape (n_classes,)
        Relative frequencies of the classes.
    flip_rate : float
        Mean fraction of rows whose class changes.
    """

    codes: np.ndarray
    frequencies: np.ndarray
    flip_rate: float

    def draw(self, seed: int) -> np.ndarray:
        """Draw the class numbers for a seed."""
        impurity = (self.frequencies * (1 - self.frequencies)).sum()
        flipped = self.codes.copy()
        if self.flip_rate == 0 or impurity == 0:
            return flipped
        # The member draws its rows and columns from its seed; this is another stream.
        random = np.random.default_rng([seed, 1])
        is_drawn = random.random(len(flipped)) < self.flip_rate / impurity
        n_drawn = np.count_nonzero(is_drawn)
        flipped[is_drawn] = random.choice(
            len(self.frequencies), n_drawn, p=self.frequencies
        )
        return flipped


class OutputFlippingClassifier(BaseOutputPerturbation):
    r"""Ensemble of classifiers fitted to randomly flipped labels, 翻转法.

    All members are trained on the same rows (output flipping), but the labels of a
    random fraction p of them, the ``flip_rate``, are changed such that class
    frequencies remain the same on average. A row of class i is assigned class j with
    the probability

    .. math:: P(i \to j) = w P_j, \quad j \neq i, \qquad
        w = \frac{p}{\sum_k P_k (1 - P_k)}

    where :math:`P_j` is the relative frequency of class j. The predictions of the
    members are combined by voting. Only the outputs are perturbed, whereas bagging
    perturbs the rows (样本扰动) and a random forest the columns as well (属性扰动).

    Parameters
    ----------
    estimator : classifier, default=None
        Base estimator of the members. None: a fully grown
        :class:`~sklearn_textbook.tree.CARTClassifier`. Trees of this package share one
        encoded table; any scikit-learn classifier is allowed.
    n_estimators : int, default=100
        Number of members.
    flip_rate : float or "auto", default="auto"
        Mean fraction of rows with changed labels, at least 0 and less than
        :math:`\sum_k P_k (1 - P_k) / (1 + \max_k P_k - \min_k P_k)`. Above this bound,
        a row of the smallest class would be more likely to be assigned the largest
        class than to keep its own; for two classes, it is the frequency of the smaller
        class. "auto": 0.2, or half of the bound if that is less.
    voting : {"soft", "hard"}, default="soft"
        How members are combined: "soft" averages their probabilities; "hard" gives each
        one vote, as in the paper, where ties go to the class with the largest mean
        probability. Members without ``predict_proba`` always vote.
    bootstrap : bool, default=False
        Whether each member is trained on a bootstrap sample of the rows (自助采样). If
        False, each is trained on all rows.
    max_samples : int or float, default=None
        Number of rows in a bootstrap sample, or their fraction of all rows. None: as
        many as there are.
    n_jobs : int, default=None
        Number of members fitted in parallel. None: one per core, or the setting of
        ``joblib.parallel_config``; -1: one per core. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Seed for the flips, the samples, and every ``random_state`` of the members.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds new ones, up to
        ``n_estimators``.

    Attributes
    ----------
    estimator_ : classifier
        The base estimator, not fitted.
    estimators_ : list of classifiers
        The members. They store the class labels.
    flip_rate_ : float
        The flip rate used.
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    n_classes_ : int
        Number of classes.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all names are strings.
    estimators_samples_ : list of ndarray of int
        The rows to which each member was fitted.

    See Also
    --------
    OutputSmearingClassifier : Perturbs outputs with noise.
    RandomForestClassifier : Perturbs rows and columns.

    Notes
    -----
    Since :math:`\sum_{i \neq j} P_i w P_j + P_j (1 - w (1 - P_j)) = P_j`, the expected
    class frequencies are those of the table. No labels are flipped to a class without
    weight.

    :meth:`predict_proba` estimates the probabilities of flipped labels: where all rows
    have class i, the mean probability of class j is :math:`w P_j`.

    Growing a member takes longer than growing a tree on the true labels, because it
    ends in many leaves with single flipped rows. scikit-learn has no such estimator.

    ``class_weight`` of the base estimator refers to the true labels in trees of this
    package, and to the flipped labels in other estimators.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.3.
    .. [2] L. Breiman (2000), Randomizing outputs to increase prediction accuracy,
       Machine Learning 40.
    .. [3] G. Martínez-Muñoz, A. Suárez (2005), Switching class labels to generate
       classification ensembles, Pattern Recognition 38: the formula as it is here.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import OutputFlippingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> flipping = OutputFlippingClassifier(random_state=0).fit(X, y)
    >>> flipping.predict([[5.0, 3.5, 1.5, 0.2]])
    array([0])
    >>> flipping.predict_proba([[5.0, 3.5, 1.5, 0.2]]).round(2)
    array([[0.87, 0.1 , 0.03]])
    """

    _saved_fields = (
        *BaseOutputPerturbation._saved_fields,
        SavedField("flip_rate_", least=0),
    )

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        flip_rate: float | str = "auto",
        voting: str = "soft",
        bootstrap: bool = False,
        max_samples: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.flip_rate = flip_rate
        self.voting = voting
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_choice("voting", self.voting, ("soft", "hard"))
        check_estimator(
            "estimator",
            self.estimator,
            ("fit", "predict"),
            is_classifier,
            "a classifier",
        )
        is_rate = is_real(self.flip_rate) and 0 <= self.flip_rate < 1
        is_auto = isinstance(self.flip_rate, str) and self.flip_rate == "auto"
        if is_checked() and not is_rate and not is_auto:
            raise ValueError(
                "The 'flip_rate' parameter must be a float in the range [0.0, 1.0) or "
                f"'auto'; got {self.flip_rate!r}."
            )

    def _make_template(self):
        return CARTClassifier() if self.estimator is None else self.estimator

    def _read_outputs(self, y, codes):
        return y

    def _plan_perturbation(self, codes, weight):
        counts = np.bincount(codes, weight, self.n_classes_)
        frequencies = counts / counts.sum()
        self.flip_rate_ = self._resolve_flip_rate(frequencies)
        return LabelFlips(codes, frequencies, self.flip_rate_)

    def _resolve_flip_rate(self, frequencies):
        """Find the fraction of the rows that is flipped."""
        if np.count_nonzero(frequencies) == 1:
            return 0.0  # there is nothing to flip to
        largest = find_largest_flip_rate(frequencies)
        if self.flip_rate == "auto":
            return min(DEFAULT_FLIP_RATE, largest / 2)
        if self.flip_rate >= largest:
            raise ValueError(
                f"flip_rate must be less than {largest:.6g} for the class frequencies "
                f"of y, got {self.flip_rate!r}; otherwise rows of the smallest class "
                "would be more likely to change their label than to keep it."
            )
        return float(self.flip_rate)

    def _make_tree_target(self, perturb, seed):
        return make_class_target(perturb.draw(seed), self.n_classes_)

    def _make_target(self, perturb, seed):
        return self.classes_.take(perturb.draw(seed))

    def _predict_member(self, member, X, votes):
        predicted = np.zeros((X.shape[0], self.n_classes_))
        if votes or not hasattr(member, "predict_proba"):
            places = np.searchsorted(self.classes_, member.predict(X))
            predicted[np.arange(len(predicted)), places] = 1
            return predicted
        # By chance, all rows of a class may have been flipped or not been drawn.
        places = np.searchsorted(self.classes_, member.classes_)
        predicted[:, places] = member.predict_proba(X)
        return predicted

    def _describe_sum(self):
        """Describe the sum over trees that the model is."""
        return self._sum_members(is_mean=True, is_vote=self.voting == "hard")

    def _compute_probabilities(self, table):
        sums = self._sum_predictions(table, votes=self.voting == "hard")
        return sums / len(self.estimators_)

    def _choose_classes(self, table):
        sums = self._sum_predictions(table, votes=self.voting == "hard")
        best = sums.argmax(axis=1)
        if self.voting == "hard":
            is_top = sums == sums.max(axis=1, keepdims=True)
            is_tied = np.flatnonzero(is_top.sum(axis=1) > 1)
            if len(is_tied):
                means = self._sum_predictions(take_rows(table, is_tied))
                best[is_tied] = np.where(is_top[is_tied], means, -1.0).argmax(axis=1)
        return best
