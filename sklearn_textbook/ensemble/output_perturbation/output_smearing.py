"""Members that learn class labels as noisy numbers, 输出调制法 (output smearing)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import is_regressor

from sklearn_textbook._contract.parameters import check_estimator, check_real
from sklearn_textbook._contract.saved_field import SavedField
from sklearn_textbook.ensemble.output_perturbation.base import BaseOutputPerturbation
from sklearn_textbook.tree import CARTRegressor
from sklearn_textbook.tree.members import make_value_target


@dataclass(frozen=True, eq=False)
class LabelNoise:
    r"""The smeared outputs of the member with a seed.

    Row r has for class j the value :math:`\mathbb{I}(y_r = j) + s_j z_{rj}` with
    independent standard normal :math:`z_{rj}`.

    Parameters
    ----------
    codes : ndarray of int32, shape (n_rows,)
        Class numbers of the rows.
    deviations : ndarray of float64, shape (n_classes,)
        Standard deviation :math:`s_j` of the noise.
    """

    codes: np.ndarray
    deviations: np.ndarray

    def draw(self, seed: int) -> np.ndarray:
        """Draw the outputs for a seed."""
        # The member draws its rows and columns from its seed; this is another stream.
        random = np.random.default_rng([seed, 1])
        values = random.standard_normal((len(self.codes), len(self.deviations)))
        values *= self.deviations
        values[np.arange(len(values)), self.codes] += 1
        return values


class OutputSmearingClassifier(BaseOutputPerturbation):
    r"""Ensemble of regressors fitted to noisy class indicators, 输出调制法.

    Classification is turned into regression (output smearing): there is one output per
    class, 1 for rows of the class and 0 for others. For each member, Gaussian noise is
    added to all outputs,

    .. math:: y'_{rj} = \mathbb{I}(y_r = j) + \text{noise} \cdot
        \sqrt{P_j (1 - P_j)} \, z_{rj}, \qquad z_{rj} \sim N(0, 1)

    where :math:`P_j` is the relative frequency of class j, so the root is the standard
    deviation of its output. A member is a single regression tree for all outputs. The
    ensemble predicts the class with the largest mean output. Probabilities are mean
    outputs, with negative values set to 0, divided by their sum.

    Parameters
    ----------
    estimator : regressor, default=None
        Base estimator of the members, which must support several outputs. None: a fully
        grown :class:`~sklearn_textbook.tree.CARTRegressor`. Trees of this package share
        one encoded table; any scikit-learn regressor is allowed.
    n_estimators : int, default=100
        Number of members.
    noise : float, default=1.0
        Standard deviation of the noise, as a multiple of that of the output.
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
        Seed for the noise, the samples, and every ``random_state`` of the members.
    verbose : int, default=0
        1 prints the number of fitted members about ten times; larger values print it
        after each member.
    warm_start : bool, default=False
        Whether ``fit`` keeps the fitted members and adds new ones, up to
        ``n_estimators``.

    Attributes
    ----------
    estimator_ : regressor
        The base estimator, not fitted.
    estimators_ : list of regressors
        The members; their outputs are in the order of ``classes_``.
    noise_ : ndarray of float64, shape (n_classes,)
        Standard deviation of the noise on the output of each class.
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
    OutputFlippingClassifier : Perturbs class labels at random.
    RandomForestClassifier : Perturbs rows and columns.

    Notes
    -----
    Without noise, a tree that minimises the squared error of all outputs also minimises
    the Gini impurity, because the variance of a 0-1 output with frequency p is :math:`p
    (1 - p)`.

    With noise, all values differ, so a fully grown member has one leaf per row. Limits
    such as ``estimator=CARTRegressor(min_samples_leaf=5)`` make it smaller.
    scikit-learn has no such estimator.

    References
    ----------
    .. [1] 周志华《机器学习》, section 8.5.3.
    .. [2] L. Breiman (2000), Randomizing outputs to increase prediction accuracy,
       Machine Learning 40.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn_textbook.ensemble import OutputSmearingClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> smearing = OutputSmearingClassifier(random_state=0).fit(X, y)
    >>> smearing.noise_.round(2)
    array([0.47, 0.47, 0.47])
    >>> smearing.predict([[5.0, 3.5, 1.5, 0.2]])
    array([0])
    """

    _saved_fields = (
        *BaseOutputPerturbation._saved_fields,
        SavedField("noise_", shape=("classes",), least=0),
    )

    def __init__(
        self,
        estimator: Any = None,
        n_estimators: int = 100,
        *,
        noise: float = 1.0,
        bootstrap: bool = False,
        max_samples: float | None = None,
        n_jobs: int | None = None,
        random_state: int | np.random.RandomState | None = None,
        verbose: int = 0,
        warm_start: bool = False,
    ) -> None:
        self.estimator = estimator
        self.n_estimators = n_estimators
        self.noise = noise
        self.bootstrap = bootstrap
        self.max_samples = max_samples
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start

    def _check_parameters(self) -> None:
        super()._check_parameters()
        check_real("noise", self.noise, 0.0)
        check_estimator(
            "estimator", self.estimator, ("fit", "predict"), is_regressor, "a regressor"
        )

    def _make_template(self):
        return CARTRegressor() if self.estimator is None else self.estimator

    def _read_outputs(self, y, codes):
        return LabelNoise(codes, np.zeros(self.n_classes_)).draw(0)

    def _plan_perturbation(self, codes, weight):
        counts = np.bincount(codes, weight, self.n_classes_)
        frequencies = counts / counts.sum()
        self.noise_ = self.noise * np.sqrt(frequencies * (1 - frequencies))
        return LabelNoise(codes, self.noise_)

    def _make_tree_target(self, perturb, seed):
        return make_value_target(perturb.draw(seed))

    def _make_target(self, perturb, seed):
        return perturb.draw(seed)

    def _predict_member(self, member, X, votes):
        return member.predict(X).reshape(X.shape[0], self.n_classes_)

    def _describe_sum(self):
        """Describe the sum over trees that the model is."""
        return self._sum_members(is_mean=True, link="positive_fractions")

    def _compute_probabilities(self, table):
        outputs = self._sum_predictions(table)
        kept = np.maximum(outputs, 0.0)
        is_low = np.flatnonzero(~(kept.sum(axis=1) > 0))
        kept[is_low, outputs[is_low].argmax(axis=1)] = 1.0
        return kept / kept.sum(axis=1, keepdims=True)

    def _choose_classes(self, table):
        return self._sum_predictions(table).argmax(axis=1)
