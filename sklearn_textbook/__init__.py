"""Decision trees, ensembles and linear models for scikit-learn.

Trees and their ensembles fit tables with text columns, categories, missing values and
weights as they are; linear models make indicators of text, and take missing values with
``missing="mean"``.
The methods are those of 李航《统计学习方法》 and 周志华《机器学习》::

    tree                   ID3, C4.5, CART and oblique trees; text, rules, plots
    ensemble               bagging, forests, boosting, voting, stacking, output codes
    linear_model           least squares, generalised and logistic regression, maximum
                           entropy
    discriminant_analysis  linear discriminants
    decomposition          singular values and principal components
    inspection             explanations, Shapley values, displays
    exchange               conversion to ONNX, PMML, source code and scikit-learn
    io                     reading and writing tables and models
    datasets               the books' tables, a public one, and generated ones
    criteria               entropy, gain ratio, Gini index and other functions
    cli                    the command ``sklearn-textbook``

The package ``tree`` has one subpackage for each stage::

    table -- encode --> EncodedTable -- split, grow --> GrownTree -- prune --+
    (array, frame,      levels, exact   best split,     immutable table      |
     sparse)            ranks, missing  whole tree      of nodes             |
                                                                             |
      leaves, probabilities <-- route ----+----------------------------------+
      rules, text, plot     <-- explain --+
      JSON                  <-- io -------+

Estimators accept NumPy arrays, pandas, polars and pyarrow tables, and most of them also
SciPy sparse matrices. They pass scikit-learn's estimator checks.
"""

from sklearn_textbook._contract.lazy_names import make_lazy

__version__ = "0.1.0.dev0"

# Loaded on first use, so that importing the package costs nothing.
__getattr__, __dir__, __all__ = make_lazy(__name__)
__all__ += ["__version__"]
