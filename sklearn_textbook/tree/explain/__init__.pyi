from .graphviz import export_graphviz as export_graphviz
from .page.to_html import to_html as to_html
from .plot import plot_tree as plot_tree
from .pruning_report import export_pruning_report as export_pruning_report
from .rule_formats import export_rules as export_rules
from .rules import build_rules as build_rules
from .text import export_text as export_text
