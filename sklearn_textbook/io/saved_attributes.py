"""Models saved attribute by attribute: linear ones, components, some ensembles.

`design_`, `classes_`, `n_features_in_` and `feature_names_in_` are saved of all models
that have them. A new fitted attribute must be added here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from sklearn_textbook._contract.saved_field import Record, SavedField
from sklearn_textbook.decomposition import PCA
from sklearn_textbook.decomposition.column_moments import ColumnMoments
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble.model_averaging.linear_subsets import (
    AveragedRegressions,
)
from sklearn_textbook.ensemble.model_averaging.logistic_subsets import (
    AveragedLogistic,
)
from sklearn_textbook.ensemble.negative_correlation.fitted_member import MemberUnits
from sklearn_textbook.ensemble.negative_correlation.joint_members import (
    MEMBERS,
    LinearMembers,
    NetworkMembers,
)
from sklearn_textbook.io.saved_values import (
    load_declared,
    load_single_classes,
    save_classes,
    save_declared,
    set_columns,
)
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.design import Design
from sklearn_textbook.linear_model.generalized.families import (
    BinomialFamily,
    NegativeBinomialFamily,
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
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.encode.read import default_names, numeric_schema


class SavedAttributes(NamedTuple):
    """The fitted attributes of a class in a model file."""

    declared: tuple[SavedField, ...]
    #: Raises a ValueError if the attributes of a model are inconsistent.
    check: Callable
    #: Attributes that are computed from those that are saved.
    derived: tuple[str, ...] = ()
    #: Sets the derived attributes; None: they are computed on access.
    derive: Callable | None = None


#: What is saved of each class.
SAVED_ATTRIBUTES: dict[str, SavedAttributes] = {}


def _numbers(name: str, *shapes: list, **limits: object) -> SavedField:
    """Numbers that are saved to the last bit, with one or several shapes."""
    shapes = [tuple(shape) for shape in shapes]
    return SavedField(name, "float", shapes if len(shapes) > 1 else shapes[0], **limits)


#: Statistics that may be undefined.
_ANY = {"is_finite": False}
_MAYBE = {"is_optional": True}


def _require(is_right: object, what: str) -> None:
    """Raise ValueError if a condition is false."""
    if not is_right:
        raise ValueError(f"{what} do not match")


# ----------------------------------------------------------------- least squares
_ROWS = Record(
    RowTriangle,
    (
        SavedField("has_intercept", "truth"),
        _numbers("origin", ["coefficients"]),
        _numbers("target_origin", ["targets"]),
        _numbers("triangle", ["kept_rows", ("has_intercept", "coefficients")]),
        _numbers("targets", ["kept_rows", "targets"]),
        _numbers("residual", ["targets"], least=0),
        SavedField("n_rows", "integer", least=1),
        SavedField("total_weight", "float", least=0),
        SavedField("sum_log_weight", "float", **_ANY),
        _numbers("column_sums", ["coefficients"], **_MAYBE),
        _numbers("target_sums", ["targets"], **_MAYBE),
        SavedField("has_fractions", "truth", **_MAYBE),
    ),
)
_SOLUTION = Record(
    LeastSquaresSolution,
    (
        _numbers("coefficients", ["coefficients", "targets"]),
        _numbers("intercepts", ["targets"]),
        SavedField("rank", "integer", least=0),
        _numbers("scales", ["coefficients"]),
        SavedField("is_constant", "truth", ("coefficients",)),
        SavedField("threshold", "float"),
    ),
)


def _check_robust(model, kept) -> None:
    """Check the robust covariance of the coefficients, which lacks no intercept."""
    robust = kept.get("_robust_covariance")
    n_coefficients = kept["coef_"].shape[-1] + bool(model.fit_intercept)
    fits = robust is None or robust.shape == (n_coefficients, n_coefficients)
    _require(fits, "coef_ and the robust covariance")


def _check_least_squares(model, kept):
    _check_robust(model, kept)
    coef, rows = kept["coef_"], kept["_rows"]
    several = coef.ndim == 2
    _require(several or not hasattr(kept["intercept_"], "shape"), "coef_, intercept_")
    if rows is None:
        return
    names = ("rank_", "_alpha", "_positive", "_weight_type", "_solution")
    _require(all(kept.get(name) is not None for name in names), "_rows and _solution")
    n_targets = len(coef) if several else 1
    _require(len(rows.residual) == n_targets, "the targets of coef_ and of _rows")
    solution, n_columns = kept["_solution"], len(rows.origin)
    _require(solution.rank == kept["rank_"] <= n_columns, "the ranks")
    _require(
        (solution.scales > 0).all() and rows.total_weight > 0, "scales and weights"
    )
    with np.errstate(over="ignore"):
        scaled = rows.slopes_triangle / solution.scales
    _require(np.isfinite(scaled).all(), "scales and triangle")
    for sums in (rows.column_sums, rows.target_sums):
        _require((sums is None) == rows.has_intercept, "the intercept and the sums")
    _require(len(rows.triangle) >= rows.has_intercept, "the rows of the triangle")
    is_usable = all(
        (np.abs(array) < LARGEST).all() for array in (rows.triangle, rows.targets)
    )
    _require(is_usable, f"numbers of {LARGEST:g} and more, and squares,")


SAVED_ATTRIBUTES["LinearRegression"] = SavedAttributes(
    (
        _numbers("coef_", ["coefficients"], ["targets", "coefficients"]),
        _numbers("intercept_", (), ["targets"]),
        SavedField("rank_", "integer", least=0, **_MAYBE),
        SavedField("_alpha", "float", least=0, **_MAYBE),
        SavedField("_positive", "truth", **_MAYBE),
        SavedField("_weight_type", "text", **_MAYBE),
        SavedField("_rows", (_ROWS,), **_MAYBE),
        SavedField("_solution", (_SOLUTION,), **_MAYBE),
        _numbers("_robust_covariance", [None, None], **_ANY, **_MAYBE),
    ),
    _check_least_squares,
    derived=("_inference",),
)


# ------------------------------------------------------------ logistic regression
def _check_logistic(model, kept) -> None:
    names = {"separation_", "rank_", "_errors"}
    _require(kept.keys() >= names, "coef_ and what is known of it")
    n_classes, vectors = len(model.classes_), len(kept["coef_"])
    allowed = (1,) if n_classes == 2 else (n_classes - 1, n_classes)
    _require(n_classes > 1 and vectors in allowed, "classes_ and coef_")
    place = kept.get("_reference_place")
    _require(place is None or place < n_classes, "classes_ and the reference class")
    n_parameters = vectors * (kept["coef_"].shape[1] + bool(model.fit_intercept))
    if kept["rank_"] is not None:
        covariance, errors = kept.get("covariance_"), kept["_errors"]
        _require(covariance is not None and errors is not None, "rank_, errors")
        _require(len(covariance) == n_parameters, "coef_ and covariance_")
    _require(len(kept["n_iter_"]) > 0, "n_iter_ and coef_")
    _require(kept["null_log_likelihood_"] < 0, "classes_ and null_log_likelihood_")


SAVED_ATTRIBUTES["LogisticRegression"] = SavedAttributes(
    (
        _numbers("coef_", ["vectors", "coefficients"]),
        _numbers("intercept_", ["vectors"]),
        SavedField("solver_", "text"),
        SavedField("separation_", "text", **_MAYBE),
        SavedField("rank_", "integer", least=0, **_MAYBE),
        _numbers("covariance_", ["parameters", "parameters"], **_ANY, **_MAYBE),
        _numbers("_errors", ["parameters"], **_ANY, **_MAYBE),
        _numbers("_model_covariance", ["parameters", "parameters"], **_ANY, **_MAYBE),
        SavedField("log_likelihood_", "float"),
        SavedField("null_log_likelihood_", "float"),
        _numbers("loss_path_", [None], **_ANY),
        SavedField("n_iter_", "integer", (None,), least=0),
        SavedField("converged_", "truth"),
        SavedField("_has_fractions", "truth", **_MAYBE),
        SavedField("_firth_statistic", "float", least=0, **_MAYBE),
        SavedField("_reference_place", "integer", least=0, **_MAYBE),
        SavedField("n_observations_", "float", least=0),
    ),
    _check_logistic,
)


# ------------------------------------------------------- generalised linear models
_FAMILIES = (
    Record(TweedieFamily, (SavedField("name", "text"), SavedField("power", "float"))),
    Record(BinomialFamily, (SavedField("name", "text"),)),
    Record(
        NegativeBinomialFamily,
        (SavedField("name", "text"), SavedField("theta", "float", least=0, **_ANY)),
    ),
)
_LINKS = (
    *map(Record, (IdentityLink, LogLink, LogitLink, ProbitLink, InverseLink)),
    Record(ComplementaryLogLogLink),
    Record(PowerLink, (SavedField("exponent", "float"),)),
)
_BOTH = (1, "coefficients")
_ROW_SPACE = Record(
    RowSpace,
    (
        _numbers("basis", ["coefficients", None]),
        _numbers("units", ["coefficients"]),
    ),
)


def _check_generalized(model, kept) -> None:
    _check_robust(model, kept)
    _require(getattr(kept["link_"], "exponent", 1.0) != 0.0, "link and exponent 0")
    _require("_row_space" in kept, "coef_ and _row_space")
    space = kept["_row_space"]
    _require(space is None or (space.units > 0).all(), "coef_ and units")
    _require(kept["rank_"] <= len(kept["coef_"]), "rank_ and coef_")


SAVED_ATTRIBUTES["GeneralizedLinearRegressor"] = SavedAttributes(
    (
        SavedField("family_", _FAMILIES),
        SavedField("link_", _LINKS),
        _numbers("coef_", ["coefficients"]),
        SavedField("intercept_", "float"),
        SavedField("n_iter_", "integer", least=0),
        SavedField("converged_", "truth"),
        SavedField("_has_offset", "truth", **_MAYBE),
        SavedField("_has_fractions", "truth", **_MAYBE),
        _numbers("deviance_path_", [None], **_ANY),
        SavedField("deviance_", "float", **_ANY),
        SavedField("null_deviance_", "float", **_ANY),
        _numbers("_inverse", [_BOTH, _BOTH], **_ANY),
        _numbers("_root", ["coefficients", None], **_ANY, **_MAYBE),
        SavedField("_share", "float", **_ANY),
        _numbers("_centre", ["coefficients"], **_ANY),
        SavedField("_row_space", (_ROW_SPACE,), **_MAYBE),
        _numbers("_row_centre", ["coefficients"], **_ANY),
        SavedField("_is_determined", "truth", (_BOTH,)),
        SavedField("rank_", "integer", least=0),
        SavedField("effective_rank_", "float", **_ANY),
        SavedField("n_observations_", "float", least=0),
        SavedField("null_degrees_of_freedom_", "float"),
        SavedField("residual_degrees_of_freedom_", "float", **_ANY),
        SavedField("dispersion_", "float", **_ANY),
        SavedField("theta_standard_error_", "float", **_ANY, **_MAYBE),
        SavedField("_poisson_null_deviance", "float", **_ANY, **_MAYBE),
        _numbers("covariance_", [_BOTH, _BOTH], **_ANY),
        _numbers("_robust_covariance", [None, None], **_ANY, **_MAYBE),
        SavedField("_n_parameters", "float", **_ANY),
        SavedField("log_likelihood_", "float", **_ANY),
        SavedField("retransformation_factor_", "float"),
    ),
    _check_generalized,
)


# ------------------------------------------------------------ ordinal regression
def _check_ordinal(model, kept) -> None:
    n_classes, n_thresholds = len(model.classes_), len(kept["thresholds_"])
    _require(n_classes == n_thresholds + 1 > 1, "classes_ and thresholds_")
    _require((np.diff(kept["thresholds_"]) > 0.0).all(), "the order of thresholds_")
    numbers = np.sort(kept["_class_numbers"])
    _require(np.array_equal(numbers, np.arange(n_classes)), "classes_ and their order")
    _require(kept["rank_"] <= len(kept["coef_"]), "rank_ and coef_")
    size = len(kept["coef_"]) + n_thresholds
    _require(len(kept["covariance_"]) == size, "coef_, thresholds_ and covariance_")
    _require(kept["null_log_likelihood_"] < 0, "classes_ and null_log_likelihood_")


SAVED_ATTRIBUTES["OrdinalRegression"] = SavedAttributes(
    (
        _numbers("coef_", ["coefficients"]),
        _numbers("thresholds_", ["thresholds"]),
        _numbers("covariance_", ["parameters", "parameters"], **_ANY),
        SavedField("_is_determined", "truth", ("parameters",)),
        SavedField("_class_numbers", "integer", ("classes",), least=0),
        SavedField("rank_", "integer", least=0),
        SavedField("log_likelihood_", "float"),
        SavedField("null_log_likelihood_", "float"),
        SavedField("n_observations_", "float", least=0),
        SavedField("_has_fractions", "truth"),
        SavedField("_has_offset", "truth", **_MAYBE),
        _numbers("loss_path_", [None], **_ANY),
        SavedField("n_iter_", "integer", least=0),
        SavedField("converged_", "truth"),
    ),
    _check_ordinal,
)


# ---------------------------------------------------------------- penalised models
def _check_path(model, kept) -> None:
    if kept["coef_"].ndim == 2:
        n_classes = len(model.classes_)
        n_scores = 1 if n_classes == 2 else n_classes
        _require(n_classes > 1 and len(kept["coef_"]) == n_scores, "classes_, coef_")
    _require(kept["alpha_"] in kept["alphas_"], "alpha_ and alphas_")
    is_none = [kept[name] is None for name in ("_cv_means", "_cv_errors")]
    _require(len(set(is_none)) == 1, "_cv_means and _cv_errors")


def _list_path(*vectors: str) -> tuple:
    """List the attributes of a path of models with vectors of coefficients."""
    return (
        _numbers("coef_", [*vectors, "coefficients"]),
        _numbers("alphas_", ["alphas"], least=0),
        SavedField("alpha_", "float", least=0),
        _numbers("coef_path_", [*vectors, "coefficients", "alphas"]),
        _numbers("intercept_path_", [*vectors, "alphas"]),
        _numbers("_deviance_ratios", ["alphas"]),
        _numbers("_cv_means", ["alphas"], **_ANY, **_MAYBE),
        _numbers("_cv_errors", ["alphas"], **_ANY, **_MAYBE),
        SavedField("n_iter_", "integer", least=0),
    )


SAVED_ATTRIBUTES["ElasticNet"] = SavedAttributes(
    (
        *_list_path(),
        SavedField("family_", _FAMILIES),
        SavedField("link_", _LINKS),
        SavedField("intercept_", "float"),
        SavedField("dual_gap_", "float", **_ANY),
    ),
    _check_path,
)
SAVED_ATTRIBUTES["ElasticNetClassifier"] = SavedAttributes(
    (*_list_path("vectors"), _numbers("intercept_", ["vectors"])), _check_path
)


# ----------------------------------------------------------------- maximum entropy
_SOURCES = (
    Record(
        ColumnSource,
        (
            _numbers("offset", ["coefficients"]),
            _numbers("scale", ["coefficients"]),
            SavedField("n_classes", "integer", least=1),
            SavedField("has_constant", "truth"),
        ),
    ),
    Record(MatrixSource, (SavedField("n_classes", "integer", least=1),)),
)


def _check_maximum_entropy(model, kept) -> None:
    source, n_classes = kept["_source"], len(model.classes_)
    _require(source.n_classes == n_classes, "classes_ and _source")
    has_columns = isinstance(source, ColumnSource)
    if has_columns:
        _require(
            all(name in kept for name in ("coef_", "intercept_")), "coef_, _source"
        )
        _require((source.scale > 0).all(), "_source and scale")
        n_features = n_classes * (len(source.scale) + source.has_constant)
    else:
        n_features, rest = divmod(model.n_features_in_, n_classes)
        _require(rest == 0, "columns and classes_")
    _require(has_columns == (model.features == "columns"), "features and _source")
    _require(len(kept["weights_"]) == n_features, "weights_, columns and classes_")
    if kept.get("rank_") is not None:
        n_tested = n_features
        if has_columns:
            n_tested = (n_classes - 1) * (n_features // n_classes)
        covariance, errors = kept.get("covariance_"), kept.get("_errors")
        _require(covariance is not None and errors is not None, "rank_, errors")
        _require(len(covariance) == n_tested, "weights_ and covariance_")
        place = kept.get("_reference_place")
        _require((place is not None) == has_columns, "_source and the reference class")
        _require(place is None or place < n_classes, "classes_ and the reference class")


SAVED_ATTRIBUTES["MaxEntClassifier"] = SavedAttributes(
    (
        _numbers("coef_", ["classes", "coefficients"], **_MAYBE),
        _numbers("intercept_", ["classes"], **_MAYBE),
        SavedField("_source", _SOURCES),
        _numbers("weights_", ["features"]),
        _numbers("_solver_weights", ["features"]),
        _numbers("empirical_expectation_", [None], **_ANY),
        _numbers("model_expectation_", [None], **_ANY),
        SavedField("n_contexts_", "integer", least=1),
        _numbers("loss_path_", [None], **_ANY),
        SavedField("n_iter_", "integer", least=0),
        SavedField("converged_", "truth", **_MAYBE),
        SavedField("entropy_", "float", **_ANY),
        SavedField("dual_value_", "float", **_ANY),
        _numbers("distribution_", ["classes"], **_MAYBE),
        SavedField("rank_", "integer", least=0, **_MAYBE),
        _numbers("covariance_", ["parameters", "parameters"], **_ANY, **_MAYBE),
        _numbers("_errors", ["parameters"], **_ANY, **_MAYBE),
        SavedField("separation_", "text", **_MAYBE),
        SavedField("log_likelihood_", "float", **_MAYBE),
        SavedField("null_log_likelihood_", "float", **_MAYBE),
        SavedField("n_observations_", "float", least=0, **_MAYBE),
        SavedField("_has_fractions", "truth", **_MAYBE),
        SavedField("_reference_place", "integer", least=0, **_MAYBE),
    ),
    _check_maximum_entropy,
)


# ---------------------------------------------------------------------- components
_MOMENTS = Record(
    ColumnMoments,
    (
        SavedField("n_rows", "integer", least=1),
        SavedField("total_weight", "float", least=0),
        _numbers("mean", ["columns"]),
        _numbers("scatter", ["columns", "columns"]),
    ),
)


def _check_components(model, kept) -> None:
    _require(kept.keys() >= {"_moments", "_dtype"} or "components_" in kept, "_moments")
    if "components_" in kept:
        names = {
            each.name for each in SAVED_ATTRIBUTES["PCA"].declared if each.is_finite
        }
        names -= {"_moments", "_dtype", "_fit_svd_solver"}
        _require(kept.keys() >= names, "components_ and what is made with them")
        names -= {"mean_", "scale_", "n_samples_"}
        is_complete = all(kept[name] is not None for name in names)
        _require(is_complete, "components_ and what is made with them")
        _require(kept["n_components_"] == len(kept["components_"]), "components_")
        scale = kept["scale_"]
        _require(scale is None or (scale > 0).all(), "scale_ and components_")


SAVED_ATTRIBUTES["PCA"] = SavedAttributes(
    (
        _numbers("components_", ["components", "columns"], **_MAYBE),
        _numbers("eigenvalues_", [None], **_MAYBE),
        _numbers("explained_variance_", ["components"], least=0, **_MAYBE),
        _numbers("explained_variance_ratio_", ["components"], **_MAYBE),
        _numbers("singular_values_", ["components"], **_ANY, **_MAYBE),
        SavedField("n_components_", "integer", least=0, **_MAYBE),
        SavedField("noise_variance_", "float", least=0, **_MAYBE),
        _numbers("mean_", ["columns"], **_MAYBE),
        _numbers("var_", ["columns"], least=0, **_MAYBE),
        _numbers("scale_", ["columns"], **_MAYBE),
        SavedField("n_samples_", "float", **_MAYBE),
        SavedField("_fit_svd_solver", "text", **_MAYBE),
        SavedField("_moments", (_MOMENTS,), **_MAYBE),
        SavedField("_dtype", "precision", **_MAYBE),
    ),
    _check_components,
)


def _check_truncated(model, kept) -> None:
    _require(len(kept["components_"]) > 0, "components_ and singular_values_")


SAVED_ATTRIBUTES["TruncatedSVD"] = SavedAttributes(
    (
        _numbers("components_", ["components", "columns"]),
        _numbers("singular_values_", ["components"], least=0),
        _numbers("explained_variance_", ["components"], least=0),
        _numbers("explained_variance_ratio_", ["components"], **_ANY),
    ),
    _check_truncated,
)


# ---------------------------------------------------------------------------- LDA
def _check_discriminant(model, kept) -> None:
    n_classes, vectors = len(model.classes_), len(kept["coef_"])
    _require(vectors == (1 if n_classes == 2 else n_classes), "classes_ and coef_")
    scalings = kept.get("scalings_")
    _require((scalings is None) == (model.solver == "lsqr"), "solver and scalings_")
    n_directions = 0 if scalings is None else scalings.shape[1]
    if scalings is not None:
        _require(kept["_n_features_out"] <= n_directions, "directions and scalings_")


SAVED_ATTRIBUTES["LinearDiscriminantAnalysis"] = SavedAttributes(
    (
        _numbers("coef_", ["vectors", "columns"]),
        _numbers("intercept_", ["vectors"], **_ANY),
        _numbers("class_count_", ["classes"], least=0),
        _numbers("priors_", ["classes"], least=0),
        _numbers("means_", ["classes", "columns"]),
        _numbers("xbar_", ["columns"]),
        SavedField("within_rank_", "integer", least=0),
        _numbers("within_scatter_", ["columns", "columns"], **_ANY, **_MAYBE),
        _numbers("covariance_", ["columns", "columns"], **_ANY, **_MAYBE),
        SavedField("_n_features_out", "integer", least=0),
        _numbers("scalings_", ["columns", "directions"], **_MAYBE),
        _numbers("eigenvalues_", [None], **_ANY, **_MAYBE),
        _numbers("explained_variance_ratio_", [None], **_ANY, **_MAYBE),
        _numbers("projected_means_", ["classes", None], **_ANY, **_MAYBE),
    ),
    _check_discriminant,
)


# ------------------------------------------------------------ negative correlation
_COLUMNS_OF_ALL = ["members", "coefficients"]
_MEMBERS = (
    Record(
        NetworkMembers,
        (
            _numbers("hidden", [*_COLUMNS_OF_ALL, "units"]),
            _numbers("hidden_bias", ["members", "units"]),
            _numbers("output", ["members", "units"]),
            _numbers("output_bias", ["members"]),
        ),
    ),
    Record(
        LinearMembers,
        (_numbers("weights", _COLUMNS_OF_ALL), _numbers("bias", ["members"])),
    ),
)
_UNITS = Record(
    MemberUnits,
    (
        _numbers("column_means", ["coefficients"]),
        _numbers("column_scales", ["coefficients"], least=0),
        SavedField("target_mean", "float"),
        SavedField("target_scale", "float", least=0),
    ),
)


def _check_negative_correlation(model, kept) -> None:
    members, curve = kept["_members"], kept["validation_curve_"]
    _require(type(members) is MEMBERS[model.member], "member and _members")
    _require(len(members) > 0, "_members, of which there are none,")
    _require((kept["_units"].column_scales > 0).all(), "columns and their scales")
    _require((curve is not None) == model.early_stopping, "early_stopping and curves")


SAVED_ATTRIBUTES["NegativeCorrelationRegressor"] = SavedAttributes(
    (
        SavedField("_members", _MEMBERS),
        SavedField("_units", (_UNITS,)),
        _numbers("loss_curve_", [None]),
        _numbers("validation_curve_", [None], **_MAYBE),
        SavedField("n_iter_", "integer", least=0),
        SavedField("member_error_", "float", least=0),
        SavedField("ambiguity_", "float", least=0),
        SavedField("ensemble_error_", "float", least=0),
    ),
    _check_negative_correlation,
)


# ---------------------------------------------------------- Bayesian model averaging
#: Of averages over subsets of the columns; those of members are composed.
_SUBSETS = (
    SavedField("is_in", "truth", ("models", "columns")),
    _numbers("weights", ["models"], least=0),
    SavedField("n_parameters", "integer", ("models",), least=1),
    _numbers("log_likelihood", ["models"]),
    _numbers("bic", ["models"]),
    SavedField("n_subsets", "integer", least=1),
)
_REGRESSIONS = Record(
    AveragedRegressions,
    (
        *_SUBSETS,
        _numbers("r_squared", ["models"]),
        _numbers("coef", ["coefficients"]),
        _numbers("coef_std", ["coefficients"], least=0, **_ANY),
        _numbers("mean", ["coefficients"]),
        SavedField("target_mean", "float"),
        _numbers("covariance", ["coefficients", "coefficients"], **_ANY),
        SavedField("noise", "float", least=0, **_ANY),
        SavedField("total_weight", "float", least=0),
    ),
)
_SCORES = ["models", "scores"]
_LOGISTIC = Record(
    AveragedLogistic,
    (
        *_SUBSETS,
        _numbers("coefs", [*_SCORES, "coefficients"]),
        _numbers("intercepts", _SCORES),
        _numbers("variances", [*_SCORES, "coefficients"], least=0, **_ANY),
        _numbers("intercept_variances", _SCORES, least=0, **_ANY),
    ),
)


def _check_subsets(model, kept) -> None:
    found = kept["_subsets"]
    _require(model.estimators is None, "estimators and _subsets")
    _require(abs(found.weights.sum() - 1) < 1e-6, "weights that do not sum to 1")
    if hasattr(model, "classes_"):
        n_scores = len(model.classes_) - 1
        _require(found.coefs.shape[1] == n_scores > 0, "classes_ and coefs")
    else:
        _require(found.total_weight > 0, "rows and total_weight")


def _average_subsets(record):
    return SavedAttributes(
        (SavedField("_subsets", (record,)),),
        _check_subsets,
        (
            *("posterior_table_", "weights_", "log_evidence_", "coef_", "coef_std_"),
            *("intercept_", "intercept_std_", "inclusion_probabilities_"),
            "_n_columns",  # what the property n_features_in_ returns
        ),
        lambda model: model._set_subsets(model._subsets),
    )


SAVED_ATTRIBUTES["BayesianModelAveragingClassifier"] = _average_subsets(_LOGISTIC)
SAVED_ATTRIBUTES["BayesianModelAveragingRegressor"] = _average_subsets(_REGRESSIONS)


# ---------------------------------------------------------------- writing, reading
def describe_columns(estimator: object) -> TableSchema:
    """Describe the columns of the training table of a fitted model."""
    if "design_" in vars(estimator):
        return estimator.design_.schema
    names = vars(estimator).get("feature_names_in_")
    if names is None:
        n_columns = estimator.n_features_in_
        return numeric_schema(default_names(n_columns), False, "number")
    return numeric_schema(tuple(map(str, names)), True, "number")


def save_attributes(estimator: object) -> dict:
    """Write the fitted attributes of a model."""
    columns = {"columns": describe_columns(estimator).to_dict()}
    if "design_" in vars(estimator):
        columns = estimator.design_.to_dict()
    declared = SAVED_ATTRIBUTES[type(estimator).__name__].declared
    return {
        **columns,
        "classes": save_classes(estimator),
        "kept": save_declared(declared, vars(estimator)),
    }


def load_attributes(estimator: object, document: dict) -> None:
    """Set the fitted attributes of a model."""
    name, has_design = type(estimator).__name__, _has_design(estimator)
    may_have_design = has_design or isinstance(
        estimator, PCA | LinearDiscriminantAnalysis
    )
    sizes = {}
    if "terms" in document and not may_have_design:
        raise ValueError(f"columns of a {name} must be numeric, without terms")
    if "terms" in document or has_design:
        estimator.design_ = Design.from_dict(document)
        schema = estimator.design_.schema
        sizes["coefficients"] = len(estimator.design_.names)
    else:
        schema = TableSchema.from_dict(document["columns"])
        if not schema.is_plain:
            raise ValueError(f"columns of a {name} must be numeric, without terms")
    if not schema.columns:
        raise ValueError("columns must not be empty")
    set_columns(estimator, schema)
    del estimator.schema_
    sizes["columns"] = estimator.n_features_in_
    if "design_" in vars(estimator) and not has_design:
        sizes["columns"] = sizes["coefficients"]
    classes = load_single_classes(document["classes"], estimator)
    if classes is not None:
        estimator.classes_ = classes
        sizes["classes"] = len(classes)
    saved = SAVED_ATTRIBUTES[name]
    kept = load_declared(saved.declared, document["kept"], sizes, name)
    saved.check(estimator, kept)
    vars(estimator).update(kept)
    if saved.derive is not None:
        saved.derive(estimator)


def _has_design(estimator: object) -> bool:
    """Whether columns of its table are transformed, such as to indicators of levels."""
    is_linear = isinstance(estimator, BaseLinearModel)
    return is_linear and getattr(estimator, "features", "columns") == "columns"
