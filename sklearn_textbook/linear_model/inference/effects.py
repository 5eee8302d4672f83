"""Predictions of a linear model, their differences and slopes, with standard errors."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy import stats
from scipy.sparse import issparse

from sklearn_textbook._contract.cached_property import cached_property
from sklearn_textbook._contract.parameters import check_choice
from sklearn_textbook._contract.types import MatrixLike
from sklearn_textbook._contract.weights import check_weights
from sklearn_textbook.linear_model.inference.coefficient_table import (
    CoefficientTable,
    check_level,
)
from sklearn_textbook.linear_model.inference.contrasts import compare_pairs, list_pairs
from sklearn_textbook.linear_model.inference.result import (
    check_covariance,
    find_tested,
    get_result,
)
from sklearn_textbook.tree.encode import NOMINAL, NUMERIC

#: Half the distance of the two values between which a slope is taken, in units of the
#: standard deviation of the column.
STEP = 1e-4
#: Scales on which means are taken.
SCALES = ("response", "link")


@dataclass(frozen=True)
class EffectTable(CoefficientTable):
    """Effects with standard errors, tests and confidence intervals.

    Parameters
    ----------
    names : tuple of str
        The column, what is compared, and the values, group and class for which it is.
    estimates : ndarray of shape (n_effects,)
        The effects.
    standard_errors : ndarray of shape (n_effects,)
        Their standard errors; NaN where the rows do not determine a coefficient.
    degrees_of_freedom : float or None, default=None
        Those of Student's t distribution; None: the normal distribution.
    level : float, default=0.95
        Confidence level of the intervals.
    is_penalised : bool, default=False
        Whether a penalty shrinks the coefficients, which is refused.
    labels : dict of str to tuple of str
        The same as columns, as far as they apply: "column", "contrast", "class", and
        "at: x" and "by: g" for the values and groups of the columns x and g.
    adjusted_p_values : ndarray of shape (n_effects,), default=None
        p-values for all pairs at once; None: each on its own.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, comparisons
    >>> X, y = [[0, 1], [1, 0], [2, 1], [3, 3], [4, 1]], [2.0, 3.0, 6.0, 7.0, 8.0]
    >>> table = comparisons(LinearRegression().fit(X, y), X)
    >>> table.as_dict()["contrast"].tolist(), table.estimates.round(4).tolist()
    (['+1', '+1'], [1.5231, 0.2564])
    """

    labels: dict | None = None
    adjusted_p_values: np.ndarray | None = None

    @cached_property
    def p_values(self) -> np.ndarray:
        """Probability of a statistic at least as large if the effect is zero."""
        if self.adjusted_p_values is not None:
            return self.adjusted_p_values
        return CoefficientTable.p_values.func(self)

    def as_dict(self) -> dict[str, Any]:
        """Return the table as a dictionary of columns of equal length."""
        columns = CoefficientTable.as_dict(self)
        labels = {
            name: np.array(values, dtype=object)
            for name, values in (self.labels or {}).items()
        }
        return labels | columns


class _Rows:
    """The rows of a table at which a model is looked at, as numbers and codes."""

    def __init__(self, model, X, sample_weight, offset, exposure) -> None:
        model = find_tested(model)
        design = model.design_
        model._read_new_table(X)  # raises the errors of predict
        self.model, self.design = model, design
        codes = design.schema.read(model._take_used(X))
        self.codes = codes.toarray() if issparse(codes) else np.asarray(codes)
        n_rows = len(self.codes)
        weight = check_weights(sample_weight, n_rows)
        self.weight = np.ones(n_rows) if weight is None else weight
        self.offset = None
        if offset is not None or exposure is not None:
            if not hasattr(model, "_read_offset"):
                raise TypeError(
                    "offset and exposure are those of generalised linear models and "
                    f"of OrdinalRegression, not of {type(model).__name__}."
                )
            self.offset = model._read_offset(offset, exposure, n_rows)

    @property
    def names(self) -> list[str]:
        """Names of the columns of the table."""
        return [term.name for term in self.design.terms]

    def find(self, name: str) -> int:
        """Find the number of a column."""
        if name not in self.names:
            raise ValueError(
                f"{name!r} is not a column of the model; there are "
                f"{', '.join(map(repr, self.names))}."
            )
        return self.names.index(name)

    def list_levels(self, position: int) -> list[tuple[float, Any]]:
        """List the codes and levels of a nominal column, the reference first."""
        term, column = self.design.terms[position], self.design.schema.columns[position]
        codes = list(term.codes)
        if term.reference is not None:
            codes = [term.reference, *codes]
        return [(float(code), column.levels[code]) for code in codes]

    def read_value(self, position: int, value) -> float:
        """Return the code of a level, or a number."""
        column = self.design.schema.columns[position]
        if column.kind == NUMERIC:
            return float(value)
        if value not in column.levels:
            raise ValueError(
                f"{value!r} is not a level of the column {column.name!r}; there are "
                f"{', '.join(map(repr, column.levels[:10]))}."
            )
        return float(column.levels.index(value))

    def summarise(self, position: int) -> float:
        """Return the weighted mean of a column, or its most frequent level."""
        values = self.codes[:, position]
        known = ~np.isnan(values)
        if self.design.schema.columns[position].kind == NUMERIC:
            return float(np.average(values[known], weights=self.weight[known]))
        counts = np.bincount(values[known].astype(np.intp), self.weight[known])
        return float(np.argmax(counts))

    def set(self, codes: np.ndarray, position: int, value) -> np.ndarray:
        """Return rows with another value in a column."""
        changed = codes.copy()
        changed[:, position] = value
        return changed

    def evaluate(self, codes: np.ndarray, offset: np.ndarray | None, scale: str):
        """Compute the responses, and their derivatives by all coefficients.

        Returns (responses, names, derivatives), the last one of shape (n_rows,
        n_responses, n_coefficients).
        """
        model = self.model
        made = self.design.expand(codes, "mean")
        made = made.toarray() if issparse(made) else made
        if hasattr(model, "_find_responses"):
            return model._find_responses(made, scale, offset)
        coef = np.atleast_2d(model.coef_)
        predictors = made @ coef.T + model.intercept_
        if offset is not None:
            predictors = predictors + offset[:, np.newaxis]
        if model.fit_intercept:
            made = np.column_stack([np.ones(len(made)), made])
        responses, names = predictors, ("",) * len(coef)
        slopes = np.broadcast_to(np.eye(len(coef)), (len(made), len(coef), len(coef)))
        if scale == "response":
            responses, names, slopes = model._respond(predictors)
        derivatives = slopes[:, :, :, np.newaxis] * made[:, np.newaxis, np.newaxis, :]
        return responses, names, derivatives.reshape(*responses.shape, -1)


def predictions(
    model: Any,
    X: MatrixLike,
    *,
    at: dict[str, Any] | str | None = None,
    by: str | Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    covariance: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> EffectTable:
    r"""Average predictions with standard errors (平均预测).

    The average :math:`\bar\mu` of the means or probabilities of the rows has the
    standard error :math:`\sqrt{d^T V d}`, with its derivatives d by the coefficients
    and their covariance V (delta method).

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows to average over.
    at : dict, "mean" or None, default=None
        A dict: in all rows, columns are set to these values; if lists are given, to
        each combination in turn. "mean": one row with the means of numbers and the most
        frequent levels. None: the rows as they are.
    by : str or list of str, default=None
        Nominal columns: an average for each combination of their levels in X.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the averages.
    level : float, default=0.95
        Confidence level of the intervals.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients, as of :func:`robust_covariance`. None: that of
        the model.
    offset, exposure : array-like of shape (n_samples,), default=None
        As in the ``predict`` of a generalised linear model.

    Returns
    -------
    table : EffectTable
        One line for each average and class.

    Raises
    ------
    ValueError
        If the model has a penalty, a column or level is unknown, or ``by`` names a
        numeric column.

    See Also
    --------
    comparisons : Differences of predictions.
    marginal_means : Predictions for each level, all levels of the others equally often.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LogisticRegression, predictions
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LogisticRegression().fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> table = predictions(model, X, at={"x0": [1.0, 4.0]})
    >>> table.names, table.estimates.round(3).tolist()
    (('x0=1.0', 'x0=4.0'), [0.139, 0.861])
    """
    rows = _Rows(model, X, sample_weight, offset, exposure)

    def compute(codes, offset):
        return rows.evaluate(codes, offset, "response")

    return _average(rows, [({}, compute)], at, by, level, covariance)


def comparisons(
    model: Any,
    X: MatrixLike,
    columns: str | Sequence[str] | dict[str, Any] | None = None,
    *,
    at: dict[str, Any] | str | None = None,
    by: str | Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    covariance: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> EffectTable:
    """Average differences of predictions when a column changes (平均比较).

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows to average over.
    columns : str, list of str or dict of {str: float}, default=None
        Columns that change; a dict has by how much. None: all. A number x goes from x -
        0.5 to x + 0.5, or by another step; a nominal column from its reference level to
        each other level; an ordinal one from its first level to its last.
    at : dict, "mean" or None, default=None
        Values of columns, as in :func:`predictions`.
    by : str or list of str, default=None
        Nominal columns whose levels have averages of their own.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the averages.
    level : float, default=0.95
        Confidence level of the intervals.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients. None: that of the model.
    offset, exposure : array-like of shape (n_samples,), default=None
        As in the ``predict`` of a generalised linear model.

    Returns
    -------
    table : EffectTable
        One line for each column, or level, and class.

    Raises
    ------
    ValueError
        In the same cases as :func:`predictions`.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LogisticRegression, comparisons
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LogisticRegression().fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> comparisons(model, X).estimates.round(3).tolist()
    [0.158]
    """
    rows = _Rows(model, X, sample_weight, offset, exposure)
    steps = columns if isinstance(columns, dict) else {}
    works = [
        work
        for name in _list_columns(rows, columns)
        for work in _compare_column(rows, name, float(steps.get(name, 1.0)))
    ]
    return _average(rows, works, at, by, level, covariance)


def slopes(
    model: Any,
    X: MatrixLike,
    columns: str | Sequence[str] | None = None,
    *,
    at: dict[str, Any] | str | None = None,
    by: str | Sequence[str] | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    covariance: ArrayLike | None = None,
    offset: ArrayLike | None = None,
    exposure: ArrayLike | None = None,
) -> EffectTable:
    r"""Average slopes, or marginal effects (边际效应), of the columns.

    The slope of a row is :math:`\partial \mu / \partial x_j`, from values on both sides
    of the row's; of nominal and ordinal columns it is the difference of
    :func:`comparisons`.

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        Rows to average over.
    columns : str or list of str, default=None
        The columns. None: all.
    at : dict, "mean" or None, default=None
        Values of columns, as in :func:`predictions`; "mean": marginal effects at the
        mean.
    by : str or list of str, default=None
        Nominal columns whose levels have averages of their own.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the averages.
    level : float, default=0.95
        Confidence level of the intervals.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients. None: that of the model.
    offset, exposure : array-like of shape (n_samples,), default=None
        As in the ``predict`` of a generalised linear model.

    Returns
    -------
    table : EffectTable
        One line for each column, or level, and class.

    Raises
    ------
    ValueError
        In the same cases as :func:`predictions`.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LogisticRegression, slopes
    >>> X = [[0.0], [1.0], [2.0], [3.0], [4.0], [5.0]]
    >>> model = LogisticRegression().fit(X, ["no", "no", "yes", "no", "yes", "yes"])
    >>> print(slopes(model, X))
                  coef  std. error      z        p     2.5%    97.5%
    x0: dY/dX  0.15862     0.02221  7.142  9.2e-13  0.11509  0.20216  ***
    """
    rows = _Rows(model, X, sample_weight, offset, exposure)
    works = [
        work
        for name in _list_columns(rows, columns)
        for work in _compare_column(rows, name, None)
    ]
    return _average(rows, works, at, by, level, covariance)


def marginal_means(
    model: Any,
    X: MatrixLike,
    column: str,
    *,
    pairs: bool = False,
    adjust: str = "tukey",
    scale: str = "response",
    at: dict[str, Any] | None = None,
    sample_weight: ArrayLike | None = None,
    level: float = 0.95,
    covariance: ArrayLike | None = None,
) -> EffectTable:
    """Estimate the mean of each level of a nominal column (边际均值).

    All other nominal and ordinal columns have each of their levels equally often, and
    numbers their mean in X: the means of a balanced experiment, as R's emmeans computes
    them.

    Parameters
    ----------
    model : estimator
        A fitted LinearRegression, GeneralizedLinearRegressor, LogisticRegression,
        MaxEntClassifier or OrdinalRegression, without a penalty.
    X : array-like, data frame or sparse matrix of shape (n_samples, n_features)
        The training rows, whose numbers are averaged.
    column : str
        The nominal column.
    pairs : bool, default=False
        Whether to return the differences of all pairs of levels.
    adjust : {"tukey", "bonferroni", "none"}, default="tukey"
        How p-values of pairs take their number into account.
    scale : {"response", "link"}, default="response"
        Whether means or probabilities are averaged, or linear predictors, as emmeans
        does unless asked otherwise.
    at : dict, default=None
        Values of other columns in place of their means or levels.
    sample_weight : array-like of shape (n_samples,), default=None
        Weights of the rows in the averages.
    level : float, default=0.95
        Confidence level of the intervals.
    covariance : ndarray of shape (n_coefficients, n_coefficients), default=None
        Covariance of the coefficients. None: that of the model.

    Returns
    -------
    table : EffectTable
        One line for each level, or pair, and class.

    Raises
    ------
    ValueError
        If the column is not nominal, or in the cases of :func:`predictions`.

    Examples
    --------
    >>> from sklearn_textbook.linear_model import LinearRegression, marginal_means
    >>> X = [["a", 1.0], ["a", 2.0], ["b", 3.0], ["b", 5.0], ["c", 4.0]]
    >>> model = LinearRegression().fit(X, [1.0, 2.5, 2.0, 4.5, 6.0])
    >>> marginal_means(model, X, "x0").estimates.round(2).tolist()
    [3.7, 1.95, 4.7]
    """
    check_choice("adjust", adjust, ("tukey", "bonferroni", "none"))
    check_choice("scale", scale, SCALES)
    check_level(level)
    rows = _Rows(model, X, sample_weight, None, None)
    position = rows.find(column)
    if rows.design.terms[position].kind != NOMINAL:
        raise ValueError(f"column must be nominal; {column!r} is not.")
    result = get_result(model)
    grids = _make_grid(rows, position, at or {})
    found, names, parts = [], (), []
    for _, grid in grids:
        responses, names, derivatives = rows.evaluate(grid, None, scale)
        found.append(responses.mean(axis=0))
        parts.append(derivatives.mean(axis=0))
    levels = [str(shown) for shown, _ in grids]
    values, gradients = np.array(found), np.array(parts)
    if pairs:
        values, gradients = compare_pairs(values), compare_pairs(gradients)
        levels = [f"{levels[a]} - {levels[b]}" for a, b in list_pairs(len(grids))]
    labels = [{"contrast" if pairs else column: shown} for shown in levels]
    table = _make_table(
        *(result, labels, names, values, gradients, level, covariance),
    )
    if not pairs or adjust == "none":
        return table
    return _adjust_for_pairs(table, adjust, len(grids))


def _adjust_for_pairs(table, adjust, n_levels):
    """Adjust the p-values of all pairs for their number."""
    p_values = table.p_values
    if adjust == "bonferroni":
        p_values = np.minimum(1.0, p_values * (n_levels * (n_levels - 1) / 2))
    else:
        free = table.degrees_of_freedom
        p_values = stats.studentized_range.sf(
            np.abs(table.statistics) * np.sqrt(2.0),
            n_levels,
            np.inf if free is None else free,
        )
    return EffectTable(
        table.names,
        table.estimates,
        table.standard_errors,
        table.degrees_of_freedom,
        table.level,
        labels=table.labels,
        adjusted_p_values=p_values,
    )


def _make_grid(rows, position, at):
    """Make the rows of every level of a column, all others balanced."""
    choices = []
    for number, term in enumerate(rows.design.terms):
        if term.name in at:
            given = at[term.name]
            listed = given if isinstance(given, (list, tuple, np.ndarray)) else [given]
            choices.append([rows.read_value(number, value) for value in listed])
        elif term.kind == NOMINAL:
            choices.append([code for code, _ in rows.list_levels(number)])
        elif term.kind == NUMERIC:
            choices.append([rows.summarise(number)])
        else:
            n_levels = len(rows.design.schema.columns[number].levels)
            choices.append(list(map(float, range(n_levels))))
    for name in at:
        rows.find(name)
    grids = []
    for code, shown in rows.list_levels(position):
        chosen = [*choices]
        chosen[position] = [code]
        grids.append((shown, np.array(list(product(*chosen)))))
    return grids


def _list_columns(rows, columns) -> list[str]:
    """List the columns that change."""
    if columns is None:
        return rows.names
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        rows.find(name)
    return names


def _compare_column(rows: _Rows, name: str, step: float | None):
    """Make what computes the differences of a column; without a step, its slope."""
    position = rows.find(name)
    term = rows.design.terms[position]
    if term.kind == NUMERIC and step is None:
        values = rows.codes[:, position]
        spread = float(np.nanstd(values)) or max(1.0, float(np.nanmax(np.abs(values))))
        half = STEP * spread

        def take_slope(codes, offset):
            value = codes[:, position]
            above = rows.set(codes, position, value + half)
            below = rows.set(codes, position, value - half)
            width = above[:, position] - below[:, position]
            return _subtract(rows, above, below, offset, width)

        return [({"column": name, "contrast": "dY/dX"}, take_slope)]
    if term.kind == NUMERIC:

        def move(codes, offset):
            value = codes[:, position]
            above = rows.set(codes, position, value + 0.5 * step)
            below = rows.set(codes, position, value - 0.5 * step)
            return _subtract(rows, above, below, offset)

        return [({"column": name, "contrast": f"{step:+g}"}, move)]
    levels = rows.list_levels(position) if term.kind == NOMINAL else []
    if term.kind != NOMINAL:
        known = rows.design.schema.columns[position].levels
        levels = [(0.0, known[0]), (float(len(known) - 1), known[-1])]
    (base, shown), *others = levels
    works: list[tuple[dict, Callable]] = []
    for code, other in others:

        def change(codes, offset, code=code):
            above = rows.set(codes, position, code)
            return _subtract(rows, above, rows.set(codes, position, base), offset)

        works.append(({"column": name, "contrast": f"{other} - {shown}"}, change))
    return works


def _subtract(rows, above, below, offset, width=None):
    """Compute differences of responses and of their derivatives, per unit of width."""
    first, names, of_first = rows.evaluate(above, offset, "response")
    second, _, of_second = rows.evaluate(below, offset, "response")
    if width is None:
        return first - second, names, of_first - of_second
    scale = width[:, np.newaxis]
    slopes = (of_first - of_second) / scale[:, :, np.newaxis]
    return (first - second) / scale, names, slopes


def _average(rows: _Rows, works, at, by, level, covariance) -> EffectTable:
    """Average what is computed of the rows, for all values and groups asked for."""
    check_level(level)
    result = get_result(rows.model)
    labels, values, gradients, names = [], [], [], ()
    for shown, codes, weight, offset in _list_parts(rows, at, by):
        for of_work, compute in works:
            found, names, derivatives = compute(codes, offset)
            labels.append(shown | of_work)
            values.append(np.average(found, axis=0, weights=weight))
            gradients.append(np.average(derivatives, axis=0, weights=weight))
    return _make_table(
        *(result, labels, names, np.array(values), np.array(gradients)),
        *(level, covariance),
    )


def _list_parts(rows: _Rows, at, by):
    """List the values and groups asked for: what they are, their rows and weights."""
    by = [by] if isinstance(by, str) else list(by or ())
    offset = rows.offset
    if isinstance(at, str):
        check_choice("at", at, ("mean",))
        if by or offset is not None:
            raise ValueError("at='mean' is one row, without groups, offset, exposure.")
        positions = range(len(rows.design.terms))
        yield {}, np.array([[*map(rows.summarise, positions)]]), np.ones(1), None
        return
    places = {name: rows.find(name) for name in [*by, *(at or {})]}
    for name in by:
        if rows.design.terms[places[name]].kind != NOMINAL:
            raise ValueError(f"by must name nominal columns; {name!r} is not one.")
    choices = []
    for name, given in (at or {}).items():
        listed = given if isinstance(given, (list, tuple, np.ndarray)) else [given]
        choices.append([(name, value) for value in listed])
    groups = [({}, np.ones(len(rows.codes), dtype=bool))]
    for name in by:
        column = rows.codes[:, places[name]]
        groups = [
            (shown | {f"by: {name}": str(of_code)}, marked & (column == code))
            for shown, marked in groups
            for code, of_code in rows.list_levels(places[name])
        ]
    for combination in product(*choices):
        codes, shown = rows.codes, {}
        for name, value in combination:
            codes = rows.set(codes, places[name], rows.read_value(places[name], value))
            shown[f"at: {name}"] = str(value)
        for of_group, marked in groups:
            if (rows.weight[marked] > 0).any():
                part = None if offset is None else offset[marked]
                yield shown | of_group, codes[marked], rows.weight[marked], part


def _make_table(result, labels, names, values, gradients, level, covariance):
    """Make the table of effects, one line for each and each response."""
    covariance = check_covariance(covariance, result)
    rows = gradients.reshape(-1, gradients.shape[-1])
    _, errors = result.measure(rows, covariance)
    lines: list[dict] = [
        of_effect | ({"class": name} if name else {})
        for of_effect in labels
        for name in names
    ]
    columns = {
        key: tuple(line.get(key, "") for line in lines)
        for key in dict.fromkeys(key for line in lines for key in line)
    }
    # The only class that is shown is in the labels.
    written = tuple(
        ": ".join(
            f"{key[4:]}={value}" if key[:3] in ("at:", "by:") else value
            for key, value in line.items()
            if key != "class" or len(names) > 1
        )
        or "average"
        for line in lines
    )
    return EffectTable(
        written,
        values.ravel(),
        errors,
        result.degrees_of_freedom,
        level,
        labels=columns,
    )
