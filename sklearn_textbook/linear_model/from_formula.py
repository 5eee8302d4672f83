"""Models fitted to the columns of a table that a formula names."""

from __future__ import annotations

import ast
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from sklearn.base import clone

from sklearn_textbook._contract.blocks import BlockSource
from sklearn_textbook.linear_model.base import select_columns
from sklearn_textbook.linear_model.design.formula import parse_formula, split_formula
from sklearn_textbook.linear_model.design.terms import (
    evaluate,
    list_names,
    parse_expression,
)
from sklearn_textbook.linear_model.least_squares.linear_regression import (
    LinearRegression,
)


def from_formula(
    formula: str, data: Any, model: Any = None, **fit_parameters: Any
) -> Any:
    """Fit a model to the columns that a formula names (公式), as in R.

    Parameters
    ----------
    formula : str
        Target and terms in Wilkinson's notation, "y ~ x1 * C(g) + poly(x, 3)": a table
        of what it may have is in the notes.
    data : data frame, or table of io.scan
        The table; missing values are treated as the model's ``missing`` says, in the
        columns of the formula only.
    model : linear model, default=None
        ``LinearRegression``, ``GeneralizedLinearRegressor``, ``LogisticRegression``,
        ``OrdinalRegression``, ``ElasticNet`` or ``ElasticNetClassifier``, whose
        parameters are used. None: ``LinearRegression()``.
    **fit_parameters : str or array-like
        Parameters of the model's ``fit``: ``sample_weight``, and ``offset`` and
        ``exposure`` of generalised linear models. A string is the name of a column of
        the table.

    Returns
    -------
    model : estimator
        A fitted copy of the model, whose parameter ``formula`` has the terms. It
        predicts tables that have the columns of the formula, in any order.

    Raises
    ------
    ValueError
        If the formula cannot be read, has no target, or names what is no column of the
        table, and for what ``fit`` raises.
    TypeError
        If the formula is no string, the table has no names of columns, or the model
        takes no formula.
    ImportError
        If formulaic, which reads the notation, is not installed.

    See Also
    --------
    anova : Tests of the terms.

    Notes
    -----
    ========================  ==========================================================
    ``a + b``                 both terms
    ``a:b``                   the product (交互作用)
    ``a * b``                 ``a + b + a:b``
    ``a / b``                 ``a + a:b``
    ``(a + b + c)^2``         all, and all products of two
    ``. - a``                 all other columns of the table, without a
    ``0 +`` or ``- 1``        no intercept
    ``log(x)``, ``I(x^2)``    functions and arithmetic of numbers: abs, cos, exp, expm1,
                              log, log10, log1p, log2, sin, sqrt; comparisons are 0 or 1
    ``C(g)``                  a nominal column, whatever its type
    ``C(g, Treatment("b"))``  the same with the reference level b
    ``poly(x, 3)``            orthogonal polynomials (``raw=True``: powers)
    ``bs(x, df=5)``           B-splines (``knots=[...]``, ``degree=``)
    ``ns(x, df=4)``           natural cubic splines; also ``cr``
    ``center(x)``,            x minus its mean; divided by its standard deviation, too
    ``scale(x)``
    ========================  ==========================================================

    Columns whose names are no identifiers are in backticks, or written ``Q("name")``.
    A nominal column has no indicator of its reference level in a term, if the term
    without the column is in the model, too, and indicators of all levels otherwise, as
    in R. Ordinal columns are numbers in [0, 1], not polynomials as in R.

    Polynomials, means and quantiles as knots are those of the training rows; rows count
    by their weights if these are frequencies. Nothing in a formula is run as Python.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn_textbook.linear_model import from_formula
    >>> melons = pd.DataFrame({"weight": [1.2, 2.1, 1.7, 3.0, 2.4, 1.1]})
    >>> melons["stripes"] = ["clear", "vague", "clear", "clear", "vague", "vague"]
    >>> melons["price"] = [3.1, 4.0, 4.2, 6.9, 4.8, 1.9]
    >>> model = from_formula("log(price) ~ weight * stripes", melons)
    >>> model.coef_names_.tolist()
    ['weight', 'stripes=vague', 'weight:stripes=vague']
    >>> model.coef_.round(3).tolist()
    [0.432, -0.797, 0.289]
    >>> model.predict(melons[:1]).round(3)
    array([1.168])
    """
    model = LinearRegression() if model is None else model
    if not hasattr(model, "get_params") or "formula" not in model.get_params():
        raise TypeError(
            "model must be a linear model with the parameter 'formula': "
            "LinearRegression, GeneralizedLinearRegressor, LogisticRegression, "
            "OrdinalRegression, ElasticNet or ElasticNetClassifier; got "
            f"{type(model).__name__}."
        )
    target, text = split_formula(formula)
    if target is None:
        raise ValueError(f"formula must have a target, as 'y ~ x'; got {formula!r}.")
    in_blocks = isinstance(data, BlockSource)
    frame = (
        None if in_blocks else nw.from_native(data, eager_only=True, pass_through=True)
    )
    if not in_blocks and not isinstance(frame, nw.DataFrame):
        raise TypeError(
            "data must be a data frame with names of columns, or a table of io.scan; "
            f"got {type(data).__name__}."
        )
    names = list(data.names) if in_blocks else frame.columns
    expression = parse_expression(target)
    used = list_names(expression)
    roles = [value for value in fit_parameters.values() if isinstance(value, str)]
    for name in [*used, *roles]:
        if name not in names:
            raise ValueError(
                f"{name!r} is no column of the table; there are "
                f"{', '.join(map(repr, names[:20]))}."
            )
    features = [name for name in names if name not in [*used, *roles]]
    has_intercept = parse_formula(text, features).has_intercept
    model = clone(model).set_params(formula=text.strip())
    if "fit_intercept" in model.get_params():
        model.set_params(fit_intercept=has_intercept)
    if in_blocks:
        if not isinstance(expression, ast.Name):
            raise ValueError(
                f"The target of a table in blocks must be a column; got {target!r}."
            )
        return model.fit(data, expression.id, **fit_parameters)

    def read(name):
        return frame[name].to_numpy()

    if isinstance(expression, ast.Name):
        y = frame[expression.id].to_native()
    else:
        with np.errstate(all="ignore"):
            y = np.asarray(evaluate(expression, read), dtype=np.float64)
    given = {
        name: read(value) if isinstance(value, str) else value
        for name, value in fit_parameters.items()
    }
    return model.fit(select_columns(data, features), y, **given)
