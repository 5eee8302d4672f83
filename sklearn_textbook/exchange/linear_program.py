"""Linear models, and transformations of columns that are linear, as programs."""

from __future__ import annotations

from functools import singledispatch

import numpy as np
from sklearn import linear_model
from sklearn.utils.validation import check_is_fitted

from sklearn_textbook.decomposition import PCA, TruncatedSVD
from sklearn_textbook.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn_textbook.ensemble import (
    BayesianModelAveragingRegressor,
    MultiResponseLinearRegression,
)
from sklearn_textbook.exchange.score_program import LinearTerm, ScoreProgram
from sklearn_textbook.exchange.tree_sum import make_total
from sklearn_textbook.linear_model import (
    ElasticNet,
    ElasticNetClassifier,
    GeneralizedLinearRegressor,
    LinearRegression,
    LogisticRegression,
    MaxEntClassifier,
    OrdinalRegression,
)
from sklearn_textbook.tree.encode import NOMINAL, NUMERIC
from sklearn_textbook.tree.encode.columns import NUMBER
from sklearn_textbook.tree.encode.read import default_names, numeric_schema

#: Links of generalised linear models, and how their scores are converted.
MEANS = {
    "identity": "identity",
    "log": "exp",
    "logit": "logit",
    "cloglog": "cloglog",
    "inverse": "inverse",
    "power": "power",
}


def make_linear(model, schema, terms, start, *, refuses_missing: bool = True, **header):
    """Make the program of linear terms."""
    total = make_total(model, schema, np.atleast_1d(start), **header)
    # Of a classifier, a row without scores has no class.
    without = any(t.missing is None or np.isnan(t.missing).any() for t in terms)
    refuses_missing = refuses_missing or (total.is_classifier and without)
    return ScoreProgram(total, [], linear=terms, refuses_missing=refuses_missing)


def make_number_terms(
    coef: np.ndarray,
    missing: np.ndarray | None = None,
    centre: np.ndarray | None = None,
):
    """Make a term for each of some columns of numbers."""
    rows = np.ascontiguousarray(coef.T, dtype=np.float64)
    missing = [None] * len(rows) if missing is None else missing
    centre = np.zeros(len(rows)) if centre is None else centre
    return tuple(
        LinearTerm(j, (row,), missing[j], None, centre=float(centre[j]))
        for j, row in enumerate(rows)
    )


def read_design(design, coef: np.ndarray, handle_unknown: str = "mean"):
    """Read the coefficients of a design matrix as terms of the columns of the table."""
    if design.model_terms:
        raise ValueError(
            "A model with formula or interactions cannot be exported, as programs have "
            "no products of columns; save it with io.save_model."
        )
    terms, coef = [], np.atleast_2d(coef)
    for position, (term, column) in enumerate(
        zip(design.terms, design.schema.columns, strict=True)
    ):
        own = coef[:, design.find_columns(position)].T
        n_scores = own.shape[1]
        fill = unseen = np.zeros(n_scores)
        if design.missing == "error":
            fill = None
        elif term.names:
            nothing = [np.nan] * len(term.names)
            filled = term.fill() if design.missing == "mean" else nothing
            fill = np.array(filled) @ own
        if term.kind == NUMERIC:
            terms.append(LinearTerm(position, (own[0],), fill, None))
            continue
        if handle_unknown == "error":
            unseen = None
        elif term.names:
            unseen = np.array(term.means) @ own
        n_levels = len(column.levels)
        if term.kind == NOMINAL:
            rows = [unseen] * n_levels
            for code, row in zip(term.codes, own, strict=False):
                rows[code] = row
            if term.reference is not None:
                rows[term.reference] = np.zeros(n_scores)
        else:
            step = own[0] if len(own) else np.zeros(n_scores)
            rows = [step * (code / max(1, n_levels - 1)) for code in range(n_levels)]
        terms.append(LinearTerm(position, tuple(rows), fill, unseen, False))
    return tuple(terms)


def make_number_schema(model, n_columns):
    """Describe columns of numbers with the names that a model knows."""
    names = getattr(model, "feature_names_in_", None)
    has_names = names is not None
    names = tuple(map(str, names)) if has_names else default_names(n_columns)
    return numeric_schema(names, has_names, NUMBER)


def read_designed(
    model: object, coef: np.ndarray, start, centre: np.ndarray | None = None, **header
) -> ScoreProgram:
    """Make the program of a model with a design, or with columns of numbers."""
    coef = np.atleast_2d(np.asarray(coef, dtype=np.float64))
    if "design_" not in vars(model):
        schema = make_number_schema(model, coef.shape[1])
        terms = make_number_terms(coef, centre=centre)
        return make_linear(model, schema, terms, start, **header)
    design = model.design_
    if centre is not None:
        start = np.atleast_1d(start) - coef @ centre
    unknown = getattr(model, "handle_unknown", "mean")
    terms, refuses = read_design(design, coef, unknown), design.missing == "error"
    return make_linear(
        model, design.schema, terms, start, refuses_missing=refuses, **header
    )


@singledispatch
def read_linear(model):
    """Read a fitted linear model as a program; None for any other model."""


@read_linear.register
def _read_regression(model: LinearRegression):
    check_is_fitted(model)
    return read_designed(model, model.coef_, model.intercept_)


@read_linear.register
def _read_generalized(model: GeneralizedLinearRegressor):
    check_is_fitted(model)
    start, link, scale = float(model.intercept_), model.link_.name, 1.0
    if model.transform_y:
        # exp(s) times a factor.
        start, link = start + np.log(model.retransformation_factor_), "log"
    elif link == "power":
        scale = 1.0 / model.link_.exponent
    if link not in MEANS:
        raise ValueError(
            f"link={link!r} of {type(model).__name__} cannot be exported, as languages "
            "lack the normal distribution. Fit the model with link='logit'."
        )
    return read_designed(model, model.coef_, start, link=MEANS[link], scale=scale)


@read_linear.register
def _read_elastic_net(model: ElasticNet):
    check_is_fitted(model)
    link = MEANS[model.link_.name]
    return read_designed(model, model.coef_, float(model.intercept_), link=link)


@read_linear.register(LogisticRegression)
@read_linear.register(ElasticNetClassifier)
@read_linear.register(LinearDiscriminantAnalysis)
def _read_scores(model):
    check_is_fitted(model)
    coef, n_classes = np.atleast_2d(model.coef_), len(model.classes_)
    start = np.atleast_1d(model.intercept_)
    if n_classes == 2:
        return read_designed(model, coef, start, link="expit")
    if len(coef) < n_classes:  # the scores of the reference class are 0
        place = model.classes_.tolist().index(model.reference_class_)
        coef = np.insert(coef, place, 0.0, axis=0)
        start = np.insert(start, place, 0.0)
    return read_designed(model, coef, start, link="softmax")


@read_linear.register
def _refuse_ordinal(model: OrdinalRegression):
    raise ValueError(
        "OrdinalRegression cannot be exported: its probabilities are differences of a "
        "distribution function, which programs do not have. io.save_model saves it; "
        "LogisticRegression, which ignores the order of the classes, can be exported."
    )


@read_linear.register
def _read_entropy(model: MaxEntClassifier):
    check_is_fitted(model)
    if "coef_" not in vars(model):
        raise ValueError(
            "MaxEntClassifier can be exported with features='columns' only, not with "
            "functions or matrices of features."
        )
    coef, start = model.coef_, model.intercept_
    if len(coef) == 2:
        coef, start = coef[1] - coef[0], start[1] - start[0]
        return read_designed(model, coef, start, link="expit")
    return read_designed(model, coef, start, link="softmax")


@read_linear.register
def _read_responses(model: MultiResponseLinearRegression):
    check_is_fitted(model)
    link, n_classes = {"link": "clipped_fractions"}, len(model.classes_)
    coef, start = np.asarray(model.coef_), np.asarray(model.intercept_)
    if n_classes == 2:
        coef = np.concatenate([-coef, coef])
        start = np.append(1.0 - start, start)
    elif model.inputs == "class":
        wide = np.zeros((n_classes, model.n_features_in_))
        for number in range(n_classes):
            wide[number, number::n_classes] = coef[number]
        schema = make_number_schema(model, wide.shape[1])
        return make_linear(model, schema, make_number_terms(wide), start, **link)
    design = model.regressions_[0].design_
    terms = read_design(design, coef)
    return make_linear(model, design.schema, terms, start, **link)


@read_linear.register(linear_model.LinearRegression)
@read_linear.register(linear_model.Ridge)
@read_linear.register(linear_model.ElasticNet)
def _read_foreign_regression(model):
    check_is_fitted(model)
    coef = np.atleast_2d(model.coef_)
    start = np.broadcast_to(model.intercept_, len(coef))
    return read_designed(model, coef, start)


@read_linear.register
def _read_foreign_scores(model: linear_model.LogisticRegression):
    check_is_fitted(model)
    if len(model.classes_) > 2 and model.solver == "liblinear":
        raise ValueError(
            "solver='liblinear' of LogisticRegression cannot be exported with more "
            "than two classes."
        )
    return _read_scores(model)


@read_linear.register
def _read_average(model: BayesianModelAveragingRegressor):
    check_is_fitted(model)
    if not model._averages_subsets:
        return None
    return read_designed(model, model.coef_, model.intercept_)


# -------------------------------------------------------------------- transformations
@singledispatch
def read_projection(model):
    """Read a fitted transformer, linear in its columns; None for any other one."""


@read_projection.register
def _read_components(model: PCA):
    check_is_fitted(model)
    coef = np.array(model.components_, dtype=np.float64)
    if model.scale_ is not None:
        coef = coef / model.scale_
    if model.whiten:
        coef = coef * model._find_whitening()[:, np.newaxis]
    return read_designed(model, coef, np.zeros(len(coef)), model.mean_)


@read_projection.register
def _read_svd(model: TruncatedSVD):
    check_is_fitted(model)
    return read_designed(model, model.components_, np.zeros(len(model.components_)))


@read_projection.register
def _read_directions(model: LinearDiscriminantAnalysis):
    check_is_fitted(model)
    if model.solver == "lsqr":
        return None
    coef = model.scalings_[:, : model._n_features_out].T
    centre = model.xbar_ if model.solver == "svd" else None
    return read_designed(model, coef, np.zeros(len(coef)), centre, classes=[])
