"""Linear models (线性模型) and maximum entropy (最大熵模型).

All models of this package convert a table to a matrix by ``design``::

    table --read_design--> matrix of numbers, Design --> row sums --> coefficients

Numeric columns are not changed, ordinal columns are mapped to [0, 1], nominal ones
become indicator columns (周志华《机器学习》, section 3.2).
"""

from sklearn_textbook.linear_model.from_formula import from_formula
from sklearn_textbook.linear_model.generalized.generalized_linear import (
    GeneralizedLinearRegressor,
)
from sklearn_textbook.linear_model.inference.anova import anova, compare_models
from sklearn_textbook.linear_model.inference.contrasts import (
    estimate_contrasts,
    wald_test,
)
from sklearn_textbook.linear_model.inference.effects import (
    comparisons,
    marginal_means,
    predictions,
    slopes,
)
from sklearn_textbook.linear_model.inference.inflation import variance_inflation
from sklearn_textbook.linear_model.inference.robust import robust_covariance
from sklearn_textbook.linear_model.least_squares.linear_regression import (
    LinearRegression,
)
from sklearn_textbook.linear_model.logistic.logistic_regression import (
    LogisticRegression,
)
from sklearn_textbook.linear_model.maximum_entropy import MaxEntClassifier
from sklearn_textbook.linear_model.ordinal.ordinal_regression import OrdinalRegression
from sklearn_textbook.linear_model.penalized import ElasticNet, ElasticNetClassifier

__all__ = [
    "ElasticNet",
    "ElasticNetClassifier",
    "GeneralizedLinearRegressor",
    "LinearRegression",
    "LogisticRegression",
    "MaxEntClassifier",
    "OrdinalRegression",
    "anova",
    "compare_models",
    "comparisons",
    "estimate_contrasts",
    "from_formula",
    "marginal_means",
    "predictions",
    "robust_covariance",
    "slopes",
    "variance_inflation",
    "wald_test",
]
