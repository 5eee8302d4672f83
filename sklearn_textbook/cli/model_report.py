"""What the commands print of models that are no trees: summaries and coefficients."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.cli.output import make_table
from sklearn_textbook.io.naming import count_things
from sklearn_textbook.io.saved_parameters import MODELS

#: Columns that ``fit`` lists, and components or classes side by side.
MOST_ROWS = 40
MOST_COLUMNS = 6


def is_other_model(estimator):
    """Tell a linear model, components or discriminants from trees and rules."""
    return type(estimator).__name__ in MODELS


def describe_other_model(estimator):
    """Describe a model by its class and size."""
    name = type(estimator).__name__
    if hasattr(estimator, "coef_"):
        return f"{name}, {count_things(np.shape(estimator.coef_)[-1], 'coefficient')}"
    return f"{name}, {count_things(len(estimator.components_), 'component')}"


def print_other_model(output, estimator, names, most=None):
    """Print the summary of a model, or the numbers that it consists of.

    Parameters
    ----------
    output : Output
        Where to.
    estimator : estimator
        The fitted model.
    names : sequence of str
        Names of the columns of its table.
    most : int, default=None
        Rows of a table of numbers that are printed; None: all.
    """
    if hasattr(estimator, "summary"):
        output.write(*estimator.summary(width=output.width).splitlines())
    elif hasattr(estimator, "components_"):
        _print_components(output, estimator, names, most)
    else:
        _print_coefficients(output, estimator, names, most)


def _print_coefficients(output, estimator, names, most):
    """Print the coefficients of classes side by side, the intercept first."""
    names = getattr(estimator, "coef_names_", names)
    classes = [str(label) for label in estimator.classes_]
    coef, intercept = estimator.coef_, estimator.intercept_
    if len(coef) == 1:
        classes = [f"{classes[-1]} against {classes[0]}"]
    numbers = np.column_stack([intercept, coef]).T
    _print_numbers(output, classes, ["intercept", *names], numbers, most)


def _print_components(output, estimator, names, most):
    """Print the variances of components, and their weights of the columns."""
    titles = estimator.get_feature_names_out().tolist()
    shares = estimator.explained_variance_ratio_
    head = ("variance", "share", "sum")
    table = make_table("", *head, right=head)
    variances, sums = estimator.explained_variance_, np.cumsum(shares)
    for row in list(zip(titles, variances, shares, sums, strict=True))[:most]:
        title, variance, share, total = row
        table.add_row(title, f"{variance:.5g}", f"{share:.3f}", f"{total:.3f}")
    output.write(table, "")
    _print_numbers(output, titles, names, estimator.components_.T, most)


def _print_numbers(output, titles, names, numbers, most):
    """Print a table of numbers, and how many rows and columns it leaves out."""
    shown = titles[:MOST_COLUMNS]
    table = make_table("column", *shown, right=shown)
    for name, row in list(zip(names, numbers, strict=True))[:most]:
        table.add_row(str(name), *(f"{number:.5g}" for number in row[: len(shown)]))
    output.write(table)
    for length, limit, what in (
        (len(names), most, "row"),
        (len(titles), MOST_COLUMNS, "column"),
    ):
        if limit is not None and length > limit:
            output.write(f"... and {count_things(length - limit, what)} more")
