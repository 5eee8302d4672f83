"""Stage 6, explain: rules, text, Graphviz export and figures of a grown tree."""

from sklearn_textbook.tree.explain.graphviz import export_graphviz
from sklearn_textbook.tree.explain.plot import plot_tree
from sklearn_textbook.tree.explain.pruning_report import export_pruning_report
from sklearn_textbook.tree.explain.rule_formats import export_rules
from sklearn_textbook.tree.explain.rules import build_rules
from sklearn_textbook.tree.explain.text import export_text

__all__ = [
    "build_rules",
    "export_graphviz",
    "export_pruning_report",
    "export_rules",
    "export_text",
    "plot_tree",
]
