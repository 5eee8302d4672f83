"""The text of the ``summary()`` of a linear regression."""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.text_table import align_columns
from sklearn_textbook.linear_model.inference.summary import (
    format_p,
    format_statistic,
    write_summary,
)

#: Number of dependent columns that are listed.
MAX_DEPENDENT = 10


def summarise_regression(model, influence, level: float, width: int | None) -> str:
    """Write the summary."""
    tables = model.make_coefficient_table(level)
    if model.coef_.ndim == 1:
        return _summarise_target(model, tables, influence, width)
    return "\n\n".join(
        _summarise_target(model, table, influence, width, target)
        for target, table in enumerate(tables)
    )


def _summarise_target(model, table, influence, width, target=None):
    def pick(values):
        return float(values if target is None else values[target])

    title = f"Linear regression: {_name_method(model)}"
    if target is not None:
        title += f", target {target}"
    return write_summary(
        title,
        _list_facts(model, pick),
        [("", table)],
        _list_notes(model, table),
        more=() if influence is None else _describe_residuals(influence, target),
        width=width,
    )


def _name_method(model) -> str:
    inference = model._infer()
    if inference.is_positive:
        return "least squares without negative coefficients"
    if inference.alpha > 0:
        return f"ridge regression, alpha = {inference.alpha:g}"
    return "least squares"


def _list_facts(model, pick):
    inference = model._infer()
    rows = inference.rows
    facts = [("rows", f"{rows.n_rows:,}")]
    if rows.total_weight != rows.n_rows:
        facts.append((f"weights ({inference.weight_type})", f"{rows.total_weight:g}"))
    n_columns = len(rows.origin)
    facts.append(("rank", f"{model.rank_} of {n_columns} columns"))
    if inference.alpha > 0 and not inference.is_positive:
        facts.append(
            ("effective degrees of freedom", format_statistic(inference.effective_rank))
        )
    freedom = inference.residual_degrees_of_freedom
    facts += [
        ("residual degrees of freedom", format_statistic(freedom)),
        (
            "residual standard error",
            format_statistic(pick(model.residual_standard_error_)),
        ),
        ("R²", _format_fraction(pick(model.r_squared_))),
        ("adjusted R²", _format_fraction(pick(model.adjusted_r_squared_))),
    ]
    f_statistic = pick(model.f_statistic_)
    if not np.isnan(f_statistic):
        name = f"F({inference.n_explaining:g}, {freedom:g})"
        facts.append((name, format_statistic(f_statistic)))
        facts.append(("p of F", format_p(pick(model.f_p_value_))))
    if "_robust_covariance" in vars(model):
        facts.append(("standard errors", model.covariance_type))
    facts += [
        ("log-likelihood", format_statistic(pick(model.log_likelihood_))),
        ("AIC", format_statistic(pick(model.aic_))),
        ("BIC", format_statistic(pick(model.bic_))),
    ]
    return facts


def _format_fraction(fraction):
    return "-" if np.isnan(fraction) else f"{fraction:.4f}"


def _describe_residuals(influence, target):
    residuals = influence.residuals
    watson = influence.durbin_watson
    if target is not None:
        residuals, watson = residuals[:, target], watson[target]
    if influence.root_weight is not None:
        residuals = residuals * influence.root_weight
    quartiles = np.quantile(residuals, [0.0, 0.25, 0.5, 0.75, 1.0])
    cells = [
        ["", "min", "1st quartile", "median", "3rd quartile", "max"],
        ["residuals", *map(format_statistic, quartiles)],
    ]
    return [*align_columns(cells), "", f"Durbin-Watson: {format_statistic(watson)}"]


def _list_notes(model, table):
    inference = model._infer()
    notes = model._note_references()
    n_columns = len(inference.rows.origin)
    if model.rank_ < n_columns:
        dependent = model.find_dependent_columns()
        notes.append(
            f"The rank is {model.rank_} of {n_columns} columns: the data do not "
            "determine all coefficients (-). Of all that fit equally well, those with "
            "the smallest norm are shown."
        )
        for name, terms in list(dependent.items())[:MAX_DEPENDENT]:
            notes.append(f"  {name} = {_write_sum(terms)}")
        if len(dependent) > MAX_DEPENDENT:
            notes.append(f"  and {len(dependent) - MAX_DEPENDENT} more")
    if inference.is_positive:
        notes.append(
            "Coefficients are constrained to be at least 0: no standard errors."
        )
    if inference.is_perfect and inference.residual_degrees_of_freedom > 0:
        notes.append(
            "The residuals are rounding errors: errors, t and p are meaningless."
        )
    if inference.residual_degrees_of_freedom <= 0:
        notes.append("There are no degrees of freedom for the standard errors.")
    if (table.p_values <= 0.1).any():
        notes.append("*** p <= 0.001, ** p <= 0.01, * p <= 0.05, . p <= 0.1")
    return notes


def _write_sum(terms):
    """Write a linear combination of columns."""
    if not terms:
        return "0"
    parts = []
    for name, factor in terms.items():
        sign = "-" if factor < 0 else "+"
        size = f"{abs(factor):.6g}"
        text = size if name == "intercept" else name
        if name != "intercept" and size != "1":
            text = f"{size} {name}"
        parts.append(f"{sign} {text}")
    first, *others = parts
    return " ".join([first.removeprefix("+ ").replace("- ", "-"), *others])
