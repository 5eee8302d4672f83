"""What the ``summary()`` of a Bayesian model averaging prints."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.linear_model.inference.summary import (
    WIDTH,
    align_named,
    format_number,
    shorten,
    wrap_words,
    write_summary,
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


def format_share(share):
    """Write a probability with four decimals, smaller ones with their power."""
    return f"{share:.4f}" if share >= 5e-5 or share == 0 else f"{share:.1e}"


def tabulate_members(averaging, width=WIDTH):
    """Write one line for each member, and a heading.

    Parameters
    ----------
    averaging : BaseModelAveraging
        Fitted with members.
    width : int or float, default=80
        Maximum length of lines.

    Returns
    -------
    lines : list of str
        The lines.
    names_are_cut : bool
        Whether names had to be shortened.
    """
    table = averaging.posterior_table_
    shown = [name for name in HEADINGS if name in table]

    def make_cells(row, digits):
        return [
            format_share(table[name][row])
            if name in ("prior", "weight")
            else format_number(table[name][row], digits)
            for name in shown
        ]

    heading = [HEADINGS[name] for name in shown]
    return align_named(table["member"].tolist(), heading, make_cells, width)


def summarise_members(averaging, width):
    """Write the summary of an average of members.

    Parameters
    ----------
    averaging : BaseModelAveraging
        Fitted.
    width : int or None
        Maximum length of lines; None: any.

    Returns
    -------
    text : str
        The summary.
    """
    n_members = len(averaging.posterior_table_["member"])
    facts = [("weighting", averaging.weighting), ("members", str(n_members))]
    lines, names_are_cut = tabulate_members(averaging, width or np.inf)
    notes = [NAMES_ARE_CUT.format("posterior_table_")] * names_are_cut
    title = "Bayesian model averaging"
    return write_summary(title, facts, [], notes, more=lines, width=width)


def summarise_subsets(averaging, width, n_models):
    """Write the summary of an average over subsets of the columns.

    Parameters
    ----------
    averaging : BaseModelAveraging
        Fitted with ``estimators=None``.
    width : int or None
        Maximum length of lines; None: any.
    n_models : int or None
        How many models are listed; None: all.

    Returns
    -------
    text : str
        The summary.
    """
    table = averaging.posterior_table_
    kind = "linear" if averaging.coef_.ndim == 1 else "logistic"
    facts = [
        ("columns of the table", str(averaging.n_features_in_)),
        ("subsets", f"{averaging._subsets.n_subsets:,}"),
        ("models in the window", f"{len(table['weight']):,}"),
        ("weight of the five best", format_share(table["weight"][:5].sum())),
    ]
    title = f"Bayesian model averaging: {kind} regressions on subsets of the columns"
    lines = [write_summary(title, facts, [], width=width)]
    width, are_cut = width or np.inf, False
    for heading, vector in _list_vectors(averaging):
        rows, names_are_cut = _list_coefficients(*vector, width)
        lines += ["", *([shorten(heading, width)] if heading else []), *rows]
        are_cut |= names_are_cut
    lines += ["", "weight  BIC and columns of each model"]
    for number in range(len(table["weight"]))[:n_models]:
        terms = ", ".join(map(str, table["terms"][number])) or "the intercept alone"
        share, bic = table["weight"][number], table["bic"][number]
        start = f"{format_share(share)}  BIC {format_number(bic)}  "
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
    shares = np.repeat(averaging.inclusion_probabilities_, counts)
    names = averaging.coef_names_
    if averaging.coef_.ndim == 1:
        first = averaging.intercept_, averaging.intercept_std_
        return [("", (names, shares, *first, averaging.coef_, averaging.coef_std_))]
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
        (heading, (names, shares, *(values[row] for values in columns)))
        for row, heading in enumerate(headings)
    ]


def _list_coefficients(names, shares, intercept, intercept_std, coef, coef_std, width):
    """Write a heading and one line per coefficient; return whether names are cut."""
    shares = ["1", *map(format_share, shares)]
    numbers = [np.r_[intercept, coef], np.r_[intercept_std, coef_std]]

    def make_cells(row, digits):
        return [
            shares[row],
            *(format_number(values[row], digits) for values in numbers),
        ]

    heading = ["P(included)", "mean", "std. deviation"]
    return align_named(["intercept", *names], heading, make_cells, width)
