"""What the ``summary()`` of a Bayesian model averaging prints."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from sklearn_textbook._contract.text_table import TextTable, shorten
from sklearn_textbook.linear_model.inference.summary import (
    format_column,
    format_statistic,
    wrap_words,
    write_summary,
    write_table,
)

if TYPE_CHECKING:
    from sklearn_textbook.ensemble.model_averaging.base_model_averaging import (
        BaseModelAveraging,
    )

#: Models that are listed by default.
MOST_LISTED = 5
#: Margin of the lines that continue the list of the terms of a model.
MARGIN = 8
HEADINGS = {
    "prior": "prior",
    "log_likelihood": "log-likelihood",
    "n_parameters": "parameters",
    "bic": "BIC",
    "log_evidence": "log evidence",
    "weight": "weight",
}
NAMES_ARE_CUT = "Names are shortened; {} has them in full."


def format_probability(fraction):
    """Write a probability with four decimals, smaller ones with their power."""
    return f"{fraction:.4f}" if fraction >= 5e-5 or fraction == 0 else f"{fraction:.1e}"


def tabulate_members(averaging: BaseModelAveraging, digits: int = 5) -> TextTable:
    """Write one line for each member, and how its weight is computed."""
    table = averaging.posterior_table_
    shown = [name for name in HEADINGS if name in table]
    columns = [
        map(format_probability, table[name])
        if name in ("prior", "weight")
        else format_column(table[name], digits)
        for name in shown
    ]
    heads = ["", *(HEADINGS[name] for name in shown)]
    return TextTable(heads, [*zip(table["member"].tolist(), *columns, strict=True)])


def summarise_members(averaging: BaseModelAveraging, width: int | None) -> str:
    """Write the summary of an average of members."""
    n_members = len(averaging.posterior_table_["member"])
    facts = [("weighting", averaging.weighting), ("members", str(n_members))]
    make = partial(tabulate_members, averaging)
    lines, names_are_cut = write_table(make, width or np.inf)
    notes = [NAMES_ARE_CUT.format("posterior_table_")] * names_are_cut
    title = "Bayesian model averaging"
    return write_summary(title, facts, [], notes, more=lines, width=width)


def summarise_subsets(
    averaging: BaseModelAveraging, width: int | None, n_models: int | None
) -> str:
    """Write the summary of an average over subsets of the columns."""
    table = averaging.posterior_table_
    kind = "linear" if averaging.coef_.ndim == 1 else "logistic"
    facts = [
        ("columns of the table", str(averaging.n_features_in_)),
        ("subsets", f"{averaging._subsets.n_subsets:,}"),
        ("models in the window", f"{len(table['weight']):,}"),
        ("weight of the five best", format_probability(table["weight"][:5].sum())),
    ]
    title = f"Bayesian model averaging: {kind} regressions on subsets of the columns"
    lines: list[str] = [write_summary(title, facts, [], width=width)]
    width, are_cut = width or np.inf, False
    for heading, vector in _list_vectors(averaging):
        rows, names_are_cut = _list_coefficients(*vector, width)
        lines += ["", *([shorten(heading, width)] if heading else []), *rows]
        are_cut |= names_are_cut
    lines += ["", "weight  BIC and columns of each model"]
    for number in range(len(table["weight"]))[:n_models]:
        terms = ", ".join(map(str, table["terms"][number])) or "the intercept alone"
        fraction, bic = table["weight"][number], table["bic"][number]
        start = f"{format_probability(fraction)}  BIC {format_statistic(bic)}  "
        first, *rest = wrap_words(terms, width - len(start))
        rest = wrap_words(" ".join(rest), width - MARGIN) if rest else []
        lines += [start + first, *(" " * MARGIN + line for line in rest)]
    if are_cut:
        lines += ["", *wrap_words(NAMES_ARE_CUT.format("coef_names_"), width)]
    return "\n".join(lines)


def _list_vectors(averaging):
    """List headings and vectors of coefficients with all that is known of them."""
    terms = averaging.design_.terms
    counts = [len(term.names) for term in terms]
    fractions = np.repeat(averaging.inclusion_probabilities_, counts)
    names = averaging.coef_names_
    if averaging.coef_.ndim == 1:
        first = averaging.intercept_, averaging.intercept_std_
        return [("", (names, fractions, *first, averaging.coef_, averaging.coef_std_))]
    labels = [str(label) for label in averaging.classes_]
    headings = [f"{label} against {labels[-1]}" for label in labels[:-1]]
    if len(labels) == 2:
        headings = [f"{labels[1]} against {labels[0]}"]
    columns = (
        averaging.intercept_,
        averaging.intercept_std_,
        averaging.coef_,
        averaging.coef_std_,
    )
    return [
        (heading, (names, fractions, *(values[row] for values in columns)))
        for row, heading in enumerate(headings)
    ]


def _list_coefficients(
    names, fractions, intercept, intercept_std, coef, coef_std, width
):
    """Write a heading and one line per coefficient; return whether names are cut."""
    fractions = ["1", *map(format_probability, fractions)]
    numbers = [np.r_[intercept, coef], np.r_[intercept_std, coef_std]]

    def make(digits):
        columns = [format_column(column, digits) for column in numbers]
        rows = zip(["intercept", *names], fractions, *columns, strict=True)
        return TextTable(["", "P(included)", "mean", "std. deviation"], [*rows])

    return write_table(make, width)
