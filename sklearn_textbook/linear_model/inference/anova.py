"""Tests of the columns of a model, and of models against each other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from sklearn.base import clone

from sklearn_textbook._contract.html import make_table
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.text_table import TextTable
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook.linear_model.inference.result import (
    DEPENDENT,
    LinearResult,
    check_covariance,
    find_tested,
    get_result,
    require_likelihood,
)
from sklearn_textbook.linear_model.inference.summary import (
    find_mark,
    format_column,
    format_p,
    make_frame,
    write_table,
)

TYPES = (1, 2, 3)
TESTS = ("auto", "F", "LR", "wald")
#: Deviances of models of the same rows without columns differ by no more.
SAME = 1e-9


@dataclass(frozen=True)
class AnovaTable:
    """Tests of the columns of a model, or of a sequence of models.

    Parameters
    ----------
    names : tuple of str
        What each line is about.
    columns : dict of str to ndarray
        Numbers of the lines by name: degrees of freedom, sums of squares or deviances,
        the statistic "F" or "chi2", information criteria; NaN where there is none.
    p_values : ndarray of shape (n_lines,)
        Probability of a statistic at least as large if the coefficients are zero.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, anova
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> table = anova(LinearRegression().fit(X, y))
    >>> table.names, table.columns["F"].round(2).tolist()
    (('x0', 'x1', 'residuals'), [39.95, 0.54, nan])
    """

    names: tuple
    columns: dict
    p_values: np.ndarray

    def as_dict(self) -> dict[str, Any]:
        """Return the table as a dictionary of columns of equal length."""
        names = {"name": np.array(self.names, dtype=object)}
        return names | self.columns | {"p_value": self.p_values}

    def to_frame(self) -> Any:
        """Return the table as a pandas DataFrame, by what each line is about."""
        return make_frame(self.as_dict())

    def tabulate(self, digits: int = 5) -> TextTable:
        """Return the table as texts with so many digits.

        Parameters
        ----------
        digits : int, default=5
            Significant digits of the numbers.

        Returns
        -------
        table : TextTable
            Names, numbers, p-values and their marks.
        """
        heads = ["", *(name.replace("_", " ") for name in self.columns), "p", ""]
        columns = [
            *(format_column(column, digits) for column in self.columns.values()),
            map(format_p, self.p_values),
            map(find_mark, self.p_values),
        ]
        return TextTable(heads, [*zip(self.names, *columns, strict=True)])

    def _repr_html_(self) -> str:
        return make_table(self.tabulate())

    def __str__(self):
        """Format the table with a heading and one line for each term or model."""
        return "\n".join(write_table(self.tabulate)[0])


def anova(
    model: Any,
    X: MatrixLike | None = None,
    y: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    *,
    type: int = 2,  # noqa: A002 - as in R
    test: str = "auto",
    covariance: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> AnovaTable:
    r"""Test the terms of a model, all coefficients of each at once (方差分析).

    A term is a column of the table, or a term of the ``formula`` or the
    ``interactions`` of the model.

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    X, y, sample_weight : array-like, default=None
        The training rows, as in ``fit``: for likelihood-ratio tests, and for
        ``type=1``, models are fitted without some columns.
    type : {1, 2, 3}, default=2
        1: each term is added to those before it. 2: each is added to all others but
        products with it. 3: each is added to all others, so that a column with a
        product is tested where the other columns of the product are 0 or have their
        reference levels; without products, this is the same as 2.
    test : {"auto", "F", "LR", "wald"}, default="auto"
        "F": the decrease of the sum of squares or deviance by the term, for each
        coefficient, divided by the dispersion of the model; "LR": the decrease of the
        deviance, divided by the dispersion, is :math:`\chi^2`. "wald": the test of
        :func:`wald_test`, which needs no rows and takes ``covariance``. "auto": "F" for
        least squares; with rows, "LR" if the dispersion is known and "F" if not;
        otherwise "wald". For least squares, "F" with type 2 equals "wald" and needs no
        rows, either.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients for "wald", as of :func:`robust_covariance`;
        "auto" is then "wald".
    offset, exposure : array-like, default=None
        As in the ``fit`` of a generalised linear model.

    Returns
    -------
    table : AnovaTable
        A line for each term.

    Raises
    ------
    ValueError
        If the model has a penalty, if rows are needed or are not those of the fit, or
        if ``covariance`` is given for another test.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, anova
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> print(anova(LinearRegression().fit(X, y), X, y, type=1))
               df  sum of squares       F       p
    x0          1          25.600  54.261  0.0179  *
    x1          1           0.256   0.543  0.5377
    residuals   2           0.944       -       -
    """
    if type not in TYPES or isinstance(type, bool):
        raise ValueError(f"type must be 1, 2 or 3; got {type!r}.")
    check_choice("test", test, TESTS)
    result = get_result(model)
    covariance = check_covariance(covariance, result)
    is_squares = result.is_least_squares
    if test == "auto":
        test = "F" if X is None and is_squares else "wald"
        if X is not None:
            test = "LR" if result.knows_dispersion else "F"
        has_others = covariance is None and not result.is_robust
        has_others = has_others and not result.is_likelihood_penalised
        test = test if has_others else "wald"
    if covariance is not None and test != "wald":
        raise ValueError(f"covariance requires test='wald'; got test={test!r}.")
    if test != "wald" and result.is_robust and X is None:
        raise ValueError(
            f"test={test!r} compares sums of squares or deviances, which robust errors "
            "do not apply to; use test='wald', or pass the rows for tests without them."
        )
    if test == "wald":
        if type == 1:
            raise ValueError("type=1 requires test='F' or 'LR', and the rows.")
        return _test_terms(result, covariance, type)
    if X is None and is_squares and type != 1:
        return _make_table(result, *_find_squares(result, type), test)
    require_likelihood(result)
    if X is None or y is None:
        raise ValueError(
            f"type={type!r} and test={test!r} fit models without some columns: pass "
            "the training rows X and y, and the weights; or use test='wald'."
        )
    known = {"offset": offset, "exposure": exposure}
    known = {name: given for name, given in known.items() if given is not None}
    found = _compare_fits(model, result, X, y, sample_weight, known, type)
    return _make_table(result, *found, test)


def _list_tested(result: LinearResult):
    """List the terms that have coefficients."""
    return [term for term in result.terms if term[1].stop > term[1].start]


def _list_wald_tests(result, covariance, kind: int):
    """Test the coefficients of each term, as far as the rows determine them."""
    names, tests = [], []
    for name, place, parts in _list_tested(result):
        identity = np.eye(len(result.estimates))

        def take(places, identity=identity):
            return identity[places[result.is_determined[places]]]

        rows = take(result.find_places(place))
        containing = result.find_containing(parts) if kind == 2 else []
        if containing:
            others = take(np.concatenate([*map(result.find_places, containing)]))
            used = result.covariance if covariance is None else covariance
            rows = _separate(rows, others, used)
        names.append(name)
        tests.append(result.test(rows, covariance))
    return names, tests


def _separate(rows, others, covariance):
    """Combine a term with the products that contain it, which are left out for it.

    The combinations are those whose estimates do not correlate with the coefficients of
    these products, as in the type II tests of R's car.
    """
    both = np.vstack([rows, others])
    products = both @ covariance @ others.T
    vectors, sizes, _ = np.linalg.svd(products)
    rank = int((sizes > DEPENDENT * sizes.max(initial=0.0)).sum())
    return vectors[:, rank:].T @ both


def _test_terms(result, covariance, kind):
    """Make the table of Wald tests."""
    names, tests = _list_wald_tests(result, covariance, kind)
    statistics = np.array([test.statistic for test in tests])
    columns = {
        "df": np.array([float(test.degrees_of_freedom) for test in tests]),
        "F" if result.degrees_of_freedom is not None else "chi2": statistics,
    }
    return AnovaTable(tuple(names), columns, np.array([test.p_value for test in tests]))


def _find_squares(result, kind):
    """Find what each term adds to the sum of squares, from the coefficients."""
    names, tests = _list_wald_tests(result, None, kind)
    freedom = np.array([float(test.degrees_of_freedom) for test in tests])
    statistics = np.array([test.statistic for test in tests])
    return names, freedom, statistics * freedom * result.dispersion


def _make_table(result, names, freedom, sums, test):
    """Make the table of what columns add to the sum of squares or the deviance."""
    left = result.residual_degrees_of_freedom
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = sums / result.dispersion
        if test == "F":
            statistics = statistics / freedom
            p_values = stats.f.sf(statistics, freedom, left)
        else:
            p_values = stats.chi2.sf(statistics, freedom)
    # A column that depends on the others uses no degree of freedom.
    statistics = np.where(freedom > 0, statistics, np.nan)
    p_values = np.where(freedom > 0, p_values, np.nan)
    sums_name = "sum_of_squares" if result.is_least_squares else "deviance"
    columns = {
        "df": np.append(freedom, left),
        sums_name: np.append(sums, result.deviance),
        "F" if test == "F" else "chi2": np.append(statistics, np.nan),
    }
    return AnovaTable((*names, "residuals"), columns, np.append(p_values, np.nan))


def _compare_fits(model, result, X, y, sample_weight, known, kind: int):
    """Find what each term adds, by fits without some columns of the design matrix.

    Returns (names, freedom, sums).
    """
    model = find_tested(model)
    scores = model._find_scores(X, y, sample_weight, **known)
    kept = scores.is_present
    options = {"categorical_features": None, "missing": "error"}
    unused = {"warm_start": False, "formula": None, "interactions": None}
    options |= {k: v for k, v in unused.items() if k in model.get_params()}
    # As by R's Anova: theta of the negative binomial family is that of the model.
    options |= getattr(model, "_hold_shape", dict)()
    bare = clone(model).set_params(**options)
    given = {name: np.asarray(values)[kept] for name, values in known.items()}
    if sample_weight is not None:
        given["sample_weight"] = np.asarray(sample_weight)[kept]
    target, first = np.asarray(y)[kept], int(scores.has_intercept)

    def measure(columns):
        if not len(columns):
            n_constants = result.n_constants
            if n_constants is None:
                n_constants = first * result.count_vectors()
            return result.null_deviance, result.n_observations - n_constants
        bare.fit(scores.matrix[:, columns], target, **given)
        found = get_result(bare)
        return found.deviance, found.residual_degrees_of_freedom

    terms = _list_tested(result)
    n_columns = scores.matrix.shape[1]
    every = np.arange(n_columns)

    def take(places):
        return np.concatenate([every[:0], *(every[_shift(p, first)] for p in places)])

    measured = {n_columns: (result.deviance, result.residual_degrees_of_freedom)}

    def measure_kept(columns):
        whole = len(columns) == n_columns
        return measured[n_columns] if whole else measure(columns)

    sums, freedom = [], []
    before = measure(every[:0]) if kind == 1 else (0.0, 0.0)
    for number, (_, place, parts) in enumerate(terms):
        if kind == 1:
            columns = take([each for _, each, _ in terms[: number + 1]])
            after = measure_kept(columns)
        else:
            containing = result.find_containing(parts) if kind == 2 else []
            columns = np.setdiff1d(every, take(containing))
            after = measure_kept(columns)
            before = measure(np.setdiff1d(columns, take([place])))
        sums.append(before[0] - after[0])
        freedom.append(before[1] - after[1])
        before = after
    names = [name for name, *_ in terms]
    return names, np.round(np.array(freedom), 6), np.maximum(np.array(sums), 0.0)


def _shift(place: slice, first: int) -> slice:
    """Places of coefficients as columns of the matrix, without the intercept."""
    return slice(place.start - first, place.stop - first)


def compare_models(*models: Any, test: str = "auto") -> AnovaTable:
    r"""Compare nested models of the same rows (嵌套模型比较).

    Each model is tested against the one before it, in the order of their numbers of
    coefficients, as by R's ``anova(a, b)``: the decrease of the residual sum of squares
    or the deviance, divided by the dispersion of the largest model, is
    :math:`\chi^2`, or F for each coefficient where the dispersion is estimated. Models
    of the family "negative_binomial" with theta estimated are compared by twice their
    log-likelihoods, each with its own theta, as by R's MASS.

    Parameters
    ----------
    *models : estimators
        Two or more fitted models of one class, LinearRegression,
        GeneralizedLinearRegressor, LogisticRegression, MaxEntClassifier or
        OrdinalRegression, without penalties. That the columns of each are among those
        of the next is not checked.
    test : {"auto", "F", "LR"}, default="auto"
        "LR" is :math:`\chi^2`. "auto": "F" if the dispersion is estimated.

    Returns
    -------
    table : AnovaTable
        A line for each model, with its AIC and BIC.

    Raises
    ------
    ValueError
        If models were fitted to other rows, targets or weights, which their number and
        their deviance without columns tell, or have other families.
    TypeError
        If fewer than two models are given, or models of several classes.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, compare_models
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> one = LinearRegression().fit([row[:1] for row in X], y)
    >>> print(compare_models(one, LinearRegression().fit(X, y)))
             terms  resid. df     RSS     AIC     BIC  df        F       p
    model 1      1          3  1.2000  13.054  11.882   -        -       -
    model 2      2          2  0.9436  13.852  12.290   1  0.54348  0.5377
    """
    check_choice("test", test, ("auto", "F", "LR"))
    if len(models) < 2:
        raise TypeError(f"compare_models takes two models or more; got {len(models)}.")
    kinds = {type(model).__name__ for model in models}
    if len(kinds) > 1:
        raise TypeError(f"Models must be of one class; got {', '.join(sorted(kinds))}.")
    found = [(get_result(model), model) for model in models]
    order = sorted(
        range(len(found)),
        key=lambda place: -found[place][0].residual_degrees_of_freedom,
    )
    results = [found[place][0] for place in order]
    _require_same_rows(results, [found[place][1] for place in order])
    largest = results[-1]
    for result in results:
        require_likelihood(result)
    if test == "auto":
        test = "LR" if largest.knows_dispersion else "F"
    left = np.array([result.residual_degrees_of_freedom for result in results])
    has_own_shape = largest.common_null_deviance is not None
    deviances = np.array([result.deviance for result in results])
    if has_own_shape:
        deviances = np.array([-2.0 * result.log_likelihood for result in results])
    freedom = np.append(np.nan, left[:-1] - left[1:])
    with np.errstate(divide="ignore", invalid="ignore"):
        statistics = np.append(np.nan, -np.diff(deviances)) / largest.dispersion
        if test == "F":
            statistics = statistics / freedom
            p_values = stats.f.sf(statistics, freedom, left[-1])
        else:
            p_values = stats.chi2.sf(statistics, freedom)
    is_tested = freedom > 0
    spent = np.array([result.n_parameters for result in results])
    sizes = np.array([result.n_observations for result in results])
    likelihoods = np.array([result.log_likelihood for result in results])
    measure = "RSS" if largest.is_least_squares else "deviance"
    columns = {
        "terms": np.array([float(len(result.terms)) for result in results]),
        "resid. df": left,
        "-2 log-lik." if has_own_shape else measure: deviances,
        "AIC": 2.0 * spent - 2.0 * likelihoods,
        "BIC": np.log(sizes) * spent - 2.0 * likelihoods,
        "df": freedom,
        "F" if test == "F" else "chi2": np.where(is_tested, statistics, np.nan),
    }
    names = tuple(f"model {place + 1}" for place in order)
    return AnovaTable(names, columns, np.where(is_tested, p_values, np.nan))


def _require_same_rows(results, models) -> None:
    """Raise ValueError for models of other rows, targets, weights or families."""
    first = results[0]
    for result, model in zip(results[1:], models[1:], strict=True):
        families = [_describe_family(of) for of in (models[0], model)]
        if families[0] != families[1]:
            raise ValueError(
                "The models must have the same family and classes; got "
                f"{families[0]} and {families[1]}."
            )
        known, wanted = (
            (of.n_observations, of.common_null_deviance or of.null_deviance)
            for of in (result, first)
        )
        if not np.allclose(known, wanted, rtol=SAME, atol=0.0):
            raise ValueError(
                "The models must be fitted to the same rows, targets and weights, with "
                "or without intercept alike; they had "
                f"{first.n_observations:,.12g} and {result.n_observations:,.12g} rows, "
                f"and without columns the deviances {wanted[1]:.9g} and "
                f"{known[1]:.9g}."
            )


def _describe_family(model) -> tuple[str, ...]:
    """Name the family of a model, its power and theta, and its classes."""
    family = getattr(getattr(model, "family_", None), "name", None)
    others = (getattr(model, name, None) for name in ("power", "theta", "classes_"))
    return tuple(map(str, (family, *others)))
