"""What the ``summary()`` of a Bayesian model averaging prints."""

from __future__ import annotations

from textwrap import wrap

import numpy as np

from sklearn_textbook.linear_model.inference.summary import (
    align_columns,
    format_number,
    write_summary,
)

#: Models that are listed.
MOST_LISTED = 5
WIDTH = 79


def format_share(share):
    """Write a probability with four decimals, smaller ones with their power."""
    return f"{share:.4f}" if share >= 5e-5 or share == 0 else f"{share:.1e}"


def summarise_members(averaging):
    """Write the summary of an average of members.

    Parameters
    ----------
    averaging : BaseModelAveraging
        Fitted.

    Returns
    -------
    text : str
        The summary.
    """
    table = averaging.posterior_table_
    facts = [("weighting", averaging.weighting), ("members", str(len(table["member"])))]
    headings = {
        "prior": "prior",
        "log_likelihood": "log-likelihood",
        "n_parameters": "parameters",
        "bic": "BIC",
        "log_evidence": "log evidence",
        "weight": "weight",
    }
    shown = [name for name in headings if name in table]
    lines = [["", *(headings[name] for name in shown)]]
    for row, member in enumerate(table["member"]):
        cells = [
            format_share(table[name][row])
            if name in ("prior", "weight")
            else format_number(table[name][row])
            for name in shown
        ]
        lines.append([member, *cells])
    head = write_summary("Bayesian model averaging", facts, [])
    return "\n".join([head, "", *align_columns(lines)])


def summarise_subsets(averaging):
    """Write the summary of an average over subsets of the columns.

    Parameters
    ----------
    averaging : BaseModelAveraging
        Fitted with ``estimators=None``.

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
    lines = [write_summary(title, facts, [])]
    for heading, vector in _list_vectors(averaging):
        lines += ["", *([heading] if heading else []), *_list_coefficients(*vector)]
    lines.append("")
    for number in range(min(MOST_LISTED, len(table["weight"]))):
        terms = ", ".join(map(str, table["terms"][number])) or "the intercept alone"
        text = (
            f"{format_share(table['weight'][number])}  "
            f"BIC {format_number(table['bic'][number])}  {terms}"
        )
        lines += wrap(text, WIDTH, subsequent_indent=" " * 8, break_long_words=False)
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


def _list_coefficients(names, shares, intercept, intercept_std, coef, coef_std):
    """Write one line for each coefficient, and a heading."""
    rows = [["", "P(included)", "mean", "std. deviation"]]
    rows.append(
        ["intercept", "1", format_number(intercept), format_number(intercept_std)]
    )
    for name, share, mean, std in zip(names, shares, coef, coef_std, strict=True):
        numbers = map(format_number, (mean, std))
        rows.append([name, format_share(share), *numbers])
    return align_columns(rows)
