"""Decision trees, and functions to print, draw and convert them.

The subpackages follow the stages of processing: ``encode`` converts a table to sorted
columns, ``split`` finds the best test of a node, ``grow`` builds the whole tree,
``prune`` prunes it, ``route`` sends rows through it, ``rules`` converts it to a list of
rules, ``explain`` describes and draws it, ``exchange`` converts it for other packages.
"""

from typing import TYPE_CHECKING

from sklearn_textbook._contract.lazy_names import make_lazy

if TYPE_CHECKING:
    from sklearn_textbook.tree.c45 import C45Classifier
    from sklearn_textbook.tree.c45_rules import C45RulesClassifier
    from sklearn_textbook.tree.cart import CARTClassifier, CARTRegressor
    from sklearn_textbook.tree.exchange import to_sklearn
    from sklearn_textbook.tree.explain import (
        export_graphviz,
        export_pruning_report,
        export_rules,
        export_text,
        plot_tree,
        to_html,
    )
    from sklearn_textbook.tree.id3 import ID3Classifier
    from sklearn_textbook.tree.oblique import (
        ObliqueTreeClassifier,
        ObliqueTreeRegressor,
    )
    from sklearn_textbook.tree.prune import (
        CostComplexityPruning,
        ErrorBasedPruning,
        LossPruning,
        OutOfBagPruning,
        PrePruning,
        ReducedErrorPruning,
    )

# Loaded on first use: a saved tree is printed without importing scikit-learn.
_HOMES = {
    "C45Classifier": "c45",
    "C45RulesClassifier": "c45_rules",
    "CARTClassifier": "cart",
    "CARTRegressor": "cart",
    "CostComplexityPruning": "prune",
    "ErrorBasedPruning": "prune",
    "ID3Classifier": "id3",
    "LossPruning": "prune",
    "ObliqueTreeClassifier": "oblique",
    "ObliqueTreeRegressor": "oblique",
    "OutOfBagPruning": "prune",
    "PrePruning": "prune",
    "ReducedErrorPruning": "prune",
    "export_graphviz": "explain",
    "export_pruning_report": "explain",
    "export_rules": "explain",
    "export_text": "explain",
    "plot_tree": "explain",
    "to_html": "explain",
    "to_sklearn": "exchange",
}

__all__ = [
    "C45Classifier",
    "C45RulesClassifier",
    "CARTClassifier",
    "CARTRegressor",
    "CostComplexityPruning",
    "ErrorBasedPruning",
    "ID3Classifier",
    "LossPruning",
    "ObliqueTreeClassifier",
    "ObliqueTreeRegressor",
    "OutOfBagPruning",
    "PrePruning",
    "ReducedErrorPruning",
    "export_graphviz",
    "export_pruning_report",
    "export_rules",
    "export_text",
    "plot_tree",
    "to_html",
    "to_sklearn",
]

__getattr__, __dir__ = make_lazy(__name__, _HOMES)
