"""Fitted attributes that model files keep of models other than trees.

`design_`, `classes_`, `n_features_in_` and `feature_names_in_` are kept for all models
that have them. A new fitted attribute must be added here.
"""

from __future__ import annotations

import numpy as np

from sklearn_textbook._contract.kept import Kept, Record
from sklearn_textbook.decomposition.column_moments import ColumnMoments
from sklearn_textbook.io.fitted_ensembles import (
    MODEL_AVERAGING_CLASSIFIER,
    MODEL_AVERAGING_REGRESSOR,
    NEGATIVE_CORRELATION_REGRESSOR,
)
from sklearn_textbook.io.fitted_model import ANY, MAYBE, FittedModel, numbers, require
from sklearn_textbook.linear_model.generalized.families import (
    BinomialFamily,
    TweedieFamily,
)
from sklearn_textbook.linear_model.generalized.links import (
    ComplementaryLogLogLink,
    IdentityLink,
    InverseLink,
    LogitLink,
    LogLink,
    PowerLink,
    ProbitLink,
)
from sklearn_textbook.linear_model.least_squares.linear_regression import LARGEST
from sklearn_textbook.linear_model.least_squares.solution import LeastSquaresSolution
from sklearn_textbook.linear_model.maximum_entropy.sources import (
    ColumnSource,
    MatrixSource,
)
from sklearn_textbook.linear_model.solve.row_triangle import RowTriangle
from sklearn_textbook.linear_model.solve.weighted_solution import RowSpace

# ----------------------------------------------------------------- least squares
_ROWS = Record(
    RowTriangle,
    (
        Kept("has_intercept", "truth"),
        numbers("origin", ["coefficients"]),
        numbers("target_origin", ["targets"]),
        numbers("triangle", ["kept_rows", ("has_intercept", "coefficients")]),
        numbers("targets", ["kept_rows", "targets"]),
        numbers("residual", ["targets"], least=0),
        Kept("n_rows", "integer", least=1),
        Kept("total_weight", "float", least=0),
        Kept("sum_log_weight", "float", **ANY),
        numbers("column_sums", ["coefficients"], **MAYBE),
        numbers("target_sums", ["targets"], **MAYBE),
    ),
)
_SOLUTION = Record(
    LeastSquaresSolution,
    (
        numbers("coefficients", ["coefficients", "targets"]),
        numbers("intercepts", ["targets"]),
        Kept("rank", "integer", least=0),
        numbers("scales", ["coefficients"]),
        Kept("is_constant", "truth", ("coefficients",)),
        Kept("threshold", "float"),
    ),
)


def _check_least_squares(model, kept):
    coef, rows = kept["coef_"], kept["_rows"]
    several = coef.ndim == 2
    require(several or not hasattr(kept["intercept_"], "shape"), "coef_, intercept_")
    if rows is None:
        return
    names = ("rank_", "_alpha", "_positive", "_weight_type", "_solution")
    require(all(kept.get(name) is not None for name in names), "_rows and _solution")
    n_targets = len(coef) if several else 1
    require(len(rows.residual) == n_targets, "the targets of coef_ and of _rows")
    solution, n_columns = kept["_solution"], len(rows.origin)
    require(solution.rank == kept["rank_"] <= n_columns, "the ranks")
    require((solution.scales > 0).all() and rows.total_weight > 0, "scales and weights")
    with np.errstate(over="ignore"):
        scaled = rows.slopes_triangle / solution.scales
    require(np.isfinite(scaled).all(), "scales and triangle")
    for sums in (rows.column_sums, rows.target_sums):
        require((sums is None) == rows.has_intercept, "the intercept and the sums")
    require(len(rows.triangle) >= rows.has_intercept, "the rows of the triangle")
    is_usable = all(
        (np.abs(array) < LARGEST).all() for array in (rows.triangle, rows.targets)
    )
    require(is_usable, f"numbers of {LARGEST:g} and more, and squares,")


LINEAR_REGRESSION = FittedModel(
    (
        numbers("coef_", ["coefficients"], ["targets", "coefficients"]),
        numbers("intercept_", (), ["targets"]),
        Kept("rank_", "integer", least=0, **MAYBE),
        Kept("_alpha", "float", least=0, **MAYBE),
        Kept("_positive", "truth", **MAYBE),
        Kept("_weight_type", "text", **MAYBE),
        Kept("_rows", (_ROWS,), **MAYBE),
        Kept("_solution", (_SOLUTION,), **MAYBE),
    ),
    _check_least_squares,
    derived=("_inference",),
)


# ------------------------------------------------------------ logistic regression
def _check_logistic(model, kept):
    names = {"separation_", "rank_", "_errors"}
    require(kept.keys() >= names, "coef_ and what is known of it")
    n_classes, vectors = len(model.classes_), len(kept["coef_"])
    allowed = (1,) if n_classes == 2 else (n_classes - 1, n_classes)
    require(n_classes > 1 and vectors in allowed, "classes_ and coef_")
    n_parameters = vectors * (kept["coef_"].shape[1] + bool(model.fit_intercept))
    if kept["rank_"] is not None:
        covariance, errors = kept.get("covariance_"), kept["_errors"]
        require(covariance is not None and errors is not None, "rank_, errors")
        require(len(covariance) == n_parameters, "coef_ and covariance_")
    require(len(kept["n_iter_"]) > 0, "n_iter_ and coef_")
    require(kept["null_log_likelihood_"] < 0, "classes_ and null_log_likelihood_")


LOGISTIC_REGRESSION = FittedModel(
    (
        numbers("coef_", ["vectors", "coefficients"]),
        numbers("intercept_", ["vectors"]),
        Kept("solver_", "text"),
        Kept("separation_", "text", **MAYBE),
        Kept("rank_", "integer", least=0, **MAYBE),
        numbers("covariance_", ["parameters", "parameters"], **ANY, **MAYBE),
        numbers("_errors", ["parameters"], **ANY, **MAYBE),
        Kept("log_likelihood_", "float"),
        Kept("null_log_likelihood_", "float"),
        numbers("loss_path_", [None], **ANY),
        Kept("n_iter_", "integer", (None,), least=0),
        Kept("is_converged_", "truth"),
        Kept("n_observations_", "float", least=0),
    ),
    _check_logistic,
)


# ------------------------------------------------------- generalised linear models
_FAMILIES = (
    Record(TweedieFamily, (Kept("name", "text"), Kept("power", "float"))),
    Record(BinomialFamily, (Kept("name", "text"),)),
)
_LINKS = (
    *map(Record, (IdentityLink, LogLink, LogitLink, ProbitLink, InverseLink)),
    Record(ComplementaryLogLogLink),
    Record(PowerLink, (Kept("exponent", "float"),)),
)
_BOTH = (1, "coefficients")
_ROW_SPACE = Record(
    RowSpace,
    (
        numbers("basis", ["coefficients", None]),
        numbers("units", ["coefficients"]),
    ),
)


def _check_generalized(model, kept):
    require(getattr(kept["link_"], "exponent", 1.0) != 0.0, "link and exponent 0")
    require("_row_space" in kept, "coef_ and _row_space")
    space = kept["_row_space"]
    require(space is None or (space.units > 0).all(), "coef_ and units")
    require(kept["rank_"] <= len(kept["coef_"]), "rank_ and coef_")


GENERALIZED_LINEAR_REGRESSOR = FittedModel(
    (
        Kept("family_", _FAMILIES),
        Kept("link_", _LINKS),
        numbers("coef_", ["coefficients"]),
        Kept("intercept_", "float"),
        Kept("n_iter_", "integer", least=0),
        Kept("converged_", "truth"),
        numbers("deviance_path_", [None], **ANY),
        Kept("deviance_", "float", **ANY),
        Kept("null_deviance_", "float", **ANY),
        numbers("_inverse", [_BOTH, _BOTH], **ANY),
        Kept("_share", "float", **ANY),
        numbers("_centre", ["coefficients"], **ANY),
        Kept("_row_space", (_ROW_SPACE,), **MAYBE),
        numbers("_row_centre", ["coefficients"], **ANY),
        Kept("_is_determined", "truth", (_BOTH,)),
        Kept("rank_", "integer", least=0),
        Kept("effective_rank_", "float", **ANY),
        Kept("n_observations_", "float", least=0),
        Kept("null_degrees_of_freedom_", "float"),
        Kept("residual_degrees_of_freedom_", "float", **ANY),
        Kept("dispersion_", "float", **ANY),
        numbers("covariance_", [_BOTH, _BOTH], **ANY),
        Kept("_n_parameters", "float", **ANY),
        Kept("log_likelihood_", "float", **ANY),
        Kept("retransformation_factor_", "float"),
    ),
    _check_generalized,
)


# ----------------------------------------------------------------- maximum entropy
_SOURCES = (
    Record(
        ColumnSource,
        (
            numbers("offset", ["coefficients"]),
            numbers("scale", ["coefficients"]),
            Kept("n_classes", "integer", least=1),
            Kept("has_constant", "truth"),
        ),
    ),
    Record(MatrixSource, (Kept("n_classes", "integer", least=1),)),
)


def _check_maximum_entropy(model, kept):
    source, n_classes = kept["_source"], len(model.classes_)
    require(source.n_classes == n_classes, "classes_ and _source")
    has_columns = isinstance(source, ColumnSource)
    if has_columns:
        require(all(name in kept for name in ("coef_", "intercept_")), "coef_, _source")
        require((source.scale > 0).all(), "_source and scale")
        n_features = n_classes * (len(source.scale) + source.has_constant)
    else:
        n_features, rest = divmod(model.n_features_in_, n_classes)
        require(rest == 0, "columns and classes_")
    require(has_columns == (model.features == "columns"), "features and _source")
    require(len(kept["weights_"]) == n_features, "weights_, columns and classes_")


MAX_ENT_CLASSIFIER = FittedModel(
    (
        numbers("coef_", ["classes", "coefficients"], **MAYBE),
        numbers("intercept_", ["classes"], **MAYBE),
        Kept("_source", _SOURCES),
        numbers("weights_", ["features"]),
        numbers("_solver_weights", ["features"]),
        numbers("empirical_expectation_", [None], **ANY),
        numbers("model_expectation_", [None], **ANY),
        Kept("n_contexts_", "integer", least=1),
        numbers("loss_path_", [None], **ANY),
        Kept("n_iter_", "integer", least=0),
        Kept("entropy_", "float", **ANY),
        Kept("dual_value_", "float", **ANY),
        numbers("distribution_", ["classes"], **MAYBE),
    ),
    _check_maximum_entropy,
)


# ---------------------------------------------------------------------- components
_MOMENTS = Record(
    ColumnMoments,
    (
        Kept("n_rows", "integer", least=1),
        Kept("total_weight", "float", least=0),
        numbers("mean", ["columns"]),
        numbers("scatter", ["columns", "columns"]),
    ),
)


def _check_components(model, kept):
    require(kept.keys() >= {"_moments", "_dtype"} or "components_" in kept, "_moments")
    if "components_" in kept:
        names = {each.name for each in PRINCIPAL_COMPONENTS.kept if each.is_finite}
        names -= {"_moments", "_dtype", "_fit_svd_solver"}
        require(kept.keys() >= names, "components_ and what is made with them")
        names -= {"mean_", "scale_", "n_samples_"}
        is_complete = all(kept[name] is not None for name in names)
        require(is_complete, "components_ and what is made with them")
        require(kept["n_components_"] == len(kept["components_"]), "components_")
        scale = kept["scale_"]
        require(scale is None or (scale > 0).all(), "scale_ and components_")


PRINCIPAL_COMPONENTS = FittedModel(
    (
        numbers("components_", ["components", "columns"], **MAYBE),
        numbers("eigenvalues_", [None], **MAYBE),
        numbers("explained_variance_", ["components"], least=0, **MAYBE),
        numbers("explained_variance_ratio_", ["components"], **MAYBE),
        numbers("singular_values_", ["components"], **ANY, **MAYBE),
        Kept("n_components_", "integer", least=0, **MAYBE),
        Kept("noise_variance_", "float", least=0, **MAYBE),
        numbers("mean_", ["columns"], **MAYBE),
        numbers("var_", ["columns"], least=0, **MAYBE),
        numbers("scale_", ["columns"], **MAYBE),
        Kept("n_samples_", "float", **MAYBE),
        Kept("_fit_svd_solver", "text", **MAYBE),
        Kept("_moments", (_MOMENTS,), **MAYBE),
        Kept("_dtype", "precision", **MAYBE),
    ),
    _check_components,
)


def _check_truncated(model, kept):
    require(len(kept["components_"]) > 0, "components_ and singular_values_")


TRUNCATED_SVD = FittedModel(
    (
        numbers("components_", ["components", "columns"]),
        numbers("singular_values_", ["components"], least=0),
        numbers("explained_variance_", ["components"], least=0),
        numbers("explained_variance_ratio_", ["components"], **ANY),
    ),
    _check_truncated,
)


# ---------------------------------------------------------------------------- LDA
def _check_discriminant(model, kept):
    n_classes, vectors = len(model.classes_), len(kept["coef_"])
    require(vectors == (1 if n_classes == 2 else n_classes), "classes_ and coef_")
    scalings = kept.get("scalings_")
    require((scalings is None) == (model.solver == "lsqr"), "solver and scalings_")
    n_directions = 0 if scalings is None else scalings.shape[1]
    if scalings is not None:
        require(kept["_n_features_out"] <= n_directions, "directions and scalings_")


LINEAR_DISCRIMINANT_ANALYSIS = FittedModel(
    (
        numbers("coef_", ["vectors", "columns"]),
        numbers("intercept_", ["vectors"], **ANY),
        numbers("class_count_", ["classes"], least=0),
        numbers("priors_", ["classes"], least=0),
        numbers("means_", ["classes", "columns"]),
        numbers("xbar_", ["columns"]),
        Kept("within_rank_", "integer", least=0),
        numbers("within_scatter_", ["columns", "columns"], **ANY, **MAYBE),
        numbers("covariance_", ["columns", "columns"], **ANY, **MAYBE),
        Kept("_n_features_out", "integer", least=0),
        numbers("scalings_", ["columns", "directions"], **MAYBE),
        numbers("eigenvalues_", [None], **ANY, **MAYBE),
        numbers("explained_variance_ratio_", [None], **ANY, **MAYBE),
        numbers("projected_means_", ["classes", None], **ANY, **MAYBE),
    ),
    _check_discriminant,
)


#: What is kept of each class.
FITTED_MODELS = {
    "LinearRegression": LINEAR_REGRESSION,
    "LogisticRegression": LOGISTIC_REGRESSION,
    "GeneralizedLinearRegressor": GENERALIZED_LINEAR_REGRESSOR,
    "MaxEntClassifier": MAX_ENT_CLASSIFIER,
    "PCA": PRINCIPAL_COMPONENTS,
    "TruncatedSVD": TRUNCATED_SVD,
    "NegativeCorrelationRegressor": NEGATIVE_CORRELATION_REGRESSOR,
    "LinearDiscriminantAnalysis": LINEAR_DISCRIMINANT_ANALYSIS,
    "BayesianModelAveragingClassifier": MODEL_AVERAGING_CLASSIFIER,
    "BayesianModelAveragingRegressor": MODEL_AVERAGING_REGRESSOR,
}
