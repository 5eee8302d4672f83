"""Linear models with an elastic-net penalty, whose strength may be cross-validated."""

from __future__ import annotations

import math
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import column_or_1d
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_random_seed,
    check_real,
    check_truth,
    find_column,
    is_checked,
    is_integer,
    is_real,
    show_value,
)
from sklearn_textbook._contract.scoring import read_columns
from sklearn_textbook._contract.table import Table
from sklearn_textbook._contract.threads import count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.base import (
    BaseLinearClassifier,
    BaseLinearModel,
    find_log_probabilities,
    find_probabilities,
)
from sklearn_textbook.linear_model.generalized.families import (
    FAMILIES,
    make_family,
    measure_explained,
)
from sklearn_textbook.linear_model.generalized.generalized_linear import require_range
from sklearn_textbook.linear_model.generalized.links import make_link
from sklearn_textbook.linear_model.least_squares.targets import (
    read_numeric_targets,
    require_powers,
)
from sklearn_textbook.linear_model.logistic.logistic_regression import (
    read_classes,
    weigh_classes,
)
from sklearn_textbook.linear_model.offsets import (
    read_named,
    read_numbers,
    read_offset,
    take_rows_of,
)
from sklearn_textbook.linear_model.penalized.fitting import (
    PathFit,
    Settings,
    check_folds,
    choose_alpha,
    list_folds,
    make_alphas,
)
from sklearn_textbook.linear_model.penalized.losses import FamilyLoss, LogisticLoss
from sklearn_textbook.linear_model.penalized.path import Path
from sklearn_textbook.linear_model.penalized.penalty import Penalty
from sklearn_textbook.tree.encode import NOMINAL

#: Rules by which cross-validation chooses alpha.
RULES = ("min", "1se")
#: Number of alphas of a path, unless it is given.
N_ALPHAS = 100
#: Smallest fraction of the deviance.
ROUNDING = 1e-12
#: The links of the families; of all others the logarithm.
FAMILY_LINKS = {"gaussian": "identity", "binomial": "logit"}


def sort_alphas(alphas: np.ndarray) -> np.ndarray:
    """Return the distinct alphas in descending order."""
    return np.unique(alphas)[::-1].copy()


def copy_rows(values: np.ndarray) -> np.ndarray:
    """Copy an array in C order, also that of strides where a length is 1."""
    copy = np.empty(values.shape)
    copy[...] = values
    return copy


class BaseElasticNet(BaseLinearModel):
    """What models with an elastic-net penalty share."""

    # Parameters of both, which their ``__init__`` sets.
    alpha: Any
    l1_ratio: Any
    alphas: Any
    eps: Any
    cv: Any
    standardize: Any
    grouped_levels: Any
    penalty_factors: Any
    fit_intercept: Any
    positive: Any
    max_iter: Any
    tol: Any
    warm_start: Any
    random_state: Any
    n_jobs: Any

    _is_classifier = False

    def _check_parameters(self) -> None:
        """Raise ValueError for invalid parameters."""
        self._check_table_parameters()
        if isinstance(self.alpha, str) or not is_real(self.alpha):
            choices = ", ".join(map(repr, RULES))
            if is_checked() and self.alpha not in RULES:
                raise ValueError(
                    f"The 'alpha' parameter must be one of {choices} or a float in the "
                    f"range [0.0, inf); got {show_value(self.alpha)} of type "
                    f"{type(self.alpha).__name__}."
                )
        else:
            check_real("alpha", self.alpha, 0.0, np.finfo(np.float64).max)
        check_real("l1_ratio", self.l1_ratio, 0.0, 1.0)
        check_real("eps", self.eps, np.finfo(np.float64).tiny, 1.0)
        check_folds(self.cv)
        for name in ("grouped_levels", "fit_intercept", "positive"):
            check_truth(name, getattr(self, name))
        if not (isinstance(self.standardize, str) and self.standardize == "auto"):
            check_truth("standardize", self.standardize)
        check_truth("warm_start", self.warm_start)
        check_integer("max_iter", self.max_iter, 1)
        check_real("tol", self.tol, 0.0)
        check_random_seed("random_state", self.random_state)
        self._read_alphas()

    def _read_alphas(self) -> int | np.ndarray | None:
        """Read the alphas of the path: their number, or them in descending order."""
        given = self.alphas
        if given is None:
            return None
        if is_integer(given):
            check_integer("alphas", given, 1)
            return int(given)
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.zeros((0, 0))
        if (
            found.ndim != 1
            or not len(found)
            or not (np.isfinite(found).all() and (found >= 0.0).all())
        ):
            raise ValueError(
                "The 'alphas' parameter must be an int of at least 1, None, or a 1D "
                f"array-like of finite numbers of at least 0; got {show_value(given)}."
            )
        return sort_alphas(found)

    def _make_penalty(self) -> Penalty:
        """Make the penalty of the columns of the design matrix."""
        factors, starts, place = [], [0], 0
        by_term = self._read_factors()
        nominal = {term.name for term in self.design_.terms if term.kind == NOMINAL}
        terms = self.design_.list_terms()
        for (_, columns, parts), factor in zip(terms, by_term, strict=True):
            n_made = columns.stop - columns.start
            has_levels = not nominal.isdisjoint(parts)
            is_group = self.grouped_levels and has_levels and n_made > 0
            for size in [n_made] if is_group else [1] * n_made:
                place += size
                starts.append(place)
                factors.append(factor)
        return Penalty(
            float(self.l1_ratio),
            np.array(factors, dtype=np.float64),
            np.array(starts, dtype=np.intp),
            bool(self.positive),
        )

    def _read_factors(self) -> np.ndarray:
        """Read the factors of the penalty of the terms, the columns of the table."""
        names = [name for name, _, _ in self.design_.list_terms()]
        given, n_columns = self.penalty_factors, len(names)
        factors = np.ones(n_columns)
        if given is None:
            return factors
        try:
            if isinstance(given, dict):
                for key, factor in given.items():
                    factors[find_column("penalty_factors", key, names)] = factor
            else:
                factors = np.array(given, dtype=np.float64)
            is_right = factors.shape == (n_columns,)
        except TypeError:
            is_right = False
        if not is_right or not (np.isfinite(factors) & (factors >= 0.0)).all():
            raise ValueError(
                "The 'penalty_factors' parameter must be None, a dict by column, or a "
                f"finite number of at least 0 for each of {n_columns} columns; got "
                f"{show_value(given)}."
            )
        return factors

    def _standardizes(self) -> bool:
        """Whether the penalty does not depend on the units of the columns."""
        if isinstance(self.standardize, str):
            return isinstance(self.alpha, str)
        return bool(self.standardize)

    def _fit_path(self, matrix, y, weight, is_present, make_loss, offset) -> None:
        """Fit the path, and choose an alpha of it."""
        weight = np.ones(matrix.shape[0]) if weight is None else weight

        def make_part(rows):
            known = None if offset is None else offset[rows]
            return make_loss(y[rows], weight[rows] / weight[rows].sum(), known)

        settings = Settings(
            penalty=self._make_penalty(),
            make_loss=make_part,
            fit_intercept=bool(self.fit_intercept),
            standardize=self._standardizes(),
            tol=float(self.tol),
            max_iter=int(self.max_iter),
            n_threads=count_threads(self.n_jobs, matrix.shape[0] * matrix.shape[1]),
        )
        rule, folds = self.alpha if isinstance(self.alpha, str) else None, []
        if rule is not None:
            folds = list_folds(
                *(self.cv, matrix, y, is_present, self.random_state),
                is_classifier=self._is_classifier,
            )
        with use_one_blas_thread():
            fit = PathFit(matrix, y, weight, settings)
            whole = fit.fit_all(folds)
            alphas = self._choose_alphas(whole.largest)
            path = whole.follow(alphas, self._find_start(path_length=len(alphas)))
            losses = fit.validate(folds, alphas) if folds else None
        self._set_path(alphas, path, fit.loss, losses)

    def _choose_alphas(self, largest: float) -> np.ndarray:
        """Choose the alphas of the path."""
        given = self._read_alphas()
        if given is None and not isinstance(self.alpha, str):
            return np.array([float(self.alpha)])
        if given is None or isinstance(given, int):
            given = make_alphas(largest, given or N_ALPHAS, float(self.eps))
        if not isinstance(self.alpha, str):
            given = sort_alphas(np.append(given, float(self.alpha)))
        return given

    def _find_start(self, path_length: int):
        """Coefficients of the previous fit, for one alpha alone."""
        if not self.warm_start or path_length > 1 or not hasattr(self, "coef_"):
            return None
        coef, n_scores = np.atleast_2d(self.coef_), 1
        if self._is_classifier and len(self.classes_) > 2:
            n_scores = len(self.classes_)
        if coef.shape != (n_scores, len(self.design_.names)):
            return None
        return coef, np.atleast_1d(self.intercept_)

    def _set_path(self, alphas, path: Path, loss, losses) -> None:
        """Set the attributes of the path and of the chosen alpha."""
        first = loss.fit_constant() if self.fit_intercept else np.zeros(loss.n_scores)
        null = 2.0 * loss.evaluate(np.tile(first, (len(loss.weight), 1))).loss
        with np.errstate(invalid="ignore", divide="ignore"):
            explained = 1.0 - path.deviances / null if null > 0.0 else 0.0 * alphas
        # Rounding, of a model without columns.
        explained[np.abs(explained) < ROUNDING] = 0.0
        self._deviance_ratios = explained
        self._cv_means = self._cv_errors = None
        if losses is None:
            chosen = int(np.flatnonzero(alphas == float(self.alpha))[0])
        else:
            found = choose_alpha(self.alpha, *losses)
            chosen, self._cv_means, self._cv_errors = found
        self.alphas_, self.alpha_ = alphas, float(alphas[chosen])
        self._set_coefficients(path, chosen)
        self.n_iter_ = int(path.n_iter[chosen])
        if not path.has_converged.all():
            first_wrong = int(np.argmin(path.has_converged))
            n_wrong = int(np.count_nonzero(~path.has_converged))
            warn_caller(
                f"Objective did not converge for {n_wrong} of {len(alphas)} alphas, "
                f"first for alpha={alphas[first_wrong]:.4g}, where it may be "
                f"{path.gaps[first_wrong]:.3g} above the minimum. Increase max_iter or "
                "tol, or the smallest alpha.",
                ConvergenceWarning,
            )

    def _set_coefficients(self, path: Path, chosen: int) -> None:
        raise NotImplementedError

    @property
    def path_table_(self) -> Table:
        """The alphas, and how well the coefficients for each fit."""
        check_is_fitted(self)
        by_column = self.coef_path_.reshape(-1, *self.coef_path_.shape[-2:])
        columns = {
            "alpha": self.alphas_,
            "n_nonzero": np.count_nonzero(by_column.any(axis=0), axis=0),
            "deviance_ratio": self._deviance_ratios,
        }
        if self._cv_means is not None:
            columns |= {"cv_mean": self._cv_means, "cv_se": self._cv_errors}
        chosen = int(np.argmax(self.alphas_ == self.alpha_))
        return Table(**columns, selected=np.arange(len(self.alphas_)) == chosen)


class ElasticNet(RegressorMixin, BaseElasticNet):
    r"""Linear and generalised linear regression with an elastic-net penalty (弹性网络).

    The coefficients minimise

    .. math::

        \frac{1}{2 \sum_i \omega_i} \sum_i \omega_i\, d(y_i, \mu_i)
        + \alpha \rho \lVert w \rVert_1
        + \frac{\alpha (1 - \rho)}{2} \lVert w \rVert_2^2,
        \qquad g(\mu_i) = w^T x_i + b + o_i,

    with the unit deviance d of the family and known offsets o, 0 unless given to
    ``fit``. For "gaussian" this is the mean of :math:`\frac12 (y_i - w^T x_i - b)^2`
    and the penalty, as in scikit-learn; :math:`\rho = 1` is the lasso (LASSO 回归).

    Parameters
    ----------
    alpha : float or {"min", "1se"}, default=1.0
        Strength :math:`\alpha` of the penalty. Chosen by cross-validation: "min" has
        the smallest mean deviance of the test rows, "1se" is the largest alpha whose
        mean deviance is at most one standard error above that.
    l1_ratio : float, default=0.5
        The fraction :math:`\rho` of the L1 norm: 1 is the lasso, 0 is ridge.
    family : str, default="gaussian"
        Distribution of the target: "gaussian", "poisson", "gamma", "binomial"
        (proportions from 0 to 1), "tweedie" or "inverse_gaussian". The link is the
        identity for "gaussian", the log-odds for "binomial" and the logarithm for the
        others.
    power : float, default=1.5
        Exponent of the variance of "tweedie".
    alphas : int, array-like or None, default=None
        The path: a number of alphas from the largest that matters, with a constant
        ratio, or alphas. None: 100 if ``alpha`` is chosen by cross-validation, and
        ``alpha`` alone otherwise. A number ``alpha`` is added to the path.
    eps : float, default=1e-3
        The smallest alpha of the path as a fraction of the largest.
    cv : int, cross-validation generator, iterable or None, default=None
        Folds: their number (None: 5), a splitter, or (train, test) indices.
    standardize : bool or "auto", default="auto"
        Whether the penalty is of the coefficients times the standard deviations (with
        divisor n) of their columns, as in glmnet, so that it does not depend on their
        units. Coefficients are always in the units of the columns. "auto": if ``alpha``
        is chosen by cross-validation; with a number, as in scikit-learn, it is not.
    grouped_levels : bool, default=False
        Whether the indicators of a nominal column are penalised as a group (分组
        LASSO), :math:`\sqrt{m} \lVert w_g \rVert_2` for m indicators in place of the
        absolute values: all of them are zero, or none. With ``reference_level=None``
        no level is treated differently from the others.
    penalty_factors : array-like of shape (n_features,), dict or None, default=None
        Factors of the penalty for each column of the table; a dict by name or number
        has 1 for the others. 0: the column is not penalised.
    fit_intercept : bool, default=True
        Whether to fit an intercept b, which is not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative.
    max_iter : int, default=1000
        Maximum number of iterations for each alpha: sweeps over the columns for
        "gaussian", and Newton steps otherwise.
    tol : float, default=1e-8
        Tolerance. "gaussian": the duality gap is at most ``tol`` times half the mean of
        the squared targets, about their mean if there is an intercept. Other families:
        the expected decrease of the next step is at most ``tol`` times the mean loss of
        the model without penalised columns, and no excluded column violates the
        conditions of the minimum (KKT 条件).
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit, for one alpha.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels. "from_dtype": strings and categorical dtypes. A mask,
        indices or names. A dict from names or indices to "nominal" or to the ordered
        list of levels.
    reference_level : {"first", "last", "most_frequent"}, dict or None, default="first"
        The level of a nominal column without indicator; a dict has the level by name or
        number of the column, the others have the first. None: all levels have one.
    handle_unknown : {"mean", "error"}, default="mean"
        How levels not seen in training are treated: "mean" gives them the mean of the
        effects of the levels in the training rows, with a warning; "error" raises an
        error.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X. "error": they raise an error. "drop":
        rows with one are left out of the fit, and their predictions are NaN. "mean":
        numbers have the weighted mean of the column, levels the mean of their
        indicators, and one more column marks them if the training rows have some.
    formula : str, default=None
        Terms of the model in place of the columns, in Wilkinson's notation, such as "x1
        * C(g) + poly(x, 3)"; see :func:`from_formula`, which takes the target, too.
        None: all columns of the table.
    interactions : "pairwise" or list of tuples, default=None
        Products of columns (交互作用) besides the columns themselves: of all pairs, or
        of these columns, by name or number.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling the rows before a number of folds is made. None: the same
        folds in every fit. Consecutive rows, as in scikit-learn, are ``cv=KFold(5)``.
    n_jobs : int, default=None
        Number of threads. None: one per core. The result does not depend on it.

    Attributes
    ----------
    coef_ : ndarray of shape (n_coefficients,)
        Coefficients w for the chosen alpha.
    intercept_ : float
        Intercept b.
    alpha_ : float
        The chosen alpha.
    alphas_ : ndarray of shape (n_alphas,)
        The alphas of the path, in descending order.
    coef_path_ : ndarray of shape (n_coefficients, n_alphas)
        Coefficients of the path.
    intercept_path_ : ndarray of shape (n_alphas,)
        Intercepts of the path.
    path_table_ : Table
        For each alpha ``alpha``, ``n_nonzero`` (columns with a coefficient that is not
        zero), ``deviance_ratio`` (fraction of the deviance explained), with
        cross-validation ``cv_mean`` and ``cv_se`` (mean deviance of the test rows and
        its standard error), and the mask ``selected``.
    coef_names_ : ndarray of shape (n_coefficients,)
        Names of the coefficients.
    n_iter_ : int
        Number of iterations for the chosen alpha.
    dual_gap_ : float
        For "gaussian", the duality gap for the chosen alpha, and NaN otherwise.
    family_ : Family
        The family.
    link_ : Link
        The link.
    design_ : Design
        Encoding of the columns of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    ElasticNetClassifier : Logistic regression with this penalty.
    GeneralizedLinearRegressor : Without the L1 norm, with statistical inference.
    sklearn.linear_model.ElasticNet : The same objective, for least squares.
    sklearn.linear_model.ElasticNetCV : Chooses alpha by cross-validation.

    Notes
    -----
    Least squares with few columns use the products of all columns, which are computed
    once, and of which those of all rows but a fold's are sums: cross-validation reads
    the rows once more only for the test rows. Otherwise Newton steps are found by
    coordinate descent (坐标下降法) on the columns that the sequential strong rule
    leaves [2]_, and columns that violate the conditions of the minimum are added. There
    are no standard errors: estimates are shrunk.

    References
    ----------
    .. [1] J. Friedman, T. Hastie, R. Tibshirani (2010), Regularization paths for
       generalized linear models via coordinate descent. Journal of Statistical Software
       33(1).
    .. [2] R. Tibshirani et al. (2012), Strong rules for discarding predictors in
       lasso-type problems. Journal of the Royal Statistical Society B 74.
    .. [3] M. Yuan, Y. Lin (2006), Model selection and estimation in regression with
       grouped variables. Journal of the Royal Statistical Society B 68.

    周志华《机器学习》, section 11.4.

    Examples
    --------
    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn_textbook.linear_model import ElasticNet
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = ElasticNet("1se", l1_ratio=1.0, random_state=0).fit(X, y)
    >>> model.coef_names_[model.coef_ != 0.0].tolist()
    ['sex', 'bmi', 'bp', 's3', 's5']
    """

    def __init__(
        self,
        alpha: float | str = 1.0,
        *,
        l1_ratio: float = 0.5,
        family: str = "gaussian",
        power: float = 1.5,
        alphas: int | ArrayLike | None = None,
        eps: float = 1e-3,
        cv: Any = None,
        standardize: bool | str = "auto",
        grouped_levels: bool = False,
        penalty_factors: ArrayLike | dict[Any, float] | None = None,
        fit_intercept: bool = True,
        positive: bool = False,
        max_iter: int = 1000,
        tol: float = 1e-8,
        warm_start: bool = False,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | dict[Any, Any] | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        formula: str | None = None,
        interactions: str | list | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.family = family
        self.power = power
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.standardize = standardize
        self.grouped_levels = grouped_levels
        self.penalty_factors = penalty_factors
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.formula = formula
        self.interactions = interactions
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.positive_only = (
            self.family in FAMILIES
            and self.family
            not in (
                "gaussian",
                "binomial",
            )
        )
        return tags

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            The target, with values that are valid for the family.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, each as that many copies of the row. None: 1 each.
        offset : array-like of shape (n_samples,), default=None
            Number added to the linear predictor of each row. None: 0.
        exposure : array-like of shape (n_samples,), default=None
            Positive time, area or population of each row. Its logarithm is added to the
            linear predictor, so means are proportional to it. Only for families whose
            link is the logarithm. None: 1 each.

        Returns
        -------
        self : ElasticNet
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a target, a weight or a value is invalid.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` is reached for some alpha.
        """
        self._check_parameters()
        check_choice("family", self.family, FAMILIES)
        power = self.power
        if is_checked() and not (
            is_real(power) and math.isfinite(power) and not 0.0 < power < 1.0
        ):
            raise ValueError(
                "The 'power' parameter must be a float outside (0, 1), where there is "
                f"no distribution; got {show_value(power)}."
            )
        family = make_family(self.family, self.power)
        link = make_link(FAMILY_LINKS.get(self.family, "log"))
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        y = column_or_1d(read_numeric_targets(y, X, self, is_present), warn=True)
        require_range(family, y, is_present)
        require_powers(y, 2.0)
        if link.name == "log" and not (y > 0.0).any():
            raise ValueError(
                f"y is 0 in all rows, but family={self.family!r} needs a mean above 0."
            )
        n_rows = len(y) if is_present is None else len(is_present)
        offset = read_offset(offset, exposure, n_rows, link)
        offset = take_rows_of(offset, is_present)
        self.family_, self.link_ = family, link
        if offset is not None and self.family == "gaussian":
            y, offset = y - offset, None

        def make_loss(y, weight, offset):
            return FamilyLoss(family, link, y, weight, offset)

        self._fit_path(matrix, y, weight, is_present, make_loss, offset)
        return self

    def _set_coefficients(self, path: Path, chosen: int) -> None:
        self.coef_path_ = copy_rows(path.coef[:, 0].T)
        self.intercept_path_ = path.intercept[:, 0].copy()
        self.coef_ = path.coef[chosen, 0].copy()
        self.intercept_ = float(path.intercept[chosen, 0])
        is_gaussian = self.family_.name == "gaussian"
        self.dual_gap_ = float(path.gaps[chosen]) if is_gaussian else np.nan

    def predict(
        self,
        X: MatrixLike,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> np.ndarray:
        """Predict the mean of the target.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the offset and the exposure are then names of its columns.
        offset : array-like of shape (n_samples,) or str, default=None
            Number added to the linear predictor of each row. None: 0, whatever was
            passed to ``fit``.
        exposure : array-like of shape (n_samples,) or str, default=None
            Value to which the mean of each row is proportional. None: 1 each.

        Returns
        -------
        y_pred : ndarray of shape (n_samples,)
            Means.
        """
        check_is_fitted(self)
        offset, exposure = read_named(X, offset=offset, exposure=exposure)
        predictor = self._predict_blocks(
            X, lambda matrix: np.asarray(matrix @ self.coef_).ravel() + self.intercept_
        )
        offset = read_offset(offset, exposure, len(predictor), self.link_)
        return self.link_.invert(predictor if offset is None else predictor + offset)

    def score(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
        exposure: ArrayLike | None = None,
    ) -> float:
        r"""Compute the fraction of the deviance explained, :math:`D^2`.

        For the family "gaussian", this is :math:`R^2`.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks;
            the following are then names of its columns.
        y : array-like of shape (n_samples,) or str
            The targets of the rows.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows. None: 1 each.
        offset, exposure : array-like of shape (n_samples,) or str, default=None
            As in ``predict``.

        Returns
        -------
        score : float
            At most 1; 0 for the mean; negative if worse. If y is constant: 1 if it is
            predicted without error, and 0 otherwise.
        """
        mean = self.predict(X, offset=offset, exposure=exposure)
        y, sample_weight = read_columns(X, y, sample_weight, is_numeric=False)
        y = column_or_1d(read_numeric_targets(y, mean, self), warn=True)
        require_range(self.family_, y, None)
        weight = check_weights(sample_weight, len(y))
        weight = np.ones(len(y)) if weight is None else weight
        return measure_explained(self.family_, y, mean, weight)


class ElasticNetClassifier(BaseElasticNet, BaseLinearClassifier):
    r"""Logistic regression with an elastic-net penalty, binary and multinomial.

    The coefficients minimise the mean of :math:`-\ln P(y_i \mid x_i)`, weighted by
    :math:`\omega_i`, plus

    .. math::

        \alpha \rho \lVert w \rVert_1 + \frac{\alpha (1 - \rho)}{2} \lVert w \rVert_2^2.

    Two classes have one vector of coefficients, that of the second class; more have a
    vector each, :math:`P(y = k \mid x) \propto e^{w_k^T x + b_k}`. ``fit`` takes known
    offsets of these scores.

    Parameters
    ----------
    alpha : float or {"min", "1se"}, default=0.01
        Strength :math:`\alpha` of the penalty, of the mean loss. Chosen by
        cross-validation: "min" has the smallest mean deviance of the test rows, "1se"
        is the largest alpha whose mean deviance is at most one standard error above.
    l1_ratio : float, default=0.5
        The fraction :math:`\rho` of the L1 norm: 1 is the lasso, 0 is ridge.
    alphas : int, array-like or None, default=None
        The path: a number of alphas from the largest that matters, with a constant
        ratio, or alphas. None: 100 if ``alpha`` is chosen by cross-validation, and
        ``alpha`` alone otherwise. A number ``alpha`` is added to the path.
    eps : float, default=1e-3
        The smallest alpha of the path as a fraction of the largest.
    cv : int, cross-validation generator, iterable or None, default=None
        Folds: their number (None: 5), with the classes in proportion, a splitter, or
        (train, test) indices.
    standardize : bool or "auto", default="auto"
        Whether the penalty is of the coefficients times the standard deviations (with
        divisor n) of their columns, as in glmnet, so that it does not depend on their
        units. Coefficients are always in the units of the columns. "auto": if ``alpha``
        is chosen by cross-validation; with a number, as in scikit-learn, it is not.
    grouped_levels : bool, default=False
        Whether the indicators of a nominal column are penalised as a group (分组
        LASSO), :math:`\sqrt{m} \lVert w_g \rVert_2` for m indicators in place of the
        absolute values, in each vector of coefficients.
    penalty_factors : array-like of shape (n_features,), dict or None, default=None
        Factors of the penalty for each column of the table; a dict by name or number
        has 1 for the others. 0: the column is not penalised.
    fit_intercept : bool, default=True
        Whether to fit intercepts b, which are not penalised.
    positive : bool, default=False
        Whether coefficients must not be negative.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of the rows. "balanced": all
        classes have the same total weight.
    max_iter : int, default=1000
        Maximum number of Newton steps for each alpha.
    tol : float, default=1e-8
        Tolerance: the expected decrease of the next step is at most ``tol`` times the
        mean loss of the model without penalised columns, and no excluded column
        violates the conditions of the minimum (KKT 条件).
    warm_start : bool, default=False
        Whether to start from the coefficients of the previous fit, for one alpha.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels, as of :class:`ElasticNet`.
    reference_level : {"first", "last", "most_frequent"}, dict or None, default="first"
        The level of a nominal column without indicator. None: all levels have one.
    handle_unknown : {"mean", "error"}, default="mean"
        How levels not seen in training are treated.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X.
    formula : str, default=None
        Terms of the model in place of the columns, in Wilkinson's notation, such as "x1
        * C(g) + poly(x, 3)"; see :func:`from_formula`, which takes the target, too.
        None: all columns of the table.
    interactions : "pairwise" or list of tuples, default=None
        Products of columns (交互作用) besides the columns themselves: of all pairs, or
        of these columns, by name or number.
    random_state : int, RandomState instance or None, default=None
        Seed for shuffling the rows before a number of folds is made. None: the same
        folds in every fit.
    n_jobs : int, default=None
        Number of threads. None: one per core. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Class labels.
    coef_ : ndarray of shape (1 or n_classes, n_coefficients)
        Coefficients w for the chosen alpha.
    intercept_ : ndarray of shape (1 or n_classes,)
        Intercepts b.
    alpha_ : float
        The chosen alpha.
    alphas_ : ndarray of shape (n_alphas,)
        The alphas of the path, in descending order.
    coef_path_ : ndarray of shape (1 or n_classes, n_coefficients, n_alphas)
        Coefficients of the path.
    intercept_path_ : ndarray of shape (1 or n_classes, n_alphas)
        Intercepts of the path.
    path_table_ : Table
        For each alpha, as of :class:`ElasticNet`.
    coef_names_ : ndarray of shape (n_coefficients,)
        Names of the coefficients.
    n_iter_ : int
        Number of iterations for the chosen alpha.
    design_ : Design
        Encoding of the columns of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    ElasticNet : Regression with this penalty.
    LogisticRegression : One penalty of strength C, and statistical inference without.

    Notes
    -----
    The penalty is that of :class:`LogisticRegression` with ``C = 1 / (alpha * n)``, for
    n rows. For algorithms and references, see :class:`ElasticNet`.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn_textbook.linear_model import ElasticNetClassifier
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> model = ElasticNetClassifier("1se", l1_ratio=1.0)
    >>> model = model.fit(X, y)
    >>> int((model.coef_ != 0.0).sum()) < 15
    True
    """

    _is_classifier = True

    def __init__(
        self,
        alpha: float | str = 0.01,
        *,
        l1_ratio: float = 0.5,
        alphas: int | ArrayLike | None = None,
        eps: float = 1e-3,
        cv: Any = None,
        standardize: bool | str = "auto",
        grouped_levels: bool = False,
        penalty_factors: ArrayLike | dict[Any, float] | None = None,
        fit_intercept: bool = True,
        positive: bool = False,
        class_weight: dict[Any, float] | str | None = None,
        max_iter: int = 1000,
        tol: float = 1e-8,
        warm_start: bool = False,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | dict[Any, Any] | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        formula: str | None = None,
        interactions: str | list | None = None,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.alpha = alpha
        self.l1_ratio = l1_ratio
        self.alphas = alphas
        self.eps = eps
        self.cv = cv
        self.standardize = standardize
        self.grouped_levels = grouped_levels
        self.penalty_factors = penalty_factors
        self.fit_intercept = fit_intercept
        self.positive = positive
        self.class_weight = class_weight
        self.max_iter = max_iter
        self.tol = tol
        self.warm_start = warm_start
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.formula = formula
        self.interactions = interactions
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Fit the coefficients.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Weights of the rows, each as that many copies of the row. None: 1 each.
        offset : array-like of shape (n_samples,) or (n_samples, n_classes), \
                default=None
            Numbers added to the scores: for two classes, to the log-odds of the second;
            for more, to the score of each class. None: 0.

        Returns
        -------
        self : ElasticNetClassifier
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a label, a weight or a value is invalid, if there is only
            one class, or if the training rows of a fold lack one.

        Warns
        -----
        ConvergenceWarning
            If ``max_iter`` is reached for some alpha.
        """
        self._check_parameters()
        if not isinstance(self.class_weight, dict):
            check_choice(
                "class_weight", self.class_weight, ("balanced",), accepts_none=True
            )
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        classes, codes = read_classes(type(self).__name__, X, y, is_present)
        factors = weigh_classes(self.class_weight, classes, codes, weight)
        if factors is not None:
            weight = factors[codes] * (1.0 if weight is None else weight)
        if self.warm_start and not np.array_equal(
            getattr(self, "classes_", classes), classes
        ):
            self._forget("coef_")
        self.classes_ = classes
        n_rows = len(codes) if is_present is None else len(is_present)
        offset = take_rows_of(self._read_offset(offset, n_rows), is_present)

        def make_loss(codes, weight, offset):
            return LogisticLoss(codes, len(classes), weight, offset)

        self._fit_path(matrix, codes, weight, is_present, make_loss, offset)
        return self

    def _read_offset(self, offset, n_rows: int) -> np.ndarray | None:
        """Read the offset of the scores, or None."""
        if offset is None:
            return None
        if len(self.classes_) == 2:
            return read_numbers("offset", offset, (n_rows,))[:, np.newaxis]
        return read_numbers("offset", offset, (n_rows, len(self.classes_)))

    def _set_coefficients(self, path: Path, chosen: int) -> None:
        self.coef_path_ = copy_rows(path.coef.transpose(1, 2, 0))
        self.intercept_path_ = copy_rows(path.intercept.T)
        self.coef_ = path.coef[chosen].copy()
        self.intercept_ = path.intercept[chosen].copy()

    def decision_function(
        self, X: MatrixLike, *, offset: ArrayLike | None = None
    ) -> np.ndarray:
        r"""Compute the linear score of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like or str, default=None
            Of shape (n_samples,) or (n_samples, n_classes), as in ``fit``; for two
            classes, it may be the name of a column of a table in blocks. None: 0,
            whatever was passed to ``fit``.

        Returns
        -------
        scores : ndarray of shape (n_samples,) or (n_samples, n_classes)
            For two classes, the log-odds of the second, :math:`w^T x + b`. For more,
            the logarithms of the probabilities up to a constant per row.
        """
        check_is_fitted(self)
        (offset,) = read_named(X, offset=offset)
        scores = self._predict_blocks(
            X, lambda matrix: np.asarray(matrix @ self.coef_.T) + self.intercept_
        )
        offset = self._read_offset(offset, len(scores))
        scores = scores if offset is None else scores + offset
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: MatrixLike, *, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like or str, default=None
            As in ``decision_function``.

        Returns
        -------
        y : ndarray of shape (n_samples,)
            Class labels.

        Raises
        ------
        ValueError
            If a row has missing values, with ``missing="drop"``; its probabilities are
            NaN.
        """
        return self._choose_classes(self.decision_function(X, offset=offset))

    def predict_proba(
        self, X: MatrixLike, *, offset: ArrayLike | None = None
    ) -> np.ndarray:
        """Compute the probability P(y|x) of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like or str, default=None
            As in ``decision_function``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return find_probabilities(self.decision_function(X, offset=offset))

    def predict_log_proba(
        self, X: MatrixLike, *, offset: ArrayLike | None = None
    ) -> np.ndarray:
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like or str, default=None
            As in ``decision_function``.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms in the order of ``classes_``; finite even where the
            probability underflows.
        """
        return find_log_probabilities(self.decision_function(X, offset=offset))
