"""Stage 6, explain: rules, text, Graphviz export, figures and pages of a grown tree."""

from typing import TYPE_CHECKING

from sklearn_textbook._contract.lazy_names import make_lazy

if TYPE_CHECKING:
    from sklearn_textbook.tree.explain.graphviz import export_graphviz
    from sklearn_textbook.tree.explain.page.to_html import to_html
    from sklearn_textbook.tree.explain.plot import plot_tree
    from sklearn_textbook.tree.explain.pruning_report import export_pruning_report
    from sklearn_textbook.tree.explain.rule_formats import export_rules
    from sklearn_textbook.tree.explain.rules import build_rules
    from sklearn_textbook.tree.explain.text import export_text

# Loaded on first use: rules and text need neither pruning nor a figure.
_HOMES = {
    "build_rules": "rules",
    "export_graphviz": "graphviz",
    "export_pruning_report": "pruning_report",
    "export_rules": "rule_formats",
    "export_text": "text",
    "plot_tree": "plot",
    "to_html": "page.to_html",
}

__all__ = [
    "build_rules",
    "export_graphviz",
    "export_pruning_report",
    "export_rules",
    "export_text",
    "plot_tree",
    "to_html",
]

__getattr__, __dir__ = make_lazy(__name__, _HOMES)
