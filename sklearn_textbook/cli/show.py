"""The command ``show``: a model as text, rules, drawing or data."""

from __future__ import annotations

import json
from pathlib import Path

from sklearn_textbook.cli import report
from sklearn_textbook.cli.errors import refuse_use
from sklearn_textbook.cli.output import Output
from sklearn_textbook.io import read_model
from sklearn_textbook.tree import export_graphviz


def show_model(model, form, max_depth=None):
    """Print a model.

    Parameters
    ----------
    model : str
        Path of the model file.
    form : {"text", "rules", "dot", "json"}
        How.
    max_depth : int, default=None
        Depth to which text and dot show the tree.
    """
    saved = read_model(model)
    output = Output()
    if form == "text":
        target = f", predicts {saved.target}" if saved.target else ""
        output.write(report.describe_model(saved.estimator) + target)
        if report.is_rule_list(saved.estimator):
            report.print_numbered_rules(output, saved.estimator)
        else:
            report.print_tree(output, saved.estimator, max_depth)
    elif form == "rules":
        report.print_rules(output, saved.estimator)
    elif form == "dot":
        if report.is_rule_list(saved.estimator):
            refuse_use(f"--as dot draws trees, but {model} holds a list of rules")
        drawing = export_graphviz(
            saved.estimator, max_depth=max_depth, filled=True, rounded=True
        )
        output.stream.write(drawing.rstrip("\n") + "\n")
    else:
        document = json.loads(Path(model).read_text(encoding="utf-8"))
        text = json.dumps(document, ensure_ascii=False, indent=2)
        output.stream.write(text + "\n")
