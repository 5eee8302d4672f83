"""Stage 6, explain: rules, text, Graphviz export, figures and pages of a grown tree."""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: rules and text need neither pruning nor a figure.
__getattr__, __dir__, __all__ = make_lazy(__name__)
