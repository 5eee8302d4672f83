"""Fitted attributes that model files keep of ensembles of models other than trees."""

from __future__ import annotations

from sklearn_textbook._contract.kept import Kept, Record
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
from sklearn_textbook.io.fitted_model import ANY, MAYBE, FittedModel, numbers, require

# ------------------------------------------------------------ negative correlation
_COLUMNS_OF_ALL = ["members", "coefficients"]
_MEMBERS = (
    Record(
        NetworkMembers,
        (
            numbers("hidden", [*_COLUMNS_OF_ALL, "units"]),
            numbers("hidden_bias", ["members", "units"]),
            numbers("output", ["members", "units"]),
            numbers("output_bias", ["members"]),
        ),
    ),
    Record(
        LinearMembers,
        (numbers("weights", _COLUMNS_OF_ALL), numbers("bias", ["members"])),
    ),
)
_UNITS = Record(
    MemberUnits,
    (
        numbers("column_means", ["coefficients"]),
        numbers("column_scales", ["coefficients"], least=0),
        Kept("target_mean", "float"),
        Kept("target_scale", "float", least=0),
    ),
)


def _check_negative_correlation(model, kept):
    members, curve = kept["_members"], kept["validation_curve_"]
    require(type(members) is MEMBERS[model.member], "member and _members")
    require(len(members) > 0, "_members, of which there are none,")
    require((kept["_units"].column_scales > 0).all(), "columns and their scales")
    require((curve is not None) == model.early_stopping, "early_stopping and curves")


NEGATIVE_CORRELATION_REGRESSOR = FittedModel(
    (
        Kept("_members", _MEMBERS),
        Kept("_units", (_UNITS,)),
        numbers("loss_curve_", [None]),
        numbers("validation_curve_", [None], **MAYBE),
        Kept("n_iter_", "integer", least=0),
        Kept("member_error_", "float", least=0),
        Kept("ambiguity_", "float", least=0),
        Kept("ensemble_error_", "float", least=0),
    ),
    _check_negative_correlation,
)


# ---------------------------------------------------------- Bayesian model averaging
#: Of averages over subsets of the columns; those of members are composed.
_SUBSETS = (
    Kept("is_in", "truth", ("models", "columns")),
    numbers("weights", ["models"], least=0),
    Kept("n_parameters", "integer", ("models",), least=1),
    numbers("log_likelihood", ["models"]),
    numbers("bic", ["models"]),
    Kept("n_subsets", "integer", least=1),
)
_REGRESSIONS = Record(
    AveragedRegressions,
    (
        *_SUBSETS,
        numbers("r_squared", ["models"]),
        numbers("coef", ["coefficients"]),
        numbers("coef_std", ["coefficients"], least=0, **ANY),
        numbers("mean", ["coefficients"]),
        Kept("target_mean", "float"),
        numbers("covariance", ["coefficients", "coefficients"], **ANY),
        Kept("noise", "float", least=0, **ANY),
        Kept("total_weight", "float", least=0),
    ),
)
_SCORES = ["models", "scores"]
_LOGISTIC = Record(
    AveragedLogistic,
    (
        *_SUBSETS,
        numbers("coefs", [*_SCORES, "coefficients"]),
        numbers("intercepts", _SCORES),
        numbers("variances", [*_SCORES, "coefficients"], least=0, **ANY),
        numbers("intercept_variances", _SCORES, least=0, **ANY),
    ),
)


def _check_subsets(model, kept):
    found = kept["_subsets"]
    require(model.estimators is None, "estimators and _subsets")
    require(abs(found.weights.sum() - 1) < 1e-6, "weights that do not sum to 1")
    if hasattr(model, "classes_"):
        n_scores = len(model.classes_) - 1
        require(found.coefs.shape[1] == n_scores > 0, "classes_ and coefs")
    else:
        require(found.total_weight > 0, "rows and total_weight")


def _average_subsets(record):
    return FittedModel(
        (Kept("_subsets", (record,)),),
        _check_subsets,
        (
            *("posterior_table_", "weights_", "log_evidence_", "coef_", "coef_std_"),
            *("intercept_", "intercept_std_", "inclusion_probabilities_"),
            "_n_columns",  # what the property n_features_in_ returns
        ),
        lambda model: model._set_subsets(model._subsets),
    )


MODEL_AVERAGING_CLASSIFIER = _average_subsets(_LOGISTIC)
MODEL_AVERAGING_REGRESSOR = _average_subsets(_REGRESSIONS)
