"""Regression of ordered classes, 有序回归."""

from __future__ import annotations

from contextlib import closing
from itertools import pairwise
from typing import Any, Self

import narwhals as nw
import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, issparse
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook._contract.blas_threads import use_one_blas_thread
from sklearn_textbook._contract.blocks import BlockSource, list_blocks
from sklearn_textbook._contract.caller import warn_caller
from sklearn_textbook._contract.fitting import all_or_nothing
from sklearn_textbook._contract.labels import list_declared_classes
from sklearn_textbook._contract.memory import require_memory
from sklearn_textbook._contract.parameters import (
    check_choice,
    check_integer,
    check_real,
    is_checked,
    name_some,
)
from sklearn_textbook._contract.scoring import ClassifierMixin
from sklearn_textbook._contract.threads import check_n_jobs, count_threads
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.design.reading import require_scores
from sklearn_textbook.linear_model.inference.anova import AnovaTable
from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.frequencies import (
    has_fractions,
    warn_of_fractions,
)
from sklearn_textbook.linear_model.inference.likelihood_measures import (
    LikelihoodMeasures,
    describe_test,
)
from sklearn_textbook.linear_model.inference.result import LinearResult
from sklearn_textbook.linear_model.inference.robust import TrainingScores
from sklearn_textbook.linear_model.inference.summary import (
    WIDTH,
    format_statistic,
    write_summary,
)
from sklearn_textbook.linear_model.logistic.logistic_regression import (
    read_classes,
    read_stored_classes,
)
from sklearn_textbook.linear_model.offsets import (
    read_named,
    read_offset,
    take_rows_of,
)
from sklearn_textbook.linear_model.ordinal.brant import compare_slopes
from sklearn_textbook.linear_model.ordinal.likelihood import (
    OrdinalLikelihood,
    differentiate_rows,
    maximize_likelihood,
)
from sklearn_textbook.linear_model.ordinal.links import LINKS, measure_classes
from sklearn_textbook.linear_model.solve.row_blocks import lay_out

#: Scores that change by more than this in the last step are diverging.
RUNAWAY = 0.1
#: What R calls the links.
OTHER_NAMES = {"logistic": "logit"}


class OrdinalRegression(ClassifierMixin, LikelihoodMeasures, BaseLinearModel):
    r"""Regression of ordered classes (有序回归): a cumulative link model.

    The probabilities of the first j of K ordered classes are

    .. math:: P(y \le j \mid x) = F(\zeta_j - w^T x - o), \quad j = 1, \dots, K - 1,

    with a distribution function F, ascending thresholds :math:`\zeta_j`, which take the
    place of an intercept, and a known offset o, 0 unless it is given. A positive
    coefficient makes higher classes more likely. With the logistic distribution, the
    odds of :math:`y > j` grow by :math:`e^{w_k}` per unit of column k, for each j alike
    (proportional odds, 比例优势). Coefficients and thresholds maximise the likelihood,
    as those of R's ``MASS::polr``.

    Parameters
    ----------
    link : {"logit", "probit", "cloglog"}, default="logit"
        The inverse of F: "logit", logistic distribution; "probit", normal distribution;
        "cloglog", :math:`F(q) = 1 - \exp(-e^q)`, proportional hazards. R's polr calls
        the first one "logistic".
    class_order : array-like of shape (n_classes,), default=None
        The classes in ascending order. None: as an ordered categorical y declares, and
        otherwise sorted, with a warning if classes are text.
    categorical_features : "from_dtype", None, array-like or dict, default="from_dtype"
        Columns with levels. "from_dtype": strings and categorical dtypes. A mask,
        indices or names. A dict from names or indices to "nominal" or to the ordered
        list of levels.
    reference_level : {"first", "last", "most_frequent"}, dict or None, default="first"
        The level of a nominal column without indicator; a dict has the level by name or
        number of the column, the others have the first. None: all levels have one.
    handle_unknown : {"mean", "error"}, default="mean"
        How levels not seen in training are treated: "mean" gives them the mean of the
        effects of the levels in the training rows, with a warning: indicators take
        their weighted means (ordinal columns: their mean); "error" raises an error.
    missing : {"error", "drop", "mean"}, default="error"
        What is done with missing values in X. "error": they raise an error. "drop":
        rows with one are left out of the fit, as by R's ``na.omit``, and their
        probabilities are NaN. "mean": numbers have the weighted mean of the column,
        levels the mean of their indicators, and one more column, such as
        "missing(age)", marks them if the training rows have some; columns that lack the
        same rows share it.
    formula : str, default=None
        Terms of the model in place of the columns, in Wilkinson's notation, such as "x1
        * C(g) + poly(x, 3)"; see :func:`from_formula`, which takes the target, too.
        None: all columns of the table.
    interactions : "pairwise" or list of tuples, default=None
        Products of columns (交互作用) besides the columns themselves: of all pairs, or
        of these columns, by name or number. A product with a nominal column has a
        coefficient for each level but the reference level.
    tol : float, default=1e-8
        Newton's method stops when the expected decrease of the negative log-likelihood
        in the next step is at most ``tol ** 2 / 2`` per row.
    max_iter : int, default=100
        Maximum number of iterations.
    n_jobs : int, default=None
        Number of threads. None: one per core. The result does not depend on it.

    Attributes
    ----------
    class_order_ : ndarray of shape (n_classes,)
        The classes in ascending order.
    classes_ : ndarray of shape (n_classes,)
        Class labels, sorted, for the columns of ``predict_proba``: scikit-learn's
        metrics take these in the order of sorted labels.
    coef_ : ndarray of shape (n_coefficients,)
        Coefficients w.
    thresholds_ : ndarray of shape (n_classes - 1,)
        Thresholds :math:`\zeta`, R's ``zeta``.
    coef_names_, threshold_names_ : ndarray of str
        Names of the columns of ``coef_``, and of the thresholds, such as "low|high".
    coefficient_table_ : CoefficientTable
        Estimates, standard errors, z, p-values and 95% confidence intervals of the
        coefficients, and of the thresholds after them.
    standard_errors_ : ndarray of shape (n_coefficients,)
        Standard errors of ``coef_``; NaN for those that the rows do not determine.
    threshold_standard_errors_ : ndarray of shape (n_classes - 1,)
        Standard errors of ``thresholds_``.
    covariance_ : ndarray of shape (n, n)
        Covariance of the coefficients and the thresholds: the inverse of the Hessian.
    log_likelihood_ : float
        Logarithm of the likelihood.
    null_log_likelihood_ : float
        That of the model without columns.
    deviance_, null_deviance_ : float
        -2 times these.
    pseudo_r2_ : float
        McFadden's pseudo R².
    aic_, bic_ : float
        Information criteria.
    likelihood_ratio_test_ : LikelihoodRatioTest
        Test that all coefficients are zero.
    rank_ : int
        Number of coefficients that the rows determine, without the thresholds.
    n_observations_ : float
        Sum of the weights.
    n_iter_ : int
        Number of iterations.
    converged_ : bool
        Whether Newton's method converged.
    loss_path_ : ndarray of shape (n_iterations + 1,)
        Negative log-likelihood at the start and after each iteration.
    design_ : Design
        Encoding of the columns of the table.
    n_features_in_ : int
        Number of columns of the table.
    feature_names_in_ : ndarray of shape (n_features,)
        Names of the columns, if all are strings.

    See Also
    --------
    LogisticRegression : Of classes without an order.

    Notes
    -----
    Linearly dependent columns are treated as in ``LogisticRegression``: the shortest
    coefficients are used, with a warning. The columns are centred and turned to
    uncorrelated ones for the fit.

    References
    ----------
    P. McCullagh (1980), Regression models for ordinal data. Journal of the Royal
    Statistical Society B 42.

    R. Brant (1990), Assessing proportionality in the proportional odds model for
    ordinal logistic regression. Biometrics 46.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn_textbook.linear_model import OrdinalRegression
    >>> dose = np.repeat([[0.0], [1.0], [2.0], [3.0]], 5, axis=0)
    >>> pain = ["high", "high", "mild", "high", "none", "high", "mild", "mild", "high",
    ...         "mild", "mild", "none", "high", "mild", "none", "none", "mild", "none",
    ...         "none", "mild"]
    >>> model = OrdinalRegression(class_order=["none", "mild", "high"]).fit(dose, pain)
    >>> print(model.coefficient_table_)
                  coef  std. error       z       p     2.5%     97.5%
    x0         -1.0416      0.4548  -2.291  0.0220  -1.9329  -0.15032  *
    none|mild  -2.7107      1.0242  -2.647  0.0081  -4.7182  -0.70321  **
    mild|high  -0.5106      0.7679  -0.665  0.5061  -2.0156   0.99434
    >>> model.predict([[0.0], [3.0]]).tolist()
    ['high', 'none']
    >>> model.classes_.tolist()
    ['high', 'mild', 'none']
    >>> model.predict_proba([[3.0]]).round(2)
    array([[0.07, 0.33, 0.6 ]])
    """

    _fits_blocks = True
    #: The thresholds take its place.
    fit_intercept = False
    _has_thresholds = True

    def __init__(
        self,
        link: str = "logit",
        *,
        class_order: ArrayLike | None = None,
        categorical_features: ArrayLike | dict[str, Any] | None = "from_dtype",
        reference_level: str | dict[Any, Any] | None = "first",
        handle_unknown: str = "mean",
        missing: str = "error",
        formula: str | None = None,
        interactions: str | list | None = None,
        tol: float = 1e-8,
        max_iter: int = 100,
        n_jobs: int | None = None,
    ) -> None:
        self.link = link
        self.class_order = class_order
        self.categorical_features = categorical_features
        self.reference_level = reference_level
        self.handle_unknown = handle_unknown
        self.missing = missing
        self.formula = formula
        self.interactions = interactions
        self.tol = tol
        self.max_iter = max_iter
        self.n_jobs = n_jobs

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        # Of classes that no single score orders.
        tags.classifier_tags.poor_score = True
        return tags

    # ----------------------------------------------------------------------- fitting
    @all_or_nothing
    def fit(
        self,
        X: MatrixLike,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        offset: ArrayLike | None = None,
    ) -> Self:
        """Fit the coefficients and thresholds.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        y : array-like of shape (n_samples,) or str
            Class labels; the name of a column of a table in blocks.
        sample_weight : array-like of shape (n_samples,) or str, default=None
            Weights of the rows, which count as so many equal rows; the name of a column
            of a table in blocks. None: 1 each.
        offset : array-like of shape (n_samples,) or str, default=None
            Number added to the linear predictor of each row; the name of a column of a
            table in blocks. None: 0.

        Returns
        -------
        self : OrdinalRegression
            The fitted estimator.

        Raises
        ------
        ValueError
            If a parameter, a label, a weight or a value is invalid, if there is only
            one class, or if ``class_order`` lacks a class of y.

        Warns
        -----
        ConvergenceWarning
            If Newton's method did not converge, or if the likelihood has no maximum,
            since the columns separate classes.
        UserWarning
            If columns are linearly dependent, if classes are text and have no declared
            order, or if there are no rows of a declared class.
        """
        self._check_parameters()
        if isinstance(X, BlockSource):
            with closing(
                self._open_columns(
                    *(X, y, sample_weight),
                    is_numeric=False,
                    vectors={} if offset is None else {"offset": offset},
                )
            ) as columns:
                matrix = self._read_stored_rows(columns)
                classes = read_stored_classes(type(self).__name__, columns)
                numbers = self._order_classes(classes, None)
                for rows in list_blocks(len(columns.target)):
                    codes = numbers[columns.target.read(rows)]
                    columns.target.write(rows.start, codes.astype(np.int32))
                known = columns.vectors.get("offset")
                self._fit_rows(matrix, columns.target, columns.weight, known)
            return self
        matrix, weight, is_present = self._read_training_table(X, sample_weight)
        classes, codes = read_classes(type(self).__name__, X, y, is_present)
        numbers = self._order_classes(classes, y)
        n_rows = len(codes) if is_present is None else len(is_present)
        offset = take_rows_of(read_offset(offset, None, n_rows, None), is_present)
        self._fit_rows(matrix, numbers[codes], weight, offset)
        return self

    def _order_classes(self, classes, y):
        """Set the classes in order; returns the number of each sorted class."""
        order = self.class_order
        if order is not None:
            order = np.asarray(order).ravel().tolist()
            if len(set(order)) < len(order):
                raise ValueError(
                    f"class_order must not have a class twice; got {order!r}."
                )
            lacking = [label for label in classes.tolist() if label not in order]
            if lacking:
                raise ValueError(
                    f"class_order must have all classes of y; {name_some(lacking)} "
                    f"{'is' if len(lacking) == 1 else 'are'} not among {order!r}."
                )
        elif y is not None and is_ordered(y):
            order = list_declared_classes(y)
        else:
            order = classes.tolist()
            if any(isinstance(label, str) for label in order):
                warn_caller(
                    "y has classes that are text, without a declared order; they are "
                    f"sorted: {name_some(order)}. Give class_order, or an ordered "
                    "categorical y.",
                    UserWarning,
                )
        place = {label: number for number, label in enumerate(order)}
        ranks = np.array([place[label] for label in classes.tolist()])
        self.classes_ = classes
        self._class_numbers = np.argsort(np.argsort(ranks))
        return self._class_numbers

    def _fit_rows(self, matrix, codes, weight, offset) -> None:
        """Fit to rows in memory or in files."""
        (n_rows, n_columns), n_classes = matrix.shape, len(self.classes_)
        n_cells = n_rows * (n_columns + n_classes)
        require_memory(
            8.0 * (4.0 * (n_columns + n_classes) ** 2),
            type(self).__name__,
            f"for {n_columns} columns and {n_classes} classes",
            "Leave out columns of many levels.",
            ValueError,
        )

        def make(columns):
            return OrdinalLikelihood(
                *(columns, codes, weight, n_classes, LINKS[self.link]),
                count_threads(self.n_jobs, n_cells),
                offset,
            )

        def maximize(likelihood):
            start = likelihood.start(totals)
            limits = (int(self.max_iter), float(self.tol))
            return maximize_likelihood(likelihood, start, *limits)

        likelihood = make(lay_out(matrix))
        totals = likelihood.count_classes()
        self.null_log_likelihood_ = float(totals @ np.log(totals / totals.sum()))
        with use_one_blas_thread():
            found = maximize(likelihood)
            if offset is not None:
                null = maximize(make(np.empty((n_rows, 0))))
                self.null_log_likelihood_ = -float(null.at.loss)
        self.coef_, self.thresholds_ = likelihood.restore(found.numbers)
        back = likelihood.turn_back()
        self.covariance_ = back @ np.linalg.pinv(found.at.hessian) @ back.T
        determined = likelihood.solution.is_determined
        self._is_determined = np.append(
            determined[1:], np.repeat(determined[0], n_classes - 1)
        )
        self.rank_ = likelihood.rank
        self.log_likelihood_ = -float(found.at.loss)
        self._has_offset = offset is not None
        self.n_observations_ = likelihood.total_weight
        self._has_fractions = has_fractions(weight)
        self.loss_path_ = np.array(found.loss_path)
        self.n_iter_ = len(found.loss_path) - 1
        self.converged_ = found.is_converged
        self._warn_of_end(found)
        # A constant is among the thresholds.
        self._warn_of_dependence(
            self.rank_, n_rows, lambda: ~self._is_determined[:n_columns]
        )

    def _warn_of_end(self, found) -> None:
        """Warn of a likelihood without a maximum, or of too few iterations."""
        where = f"log-likelihood {self.log_likelihood_:.6g} after {self.n_iter_} steps"
        if found.is_converged and found.largest_move > RUNAWAY:
            message = (
                "The likelihood seems to have no maximum: linear predictors still "
                f"change by {found.largest_move:.2g} while it is constant ({where}), "
                "as if the columns separate classes. Coefficients and standard errors "
                "are those of the last iteration and are meaningless."
            )
        elif not found.is_converged:
            message = (
                f"{type(self).__name__} did not converge: {where}. Increase max_iter "
                "or tol."
            )
        else:
            return
        warn_caller(message, ConvergenceWarning)

    def _check_parameters(self) -> None:
        self._check_table_parameters()
        if is_checked() and self.link in OTHER_NAMES:
            raise ValueError(
                f"The 'link' parameter has no value {self.link!r}; use "
                f"link={OTHER_NAMES[self.link]!r}."
            )
        check_choice("link", self.link, tuple(LINKS))
        check_real("tol", self.tol, 0.0)
        check_integer("max_iter", self.max_iter, 1)
        check_n_jobs(self.n_jobs)

    # -------------------------------------------------------------------- predictions
    def predict_linear(
        self, X: MatrixLike, *, offset: ArrayLike | None = None
    ) -> np.ndarray:
        r"""Compute the linear predictors :math:`w^T x + o`, without a threshold.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like of shape (n_samples,) or str, default=None
            Number added to the linear predictor of each row; the name of a column of a
            table in blocks. None: 0, whatever was passed to ``fit``.

        Returns
        -------
        predictor : ndarray of shape (n_samples,)
            Linear predictors; the larger, the more likely are high classes.
        """
        check_is_fitted(self)
        (offset,) = read_named(X, offset=offset)
        predictor = self._predict_blocks(
            X, lambda matrix: np.asarray(matrix @ self.coef_).ravel()
        )
        known = read_offset(offset, None, len(predictor), None)
        return predictor if known is None else predictor + known

    def predict_log_proba(
        self, X: MatrixLike, *, offset: ArrayLike | None = None
    ) -> np.ndarray:
        """Compute the logarithm of the probability of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like of shape (n_samples,) or str, default=None
            As in ``predict_linear``.

        Returns
        -------
        log_probabilities : ndarray of shape (n_samples, n_classes)
            Natural logarithms in the order of ``classes_``.
        """
        scores = self.predict_linear(X, offset=offset)
        found = measure_classes(LINKS[self.link], scores, self.thresholds_)
        return found[:, self._class_numbers]

    def predict_proba(
        self, X: MatrixLike, *, offset: ArrayLike | None = None
    ) -> np.ndarray:
        """Compute the probability P(y|x) of each class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like of shape (n_samples,) or str, default=None
            As in ``predict_linear``.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Probabilities in the order of ``classes_``.
        """
        return np.exp(self.predict_log_proba(X, offset=offset))

    def predict(self, X: MatrixLike, *, offset: ArrayLike | None = None) -> np.ndarray:
        """Predict the most probable class.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The rows, or a table that :func:`sklearn_textbook.io.scan` reads in blocks.
        offset : array-like of shape (n_samples,) or str, default=None
            As in ``predict_linear``.

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
        scores = require_scores(self.predict_log_proba(X, offset=offset))
        return self.classes_[scores.argmax(axis=1)]

    # ---------------------------------------------------------------------- inference
    @property
    def class_order_(self) -> np.ndarray:
        """The classes in ascending order."""
        check_is_fitted(self)
        return self.classes_[np.argsort(self._class_numbers)]

    @property
    def threshold_names_(self) -> np.ndarray:
        """Names of the thresholds: of the classes on both sides."""
        labels = [str(label) for label in self.class_order_]
        names = [f"{low}|{high}" for low, high in pairwise(labels)]
        return np.array(names, dtype=object)

    def _find_errors(self):
        """Find the standard errors of coefficients and thresholds."""
        check_is_fitted(self)
        if self._has_fractions:
            warn_of_fractions("there is no other estimator of this model")
        errors = np.sqrt(np.maximum(self.covariance_.diagonal(), 0.0))
        return np.where(self._is_determined, errors, np.nan)

    @property
    def standard_errors_(self) -> np.ndarray:
        """Standard errors of ``coef_``; NaN where the data do not determine them."""
        return self._find_errors()[: len(self.coef_)]

    @property
    def threshold_standard_errors_(self) -> np.ndarray:
        """Standard errors of ``thresholds_``."""
        return self._find_errors()[len(self.coef_) :]

    @property
    def coefficient_table_(self) -> CoefficientTable:
        """Estimates, standard errors, z tests and 95% confidence intervals."""
        return self.make_coefficient_table(0.95)

    def make_coefficient_table(self, level: float = 0.95) -> CoefficientTable:
        """Make a table of the coefficients and thresholds.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.

        Returns
        -------
        table : CoefficientTable
            Estimates, standard errors, z, p and confidence intervals.
        """
        errors = self._find_errors()
        check_level(level)
        estimates = np.append(self.coef_, self.thresholds_)
        return CoefficientTable(
            self._name_coefficients(), estimates, errors, None, level
        )

    def _name_coefficients(self) -> tuple[str, ...]:
        return (*self.design_.names, *self.threshold_names_)

    def _count_free(self, name: str = "") -> int:
        """Count the free coefficients and thresholds."""
        return self.rank_ + len(self.thresholds_)

    def _count_constants(self) -> int:
        return len(self.thresholds_)

    def summary(self, level: float = 0.95, *, width: int | None = WIDTH) -> str:
        """Return a text summary of the model.

        Parameters
        ----------
        level : float, default=0.95
            Confidence level of the intervals.
        width : int or None, default=80
            Maximum line length; long names are shortened. None: no limit.

        Returns
        -------
        text : str
            Description of the model, goodness of fit, and coefficients.
        """
        table = self.make_coefficient_table(level)
        facts = [
            ("classes", " < ".join(map(str, self.class_order_))),
            ("link", self.link),
            ("rows", f"{self.n_observations_:,.12g}"),
            ("rank", f"{self.rank_} of {len(self.coef_)} columns"),
            ("iterations", str(self.n_iter_)),
            ("log-likelihood", format_statistic(self.log_likelihood_)),
            ("null deviance", format_statistic(self.null_deviance_)),
            ("deviance", format_statistic(self.deviance_)),
            ("AIC", format_statistic(self.aic_)),
            ("BIC", format_statistic(self.bic_)),
            ("LR chi²", describe_test(self.likelihood_ratio_test_)),
        ]
        notes = self._note_references()
        if not self.converged_:
            notes.append("Newton's method did not converge.")
        if self.rank_ < len(self.coef_):
            notes.append(
                "Columns are linearly dependent: the slopes have the smallest norm; "
                "those without standard error are not determined by the data."
            )
        return write_summary(
            "Ordinal regression", facts, [("", table)], notes, width=width
        )

    def proportional_odds_test(
        self, X: MatrixLike, y: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> AnovaTable:
        r"""Test that the odds are proportional (Brant's test, 比例优势检验).

        Binary logistic regressions of :math:`y > j` are fitted for each j. If the odds
        are proportional, their slopes are equal; the test is Wald's, with the joint
        covariance of all slopes. Only for ``link="logit"`` and more than two classes.

        Parameters
        ----------
        X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
            The training rows.
        y : array-like of shape (n_samples,)
            Their class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            Their weights.

        Returns
        -------
        table : AnovaTable
            A line for each column of the table, and one for all of them. A small
            p-value says that the coefficients of the column depend on the class.

        Raises
        ------
        ValueError
            If the model has another link, an offset or only two classes, or if a binary
            regression has no finite coefficients.
        """
        check_is_fitted(self)
        if self.link != "logit" or len(self.classes_) < 3:
            raise ValueError(
                "proportional_odds_test requires link='logit' and three classes or "
                f"more; got link={self.link!r} and {len(self.classes_)} classes."
            )
        if vars(self).get("_has_offset", False):
            raise ValueError(
                "proportional_odds_test is of models without an offset; this one was "
                "fitted with one."
            )
        matrix, codes, weight, _ = self._read_rows_of_fit(X, y, sample_weight)
        terms = self._list_terms()
        return compare_slopes(matrix, codes, weight, self.class_order_, terms)

    def _make_result(self) -> LinearResult:
        """Describe the coefficients and thresholds for tests and intervals."""
        self._find_errors()
        return LinearResult(
            names=self._name_coefficients(),
            headings=("",),
            estimates=np.append(self.coef_, self.thresholds_),
            covariance=self.covariance_,
            is_determined=self._is_determined,
            degrees_of_freedom=None,
            terms=self._list_terms(),
            is_least_squares=False,
            deviance=self.deviance_,
            log_likelihood=self.log_likelihood_,
            dispersion=1.0,
            knows_dispersion=True,
            n_parameters=float(self._count_free()),
            residual_degrees_of_freedom=float(
                self.n_observations_ - self._count_free()
            ),
            n_observations=float(self.n_observations_),
            null_deviance=self.null_deviance_,
            n_constants=len(self.thresholds_),
        )

    def _hold_shape(self) -> dict[str, Any]:
        """Parameters with which other fits have the classes of this one."""
        return {"class_order": self.class_order_.tolist()}

    def _read_offset(self, offset, exposure, n_rows: int) -> np.ndarray | None:
        """Read the offset of the predictors, or None."""
        if exposure is not None:
            raise TypeError(f"{type(self).__name__} has an offset, but no exposure.")
        return read_offset(offset, None, n_rows, None)

    def _find_scores(
        self, X, y, sample_weight, *, offset=None, exposure=None
    ) -> TrainingScores:
        """Compute the scores of the training rows."""
        matrix, codes, weight, is_present = self._read_rows_of_fit(X, y, sample_weight)
        predictor = np.asarray(matrix @ self.coef_).ravel()
        known = self._read_offset(offset, exposure, len(is_present))
        if known is not None:
            predictor = predictor + known[is_present]
        ends = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        found = differentiate_rows(
            LINKS[self.link], ends[codes] - predictor, ends[codes + 1] - predictor
        )
        loss = -float(weight @ found.log_probability)
        slack = 1e-6 * abs(self.log_likelihood_) + 1e-9 * abs(self.null_log_likelihood_)
        if not abs(loss + self.log_likelihood_) <= slack:
            raise ValueError(
                "The rows, labels, weights and offset must be those of the fit, whose "
                f"log-likelihood was {self.log_likelihood_:.9g}; got {-loss:.9g}."
            )
        scores = np.zeros((len(codes), len(self.coef_) + len(ends)))
        dense = matrix.toarray() if issparse(matrix) else matrix
        scores[:, : len(self.coef_)] = (found.lower - found.upper)[
            :, np.newaxis
        ] * dense
        places, first = np.arange(len(codes)), len(self.coef_)
        scores[places, first + codes + 1] = found.upper
        scores[places, first + codes] = -found.lower
        kept = np.delete(np.arange(scores.shape[1]), [first, -1])
        return TrainingScores(
            is_present,
            matrix,
            False,
            np.ones((len(codes), 1)),
            weight,
            None,
            self.covariance_,
            score_rows=scores[:, kept],
        )

    def _read_rows_of_fit(
        self, X, y, sample_weight
    ) -> tuple[np.ndarray | csr_array, np.ndarray, np.ndarray, np.ndarray]:
        """Read training rows again, with the numbers of their classes."""
        matrix, weight, is_present = self._read_rows_again(X, sample_weight)
        classes, codes = read_classes(type(self).__name__, X, y, is_present)
        if not np.array_equal(classes, self.classes_):
            raise ValueError(
                f"The classes must be those of the fit, {self.classes_.tolist()}; got "
                f"{classes.tolist()}."
            )
        weight = np.ones(len(codes)) if weight is None else weight
        return matrix, self._class_numbers[codes], weight, is_present

    def _find_responses(self, matrix, scale, offset):
        """Responses of rows, their names, and derivatives by all coefficients."""
        n_columns, n_classes = len(self.coef_), len(self.classes_)
        predictor = matrix @ self.coef_ + (0.0 if offset is None else offset)
        n_names = n_columns + n_classes - 1
        if scale == "link":
            slopes = np.zeros((len(matrix), 1, n_names))
            slopes[:, 0, :n_columns] = matrix
            return predictor[:, np.newaxis], ("",), slopes
        link = LINKS[self.link]
        ends = np.concatenate([[-np.inf], self.thresholds_, [np.inf]])
        values = ends - predictor[:, np.newaxis]
        density = np.exp(link.measure_density(values))
        slopes = np.zeros((len(matrix), n_classes, n_names))
        slopes[:, :, :n_columns] = (density[:, :-1] - density[:, 1:])[
            :, :, np.newaxis
        ] * matrix[:, np.newaxis]
        for number in range(n_classes - 1):
            at = density[:, number + 1]
            slopes[:, number, n_columns + number] = at
            slopes[:, number + 1, n_columns + number] = -at
        found = np.exp(measure_classes(link, predictor, self.thresholds_))
        return found, tuple(map(str, self.class_order_)), slopes


def is_ordered(y: Any) -> bool:
    """Whether the dtype of a target declares ordered classes."""
    series = nw.from_native(y, series_only=True, pass_through=True)
    if not isinstance(series, nw.Series):
        return bool(getattr(y, "ordered", False))
    if series.dtype == nw.Enum:
        return True
    if series.dtype == nw.Categorical and series.implementation.is_pandas_like():
        return bool(series.to_native().cat.ordered)
    return False
