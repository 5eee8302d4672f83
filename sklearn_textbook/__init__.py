"""The algorithms of two textbooks as scikit-learn estimators.

The books are 李航《统计学习方法》 and 周志华《机器学习》. What there is::

    io             a table in a file (csv, parquet, ARFF, C4.5) becomes a data frame
    datasets       the books' tables, and a generator of mixed tables
    criteria       entropy, information gain, gain ratio, Gini index as functions
    tree           ID3, C4.5, its rulesets, CART; pruning; text, rules, plot of a tree
    ensemble       bagging, random forests and subspaces, perturbed outputs
    decomposition  singular values of matrices and tables, principal components
    discriminant_analysis   linear discriminants: projection and classification
    linear_model   least squares, generalised and logistic regression, maximum entropy
    inspection     displays of what is better looked at
    cli            the command ``sklearn-textbook``: fit, predict, show

The way of the data through ``tree``, one folder per stage::

    table -- encode --> EncodedTable -- split, grow --> GrownTree -- prune --+
    (array, frame,      levels, exact   best split,     immutable table      |
     sparse)            ranks, missing  whole tree      of nodes             |
                                                                             |
      leaves, probabilities <-- route ----+----------------------------------+
      rules, text, plot     <-- explain --+
      JSON                  <-- io -------+

Every estimator takes numpy arrays, pandas, polars and pyarrow tables, those made of
trees scipy's sparse matrices, too, and passes scikit-learn's own checks.
"""

import importlib

__version__ = "0.1.0.dev0"

_SUBMODULES = (
    "criteria",
    "datasets",
    "decomposition",
    "discriminant_analysis",
    "ensemble",
    "inspection",
    "io",
    "linear_model",
    "tree",
)

__all__ = [*_SUBMODULES, "__version__"]


def __dir__():
    return __all__


def __getattr__(name):
    # Subpackages load when first used, so that importing the package costs nothing.
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
