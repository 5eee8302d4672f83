"""What the commands print of models without trees: summaries and coefficients."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from sklearn_textbook._contract.registry import ESTIMATORS
from sklearn_textbook._contract.text_table import align_columns, measure_width
from sklearn_textbook.cli.output import make_table
from sklearn_textbook.io.naming import count_things

#: Columns that ``fit`` lists, and components or classes side by side.
MOST_ROWS = 40
MOST_COLUMNS = 6
#: Models of subsets of the columns that ``fit`` lists.
MOST_MODELS = 10


def is_other_model(estimator):
    """Return whether it is a linear model, components or discriminants."""
    name = type(estimator).__name__
    if ESTIMATORS[name].saved == "either":
        return not hasattr(estimator, "named_estimators_")
    return ESTIMATORS[name].saved == "values" or name == "MultiResponseLinearRegression"


def describe_other_model(estimator):
    """Describe a model by its class and size."""
    name = type(estimator).__name__
    if hasattr(estimator, "coef_"):
        shape = np.shape(estimator.coef_)
        per_class = " per class" if len(shape) > 1 and shape[0] > 1 else ""
        return f"{name}, {count_things(shape[-1], 'coefficient')}{per_class}"
    if hasattr(estimator, "estimators_"):
        return f"{name}, {count_things(len(estimator.estimators_), 'member')}"
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
    if hasattr(estimator, "posterior_table_"):
        n_models = None if most is None else MOST_MODELS
        text = estimator.summary(width=output.width, n_models=n_models)
        output.write(*text.splitlines())
        n_more = len(estimator.weights_) - (n_models or len(estimator.weights_))
        if n_more > 0:
            more = count_things(n_more, "more model")
            output.write(f"... and {more}; show prints all of a saved model")
    elif hasattr(estimator, "summary"):
        output.write(*estimator.summary(width=output.width).splitlines())
    elif hasattr(estimator, "components_"):
        _print_components(output, estimator, names, most)
    else:
        _print_coefficients(output, estimator, names, most)


def _print_coefficients(output, estimator, names, most):
    """Print the coefficients of classes side by side, the intercept first."""
    names = _name_made_columns(estimator, names)
    classes = [str(label) for label in estimator.classes_]
    coef, intercept = estimator.coef_, estimator.intercept_
    if coef.shape[1] != len(names):  # one probability of each member
        names = [f"member {number}" for number in range(coef.shape[1])]
    if len(coef) == 1:
        classes = [f"{classes[-1]} against {classes[0]}"]
    numbers = np.column_stack([intercept, coef]).T
    print_numbers(output, classes, ["intercept", *names], numbers, most)


def _print_components(output, estimator, names, most):
    """Print the variances of components, and the loadings of the columns."""
    titles = estimator.get_feature_names_out().tolist()
    shares = estimator.explained_variance_ratio_
    head = ("variance", "share", "cumulative")
    table = make_table("", *head, right=head)
    variances, sums = estimator.explained_variance_, np.cumsum(shares)
    for row in list(zip(titles, variances, shares, sums, strict=True))[:most]:
        title, variance, share, total = row
        table.add_row(title, f"{variance:.5g}", f"{share:.3f}", f"{total:.3f}")
    output.write(table)
    output.heading("loadings", "coefficients of the columns in the components")
    names = _name_made_columns(estimator, names)
    print_numbers(output, titles, names, estimator.components_.T, most)


def _name_made_columns(estimator, names):
    """Names of the columns that text and missing values were converted to."""
    return vars(estimator)["design_"].names if "design_" in vars(estimator) else names


def print_numbers(output, titles, names, numbers, most=None):
    """Print a table of numbers in blocks of columns, and how many it leaves out.

    Parameters
    ----------
    output : Output
        Where to.
    titles : sequence of str
        Headers of the columns.
    names : sequence of str
        Names of the rows.
    numbers : array-like of shape (n_rows, n_columns)
        The numbers.
    most : int, default=None
        Rows that are printed; None: all rows and all columns.
    """
    # Imported here because it imports scikit-learn.
    from sklearn_textbook.linear_model.inference.summary import (
        ENOUGH_FOR_A_NAME,
        shorten,
        shorten_names,
    )

    names = [str(name) for name in names]
    room = output.width - min(ENOUGH_FOR_A_NAME, max(map(measure_width, names)))
    shown = titles if most is None else titles[:MOST_COLUMNS]
    heads = [shorten(title, room // 2) for title in shown]
    cells = [[f"{number:.5g}" for number in row[: len(heads)]] for row in numbers]
    table = [heads, *cells[:most]]
    widths = [
        2 + max(map(measure_width, column)) for column in zip(*table, strict=True)
    ]
    blocks = [*_split_columns(widths, room)]
    room = output.width - max(sum(widths[block]) for block in blocks)
    short = shorten_names(names[:most], room)
    for block in blocks:
        lines = align_columns(
            [[name, *row[block]] for name, row in zip(["", *short], table, strict=True)]
        )
        output.write(*([""] if block.start else []), Text(lines[0], "dim"), *lines[1:])
    for length, limit, what in (
        (len(names), most, "more row"),
        (len(titles), most and MOST_COLUMNS, "more column"),
    ):
        if limit is not None and length > limit:
            more = count_things(length - limit, what)
            output.write(f"... and {more}; show prints all of a saved model")
    if short != names[:most]:
        output.notes(["names are shortened to the width of the terminal"])


def _split_columns(widths, room):
    """Split columns into slices that fit into the room, of at least one column."""
    first, used = 0, 0
    for column, width in enumerate(widths):
        if used + width > room and column > first:
            yield slice(first, column)
            first, used = column, 0
        used += width
    yield slice(first, len(widths))
