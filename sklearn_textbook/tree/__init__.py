"""Trees as estimators, and ways to read them.

The way of the data is the order of the subpackages: ``encode`` turns a table into
sorted columns, ``split`` finds the best test of a node, ``grow`` makes the whole tree,
``prune`` cuts it back, ``route`` sends rows through it, ``rules`` makes it a list of
rules, ``explain`` puts it in words.
"""

from sklearn_textbook.tree.c45 import C45Classifier
from sklearn_textbook.tree.c45_rules import C45RulesClassifier
from sklearn_textbook.tree.cart import CARTClassifier, CARTRegressor
from sklearn_textbook.tree.explain import (
    export_graphviz,
    export_pruning_report,
    export_rules,
    export_text,
    plot_tree,
)
from sklearn_textbook.tree.id3 import ID3Classifier
from sklearn_textbook.tree.prune import (
    CostComplexityPruning,
    ErrorBasedPruning,
    LossPruning,
    OutOfBagPruning,
    PrePruning,
    ReducedErrorPruning,
)

__all__ = [
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "CostComplexityPruning",
    "ErrorBasedPruning",
    "ID3Classifier",
    "LossPruning",
    "OutOfBagPruning",
    "PrePruning",
    "ReducedErrorPruning",
    "export_graphviz",
    "export_pruning_report",
    "export_rules",
    "export_text",
    "plot_tree",
]
