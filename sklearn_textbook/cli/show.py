"""The command ``show``: a model, or a tree of it, as text, rules, drawing or data."""

from __future__ import annotations

import json
from pathlib import Path

from rich.text import Text

from sklearn_textbook.cli import report
from sklearn_textbook.cli.ensemble_report import (
    compute_importances,
    is_ensemble,
    print_importances,
    print_sizes,
)
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.output import Output
from sklearn_textbook.io import read_model
from sklearn_textbook.tree import export_graphviz


def show_model(model, form, max_depth=None, member=None):
    """Print a model.

    Parameters
    ----------
    model : str
        Path of the model file.
    form : {"text", "rules", "dot", "json"}
        How.
    max_depth : int, default=None
        Depth to which text and dot show the tree.
    member : int, default=None
        Number of the tree of an ensemble that is printed, counted from 0; None: what
        is to be said of all.
    """
    saved = read_model(model)
    output = Output()
    estimator = _choose_estimator(saved.estimator, model, form, member)
    if form == "json":
        document = json.loads(Path(model).read_text(encoding="utf-8"))
        text = json.dumps(document, ensure_ascii=False, indent=2)
        output.stream.write(text + "\n")
    elif form == "text":
        title = report.describe_model(estimator)
        if member is not None:
            title = f"{type(saved.estimator).__name__}, member {member}: {title}"
        elif saved.target:
            title += f", predicts {saved.target}"
        output.write(output.hang(Text(title)))
        _print_text(output, estimator, saved.schema.names, max_depth)
    elif form == "rules":
        report.print_rules(output, estimator)
    else:
        drawing = export_graphviz(
            estimator, max_depth=max_depth, filled=True, rounded=True
        )
        output.stream.write(drawing.rstrip("\n") + "\n")


def _choose_estimator(estimator, model, form, member):
    """Choose what is printed, the model or a member; refuse what cannot be."""
    if report.is_rule_list(estimator) and form == "dot":
        refuse_use(f"--as dot draws trees, but {model} holds a list of rules")
    if not is_ensemble(estimator):
        if member is not None:
            refuse_use(f"--member: {model} holds no ensemble")
        return estimator
    members = estimator._list_members()
    if member is None:
        if form in ("rules", "dot"):
            refuse_use(
                f"--as {form} writes a single tree; {model} has {len(members)}, of "
                f"which --member 0 to {len(members) - 1} chooses one"
            )
        return estimator
    if form == "json":
        refuse_use("--as json prints all of a file; leave out --member")
    if member >= len(members):
        refuse_use(f"--member must be from 0 to {len(members) - 1}, got {member}")
    return members[member]


def _print_text(output, estimator, names, max_depth):
    """Print a list of rules, an ensemble or a tree as text."""
    if report.is_rule_list(estimator):
        report.print_numbered_rules(output, estimator)
    elif is_ensemble(estimator):
        print_sizes(output, estimator)
        if hasattr(estimator, "oob_score_"):
            output.write(f"out-of-bag score {estimator.oob_score_:.4g}")
        output.heading("importances", "share in the decrease of impurity")
        print_importances(output, names, compute_importances(estimator))
    else:
        report.print_tree(output, estimator, max_depth)
