"""Trees as estimators, and ways to read them.

The way of the data is the order of the subpackages: ``encode`` turns a table into
sorted columns, ``split`` finds the best test of a node, ``grow`` makes the whole tree,
``prune`` cuts it back, ``route`` sends rows through it, ``explain`` puts it in words.
"""

from sklearn_textbook.tree.cart import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.explain import (
    export_graphviz,
    export_rules,
    export_text,
    plot_tree,
)

__all__ = [
    "CARTClassifier",
    "CARTRegressor",
    "export_graphviz",
    "export_rules",
    "export_text",
    "plot_tree",
]
