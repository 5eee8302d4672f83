"""Models other than trees as a dictionary for JSON, and back.

In addition to columns and classes it contains the attributes in `fitted_attributes`.
"""

from __future__ import annotations

from sklearn.base import is_classifier

from sklearn_textbook.decomposition import PCA
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.io.fitted_attributes import FITTED_MODELS
from sklearn_textbook.io.kept_values import pack_kept, unpack_kept
from sklearn_textbook.io.saved_target import (
    pack_classes,
    set_columns,
    unpack_classes,
)
from sklearn_textbook.linear_model.base import BaseLinearModel
from sklearn_textbook.linear_model.design import Design
from sklearn_textbook.tree.encode import TableSchema
from sklearn_textbook.tree.encode.read import default_names, numeric_schema


def describe_columns(estimator):
    """Describe the columns of the training table of a fitted model, a TableSchema."""
    if "design_" in vars(estimator):
        return estimator.design_.schema
    names = vars(estimator).get("feature_names_in_")
    if names is None:
        n_columns = estimator.n_features_in_
        return numeric_schema(default_names(n_columns), False, "number")
    return numeric_schema(tuple(map(str, names)), True, "number")


def write_fitted(estimator):
    """Write the fitted attributes of a model other than a tree."""
    columns = {"columns": describe_columns(estimator).to_dict()}
    if "design_" in vars(estimator):
        columns = estimator.design_.to_dict()
    declared = FITTED_MODELS[type(estimator).__name__].kept
    return {
        **columns,
        "classes": pack_classes(estimator),
        "kept": pack_kept(declared, vars(estimator)),
    }


def fit_model(estimator, document):
    """Set the fitted attributes of a model other than a tree."""
    name = type(estimator).__name__
    sizes = {}
    if "terms" in document and not _may_have_design(estimator):
        raise ValueError(f"columns of a {name} must be numeric, without terms")
    if "terms" in document or _has_design(estimator):
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
    if "design_" in vars(estimator) and not _has_design(estimator):
        sizes["columns"] = sizes["coefficients"]
    classes = unpack_classes(document["classes"])
    n_outputs = 0 if classes is None else len(classes)
    if n_outputs != is_classifier(estimator):
        raise ValueError(f"the classes do not match a {name}")
    if classes is not None:
        estimator.classes_ = classes[0]
        sizes["classes"] = len(classes[0])
    model = FITTED_MODELS[name]
    kept = unpack_kept(model.kept, document["kept"], sizes, name)
    model.check(estimator, kept)
    vars(estimator).update(kept)
    if model.derive is not None:
        model.derive(estimator)


def _may_have_design(estimator):
    """Whether columns may be transformed, if the parameters say so."""
    return _has_design(estimator) or isinstance(
        estimator, PCA | LinearDiscriminantAnalysis
    )


def _has_design(estimator):
    """Whether columns of its table are transformed, such as to indicators of levels."""
    is_linear = isinstance(estimator, BaseLinearModel)
    return is_linear and getattr(estimator, "features", "columns") == "columns"
