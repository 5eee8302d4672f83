"""What the commands print of an ensemble of trees."""

from __future__ import annotations

import numpy as np
from rich.text import Text

from sklearn_textbook.cli.output import make_table
from sklearn_textbook.io.naming import count_things

#: Columns whose importance ``fit`` lists.
MOST_IMPORTANCES = 20
_BAR_WIDTH = 24


def is_ensemble(estimator):
    """Return whether it is an ensemble of trees or of named members."""
    has_members = hasattr(estimator, "_list_members") or is_combination(estimator)
    return has_members and hasattr(estimator, "estimators_")


def is_combination(estimator):
    """Return whether it is an ensemble of named members, of any kind."""
    return hasattr(estimator, "named_estimators_")


def describe_ensemble(estimator):
    """Describe an ensemble by algorithm and number of trees or named members."""
    if is_combination(estimator):
        count = count_things(len(estimator._list_fitted()), "member")
        return f"{type(estimator).__name__}, {count}"
    members = estimator._list_members()
    kind, member = type(estimator).__name__, type(members[0]).__name__
    base = member.removesuffix("Classifier").removesuffix("Regressor")
    base = {"ObliqueTree": "oblique"}.get(base, base)
    trees = count_things(len(members), f"{base} tree")
    return f"{kind}, {trees}"


def print_sizes(output, estimator):
    """Print how many leaves the trees have, and how deep they are."""
    trees = [member.tree_ for member in estimator._list_members()]
    names = ("smallest", "median", "largest")
    table = make_table("", *names, right=names)
    for what, sizes in (
        ("leaves of a tree", [tree.n_leaves for tree in trees]),
        ("depth of a tree", [tree.max_depth for tree in trees]),
    ):
        ends = np.min(sizes), np.median(sizes), np.max(sizes)
        table.add_row(what, *(f"{end:,.1f}".removesuffix(".0") for end in ends))
    output.write(table)


def compute_importances(estimator):
    """Compute the share of each column in the decrease of impurity.

    Parameters
    ----------
    estimator : estimator
        A fitted ensemble of trees.

    Returns
    -------
    importances : ndarray of float64, shape (n_features,)
        Those that the ensemble has, else the mean over its trees, which for members of
        some columns is 0 in the others; all zero if no tree has a split.
    """
    if hasattr(estimator, "feature_importances_"):
        return estimator.feature_importances_
    total = np.zeros(estimator.n_features_in_)
    for member, columns in zip(
        estimator._list_members(), estimator._list_columns(), strict=True
    ):
        seen = np.arange(len(total)) if columns is None else columns
        # Bagging may draw a column twice.
        np.add.at(total, seen, member.tree_.compute_feature_importances())
    return total / total.sum() if total.sum() > 0 else total


def print_importances(output, names, importances, most=None):
    """Print the importances of the columns, the largest first, None for all."""
    order = np.argsort(-importances, kind="stable")
    largest = importances.max()
    widths = {"share": 5, "": _BAR_WIDTH}
    table = make_table("column", "share", "", right=("share",), widths=widths)
    for column in order[:most]:
        share = importances[column]
        length = round(_BAR_WIDTH * share / largest) if largest > 0 else 0
        table.add_row(names[column], f"{share:.3f}", Text("=" * length, style="cyan"))
    output.write(table)
    if most is not None and len(order) > most:
        rest = importances[order[most:]].sum()
        more = count_things(len(order) - most, "more column")
        what = f"with {rest:.3f} together" if rest > 0 else "without a split"
        output.write(f"... and {more} {what}")
