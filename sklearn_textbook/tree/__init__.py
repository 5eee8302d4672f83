"""Decision trees, and functions to print, draw and convert them.

The subpackages follow the stages of processing: ``encode`` converts a table to sorted
columns, ``split`` finds the best test of a node, ``grow`` builds the whole tree,
``prune`` prunes it, ``route`` sends rows through it, ``rules`` converts it to a list of
rules, ``explain`` describes and draws it, ``exchange`` converts it for other packages.
"""

from sklearn_textbook._contract.lazy_names import make_lazy

# Loaded on first use: a saved tree is printed without importing scikit-learn.
__getattr__, __dir__, __all__ = make_lazy(__name__)
