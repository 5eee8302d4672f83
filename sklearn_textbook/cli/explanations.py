"""Why a row is predicted as it is: its rules, or the contributions of columns."""

from __future__ import annotations

import numpy as np

from sklearn_textbook.cli import models
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.report import show_label
from sklearn_textbook.tree import export_rules

#: Most rules that explain a row divided among branches.
_MOST_RULES = 3


def require_explainable(estimator, path) -> None:
    """Refuse a model that has neither rules nor trees."""
    if models.is_other_model(estimator):
        refuse_use(
            f"--explain requires trees, but {path} contains a "
            f"{type(estimator).__name__}"
        )
    if models.is_ensemble(estimator):
        from sklearn_textbook.exchange import read_trees  # predict needs it only here

        try:
            read_trees(estimator)
        except TypeError:
            refuse_use(
                "--explain requires trees whose scores add up, but "
                f"{path} contains a {type(estimator).__name__}"
            )
        except ValueError as error:
            refuse_use(f"--explain requires trees whose scores add up; {path}: {error}")


def explain_rows(scorer, estimator, X, predicted) -> list[str]:
    """Write for every row the rule that applies, or the contributions of its columns.

    Of a row that a missing value or a new level divides among branches, the rules of
    the branches; for an ensemble the score and its largest contributions. With costs,
    also the prediction if it is not that of the rule or score.
    """
    write = _explain_by_list if models.is_rule_list(estimator) else _explain_by_tree
    if models.is_ensemble(estimator):
        write = _explain_by_scores
    sentences = write(estimator, X)
    if scorer.costs is None:
        return sentences
    likeliest = scorer.labels[predicted.probabilities.argmax(axis=1)]
    return [
        sentence
        if likely == chosen
        else f"{sentence}; {show_label(chosen)} has the least expected cost"
        for sentence, likely, chosen in zip(
            sentences, likeliest, predicted.values, strict=True
        )
    ]


def _explain_by_scores(estimator, X):
    from sklearn_textbook.inspection import explain

    return [entry.sentence for entry in explain(estimator, X)]


def _explain_by_list(estimator, X):
    """Return the text of the rule that decides each row; -1 is the default rule."""
    lines = export_rules(estimator).splitlines()
    return [lines[rule].removeprefix("ELSE ") for rule in estimator.apply(X)]


def _explain_by_tree(estimator, X):
    options = {"inner_nodes": True}
    nodes = [rule["node"] for rule in export_rules(estimator, "dict", **options)]
    lines = export_rules(estimator, **options).splitlines()
    rules = dict(zip(nodes, lines, strict=True))
    is_leaf = estimator.tree_.nodes["n_children"] == 0
    path = estimator.decision_path(X)
    sentences = []
    for row, end in enumerate(estimator.apply(X)):
        reached = path.indices[path.indptr[row] : path.indptr[row + 1]]
        leaves = np.sort(reached[is_leaf[reached]])
        if len(leaves) > 1:
            sentences.append(_join_rules([rules[leaf] for leaf in leaves]))
        else:
            sentences.append(rules[end])
    return sentences


def _join_rules(rules):
    shown = "; ".join(rules[:_MOST_RULES])
    more = len(rules) - _MOST_RULES
    return f"divided among {len(rules)} rules: {shown}" + ("; ..." if more > 0 else "")
